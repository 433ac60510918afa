import type { Resource } from '../../../resource/resource.js'
import { compileText } from '../../../schema/convert-text.js'
import type { Property } from '../../../schema/shape.js'
import type { Schema } from '../../../schema/types.js'
import { ownMember } from '../../../util/own-property.js'
import type { PageView, WriterContext } from '../../format.js'
import { keywordsOf } from '../forms/constraints.js'
import { choicesOf, compileFieldPlan, type FieldPlan } from '../forms/field-plan.js'
import type { PageMessages } from '../messages.js'
import type { Shown } from '../values/shown-attributes.js'
import type { FilterField, FilterForm, HiddenField } from '../views/model.js'
import { linkTo } from './links.js'

/** Returns whether a text has several lines. Such an attribute has no filter, because nobody types all of it. */
function isLong (schema: Schema): boolean {
  const { maxLength, contentMediaType, format } = keywordsOf(schema)
  return maxLength !== undefined || contentMediaType !== undefined || format !== undefined
}

/** The parameters that a filter leaves as they are. */
const OTHERS = ['format', 'limit', 'sort']

/** The form by which a list is filtered: by the columns that it has, and by what it is filtered by already. */
export function compileFilter (
  { attributes }: Resource,
  { filterable }: WriterContext,
  messages: PageMessages,
  columns: readonly Shown[]
): (view: PageView) => FilterForm | undefined {
  if (filterable.length === 0) return () => undefined
  const plans = filterable.map((name) => compileFieldPlan(attributes.get(name) as Property))
  const isOffered = ({ mode, property: { name, schema } }: FieldPlan): boolean =>
    mode !== 'moment' && !(mode === 'text' && isLong(schema)) && columns.some((column) => column.name === name)
  const fields = plans.map((plan) => ({
    name: plan.property.name,
    isOffered: isOffered(plan),
    blank: Object.freeze(makeField(plan, '')),
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

  /** As the choice has it: `1` is `true`. What does not convert has been refused. */
  function spell (given: string, { property: { shape } }: FieldPlan): string {
    const value = compileText(shape)(given)
    return value === null ? '' : String(value)
  }

  return (view) => {
    const { parameters } = view
    const given = new Map(filterable.flatMap((name): Array<[string, string]> => {
      const value = ownMember(parameters, name)
      return value === undefined ? [] : [[name, value as string]]
    }))
    const offered = fields.filter(({ name, isOffered }) => isOffered || given.has(name))
    if (offered.length === 0) return undefined
    const kept = OTHERS.flatMap((name): HiddenField[] =>
      parameters[name] === undefined ? [] : [{ name, value: parameters[name] }])
    const without = Object.fromEntries([...given.keys()].map((name) => [name, undefined]))
    return {
      action: view.path,
      hidden: [...kept, { name: 'blank', value: 'any' }],
      fields: offered.map(({ name, blank, fill }) => {
        const value = given.get(name)
        return value === undefined ? blank : fill(value)
      }),
      clear: given.size === 0 ? undefined : { label: messages.clearFilter, href: linkTo(view, without) }
    }
  }
}
