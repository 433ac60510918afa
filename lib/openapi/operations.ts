import type { CompiledCustomAction, CompiledResource } from '../core/compiled-resource.js'
import { PRIVATE } from '../core/options/cache-control.js'
import { canCopy } from '../core/request/prefill.js'
import { camelize } from '../core/resource/inflection.js'
import { ID_SCHEMAS } from '../core/resource/resource.js'
import { nameOf } from '../core/modes.js'
import type { Route, RoutePath } from '../core/routes/route.js'
import { capitalize } from '../core/util/words.js'
import { type BodyParts, describeBodies, describeContent, type RequestBodies } from './bodies.js'
import {
  describeDeleted, describeIds, describeMatch, describeQueriedIds, listRows, mayBeDryRun, nameIds, takesMany
} from './many-rows.js'
import {
  describeId, describeListQuery, describePrefill, describeSelection, DRY_RUN_QUERY, IDEMPOTENCY_KEY, IF_MATCH,
  IF_NONE_MATCH, PREFER
} from './parameters.js'
import { membersOf, type Part } from './part.js'
import { type DescribedResource, requiredNames } from './resource-schemas.js'
import { answerRecord, defineHeader, defineHeaders, describeRefusals, type HeaderName } from './responses.js'

export interface DescribedOperation {
  readonly path: RoutePath
  readonly route: Route
  readonly method: string
  /** Whether its path ends with a suffix. */
  readonly isSuffixed: boolean
}

/** What an action adds to the description of its operation. */
interface OperationKind {
  readonly id: string
  readonly summary: string
  readonly description?: string
  readonly query?: readonly Part[]
  readonly headers?: readonly Part[]
  readonly bodies?: RequestBodies
  readonly answers: Readonly<Record<string, Part>>
  /** The statuses of its errors. */
  readonly refusals: readonly number[]
  /** Whether the request may have many rows. @default false */
  readonly mayBeMany?: boolean
}

/** Describes a method of a path. */
export function describeOperation (subject: DescribedResource, operated: DescribedOperation): Part {
  const { compiled, parameters, writer } = subject
  const { path: { pattern }, isSuffixed, route: { actions: [{ name: action }], customAction } } = operated
  const { id, summary, description, query = [], headers = [], bodies, answers, refusals, mayBeMany = false } =
    describePurpose(subject, operated)
  const inPath = pattern.names.map((name) => ({
    in: 'path',
    name,
    required: true,
    schema: parameters.get(name) ?? { type: 'string' }
  }))
  const format = { name: 'format', schema: { type: 'string', enum: compiled.representations.map(({ name }) => name) } }
  // If actions share the operation, the example is the value of the first one.
  const cache = defineHeader(writer, 'CacheControl', compiled.cacheControl.answers.get(action) ?? PRIVATE)
  const replayed = describeKey(compiled, operated.route).length > 0 && defineHeaders(writer, 'Idempotency-Replayed')
  const responses = Object.entries(answers).map(([status, { headers, ...answer }]) => [
    status,
    { ...answer, headers: { 'Cache-Control': cache, ...membersOf(headers), ...replayed } }
  ])
  return {
    operationId: isSuffixed ? `${id}As` : id,
    tags: [nameOf(compiled.resource)],
    summary,
    ...(description !== undefined && { description }),
    parameters: [
      ...inPath,
      isSuffixed
        ? { in: 'path', required: true, ...format }
        : { in: 'query', description: 'The format of the answer. It takes precedence over Accept.', ...format },
      ...query,
      ...(mayBeDryRun(compiled, operated.route) ? [DRY_RUN_QUERY] : []),
      ...headers,
      ...describeKey(compiled, operated.route)
    ],
    ...(bodies !== undefined && { requestBody: describeBodies(compiled, bodies) }),
    responses: {
      ...Object.fromEntries(responses),
      ...describeRefusals(subject, refusals, {
        hasRow: answers[201] === undefined || customAction !== undefined, mayBeMany
      })
    }
  }
}

