import { isObject } from '../util/own-property.js'
import { mapSubschemas, subschemasOf, writePointer } from './subschemas.js'
import type { Schema } from './types.js'

/** The schemas of `app.addSchema`, by their `$id`. */
export type SharedSchemas = Readonly<Record<string, unknown>>

/**
 * Copies each shared schema to which a schema refers into its `definitions`, and redirects the references to the copy.
 * References to parts of the schema become pointers. All other references stay unchanged.
 */
export function bundleSchema<S extends Schema | undefined> (schema: S, shared: SharedSchemas): S
export function bundleSchema (schema: Schema | undefined, shared: SharedSchemas): Schema | undefined {
  if (schema === undefined) return undefined
  const whole = resolveIds(findWhole(schema, shared))
  const definitions = new Map<string, unknown>(isObject(whole.definitions) ? Object.entries(whole.definitions) : [])
  const names = new Map<string, string>()
  // A part of the schema takes precedence over a shared schema with the same `$id`.
  const own = new Set([...subschemasOf(whole)].map(({ schema: { $id } }) => $id))

  /** Adds a shared schema, and those to which it refers, to the definitions. Returns its name there. */
  function nameOf (id: string): string {
    const known = names.get(id)
    if (known !== undefined) return known
    let name = id.replaceAll(/[^\w.-]+/g, '_')
    while (definitions.has(name)) name += '_'
    names.set(id, name)
    definitions.set(name, {})
    const { $id, $schema, ...anonymous } = resolveIds(shared[id] as Schema)
    definitions.set(name, mapReferences(anonymous, (reference) => redirect(reference, `#/definitions/${name}`)))
    return name
  }

  /**
   * Returns the reference that replaces a reference.
   * @param start the pointer to the schema that contains the reference
   */
  function redirect (reference: string, start: string): string {
    const [id = '', pointer = ''] = reference.split('#')
    if (id === '') return pointer === '' || pointer.startsWith('/') ? start + pointer : reference
    const isPointer = pointer === '' || pointer.startsWith('/')
    return isPointer && !own.has(id) && Object.hasOwn(shared, id) ? `#/definitions/${nameOf(id)}${pointer}` : reference
  }

  const bundled = mapReferences(whole, (reference) => redirect(reference, '#'))
  if (names.size === 0) return whole
  return {
    ...bundled,
    definitions: {
      ...(isObject(bundled.definitions) ? bundled.definitions : {}),
      ...Object.fromEntries([...names.values()].map((name) => [name, definitions.get(name)]))
    }
  }
}

/**
 * Returns the shared schema, without its `$id`, if the schema is only a reference to it. Otherwise returns the schema.
 */
function findWhole (schema: Schema, shared: SharedSchemas): Schema {
  const { $ref, ...more } = schema
  const target = typeof $ref === 'string' && Object.keys(more).length === 0 ? shared[$ref.replace(/#$/, '')] : undefined
  if (!isObject(target)) return schema
  const { $id, ...anonymous } = target
  return anonymous
}

/** The base URI of a schema without an `$id`. */
const BASE = 'schema:///'

/**
 * Replaces references by pointers from the root, and removes the `$id` of the parts, if a reference depends on the
 * `$id` of what contains it. So all readers of the schema agree (draft-07 §8.2, §8.3). An `$id` beside a `$ref` does
 * not change what the reference means.
 */
function resolveIds (root: Schema): Schema {
  const bases = new Map<Schema, string>()
  const pointers = new Map([[BASE, '#']])
  /** The pointers to parts by their `$id` as it is written. */
  const literals = new Map<unknown, string>()
  const open: Array<{ readonly path: readonly string[], readonly base: string }> = []
  for (const { schema, path } of subschemasOf(root)) {
    while (open.at(-1)?.path.some((step, index) => step !== path[index]) === true) open.pop()
    const outer = open.at(-1)?.base ?? BASE
    const id = typeof schema.$id === 'string' ? resolveUri(schema.$id, outer) : outer
    if (schema.$id !== undefined) {
      const pointer = `#${writePointer(path)}`
      if (!pointers.has(id)) pointers.set(id, pointer)
      if (!literals.has(schema.$id)) literals.set(schema.$id, pointer)
    }
    const base = id.includes('#') || typeof schema.$ref === 'string' ? outer : id
    bases.set(schema, base)
    open.push({ path, base })
  }
  const find = (reference: string, base: string): string => {
    const absolute = resolveUri(reference, base)
    const [document = '', fragment = ''] = absolute.split('#')
    const isPointer = fragment === '' || fragment.startsWith('/')
    const pointer = pointers.get(isPointer ? document : absolute)
    return pointer === undefined ? reference : pointer + (isPointer ? fragment : '')
  }
  const isDependent = ([{ $id, $ref }, base]: readonly [Schema, string]): boolean =>
    typeof $ref === 'string' && ($id !== undefined || find($ref, base) !== (literals.get($ref) ?? $ref))
  if (literals.size === 0 || ![...bases].some(isDependent)) return root
  const resolve = (schema: Schema): Schema => {
    const copy = mapSubschemas(schema, (inner) => isPlain(inner) ? resolve(inner) : inner)
    const base = bases.get(schema)
    // The value of an unknown keyword is no schema.
    if (base === undefined) return copy
    const { $id, ...part } = copy
    return typeof part.$ref === 'string' ? { ...part, $ref: find(part.$ref, base) } : part
  }
  const { $id } = root
  return { ...resolve(root), ...($id === undefined ? {} : { $id }) }
}

/** Resolves a reference relative to a URI (RFC 3986 §5). A text that is no URI stays as it is. */
function resolveUri (reference: string, base: string): string {
  return URL.canParse(reference, base) ? new URL(reference, base).href.replace(/#$/, '') : reference
}

export function mapReferences (schema: Schema, change: (reference: string) => string): Schema {
  const map = (part: Schema): Schema => {
    const copy = mapSubschemas(part, (inner) => isPlain(inner) ? map(inner) : inner)
    return typeof part.$ref === 'string' ? { ...copy, $ref: change(part.$ref) } : copy
  }
  return map(schema)
}

/** Returns whether a value is a plain object. An instance of a class is the value of a custom keyword, not a schema. */
function isPlain (value: unknown): value is Schema {
  return isObject(value) && [Object.prototype, null].includes(Object.getPrototypeOf(value))
}
