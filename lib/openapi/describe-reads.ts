import type { Property } from '../schema/shape.js'
import type { DescribedResource, Purpose } from './described.js'
import type { DocumentWriter } from './document.js'
import { describeContent, type Part } from './media.js'
import { defineEtag, defineLink, EXAMPLE } from './responses.js'

export const IF_NONE_MATCH: Part = {
  in: 'header',
  name: 'If-None-Match',
  schema: { type: 'string' },
  description: 'the ETag of what the client has: a 304 where it is still the same (RFC 9110 §13.1.2)',
  example: EXAMPLE
}

export function describeList ({ compiled, names: { many }, schemas, writer }: DescribedResource): Purpose {
  const { listQuery: { parameters, sortable, filterable }, options: { maxLimit }, resource } = compiled
  const sortNames = [...sortable, 'id']
  const sort = !parameters.includes('sort')
    ? []
    : [
        {
          in: 'query',
          name: 'sort',
          schema: { type: 'string' },
          description: `names separated by commas, a descending one after a minus, of ${sortNames.join(', ')}`,
          example: `-${sortNames[0]}`
        }
      ]
  const filter = filterable.map((name) => describeFilter(resource.attributes.get(name) as Property))
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
      ...sort,
      ...filter,
      ...(filter.length === 0
        ? []
        : [
            {
              in: 'query',
              name: 'blank',
              schema: { type: 'string', enum: ['any'] },
              description: 'leaves out parameters that have no value'
            }
          ])
    ],
    headers: [],
    answers: {
      200: {
        description: `The ${resource.plural}`,
        headers: { Link: defineLink(writer) },
        content: describeContent(compiled, 'list', schemas.record())
      }
    },
    refusals: [400, 406]
  }
}

/** What bounds there are for the attribute, nothing that is asked for has to keep. */
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

export function describeShow ({ compiled, schemas, writer }: DescribedResource, id: string, summary: string): Purpose {
  const headers = { ETag: defineEtag(writer) }
  return {
    id,
    summary,
    query: [],
    headers: [IF_NONE_MATCH],
    answers: {
      200: {
        description: `The ${compiled.resource.singular}`,
        headers,
        content: describeContent(compiled, 'record', schemas.record())
      },
      ...unchanged(writer)
    },
    refusals: [400, 404, 406]
  }
}

export function unchanged (writer: DocumentWriter): Readonly<Record<string, Part>> {
  return { 304: { description: 'What the client has is still the same', headers: { ETag: defineEtag(writer) } } }
}

export function describeBlank ({ compiled, names: { one }, schemas }: DescribedResource): Purpose {
  const { resource: { singular } } = compiled
  return {
    id: `new${one}`,
    summary: `Show a blank ${singular}`,
    description: 'What has a default has it.',
    query: [],
    headers: [],
    answers: {
      200: {
        description: `A ${singular} that is yet to be made`,
        content: describeContent(compiled, 'record', schemas.changes())
      }
    },
    refusals: [400, 406]
  }
}
