import type { Messages } from '../../../errors.js'
import { isLegalText, isLegalValue } from '../../../schema/legal-text.js'
import type { Property } from '../../../schema/shape.js'
import { ownMember } from '../../../util/own-property.js'
import { abbreviate } from '../../../util/truncate.js'
import { isRow, MARKER, markerOf, rowsOf } from '../../form/markers.js'
import type { FormNode } from '../../form/parse.js'
import { capitalize, type PageMessages } from '../messages.js'
import { idOf } from '../names.js'
import { isLong } from '../values/beginning.js'
import { LONGEST_ADDRESS } from '../values/render-value.js'
import type { Button, Constraints, Field, FieldFrame, FormError, InputField } from '../views/model.js'
import { isInCalendar } from './calendar-date.js'
import {
  choicesOf,
  countFields,
  mayHaveRows,
  type FieldMode,
  modeOfValue,
  type Moment,
  type FieldPlan,
  splitMoment
} from './field-plan.js'

/** What a field shows: a value, or what a form had supplied for it. */
export type Current = { readonly value: unknown, readonly node?: undefined } | { readonly node: FormNode }

/** Stands for a value of which no more than a part may be told. */
export const PART: unique symbol = Symbol('part')

/** Where a field stands. */
interface Place {
  readonly name: string
  /** `author.name`, by which errors are told. */
  readonly path: string
  /** The labels around it, for a sentence that stands elsewhere. */
  readonly trail: string
  readonly label: string
  /** Whether all of what is around it may be left blank, and it with that. */
  readonly blankAround: boolean
  /** Whether it is a member of an object, which may be without it. */
  readonly isMember: boolean
}

/** In characters: so much of a long text a form shows that does not send it. */
const BEGINNING = 1000

/** Up to so many choices are shown at once. */
const RADIOS = 5

/**
 * Makes the fields of one form, and gathers what is wrong with them. Names, blanks and marks are as the reader of forms
 * takes them.
 */
export class FieldBuilder {
  readonly errors: FormError[] = []
  readonly #messages: PageMessages
  readonly #translate: (text: string) => string
  readonly #isNew: boolean
  readonly #wrong: Map<string, readonly string[]>

  /** How many more fields the form may have for what is edited in rows. */
  #room: number

  constructor (
    messages: PageMessages,
    translate: (text: string) => string,
    wrong: Messages,
    isNew: boolean,
    room: number
  ) {
    this.#room = room
    this.#messages = messages
    this.#translate = translate
    this.#isNew = isNew
    this.#wrong = new Map(Object.entries(wrong))
  }

  /** The field of an attribute of the group. What is `writeOnly` was never shown, and is not shown again. */
  build (plan: FieldPlan, group: string, current: Current): Field {
    const {
      property: { name, writeOnly },
      label
    } = plan
    if (
      current.node === undefined &&
      (current.value === PART || isLong(current.value) || !isLegalValue(current.value))
    ) {
      return this.keep(plan, group, current.value)
    }
    const place = { name: `${group}[${name}]`, path: name, trail: '', label, blankAround: false, isMember: false }
    if (current.node === undefined && mayHaveRows(plan) && !this.#hasRoomFor(plan, current.value)) {
      return this.#control('json', plan, current, place)
    }
    const field = this.#build(plan, writeOnly ? { value: undefined } : current, place)
    const wasTyped = writeOnly && current.node !== undefined && textsOf(current).some((text) => text !== '')
    return wasTyped ? { ...field, hint: this.#messages.typeAgain } : field
  }

  /** Of what is edited in rows, a form that could not be sent would have too many fields. */
  #hasRoomFor (plan: FieldPlan, value: unknown): boolean {
    const count = countFields(plan, value)
    if (count > this.#room) return false
    this.#room -= count
    return true
  }

  /** An attribute that stays as it is. Its form sends nothing of it; of a long text it shows the beginning. */
  keep ({ property: { name }, label }: FieldPlan, group: string, value?: unknown): Field {
    return {
      control: 'kept',
      beginning: typeof value === 'string' && isLegalText(value) ? abbreviate(value, BEGINNING) : undefined,
      id: idOf(`${group}[${name}]`),
      name: `${group}[${name}]`,
      label,
      description: undefined,
      hint: undefined,
      required: false,
      optional: false,
      errors: [],
      hidden: []
    }
  }

  /** What is wrong and belongs to no field. */
  closeErrors (): readonly FormError[] {
    for (const [path, messages] of this.#wrong) {
      for (const message of messages) this.errors.push({ text: `${path} ${this.#translate(message)}`, href: undefined })
    }
    return this.errors
  }

  #build (plan: FieldPlan, current: Current, place: Place): Field {
    const mode = modeOf(plan, current)
    if (mode === 'group') return this.#group(plan, current, place)
    if (mode === 'rows') return this.#rows(plan, current, place)
    return this.#control(mode, plan, current, place)
  }

