import { idProperty, type Resource } from '../../core/resource/resource.js'
import { compileText, parseBoolean } from '../../core/schema/convert-text.js'
import { MOMENT_FORMATS } from '../../core/schema/date-time.js'
import type { Operator } from '../../core/stores/store.js'
import { capitalize } from '../../core/util/words.js'
import { CONDITION_FIELDS, type OpenCondition } from '../../core/formats/form/condition.js'
import type { LinkedRows, WriterContext } from '../../core/formats/format.js'
import type { HtmlListView } from '../content.js'
import { choicesOf } from '../forms/choices.js'
import { FLOAT } from '../forms/controls.js'
import { compileFieldPlan, type FieldPlan } from '../forms/field-plan.js'
import type { PageMessages, Translate } from '../messages.js'
import { compileMoments } from '../values/date-time.js'
import type { AddCondition, ConditionForm, FilterForm, HiddenField, Option } from '../views/model.js'
import { linkTo } from './links.js'

/**
 * Makes the filter of a list, or returns `undefined` if there is nothing to filter by. If its links must not repeat the
 * query, it has only the link that clears it, and the fields of a condition that was refused.
 */
export type MakeFilter = (view: HtmlListView, isRepeated: boolean) => FilterForm | undefined

/** The dependencies of a filter. */
export interface FilterSource {
  readonly resource: Pick<Resource, 'attributes' | 'idType'>
  readonly context: Pick<WriterContext, 'filterable' | 'conditions' | 'hasSearch'>
  readonly messages: PageMessages
  readonly translate: Translate
  /** The language of the pages. */
  readonly lang: string
  readonly timeZone: string | undefined
  /** The names of the attributes that the form offers, or `undefined` for all. */
  readonly offered: ReadonlySet<string> | undefined
}

/** A condition that a query may have. */
interface KnownCondition {
  readonly parameter: string
  readonly operator: Operator
  readonly plan: FieldPlan
}

/** The operators in the order of the form, which begins with the first one. Only URLs have lists of values. */
const OPERATORS: readonly Operator[] = ['contains', 'starts', 'gte', 'lte', 'gt', 'lt', 'eq', 'not', 'null']
const OPERATORS_OF_CHOICES: readonly Operator[] = ['eq', 'not', 'null']

/** Compiles the filter of a list. */
export function compileFilter (source: FilterSource): MakeFilter {
  const { context: { hasSearch }, messages } = source
  const known = findConditions(source)
  if (known.size === 0 && !hasSearch) return () => undefined
  const describe = compileDescription(source)
  const add = compileAdd(known, source)
  const openForm = compileOpen(known, source)

  return (view, isRepeated) => {
    const { path, parameters, openCondition, links } = view
    const asked = Object.keys(parameters).filter((name) => known.has(name))
    const isWhole = isRepeated || openCondition !== undefined
    const search = hasSearch && isWhole ? makeSearch(parameters.q, openCondition, source) : undefined
    const isOpen = openCondition !== undefined && known.has(openCondition.parameter)
    const open = isOpen ? openForm(openCondition, view) : undefined
    if (search === undefined && add === undefined && asked.length === 0 && open === undefined) return undefined
    const names = parameters.q === undefined ? asked : [...asked, 'q']
    const without = Object.fromEntries(names.map((name) => [name, undefined]))
    return {
      action: path,
      hidden: hiddenOf(view),
      search,
      conditions: (isRepeated ? asked : []).map((name) => {
        const text = describe(known.get(name) as KnownCondition, parameters[name] as string, links)
        const href = linkTo(view, { [name]: undefined })
        return { text, remove: { label: messages.removeCondition(text), href } }
      }),
      add: open === undefined && isWhole ? add : undefined,
      open,
      clear: names.length === 0
        ? undefined
        : { label: messages.clearFilter, href: linkTo(view, without) }
    }
  }
}

