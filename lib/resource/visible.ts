import { compilePerShape } from '../schema/per-shape.js'
import { type Shape, shapesIn } from '../schema/shape.js'
import type { Attributes } from '../schema/types.js'
import { identity } from '../util/identity.js'
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

/** Compiles for each visible attribute a function that removes `writeOnly` and undeclared members, at any depth. */
export function compileVisible ({ attributes }: Resource): ReadonlyMap<string, HideWriteOnly> {
  const compile = compilePerShape(makeHide)
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
