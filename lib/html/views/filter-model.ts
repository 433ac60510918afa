import type { HiddenField, Link, Option } from './form-model.js'

/** The filter of a list: a form that is sent by GET, and the conditions of the query. */
export interface FilterForm {
  /** The path that the form requests. */
  readonly action: string
  /** The hidden fields: the parameters that stay. */
  readonly hidden: readonly HiddenField[]
  /** The field that searches the texts of the list, or `undefined` if there is none. */
  readonly search: SearchField | undefined
  /** The conditions of the query, such as `rating[gte]=3`. */
  readonly conditions: readonly FilterCondition[]
  /** The choice of an attribute for one more condition; `undefined` if a condition is open or there is none to add. */
  readonly add: AddCondition | undefined
  /** The fields of the condition that is open, or `undefined` if none is. */
  readonly open: ConditionForm | undefined
  /** The link to the unfiltered list, or `undefined` if it is not filtered. */
  readonly clear: Link | undefined
}

/** The field of a search. */
export interface SearchField {
  /** The id of the control. */
  readonly id: string
  /** The name of the parameter. */
  readonly name: string
  /** The label, which is also the text of the button. */
  readonly label: string
  /** The requested text, or the empty text. */
  readonly value: string
  /** The message if the search was refused, or `undefined` if not. */
  readonly error: string | undefined
  /** Whether the control gets the focus when the page opens. @default false */
  readonly autofocus?: boolean
}

/** A condition of a query. */
export interface FilterCondition {
  /** The condition in words: `Rating at least 3`. */
  readonly text: string
  /** The link to the list without it. Its label is for screen readers. */
  readonly remove: Link
}

/** The choice of the attribute of a new condition. Its page shows the fields of that condition. */
export interface AddCondition {
  /** The id of the control. */
  readonly id: string
  /** The name of the query parameter. */
  readonly name: string
  /** The label of the control. */
  readonly label: string
  /** The attributes, after a blank choice. */
  readonly options: readonly Option[]
  /** The text of the button. */
  readonly submit: string
}

/** The fields of a condition: its operator and its value. */
export interface ConditionForm {
  /** The label of the attribute. */
  readonly label: string
  /** The choice of the operator. */
  readonly operator: { readonly id: string, readonly name: string, readonly options: readonly Option[] }
  /** The control of the value. */
  readonly value: ConditionValue
  /** The message if the condition was refused, or `undefined` if not. */
  readonly error: string | undefined
  /** The text of the button. */
  readonly submit: string
  /** The link to the list without the fields. */
  readonly cancel: Link
}

/** The control of a condition's value. */
export interface ConditionValue {
  /** The id of the control. */
  readonly id: string
  /** The name of the query parameter. */
  readonly name: string
  /** The text that was typed, or the empty text. */
  readonly value: string
  /** The `type` of the `input` element, if there are no choices. */
  readonly type: 'text' | 'number' | 'date' | 'datetime-local' | 'time'
  /** The choices of a boolean or an enumeration, or `undefined` for an input. */
  readonly options: readonly Option[] | undefined
}
