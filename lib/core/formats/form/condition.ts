import type { Said } from '../../messages.js'
import type { Operator } from '../../stores/store.js'
import { type ChoiceField, completeSeconds, type FormNode, isRow, markerOf, readMoment } from './parse.js'

/**
 * The query parameters of a form that adds a condition to a list. The user chooses the operator, so the form cannot
 * have its parameter: `rating[gte]=3` is sent as `filter[by]=rating[gte]&filter[value]=3`, and a range as
 * `filter[by]=rating[gte]&filter[from]=3&filter[to]=5`. No attribute has parameters with these names, because none of
 * them is an operator.
 */
export const CONDITION_FIELDS = {
  by: 'filter[by]', value: 'filter[value]', from: 'filter[from]', to: 'filter[to]'
} as const

/** The fields of a filter with the query parameters that they stand for. */
export const FILTER_PARAMETERS: Readonly<Record<Exclude<ChoiceField, 'choose' | 'open'>, string>> = {
  search: 'q', on: CONDITION_FIELDS.by, is: CONDITION_FIELDS.value, from: CONDITION_FIELDS.from, to: CONDITION_FIELDS.to
}

/** Returns the query parameter with a field of the page on which a user chooses a row to filter a list by. */
export function choiceParameter (field: ChoiceField): string {
  return `filter[${field}]`
}

/** The query parameters of all forms that filter a list. */
export const FILTER_FIELDS: readonly string[] = [...new Set([
  ...Object.values(CONDITION_FIELDS),
  ...(['choose', 'open', ...Object.keys(FILTER_PARAMETERS)] as ChoiceField[]).map(choiceParameter)
])]

/** A query parameter that filters a list by an operator. */
export interface ConditionParameter {
  /** The name of the parameter: `rating[gte]`. */
  readonly parameter: string
  /** The name of the attribute. */
  readonly attribute: string
  /** The operator. */
  readonly operator: Exclude<Operator, 'eq'>
}

/** A condition that the form of a list shows for editing. */
export interface OpenCondition {
  /** The parameter: `rating`, `rating[gte]`, or `q` for the search. */
  readonly parameter: string
  /** The text that was typed. */
  readonly value: string
  /** The message if the condition was refused, or `undefined` if it has no value yet. */
  readonly error: Said | undefined
  /** The query of the list from which the form chooses a row. @default it does not */
  readonly choosing?: ListedParameters | undefined
}

/** The parameters of the query of a list. */
type ListedParameters = Readonly<Record<string, string>>

/** Completes the text of a control. A date and time of the format `date-time` is one of UTC. */
export function readConditionValue (text: string, format: string | undefined): string {
  if (format === 'date-time') return readMoment(text, 'Z', undefined)
  return format === 'date-time-local' || format === 'time-local' ? completeSeconds(text) : text
}

/** A form that asks for the rows that an attribute can reference, to choose one of them. */
export interface Choosing {
  /** The name of the attribute, or that of a member of its objects: `lines.productId`. */
  readonly attribute: string
  /** The steps to its field: `['lines', '0', 'productId']`. */
  readonly path: readonly string[]
  /** The query of the list of these rows: its search, its conditions and its cursor, as the form has sent them. */
  readonly query: ListedParameters
}

/** The most digits of the number of a row. */
const LONGEST_NUMBER = 9

/** Returns what a form asks for to choose a row, or `undefined` if it does not. */
export function findChoosing ({ children }: FormNode, around: readonly string[] = []): Choosing | undefined {
  for (const [step, node] of children) {
    // Each button of the page repeats the steps.
    if (isRow(step) && step.length > LONGEST_NUMBER) continue
    const path = [...around, step]
    const query = readChoice((field) => markerOf(node, field))
    if (query !== undefined) return { attribute: path.filter((step) => !isRow(step)).join('.'), path, query }
    const inside = findChoosing(node, path)
    if (inside !== undefined) return inside
  }
  return undefined
}

/** Reads the query of the list that a form chooses from, or returns `undefined` if it does not. */
export function readChoice (textOf: (field: ChoiceField) => string | undefined): ListedParameters | undefined {
  const opened = textOf('open')
  if (opened !== undefined) return Object.fromEntries(new URLSearchParams(opened))
  const query = textOf('choose')
  if (query === undefined) return undefined
  const added = Object.entries(FILTER_PARAMETERS).flatMap(([field, parameter]) => {
    const text = textOf(field as ChoiceField)
    return text === undefined ? [] : [[parameter, text]]
  })
  return { ...Object.fromEntries(new URLSearchParams(query)), ...Object.fromEntries(added) }
}
