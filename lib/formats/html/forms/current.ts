import { isRow, MARKER, markerOf, rowsOf } from '../../form/markers.js'
import type { FormNode } from '../../form/parse.js'
import { type FieldMode, type FieldPlan, modeOfValue, splitMoment } from './field-plan.js'

/** What a field shows: a value, or what a form had supplied for it. */
export type Current = { readonly value: unknown, readonly node?: undefined } | { readonly node: FormNode }

/** Stands for a value of which no more than a part may be told. */
export const PART: unique symbol = Symbol('part')

/** A field that was sent with nothing in it. */
export const BLANK: FormNode = { texts: [''], children: new Map() }

/** What was sent for a field, else the value there is. */
export function currentIn (node: FormNode | undefined, value: unknown): Current {
  return node === undefined ? { value } : { node }
}

/** How it is edited: as it was in the form that was sent. */
export function modeOf (plan: FieldPlan, current: Current): FieldMode {
  const { mode, item, property: { shape: { choices, types } } } = plan
  const isBoolean = mode === 'choice' && choices === undefined
  if (current.node === undefined) {
    const isFlag = isBoolean && typeof current.value === 'boolean' && !types.has('null')
    return isFlag ? 'flag' : modeOfValue(plan, current.value)
  }
  const { texts, children } = current.node
  const mark = markerOf(current.node)
  if (mark?.startsWith('json') === true) return 'json'
  const text = texts.at(-1) ?? ''
  const isFlag = texts[0] === 'false' && (text === 'true' || texts.length === 1) && mark === undefined
  if (isBoolean && isFlag) return 'flag'
  if (mode === 'moment' && text !== '' && splitMoment(withSeconds(text)) === undefined) return 'line'
  return item !== undefined && [...children.keys()].some(isRow) ? 'rows' : mode
}

/** A date and time as a browser sends it, with what makes it whole. */
export function withSeconds (text: string): string {
  return `${/T\d\d:\d\d$/.test(text) ? `${text}:00` : text}Z`
}

/** The text of a control. */
export function shownText (mode: FieldMode, current: Current): string {
  if (current.node !== undefined) return current.node.texts.at(-1) ?? leavesOf(current.node).join('\n')
  const { value } = current
  if (value === undefined || (value === null && mode !== 'json')) return ''
  if (mode === 'json') return JSON.stringify(value, null, 2)
  return mode === 'lines' ? (value as unknown[]).join('\n') : String(value)
}

/** The texts of a list, or the one of a field. */
export function textsOf (current: Current): readonly string[] {
  if (current.node !== undefined) return [...current.node.texts, ...leavesOf(current.node)]
  return Array.isArray(current.value) ? current.value.map(String) : []
}

function leavesOf ({ children }: FormNode): string[] {
  return [...children].flatMap(([step, child]) => step === MARKER ? [] : [...child.texts, ...leavesOf(child)])
}

/** The items of an array, each as what its field shows; a row that has just been added has nothing at all. */
export function itemsOf (current: Current): Current[] {
  if (current.node === undefined) return ((current.value ?? []) as readonly unknown[]).map((value) => ({ value }))
  return rowsOf(current.node).map((node) =>
    node.texts.length === 0 && node.children.size === 0 ? { value: undefined } : { node })
}
