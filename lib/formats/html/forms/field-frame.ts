import type { Messages } from '../../../errors.js'
import { MARKER } from '../../form/parse.js'
import type { PageMessages, Translate } from '../messages.js'
import { idOf } from '../names.js'
import { CachedModel, MarkupCache } from '../views/form-view.js'
import type { Constraints, Field, FieldFrame, FormError, InputField, TextField } from '../views/model.js'
import { capitalize } from '../../../util/capitalize.js'
import { findMark } from './blank-fields.js'
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
  readonly #isNew: boolean
  readonly #places = new WeakMap<FieldPlan, FieldPlace>()

  /** @param group the beginning of the names of the fields */
  constructor (messages: PageMessages, group: string, isNew: boolean) {
    this.messages = messages
    this.#group = group
    this.#isNew = isNew
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
    const mark = findMark(mode, plan, current, { isDemanded: this.#isDemanded(plan), isNew: this.#isNew, isMember })
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

const NONE: readonly string[] = Object.freeze([])
const NOTHING = new Map<string, readonly string[]>()

/** The names of a field in errors. */
export interface FieldSource {
  readonly id: string
  /** The path in errors: `author.name`. */
  readonly path: string
  /** The labels of the groups around the field, for a sentence outside of them. */
  readonly trail: string
  readonly label: string
}

/** The errors of a form. Each field takes its messages, and the rest belongs to the form. */
export class FieldErrors {
  readonly #messages: PageMessages
  readonly #translate: Translate
  /** The messages that no field has taken yet. Forms without errors share one empty map. */
  readonly #wrong: Map<string, readonly string[]>
  readonly #summary: FormError[] = []

  constructor (messages: PageMessages, translate: Translate, wrong: Messages | undefined) {
    this.#messages = messages
    this.#translate = translate
    this.#wrong = wrong === undefined ? NOTHING : new Map(Object.entries(wrong))
  }

  /** Whether no messages are left. */
  get isEmpty (): boolean {
    return this.#wrong.size === 0
  }

  /** Returns the messages of a field. A field without fields inside also takes those about parts of its value. */
  take ({ id, path, trail, label }: FieldSource, hasFields: boolean): readonly string[] {
    if (this.#wrong.size === 0) return NONE
    return [...this.#wrong].flatMap(([at, messages]) => {
      const isInside = !hasFields && at.startsWith(`${path}.`)
      if (at !== path && !isInside) return []
      this.#wrong.delete(at)
      const inside = isInside ? this.#inside(label, at.slice(path.length + 1)) : undefined
      return messages.map((message) => {
        const phrase = this.#translate(message)
        const text = capitalize(`${trail}${inside ?? label} ${phrase}`)
        this.#summary.push({ text, href: `#${encodeURI(id)}` })
        return capitalize(inside === undefined ? phrase : `${inside} ${phrase}`)
      })
    })
  }

  /** Names a part of a value: `1.name` in an array is in its second item. */
  #inside (label: string, path: string): string {
    const [, index, more = ''] = /^(\d+)\.?(.*)$/.exec(path) ?? []
    if (index === undefined) return path
    const item = this.#messages.item(label, Number(index) + 1)
    return more === '' ? item : `${item}: ${more}`
  }

  /** Returns all messages. Those that no field has taken come last. */
  close (): readonly FormError[] {
    for (const [path, messages] of this.#wrong) {
      const texts = messages.map((message) => `${path} ${this.#translate(message)}`)
      this.#summary.push(...texts.map((text) => ({ text, href: undefined })))
    }
    return this.#summary
  }
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
  declare readonly required: boolean
  declare readonly optional: boolean
  declare readonly errors: readonly string[]
  declare readonly hidden: FieldFrame['hidden']

  constructor (frame: FieldFrame, cache: MarkupCache | undefined) {
    super(cache)
    this.id = frame.id
    this.name = frame.name
    this.label = frame.label
    this.description = frame.description
    this.hint = frame.hint
    this.required = frame.required
    this.optional = frame.optional
    this.errors = frame.errors
    this.hidden = frame.hidden
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
