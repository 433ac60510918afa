import type { FastifyReply, RouteHandlerMethod } from 'fastify'
import type { Access } from '../../actions/authorize/authorize.js'
import type { Outcome } from '../../actions/outcome.js'
import { notFound } from '../../actions/target.js'
import { describeError, UnavailableError } from '../../errors.js'
import { parseId } from '../../resource/resource.js'
import type { Id } from '../../resource/row.js'
import { type MaybePromise, andThen } from '../../util/maybe-promise.js'
import type { CompiledResource, CompiledCustomAction } from '../compiled-resource.js'
import type { Payload, WriteAction } from '../request/payload.js'
import { findPreconditions, parseEntityTags } from '../request/preconditions.js'
import { type ActionState, type RequestState, stateOf } from '../request/state.js'
import { respond, respondWithError } from '../response/responder.js'
import type { PayloadHooks } from '../route.js'
import { logFailure, logOutcome } from '../telemetry/action-log.js'
import { hasSubscribers, traceAction } from '../telemetry/tracing.js'
import { compileHandler } from './custom-handlers.js'
import { compileDefaultActions, type PerformAction, type RowAction } from './default-actions.js'
import { conceal, findContent, findProblemRow, type Unwritten } from './page-content.js'
import { compileCustomPayloadHooks, compilePayloadHooks } from './payload-hooks.js'

/** How often a default action begins at most, if its row changes each time between `authorize` and the write. */
const TRIES = 100

type Perform = PerformAction<Outcome | undefined>

/** The handlers of a resource's routes. Each request is authorized, acted upon and answered, in this order. */
export class Handlers {
  readonly #compiled: CompiledResource
  /** Whether an outcome may have content beside it. */
  readonly #hasContent: boolean
  readonly list: RouteHandlerMethod
  readonly show: RouteHandlerMethod
  readonly blank: RouteHandlerMethod
  readonly edit: RouteHandlerMethod
  readonly write: RouteHandlerMethod

