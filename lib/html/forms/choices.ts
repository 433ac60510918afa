import { MARKER } from '../../core/formats/form/parse.js'
import type { ChoiceRow, ReferenceChoices } from '../../core/formats/format.js'
import type { PageMessages } from '../messages.js'
import type { Field, FieldFrame, Option } from '../views/model.js'
import type { FieldPlan } from './field-plan.js'

/** The maximum number of choices that are shown as radio buttons. */
const RADIOS = 5

/** Returns the choices, with those of these texts selected. */
function select (choices: ReadonlyArray<Omit<Option, 'selected'>>, texts: readonly string[]): Option[] {
  return choices.map((choice) => ({ ...choice, selected: texts.includes(choice.value) }))
}

export function makeCheckboxes (
  frame: FieldFrame,
  item: FieldPlan,
  texts: readonly string[],
  messages: PageMessages
): Field {
  return { control: 'checkboxes', options: select(choicesOf(item, messages), texts), ...frame }
}

export function makeChoice (frame: FieldFrame, plan: FieldPlan, text: string, messages: PageMessages): Field {
  const known = choicesOf(plan, messages)
  const others = [
    ...(frame.optional || plan.property.shape.types.has('null') ? [''] : []),
    ...(known.some(({ value }) => value === text) ? [] : [text])
  ]
  const added = [...new Set(others)].map((value) => ({ value, label: value === '' ? messages.none : value }))
  const options = select([...added, ...known], [text])
  // A required field has no choice "none", but must not preselect another one either.
  const isBlank = frame.required && text === ''
  if (options.length <= RADIOS && !plan.isCell) {
    return { control: 'radios', options: isBlank ? options.filter(({ value }) => value !== '') : options, ...frame }
  }
  const ask = (option: Option): Option => option.value === '' ? { ...option, label: messages.choose } : option
  // Only a select whose first option is blank may be required (HTML §4.10.7). Any other one always has a value.
  return { control: 'select', options: isBlank ? options.map(ask) : options, ...frame, required: isBlank }
}

/** Makes the choice of a row that an attribute references. A row that the form does not list is called by its id. */
export function makeReference (
  frame: FieldFrame,
  text: string,
  { rows, names }: ReferenceChoices,
  { none, choose, chooseFilter, chooseOne }: PageMessages
): Field {
  const isBlank = text === ''
  if (rows === undefined) {
    const { name, label, hidden } = frame
    const button = { name: `${name}[${MARKER}][choose]`, value: '', label: chooseFilter, spoken: chooseOne(label) }
    const known = isBlank ? (frame.required ? choose : none) : names.get(text) ?? text
    return { ...frame, control: 'reference', text: known, choose: button, hidden: [...hidden, { name, value: text }] }
  }
  const all = [
    ...(!frame.required ? [{ value: '', label: none }] : isBlank ? [{ value: '', label: choose }] : []),
    ...(isBlank || rows.some(({ id }) => String(id) === text) ? [] : [{ value: text, label: names.get(text) ?? text }]),
    ...rows.map((row) => ({ value: String(row.id), label: nameAmong(row, rows) }))
  ]
  return { control: 'select', options: select(all, [text]), ...frame, required: frame.required && isBlank }
}

/** Returns the name of a row, with its id if another row has the same name. */
export function nameAmong ({ id, name }: ChoiceRow, rows: readonly ChoiceRow[]): string {
  return rows.filter((other) => other.name === name).length === 1 ? name : `${name} (${id})`
}

/** Returns the values of a choice as texts, with their labels. */
export function choicesOf (
  { property: { shape: { choices, titles } } }: FieldPlan,
  { yes, no }: PageMessages
): ReadonlyArray<{ readonly value: string, readonly label: string }> {
  if (choices === undefined) return [{ value: 'true', label: yes }, { value: 'false', label: no }]
  return [...new Set(choices)].map((choice) => ({ value: String(choice), label: titles.get(choice) ?? String(choice) }))
}