  #control (mode: Exclude<FieldMode, 'group' | 'rows'>, plan: FieldPlan, current: Current, place: Place): Field {
    const {
      constraints,
      property: { shape, writeOnly }
    } = plan
    const frame = this.#frame(mode, plan, current, place)
    const text = shownText(mode, current)
    switch (mode) {
      case 'flag':
        return { ...frame, control: 'checkbox', checked: text === 'true' }
      case 'choice':
        return this.#choice(frame, plan, text)
      case 'choices':
        return {
          ...frame,
          control: 'checkboxes',
          options: choicesOf(plan.item as FieldPlan, this.#messages).map((option) => ({
            ...option,
            selected: textsOf(current).includes(option.value)
          }))
        }
      case 'moment':
        return this.#moment(frame, current, text)
      case 'line':
        return text.includes('\n')
          ? textarea(frame, text, 4, constraints)
          : line(frame, inputType(plan, text), text, writeOnly ? {} : constraints)
      case 'text':
        return textarea(frame, text, shape.only === 'string' ? 5 : 2, constraints)
      default:
        return { ...textarea(frame, text, 4, {}), code: mode === 'json' }
    }
  }

  #choice (frame: FieldFrame, plan: FieldPlan, text: string): Field {
    const known = choicesOf(plan, this.#messages)
    const other = [
      ...new Set([
        ...(plan.property.shape.types.has('null') ? [''] : []),
        ...(known.some(({ value }) => value === text) ? [] : [text])
      ])
    ]
    const blank = frame.required && text === ''
    const options = [
      ...other.map((value) => ({ value, label: value === '' ? this.#messages.none : value })),
      ...known
    ].map((option) => ({ ...option, selected: option.value === text }))
    if (options.length > RADIOS) {
      return {
        ...frame,
        control: 'select',
        options: blank ? options.map((option) => (option.value === '' ? { ...option, label: '' } : option)) : options
      }
    }
    return { ...frame, control: 'radios', options: blank ? options.filter(({ value }) => value !== '') : options }
  }

  #moment (frame: FieldFrame, current: Current, text: string): Field {
    const moment = momentOf(current, text)
    const was = current.node === undefined ? text : (markerOf(current.node, 'was') ?? '')
    return {
      ...frame,
      control: 'moment',
      value: moment.local,
      step: moment.step,
      offset: { id: `${frame.id}!offset`, name: `${frame.name}[${MARKER}][offset]`, value: moment.offset },
      hidden: [...frame.hidden, ...(was === '' ? [] : [{ name: `${frame.name}[${MARKER}][was]`, value: was }])]
    }
  }

  #group (plan: FieldPlan, current: Current, place: Place): Field {
    const frame = this.#frame('group', plan, current, place)
    const value = (current.node === undefined ? (current.value ?? {}) : {}) as Readonly<Record<string, unknown>>
    const isBlank = current.node === undefined && current.value === undefined && frame.hidden.length === 0
    const find = ({ name, schema, writeOnly }: Property): Current => {
      if (current.node === undefined || writeOnly) {
        return { value: writeOnly ? undefined : isBlank ? schema.default : ownMember(value, name) }
      }
      return { node: current.node.children.get(name) ?? BLANK }
    }
    const blankAround = place.blankAround || frame.hidden.length > 0
    const fields = plan.members.map((member) => {
      const { name } = member.property
      return this.#build(member, find(member.property), {
        name: `${place.name}[${name}]`,
        path: `${place.path}.${name}`,
        trail: `${place.trail}${place.label}: `,
        label: member.label,
        blankAround,
        isMember: true
      })
    })
    return { ...frame, control: 'group', fields }
  }

  #rows (plan: FieldPlan, current: Current, place: Place): Field {
    const frame = this.#frame('rows', plan, current, place)
    const { item, addTo, remove } = this.#messages
    const rows = itemsOf(current).map((row, index) => {
      const label = item(place.label, index + 1)
      const name = `${place.name}[${index}]`
      const field = this.#build(plan.item as FieldPlan, row, {
        name,
        path: `${place.path}.${index}`,
        trail: place.trail,
        label,
        blankAround: false,
        isMember: false
      })
      const isThere = { name: `${name}[${MARKER}][row]`, value: '1' }
      return {
        field: { ...field, hidden: [...field.hidden, isThere] },
        remove: this.#button(place, 'remove', String(index), remove(place.label, index + 1))
      }
    })
    return {
      ...frame,
      control: 'rows',
      rows,
      add:
        countFields(plan.item as FieldPlan, undefined) < this.#room
          ? this.#button(place, 'add', '1', addTo(place.label))
          : undefined,
      hidden: [{ name: place.name, value: '' }, ...frame.hidden]
    }
  }

  #button ({ name }: Place, action: 'add' | 'remove', value: string, label: string): Button {
    return { name: `${name}[${MARKER}][${action}]`, value, label }
  }

  #frame (
    mode: FieldMode,
    plan: FieldPlan,
    current: Current,
    { name, path, trail, label, blankAround, isMember }: Place
  ): FieldFrame {
    const {
      property: {
        required,
        writeOnly,
        shape: { types }
      },
      description,
      takesEmpty
    } = plan
    const isDemanded = required && (this.#isNew || !writeOnly)
    const blank =
      current.node === undefined ? blankOf(plan, isDemanded, current.value, isMember) : markerOf(current.node)
    const mark =
      mode !== 'json' || blank?.startsWith('json') === true
        ? blank
        : current.node === undefined && current.value === undefined
          ? 'json'
          : 'json-null'
    const id = idOf(name)
    const hasBlank = mode === 'lines' || mode === 'choices' || mode === 'rows'
    const isBlankRefused =
      mark === undefined
        ? !(takesEmpty && (mode === 'line' || mode === 'text')) && !hasBlank
        : mark === 'json'
          ? isDemanded
          : mark === 'json-null' && !types.has('null')
    const wrong = this.#takeErrors(path, label, mode === 'group' || mode === 'rows')
    for (const { sentence } of wrong) {
      this.errors.push({ text: capitalize(trail + sentence), href: `#${encodeURI(id)}` })
    }
    return {
      id,
      name,
      label,
      description,
      hint: this.#hint(mode, plan),
      required: isBlankRefused && !blankAround,
      optional: !isBlankRefused && mode !== 'flag' && !(mode === 'group' && mark === undefined),
      errors: wrong.map(({ phrase }) => capitalize(phrase)),
      hidden: mark === undefined ? [] : [{ name: `${name}[${MARKER}]`, value: mark }]
    }
  }

  #hint (
    mode: FieldMode,
    {
      constraints: { maxlength },
      property: {
        shape: { format },
        writeOnly
      }
    }: FieldPlan
  ): string | undefined {
    const { oneALine, asJson, dateHint, dateTimeHint, offsetHint, keepHidden, atMost } = this.#messages
    if (mode === 'lines') return oneALine
    if (mode === 'json') return asJson
    if (mode === 'moment') return offsetHint
    if (writeOnly && !this.#isNew) return keepHidden
    if (mode === 'line' && format === 'date') return dateHint
    if (mode === 'line' && format === 'date-time') return dateTimeHint
    return maxlength !== undefined && (mode === 'line' || mode === 'text') ? atMost(maxlength) : undefined
  }

  /** The messages of a field; of one that has no fields inside also those of what is inside its value. */
  #takeErrors (path: string, label: string, hasFields: boolean): readonly Wrong[] {
    if (this.#wrong.size === 0) return NONE
    return [...this.#wrong].flatMap(([at, messages]) => {
      const isInside = !hasFields && at.startsWith(`${path}.`)
      if (at !== path && !isInside) return []
      this.#wrong.delete(at)
      const inside = isInside ? this.#inside(label, at.slice(path.length + 1)) : undefined
      return messages.map((message) => {
        const phrase = this.#translate(message)
        return inside === undefined
          ? { phrase, sentence: `${label} ${phrase}` }
          : { phrase: `${inside} ${phrase}`, sentence: `${inside} ${phrase}` }
      })
    })
  }

  /** What is called `1.name` in an array is in the second of its items. */
  #inside (label: string, path: string): string {
    const [, index, more = ''] = /^(\d+)\.?(.*)$/.exec(path) ?? []
    if (index === undefined) return path
    const item = this.#messages.item(label, Number(index) + 1)
    return more === '' ? item : `${item}: ${more}`
  }
}

