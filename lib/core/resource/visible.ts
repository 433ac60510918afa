import { createHash } from 'node:crypto'
import { compilePerShape, openShape, type Property, type Shape, shapeOf, shapesIn } from '../schema/shape.js'
import type { Attributes, AttributesSchema } from '../schema/types.js'
import { identity } from '../util/functions.js'
import { compileMember, isObject } from '../util/own-property.js'
import type { Resource } from './resource.js'
import type { Row } from './row.js'

/** Returns a stored value without its `writeOnly` and undeclared members. */
export type HideWriteOnly = (value: unknown) => unknown

/** Compiles a function that reads the visible part of an attribute. */
export function compileRead (name: string, hide: HideWriteOnly): (members: Attributes) => unknown {
  const read = compileMember(name)
  return hide === identity ? read : (members) => hide(read(members))
}

/** Returns a compiler of functions that remove `writeOnly` and undeclared members, at any depth. */
export function compileHide (): (shape: Shape) => HideWriteOnly {
  return compilePerShape(makeHide)
}

/** Compiles such a function for each visible attribute. */
export function compileVisible ({ attributes }: Resource): ReadonlyMap<string, HideWriteOnly> {
  const compile = compileHide()
  return new Map(
    [...attributes.values()].filter(({ writeOnly }) => !writeOnly).map(({ name, shape }) => [name, compile(shape)])
  )
}

/** Compiles a function that returns the visible part of a row. */
export function compileVisibleRow (resource: Resource): (row: Row) => Row {
  if (resource.open) return (row) => row
  const attributes = [...compileVisible(resource)].map(([name, hide]) => ({ name, read: compileRead(name, hide) }))
  return (row) => ({
    ...row,
    attributes: Object.fromEntries(
      attributes.map(({ name, read }) => [name, read(row.attributes)]).filter(([, value]) => value !== undefined)
    )
  })
}

/** Another resource whose rows the rows of a resource include. */
export interface Related {
  readonly name: string
  readonly resource: Resource
  /** Whether a row includes a list, and not at most one row. */
  readonly isMany: boolean
}

/**
 * Returns the resource with only these attributes, or all of them, and with the included rows of others as attributes
 * after its own.
 */
export function selectFrom (
  resource: Resource,
  only: readonly string[] | undefined,
  related: readonly Related[]
): Resource {
  const picked = [...resource.attributes.values()].filter(({ name }) => only?.includes(name) !== false)
  // The attributes of an open resource are written as they are.
  const all = [...picked, ...(resource.open ? [] : related.map(describeRelated))]
  const items = new Map(related.map(({ name, resource }) => [name, resource.singular]))
  return {
    ...resource,
    attributes: new Map(all.map((property) => [property.name, property])),
    itemName: (name) => items.get(name) ?? resource.itemName(name)
  }
}

/** The format of a path that the plugin itself has made, which pages link to. */
export const OWN_PATH = 'fastify-resources-path'

/** The properties of the value in place of a list that is too long to be included. */
export const LINK: ReadonlyMap<string, Property> = new Map([
  ['href', toProperty('href', shapeOf({ type: 'string', format: OWN_PATH }))]
])

/** Describes the rows of a relation as an attribute. */
export function describeRelated ({ name, resource, isMany }: Related): Property {
  const { open, singleton, idType, attributes } = resource
  const visible = [...attributes].filter(([, { writeOnly }]) => !writeOnly)
  const id = toProperty('id', shapeOf(idType === 'integer' ? { type: idType, format: 'int64' } : { type: 'string' }))
  const base = { ...shapeOf({ type: ['object', 'null'] }), rest: undefined }
  const record: Shape = open
    ? openShape
    : { ...base, properties: new Map([...(singleton ? [] : [['id', id] as const]), ...visible]) }
  if (!isMany) return toProperty(name, record)
  const list: Shape = { ...base, types: new Set(['array', 'object']), only: 'array', items: record, properties: LINK }
  return toProperty(name, list)
}

function toProperty (name: string, shape: Shape): Property {
  return { name, shape, schema: shape.schema, required: false, readOnly: false, writeOnly: false }
}

function makeHide (shape: Shape, compile: (shape: Shape) => HideWriteOnly): HideWriteOnly {
  if (hidesNothing(shape)) return identity
  const members = [...shape.properties.values()].map(({ name, shape, writeOnly }) => ({
    name,
    read: compileMember(name),
    hide: writeOnly ? undefined : compile(shape)
  }))
  const hideInRest = shape.rest === undefined ? undefined : compile(shape.rest)
  const hideInItem = compile(shape.items)

  function hideInMembers (value: Attributes): Attributes {
    const seen: Array<[string, unknown]> = []
    for (const { name, read, hide } of members) {
      const member = read(value)
      if (hide !== undefined && member !== undefined) seen.push([name, hide(member)])
    }
    if (hideInRest !== undefined) {
      for (const name of Object.keys(value)) if (!shape.properties.has(name)) seen.push([name, hideInRest(value[name])])
    }
    return Object.fromEntries(seen)
  }

  return (value) => {
    if (Array.isArray(value)) return value.map(hideInItem)
    return isObject(value) ? hideInMembers(value) : value
  }
}

function hidesNothing (shape: Shape): boolean {
  for (const { types, properties, rest } of shapesIn(shape)) {
    if (types.has('object') && (rest === undefined || [...properties.values()].some(({ writeOnly }) => writeOnly))) {
      return false
    }
  }
  return true
}

/**
 * Returns whether values may lack members when a client sends them back: a member inside is `writeOnly` or `readOnly`.
 */
export function isPartial (shape: Shape): boolean {
  for (const { properties } of shapesIn(shape)) {
    for (const { readOnly, writeOnly } of properties.values()) if (readOnly || writeOnly) return true
  }
  return false
}

/**
 * Compiles the version by which clients know a row whose own version is a digest of all its values: a digest of those
 * that every client may read. With the other one, a client that knows the rest of a row could try out what is hidden.
 * Returns `undefined` if nothing is hidden.
 * @param stored the attributes that the store keeps, or `undefined` if they are unknown
 */
export function compilePublicVersion (
  resource: Resource,
  stored: AttributesSchema | undefined
): Resource['publicVersion'] {
  const visible = compileVisible(resource)
  const isWhole = [...visible.values()].every((hide) => hide === identity)
  const names = Object.keys(stored?.properties ?? {})
  if (resource.open || (stored !== undefined && isWhole && names.every((name) => visible.has(name)))) return undefined
  const see = compileVisibleRow(resource)
  return (row) => createHash('sha256').update(JSON.stringify(see(row).attributes)).digest('hex').slice(0, 40)
}

/** Returns the version of a row as clients know it. */
export function versionOf (row: Row, { publicVersion }: Pick<Resource, 'publicVersion'>): string {
  return publicVersion === undefined || row.version === '' ? row.version : publicVersion(row)
}

/** Returns a row as it may leave the server, with the version that clients know. */
export function publish (row: Row, resource: Pick<Resource, 'publicVersion'>): Row {
  return resource.publicVersion === undefined ? row : { ...row, version: versionOf(row, resource) }
}
