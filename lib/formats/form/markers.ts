import type { FormNode } from './parse.js'

/**
 * Stands between the brackets where no attribute's name can, and says how a form means a field: `post[rating][?]=null`
 * what it means when it is left blank (`null`, `absent`) or that its text is `json` (left blank: absence; `json-null`:
 * null); `post[?][0][name]` is a row that names its attribute. The parts below it are listed in `MarkerPart`.
 */
export const MARKER = '?'

/**
 * - `offset`, `was`: of a date and time the offset from UTC, and the text that was in the form before
 * - `keep`: whether `yours` or `theirs` is to stay of an attribute that somebody else has changed
 * - `row`: of an item of an array, that it is there: a choice of which none is taken sends nothing
 * - `add`, `remove`: of an array, a button was pressed that adds a row, or removes the one of that number
 */
export type MarkerPart = 'offset' | 'was' | 'keep' | 'row' | 'add' | 'remove'

/** What a field is marked with, itself or in a part of the mark. */
export function markerOf ({ children }: FormNode, part?: MarkerPart): string | undefined {
  const mark = children.get(MARKER)
  return (part === undefined ? mark : mark?.children.get(part))?.texts[0]
}

/** The rows of an array in the order of their numbers. */
export function rowsOf ({ children }: FormNode): FormNode[] {
  return [...children].filter(([step]) => isRow(step)).sort(([a], [b]) => Number(a) - Number(b)).map(([, row]) => row)
}

/** `0`, `1`…: the number of a row. */
export function isRow (step: string): boolean {
  return /^\d+$/.test(step)
}