/** A message, beside its field and where the field is not seen. */
interface Wrong {
  readonly phrase: string
  readonly sentence: string
}

const NONE: readonly Wrong[] = []
const BLANK: FormNode = { texts: [''], children: new Map() }

/**
 * What a field left blank means, where that is not the empty text. Of an object that is there its own fields say what
 * they lack. What is inside of an object is taken away by leaving it blank, where an attribute cannot be taken away.
 */
function blankOf (
  {
    property: {
      shape: { types }
    },
    takesEmpty
  }: FieldPlan,
  required: boolean,
  value: unknown,
  isMember: boolean
): string | undefined {
  if (value === undefined && !required) return 'absent'
  if (
    isMember &&
    !required &&
    !takesEmpty &&
    typeof value !== 'object' &&
    typeof value !== 'boolean' &&
    !types.has('null')
  ) { return 'absent' }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return undefined
  return types.has('null') && value !== '' && !(Array.isArray(value) && value.length === 0) ? 'null' : undefined
}

function modeOf (plan: FieldPlan, current: Current): FieldMode {
  const { mode, property: { shape } } = plan
  if (current.node === undefined) {
    const shown = modeOfValue(plan, current.value)
    return shown === 'choice' &&
      shape.choices === undefined &&
      typeof current.value === 'boolean' &&
      !shape.types.has('null')
      ? 'flag'
      : shown
  }
  const { node } = current
  if (markerOf(node)?.startsWith('json') === true) return 'json'
  const text = node.texts.at(-1) ?? ''
  if (
    mode === 'choice' &&
    shape.choices === undefined &&
    node.texts[0] === 'false' &&
    (text === 'true' || node.texts.length === 1) &&
    markerOf(node) === undefined
  ) { return 'flag' }
  if (mode === 'moment' && !isLocal(text)) return 'line'
  if (plan.item !== undefined && [...node.children.keys()].some(isRow)) return 'rows'
  return mode
}

