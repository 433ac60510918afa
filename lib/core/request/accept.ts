import type { Format } from '../formats/format.js'
import { splitOutsideQuotes, TOKEN } from '../util/header-syntax.js'

/** The format and the media type of an answer. */
export interface FormatChoice<F extends Format = Format> {
  readonly format: F
  readonly mediaType: string
  /** The header Content-Type. It is made once, because Fastify looks it up, and a freshly joined text takes longer. */
  readonly contentType: string
}

export function makeFormatChoice<F extends Format> (
  format: F,
  mediaType = format.mediaTypes[0] as string
): FormatChoice<F> {
  const { mediaTypeParameters: parameters } = format
  const contentType = `${mediaType}; charset=utf-8${parameters === undefined ? '' : `; ${parameters}`}`
  return { format, mediaType, contentType }
}

interface MediaRange {
  /** A media type, a type with its slash such as `text/`, or the empty text for everything. */
  readonly type: string
  readonly q: number
  /** 2 for a media type, 1 for all subtypes of a type, 0 for everything. */
  readonly specificity: 0 | 1 | 2
}

/** An offer with what decides its rank: the most specific range that matches it, and the place of that range. */
interface Candidate<F extends Format> {
  readonly offer: FormatChoice<F>
  readonly q: number
  readonly specificity: number
  readonly position: number
}

/**
 * Chooses a format by an `Accept` header (RFC 9110 §12.5.1): by q, then by how specific the matching range is, then by
 * the order of the header, then by the order of `formats`. Returns `undefined` if the header accepts none of them. A
 * header without a range is ignored.
 * @param preferred the format that comes first where only a wildcard or nothing decides
 */
export function chooseFormat<F extends Format> (
  accept: string | undefined,
  formats: readonly F[],
  preferred?: F
): FormatChoice<F> | undefined {
  const ordered = preferred === undefined ? formats : [preferred, ...formats.filter((format) => format !== preferred)]
  const ranges = accept === undefined ? [] : parseAccept(accept)
  if (ranges.length === 0) return ordered[0] && makeFormatChoice(ordered[0])
  const candidates = ordered
    .flatMap((format) => format.mediaTypes.map((mediaType) => match(makeFormatChoice(format, mediaType), ranges)))
    .filter(({ q }) => q > 0)
    .sort((a, b) => b.q - a.q || b.specificity - a.specificity || a.position - b.position)
  const [first] = candidates
  const isPreferred = first?.specificity === 0 && first.offer.format === preferred
  return first && (isPreferred ? first : findPage(first, candidates, ranges) ?? first).offer
}

const PAGE = /^(?:text\/html|application\/xhtml\+xml)$/
const XML = /^(?:application|text)\/xml$/
/** Matches the media types of documents that programs ask for. */
const DOCUMENT = /^(?:application|text)\/(?:xml|html|xhtml\+xml|csv|(?:.+\+)?json)$/

/**
 * Finds the page for an old browser, which likes XML as much as XHTML, or names images and programs before a wildcard.
 */
function findPage<F extends Format> (
  { q, specificity, offer: { mediaType } }: Candidate<F>,
  candidates: ReadonlyArray<Candidate<F>>,
  ranges: readonly MediaRange[]
): Candidate<F> | undefined {
  const isTied = specificity === 2 && XML.test(mediaType)
  const names = ranges.slice(0, -1)
  const isList = specificity === 0 && ranges.at(-1)?.type === '' && names.length > 0 &&
    names.every(({ type }) => type !== '' && !DOCUMENT.test(type))
  if (!isTied && !isList) return undefined
  return candidates.find((one) => one.q === q && one.specificity === specificity && PAGE.test(one.offer.mediaType))
}

/** Finds the most specific range that matches an offer, which decides its q. */
function match<F extends Format> (offer: FormatChoice<F>, ranges: readonly MediaRange[]): Candidate<F> {
  let found = { offer, q: 0, specificity: -1, position: -1 }
  for (const [position, { type, q, specificity }] of ranges.entries()) {
    const fits = specificity === 2 ? offer.mediaType === type : offer.mediaType.startsWith(type)
    if (fits && specificity > found.specificity) found = { offer, q, specificity, position }
  }
  return found
}

const RANGE = new RegExp(`^(${TOKEN})/(${TOKEN})$`)
const WEIGHT = /^\d+(?:\.\d*)?$|^\.\d+$/

function parseAccept (header: string): MediaRange[] {
  const ranges: MediaRange[] = []
  for (const element of splitOutsideQuotes(header, ',')) {
    if (element === undefined) continue
    // An element has no open quotation, so each of its parts is defined.
    const [type = '', ...parameters] = splitOutsideQuotes(element, ';') as string[]
    const q = parseWeight(parameters)
    const range = parseRange(type.trim().toLowerCase())
    if (range !== undefined && q !== undefined) ranges.push({ ...range, q })
  }
  return ranges
}

function parseRange (text: string): Omit<MediaRange, 'q'> | undefined {
  // Java's HttpURLConnection sends a bare `*`.
  if (text === '*' || text === '*/*') return { type: '', specificity: 0 }
  const [, type, subtype] = RANGE.exec(text) ?? []
  if (type === undefined || type === '*') return undefined
  return subtype === '*' ? { type: `${type}/`, specificity: 1 } : { type: text, specificity: 2 }
}

/** Returns the weight, at most 1, which is also the default, or `undefined` if it is not a number. */
function parseWeight (parameters: readonly string[]): number | undefined {
  for (const parameter of parameters) {
    const [name = '', value = ''] = parameter.split('=', 2)
    if (name.trim().toLowerCase() !== 'q') continue
    return WEIGHT.test(value.trim()) ? Math.min(Number(value), 1) : undefined
  }
  return 1
}

/** A parsed Content-Type, in lower case. */
export interface ContentType {
  readonly mediaType: string
  readonly charset: string | undefined
}

// The syntax of media types (RFC 9110 §8.3.1).
const MEDIA_TYPE = new RegExp(`^${TOKEN}/${TOKEN}$`)
const PARAMETER = new RegExp(`^(${TOKEN})=(?:(${TOKEN})|"((?:[^"\\\\]|\\\\.)*)")$`)

/** Parses a Content-Type. Returns `undefined` if it is malformed, because an error is better than a guess. */
export function parseContentType (header: string): ContentType | undefined {
  if (MEDIA_TYPE.test(header)) return { mediaType: header.toLowerCase(), charset: undefined }
  // A part with an open quotation becomes a lone quote, which is malformed.
  const [mediaType = '', ...parameters] = splitOutsideQuotes(header.toLowerCase(), ';').map(
    (part) => part?.trim() ?? '"'
  )
  if (!MEDIA_TYPE.test(mediaType)) return undefined
  let charset: string | undefined
  for (const parameter of parameters) {
    if (parameter === '') continue
    const [, name, token, quoted] = PARAMETER.exec(parameter) ?? []
    if (name === undefined || (name === 'charset' && charset !== undefined)) return undefined
    if (name === 'charset') charset = token ?? quoted
  }
  return { mediaType, charset }
}
