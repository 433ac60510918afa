import { InvalidOptionError, UnknownOptionError } from '../../errors.js'
import { csv } from '../../formats/csv/csv.js'
import type { ConfiguredResource, Format } from '../../formats/format.js'
import { json } from '../../formats/json/json.js'
import { xml } from '../../formats/xml/xml.js'
import { checkKnown, checkObject } from '../../util/check-option.js'
import { didYouMean } from '../../util/words.js'
import { TOKEN } from '../../util/header-syntax.js'
import { isObject } from '../../util/own-property.js'
import type { ResourceOptions } from '../options.js'
import { checkAllNames } from './options.js'

/** Loads the format `html`, which is a part of the package, but not of the core. */
export type LoadHtml = () => Promise<Format>

const NAMES = ['xml', 'html', 'json', 'csv'] as const
const FORMAT: readonly string[] = [
  'name', 'mediaTypes', 'mediaTypeParameters', 'browser', 'ignored', 'spreadsheet', 'settings', 'languageOf',
  'hidesWriteOnly', 'pageSize', 'configure', 'compileWriter', 'compileReader'
] satisfies Array<keyof Format>
// A media type (RFC 9110 §8.3.1) in lower case and without parameters.
const MEDIA_TYPE = /^[!#$%&'+.^_`|~0-9a-z-]+\/[!#$%&'+.^_`|~0-9a-z-]+$/
const PARAMETERS = new RegExp(`^${TOKEN}=${TOKEN}(?:; ${TOKEN}=${TOKEN})*$`)

/**
 * Returns the formats of a resource, each with its options.
 * @param shared the options of the scopes around the resource
 * @throws InvalidOptionError, UnknownOptionError
 */
export async function resolveFormats (
  options: ResourceOptions,
  shared: Partial<ResourceOptions>,
  resource: ConfiguredResource,
  loadHtml: LoadHtml
): Promise<readonly Format[]> {
  const { formats: given = ['xml', 'html', 'json'] } = options
  if (!Array.isArray(given) || given.length === 0) {
    throw new InvalidOptionError('formats', "must be a list such as ['xml', 'html', 'json']")
  }
  const formats = await Promise.all(given.map(async (format: unknown) =>
    typeof format === 'string' ? await findFormat(format, loadHtml) : checkFormat(format)))
  for (const [index, { name, mediaTypes }] of formats.entries()) {
    const before = formats.slice(0, index)
    if (before.some((other) => other.name === name)) throw new InvalidOptionError('formats', `has "${name}" twice`)
    const taken = mediaTypes.find((type) => before.some((other) => other.mediaTypes.includes(type)))
    if (taken !== undefined) throw new InvalidOptionError('formats', `has two formats of the media type "${taken}"`)
  }
  const configurable = formats.filter(({ configure }) => configure !== undefined).map(({ name }) => name)
  checkAllNames(options, ['html', 'csv', ...configurable])
  for (const name of ['html', 'csv'] as const) {
    const { [name]: own } = options
    if (own === undefined || configurable.includes(name)) continue
    if (shared[name] === undefined) {
      const reason = `; the format "${name}" is not among its "formats", so it would have no effect`
      throw new UnknownOptionError(name, reason)
    }
    // A scope gives such options to all resources in it. They are checked all the same.
    await configure(await findFormat(name, loadHtml), own, resource)
  }
  return Promise.all(formats.map(async (format) => {
    const { [format.name]: own = {} }: Readonly<Record<string, unknown>> = { ...options }
    const configured = await configure(format, own, resource)
    if (typeof configured.compileWriter === 'function') return configured
    throw new InvalidOptionError('formats', `has "${format.name}", which has no function "compileWriter"`)
  }))
}

async function findFormat (name: string, loadHtml: LoadHtml): Promise<Format> {
  const known = checkKnown('formats', name, NAMES)
  switch (known) {
    case 'xml': return xml()
    case 'json': return json()
    case 'csv': return csv()
    case 'html': return loadHtml()
  }
}

async function configure (format: Format, own: unknown, resource: ConfiguredResource): Promise<Format> {
  const { name } = format
  if (format.configure === undefined) return format
  const options = checkObject(name, own, `an object with the options of the format "${name}"`)
  return await format.configure(options, resource)
}

function checkFormat (format: unknown): Format {
  // A call is easily forgotten: `formats: [xml, json]`.
  if (typeof format === 'function') {
    const name = format.name === '' ? 'format' : format.name
    throw new InvalidOptionError('formats', `has the function ${name}, which must be called: ${name}()`)
  }
  const members: Partial<Record<keyof Format, unknown>> = isObject(format) ? format : {}
  const { name, mediaTypes, mediaTypeParameters, compileReader } = members
  if (typeof name !== 'string' || !/^[a-z\d]+$/.test(name)) {
    throw new InvalidOptionError('formats', 'has a format whose "name" is not made of small letters and digits')
  }
  const refuse = (reason: string): never => { throw new InvalidOptionError('formats', `has "${name}"${reason}`) }
  if (!Array.isArray(mediaTypes) || mediaTypes.length === 0 || mediaTypes.some((type) => !MEDIA_TYPE.test(type))) {
    refuse(', whose "mediaTypes" must be a list such as [\'text/csv\'], in small letters')
  }
  if (mediaTypeParameters !== undefined && !PARAMETERS.test(String(mediaTypeParameters))) {
    refuse(', whose "mediaTypeParameters" must be a text such as \'header=present\'')
  }
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
