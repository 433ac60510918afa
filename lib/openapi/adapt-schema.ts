import { kindOf, mapMembers, resolveReference } from '../core/schema/subschemas.js'
import type { Schema } from '../core/schema/types.js'
import { isObject } from '../core/util/own-property.js'
import { capitalize } from '../core/util/words.js'
import type { DocumentWriter } from './document.js'
import { membersOf, type Part } from './part.js'

/** Responses (`out`) have no `writeOnly` members. Requests (`in`) need no `readOnly` members. */
export type Direction = 'in' | 'out'

/** Keywords that mean the same in draft-07 and in OpenAPI 3.1. */
const SAME: ReadonlySet<string> = new Set([
  'title', 'description', 'default', 'example', 'examples', 'deprecated', 'externalDocs', '$comment', 'readOnly',
  'writeOnly', 'enum', 'const', 'format', 'pattern', 'contentMediaType', 'contentEncoding', 'multipleOf', 'maximum',
  'exclusiveMaximum', 'minimum', 'exclusiveMinimum', 'maxLength', 'minLength', 'maxItems', 'minItems', 'uniqueItems',
  'maxProperties', 'minProperties', 'dependentRequired'
])

/** The schema that a keyword belongs to. */
interface SchemaContext {
  readonly schema: Schema
  /** The name of the attribute. XML names the items of an array after it. */
  readonly name: string
  /** The members that a value may lack, even if the schema requires them. */
  readonly absent: readonly string[]
}

interface SchemaTarget {
  /** The beginning of the names of components. */
  readonly name: string
  readonly writer: DocumentWriter
  readonly direction: Direction
  readonly itemName: (name: string) => string
}

/** Writes the parts of one draft-07 schema as OpenAPI. A schema that is referred to becomes a component. */
export class SchemaAdapter {
  readonly #root: Schema
  readonly #target: SchemaTarget
  readonly #references = new Map<unknown, Part>()
  readonly #inlined = new Set<unknown>()
  /** Whether a member somewhere in the schema is not in this direction. */
  readonly #isPartial: boolean

  constructor (root: Schema, target: SchemaTarget) {
    this.#root = root
    this.#target = target
    this.#isPartial = JSON.stringify(root).includes(`"${target.direction === 'out' ? 'writeOnly' : 'readOnly'}":true`)
  }

