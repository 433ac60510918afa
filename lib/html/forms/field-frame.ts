import { isObject, isStructure } from '../../core/util/own-property.js'
import { MARKER, markerOf } from '../../core/formats/form/parse.js'
import type { PageMessages } from '../messages.js'
import { idOf } from '../names.js'
import type { FieldFrame } from '../views/model.js'
import type { Current, FieldMode, FieldPlan } from './field-plan.js'

/** The place of a field in a form. */
export interface FieldPlace extends FieldSource {
  readonly name: string
  /** What a reference of the field is called: `author`, or `lines.productId` for each of `lines.0.productId`. */
  readonly reference: string
  /** Whether the field is in a group that may be left blank as a whole. */
  readonly blankAround: boolean
  /** Whether the field is a whole attribute, a member of an object, which may lack it, or an item of an array. */
  readonly kind: 'attribute' | 'member' | 'item'
}

/** Makes the parts of fields that any control has. */
export class FieldFrames {
  readonly messages: PageMessages
  readonly #group: string
  /** Whether the form is for a new row. */
  readonly isNew: boolean
  readonly #end: string

  /**
   * @param group the beginning of the names of the fields
   * @param end the end of their ids, if the page may have another form of the same resource
   */
  constructor (messages: PageMessages, group: string, isNew: boolean, end = '') {
    this.messages = messages
    this.#group = group
    this.#end = end
    this.isNew = isNew
  }

  /** Returns the place of an attribute. */
  placeOf ({ label, property: { name: path } }: FieldPlan): FieldPlace {
    const name = `${this.#group}[${path}]`
    const id = idOf(name) + this.#end
    return { id, name, path, reference: path, trail: '', label, blankAround: false, kind: 'attribute' }
  }

  /** Returns the frame of a field, without its errors. */
  frame (mode: FieldMode, plan: FieldPlan, current: Current, place: FieldPlace): FieldFrame {
    const isMember = place.kind === 'member'
    const mark = findMark(mode, plan, current, { isDemanded: this.#isDemanded(plan), isNew: this.isNew, isMember })
    const { id, name, label, blankAround } = place
    const { description, width, takesEmpty, minItems, property: { shape: { types } } } = plan
    const hasBlank = minItems === 0 && (mode === 'lines' || mode === 'choices' || mode === 'rows')
    const isBlankRefused =
      mark === undefined
        ? !(takesEmpty && (mode === 'line' || mode === 'text')) && !hasBlank
        : mark === 'json'
          ? this.#isDemanded(plan)
          : mark === 'json-null' && !types.has('null')
    // A blank text or list may be valid, but a required attribute is always one that the user ought to fill in.
    const isOptional = !this.#isDemanded(plan) || types.has('null')
    return {
      id,
      name,
      label,
      description,
      hint: this.#hint(mode, plan),
      autofocus: false,
      width: mode === 'line' ? width : undefined,
      required: isBlankRefused && !blankAround,
      optional: isOptional && !isBlankRefused && mode !== 'flag' && !(mode === 'group' && mark === undefined),
      errors: [],
      hidden: mark === undefined ? [] : [{ name: `${name}[${MARKER}]`, value: mark }],
      removal: this.#removal(mode, plan, place)
    }
  }

  /** Returns the box that empties an attribute of a row. A blank field could not, because it keeps the value. */
  #removal (mode: FieldMode, plan: FieldPlan, { id, name, label, kind }: FieldPlace): FieldFrame['removal'] {
    const { required, shape: { types } } = plan.property
    const takesNull = types.has('null')
    if (!keepsIfBlank(plan) || this.isNew || kind !== 'attribute' || (required && !takesNull)) return undefined
    const mark = takesNull ? 'null' : 'removed'
    return {
      id: `${id}!removal`,
      name: `${name}[${MARKER}]`,
      value: mode === 'json' ? `json-${mark}` : mark,
      label: this.messages.removeHidden(label),
      checked: false
    }
  }

  #isDemanded (plan: FieldPlan): boolean {
    return plan.property.required && (this.isNew || !keepsIfBlank(plan))
  }

