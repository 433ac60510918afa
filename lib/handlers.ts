import type { FastifyReply, FastifyRequest, preValidationHookHandler, RouteHandlerMethod } from 'fastify'
import { notFound } from './actions/action.js'
import { create } from './actions/create.js'
import { remove } from './actions/delete.js'
import { list, type Wanted } from './actions/list.js'
import { findOnly, findRow } from './actions/only.js'
import { revise } from './actions/revise.js'
import { show } from './actions/show.js'
import { update } from './actions/update.js'
import { toOutcome } from './handler-answer.js'
import { type Door, refuseMethod } from './door.js'
import { type Enter, type Entered, findParameters, type Level, type Over } from './access.js'
import { ExistsError, MalformedBodyError, MatchRequiredError, NothingHereError, UnavailableError } from './errors.js'
import type { Entries } from './formats/format.js'
import { findState, type Hall, type State } from './hall.js'
import { Job } from './job.js'
import type { Outcome } from './outcome.js'
import type { Own } from './own-actions.js'
import { makeContext } from './handler-context.js'
import { actionOf, type Payload, readVerb } from './payload.js'
import { matchedVersions, parseEntityTags } from './preconditions.js'
import { checkQuery, parseLimit, type QueryParameters } from './query.js'
import { type ActionName, parseId } from './resource.js'
import type { Responder } from './respond.js'
import type { Handler } from './routing/handler.js'
import { recover, settle } from './settle.js'
import { noStore } from './stores/none.js'
import type { Guard, Id, MaybePromise, Stored } from './stores/store.js'

/** A version that no row has. */
const NONE = ''
/** So often a write is tried whose row changes while the app looks whether it may be written. */
const TRIES = 100

/** Does what a request asks for; undefined: the app has answered it itself. */
type Perform = (job: Job) => MaybePromise<Outcome | undefined>

/** What finds out which action a payload asks for, and what then checks what it supplies. */
export interface PayloadHooks {
  readonly read: preValidationHookHandler
  readonly check: preValidationHookHandler
}

export interface Handlers {
  readonly list: RouteHandlerMethod
  readonly show: RouteHandlerMethod
  readonly blank: RouteHandlerMethod
  readonly edit: RouteHandlerMethod
  readonly write: RouteHandlerMethod
  /** For the payload of a write to a path on which there are these actions. */
  readPayload (actions: ReadonlySet<string>): PayloadHooks
  /** An action of the app's own that is only read. */
  readOwn (own: Own): RouteHandlerMethod
  /** Others of a path, by their verbs. */
  writeOwn (owns: ReadonlyMap<string, Own>): PayloadHooks & { readonly handler: RouteHandlerMethod }
}

