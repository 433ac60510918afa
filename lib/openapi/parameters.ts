import type { CompiledResource } from '../core/compiled-resource.js'
import {
  type FilterableAttribute,
  LONGEST_TEXT,
  MOST_VALUES,
  MOST_WORDS,
  type NamedOperator
} from '../core/request/filter-query.js'
import { MOST_OFFSET } from '../core/request/list-query.js'
import { canCopy, COPIED } from '../core/request/prefill.js'
import { DRY_RUN } from '../core/request/rows.js'
import { ID_SCHEMAS } from '../core/resource/resource.js'
import { isDecimalShape, ORDERED_FORMATS } from '../core/schema/convert-text.js'
import type { Property, Shape } from '../core/schema/shape.js'
import { writeDecimalPattern } from './adapt-schema.js'
import type { Part } from './part.js'

/** An example of an ETag. */
export const EXAMPLE = '"3.json"'

export const IF_NONE_MATCH: Part = {
  in: 'header',
  name: 'If-None-Match',
  schema: { type: 'string' },
  description: 'The ETag of the client\'s copy. If the row is unchanged, the answer is a 304 (RFC 9110 §13.1.2).',
  example: EXAMPLE
}

export const IF_MATCH: Part = {
  in: 'header',
  name: 'If-Match',
  schema: { type: 'string' },
  description:
    'The ETag of the row that was read. If the row has changed since then, the write is refused (RFC 9110 §13.1.1).',
  example: EXAMPLE
}

export const IDEMPOTENCY_KEY: Part = {
  in: 'header',
  name: 'Idempotency-Key',
  schema: { type: 'string', minLength: 1, maxLength: 600 },
  description: 'A new key for each write, such as a UUID. The same request with the same key is carried out once.',
  example: '8e03978e-40d5-43e8-bc93-6894a57f9324'
}

export const PREFER: Part = {
  in: 'header',
  name: 'Prefer',
  schema: { type: 'string' },
  description: 'With `return=minimal`, the answer to a request with many rows has no body (RFC 7240).',
  example: 'return=minimal'
}

/** How a parameter has several values: joined by commas. */
const JOINED = { style: 'form', explode: false }

const TEXT: Part = { type: 'string', minLength: 1, maxLength: LONGEST_TEXT }

/** Describes a parameter of a query. */
export function inQuery (name: string, schema: Part, description: string, more: Part = {}): Part {
  return { in: 'query', name, schema, description, ...more }
}

export function describeId ({ resource: { idType } }: CompiledResource): Part {
  return inQuery('id', ID_SCHEMAS[idType], 'The id, if it is not in the body.')
}

export const DRY_RUN_QUERY: Part = inQuery(
  DRY_RUN,
  { type: 'boolean' },
  'Whether nothing is written, and the answer says what would be. It lacks ids and other generated values.'
)

/** Describes the parameters that select attributes, if their names are known, and relations. */
export function describeSelection (
  { relations, resource: { attributes, open } }: CompiledResource
): readonly Part[] {
  const visible = [...attributes.values()].filter(({ writeOnly }) => !writeOnly).map(({ name }) => name)
  const choose = (name: string, names: readonly string[], description: string): Part[] =>
    names.length === 0
      ? []
      : [inQuery(name, {
          type: 'array',
          minItems: 1,
          uniqueItems: true,
          items: { type: 'string', enum: names }
        }, description, JOINED)]
  return [
    ...choose('only', open ? [] : [...visible, 'id'], 'The attributes of the answer, which has the id besides.'),
    ...choose('include', relations.names, 'The related rows that each row includes. Such an answer has no ETag.')
  ]
}

