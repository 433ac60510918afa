/** From what the server says in English to what a page says. */
export type Translate = (text: string) => string

/** The texts between the numbers of a phrase: `must be at most {0}` → `must be at most `, ``, with the numbers. */
interface Phrase {
  readonly parts: readonly string[]
  readonly numbers: readonly number[]
  readonly translated: string
}

/** Texts without numbers are looked up; the others are tried in their order, each in one pass over the text. */
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

/** What stands between the parts, or undefined where the text is not made of them. */
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
