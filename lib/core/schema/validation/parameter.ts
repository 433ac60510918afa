import { InvalidOptionError } from '../../errors.js'
import { compileText, UNCONVERTIBLE } from '../convert-text.js'
import { type Property, shapeOf } from '../shape.js'
import type { Schema } from '../types.js'
import { Issues } from './issues.js'
import { compileValidation } from './validation.js'
import { loadAjv, type Validators } from './validators.js'

/** A function that returns whether the text of a parameter fits its constraint. */
export type ParameterCheck = (text: string) => boolean

/**
 * Compiles the check of a parameter from a JSON Schema. The check first converts the text by the types of the schema,
 * like the text of a form field.
 * @throws InvalidOptionError if the schema is invalid, or has a keyword without effect
 */
export function compileConstraint (name: string, schema: Schema, validators: Validators): ParameterCheck {
  try {
    compile(name, schema, validators)
    return compile(name, withType(schema), validators)
  } catch (error) {
    throw new InvalidOptionError('constraints', `has "${name}": ${(error as Error).message}`)
  }
}

function compile (name: string, schema: Schema, validators: Validators): ParameterCheck {
  const whole = { type: 'object', properties: { [name]: schema } }
  const attributes = shapeOf(whole).properties
  const { shape } = attributes.get(name) as Property
  const convert = compileText(shape)
  const validation = compileValidation({ plural: name, schema: whole, attributes }, validators)
  return (text) => {
    const value = convert(text)
    return value !== UNCONVERTIBLE && isValid(() => { validation.update({ [name]: value }, new Issues()) })
  }
}

/**
 * Returns the schema, with the type that its keywords need if it has none. Without a type, `{ maximum: 999 }` would
 * accept every text, because it limits only numbers.
 * @throws Error if a keyword has no effect
 */
export function withType (schema: Schema): Schema {
  const candidates = [
    schema,
    ...(schema.type === undefined ? ['string', 'number'].map((type) => ({ type, ...schema })) : [])
  ]
  const typed = candidates.find(isHeeded)
  if (typed === undefined) {
    throw new Error(
      '"type" must be given and suit all other keywords, such as "string" for "pattern"; some would have no effect'
    )
  }
  return typed
}

/** Returns whether each keyword can have an effect on the types of its schema. */
function isHeeded (schema: Schema): boolean {
  const { Ajv } = loadAjv()
  const ajv = new Ajv({
    meta: false,
    validateSchema: false,
    strictSchema: false,
    strictTypes: true,
    allowUnionTypes: true,
    validateFormats: false,
    logger: false
  })
  return isValid(() => { ajv.compile(schema) })
}

function isValid (check: () => void): boolean {
  try {
    check()
    return true
  } catch {
    return false
  }
}
