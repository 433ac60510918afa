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
function scriptOf (tag: string): string | undefined {
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

/** The most `Accept-Language` headers that are kept; browsers send a handful of different ones. */
const REMEMBERED = 100
/** The longest header that is kept or read, in characters. */
const LONGEST = 512

interface LanguageRange {
  readonly range: string
  readonly q: number
}

/** Chooses one of the languages by an `Accept-Language` header. */
export type ChooseLanguage = (header: string | undefined) => string

/**
 * Compiles the choice of a language (RFC 9110 §12.5.4). A language without which the client does not want, or a header
 * that names no offered one, gets the first.
 */
export function compileLanguageChoice (offered: readonly string[]): ChooseLanguage {
  const [fallback] = offered as readonly [string]
  const chosen = new Map<string, string>()
  return (header) => {
    if (header === undefined || header.length > LONGEST) return fallback
    const known = chosen.get(header)
    if (known !== undefined) return known
    const found = choose(parseRanges(header), offered) ?? fallback
    // Clients choose their headers, so only a few are kept.
    if (chosen.size >= REMEMBERED) chosen.clear()
    chosen.set(header, found)
    return found
  }
}

function choose (ranges: readonly LanguageRange[], offered: readonly string[]): string | undefined {
  const refused = ranges.filter(({ q }) => q === 0).map(({ range }) => lookUp(range, offered))
  const accepted = offered.filter((tag) => !refused.includes(tag))
  for (const { range, q } of ranges.toSorted((one, other) => other.q - one.q)) {
    const found = q === 0 ? undefined : range === '*' ? accepted[0] : lookUp(range, accepted)
    if (found !== undefined) return found
  }
  return undefined
}

/**
 * Looks up a range (RFC 4647 §3.4): `de-AT` finds `de`. Beyond that, `pt` finds `pt-BR`. A language in another script
 * is not found, because whoever reads one cannot always read the other.
 */
function lookUp (range: string, offered: readonly string[]): string | undefined {
  const script = scriptOf(range)
  if (script === undefined) return undefined
  const tags = offered.filter((tag) => scriptOf(tag) === script)
  for (let rest = range; rest !== ''; rest = rest.slice(0, Math.max(rest.lastIndexOf('-'), 0))) {
    const found = tags.find((tag) => tag.toLowerCase() === rest)
    if (found !== undefined) return found
  }
  return tags.find((tag) => tag.toLowerCase().startsWith(`${range}-`))
}

/** Parses a header. Malformed parts are left out. */
function parseRanges (header: string): LanguageRange[] {
  return header.toLowerCase().split(',').flatMap((part) => {
    const [, range = '', weight = '1'] = /^\s*(\*|[a-z\d-]+)\s*(?:;\s*q\s*=\s*([\d.]+)\s*)?$/.exec(part) ?? []
    const q = Number(weight)
    return range === '' || Number.isNaN(q) ? [] : [{ range, q }]
  })
}
