import { createRequire } from 'node:module'
import type { Ajv, AnySchemaObject, CodeKeywordDefinition, KeywordCxt, Options as AjvOptions } from 'ajv'
import { countDigits, isDecimal } from '../../util/decimal.js'
import { lazy } from '../../util/functions.js'
import { renderCanonicalJson } from '../../util/own-property.js'
import { BASE64, FREE_MOMENT, ORDERED_FORMATS } from '../convert-text.js'
import { isUuid } from '../legal-text.js'
import { VALUE_KEYWORDS } from '../subschemas.js'

/** The part of Fastify's option `ajv` that is used. Other members of `customOptions` have no effect. */
export interface AjvSettings {
  /** The options of Ajv, of which `formats` and `keywords` are used. @default {} */
  readonly customOptions?: { readonly formats?: object, readonly keywords?: unknown }
  /** Functions that take the Ajv, each alone or in a list with its options. @default [] */
  readonly plugins?: readonly unknown[]
}

// `require` loads a CommonJS package synchronously, whereas `import()` returns a promise.
const load: NodeJS.Require = createRequire(import.meta.url)

/** Returns Ajv. The first call loads it, because that takes about half as long as loading all of Fastify. */
export const loadAjv: () => typeof import('ajv') = lazy(() => load('ajv'))

/** Returns the plugin that adds the formats of JSON Schema to Ajv. The first call loads it. */
export const loadFormats: () => typeof import('ajv-formats') = lazy(() => load('ajv-formats'))

/** Returns the Ajv that checks schemas. */
export const metaSchema: () => Ajv = lazy(() => {
  const { Ajv } = loadAjv()
  return new Ajv({ logger: false })
})

/** The decimals of a quotient that decide on `multipleOf`: 0.57 is a multiple of 0.001, although 0.57 / 0.001 < 570. */
const PRECISION = 6

/** Whether an Ajv refuses unknown keywords and defaults without effect, and goes on after the first error. */
export type AjvMode = Required<Pick<AjvOptions, 'strictSchema' | 'allErrors'>>

/**
 * Makes an Ajv with the settings of the app.
 * @param spend is called before a validator follows a reference
 */
export function makeAjv (
  { customOptions: { formats, keywords } = {}, plugins = [] }: AjvSettings,
  mode: AjvMode,
  spend: () => void
): Ajv {
  // `metaSchema` compiles the metaschema once for all instances, because that takes longer than all the rest.
  const named = { ...(formats !== undefined && { formats }), ...(keywords !== undefined && { keywords }) } as AjvOptions
  const { Ajv } = loadAjv()
  const ajv = new Ajv({
    ...named,
    ...mode,
    meta: false,
    validateSchema: false,
    useDefaults: true,
    ownProperties: true,
    allowUnionTypes: true,
    strictTypes: false,
    strictTuples: false,
    strictRequired: false,
    logger: false,
    multipleOfPrecision: PRECISION
  })
  // Fastify's own compiler calls the plugins in the same way. Our formats come after them, so that none replaces ours.
  for (const plugin of plugins) usePlugin(ajv, plugin)
  addFormats(ajv)
  addKeywords(ajv)
  countReferences(ajv, spend)
  return ajv
}

/** Applies a plugin to Ajv. As in Fastify, it is given alone, or in a list with its options. */
function usePlugin (ajv: Ajv, given: unknown): void {
  const [plugin, options] = [given].flat() as [(ajv: Ajv, options?: unknown) => unknown, unknown]
  try {
    plugin(ajv, options)
  } catch {
    // A plugin may need an option of Ajv that is not used here, such as `allErrors`. Ajv then refuses a schema with one
    // of the plugin's keywords.
  }
}

/** Adds the formats of JSON Schema and ours, which replace those of the app. */
function addFormats (ajv: Ajv): void {
  loadFormats().default(ajv)
  // These formats accept every text, as `password` does.
  for (const format of ['textarea', FREE_MOMENT]) ajv.addFormat(format, true)
  // The formats of dates and times replace those of Ajv, which accept spellings that RFC 3339 or XML Schema lacks.
  for (const [format, { isValid }] of ORDERED_FORMATS) {
    const known = ajv.formats[format] as { compare: (a: string, b: string) => number | undefined } | undefined
    ajv.addFormat(format, known === undefined ? isValid : { validate: isValid, compare: known.compare })
  }
  // Only lower case is valid, because databases may keep no other spelling, or compare UUIDs as texts.
  ajv.addFormat('uuid', isUuid)
  ajv.addFormat('url', isUrl)
}

