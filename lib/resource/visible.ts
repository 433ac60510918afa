import { compilePerShape } from '../schema/per-shape.js'
import { type Shape, shapesIn } from '../schema/shape.js'
import type { Attributes } from '../schema/types.js'
import { compileMember, isObject } from '../util/own-property.js'
import type { Resource } from './resource.js'
import type { Row } from './row.js'

/** From a value as it is stored to what may go out of it. */
export type HideWriteOnly = (value: unknown) => unknown

const seeAll: HideWriteOnly = (value) => value

/** How to read what goes out of an attribute: at once where that is all of it. */
export function compileRead (name: string, see: HideWriteOnly): (members: Attributes) => unknown {
  const read = compileMember(name)
  return see === seeAll ? read : (members) => see(read(members))
}

/**
 * What goes out of each attribute, by its name: without what is `writeOnly` or not declared, however deep it stands.
 */
export function compileVisible ({ attributes }: Resource): ReadonlyMap<string, HideWriteOnly> {
  const compile = compilePerShape(makeSee)
  return new Map(
    [...attributes.values()].filter(({ writeOnly }) => !writeOnly).map(({ name, shape }) => [name, compile(shape)])
  )
}

/** A row as it goes out: with the attributes that are declared, and of each what is not `writeOnly`. */
export function compileVisibleRow (resource: Resource): (row: Row) => Row {
  if (resource.open) return (row) => row
  const attributes = [...compileVisible(resource)].map(([name, see]) => ({ name, read: compileRead(name, see) }))
  return (row) => ({
    ...row,
    attributes: Object.fromEntries(
      attributes.map(({ name, read }) => [name, read(row.attributes)]).filter(([, value]) => value !== undefined)
    )
  })
}

function makeSee (shape: Shape, compile: (shape: Shape) => HideWriteOnly): HideWriteOnly {
  if (hidesNothing(shape)) return seeAll
  const members = [...shape.properties.values()].map(({ name, shape, writeOnly }) => ({
    name,
    read: compileMember(name),
    see: writeOnly ? undefined : compile(shape)
  }))
  const seeOther = shape.rest === undefined ? undefined : compile(shape.rest)
  const seeItem = compile(shape.items)

  function seeMembers (value: Attributes): Attributes {
    const seen: Array<[string, unknown]> = []
    for (const { name, read, see } of members) {
      const member = read(value)
      if (see !== undefined && member !== undefined) seen.push([name, see(member)])
    }
    if (seeOther !== undefined) {
      for (const name of Object.keys(value)) if (!shape.properties.has(name)) seen.push([name, seeOther(value[name])])
    }
    return Object.fromEntries(seen)
  }

  return (value) => {
    if (Array.isArray(value)) return value.map(seeItem)
    return isObject(value) ? seeMembers(value) : value
  }
}

/** Whether all that a value of this shape may hold goes out. */
function hidesNothing (shape: Shape): boolean {
  for (const { types, properties, rest } of shapesIn(shape)) {
    if (types.has('object') && (rest === undefined || [...properties.values()].some(({ writeOnly }) => writeOnly))) {
      return false
    }
  }
  return true
}

/** Whether a value that goes out and comes back would lack something: what is `writeOnly` inside, or `readOnly`. */
export function isPartial (shape: Shape): boolean {
  for (const { properties } of shapesIn(shape)) {
    for (const { readOnly, writeOnly } of properties.values()) if (readOnly || writeOnly) return true
  }
  return false
}
