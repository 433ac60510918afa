import type { FastifyReply } from 'fastify'
import { findOnlyRow, findRow, lacksId, notFound } from '../../modes.js'
import type { Outcome } from '../outcome.js'
import type { ActionContext, ActionTransaction, FoundRow, Handler, HandlerRow } from '../../options/handler.js'
import { type Guard, noStore, type TransactionOptions } from '../../stores/store.js'
import { mayBeForgotten, type MaybePromise } from '../../util/maybe-promise.js'
import { type ActionState, type HandlerCall, RowState } from '../../request/state.js'
import { logLateFailure } from '../../telemetry/action-log.js'
import {
  checkNew, checkNoneMatch, guardAgainst, isMet, lacksVersion, NO_VERSION, parseListQuery, type PerformAction,
  refuseWithoutVersion, type RowAction
} from '../default-actions.js'
import { InvalidAnswerError, InvalidError, PreconditionFailedError, TransactionError } from '../../errors.js'
import { say } from '../../messages.js'
import type { Paths } from '../../routes/path-helpers.js'
import type { Id, Row, Scope } from '../../resource/row.js'
import { resolveScope } from '../authorize/level.js'
import type { Attributes } from '../../schema/types.js'
import { namesRow, type Preconditions } from '../../request/preconditions.js'
import { toOutcome } from './custom-answer.js'

/** The default action that a handler replaces, and that its `proceed()` does. */
export interface ReplacedAction {
  readonly action: RowAction
  readonly perform: PerformAction
}

/** Compiles the call of a handler of the app. `replaced` is its default action; a custom action has none. */
export function compileHandler (handler: Handler, replaced?: ReplacedAction): PerformAction<Outcome | undefined> {
  const proceed = async (state: ActionState, begun: HandlerCall): Promise<Outcome> =>
    replaced === undefined ? { kind: 'done' } : keep(await replaced.perform(state), begun)
  const call = async (state: ActionState, begun: HandlerCall): Promise<Outcome | undefined> => {
    state.call = begun
    const context = makeContext(state, {
      paths: state.compiled.paths,
      guard: begun.guard,
      query: begun.listQuery ?? state.query,
      guardFor: (row) => guardFor(row, state),
      proceed: () => mayBeForgotten(proceed(state, begun))
    })
    try {
      return await toOutcome(await handler(context as Parameters<Handler>[0]), state)
    } catch (error) {
      // Fastify calls no error handler if the answer is sent.
      if (state.reply.sent) logLateFailure(error, state)
      throw error
    }
  }
  return async (state) => {
    const found = await checkPreconditions(replaced?.action, state)
    if ('kind' in found) return found
    const listQuery = replaced?.action === 'list' ? await parseListQuery(state) : undefined
    return call(state, { guard: { ...found }, listQuery, proceeded: undefined })
  }
}

/** Returns the guard of a handler, or the outcome if the preconditions do not hold: the handler is not called then. */
async function checkPreconditions (replaced: RowAction | undefined, state: ActionState): Promise<Guard | Outcome> {
  const { attempt: { target, target: { resource } }, payload, preconditions, id } = state
  const open: Guard = { version: undefined, scope: target.scope }
  if (payload === undefined) return open
  if (replaced !== 'create') return lacksId(resource, id) ? findGuardWithoutId(state) : findHandlerGuard(state)
  checkNew(state)
  if (resource.singleton && preconditions !== undefined) checkNoneMatch(await findOnlyRow(target, state), state)
  return open
}

/** Remembers the outcome of `proceed()`. The guard takes the new version, so that a second write does not conflict. */
function keep (outcome: Outcome, call: HandlerCall): Outcome {
  const { guard } = call
  call.proceeded = outcome
  if (outcome.kind === 'updated' && guard.version !== undefined) guard.version = outcome.row.version
  return outcome
}

/** The members of a context that do not come from the state of the request. */
interface ContextMembers {
  readonly paths: Paths
  readonly guard: Guard
  readonly query: Readonly<Record<string, unknown>>
  guardFor (row: Pick<HandlerRow, 'id' | 'version'>): Guard
  proceed (): Promise<Outcome>
}

/** Makes the context of a handler. Its members are its own, so that it can be destructured. */
function makeContext (
  state: ActionState,
  possibilities: ContextMembers
): ActionContext<Attributes, Attributes, Id | undefined> {
  const { request, reply, action, id, attempt: { target }, attributes } = state
  // The handler may send the answer itself.
  state.isAnswered = true
  return {
    request,
    reply: withoutSend(reply, state),
    action,
    resource: target.resource,
    store: target.store,
    scope: target.scope,
    id,
    attributes,
    ...possibilities,
    // Getters, because most handlers never need the signal or other stores.
    get signal () {
      return state.signal
    },
    get stores () {
      return Object.fromEntries([...state.compiled.neighbors()].map(([name, { target: { store } }]) => [name, store]))
    },
    openTransaction: state.openTransaction,
    transaction: (run, options) => mayBeForgotten(runInTransaction(run, state, options)),
    row: () => mayBeForgotten(readRow(state))
  }
}

/**
 * Returns the reply for a handler. One that runs for one of many rows, or for a request with a key, may set headers,
 * but sends no answer itself: there is one for all rows, and one for a request that is sent again.
 */
function withoutSend (reply: FastifyReply, state: ActionState): FastifyReply {
  const isOfMany = state instanceof RowState && state.rows !== undefined
  if (!isOfMany && state.keyed === undefined) return reply
  const value = (): never => {
    const what = isOfMany ? 'for one of many rows' : 'to a request with a key'
    throw new InvalidAnswerError(state.action, `has sent an answer ${what}; return the row instead`)
  }
  return Object.create(reply, { send: { value }, redirect: { value } })
}

