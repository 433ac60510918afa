import { closest, distance } from 'fastest-levenshtein'

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

/** Writes the first letter in lower case, unless the text begins with an abbreviation, or is a name in capitals. */
export function uncapitalize (words: string): string {
  return /^\p{Lu}{2}| \p{Lu}\p{Ll}/u.test(words) ? words : words.charAt(0).toLowerCase() + words.slice(1)
}

/** Returns a text with a capital first letter: `post` → `Post`. */
export function capitalize (text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** Returns `; did you mean "title"?` if a name is nearly one of the known names, else the empty string. */
export function didYouMean (name: string, known: readonly string[]): string {
  const near = findNear(name, known)
  return near === undefined ? '' : `; did you mean "${near}"?`
}

/** Returns the known name that a name nearly is, or `undefined` if there is none. */
export function findNear (name: string, known: readonly string[]): string | undefined {
  // The cost grows with both lengths, and a client may send a long name.
  if (known.length === 0 || name.length > 64) return undefined
  const nearest = closest(name.toLowerCase(), known.map((candidate) => candidate.toLowerCase()))
  const candidate = known.find((word) => word.toLowerCase() === nearest) as string
  const changes = distance(name.toLowerCase(), nearest)
  // If every letter would change, the names have nothing in common, such as `x` and `q`.
  const isNear = changes <= Math.max(2, candidate.length / 2) && changes < Math.max(name.length, candidate.length)
  return isNear ? candidate : undefined
}

/** The most characters of a request that one link, the value of a condition, or the text of an error may have. */
export const MOST_REPEATED = 4000

/** Cuts a text to at most `most` characters, but not between the halves of a surrogate pair. */
export function clip (text: string, most: number): string {
  const last = text.charCodeAt(most - 1)
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? most - 1 : most)
}

/** Shortens a client's text for a message. An ellipsis marks the cut. */
export function abbreviate (text: string, most = 100): string {
  return text.length > most ? `${clip(text, most)}…` : text
}
