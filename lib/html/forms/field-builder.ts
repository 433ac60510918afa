import { isFile } from '../../core/formats/files.js'
import { isLegalText, isLegalValue } from '../../core/schema/legal-text.js'
import type { Property } from '../../core/schema/shape.js'
import { isOfShape } from '../../core/schema/convert-text.js'
import { abbreviate, capitalize } from '../../core/util/words.js'
import { ownMember } from '../../core/util/own-property.js'
import { MARKER, markerOf, MAX_FIELDS } from '../../core/formats/form/parse.js'
import type { HtmlView } from '../content.js'
import { annotationOf, idOf } from '../names.js'
import { isLong } from '../values/beginning.js'
import type { Button, Field, FieldFrame, FormError, RowColumn } from '../views/model.js'
import { BLANK, type ControlMode, itemsOf, makeControl, modeOf, PARTIAL, textsOf } from './controls.js'
import type { FieldErrors } from './field-errors.js'
import type { FieldFrames, FieldPlace } from './field-frame.js'
import {
  countFields, type Current, type FieldPlan, FIELDS_PER_VALUE, MOST_ROWS
} from './field-plan.js'

/** The content of a field whose value is not shown. */
const NO_VALUE: Current = { value: undefined }

/** The maximum length of a long text that a form shows but does not send, in characters. */
const BEGINNING = 1000

/**
 * Makes the fields of one form, and collects its errors. Names, blanks and marks follow the syntax of the form's
 * reader.
 */
export class FieldBuilder {
  readonly #frames: FieldFrames
  readonly #errors: FieldErrors
  readonly #choices: HtmlView['choices']
  /** The number of fields that the form may still have for values that are edited in rows. */
  #room: number
  /** The same for rows that come back. A form with more rows could not have been sent, unless by hand. */
  #roomForSent = MAX_FIELDS * FIELDS_PER_VALUE

  constructor (frames: FieldFrames, errors: FieldErrors, choices: HtmlView['choices'], room: number) {
    this.#frames = frames
    this.#errors = errors
    this.#choices = choices
    this.#room = room
  }

