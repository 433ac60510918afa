import type { FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify'
import { type Access, findShown } from '../../actions/authorize/authorize.js'
import type { GuardedResource, ParentLink } from '../../actions/authorize/level.js'
import { findParameters } from '../../actions/authorize/parents.js'
import type { Refusals, Refused } from '../../actions/authorize/refused-actions.js'
import { create } from '../../actions/create.js'
import { remove } from '../../actions/delete.js'
import { findSingleton } from '../../actions/find-row.js'
import { list, type ListQuery } from '../../actions/list.js'
import type { Outcome } from '../../actions/outcome.js'
import { redisplay } from '../../actions/redisplay.js'
import { show } from '../../actions/show.js'
import { notFound } from '../../actions/target.js'
import { update } from '../../actions/update.js'
import {
  ExistsError,
  MalformedBodyError,
  NothingHereError,
  PreconditionFailedError,
  UnavailableError
} from '../../errors.js'
import type { Entries } from '../../formats/format.js'
import { type ActionName, parseId } from '../../resource/resource.js'
import type { Id } from '../../resource/row.js'
import type { Handler } from '../../routing/handler.js'
import type { Guard } from '../../stores/store.js'
import { type MaybePromise, catchError, andThen } from '../../util/maybe-promise.js'
import type { CompiledResource, CompiledCustomAction } from '../compiled-resource.js'
import { Job } from '../request/job.js'
import { type Negotiator, refuseMethod } from '../request/negotiate.js'
import { actionOf, type Payload, readVerb } from '../request/payload.js'
import { parseEntityTags, parsePreconditions } from '../request/preconditions.js'
import { checkQuery, parseLimit, type QueryParameters } from '../request/query.js'
import { findState, type RequestState } from '../request/state.js'
import type { Responder } from '../response/responder.js'
import type { PayloadHooks } from '../route.js'
import type { ActionLog } from '../telemetry/action-log.js'
import { toOutcome } from './custom-answer.js'
import { makeContext } from './custom-context.js'
import { NONE, WriteGuards } from './write-guards.js'

/** The most attempts of a default action whose row changes each time between `authorize` and the write. */
const TRIES = 100

/** Does what a request asks for; undefined: the app has answered it itself. */
type Perform = (job: Job) => MaybePromise<Outcome | undefined>

/** Outcomes of a write that has written nothing, and shows the row as it is. */
type Unwritten = Outcome & { readonly kind: 'stale' | 'revised' }

export interface Handlers {
  readonly list: RouteHandlerMethod
  readonly show: RouteHandlerMethod
  readonly blank: RouteHandlerMethod
  readonly edit: RouteHandlerMethod
  readonly write: RouteHandlerMethod
  /** For the payload of a write to a path on which there are these actions. */
  readPayload(actions: ReadonlySet<string>): PayloadHooks
  /** An action of the app's own that is only read. */
  readCustom(own: CompiledCustomAction): RouteHandlerMethod
  /** Others of a path, by their verbs. */
  writeCustom(
    customActions: ReadonlyMap<string, CompiledCustomAction>
  ): PayloadHooks & { readonly handler: RouteHandlerMethod }
}

/** From a request to an action's arguments, and from its outcome to the responder. */
export function makeHandlers (
  compiled: CompiledResource,
  negotiator: Negotiator,
  responder: Responder,
  actionLog: ActionLog
): Handlers {
  const { options, resource, validation, listQuery } = compiled
  const { singleton } = resource
  const guards = new WriteGuards(compiled)

  const send = (outcome: Outcome | undefined, job: Job): MaybePromise<FastifyReply> =>
    outcome === undefined ? job.reply : responder.send(outcome, job)
  const answer = compiled.mount.isShallow
    ? (outcome: Outcome | undefined, job: Job): MaybePromise<FastifyReply> =>
        andThen(findWay(outcome, job), () => send(outcome, job))
    : send

  function finish (outcome: Outcome | undefined, job: Job): MaybePromise<FastifyReply> {
    return outcome !== undefined && isUnwritten(outcome)
      ? andThen(conceal(outcome, job), conclude, job)
      : conclude(outcome, job)
  }

  function conclude (outcome: Outcome | undefined, job: Job): MaybePromise<FastifyReply> {
    actionLog.logOutcome(outcome, job)
    return compiled.refusals === undefined
      ? answer(outcome, job)
      : andThen(findRefused(outcome, job, compiled.refusals), () => answer(outcome, job))
  }

  /** A page offers nothing that `authorize` refuses. */
  function findRefused (outcome: Outcome | undefined, job: Job, refusals: Refusals): MaybePromise<void> {
    const { request, state } = job
    if (state.choice.format.writer.list !== undefined) return
    const keepRefused = (refused: Refused): void => {
      state.refused = refused
    }
    if (outcome?.kind === 'listed') return andThen(refusals.ofCollection(request), keepRefused)
    if (outcome?.kind === 'found') {
      return andThen(refusals.ofRow(request, singleton ? undefined : outcome.row.id), keepRefused)
    }
  }

  /**
   * Leaves out the stored row of a write that was refused if `authorize` does not let the client see it.
   * @throws PreconditionFailedError if nothing remains to be shown
   */
  function conceal (outcome: Unwritten, job: Job): MaybePromise<Outcome> {
    const { row } = outcome
    const checkAccess = compiled.accessCheckOf(job.state.route.isMember)
    if (row === undefined || checkAccess === undefined) return outcome
    return andThen(
      findShown(checkAccess, job.request, singleton ? undefined : row.id, job, () => row),
      (shown) => {
        if (outcome.kind === 'revised') return { ...outcome, row: shown }
        // A handler's row without a version does not tell whether it is the one that `authorize` has looked at.
        if (shown !== undefined) {
          return row.version === NONE || row.version === shown.version ? outcome : { ...outcome, row: shown }
        }
        job.state.outcome = 'stale'
        throw new PreconditionFailedError(
          `the ${resource.singular} is not as the request demands by If-Match, If-None-Match or _version; read it again`
        )
      }
    )
  }

  /** A page about a shallow row leads back to the list that it is in. */
  function findWay (outcome: Outcome | undefined, job: Job): MaybePromise<void> {
    const { state } = job
    const row = outcome !== undefined && 'row' in outcome ? outcome.row : undefined
    if (row === undefined || !state.route.isMember || state.choice.format.browser !== true) return
    return andThen(
      findParameters(row, (compiled.levels.at(-1) as GuardedResource).over as ParentLink, state.parameters, job),
      (parameters) => {
        state.parameters = parameters
      }
    )
  }

  /** Lets the request in, and does what it asks for. */
  function carryOut (job: Job, perform: Perform): MaybePromise<Outcome | undefined> {
    const checkAccess =
      job.state.target !== undefined && job.tries === 0 ? undefined : compiled.accessCheckOf(job.state.route.isMember)
    if (checkAccess !== undefined) return andThen(checkAccess(job.request, job, job), proceed, job, perform)
    return job.preconditions === undefined ? perform(job) : andThen(perform(job), retry, job, perform)
  }

  function proceed ({ target, authorizedRow }: Access, job: Job, perform: Perform): MaybePromise<Outcome | undefined> {
    job.target = job.state.target = target
    job.authorizedRow = authorizedRow
    return andThen(perform(job), retry, job, perform)
  }

  /**
   * Begins again if the row has changed since `authorize` looked at it, or since the preconditions were compared with it:
   * both then decide about the new row. A handler of the app's own is never called again, because it may have written or sent something already.
   */
  function retry (outcome: Outcome | undefined, job: Job, perform: Perform): MaybePromise<Outcome | undefined> {
    const { checked } = job
    if (
      outcome?.kind !== 'stale' ||
      job.isHandled ||
      checked === undefined ||
      outcome.row.version === checked.version
    ) {
      return outcome
    }
    job.tries++
    job.checked = undefined
    if (singleton) job.id = undefined
    if (job.tries > TRIES) throw new UnavailableError()
    return carryOut(job, perform)
  }

  function run (
    request: FastifyRequest,
    reply: FastifyReply,
    state: RequestState,
    action: string,
    id: Id | undefined,
    perform: Perform
  ): unknown {
    const job = new Job(request, reply, state, action, id, compiled.target)
    // First: whether a request makes sense must not tell a row that is hidden from one that is not there.
    if (state.payload !== undefined) job.preconditions = parsePreconditions(request, state.payload.version)
    return andThen(
      actionLog.hasSubscribers ? actionLog.trace(job, () => carryOut(job, perform)) : carryOut(job, perform),
      finish,
      job
    )
  }

  /** The id in the path of a member, if there is one. */
  function memberId ({ member }: RequestState): Id | undefined {
    if (member === undefined) return undefined
    const id = parseId(resource.idType, member)
    if (id === undefined || !compiled.isId(id)) throw notFound(resource, id ?? member)
    return id
  }

  /** A read of what may have an entity tag. */
  function read (
    request: FastifyRequest,
    reply: FastifyReply,
    state: RequestState,
    action: string,
    perform: Perform
  ): unknown {
    const id = memberId(state)
    // Before the row is found: what is refused must not be told as found.
    parseEntityTags(request.headers['if-none-match'], 'If-None-Match')
    return run(request, reply, state, action, id, perform)
  }

  /** Of a singleton, whose row is found by its scope, with the id of that row. */
  function withId (perform: Perform): Perform {
    if (!singleton) return perform
    // A row that has been looked at before stays the one, also if another one has taken its place.
    return (job) =>
      andThen(job.authorizedRow ?? job.checked ?? findSingleton(job.target, job), (row) => {
        if (row === undefined) throw new NothingHereError(resource.singular)
        job.found = row
        job.id = row.id
        return perform(job)
      })
  }

  function createNew (job: Job): MaybePromise<Outcome> {
    guards.checkNew(job)
    return create(job.target, attributesOf(job), job)
  }

  function createOnly (job: Job): MaybePromise<Outcome> {
    guards.checkNew(job)
    return andThen(findSingleton(job.target, job), (row) => {
      guards.checkNoneMatch(row, job)
      if (row !== undefined) throw new ExistsError(resource.singular)
      return create(job.target, attributesOf(job), job)
    })
  }

  function listRows (job: Job): MaybePromise<Outcome> {
    return andThen(parseListQuery(job), (wanted) => list(job.target, wanted, job))
  }

  function parseListQuery (job: Job): MaybePromise<ListQuery> {
    const {
      request,
      state: { choice }
    } = job
    const query = request.query as QueryParameters
    const pageSize = choice.format.writer.list === undefined ? options.pageSize : undefined
    const order = listQuery.parseOrder(query.sort)
    const wanted = {
      order,
      after: undefined,
      limit: parseLimit(query.limit, options.maxLimit) ?? pageSize,
      filter: listQuery.parseFilter(query)
    }
    if (query.after === undefined) return wanted
    return andThen(listQuery.findPosition(query.after, order, job.target.scope, job), (after) => ({ ...wanted, after }))
  }

  const change = (guard: Guard, job: Job): MaybePromise<Outcome> =>
    update(job.target, job.id as Id, attributesOf(job), guard, job)
  const erase = (guard: Guard, job: Job): MaybePromise<Outcome> => remove(job.target, job.id as Id, guard, job)

  const performs: Readonly<Record<Exclude<ActionName, 'new' | 'edit'>, Perform>> = {
    list: listRows,
    show: withId((job) =>
      job.authorizedRow === undefined ? show(job.target, job.id as Id, job) : { kind: 'found', row: job.authorizedRow }
    ),
    create: singleton ? createOnly : createNew,
    update: withId((job) => andThen(guards.find(job), change, job)),
    delete: withId((job) => andThen(guards.find(job), erase, job))
  }

  /** Of a handler that has answered before it fails Fastify asks no error handler. */
  function rethrow (error: unknown, job: Job): never {
    if (job.reply.sent) actionLog.logLateFailure(error, job)
    throw error
  }

  /** The guard of a handler, or the outcome if the preconditions do not hold: then the handler is not called. */
  function admit (job: Job, usual: Perform | undefined): MaybePromise<Guard | Outcome> {
    const {
      state: { payload },
      target
    } = job
    const open: Guard = { version: undefined, scope: target.scope }
    if (payload === undefined) return open
    if (usual === performs.create) {
      guards.checkNew(job)
      if (!singleton || job.preconditions === undefined) return open
      return andThen(findSingleton(target, job), (row) => {
        guards.checkNoneMatch(row, job)
        return open
      })
    }
    return job.id === undefined && !singleton ? guards.admitUnnamed(job) : guards.admit(job)
  }

  /** Calls a handler of the app's own, in the place of what the resource would do. */
  function call (handler: Handler, usual: Perform | undefined): Perform {
    return (job) =>
      andThen(admit(job, usual), (admitted) => {
        if ('kind' in admitted) return admitted
        return andThen(usual === listRows ? parseListQuery(job) : undefined, (listQuery) => {
          job.isHandled = true
          const guard = (job.guard = { ...admitted })
          job.listQuery = listQuery
          const context = makeContext(job, {
            paths: compiled.paths,
            guard,
            query: listQuery ?? job.state.query,
            guardFor: (row) => guards.guardFor(row, job),
            proceed: () =>
              usual === undefined ? { kind: 'done' } : andThen(usual(job) as MaybePromise<Outcome>, keep, job)
          })
          return andThen(
            catchError(
              () => handler(context as Parameters<Handler>[0]),
              (error) => rethrow(error, job)
            ),
            toOutcome,
            job
          )
        })
      })
  }

  function performerOf (action: keyof typeof performs): Perform {
    const handler = options.routing.handlers.get(action)
    const usual = performs[action]
    return handler === undefined ? usual : call(handler, usual)
  }

  const [doList, doShow, doCreate, doUpdate, doDelete] = (['list', 'show', 'create', 'update', 'delete'] as const).map(
    performerOf
  ) as [Perform, Perform, Perform, Perform, Perform]
  const doRevise: Perform = (job) =>
    job.authorizedRow === undefined ? redisplay(job.target, job.id, job) : { kind: 'revised', row: job.authorizedRow }
  const doReviseOne = withId(doRevise)
  const writes = { create: doCreate, update: doUpdate, delete: doDelete }

  function refuse (request: FastifyRequest, reply: FastifyReply, state: RequestState): never {
    // It is none of those that the path has.
    state.action = undefined
    refuseMethod(request, reply, state.route.allow)
  }

  /** Reads a payload, after which the app's own hooks see the same, whatever it was sent as. */
  function readWith (
    request: FastifyRequest,
    state: RequestState,
    readPayload: (
      body: Entries | undefined,
      claims: { method: string; member: string | undefined; query: string | undefined }
    ) => Payload
  ): Payload {
    const { id: query } = request.query as QueryParameters
    const payload = readPayload(request.body as Entries | undefined, {
      method: request.method,
      member: state.member,
      query
    })
    if (payload.id !== undefined && !compiled.isId(payload.id)) throw notFound(resource, payload.id)
    state.payload = payload
    request.body =
      payload.id === undefined
        ? { [resource.singular]: payload.attributes }
        : { id: payload.id, [resource.singular]: payload.attributes }
    return payload
  }

  return {
    list (request, reply) {
      const given = request.query as QueryParameters
      // The links of the page name what was asked for, and no more.
      request.query = given.blank === undefined ? given : listQuery.dropBlanks(given)
      return run(request, reply, findState(request) as RequestState, 'list', undefined, doList)
    },
    show (request, reply) {
      return read(request, reply, findState(request) as RequestState, 'show', doShow)
    },
    blank (request, reply) {
      return run(request, reply, findState(request) as RequestState, 'new', undefined, () => ({
        kind: 'blank',
        row: { id: '', version: '', attributes: validation.defaults() }
      }))
    },
    edit (request, reply) {
      const open: Perform = (job) =>
        andThen(doShow(job), (outcome) => (outcome?.kind === 'found' ? { ...outcome, kind: 'edit' } : outcome))
      return read(request, reply, findState(request) as RequestState, 'edit', open)
    },
    write (request, reply) {
      const state = findState(request) as RequestState
      const { action, id, isRevised } = state.payload as Payload
      return run(
        request,
        reply,
        state,
        action,
        id,
        isRevised ? (action === 'update' ? doReviseOne : doRevise) : writes[action as keyof typeof writes]
      )
    },
    readPayload: (actions) => ({
      read (request, reply, done) {
        const state = findState(request) as RequestState
        const body = negotiator.bodyOf(request) ?? compiled.bodiless
        const action = actionOf(readVerb(request.method, (request.body as Entries | undefined) ?? {}, body.reader))
        if (!actions.has(action)) refuse(request, reply, state)
        state.action = action
        readWith(request, state, body.readPayload)
        done()
      },
      check (request, _reply, done) {
        const state = findState(request) as RequestState
        const { action, attributes, issues, isRevised } = state.payload as Payload
        if (isRevised) checkRevisable(state)
        else if (action === 'create') validation.create(attributes, issues)
        else if (action === 'update') validation.update(attributes, issues)
        done()
      }
    }),
    readCustom (own) {
      const perform = call(own.handler, undefined)
      return (request, reply) => {
        const state = findState(request) as RequestState
        state.customAction = own
        state.query = own.readQuery(request.query as QueryParameters)
        return read(request, reply, state, own.name, perform)
      }
    },
    writeCustom (customActions) {
      const performs = new Map([...customActions.values()].map((own) => [own, call(own.handler, undefined)]))
      return {
        read (request, reply, done) {
          const state = findState(request) as RequestState
          const body = negotiator.bodyOf(request) ?? compiled.bodiless
          const own = customActions.get(
            readVerb(request.method, (request.body as Entries | undefined) ?? {}, body.reader)
          )
          if (own === undefined) return refuse(request, reply, state)
          state.customAction = own
          state.action = own.name
          readWith(request, state, own.payloadReader(body))
          done()
        },
        check (request, _reply, done) {
          const state = findState(request) as RequestState
          const { validate, readQuery, parameters } = state.customAction as CompiledCustomAction
          const { attributes, issues } = state.payload as Payload
          validate(attributes, issues)
          // The path of a form may have had those of another action.
          const query = state.route.formDecides
            ? checkQuery(request.query, ['format', ...parameters])
            : (request.query as QueryParameters)
          state.query = readQuery(query)
          done()
        },
        handler (request, reply) {
          const state = findState(request) as RequestState
          const own = state.customAction as CompiledCustomAction
          return run(
            request,
            reply,
            state,
            own.name,
            memberId(state) ?? (state.payload as Payload).id,
            performs.get(own) as Perform
          )
        }
      }
    }
  }
}

function isUnwritten (outcome: Outcome): outcome is Unwritten {
  return outcome.kind === 'stale' || outcome.kind === 'revised'
}

/** Remembers what `proceed()` came to. The guard follows its write, which is no conflict with what the handler writes next. */
function keep (outcome: Outcome, job: Job): Outcome {
  const { guard } = job
  job.proceeded = outcome
  if (outcome.kind === 'updated' && guard?.version !== undefined) guard.version = outcome.row.version
  return outcome
}

function attributesOf ({ state }: Job): Payload['attributes'] {
  return (state.payload as Payload).attributes
}

/** @throws MalformedBodyError where what is answered in has no page that could show the form again */
function checkRevisable ({ choice }: RequestState): void {
  const { writer } = choice.format
  if (writer.document !== undefined || writer.revised === undefined) {
    throw new MalformedBodyError('the form asks for other rows in it, which only a page can show')
  }
}
