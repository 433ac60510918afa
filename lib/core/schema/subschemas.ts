import { isObject, isStructure } from '../util/own-property.js'
import type { Schema } from './types.js'

/**
 * The kinds of keywords (draft-07 §6), by the schemas that they contain:
 * - `same`, `conditional`: schemas for the same value
 * - `inside`: one schema, or a list of schemas, for the values inside
 * - `named`: schemas under any names
 * - `value`: no schemas, although the value of the keyword may look like one
 */
const KINDS = ['same', 'conditional', 'inside', 'named', 'value'] as const
type KeywordKind = (typeof KINDS)[number]

const KEYWORDS: Readonly<Record<KeywordKind, readonly string[]>> = {
  same: ['allOf', 'anyOf', 'oneOf'],
  conditional: ['if', 'then', 'else', 'not'],
  inside: ['items', 'additionalItems', 'contains', 'additionalProperties', 'propertyNames'],
  named: ['properties', 'patternProperties', 'dependencies', 'definitions', '$defs'],
  // The keywords from `example` on are annotations of OpenAPI and TypeBox.
  value: ['const', 'enum', 'default', 'examples', 'example', 'xml', 'externalDocs', 'discriminator', 'nullable']
}

export const VALUE_KEYWORDS: readonly string[] = KEYWORDS.value

/**
 * Returns the kind of a keyword, or `undefined` if it is unknown. A keyword `x-…` may mean anything, so it is a value.
 */
export function kindOf (keyword: string): KeywordKind | undefined {
  return keyword.startsWith('x-') ? 'value' : KINDS.find((kind) => KEYWORDS[kind].includes(keyword))
}

/** Copies a schema and changes each schema directly inside it, including those of unknown keywords. */
export function mapSubschemas (schema: Schema, change: (part: unknown, keyword: string) => unknown): Schema {
  // The spread also copies symbols, under which TypeBox keeps its kinds.
  const copy: Record<string | symbol, unknown> = { ...schema }
  for (const [keyword, part] of Object.entries(schema)) {
    const kind = kindOf(keyword)
    if (kind === 'value') continue
    const changeOne = (one: unknown): unknown => change(one, keyword)
    if (kind === 'named' && isObject(part)) copy[keyword] = mapMembers(part, changeOne)
    else copy[keyword] = Array.isArray(part) ? part.map(changeOne) : changeOne(part)
  }
  return copy
}

export function mapMembers (members: Schema, change: (member: unknown) => unknown): Schema {
  return Object.fromEntries(Object.entries(members).map(([name, member]) => [name, change(member)]))
}

export interface Subschema {
  /** The property to which the schema belongs, such as `author.name`. It is empty outside of properties. */
  readonly name: string
  readonly schema: Schema
  /** The keywords, names and indexes that lead to the schema. */
  readonly path: readonly string[]
  readonly isProperty: boolean
}

/** Yields a schema, then each schema inside it. Unknown keywords are left out. */
export function * subschemasOf (
  schema: unknown,
  name = '',
  path: readonly string[] = [],
  isProperty = false
): Generator<Subschema> {
  if (!isObject(schema)) return
  yield { name, schema, path, isProperty }
  for (const [keyword, part] of Object.entries(schema)) {
    const kind = kindOf(keyword)
    if (kind === undefined || kind === 'value') continue
    if (kind !== 'named' && !Array.isArray(part)) {
      yield * subschemasOf(part, name, [...path, keyword])
      continue
    }
    const isMember = keyword === 'properties'
    for (const [member, inner] of isStructure(part) ? Object.entries(part) : []) {
      const innerName = isMember ? [name, member].filter((step) => step !== '').join('.') : name
      yield * subschemasOf(inner, innerName, [...path, keyword, member], isMember)
    }
  }
}

/** Writes a path as a JSON Pointer for the fragment of a URI (RFC 6901 §3, §6). */
export function writePointer (path: readonly string[]): string {
  return path.map((step) => `/${encodeURIComponent(step.replaceAll('~', '~0').replaceAll('/', '~1'))}`).join('')
}

/**
 * Returns the target of a reference, which is a JSON Pointer (RFC 6901) within the schema.
 * @throws Error if there is no target
 */
export function resolveReference (reference: string, root: Schema): unknown {
  const target = /^#(\/|$)/.test(reference) ? resolvePointer(reference, root) : undefined
  if (target !== undefined) return target
  const cure = 'declare it in "definitions", or share it by app.addSchema'
  throw new Error(`the reference "${reference}" has no target in the schema; ${cure}`)
}

function resolvePointer (reference: string, root: Schema): unknown {
  let target: unknown = root
  for (const step of reference.split('/').slice(1)) {
    const key = decodeStep(step).replaceAll('~1', '/').replaceAll('~0', '~')
    target = isStructure(target) ? new Map(Object.entries(target)).get(key) : undefined
  }
  return target
}

/** Decodes a step of a pointer. A step that is not encoded well stays as it is. */
function decodeStep (step: string): string {
  try {
    return decodeURIComponent(step)
  } catch {
    return step
  }
}