/** Describes the header with the key of a write. A form has a field instead. */
function describeKey (compiled: CompiledResource, { readPayload }: Route): readonly Part[] {
  const { idempotency } = compiled.options
  if (idempotency === undefined || readPayload === undefined) return []
  return [idempotency.required && !readsForms(compiled) ? { ...IDEMPOTENCY_KEY, required: true } : IDEMPOTENCY_KEY]
}

function describePurpose (subject: DescribedResource, operated: DescribedOperation): OperationKind {
  const { path, route, method } = operated
  const { compiled, compiled: { resource: { singular } }, names: { one } } = subject
  if (route.customAction !== undefined) return describeCustom(subject, operated, route.customAction)
  if (route.formOnly === true) return describeSubmit(subject, path, route)
  const read = (): ReturnType<typeof describeRead> => describeRead(subject, answerRecord(subject, `The ${singular}`))
  switch (route.actions[0].name) {
    case 'list':
      return describeList(subject)
    case 'show':
      return { id: `show${one}`, summary: `Show ${singular}`, query: describeSelection(compiled), ...read() }
    case 'edit':
      return { id: `edit${one}`, summary: `Show ${singular} in a form`, ...read() }
    case 'new':
      return describeBlank(subject)
    case 'create':
      return describeCreate(subject, path, route)
    case 'delete':
      return describeDelete(subject, path)
    default:
      return describeUpdate(subject, path, method)
  }
}

function describeList ({ compiled, names: { many }, schemas, writer }: DescribedResource): OperationKind {
  const { plural } = compiled.resource
  const isCounted = compiled.listQuery.parameters.includes('count')
  const counts = isCounted ? ['Total-Count', 'Content-Range'] as const : []
  return {
    id: `list${many}`,
    summary: `List ${plural}`,
    description: 'Returns the whole list, or a page of it. The default order is by id.',
    query: describeListQuery(compiled),
    answers: {
      200: {
        description: `The ${plural}`,
        headers: defineHeaders(writer, 'Link', ...counts),
        content: describeContent(compiled, 'list', schemas.record())
      }
    },
    refusals: [400, 406, 414]
  }
}

/** Describes a read that may be conditional, by its answer. */
function describeRead (
  { writer }: DescribedResource,
  shown: Part
): Pick<OperationKind, 'headers' | 'answers' | 'refusals'> {
  const headers = defineHeaders(writer, 'ETag')
  return {
    headers: [IF_NONE_MATCH],
    answers: { 200: shown, 304: { description: 'The client\'s copy is up to date', headers } },
    refusals: [400, 404, 406]
  }
}

function describeBlank ({ compiled, names: { one }, schemas }: DescribedResource): OperationKind {
  const { singular } = compiled.resource
  return {
    id: `new${one}`,
    summary: `Show a blank ${singular}`,
    description: 'Attributes have the values of the query, or else of the row that it names, or else their defaults.',
    query: describePrefill(compiled),
    answers: {
      200: {
        description: `A new ${singular}, which is not saved yet`,
        content: describeContent(compiled, 'record', schemas.changes())
      }
    },
    refusals: canCopy(compiled.resource, compiled.options.routing) ? [400, 404, 406] : [400, 406]
  }
}

const REFUSED_CREATE: readonly number[] = [400, 403, 406, 409, 412, 413, 415, 422]
const REFUSED_WRITE: readonly number[] = [400, 403, 404, 406, 409, 412, 413, 415, 422]
const DELETED = { 204: { description: 'Deleted' } }

