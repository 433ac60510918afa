import { applyChoice } from './choosing.js'
import { type FormNode, isRow, MARKER, markerOf, rowsOf } from './parse.js'

/**
 * Returns the group as it is shown again if one of its buttons was pressed: with a row added or removed, or with a row
 * chosen that an attribute references. Returns `undefined` if none was.
 */
export function revise (group: FormNode): FormNode | undefined {
  if (markerOf(group, 'add') !== undefined) return addRow(group)
  const removed = markerOf(group, 'remove')
  if (removed !== undefined) return withoutChild(group, removed)
  const chosen = markerOf(group, 'chosen')
  if (chosen !== undefined) return applyChoice(group, chosen)
  if (markerOf(group, 'choose') !== undefined) return group
  for (const [step, child] of group.children) {
    const revised = revise(child)
    if (revised !== undefined) return { ...group, children: new Map(group.children).set(step, revised) }
  }
  return undefined
}

/** Adds an empty row after the others, and numbers all rows anew. */
function addRow (list: FormNode): FormNode {
  const rows = rowsOf(list)
  const { texts, children } = withRevision(list, 'added', rows.length)
  const others = [...children].filter(([step]) => !isRow(step))
  const nothing: FormNode = { texts: [], children: new Map() }
  return {
    texts,
    children: new Map([...others, ...[...rows, nothing].map((row, index): [string, FormNode] => [String(index), row])])
  }
}

function withoutChild (list: FormNode, step: string): FormNode {
  const position = [...list.children.keys()].filter((other) => isRow(other) && Number(other) < Number(step)).length
  const { texts, children } = withRevision(list, 'removed', position)
  return { texts, children: new Map([...children].filter(([other]) => other !== step)) }
}

/** Puts the position of a row in place of the parts of the marker for the buttons, but keeps the marker itself. */
function withRevision ({ texts, children }: FormNode, revision: 'added' | 'removed', position: number): FormNode {
  const mark = children.get(MARKER) as FormNode
  const parts = new Map([...mark.children].filter(([part]) => part !== 'add' && part !== 'remove'))
  const revised = new Map([...parts, [revision, { texts: [String(position)], children: new Map() }]])
  return { texts, children: new Map(children).set(MARKER, { texts: mark.texts, children: revised }) }
}
