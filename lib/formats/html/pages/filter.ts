import type { Resource } from '../../../resource/resource.js'
import { compileText } from '../../../schema/convert-text.js'
import type { Property } from '../../../schema/shape.js'
import type { Schema } from '../../../schema/types.js'
import { ownMember } from '../../../util/own-property.js'
import type { PageView, WriterContext } from '../../format.js'
import { keywordsOf } from '../forms/constraints.js'
import { choicesOf, compileFieldPlan, type FieldPlan } from '../forms/field-plan.js'
import type { ReadContext } from '../html-tag.js'
import type { PageMessages } from '../messages.js'
import type { ShownAttribute } from '../values/shown-attributes.js'
import type { FilterField, FilterForm, HiddenField } from '../views/model.js'
import { linkTo } from './links.js'

/** Returns whether the schema suggests a long text. Such an attribute has no filter, because nobody types all of it. */
function isLong (schema: Schema): boolean {
  const { maxLength, contentMediaType, format } = keywordsOf(schema)
  return maxLength !== undefined || contentMediaType !== undefined || format !== undefined
}

/** The parameters that a filter does not change. */
const OTHERS = ['format', 'limit', 'sort']

/** Makes the filter of a list, or returns `undefined` if there is nothing to filter by. */
export type MakeFilter = (of: ReadContext<FilterContext>, view: PageView) => FilterForm | undefined

interface FilterContext {
  readonly view: PageView
}

/** Compiles the filter of a list. Its fields are for the columns, and for attributes that the query filters by. */
export function compileFilter (
  { attributes }: Resource,
  { filterable }: WriterContext,
  messages: PageMessages,
  columns: readonly ShownAttribute[]
): MakeFilter {
  if (filterable.length === 0) return () => undefined
  const plans = filterable.map((name) => compileFieldPlan(attributes.get(name) as Property))
  const isOffered = ({ mode, property: { name, schema } }: FieldPlan): boolean =>
    mode !== 'moment' && !(mode === 'text' && isLong(schema)) && columns.some((column) => column.name === name)
  const fields = plans.map((plan) => ({
    name: plan.property.name,
    isOffered: isOffered(plan),
    blank: makeField(plan, ''),
    fill: (given: string) => makeField(plan, plan.mode === 'choice' ? spell(given, plan) : given)
  }))

  function makeField (plan: FieldPlan, value: string): FilterField {
    const { mode, label, property: { name, shape: { only } } } = plan
    const choices = mode === 'choice' ? [{ value: '', label: messages.any }, ...choicesOf(plan, messages)] : undefined
    return {
      id: `filter!${name}`,
      name,
      label,
      value,
      options: choices?.map((choice) => ({ ...choice, selected: choice.value === value })),
      inputMode: only === 'integer' ? 'numeric' : only === 'number' ? 'decimal' : undefined
    }
  }

  /** Returns the value as the choice spells it: `true` for `1`. Values that do not convert have been refused. */
  function spell (given: string, { property: { shape } }: FieldPlan): string {
    const value = compileText(shape)(given)
    return value === null ? '' : String(value)
  }

  return (of, { parameters }) => {
    const given = new Map(filterable.flatMap((name): Array<[string, string]> => {
      const value = ownMember(parameters, name)
      return value === undefined ? [] : [[name, value as string]]
    }))
    const offered = fields.filter(({ name, isOffered }) => isOffered || given.has(name))
    if (offered.length === 0) return undefined
    const without = Object.fromEntries([...given.keys()].map((name) => [name, undefined]))
    return {
      action: of(({ view }) => view.path),
      hidden: of(({ view }) => hiddenOf(view)),
      fields: offered.map(({ name, blank, fill }) => {
        const value = given.get(name)
        return value === undefined ? blank : fill(value)
      }),
      clear: given.size === 0
        ? undefined
        : { label: messages.clearFilter, href: of(({ view }) => linkTo(view, without)) }
    }
  }
}

/** Returns the parameters that stay, and `blank=any`: a blank field then matches any value. */
function hiddenOf ({ parameters }: PageView): HiddenField[] {
  const kept = OTHERS.flatMap((name): HiddenField[] =>
    parameters[name] === undefined ? [] : [{ name, value: parameters[name] }])
  return [...kept, { name: 'blank', value: 'any' }]
}
