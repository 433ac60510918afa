import type { Format } from '../../formats/format.js'
import { splitOutsideQuotes, TOKEN } from '../../util/header-syntax.js'

/** The format and the media type of an answer. */
export interface FormatChoice<F extends Format = Format> {
  readonly format: F
  readonly mediaType: string
  /** The header. It is made once, because Fastify looks it up, which takes longer with a text that was just joined. */
  readonly contentType: string
}

export function makeFormatChoice<F extends Format> (
  format: F,
  mediaType = format.mediaTypes[0] as string
): FormatChoice<F> {
  return { format, mediaType, contentType: `${mediaType}; charset=utf-8` }
}

interface Range {
  readonly type: string
  readonly q: number
  /** 2: a media type, 1: all of a type, 0: everything */
  readonly specificity: 0 | 1 | 2
}

/** What a header accepts. `tied` are the choices that match the same wildcard as the best one. */
interface Ranking<F extends Format> {
  readonly best: FormatChoice<F> | undefined
  readonly tied: ReadonlyArray<FormatChoice<F>>
}

/** The most headers that are kept, because clients choose them; browsers send a handful of different ones. */
const REMEMBERED = 100
/** The longest header that is kept, in characters. */
const LONGEST = 512

/** Chooses by the `Accept` header and the format of the request's own body; undefined: nothing is acceptable. */
export type Negotiate<F extends Format> = (
  accept: string | undefined,
  body: F | undefined
) => FormatChoice<F> | undefined

/**
 * Compiles content negotiation (RFC 9110 §12.5.1) among the formats that are written: by q, then by how specific the
 * matching range is, then by the order of the header, then by the order of `formats`. If only a wildcard matches, or
 * there is no header, the format of the request's body comes first.
 */
export function compileNegotiation<F extends Format> (formats: readonly F[]): Negotiate<F> {
  const offers: ReadonlyArray<FormatChoice<F>> = formats.flatMap((format) =>
    format.mediaTypes.map((mediaType) => makeFormatChoice(format, mediaType))
  )
  const firsts = formats.map((format) => offers.find((offer) => offer.format === format) as FormatChoice<F>)
  const anything: Ranking<F> = { best: firsts[0], tied: firsts }
  const remembered = new Map<string, Ranking<F>>()

  function findRanking (accept: string): Ranking<F> {
    const known = remembered.get(accept)
    if (known !== undefined) return known
    const ranking = rank(parseAccept(accept), offers) ?? anything
    if (accept.length <= LONGEST) {
      if (remembered.size >= REMEMBERED) remembered.clear()
      remembered.set(accept, ranking)
    }
    return ranking
  }

  return (accept, body) => {
    const { best, tied } = accept === undefined ? anything : findRanking(accept)
    if (body === undefined || best?.format === body) return best
    return tied.find(({ format }) => format === body) ?? best
  }
}

/** Returns undefined if the header has no range that can be parsed: then it is ignored. */
function rank<F extends Format> (
  ranges: readonly Range[],
  offers: ReadonlyArray<FormatChoice<F>>
): Ranking<F> | undefined {
  if (ranges.length === 0) return undefined
  const candidates = offers
    .map((offer) => ({ offer, ...match(offer.mediaType, ranges) }))
    .filter(({ q }) => q > 0)
    .sort((a, b) => b.q - a.q || b.specificity - a.specificity || a.position - b.position)
  const [best] = candidates
  if (best === undefined) return { best: undefined, tied: [] }
  const tied = candidates.filter(
    ({ q, position }) => best.specificity < 2 && q === best.q && position === best.position
  )
  return { best: best.offer, tied: tied.map(({ offer }) => offer) }
}

/** Finds the most specific range that matches a media type, which decides its q. */
function match (mediaType: string, ranges: readonly Range[]): { q: number, specificity: number, position: number } {
  let found = { q: 0, specificity: -1, position: -1 }
  for (const [position, { type, q, specificity }] of ranges.entries()) {
    const fits = specificity === 0 || (specificity === 1 ? mediaType.startsWith(type) : mediaType === type)
    if (fits && specificity > found.specificity) found = { q, specificity, position }
  }
  return found
}

const RANGE = new RegExp(`^(${TOKEN})/(${TOKEN})$`)
const WEIGHT = /^\d+(?:\.\d*)?$|^\.\d+$/

function parseAccept (header: string): Range[] {
  const ranges: Range[] = []
  for (const element of splitOutsideQuotes(header, ',')) {
    if (element === undefined) continue
    // An element ends outside quotation marks, and so do its parts.
    const [type = '', ...parameters] = splitOutsideQuotes(element, ';') as string[]
    const q = parseWeight(parameters)
    const range = parseRange(type.trim().toLowerCase())
    if (range !== undefined && q !== undefined) ranges.push({ ...range, q })
  }
  return ranges
}

function parseRange (text: string): Omit<Range, 'q'> | undefined {
  // Java's HttpURLConnection sends a bare `*`.
  if (text === '*' || text === '*/*') return { type: '', specificity: 0 }
  const [, type, subtype] = RANGE.exec(text) ?? []
  if (type === undefined || type === '*') return undefined
  return subtype === '*' ? { type: `${type}/`, specificity: 1 } : { type: text, specificity: 2 }
}

/** Returns the weight, at most 1, which is also the default; undefined if it is no number. */
function parseWeight (parameters: readonly string[]): number | undefined {
  for (const parameter of parameters) {
    const [name = '', value = ''] = parameter.split('=', 2)
    if (name.trim().toLowerCase() !== 'q') continue
    return WEIGHT.test(value.trim()) ? Math.min(Number(value), 1) : undefined
  }
  return 1
}
