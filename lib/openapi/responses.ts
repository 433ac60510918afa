import { STATUS_CODES } from 'node:http'
import { isDeepStrictEqual } from 'node:util'
import { capitalize } from '../core/util/words.js'
import { type BodyContent, describeContent, describeProblems } from './bodies.js'
import type { DocumentWriter } from './document.js'
import { EXAMPLE } from './parameters.js'
import { membersOf, type Part } from './part.js'
import type { DescribedResource } from './resource-schemas.js'

/** Describes the error responses with these statuses, and all others, which are failures. */
export function describeRefusals (
  subject: DescribedResource,
  statuses: readonly number[],
  { hasRow = true, mayBeMany = false }: { readonly hasRow?: boolean, readonly mayBeMany?: boolean } = {}
): Readonly<Record<string, Part>> {
  const { compiled, writer } = subject
  const { resourcePaths, levels, representations, options: { routing: { constraints, param } } } = compiled
  const isGuarded = levels.some(({ authorize, scope }) => authorize.length > 0 || scope.length > 0)
  // A constraint on the id adds nothing: a path with an id may be a 404 anyway.
  const isConstrained = Object.keys(constraints).some((name) => name !== param)
  const all = new Set([
    ...statuses,
    ...(resourcePaths.parent !== undefined || isConstrained ? [404] : []),
    ...(isGuarded ? [403, 404] : [])
  ])
  const content = describeProblems(compiled, () => defineProblem(writer), () => defineErrors(writer))
  const names = representations.map(({ name }) => name)
  const suffix = [...names].sort().join() === 'html,json,xml' ? '' : names.map(capitalize).join('')
  const refuse = (status: number): Part => {
    if (status === 412 && hasRow) {
      const { content: current, ...answer } = answerRecord(subject, REFUSALS[412])
      return { ...answer, content: isGuarded || mayBeMany ? merge(membersOf(current), content) : current }
    }
    const description = status === 412 ? UNVERSIONED : REFUSALS[status]
    const name = String(STATUS_CODES[status]).replaceAll(/\W/g, '') + suffix
    return writer.share('responses', name, { description, content })
  }
  return {
    ...Object.fromEntries([...all].map((status) => [status, refuse(status)])),
    default: writer.share('responses', `Failure${suffix}`, {
      description: 'The server has failed. 503 and 507: nothing was written. 504: it is unknown whether it wrote.',
      content
    })
  }
}

const UNVERSIONED = 'The request names a version, but a new row has none'

/** Joins two contents. If both have a media type, either schema may apply. */
function merge (one: Part, other: Part): Part {
  return {
    ...one,
    ...Object.fromEntries(
      Object.entries(other).map(([mediaType, media]) => {
        const known = one[mediaType]
        const isSame = known === undefined || isDeepStrictEqual(known, media)
        return [
          mediaType,
          isSame ? media : { schema: { anyOf: [membersOf(known).schema, membersOf(media).schema] } }
        ]
      })
    )
  }
}

const REFUSALS: Readonly<Record<number, string>> & { readonly 412: string } = {
  400: 'The request is malformed: for example an invalid body, an unknown parameter, or two different ids',
  403: 'The client is not allowed to do this, or a browser says that the request comes from another origin',
  404: 'Nothing has this id or path',
  406: 'None of the available formats is acceptable',
  409: 'A value that must be unique exists already, or other rows refer to the one to be deleted',
  412:
    'A precondition failed, because somebody else has changed the row. ' +
    'The body is the current row, if the client may see it.',
  413: 'The body is too large, or has too many rows',
  414: 'The URL is too long',
  415: 'The type of the body is not supported. Accept lists the supported types.',
  422: 'Attributes do not fit the schema. The body says what is wrong with each of them.',
  428: 'The request must name a version, by If-Match or by `_version` in the body'
}

export type HeaderName =
  'ETag' | 'CacheControl' | 'Location' | 'Link' | 'Preference-Applied' | 'Row-Counts' | 'Total-Count' |
  'Content-Range' | 'Idempotency-Replayed'

