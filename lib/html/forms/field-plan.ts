import { isPartial } from '../../core/resource/visible.js'
import { isDecimalShape, isOfShape } from '../../core/schema/convert-text.js'
import { isLegalText } from '../../core/schema/legal-text.js'
import { openShape, type Property, type Shape } from '../../core/schema/shape.js'
import type { Schema } from '../../core/schema/types.js'
import { isObject, ownMember } from '../../core/util/own-property.js'
import { isFileAttribute } from '../../core/formats/files.js'
import type { FormNode } from '../../core/formats/form/parse.js'
import { takesPlainText } from '../../core/formats/form/read.js'
import { annotationOf, labelOf } from '../names.js'
import { splitDateTime } from '../values/date-time.js'
import type { Constraints, ControlWidth, RowColumn } from '../views/model.js'
import {
  compileConstraints, compileControlConstraints, compileWidth, type ControlConstraints, findPlaces, keywordsOf,
  takesEmptyText
} from './constraints.js'

/** The way in which a value is edited. */
export type FieldMode =
  'line' | 'text' | 'flag' | 'choice' | 'choices' | 'lines' | 'rows' | 'moment' | 'group' | 'json' | 'file'

/** The content of a field: a stored value, or what a form sent. */
export type Current = { readonly value: unknown, readonly node?: undefined } | { readonly node: FormNode }

/** The properties of a field that do not depend on its value. */
export interface FieldPlan {
  readonly property: Property
  readonly label: string
  readonly description: string | undefined
  readonly mode: FieldMode
  readonly constraints: Constraints
  readonly controls: ControlConstraints
  readonly width: ControlWidth
  /** Whether its schema says that a text has several lines. */
  readonly isLong: boolean
  /** The decimal places of its numbers, such as 2 for amounts of money, or `undefined` if they may have any. */
  readonly places: number | undefined
  /** The pattern of the text. */
  readonly pattern: RegExp | undefined
  /** Whether a value that is edited as JSON may be plain text too. */
  readonly takesText: boolean
  /** Whether an empty text is a value that is accepted. */
  readonly takesEmpty: boolean
  /** The plans of an object's members. */
  readonly members: readonly FieldPlan[]
  /** The plan of an array's items. */
  readonly item: FieldPlan | undefined
  /** The minimum number of an array's items, or 0. */
  readonly minItems: number
  /** The heads of the columns if it is an item of an array that takes one line, or `undefined` if not. */
  readonly columns: readonly RowColumn[] | undefined
  /** Whether it is a member of such an item. */
  readonly isCell: boolean
  /** Whether one of its values may be edited in rows. */
  readonly hasRows: boolean
  /** Whether a value that a client sends back would lack members. */
  readonly isPartial: boolean
}

/** The maximum length of a text that takes no line breaks, in characters. */
const MAX_LINE = 200
/** The maximum number of rows. More items are edited as JSON. */
export const MOST_ROWS = 50
/** The maximum depth of nested groups and rows. Deeper and recursive values are edited as JSON. */
const DEPTH = 4

/**
 * Compiles the plan of a field from its schema.
 * @param isUnique whether no other row has the same value
 */
export function compileFieldPlan (property: Property, isUnique = false): FieldPlan {
  const plan = compileWithin(property, [])
  // A file inside an object or an array is edited as base64.
  if (isFileAttribute(property)) return { ...plan, mode: 'file', width: undefined }
  return isUnique && plan.mode === 'text' && !plan.isLong ? { ...plan, mode: 'line' } : plan
}

/** Compiles the plan of an attribute without a schema. */
export function compileOpenPlan (name: string): FieldPlan {
  const property = { name, shape: openShape, schema: {}, required: true, readOnly: false, writeOnly: false }
  return { ...compileFieldPlan(property), label: name, mode: 'line' }
}