function describeCreate (subject: DescribedResource, path: RoutePath, route: Route): OperationKind {
  const { compiled, compiled: { resource: { singular } }, names: { one }, schemas } = subject
  const methods = methodsOf(route)
  const override = methods.length > 0 && readsForms(compiled) ? describeOverride(subject, path, methods) : undefined
  const mayBeMany = takesMany(compiled, path, 'create')
  const created = answerRows(subject, `The new ${singular}`, mayBeMany, ['Location'])
  const description = join(
    mayBeMany && 'The body may have a list of rows: all of them are created, or none.',
    override &&
      'A form can also update or delete by its field `_method`. The answer is then that of the update or deletion.'
  )
  return {
    id: `create${one}`,
    summary: `Create ${singular}`,
    ...(description !== '' && { description }),
    bodies: {
      own: { group: schemas.creation(), isWhole: true, id: undefined },
      override,
      many: mayBeMany ? { list: listRows(compiled, schemas.creation()) } : undefined
    },
    answers: {
      ...(mayBeDryRun(compiled, route) && {
        200: { description: 'What would be created, if it is a dry run', content: created.content }
      }),
      201: created,
      ...redirect(subject)
    },
    headers: mayBeMany ? [PREFER] : [],
    refusals: REFUSED_CREATE,
    mayBeMany
  }
}

function describeUpdate (subject: DescribedResource, path: RoutePath, method: string): OperationKind {
  const { compiled, compiled: { resource: { singular } }, schemas, writer } = subject
  const isPatch = method === 'PATCH'
  const id = idOf(compiled)
  const ids = takesMany(compiled, path, 'update') ? describeIds(compiled) : undefined
  const group = schemas.changes()
  const { headers = [], query = [], ...write } = describeWrite(subject, path, isPatch ? 'patch' : 'update', ids)
  const matching = ids === undefined ? [] : describeMatch(compiled, path)
  return {
    ...write,
    query: [...query, ...matching],
    summary: `Update ${singular}`,
    headers: [...headers, ...ids === undefined ? [] : [PREFER]],
    description: join(
      'Changes only the attributes that are sent.',
      isInPayload(compiled, path) && 'The id may be beside the group of attributes, inside it, or in the query.',
      ids && 'A list of rows gives each its own changes, and several ids get the same changes: all of them, or none.'
    ),
    bodies: {
      own: { group, isWhole: true, id, ids },
      patch: isPatch && compiled.patches.length > 0 ? { group: schemas.patch(), isWhole: true, id } : undefined,
      many: ids && {
        list: listRows(compiled, {
          ...(matching.length === 0 && { required: ['id'] }),
          allOf: [group],
          xml: { name: singular }
        }),
        group: () => schemas.shared(nameIds(ids))
      }
    },
    answers: {
      ...describeUpdated(subject, ids !== undefined),
      ...(ids !== undefined && {
        204: {
          description: 'Changed, if Prefer asks for no body',
          headers: defineHeaders(writer, 'Preference-Applied', 'Row-Counts')
        }
      }),
      ...redirect(subject)
    }
  }
}

function describeDelete (subject: DescribedResource, path: RoutePath): OperationKind {
  const { compiled, compiled: { resource: { singular } } } = subject
  const ids = takesMany(compiled, path, 'delete') ? describeIds(compiled) : undefined
  return {
    ...describeWrite(subject, path, 'delete', ids),
    summary: `Delete ${singular}`,
    ...(isInPayload(compiled, path) && {
      description: join(
        'The id may be in the query or in the body.', ids && 'There may be several: all of them are deleted, or none.'
      ),
      bodies: {
        own: { group: describeDeleted(compiled, { ids }), isWhole: false, id: idOf(compiled), ids },
        many: ids && { list: listRows(compiled, describeDeleted(compiled, { isItem: true })) },
        required: false
      }
    }),
    answers: { ...DELETED, ...redirect(subject) }
  }
}

/** Describes a POST that only forms send. */
function describeSubmit (subject: DescribedResource, path: RoutePath, route: Route): OperationKind {
  const methods = methodsOf(route)
  const override = describeOverride(subject, path, methods)
  const purposes = route.actions.map(({ name }) => name).join(' or ')
  return {
    ...describeWrite(subject, path, 'submit', override.ids),
    summary: capitalize(`${purposes} ${subject.compiled.resource.singular} by a form`),
    description: 'A form can only POST, so its field `_method` names the method.',
    query: [],
    bodies: { override },
    answers: {
      ...(methods.includes('PUT') && describeUpdated(subject, override.ids !== undefined)),
      ...(methods.includes('DELETE') && DELETED),
      ...redirect(subject)
    }
  }
}

