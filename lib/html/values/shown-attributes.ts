import { REFERENCE } from '../../core/resource/inflection.js'
import { referencesIn, type Resource } from '../../core/resource/resource.js'
import type { Row } from '../../core/resource/row.js'
import { compileRead, compileVisible } from '../../core/resource/visible.js'
import { isBytesShape } from '../../core/schema/convert-text.js'
import { openShape, type Shape } from '../../core/schema/shape.js'
import type { Attributes } from '../../core/schema/types.js'
import { ownMember } from '../../core/util/own-property.js'
import type { LinkedRows, WriterContext } from '../../core/formats/format.js'
import { labelOf, encodeIdPart } from '../names.js'
import { linkFiles } from './files.js'
import { type CompileShow, type FindMemberLinks, linkRows, type Tones } from './render-value.js'
import type { Show } from './show.js'

/** An attribute that pages show. */
export interface ShownAttribute {
  readonly name: string
  readonly label: string
  /** The id of the element with the whole value. */
  readonly anchor: string
  readonly show: Show
  /** Returns the visible part of the value. */
  read (attributes: Attributes): unknown
}

export interface ShownAttributes {
  /**
   * Returns the declared attributes. Without a schema, it returns those of the rows, in the order in which they appear.
   */
  of (rows: readonly Row[]): readonly ShownAttribute[]
  /** Returns the attribute of this name, or `undefined` if pages do not show it. */
  find (name: string): ShownAttribute | undefined
  /** Returns the links of one row. `undefined` if no attribute is a part of the key of another row. */
  readonly linksOf: ((row: Row, links: LinkedRows) => LinkedRows) | undefined
}

/** The parts of a shape that make links, groups of digits or badges of values, which ids are not shown with. */
const ID_SHAPE = { format: undefined, only: undefined, choices: undefined } as const

/** Matches the names of numbers that are no amounts. */
const ID = new RegExp(`^(?:id|ID|Id)$|${REFERENCE.source}`, 'u')

/** How the attributes of a resource are shown. */
interface Showing {
  readonly compileShow: CompileShow
  readonly references: WriterContext['references']
  /** The tones of the values of enumerations, by attribute. */
  readonly badges: ReadonlyMap<string, Tones>
}

/** Compiles the reading and rendering of each visible attribute. */
export function compileShownAttributes (
  resource: Resource,
  { compileShow, references, badges }: Showing
): ShownAttributes {
  const showOf = (name: string, label: string, shape: Shape): Show => {
    // A link must not contain another one, as the format of an address would make it.
    return references.has(name)
      ? linkRows(compileShow({ ...shape, ...ID_SHAPE }, label), name)
      : isBytesShape(shape)
        ? linkFiles(compileShow(shape, label), name)
        : (shape.only ?? 'integer') === 'integer' && ID.test(name)
            ? { ...compileShow({ ...shape, ...ID_SHAPE }, label), numeric: false }
            : compileShow(shape, label, { tones: badges.get(name), ...findMemberLinks(name, references) })
  }
  const linksOf = compileLinksOf(references)
  if (resource.open) return { ...openAttributes(showOf), linksOf }
  const visible = compileVisible(resource)
  const declared = new Map(
    [...resource.attributes.values()].flatMap((property): Array<[string, ShownAttribute]> => {
      const { name } = property
      const hide = visible.get(name)
      const label = labelOf(property)
      if (hide === undefined) return []
      return [
        [
          name,
          {
            name,
            label,
            anchor: anchorOf(name),
            show: showOf(name, label, property.shape),
            read: compileRead(name, hide)
          }
        ]
      ]
    })
  )
  const all = [...declared.values()]
  return { of: () => all, find: (name) => declared.get(name), linksOf }
}

function openAttributes (
  showOf: (name: string, label: string, shape: Shape) => Show
): Pick<ShownAttributes, 'of' | 'find'> {
  const find = (name: string): ShownAttribute => ({
    name,
    label: name,
    anchor: anchorOf(name),
    show: showOf(name, name, openShape),
    read: (attributes) => ownMember(attributes, name)
  })
  return { of: (rows) => [...new Set(rows.flatMap(({ attributes }) => Object.keys(attributes)))].map(find), find }
}

/** Compiles the function that finds the links of one row. */
function compileLinksOf (references: WriterContext['references']): ShownAttributes['linksOf'] {
  const ofKeys = [...references].filter(([, { key }]) => key !== undefined)
  if (ofKeys.length === 0) return undefined
  return ({ attributes }, links) => {
    const own = new Map(links)
    for (const [name, place] of ofKeys) {
      const [row] = referencesIn(place, attributes).map(({ value }) => links.get(name)?.get(value))
      own.set(name, new Map(row === undefined ? [] : [[attributes[name], row]]))
    }
    return own
  }
}

/** Returns the function that finds the links from the members of an attribute's objects, if they reference rows. */
function findMemberLinks (
  attribute: string,
  references: WriterContext['references']
): { readonly links?: FindMemberLinks } {
  const members = [...references.values()].flatMap(({ attribute: other, member }) =>
    other === attribute && member !== undefined ? [member] : [])
  if (members.length === 0) return {}
  return {
    links: (links) => new Map(members.flatMap((member) => {
      const found = links?.get(`${attribute}.${member}`)
      return found === undefined ? [] : [[member, found]]
    }))
  }
}

/** Returns the id of the element. It begins with a colon, and no id of a field does. */
function anchorOf (name: string): string {
  return `:${encodeIdPart(name)}`
}
