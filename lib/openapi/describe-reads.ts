import type { Property } from '../schema/shape.js'
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

export function describeList ({ compiled, names: { many }, schemas, writer }: DescribedResource): OperationDescription {
  const { listQuery: { parameters, sortable, filterable }, options: { maxLimit }, resource } = compiled
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
  const filter = [...resource.attributes.values()].filter(({ name }) => filterable.includes(name)).map(describeFilter)
  return {
    id: `list${many}`,
    summary: `List ${resource.plural}`,
    description: 'Returns the whole list, or a page of it. The default order is by id.',
    query: [
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
        description: 'The position after which the page begins. Take it from the `Link` of the page before.'
      },
      ...(parameters.includes('sort') ? [sort] : []),
      ...filter,
      ...(filter.length === 0 ? [] : [blank])
    ],
    answers: {
      200: {
        description: `The ${resource.plural}`,
        headers: { Link: defineHeader(writer, 'Link') },
        content: describeContent(compiled, 'list', schemas.record())
      }
    },
    refusals: [400, 406]
  }
}

/** Describes a filter by type and choices alone, because it may ask for a value that the attribute cannot have. */
function describeFilter ({ name, shape: { only, choices, types } }: Property): Part {
  const value = { type: only, ...(choices !== undefined && { enum: choices }) }
  const hasNull = types.has('null') && only !== 'string'
  const schema = hasNull ? { anyOf: [value, { type: 'string', enum: [''] }] } : value
  return {
    in: 'query',
    name,
    schema,
    description: `Lists only rows with this ${name}.${hasNull ? ' An empty value lists the rows without one.' : ''}`
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
  const { resource: { singular } } = compiled
  return {
    id: `new${one}`,
    summary: `Show a blank ${singular}`,
    description: 'Attributes that have a default show it.',
    answers: {
      200: {
        description: `A new ${singular}, which is not saved yet`,
        content: describeContent(compiled, 'record', schemas.changes())
      }
    },
    refusals: [400, 406]
  }
}
