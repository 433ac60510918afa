import { isBytesShape, isDecimalShape, isLongShape, ORDERED_FORMATS } from '../../schema/convert-text.js'
import { isLegalText } from '../../schema/legal-text.js'
import { MAX_DEPTH } from '../../schema/limits.js'
import { isPortableName } from '../../schema/portable-name.js'
import { openShape, type Shape } from '../../schema/shape.js'
import { isDecimal } from '../../util/decimal.js'
import { isLongInteger } from '../../util/long-integer.js'
import { isStructure } from '../../util/own-property.js'
import { beginsLikeJson, isJson } from '../json-text.js'

/** The level of the elements of attributes. The root of a document has the level 1. */
export const ATTRIBUTE_LEVEL = 2

/**
 * Returns whether the element of a value can carry it as text or as nested elements, so that the reader returns the
 * same value. It says nothing about the parts of the value, which have elements of their own.
 * @param level the number of elements around the value, with its own
 * @param isOpen whether the resource has no schema
 */
export function isCarried (value: unknown, shape: Shape, level: number, isOpen: boolean): boolean {
  const { types } = shape
  if (typeof value === 'string') return types.has('string') ? carriesText(value, shape, isOpen) : isLong(value, shape)
  if (typeof value === 'number') return !Number.isFinite(value) || types.has(typeOfNumber(value, shape))
  if (typeof value === 'boolean') return types.has('boolean')
  if (!isStructure(value)) return true
  if (level >= MAX_DEPTH) return false
  return Array.isArray(value) ? types.has('array') : types.has('object') && carriesMembers(value, shape, isOpen)
}

/** Returns whether a value is the text of a long integer, whose element has `type="integer"`. */
export function isLong (value: unknown, shape: Shape): boolean {
  return isLongShape(shape) && isLongInteger(value)
}

/** Returns whether elements can carry the value of an attribute without a schema, with all its parts. */
export function isCarriedWhole (value: unknown, level: number): boolean {
  return isCarried(value, openShape, level, true) &&
    (!isStructure(value) || Object.values(value).every((part) => isCarriedWhole(part, level + 1)))
}

/** Returns the type of a number. A whole number is an integer, unless the schema says number. */
export function typeOfNumber (value: number, { only }: Shape): 'integer' | 'number' {
  return only !== 'number' && Number.isSafeInteger(value) ? 'integer' : 'number'
}

function carriesText (text: string, shape: Shape, isOpen: boolean): boolean {
  return text === '' || (isLegalText(text) && isKept(text, shape) && (isOpen || !isReadAsJson(text, shape)))
}

/** Returns whether the reader keeps all characters: those of some formats lose white space. */
export function isKept (text: string, shape: Shape): boolean {
  if (isDecimalShape(shape)) return isDecimal(text)
  return isBytesShape(shape) ? !/\s/.test(text) : !ORDERED_FORMATS.has(shape.format ?? '') || text.trim() === text
}

/** Returns whether a text without a type is read as JSON, although the schema allows a string. */
export function isReadAsJson (text: string, { types }: Shape): boolean {
  return beginsLikeJson(text) && (types.has('object') || types.has('array')) && isJson(text)
}

function carriesMembers (members: object, { properties, rest }: Shape, isOpen: boolean): boolean {
  let isEmpty = true
  for (const [name, value] of Object.entries(members)) {
    if (value === undefined) continue
    const property = properties.get(name)
    if (property !== undefined) isEmpty &&= property.writeOnly
    else if (rest !== undefined) {
      if (!isCarriedName(name, isOpen)) return false
      isEmpty = false
    }
  }
  return !isEmpty
}

/**
 * Returns whether an element can have the name of an undeclared member. Clients of the convention write `-` for `_`, so
 * that such a name is certain only without a schema, where `_` is read for `-`.
 */
function isCarriedName (name: string, isOpen: boolean): boolean {
  return isPortableName(name) && !name.includes('-') && (isOpen || !name.includes('_'))
}
