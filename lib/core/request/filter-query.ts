import { InvalidConditionError, InvalidQueryError } from '../errors.js'
import { type Message, say } from '../messages.js'
import {
  choiceParameter, CONDITION_FIELDS, FILTER_FIELDS, type OpenCondition, readChoice, readConditionValue
} from '../formats/form/condition.js'
import {
  compileText, describeMismatch, describeTypes, hasSpelledDates, isBytesShape, isDecimalShape, isLongShape,
  ORDERED_FORMATS, parseBoolean, UNCONVERTIBLE
} from '../schema/convert-text.js'
import { MOMENT_FORMATS, type TextFormat } from '../schema/date-time.js'
import { isStorableText, UNSTORABLE_TEXT } from '../schema/legal-text.js'
import { type IdType, idProperty, parseId } from '../resource/resource.js'
import type { Property } from '../schema/shape.js'
import type { Scalar } from '../schema/types.js'
import { didYouMean, MOST_REPEATED } from '../util/words.js'
import type { Capabilities, ComparedType, Condition, Filter, Operator, Search } from '../stores/store.js'

/** The most characters of a text that a list is searched for. */
export const LONGEST_TEXT = 200
/** The most words of a search. */
export const MOST_WORDS = 10
/** The most values of `in`. */
export const MOST_VALUES = 1000

/** The parameters of a request's query, each at most once. */
export type QueryParameters = Readonly<Record<string, string>>

const RANGES = ['gte', 'gt', 'lte', 'lt'] as const
const TEXTS = ['contains', 'starts'] as const
const OTHERS = ['not', 'in', 'null'] as const

/** An operator that stands in brackets. */
export type NamedOperator = Exclude<Operator, 'eq'>

/** An attribute by which a list can be filtered, with the operators that its parameter takes. */
export interface FilterableAttribute {
  readonly attribute: Property
  /** Whether the parameter may stand without an operator: no other parameter of lists has this name. */
  readonly isPlain: boolean
  readonly operators: readonly NamedOperator[]
  /** The type of the ids if it is the id of the rows, which is no attribute. @default undefined */
  readonly idType?: IdType
}

/** Returns whether people search the texts of an attribute: a string that is no decimal, date, time, UUID or base64. */
export function isText ({ shape }: Property): boolean {
  const { only, format = '' } = shape
  return only === 'string' && format !== 'uuid' && !ORDERED_FORMATS.has(format) && !isBytesShape(shape)
}

/** Returns how a store compares the values of an attribute, or `undefined` if it compares them by their own type. */
export function comparedTypeOf ({ shape }: Property): ComparedType | undefined {
  return isDecimalShape(shape) ? 'decimal' : isLongShape(shape) ? 'integer' : undefined
}

/** Returns the operators that an attribute takes, as far as the store has them. */
export function operatorsOf (attribute: Property, filter: Capabilities['filter']): readonly NamedOperator[] {
  const { shape: { only, format = '' } } = attribute
  const isOrdered = ORDERED_FORMATS.has(format) || hasSpelledDates(attribute)
  const hasRange = only === 'integer' || only === 'number' || isOrdered
  const all: readonly NamedOperator[] = [...(hasRange ? RANGES : []), ...OTHERS, ...(isText(attribute) ? TEXTS : [])]
  return typeof filter === 'object' ? all.filter((operator) => filter.includes(operator)) : all
}

/** Returns the id as an attribute by which a list can be filtered. It is never null, and searched as a whole only. */
export function filterableId (idType: IdType, filter: Capabilities['filter']): FilterableAttribute {
  const attribute = idProperty(idType)
  const operators = operatorsOf(attribute, filter)
    .filter((operator) => operator !== 'null' && operator !== 'contains' && operator !== 'starts')
  return { attribute, isPlain: true, operators, idType }
}

/** Returns the names of the parameters for these attributes: `rating`, `rating[gte]`. */
export function filterParameters (filterable: readonly FilterableAttribute[]): readonly string[] {
  return filterable.flatMap(({ attribute: { name }, isPlain, operators }) =>
    [...(isPlain ? [name] : []), ...operators.map((operator) => `${name}[${operator}]`)])
}

/** A parameter of a filter: its attribute, and its operator. */
interface FilterParameter {
  readonly filterable: FilterableAttribute
  readonly operator: Operator
}

/**
 * Compiles the parser of the filter in a query.
 * @throws InvalidQueryError, when it parses
 */