  /** Makes the field of an attribute. A `writeOnly` value is never shown, even if the user has just typed it. */
  build (plan: FieldPlan, current: Current): Field {
    const { hasRows, property: { writeOnly } } = plan
    const place = this.#frames.placeOf(plan)
    if (plan.mode === 'file') return this.#build(plan, current.node === undefined ? NO_VALUE : current, place)
    if (current.node === undefined) {
      const { value } = current
      const canSend = value !== PARTIAL && !isLong(value) && isLegalValue(value) && isOfType(value, plan)
      if (!canSend) return this.keep(plan, value)
      if (hasRows && !this.#hasRoomFor(plan, value)) return this.#control('json', plan, current, place)
    }
    if (!writeOnly) return withFocus(this.#build(plan, current, place), current)
    const field = this.#build(plan, NO_VALUE, place)
    if (current.node === undefined) return field
    const { removal, hint } = field
    const wasTyped = textsOf(current).some((text) => text !== '') || markerOf(current.node, 'typed') !== undefined
    return {
      ...field,
      hint: wasTyped ? this.#frames.messages.typeAgain : hint,
      removal: removal && { ...removal, checked: markerOf(current.node) === removal.value }
    }
  }

  /** Makes the field of a file. A form that comes back carries the file that was chosen, because no browser would. */
  #file (plan: FieldPlan, current: Current, place: FieldPlace): Field {
    const { node } = current
    const frame = this.#frames.frame('file', plan, current, place)
    const errors = this.#errors.take(place, plan, { hasFields: false, refusesBlank: frame.required })
    // A file that is refused has to be chosen anew.
    const chosen = errors.length === 0 ? node?.texts.findLast(isFile) : undefined
    const { name, hidden, hint, removal } = frame
    const { contentMediaType } = plan.property.schema
    return {
      ...frame,
      control: 'file',
      accept: typeof contentMediaType === 'string' ? contentMediaType : undefined,
      errors,
      required: frame.required && chosen === undefined,
      hidden: chosen === undefined ? hidden : [...hidden, { name, value: chosen }],
      hint: chosen === undefined ? hint : this.#frames.messages.fileChosen,
      removal: removal && { ...removal, checked: node !== undefined && markerOf(node) === removal.value }
    }
  }

  /** Whether the form has a button that leads to the rows of a reference, because there are many. */
  get hasChooseButton (): boolean {
    return [...this.#choices.values()].some(({ rows }) => rows === undefined)
  }

  /** Returns whether the form has room for the fields of the rows. With too many fields it could not be sent. */
  #hasRoomFor (plan: FieldPlan, value: unknown): boolean {
    const count = countFields(plan, value)
    if (count > this.#room) return false
    this.#room -= count
    return true
  }

  /** Makes the field of an attribute that forms the id, whose value no update changes. */
  fix (plan: FieldPlan, value: unknown): Field {
    return { ...this.keep(plan, value), hint: this.#frames.messages.fixed }
  }

  /**
   * Makes the field of an attribute that stays as it is. The form sends nothing for it, and shows the beginning of a
   * long text.
   */
  keep (plan: FieldPlan, value?: unknown): Field {
    const { id, name, label } = this.#frames.placeOf(plan)
    const text = typeof value === 'number' || typeof value === 'boolean' ? String(value) : value
    return {
      control: 'kept',
      beginning: typeof text === 'string' && isLegalText(text) ? abbreviate(text, BEGINNING) : undefined,
      id,
      name,
      label,
      description: undefined,
      hint: this.#frames.messages.kept,
      autofocus: false,
      width: undefined,
      required: false,
      optional: false,
      errors: [],
      hidden: [],
      removal: undefined
    }
  }

  /** Returns all errors. Those that belong to no field come last. */
  closeErrors (): readonly FormError[] {
    return this.#errors.close()
  }

  #build (plan: FieldPlan, current: Current, place: FieldPlace): Field {
    const mode = modeOf(plan, current)
    if (mode === 'group') return this.#group(plan, current, place)
    if (mode === 'rows') return this.#rows(plan, current, place)
    if (mode === 'file') return this.#file(plan, current, place)
    return this.#control(mode, plan, current, place)
  }

  #control (mode: ControlMode, plan: FieldPlan, current: Current, place: FieldPlace): Field {
    // A value of one line can be chosen by the name of the row that it references.
    const isLine = mode === 'line' || mode === 'text'
    const references = isLine ? this.#choices.get(place.reference) : undefined
    const frame = this.#frames.frame(references === undefined ? mode : 'choice', plan, current, place)
    const refusesBlank = frame.required || place.blankAround
    const errors = this.#errors.take(place, plan, { hasFields: false, refusesBlank })
    const source = { plan, current, messages: this.#frames.messages, references }
    // A stored empty value that the schema refuses must not keep the browser from sending the form.
    const isEmpty = frame.required && current.node === undefined && isEmptyValue(current.value)
    return errors.length === 0 && !isEmpty
      ? makeControl(frame, mode, source)
      : makeControl({ ...withErrors(frame, errors), required: frame.required && !isEmpty }, mode, source)
  }

  #frame (mode: 'group' | 'rows', plan: FieldPlan, current: Current, place: FieldPlace): FieldFrame {
    const frame = this.#frames.frame(mode, plan, current, place)
    const errors = this.#errors.take(place, plan, { hasFields: true, refusesBlank: false })
    return errors.length === 0 ? frame : { ...frame, errors }
  }

  #group (plan: FieldPlan, current: Current, place: FieldPlace): Field {
    const frame = this.#frame('group', plan, current, place)
    const blankAround = place.blankAround || frame.hidden.length > 0
    const trail = place.trail === '' ? place.label : this.#frames.messages.labelled(place.trail, place.label)
    const isNew = current.node === undefined && current.value === undefined && frame.hidden.length === 0
    const fields = plan.members.map((member) => {
      const { property, label } = member
      const inside = isNew && !property.writeOnly ? { value: property.schema.default } : memberIn(current, property)
      const within = placeIn(place, property.name, label)
      return this.#build(member, inside, { ...within, trail, blankAround, kind: 'member' })
    })
    return { control: 'group', fields, inline: plan.columns !== undefined, ...frame }
  }

  #rows (plan: FieldPlan, current: Current, place: FieldPlace): Field {
    const frame = this.#frame('rows', plan, current, place)
    const { item, addTo, remove, removeItem } = this.#frames.messages
    const itemPlan = plan.item as FieldPlan
    const label = annotationOf(itemPlan.property.schema, 'title') ?? place.label
    const items = this.#bound(this.#withLeast(plan, itemPlan, current), itemPlan, current)
    const { added, removed } = revisionOf(current, items.length)
    const rows = items.map((row, index) => {
      const number = index + 1
      const within = placeIn(place, index, item(label, number))
      const field = this.#build(itemPlan, row, within)
      const isThere = { name: `${within.name}[${MARKER}][row]`, value: '1' }
      const button = makeButton(place, 'remove', String(index), removeItem)
      return {
        field: { ...(index === added ? focusFirst(field) : field), hidden: [...field.hidden, isThere] },
        remove: { ...button, spoken: remove(label, number), autofocus: index === removed }
      }
    })
    const hasRoom = countFields(itemPlan, undefined) < this.#room
    const add = { ...makeButton(place, 'add', '1', addTo(label)), autofocus: removed === -1 }
    return {
      ...frame,
      control: 'rows',
      columns: itemPlan.columns?.map((column, index) => this.#columnOf(column, itemPlan.members[index], place)),
      rows,
      add: hasRoom ? add : undefined,
      hidden: [{ name: place.name, value: '' }, ...frame.hidden]
    }
  }