  #hint (mode: FieldMode, plan: FieldPlan): string | undefined {
    const { keepHidden } = this.messages
    const hint = this.#hintOfMode(mode, plan)
    return !keepsIfBlank(plan) || this.isNew ? hint : hint === undefined ? keepHidden : `${hint} ${keepHidden}`
  }

  #hintOfMode (mode: FieldMode, plan: FieldPlan): string | undefined {
    const { constraints: { maxlength }, minItems, takesText, property: { shape: { format } } } = plan
    const { oneALine, asJson, jsonOrText, dateTimeHint, atMost, atLeast } = this.messages
    const least = minItems > 1 ? [atLeast(minItems)] : []
    if (mode === 'lines') return [oneALine, ...least].join(' ')
    if (mode === 'choices' || mode === 'rows') return least[0]
    if (mode === 'json') return takesText ? jsonOrText(undefined) : asJson
    if (mode === 'line' && format === 'date-time') return dateTimeHint
    return maxlength !== undefined && mode === 'text' ? atMost(maxlength) : undefined
  }
}

/** Returns whether a blank field of a row keeps the value, because the form cannot have it. */
export function keepsIfBlank ({ mode, property: { writeOnly } }: FieldPlan): boolean {
  return writeOnly || mode === 'file'
}

/** The names of a field in errors. */
export interface FieldSource {
  readonly id: string
  /** The path in errors: `author.name`. */
  readonly path: string
  /** The labels of the groups around the field, for a sentence outside of them. It is empty outside of groups. */
  readonly trail: string
  readonly label: string
}

/** The facts about a field that decide what it means if it is blank. */
interface BlankField {
  /** Whether the form must give a value. */
  readonly isDemanded: boolean
  /** Whether the form is for a new row. */
  readonly isNew: boolean
  /** Whether the field is a member of an object. */
  readonly isMember: boolean
}

/** Returns the mark that says how a field is parsed, or `undefined` if it needs none. */
function findMark (mode: FieldMode, plan: FieldPlan, current: Current, field: BlankField): string | undefined {
  if (current.node !== undefined) {
    const sent = markerOf(current.node)
    return mode !== 'json' || sent?.startsWith('json') === true ? sent : 'json-null'
  }
  const { value } = current
  const { isDemanded, isNew, isMember } = field
  if (value === undefined && mode === 'json') return 'json'
  if (value === undefined && !isDemanded) return 'absent'
  // A create would fill in the default of an attribute that is left out.
  const isRemovable = !isDemanded && (isMember || !isNew) && canRemove(mode, plan, value)
  if (isRemovable && isMember) return mode === 'json' ? 'json' : 'absent'
  if (mode === 'json') return isRemovable ? 'json-removed' : 'json-null'
  if (isRemovable) return 'removed'
  if (isObject(value)) return undefined
  const isEmpty = value === '' || (Array.isArray(value) && value.length === 0)
  return plan.property.shape.types.has('null') && !isEmpty ? 'null' : undefined
}

/**
 * Returns whether a blank field stands for no value, because the schema allows neither null nor a blank value. A stored
 * value that is blank itself must stay if nobody touches it.
 */
function canRemove (mode: FieldMode, plan: FieldPlan, value: unknown): boolean {
  const { takesEmpty, minItems, property: { shape: { types } } } = plan
  if (types.has('null') || mode === 'flag') return false
  if (mode === 'json') return true
  return hasContent(value) && (Array.isArray(value) ? minItems > 0 : !takesEmpty)
}

/** Returns whether the fields of a value are not all blank. */
function hasContent (value: unknown): boolean {
  return isStructure(value) ? Object.values(value).some(hasContent) : (value ?? '') !== ''
}
