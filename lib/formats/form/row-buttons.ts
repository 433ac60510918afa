import { isRow, MARKER, markerOf, rowsOf } from './markers.js'
import type { FormNode } from './parse.js'

/** The group with a row added or removed where one of its buttons was pressed; undefined where none was. */
export function reviseRows (group: FormNode): FormNode | undefined {
  if (markerOf(group, 'add') !== undefined) return addRow(group)
  const removed = markerOf(group, 'remove')
  if (removed !== undefined) return withoutChild(group, removed)
  for (const [step, child] of group.children) {
    const revised = reviseRows(child)
    if (revised !== undefined) return { ...group, children: new Map(group.children).set(step, revised) }
  }
  return undefined
}

/** A row that has nothing yet, after those that there are, which are numbered anew. */
function addRow (list: FormNode): FormNode {
  const { texts, children } = withoutButtons(list)
  const rows = rowsOf(list)
  const others = [...children].filter(([step]) => !isRow(step))
  const nothing: FormNode = { texts: [], children: new Map() }
  return {
    texts,
    children: new Map([...others, ...[...rows, nothing].map((row, index): [string, FormNode] => [String(index), row])])
  }
}

function withoutChild (list: FormNode, step: string): FormNode {
  const { texts, children } = withoutButtons(list)
  return { texts, children: new Map([...children].filter(([other]) => other !== step)) }
}

/** The mark itself stays. */
function withoutButtons ({ texts, children }: FormNode): FormNode {
  const mark = children.get(MARKER) as FormNode
  const parts = new Map([...mark.children].filter(([part]) => part !== 'add' && part !== 'remove'))
  return { texts, children: new Map(children).set(MARKER, { texts: mark.texts, children: parts }) }
}
