import { capitalize } from '../resource/inflection.js'
import { kindOf, resolveReference } from '../schema/subschemas.js'
import type { Schema } from '../schema/types.js'
import { isObject } from '../util/own-property.js'
import type { DocumentWriter } from './document.js'
import type { Part } from './media.js'

/** Which way values go: what is `writeOnly` never goes out, what is `readOnly` is not asked for on the way in. */
export type Direction = 'in' | 'out'

/** Say the same in draft-07 and in OpenAPI 3.1. */
const SAME: ReadonlySet<string> = new Set([
  'title',
  'description',
  'default',
  'example',
  'examples',
  'deprecated',
  'externalDocs',
  '$comment',
  'readOnly',
  'writeOnly',
  'enum',
  'const',
  'format',
  'pattern',
  'contentMediaType',
  'contentEncoding',
  'multipleOf',
  'maximum',
  'exclusiveMaximum',
  'minimum',
  'exclusiveMinimum',
  'maxLength',
  'minLength',
  'maxItems',
  'minItems',
  'uniqueItems',
  'maxProperties',
  'minProperties'
])

/** A schema that is being adapted. */
interface Around {
  readonly schema: Schema
  /** The name of the attribute, which XML gives to the items of an array. */
  readonly name: string
  /** Members that need not be there. */
  readonly unasked: readonly string[]
  /** Those, and the ones that are filled in where they are not given. */
  readonly absent: readonly string[]
}

/** What a schema is adapted for. */
interface Target {
  /** What the names of components begin with. */
  readonly name: string
  readonly writer: DocumentWriter
  readonly direction: Direction
  readonly itemName: (name: string) => string
}

/** Writes the parts of one schema (draft-07) as OpenAPI has them; what is referred to becomes a component. */
export class SchemaAdapter {
  readonly #root: Schema
  readonly #target: Target
  readonly #references = new Map<unknown, Part>()
  readonly #inlined = new Set<unknown>()

  constructor (root: Schema, target: Target) {
    this.#root = root
    this.#target = target
  }