const HEADERS: Readonly<Record<HeaderName, Part>> = {
  ETag: {
    description:
      'The version, for If-Match and If-None-Match. If the path does not name the row, the id is before it, as in ' +
        '"7-3.json".',
    schema: { type: 'string' },
    example: EXAMPLE
  },
  CacheControl: {
    description: 'Which caches may store the answer, and for how long (RFC 9111).',
    schema: { type: 'string' }
  },
  Location: {
    description: 'The path of the row or page.',
    schema: { type: 'string', format: 'uri-reference' }
  },
  'Preference-Applied': {
    description: '`return=minimal` if the body is left out, as `Prefer` asks for (RFC 7240).',
    schema: { type: 'string' }
  },
  'Row-Counts': {
    description: 'What an update did with the rows of a request with many rows: a dictionary (RFC 9651).',
    schema: { type: 'string' },
    example: 'created=0, changed=2, unchanged=1'
  },
  'Idempotency-Replayed': {
    description: '`true` if the request was carried out before, and nothing was done.',
    schema: { type: 'string', enum: ['true'] }
  },
  'Total-Count': {
    description: 'The number of all rows, if `count` asks for it. `;estimate` follows an estimate (RFC 9651).',
    schema: { type: 'string', pattern: '^\\d+(;estimate)?$' },
    example: '1234'
  },
  'Content-Range': {
    description: 'The place of the rows in the whole list, from 0, if `count` asks for it (RFC 9110 §14.4).',
    schema: { type: 'string' },
    example: 'posts 0-19/1234'
  },
  Link: {
    description: 'A page has `self` and `first`, and `prev` and `next` if there are such pages (RFC 8288).',
    schema: { type: 'string' },
    example: '</posts?limit=20>; rel="self", </posts?limit=20>; rel="first", </posts?limit=20&after=WzIwXQ>; rel="next"'
  }
}

export function defineHeader (writer: DocumentWriter, name: HeaderName, example?: string): Part {
  return writer.share('headers', name, { ...HEADERS[name], ...(example !== undefined && { example }) })
}

/** Describes the headers of an answer. */
export function defineHeaders (writer: DocumentWriter, ...names: readonly HeaderName[]): Part {
  return Object.fromEntries(names.map((name) => [name, defineHeader(writer, name)]))
}

/** Describes an answer with a record of the resource. */
export function answerRecord (
  { compiled, schemas, writer }: DescribedResource,
  description: string,
  content: BodyContent = 'record',
  headers: readonly HeaderName[] = []
): Part {
  return {
    description,
    headers: defineHeaders(writer, ...headers, 'ETag'),
    content: describeContent(compiled, content, schemas.record())
  }
}

/** Defines the schema of a problem document (RFC 9457). */
function defineProblem (writer: DocumentWriter): Part {
  const status = { type: 'integer' }
  const detail = { type: 'string', description: 'What is wrong, in one sentence.' }
  const errors = {
    type: 'object',
    additionalProperties: { type: 'array', items: { type: 'string' } },
    description: 'The messages of each attribute.'
  }
  const row = {
    type: 'object',
    required: ['index', 'status'],
    properties: {
      index: { type: 'integer', description: 'The place of the row in the request, from 0.' },
      id: { anyOf: [{ type: 'integer' }, { type: 'string' }] },
      line: { type: 'integer', description: 'The line of the CSV file, from 1.' },
      status,
      detail,
      errors
    }
  }
  return writer.share('schemas', 'Problem', {
    type: 'object',
    required: ['type', 'title', 'status', 'detail'],
    properties: {
      type: { type: 'string', format: 'uri-reference' },
      title: { type: 'string', description: 'The status in words.' },
      status,
      detail,
      errors,
      rows: { type: 'array', items: row, description: 'The rows at fault, if the request has many.' },
      truncated: { type: 'boolean', description: 'Whether more rows are at fault than `rows` has.' }
    }
  })
}

function defineErrors (writer: DocumentWriter): Part {
  return writer.share('schemas', 'Errors', {
    type: 'array',
    description:
      'Each error is a sentence: `<errors><error attribute="title">Title must not be blank</error></errors>`. ' +
      'In a request with many rows, it names the place of its row, from 0.',
    items: {
      type: 'object',
      properties: {
        index: { type: 'integer', xml: { attribute: true } },
        id: { type: 'string', xml: { attribute: true } },
        line: { type: 'integer', xml: { attribute: true } },
        attribute: { type: 'string', xml: { attribute: true } }
      },
      xml: { name: 'error' }
    },
    xml: { name: 'errors', wrapped: true }
  })
}