export function compileFilter (filterable: readonly FilterableAttribute[]): (query: QueryParameters) => Filter {
  const known = new Map<string, FilterParameter>(filterable.flatMap((filterable) => {
    const { attribute: { name }, isPlain, operators } = filterable
    const named = operators.map((operator) => [`${name}[${operator}]`, { filterable, operator }] as const)
    return [...(isPlain ? [[name, { filterable, operator: 'eq' }] as const] : []), ...named]
  }))
  return (query) => Object.entries(query).flatMap(([name, text]): Condition[] => {
    const parameter = known.get(name)
    if (parameter === undefined) return []
    const condition = parseCondition(name, text, parameter)
    if (text.length <= MOST_REPEATED) return [condition]
    throw new InvalidConditionError(name, say('mustHaveAtMostCharacters', { most: MOST_REPEATED }))
  })
}

function parseCondition (parameter: string, text: string, { filterable, operator }: FilterParameter): Condition {
  const { attribute, attribute: { name, shape: { types } } } = filterable
  const type = comparedTypeOf(attribute)
  // The branches below give each operator a value of its kind.
  const make = (operator: Operator, value: Condition['value']): Condition =>
    ({ attribute: name, ...(type !== undefined && { type }), operator, value }) as Condition
  if (operator === 'null') return make(operator, parseFlag(parameter, text))
  const given = [...types].filter((type) => type !== 'null')
  const parse = compileValue(parameter, filterable, operator === 'eq' ? types : new Set(given))
  const parseGiven = (text: string): NonNullable<Scalar> => {
    const value = parse(text)
    if (value !== null) return value
    const cure = `for rows without a value, send "${name}[null]=true"`
    throw new InvalidConditionError(parameter, `${describeTypes(given).text}; ${cure}`)
  }
  switch (operator) {
    case 'eq': {
      const value = parse(text)
      return value === null ? make('null', true) : make(operator, value)
    }
    case 'in': return make(operator, splitList(parameter, text).map(parseGiven))
    case 'contains':
    case 'starts':
      parse(text)
      return make(operator, checkText(parameter, text))
    default:
      return hasSpelledDates(attribute)
        ? compareDay(parameter, operator, text, make)
        : make(operator, parseGiven(text))
  }
}

/** Compares dates whose spelling begins with the day, as texts. Every time of a day belongs to it. */
function compareDay (
  parameter: string,
  operator: Operator,
  day: string,
  make: (operator: Operator, value: string) => Condition
): Condition {
  const { isValid, wants } = MOMENT_FORMATS.get('date') as TextFormat
  if (!isValid(day)) throw new InvalidConditionError(parameter, wants)
  // A tilde follows all characters of a spelling.
  return make(operator, operator === 'gt' || operator === 'lte' ? `${day}~` : day)
}

function parseFlag (parameter: string, text: string): boolean {
  const value = parseBoolean(text)
  if (value === undefined) throw new InvalidConditionError(parameter, describeTypes(['boolean']))
  return value
}

/** Splits a list at its commas. `\,` is a comma in a value, and `\\` is a backslash. */
function splitList (parameter: string, text: string): string[] {
  const values = ['']
  for (const [part] of text.matchAll(/\\[^]?|,|[^\\,]+/g)) {
    if (part === ',') {
      if (values.push('') <= MOST_VALUES) continue
      throw new InvalidConditionError(parameter, say('mustHaveAtMostValues', { most: MOST_VALUES }))
    }
    if (part.startsWith('\\') && part !== '\\,' && part !== '\\\\') {
      throw new InvalidConditionError(parameter, say('hasUnknownEscape'))
    }
    values[values.length - 1] += part.startsWith('\\') ? part.slice(1) : part
  }
  return values
}

function checkText (parameter: string, text: string): string {
  // A character outside the BMP counts as one.
  if (text.length > LONGEST_TEXT && Array.from(text).length > LONGEST_TEXT) {
    throw new InvalidConditionError(parameter, say('mustHaveAtMostCharacters', { most: LONGEST_TEXT }))
  }
  if (text === '') throw new InvalidConditionError(parameter, say('mustNotBeEmpty'))
  return text
}

/** Compiles the conversion of a parameter's text to a value of the attribute. An error names the wanted types. */
function compileValue (
  parameter: string,
  { attribute: { shape }, idType }: FilterableAttribute,
  wanted = shape.types
): (text: string) => Scalar {
  if (idType !== undefined) {
    return (text) => {
      const id = parseId(idType, text)
      if (id === undefined) throw new InvalidConditionError(parameter, ID_MESSAGES[idType])
      return id
    }
  }
  const convert = compileText(shape)
  const ordered = ORDERED_FORMATS.get(shape.format ?? '')
  return (text) => {
    const value = convert(text)
    if (value === UNCONVERTIBLE) {
      throw new InvalidConditionError(parameter, describeMismatch(wanted, text, isLongShape(shape)))
    }
    checkLegal(parameter, text)
    if (typeof value === 'string' && ordered?.isValid(value) === false) {
      throw new InvalidConditionError(parameter, ordered.wants)
    }
    return value as Scalar
  }
}

