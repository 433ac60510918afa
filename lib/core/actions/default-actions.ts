import {
  describeError, ExistsError, isConditionError, MatchRequiredError, PreconditionFailedError, UnavailableError
} from '../errors.js'
import { say } from '../messages.js'
import { versionOf } from '../resource/visible.js'
import type { ActionName, Resource } from '../resource/resource.js'
import type { Id, Row } from '../resource/row.js'
import { findChanges, type IsUntouched } from '../schema/validation/issues.js'
import { type Context, type Guard, noStore, omitScope, type WriteOutcome, writeWhenIdle } from '../stores/store.js'
import { isEmpty } from '../util/own-property.js'
import { MOST_REPEATED } from '../util/words.js'
import type { CompiledResource } from '../compiled-resource.js'
import { areMet, mayBeQualified } from '../request/preconditions.js'
import { type ActionState, RowState } from '../request/state.js'
import { logFailure } from '../telemetry/action-log.js'
import type { Attributes } from '../schema/types.js'
import { findOnlyRow, findRow, notFound } from '../modes.js'
import { list, type Target } from './list.js'
import type { ListQuery, Outcome } from './outcome.js'

/** The most retries of a default action whose row changes each time before it is written. */
export const TRIES = 100

/** A version that no row has. */
export const NO_VERSION = ''

/** Performs the action of an authorized request. */
export type PerformAction<Result extends Outcome | undefined = Outcome> = (state: ActionState) => Promise<Result>

/** An action that works with rows; `new` and `edit` show forms. */
export type RowAction = Exclude<ActionName, 'new' | 'edit'>

type PerformOnRow = (state: ActionState, id: Id) => Promise<Outcome>

/** The actions of a resource for which the app has no handler. */
export interface DefaultActions extends Readonly<Record<RowAction, PerformAction>> {
  /** Shows the form of a new row again. */
  readonly redisplayNew: PerformAction
  /** Shows the form of a row again. */
  readonly redisplay: PerformAction
}

export function compileDefaultActions ({ resource }: CompiledResource): DefaultActions {
  async function create (state: ActionState): Promise<Outcome> {
    const { attributes, attempt: { target, target: { store, scope } } } = state
    checkNew(state)
    const only = resource.singleton ? await findOnlyRow(target, state) : undefined
    checkNoneMatch(only, state)
    if (only !== undefined) throw new ExistsError(resource.singular)
    return { kind: 'created', row: await writeWhenIdle(store, state, () => store.create(attributes, scope, state)) }
  }

  return {
    list: async (state) => list(state.attempt.target, await parseListQuery(state), state),
    show: onRow(async (state, id) => ({ kind: 'found', row: await read(state, id) })),
    create,
    update: onRow(change),
    delete: onRow(async (state, id) => remove(state.attempt.target, id, await findGuard(state, id), state)),
    redisplayNew: async () => ({ kind: 'revised', row: undefined }),
    // A form that asks to add or remove a row in the form writes nothing.
    redisplay: onRow(async (state, id) => ({ kind: 'revised', row: await read(state, id) }))
  }
}

/**
 * Parses the query of a list. If a browser's condition or search is refused, the page shows the list without it, with
 * the error at its field. A second refusal is an error, because the page has the fields of one condition.
 * @throws InvalidQueryError
 */
export async function parseListQuery (state: ActionState): Promise<ListQuery> {
  const { request, compiled: { listQuery }, choice: { format: { writer } }, route: { hasQueryBody } } = state
  try {
    return await listQuery.parse(request.query, state)
  } catch (error) {
    const isKnown = state.openCondition?.error !== undefined
    if (!isConditionError(error) || writer.showsRefusedConditions !== true || isKnown || hasQueryBody) throw error
    const { parameter, reason } = error
    const { [parameter]: value = '', ...others } = request.query
    if (value.length > MOST_REPEATED) throw error
    logFailure(error, describeError(error, 400), state)
    request.query = others
    state.openCondition = { parameter, value, error: reason }
    return await parseListQuery(state)
  }
}

