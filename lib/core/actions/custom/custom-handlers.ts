import { findSingleton } from '../find-row.js'
import type { Outcome } from '../outcome.js'
import type { Handler } from '../../options/handler.js'
import type { Guard } from '../../stores/store.js'
import { type MaybePromise, catchError, andThen } from '../../util/maybe-promise.js'
import type { ActionState } from '../../request/state.js'
import { logLateFailure } from '../../telemetry/action-log.js'
import { toOutcome } from './custom-answer.js'
import { makeContext } from './custom-context.js'
import { checkNew, checkNoneMatch, parseListQuery, type PerformAction, type RowAction } from '../default-actions.js'
import { findHandlerGuard, findGuardWithoutId, guardFor } from './handler-guards.js'

/** The default action that a handler replaces, and that its `proceed()` does. */
export interface ReplacedAction {
  readonly action: RowAction
  readonly perform: PerformAction
}

/** Compiles the call of a handler of the app. `replaced` is its default action; a custom action has none. */
export function compileHandler (handler: Handler, replaced?: ReplacedAction): PerformAction<Outcome | undefined> {
  const call = (guard: Guard, state: ActionState): MaybePromise<Outcome | undefined> => {
    state.isHandled = true
    state.guard = { ...guard }
    const context = makeContext(state, {
      paths: state.compiled.paths,
      guard: state.guard,
      query: state.listQuery ?? state.query,
      guardFor: (row) => guardFor(row, state),
      proceed: () => replaced === undefined ? { kind: 'done' } : andThen(replaced.perform(state), keep, state)
    })
    const answer = catchError(
      () => handler(context as Parameters<Handler>[0]),
      (error) => {
        // Fastify calls no error handler if the answer is sent.
        if (state.reply.sent) logLateFailure(error, state)
        throw error
      }
    )
    return andThen(answer, toOutcome, state)
  }
  return (state) =>
    andThen(checkPreconditions(replaced?.action, state), (found) => {
      if ('kind' in found) return found
      if (replaced?.action !== 'list') return call(found, state)
      return andThen(parseListQuery(state), (query) => {
        state.listQuery = query
        return call(found, state)
      })
    })
}

/** Returns the guard of a handler, or the outcome if the preconditions do not hold: the handler is not called then. */
function checkPreconditions (replaced: RowAction | undefined, state: ActionState): MaybePromise<Guard | Outcome> {
  const { target, target: { resource: { singleton } }, payload, preconditions, id } = state
  const open: Guard = { version: undefined, scope: target.scope }
  if (payload === undefined) return open
  if (replaced !== 'create') return id === undefined && !singleton ? findGuardWithoutId(state) : findHandlerGuard(state)
  checkNew(state)
  if (!singleton || preconditions === undefined) return open
  return andThen(findSingleton(target, state), (row) => {
    checkNoneMatch(row, state)
    return open
  })
}

/** Remembers the outcome of `proceed()`. The guard takes the new version, so that a second write does not conflict. */
function keep (outcome: Outcome, state: ActionState): Outcome {
  const { guard } = state
  state.proceeded = outcome
  if (outcome.kind === 'updated' && guard?.version !== undefined) guard.version = outcome.row.version
  return outcome
}
