import { Ajv, type ErrorObject, type Options as AjvOptions, type ValidateFunction } from 'ajv'
import addFormats from 'ajv-formats'
import { InvalidAttributesError, InvalidError, sentences } from '../../errors.js'
import { didYouMean } from '../../util/did-you-mean.js'
import { lazy } from '../../util/lazy.js'
import { isObject } from '../../util/own-property.js'
import { isUuid } from '../../util/uuid.js'
import type { AjvSettings } from '../bundle.js'
import { MOMENT_FORMATS } from '../date-time.js'
import { type Property, shapesOf } from '../shape.js'
import { kindOf, mapSubschemas, subschemasOf, VALUE_KEYWORDS, writePointer } from '../subschemas.js'
import type { Schema } from '../types.js'
import { boundKeywords, type Budget } from './ajv-keywords.js'
import { addIssue, hasIssue, Issues } from './issues.js'
import { describeErrors, MAX_ERRORS } from './messages.js'
import { makeCheckCompiler } from './value-check.js'

/** The two validators of a resource: of a whole record, and of the attributes that an update changes. */
export interface Validation {
  /** Returns the defaults of a new row. */
  defaults (): Record<string, unknown>
  /**
   * Fills in defaults, then checks every attribute and what is required.
   * @throws InvalidError with all that is wrong, also what had been noted in `issues` before
   */
  create (supplied: Record<string, unknown>, issues: Issues): void
  /**
   * Checks the attributes supplied.
   * @throws InvalidError with all that is wrong, also what had been noted in `issues` before
   */
  update (supplied: Record<string, unknown>, issues: Issues): void
}

/** What the validators know of a resource. */
export interface ValidatedResource {
  readonly plural: string
  /** The schema of its attributes. */
  readonly schema: Schema
  readonly attributes: ReadonlyMap<string, Property>
}

type Validate = (value: unknown, issues: Issues) => void

/** @throws InvalidAttributesError where the schema is none */
export function compileValidation (
  { plural, schema, attributes }: ValidatedResource,
  settings: AjvSettings = {}
): Validation {
  const { validators, budget } = compileValidators(plural, schema, attributes, settings)
  const defaults = [...attributes.values()].filter(({ schema }) => schema.default !== undefined)
  checkDefaults(plural, defaults, validators)
  const required = [...attributes.values()].filter(({ required, readOnly }) => required && !readOnly)

  function check (supplied: Record<string, unknown>, issues: Issues): void {
    budget.reset()
    // Also defaults stand in for what is wrong.
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

/** In decimals of the quotient: 0.57 is a multiple of 0.001, though floating-point numbers do not quite say so. */
const PRECISION = 6

/**
 * A validator for each attribute, so that each can have its messages, and a body of a million wrong items costs one
 * error and not a million.
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
    ajv.addSchema(demandWritable(whole), 'attributes')
    const validators = new Map(
      [...attributes.values()].map((property) => [property.name, compileValidator(ajv, property)])
    )
    const impossible = [...attributes.values()].find(({ shape }) => shape.types.size === 0)
    if (impossible !== undefined) throw new Error(`nothing can fit "${impossible.name}"`)
    checkInnerDefaults(whole, settings)
    return { validators, budget }
  } catch (error) {
    throw new InvalidAttributesError(plural, (error as Error).message)
  }
}

/** @param strict whether a default that can never be filled in is refused */
function makeAjv (
  schema: Schema,
  strict: boolean,
  { customOptions: { formats, keywords } = {}, plugins = [] }: AjvSettings
): Ajv {
  // One instance for all has compiled the metaschema, which takes longer than all the rest.
  const named = { ...(formats !== undefined && { formats }), ...(keywords !== undefined && { keywords }) } as AjvOptions
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
  // As Fastify's own compiler calls them. Formats of ours come after them and stay as they are.
  for (const plugin of plugins) usePlugin(ajv, plugin)
  addFormats.default(ajv)
  // Says how a text is edited, as `password` does.
  ajv.addFormat('textarea', true)
  restrictMoments(ajv)
  // Each UUID has one spelling, since databases keep no other and compare them as texts.
  ajv.addFormat('uuid', isUuid)
  // As addKeyword does, which does not take every name.
  for (const keyword of [...VALUE_KEYWORDS, ...extensionsOf(schema)]) ajv.RULES.keywords[keyword] = true
  return ajv
}

/** As Fastify takes a plugin: alone, or in a list with its options. */
function usePlugin (ajv: Ajv, given: unknown): void {
  const [plugin, options] = [given].flat() as [(ajv: Ajv, options?: unknown) => unknown, unknown]
  try {
    plugin(ajv, options)
  } catch {
    // A plugin may need an option of Ajv that is not taken over, such as `allErrors`. A schema with one of its keywords
    // is then refused.
  }
}

const metaSchema = lazy(() => new Ajv({ logger: false }))

/** Replaces the formats of dates and times, which also take spellings that neither RFC 3339 nor XML Schema has. */
function restrictMoments (ajv: Ajv): void {
  for (const [format, { isValid }] of MOMENT_FORMATS) {
    const { compare } = ajv.formats[format] as { compare: (a: string, b: string) => number | undefined }
    ajv.addFormat(format, { validate: isValid, compare })
  }
}

/**
 * Definitions are left out, because nothing may refer to them: Ajv itself refuses the formats of those that are used.
 * @throws Error where a format is unknown, with the nearest one that is known
 */
function checkFormats ({ definitions: _, $defs: __, ...schema }: Schema, known: readonly string[]): void {
  for (const { name, schema: { format } } of subschemasOf(schema)) {
    if (typeof format !== 'string' || known.includes(format)) continue
    const names = [...known].sort().join(', ')
    throw new Error(`"${name}" has the format '${format}', which is none of ${names}${didYouMean(format, known)}`)
  }
}

/** A default that does not fit would fail every create that relies on it. */
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
    ;(validators.get(name) as Validate)(value, issues)
    if (issues.size > 0) {
      throw new InvalidAttributesError(
        plural,
        `the default of "${name}" does not fit its schema: ${sentences(Object.fromEntries(issues)).join('; ')}`
      )
    }
  }
}

