import { InvalidOptionError } from '../errors.js'
import type { Format } from '../formats/format.js'
import { makeHtmlFormat } from '../formats/html/html.js'
import { makeMessages, type PageMessages } from '../formats/html/messages.js'
import type { PageOptions } from '../formats/html/options.js'
import { parseColour } from '../formats/html/style/colour.js'
import type { Views } from '../formats/html/views/types.js'
import { defaultViews } from '../formats/html/views/views.js'
import { json } from '../formats/json/json.js'
import { xml } from '../formats/xml/xml.js'
import { checkBoolean, checkKnown, checkMembers, checkObject, show } from '../util/check-option.js'
import { didYouMean } from '../util/did-you-mean.js'

const FORMAT: readonly string[] = ['name', 'mediaTypes', 'browser', 'compileWriter', 'compileReader'] satisfies Array<
  keyof Format
>
// RFC 9110 §8.3.1, in lower case and without parameters.
const MEDIA_TYPE = /^[!#$%&'+.^_`|~0-9a-z-]+\/[!#$%&'+.^_`|~0-9a-z-]+$/

export function resolveFormats (option: string, given: unknown, pages: PageOptions): readonly Format[] {
  if (!Array.isArray(given) || given.length === 0) {
    throw new InvalidOptionError(option, "must be a list such as ['xml', 'html', 'json']")
  }
  const known = new Map([['xml', xml], ['html', makeHtmlFormat(pages)], ['json', json]])
  const formats = given.map((format: unknown) => {
    if (typeof format !== 'string') return checkFormat(option, format)
    checkKnown(option, format, [...known.keys()])
    return known.get(format) as Format
  })
  for (const [index, { name, mediaTypes }] of formats.entries()) {
    if (formats.findIndex((other) => other.name === name) !== index) {
      throw new InvalidOptionError(option, `has "${name}" twice`)
    }
    const taken = mediaTypes.find((type) => formats.findIndex((other) => other.mediaTypes.includes(type)) !== index)
    if (taken !== undefined) throw new InvalidOptionError(option, `has two formats of the media type "${taken}"`)
  }
  return formats
}

function checkFormat (option: string, format: unknown): Format {
  const { name, mediaTypes, compileWriter, compileReader } = (format ?? {}) as Partial<Format>
  if (typeof name !== 'string' || !/^[a-z\d]+$/.test(name)) {
    throw new InvalidOptionError(option, 'has a format whose "name" is not made of small letters and digits')
  }
  if (!Array.isArray(mediaTypes) || mediaTypes.length === 0 || mediaTypes.some((type) => !MEDIA_TYPE.test(type))) {
    throw new InvalidOptionError(
      option,
      `has "${name}", whose "mediaTypes" must be a list such as ['text/csv'], in small letters`
    )
  }
  if (typeof compileWriter !== 'function') {
    throw new InvalidOptionError(option, `has "${name}", which has no function "compileWriter"`)
  }
  if (compileReader !== undefined && typeof compileReader !== 'function') {
    throw new InvalidOptionError(option, `has "${name}", whose "compileReader" is no function`)
  }
  // Members of its own it may have: it may be an instance of a class.
  const misspelt = Object.keys(format as Format).find(
    (member) => !FORMAT.includes(member) && didYouMean(member, FORMAT) !== ''
  )
  if (misspelt !== undefined) {
    throw new InvalidOptionError(
      option,
      `has "${name}" with "${misspelt}", which is no member of a format${didYouMean(misspelt, FORMAT)}`
    )
  }
  return format as Format
}

/** It tells what our own format writes and reads, under the path that one called so would have. */
export function checkXsd (option: string, xsd: unknown, formats: readonly Format[]): boolean {
  if (!checkBoolean(option, xsd)) return false
  if (!formats.includes(xml)) {
    throw new InvalidOptionError(option, 'is about the format \'xml\', which is not among the "formats"')
  }
  if (formats.some(({ name }) => name === 'xsd')) {
    throw new InvalidOptionError(option, 'adds the path that a format called "xsd" has; give the format another name')
  }
  return true
}

export function checkViews (option: string, views: unknown): Partial<Views> {
  return checkMembers<Views>(option, views, defaultViews)
}

export function checkLanguage (option: string, lang: unknown): string {
  try {
    const [canonical] = typeof lang === 'string' ? Intl.getCanonicalLocales(lang) : []
    if (canonical !== undefined) return canonical
  } catch {}
  throw new InvalidOptionError(option, `must be a language tag such as 'de' or 'pt-BR', not ${show(lang)}`)
}

export function checkMessages (option: string, given: unknown): Partial<PageMessages> {
  const messages = checkMembers<PageMessages>(option, given, makeMessages({ plural: '', singular: '' }, {}))
  for (const [phrase, words] of Object.entries(messages.phrases ?? {})) {
    if (typeof words !== 'string') {
      throw new InvalidOptionError(option, `has the phrase "${phrase}", whose translation is no text`)
    }
  }
  return messages
}

export function checkAccent (option: string, accent: unknown): string {
  if (typeof accent !== 'string' || parseColour(accent) === undefined) {
    throw new InvalidOptionError(option, `must be a colour such as '#1d5fd1', not ${show(accent)}`)
  }
  return accent
}

/** A directive that had a semicolon or a comma in it would be another one, or another policy (CSP Level 3 §2.2). */
export function checkPolicy (option: string, given: unknown): PageOptions['contentSecurityPolicy'] {
  if (given === false) return undefined
  const policy = checkObject(option, given, 'false or directives such as { \'img-src\': "\'self\'" }')
  for (const [name, value] of Object.entries(policy)) {
    if (!/^[a-z][a-z-]*$/.test(name) || typeof value !== 'string' || !/^[!-+\--:<-~ ]*$/.test(value)) {
      throw new InvalidOptionError(
        option,
        `has the directive "${name}", which must be a name in small letters with its values in one text`
      )
    }
  }
  return policy as Readonly<Record<string, string>>
}
