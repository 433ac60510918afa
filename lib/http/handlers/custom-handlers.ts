import { findSingleton } from '../../actions/find-row.js'
import type { Outcome } from '../../actions/outcome.js'
import type { Handler } from '../../routing/handler.js'
import type { Guard } from '../../stores/store.js'
import { type MaybePromise, catchError, andThen } from '../../util/maybe-promise.js'
import type { CompiledResource } from '../compiled-resource.js'
import type { ActionState } from '../request/state.js'
import type { ActionLog } from '../telemetry/action-log.js'
import { toOutcome } from './custom-answer.js'
import { makeContext } from './custom-context.js'
import type { DefaultActions, PerformAction, RowAction } from './default-actions.js'
import type { WriteGuards } from './write-guards.js'

/** What the calls of handlers of the app need of their resource. */
export interface CustomHandlerParts {
  readonly compiled: CompiledResource
  readonly defaults: DefaultActions
  readonly guards: WriteGuards
  readonly actionLog: ActionLog
}

/** Calls handlers of the app: of its own actions, or in the place of what the resource does by default. */
export class CustomHandlers {
  readonly #parts: CustomHandlerParts

  constructor (parts: CustomHandlerParts) {
    this.#parts = parts
  }

  /** @param replaced the default action that the handler replaces; undefined: it is for an action of the app */
  compile (handler: Handler, replaced?: RowAction): PerformAction<Outcome | undefined> {
    const { listQuery } = this.#parts.compiled
    return (state) =>
      andThen(this.#admit(replaced, state), (admitted) => {
        if ('kind' in admitted) return admitted
        const parsed = replaced === 'list' ? listQuery.parse(state.request.query, state) : undefined
        return andThen(parsed, (query) => {
          state.listQuery = query
          return this.#call(handler, replaced, admitted, state)
        })
      })
  }

  /** Returns the guard of a handler; or the outcome if the preconditions do not hold, and the handler is not called. */
  #admit (replaced: RowAction | undefined, state: ActionState): MaybePromise<Guard | Outcome> {
    const { compiled: { resource: { singleton } }, guards } = this.#parts
    const { target, payload, preconditions, id } = state
    const open: Guard = { version: undefined, scope: target.scope }
    if (payload === undefined) return open
    if (replaced !== 'create') return id === undefined && !singleton ? guards.admitUnnamed(state) : guards.admit(state)
    guards.checkNew(state)
    if (!singleton || preconditions === undefined) return open
    return andThen(findSingleton(target, state), (row) => {
      guards.checkNoneMatch(row, state)
      return open
    })
  }

  #call (
    handler: Handler,
    replaced: RowAction | undefined,
    admitted: Guard,
    state: ActionState
  ): MaybePromise<Outcome | undefined> {
    const { compiled, defaults, guards, actionLog } = this.#parts
    state.isHandled = true
    const guard = (state.guard = { ...admitted })
    const context = makeContext(state, {
      paths: compiled.paths,
      guard,
      query: state.listQuery ?? state.query,
      guardFor: (row) => guards.guardFor(row, state),
      proceed: () => replaced === undefined ? { kind: 'done' } : andThen(defaults[replaced](state), keep, state)
    })
    const answer = catchError(
      () => handler(context as Parameters<Handler>[0]),
      (error) => {
        // Fastify calls no error handler if the answer is sent.
        if (state.reply.sent) actionLog.logLateFailure(error, state)
        throw error
      }
    )
    return andThen(answer, toOutcome, state)
  }
}

/** Remembers the outcome of `proceed()`. The guard takes the new version, so that a second write does not conflict. */
function keep (outcome: Outcome, state: ActionState): Outcome {
  const { guard } = state
  state.proceeded = outcome
  if (outcome.kind === 'updated' && guard?.version !== undefined) guard.version = outcome.row.version
  return outcome
}