  /** Returns the head of a column: that of the names of rows, if they are chosen by name. */
  #columnOf (column: RowColumn, member: FieldPlan | undefined, { reference }: FieldPlace): RowColumn {
    const choices = member && this.#choices.get(`${reference}.${member.property.name}`)
    if (choices === undefined) return column
    const control = choices.rows === undefined ? 'reference' : 'select'
    return { ...column, control, width: undefined, numeric: false }
  }

  /** Returns the rows that come back, as far as a form can have so many. One field in each makes the others appear. */
  #bound (items: readonly Current[], item: FieldPlan, { node }: Current): readonly Current[] {
    if (node === undefined) return items
    const each = countFields(item, undefined)
    const shown = items.slice(0, Math.floor(this.#roomForSent / each))
    this.#roomForSent -= shown.length * each
    return shown
  }

  /** Returns the items of an array. A form for a new row begins with as many as the schema demands. */
  #withLeast ({ minItems, property: { required } }: FieldPlan, item: FieldPlan, current: Current): readonly Current[] {
    const items = itemsOf(current)
    const missing = Math.min(minItems, MOST_ROWS) - items.length
    const hasRoom = missing * countFields(item, undefined) < this.#room
    if (current.node !== undefined || !required || !this.#frames.isNew || missing <= 0 || !hasRoom) return items
    return [...items, ...Array.from({ length: missing }, () => ({ value: undefined }))]
  }
}

/** Returns the frame with its errors. A description that is one of them is not shown twice. */
function withErrors (frame: FieldFrame, errors: readonly string[]): FieldFrame {
  const isTold = frame.description !== undefined && errors.includes(capitalize(frame.description))
  return { ...frame, errors, description: isTold ? undefined : frame.description }
}

function isEmptyValue (value: unknown): boolean {
  return value === '' || (Array.isArray(value) && value.length === 0)
}

/**
 * Returns the index of the row that a button has just added, and that of the row in the place of a removed one: the
 * last row if there is none, or -1 without any row.
 */
function revisionOf (
  { node }: Current,
  length: number
): { readonly added: number | undefined, readonly removed: number | undefined } {
  const indexOf = (part: 'added' | 'removed'): number | undefined => {
    const text = node && markerOf(node, part)
    return text === undefined ? undefined : Math.min(Number(text), length - 1)
  }
  return { added: indexOf('added'), removed: indexOf('removed') }
}

/** Returns the field, with the focus if its row was just chosen. */
function withFocus (field: Field, { node }: Current): Field {
  return node !== undefined && markerOf(node, 'focus') !== undefined ? { ...field, autofocus: true } : field
}

/** Returns the field with the focus on its first control. */
function focusFirst (field: Field): Field {
  if (field.control === 'rows') return { ...field, add: field.add && { ...field.add, autofocus: true } }
  if (field.control !== 'group') return { ...field, autofocus: true }
  const [first, ...others] = field.fields
  return first === undefined ? field : { ...field, fields: [focusFirst(first), ...others] }
}

/**
 * Returns whether a stored value has a type that its schema allows. A database may have a text among integers, which no
 * control for integers could send back. An empty text is edited as JSON instead, so that a user can replace it.
 */
function isOfType (value: unknown, { hasRows, property: { shape } }: FieldPlan): boolean {
  return value === undefined || value === null || (value === '' && !hasRows) || isOfShape(value, shape)
}

/** Returns the place of a member or of an item. */
function placeIn (around: FieldPlace, step: string | number, label: string): FieldPlace {
  const { name, path, trail } = around
  const inside = `${name}[${step}]`
  const reference = typeof step === 'number' ? around.reference : `${around.reference}.${step}`
  const place = { id: idOf(inside), name: inside, path: `${path}.${step}`, reference, trail, label }
  return { ...place, blankAround: false, kind: 'item' }
}

function memberIn (current: Current, { name, writeOnly }: Property): Current {
  if (writeOnly) return { value: undefined }
  if (current.node !== undefined) return { node: current.node.children.get(name) ?? BLANK }
  return { value: ownMember((current.value ?? {}) as Readonly<Record<string, unknown>>, name) }
}

function makeButton ({ name }: FieldPlace, action: 'add' | 'remove', value: string, label: string): Button {
  return { name: `${name}[${MARKER}][${action}]`, value, label }
}
