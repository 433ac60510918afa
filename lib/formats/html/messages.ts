import type { Resource } from '../../resource/resource.js'
import type { Id } from '../../resource/row.js'
import { capitalize } from '../../util/capitalize.js'

/**
 * The words of the pages. A text that varies is a function, so that any language can inflect. For the same arguments it
 * must return the same text, because pages keep the result.
 */
export interface PageMessages {
  /** The plural name of the resource. @default its plural name in words: 'Blog posts' */
  readonly plural: string
  /** The singular name of the resource within a sentence. @default its singular name in words: 'blog post' */
  readonly singular: string
  /** The heading of the column of ids. @default 'Id' */
  readonly id: string
  /** The title of a row. @default 'Post 1' */
  readonly record: (singular: string, id: Id) => string
  /** The heading of the form for a new row. @default 'New post' */
  readonly new: (singular: string) => string
  /** The heading of the form for a row. The id of a singleton is the empty text. @default 'Edit post 1' */
  readonly edit: (singular: string, id: Id) => string
  /** The button that creates a row. @default 'Create post' */
  readonly create: (singular: string) => string
  /** The button that saves a row. @default 'Save changes' */
  readonly save: string
  /** The line that unfolds the form for a deletion. @default 'Delete this post' */
  readonly delete: (singular: string) => string
  /** The warning of that form. The id of a singleton is empty. @default 'Post 1 will be deleted permanently.' */
  readonly deleteWarning: (singular: string, id: Id) => string
  /** The button that deletes a row. @default 'Yes, delete it' */
  readonly deleteConfirm: string
  /** The text of a list without rows. @default 'There are no posts yet' */
  readonly empty: (plural: string) => string
  /** The advice below that text. @default 'Create the first post with the form below.' */
  readonly emptyAdvice: (singular: string) => string
  /** The text of a page after the last row. @default 'There are no more posts' */
  readonly noMore: (plural: string) => string
  /** The text of a list whose filter matches no row. @default 'No posts match the filter' */
  readonly noMatch: (plural: string) => string
  /** The link from such a list to the unfiltered one. @default 'See all posts' */
  readonly all: (plural: string) => string
  /** The line that unfolds the filter. @default 'Filter' */
  readonly filter: string
  /** The button that filters the list. @default 'Apply filter' */
  readonly applyFilter: string
  /** The link that removes the filter. @default 'Clear filter' */
  readonly clearFilter: string
  /** The choice of a filter that matches every value. @default 'any' */
  readonly any: string
  /** The link to the next page. @default 'Next page' */
  readonly next: string
  /** The link to the first page. @default 'First page' */
  readonly first: string
  /** The link from a clipped text to the whole text. @default 'more' */
  readonly more: string
  /** The text of that link for screen readers. @default 'more of Body' */
  readonly moreOf: (label: string) => string
  /** The text before the links to other formats. @default 'Also as' */
  readonly alsoAs: string
  /** The label of the links at the top, for screen readers. @default 'You are here' */
  readonly breadcrumb: string
  /** The link that skips to the content. @default 'Skip to content' */
  readonly skip: string
  /** The text for `true`. @default 'yes' */
  readonly yes: string
  /** The text for `false`. @default 'no' */
  readonly no: string
  /** The choice of no value. @default 'none' */
  readonly none: string
  /** The note beside the label of a field that may be left blank. @default 'optional' */
  readonly optional: string
  /** The hint of a field with one item per line. @default 'One per line.' */
  readonly oneALine: string
  /** The hint of a field for values that no other control can show. @default 'As JSON.' */
  readonly asJson: string
  /** The hint of a field for a date. @default 'For example 2026-01-31.' */
  readonly dateHint: string
  /** The hint of a text field for a date and time. @default 'For example 2026-01-31T12:00:00Z.' */
  readonly dateTimeHint: string
  /** The label of the control for a date and time. @default 'Date and time' */
  readonly dateTime: string
  /** The label of the field for its UTC offset. @default 'UTC offset' */
  readonly offset: string
  /** The hint of that field. @default 'Z for UTC, or for example +02:00.' */
  readonly offsetHint: string
  /** The hint of a `writeOnly` field of a row. @default 'Leave it blank to keep it as it is.' */
  readonly keepHidden: string
  /** The hint of such a field in a form that comes back. @default 'Type it again: it is never shown.' */
  readonly typeAgain: string
  /** The hint of a field with a maximum length. @default 'At most 120 characters.' */
  readonly atMost: (characters: number) => string
  /** The label of an item. @default 'Authors 1' */
  readonly item: (label: string, number: number) => string
  /** The button that adds an item. @default 'Add to Authors' */
  readonly addTo: (label: string) => string
  /** The button that removes an item. @default 'Remove Authors 1' */
  readonly remove: (label: string, number: number) => string
  /** The note on an attribute that a form cannot show. @default 'stays as it is; this form cannot show all of it.' */
  readonly kept: string
  /** The note below a cut value. @default 'This is only the beginning: the first 100,000 characters.' */
  readonly beginning: string
  /** The heading of the names of further attributes. @default 'Name' */
  readonly attributeName: string
  /** The heading of the values of further attributes. @default 'Value' */
  readonly attributeValue: string
  /** The heading of further attributes, which have no schema. @default 'Further attributes' */
  readonly furtherAttributes: string
  /** The button that adds a row for a further attribute. @default 'Add an attribute' */
  readonly addAttribute: string
  /** The heading of the errors of a form. @default 'There is a problem' */
  readonly problem: string
  /** The title of a page whose form has errors. @default 'Problem: New post' */
  readonly problemTitle: (title: string) => string
  /** The title of the page about a conflict. @default 'This post has been changed meanwhile' */
  readonly stale: (singular: string) => string
  /**
   * The explanation of a conflict.
   * @default 'Somebody else has saved it since you opened it. Your changes were not saved, but nothing is lost.'
   */
  readonly staleAdvice: string
  /** The advice below it. @default 'For each attribute that differs, choose the value to keep. Then save.' */
  readonly staleChoose: string
  /** The label of the value that the user sent. @default 'Yours' */
  readonly yours: string
  /** The label of the value that somebody else saved. @default 'Theirs' */
  readonly theirs: string
  /** The choice of the value that the user sent. @default 'Keep yours' */
  readonly keepYours: string
  /** The choice of the value that somebody else saved. @default 'Keep theirs' */
  readonly keepTheirs: string
  /** The heading of the fields without a conflict. @default 'The same in both' */
  readonly same: string
  /** The link back to the row, without saving. @default 'Leave it as it is' */
  readonly leave: string
  /**
   * Translations of English texts of the server: messages about attributes, titles and details of errors. Also of the
   * names of custom actions, nested resources and parents: `Publish`, `Comments`, `post`. `{0}`, `{1}`… are
   * placeholders.
   * @default {}
   *
   * @example
   * { 'must not be blank': 'darf nicht leer sein', 'must be at most {0}': 'darf höchstens {0} sein' }
   */
  readonly phrases: Readonly<Record<string, string>>
}