/** Compiles the plan of a property inside others. `ancestors` are the shapes of those. */
function compileWithin (property: Property, ancestors: readonly Shape[]): FieldPlan {
  const { shape, schema } = property
  const within = [...ancestors, shape]
  const isTooDeep = ancestors.length >= DEPTH || ancestors.includes(shape)
  const shown = modeOf(property)
  const mode = isTooDeep && (shown === 'group' || shown === 'rows') ? 'json' : shown
  const constraints = compileConstraints(shape, schema)
  const { pattern, minItems } = keywordsOf(schema)
  const members = mode !== 'group'
    ? []
    : [...shape.properties.values()].filter(({ readOnly }) => !readOnly).map((member) => compileWithin(member, within))
  const item = !isTooDeep && shape.only === 'array' && isEditable(shape.items)
    ? asLine(compileWithin(itemOf(property), within))
    : undefined
  return {
    property,
    label: labelOf(property),
    description: annotationOf(schema, 'description') ?? annotationOf(keywordsOf(schema), 'description'),
    mode,
    constraints,
    controls: compileControlConstraints(constraints, property.writeOnly),
    isLong: isLongText(property),
    width: mode === 'line' ? compileWidth(shape, schema) : undefined,
    places: findPlaces(constraints.step),
    pattern: typeof pattern === 'string' ? new RegExp(pattern, 'u') : undefined,
    takesText: takesPlainText(shape),
    takesEmpty: takesEmptyText(shape, schema),
    members,
    item,
    minItems: typeof minItems === 'number' ? minItems : 0,
    columns: undefined,
    isCell: false,
    hasRows: item !== undefined || members.some(({ hasRows }) => hasRows),
    isPartial: isPartial(shape)
  }
}

/** The most width of the fields in one line, in characters, and what each field has: its border, padding and arrows. */
const LINE = { characters: 80, around: 4 }

/** Returns the plan of an item, whose members stand in one line if their fields fit there. */
function asLine (item: FieldPlan): FieldPlan {
  const { mode, members } = item
  if (isShort(item)) return { ...item, isCell: true, columns: [] }
  const isSimple = mode === 'group' && members.every(isShort)
  const widths = members.map(({ mode, width = mode === 'choice' ? 10 : 20 }) => width + LINE.around)
  if (!isSimple || widths.reduce((sum, width) => sum + width, 0) > LINE.characters) return item
  return { ...item, columns: members.map(columnOf), members: members.map((member) => ({ ...member, isCell: true })) }
}

function isShort ({ mode }: FieldPlan): boolean {
  return mode === 'line' || mode === 'text' || mode === 'choice'
}

function columnOf ({ label, description, mode, width, property }: FieldPlan): RowColumn {
  const { required, shape } = property
  return {
    label,
    description,
    optional: !required || shape.types.has('null'),
    width,
    control: mode === 'choice' ? 'select' : mode === 'text' ? 'textarea' : 'input',
    numeric: shape.only === 'integer' || shape.only === 'number' || isDecimalShape(shape)
  }
}

/** Returns an item of an array as if it were a property. */
function itemOf ({ name, shape: { items } }: Property): Property {
  return {
    name,
    shape: items,
    schema: items.schema,
    required: true,
    readOnly: false,
    writeOnly: false
  }
}

function modeOf (property: Property): FieldMode {
  const { shape, schema, writeOnly } = property
  const { only, choices, items, types } = shape
  if (only === 'boolean') return 'choice'
  if (choices !== undefined) return isChoice(shape) ? 'choice' : 'json'
  // A value that is never shown has a password input, which is one line.
  if (only === 'string') return writeOnly ? 'line' : stringMode(property)
  if (only === 'integer' || only === 'number') return 'line'
  if (only === 'array') return arrayMode(items, schema)
  if (isGroup(shape)) return 'group'
  // A line sends texts, so that a user could not type an object or an array.
  return types.has('string') && !types.has('object') && !types.has('array') ? 'line' : 'json'
}

function stringMode (property: Property): FieldMode {
  const { shape: { format }, schema } = property
  const { maxLength, pattern } = keywordsOf(schema)
  if (format === 'date-time') return 'moment'
  if (isLongText(property)) return 'text'
  return format === undefined && pattern === undefined && !(Number(maxLength) <= MAX_LINE) ? 'text' : 'line'
}

/** Returns whether the schema says that a text has several lines. */
function isLongText ({ shape: { format }, schema }: Property): boolean {
  const { contentMediaType } = keywordsOf(schema)
  return format === 'textarea' || (typeof contentMediaType === 'string' && contentMediaType.startsWith('text/'))
}

function arrayMode (items: Shape, schema: Schema): FieldMode {
  if (isChoice(items) && items.choices !== undefined && keywordsOf(schema).uniqueItems === true) return 'choices'
  if (items.only !== undefined && isScalar(items.only) && !items.types.has('null')) return 'lines'
  return isEditable(items) ? 'rows' : 'json'
}

/** Returns whether a control other than JSON can edit the value. */
function isEditable (shape: Shape): boolean {
  return (
    isGroup(shape) ||
    (shape.only !== undefined && isScalar(shape.only) && (shape.choices === undefined || isChoice(shape)))
  )
}

