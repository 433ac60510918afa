import { mapMembers } from '../core/schema/subschemas.js'
import { membersOf, type Part } from './media.js'

/** Keywords that OpenAPI 3.0 lacks. */
const LOST: readonly string[] = [
  'if', 'then', 'else', 'contains', 'propertyNames', 'patternProperties', 'prefixItems', 'dependentRequired',
  'dependentSchemas', 'contentMediaType', 'contentEncoding', '$comment'
]
const LOSSY = new RegExp(`"(?:${LOST.join('|')})":`)
/** Keywords that OpenAPI 3.0 writes in another way. */
const OTHERWISE: readonly string[] = [
  '$ref', 'type', 'const', 'examples', 'exclusiveMinimum', 'exclusiveMaximum', 'items', 'additionalProperties'
]
const ANNOTATIONS: readonly string[] = [
  'title', 'description', 'default', 'example', 'deprecated', 'readOnly', 'writeOnly', 'xml'
]

/** The schema that allows only null. */
const NULL: Part = { type: 'object', nullable: true, enum: [null] }

/** Returns the nearest schema of OpenAPI 3.0. It may allow more than the one of 3.1, and never less. */
export function downgrade (schema: Part): Part {
  const kept = Object.fromEntries(Object.entries(schema).flatMap(adaptKeyword))
  const part = mergeNull(
    adaptTypes(schema, { ...kept, ...adaptValues(schema), ...adaptOthers(schema), ...adaptItems(schema) })
  )
  const { $ref } = schema
  if ($ref === undefined) return part
  // OpenAPI 3.0 ignores keywords beside a reference.
  return Object.keys(part).length === 0 ? { $ref } : { ...part, allOf: [{ $ref }, ...partsOf(part.allOf)] }
}

/**
 * Adapts one keyword. `not` and `oneOf` cannot contain a schema that allows too much: they would refuse valid values.
 */
function adaptKeyword ([keyword, value]: [string, unknown]): Array<[string, unknown]> {
  if (LOST.includes(keyword) || OTHERWISE.includes(keyword)) return []
  const isLossy = LOSSY.test(JSON.stringify(value))
  switch (keyword) {
    case 'properties':
      return [[keyword, mapMembers(membersOf(value), downgradePart)]]
    case 'not':
      return isLossy ? [] : [[keyword, downgradePart(value)]]
    case 'oneOf':
      return [[isLossy ? 'anyOf' : keyword, partsOf(value).map(downgrade)]]
    case 'allOf':
    case 'anyOf':
      return [[keyword, partsOf(value).map(downgrade)]]
    default:
      return [[keyword, value]]
  }
}

function adaptValues (schema: Part): Part {
  const { examples, contentEncoding, format } = schema
  return {
    ...(contentEncoding === 'base64' && format === undefined && { format: 'byte' }),
    ...('const' in schema && { enum: [schema.const] }),
    ...(Array.isArray(examples) && { example: examples[0] }),
    ...adaptBound(schema, 'minimum', 'exclusiveMinimum', 1),
    ...adaptBound(schema, 'maximum', 'exclusiveMaximum', -1)
  }
}

/** Returns the stricter of two bounds. */
function adaptBound (schema: Part, inclusive: string, exclusive: string, sign: number): Part {
  const { [inclusive]: bound, [exclusive]: limit } = schema
  if (typeof limit !== 'number' || (typeof bound === 'number' && sign * bound > sign * limit)) return {}
  return { [inclusive]: limit, [exclusive]: true }
}

/** Adapts the schema of other properties. It also allows those of `patternProperties`, which OpenAPI 3.0 lacks. */
function adaptOthers ({ patternProperties, additionalProperties: others }: Part): Part {
  const patterns = Object.values(membersOf(patternProperties))
  if (others === undefined || others === true) return {}
  if (patterns.length === 0 && others === false) return { additionalProperties: false }
  return { additionalProperties: either([...patterns, ...others === false ? [] : [others]]) }
}

/** Adapts the schemas of items. OpenAPI 3.0 has one schema for all items of a tuple. */
function adaptItems ({ type, prefixItems, items }: Part): Part {
  if (prefixItems === undefined) {
    if (items !== undefined) return { items: downgradePart(items) }
    return [type].flat().includes('array') ? { items: {} } : {}
  }
  const first = partsOf(prefixItems)
  if (items === false) return { items: either(first), maxItems: first.length }
  return { items: items === undefined || items === true ? {} : either([...first, items]) }
}

function either (schemas: readonly unknown[]): Part {
  return schemas.length === 1 ? downgradePart(schemas[0]) : { anyOf: schemas.map(downgradePart) }
}

function downgradePart (part: unknown): Part {
  return downgrade(membersOf(part))
}

/** Writes null among the types as `nullable`. */
function adaptTypes ({ type }: Part, part: Part): Part {
  if (type === undefined) return part
  const types = [type].flat()
  const others = types.filter((type) => type !== 'null')
  const nullable = others.length < types.length && { nullable: true }
  if (others.length === 0) return { ...NULL, ...part }
  if (others.length === 1) return { type: others[0], ...nullable, ...part }
  const anyOf = others.map((type) => ({ type, ...nullable, ...(type === 'array' && { items: {} }) }))
  return part.anyOf === undefined ? { anyOf, ...part } : { ...part, allOf: [...partsOf(part.allOf), { anyOf }] }
}

/** Writes an alternative between a schema and null as one nullable schema. */
function mergeNull (part: Part): Part {
  for (const keyword of ['anyOf', 'oneOf']) {
    const { [keyword]: alternatives, ...more } = part
    const others = partsOf(alternatives).filter((other) => !isNull(other))
    const [other] = others
    if (other === undefined || others.length !== 1 || partsOf(alternatives).length !== 2) continue
    const clashes = Object.keys(more).some((name) => name in other && !ANNOTATIONS.includes(name))
    if (other.type === undefined || other.nullable === true || clashes) continue
    return { ...other, ...more, nullable: true, ...(Array.isArray(other.enum) && { enum: [...other.enum, null] }) }
  }
  return part
}

function isNull ({ enum: choices }: Part): boolean {
  return Array.isArray(choices) && choices.length === 1 && choices[0] === null
}

function partsOf (value: unknown): readonly Part[] {
  return Array.isArray(value) ? value : []
}
