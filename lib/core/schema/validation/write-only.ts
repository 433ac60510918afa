import { isObject, isStructure } from '../../util/own-property.js'
import { kindOf, resolveReference } from '../subschemas.js'
import type { Schema } from '../types.js'

/**
 * Returns whether every `writeOnly` of a schema has an effect. It has one in a property, however deep. In the items of
 * an array, or in a condition, it would hide nothing.
 */
export function keepsWriteOnly (schema: Schema): boolean {
  const seen = { property: new Set<unknown>(), other: new Set<unknown>() }

  function keeps (node: unknown, isProperty: boolean): boolean {
    const visited = isProperty ? seen.property : seen.other
    if (!isStructure(node) || visited.has(node)) return true
    visited.add(node)
    if (Array.isArray(node)) return node.every((part) => keeps(part, isProperty))
    return Object.entries(node).every(([keyword, part]) => {
      if (keyword === 'writeOnly') return part !== true || isProperty
      if (keyword === '$ref') return typeof part !== 'string' || keeps(resolveReference(part, schema), isProperty)
      if (keyword === 'properties' || keyword === 'patternProperties') {
        return isObject(part) && Object.values(part).every((inner) => keeps(inner, keyword === 'properties'))
      }
      if (keyword === 'items' || keyword === 'additionalProperties') return keeps(part, false)
      const kind = kindOf(keyword)
      if (kind === 'same') return keeps(part, isProperty)
      // A definition is checked where something refers to it.
      return keyword === '$defs' || keyword === 'definitions' || kind === 'value' || !mentions(part)
    })
  }

  return keeps(schema, false)
}

function mentions (node: unknown): boolean {
  if (!isStructure(node)) return false
  return ('writeOnly' in node && node.writeOnly === true) || Object.values(node).some(mentions)
}
