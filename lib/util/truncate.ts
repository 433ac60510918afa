/** The first characters of a text, not in the middle of one. */
export function clip (text: string, most: number): string {
  const last = text.charCodeAt(most - 1)
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? most - 1 : most)
}

/** What a client has named, for a message about it: a client may name something by a megabyte. */
export function abbreviate (text: string, most = 100): string {
  return text.length > most ? `${clip(text, most)}…` : text
}
