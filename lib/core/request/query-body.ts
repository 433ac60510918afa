import { InvalidQueryError } from '../errors.js'
import { say } from '../messages.js'
import { parseFields } from '../formats/form/parse.js'
import { checkLanguage } from '../formats/form/read.js'
import { parseJsonBody } from '../formats/json/json.js'
import { describeInexact } from '../schema/convert-text.js'
import { isObject } from '../util/own-property.js'
import { abbreviate } from '../util/words.js'
import type { QueryParameters } from './filter-query.js'
import type { ListQueryParser } from './list-query.js'
import type { ResourceRequest } from './state.js'

const JSON_TYPE = 'application/json'

/** The media types of the body of a QUERY. */
export const QUERY_TYPES: readonly string[] = ['application/x-www-form-urlencoded', JSON_TYPE]

/** The value of the header `Accept-Query`, a list of strings (RFC 10008 §3, RFC 9651 §3.1). */
export const ACCEPT_QUERY: string = QUERY_TYPES.map((type) => `"${type}"`).join(', ')

/** The most parameters of a query, in a URL or in the body of a QUERY. */
export const MOST_PARAMETERS = 100

/**
 * Checks that the URL of a QUERY has no parameter but `format`.
 * @throws InvalidQueryError
 */
export function checkUrl (query: QueryParameters): void {
  for (const name in query) {
    if (name === 'format') continue
    throw new InvalidQueryError(
      `the parameter "${abbreviate(name)}" must be in the body of a QUERY, whose URL may have "format" only`
    )
  }
}

/** Reads the parameters of a QUERY, as a GET would have them in its URL. */
type ParseQueryBody = (request: ResourceRequest, mediaType: string | undefined) => QueryParameters

/**
 * Compiles the parser of the bodies of a list.
 * @throws InvalidQueryError, MalformedBodyError, when it parses
 */
export function compileQueryBody ({ filterable }: Pick<ListQueryParser, 'filterable'>): ParseQueryBody {
  const nullable = new Set(
    filterable.flatMap(({ attribute: { name }, isPlain, operators }) =>
      isPlain && operators.includes('null') ? [name] : [])
  )
  return ({ body, query }, mediaType) => {
    // It has no prototype, because a client may call a parameter `__proto__`.
    const all: Record<string, string> = Object.assign(Object.create(null), query)
    const add: Add = (name, text) => {
      if (name in all) throw new InvalidQueryError(say('parameterRepeated', { name: abbreviate(name) }))
      all[name] = text
    }
    const bytes = Buffer.isBuffer(body) ? body : Buffer.alloc(0)
    if (mediaType === JSON_TYPE) readJson(bytes, nullable, add)
    else readForm(bytes.toString(), add)
    return all
  }
}

/** Adds a parameter. */
type Add = (name: string, text: string) => void

/** Reads `rating[gte]=3&sort=title`. Line breaks stay as they are, as in a URL. */
function readForm (text: string, add: Add): void {
  checkLanguage(text)
  for (const field of parseFields(text)) add(...field)
}

/** Reads `{"rating[gte]":3,"sort":"title"}` or `{"rating":{"gte":3},"sort":"title"}`. */
function readJson (body: Buffer, nullable: ReadonlySet<string>, add: Add): void {
  const members = parseJsonBody(body, '', (name, number) =>
    new InvalidQueryError(`"${name}" ${describeInexact(number).text}`))
  if (!isObject(members)) throw new InvalidQueryError('the body must be an object that has the parameters')
  for (const [name, value] of Object.entries(members)) {
    if (value === null && nullable.has(name)) add(`${name}[null]`, 'true')
    else if (isObject(value)) readOperators(name, value, add)
    else add(name, writeValue(name, value))
  }
}

/** Reads the operators of one attribute: `{"gte":3,"lt":5}`. */
function readOperators (attribute: string, operators: Readonly<Record<string, unknown>>, add: Add): void {
  const entries = Object.entries(operators)
  if (entries.length === 0) throw new InvalidQueryError(`"${abbreviate(attribute)}" must have an operator`)
  for (const [operator, value] of entries) {
    const name = `${attribute}[${operator}]`
    add(name, writeValue(name, value))
  }
}

/**
 * Writes a JSON value as a URL has it.
 * @throws InvalidQueryError
 */
function writeValue (name: string, value: unknown): string {
  if (!Array.isArray(value)) return writeScalar(name, value)
  if (!name.endsWith('[in]')) throw new InvalidQueryError(`"${abbreviate(name)}" must have one value, not a list`)
  if (value.length === 0) throw new InvalidQueryError(`"${abbreviate(name)}" must have a value`)
  return value.map((item: unknown) => writeScalar(name, item).replaceAll(/[\\,]/g, '\\$&')).join(',')
}

function writeScalar (name: string, value: unknown): string {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return String(value)
  const found = value === null ? 'null' : Array.isArray(value) ? 'a list' : 'an object'
  throw new InvalidQueryError(`"${abbreviate(name)}" must be a text, a number or a boolean, not ${found}`)
}
