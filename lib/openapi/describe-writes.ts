import { ID_SCHEMAS } from '../core/resource/resource.js'
import type { CompiledResource } from '../core/compiled-resource.js'
import type { Route, RoutePath } from '../core/routes/route.js'
import { capitalize } from '../core/util/words.js'
import type { DescribedResource, OperationDescription } from './described.js'
import { describeBody, type OverrideBody, type Part, type BodyParts } from './media.js'
import { answerRecord, defineHeader, EXAMPLE } from './responses.js'

export const IF_MATCH: Part = {
  in: 'header',
  name: 'If-Match',
  schema: { type: 'string' },
  description:
    'The ETag of the row that was read. If the row has changed since then, the write is refused (RFC 9110 §13.1.1).',
  example: EXAMPLE
}

export function describeCreate (subject: DescribedResource, route: Route): OperationDescription {
  const { compiled, compiled: { resource: { singular } }, names: { one }, schemas, writer } = subject
  const methods = methodsOf(route)
  const overridden = methods.length > 0 && readsForms(compiled) ? override(subject, methods) : undefined
  return {
    id: `create${one}`,
    summary: `Create ${singular}`,
    ...(overridden !== undefined && {
      description:
        'A form can also update or delete by its field `_method`. The answer is then that of the update or deletion.'
    }),
    body: describeRequest(compiled, { group: schemas.creation(), isWhole: true, id: undefined }, overridden),
    answers: {
      201: answerRecord(subject, `The new ${singular}`, 'record', { Location: defineHeader(writer, 'Location') }),
      ...redirect(subject)
    },
    refusals: [400, 403, 406, 409, 412, 413, 415, 422]
  }
}

export const REFUSED_WRITE: readonly number[] = [400, 403, 404, 406, 409, 412, 413, 415, 422]

const DELETED = { 204: { description: 'Deleted' } }

export function describeRequest (
  compiled: CompiledResource,
  supplied: BodyParts | undefined,
  overridden?: OverrideBody,
  required = true
): Part {
  return { requestBody: { ...(required && { required }), content: describeBody(compiled, supplied, overridden) } }
}

export function readsForms ({ bodies }: CompiledResource): boolean {
  return bodies.some(({ reader }) => reader.form)
}

function override ({ compiled, schemas }: DescribedResource, methods: readonly string[]): OverrideBody {
  return { group: schemas.changes(), isWhole: false, id: idOf(compiled), methods }
}

const METHODS: Readonly<Record<string, string>> = { update: 'PUT', delete: 'DELETE' }

function methodsOf ({ actions }: Route): string[] {
  return actions.flatMap(({ name }) => METHODS[name] ?? [])
}

export function describeUpdate (subject: DescribedResource, path: RoutePath, method: string): OperationDescription {
  const { compiled, compiled: { resource: { singular } }, names: { one }, schemas } = subject
  const inPayload = isInPayload(compiled, path)
  const id = idOf(compiled)
  const patch = method === 'PATCH' && compiled.patches.length > 0
    ? { patch: { group: schemas.patch(), isWhole: true, id } }
    : {}
  return {
    id: `${method === 'PATCH' ? 'patch' : 'update'}${one}${path.param === undefined ? '' : 'ById'}`,
    summary: `Update ${singular}`,
    description:
      'Changes only the attributes that are sent.' +
      (inPayload ? ' The id may be beside the group of attributes, inside it, or in the query.' : ''),
    query: inPayload ? [idInQuery(compiled)] : [],
    headers: [ifMatch(compiled)],
    body: describeRequest(compiled, { group: schemas.changes(), isWhole: true, id, ...patch }),
    answers: { ...updated(subject), ...redirect(subject) },
    refusals: [...REFUSED_WRITE, ...matching(compiled)]
  }
}

export function describeDelete (subject: DescribedResource, path: RoutePath): OperationDescription {
  const { compiled, names: { one } } = subject
  const inPayload = isInPayload(compiled, path)
  return {
    id: `delete${one}${path.param === undefined ? '' : 'ById'}`,
    summary: `Delete ${compiled.resource.singular}`,
    ...(inPayload && { description: 'The id may be in the query or in the body.' }),
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

/** Describes a POST that only forms send. */
export function describeSubmit (subject: DescribedResource, path: RoutePath, route: Route): OperationDescription {
  const { compiled, names: { one } } = subject
  const methods = methodsOf(route)
  const purposes = route.actions.map(({ name }) => name).join(' or ')
  return {
    id: `submit${one}${path.param === undefined ? '' : 'ById'}`,
    summary: capitalize(`${purposes} ${compiled.resource.singular} by a form`),
    description: 'A form can only POST, so its field `_method` names the method.',
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

/** Returns the schema of a group with the id alone, because a delete ignores attributes. */
function nothingButId (compiled: CompiledResource): Part {
  return { type: 'object', properties: { id: idOf(compiled) }, xml: { name: compiled.resource.singular } }
}

function isInPayload ({ resource: { singleton } }: CompiledResource, { param }: RoutePath): boolean {
  return param === undefined && !singleton
}

function idInQuery ({ resource: { idType } }: CompiledResource): Part {
  return { in: 'query', name: 'id', schema: ID_SCHEMAS[idType], description: 'The id, if it is not in the body.' }
}

export function idOf ({ resource: { singleton, idType } }: CompiledResource): Part | undefined {
  return singleton ? undefined : ID_SCHEMAS[idType]
}

function ifMatch (compiled: CompiledResource): Part {
  // A form sends the field `_version` in place of the header.
  return compiled.options.requireMatch && !readsForms(compiled) ? { ...IF_MATCH, required: true } : IF_MATCH
}

function matching ({ options: { requireMatch } }: CompiledResource): number[] {
  return requireMatch ? [428] : []
}

function updated (subject: DescribedResource): Readonly<Record<string, Part>> {
  return { 200: answerRecord(subject, `The changed ${subject.compiled.resource.singular}`) }
}

export function redirect ({ compiled, writer }: DescribedResource): Readonly<Record<string, Part>> {
  if (!compiled.representations.some(({ browser }) => browser === true)) return {}
  const headers = { Location: defineHeader(writer, 'Location') }
  return { 303: { description: 'Redirects a browser to the page that shows the result', headers } }
}
