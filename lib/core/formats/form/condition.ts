import type { Said } from '../../messages.js'
import type { Operator } from '../../stores/store.js'
import { completeSeconds, type FormNode, markerOf, readMoment } from './parse.js'

/**
 * The query parameters of a form that adds a condition to a list. The user chooses the operator, so the form cannot
 * have its parameter: `rating[gte]=3` is sent as `filter[by]=rating[gte]&filter[value]=3`. No attribute has parameters
 * with these names, because neither is an operator.
 */
export const CONDITION_FIELDS = { by: 'filter[by]', value: 'filter[value]' } as const

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
}

/** Completes the text of a control. A date and time of the format `date-time` is one of UTC. */
export function readConditionValue (text: string, format: string | undefined): string {
  if (format === 'date-time') return readMoment(text, 'Z', undefined)
  return format === 'date-time-local' || format === 'time-local' ? completeSeconds(text) : text
}

/** A form that asks for the rows that an attribute can reference, to choose one of them. */
export interface Choosing {
  /** The name of the attribute. */
  readonly attribute: string
  /** The text that the rows are searched for, or the empty text. */
  readonly text: string
  /** The cursor after which the rows begin, or `undefined` for the first ones. */
  readonly after: string | undefined
}

/** Returns what a form asks for to choose a row, or `undefined` if it does not. */
export function findChoosing ({ children }: FormNode): Choosing | undefined {
  for (const [attribute, node] of children) {
    const text = markerOf(node, 'choose')
    if (text !== undefined) return { attribute, text, after: markerOf(node, 'after') }
  }
  return undefined
}