/** Adds the keywords of our formats, and one of Ajv whose own cost grows faster than the value. */
function addKeywords (ajv: Ajv): void {
  // `addKeyword` does the same, but refuses some names.
  for (const keyword of VALUE_KEYWORDS) ajv.RULES.keywords[keyword] = true
  addDecimalKeyword(
    ajv, 'precision', ({ precision, scale }) => precision - scale, (text) => countDigits(text).whole
  )
  addDecimalKeyword(ajv, 'scale', ({ scale }) => scale, (text) => countDigits(text).fraction)
  ajv.removeKeyword('contentEncoding')
  ajv.addKeyword({
    keyword: 'contentEncoding',
    type: 'string',
    schemaType: 'string',
    validate: (encoding: string, text: string) => encoding !== 'base64' || BASE64.isValid(text)
  })
  ajv.removeKeyword('uniqueItems')
  ajv.addKeyword({
    keyword: 'uniqueItems',
    type: 'array',
    schemaType: 'boolean',
    before: 'items',
    validate: (isAsked: boolean, items: readonly unknown[]) => !isAsked || areDifferent(items)
  })
}

/** The keywords of a decimal. `checkDecimals` has verified that a schema with `precision` has `scale`. */
interface Digits {
  readonly precision: number
  readonly scale: number
}

/** Adds a keyword that limits the digits of a decimal. The format itself refuses other texts. */
function addDecimalKeyword (
  ajv: Ajv,
  keyword: keyof Digits,
  limitOf: (schema: Digits) => number,
  countOf: (text: string) => number
): void {
  const { _ } = loadAjv()
  ajv.removeKeyword(keyword)
  ajv.addKeyword({
    keyword,
    type: 'string',
    schemaType: 'number',
    error: { message: '', params: ({ parentSchema }) => _`{limit: ${limitOf(parentSchema as Digits)}}` },
    validate: (_limit: number, text: string, schema?: AnySchemaObject) =>
      !isDecimal(text) || countOf(text) <= limitOf(schema as Digits)
  })
}

/**
 * Returns whether all items differ (JSON Schema draft-07 §4.2.3). Numbers with the same value are equal, and so are
 * objects with the same members in another order.
 */
function areDifferent (items: readonly unknown[]): boolean {
  const simple = new Set<unknown>()
  const others = new Set<string>()
  for (const item of items) {
    if (typeof item === 'object') others.add(renderCanonicalJson(item))
    else simple.add(item)
  }
  return simple.size + others.size === items.length
}

/** The length of the longest URL, in characters. */
const MAX_URL_LENGTH = 2048
// The expression is that of ajv-formats, except for `\S+@` before the host. The original `\S+(?::\S*)?@` matches a text
// with colons in several ways, which takes quadratic time.
const URL = new RegExp(
  [
    String.raw`^(?:https?|ftp):\/\/(?:\S+@)?(?:`,
    // Private and reserved IPv4 addresses do not match, nor does an address of a network or of a broadcast.
    String.raw`(?!(?:10|127)(?:\.\d{1,3}){3})(?!(?:169\.254|192\.168)(?:\.\d{1,3}){2})`,
    String.raw`(?!172\.(?:1[6-9]|2\d|3[0-1])(?:\.\d{1,3}){2})`,
    String.raw`(?:[1-9]\d?|1\d\d|2[01]\d|22[0-3])(?:\.(?:1?\d{1,2}|2[0-4]\d|25[0-5])){2}`,
    String.raw`(?:\.(?:[1-9]\d?|1\d\d|2[0-4]\d|25[0-4]))`,
    // A host name ends with a domain of letters.
    String.raw`|(?:(?:[a-z0-9\u{a1}-\u{ffff}]+-)*[a-z0-9\u{a1}-\u{ffff}]+)`,
    String.raw`(?:\.(?:[a-z0-9\u{a1}-\u{ffff}]+-)*[a-z0-9\u{a1}-\u{ffff}]+)*(?:\.(?:[a-z\u{a1}-\u{ffff}]{2,}))`,
    String.raw`)(?::\d{2,5})?(?:\/\S*)?$`
  ].join(''),
  'iu'
)

function isUrl (text: string): boolean {
  // With a space at the end, the expression would try each `@` and read on to the space each time.
  return text.length <= MAX_URL_LENGTH && !/\s/.test(text) && URL.test(text)
}

function countReferences (ajv: Ajv, spend: () => void): void {
  // This is Ajv's own definition of `$ref`. The copy belongs to this instance alone.
  const { definition } = ajv.RULES.all.$ref as { definition: CodeKeywordDefinition }
  const { code } = definition
  const { _ } = loadAjv()
  definition.code = (context: KeywordCxt) => {
    const { gen } = context
    gen.code(_`${gen.scopeValue('func', { ref: spend })}()`)
    code(context)
  }
}
