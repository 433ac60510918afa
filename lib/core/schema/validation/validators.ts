import { createRequire } from 'node:module'
import type {
  Ajv, AnySchemaObject, CodeKeywordDefinition, KeywordCxt, Options as AjvOptions, ValidateFunction
} from 'ajv'
import { countDigits, isDecimal } from '../../util/decimal.js'
import { lazy } from '../../util/functions.js'
import { isObject, renderCanonicalJson } from '../../util/own-property.js'
import { didYouMean } from '../../util/words.js'
import { isOfMediaType } from '../../formats/files.js'
import { BASE64, FREE_MOMENT, ORDERED_FORMATS } from '../convert-text.js'
import { isUuid } from '../legal-text.js'
import { shapesOf } from '../shape.js'
import {
  kindOf, mapSubschemas, resolveReference, subschemasOf, VALUE_KEYWORDS, writePointer
} from '../subschemas.js'
import type { Schema } from '../types.js'

/** The part of Fastify's option `ajv` that is used. Other members of `customOptions` have no effect. */
export interface AjvSettings {
  /** The options of Ajv, of which `formats` and `keywords` are used. @default {} */
  readonly customOptions?: { readonly formats?: object, readonly keywords?: unknown }
  /** Functions that take the Ajv, each alone or in a list with its options. @default [] */
  readonly plugins?: readonly unknown[]
}

/**
 * The most references to follow for one body: two for each value that it may have. Without a limit, several
 * alternatives that refer to the schema around them would at least double the cost with each level of a value.
 */
const REFERENCES = 100_000

/** The validators of one schema. The first call compiles each of them. */
export interface SchemaValidators {
  /** Returns the one that stops at the first error, so that a million wrong items cost only one. */
  readonly first: () => ValidateFunction
  /** Returns the one that finds all errors. */
  readonly all: () => ValidateFunction
}

/** Compiles the validators of a server's resources with the same settings. Equal schemas share one. */
export class Validators {
  readonly settings: AjvSettings
  readonly #known = new Map<string, SchemaValidators>()
  readonly #first = lazy(() => this.#makeAjv({ strictSchema: true, allErrors: false }))
  // The first Ajv has refused what is wrong with a schema.
  readonly #all = lazy(() => this.#makeAjv({ strictSchema: false, allErrors: true }))
  #referencesLeft = REFERENCES
  #parts = 0

  constructor (settings: AjvSettings = {}) {
    this.settings = settings
  }

  /** Allows the next body to follow `REFERENCES` references. Beyond that, validators throw a `RangeError`. */
  startBody (): void {
    this.#referencesLeft = REFERENCES
  }