function isLocal (text: string): boolean {
  return text === '' || splitMoment(withSeconds(text)) !== undefined
}

/** As a browser has it, with what makes it whole. */
function withSeconds (text: string): string {
  return `${/T\d\d:\d\d$/.test(text) ? `${text}:00` : text}Z`
}

function momentOf ({ node }: Current, text: string): Moment {
  if (node === undefined) return splitMoment(text) ?? { local: '', offset: 'Z', step: undefined }
  return { local: text, offset: markerOf(node, 'offset') ?? 'Z', step: splitMoment(withSeconds(text))?.step }
}

function textarea (
  frame: FieldFrame,
  value: string,
  rows: number,
  { minlength, maxlength }: Constraints
): Field & { control: 'textarea' } {
  return {
    ...frame,
    control: 'textarea',
    value,
    rows,
    code: false,
    constraints: { ...(minlength !== undefined && { minlength }), ...(maxlength !== undefined && { maxlength }) }
  }
}

function line (frame: FieldFrame, type: InputField['type'], value: string, constraints: Constraints): InputField {
  const { min, max, step, inputmode, ...others } = constraints
  if (type === 'number') {
    return {
      ...frame,
      control: 'input',
      type,
      value,
      constraints: {
        ...(min !== undefined && { min }),
        ...(max !== undefined && { max }),
        ...(step !== undefined && { step: min === undefined && !isOnStep(value, step) ? 'any' : step })
      }
    }
  }
  return {
    ...frame,
    control: 'input',
    type,
    value,
    constraints: type === 'date' ? {} : { ...others, ...(inputmode !== undefined && { inputmode }) }
  }
}

