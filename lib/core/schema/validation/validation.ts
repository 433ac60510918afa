import type { Ajv, ErrorObject, ValidateFunction } from 'ajv'
import { InvalidAttributesError, InvalidError, sentences } from '../../errors.js'
import { lazy } from '../../util/functions.js'
import { isLongInteger } from '../../util/decimal.js'
import { isObject, isStructure } from '../../util/own-property.js'
import type { AjvSettings } from './ajv.js'
import { isLongShape } from '../convert-text.js'
import { BLANK, countValues, describeErrors, dropUntouched, Issues, type IsUntouched, MAX_ERRORS } from './issues.js'
import { type Property, shapesIn, shapesOf } from '../shape.js'
import { kindOf, mapSubschemas, subschemasOf, writePointer } from '../subschemas.js'
import { type Schema, typesOf } from '../types.js'
import { boundKeywords, type Budget, REFERENCES } from './ajv-keywords.js'
import { makeAjv, metaSchema } from './make-ajv.js'
import { isPlainRoot, isSoundRoot } from './plain-keywords.js'
import { findPlain, hasNoExtensions, isPlain, knownFormats } from './plain-validators.js'
import { checkDecimals, checkFormats } from './text-formats.js'
import { makeCheckCompiler } from './value-check.js'

/**
 * The two validators of a resource: `create` for whole rows, and `update` for the attributes that an update changes.
 */
export interface Validation {
  /** Returns the defaults of a new row. */
  defaults (): Record<string, unknown>
  /** Returns whether a new row lacks a required attribute. */
  lacks (supplied: Record<string, unknown>): boolean
  /**
   * Fills in defaults, then checks every attribute, and that no required one is missing.
   * @param given the values that the row gets besides
   * @throws InvalidError with all issues if there are any, including those that were noted before
   */
  create (supplied: Record<string, unknown>, issues: Issues, given?: Readonly<Record<string, unknown>>): void
  /** Notes the issues of the attributes that an update supplies. Those which are undefined are to be removed. */
  check (supplied: Record<string, unknown>, issues: Issues): void
  /**
   * Leaves out the attributes that do not fit if they were sent back as they were shown.
   * @throws InvalidError with all other issues if there are any
   */
  conclude (supplied: Record<string, unknown>, issues: Issues, isUntouched?: IsUntouched): void
  /**
   * Does both.
   * @throws InvalidError with all issues if there are any, including those that were noted before
   */
  update (supplied: Record<string, unknown>, issues: Issues, isUntouched?: IsUntouched): void
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
    const unfit = issues.size === 0 ? NONE : new Set(Object.keys(supplied).filter((name) => issues.isAbout(name)))
    for (const name in supplied) {
      if (unfit.has(name)) continue
      if (supplied[name] !== undefined) validators.get(name)?.(supplied[name], issues)
      else if (attributes.get(name)?.required === true) issues.add(name, BLANK)
    }
    if (issues.size > 0) for (const [name, value] of issues.faulty) checkFurther(name, value, issues)
  }

  function conclude (supplied: Record<string, unknown>, issues: Issues, isUntouched?: IsUntouched): void {
    if (issues.size === 0) return
    if (isUntouched !== undefined) dropUntouched(attributes.keys(), supplied, issues, isUntouched)
    if (issues.size > 0) throw new InvalidError(Object.fromEntries(issues.messages))
  }

  /** Checks the other parts of an attribute of which some parts could not be read. */
  function checkFurther (name: string, value: unknown, issues: Issues): void {
    const further = new Issues()
    validators.get(name)?.(value, further)
    issues.addFurther(further)
  }

  return {
    defaults: () => Object.fromEntries(defaults.map(({ name, schema }) => [name, copyDefault(schema)])),
    lacks: (supplied) => required.some(({ name }) => !Object.hasOwn(supplied, name)),
    create (supplied, issues, given = {}) {
      for (const { name, schema } of defaults) {
        if (!Object.hasOwn(supplied, name)) supplied[name] = copyDefault(schema)
      }
      for (const { name } of required) {
        const isGiven = Object.hasOwn(supplied, name) || Object.hasOwn(given, name)
        if (!isGiven && !issues.isAbout(name)) issues.add(name, 'must be given')
      }
      check(supplied, issues)
      conclude(supplied, issues)
    },
    check,
    conclude,
    update (supplied, issues, isUntouched) {
      check(supplied, issues)
      conclude(supplied, issues, isUntouched)
    }
  }
}

/** Returns a default that the row may change. A clone of a simple value would take a microsecond. */
function copyDefault ({ default: value }: Schema): unknown {
  return isStructure(value) ? structuredClone(value) : value
}

/**
 * Compiles a validator for each attribute, so that each attribute can have a message. A validator stops at its first
 * error, so that a million wrong items cost only one. For a small array or object, a second one finds them all.
 */
