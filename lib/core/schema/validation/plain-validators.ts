import type { Ajv, ValidateFunction } from 'ajv'
import { isObject } from '../../util/own-property.js'
import type { AjvSettings } from './ajv.js'
import { subschemasOf } from '../subschemas.js'
import type { Schema } from '../types.js'
import { boundKeywords } from './ajv-keywords.js'
import { makeAjv } from './make-ajv.js'
import { PLAIN } from './plain-keywords.js'

/** The most validators to remember. */
const MOST = 1000

interface PlainValidators {
  readonly ajv: Ajv
  /** The validators by their schemas, as JSON. */
  readonly known: Map<string, ValidateFunction>
}

let shared: PlainValidators | undefined

/**
 * Returns whether all resources can share the validator of a schema: it consists of plain keywords alone. The columns
 * of a database have few different schemas, and each validator takes about a millisecond and some memory.
 */
export function isPlain (schema: unknown): boolean {
  const keywords = [...subschemasOf(schema)].flatMap(({ schema }) => Object.keys(schema))
  return isObject(schema) && keywords.every((keyword) => PLAIN.has(keyword))
}

/** Returns whether an app gives Ajv no formats, keywords and plugins of its own. */
export function hasNoExtensions ({ customOptions: { formats, keywords } = {}, plugins = [] }: AjvSettings): boolean {
  return formats === undefined && keywords === undefined && plugins.length === 0
}

/** Returns the names of the formats that every app has. */
export function knownFormats (): string[] {
  return Object.keys(share().ajv.formats)
}

/**
 * Returns the validator of a plain schema, which is compiled once.
 * @throws Error if the schema is invalid
 */
export function findPlain (schema: Schema): ValidateFunction {
  const { title, description, readOnly, writeOnly, ...constraints } = schema
  const key = JSON.stringify(constraints)
  const { ajv, known } = share()
  const found = known.get(key) ?? ajv.compile(JSON.parse(key) as Schema)
  known.set(key, found)
  // The resources keep the validators that they use.
  if (known.size >= MOST) shared = undefined
  return found
}

function share (): PlainValidators {
  if (shared === undefined) {
    const ajv = makeAjv({}, { strict: true }, {})
    boundKeywords(ajv)
    shared = { ajv, known: new Map() }
  }
  return shared
}
