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