  /** `name`: of the attribute that has such a value. */
  adapt (schema: unknown, name: string, outer: readonly string[] = []): Part {
    if (!isObject(schema)) return schema === false ? { not: {} } : {}
    const { $ref, items, type } = schema
    const unasked = [...outer, ...this.#findUnasked(schema)]
    const around = { schema, name, unasked, absent: [...unasked, ...this.#findFilled(schema)] }
    return {
      ...(typeof $ref === 'string' && this.#referTo($ref, name)),
      ...Object.fromEntries(
        Object.entries(schema).flatMap(([keyword, value]) => this.#adaptKeyword(keyword, value, around))
      ),
      // An array is an element of its own in XML, and so is each of its items.
      ...((items !== undefined || [type].flat().includes('array')) && { xml: { wrapped: true } })
    }
  }

  #adaptKeyword (keyword: string, value: unknown, { schema, name, unasked, absent }: Around): Array<[string, unknown]> {
    // What is shown has no defaults: it is as it is.
    if (keyword === 'default' && this.#target.direction === 'out') return []
    if (this.#isUnsure(keyword, schema, absent)) return []
    if (SAME.has(keyword) || keyword.startsWith('x-')) return [[keyword, value]]
    const adaptSame = (part: unknown): Part => this.adapt(part, name, unasked)
    const adaptOther = (part: unknown): Part => this.adapt(part, '')
    switch (keyword) {
      case 'type':
        return [[keyword, adaptType(value, schema.nullable === true)]]
      case 'properties':
        return [
          [
            keyword,
            Object.fromEntries(
              Object.entries(value as Schema)
                .filter(([, part]) => !this.#isHidden(part))
                .map(([name, part]) => [name, this.adapt(part, name)])
            )
          ]
        ]
      case 'required':
        return unlessEmpty(keyword, without(value, absent))
      case 'patternProperties':
        return [[keyword, mapValues(value, adaptOther)]]
      case 'additionalProperties':
        return [[keyword, typeof value === 'boolean' ? value : adaptOther(value)]]
      case 'propertyNames':
      case 'contains':
        return [[keyword, adaptOther(value)]]
      case 'dependencies':
        return this.#adaptDependencies(value as Schema, (part) => this.adapt(part, name, absent), absent)
      case 'items':
        return [
          Array.isArray(value)
            ? ['prefixItems', value.map((item) => this.#adaptItem(item, name))]
            : [keyword, this.#adaptItem(value, name)]
        ]
      case 'additionalItems':
        return [['items', typeof value === 'boolean' ? value : this.#adaptItem(value, name)]]
      case 'allOf':
      case 'anyOf':
        return [[keyword, (value as unknown[]).map(adaptSame)]]
      case 'oneOf':
        return [[speaksOf(value, unasked) ? 'anyOf' : keyword, (value as unknown[]).map(adaptSame)]]
      case 'not':
      case 'if':
      case 'then':
      case 'else':
        return [schema.not, schema.if].some((condition) => speaksOf(condition, unasked))
          ? []
          : [[keyword, adaptSame(value)]]
      default:
        return []
    }
  }

  #adaptItem (item: unknown, name: string): Part {
    const one = this.#target.itemName(name)
    const { xml, ...adapted } = this.adapt(item, one)
    return { ...adapted, xml: { name: one, ...(xml as Part | undefined) } }
  }

  #adaptDependencies (
    dependencies: Schema,
    adapt: (part: unknown) => Part,
    unasked: readonly string[]
  ): Array<[string, unknown]> {
    const all = Object.entries(dependencies)
    const names = all
      .filter(([, needed]) => Array.isArray(needed))
      .map(([name, needed]) => [name, without(needed, unasked)])
    const schemas = all.filter(([, needed]) => !Array.isArray(needed)).map(([name, needed]) => [name, adapt(needed)])
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
    const last = (reference.split(/[/#]/).at(-1) as string).replaceAll(/[^\w.-]+/g, '')
    return this.#target.writer.define(this.#target.name + capitalize(last || 'attributes'), (own) => {
      this.#references.set(target, own)
      return this.adapt(target, name)
    })
  }

  /** What the items of an array are called in XML, the attribute says that has it. */
  #inline (target: unknown, name: string): Part {
    this.#inlined.add(target)
    const adapted = this.adapt(target, name)
    this.#inlined.delete(target)
    return adapted
  }

  #isHidden (schema: unknown): boolean {
    return this.#target.direction === 'out' && this.#says('writeOnly', schema)
  }

  /** Also by what else is said of the same value. */
  #findUnasked (schema: unknown, seen: Set<unknown> = new Set()): string[] {
    if (!isObject(schema) || seen.has(schema)) return []
    seen.add(schema)
    // What is `readOnly` no client can give, so that rows may be without it.
    const keywords = this.#target.direction === 'out' ? (['writeOnly', 'readOnly'] as const) : (['readOnly'] as const)
    const own = Object.entries((schema.properties ?? {}) as Schema)
      .filter(([, property]) => keywords.some((keyword) => this.#says(keyword, property)))
      .map(([name]) => name)
    return [...own, ...this.#partsOf(schema).flatMap((part) => this.#findUnasked(part, seen))]
  }

  #partsOf ({ $ref, allOf = [], anyOf = [], oneOf = [] }: Schema): unknown[] {
    return [...(typeof $ref === 'string' ? [resolveReference($ref, this.#root)] : []), allOf, anyOf, oneOf].flat()
  }

  /** As Ajv does it: after it has looked at what else is demanded beside them, as by `anyOf`. */
  #findFilled ({ properties }: Schema): string[] {
    if (this.#target.direction === 'out') return []
    return Object.entries((properties ?? {}) as Schema)
      .filter(([, schema]) => isObject(schema) && schema.default !== undefined)
      .map(([name]) => name)
  }

  /**
   * Whether a keyword is about more, or less, than there is here: how many members there are, and what sets items
   * apart.
   */
  #isUnsure (keyword: string, { items, additionalItems }: Schema, absent: readonly string[]): boolean {
    switch (keyword) {
      case 'minProperties':
      case 'maxProperties':
        return absent.length > 0
      case 'uniqueItems':
      case 'contains':
        return this.#losesMembers([items, additionalItems])
      default:
        return false
    }
  }

  /** However deep they stand. */
  #losesMembers (part: unknown, seen: Set<unknown> = new Set()): boolean {
    if (typeof part !== 'object' || part === null || seen.has(part)) return false
    seen.add(part)
    const lost = this.#target.direction === 'out' ? 'writeOnly' : 'readOnly'
    return Object.entries(part).some(([keyword, inner]) => {
      if (keyword === '$ref' && typeof inner === 'string') {
        return this.#losesMembers(resolveReference(inner, this.#root), seen)
      }
      return (keyword === lost && inner === true) || (kindOf(keyword) !== 'value' && this.#losesMembers(inner, seen))
    })
  }

  #says (keyword: 'readOnly' | 'writeOnly', schema: unknown): boolean {
    if (!isObject(schema)) return false
    return schema[keyword] === true || this.#partsOf(schema).some((part) => this.#says(keyword, part))
  }
}

function adaptType (type: unknown, isNullable: boolean): unknown {
  const types = new Set([type, ...isNullable ? ['null'] : []].flat())
  return types.size === 1 ? [...types][0] : [...types]
}

function isArray (schema: unknown): boolean {
  return isObject(schema) && (schema.items !== undefined || [schema.type].flat().includes('array'))
}

/** Whether it is about members that may be absent for another reason. */
function speaksOf (condition: unknown, names: readonly string[]): boolean {
  const text = JSON.stringify(condition) ?? ''
  return names.some((name) => text.includes(JSON.stringify(name)))
}

function without (names: unknown, left: readonly string[]): readonly string[] {
  return (names as readonly string[]).filter((name) => !left.includes(name))
}

function unlessEmpty (keyword: string, value: object): Array<[string, unknown]> {
  return Object.keys(value).length === 0 ? [] : [[keyword, value]]
}

function mapValues (parts: unknown, change: (part: unknown) => Part): Part {
  return Object.fromEntries(Object.entries(parts as Schema).map(([name, part]) => [name, change(part)]))
}
