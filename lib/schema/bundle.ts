import { isObject } from '../util/own-property.js'
import { mapSubschemas, subschemasOf } from './subschemas.js'
import type { Schema } from './types.js'

/** What the app has given Fastify for its schemas. */
export interface AppSchemas {
  /** Those of `app.addSchema`, by their `$id`. */
  readonly shared: Readonly<Record<string, unknown>>
  readonly ajv: AjvSettings
}

/** The part of Fastify's option `ajv` that is taken over: what names formats and keywords. */
export interface AjvSettings {
  readonly customOptions?: { readonly formats?: object, readonly keywords?: unknown }
  readonly plugins?: readonly unknown[]
}

/**
 * Returns the schema with the app's schemas that it refers to among its `definitions`, so that all that reads a schema
 * finds them there. A reference that leads to none of them stays as it is.
 */
export function bundleSchema<S extends Schema | undefined> (schema: S, shared: AppSchemas['shared']): S
export function bundleSchema (schema: Schema | undefined, shared: AppSchemas['shared']): Schema | undefined {
  if (schema === undefined) return undefined
  const whole = findWhole(schema, shared)
  const definitions = new Map<string, unknown>(isObject(whole.definitions) ? Object.entries(whole.definitions) : [])
  const names = new Map<string, string>()
  // A part of the schema itself that has the name comes first.
  const own = new Set([...subschemasOf(whole)].map(({ schema: { $id } }) => $id))

  /** The name among the definitions of one of the app's schemas, which is added with those that it refers to. */
  function nameOf (id: string): string {
    const known = names.get(id)
    if (known !== undefined) return known
    let name = id.replaceAll(/[^\w.-]+/g, '_')
    while (definitions.has(name)) name += '_'
    names.set(id, name)
    definitions.set(name, {})
    const { $id, $schema, ...anonymous } = shared[id] as Schema
    definitions.set(name, mapReferences(anonymous, (reference) => redirect(reference, `#/definitions/${name}`)))
    return name
  }

  /** @param start where the schema stands in which the reference does */
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
      ...(bundled.definitions as Schema | undefined),
      ...Object.fromEntries([...names.values()].map((name) => [name, definitions.get(name)]))
    }
  }
}

/** A schema that is nothing but a reference to one of the app's is that one. */
function findWhole (schema: Schema, shared: AppSchemas['shared']): Schema {
  const { $ref, ...more } = schema
  const target = typeof $ref === 'string' && Object.keys(more).length === 0 ? shared[$ref.replace(/#$/, '')] : undefined
  if (!isObject(target)) return schema
  const { $id, ...anonymous } = target
  return anonymous
}

/** Copies the schema with other references. */
export function mapReferences (schema: Schema, change: (reference: string) => string): Schema {
  const map = (part: Schema): Schema => {
    const copy = mapSubschemas(part, (inner) => isPlain(inner) ? map(inner) : inner)
    return typeof part.$ref === 'string' ? { ...copy, $ref: change(part.$ref) } : copy
  }
  return map(schema)
}

/** An object of another class is a value of a keyword of the app's own. */
function isPlain (value: unknown): value is Schema {
  return isObject(value) && [Object.prototype, null].includes(Object.getPrototypeOf(value))
}