function isGroup ({ only, rest, properties, recursive, mixed }: Shape): boolean {
  return only === 'object' && rest === undefined && properties.size > 0 && !recursive && !mixed
}

/**
 * Returns whether a control can offer the values as choices. A choice is sent as text, and the empty text means no
 * value.
 */
function isChoice ({ only, choices }: Shape): boolean {
  return (
    only !== undefined &&
    isScalar(only) &&
    (choices ?? []).every((choice) => choice !== '' && !String(choice).includes('\r') && isLegalText(String(choice)))
  )
}

function isScalar (type: string): boolean {
  return type !== 'array' && type !== 'object'
}

/** Returns how a value is edited, so that the form sends the same value back if nobody touches it. */
export function modeOfValue ({ mode, property: { shape }, item }: FieldPlan, value: unknown): FieldMode {
  if (value === undefined || value === null) return mode
  if (canShow(mode, value, shape)) return withBreaks(mode, value)
  if (mode === 'moment') return modeOfText(value, shape)
  return item !== undefined && canShow('rows', value, shape) ? 'rows' : 'json'
}

/** The maximum number of form fields for a text or a choice: the control, its marker, and those beside it. */
export const FIELDS_PER_VALUE = 5

/** Returns the maximum number of form fields for a value that is edited in rows and groups. */
export function countFields ({ item, members }: FieldPlan, value: unknown): number {
  if (Array.isArray(value) && item !== undefined) {
    return value.reduce<number>((count, inner) => count + countFields(item, inner) + 1, 2)
  }
  if (members.length === 0) return FIELDS_PER_VALUE
  const inside = isObject(value) ? value : {}
  return members.reduce((count, member) => count + countFields(member, ownMember(inside, member.property.name)), 1)
}

/** Returns how a text is edited that no other control can show. */
function modeOfText (value: unknown, shape: Shape): FieldMode {
  return canShow('line', value, shape) ? withBreaks('line', value) : 'json'
}

/** Returns how a text is edited. A text with line breaks needs more than a line, which would lose them. */
function withBreaks (mode: FieldMode, value: unknown): FieldMode {
  return mode === 'line' && typeof value === 'string' && value.includes('\n') ? 'text' : mode
}

/** Returns whether the control sends the same value back if nobody touches it. */
function canShow (mode: FieldMode, value: unknown, shape: Shape): boolean {
  const { types, choices, items } = shape
  if (!isOfShape(value, shape)) return false
  if (types.has('string') && typeof value !== 'string') return false
  switch (mode) {
    case 'choice':
      return choices === undefined || choices.includes(value)
    case 'choices':
      return isInOrder(value as readonly unknown[], items.choices as readonly unknown[])
    case 'lines':
      return (value as readonly unknown[]).every(
        (item) => isScalar(typeof item) && item !== null && isLine(String(item))
      )
    case 'rows':
      return (value as readonly unknown[]).length <= MOST_ROWS
    case 'moment':
      return splitMoment(value as string) !== undefined
    default:
      return typeof value !== 'string' || !value.includes('\r')
  }
}

/** Returns whether values have the order of the choices, because a browser sends checkboxes in that order. */
function isInOrder (values: readonly unknown[], choices: readonly unknown[]): boolean {
  let last = -1
  return values.every((value) => {
    const at = choices.indexOf(value)
    const isNext = at > last
    last = at
    return isNext
  })
}

function isLine (text: string): boolean {
  return text !== '' && !/[\r\n]/.test(text)
}

/** A date and time for a `datetime-local` control (HTML §4.10.5.1.11), with its UTC offset and its step. */
export interface Moment {
  readonly local: string
  readonly offset: string
  readonly step: string | undefined
}

/**
 * Splits a date and time. Returns `undefined` if the control cannot show it: leap seconds, microseconds, the year 0.
 */
export function splitMoment (text: string): Moment | undefined {
  const parts = splitDateTime(text)
  if (parts === undefined || parts.fraction.length > '.123'.length) return undefined
  const { date, time, seconds, fraction, offset } = parts
  if (fraction !== '') return { local: `${date}T${time}:${seconds}${fraction}`, offset, step: '0.001' }
  return seconds === '00'
    ? { local: `${date}T${time}`, offset, step: undefined }
    : { local: `${date}T${time}:${seconds}`, offset, step: '1' }
}
