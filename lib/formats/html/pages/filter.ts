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

/** Of a text that is meant to have several lines nobody asks for the whole. */
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

  function makeField (plan: FieldPlan, given: string | undefined): FilterField {
    const {
      property: {
        name,
        shape: { only }
      },
      label
    } = plan
    const value = plan.mode === 'choice' && given !== undefined ? spell(given, plan) : (given ?? '')
    const choices =
      plan.mode === 'choice' ? [{ value: '', label: messages.any }, ...choicesOf(plan, messages)] : undefined
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
    const find = (name: string): string | undefined => ownMember(parameters, name) as string | undefined
    const given = filterable.filter((name) => find(name) !== undefined)
    const kept = OTHERS.flatMap((name): HiddenField[] =>
      parameters[name] === undefined ? [] : [{ name, value: parameters[name] }]
    )
    const offered = plans.filter((plan) => isOffered(plan) || given.includes(plan.property.name))
    if (offered.length === 0) return undefined
    return {
      action: view.path,
      hidden: [...kept, { name: 'blank', value: 'any' }],
      fields: offered.map((plan) => makeField(plan, find(plan.property.name))),
      clear:
        given.length === 0
          ? undefined
          : {
              label: messages.clearFilter,
              href: linkTo(view, Object.fromEntries(given.map((name) => [name, undefined])))
            }
    }
  }
}
