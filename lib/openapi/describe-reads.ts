import type { CompiledResource } from '../core/compiled-resource.js'
import {
  type FilterableAttribute,
  LONGEST_TEXT,
  MOST_VALUES,
  MOST_WORDS,
  type NamedOperator
} from '../core/request/filter-query.js'
import { MOST_OFFSET } from '../core/request/list-query.js'
import { isDecimalShape, ORDERED_FORMATS } from '../core/schema/convert-text.js'
import type { Property, Shape } from '../core/schema/shape.js'
import { writeDecimalPattern } from './adapt-schema.js'
import type { DescribedResource, OperationDescription } from './described.js'
import type { DocumentWriter } from './document.js'
import { describeContent, type Part } from './media.js'
import { answerRecord, defineHeader, EXAMPLE } from './responses.js'

export const IF_NONE_MATCH: Part = {
  in: 'header',
  name: 'If-None-Match',
  schema: { type: 'string' },
  description: 'The ETag of the client\'s copy. If the row is unchanged, the answer is a 304 (RFC 9110 §13.1.2).',
  example: EXAMPLE
}

/** Describes the parameters that select attributes and relations. */
export function describeSelection (compiled: CompiledResource): readonly Part[] {
  return [...describeOnly(compiled), ...describeInclude(compiled)]
}

function describeInclude ({ relations: { names } }: CompiledResource): readonly Part[] {
  if (names.length === 0) return []
  return [{
    in: 'query',
    name: 'include',
    schema: { type: 'array', minItems: 1, uniqueItems: true, items: { type: 'string', enum: names } },
    style: 'form',
    explode: false,
    description: 'The related rows that each row includes. Such an answer has no ETag.'
  }]
}

/** Describes the parameter that selects attributes; none if their names are unknown. */
function describeOnly ({ resource: { attributes, open } }: CompiledResource): readonly Part[] {
  if (open) return []
  const names = [...attributes.values()].flatMap(({ name, writeOnly }) => (writeOnly ? [] : [name]))
  return [{
    in: 'query',
    name: 'only',
    schema: { type: 'array', minItems: 1, uniqueItems: true, items: { type: 'string', enum: [...names, 'id'] } },
    style: 'form',
    explode: false,
    description: 'The attributes of the answer, which has the id besides.'
  }]
}

const BEFORE: Part = {
  in: 'query',
  name: 'before',
  schema: { type: 'string' },
  description: 'The position before which the page ends, from a `Link`. An empty value asks for the last page.'
}

const OFFSET: Part = {
  in: 'query',
  name: 'offset',
  schema: { type: 'integer', minimum: 0, maximum: MOST_OFFSET },
  description: 'The number of rows before the page, which needs `limit`. It excludes `after` and `before`.'
}

const COUNT: Part = {
  in: 'query',
  name: 'count',
  schema: { type: 'string', enum: ['true', 'estimate'] },
  description: 'Adds the headers `Total-Count` and `Content-Range`. An estimate may be faster.'
}

export function describeList (subject: DescribedResource): OperationDescription {
  const { compiled, names: { many }, schemas, writer } = subject
  const { plural } = compiled.resource
  return {
    id: `list${many}`,
    summary: `List ${plural}`,
    description: 'Returns the whole list, or a page of it. The default order is by id.',
    query: describeListQuery(compiled),
    answers: {
      200: {
        description: `The ${plural}`,
        headers: {
          Link: defineHeader(writer, 'Link'),
          ...(compiled.listQuery.parameters.includes('count') && {
            'Total-Count': defineHeader(writer, 'Total-Count'),
            'Content-Range': defineHeader(writer, 'Content-Range')
          })
        },
        content: describeContent(compiled, 'list', schemas.record())
      }
    },
    refusals: [400, 406, 414]
  }
}

function describeListQuery (compiled: CompiledResource): readonly Part[] {
  const { listQuery: { parameters, sortable, filterable, searchable }, options: { maxLimit } } = compiled
  const sortNames = [...sortable, 'id']
  const sort = {
    in: 'query',
    name: 'sort',
    schema: { type: 'string' },
    description: `Names separated by commas: ${sortNames.join(', ')}. A minus before a name means descending order.`,
    example: `-${sortNames[0]}`
  }
  const blank = {
    in: 'query',
    name: 'blank',
    schema: { type: 'string', enum: ['any'] },
    description: 'Ignores parameters without a value.'
  }
  const search = {
    in: 'query',
    name: 'q',
    schema: TEXT,
    description: `Lists only rows that have each word in ${searchable.join(' or ')}; at most ${MOST_WORDS} words.`
  }
  return [
    {
      in: 'query',
      name: 'limit',
      schema: { type: 'integer', minimum: 1, maximum: maxLimit },
      description: 'The most rows to return. The default is all rows, and for HTML the size of a page.'
    },
    {
      in: 'query',
      name: 'after',
      schema: { type: 'string' },
      description: 'The position after which the page begins. Take it from the `Link` of another page.'
    },
    ...(parameters.includes('before') ? [BEFORE] : []),
    ...(parameters.includes('offset') ? [OFFSET] : []),
    ...(parameters.includes('count') ? [COUNT] : []),
    ...(parameters.includes('sort') ? [sort] : []),
    ...(searchable.length > 0 ? [search] : []),
    ...filterable.flatMap(describeFilters),
    ...describeSelection(compiled),
    ...(parameters.includes('blank') ? [blank] : [])
  ]
}

const TEXT: Part = { type: 'string', minLength: 1, maxLength: LONGEST_TEXT }

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
  const plain = {
    in: 'query',
    name,
    schema: describePlain(shape),
    description: `Lists only rows with this ${name}.${blank}`
  }
  return [
    ...(isPlain ? [plain] : []),
    ...operators.map((operator) => ({
      in: 'query',
      name: `${name}[${operator}]`,
      schema: describeOperand(operator, shape),
      ...(operator === 'in' && { style: 'form', explode: false }),
      description: `Lists only rows with ${one} ${meanings[operator]}.`
    }))
  ]
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

export function describeShow (subject: DescribedResource, id: string, summary: string): OperationDescription {
  const { compiled: { resource: { singular } }, writer } = subject
  return {
    id,
    summary,
    headers: [IF_NONE_MATCH],
    answers: { 200: answerRecord(subject, `The ${singular}`), ...unchanged(writer) },
    refusals: [400, 404, 406]
  }
}

export function unchanged (writer: DocumentWriter): Readonly<Record<string, Part>> {
  const headers = { ETag: defineHeader(writer, 'ETag') }
  return { 304: { description: 'The client\'s copy is up to date', headers } }
}

export function describeBlank ({ compiled, names: { one }, schemas }: DescribedResource): OperationDescription {
  const { resource: { singular, attributes }, prefill } = compiled
  return {
    id: `new${one}`,
    summary: `Show a blank ${singular}`,
    description: 'Attributes have the values of the query, or else their defaults.',
    query: prefill.parameters.map((name) => ({
      in: 'query',
      name,
      schema: describePlain((attributes.get(name) as Property).shape),
      description: `The ${name} of the new ${singular}.`
    })),
    answers: {
      200: {
        description: `A new ${singular}, which is not saved yet`,
        content: describeContent(compiled, 'record', schemas.changes())
      }
    },
    refusals: [400, 406]
  }
}
