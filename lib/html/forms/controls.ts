import { exampleOf, FREE_MOMENT, isDecimalShape } from '../../core/schema/convert-text.js'
import { isDate } from '../../core/schema/date-time.js'
import { isOpenName } from '../../core/schema/legal-text.js'
import { isExactNumber } from '../../core/util/decimal.js'
import {
  completeSeconds, type ControlMoment, type FormNode, isRow, MARKER, markerOf, readSpelled, respell, rowsOf
} from '../../core/formats/form/parse.js'
import { kindOfText, membersOf, namedRowsOf } from '../../core/formats/form/read.js'
import type { Input, ReferenceChoices } from '../../core/formats/format.js'
import type { PageMessages } from '../messages.js'
import { findLocalTime } from '../values/date-time.js'
import { MAX_EMAIL_LENGTH } from '../values/render-value.js'
import type { Constraints, Field, FieldFrame, InputField, TextField } from '../views/model.js'
import { makeCheckboxes, makeChoice, makeReference } from './choices.js'
import { type Current, type FieldMode, type FieldPlan, type Moment, modeOfValue, splitMoment } from './field-plan.js'

/** Stands for a value of which the form may only show a part. */
export const PARTIAL: unique symbol = Symbol('partial')

/** A field that was sent blank. */
export const BLANK: FormNode = { texts: [''], children: new Map() }

/** Returns the sent field, or else the stored value. */
export function currentIn (node: FormNode | undefined, value: unknown): Current {
  return node === undefined ? { value } : { node }
}

