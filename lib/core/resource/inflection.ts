import pluralizer from 'pluralize'
import { IRREGULAR_NOUNS, OTHER_PLURALS, SINGULAR, UNCOUNTABLE } from './irregular-nouns.js'

type Words = ReadonlyMap<string, string>

const nouns = Object.entries(IRREGULAR_NOUNS)
const plurals = nouns.map(([, plural]) => plural)

const keep = (words: readonly string[]): [string, string][] => words.map((word) => [word, word])

const SINGULARS: Words = new Map([
  ...keep(UNCOUNTABLE), ...keep(SINGULAR), ...keep(Object.keys(IRREGULAR_NOUNS)),
  ...Object.entries(OTHER_PLURALS), ...nouns.map(([singular, plural]): [string, string] => [plural, singular])
])
const PLURALS: Words = new Map([
  ...keep(UNCOUNTABLE), ...keep(plurals), ...keep(Object.keys(OTHER_PLURALS)), ...nouns
])

/**
 * Matches the last word, which alone changes with the number: `post_tags`, `post-tags` and `postTags` end with `tags`.
 * The search runs backwards. Forwards, it would be quadratic in the length of a client's name.
 */
const LAST_WORD = /$(?<=(\p{Lu}+|\p{Lu}?[^\p{Lu}_./-]+))/u
/** Matches a plural abbreviation: `URLs`, `userIDs`. */
const ABBREVIATIONS = /\p{Lu}{2}s$/u
const SEPARATED = /[_./-]+(.?)/g

/**
 * Returns the singular: `posts` → `post`. In a compound the last word changes. A name that is no plural stays as it is.
 */
export function singularize (name: string): string {
  if (ABBREVIATIONS.test(name)) return name.slice(0, -1)
  return changeLastWord(name, (word) => SINGULARS.get(word) ?? pluralizer.singular(word))
}

/** Returns the plural: `post` → `posts`. In a compound the last word changes. A plural stays as it is. */
export function pluralize (name: string): string {
  return changeLastWord(name, (word) => PLURALS.get(word) ?? pluralizer.plural(word))
}

/** Returns a name in camel case: `blog_posts` and `blog-posts` → `blogPosts`. */
export function camelize (name: string): string {
  const joined = name.replaceAll(SEPARATED, (_, first: string) => first.toUpperCase())
  return joined.charAt(0).toLowerCase() + joined.slice(1)
}

/** The end of the name of an attribute that references a row, with a name before it: `authorId`, `author_id`. */
export const REFERENCE: RegExp = /(?<=.)(?:Id|_id)$|(?<=\p{Ll})ID$/u

/**
 * Returns the human name of an attribute or a part of one: `author_id` → `Author`, `lines.0.title` → `Lines 0 title`.
 * It does exactly what Rails' `humanize` does (`dueOn` → `Dueon`), because XML clients find an attribute by this name.
 */
export function humanize (path: string): string {
  const words = path.replaceAll(/[.-]/g, '_').replace(/^_+/, '').replace(/_id$/, '').replaceAll('_', ' ')
  const lower = words.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase())
  return lower === '' ? path : lower.replace(/^[a-z]/, (letter) => letter.toUpperCase())
}

function changeLastWord (name: string, change: (word: string) => string): string {
  const word = LAST_WORD.exec(name)?.[1] ?? ''
  // If a word has nothing but the ending, it stays, because nothing would be left.
  const changed = change(word.toLowerCase()) || word
  return name.slice(0, name.length - word.length) + matchCase(word, changed)
}

/** Writes a changed word with the capitals of `word`. */
function matchCase (word: string, changed: string): string {
  const shared = countShared(word.toLowerCase(), changed)
  const rest = changed.slice(shared)
  // An ending that is only added has small letters: `URL` → `URLs`.
  const loud = shared < word.length && word === word.toUpperCase()
  return word.slice(0, shared) + (loud ? rest.toUpperCase() : rest)
}

function countShared (one: string, other: string): number {
  let count = 0
  while (count < one.length && one[count] === other[count]) count++
  return count
}
