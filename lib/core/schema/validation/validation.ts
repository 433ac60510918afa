import type { ErrorObject, ValidateFunction } from 'ajv'
import { InvalidAttributesError, InvalidError, sentences } from '../../errors.js'
import { say } from '../../messages.js'
import { lazy } from '../../util/functions.js'
import { isLongInteger } from '../../util/decimal.js'
import { isStructure } from '../../util/own-property.js'
import { isLongShape } from '../convert-text.js'
import { type Property, shapesIn, shapesOf } from '../shape.js'
import { subschemasOf } from '../subschemas.js'
import type { Schema } from '../types.js'
import { BLANK, countValues, describeErrors, dropUntouched, Issues, type IsUntouched, MAX_ERRORS } from './issues.js'
import { type SchemaValidators, Validators } from './validators.js'
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

export type Validate = (value: unknown, issues: Issues) => void

/**
 * Compiles the validators of a resource.
 * @param shared has the validators of the other resources
 * @throws InvalidAttributesError if the schema is invalid
 */
export function compileValidation (
  { plural, schema, attributes }: ValidatedResource,
  shared: Validators = new Validators()
): Validation {
  const validators = compileValidators(plural, schema, attributes, shared)
  const defaults = [...attributes.values()].filter(({ schema }) => schema.default !== undefined)
  checkDefaults(plural, defaults, validators)
  const required = [...attributes.values()].filter(({ required, readOnly }) => required && !readOnly)

  function check (supplied: Record<string, unknown>, issues: Issues): void {
    shared.startBody()
    // An attribute that already has an issue is not checked: its value may be a default in place of the faulty one.
    const unfit = issues.size === 0 ? [] : Object.keys(supplied).filter((name) => issues.isAbout(name))
    for (const name in supplied) {
      if (unfit.includes(name)) continue
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
        if (!isGiven && !issues.isAbout(name)) issues.add(name, say('mustBeGiven'))
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
 * Compiles a validator for each attribute, so that each attribute can have a message. For a small array or object, a
 * second one finds all errors.
 */
function compileValidators (
  plural: string,
  { $id, ...schema }: Schema,
  attributes: ValidatedResource['attributes'],
  validators: Validators
): ReadonlyMap<string, Validate> {
  // `create` fills in the defaults of attributes before the validation.
  const properties = Object.fromEntries(
    [...attributes.values()].map(({ name, schema: { default: _, ...schema } }) => [name, schema])
  )
  const whole = { ...schema, properties }
  try {
    validators.checkSchema(whole)
    const compiled = new Map([...attributes.values()].map((property): [string, Validate] => {
      const { name, shape } = property
      const own = validators.of(whole, ['properties', name])
      nameFault(name, own.first)
      if (shape.types.size === 0) throw new Error(`the schema of "${name}" allows no value`)
      return [name, makeValidator(own, property)]
    }))
    checkInnerDefaults(whole, validators)
    return compiled
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
    validators.get(name)?.(value, issues)
    if (issues.size > 0) {
      throw new InvalidAttributesError(
        plural,
        `the default of "${name}" does not fit its schema: ${sentences(Object.fromEntries(issues.messages)).join('; ')}`
      )
    }
  }
}

/** Checks the defaults of properties inside attributes. */
function checkInnerDefaults (schema: Schema, validators: Validators): void {
  const shapeOf = shapesOf(schema)
  for (const { path, name, isProperty, schema: property } of subschemasOf(schema)) {
    if (!isProperty || property.default === undefined) continue
    const validate = validators.of(schema, path).all()
    if (validate(structuredClone(property.default))) continue
    const errors = describeErrors(validate.errors as ErrorObject[], shapeOf(property)).map(
      ({ path, message }) => `${name}${path} ${String(message)}`
    )
    throw new Error(`the default of "${name}" does not fit its schema: ${errors.join('; ')}`)
  }
}

/** The most values in an attribute whose faults are all named: those of a form with 50 lines. */
const MOST_VALUES = 1000

/** Makes the validator of a value, which notes the faults at the name of its attribute. */
export function makeValidator (
  { first, all }: SchemaValidators,
  { name, shape }: Pick<Property, 'name' | 'shape'>
): Validate {
  // The validator would also report the faults that a value has under each alternative that it was not meant for.
  const hasAlternatives = lazy(() =>
    [...shapesIn(shape)].some(({ mixed, choices }) => mixed && choices === undefined))

  const isLong = isLongShape(shape)
  return (given, issues) => {
    // Ajv sees a number in place of the text of a long integer, whose type is "integer".
    const value = isLong && isLongInteger(given) ? Number(given) : given
    const errors = findErrors(first(), value)
    if (errors === undefined) return
    if (errors === TOO_COMPLEX) return issues.add(name, say('isTooComplex'))
    const isSmall = isStructure(value) && countValues(value) <= MOST_VALUES && !hasAlternatives()
    const found = isSmall ? findErrors(all(), value) : errors
    const described = describeErrors(found === TOO_COMPLEX ? errors : found as readonly ErrorObject[], shape)
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
