import { isOpenName } from '../../../schema/legal-text.js'
import { MARKER } from '../../form/markers.js'
import type { FormNode } from '../../form/parse.js'
import { membersOf, namedRowsOf } from '../../form/read.js'
import type { Input } from '../../format.js'

/** What a form has of rows that name their attributes. */
export interface NamedRow {
  readonly name: string
  readonly value: string
}

/** What a form sent. */
export interface Sent {
  /** For each attribute, by its name. */
  readonly nodes: Readonly<Record<string, FormNode>>
  /** Without a schema, what no attribute can be called: it stays in a row, to be changed. */
  readonly rows: readonly NamedRow[]
}

const NOTHING: Sent = { nodes: Object.create(null), rows: [] }

/** @param isOpen whether there is no schema */
export function readSent (input: Input | undefined, isOpen: boolean): Sent {
  if (input?.node === undefined) return NOTHING
  const node = input.node as FormNode
  if (!isOpen) return { nodes: membersOf(node), rows: [] }
  const nodes: Record<string, FormNode> = Object.create(null)
  const rows: NamedRow[] = []
  const direct = [...node.children].filter(([name]) => name !== MARKER).map(([name, value]) => ({ name, value }))
  for (const { name, value } of [...direct, ...namedRowsOf(node)]) {
    if (isOpenName(name) && name !== 'id' && nodes[name] === undefined) nodes[name] = value
    else rows.push({ name, value: textsIn(value) })
  }
  return { nodes, rows }
}

/** How many fields were sent. */
export function countTexts ({ texts, children }: FormNode): number {
  let count = texts.length
  for (const child of children.values()) count += countTexts(child)
  return count
}

/** What a form had in a field, for reading. */
export function textsIn ({ texts, children }: FormNode): string {
  const parts = [...children].filter(([step]) => step !== MARKER).map(([, child]) => textsIn(child))
  return [...texts, ...parts].filter((text) => text !== '').join(', ')
}
