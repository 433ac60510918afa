/** Returns a text with a capital first letter: `post` → `Post`. */
export function capitalize (text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