/** Describes what all writes of a row have. */
function describeWrite (
  { compiled, names: { one } }: DescribedResource,
  path: RoutePath,
  verb: string,
  ids: Part | undefined
): Pick<OperationKind, 'id' | 'query' | 'headers' | 'refusals' | 'mayBeMany'> {
  const { requireMatch } = compiled.options
  // A body has `_version` in place of the header.
  const isDemanded = requireMatch && verb === 'delete' && !isInPayload(compiled, path) && !readsForms(compiled)
  return {
    id: `${verb}${one}${path.param === undefined ? '' : 'ById'}`,
    query: isInPayload(compiled, path) ? [describeId(compiled), ...ids ? [describeQueriedIds(ids)] : []] : [],
    headers: [isDemanded ? { ...IF_MATCH, required: true } : IF_MATCH],
    refusals: [...REFUSED_WRITE, ...requireMatch ? [428] : []],
    mayBeMany: ids !== undefined
  }
}

export function readsForms ({ bodies }: CompiledResource): boolean {
  return bodies.some(({ reader }) => reader.form)
}

/** Describes the body of a form that asks for another method. */
function describeOverride (
  { compiled, schemas }: DescribedResource,
  path: RoutePath,
  methods: readonly string[]
): BodyParts {
  const isOfMany = Object.entries(METHODS).some(([action, method]) =>
    methods.includes(method) && takesMany(compiled, path, action))
  return {
    group: schemas.changes(),
    isWhole: false,
    id: idOf(compiled),
    ids: isOfMany ? describeIds(compiled) : undefined,
    methods
  }
}

const METHODS: Readonly<Record<string, string>> = { update: 'PUT', delete: 'DELETE' }

function methodsOf ({ actions }: Route): string[] {
  return actions.flatMap(({ name }) => METHODS[name] ?? [])
}

function isInPayload ({ resource: { singleton } }: CompiledResource, { param }: RoutePath): boolean {
  return param === undefined && !singleton
}

function idOf ({ resource: { singleton, idType } }: CompiledResource): Part | undefined {
  return singleton ? undefined : ID_SCHEMAS[idType]
}

function describeUpdated (subject: DescribedResource, mayBeMany: boolean): OperationKind['answers'] {
  const changed = `The changed ${subject.compiled.resource.singular}`
  return { 200: answerRows(subject, changed, mayBeMany, mayBeMany ? ['Row-Counts'] : []) }
}

/** Describes an answer with the row of the request, or with its rows. */
function answerRows (
  subject: DescribedResource,
  description: string,
  mayBeMany: boolean,
  headers: readonly HeaderName[]
): Part {
  return mayBeMany
    ? answerRecord(subject, `${description}, or a list of several`, 'either', [...headers, 'Preference-Applied'])
    : answerRecord(subject, description, 'record', headers)
}

/** Joins the sentences of a description. */
function join (...sentences: ReadonlyArray<string | false | undefined>): string {
  return sentences.filter((sentence) => sentence !== false && sentence !== undefined).join(' ')
}

function redirect ({ compiled, writer }: DescribedResource): OperationKind['answers'] {
  if (!compiled.representations.some(({ browser }) => browser === true)) return {}
  const headers = defineHeaders(writer, 'Location')
  return { 303: { description: 'Redirects a browser to the page that shows the result', headers } }
}

