import type { TypeName } from '../../core/schema/types.js'
import type { Operator } from '../../core/stores/store.js'
import type { PageMessages } from '../messages.js'

/** The words and messages of a language, without those that each resource has of its own. */
export type Catalog = Omit<PageMessages, 'heading' | 'plural' | 'singular' | 'phrases'>

/** The English texts of Node.js and Fastify that pages show: the titles of errors, and one detail. */
export type KnownTexts = Readonly<Record<
  | 'Bad Request' | 'Unauthorized' | 'Payment Required' | 'Forbidden' | 'Not Found' | 'Method Not Allowed'
  | 'Not Acceptable' | 'Request Timeout' | 'Conflict' | 'Gone' | 'Precondition Failed' | 'Payload Too Large'
  | 'URI Too Long' | 'Unsupported Media Type' | 'Unprocessable Entity' | 'Precondition Required' | 'Too Many Requests'
  | 'Internal Server Error' | 'Bad Gateway' | 'Service Unavailable' | 'Gateway Timeout' | 'Insufficient Storage'
  | 'Request body is too large',
  string
>>

/**
 * Compiles a word whose form depends on a number (CLDR plural rules): `{ one: '# item', other: '# items' }`. `#` stands
 * for the number.
 */
export function compilePlural (
  lang: string,
  forms: { readonly [F in Intl.LDMLPluralRule]?: string } & { readonly other: string }
): (number: number, digits?: string) => string {
  const rules = new Intl.PluralRules(lang)
  return (number, digits = String(number)) => (forms[rules.select(number)] ?? forms.other).replace('#', digits)
}

type OperatorWords = Readonly<Record<Exclude<Operator, 'null'>, string>>

/** The words of the operators of conditions. */
interface OperatorForms {
  readonly words: OperatorWords
  /** The words that dates and times have instead. */
  readonly times: Partial<OperatorWords>
  /** The words before a date, which has an article in some languages. @default those of times */
  readonly dates?: Partial<OperatorWords>
  /** The words before a time of day. @default those of times */
  readonly hours?: Partial<OperatorWords>
  /** The words for no value. */
  readonly blank: string
  /** The words for any value. */
  readonly filled: string
}

/** Compiles the words of an operator. The choice of an operator has no value yet. */
export function compileOperators (
  { words, times, dates = times, hours = times, blank, filled }: OperatorForms
): PageMessages['operator'] {
  return (operator, value, isTime) => {
    if (operator === 'null') return value === 'true' ? blank : filled
    if (!isTime) return words[operator]
    const own = value === '' ? times : /^\d+:/.test(value) ? hours : dates
    return own[operator] ?? times[operator] ?? words[operator]
  }
}

/** Compiles the text of a condition: `Rating: at least 3`. After a colon, no word must agree with the label. */
export function compileCondition (operatorOf: PageMessages['operator'], colon: string): PageMessages['condition'] {
  return (label, operator, value, isTime) => {
    const words = operatorOf(operator, value, isTime)
    return `${label}${colon}${operator === 'eq' ? value : operator === 'null' ? words : `${words} ${value}`}`
  }
}

/** Compiles the names of types, several of which are joined: `an integer or null`. */
export function compileTypes (
  names: Readonly<Record<TypeName, string>>,
  or: string
): (types: readonly TypeName[]) => string {
  return (types) => types.map((type) => names[type]).join(or)
}
