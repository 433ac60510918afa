import { type FormNode, MARKER, markerOf } from './parse.js'

/** A form that asks for the rows that an attribute can reference, to choose one of them. */
export interface Choosing {
  /** The name of the attribute. */
  readonly attribute: string
  /** The text that the rows are searched for, or the empty text. */
  readonly text: string
  /** The cursor after which the rows begin, or `undefined` for the first ones. */
  readonly after: string | undefined
}

/** Returns what a form asks for to choose a row, or `undefined` if it does not. */
export function findChoosing ({ children }: FormNode): Choosing | undefined {
  for (const [attribute, node] of children) {
    const text = markerOf(node, 'choose')
    if (text !== undefined) return { attribute, text, after: markerOf(node, 'after') }
  }
  return undefined
}

/** Returns the field of an attribute with the id of the row that was chosen. The field gets the focus. */
export function applyChoice ({ texts, children }: FormNode, id: string): FormNode {
  const mark = children.get(MARKER) as FormNode
  const parts = new Map([...mark.children].filter(([part]) => !ASKING.has(part)))
  // Whoever chooses another row in a conflict wants to keep it.
  if (parts.has('keep') && texts.at(-1) !== id) parts.set('keep', leaf('yours'))
  const revised = { texts: mark.texts, children: parts.set('focus', leaf('1')) }
  return { texts: [id], children: new Map(children).set(MARKER, revised) }
}

/** The parts of a marker that ask for a choice. */
const ASKING: ReadonlySet<string> = new Set(['choose', 'after', 'chosen'])

function leaf (text: string): FormNode {
  return { texts: [text], children: new Map() }
}
