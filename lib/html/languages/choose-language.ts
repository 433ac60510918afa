import { scriptOf } from './language.js'

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
