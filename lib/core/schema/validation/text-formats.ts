import type { Ajv } from 'ajv'
import { countDigits, isDecimal } from '../../util/decimal.js'
import { didYouMean } from '../../util/words.js'
import { BASE64, FREE_MOMENT, ORDERED_FORMATS } from '../convert-text.js'
import { isUuid } from '../legal-text.js'
import { subschemasOf } from '../subschemas.js'
import type { Schema } from '../types.js'
import { loadAjv, loadFormats } from './ajv.js'

/** Adds the formats of JSON Schema, ours, and the keywords that belong to them. Ours replace those of the app. */
export function addFormats (ajv: Ajv): void {
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
  addDecimalKeywords(ajv)
  ajv.removeKeyword('contentEncoding')
  ajv.addKeyword({
    keyword: 'contentEncoding',
    type: 'string',
    schemaType: 'string',
    validate: (encoding: string, text: string) => encoding !== 'base64' || BASE64.isValid(text)
  })
}

/** The keywords of a decimal that has `precision`. `checkDecimals` has verified that they suit each other. */
interface Digits {
  readonly precision: number
  readonly scale: number
}

/** Adds `precision` and `scale`, which limit the digits of a decimal. The format itself refuses other texts. */
function addDecimalKeywords (ajv: Ajv): void {
  const { _ } = loadAjv()
  const addKeyword = (
    keyword: keyof Digits,
    limitOf: (schema: Digits) => number,
    countOf: (text: string) => number
  ): void => {
    ajv.removeKeyword(keyword)
    ajv.addKeyword({
      keyword,
      type: 'string',
      schemaType: 'number',
      error: { message: '', params: ({ parentSchema }) => _`{limit: ${limitOf(parentSchema as Digits)}}` },
      compile (_value, parentSchema) {
        const limit = limitOf(parentSchema as Digits)
        return (text: string) => !isDecimal(text) || countOf(text) <= limit
      }
    })
  }
  addKeyword('precision', ({ precision, scale }) => precision - scale, (text) => countDigits(text).whole)
  addKeyword('scale', ({ scale }) => scale, (text) => countDigits(text).fraction)
}

/**
 * Checks that all formats of a schema are known. Definitions are left out, because some may be unused. Ajv itself
 * refuses unknown formats in those that are used.
 * @throws Error if a format is unknown, with the nearest known one
 */
export function checkFormats ({ definitions: _, $defs: __, ...schema }: Schema, known: readonly string[]): void {
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
export function checkDecimals (root: Schema): void {
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
