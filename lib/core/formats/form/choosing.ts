import { type FormNode, markerOf } from './parse.js'

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