/** Where there is no least number, the steps begin at the number that the control has (HTML §4.10.5.3.8). */
function isOnStep (text: string, step: number | 'any'): boolean {
  const steps = step === 'any' ? 0 : Number(text) / step
  return Math.abs(steps - Math.round(steps)) <= 1e-9 * Math.max(1, Math.abs(steps))
}

// HTML §2.3.4.3
const FLOAT = /^-?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?$/

// HTML §4.10.5.1.5: what a browser lets through. A text of millions of characters would overflow its stack.
const EMAIL = /^[\w.!#$%&'*+/=?^`{|}~-]+@[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?(?:\.[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?)*$/i

/** A browser empties a control whose text is not of its type: such a text stays in one that takes any. */
function inputType ({ property: { shape: { only, format }, writeOnly } }: FieldPlan, text: string): InputField['type'] {
  if (only === 'integer' || only === 'number') return text === '' || FLOAT.test(text) ? 'number' : 'text'
  if (only !== 'string') return 'text'
  if (writeOnly || format === 'password') return 'password'
  if (format === 'date') return text === '' || isInCalendar(text) ? 'date' : 'text'
  if (format === 'email') return text === '' || (text.length <= LONGEST_ADDRESS && EMAIL.test(text)) ? 'email' : 'text'
  return (format === 'uri' || format === 'url') && (text === '' || (text.trim() === text && URL.canParse(text)))
    ? 'url'
    : 'text'
}

function shownText (mode: FieldMode, current: Current): string {
  if (current.node !== undefined) return current.node.texts.at(-1) ?? leavesOf(current.node).join('\n')
  const { value } = current
  if (value === undefined || (value === null && mode !== 'json')) return ''
  if (mode === 'json') return JSON.stringify(value, null, 2)
  return mode === 'lines' ? (value as unknown[]).join('\n') : String(value)
}

/** The texts of a list, or the one of a field. */
function textsOf ({ node, ...current }: Current): readonly string[] {
  if (node !== undefined) return [...node.texts, ...leavesOf(node)]
  const { value } = current as { value: unknown }
  return Array.isArray(value) ? value.map(String) : []
}

function leavesOf ({ children }: FormNode): string[] {
  return [...children].flatMap(([step, child]) => step === MARKER ? [] : [...child.texts, ...leavesOf(child)])
}

/** The items of an array, each as what its field shows; a row that has just been added has nothing at all. */
function itemsOf ({ node, ...current }: Current): Current[] {
  if (node !== undefined) {
    return rowsOf(node).map((row) =>
      row.texts.length === 0 && row.children.size === 0 ? { value: undefined } : { node: row }
    )
  }
  const { value } = current as { value: unknown }
  return ((value ?? []) as readonly unknown[]).map((value) => ({ value }))
}