/** Returns the fields that keep the other parameters of a query. */
function hiddenOf ({ parameters }: HtmlListView): HiddenField[] {
  const fields: HiddenField[] = []
  for (const name in parameters) if (name !== 'q') fields.push({ name, value: parameters[name] as string })
  return fields
}

/** Returns the conditions that a query may have, by their parameters, in the order of the schema. */
function findConditions ({ resource, context, messages }: FilterSource): ReadonlyMap<string, KnownCondition> {
  const { filterable, conditions } = context
  const id = { ...idProperty(resource.idType), schema: { title: messages.id } }
  return new Map([...resource.attributes.values(), id].flatMap((property): Array<[string, KnownCondition]> => {
    const { name } = property
    const all = [
      ...(filterable.includes(name) ? [{ parameter: name, operator: 'eq' as const }] : []),
      ...conditions.filter(({ attribute }) => attribute === name)
    ]
    if (all.length === 0) return []
    const plan = compileFieldPlan(property)
    return all.map(({ parameter, operator }) => [parameter, { parameter, operator, plan }])
  }))
}

/** Returns the conditions on an attribute that the form offers, in their order. */
function offeredOf (known: ReadonlyMap<string, KnownCondition>, { property, mode }: FieldPlan): KnownCondition[] {
  const { name, required, shape: { types } } = property
  const canBeBlank = !required || types.has('null')
  const operators = mode === 'choice' ? OPERATORS_OF_CHOICES : OPERATORS
  const all = [...known.values()].filter(({ plan }) => plan.property.name === name)
  return operators.flatMap((operator) =>
    all.filter((condition) => condition.operator === operator && (operator !== 'null' || canBeBlank)))
}

/** Compiles the choice of an attribute for one more condition. Each has the parameter of its first operator. */
function compileAdd (
  known: ReadonlyMap<string, KnownCondition>,
  { messages, offered }: FilterSource
): AddCondition | undefined {
  const plans = new Map([...known.values()].map(({ plan }) => [plan.property.name, plan]))
  const options = [...plans].flatMap(([name, plan]) => {
    // Only links, such as those of other apps, ask for ids.
    const [first] = name === 'id' || offered?.has(name) === false ? [] : offeredOf(known, plan)
    return first === undefined ? [] : [{ value: first.parameter, label: plan.label, selected: false }]
  })
  if (options.length === 0) return undefined
  return {
    id: 'filter!by',
    name: CONDITION_FIELDS.by,
    label: messages.filterBy,
    options: [{ value: '', label: messages.filterBy, selected: true }, ...options],
    submit: messages.chooseFilter
  }
}

function makeSearch (
  given: string | undefined,
  condition: OpenCondition | undefined,
  { messages, translate }: FilterSource
): FilterForm['search'] {
  const refused = condition?.parameter === 'q' ? condition : undefined
  const { value = given ?? '', error } = refused ?? {}
  return { id: 'filter!q', name: 'q', label: messages.search, value, error: error && capitalize(translate(error)) }
}

/** Compiles the fields of the condition that is open. */
function compileOpen (
  known: ReadonlyMap<string, KnownCondition>,
  { messages, translate }: FilterSource
): (condition: OpenCondition, view: HtmlListView) => ConditionForm {
  return ({ parameter, value, error }, view) => {
    const asked = known.get(parameter) as KnownCondition
    const { plan } = asked
    const offered = offeredOf(known, plan)
    const all = offered.includes(asked) ? offered : [...offered, asked]
    return {
      label: plan.label,
      operator: {
        id: 'filter!by',
        name: CONDITION_FIELDS.by,
        options: all.flatMap((condition) => optionsOf(condition, asked, messages))
      },
      value: { id: 'filter!value', name: CONDITION_FIELDS.value, value, ...controlOf(asked, value, messages) },
      error: error && capitalize(translate(error)),
      submit: messages.applyFilter,
      cancel: { label: messages.cancel, href: linkTo(view, {}) }
    }
  }
}