/** The same for what is filled in inside of attributes. */
function checkInnerDefaults (schema: Schema, settings: AjvSettings): void {
  const properties = [...subschemasOf(schema)].filter((part) => part.isProperty && part.schema.default !== undefined)
  if (properties.length === 0) return
  const shapeOf = shapesOf(schema)
  // Asked of itself, each is where nothing would fill it in.
  const ajv = makeAjv(schema, false, settings)
  ajv.addSchema(demandWritable(schema), 'attributes')
  for (const { path, name, schema: property } of properties) {
    const validate = ajv.getSchema(`attributes#${writePointer(path)}`) as ValidateFunction
    if (validate(structuredClone(property.default))) continue
    const errors = describeErrors(validate.errors as ErrorObject[], shapeOf(property).types).map(
      ({ path, message }) => `${name}${path} ${message}`
    )
    throw new Error(`the default of "${name}" does not fit its schema: ${errors.join('; ')}`)
  }
}

/** An attribute's own default is filled in before it is validated. */
function withoutDefaults (attributes: ValidatedResource['attributes']): Schema {
  return Object.fromEntries(
    [...attributes.values()].map(({ name, schema: { default: _, ...schema } }) => [name, schema])
  )
}

const NONE: ReadonlySet<string> = new Set()

/** What is `readOnly` inside an attribute is ignored on the way in, so nobody can give it: there it is not required. */
function demandWritable (root: Schema): Schema {
  const shapeOf = shapesOf(root)

  function demand (schema: unknown, outer: ReadonlySet<string>): unknown {
    if (!isObject(schema)) return schema
    const readOnly = [...shapeOf(schema).properties.values()].filter((property) => property.readOnly)
    const ignored = new Set([...outer, ...readOnly.map(({ name }) => name)])
    const withoutIgnored = (names: readonly string[]): readonly string[] => names.filter((name) => !ignored.has(name))
    const copy = mapSubschemas(schema, (part, keyword) => {
      // What must not be, or decides, is left as it is.
      if (keyword === 'not' || keyword === 'if') return part
      if (keyword === 'dependencies') return Array.isArray(part) ? withoutIgnored(part) : demand(part, ignored)
      const kind = kindOf(keyword)
      return demand(part, kind === 'same' || kind === 'conditional' ? ignored : NONE)
    })
    return Array.isArray(schema.required) ? { ...copy, required: withoutIgnored(schema.required) } : copy
  }

  return demand(root, NONE) as Schema
}

/** The keywords `x-…` of a schema, which anybody may use for anything. */
function extensionsOf (schema: Schema): Set<string> {
  return new Set([...JSON.stringify(schema).matchAll(/"(x-[^"\\]*)":/g)].map(([, keyword]) => keyword as string))
}

function compileValidator (ajv: Ajv, { name, shape }: Property): Validate {
  const validate = ajv.getSchema(`attributes#${writePointer(['properties', name])}`) as ValidateFunction
  return (value, issues) => {
    try {
      if (validate(value)) return
    } catch (error) {
      // The stack overflows, or the budget is used up. Any other error of a keyword is a failure of the app.
      if (!(error instanceof RangeError)) throw error
      return addIssue(issues, name, 'is too complex to be checked')
    }
    const errors = (validate.errors as ErrorObject[]).slice(0, MAX_ERRORS)
    for (const { path, message } of describeErrors(errors, shape.types)) addIssue(issues, name + path, message)
  }
}
