import { InvalidAttributesError } from '../errors.js'
import { isXmlName } from '../schema/legal-text.js'
import { type Property, shapeOf, shapesIn } from '../schema/shape.js'
import { kindOf, resolveReference, subschemasOf } from '../schema/subschemas.js'
import { ALL_TYPES, type Schema } from '../schema/types.js'
import { show } from '../util/check-option.js'
import { didYouMean } from '../util/words.js'
import { findMember, isObject, isStructure } from '../util/own-property.js'

/** The keywords that a schema of attributes may have: declarations, descriptions, and schemas for references. */
const HARMLESS: ReadonlySet<string> = new Set([
  'type', 'properties', 'required', 'additionalProperties', '$id', '$schema', '$defs', 'definitions', '$comment',
  'title', 'description', 'examples', 'example', 'xml', 'deprecated'
])

/** Throws `InvalidAttributesError` about the attributes of a resource. */
export type Refuse = (reason: string) => never

/**
 * Returns the attributes of a schema in their order.
 * @throws InvalidAttributesError
 */
export function declareAttributes (plural: string, schema: Schema): ReadonlyMap<string, Property> {
  const refuse: Refuse = (reason) => { throw new InvalidAttributesError(plural, reason) }
  const { type, properties, additionalProperties = false, required = [], $schema = DRAFT } = schema
  if (type !== 'object' || !isObject(properties)) {
    return refuse("must be a JSON Schema { type: 'object', properties: { … } }")
  }
  if (additionalProperties !== false) {
    refuse(
      '"additionalProperties" can only be false, because other attributes are refused; leave it out, or leave out ' +
        'the whole schema to allow any attributes'
    )
  }
  const keyword = Object.keys(schema).find((keyword) => !HARMLESS.has(keyword) && !keyword.startsWith('x-'))
  if (keyword !== undefined) {
    refuse(`"${keyword}" has no effect beside "properties"; put it into a property, or leave it out`)
  }
  for (const [name, property] of Object.entries(properties)) {
    if (name === 'id') refuse('"id" is not an attribute; leave it out, and set the type of ids by the option "id"')
    if (!isXmlName(name)) {
      refuse(`"${name}" is not a valid name in XML; use letters, digits, "-", "_" and ".", and no digit first`)
    }
    if (!isObject(property)) refuse(`"${name}" must be a JSON Schema object, not ${JSON.stringify(property)}`)
  }
  const names: readonly unknown[] = Array.isArray(required) ? required : []
  const other = names.find((name) => !Object.hasOwn(properties, String(name)))
  if (other !== undefined) refuse(`"required" names "${String(other)}", which is not among the properties`)
  if ($schema !== DRAFT && $schema !== `${DRAFT}#`) {
    refuse(`"$schema" is ${show($schema)}, but schemas are read as draft-07; leave it out`)
  }
  checkParts(schema, refuse)
  const declared = shapeProperties(schema, refuse)
  for (const [name, { shape }] of declared) {
    const inner = [...shapesIn(shape)].flatMap(({ properties }) => [...properties.keys()])
    const unusable = inner.find((name) => !isXmlName(name))
    if (unusable !== undefined) refuse(`"${unusable}" in "${name}" is not a valid name in XML`)
  }
  return declared
}

const TYPES: ReadonlySet<unknown> = ALL_TYPES
/** The types, each with the names that other libraries and databases have for it. */
const OTHER_TYPES: ReadonlyArray<readonly [meant: string, names: readonly unknown[]]> = [
  ['"string"', ['text', 'varchar', 'char', 'uuid', 'date', 'datetime', 'date-time', 'timestamp', 'email', 'url']],
  ['"string" with the format \'decimal\'', ['decimal', 'numeric', 'money']],
  ['"integer"', ['int', 'bigint', 'long']],
  ['"number"', ['float', 'double', 'real']],
  ['"array"', ['list', 'set']],
  ['"object"', ['json', 'map', 'dict']]
]

function suggestType (type: unknown): string {
  const [meant] = OTHER_TYPES.find(([, names]) => names.includes(type)) ?? []
  return meant === undefined ? didYouMean(String(type), [...ALL_TYPES]) : `; did you mean ${meant}?`
}

const DRAFT = 'http://json-schema.org/draft-07/schema'

/** Describes a pattern of a schema that is no regular expression. */
function findPatternFault ({ pattern, patternProperties }: Schema): string | undefined {
  for (const text of [pattern, ...Object.keys(Object(patternProperties) as object)]) {
    if (typeof text !== 'string') continue
    try {
      RegExp(text, 'u')
    } catch (error) {
      const reason = String(findMember(error, 'message')).replace(/^.*\/u: /s, '')
      return `the pattern ${show(text)}, which is not a regular expression (${reason}); it is read with the flag ` +
        '"u", so escape each character that has a meaning in patterns, and no other one'
    }
  }
}

/** Describes a reference of a schema that leads nowhere, or only back to itself. */
function findReferenceFault (part: Schema, root: Schema): string | undefined {
  const seen = new Set<unknown>()
  for (let target: unknown = part; isObject(target) && typeof target.$ref === 'string';) {
    const text = `the reference ${show(part.$ref)}`
    if (seen.has(target)) return `${text}, which leads only back to itself; refer to a schema that has a type`
    seen.add(target)
    try {
      target = resolveReference(target.$ref, root)
    } catch (error) {
      return `a reference without a target: ${String(findMember(error, 'message'))}`
    }
  }
}

/** Checks the schemas in a schema: their patterns, references and types. */
export function checkParts (schema: Schema, refuse: Refuse): void {
  for (const { name, schema: part, path } of subschemasOf(schema)) {
    // Only what refers to a definition uses it.
    const isUsed = path[0] !== 'definitions' && path[0] !== '$defs'
    const fault = findPatternFault(part) ?? (isUsed ? findReferenceFault(part, schema) : undefined)
    const owner = name !== '' ? `"${name}"` : isUsed ? 'the schema' : `the definition "${path[1]}"`
    if (fault !== undefined) refuse(`${owner} has ${fault}`)
    const other = [part.type ?? []].flat().find((type) => !TYPES.has(type))
    if (other !== undefined) {
      refuse(
        `${name === '' ? 'the schema' : `"${name}"`} has the type ${show(other)}, which is not one of ` +
          `${[...TYPES].join(', ')}${suggestType(other)}`
      )
    }
  }
}

function shapeProperties (schema: Schema, refuse: Refuse): ReadonlyMap<string, Property> {
  try {
    const { properties } = shapeOf(schema)
    if (keepsWriteOnly(schema)) return properties
  } catch (error) {
    return refuse(String(findMember(error, 'message')))
  }
  const cure = 'put the values to hide into a property of their own'
  return refuse(`"writeOnly" works only in a property, at any depth; ${cure}`)
}

/**
 * Returns whether every `writeOnly` of a schema has an effect. It has one in a property, however deep. In the items of
 * an array, or in a condition, it would hide nothing.
 */
function keepsWriteOnly (schema: Schema): boolean {
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
