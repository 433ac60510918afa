/** The pattern of a token (RFC 9110 §5.6.2). */
export const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"

/**
 * Splits a header at a separator, but not within quotation marks. The last part is undefined if its quotation does not
 * end. A regular expression would be quadratic on a header of quotation marks.
 */
export function splitOutsideQuotes (text: string, separator: string): Array<string | undefined> {
  if (!text.includes('"')) return text.split(separator)
  const parts: Array<string | undefined> = []
  let quoted = false
  let start = 0
  for (let index = 0; index < text.length; index++) {
    const character = text[index]
    if (character === '\\' && quoted) index++
    else if (character === '"') quoted = !quoted
    else if (character === separator && !quoted) {
      parts.push(text.slice(start, index))
      start = index + 1
    }
  }
  parts.push(quoted ? undefined : text.slice(start))
  return parts
}
