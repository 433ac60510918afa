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