type Named = Pick<Resource, 'plural' | 'singular'> & Partial<Pick<Resource, 'singleton'>>

/** The English words that are the same for every resource. */
const ENGLISH: Omit<PageMessages, 'plural' | 'singular' | 'edit' | 'deleteWarning'> = {
  id: 'Id',
  record: (singular, id) => `${capitalize(singular)} ${id}`,
  new: (singular) => `New ${singular}`,
  create: (singular) => `Create ${singular}`,
  save: 'Save changes',
  delete: (singular) => `Delete this ${singular}`,
  deleteConfirm: 'Yes, delete it',
  empty: (plural) => `There are no ${uncapitalize(plural)} yet`,
  emptyAdvice: (singular) => `Create the first ${singular} with the form below.`,
  noMore: (plural) => `There are no more ${uncapitalize(plural)}`,
  noMatch: (plural) => `No ${uncapitalize(plural)} match the filter`,
  all: (plural) => `See all ${uncapitalize(plural)}`,
  filter: 'Filter',
  applyFilter: 'Apply filter',
  clearFilter: 'Clear filter',
  any: 'any',
  next: 'Next page',
  first: 'First page',
  more: 'more',
  moreOf: (label) => `more of ${label}`,
  alsoAs: 'Also as',
  breadcrumb: 'You are here',
  skip: 'Skip to content',
  yes: 'yes',
  no: 'no',
  none: 'none',
  optional: 'optional',
  oneALine: 'One per line.',
  asJson: 'As JSON.',
  dateHint: 'For example 2026-01-31.',
  dateTimeHint: 'For example 2026-01-31T12:00:00Z.',
  dateTime: 'Date and time',
  offset: 'UTC offset',
  offsetHint: 'Z for UTC, or for example +02:00.',
  keepHidden: 'Leave it blank to keep it as it is.',
  typeAgain: 'Type it again: it is never shown.',
  atMost: (characters) => `At most ${characters} characters.`,
  item: (label, number) => `${label} ${number}`,
  addTo: (label) => `Add to ${label}`,
  remove: (label, number) => `Remove ${label} ${number}`,
  kept: 'stays as it is; this form cannot show all of it.',
  beginning: 'This is only the beginning: the first 100,000 characters.',
  attributeName: 'Name',
  attributeValue: 'Value',
  furtherAttributes: 'Further attributes',
  addAttribute: 'Add an attribute',
  problem: 'There is a problem',
  problemTitle: (title) => `Problem: ${title}`,
  stale: (singular) => `This ${singular} has been changed meanwhile`,
  staleAdvice: 'Somebody else has saved it since you opened it. Your changes were not saved, but nothing is lost.',
  staleChoose: 'For each attribute that differs, choose the value to keep. Then save.',
  yours: 'Yours',
  theirs: 'Theirs',
  keepYours: 'Keep yours',
  keepTheirs: 'Keep theirs',
  same: 'The same in both',
  leave: 'Leave it as it is',
  phrases: {}
}

