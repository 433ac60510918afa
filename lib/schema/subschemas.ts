import { isObject, isStructure, ownMember } from '../util/own-property.js'
import type { Schema } from './types.js'

/**
 * How a keyword of a schema (draft-07 §6) holds other schemas:
 * - `same`: alternatives or parts of the same value; `conditional`: conditions of it, and what follows from them
 * - `inside`: one schema, or a list of them, of the values inside
 * - `named`: schemas by any names
 * - `value`: none, although its value may look like a schema
 */
type KeywordKind = 'same' | 'conditional' | 'inside' | 'named' | 'value'

const KEYWORDS: Readonly<Record<KeywordKind, readonly string[]>> = {
  same: ['allOf', 'anyOf', 'oneOf'],
  conditional: ['if', 'then', 'else', 'not'],
  inside: ['items', 'additionalItems', 'contains', 'additionalProperties', 'propertyNames'],
  named: ['properties', 'patternProperties', 'dependencies', 'definitions', '$defs'],
  // Those from `example` on are annotations of OpenAPI and of TypeBox.
  value: ['const', 'enum', 'default', 'examples', 'example', 'xml', 'externalDocs', 'discriminator', 'nullable']
}
const KINDS: ReadonlyMap<string, string> = new Map(
  Object.entries(KEYWORDS).flatMap(([kind, keywords]) => keywords.map((keyword) => [keyword, kind]))
)

export const VALUE_KEYWORDS: readonly string[] = KEYWORDS.value

/** Returns undefined for a keyword that JSON Schema does not know. `x-…` may mean anything, and is a value. */
export function kindOf (keyword: string): KeywordKind | undefined {
  return keyword.startsWith('x-') ? 'value' : KINDS.get(keyword) as KeywordKind | undefined
}

/** Copies a schema with each schema that stands directly in it changed, also those of unknown keywords. */
export function mapSubschemas (schema: Schema, change: (part: unknown, keyword: string) => unknown): Schema {
  // Symbols stay: TypeBox keeps its kinds under them.
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

function mapMembers (members: Schema, change: (member: unknown) => unknown): Schema {
  return Object.fromEntries(Object.entries(members).map(([name, member]) => [name, change(member)]))
}

/** A part of a schema that is a schema itself. */
export interface Subschema {
  /** The property that it is about, `author.name`; empty: the whole. */
  readonly name: string
  readonly schema: Schema
  /** The keywords, names and indexes that lead to it. */
  readonly path: readonly string[]
  readonly isProperty: boolean
}

/** Gives each schema in a schema, itself first. Unknown keywords are left out. */
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

/** Writes the part of a URI that leads into a schema (RFC 6901 §3, §6). */
export function writePointer (path: readonly string[]): string {
  return path.map((step) => `/${encodeURIComponent(step.replaceAll('~', '~0').replaceAll('/', '~1'))}`).join('')
}

/**
 * Finds what a reference leads to: a JSON Pointer (RFC 6901) within the schema, or the `$id` of a part of it, such as
 * `#name` (draft-07 §8.2.3).
 */
export function resolveReference (reference: string, root: Schema): unknown {
  const target = /^#(\/|$)/.test(reference) ? resolvePointer(reference, root) : findId(reference, root)
  if (target === undefined) throw new Error(`the reference "${reference}" leads nowhere in the schema`)
  return target
}

function resolvePointer (reference: string, root: Schema): unknown {
  let target: unknown = root
  for (const step of reference.slice(1).split('/').slice(1)) {
    const key = decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~')
    target = isStructure(target) ? ownMember(target as Schema, key) : undefined
  }
  return target
}

function findId (id: string, within: unknown): unknown {
  if (!isStructure(within)) return undefined
  if ((within as Schema).$id === id) return within
  for (const part of Object.values(within)) {
    const found = findId(id, part)
    if (found !== undefined) return found
  }
  return undefined
}
