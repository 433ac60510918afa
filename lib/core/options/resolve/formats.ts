import { InvalidOptionError } from '../../errors.js'
import { makeCsvFormat } from '../../formats/csv/csv.js'
import type { CsvOptions } from '../../formats/csv/write.js'
import type { Format } from '../../formats/format.js'
import { makeHtmlFormat } from '../../../html/html.js'
import type { HtmlOptions } from '../../../html/options.js'
import { parseColour } from '../../../html/style/colour.js'
import type { RowTitle } from '../../../html/values/row-names.js'
import type { Views } from '../../../html/views/types.js'
import { defaultViews } from '../../../html/views/views.js'
import { json } from '../../formats/json/json.js'
import { xml } from '../../formats/xml/xml.js'
import { checkBoolean, checkKnown, checkMembers, checkObject, checkThat } from '../../util/check-option.js'
import { didYouMean } from '../../util/did-you-mean.js'
import { TOKEN } from '../../util/header-syntax.js'

const FORMAT: readonly string[] = [
  'name', 'mediaTypes', 'mediaTypeParameters', 'browser', 'spreadsheet', 'settings', 'languageOf', 'compileWriter',
  'compileReader'
] satisfies Array<keyof Format>
// A media type (RFC 9110 §8.3.1) in lower case and without parameters.
const MEDIA_TYPE = /^[!#$%&'+.^_`|~0-9a-z-]+\/[!#$%&'+.^_`|~0-9a-z-]+$/
const PARAMETERS = new RegExp(`^${TOKEN}=${TOKEN}(?:; ${TOKEN}=${TOKEN})*$`)

export function resolveFormats (option: string, given: unknown, own: HtmlOptions & CsvOptions): readonly Format[] {
  if (!Array.isArray(given) || given.length === 0) {
    throw new InvalidOptionError(option, "must be a list such as ['xml', 'html', 'json']")
  }
  const known: Readonly<Record<'xml' | 'html' | 'json' | 'csv', Format>> =
    { xml, html: makeHtmlFormat(own), json, csv: makeCsvFormat(own) }
  const formats = given.map((format: unknown) =>
    typeof format === 'string'
      ? known[checkKnown(option, format, ['xml', 'html', 'json', 'csv'])]
      : checkFormat(option, format)
  )
  for (const [index, { name, mediaTypes }] of formats.entries()) {
    const before = formats.slice(0, index)
    if (before.some((other) => other.name === name)) throw new InvalidOptionError(option, `has "${name}" twice`)
    const taken = mediaTypes.find((type) => before.some((other) => other.mediaTypes.includes(type)))
    if (taken !== undefined) throw new InvalidOptionError(option, `has two formats of the media type "${taken}"`)
  }
  return formats
}

function checkFormat (option: string, format: unknown): Format {
  const members: Partial<Record<keyof Format, unknown>> = format ?? {}
  const { name, mediaTypes, mediaTypeParameters, compileWriter, compileReader } = members
  if (typeof name !== 'string' || !/^[a-z\d]+$/.test(name)) {
    throw new InvalidOptionError(option, 'has a format whose "name" is not made of small letters and digits')
  }
  const refuse = (reason: string): never => { throw new InvalidOptionError(option, `has "${name}"${reason}`) }
  if (!Array.isArray(mediaTypes) || mediaTypes.length === 0 || mediaTypes.some((type) => !MEDIA_TYPE.test(type))) {
    refuse(', whose "mediaTypes" must be a list such as [\'text/csv\'], in small letters')
  }
  if (mediaTypeParameters !== undefined && !PARAMETERS.test(String(mediaTypeParameters))) {
    refuse(', whose "mediaTypeParameters" must be a text such as \'header=present\'')
  }
  if (typeof compileWriter !== 'function') refuse(', which has no function "compileWriter"')
  if (compileReader !== undefined && typeof compileReader !== 'function') {
    refuse(', whose "compileReader" is not a function')
  }
  // An instance of a class may have other members, so only likely misspellings are refused.
  for (const member of Object.keys(members).filter((member) => !FORMAT.includes(member))) {
    const hint = didYouMean(member, FORMAT)
    if (hint !== '') refuse(` with "${member}", which is not a member of a format${hint}`)
  }
  // The parameters of the functions cannot be checked.
  return format as Format
}

/**
 * Checks the option `xsd`. Its path would also be that of a format called `xsd`.
 * @throws InvalidOptionError
 */
export function checkXsd (option: string, xsd: unknown, formats: readonly Format[]): boolean {
  if (!checkBoolean(option, xsd)) return false
  if (!formats.includes(xml)) {
    throw new InvalidOptionError(option, 'needs the format \'xml\', which is not among the "formats"')
  }
  if (formats.some(({ name }) => name === 'xsd')) {
    throw new InvalidOptionError(option, 'adds a path that the format "xsd" has already; give the format another name')
  }
  return true
}

export function checkViews (option: string, views: unknown): Partial<Views> {
  return checkMembers<Views>(option, views, defaultViews)
}

export function checkTitle (option: string, title: unknown): RowTitle | undefined {
  const isTitle = (value: unknown): value is RowTitle | undefined =>
    ['string', 'function', 'undefined'].includes(typeof value)
  return checkThat(option, title, isTitle, "an attribute such as 'name', a function of the row, or 'id'")
}

export function checkAccent (option: string, accent: unknown): string {
  const isColour = (value: unknown): value is string => typeof value === 'string' && parseColour(value) !== undefined
  return checkThat(option, accent, isColour, "a colour such as '#1d5fd1'")
}

/**
 * Checks directives of a policy. A semicolon or a comma would begin another directive or policy (CSP Level 3 §2.2).
 * @throws InvalidOptionError
 */
export function checkPolicy (option: string, given: unknown): HtmlOptions['contentSecurityPolicy'] {
  if (given === false) return undefined
  const policy = checkObject(option, given, 'false or directives such as { \'img-src\': "\'self\'" }')
  return Object.fromEntries(
    Object.entries(policy).map(([name, value]) => {
      const isValid = /^[a-z][a-z-]*$/.test(name) && typeof value === 'string' && /^[!-+\--:<-~ ]*$/.test(value)
      if (isValid) return [name, value]
      throw new InvalidOptionError(
        option,
        `has the directive "${name}", which must be a name in small letters with its values in one text`
      )
    })
  )
}