/** Returns the choices of an operator. `null` is two of them, because it needs no value. */
function optionsOf (
  { parameter, operator, plan }: KnownCondition,
  asked: KnownCondition,
  messages: PageMessages
): Option[] {
  const isTime = isMoment(plan)
  const selected = asked.parameter === parameter
  if (operator !== 'null') return [{ value: parameter, label: messages.operator(operator, '', isTime), selected }]
  return ['true', 'false'].map((value) =>
    ({ value: `${parameter}=${value}`, label: messages.operator(operator, value, isTime), selected: false }))
}

/** Returns the control of a value: that of the attribute, if it can show the text and suits the operator. */
function controlOf (
  { operator, plan }: KnownCondition,
  value: string,
  messages: PageMessages
): Pick<ConditionForm['value'], 'type' | 'options'> {
  const { mode, property: { shape: { only, format = '' } } } = plan
  if (operator === 'in') return { type: 'text', options: undefined }
  if (mode === 'choice') {
    const given = spell(value, plan)
    const options = choicesOf(plan, messages).map((choice) => ({ ...choice, selected: choice.value === given }))
    if (value === '' || options.some(({ selected }) => selected)) return { type: 'text', options }
  }
  const isNumber = only === 'integer' || only === 'number' || format === 'decimal'
  const type = isNumber ? 'number' : CONTROLS.get(format) ?? 'text'
  // A browser empties a control with another text. A date or a time is only refused if it is such a text.
  const suits = value === '' || (isNumber && FLOAT.test(value))
  return { type: suits ? type : 'text', options: undefined }
}

/** The controls of dates and times, by the formats of attributes. That of a date and time has no offset from UTC. */
const CONTROLS: ReadonlyMap<string, ConditionForm['value']['type']> = new Map([
  ['date', 'date'], ['date-time', 'datetime-local'], ['date-time-local', 'datetime-local'], ['time-local', 'time']
] as const)

/** Returns whether the values are dates or times. */
function isMoment ({ property: { shape: { format = '' } } }: FieldPlan): boolean {
  return MOMENT_FORMATS.has(format)
}

/** Returns the value as the choice spells it: `true` for `1`. */
function spell (given: string, { property: { shape } }: FieldPlan): string {
  const value = compileText(shape)(given)
  return typeof value === 'symbol' ? given : String(value ?? '')
}

/** Compiles the description of a condition: `Status is Draft`. */
function compileDescription (
  { messages, lang, timeZone }: FilterSource
): (condition: KnownCondition, given: string, links: LinkedRows) => string {
  const moments = compileMoments(lang, timeZone)
  /** Writes a value as the pages do: a row by its name, a choice by its title, a date as the language does. */
  const write = (given: string, plan: FieldPlan, links: LinkedRows): string => {
    const { mode, property: { name, shape } } = plan
    const linked = links.get(name)?.get(compileText(shape)(given))?.name
    if (linked !== undefined) return linked
    if (mode !== 'choice') return moments.get(shape.format ?? '')?.(given)?.shown ?? given
    const value = spell(given, plan)
    return choicesOf(plan, messages).find((choice) => choice.value === value)?.label ?? value
  }
  return ({ operator, plan }, given, links) => {
    const { label } = plan
    const isTime = isMoment(plan)
    if (operator === 'null') return messages.condition(label, operator, String(parseBoolean(given)), isTime)
    if (operator === 'in') {
      const values = writeList(given, (value) => write(value, plan, links), messages)
      return messages.condition(label, operator, values, isTime)
    }
    return given === '' || (plan.mode === 'choice' && spell(given, plan) === '')
      ? messages.condition(label, 'null', 'true', isTime)
      : messages.condition(label, operator, write(given, plan, links), isTime)
  }
}

/** Writes a list of values for people: without the backslashes, and with the commas of the language. */
function writeList (text: string, write: (value: string) => string, { listed }: PageMessages): string {
  return text.replaceAll(/(?:\\.|[^,\\])+|,/gs, (part) =>
    part === ',' ? listed('', '') : write(part.replaceAll(/\\(.)/gs, '$1')))
}