/** Returns how a field is edited. A sent field is edited as it was in the form. */
export function modeOf (plan: FieldPlan, current: Current): FieldMode {
  const { mode, item, property: { required, schema, shape: { choices, types } } } = plan
  const isBoolean = mode === 'choice' && choices === undefined
  if (current.node === undefined) {
    // A checkbox cannot say that there is no value.
    const isFlag = isBoolean && typeof current.value === 'boolean' && !types.has('null') &&
      (required || schema.default !== undefined)
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

/** Completes a date and time that a browser sent, with seconds and an offset. */
function withSeconds (text: string): string {
  return `${/T\d\d:\d\d$/.test(text) ? `${text}:00` : text}Z`
}

/** Returns the text of a control. */
function shownText (mode: FieldMode, { places, takesText }: FieldPlan, current: Current): string {
  if (current.node !== undefined) return current.node.texts.at(-1) ?? leavesOf(current.node).join('\n')
  const { value } = current
  if (value === undefined || (value === null && mode !== 'json')) return ''
  if (mode === 'json') {
    // A browser would change a carriage return.
    const isPlain = takesText && typeof value === 'string' && kindOfText(value) === 'text' && !value.includes('\r')
    return isPlain ? value : JSON.stringify(value, null, 2)
  }
  if (mode === 'lines') return (value as unknown[]).join('\n')
  return places !== undefined && typeof value === 'number' ? withPlaces(value, places) : String(value)
}

/** Writes a number with its decimal places, or as it is if that would lose digits: 1234.5 → `1234.50`. */
function withPlaces (value: number, places: number): string {
  const text = value.toFixed(places)
  return Number(text) === value ? text : String(value)
}

/** Returns the texts of a list, or the one text of a field. */
export function textsOf (current: Current): readonly string[] {
  if (current.node !== undefined) return [...current.node.texts, ...leavesOf(current.node)]
  return Array.isArray(current.value) ? current.value.map(String) : []
}

function leavesOf ({ children }: FormNode): string[] {
  return [...children].flatMap(([step, child]) => step === MARKER ? [] : [...child.texts, ...leavesOf(child)])
}

/** Returns the items of an array, as their fields show them. A row that has just been added has no value. */
export function itemsOf (current: Current): Current[] {
  if (current.node === undefined) return ((current.value ?? []) as readonly unknown[]).map((value) => ({ value }))
  return rowsOf(current.node).map((node) =>
    node.texts.length === 0 && node.children.size === 0 ? { value: undefined } : { node })
}

/** A row of a form that names an attribute and gives its value. */
export interface NamedRow {
  readonly name: string
  readonly value: string
}

/** The content of a form that was sent. */
export interface SentForm {
  /** The fields, by the names of their attributes. */
  readonly nodes: Readonly<Record<string, FormNode>>
  /** Without a schema: the rows whose name cannot be used. They stay in the form, so that the user can change them. */
  readonly rows: readonly NamedRow[]
  /** Without a schema: whether the user has just asked for another row. */
  readonly isRowAdded: boolean
}

export const NOTHING: SentForm = { nodes: Object.create(null), rows: [], isRowAdded: false }

/**
 * Reads the attributes of a form that was sent.
 * @param isOpen whether there is no schema
 */
export function readSent (input: Input | undefined, isOpen: boolean): SentForm {
  if (input?.node === undefined) return NOTHING
  const node = input.node as FormNode
  if (!isOpen) return { ...NOTHING, nodes: membersOf(node) }
  const nodes: Record<string, FormNode> = Object.create(null)
  const rows: NamedRow[] = []
  const direct = [...node.children].filter(([name]) => name !== MARKER).map(([name, value]) => ({ name, value }))
  for (const { name, value } of [...direct, ...namedRowsOf(node)]) {
    if (isOpenName(name) && name !== 'id' && nodes[name] === undefined) nodes[name] = value
    else rows.push({ name, value: textsIn(value) })
  }
  const list = node.children.get(MARKER)
  return { nodes, rows, isRowAdded: list !== undefined && markerOf(list, 'added') !== undefined }
}

/** Returns the number of fields that were sent. */
export function countTexts ({ texts, children }: FormNode): number {
  let count = texts.length
  for (const child of children.values()) count += countTexts(child)
  return count
}

/** Returns the texts of a field, joined for people to read. */
export function textsIn ({ texts, children }: FormNode): string {
  const parts = [...children].filter(([step]) => step !== MARKER).map(([, child]) => textsIn(child))
  return [...texts, ...parts].filter((text) => text !== '').join(', ')
}

const NO_CONSTRAINTS: Constraints = {}

/** The ways in which one control edits a value. */
export type ControlMode = Exclude<FieldMode, 'group' | 'rows' | 'file'>

/** What a control is made from. */
interface ControlSource {
  readonly plan: FieldPlan
  readonly current: Current
  readonly messages: PageMessages
  /** The rows that the attribute can reference, if the control offers them. */
  readonly references: ReferenceChoices | undefined
}

/**
 * Makes the field of a value that one control edits. Most functions spread the frame last, because V8 is slow to add
 * members to the copy of a large object.
 */
export function makeControl (
  frame: FieldFrame,
  mode: ControlMode,
  { plan, current, messages, references }: ControlSource
): Field {
  const { controls: { textarea: constraints }, property: { shape: { only, format } } } = plan
  const text = shownText(mode, plan, current)
  if (references !== undefined) return makeReference(frame, text, references, messages)
  switch (mode) {
    case 'flag':
      return { control: 'checkbox', checked: text === 'true', ...frame }
    case 'choice':
      return makeChoice(frame, plan, text, messages)
    case 'choices':
      return makeCheckboxes(frame, plan.item as FieldPlan, textsOf(current), messages)
    case 'moment':
      return makeMoment(frame, current, text)
    case 'line':
      if (only === 'string' && format === FREE_MOMENT) return makeSpelled(frame, { plan, current, messages }, text)
      return text.includes('\n')
        ? makeText(frame, { rows: rowsOfText(plan, text), code: false, constraints }, text)
        : makeInput(frame, { plan, messages }, text)
    case 'text':
      return makeText(frame, { rows: rowsOfText(plan, text), code: false, constraints }, text)
    case 'json':
      return plan.takesText && text !== ''
        ? makeOpenText(frame, text, messages)
        : makeText(frame, { rows: 4, code: true, constraints: NO_CONSTRAINTS }, text)
    default:
      return makeText(frame, { rows: 4, code: false, constraints: NO_CONSTRAINTS }, text)
  }
}

/** Makes the field of a value that is JSON or plain text. Its hint says which of them the content is. */
function makeOpenText (frame: FieldFrame, text: string, { jsonOrText }: PageMessages): Field {
  const kind = kindOfText(text)
  const own = { rows: 4, code: kind !== 'text', constraints: NO_CONSTRAINTS }
  return makeText({ ...frame, hint: jsonOrText(kind) }, own, text)
}

/** The width of a text of several lines, in characters, and the most rows that it begins with. */
const TEXT = { width: 60, rows: 10 }

/** Returns the rows of a text. Browsers without `field-sizing` do not let it grow, and show this many. */
function rowsOfText ({ isCell, isLong }: FieldPlan, text: string): number {
  if (isCell) return 1
  if (isLong) return 5
  const rows = text.split('\n', TEXT.rows).map((line) => Math.max(Math.ceil(line.length / TEXT.width), 1))
  return Math.min(rows.reduce((sum, count) => sum + count, 0), TEXT.rows)
}

function makeMoment (frame: FieldFrame, current: Current, text: string): Field {
  const { id, name, hidden } = frame
  const { local, step, offset } = momentOf(current, text)
  const was = current.node === undefined ? text : markerOf(current.node, 'was') ?? ''
  return {
    control: 'moment',
    value: local,
    step,
    offset: { id: `${id}!offset`, name: `${name}[${MARKER}][offset]`, value: offset },
    ...frame,
    hidden: was === '' ? hidden : [...hidden, { name: `${name}[${MARKER}][was]`, value: was }]
  }
}

/** Makes the field of a date in any spelling: the control of a date, or of a date and time, if one can show it. */
function makeSpelled (
  frame: FieldFrame,
  { plan, current: { node }, messages }: Omit<ControlSource, 'references'>,
  text: string
): Field {
  const was = node === undefined ? spellingOf(text, exampleOf(plan.property.schema)) : markerOf(node, 'was') ?? ''
  const shown = readSpelled(was)
  const value = node === undefined && shown !== undefined ? valueFor(text, shown.type) : text
  const suits = shown !== undefined && typeFor(shown.type, value) === shown.type
  if (!suits) return makeInput(frame, { plan, messages }, text)
  const { type } = shown
  const hidden = [...frame.hidden, { name: `${frame.name}[${MARKER}][was]`, value: was }]
  return { control: 'input', type, value, constraints: constraintsOf(plan, type, value), ...frame, hidden }
}

/** Returns a text of the spelling that a date is written in: an example, unless the stored text has another one. */
function spellingOf (text: string, example: string | undefined): string {
  const shown = readSpelled(example ?? '')
  return shown !== undefined && (text === '' || respell(valueFor(text, shown.type), example as string) === text)
    ? example as string
    : text
}

/** Returns what a control of this type shows of a text. Midnight has a time, if the control does. */
function valueFor (text: string, type: ControlMoment['type']): string {
  const { type: own, value } = readSpelled(text) ?? { type, value: text }
  return own === 'date' && type === 'datetime-local' ? `${value}T00:00` : value
}

function momentOf ({ node }: Current, text: string): Moment {
  if (node === undefined) return splitMoment(text) ?? { local: '', offset: 'Z', step: undefined }
  return { local: text, offset: markerOf(node, 'offset') ?? 'Z', step: splitMoment(withSeconds(text))?.step }
}

function makeInput (
  frame: FieldFrame,
  { plan, messages: { dateHint } }: { readonly plan: FieldPlan, readonly messages: PageMessages },
  value: string
): Field {
  const type = inputType(plan, value)
  // Only a control that shows no calendar needs an example.
  const hint = type === 'text' && plan.property.shape.format === 'date' ? dateHint : frame.hint
  return { control: 'input', type, value, constraints: constraintsOf(plan, type, value), ...frame, hint }
}

function makeText (frame: FieldFrame, own: Pick<TextField, 'rows' | 'code' | 'constraints'>, value: string): Field {
  return { control: 'textarea', ...own, value, ...frame }
}

function constraintsOf (
  { controls, constraints, pattern }: FieldPlan,
  type: InputField['type'],
  text: string
): Constraints {
  if (type === 'date') return NO_CONSTRAINTS
  if (type === 'datetime-local' || type === 'time') return STEPS[findLocalTime(completeSeconds(text))?.step ?? 60]
  // A browser sends no form with a stored value that breaks its constraints, even if nobody has touched it.
  if (type !== 'number') return text === '' || pattern?.test(text) !== false ? controls.line : NO_CONSTRAINTS
  const { min = -Infinity, max = Infinity, step } = constraints
  if (text !== '' && (Number(text) < min || Number(text) > max)) return ANY_NUMBER
  // Without `min`, the steps begin at the value of the control (HTML §4.10.5.3.8).
  return min === -Infinity && step !== undefined && !isOnStep(text, step) ? controls.anyNumber : controls.number
}

const ANY_NUMBER: Constraints = { step: 'any' }

/** The constraints of times, by their steps in seconds. */
const STEPS = { 60: NO_CONSTRAINTS, 1: { step: 1 }, 0.001: { step: 0.001 } } as const

function isOnStep (text: string, step: number | 'any'): boolean {
  const steps = step === 'any' ? 0 : Number(text) / step
  return Math.abs(steps - Math.round(steps)) <= 1e-9 * Math.max(1, Math.abs(steps))
}

// Matches a valid floating-point number (HTML §2.3.4.3).
export const FLOAT: RegExp = /^-?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?$/

// Matches what a browser accepts (HTML §4.10.5.1.5). A text of millions of characters would overflow the stack.
const EMAIL = /^[\w.!#$%&'*+/=?^`{|}~-]+@[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?(?:\.[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?)*$/i

/**
 * Returns the type of a control. A browser empties a control if the text does not suit its type, so such a text gets
 * the type `text`.
 */
function inputType ({ property: { shape, writeOnly } }: FieldPlan, text: string): InputField['type'] {
  const { only, format } = shape
  if (only === 'integer' || only === 'number' || (isDecimalShape(shape) && !writeOnly)) {
    // Some browsers show a number as they would a double.
    return text === '' || (FLOAT.test(text) && isExactNumber(text)) ? 'number' : 'text'
  }
  if (only !== 'string') return 'text'
  if (writeOnly || format === 'password') return 'password'
  if (format === 'date') return typeFor('date', text)
  if (format === 'date-time-local') return typeFor('datetime-local', text)
  if (format === 'time-local') return typeFor('time', text)
  if (format === 'email') return text === '' || (text.length <= MAX_EMAIL_LENGTH && EMAIL.test(text)) ? 'email' : 'text'
  const isUrl = (format === 'uri' || format === 'url') && (text === '' || (text.trim() === text && URL.canParse(text)))
  return isUrl ? 'url' : 'text'
}

/** Returns the type of a date or a time, or `text` if such a control cannot show the text. */
function typeFor (type: 'date' | 'datetime-local' | 'time', text: string): InputField['type'] {
  const suits = type === 'date' ? isDate(text) : findLocalTime(completeSeconds(text))?.type === type
  return text === '' || suits ? type : 'text'
}