  /**
   * Returns a schema as OpenAPI 3.1 writes it.
   * @param name the name of the attribute that has such a value
   */
  adapt (schema: unknown, name: string, outer: readonly string[] = []): Part {
    if (!isObject(schema)) return schema === false ? { not: {} } : {}
    const { $ref, items, type } = schema
    const context = { schema, name, absent: [...outer, ...this.#findAbsent(schema)] }
    return {
      ...(typeof $ref === 'string' && this.#referTo($ref, name)),
      ...(schema.format === 'decimal' && { pattern: writeDecimalPattern(schema) }),
      ...(isLong(schema) && { pattern: LONG_PATTERN }),
      ...Object.fromEntries(
        Object.entries(schema).flatMap(([keyword, value]) => this.#adaptKeyword(keyword, value, context))
      ),
      // An array is an element of its own in XML, and so is each of its items.
      ...((items !== undefined || [type].flat().includes('array')) && { xml: { wrapped: true } })
    }
  }

  #adaptKeyword (keyword: string, value: unknown, context: SchemaContext): Array<[string, unknown]> {
    const { schema, name, absent } = context
    // A shown value has no defaults.
    if (keyword === 'default' && this.#target.direction === 'out') return []
    if (this.#isUnsure(keyword, context)) return []
    if (SAME.has(keyword) || keyword.startsWith('x-')) return [[keyword, value]]
    switch (keyword) {
      case 'type':
        return [[keyword, adaptType(isLong(schema) ? [value, 'string'].flat() : value, schema.nullable === true)]]
      case 'required':
        return unlessEmpty(keyword, without(value, absent))
      case 'properties':
        return [[keyword, this.#adaptProperties(membersOf(value))]]
      case 'patternProperties':
      case 'dependentSchemas':
        return [[keyword, mapMembers(membersOf(value), (part) => this.adapt(part, ''))]]
      case 'additionalProperties':
        return [[keyword, typeof value === 'boolean' ? value : this.adapt(value, '')]]
      case 'propertyNames':
      case 'contains':
        return [[keyword, this.adapt(value, '')]]
      case 'dependencies':
        return this.#adaptDependencies(membersOf(value), name, absent)
      case 'items':
        return [
          Array.isArray(value)
            ? ['prefixItems', value.map((item) => this.#adaptItem(item, name))]
            : [keyword, this.#adaptItem(value, name)]
        ]
      case 'additionalItems':
        return [['items', typeof value === 'boolean' ? value : this.#adaptItem(value, name)]]
      default:
        return this.#adaptParts(keyword, value, context)
    }
  }

  /** Adapts schemas of the same value, and drops unknown keywords. */
  #adaptParts (keyword: string, value: unknown, { name, absent }: SchemaContext): Array<[string, unknown]> {
    const isLoose = keyword === 'oneOf' && speaksOf(value, absent)
    switch (kindOf(keyword)) {
      case 'same':
        return [[isLoose ? 'anyOf' : keyword, [value].flat().map((part) => this.adapt(part, name, absent))]]
      case 'conditional':
        return [[keyword, this.adapt(value, name, absent)]]
      default:
        return []
    }
  }

  #adaptProperties (properties: Schema): Part {
    const all = Object.entries(properties).filter(([, part]) => !this.#isHidden(part))
    return Object.fromEntries(all.map(([name, part]) => [name, this.adapt(part, name)]))
  }

  #adaptItem (item: unknown, name: string): Part {
    const one = this.#target.itemName(name)
    const { xml, ...adapted } = this.adapt(item, one)
    return { ...adapted, xml: { name: one, ...membersOf(xml) } }
  }

  #adaptDependencies (dependencies: Schema, name: string, absent: readonly string[]): Array<[string, unknown]> {
    const all = Object.entries(dependencies)
    const names = all
      .filter(([, needed]) => Array.isArray(needed))
      .map(([member, needed]) => [member, without(needed, absent)])
    const schemas = all
      .filter(([, needed]) => !Array.isArray(needed))
      .map(([member, needed]) => [member, this.adapt(needed, name, absent)])
    return [
      ...unlessEmpty('dependentRequired', Object.fromEntries(names)),
      ...unlessEmpty('dependentSchemas', Object.fromEntries(schemas))
    ]
  }

  #referTo (reference: string, name: string): Part {
    const target = resolveReference(reference, this.#root)
    if (isArray(target) && !this.#inlined.has(target)) return this.#inline(target, name)
    const known = this.#references.get(target)
    if (known !== undefined) return known
    const last = reference.replace(/^.*[/#]/s, '').replaceAll(/[^\w.-]+/g, '')
    return this.#target.writer.define(this.#target.name + capitalize(last || 'attributes'), (own) => {
      this.#references.set(target, own)
      return this.adapt(target, name)
    })
  }

  /**
   * Adapts an array where it is used. It is no component, because each attribute gives its items another name in XML.
   */
  #inline (target: unknown, name: string): Part {
    this.#inlined.add(target)
    const adapted = this.adapt(target, name)
    this.#inlined.delete(target)
    return adapted
  }

  #isHidden (schema: unknown): boolean {
    return this.#target.direction === 'out' && this.#says('writeOnly', schema)
  }

  /** Finds the members that a value may lack, also in other schemas of the same value. */
  #findAbsent (schema: unknown, seen: Set<unknown> = new Set()): string[] {
    if (!isObject(schema) || seen.has(schema)) return []
    seen.add(schema)
    const own = Object.entries(membersOf(schema.properties))
      .filter(([, property]) => this.#mayLack(property))
      .map(([name]) => name)
    return [...own, ...this.#partsOf(schema).flatMap((part) => this.#findAbsent(part, seen))]
  }

  /** No client can supply a `readOnly` member, so a row may lack it. A request may lack what has a default. */
  #mayLack (schema: unknown): boolean {
    const isFilled = this.#target.direction === 'in' && isObject(schema) && schema.default !== undefined
    return isFilled || this.#says('readOnly', schema) || this.#isHidden(schema)
  }

  #partsOf ({ $ref, allOf = [], anyOf = [], oneOf = [] }: Schema): unknown[] {
    return [...(typeof $ref === 'string' ? [resolveReference($ref, this.#root)] : []), allOf, anyOf, oneOf].flat()
  }

  /** Returns whether a keyword counts, compares or asks for members that a value may lack. */
  #isUnsure (keyword: string, { schema, absent }: SchemaContext): boolean {
    if (keyword === 'minProperties' || keyword === 'maxProperties') return absent.length > 0
    if (keyword === 'uniqueItems' || keyword === 'contains') return this.#isPartial && mayHaveMembers(schema)
    return kindOf(keyword) === 'conditional' && speaksOf([schema.not, schema.if], absent)
  }

  #says (keyword: 'readOnly' | 'writeOnly', schema: unknown): boolean {
    if (!isObject(schema)) return false
    return schema[keyword] === true || this.#partsOf(schema).some((part) => this.#says(keyword, part))
  }
}

/**
 * Writes the pattern of a decimal, because other tools do not know `precision` and `scale`. A pattern of the schema
 * itself takes precedence.
 */
export function writeDecimalPattern ({ precision, scale }: Schema): string {
  const most = Number(precision) - Number(scale)
  const whole = precision === undefined ? '[0-9]+' : most === 0 ? '0+' : `0*[0-9]{1,${most}}`
  const fraction = scale === undefined ? '(\\.[0-9]+)?' : scale === 0 ? '' : `(\\.[0-9]{1,${Number(scale)}})?`
  return `^-?${whole}${fraction}$`
}

/** Matches integers beyond 2^53 − 1, which are texts. */
const LONG_PATTERN = '^-?[1-9][0-9]{15,18}$'

/** Returns whether a schema is that of integers of eight bytes. */
function isLong ({ type, format }: Schema): boolean {
  return format === 'int64' && [type].flat().every((name) => name === 'integer' || name === 'null')
}

function adaptType (type: unknown, isNullable: boolean): unknown {
  const types = new Set([type, ...isNullable ? ['null'] : []].flat())
  return types.size === 1 ? [...types][0] : [...types]
}

function isArray (schema: unknown): boolean {
  return isObject(schema) && (schema.items !== undefined || [schema.type].flat().includes('array'))
}

/** Returns whether the items of an array may be objects with declared members. */
function mayHaveMembers ({ items, additionalItems }: Schema): boolean {
  return /"(?:properties|\$ref)":/.test(JSON.stringify([items, additionalItems]))
}

/** Returns whether a condition names one of these members. */
function speaksOf (condition: unknown, names: readonly string[]): boolean {
  const text = JSON.stringify(condition)
  return names.some((name) => text.includes(JSON.stringify(name)))
}

function without (names: unknown, left: readonly unknown[]): readonly unknown[] {
  return [names].flat().filter((name) => !left.includes(name))
}

function unlessEmpty (keyword: string, value: object): Array<[string, unknown]> {
  return Object.keys(value).length === 0 ? [] : [[keyword, value]]
}