/** From a request to an action's arguments, and from its outcome to the responder. */
export function makeHandlers (hall: Hall, door: Door, responder: Responder): Handlers {
  const { options, resource, validation, listing, signals } = hall
  const { singleton } = resource

  const send = (outcome: Outcome | undefined, job: Job): FastifyReply => outcome === undefined ? job.reply : responder.send(outcome, job)
  const answer = hall.site.isShallow ? (outcome: Outcome | undefined, job: Job): MaybePromise<FastifyReply> => settle(findWay(outcome, job), () => send(outcome, job)) : send

  function finish (outcome: Outcome | undefined, job: Job): MaybePromise<FastifyReply> {
    signals.logOutcome(outcome, job)
    return answer(outcome, job)
  }

  /** A page about a shallow row leads back to the list that it is in. */
  function findWay (outcome: Outcome | undefined, job: Job): MaybePromise<void> {
    const { state } = job
    const row = outcome !== undefined && 'row' in outcome ? outcome.row : undefined
    if (row === undefined || !state.entrance.isMember || state.choice.format.browser !== true) return
    return settle(findParameters(row, (hall.levels.at(-1) as Level).over as Over, state.parameters, job), (parameters) => { state.parameters = parameters })
  }

  /** Lets the request in, and does what it asks for. */
  function carryOut (job: Job, perform: Perform): MaybePromise<Outcome | undefined> {
    if (job.state.subject !== undefined && job.tries === 0) return perform(job)
    const enter = hall.entryOf(job.state.entrance) as Enter
    return settle(enter(job.request, job, job), proceed, job, perform)
  }

  function proceed ({ subject, seen }: Entered, job: Job, perform: Perform): MaybePromise<Outcome | undefined> {
    job.subject = job.state.subject = subject
    job.seen = seen
    return settle(perform(job), retry, job, perform)
  }

  /** Begins anew where the row is not the one that the app has looked at: neither written nor shown before it has seen it. */
  function retry (outcome: Outcome | undefined, job: Job, perform: Perform): MaybePromise<Outcome | undefined> {
    // A handler's row without a version does not tell whether it is another one.
    if (outcome?.kind !== 'stale' || job.seen === undefined || outcome.row.version === NONE || outcome.row.version === job.seen.version) return outcome
    job.tries++
    if (job.tries > TRIES) throw new UnavailableError()
    return carryOut(job, perform)
  }

  function run (request: FastifyRequest, reply: FastifyReply, state: State, action: string, id: Id | undefined, perform: Perform): unknown {
    // First: whether a request makes sense must not tell a row that is hidden from one that is not there.
    if (state.payload !== undefined) parseEntityTags(request.headers['if-match'], 'If-Match')
    const job = new Job(request, reply, state, action, id, hall.subject)
    return settle(signals.isHeard ? signals.trace(job, () => carryOut(job, perform)) : carryOut(job, perform), finish, job)
  }

  /** The id in the path of a member, if there is one. */
  function memberId ({ member }: State): Id | undefined {
    if (member === undefined) return undefined
    const id = parseId(resource.idType, member)
    if (id === undefined || !hall.isId(id)) throw notFound(resource, id ?? member)
    return id
  }

  /** A read of what may have an entity tag. */
  function read (request: FastifyRequest, reply: FastifyReply, state: State, action: string, perform: Perform): unknown {
    const id = memberId(state)
    // Before the row is found: what is refused must not be told as found.
    parseEntityTags(request.headers['if-none-match'], 'If-None-Match')
    return run(request, reply, state, action, id, perform)
  }

  /** Of a singleton, whose row is found by its scope, with the id of that row. */
  function withId (perform: Perform): Perform {
    if (!singleton) return perform
    return (job) => settle(job.seen ?? findOnly(job.subject, job), (row) => {
      if (row === undefined) throw new NothingHereError(resource.singular)
      job.id = row.id
      return perform(job)
    })
  }

  function createOnly (job: Job): MaybePromise<Outcome> {
    return settle(findOnly(job.subject, job), (row) => {
      if (row !== undefined) throw new ExistsError(resource.singular)
      return create(job.subject, attributesOf(job), job)
    })
  }

  function listWanted (job: Job): MaybePromise<Outcome> {
    return settle(findWanted(job), (wanted) => list(job.subject, wanted, job))
  }

  function findWanted (job: Job): MaybePromise<Wanted> {
    const { request, state: { choice } } = job
    const query = request.query as QueryParameters
    const pageSize = choice.format.writer.list === undefined ? options.pageSize : undefined
    const order = listing.parseOrder(query.sort)
    const wanted = { order, after: undefined, limit: parseLimit(query.limit, options.maxLimit) ?? pageSize, filter: listing.parseFilter(query) }
    if (query.after === undefined) return wanted
    return settle(listing.findPlace(query.after, order, job.subject.scope, job), (after) => ({ ...wanted, after }))
  }

  /** The row that a write is about, as it is. */
  function findCurrent (job: Job): MaybePromise<Stored | undefined> {
    return findRow(job.subject, job.id, job)
  }

  /** What `If-Match` and a form's `_version` demand together. */
  function findGuard (job: Job): MaybePromise<Guard> {
    const { request, state, subject: { store, scope }, seen, action } = job
    const header = request.headers['if-match']
    const formVersion = state.payload?.version
    if (options.requireMatch && header === undefined && formVersion === undefined && state.own === undefined && (action === 'update' || action === 'delete')) {
      return settle(findCurrent(job), (row) => {
        // Where there is no store, the handler alone knows whether there is a row.
        if (row !== undefined || store === noStore) throw new MatchRequiredError(resource.singular)
        throw singleton ? new NothingHereError(resource.singular) : notFound(resource, job.id)
      })
    }
    const matched = matchedVersions(parseEntityTags(header, 'If-Match'))
    const versions = formVersion === undefined ? matched : matched === undefined || matched.includes(formVersion) ? [formVersion] : []
    // The row that the app has looked at before it let the request in is the one that it has let it write.
    if (seen !== undefined) return { version: versions?.includes(seen.version) === false ? NONE : seen.version, scope }
    if (versions === undefined) return { version: undefined, scope }
    if (versions.length < 2) return { version: versions[0] ?? NONE, scope }
    // The store compares one version in its atomic step: of several, the one that the row has.
    return settle(findCurrent(job), (row) => ({ version: versions.find((version) => version === row?.version) ?? NONE, scope }))
  }

  const change = (guard: Guard, job: Job): MaybePromise<Outcome> => update(job.subject, job.id as Id, attributesOf(job), guard, job)
  const erase = (guard: Guard, job: Job): MaybePromise<Outcome> => remove(job.subject, job.id as Id, guard, job)

  const performs: Readonly<Record<Exclude<ActionName, 'new' | 'edit'>, Perform>> = {
    list: listWanted,
    show: withId((job) => job.seen === undefined ? show(job.subject, job.id as Id, job) : { kind: 'found', row: job.seen }),
    create: singleton ? createOnly : (job) => create(job.subject, attributesOf(job), job),
    update: withId((job) => settle(findGuard(job), change, job)),
    delete: withId((job) => settle(findGuard(job), erase, job))
  }

  /** Of a handler that has answered before it fails Fastify asks no error handler. */
  function rethrow (error: unknown, job: Job): never {
    if (job.reply.sent) signals.noteLateFailure(error, job)
    throw error
  }

  /** Calls a handler of the app's own, in the place of what the resource would do. */
  function call (handler: Handler, usual: Perform | undefined): Perform {
    return (job) => {
      const isWrite = job.state.payload !== undefined && (job.id !== undefined || (singleton && usual !== performs.create))
      const guard = isWrite ? findGuard(job) : { version: undefined, scope: job.subject.scope }
      const wanted = usual === listWanted ? findWanted(job) : undefined
      return settle(guard, (guard) => settle(wanted, (wanted) => {
        const context = makeContext(job, { paths: hall.paths, guard, wanted, query: job.state.query, proceed: () => usual === undefined ? { kind: 'done' } : settle(usual(job) as MaybePromise<Outcome>, keep, job) })
        return settle(recover(() => handler(context as Parameters<Handler>[0]), (error) => rethrow(error, job)), toOutcome, job)
      }))
    }
  }

  function performerOf (action: keyof typeof performs): Perform {
    const handler = options.routing.handlers.get(action)
    const usual = performs[action]
    return handler === undefined ? usual : call(handler, usual)
  }

  const [doList, doShow, doCreate, doUpdate, doDelete] = (['list', 'show', 'create', 'update', 'delete'] as const).map(performerOf) as [Perform, Perform, Perform, Perform, Perform]
  const doRevise: Perform = (job) => job.seen === undefined ? revise(job.subject, job.id, job) : { kind: 'revised', row: job.seen }
  const doReviseOne = withId(doRevise)
  const writes = { create: doCreate, update: doUpdate, delete: doDelete }

  function refuse (request: FastifyRequest, reply: FastifyReply, state: State): never {
    // It is none of those that the path has.
    state.action = undefined
    refuseMethod(request, reply, state.entrance.allow)
  }

  /** Reads a payload, after which the app's own hooks see the same, whatever it was sent as. */
  function readWith (request: FastifyRequest, state: State, readPayload: (body: Entries | undefined, claims: { method: string, member: string | undefined, query: string | undefined }) => Payload): Payload {
    const { id: query } = request.query as QueryParameters
    const payload = readPayload(request.body as Entries | undefined, { method: request.method, member: state.member, query })
    if (payload.id !== undefined && !hall.isId(payload.id)) throw notFound(resource, payload.id)
    state.payload = payload
    request.body = payload.id === undefined ? { [resource.singular]: payload.attributes } : { id: payload.id, [resource.singular]: payload.attributes }
    return payload
  }

  return {
    list (request, reply) {
      const given = request.query as QueryParameters
      // The links of the page name what was asked for, and no more.
      request.query = given.blank === undefined ? given : listing.dropBlanks(given)
      return run(request, reply, findState(request) as State, 'list', undefined, doList)
    },
    show (request, reply) {
      return read(request, reply, findState(request) as State, 'show', doShow)
    },
    blank (request, reply) {
      return run(request, reply, findState(request) as State, 'new', undefined, () => ({ kind: 'blank', row: { id: '', version: '', attributes: validation.defaults() } }))
    },
    edit (request, reply) {
      const open: Perform = (job) => settle(doShow(job), (outcome) => outcome?.kind === 'found' ? { kind: 'edit', row: outcome.row } : outcome)
      return read(request, reply, findState(request) as State, 'edit', open)
    },
    write (request, reply) {
      const state = findState(request) as State
      const { action, id, isRevised } = state.payload as Payload
      return run(request, reply, state, action, id, isRevised ? action === 'update' ? doReviseOne : doRevise : writes[action as keyof typeof writes])
    },
    readPayload: (actions) => ({
      read (request, reply, done) {
        const state = findState(request) as State
        const body = door.bodyOf(request) ?? hall.bodiless
        const action = actionOf(readVerb(request.method, request.body as Entries | undefined ?? {}, body.reader))
        if (!actions.has(action)) refuse(request, reply, state)
        state.action = action
        readWith(request, state, body.readPayload)
        done()
      },
      check (request, _reply, done) {
        const state = findState(request) as State
        const { action, attributes, issues, isRevised } = state.payload as Payload
        if (isRevised) checkRevisable(state)
        else if (action === 'create') validation.create(attributes, issues)
        else if (action === 'update') validation.update(attributes, issues)
        done()
      }
    }),
    readOwn (own) {
      const perform = call(own.handler, undefined)
      return (request, reply) => {
        const state = findState(request) as State
        state.own = own
        state.query = own.readQuery(request.query as QueryParameters)
        return read(request, reply, state, own.name, perform)
      }
    },
    writeOwn (owns) {
      const performs = new Map([...owns.values()].map((own) => [own, call(own.handler, undefined)]))
      return {
        read (request, reply, done) {
          const state = findState(request) as State
          const body = door.bodyOf(request) ?? hall.bodiless
          const own = owns.get(readVerb(request.method, request.body as Entries | undefined ?? {}, body.reader))
          if (own === undefined) return refuse(request, reply, state)
          state.own = own
          state.action = own.name
          readWith(request, state, own.payloadReader(body))
          done()
        },
        check (request, _reply, done) {
          const state = findState(request) as State
          const { validate, readQuery, parameters } = state.own as Own
          const { attributes, issues } = state.payload as Payload
          validate(attributes, issues)
          // The path of a form may have had those of another action.
          const query = state.entrance.isAmbiguous ? checkQuery(request.query, ['format', ...parameters]) : request.query as QueryParameters
          state.query = readQuery(query)
          done()
        },
        handler (request, reply) {
          const state = findState(request) as State
          const own = state.own as Own
          return run(request, reply, state, own.name, memberId(state) ?? (state.payload as Payload).id, performs.get(own) as Perform)
        }
      }
    }
  }
}

function keep (outcome: Outcome, job: Job): Outcome {
  job.proceeded = outcome
  return outcome
}

function attributesOf ({ state }: Job): Payload['attributes'] {
  return (state.payload as Payload).attributes
}

/** @throws MalformedBodyError where what is answered in has no page that could show the form again */
function checkRevisable ({ choice }: State): void {
  const { writer } = choice.format
  if (writer.document !== undefined || writer.revised === undefined) throw new MalformedBodyError('the form asks for other rows in it, which only a page can show')
}
