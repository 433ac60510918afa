import { compilePhrases, type FindTranslation } from './phrases.js'
import type { Language } from './grammar.js'

/** A language as the pages use it. */
export interface LoadedLanguage {
  readonly messages: Language['messages']
  readonly translate: FindTranslation
}

/** The languages that are loaded, by their names: `de`. */
export type Languages = ReadonlyMap<string, LoadedLanguage>

type Load = () => Promise<readonly [Pick<Language, 'messages'>, Pick<Language, 'phrases'>]>

/** Imports each language only when a resource names it. */
const FILES: ReadonlyMap<string, Load> = new Map<string, Load>([
  ['ar', () => Promise.all([import('./words/ar/messages.js'), import('./words/ar/phrases.js')])],
  ['de', () => Promise.all([import('./words/de/messages.js'), import('./words/de/phrases.js')])],
  ['es', () => Promise.all([import('./words/es/messages.js'), import('./words/es/phrases.js')])],
  ['fr', () => Promise.all([import('./words/fr/messages.js'), import('./words/fr/phrases.js')])],
  ['ja', () => Promise.all([import('./words/ja/messages.js'), import('./words/ja/phrases.js')])],
  ['pt', () => Promise.all([import('./words/pt/messages.js'), import('./words/pt/phrases.js')])],
  ['zh', () => Promise.all([import('./words/zh/messages.js'), import('./words/zh/phrases.js')])]
])

/** The languages that the package has words for, English first. */
export const KNOWN_LANGUAGES: readonly string[] = ['en', ...FILES.keys()]

/** Loads the languages of these tags. Tags without words, and those that are not valid, are left out. */
export async function loadLanguages (tags: Iterable<string>): Promise<Languages> {
  const names = new Set([...tags].map(nameOf))
  const loaded = new Map<string, LoadedLanguage>()
  for (const name of names) {
    const load = FILES.get(name ?? '')
    if (name === undefined || load === undefined) continue
    const [{ messages }, { phrases }] = await load()
    loaded.set(name, { messages, translate: compilePhrases(phrases) })
  }
  return loaded
}

/** Finds the words for a tag: those of `de` for `de-AT`. Returns `undefined` if there are none. */
export function findWords (tag: string, languages: Languages): LoadedLanguage | undefined {
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