/** Changes what was not sent back as it was shown. */
async function change (state: ActionState, id: Id): Promise<Outcome> {
  const guard = await findGuard(state, id)
  const { payload, attributes, attempt: { target } } = state
  if (payload?.isCompared === true) return changeCompared({ id, attributes, guard }, state)
  const changes = payload?.isUntouched === undefined ? attributes : findChanges(attributes, payload.isUntouched)
  return await update(target, { id, attributes: changes, guard }, state)
}

/** Changes what differs from a row, if the row still has this version. If it has not, compares with the next one. */
async function changeCompared (change: RowChange, state: ActionState): Promise<Outcome> {
  const { payload, attempt: { target, authorizedRow, found = authorizedRow } } = state
  const { id, attributes, guard, guard: { version } } = change
  const isCurrent = found?.id === id && (version ?? found.version) === found.version
  let current = isCurrent ? found : await target.store.get(id, guard.scope, state)
  for (let tries = 0; tries <= TRIES; tries++) {
    if (current === undefined) throw notFound(target.resource, change.id)
    if (version !== undefined && version !== current.version) return { kind: 'stale', row: current }
    const isUntouched = payload?.compareWith?.(current) as IsUntouched
    const changes = findChanges(attributes, isUntouched)
    if (isEmpty(changes)) return { kind: 'updated', row: current, isUnchanged: true }
    const guarded = { ...change, attributes: changes, guard: { ...guard, version: current.version } }
    const outcome = await update(target, guarded, state)
    if (outcome.kind !== 'stale' || version !== undefined || outcome.row.version === current.version) return outcome
    current = outcome.row
  }
  throw new UnavailableError()
}

/** Performs an action on the row that the path or the payload has named, or on the only one in its scope. */
function onRow (perform: PerformOnRow): PerformAction {
  return async (state) => {
    const { attempt, attempt: { target, target: { resource } } } = state
    if (!resource.singleton) return await perform(state, state.id as Id)
    // A row that was read before is used again, even if another one has taken its place.
    const row = attempt.authorizedRow ?? attempt.checked ?? await findOnlyRow(target, state)
    if (row === undefined) throw notFound(resource, undefined)
    attempt.found = row
    state.id = row.id
    return perform(state, row.id)
  }
}

/**
 * Finds the guard of a default update or delete. The preconditions decide about the row that `authorize` was shown, or
 * else about the stored one. If a handler of the app calls the action by `proceed()`, the guard is that of the handler.
 * @throws MatchRequiredError, NotFoundError, NothingHereError
 */
async function findGuard (state: ActionState, id: Id): Promise<Guard> {
  const { call, preconditions, attempt } = state
  const { authorizedRow, merged, found, target, target: { scope, resource } } = attempt
  const seen = merged ?? authorizedRow
  if (call !== undefined) return call.guard
  if (lacksVersion(state)) return refuseWithoutVersion(state)
  if (seen !== undefined) return guardAgainst(seen, state)
  if (preconditions?.dependOnRow !== true) return { version: undefined, scope }
  if (found !== undefined) return guardAgainst(found, state)
  // Fast path: the store compares the only named version in its atomic step. Without a "-", no id precedes a version.
  const version = resource.publicVersion === undefined ? preconditions.soleVersion : undefined
  if (version !== undefined && (!version.includes('-') || !mayBeQualified(version, id))) return { version, scope }
  const row = await findRow(target, id, state)
  return row === undefined ? { version: NO_VERSION, scope } : guardAgainst(row, state)
}

/**
 * Refuses a write that names no version.
 * @throws MatchRequiredError, NotFoundError, NothingHereError
 */
export async function refuseWithoutVersion (state: ActionState): Promise<never> {
  const { target, target: { resource } } = state.attempt
  const row = await findRow(target, state.id, state)
  const isAmongMany = state instanceof RowState && state.rows !== undefined
  // Without a store, only the handler knows whether the row exists.
  if (row !== undefined || target.store === noStore) throw new MatchRequiredError(resource.singular, isAmongMany)
  throw notFound(resource, state.id)
}

/** Returns whether the app demands a version from this write, and the request names none. */
export function lacksVersion ({ compiled: { options }, preconditions, customAction, action }: ActionState): boolean {
  return (
    options.requireMatch &&
    customAction === undefined &&
    (action === 'update' || action === 'delete') &&
    preconditions?.nameVersion !== true
  )
}

