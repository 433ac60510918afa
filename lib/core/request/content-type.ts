import { splitOutsideQuotes, TOKEN } from '../util/header-syntax.js'

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
