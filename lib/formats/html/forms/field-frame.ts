import { isObject, isStructure } from '../../../util/own-property.js'
import { MARKER, markerOf } from '../../form/parse.js'
import type { PageMessages } from '../messages.js'
import { idOf } from '../names.js'
import { CachedModel, MarkupCache } from '../views/form-view.js'
import type { Constraints, Field, FieldFrame, InputField, TextField } from '../views/model.js'
import type { Current, FieldMode, FieldPlan } from './field-plan.js'

/** The place of a field in a form. */
export interface FieldPlace extends FieldSource {
  readonly name: string
  /** Whether the field is in a group that may be left blank as a whole. */
  readonly blankAround: boolean
  /** Whether the field is a member of an object, which may lack it. */
  readonly isMember: boolean
  /** The parts that all forms share. Only attributes have them. */
  readonly kept?: { readonly frames: KeptFrame[], readonly fields: Map<unknown, Field> }
}

/** A frame that all forms share. */
interface KeptFrame {
  readonly mode: FieldMode
  readonly mark: string | undefined
  readonly frame: FieldFrame
  readonly cache: FieldCache
}

/** Makes the parts of fields that do not depend on their values. Those of attributes are made once. */
export class FieldFrames {
  readonly messages: PageMessages
  readonly #group: string
  /** Whether the form is for a new row. */
  readonly isNew: boolean
  readonly #places = new WeakMap<FieldPlan, FieldPlace>()

  /** @param group the beginning of the names of the fields */
  constructor (messages: PageMessages, group: string, isNew: boolean) {
    this.messages = messages
    this.#group = group
    this.isNew = isNew
  }

  /** Returns the place of an attribute. */
  placeOf (plan: FieldPlan): FieldPlace {
    const known = this.#places.get(plan)
    if (known !== undefined) return known
    const { label, property: { name: path } } = plan
    const name = `${this.#group}[${path}]`
    const kept = { frames: [], fields: new Map() }
    const place = { id: idOf(name), name, path, trail: '', label, blankAround: false, isMember: false, kept }
    this.#places.set(plan, place)
    return place
  }

