import type { Property } from '../schema/shape.js'
import type { DescribedResource, OperationDescription } from './described.js'
import type { DocumentWriter } from './document.js'
import { describeContent, type Part } from './media.js'
import { answerRecord, defineHeader, EXAMPLE } from './responses.js'

export const IF_NONE_MATCH: Part = {
  in: 'header',
  name: 'If-None-Match',
  schema: { type: 'string' },
  description: 'the ETag of what the client has: a 304 where it is still the same (RFC 9110 §13.1.2)',
  example: EXAMPLE
}

export function describeList ({ compiled, names: { many }, schemas, writer }: DescribedResource): OperationDescription {
  const { listQuery: { parameters, sortable, filterable }, options: { maxLimit }, resource } = compiled
  const sortNames = [...sortable, 'id']
  const sort = {
    in: 'query',
    name: 'sort',
    schema: { type: 'string' },
    description: `names separated by commas, a descending one after a minus, of ${sortNames.join(', ')}`,
    example: `-${sortNames[0]}`
  }
  const blank = {
    in: 'query',
    name: 'blank',
    schema: { type: 'string', enum: ['any'] },
    description: 'leaves out parameters that have no value'
  }
  const filter = [...resource.attributes.values()].filter(({ name }) => filterable.includes(name)).map(describeFilter)
  return {
    id: `list${many}`,
    summary: `List ${resource.plural}`,
    description: 'All of them in the order of their ids, or a page of them.',
    query: [
      {
        in: 'query',
        name: 'limit',
        schema: { type: 'integer', minimum: 1, maximum: maxLimit },
        description: 'how many at most; without it, all (of a page, as many as it has)'
      },
      {
        in: 'query',
        name: 'after',
        schema: { type: 'string' },
        description: 'where the page before this one ended: follow its Link'
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
    description: `lists those of this ${name} alone${hasNull ? '; without a value, those that have none' : ''}`
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
  return { 304: { description: 'What the client has is still the same', headers } }
}

export function describeBlank ({ compiled, names: { one }, schemas }: DescribedResource): OperationDescription {
  const { resource: { singular } } = compiled
  return {
    id: `new${one}`,
    summary: `Show a blank ${singular}`,
    description: 'What has a default has it.',
    answers: {
      200: {
        description: `A ${singular} that is yet to be made`,
        content: describeContent(compiled, 'record', schemas.changes())
      }
    },
    refusals: [400, 406]
  }
}