function describeCustom (
  subject: DescribedResource,
  operated: DescribedOperation,
  own: CompiledCustomAction
): OperationKind {
  const { path, route, method } = operated
  const { compiled: { resource: { plural, singular } }, names: { one, many }, schemas } = subject
  const name = camelize(own.name)
  const takesIds = own.many && path.param === undefined
  const where = takesIds ? many : { collection: many, member: one, new: `New${one}` }[own.on]
  const isOfMany = takesIds || own.on === 'collection'
  const demanded = requiredNames({ attributes: own.queried })
  const shown = answerRecord(subject, 'The result of the action', 'either')
  const purpose = {
    id: `${name}${where}${endingOf(path, route, method)}`,
    summary: typeof own.label === 'string' ? own.label : `${capitalize(own.name)} ${isOfMany ? plural : singular}`,
    query: [...schemas.queried(own)].map(([name, { description, ...schema }]) => ({
      in: 'query',
      name,
      schema,
      ...(description !== undefined && { description }),
      ...(demanded.includes(name) && { required: true })
    }))
  }
  if (route.readPayload === undefined) return { ...purpose, ...describeRead(subject, shown) }
  return { ...purpose, ...takesIds ? describeCustomMany(subject, own) : describeCustomWrite(subject, operated, own) }
}

/** Describes a write of the app. */
function describeCustomWrite (
  subject: DescribedResource,
  { path, route, method }: DescribedOperation,
  own: CompiledCustomAction
): Omit<OperationKind, 'id' | 'summary'> {
  const { compiled, schemas } = subject
  const group = schemas.custom(own)
  const isWhole = own.attributes !== undefined && requiredNames({ attributes: own.supplied }).length > 0
  const isForForms = route.formOnly === true
  return {
    headers: [IF_MATCH],
    bodies: {
      own: isForForms ? undefined : { group, isWhole, id: idOf(compiled) },
      override: method === 'POST' && readsForms(compiled) ? overrideCustom(subject, path) : undefined,
      required: isWhole || isForForms
    },
    answers: {
      200: answerRecord(subject, 'The result of the action', 'either'),
      201: answerRecord(subject, 'The row that was created', 'either', ['Location']),
      204: { description: 'The action was carried out; there is nothing to return' },
      ...redirect(subject)
    },
    refusals: REFUSED_WRITE
  }
}

/** Describes an action of the app that is performed on each of several rows, in one transaction. */
function describeCustomMany (
  subject: DescribedResource,
  own: CompiledCustomAction
): Omit<OperationKind, 'id' | 'summary'> {
  const { compiled, compiled: { resource: { singular } }, schemas, writer } = subject
  const group = schemas.custom(own)
  const ids = describeIds(compiled)
  return {
    description: 'Performs the action on each row, in one transaction: on all of them, or on none.',
    headers: [PREFER],
    bodies: {
      own: { group, isWhole: false, id: undefined, ids },
      many: {
        list: listRows(compiled, { required: ['id'], allOf: [group], xml: { name: singular } }),
        ...(own.attributes === undefined && { group: () => schemas.shared(nameIds(ids)) })
      }
    },
    answers: {
      200: answerRecord(subject, 'The rows that the action has returned', 'list', ['Preference-Applied']),
      204: {
        description: 'The action was carried out; there is nothing to return',
        headers: defineHeaders(writer, 'Preference-Applied')
      },
      ...redirect(subject)
    },
    refusals: REFUSED_WRITE,
    mayBeMany: true
  }
}

/** Returns the ending of an operation id. If verbs of a path share a name, all but the first end with their verb. */
function endingOf ({ routes }: RoutePath, route: Route, method: string): string {
  if (route.formOnly === true) return 'ByForm'
  const first = routes.find(({ customAction: own }) => own?.name === route.customAction?.name)
  return first === route ? '' : `By${capitalize(method.toLowerCase())}`
}

/** Describes the custom actions that a form may ask for by `_method`. Returns `undefined` if there are none. */
function overrideCustom (subject: DescribedResource, { routes }: RoutePath): BodyParts | undefined {
  const asked = routes.flatMap(({ customAction: own, formOnly }) =>
    own === undefined || formOnly === true || !['PUT', 'DELETE'].includes(own.verb) ? [] : [own]
  )
  const [group, ...others] = [...new Set(asked.map((own) => subject.schemas.custom(own)))]
  if (group === undefined) return undefined
  return {
    group: others.length === 0 ? group : { anyOf: [group, ...others] },
    isWhole: false,
    id: idOf(subject.compiled),
    methods: asked.map(({ verb }) => verb)
  }
}
