import type { CompiledResource } from '../http/compiled-resource.js'
import type { Route, RoutePath } from '../http/route.js'
import { capitalize } from '../resource/inflection.js'
import type { DescribedResource, Purpose } from './described.js'
import { describeBody, describeContent, type Overridden, type Part, type Supplied } from './media.js'
import { ID_SCHEMAS } from './resource-schemas.js'
import { defineEtag, defineLocation, EXAMPLE } from './responses.js'

export const IF_MATCH: Part = {
  in: 'header',
  name: 'If-Match',
  schema: { type: 'string' },
  description:
    'the ETag of what was read: the write is refused where somebody else has changed it since (RFC 9110 §13.1.1)',
  example: EXAMPLE
}

export function describeCreate (subject: DescribedResource, route: Route): Purpose {
  const { compiled, names: { one }, schemas, writer } = subject
  const { singular } = compiled.resource
  const methods = methodsOf(route)
  const overridden = methods.length > 0 && readsForms(compiled) ? override(subject, methods) : undefined
  return {
    id: `create${one}`,
    summary: `Create ${singular}`,
    ...(overridden !== undefined && {
      description:
        'A form may also ask for a change or a deletion, by its field `_method`: it is then answered as those are.'
    }),
    query: [],
    headers: [],
    body: describeRequest(compiled, { group: schemas.creation(), isWhole: true, id: undefined }, overridden),
    answers: {
      201: {
        description: `The new ${singular}`,
        headers: { Location: defineLocation(writer), ETag: defineEtag(writer) },
        content: describeContent(compiled, 'record', schemas.record())
      },
      ...redirect(subject)
    },
    refusals: [400, 403, 406, 409, 412, 413, 415, 422]
  }
}

export const REFUSED_WRITE: readonly number[] = [400, 403, 404, 406, 409, 412, 413, 415, 422]

const DELETED = { 204: { description: 'It is gone' } }

export function describeRequest (
  compiled: CompiledResource,
  supplied: Supplied | undefined,
  overridden?: Overridden,
  required = true
): Part {
  return { requestBody: { ...(required && { required }), content: describeBody(compiled, supplied, overridden) } }
}

/** Whether forms are read, which may ask for something else than they are sent by. */
export function readsForms ({ bodies }: CompiledResource): boolean {
  return bodies.some(({ reader }) => reader.form)
}

/** What a form asks for by `_method`. */
function override ({ compiled, schemas }: DescribedResource, methods: readonly string[]): Overridden {
  return { group: schemas.changes(), isWhole: false, id: idOf(compiled), methods }
}

const METHODS: Readonly<Record<string, string>> = { update: 'PUT', delete: 'DELETE' }

/** What a form may say in `_method`. */
function methodsOf ({ actions }: Route): string[] {
  return actions.flatMap(({ name }) => METHODS[name] ?? [])
}

export function describeUpdate (subject: DescribedResource, path: RoutePath, method: string): Purpose {
  const { compiled, names: { one }, schemas } = subject
  const { resource: { singular } } = compiled
  const inPayload = isInPayload(compiled, path)
  return {
    id: `${method === 'PATCH' ? 'patch' : 'update'}${one}${path.param === undefined ? '' : 'ById'}`,
    summary: `Update ${singular}`,
    description:
      'Changes the attributes supplied, and no other.' +
      (inPayload ? ' The id may stand beside the group, in it, or in the query.' : ''),
    query: inPayload ? [idInQuery(compiled)] : [],
    headers: [ifMatch(compiled)],
    body: describeRequest(compiled, { group: schemas.changes(), isWhole: true, id: idOf(compiled) }),
    answers: { ...updated(subject), ...redirect(subject) },
    refusals: [...REFUSED_WRITE, ...matching(compiled)]
  }
}

export function describeDelete (subject: DescribedResource, path: RoutePath): Purpose {
  const { compiled, names: { one } } = subject
  const inPayload = isInPayload(compiled, path)
  return {
    id: `delete${one}${path.param === undefined ? '' : 'ById'}`,
    summary: `Delete ${compiled.resource.singular}`,
    ...(inPayload && { description: 'The id may stand in the query or in the body.' }),
    query: inPayload ? [idInQuery(compiled)] : [],
    headers: [ifMatch(compiled)],
    ...(inPayload && {
      body: describeRequest(
        compiled,
        { group: nothingButId(compiled), isWhole: false, id: idOf(compiled) },
        undefined,
        false
      )
    }),
    answers: { ...DELETED, ...redirect(subject) },
    refusals: [...REFUSED_WRITE, ...matching(compiled)]
  }
}

/** A POST that is there because a form can do nothing else. */
export function describeSubmit (subject: DescribedResource, path: RoutePath, route: Route): Purpose {
  const { compiled, names: { one } } = subject
  const methods = methodsOf(route)
  const purposes = route.actions.map(({ name }) => name).join(' or ')
  return {
    id: `submit${one}${path.param === undefined ? '' : 'ById'}`,
    summary: capitalize(`${purposes} ${compiled.resource.singular} by a form`),
    description: 'A form can only POST: `_method` says what is meant.',
    query: [],
    headers: [ifMatch(compiled)],
    body: describeRequest(compiled, undefined, override(subject, methods)),
    answers: {
      ...(methods.includes('PUT') && updated(subject)),
      ...(methods.includes('DELETE') && DELETED),
      ...redirect(subject)
    },
    refusals: [...REFUSED_WRITE, ...matching(compiled)]
  }
}

/** A deletion passes over whatever else is said of its row. */
function nothingButId (compiled: CompiledResource): Part {
  return { type: 'object', properties: { id: idOf(compiled) }, xml: { name: compiled.resource.singular } }
}

/** Whether the row is named by the payload, and not by the path. */
function isInPayload ({ resource: { singleton } }: CompiledResource, { param }: RoutePath): boolean {
  return param === undefined && !singleton
}

function idInQuery ({ resource: { idType } }: CompiledResource): Part {
  return { in: 'query', name: 'id', schema: ID_SCHEMAS[idType], description: 'the id, where the body does not say it' }
}

export function idOf ({ resource: { singleton, idType } }: CompiledResource): Part | undefined {
  return singleton ? undefined : ID_SCHEMAS[idType]
}

function ifMatch (compiled: CompiledResource): Part {
  // A form has its field `_version`.
  return compiled.options.requireMatch && !readsForms(compiled) ? { ...IF_MATCH, required: true } : IF_MATCH
}

function matching ({ options: { requireMatch } }: CompiledResource): number[] {
  return requireMatch ? [428] : []
}

function updated ({ compiled, schemas, writer }: DescribedResource): Readonly<Record<string, Part>> {
  return {
    200: {
      description: `The ${compiled.resource.singular} as it has been changed`,
      headers: { ETag: defineEtag(writer) },
      content: describeContent(compiled, 'record', schemas.record())
    }
  }
}

/** Browsers are sent on. */
export function redirect ({ compiled, writer }: DescribedResource): Readonly<Record<string, Part>> {
  const isBrowsed = compiled.representations.some(({ browser }) => browser === true)
  return isBrowsed
    ? {
        303: {
          description: 'A browser is sent on to what there is to see',
          headers: { Location: defineLocation(writer) }
        }
      }
    : {}
}