/** @throws TransactionError if the store has no transactions, or a resource is unknown */
async function runInTransaction<T> (
  run: (context: ActionTransaction) => MaybePromise<T>,
  state: ActionState,
  options?: TransactionOptions
): Promise<T> {
  const { request, attempt: { target: { store } }, compiled, compiled: { name: own } } = state
  if (store.transaction === undefined) throw new TransactionError(`the store of "${own}" has no transactions`)
  const scopeOf = async (name: string): Promise<Scope> => {
    const other = compiled.neighbors().get(name)
    if (other === undefined) throw new TransactionError(`scopeOf: there is no resource "${name}"`)
    return resolveScope(other.level, request)
  }
  return store.transaction(async (context) => {
    const { openTransaction: outer } = state
    // `row()` and `proceed()` take part too.
    state.join(context.openTransaction)
    try {
      return await run({ ...context, request, scopeOf })
    } finally {
      state.join(outer)
    }
  }, state, options)
}

/**
 * Finds the row that the request names.
 * @throws NotFoundError, NothingHereError, InvalidError, PreconditionFailedError
 */
async function readRow (state: ActionState): Promise<Row> {
  const { id, attempt: { target, authorizedRow, checked = authorizedRow }, request: { method } } = state
  const { resource } = target
  // A GET shows the row that `authorize` was shown; a write reads it again, because it may have changed.
  if (authorizedRow !== undefined && (method === 'GET' || method === 'HEAD')) return authorizedRow
  if (lacksId(resource, id)) throw new InvalidError({ id: [say('mustBeGiven')] })
  const row = await findRow(target, id, state)
  if (row === undefined) throw notFound(resource, id)
  // Another row has taken the place of the checked one, and may have the same version.
  if (checked !== undefined && checked.id !== row.id) {
    throw new PreconditionFailedError(say('replacedMeanwhile', { resource: resource.singular }))
  }
  return row
}

/**
 * Finds the guard of a handler for the row of its request, or the outcome if the preconditions do not hold.
 * @throws MatchRequiredError, NotFoundError, NothingHereError
 */
async function findHandlerGuard (state: ActionState): Promise<Guard | Outcome> {
  const { preconditions, attempt } = state
  const { merged, authorizedRow = merged, target, target: { resource, scope, store } } = attempt
  if (lacksVersion(state)) return refuseWithoutVersion(state)
  if (preconditions === undefined) return { version: authorizedRow?.version, scope }
  // `If-Match: *` alone demands that the row exists, in any version.
  const isChecked = preconditions.dependOnRow
  // Without a store, only the handler knows its row. A version does not say which row of a singleton it belongs to.
  const sole = resource.singleton ? NO_VERSION : preconditions.soleVersion ?? NO_VERSION
  const row = authorizedRow ?? (store === noStore ? undefined : await findRow(target, state.id, state))
  if (row === undefined && store === noStore) return { version: isChecked ? sole : undefined, scope }
  if (row === undefined) return findGuardWithoutRow(preconditions, state)
  if (!isChecked) return { version: authorizedRow?.version, scope }
  const guard = guardAgainst(row, state)
  return guard.version === NO_VERSION ? { kind: 'stale', row } : guard
}

/** Finds the guard for a missing row, which meets `If-None-Match` but no other precondition (RFC 9110 §13.1.1). */
function findGuardWithoutRow ({ match, formVersion }: Preconditions, { id, attempt: { target } }: ActionState): Guard {
  const { resource, scope } = target
  if (match === undefined && formVersion === undefined) return { version: undefined, scope }
  throw notFound(resource, id)
}

/**
 * Finds the guard of a handler whose request names no row. If the request names a version, only `guardFor` accepts
 * a row.
 * @throws PreconditionFailedError if `If-Match` or `_version` can name no row either
 */
function findGuardWithoutId ({ preconditions, attempt: { target: { scope } } }: ActionState): Guard {
  if (preconditions?.dependOnRow !== true) return { version: undefined, scope }
  const { match, formVersion } = preconditions
  const isLost =
    (typeof match === 'object' && !match.some(namesRow)) || (formVersion !== undefined && !namesRow(formVersion))
  if (isLost) {
    throw new PreconditionFailedError(
      'the version in If-Match or _version does not say which row it belongs to; ' +
        'send the whole ETag of this path, such as "7-3.xml"'
    )
  }
  return { version: NO_VERSION, scope }
}

/**
 * Returns the guard of a row that a handler has found.
 * @throws InvalidAnswerError if the row lacks the attributes of which the version for clients is made
 */
function guardFor ({ id, version = NO_VERSION, attributes }: FoundRow, state: ActionState): Guard {
  const { action, attempt: { authorizedRow, target: { scope, resource } }, preconditions } = state
  const isAuthorized = authorizedRow?.id === id
  if (attributes === undefined && !isAuthorized && resource.publicVersion !== undefined) {
    throw new InvalidAnswerError(
      action,
      'has called guardFor with a row without "attributes", of which the version that clients know is made; ' +
        'pass the whole row of the store'
    )
  }
  const row = isAuthorized ? authorizedRow : { id, version, attributes: { ...attributes } }
  if (preconditions?.dependOnRow === true) return { version: isMet(row, state) ? row.version : NO_VERSION, scope }
  return { version: isAuthorized ? row.version : undefined, scope }
}
