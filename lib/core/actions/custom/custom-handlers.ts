import { findRow as readRow, findSingleton } from '../find-row.js'
import type { Outcome } from '../outcome.js'
import type { ActionContext, Handler, HandlerRow } from '../../options/handler.js'
import type { Guard } from '../../stores/store.js'
import { andThen, catchError, type MaybePromise } from '../../util/maybe-promise.js'
import type { ActionState } from '../../request/state.js'
import { logLateFailure } from '../../telemetry/action-log.js'
import { checkNew, checkNoneMatch, parseListQuery, type PerformAction, type RowAction } from '../default-actions.js'
import { notFound } from '../target.js'
import { InvalidError, PreconditionFailedError } from '../../errors.js'
import type { Paths } from '../../routes/path-helpers.js'
import type { Id, Row } from '../../resource/row.js'
import type { Attributes } from '../../schema/types.js'
import { toOutcome } from './custom-answer.js'
import { findGuardWithoutId, findHandlerGuard, guardFor } from './handler-guards.js'

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

/** The members of a context that do not come from the state of the request. */
interface ContextMembers {
  readonly paths: Paths
  readonly guard: Guard
  readonly query: Readonly<Record<string, unknown>>
  guardFor (row: Pick<HandlerRow, 'id' | 'version'>): Guard
  proceed (): MaybePromise<Outcome>
}

/** Makes the context of a handler. Its members are its own, so that it can be destructured. */
function makeContext (
  state: ActionState,
  possibilities: ContextMembers
): ActionContext<Attributes, Attributes, Id | undefined> {
  const { request, reply, action, id, target, attributes } = state
  // The handler may send the answer itself.
  state.isAnswered = true
  return {
    request,
    reply,
    action,
    resource: target.resource,
    store: target.store,
    scope: target.scope,
    id,
    attributes,
    ...possibilities,
    // A getter, because most handlers never need the signal.
    get signal () {
      return state.signal
    },
    row: () => findRow(state)
  }
}

/**
 * Finds the row that the request names.
 * @throws NotFoundError, NothingHereError, InvalidError, PreconditionFailedError
 */
function findRow (state: ActionState): MaybePromise<Row> {
  const { id, target, authorizedRow, checked = authorizedRow, request: { method } } = state
  const { resource } = target
  // A GET shows the row that `authorize` was shown; a write reads it again, because it may have changed.
  if (authorizedRow !== undefined && (method === 'GET' || method === 'HEAD')) return authorizedRow
  if (id === undefined && !resource.singleton) throw new InvalidError({ id: ['must be given'] })
  return andThen(readRow(target, id, state), (row) => {
    if (row === undefined) throw notFound(resource, id)
    // Another singleton has taken the place of the checked one, and may have the same version.
    if (checked !== undefined && checked.id !== row.id) {
      throw new PreconditionFailedError(`the ${resource.singular} has been replaced meanwhile; read it again`)
    }
    return row
  })
}
