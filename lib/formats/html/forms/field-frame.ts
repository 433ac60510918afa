import { MARKER, markerOf } from '../../form/markers.js'
import type { PageMessages } from '../messages.js'
import { idOf } from '../names.js'
import type { Field, FieldFrame } from '../views/model.js'
import type { Current } from './current.js'
import type { FieldSource } from './field-errors.js'
import type { FieldMode, FieldPlan } from './field-plan.js'

/** Where a field stands. */
export interface Place extends FieldSource {
  readonly name: string
  /** Whether all of what is around it may be left blank, and it with that. */
  readonly blankAround: boolean
  /** Whether it is a member of an object, which may be without it. */
  readonly isMember: boolean
  /** Of an attribute: what is the same in each form. */
  readonly kept?: { readonly frames: Map<string, FieldFrame>, readonly fields: Map<unknown, Field> }
}

/** What the fields of a resource's forms have that does not depend on their values; of attributes it is made once. */
export class FieldFrames {
  readonly messages: PageMessages
  readonly #group: string
  readonly #isNew: boolean
  readonly #places = new WeakMap<FieldPlan, Place>()

  /** @param group what the names of the fields begin with */
  constructor (messages: PageMessages, group: string, isNew: boolean) {
    this.messages = messages
    this.#group = group
    this.#isNew = isNew
  }

  /** The place of an attribute. */
  placeOf (plan: FieldPlan): Place {
    const known = this.#places.get(plan)
    if (known !== undefined) return known
    const { label, property: { name: path } } = plan
    const name = `${this.#group}[${path}]`
    const kept = { frames: new Map(), fields: new Map() }
    const place = { id: idOf(name), name, path, trail: '', label, blankAround: false, isMember: false, kept }
    this.#places.set(plan, place)
    return place
  }

  /** The frame of a field, without what is wrong with it. */
  frame (mode: FieldMode, plan: FieldPlan, current: Current, place: Place): FieldFrame {
    const mark = this.#markOf(mode, plan, current, place)
    // A mark that was sent may be any text.
    if (place.kept === undefined || current.node !== undefined) return this.#make(mode, plan, mark, place)
    const { frames } = place.kept
    const key = `${mode} ${mark}`
    const known = frames.get(key)
    if (known !== undefined) return known
    const frame = this.#make(mode, plan, mark, place)
    Object.freeze(frame.hidden)
    frames.set(key, frame)
    return frame
  }

  #make (mode: FieldMode, plan: FieldPlan, mark: string | undefined, place: Place): FieldFrame {
    const { id, name, label, blankAround } = place
    const { description, takesEmpty, property: { shape: { types } } } = plan
    const hasBlank = mode === 'lines' || mode === 'choices' || mode === 'rows'
    const isBlankRefused =
      mark === undefined
        ? !(takesEmpty && (mode === 'line' || mode === 'text')) && !hasBlank
        : mark === 'json'
          ? this.#isDemanded(plan)
          : mark === 'json-null' && !types.has('null')
    return {
      id,
      name,
      label,
      description,
      hint: this.#hint(mode, plan),
      required: isBlankRefused && !blankAround,
      optional: !isBlankRefused && mode !== 'flag' && !(mode === 'group' && mark === undefined),
      errors: [],
      hidden: mark === undefined ? [] : [{ name: `${name}[${MARKER}]`, value: mark }]
    }
  }

  #isDemanded ({ property: { required, writeOnly } }: FieldPlan): boolean {
    return required && (this.#isNew || !writeOnly)
  }

  /** What says how the field is read. */
  #markOf (mode: FieldMode, plan: FieldPlan, current: Current, { isMember }: Place): string | undefined {
    const blank = current.node === undefined
      ? blankOf(plan, this.#isDemanded(plan), current.value, isMember)
      : markerOf(current.node)
    if (mode !== 'json' || blank?.startsWith('json') === true) return blank
    return current.node === undefined && current.value === undefined ? 'json' : 'json-null'
  }

  #hint (mode: FieldMode, { constraints: { maxlength }, property }: FieldPlan): string | undefined {
    const { shape: { format }, writeOnly } = property
    const { oneALine, asJson, dateHint, dateTimeHint, offsetHint, keepHidden, atMost } = this.messages
    if (mode === 'lines') return oneALine
    if (mode === 'json') return asJson
    if (mode === 'moment') return offsetHint
    if (writeOnly && !this.#isNew) return keepHidden
    if (mode === 'line' && format === 'date') return dateHint
    if (mode === 'line' && format === 'date-time') return dateTimeHint
    return maxlength !== undefined && (mode === 'line' || mode === 'text') ? atMost(maxlength) : undefined
  }
}

/**
 * What a field left blank means, where that is not the empty text. Of an object that is there its own fields say what
 * they lack. What is inside of an object is taken away by leaving it blank, where an attribute cannot be taken away.
 */
function blankOf (plan: FieldPlan, required: boolean, value: unknown, isMember: boolean): string | undefined {
  const { takesEmpty, property: { shape: { types } } } = plan
  if (value === undefined && !required) return 'absent'
  const isText = typeof value !== 'object' && typeof value !== 'boolean'
  if (isMember && !required && !takesEmpty && isText && !types.has('null')) return 'absent'
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return undefined
  return types.has('null') && value !== '' && !(Array.isArray(value) && value.length === 0) ? 'null' : undefined
}
