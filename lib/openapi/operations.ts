import type { CompiledResource, CompiledCustomAction } from '../http/compiled-resource.js'
import type { Route, RoutePath } from '../http/route.js'
import { camelize, capitalize } from '../resource/inflection.js'
import { nameOf } from '../resource/resource.js'
import type { Property } from '../schema/shape.js'
import type { DocumentWriter } from './document.js'
import { describeBody, describeContent, type Overridden, type Supplied } from './media.js'
import type { Part } from './part.js'
import { demandedOf, ID_SCHEMAS } from './resource-schemas.js'
import {
  defineCacheControl,
  defineEtag,
  defineLink,
  defineLocation,
  describeRefusals,
  EXAMPLE,
  type DescribedResource
} from './responses.js'

/** An operation: what `method` does on a path. */
export interface Operated {
  readonly path: RoutePath
  readonly route: Route
  readonly method: string
  /** Whether it stands at the path with a suffix. */
  readonly isSuffixed: boolean
}

/** What can be said of an operation beside where it stands. */
interface Purpose {
  readonly id: string
  readonly summary: string
  readonly description?: string
  readonly query: readonly Part[]
  readonly headers: readonly Part[]
  readonly body?: Part
  readonly answers: Readonly<Record<string, Part>>
  readonly refusals: readonly number[]
}

export function describeOperation (subject: DescribedResource, operated: Operated): Part {
  const { compiled, parameters } = subject
  const { path: { pattern }, isSuffixed } = operated
  const { id, summary, description, query, headers, body, answers, refusals } = describePurpose(subject, operated)
  const inPath = pattern.names.map((name) => ({
    in: 'path',
    name,
    required: true,
    schema: parameters.get(name) ?? { type: 'string' }
  }))
  const format = { name: 'format', schema: { type: 'string', enum: compiled.representations.map(({ name }) => name) } }
  return {
    operationId: isSuffixed ? `${id}As` : id,
    tags: [nameOf(compiled.resource)],
    summary,
    ...(description !== undefined && { description }),
    parameters: [
      ...inPath,
      isSuffixed
        ? { in: 'path', required: true, ...format }
        : { in: 'query', description: 'the format of the answer, whatever Accept says', ...format },
      ...query,
      ...headers
    ],
    ...body,
    responses: {
      ...withCacheControl(subject, answers, operated),
      ...describeRefusals(subject, refusals, answers[201] === undefined || operated.route.customAction !== undefined)
    }
  }
}

/** Of an operation that several actions share, each may have a value of its own: the first is the one described. */
function withCacheControl (
  { compiled, writer }: DescribedResource,
  answers: Purpose['answers'],
  {
    route: {
      actions: [{ name }]
    }
  }: Operated
): Purpose['answers'] {
  const header = { 'Cache-Control': defineCacheControl(writer, compiled.cacheControl(name, false)) }
  return Object.fromEntries(
    Object.entries(answers).map(([status, { headers, ...answer }]) => [
      status,
      { ...answer, headers: { ...header, ...(headers as Part | undefined) } }
    ])
  )
}

const IF_MATCH = {
  in: 'header',
  name: 'If-Match',
  schema: { type: 'string' },
  description:
    'the ETag of what was read: the write is refused where somebody else has changed it since (RFC 9110 §13.1.1)',
  example: EXAMPLE
}
const IF_NONE_MATCH = {
  in: 'header',
  name: 'If-None-Match',
  schema: { type: 'string' },
  description: 'the ETag of what the client has: a 304 where it is still the same (RFC 9110 §13.1.2)',
  example: EXAMPLE
}

function describePurpose (subject: DescribedResource, { path, route, method }: Operated): Purpose {
  const [{ name: action }] = route.actions
  if (route.customAction !== undefined) return describeOwn(subject, path, route, route.customAction, method)
  if (route.formOnly === true) return describeSubmit(subject, path, route)
  switch (action) {
    case 'list':
      return describeList(subject)
    case 'show':
      return describeShow(subject, `show${subject.names.one}`, `Show ${subject.compiled.resource.singular}`)
    case 'edit':
      return describeShow(subject, `edit${subject.names.one}`, `Show ${subject.compiled.resource.singular} in a form`)
    case 'new':
      return describeBlank(subject)
    case 'create':
      return describeCreate(subject, route)
    case 'delete':
      return describeDelete(subject, path)
    default:
      return describeUpdate(subject, path, method)
  }
}