  constructor (compiled: CompiledResource) {
    const { options: { routing: { handlers } }, validation, listQuery } = compiled
    const defaults = compileDefaultActions(compiled)
    const compile = (action: RowAction): Perform => {
      const handler = handlers.get(action)
      const perform = defaults[action]
      return handler === undefined ? perform : compileHandler(handler, { action, perform })
    }
    const list = compile('list')
    const show = compile('show')
    const writes = { create: compile('create'), update: compile('update'), delete: compile('delete') }
    this.#compiled = compiled
    this.#hasContent = compiled.refusals !== undefined || compiled.mount.isShallow
    this.list = (request) => {
      const state = stateOf(request)
      const { query } = state.request
      // The links of the page repeat only the parameters that ask for something.
      if (query.blank !== undefined) state.request.query = listQuery.dropBlanks(query)
      return this.#run(state, undefined, list)
    }
    this.show = (request) => this.#read(stateOf(request), show)
    this.blank = (request) =>
      this.#run(stateOf(request), undefined, () => ({
        kind: 'blank',
        row: { id: '', version: '', attributes: validation.defaults() }
      }))
    this.edit = (request) =>
      this.#read(stateOf(request), (state) =>
        andThen(show(state), (outcome) => (outcome?.kind === 'found' ? { ...outcome, kind: 'edit' } : outcome))
      )
    this.write = (request) => {
      const state = stateOf(request)
      const { action, id, isRevised } = state.payload as Payload & { readonly action: WriteAction }
      const redisplay = action === 'update' ? defaults.redisplay : defaults.redisplayNew
      return this.#run(state, id, isRevised ? redisplay : writes[action])
    }
  }

  /** The hooks that read the payload of a write on a path that serves these actions. */
  readPayload (actions: ReadonlySet<string>): PayloadHooks {
    return compilePayloadHooks(this.#compiled, actions)
  }

  /** The handler of an action of the app that is a GET. */
  readCustom (action: CompiledCustomAction): RouteHandlerMethod {
    const perform = compileHandler(action.handler)
    return (request) => {
      const state = stateOf(request)
      state.customAction = action
      state.query = action.readQuery(state.request.query)
      return this.#read(state, perform)
    }
  }

  /** The hooks and the handler of the app's own writes on a path, by their methods. */
  writeCustom (
    byMethod: ReadonlyMap<string, CompiledCustomAction>
  ): PayloadHooks & { readonly handler: RouteHandlerMethod } {
    const performs = new Map([...byMethod.values()].map((action) => [action, compileHandler(action.handler)]))
    return {
      ...compileCustomPayloadHooks(this.#compiled, byMethod),
      handler: (request) => {
        const state = stateOf(request)
        const perform = performs.get(state.customAction as CompiledCustomAction) as Perform
        return this.#run(state, this.#memberId(state) ?? state.payload?.id, perform)
      }
    }
  }

  /** Answers an error, whoever threw it. */
  fail (thrown: unknown, state: RequestState): MaybePromise<FastifyReply> {
    const problem = describeError(thrown, state.reply.statusCode)
    logFailure(thrown, problem, state)
    // A document shows nothing beside the error.
    if (state.choice.format.writer.document !== undefined) return respondWithError({ thrown, problem }, state)
    return andThen(findProblemRow(problem, state), (row) =>
      respondWithError({ thrown, problem, row }, state)
    )
  }

  /** Runs a GET, whose answer may have an entity tag. */
  #read (state: ActionState, perform: Perform): unknown {
    const id = this.#memberId(state)
    // A malformed header is refused before the store is asked.
    state.parseNoneMatch()
    return this.#run(state, id, perform)
  }

  /** @throws NotFoundError if the path of a member has no id that a row could have */
  #memberId ({ member }: RequestState): Id | undefined {
    if (member === undefined) return undefined
    const { resource, isId } = this.#compiled
    const id = parseId(resource.idType, member)
    if (id === undefined || isId?.(id) === false) throw notFound(resource, id ?? member)
    return id
  }

  #run (state: ActionState, id: Id | undefined, perform: Perform): unknown {
    const { request, payload } = state
    state.id = id
    // Before authorization: whether a header is well-formed must not tell a hidden row from one that does not exist.
    if (payload !== undefined) {
      const match = parseEntityTags(request.headers['if-match'], 'If-Match')
      state.preconditions = findPreconditions(match, state.parseNoneMatch(), payload.version)
    }
    const outcome = hasSubscribers()
      ? traceAction(state, () => this.#authorize(state, perform))
      : this.#authorize(state, perform)
    return andThen(outcome, this.#conclude, state)
  }

  /** Authorizes the request, and then does what it asks for. */
  #authorize (state: ActionState, perform: Perform): MaybePromise<Outcome | undefined> {
    const { checkAccess } = state
    if (checkAccess !== undefined) return andThen(checkAccess(state, state), this.#act, state, perform)
    return state.preconditions === undefined ? perform(state) : andThen(perform(state), this.#retry, state, perform)
  }

  readonly #act = (
    { target, authorizedRow }: Access,
    state: ActionState,
    perform: Perform
  ): MaybePromise<Outcome | undefined> => {
    state.target = target
    state.authorizedRow = authorizedRow
    return andThen(perform(state), this.#retry, state, perform)
  }

  /**
   * Begins again if the row has changed since `authorize` or the preconditions decided about it: they decide about the
   * new row. A handler of the app is not called again, because it may have written something.
   */
  readonly #retry = (
    outcome: Outcome | undefined,
    state: ActionState,
    perform: Perform
  ): MaybePromise<Outcome | undefined> => {
    const { checked, isHandled } = state
    if (outcome?.kind !== 'stale' || isHandled || checked === undefined || outcome.row.version === checked.version) {
      return outcome
    }
    state.tries++
    state.checked = undefined
    if (this.#compiled.resource.singleton) state.id = undefined
    if (state.tries > TRIES) throw new UnavailableError()
    return this.#authorize(state, perform)
  }

  readonly #conclude = (outcome: Outcome | undefined, state: ActionState): MaybePromise<FastifyReply> =>
    isUnwritten(outcome)
      ? andThen(conceal(outcome, state), this.#respond, state)
      : this.#respond(outcome, state)

  readonly #respond = (outcome: Outcome | undefined, state: ActionState): MaybePromise<FastifyReply> => {
    if (!state.route.safe) logOutcome(outcome, state)
    if (outcome === undefined) return state.reply
    return this.#hasContent
      ? andThen(findContent(outcome, state), () => respond(outcome, state))
      : respond(outcome, state)
  }
}

function isUnwritten (outcome: Outcome | undefined): outcome is Unwritten {
  return outcome?.kind === 'stale' || outcome?.kind === 'revised'
}
