import { Ajv } from 'ajv'
import { InvalidOptionError } from '../../errors.js'
import { compileText, UNFIT } from '../convert-text.js'
import { type Property, shapeOf } from '../shape.js'
import type { Schema } from '../types.js'
import { Issues } from './issues.js'
import { compileValidation } from './validation.js'

/** Whether the text of a parameter is such as the app wants it. */
export type ParameterCheck = (text: string) => boolean

/**
 * What a JSON Schema lets through of a parameter, whose text is converted by it as that of a form would be.
 * @throws InvalidOptionError where the schema is none, or has a keyword that would have no effect
 */
export function compileConstraint (name: string, schema: Schema): ParameterCheck {
  try {
    compile(name, schema)
    return compile(name, withType(schema))
  } catch (error) {
    throw new InvalidOptionError('constraints', `has "${name}": ${(error as Error).message}`)
  }
}

function compile (name: string, schema: Schema): ParameterCheck {
  const whole = { type: 'object', properties: { [name]: schema } }
  const attributes = shapeOf(whole).properties
  const { shape } = attributes.get(name) as Property
  const convert = compileText(shape)
  const validation = compileValidation({ plural: name, schema: whole, attributes })
  return (text) => {
    const value = convert(text)
    return value !== UNFIT && isValid(() => { validation.update({ [name]: value }, new Issues()) })
  }
}

/**
 * The type that the keywords are about, where the schema says none: `{ maximum: 999 }` lets every text through that is
 * not taken for a number, and what was to be kept out would come in.
 */
export function withType (schema: Schema): Schema {
  const candidates = [
    schema,
    ...(schema.type === undefined ? ['string', 'number'].map((type) => ({ type, ...schema })) : [])
  ]
  const typed = candidates.find(isHeeded)
  if (typed === undefined) {
    throw new Error(
      '"type" must say whether it is about a string or a number: some of the keywords would have no effect'
    )
  }
  return typed
}

/** Whether each keyword can have an effect on the types that there are. */
function isHeeded (schema: Schema): boolean {
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
