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
  named: ['properties', 'patternProperties', 'dependencies', 'dependentSchemas', 'definitions', '$defs'],
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

/** The schemas of `app.addSchema`, by their `$id`. */
export type SharedSchemas = Readonly<Record<string, unknown>>

/**
 * Copies each shared schema to which a schema refers into its `definitions`. All references become pointers from the
 * root of the schema, so that all readers of it agree (draft-07 §8.2, §8.3). References to nothing stay unchanged.
 */
export function bundleSchema<S extends Schema | undefined> (schema: S, shared: SharedSchemas): S
export function bundleSchema (schema: Schema | undefined, shared: SharedSchemas): Schema | undefined {
  if (schema === undefined) return undefined
  const whole = resolveIds(findWhole(schema, shared))
  const definitions = new Map<string, unknown>(isObject(whole.definitions) ? Object.entries(whole.definitions) : [])
  const names = new Map<string, string>()

  /** Adds a shared schema, and those to which it refers, to the definitions. Returns its name there. */
  function nameOf (id: string): string {
    const known = names.get(id)
    if (known !== undefined) return known
    let name = id.replaceAll(/[^\w.-]+/g, '_')
    while (definitions.has(name)) name += '_'
    names.set(id, name)
    definitions.set(name, {})
    const { $schema, ...anonymous } = resolveIds(shared[id] as Schema)
    definitions.set(name, redirectAll(anonymous, `#/definitions/${name}`))
    return name
  }

  /** @param start the pointer to the schema that contains the reference */
  function redirect (reference: string, start: string): string {
    const [id = '', pointer = ''] = reference.split('#')
    if (pointer !== '' && !pointer.startsWith('/')) return reference
    if (id === '') return start + pointer
    return Object.hasOwn(shared, id) ? `#/definitions/${nameOf(id)}${pointer}` : reference
  }

  function redirectAll (schema: Schema, start: string): Schema {
    return rewrite(schema, (part) =>
      typeof part.$ref === 'string' ? { ...part, $ref: redirect(part.$ref, start) } : part)
  }

  const bundled = redirectAll(whole, '#')
  if (names.size === 0) return whole
  return {
    ...bundled,
    definitions: {
      ...(isObject(bundled.definitions) ? bundled.definitions : {}),
      ...Object.fromEntries([...names.values()].map((name) => [name, definitions.get(name)]))
    }
  }
}

/** Returns the shared schema if the schema is only a reference to it. Otherwise returns the schema. */
function findWhole (schema: Schema, shared: SharedSchemas): Schema {
  const { $ref, ...more } = schema
  const target = typeof $ref === 'string' && Object.keys(more).length === 0 ? shared[$ref.replace(/#$/, '')] : undefined
  return isObject(target) ? target : schema
}

/** The base URI of a schema without an `$id`. */
const BASE = 'schema:///'

/**
 * Replaces references to an `$id` by pointers from the root, and removes each `$id`. An `$id` beside a `$ref` does not
 * change what the reference means.
 */
function resolveIds (root: Schema): Schema {
  const bases = new Map<Schema, string>()
  const pointers = new Map([[BASE, '#']])
  const open: Array<{ readonly path: readonly string[], readonly base: string }> = []
  for (const { schema, path } of subschemasOf(root)) {
    while (open.at(-1)?.path.some((step, index) => step !== path[index]) === true) open.pop()
    const outer = open.at(-1)?.base ?? BASE
    const id = typeof schema.$id === 'string' ? resolveUri(schema.$id, outer) : outer
    if (schema.$id !== undefined && !pointers.has(id)) pointers.set(id, `#${writePointer(path)}`)
    const base = id.includes('#') || typeof schema.$ref === 'string' ? outer : id
    bases.set(schema, base)
    open.push({ path, base })
  }
  if (pointers.size === 1) return root
  const find = (reference: string, base: string): string => {
    const absolute = resolveUri(reference, base)
    const [document = '', fragment = ''] = absolute.split('#')
    const isPointer = fragment === '' || fragment.startsWith('/')
    const pointer = pointers.get(isPointer ? document : absolute)
    return pointer === undefined ? reference : pointer + (isPointer ? fragment : '')
  }
  return rewrite(root, (copy, original) => {
    const base = bases.get(original)
    // The value of an unknown keyword is no schema.
    if (base === undefined) return copy
    const { $id, ...part } = copy
    return typeof part.$ref === 'string' ? { ...part, $ref: find(part.$ref, base) } : part
  })
}

/** Resolves a reference relative to a URI (RFC 3986 §5). A text that is no URI stays as it is. */
function resolveUri (reference: string, base: string): string {
  return URL.canParse(reference, base) ? new URL(reference, base).href.replace(/#$/, '') : reference
}

/** Copies a schema, and changes the copies of it and of each schema inside it. */
function rewrite (schema: Schema, change: (copy: Schema, original: Schema) => Schema): Schema {
  return change(mapSubschemas(schema, (inner) => isPlain(inner) ? rewrite(inner, change) : inner), schema)
}

/** Returns whether a value is a plain object. An instance of a class is the value of a custom keyword, not a schema. */
function isPlain (value: unknown): value is Schema {
  return isObject(value) && [Object.prototype, null].includes(Object.getPrototypeOf(value))
}
