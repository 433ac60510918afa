import type { Resource } from '../../../resource/resource.js'
import type { Row } from '../../../resource/row.js'
import { compileRead, compileVisible } from '../../../resource/visible.js'
import { openShape } from '../../../schema/shape.js'
import type { Attributes } from '../../../schema/types.js'
import { ownMember } from '../../../util/own-property.js'
import { raw } from '../html-tag.js'
import { labelOf, partOfId } from '../names.js'
import type { Value } from '../views/model.js'
import type { makeShowCompiler, Show } from './render-value.js'

/** An attribute that pages show. */
export interface Shown {
  readonly name: string
  readonly label: string
  /** The id of the element that has all of it. */
  readonly anchor: string
  readonly show: Show
  /** What may be seen of it. */
  read (attributes: Attributes): unknown
}

export interface ShownAttributes {
  /** Those of such rows: the declared ones, else those that the rows have, in the order in which they come. */
  of (rows: readonly Row[]): readonly Shown[]
  /** The one of a name, if there may be one. */
  find (name: string): Shown | undefined
}

/** What may be seen of each attribute, and how. */
export function compileShownAttributes (
  resource: Resource,
  compileShow: ReturnType<typeof makeShowCompiler>
): ShownAttributes {
  if (resource.open) return openAttributes(compileShow)
  const visible = compileVisible(resource)
  const declared = new Map(
    [...resource.attributes.values()].flatMap((property): Array<[string, Shown]> => {
      const { name } = property
      const see = visible.get(name)
      if (see === undefined) return []
      return [
        [
          name,
          {
            name,
            label: labelOf(property),
            anchor: anchorOf(name),
            show: compileShow(property.shape),
            read: compileRead(name, see)
          }
        ]
      ]
    })
  )
  const all = [...declared.values()]
  return { of: () => all, find: (name) => declared.get(name) }
}

function openAttributes (compileShow: ReturnType<typeof makeShowCompiler>): ShownAttributes {
  const show = compileShow(openShape)
  const find = (name: string): Shown => ({
    name,
    label: name,
    anchor: anchorOf(name),
    show,
    read: (attributes) => ownMember(attributes, name)
  })
  return { of: (rows) => [...new Set(rows.flatMap(({ attributes }) => Object.keys(attributes)))].map(find), find }
}

/** No field's id begins with a colon. */
function anchorOf (name: string): string {
  return `:${partOfId(name)}`
}

/** An attribute of a row as a page shows it. */
export function valueOf ({ name, label, anchor, show, read }: Shown, { attributes }: Row): Value {
  const value = read(attributes)
  return { name, label, anchor, value, markup: raw(show.whole(value)) }
}
