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
export function uncapitalize (words: string): string {
  return /^\p{Lu}{2}/u.test(words) ? words : words.charAt(0).toLowerCase() + words.slice(1)
}
