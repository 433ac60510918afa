import { isDate } from '../../../schema/date-time.js'
import { MARKER, markerOf } from '../../form/markers.js'
import type { PageMessages } from '../messages.js'
import { LONGEST_ADDRESS } from '../values/render-value.js'
import type { Constraints, Field, FieldFrame, InputField, Option, TextField } from '../views/model.js'
import { type Current, shownText, textsOf, withSeconds } from './current.js'
import { choicesOf, type FieldMode, type FieldPlan, type Moment, splitMoment } from './field-plan.js'

/** Up to so many choices are shown at once. */
const RADIOS = 5
const NO_CONSTRAINTS: Constraints = {}

/**
 * The field of a value that is edited by one control. The frame stands last in each: V8 takes long to add members to
 * the copy of a large object.
 */
export function makeControl (
  frame: FieldFrame,
  mode: Exclude<FieldMode, 'group' | 'rows'>,
  { plan, current, messages }: { readonly plan: FieldPlan, readonly current: Current, readonly messages: PageMessages }
): Field {
  const { controls: { textarea }, property: { shape } } = plan
  const text = shownText(mode, current)
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
      return text.includes('\n') ? makeTextarea(frame, text, 4, textarea) : makeInput(frame, plan, text)
    case 'text':
      return makeTextarea(frame, text, shape.only === 'string' ? 5 : 2, textarea)
    default:
      return { ...makeTextarea(frame, text, 4, NO_CONSTRAINTS), code: mode === 'json' }
  }
}

function select (choices: ReadonlyArray<Omit<Option, 'selected'>>, texts: readonly string[]): Option[] {
  return choices.map((choice) => ({ ...choice, selected: texts.includes(choice.value) }))
}

function makeCheckboxes (
  frame: FieldFrame,
  item: FieldPlan,
  texts: readonly string[],
  messages: PageMessages
): Field {
  return { control: 'checkboxes', options: select(choicesOf(item, messages), texts), ...frame }
}

function makeChoice (frame: FieldFrame, plan: FieldPlan, text: string, messages: PageMessages): Field {
  const known = choicesOf(plan, messages)
  const others = [
    ...(plan.property.shape.types.has('null') ? [''] : []),
    ...(known.some(({ value }) => value === text) ? [] : [text])
  ]
  const added = [...new Set(others)].map((value) => ({ value, label: value === '' ? messages.none : value }))
  const options = select([...added, ...known], [text])
  // There is nothing to choose yet where something must be chosen.
  const isBlank = frame.required && text === ''
  if (options.length <= RADIOS) {
    return { control: 'radios', options: isBlank ? options.filter(({ value }) => value !== '') : options, ...frame }
  }
  const unlabelled = (option: Option): Option => option.value === '' ? { ...option, label: '' } : option
  return { control: 'select', options: isBlank ? options.map(unlabelled) : options, ...frame }
}

function makeMoment (frame: FieldFrame, current: Current, text: string): Field {
  const { id, name, hidden } = frame
  const { local, step, offset } = momentOf(current, text)
  const was = current.node === undefined ? text : markerOf(current.node, 'was') ?? ''
  return {
    ...frame,
    control: 'moment',
    value: local,
    step,
    offset: { id: `${id}!offset`, name: `${name}[${MARKER}][offset]`, value: offset },
    hidden: was === '' ? hidden : [...hidden, { name: `${name}[${MARKER}][was]`, value: was }]
  }
}

function momentOf ({ node }: Current, text: string): Moment {
  if (node === undefined) return splitMoment(text) ?? { local: '', offset: 'Z', step: undefined }
  return { local: text, offset: markerOf(node, 'offset') ?? 'Z', step: splitMoment(withSeconds(text))?.step }
}

function makeTextarea (frame: FieldFrame, value: string, rows: number, constraints: Constraints): TextField {
  return { control: 'textarea', value, rows, code: false, constraints, ...frame }
}

function makeInput (frame: FieldFrame, plan: FieldPlan, value: string): InputField {
  const type = inputType(plan, value)
  return { control: 'input', type, value, constraints: constraintsOf(plan, type, value), ...frame }
}

function constraintsOf ({ controls, constraints }: FieldPlan, type: InputField['type'], text: string): Constraints {
  if (type === 'date') return NO_CONSTRAINTS
  if (type !== 'number') return controls.line
  const { min, step } = constraints
  // Where there is no least number, the steps begin at the number that the control has (HTML §4.10.5.3.8).
  return min === undefined && step !== undefined && !isOnStep(text, step) ? controls.anyNumber : controls.number
}

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
  if (format === 'date') return text === '' || isDate(text) ? 'date' : 'text'
  if (format === 'email') return text === '' || (text.length <= LONGEST_ADDRESS && EMAIL.test(text)) ? 'email' : 'text'
  const isUrl = (format === 'uri' || format === 'url') && (text === '' || (text.trim() === text && URL.canParse(text)))
  return isUrl ? 'url' : 'text'
}
