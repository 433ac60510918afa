import { idProperty, type Resource } from '../../core/resource/resource.js'
import { compileText, hasSpelledDates, parseBoolean } from '../../core/schema/convert-text.js'
import { MOMENT_FORMATS } from '../../core/schema/date-time.js'
import type { Property } from '../../core/schema/shape.js'
import type { Operator } from '../../core/stores/store.js'
import { capitalize } from '../../core/util/words.js'
import { choiceParameter, FILTER_PARAMETERS, type OpenCondition } from '../../core/formats/form/condition.js'
import type { LinkedRows, ListedRows, NameChoiceField, WriterContext } from '../../core/formats/format.js'
import type { HtmlListView } from '../content.js'
import { choicesOf, nameAmong } from '../forms/choices.js'
import { FLOAT } from '../forms/controls.js'
import { compileFieldPlan, type FieldPlan } from '../forms/field-plan.js'
import type { PageMessages, Translate } from '../messages.js'
import { labelOf } from '../names.js'
import { compileMoments } from '../values/date-time.js'
import { findPeriods } from '../values/periods.js'
import type {
  AddCondition, ConditionForm, FilterForm, HiddenField, Option, RangeForm, SearchField, ValueLinks
} from '../views/model.js'
import { linkTo } from './links.js'
import { MOST_FIGURED } from './sums.js'

/** What a filter shows of a request. */
export interface FilterView extends Pick<HtmlListView, 'path' | 'parameters' | 'openCondition' | 'links'> {
  /** The rows that the open condition can name. @default none are known */
  readonly choices?: HtmlListView['choices']
  /** Returns the name of a field if the filter stands in a form that is kept. @default the name of a query parameter */
  readonly nameOf?: NameChoiceField
  /** The numbers of the rows to which links lead. @default none are known */
  readonly figures?: HtmlListView['figures']
}

/** The filter of a list. */
export interface ListFilter {
  /** The most links that repeat the query, besides those that remove a condition. */
  readonly links: number
  /**
   * Makes the filter, or returns `undefined` if there is nothing to filter by. If its links must not repeat the query,
   * it has only the link that clears it, and the fields of a condition that was refused.
   */
  make (view: FilterView, isRepeated: boolean): FilterForm | undefined
  /** Counts the rows to which the links of categories lead, unless the list without conditions has too many rows. */
  count (listed: ListedRows): Promise<ReadonlyMap<string, number>>
}

