import { splitOutsideQuotes } from './accept.js'

/** What a Content-Type says, in lower case. */
export interface ContentType {
  readonly mediaType: string
  readonly charset: string | undefined
}

// RFC 9110 §8.3.1, §5.6.2
const TOKEN = "[!#$%&'*+.^_`|~0-9a-z-]+"
const MEDIA_TYPE = new RegExp(`^${TOKEN}/${TOKEN}$`)
const PARAMETER = new RegExp(`^(${TOKEN})=(?:(${TOKEN})|"((?:[^"\\\\]|\\\\.)*)")$`)

/** Undefined where the header is malformed: a guess at what was meant would be worse than an error. */
export function parseContentType (header: string): ContentType | undefined {
  // A quotation that does not end makes a parameter that is none.
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
