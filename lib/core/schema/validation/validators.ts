import type { Ajv, ValidateFunction } from 'ajv'
import { lazy } from '../../util/functions.js'
import { isObject } from '../../util/own-property.js'
import { didYouMean } from '../../util/words.js'
import { shapesOf } from '../shape.js'
import { kindOf, mapSubschemas, resolveReference, subschemasOf, writePointer } from '../subschemas.js'
import type { Schema } from '../types.js'
import { type AjvMode, type AjvSettings, makeAjv, metaSchema } from './ajv.js'

/**
 * The most references to follow for one body: two for each value that it may have. Without a limit, several
 * alternatives that refer to the schema around them would at least double the cost with each level of a value.
 */
const REFERENCES = 100_000

/** The validators of one schema. The first call compiles each of them. */
export interface SchemaValidators {
  /** Returns the one that stops at the first error, so that a million wrong items cost only one. */
  readonly first: () => ValidateFunction
  /** Returns the one that finds all errors. */
  readonly all: () => ValidateFunction
}

/** Compiles the validators of a server's resources with the same settings. Equal schemas share one. */
export class Validators {
  readonly settings: AjvSettings
  readonly #known = new Map<string, SchemaValidators>()
  readonly #first = lazy(() => this.#makeAjv({ strictSchema: true, allErrors: false }))
  // The first Ajv has refused what is wrong with a schema.
  readonly #all = lazy(() => this.#makeAjv({ strictSchema: false, allErrors: true }))
  #referencesLeft = REFERENCES
  #parts = 0

  constructor (settings: AjvSettings = {}) {
    this.settings = settings
  }

  /** Allows the next body to follow `REFERENCES` references. Beyond that, validators throw a `RangeError`. */
  startBody (): void {
    this.#referencesLeft = REFERENCES
  }

  /**
   * Checks a schema of attributes, except for what its compilation refuses.
   * @throws Error
   */
  checkSchema (schema: Schema): void {
    checkDecimals(schema)
    checkFormats(schema, Object.keys(this.#first().formats))
    metaSchema().validateSchema(schema, true)
  }

  /** Returns the validators of a part of a schema. The path is that of a schema inside it. */
  of (whole: Schema, path: readonly string[]): SchemaValidators {
    const pointer = writePointer(path)
    const { title, description, readOnly, writeOnly, ...own } = resolveReference(`#${pointer}`, whole) as Schema
    const text = JSON.stringify(own)
    const isWhole = text.includes('"$ref"')
    const key = isWhole ? JSON.stringify([path, whole]) : text
    const known = this.#known.get(key)
    if (known !== undefined) return known
    const compile = (ajv: Ajv): ValidateFunction => {
      // Extensions may mean anything. `addKeyword` does the same, but refuses some names.
      for (const [, keyword] of key.matchAll(/"(x-[^"\\]*)":/g)) ajv.RULES.keywords[keyword as string] = true
      if (!isWhole) return ajv.compile(demandWritable(own))
      const id = `part${this.#parts++}`
      // Before Ajv compiles the target of a pointer, it compiles the schema with the pointer's `$id`, unless that is
      // only a part.
      ajv.addSchema({ definitions: { attributes: { ...demandWritable(whole), $id: id } } }, `whole-${id}`)
      return ajv.getSchema(`${id}#${pointer}`) as ValidateFunction
    }
    const validators = { first: lazy(() => compile(this.#first())), all: lazy(() => compile(this.#all())) }
    const { customOptions: { keywords } = {}, plugins = [] } = this.settings
    // The value of a keyword of the app may have no JSON text.
    if (keywords === undefined && plugins.length === 0) this.#known.set(key, validators)
    return validators
  }

  #makeAjv (options: AjvMode): Ajv {
    return makeAjv(this.settings, options, () => {
      if (--this.#referencesLeft < 0) throw new RangeError(`more than ${REFERENCES} references`)
    })
  }
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

/**
 * Checks that all formats of a schema are known. Definitions are left out, because some may be unused. Ajv itself
 * refuses unknown formats in those that are used.
 * @throws Error if a format is unknown, with the nearest known one
 */
function checkFormats ({ definitions: _, $defs: __, ...schema }: Schema, known: readonly string[]): void {
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
function checkDecimals (root: Schema): void {
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