  /**
   * Checks a schema of attributes, except for what its compilation refuses.
   * @throws Error
   */
  checkSchema (schema: Schema): void {
    checkDecimals(schema)
    checkFormats(schema, Object.keys(this.#first().formats))
    metaSchema().validateSchema(schema, true)
  }

  /** Returns the validators of a part of a schema. The path is that of a schema inside it. */
  of (whole: Schema, path: readonly string[]): SchemaValidators {
    const pointer = writePointer(path)
    const { title, description, readOnly, writeOnly, ...own } = resolveReference(`#${pointer}`, whole) as Schema
    const text = JSON.stringify(own)
    const isWhole = text.includes('"$ref"')
    const key = isWhole ? JSON.stringify([path, whole]) : text
    const known = this.#known.get(key)
    if (known !== undefined) return known
    const compile = (ajv: Ajv): ValidateFunction => {
      // Extensions may mean anything. `addKeyword` does the same, but refuses some names.
      for (const [, keyword] of key.matchAll(/"(x-[^"\\]*)":/g)) ajv.RULES.keywords[keyword as string] = true
      if (!isWhole) return ajv.compile(demandWritable(own))
      const id = `part${this.#parts++}`
      // Before Ajv compiles the target of a pointer, it compiles the schema with the pointer's `$id`, unless that is
      // only a part.
      ajv.addSchema({ definitions: { attributes: { ...demandWritable(whole), $id: id } } }, `whole-${id}`)
      return ajv.getSchema(`${id}#${pointer}`) as ValidateFunction
    }
    const validators = { first: lazy(() => compile(this.#first())), all: lazy(() => compile(this.#all())) }
    const { customOptions: { keywords } = {}, plugins = [] } = this.settings
    // The value of a keyword of the app may have no JSON text.
    if (keywords === undefined && plugins.length === 0) this.#known.set(key, validators)
    return validators
  }

  #makeAjv (options: AjvMode): Ajv {
    return makeAjv(this.settings, options, () => {
      if (--this.#referencesLeft < 0) throw new RangeError(`more than ${REFERENCES} references`)
    })
  }
}

const NONE: ReadonlySet<string> = new Set()

/** Copies a schema so that it requires no `readOnly` properties inside attributes, because requests cannot set them. */
function demandWritable (root: Schema): Schema {
  const shapeOf = shapesOf(root)

  function demand (schema: unknown, outer: ReadonlySet<string>): unknown {
    if (!isObject(schema)) return schema
    const readOnly = [...shapeOf(schema).properties.values()].filter((property) => property.readOnly)
    const ignored = new Set([...outer, ...readOnly.map(({ name }) => name)])
    const withoutIgnored = (names: readonly string[]): readonly string[] => names.filter((name) => !ignored.has(name))
    const copy = mapSubschemas(schema, (part, keyword) => {
      // The schemas of `not` and `if` stay unchanged: with fewer requirements, they would match more values.
      if (keyword === 'not' || keyword === 'if') return part
      if (keyword === 'dependencies') return Array.isArray(part) ? withoutIgnored(part) : demand(part, ignored)
      const kind = kindOf(keyword)
      return demand(part, kind === 'same' || kind === 'conditional' ? ignored : NONE)
    })
    return Array.isArray(schema.required) ? { ...copy, required: withoutIgnored(schema.required) } : copy
  }

  return demand(root, NONE) as Schema
}

/**
 * Checks that all formats of a schema are known. Definitions are left out, because some may be unused. Ajv itself
 * refuses unknown formats in those that are used.
 * @throws Error if a format is unknown, with the nearest known one
 */
function checkFormats ({ definitions: _, $defs: __, ...schema }: Schema, known: readonly string[]): void {
  for (const { name, schema: { format } } of subschemasOf(schema)) {
    if (typeof format !== 'string' || known.includes(format)) continue
    const names = [...known].sort().join(', ')
    throw new Error(`"${name}" has the format '${format}', which is not one of ${names}${didYouMean(format, known)}`)
  }
}

/**
 * Checks the types of decimals, and their keywords `precision` and `scale`.
 * @throws Error if one of them has no effect or is invalid
 */
function checkDecimals (root: Schema): void {
  for (const { name, schema } of subschemasOf(root)) {
    const fault = findDecimalFault(schema)
    if (fault !== undefined) throw new Error(`"${name}" has ${fault}`)
  }
}

function findDecimalFault ({ type, format, precision, scale }: Schema): string | undefined {
  if (format !== 'decimal') {
    if (precision === undefined && scale === undefined) return undefined
    const keyword = precision === undefined ? 'scale' : 'precision'
    return `"${keyword}", which works only beside the format 'decimal'; add the format, or leave the keyword out`
  }
  if (type !== undefined && ![type].flat().includes('string')) {
    return "the format 'decimal', which belongs to texts, so that no digit is lost; write type: 'string'"
  }
  if (scale !== undefined && !isCount(scale)) {
    return `the "scale" ${JSON.stringify(scale)}; write the number of digits after the point, such as 2`
  }
  if (precision === undefined) return undefined
  if (scale === undefined) return '"precision", but no "scale"; add the number of digits after the point, such as 0'
  return isCount(precision) && precision >= Math.max(scale, 1)
    ? undefined
    : `the "precision" ${JSON.stringify(precision)}; write the number of all digits, before and after the point, ` +
      `which is at least ${Math.max(scale, 1)}`
}

function isCount (value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0
}

// `require` loads a CommonJS package synchronously, whereas `import()` returns a promise.
const load: NodeJS.Require = createRequire(import.meta.url)

/** Returns Ajv. The first call loads it, because that takes about half as long as loading all of Fastify. */
export const loadAjv: () => typeof import('ajv') = lazy(() => load('ajv'))

/** Returns the plugin that adds the formats of JSON Schema to Ajv. The first call loads it. */
const loadFormats: () => typeof import('ajv-formats') = lazy(() => load('ajv-formats'))

/** Returns the Ajv that checks schemas. */
const metaSchema: () => Ajv = lazy(() => {
  const { Ajv } = loadAjv()
  return new Ajv({ logger: false })
})

/** The decimals of a quotient that decide on `multipleOf`: 0.57 is a multiple of 0.001, although 0.57 / 0.001 < 570. */
const PRECISION = 6

/** Whether an Ajv refuses unknown keywords and defaults without effect, and goes on after the first error. */
type AjvMode = Required<Pick<AjvOptions, 'strictSchema' | 'allErrors'>>

/**
 * Makes an Ajv with the settings of the app.
 * @param spend is called before a validator follows a reference
 */
function makeAjv (
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
  const { _ } = loadAjv()
  ajv.removeKeyword('contentMediaType')
  ajv.addKeyword({
    keyword: 'contentMediaType',
    type: 'string',
    schemaType: 'string',
    error: { message: '', params: ({ schema }) => _`{format: ${schema as string}}` },
    // A declared type is compared only if the bytes of both are known.
    validate: (mediaType: string, text: string, schema?: AnySchemaObject) =>
      schema?.contentEncoding !== 'base64' || isOfMediaType(text, mediaType)
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
