import type { Property } from '../core/schema/shape.js'
import type { Schema } from '../core/schema/types.js'
import { capitalize, wordsOf } from '../core/util/words.js'

/** Encodes a name as a part of an HTML id, which may contain no white space (HTML §3.2.6.1). */
export function encodeIdPart (name: string): string {
  return name.replaceAll(/[^\p{L}\p{N}\p{M}_.-]/gu, (character) => `~${character.codePointAt(0)?.toString(16)}`)
}

/**
 * Returns the id of a field: `post:author:name` for `post[author][name]`. Encoded names contain no colon, and the fixed
 * ids of a page contain none either.
 */
export function idOf (name: string): string {
  return name.split(/\]?\[|\]$/).filter((part) => part !== '').map(encodeIdPart).join(':')
}

/**
 * Returns the title of the schema, or else the name in words: `Published at` for `publishedAt`, `VAT rate` for
 * `vatRate`, and `Active` for a boolean or a number `isActive`.
 */
export function labelOf ({ name, schema }: Pick<Property, 'name' | 'schema'>): string {
  return annotationOf(schema, 'title') ?? capitalize(spellAbbreviations(withoutVerb(wordsOf(name), schema)))
}

/** The abbreviations that are written in capital letters. None of them is a common word of a language of the pages. */
const ABBREVIATIONS: ReadonlySet<string> = new Set([
  'api', 'bic', 'css', 'csv', 'dns', 'ean', 'faq', 'gps', 'gtin', 'html', 'http', 'https', 'iban', 'ip', 'isbn',
  'iso', 'json', 'kpi', 'mfa', 'otp', 'pdf', 'rgb', 'sku', 'sms', 'sql', 'ssh', 'ssl', 'sso', 'ssn', 'tls', 'ttl',
  'upc', 'uri', 'url', 'utc', 'uuid', 'vat', 'vin', 'xml'
])

function spellAbbreviations (words: string): string {
  return words.split(' ').map((word) => ABBREVIATIONS.has(word) ? word.toUpperCase() : word).join(' ')
}

/** The types of flags: in a database without booleans, they are the numbers 0 and 1. */
const FLAGS: ReadonlySet<unknown> = new Set(['boolean', 'integer', 'number'])

/** Returns the words of a flag without the `is` at their beginning. */
function withoutVerb (words: string, { type }: Schema): string {
  return [type].flat().some((one) => FLAGS.has(one)) && /^is ./.test(words) ? words.slice('is '.length) : words
}

/** Returns the `title` or the `description` of a schema, or `undefined` if it is missing or empty. */
export function annotationOf (schema: Schema, keyword: 'title' | 'description'): string | undefined {
  const text = schema[keyword]
  return typeof text === 'string' && text !== '' ? text : undefined
}
