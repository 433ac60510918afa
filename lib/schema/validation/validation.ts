import type { Ajv, ErrorObject, Options as AjvOptions, ValidateFunction } from 'ajv'
import { InvalidAttributesError, InvalidError, sentences } from '../../errors.js'
import { didYouMean } from '../../util/did-you-mean.js'
import { lazy } from '../../util/lazy.js'
import { isObject } from '../../util/own-property.js'
import { isUuid } from '../../util/is-uuid.js'
import type { AjvSettings } from '../bundle.js'
import { MOMENT_FORMATS } from '../date-time.js'
import { type Property, shapesOf } from '../shape.js'
import { kindOf, mapSubschemas, subschemasOf, VALUE_KEYWORDS, writePointer } from '../subschemas.js'
import type { Schema } from '../types.js'
import { loadAjv, loadFormats } from './ajv.js'
import { boundKeywords, type Budget, REFERENCES } from './ajv-keywords.js'
import { addIssue, describeErrors, hasIssue, Issues, MAX_ERRORS } from './issues.js'
import { makeCheckCompiler } from './value-check.js'

/**
 * The two validators of a resource: `create` for whole rows, and `update` for the attributes that an update changes.
 */
export interface Validation {
  /** Returns the defaults of a new row. */
  defaults (): Record<string, unknown>
  /**
   * Fills in defaults, then checks every attribute, and that no required one is missing.
   * @throws InvalidError with all issues if there are any, including those that were noted before
   */
  create (supplied: Record<string, unknown>, issues: Issues): void
  /**
   * Checks the supplied attributes.
   * @throws InvalidError with all issues if there are any, including those that were noted before
   */
  update (supplied: Record<string, unknown>, issues: Issues): void
}

/** The members of a resource that the validators use. */
export interface ValidatedResource {
  readonly plural: string
  /** The schema of its attributes. */
  readonly schema: Schema
  readonly attributes: ReadonlyMap<string, Property>
}

type Validate = (value: unknown, issues: Issues) => void

/**
 * Compiles the validators of a resource.
 * @throws InvalidAttributesError if the schema is invalid
 */
export function compileValidation (
  { plural, schema, attributes }: ValidatedResource,
  settings: AjvSettings = {}
): Validation {
  const { validators, budget } = compileValidators(plural, schema, attributes, settings)
  const defaults = [...attributes.values()].filter(({ schema }) => schema.default !== undefined)
  checkDefaults(plural, defaults, validators)
  const required = [...attributes.values()].filter(({ required, readOnly }) => required && !readOnly)

  function check (supplied: Record<string, unknown>, issues: Issues): void {
    budget.left = REFERENCES
    // An attribute that already has an issue is not checked: its value may be a default in place of the faulty one.
    const names = Object.keys(supplied)
    const unfit = issues.size === 0 ? [] : names.filter((name) => hasIssue(issues.keys(), name))
    for (const name of names) {
      if (!unfit.includes(name)) validators.get(name)?.(supplied[name], issues)
    }
    if (issues.size > 0) throw new InvalidError(Object.fromEntries(issues))
  }

  return {
    defaults: () => Object.fromEntries(defaults.map(({ name, schema }) => [name, structuredClone(schema.default)])),
    create (supplied, issues) {
      for (const { name, schema } of defaults) {
        if (!Object.hasOwn(supplied, name)) supplied[name] = structuredClone(schema.default)
      }
      for (const { name } of required) {
        if (!Object.hasOwn(supplied, name) && !hasIssue(issues.keys(), name)) addIssue(issues, name, 'must be given')
      }
      check(supplied, issues)
    },
    update: check
  }
}

/** The decimals of a quotient that decide on `multipleOf`: 0.57 is a multiple of 0.001, although 0.57 / 0.001 < 570. */
const PRECISION = 6

/**
 * Compiles a validator for each attribute, so that each attribute can have a message. A validator stops at its first
 * error, so that a million wrong items cost only one.
 */
function compileValidators (
  plural: string,
  schema: Schema,
  attributes: ValidatedResource['attributes'],
  settings: AjvSettings
): { readonly validators: ReadonlyMap<string, Validate>; readonly budget: Budget } {
  const ajv = makeAjv(schema, true, settings)
  const budget = boundKeywords(ajv)
  try {
    const { $id, ...anonymous } = schema
    const whole = { ...anonymous, properties: withoutDefaults(attributes) }
    checkFormats(whole, Object.keys(ajv.formats))
    metaSchema().validateSchema(whole, true)
    addAttributes(ajv, whole)
    const validators = new Map(
      [...attributes.values()].map((property) => [property.name, compileValidator(ajv, property)])
    )
    const impossible = [...attributes.values()].find(({ shape }) => shape.types.size === 0)
    if (impossible !== undefined) throw new Error(`the schema of "${impossible.name}" allows no value`)
    checkInnerDefaults(whole, settings)
    return { validators, budget }
  } catch (error) {
    throw new InvalidAttributesError(plural, (error as Error).message)
  }
}

/**
 * Makes an Ajv with the settings of the app.
 * @param strict whether to refuse unknown keywords, and defaults that Ajv would ignore
 */
