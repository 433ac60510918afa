import type { Catalog, KnownTexts } from './grammar.js'

/** A language that is loaded. */
export interface Language {
  readonly messages: Catalog
  readonly texts: KnownTexts
}

/** The languages that are loaded, by their names: `de`. */
export type Languages = ReadonlyMap<string, Language>

/** Imports each language only when a resource names it. */
const FILES: ReadonlyMap<string, () => Promise<Language>> = new Map([
  ['ar', () => import('./ar.js')],
  ['de', () => import('./de.js')],
  ['es', () => import('./es.js')],
  ['fr', () => import('./fr.js')],
  ['ja', () => import('./ja.js')],
  ['pt', () => import('./pt.js')],
  ['zh', () => import('./zh.js')]
])

/** The languages that the package has words for, English first. */
export const KNOWN_LANGUAGES: readonly string[] = ['en', ...FILES.keys()]

/** Loads the languages of these tags. Tags without words, and those that are not valid, are left out. */
export async function loadLanguages (tags: Iterable<string>): Promise<Languages> {
  const loaded = new Map<string, Language>()
  for (const name of new Set([...tags].map(nameOf))) {
    const load = FILES.get(name ?? '')
    if (name !== undefined && load !== undefined) loaded.set(name, await load())
  }
  return loaded
}

/** Finds the words for a tag: those of `de` for `de-AT`. Returns `undefined` if there are none. */
export function findWords (tag: string, languages: Languages): Language | undefined {
  return languages.size === 0 ? undefined : languages.get(nameOf(tag) ?? '')
}

/** Returns the name of the language of a tag, if its script is the one that the language is usually written in. */
function nameOf (tag: string): string | undefined {
  const script = scriptOf(tag)
  const [name = ''] = tag.toLowerCase().split('-')
  return script !== undefined && script === scriptOf(name) ? name : undefined
}

/** Returns the script of a tag (ISO 15924): `Hant` for `zh-TW`. Returns `undefined` if the tag is not valid. */
export function scriptOf (tag: string): string | undefined {
  try {
    return new Intl.Locale(tag).maximize().script
  } catch {
    return undefined
  }
}

/** The scripts that are written from right to left (ISO 15924). */
const RIGHT_TO_LEFT: ReadonlySet<string | undefined> =
  new Set(['Adlm', 'Arab', 'Hebr', 'Mand', 'Nkoo', 'Rohg', 'Samr', 'Syrc', 'Thaa'])

/** Returns the direction of texts in a language. */
export function directionOf (tag: string): 'ltr' | 'rtl' {
  return RIGHT_TO_LEFT.has(scriptOf(tag)) ? 'rtl' : 'ltr'
}
