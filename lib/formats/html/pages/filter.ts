import type { Resource } from '../../../resource/resource.js'
import { compileText, parseBoolean } from '../../../schema/convert-text.js'
import type { Property } from '../../../schema/shape.js'
import type { Schema } from '../../../schema/types.js'
import { ownMember } from '../../../util/own-property.js'
import type { ConditionParameter, PageView, WriterContext } from '../../format.js'
import { keywordsOf } from '../forms/constraints.js'
import { choicesOf, compileFieldPlan, type FieldPlan } from '../forms/field-plan.js'
import type { ReadContext } from '../html-tag.js'
import type { PageMessages } from '../messages.js'
import type { ShownAttribute } from '../values/shown-attributes.js'
import type { FilterCondition, FilterField, FilterForm, HiddenField } from '../views/model.js'
import { linkTo } from './links.js'

/** Returns whether the schema suggests a long text. Such an attribute has no filter, because nobody types all of it. */
function isLong (schema: Schema): boolean {
  const { maxLength, contentMediaType, format } = keywordsOf(schema)
  return maxLength !== undefined || contentMediaType !== undefined || format !== undefined
}

/** The parameters that a filter does not change. */
const OTHERS = ['format', 'include', 'limit', 'only', 'sort', 'count']

/** Makes the filter of a list, or returns `undefined` if there is nothing to filter by. */
export type MakeFilter = (of: ReadContext<FilterContext>, view: PageView) => FilterForm | undefined

interface FilterContext {
  readonly view: PageView
}

/** Compiles the filter of a list. Its fields are for the columns, and for attributes that the query filters by. */
export function compileFilter (
  { attributes }: Resource,
  { filterable, conditions, hasSearch }: WriterContext,
  messages: PageMessages,
  columns: readonly ShownAttribute[]
): MakeFilter {
  if (filterable.length === 0 && conditions.length === 0 && !hasSearch) return () => undefined
  const describe = compileDescription(attributes, messages)
  const describeValue = compileValueDescription(messages)
  const plans = filterable.map((name) => compileFieldPlan(attributes.get(name) as Property))
  const isOffered = ({ mode, property: { name, schema } }: FieldPlan): boolean =>
    mode !== 'moment' && !(mode === 'text' && isLong(schema)) && columns.some((column) => column.name === name)
  const fields = plans.map((plan) => ({
    name: plan.property.name,
    isOffered: isOffered(plan),
    describe: (given: string, of: ReadContext<FilterContext>) => describeValue(plan, given, of),
    blank: makeField(plan, '', messages),
    fill: (given: string) => makeField(plan, plan.mode === 'choice' ? spell(given, plan) : given, messages)
  }))

  return (of, { parameters }) => {
    const given = new Map(filterable.flatMap((name): Array<[string, string]> => {
      const value = ownMember(parameters, name)
      return value === undefined ? [] : [[name, value as string]]
    }))
    const offered = fields.filter(({ name, isOffered }) => isOffered || given.has(name))
    const asked = conditions.filter(({ parameter }) => Object.hasOwn(parameters, parameter))
    if (offered.length === 0 && asked.length === 0 && !hasSearch) return undefined
    const searched = parameters.q === undefined ? [] : ['q']
    const names = [...given.keys(), ...asked.map(({ parameter }) => parameter), ...searched]
    const without = Object.fromEntries(names.map((name) => [name, undefined]))
    return {
      action: of(({ view }) => view.path),
      hidden: of(({ view }) => hiddenOf(view, asked)),
      search: hasSearch ? { id: 'filter!q', name: 'q', label: messages.search, value: parameters.q ?? '' } : undefined,
      conditions: [
        ...offered.flatMap(({ name, describe }) => {
          const value = given.get(name)
          return value === undefined ? [] : [describe(value, of)]
        }),
        ...asked.map((condition) => describe(condition, parameters[condition.parameter] as string, of))
      ],
      fields: offered.map(({ name, blank, fill }) => {
        const value = given.get(name)
        return value === undefined ? blank : fill(value)
      }),
      clear: names.length === 0
        ? undefined
        : { label: messages.clearFilter, href: of(({ view }) => linkTo(view, without)) }
    }
  }
}

function makeField (plan: FieldPlan, value: string, messages: PageMessages): FilterField {
  const { mode, label, constraints: { inputmode }, property: { name } } = plan
  const choices = mode === 'choice' ? [{ value: '', label: messages.any }, ...choicesOf(plan, messages)] : undefined
  return {
    id: `filter!${name}`,
    name,
    label,
    value,
    options: choices?.map((choice) => ({ ...choice, selected: choice.value === value })),
    inputMode: inputmode
  }
}

/** Returns the value as the choice spells it: `true` for `1`. Values that do not convert have been refused. */
function spell (given: string, { property: { shape } }: FieldPlan): string {
  const value = compileText(shape)(given)
  return value === null ? '' : String(value)
}

/** Compiles the description of a value that the query filters by: `Status is Draft`. */
function compileValueDescription (
  messages: PageMessages
): (plan: FieldPlan, given: string, of: ReadContext<FilterContext>) => FilterCondition {
  return (plan, given, of) => {
    const { mode, label, property: { name } } = plan
    const value = mode === 'choice' ? spell(given, plan) : given
    const choice = mode === 'choice' ? choicesOf(plan, messages).find((choice) => choice.value === value) : undefined
    const text = value === ''
      ? messages.condition(label, 'null', 'true')
      : messages.condition(label, 'eq', choice?.label ?? value)
    return makeCondition(text, name, { of, messages })
  }
}

/** Makes the condition with the link that removes its parameter. */
function makeCondition (
  text: string,
  parameter: string,
  { of, messages }: { readonly of: ReadContext<FilterContext>, readonly messages: PageMessages }
): FilterCondition {
  const href = of(({ view }) => linkTo(view, { [parameter]: undefined }))
  return { text, remove: { label: messages.removeCondition(text), href } }
}

/** Compiles the description of the conditions in a query. */
function compileDescription (
  attributes: Resource['attributes'],
  messages: PageMessages
): (condition: ConditionParameter, given: string, of: ReadContext<FilterContext>) => FilterCondition {
  return ({ parameter, attribute, operator }, given, of) => {
    const { label } = compileFieldPlan(attributes.get(attribute) as Property)
    const value = operator === 'null' ? String(parseBoolean(given)) : operator === 'in' ? spellList(given) : given
    return makeCondition(messages.condition(label, operator, value), parameter, { of, messages })
  }
}

/** Writes a list of values for people: without the backslashes, and with spaces after the commas. */
function spellList (text: string): string {
  return text.replaceAll(/\\(.)|,/gs, (_, escaped: string | undefined) => escaped ?? ', ')
}

/** Returns the parameters that stay, and `blank=any`: a blank field then matches any value. */
function hiddenOf ({ parameters }: PageView, asked: readonly ConditionParameter[]): HiddenField[] {
  const kept = [...OTHERS, ...asked.map(({ parameter }) => parameter)].flatMap((name): HiddenField[] =>
    parameters[name] === undefined ? [] : [{ name, value: parameters[name] }])
  return [...kept, { name: 'blank', value: 'any' }]
}