/** Returns the words of a resource's pages: the English ones, with the app's in their place. */
export function makeMessages (
  { plural, singular, singleton = false }: Named,
  given: Partial<PageMessages>
): PageMessages {
  return {
    ...ENGLISH,
    plural: capitalize(wordsOf(plural)),
    singular: wordsOf(singular),
    edit: (singular, id) => singleton ? `Edit ${singular}` : `Edit ${singular} ${id}`,
    deleteWarning: (singular, id) =>
      `${singleton ? `This ${singular}` : `${capitalize(singular)} ${id}`} will be deleted permanently.`,
    ...given
  }
}

/** Splits a name into words: `blogPosts` → `blog posts`, `homeURL` → `home URL`. */
export function wordsOf (name: string): string {
  const words = name
    .replaceAll(/[_-]+/g, ' ')
    .replaceAll(
      /(\p{Ll})(\p{Lu}+)/gu,
      (_, end: string, start: string) => `${end} ${start.length === 1 ? start.toLowerCase() : start}`
    )
  return uncapitalize(words)
}

/** Writes the first letter in lower case, unless the text begins with an abbreviation. */
function uncapitalize (words: string): string {
  return /^\p{Lu}{2}/u.test(words) ? words : words.charAt(0).toLowerCase() + words.slice(1)
}

/** Translates an English text of the server into the words of the page. */
export type Translate = (text: string) => string

/**
 * A phrase, split at its placeholders: `must be at most {0}` → `must be at most `, ``, and the placeholders' numbers.
 */
interface Phrase {
  readonly parts: readonly string[]
  readonly numbers: readonly number[]
  readonly translated: string
}

/**
 * Compiles the translation. Texts without placeholders are looked up. The others are tried in their order, each in one
 * pass.
 */
export function compilePhrases (phrases: Readonly<Record<string, string>>): Translate {
  const known = new Map(Object.entries(phrases))
  const patterns = [...known].filter(([phrase]) => /\{\d+\}/.test(phrase)).map(([phrase, translated]): Phrase => ({
    parts: phrase.split(/\{\d+\}/),
    numbers: [...phrase.matchAll(/\{(\d+)\}/g)].map(([, number]) => Number(number)),
    translated
  }))
  return (text) => {
    const whole = known.get(text)
    if (whole !== undefined) return whole
    for (const { parts, numbers, translated } of patterns) {
      const found = match(text, parts)
      if (found !== undefined) {
        return translated.replaceAll(/\{(\d+)\}/g, (_, number: string) => found[numbers.indexOf(Number(number))] ?? '')
      }
    }
    return text
  }
}

/** Returns the texts between the parts, or `undefined` if the text does not consist of them. */
function match (text: string, parts: readonly string[]): string[] | undefined {
  const [first = '', ...more] = parts
  const last = more.pop() as string
  if (!text.startsWith(first) || !text.endsWith(last)) return undefined
  const found: string[] = []
  let start = first.length
  for (const part of more) {
    const end = text.indexOf(part, start)
    if (end === -1) return undefined
    found.push(text.slice(start, end))
    start = end + part.length
  }
  const end = text.length - last.length
  return start > end ? undefined : [...found, text.slice(start, end)]
}
