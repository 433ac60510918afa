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

/**
 * Returns the attributes of a schema in their order.
 * @throws InvalidAttributesError
 */
export function declareAttributes (plural: string, schema: Schema): ReadonlyMap<string, Property> {
  const refuse = (reason: string): never => { throw new InvalidAttributesError(plural, reason) }
  if (schema.type !== 'object' || !isObject(schema.properties)) {
    refuse("must be a JSON Schema { type: 'object', properties: { … } }")
  }
  if (schema.additionalProperties !== undefined && schema.additionalProperties !== false) {
    refuse(
      '"additionalProperties" can only be false, because other attributes are refused; leave it out, or leave out ' +
        'the whole schema to allow any attributes'
    )
  }
  for (const keyword of Object.keys(schema)) {
    if (!HARMLESS.has(keyword) && !keyword.startsWith('x-')) {
      refuse(
        `"${keyword}" has no effect beside "properties": an update checks only the attributes it is given; put it ` +
          'into a property, or leave it out'
      )
    }
  }
  const properties = schema.properties as Schema
  for (const name of Object.keys(properties)) {
    if (name === 'id') refuse('"id" is not an attribute; leave it out, and set the type of ids by the option "id"')
    if (!isXmlName(name)) {
      refuse(`"${name}" is not a valid name in XML; use letters, digits, "-", "_" and ".", and no digit first`)
    }
  }
  const required: readonly unknown[] = Array.isArray(schema.required) ? schema.required : []
  for (const name of required) {
    if (!Object.hasOwn(properties, String(name))) {
      refuse(`"required" names "${String(name)}", which is not among the properties`)
    }
  }
  const declared = new Map<string, Property>()
  for (const [name, property] of shapeProperties(schema, refuse)) {
    for (const { properties } of shapesIn(property.shape)) {
      for (const inner of properties.keys()) {
        if (!isXmlName(inner)) refuse(`"${inner}" in "${name}" is not a valid name in XML`)
      }
    }
    declared.set(name, property)
  }
  return declared
}

const TYPES: ReadonlySet<unknown> = ALL_TYPES
/** Names that other libraries and databases have for types, with the types that they mean. */
const OTHER_TYPES: ReadonlyMap<unknown, string> = new Map([
  ...['text', 'varchar', 'char', 'uuid', 'date', 'datetime', 'date-time', 'timestamp', 'email', 'url'].map(
    (name) => [name, 'string'] as const
  ),
  ...['int', 'bigint', 'long'].map((name) => [name, 'integer'] as const),
  ...['float', 'double', 'real'].map((name) => [name, 'number'] as const),
  ...['list', 'set'].map((name) => [name, 'array'] as const),
  ...['json', 'map', 'dict'].map((name) => [name, 'object'] as const)
])

const DECIMALS: ReadonlySet<unknown> = new Set(['decimal', 'numeric', 'money'])

function suggestType (type: unknown): string {
  const meant = OTHER_TYPES.get(type)
  if (DECIMALS.has(type)) return '; did you mean "string" with the format \'decimal\'?'
  return meant === undefined ? didYouMean(String(type), [...ALL_TYPES]) : `; did you mean "${meant}"?`
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

function shapeProperties (schema: Schema, refuse: (reason: string) => never): ReadonlyMap<string, Property> {
  for (const [name, property] of Object.entries(schema.properties as Schema)) {
    if (!isObject(property)) refuse(`"${name}" must be a JSON Schema object, not ${JSON.stringify(property)}`)
  }
  const { $schema = DRAFT } = schema
  if ($schema !== DRAFT && $schema !== `${DRAFT}#`) {
    refuse(`"$schema" is ${show($schema)}, but schemas are read as draft-07; leave it out`)
  }
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
  try {
    const { properties } = shapeOf(schema)
    if (keepsWriteOnly(schema)) return properties
    throw new Error(
      '"writeOnly" works only in a property, at any depth; put the values to hide into a property of their own'
    )
  } catch (error) {
    return refuse(String(findMember(error, 'message')))
  }
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
