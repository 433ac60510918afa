import type { Part } from './media.js'

/** What OpenAPI 3.0 has no words for. */
const LOST: ReadonlySet<string> = new Set([
  'if',
  'then',
  'else',
  'contains',
  'propertyNames',
  'patternProperties',
  'prefixItems',
  'dependentRequired',
  'dependentSchemas',
  'contentMediaType',
  'contentEncoding',
  '$comment'
])
const LOSSY = new RegExp(`"(?:${[...LOST].join('|')})":`)
/** What it says in other words. */
const OTHERWISE: ReadonlySet<string> = new Set([
  '$ref',
  'type',
  'const',
  'examples',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'items',
  'additionalProperties'
])
const ANNOTATIONS: ReadonlySet<string> = new Set([
  'title',
  'description',
  'default',
  'example',
  'deprecated',
  'readOnly',
  'writeOnly',
  'xml'
])

/** The one schema that lets null through and nothing else. */
const NULL: Part = { type: 'object', nullable: true, enum: [null] }

/** A schema of OpenAPI 3.1 as the nearest one of 3.0: it may let more through, and never less. */
export function downgrade (schema: Part): Part {
  const kept = Object.fromEntries(Object.entries(schema).flatMap(adaptKeyword))
  const part = mergeNull(
    adaptTypes(schema, { ...kept, ...adaptValues(schema), ...adaptOthers(schema), ...adaptItems(schema) })
  )
  const { $ref } = schema
  if ($ref === undefined) return part
  // Nothing that stands beside a reference counts.
  return Object.keys(part).length === 0 ? { $ref } : { ...part, allOf: [{ $ref }, ...partsOf(part.allOf)] }
}

/** A schema that allows too much cannot stand in `not` or `oneOf`, which would then refuse valid values. */
function adaptKeyword ([keyword, value]: [string, unknown]): Array<[string, unknown]> {
  if (LOST.has(keyword) || OTHERWISE.has(keyword)) return []
  const isLossy = LOSSY.test(JSON.stringify(value))
  switch (keyword) {
    case 'properties':
      return [
        [
          keyword,
          Object.fromEntries(
            Object.entries(value as Readonly<Record<string, Part>>).map(([name, part]) => [name, downgrade(part)])
          )
        ]
      ]
    case 'not':
      return isLossy ? [] : [[keyword, downgrade(value as Part)]]
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
  const { examples } = schema
  return {
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

/** A name that fits a pattern may have a value of its own kind. */
function adaptOthers ({ patternProperties, additionalProperties: others }: Part): Part {
  const patterns = Object.values((patternProperties ?? {}) as Readonly<Record<string, Part>>)
  if (others === undefined || others === true) return {}
  if (patterns.length === 0) return { additionalProperties: others === false ? false : downgrade(others as Part) }
  return { additionalProperties: either([...patterns, ...others === false ? [] : [others as Part]]) }
}

/** The items of a tuple are all alike. */
function adaptItems ({ type, prefixItems, items }: Part): Part {
  if (prefixItems === undefined) {
    return items === undefined
      ? [type].flat().includes('array')
          ? { items: {} }
          : {}
      : { items: downgrade(items as Part) }
  }
  const first = partsOf(prefixItems)
  if (items === false) return { items: either(first), maxItems: first.length }
  return { items: items === undefined || items === true ? {} : either([...first, items as Part]) }
}

function either (schemas: readonly Part[]): Part {
  const [schema, ...more] = schemas as readonly [Part, ...Part[]]
  return more.length === 0 ? downgrade(schema) : { anyOf: schemas.map(downgrade) }
}

/** One type, and beside it that it may be null. */
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

/** A string, or else null, is a string that may be null. */
function mergeNull (part: Part): Part {
  for (const keyword of ['anyOf', 'oneOf']) {
    const { [keyword]: alternatives, ...more } = part
    const others = partsOf(alternatives).filter((other) => !isNull(other))
    const [other] = others
    if (other === undefined || others.length !== 1 || partsOf(alternatives).length !== 2) continue
    const clashes = Object.keys(more).some((name) => name in other && !ANNOTATIONS.has(name))
    if (other.type === undefined || other.nullable === true || clashes) continue
    return { ...other, ...more, nullable: true, ...(Array.isArray(other.enum) && { enum: [...other.enum, null] }) }
  }
  return part
}

function isNull ({ enum: choices }: Part): boolean {
  return Array.isArray(choices) && choices.length === 1 && choices[0] === null
}

function partsOf (value: unknown): readonly Part[] {
  return (value ?? []) as readonly Part[]
}
