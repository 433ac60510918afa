import type { Resource } from '../core/resource/resource.js'
import { isPortableName } from '../core/schema/legal-text.js'
import { openShape, type Property, type Shape } from '../core/schema/shape.js'
import { countItems, schemasOf } from './facets.js'
import { add, addDocumentation, type XsdNode } from './node.js'
import { BASES, restrict, takesEmpty, type SimpleType, textsOf, typeNamesOf } from './simple-types.js'

export interface Member {
  readonly name: string
  readonly type: string
  readonly isRequired: boolean
  readonly documentation: readonly string[]
}

/** The most occurrences that Xerces and xjc allow in secure processing. */
const MAX_OCCURRENCES = 5000

/** The type of an empty text, which means null. */
const EMPTY: SimpleType = { kind: 'string', facets: [{ name: 'length', value: '0' }] }

/** Adds the types of a resource's XML Schema, each when it is first needed. */
export class SchemaTypes {
  readonly #root: XsdNode
  readonly #resource: Resource
  readonly #names = new Set<string>()
  /** The types that elements share, by their wanted names. */
  readonly #shared = new Map<string, string>()
  /** The types by shape and by element name, which decides the names of an array's items. */
  readonly #made = new Map<Shape, Map<string, string>>()

  constructor (root: XsdNode, resource: Resource) {
    this.#root = root
    this.#resource = resource
  }