/** Describes the parameters of a list. */
export function describeListQuery (compiled: CompiledResource): readonly Part[] {
  const { listQuery: { parameters, sortable, filterable, searchable }, options: { maxLimit } } = compiled
  const sortNames = [...sortable, 'id']
  const text = { type: 'string' }
  const known = ({ name }: Part): boolean => parameters.includes(String(name))
  return [
    ...[
      inQuery(
        'limit',
        { type: 'integer', minimum: 1, maximum: maxLimit },
        'The most rows to return. The default is all rows, and for HTML the size of a page.'
      ),
      inQuery('after', text, 'The position after which the page begins. Take it from the `Link` of another page.'),
      inQuery(
        'before',
        text,
        'The position before which the page ends, from a `Link`. An empty value asks for the last page.'
      ),
      inQuery(
        'offset',
        { type: 'integer', minimum: 0, maximum: MOST_OFFSET },
        'The number of rows before the page, which needs `limit`. It excludes `after` and `before`.'
      ),
      inQuery(
        'count',
        { type: 'string', enum: ['true', 'estimate'] },
        'Adds the headers `Total-Count` and `Content-Range`. An estimate may be faster.'
      ),
      inQuery(
        'sort',
        text,
        `Names separated by commas: ${sortNames.join(', ')}. A minus before a name means descending order.`,
        { example: `-${sortNames[0]}` }
      ),
      inQuery(
        'q',
        TEXT,
        `Lists only rows that have each word in ${searchable.join(' or ')}; at most ${MOST_WORDS} words.`
      )
    ].filter(known),
    ...filterable.flatMap(describeFilters),
    ...describeSelection(compiled),
    ...[inQuery('blank', { type: 'string', enum: ['any'] }, 'Ignores parameters without a value.')].filter(known)
  ]
}

/** The ends of the descriptions of operators: `Lists only rows with a rating of at least this.` */
const MEANINGS: Readonly<Record<NamedOperator, string>> = {
  gte: 'of at least this',
  gt: 'greater than this',
  lte: 'of at most this',
  lt: 'less than this',
  not: 'other than this, or without one',
  in: 'among these. In a value, write \\, for a comma and \\\\ for a backslash',
  null: 'that is null (true) or is not null (false)',
  contains: 'that contains this text, in upper or lower case',
  starts: 'that begins with this text, in upper or lower case'
}

function describeFilters (
  { attribute: { name, shape }, isPlain, operators, idType }: FilterableAttribute
): readonly Part[] {
  const one = `${/^[aeiou]/i.test(name) ? 'an' : 'a'} ${name}`
  // Each row has an id.
  const meanings = idType === undefined ? MEANINGS : { ...MEANINGS, not: 'other than this' }
  const blank = hasBlank(shape) ? ' An empty value lists the rows without one.' : ''
  return [
    ...(isPlain ? [inQuery(name, describePlain(shape), `Lists only rows with this ${name}.${blank}`)] : []),
    ...operators.map((operator) => inQuery(
      `${name}[${operator}]`,
      describeOperand(operator, shape),
      `Lists only rows with ${one} ${meanings[operator]}.`,
      operator === 'in' ? JOINED : {}
    ))
  ]
}

/** Describes the parameters that fill in a blank row. */
export function describePrefill (
  { resource, resource: { singular, attributes, idType }, options, prefill: { parameters } }: CompiledResource
): readonly Part[] {
  const own = parameters.map((name) =>
    inQuery(name, describePlain((attributes.get(name) as Property).shape), `The ${name} of the new ${singular}.`))
  return canCopy(resource, options.routing)
    ? [...own, inQuery(COPIED, ID_SCHEMAS[idType], `The id of a ${singular} with whose values it begins.`)]
    : own
}

/** Returns whether a blank parameter stands for null. */
function hasBlank ({ types, only }: Shape): boolean {
  return types.has('null') && only !== 'string'
}

function describePlain (shape: Shape): Part {
  const value = describeValue(shape)
  return hasBlank(shape) ? { anyOf: [value, { type: 'string', enum: [''] }] } : value
}

/** Describes a value by type and choices alone, because a filter may ask for one that the attribute cannot have. */
function describeValue (shape: Shape): Part {
  const { only, choices, format = '' } = shape
  return {
    type: only,
    ...(ORDERED_FORMATS.has(format) && { format }),
    ...(isDecimalShape(shape) && { pattern: writeDecimalPattern({}) }),
    ...(choices !== undefined && { enum: choices })
  }
}

function describeOperand (operator: NamedOperator, shape: Shape): Part {
  switch (operator) {
    case 'null': return { type: 'boolean' }
    case 'in': return { type: 'array', items: describeValue(shape), minItems: 1, maxItems: MOST_VALUES }
    case 'contains':
    case 'starts': return TEXT
    default: return describeValue(shape)
  }
}