function compileValidators (
  plural: string,
  schema: Schema,
  attributes: ValidatedResource['attributes'],
  settings: AjvSettings
): { readonly validators: ReadonlyMap<string, Validate>; readonly budget: Budget } {
  const { $id, ...anonymous } = schema
  const whole = { ...anonymous, properties: withoutDefaults(attributes) }
  const properties = Object.values(whole.properties)
  const isShared = (own: unknown): boolean => hasNoExtensions(settings) && isPlain(own)
  const budget = { left: REFERENCES }
  // Most tables need no Ajv of their own.
  const ajv = properties.every(isShared) && isPlainRoot(whole)
    ? undefined
    : makeAjv(schema, { strict: true }, settings)
  if (ajv !== undefined) boundKeywords(ajv, budget)
  const isValid = ajv === undefined && isSoundRoot(whole)
  try {
    checkDecimals(whole)
    if (!isValid) {
      checkFormats(whole, ajv === undefined ? knownFormats() : Object.keys(ajv.formats))
      metaSchema().validateSchema(whole, true)
    }
    if (ajv !== undefined) addAttributes(ajv, whole)
    const thorough = lazy(() => {
      const ajv = makeAjv(schema, { strict: true, allErrors: true }, settings)
      boundKeywords(ajv, budget)
      addAttributes(ajv, whole)
      return ajv
    })
    const validators = new Map([...attributes.values()].map((property): [string, Validate] => {
      const { name } = property
      const own = whole.properties[name]
      const find = lazy(() =>
        ajv === undefined || isShared(own) ? findPlain(own as Schema) : findValidator(ajv, ['properties', name]))
      // The compilation of an invalid schema fails.
      if (!isValid) nameFault(name, find)
      return [name, makeValidator(find, () => findValidator(thorough(), ['properties', name]), property)]
    }))
    const impossible = [...attributes.values()].find(({ shape }) => shape.types.size === 0)
    if (impossible !== undefined) throw new Error(`the schema of "${impossible.name}" allows no value`)
    checkInnerDefaults(whole, settings)
    return { validators, budget }
  } catch (error) {
    throw new InvalidAttributesError(plural, (error as Error).message)
  }
}

/** Calls a function whose errors do not name their attribute. */
function nameFault (name: string, compile: () => unknown): void {
  try {
    compile()
  } catch (error) {
    throw new Error(`"${name}" cannot be compiled: ${(error as Error).message}`)
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
    const value = copyDefault(schema)
    compileCheck(shape)(value, name, issues, 0)
    if (!isLimitedByType(schema) || !typesOf(value).some((type) => shape.types.has(type))) {
      validators.get(name)?.(value, issues)
    }
    if (issues.size > 0) {
      throw new InvalidAttributesError(
        plural,
        `the default of "${name}" does not fit its schema: ${sentences(Object.fromEntries(issues.messages)).join('; ')}`
      )
    }
  }
}

/** Returns whether the values of an attribute are only limited by their types, which can be checked without Ajv. */
function isLimitedByType (schema: Schema): boolean {
  return Object.keys(schema).every((keyword) => ['type', 'default', 'title', 'description'].includes(keyword))
}

/** Checks the defaults of properties inside attributes. */
function checkInnerDefaults (schema: Schema, settings: AjvSettings): void {
  const properties = [...subschemasOf(schema)].filter((part) => part.isProperty && part.schema.default !== undefined)
  if (properties.length === 0) return
  const shapeOf = shapesOf(schema)
  // Each schema is compiled on its own. A strict Ajv would refuse its default, because it fills in none at the root.
  const ajv = makeAjv(schema, { strict: false }, settings)
  addAttributes(ajv, schema)
  for (const { path, name, schema: property } of properties) {
    const validate = findValidator(ajv, path)
    if (validate(structuredClone(property.default))) continue
    const errors = describeErrors(validate.errors as ErrorObject[], shapeOf(property)).map(
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

/** The most values in an attribute whose faults are all named: those of a form with 50 lines. */
const MOST_VALUES = 1000

/** Makes the validator of an attribute. `findThorough` returns the one that does not stop at the first error. */
function makeValidator (
  find: () => ValidateFunction,
  findThorough: () => ValidateFunction,
  { name, shape }: Property
): Validate {
  // The validator would also report the faults that a value has under each alternative that it was not meant for.
  const hasAlternatives = lazy(() =>
    [...shapesIn(shape)].some(({ mixed, choices }) => mixed && choices === undefined))

  const isLong = isLongShape(shape)
  return (given, issues) => {
    // Ajv sees a number in place of the text of a long integer, whose type is "integer".
    const value = isLong && isLongInteger(given) ? Number(given) : given
    const validate = find()
    const errors = findErrors(validate, value)
    if (errors === undefined) return
    if (errors === TOO_COMPLEX) return issues.add(name, 'is too complex to be checked')
    const isSmall = isStructure(value) && countValues(value) <= MOST_VALUES && !hasAlternatives()
    const all = isSmall ? findErrors(findThorough(), value) : errors
    const described = describeErrors(all === TOO_COMPLEX ? errors : all as readonly ErrorObject[], shape)
    for (const { path, message } of described) issues.add(name + path, message)
  }
}

const TOO_COMPLEX = Symbol('too complex')

/** Returns the errors of a value, or `undefined` if it is valid. */
function findErrors (
  validate: ValidateFunction,
  value: unknown
): readonly ErrorObject[] | typeof TOO_COMPLEX | undefined {
  try {
    return validate(value) ? undefined : (validate.errors as ErrorObject[]).slice(0, MAX_ERRORS)
  } catch (error) {
    // A RangeError means that the stack overflowed or the budget is used up. Any other error is a fault of the app.
    if (error instanceof RangeError) return TOO_COMPLEX
    throw error
  }
}