/** Returns the guard of a write: the version of this row if it meets the preconditions, else one that no row has. */
export function guardAgainst (row: Row, state: ActionState): Guard {
  state.attempt.checked = row
  return { version: isMet(row, state) ? row.version : NO_VERSION, scope: state.attempt.target.scope }
}

/** Returns whether the preconditions hold for a row. */
export function isMet (row: Row, { preconditions, id, attempt: { target: { resource } } }: ActionState): boolean {
  if (preconditions === undefined) return true
  const known = { id: row.id, version: versionOf(row, resource) }
  return areMet(preconditions, known, !resource.singleton && row.id === id)
}

/** Returns whether a row has changed since it was compared with the preconditions, and the action may begin again. */
export function hasChanged (outcome: Outcome | undefined, { attempt: { checked }, call }: ActionState): boolean {
  if (outcome?.kind !== 'stale' || call !== undefined || checked === undefined) return false
  return outcome.row.version !== checked.version
}

/** Returns whether a request names the version that its row must have. */
export function namesVersion (preconditions: ActionState['preconditions']): boolean {
  return preconditions?.match !== undefined || preconditions?.formVersion !== undefined
}

/**
 * Checks that a create names no version, because a new row has none yet.
 * @throws PreconditionFailedError
 */
export function checkNew ({ preconditions, attempt: { target: { resource } } }: ActionState): void {
  if (!namesVersion(preconditions)) return
  throw new PreconditionFailedError(
    `a new ${resource.singular} has no version yet; leave out If-Match and _version`
  )
}

/**
 * Checks that `If-None-Match` allows the creation of a record that may exist already.
 * @throws PreconditionFailedError
 */
export function checkNoneMatch (row: Row | undefined, state: ActionState): void {
  if (row !== undefined && !isMet(row, state)) {
    throw new PreconditionFailedError(say('existsAlready', { resource: state.attempt.target.resource.singular }))
  }
}

/**
 * Reads a row, or returns the one that `authorize` was shown.
 * @throws NotFoundError, NothingHereError
 */
async function read (state: ActionState, id: Id): Promise<Row> {
  const { authorizedRow, target: { resource, store, scope } } = state.attempt
  const row = authorizedRow ?? await store.get(id, scope, state)
  if (row === undefined) throw notFound(resource, id)
  return row
}

/** The attributes to change, and the guard of their row. */
interface RowChange {
  readonly id: Id
  readonly attributes: Attributes
  readonly guard: Guard
}

/**
 * Updates a row. Without attributes to change, nothing is written.
 * @throws DuplicateError, NotFoundError, NothingHereError
 */
async function update (
  { resource, store }: Target,
  { id, attributes, guard }: RowChange,
  context: Context
): Promise<Outcome> {
  if (isEmpty(attributes)) {
    const row = await store.get(id, guard.scope, context)
    if (row === undefined) throw notFound(resource, id)
    const isMet = guard.version === undefined || guard.version === row.version
    return { kind: isMet ? 'updated' : 'stale', row, isUnchanged: true }
  }
  // A client may send an attribute of the scope, which no write changes.
  const changes = omitScope(attributes, guard.scope)
  const written = await writeWhenIdle(store, context, () => store.update(id, changes, guard, context))
  return written.ok ? { kind: 'updated', row: written.row } : unwritten(written, resource, id)
}

/**
 * Deletes a row.
 * @throws NotFoundError, NothingHereError
 */
async function remove ({ resource, store }: Target, id: Id, guard: Guard, context: Context): Promise<Outcome> {
  const written = await writeWhenIdle(store, context, () => store.delete(id, guard, context))
  return written.ok ? { kind: 'deleted', row: written.row } : unwritten(written, resource, id)
}

/** Returns the outcome of a write that its guard has refused. */
function unwritten (written: Exclude<WriteOutcome, { readonly ok: true }>, resource: Resource, id: Id): Outcome {
  if (written.why === 'stale') return { kind: 'stale', row: written.current }
  throw notFound(resource, id)
}