  /** Returns the frame of a field, without its errors. */
  frame (
    mode: FieldMode,
    plan: FieldPlan,
    current: Current,
    place: FieldPlace
  ): { readonly frame: FieldFrame, readonly cache?: FieldCache } {
    const { isMember } = place
    const mark = findMark(mode, plan, current, { isDemanded: this.#isDemanded(plan), isNew: this.isNew, isMember })
    // A sent mark may be any text, so a list of them would have no bound.
    if (place.kept === undefined || current.node !== undefined) return { frame: this.#make(mode, plan, mark, place) }
    const { frames } = place.kept
    for (const known of frames) if (known.mode === mode && known.mark === mark) return known
    const added = { mode, mark, frame: this.#make(mode, plan, mark, place), cache: new FieldCache() }
    frames.push(added)
    return added
  }

  #make (mode: FieldMode, plan: FieldPlan, mark: string | undefined, place: FieldPlace): FieldFrame {
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
  #removal (mode: FieldMode, { property }: FieldPlan, { id, name, label, kept }: FieldPlace): FieldFrame['removal'] {
    const { required, writeOnly, shape: { types } } = property
    const takesNull = types.has('null')
    if (!writeOnly || this.isNew || kept === undefined || (required && !takesNull)) return undefined
    const mark = takesNull ? 'null' : 'removed'
    return {
      id: `${id}!removal`,
      name: `${name}[${MARKER}]`,
      value: mode === 'json' ? `json-${mark}` : mark,
      label: this.messages.removeHidden(label),
      checked: false
    }
  }

  #isDemanded ({ property: { required, writeOnly } }: FieldPlan): boolean {
    return required && (this.isNew || !writeOnly)
  }

  #hint (mode: FieldMode, plan: FieldPlan): string | undefined {
    const { keepHidden } = this.messages
    const hint = this.#hintOfMode(mode, plan)
    return !plan.property.writeOnly || this.isNew ? hint : hint === undefined ? keepHidden : `${hint} ${keepHidden}`
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

/** The names of a field in errors. */
export interface FieldSource {
  readonly id: string
  /** The path in errors: `author.name`. */
  readonly path: string
  /** The labels of the groups around the field, for a sentence outside of them. It is empty outside of groups. */
  readonly trail: string
  readonly label: string
}

type InputTemplate = Omit<InputField, 'value'>
type TextTemplate = Omit<TextField, 'value'>

/** The models that fields of one frame share, and their markup. Such fields differ in their text only. */
export class FieldCache {
  readonly #inputs: Array<{ readonly template: InputTemplate, readonly cache: MarkupCache }> = []
  readonly #texts: Array<{ readonly template: TextTemplate, readonly cache: MarkupCache }> = []

  input (frame: FieldFrame, type: InputField['type'], constraints: Constraints, value: string): Field {
    let known = this.#inputs.find(({ template }) => template.type === type && template.constraints === constraints)
    if (known === undefined) {
      known = { template: makeInputTemplate(frame, type, constraints), cache: new MarkupCache() }
      this.#inputs.push(known)
    }
    return new InputModel(known.template, value, known.cache)
  }

  text (frame: FieldFrame, own: TextControl, value: string): Field {
    const { rows, constraints } = own
    let known = this.#texts.find(({ template }) => template.rows === rows && template.constraints === constraints)
    if (known === undefined) {
      known = { template: { control: 'textarea', ...own, ...frame }, cache: new MarkupCache() }
      this.#texts.push(known)
    }
    // The markup of a leading line feed differs: browsers drop it, so the view writes another one before it.
    return new TextModel(known.template, value, value.startsWith('\n') ? undefined : known.cache)
  }
}

export type TextControl = Pick<TextField, 'rows' | 'code' | 'constraints'>

export function makeInputTemplate (
  frame: FieldFrame,
  type: InputField['type'],
  constraints: Constraints
): InputTemplate {
  return { control: 'input', type, constraints, ...frame }
}

/**
 * The members of a field besides its control. Each is assigned by name, because a spread takes several times as long.
 */
class FrameModel extends CachedModel implements FieldFrame {
  declare readonly id: string
  declare readonly name: string
  declare readonly label: string
  declare readonly description: string | undefined
  declare readonly hint: string | undefined
  declare readonly autofocus: boolean
  declare readonly width: FieldFrame['width']
  declare readonly required: boolean
  declare readonly optional: boolean
  declare readonly errors: readonly string[]
  declare readonly hidden: FieldFrame['hidden']
  declare readonly removal: FieldFrame['removal']

  constructor (frame: FieldFrame, cache: MarkupCache | undefined) {
    super(cache)
    this.id = frame.id
    this.name = frame.name
    this.label = frame.label
    this.description = frame.description
    this.hint = frame.hint
    this.autofocus = frame.autofocus
    this.width = frame.width
    this.required = frame.required
    this.optional = frame.optional
    this.errors = frame.errors
    this.hidden = frame.hidden
    this.removal = frame.removal
  }
}

/** A field of one line. */
export class InputModel extends FrameModel implements InputField {
  readonly control = 'input'
  declare readonly type: InputField['type']
  declare readonly value: string
  declare readonly constraints: InputField['constraints']

  constructor (template: Omit<InputField, 'value'>, value: string, cache?: MarkupCache) {
    super(template, cache)
    this.type = template.type
    this.value = value
    this.constraints = template.constraints
  }
}

/** A field of several lines. */
export class TextModel extends FrameModel implements TextField {
  readonly control = 'textarea'
  declare readonly value: string
  declare readonly rows: number
  declare readonly code: boolean
  declare readonly constraints: TextField['constraints']

  constructor (template: Omit<TextField, 'value'>, value: string, cache?: MarkupCache) {
    super(template, cache)
    this.value = value
    this.rows = template.rows
    this.code = template.code
    this.constraints = template.constraints
  }
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