function describeList ({ compiled, names: { many }, schemas, writer }: DescribedResource): Purpose {
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

function describeShow ({ compiled, schemas, writer }: DescribedResource, id: string, summary: string): Purpose {
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

function unchanged (writer: DocumentWriter): Readonly<Record<string, Part>> {
  return { 304: { description: 'What the client has is still the same', headers: { ETag: defineEtag(writer) } } }
}

function describeBlank ({ compiled, names: { one }, schemas }: DescribedResource): Purpose {
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

function describeCreate (subject: DescribedResource, route: Route): Purpose {
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

const REFUSED_WRITE = [400, 403, 404, 406, 409, 412, 413, 415, 422]
const DELETED = { 204: { description: 'It is gone' } }

function describeRequest (
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

function describeUpdate (subject: DescribedResource, path: RoutePath, method: string): Purpose {
  const { compiled, names: { one }, schemas } = subject
  const { resource: { singular } } = compiled
  const inPayload = isInPayload(compiled, path)
  return {
    id: `${method === 'PATCH' ? 'patch' : 'update'}${one}${path.param === undefined ? '' : 'ById'}`,
    summary: `Update ${singular}`,
    description: `Changes the attributes supplied, and no other.${inPayload ? ' The id may stand beside the group, in it, or in the query.' : ''}`,
    query: inPayload ? [idInQuery(compiled)] : [],
    headers: [ifMatch(compiled)],
    body: describeRequest(compiled, { group: schemas.changes(), isWhole: true, id: idOf(compiled) }),
    answers: { ...updated(subject), ...redirect(subject) },
    refusals: [...REFUSED_WRITE, ...matching(compiled)]
  }
}

function describeDelete (subject: DescribedResource, path: RoutePath): Purpose {
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
function describeSubmit (subject: DescribedResource, path: RoutePath, route: Route): Purpose {
  const { compiled, names: { one } } = subject
  const methods = methodsOf(route)
  return {
    id: `submit${one}${path.param === undefined ? '' : 'ById'}`,
    summary: `${capitalize(route.actions.map(({ name }) => name).join(' or '))} ${compiled.resource.singular} by a form`,
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

function describeOwn (
  subject: DescribedResource,
  path: RoutePath,
  route: Route,
  own: CompiledCustomAction,
  method: string
): Purpose {
  const {
    compiled,
    names: { one, many },
    schemas,
    writer
  } = subject
  const { plural, singular } = compiled.resource
  const name = camelize(own.name)
  const content = describeContent(compiled, 'either', schemas.record())
  const seen = { description: 'What it answers', headers: { ETag: defineEtag(writer) }, content }
  const purpose = {
    id: `${name}${{ collection: many, member: one, new: `New${one}` }[own.on]}${endingOf(path, route, method)}`,
    summary:
      typeof own.label === 'string'
        ? own.label
        : `${capitalize(own.name)} ${own.on === 'collection' ? plural : singular}`,
    query: describeQuery(schemas.queried(own), own)
  }
  if (route.payload === undefined) {
    return {
      ...purpose,
      headers: [IF_NONE_MATCH],
      answers: { 200: seen, ...unchanged(writer) },
      refusals: [400, 404, 406]
    }
  }
  const group = schemas.own(own)
  const isWhole = own.attributes !== undefined && demandedOf({ attributes: own.supplied }).length > 0
  const isForForms = route.formOnly === true
  const overridden = method === 'POST' && readsForms(compiled) ? overrideOwn(subject, path) : undefined
  return {
    ...purpose,
    headers: [IF_MATCH],
    body: describeRequest(
      compiled,
      isForForms ? undefined : { group, isWhole, id: idOf(compiled) },
      overridden,
      isWhole || isForForms
    ),
    answers: {
      200: seen,
      201: {
        description: 'What it has made',
        headers: { Location: defineLocation(writer), ETag: defineEtag(writer) },
        content
      },
      204: { description: 'It is done' },
      ...redirect(subject)
    },
    refusals: REFUSED_WRITE
  }
}

/** Where several verbs of a path have one name, the first has it alone. */
function endingOf ({ routes }: RoutePath, route: Route, method: string): string {
  if (route.formOnly === true) return 'ByForm'
  const first = routes.find(({ customAction: own }) => own?.name === route.customAction?.name)
  return first === route ? '' : `By${capitalize(method.toLowerCase())}`
}

function describeQuery (schemas: ReadonlyMap<string, Part>, { queried }: CompiledCustomAction): readonly Part[] {
  const demanded = demandedOf({ attributes: queried })
  return [...schemas].map(([name, { description, ...schema }]) => ({
    in: 'query',
    name,
    schema,
    ...(description !== undefined && { description }),
    ...(demanded.includes(name) && { required: true })
  }))
}

/** What a form asks for by `_method` of actions of the app's own; undefined: of nothing. */
function overrideOwn ({ compiled, schemas }: DescribedResource, { routes }: RoutePath): Overridden | undefined {
  const asked = routes.flatMap(({ customAction: own, formOnly }) =>
    own === undefined || formOnly === true || !['PUT', 'DELETE'].includes(own.verb) ? [] : [own]
  )
  const [group, ...others] = [...new Set(asked.map((own) => schemas.own(own)))]
  if (group === undefined) return undefined
  return {
    group: others.length === 0 ? group : { anyOf: [group, ...others] },
    isWhole: false,
    id: idOf(compiled),
    methods: asked.map(({ verb }) => verb)
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

function idOf ({ resource: { singleton, idType } }: CompiledResource): Part | undefined {
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
function redirect ({ compiled: { representations }, writer }: DescribedResource): Readonly<Record<string, Part>> {
  const isBrowsed = representations.some(({ browser }) => browser === true)
  return isBrowsed
    ? {
        303: {
          description: 'A browser is sent on to what there is to see',
          headers: { Location: defineLocation(writer) }
        }
      }
    : {}
}
