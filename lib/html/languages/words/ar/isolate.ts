import type { Language } from '../../grammar.js'

/** Keeps a text that may run from left to right together (Unicode Standard Annex 9, FSI and PDI). */
export function isolate (text: number | string): string {
  return `\u2068${text}\u2069`
}

/** Matches placeholders, and Latin words with the punctuation that belongs to them: `{0}`, `_version`, `id[a]`. */
const LATIN = /\{\d\}|[\w\\"[](?:[\w\\/"[\],-]|\.(?=\w))*/g

/** Isolates the variable parts and the Latin words of phrases: after Arabic letters, `-1` would be shown as `1-`. */
export function isolateParts (phrases: Language['phrases']): Language['phrases'] {
  const isolated = Object.entries(phrases).map(([text, translated]) =>
    [text, typeof translated === 'string' ? translated.replaceAll(LATIN, isolate) : translated])
  return Object.fromEntries(isolated) as Language['phrases']
}
