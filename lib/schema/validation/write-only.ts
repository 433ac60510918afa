import { isObject } from '../../util/own-property.js'
import { resolveReference } from '../references.js'
import type { Schema } from '../types.js'

/** Where a part of a schema says of the same value what the schema says. */
const SAME = ['allOf', 'anyOf', 'oneOf']
/** Where it speaks of the values inside. */
const INSIDE = ['items', 'additionalProperties', 'patternProperties']

/**
 * Whether every `writeOnly` of a schema stands where it is heeded: in a property, however deep. Elsewhere (in the items
 * of an array, in a condition) it would be a promise that is not kept.
 */
export function keepsWriteOnly (schema: Schema): boolean {
  const seen = { property: new Set<unknown>(), other: new Set<unknown>() }

  function keeps (node: unknown, isProperty: boolean): boolean {
    const visited = isProperty ? seen.property : seen.other
    if (typeof node !== 'object' || node === null || visited.has(node)) return true
    visited.add(node)
    if (Array.isArray(node)) return node.every((part) => keeps(part, isProperty))
    return Object.entries(node).every(([keyword, part]) => {
      if (keyword === 'writeOnly') return part !== true || isProperty
      if (keyword === '$ref') return typeof part !== 'string' || keeps(resolveReference(part, schema), isProperty)
      if (keyword === 'properties') {
        return isObject(part) && Object.values(part).every((property) => keeps(property, true))
      }
      if (SAME.includes(keyword)) return keeps(part, isProperty)
      if (INSIDE.includes(keyword)) {
        return keeps(keyword === 'patternProperties' && isObject(part) ? Object.values(part) : part, false)
      }
      // What is only referred to is looked at where it is.
      return keyword === '$defs' || keyword === 'definitions' || VALUES.includes(keyword) || !mentions(part)
    })
  }

  return keeps(schema, false)
}

/** What is a value, not a schema. */
const VALUES = ['default', 'const', 'enum', 'examples', 'example']

function mentions (node: unknown): boolean {
  if (typeof node !== 'object' || node === null) return false
  return (node as Schema).writeOnly === true || Object.values(node).some(mentions)
}