const ID_MESSAGES: Readonly<Record<IdType, Message>> = {
  integer: describeTypes(['integer']),
  uuid: say('mustBeUuid'),
  string: describeTypes(['string'])
}

function checkLegal (parameter: string, text: string): void {
  if (!isStorableText(text)) {
    throw new InvalidConditionError(parameter, UNSTORABLE_TEXT)
  }
}

/**
 * Parses the search of a query.
 * @throws InvalidQueryError
 */
export function parseSearch (text: string | undefined, attributes: readonly string[]): Search | undefined {
  if (text === undefined) return undefined
  checkLegal('q', text)
  const words = checkText('q', text).split(/\s+/).filter((word) => word !== '')
  if (words.length === 0) throw new InvalidConditionError('q', say('mustHaveWord'))
  if (words.length > MOST_WORDS) throw new InvalidConditionError('q', say('mustHaveAtMostWords', { most: MOST_WORDS }))
  return { words, attributes }
}

/** A query as it would be without a form, and the condition that the form has no value for. */
export interface FormQuery {
  readonly query: QueryParameters
  readonly open: OpenCondition | undefined
}

/**
 * Reads the query that a form has sent. A form sends all its fields, so `blank=any` removes the conditions without a
 * value. A form for one condition sends its parameter and its value (`CONDITION_FIELDS`).
 * @throws InvalidQueryError
 */
export type ReadFormQuery = (query: QueryParameters) => FormQuery

// Matches the parameter of a condition that needs no value, with the value that stands for it: `dueOn[null]=true`.
const WITH_VALUE = /^(.*\[null\])=(true|false)$/s

const { by: BY, value: VALUE, from: FROM, to: TO } = CONDITION_FIELDS

/** Compiles the reading of forms. The conditions, and the search, may be blank. */
export function compileFormQuery (
  conditions: readonly string[],
  filterable: readonly FilterableAttribute[]
): ReadFormQuery {
  const names = new Set(conditions)
  const known = new Map(filterable.flatMap((filterable) =>
    filterParameters([filterable]).map((parameter) => [parameter, filterable.attribute])))

  function find (field: string, parameter: string): Property {
    const attribute = known.get(parameter)
    if (attribute !== undefined) return attribute
    const wanted = 'must be a parameter that filters the list'
    throw new InvalidQueryError(`"${field}" ${wanted}${didYouMean(parameter, [...known.keys()])}`)
  }

  return ({ blank, ...all }) => {
    if (blank !== undefined && blank !== 'any') {
      throw new InvalidQueryError('"blank" must be "any", which ignores parameters without a value')
    }
    const given = Object.entries(all).filter(([name]) => !FILTER_FIELDS.includes(name))
    const { [BY]: by, [VALUE]: value, [FROM]: from = '', [TO]: to = '' } = all
    const sent = Object.keys(all).find((name) => FILTER_FIELDS.includes(name))
    if (by === undefined && sent !== undefined) throw new InvalidQueryError(`"${sent}" needs "${BY}"`)
    const mayBeBlank = (name: string): boolean => blank === undefined ? name === 'q' : names.has(name)
    const query = Object.fromEntries(given.filter(([name, text]) => text !== '' || !mayBeBlank(name)))
    if (by === undefined || by === '') return { query, open: undefined }
    const [, parameter = by, text = value ?? ''] = WITH_VALUE.exec(by) ?? []
    const { name, shape: { format } } = find(BY, parameter)
    if (text !== '') return { query: { ...query, [parameter]: readConditionValue(text, format) }, open: undefined }
    const choosing = readChoice((field) => all[choiceParameter(field)])
    if (choosing === undefined && (from !== '' || to !== '')) {
      const { [`${name}[gte]`]: _least, [`${name}[lte]`]: _most, ...others } = query
      const ends = Object.entries({ gte: from, lte: to }).filter(([, text]) => text !== '')
      return {
        query: ends.reduce((query, [operator, text]) => {
          const parameter = `${name}[${operator}]`
          find(BY, parameter)
          return { ...query, [parameter]: readConditionValue(text, format) }
        }, others),
        open: undefined
      }
    }
    return { query, open: { parameter, value: '', error: undefined, choosing } }
  }
}
