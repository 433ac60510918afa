import { isObject } from '../../util/own-property.js'
import { LOOSE_FORMATS, ORDERED_FORMATS } from '../convert-text.js'
import { ALL_TYPES, type Schema, type TypeName } from '../types.js'

/** Returns whether the value of a keyword is certainly valid. */
type IsValid = (value: unknown) => boolean

const isText: IsValid = (value) => typeof value === 'string'
const isFlag: IsValid = (value) => typeof value === 'boolean'
const isNumber: IsValid = (value) => Number.isFinite(value)
const isCount: IsValid = (value) => Number.isSafeInteger(value) && Number(value) >= 0
const isScalar: IsValid = (value) => value === null || isText(value) || isFlag(value) || isNumber(value)
const isType: IsValid = (value) => ALL_TYPES.has(value as TypeName)
const isSetOf = (isValid: IsValid): IsValid => (value) =>
  Array.isArray(value) && value.length > 0 && value.every(isValid) && new Set(value).size === value.length

/** The formats that are known without Ajv. */
const FORMATS: ReadonlySet<unknown> =
  new Set([...ORDERED_FORMATS.keys(), ...LOOSE_FORMATS, 'uuid', 'email', 'uri', 'url', 'ipv4', 'ipv6'])

/**
 * The keywords whose meaning depends on nothing outside of the schema. Each has a test of its values: it returns `true`
 * only if Ajv accepts the value, too.
 */
export const PLAIN: ReadonlyMap<string, IsValid> = new Map(Object.entries<IsValid>({
  type: (value) => isType(value) || isSetOf(isType)(value),
  const: isScalar,
  enum: isSetOf(isScalar),
  format: (value) => FORMATS.has(value),
  contentEncoding: isText,
  pattern: isExpression,
  ...testAll(['minLength', 'maxLength', 'minItems', 'maxItems', 'precision', 'scale'], isCount),
  ...testAll(['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'], isNumber),
  multipleOf: (value) => isNumber(value) && Number(value) > 0,
  items: (value) => isSound(value),
  ...testAll(['uniqueItems', 'readOnly', 'writeOnly'], isFlag),
  ...testAll(['title', 'description'], isText)
}))

/** The same for the keywords that a schema of attributes may have beside those of each attribute. */
const PLAIN_ROOT: ReadonlyMap<string, IsValid> = new Map(Object.entries<IsValid>({
  type: isType,
  required: isSetOf(isText),
  properties: (value) => isObject(value) && Object.values(value).every((schema) => isSound(schema)),
  additionalProperties: isFlag,
  ...testAll(['title', 'description'], isText)
}))

function testAll (keywords: readonly string[], isValid: IsValid): Record<string, IsValid> {
  return Object.fromEntries(keywords.map((keyword) => [keyword, isValid]))
}

function isExpression (value: unknown): boolean {
  try {
    // Ajv compiles expressions with the same flag.
    return isText(value) && new RegExp(value as string, 'u') instanceof RegExp
  } catch {
    return false
  }
}

function isSound (schema: unknown, keywords = PLAIN): boolean {
  return isObject(schema) && Object.entries(schema).every(([keyword, value]) => keywords.get(keyword)?.(value) === true)
}

/**
 * Returns whether a schema of attributes is certainly valid. Ajv need not check and compile it at registration, which
 * takes some 40 ms for the first schema.
 */
export function isSoundRoot (schema: Schema): boolean {
  return isSound(schema, PLAIN_ROOT)
}

/** Returns whether a schema of attributes has only keywords that need no Ajv of its own, beside those of attributes. */
export function isPlainRoot (schema: Schema): boolean {
  return Object.keys(schema).every((keyword) => PLAIN_ROOT.has(keyword))
}
