import { identity } from '../../core/util/functions.js'
import type { Phrases } from '../messages.js'

/** Translates an English text of the server into the words of the page. */
export type Translate = (text: string) => string

/** Translates a text, or returns `undefined` if no phrase matches it. */
export type FindTranslation = (text: string) => string | undefined

/** Compiles the translation of texts of the app, which have no variable parts. */
export function compileOwn ({ phrases = {} }: { readonly phrases?: Phrases }): Translate {
  const all = new Map(Object.entries(phrases))
  if (all.size === 0) return identity
  return (text) => {
    const translated = all.get(text) ?? text
    return typeof translated === 'string' ? translated : translated()
  }
}

/**
 * A phrase, split at its placeholders: `must be at most {0}` → `must be at most `, ``, and the placeholders' numbers.
 */
interface Phrase {
  readonly parts: readonly string[]
  readonly numbers: readonly number[]
  readonly translated: Phrases[string]
}

/**
 * Compiles the translation. Texts without placeholders are looked up. The others are tried in their order, each in one
 * pass.
 */
export function compilePhrases (phrases: Phrases): FindTranslation {
  const all = Object.entries(phrases)
  const isPattern = ([phrase]: typeof all[number]): boolean => /\{\d+\}/.test(phrase)
  const known = new Map(all.filter((phrase) => !isPattern(phrase)))
  const patterns = all.filter(isPattern).map(([phrase, translated]): Phrase => ({
    parts: phrase.split(/\{\d+\}/),
    numbers: [...phrase.matchAll(/\{(\d+)\}/g)].map(([, number]) => Number(number)),
    translated
  }))
  return (text) => {
    const whole = known.get(text)
    if (whole !== undefined) return typeof whole === 'string' ? whole : whole()
    for (const { parts, numbers, translated } of patterns) {
      const found = match(text, parts)
      if (found === undefined) continue
      const part = (number: number): string => found[numbers.indexOf(number)] ?? ''
      return typeof translated === 'string'
        ? translated.replaceAll(/\{(\d+)\}/g, (_, number: string) => part(Number(number)))
        : translated(...numbers.map((_, number) => part(number)))
    }
    return undefined
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