/** The dependencies of a filter. */
export interface FilterSource {
  readonly resource: Pick<Resource, 'attributes' | 'idType'>
  readonly context: Pick<WriterContext, 'filterable' | 'conditions' | 'searchable' | 'references'>
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
const OPERATORS_OF_DAYS: readonly Operator[] = ['gte', 'lte', 'null']

/** Compiles the filter of a list. */
export function compileFilter (source: FilterSource): ListFilter {
  const { context: { searchable }, messages } = source
  const hasSearch = searchable.length > 0
  const known = findConditions(source)
  if (known.size === 0 && !hasSearch) return { links: 0, make: () => undefined, count: async () => new Map() }
  const placeholder = nameSearched(source)
  const describe = compileDescription(source)
  const add = compileAdd(known, source)
  const openForm = compileOpen(known, source)
  const openRange = compileRange(known, source)
  const categoriesOf = compileCategories(known, source)
  const digits = new Intl.NumberFormat(source.lang)

  function make (view: FilterView, isRepeated: boolean): FilterForm | undefined {
    const { path, parameters, openCondition, links, nameOf } = view
    const asked = Object.keys(parameters).filter((name) => known.has(name))
    const isWhole = isRepeated || openCondition !== undefined
    const search = hasSearch && isWhole ? { ...makeSearch(view, source), placeholder } : undefined
    const isOpen = openCondition !== undefined && known.has(openCondition.parameter)
    const range = isOpen ? openRange(openCondition, view) : undefined
    const open = isOpen && range === undefined ? openForm(openCondition, view) : undefined
    if (search === undefined && add === undefined && asked.length === 0 && !isOpen) return undefined
    const names = parameters.q === undefined ? asked : [...asked, 'q']
    const without = Object.fromEntries(names.map((name) => [name, undefined]))
    return {
      action: path,
      hidden: hiddenOf(view),
      opener: nameOf?.('open'),
      search,
      conditions: (isRepeated ? asked : []).map((name) => {
        const text = describe(known.get(name) as KnownCondition, parameters[name] as string, links)
        const href = linkTo(view, { [name]: undefined })
        return { text, remove: { label: messages.removeCondition(text), href } }
      }),
      values: isRepeated ? linkCategories(categoriesOf(parameters), view, digits) : [],
      add: !isOpen && isWhole && add !== undefined ? { ...add, name: fieldName('on', view) } : undefined,
      open,
      range,
      clear: names.length === 0
        ? undefined
        : { label: messages.clearFilter, href: linkTo(view, without) }
    }
  }
  return {
    links: categoriesOf({}).flatMap(({ choices }) => choices).length,
    make,
    count: (listed) => countCategories(categoriesOf(listed.parameters), listed)
  }
}

/** Returns the name of a field of the filter. */
function fieldName (field: keyof typeof FILTER_PARAMETERS, { nameOf }: Pick<FilterView, 'nameOf'>): string {
  return nameOf?.(field) ?? FILTER_PARAMETERS[field]
}

/** Returns the fields that keep the other parameters of a query. */
function hiddenOf ({ parameters, nameOf }: FilterView): HiddenField[] {
  const { q, ...others } = parameters
  if (nameOf !== undefined) return [{ name: nameOf('choose'), value: new URLSearchParams(others).toString() }]
  return Object.entries(others).map(([name, value]) => ({ name, value }))
}

/** The most attributes whose values are links, the most values of each, and the most that are counted. */
const MOST_WITH_LINKS = 3
const MOST_VALUE_LINKS = 8
const MOST_COUNTS = 20
/** The time after which the next count is not begun, in milliseconds. A database may compute a whole view for each. */
const LONGEST_COUNTS = 1000

/** The values of an attribute that links lead to. */
interface Category {
  readonly parameter: string
  readonly label: string
  readonly choices: ReturnType<typeof choicesOf>
  /** The value that all rows of the list have, or `undefined` if the query has no such condition. */
  readonly chosen: string | undefined
}

/** Compiles the enumerations and flags that a query has no condition on, unless it asks for one of their values. */
function compileCategories (
  known: ReadonlyMap<string, KnownCondition>,
  { messages, offered }: FilterSource
): (parameters: FilterView['parameters']) => readonly Category[] {
  const all = [...known].flatMap(([parameter, { operator, plan }]) => {
    const { mode, label, property: { name } } = plan
    if (operator !== 'eq' || mode !== 'choice' || offered?.has(name) === false) return []
    const choices = choicesOf(plan, messages)
    return choices.length > MOST_VALUE_LINKS ? [] : [{ name, parameter, label, choices, plan }]
  }).slice(0, MOST_WITH_LINKS)
  return (parameters) => {
    const asked = Object.keys(parameters)
    return all.flatMap(({ name, plan, ...category }) => {
      const { parameter, choices } = category
      const chosen = asked.includes(parameter) ? spell(parameters[parameter] as string, plan) : undefined
      const isOther = asked.some((other) => other !== parameter && known.get(other)?.plan.property.name === name)
      const isKnown = chosen === undefined || choices.some(({ value }) => value === chosen)
      return isKnown && !isOther ? [{ ...category, chosen }] : []
    })
  }
}

/** Returns the links to the rows of each category, with their numbers as far as they are known. */
function linkCategories (categories: readonly Category[], view: FilterView, digits: Intl.NumberFormat): ValueLinks[] {
  return categories.map(({ parameter, label, choices, chosen }) => ({
    label,
    links: choices.map(({ value, label }) => {
      const count = view.figures?.counts.get(`${parameter}=${value}`)
      const isChosen = value === chosen
      const href = linkTo(view, { [parameter]: isChosen ? undefined : value })
      return { label, href, isChosen, count: count === undefined ? undefined : digits.format(count) }
    })
  }))
}

/**
 * Counts the rows of each category, one after another. An attribute with which there would be too many counts has none,
 * and if they take too long, there are none at all. The store may look at each row for each count, so the list must be
 * short without its conditions, too.
 */
async function countCategories (categories: readonly Category[], listed: ListedRows): Promise<Map<string, number>> {
  const counts = new Map<string, number>()
  const begun = performance.now()
  if (categories.length === 0 || (await listed.count({}) ?? Infinity) > MOST_FIGURED) return counts
  let planned = 0
  for (const { parameter, choices } of categories) {
    planned += choices.length
    if (planned > MOST_COUNTS) break
    for (const { value } of choices) {
      if (performance.now() - begun > LONGEST_COUNTS) return new Map()
      const rows = await listed.count({ ...listed.parameters, [parameter]: value })
      if (rows !== undefined) counts.set(`${parameter}=${value}`, rows)
    }
  }
  return counts
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
function offeredOf (
  known: ReadonlyMap<string, KnownCondition>,
  { property, mode }: FieldPlan,
  { context: { references } }: Pick<FilterSource, 'context'>
): KnownCondition[] {
  const { name, required, shape: { types } } = property
  const canBeBlank = !required || types.has('null')
  const operators = mode === 'choice' || references.has(name)
    ? OPERATORS_OF_CHOICES
    : hasSpelledDates(property) ? OPERATORS_OF_DAYS : OPERATORS
  const all = [...known.values()].filter(({ plan }) => plan.property.name === name)
  return operators.flatMap((operator) =>
    all.filter((condition) => condition.operator === operator && (operator !== 'null' || canBeBlank)))
}

/** Compiles the choice of an attribute for one more condition. Each has the parameter of its first operator. */
function compileAdd (
  known: ReadonlyMap<string, KnownCondition>,
  source: FilterSource
): Omit<AddCondition, 'name'> | undefined {
  const { messages, offered } = source
  const plans = new Map([...known.values()].map(({ plan }) => [plan.property.name, plan]))
  const options = [...plans].flatMap(([name, plan]) => {
    // Only links, such as those of other apps, ask for ids.
    const [first] = name === 'id' || offered?.has(name) === false ? [] : offeredOf(known, plan, source)
    return first === undefined ? [] : [{ value: first.parameter, label: plan.label, selected: false }]
  })
  if (options.length === 0) return undefined
  return {
    id: 'filter!by',
    label: messages.filterBy,
    options: [{ value: '', label: messages.filterBy, selected: true }, ...options],
    submit: messages.chooseFilter
  }
}

/** The most attributes that a search names. */
const MOST_SEARCHED = 3

/** Returns the labels of the attributes in which a search looks, as far as there is room for them. */
function nameSearched ({ resource: { attributes }, context: { searchable }, messages }: FilterSource): string {
  const labels = searchable.slice(0, MOST_SEARCHED).map((name) => labelOf(attributes.get(name) as Property))
  const text = labels.length === 0 ? '' : labels.reduce(messages.listed)
  const more = searchable.length - labels.length
  return more === 0 ? text : `${text} +${more}`
}

function makeSearch (view: FilterView, { messages, translate }: FilterSource): Omit<SearchField, 'placeholder'> {
  const { parameters, openCondition: condition, nameOf } = view
  const refused = condition?.parameter === 'q' ? condition : undefined
  const { value = parameters.q ?? '', error } = refused ?? {}
  return {
    id: 'filter!q',
    name: fieldName('search', view),
    label: messages.search,
    value,
    error: error && capitalize(translate(error)),
    autofocus: nameOf !== undefined && (condition === undefined || refused !== undefined)
  }
}

/** Compiles the fields of the condition that is open. */
function compileOpen (
  known: ReadonlyMap<string, KnownCondition>,
  source: FilterSource
): (condition: OpenCondition, view: FilterView) => ConditionForm {
  const { messages, translate } = source
  return ({ parameter, value, error }, view) => {
    const asked = known.get(parameter) as KnownCondition
    const { plan } = asked
    const offered = offeredOf(known, plan, source)
    const all = offered.includes(asked) ? offered : [...offered, asked]
    const control = referenceOf(asked, value, view, messages) ?? controlOf(asked, value, messages)
    return {
      label: plan.label,
      operator: {
        id: 'filter!by',
        name: fieldName('on', view),
        options: all.flatMap((condition) => optionsOf(condition, asked, messages))
      },
      value: { id: 'filter!value', name: fieldName('is', view), value, ...control },
      error: error && capitalize(translate(error)),
      submit: messages.applyFilter,
      cancel: { label: messages.cancel, href: linkTo(view, {}) }
    }
  }
}

/** Compiles the fields of the condition that is open if it limits dates or times, which are asked as a range. */
function compileRange (
  known: ReadonlyMap<string, KnownCondition>,
  { messages, translate, timeZone }: FilterSource
): (condition: OpenCondition, view: FilterView) => RangeForm | undefined {
  return ({ parameter, value, error }, view) => {
    const { operator, plan } = known.get(parameter) as KnownCondition
    const { label, property: { name } } = plan
    const format = momentFormatOf(plan)
    const ends = { from: known.get(`${name}[gte]`), to: known.get(`${name}[lte]`) }
    if ((operator !== 'gte' && operator !== 'lte') || !isMoment(plan)) return undefined
    if (ends.from === undefined || ends.to === undefined) return undefined
    const fieldOf = (end: 'from' | 'to', asked: KnownCondition): RangeForm['from'] => {
      const isRefused = asked.parameter === parameter && error !== undefined
      const given = isRefused ? value : view.parameters[asked.parameter] ?? ''
      // The control of a date and time is one of UTC.
      const local = format === 'date-time' ? given.replace(/Z$/, '') : given
      const isShown = given === '' || (!isRefused && LOCAL.test(local))
      const type = isShown ? CONTROLS.get(format) ?? 'text' : 'text'
      return {
        label: end === 'from' ? messages.rangeFrom : messages.rangeTo,
        control: { id: `filter!${end}`, name: fieldName(end, view), value: isShown ? local : given, type },
        isRefused
      }
    }
    const cleared = Object.fromEntries(RANGE_OPERATORS.map((operator) => [`${name}[${operator}]`, undefined]))
    const blank = `${name}[null]`
    return {
      label,
      by: { name: fieldName('on', view), value: parameter },
      from: fieldOf('from', ends.from),
      to: fieldOf('to', ends.to),
      links: [
        ...findPeriods(format, timeZone).filter(({ conditions }) =>
          Object.keys(conditions).every((operator) => known.has(`${name}[${operator}]`))
        ).map(({ period, conditions }) => {
          const asked = Object.entries(conditions).map(([operator, text]) => [`${name}[${operator}]`, text])
          return { label: messages[period], href: linkTo(view, { ...cleared, ...Object.fromEntries(asked) }) }
        }),
        ...(known.has(blank) && !plan.property.required
          ? [{ label: messages.operator('null', 'true', true), href: linkTo(view, { ...cleared, [blank]: 'true' }) }]
          : [])
      ],
      error: error && capitalize(translate(error)),
      submit: messages.applyFilter,
      cancel: { label: messages.cancel, href: linkTo(view, {}) }
    }
  }
}

const RANGE_OPERATORS = ['gte', 'gt', 'lte', 'lt'] as const
/** Matches a date, a date and time, or a time that a control shows. */
const LOCAL = /^(?:\d{4}-\d\d-\d\d)?(?:(?:^|T)\d\d:\d\d(?::\d\d)?)?$/

/**
 * Returns the control of a reference: the rows that it can name, or the button that leads to them; `undefined` if they
 * are not known.
 */
function referenceOf (
  { operator, plan: { label, property: { name } } }: KnownCondition,
  value: string,
  { choices, nameOf }: FilterView,
  messages: PageMessages
): ConditionControl | undefined {
  const found = choices?.get(name)
  if (found === undefined || operator === 'in' || nameOf !== undefined) return undefined
  const { rows } = found
  if (rows === undefined) {
    const button = { name: choiceParameter('choose'), value: '', label: messages.chooseFilter }
    return { type: 'text', options: undefined, choose: { ...button, spoken: messages.chooseOne(label) } }
  }
  // The value of an open condition is empty or was refused, so it is no id.
  return {
    type: 'text',
    options: [
      { value, label: value === '' ? messages.choose : value, selected: true },
      ...rows.map((row) => ({ value: String(row.id), label: nameAmong(row, rows), selected: false }))
    ]
  }
}

type ConditionControl = Pick<ConditionForm['value'], 'type' | 'options' | 'choose'>

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
): ConditionControl {
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
function isMoment (plan: FieldPlan): boolean {
  return MOMENT_FORMATS.has(momentFormatOf(plan))
}

/** Returns the format in which conditions have dates or times. Those in a spelling of their own are asked by day. */
function momentFormatOf ({ property, property: { shape: { format = '' } } }: FieldPlan): string {
  return hasSpelledDates(property) ? 'date' : format
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
    if (mode !== 'choice') {
      const formats = [momentFormatOf(plan), shape.format ?? '']
      const [moment] = formats.flatMap((format) => moments.get(format)?.(given) ?? [])
      return moment?.shown ?? given
    }
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