function makeAjv (
  schema: Schema,
  strict: boolean,
  { customOptions: { formats, keywords } = {}, plugins = [] }: AjvSettings
): Ajv {
  // `metaSchema` compiles the metaschema once for all instances, because that takes longer than all the rest.
  const named = { ...(formats !== undefined && { formats }), ...(keywords !== undefined && { keywords }) } as AjvOptions
  const { Ajv } = loadAjv()
  const ajv = new Ajv({
    ...named,
    meta: false,
    strictSchema: strict,
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
  loadFormats().default(ajv)
  // The format `textarea` only says how a text is edited, as `password` does.
  ajv.addFormat('textarea', true)
  restrictMoments(ajv)
  // Only lower case is valid, because databases may keep no other spelling, or compare UUIDs as texts.
  ajv.addFormat('uuid', isUuid)
  // `addKeyword` does the same, but refuses some names.
  for (const keyword of [...VALUE_KEYWORDS, ...extensionsOf(schema)]) ajv.RULES.keywords[keyword] = true
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

const metaSchema = lazy(() => {
  const { Ajv } = loadAjv()
  return new Ajv({ logger: false })
})

/** Replaces the formats of dates and times, which accept spellings that RFC 3339 or XML Schema does not have. */
function restrictMoments (ajv: Ajv): void {
  for (const [format, { isValid }] of MOMENT_FORMATS) {
    const { compare } = ajv.formats[format] as { compare: (a: string, b: string) => number | undefined }
    ajv.addFormat(format, { validate: isValid, compare })
  }
}

/**
 * Checks that the schema uses only known formats. Definitions are left out, because some may be unused. Ajv itself
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

/** Checks the defaults of attributes. A default that does not fit would fail every create that relies on it. */
function checkDefaults (
  plural: string,
  defaults: readonly Property[],
  validators: ReadonlyMap<string, Validate>
): void {
  const compileCheck = makeCheckCompiler()
  for (const { name, shape, schema } of defaults) {
    const issues = new Issues()
    const value = structuredClone(schema.default)
    compileCheck(shape)(value, name, issues, 0)
    validators.get(name)?.(value, issues)
    if (issues.size > 0) {
      throw new InvalidAttributesError(
        plural,
        `the default of "${name}" does not fit its schema: ${sentences(Object.fromEntries(issues)).join('; ')}`
      )
    }
  }
}

/** Checks the defaults of properties inside attributes. */
function checkInnerDefaults (schema: Schema, settings: AjvSettings): void {
  const properties = [...subschemasOf(schema)].filter((part) => part.isProperty && part.schema.default !== undefined)
  if (properties.length === 0) return
  const shapeOf = shapesOf(schema)
  // Each schema is compiled on its own. A strict Ajv would refuse its default, because it fills in none at the root.
  const ajv = makeAjv(schema, false, settings)
  addAttributes(ajv, schema)
  for (const { path, name, schema: property } of properties) {
    const validate = findValidator(ajv, path)
    if (validate(structuredClone(property.default))) continue
    const errors = describeErrors(validate.errors as ErrorObject[], shapeOf(property).types).map(
      ({ path, message }) => `${name}${path} ${message}`
    )
    throw new Error(`the default of "${name}" does not fit its schema: ${errors.join('; ')}`)
  }
}

/** Returns the schemas of attributes without their own defaults, which `create` fills in before the validation. */
function withoutDefaults (attributes: ValidatedResource['attributes']): Schema {
  return Object.fromEntries(
    [...attributes.values()].map(({ name, schema: { default: _, ...schema } }) => [name, schema])
  )
}

/**
 * Adds the schema of the attributes as a part of another schema, so that Ajv does not compile it as a whole. Before Ajv
 * compiles the target of a pointer, it compiles the schema with the pointer's `$id`, unless that is only a part.
 */
function addAttributes (ajv: Ajv, schema: Schema): void {
  ajv.addSchema({ definitions: { attributes: { ...demandWritable(schema), $id: 'attributes' } } }, 'whole')
}

/** Compiles the validator of a part of the attributes. `path` comes from the schema, so the part exists. */
function findValidator (ajv: Ajv, path: readonly string[]): ValidateFunction {
  return ajv.getSchema(`attributes#${writePointer(path)}`) as ValidateFunction
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

/** Returns the keywords `x-…` of a schema, which may mean anything. */
function extensionsOf (schema: Schema): Set<string> {
  return new Set([...JSON.stringify(schema).matchAll(/"(x-[^"\\]*)":/g)].map(([, keyword]) => keyword as string))
}

function compileValidator (ajv: Ajv, { name, shape }: Property): Validate {
  const validate = findValidator(ajv, ['properties', name])
  return (value, issues) => {
    try {
      if (validate(value)) return
    } catch (error) {
      // A RangeError means that the stack overflowed or the budget is used up. Any other error is a fault of the app.
      if (!(error instanceof RangeError)) throw error
      return addIssue(issues, name, 'is too complex to be checked')
    }
    const errors = (validate.errors as ErrorObject[]).slice(0, MAX_ERRORS)
    for (const { path, message } of describeErrors(errors, shape.types)) addIssue(issues, name + path, message)
  }
}
