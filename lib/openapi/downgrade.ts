import { mapSubschemas } from '../core/schema/subschemas.js'
import { isObject } from '../core/util/own-property.js'
import type { Part } from './part.js'

/** Keywords that OpenAPI 3.0 lacks. */
const LOST: readonly string[] = [
  'if', 'then', 'else', 'contains', 'propertyNames', 'patternProperties', 'prefixItems', 'dependentRequired',
  'dependentSchemas', 'contentMediaType', 'contentEncoding', '$comment'
]
const LOSSY = new RegExp(`"(?:${LOST.join('|')})":`)
const ANNOTATIONS: readonly string[] = [
  'title', 'description', 'default', 'example', 'deprecated', 'readOnly', 'writeOnly', 'xml'
]

/** The schema that allows only null. */
const NULL: Part = { type: 'object', nullable: true, enum: [null] }

/** Returns the nearest schema of OpenAPI 3.0. It may allow more than the one of 3.1, and never less. */
export function downgrade (schema: Part): Part {
  const { $ref, ...inner } = mapSubschemas(schema, (part) => isObject(part) ? downgrade(part) : part)
  const part = mergeNull(adaptTypes(adaptMembers(loosen(adaptValues(inner), schema))))
  if ($ref === undefined) return part
  // OpenAPI 3.0 ignores keywords beside a reference.
  return Object.keys(part).length === 0 ? { $ref } : { ...part, allOf: [{ $ref }, ...partsOf(part.allOf)] }
}

/** Writes the keywords about a value itself. */
function adaptValues ({ examples, exclusiveMinimum, exclusiveMaximum, ...part }: Part): Part {
  const { const: only, ...more } = part
  return {
    ...('const' in part ? { ...more, enum: [only] } : more),
    ...(part.contentEncoding === 'base64' && part.format === undefined && { format: 'byte' }),
    ...(Array.isArray(examples) && { example: examples[0] }),
    ...adaptBound('minimum', part.minimum, exclusiveMinimum, 1),
    ...adaptBound('maximum', part.maximum, exclusiveMaximum, -1)
  }
}

/** Returns an exclusive bound, unless the other one is stricter. */
function adaptBound (name: 'minimum' | 'maximum', bound: unknown, limit: unknown, sign: 1 | -1): Part {
  if (typeof limit !== 'number' || (typeof bound === 'number' && sign * bound > sign * limit)) return {}
  return { [name]: limit, [name === 'minimum' ? 'exclusiveMinimum' : 'exclusiveMaximum']: true }
}

/**
 * Drops keywords that OpenAPI 3.0 lacks. `not` and `oneOf` cannot contain a schema that allows too much: they would
 * refuse valid values.
 */
function loosen ({ not, oneOf, ...part }: Part, { not: refused, oneOf: alternatives }: Part): Part {
  const isLossy = (value: unknown): boolean => LOSSY.test(JSON.stringify(value))
  return {
    ...part,
    ...(not !== undefined && !isLossy(refused) && { not }),
    ...(oneOf !== undefined && { [isLossy(alternatives) ? 'anyOf' : 'oneOf']: oneOf })
  }
}

/** Lets a tuple have any items, and an object with `patternProperties` any other members. */
function adaptMembers ({ additionalProperties: others, items, ...part }: Part): Part {
  const { type, prefixItems, patternProperties } = part
  const isArray = prefixItems !== undefined || items !== undefined || [type].flat().includes('array')
  return {
    ...Object.fromEntries(Object.entries(part).filter(([keyword]) => !LOST.includes(keyword))),
    ...(isArray && { items: prefixItems === undefined ? items ?? {} : {} }),
    ...(others !== undefined && others !== true && patternProperties === undefined && { additionalProperties: others })
  }
}

/** Writes null among the types as `nullable`, and several types as alternatives. */
function adaptTypes ({ type, ...part }: Part): Part {
  if (type === undefined) return part
  const types = [type].flat()
  const [only, ...others] = types.filter((type) => type !== 'null')
  const nullable = types.includes('null') && { nullable: true }
  if (only === undefined) return { ...NULL, ...part }
  if (others.length === 0) return { type: only, ...nullable, ...part }
  const anyOf = [only, ...others].map((type) => ({ type, ...nullable, ...(type === 'array' && { items: {} }) }))
  return part.anyOf === undefined ? { anyOf, ...part } : { ...part, allOf: [...partsOf(part.allOf), { anyOf }] }
}

/** Writes an alternative between a schema and null as one nullable schema. */
function mergeNull (part: Part): Part {
  for (const keyword of ['anyOf', 'oneOf']) {
    const { [keyword]: alternatives, ...more } = part
    const [other, ...others] = partsOf(alternatives).filter((other) => !isNull(other))
    if (other === undefined || others.length > 0 || partsOf(alternatives).length !== 2) continue
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