  /** Reserves a name that no other type has. */
  claim (name: string): string {
    let claimed = name
    for (let count = 2; this.#names.has(claimed); count++) claimed = `${name}-${count}`
    this.#names.add(claimed)
    return claimed
  }

  /**
   * Returns the members of an element, and adds their types.
   * @param prefix the beginning of the names of these types
   */
  membersOf (properties: Iterable<Property>, prefix: string): readonly Member[] {
    return [...properties].map((property) => {
      const { name, shape, schema, required, readOnly, writeOnly } = property
      return {
        name,
        type: this.typeOf(shape, name, prefix),
        isRequired: required && !readOnly && !writeOnly && schema.default === undefined,
        documentation: documentProperty(property)
      }
    })
  }

  typeOf (shape: Shape, name: string, prefix: string): string {
    if (shape === openShape) return this.anything()
    const known = this.#made.get(shape)?.get(name)
    if (known !== undefined) return known
    const path = `${prefix}-${name}`
    if (!shape.types.has('array') && !shape.types.has('object')) {
      return this.#keep(shape, name, this.#addValue(shape, path))
    }
    const type = this.claim(path)
    // Reserves the name first, because the type may contain itself.
    this.#keep(shape, name, type)
    const node = add(this.#root, 'complexType', { name: type })
    if (shape.only === 'array') this.#addItems(node, shape, name, prefix)
    else if (shape.only === 'object' && isDeclarable(shape)) {
      addObject(node, this.membersOf(shape.properties.values(), type), shape)
    } else addLoose(node, shape)
    return type
  }

  /** Returns the type of an undeclared element. */
  anything (): string {
    return this.#share('any-value', (name) => { addLoose(add(this.#root, 'complexType', { name }), openShape) })
  }

  addId (path: string): string {
    const pattern = (value: string): SimpleType['facets'] => [{ name: 'pattern', value }]
    const { idType } = this.#resource
    if (idType === 'uuid') {
      return this.#addText(path, { kind: 'string', facets: pattern('[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}') })
    }
    if (idType === 'string') return this.#addText(path, { kind: 'string', facets: [{ name: 'minLength', value: '1' }] })
    const type = this.claim(path)
    const text = this.#addText(`${path}-text`, { kind: 'integer', facets: pattern('0|-?[1-9][0-9]*') })
    addAttributes(this.#addTyped(type, text), ['integer'], true, false)
    return type
  }

  #keep (shape: Shape, name: string, type: string): string {
    const made = this.#made.get(shape) ?? new Map<string, string>()
    this.#made.set(shape, made.set(name, type))
    return type
  }

  #share (wanted: string, build: (name: string) => void): string {
    const known = this.#shared.get(wanted)
    if (known !== undefined) return known
    const name = this.claim(wanted)
    this.#shared.set(wanted, name)
    build(name)
    return name
  }

  #addItems (node: XsdNode, shape: Shape, name: string, prefix: string): void {
    const { least, most } = countItems(schemasOf(shape.schema, this.#resource.schema))
    const item = this.#resource.itemName(name)
    // A value that contains itself may be too deep for elements. It is JSON text then.
    const mayBeJson = shape.recursive
    const mayLackItems = mayBeJson || shape.types.has('null')
    if (mayBeJson) node.att('mixed', 'true')
    const sequence = add(node, 'sequence', { minOccurs: mayLackItems ? '0' : undefined })
    add(sequence, 'element', {
      name: item,
      type: this.typeOf(shape.items, item, prefix),
      minOccurs: String(least),
      maxOccurs: most > MAX_OCCURRENCES ? 'unbounded' : String(most)
    })
    addAttributes(node, ['array', ...mayBeJson ? ['json'] : []], true, shape.types.has('null'))
  }

  #addValue (shape: Shape, path: string): string {
    const schemas = schemasOf(shape.schema, this.#resource.schema)
    const texts = textsOf(shape, schemas)
    const typeNames = typeNamesOf(shape)
    const isNullable = shape.types.has('null')
    const isPlain = texts.every(({ facets }) => facets.length === 0)
    const isText = typeNames.length === 1 && typeNames[0] === 'string'
    // A string that is never null and never empty has no XML attributes, so that its type is simple.
    if (isText && !isNullable && !takesEmpty(shape, schemas)) {
      return this.#addText(path, texts[0] as SimpleType)
    }
    const build = (name: string, textName: string): void => {
      const element = this.#addTyped(name, this.#addTexts(textName, texts, isNullable))
      addAttributes(element, typeNames, shape.only !== undefined, isNullable)
    }
    if (isPlain) {
      const label = [...isNullable ? ['nullable'] : [], ...texts.map(({ kind }) => kind)].join('-')
      return this.#share(`${label}-value`, (name) => { build(name, `${label}-text`) })
    }
    const type = this.claim(path)
    build(type, `${path}-text`)
    return type
  }

  /** Adds the type of an element with a text, and returns the node for its attributes. */
  #addTyped (name: string, text: string): XsdNode {
    return add(add(add(this.#root, 'complexType', { name }), 'simpleContent'), 'extension', { base: text })
  }

  /** Adds a union of simple types. */
  #addTexts (name: string, texts: readonly SimpleType[], isNullable: boolean): string {
    const [first] = texts
    const isEmptied =
      isNullable &&
      !(texts.length === 1 && first?.kind === 'string' && first.facets.every(({ name }) => name === 'maxLength'))
    const all = isEmptied ? [EMPTY, ...texts] : texts
    if (all.length === 1) return this.#addText(name, all[0] as SimpleType)
    const plain = all.filter(({ facets }) => facets.length === 0)
    if (plain.some(({ kind }) => kind === 'string')) return BASES.string.name
    const memberTypes = plain.map(({ kind }) => this.#baseOf(kind))
    const limited = all
      .filter(({ facets }) => facets.length > 0)
      .map(({ kind, facets }) => ({ base: this.#baseOf(kind), facets }))
    const type = this.claim(name)
    const union = add(add(this.#root, 'simpleType', { name: type }), 'union', {
      memberTypes: memberTypes.length === 0 ? undefined : memberTypes.join(' ')
    })
    for (const { base, facets } of limited) restrict(add(union, 'simpleType'), base, facets)
    return type
  }

  #addText (name: string, { kind, facets }: SimpleType): string {
    const base = this.#baseOf(kind)
    if (facets.length === 0) return base
    const type = this.claim(name)
    restrict(add(this.#root, 'simpleType', { name: type }), base, facets)
    return type
  }

  #baseOf (kind: SimpleType['kind']): string {
    const { name, base, facets = [] } = BASES[kind]
    if (base === undefined) return name
    return this.#share(name, (name) => { restrict(add(this.#root, 'simpleType', { name }), base, facets) })
  }
}

/** Adds elements in any order, each at most once. */
export function addMembers (type: XsdNode, members: readonly Member[]): void {
  addElements(add(type, 'all'), members)
}

/**
 * Adds the members of a value. A nullable element may have none of them, nor may one that is JSON text: an empty
 * object, or one that contains itself and may be too deep for elements.
 */
function addObject (type: XsdNode, members: readonly Member[], { types, recursive }: Shape): void {
  const isNullable = types.has('null')
  const mayBeJson = recursive || !members.some(({ isRequired }) => isRequired)
  if (mayBeJson) type.att('mixed', 'true')
  addElements(add(type, 'all', { minOccurs: isNullable || mayBeJson ? '0' : undefined }), members)
  addAttributes(type, mayBeJson ? ['json'] : [], true, isNullable)
}

function addElements (group: XsdNode, members: readonly Member[]): void {
  for (const { name, type, isRequired, documentation } of members) {
    addDocumentation(add(group, 'element', { name, type, minOccurs: isRequired ? undefined : '0' }), ...documentation)
  }
}

/** Adds elements of any name, without validation. */
export function addAny (type: XsdNode): void {
  add(add(type, 'sequence'), 'any', { processContents: 'skip', minOccurs: '0', maxOccurs: 'unbounded' })
}

/** Returns whether XML Schema can declare all members. It cannot mix them with members of any name. */
export function isDeclarable ({ properties, rest }: Pick<Shape, 'properties' | 'rest'>): boolean {
  return rest === undefined && [...properties.keys()].every(isPortableName)
}

/** Adds any content, because XML Schema cannot declare a choice of text and elements, or undeclared names. */
function addLoose (type: XsdNode, shape: Shape): void {
  type.att('mixed', 'true')
  addAny(type)
  addAttributes(type, [...typeNamesOf(shape), 'json'], false, shape.types.has('null'))
}

/** Adds the attributes `type` and `nil`. If only one type is possible, `type` is optional. */
export function addAttributes (
  type: XsdNode,
  typeNames: readonly string[],
  isOnly: boolean,
  isNullable: boolean
): void {
  const [only, ...others] = typeNames
  if (isOnly && only !== undefined && others.length === 0) {
    add(type, 'attribute', { name: 'type', type: 'xs:string', fixed: only })
  } else if (only !== undefined) {
    restrict(
      add(add(type, 'attribute', { name: 'type' }), 'simpleType'),
      'xs:string',
      typeNames.map((value) => ({ name: 'enumeration', value }))
    )
  }
  if (isNullable) add(type, 'attribute', { name: 'nil', type: 'xs:boolean' })
}

function documentProperty ({ schema, readOnly, writeOnly }: Property): string[] {
  const { title, description, default: value } = schema
  return [
    ...[title, description].filter((text) => typeof text === 'string'),
    ...readOnly ? ['Read-only: a value that is sent is ignored.'] : [],
    ...writeOnly ? ['Write-only: no answer contains it.'] : [],
    ...value === undefined ? [] : [`Default of a new record: ${JSON.stringify(value)}`]
  ]
}
