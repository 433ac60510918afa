import { VERSION } from '../core/request/payload.js'
import type { Resource } from '../core/resource/resource.js'
import { lazy } from '../core/util/functions.js'
import { add, addDocumentation, makeSchemaNode, type XsdNode, renderSchemaNode } from './node.js'
import { addAny, addAttributes, addMembers, isDeclarable, type Member, SchemaTypes } from './types.js'

interface Root {
  readonly name: string
  readonly documentation: string
  /** Adds the type of the element, and returns its name. */
  readonly build: () => string
}

/**
 * Writes the XML Schema (1.0) of the documents of a resource.
 * @param relations the names of the relations that answers may include
 */
export function writeXmlSchema (resource: Resource, relations: readonly string[] = []): string {
  const root = makeSchemaNode()
  // Elements come first, because a document begins with one.
  const elements = rootsOf(resource, relations, root).map(({ name, documentation, build }) => {
    const element = add(root, 'element', { name })
    addDocumentation(element, documentation)
    return { element, build }
  })
  for (const { element, build } of elements) element.att('type', build())
  return renderSchemaNode(root)
}

function rootsOf (resource: Resource, relations: readonly string[], root: XsdNode): readonly Root[] {
  const { singular, plural, singleton } = resource
  const { record, list, id, errors, anything } = compileTypes(resource, relations, root)
  const own: readonly Root[] = [
    {
      name: singular,
      documentation: singleton
        ? 'The record. Send it to create the record, or to change the attributes that it contains.'
        : 'A record. Send it without an id to create it, or with its id to change the attributes that it contains.',
      build: record
    },
    // A custom action may list rows of a singleton.
    { name: plural, documentation: 'A list of records. A request with it writes all of them, or none.', build: list },
    ...(singleton ? [] : [{ name: 'id', documentation: 'An id. Send it alone to delete a record.', build: id }])
  ]
  const roots = [...own, { name: 'errors', documentation: 'The reasons why a request was refused.', build: errors }]
  // A name has one declaration, even if a list and a record share it, as with `sheep`.
  return [...new Set(roots.map(({ name }) => name))].map((name) => {
    const [first, ...others] = roots.filter((root) => root.name === name) as [Root, ...Root[]]
    if (others.length === 0) return first
    const documentation = [first, ...others].map(({ documentation }) => documentation).join(' Or: ')
    return { name, documentation, build: anything }
  })
}

const VERSION_MEANING = 'The version that was read. An update or a deletion is refused if the record has another one.'
const INCLUDED = 'Only in answers to requests with the parameter "include".'

type Build = () => string
type TypeBuilders = Readonly<Record<'record' | 'list' | 'id' | 'errors' | 'anything', Build>>

/** Compiles functions that add the types of whole documents, and return their names. */
function compileTypes (resource: Resource, relations: readonly string[], root: XsdNode): TypeBuilders {
  const { singular, plural, singleton, attributes, open, schema } = resource
  const types = new SchemaTypes(root, resource)
  const isDeclared = !open && isDeclarable({ properties: attributes, rest: undefined })
  const id = lazy(() => types.addId(`${singular}-id`))
  const members = (): readonly Member[] => [
    ...(singleton ? [] : [{ name: 'id', type: id(), isRequired: false, documentation: [] }]),
    ...(attributes.has(VERSION)
      ? []
      : [{ name: VERSION, type: 'xs:string', isRequired: false, documentation: [VERSION_MEANING] }]),
    // An update sends only the attributes that change.
    ...types.membersOf(attributes.values(), singular).map((member) => ({ ...member, isRequired: false })),
    // The XML Schema of the other resource describes its rows.
    ...relations.map((name) => ({ name, type: types.anything(), isRequired: false, documentation: [INCLUDED] }))
  ]

  const make = (name: string, ...documentation: unknown[]): { readonly type: string; readonly node: XsdNode } => {
    const type = types.claim(name)
    const node = add(root, 'complexType', { name: type })
    addDocumentation(node, ...documentation.filter((text) => typeof text === 'string'))
    return { type, node }
  }

  const record = lazy(() => {
    const { type, node } = make(singular, schema.title, schema.description)
    if (isDeclared) addMembers(node, members())
    else addAny(node)
    return type
  })

  return {
    record,
    id,
    anything: () => types.anything(),
    list () {
      const { type, node } = make(plural)
      add(add(node, 'sequence'), 'element', { name: singular, type: record(), minOccurs: '0', maxOccurs: 'unbounded' })
      addAttributes(node, ['array'], true, false)
      return type
    },
    errors () {
      const { type, node } = make('errors')
      const error = make('error')
      add(add(node, 'sequence'), 'element', { name: 'error', type: error.type, minOccurs: '0', maxOccurs: 'unbounded' })
      const extension = add(add(error.node, 'simpleContent'), 'extension', { base: 'xs:string' })
      // A fault of a request with many rows names its row.
      const known = { attribute: 'string', index: 'integer', id: 'string', line: 'integer' }
      for (const [name, type] of Object.entries(known)) {
        add(extension, 'attribute', { name, type: `xs:${type}` })
      }
      return type
    }
  }
}
