import {
  describeError, ExistsError, isConditionError, MatchRequiredError, PreconditionFailedError, UnavailableError
} from '../errors.js'
import { versionOf } from '../resource/visible.js'
import type { ActionName } from '../resource/resource.js'
import type { Id, Row } from '../resource/row.js'
import { findChanges, type IsUntouched } from '../schema/validation/issues.js'
import { type Context, type Guard, noStore, omitScope, type WriteOutcome } from '../stores/store.js'
import { andThen, type MaybePromise } from '../util/maybe-promise.js'
import { isEmpty } from '../util/own-property.js'
import { MOST_REPEATED } from '../util/words.js'
import type { CompiledResource } from '../compiled-resource.js'
import { areMet, mayBeQualified } from '../request/preconditions.js'
import type { ActionState } from '../request/state.js'
import { logFailure } from '../telemetry/action-log.js'
import type { Attributes } from '../schema/types.js'
import { findRow, findSingleton } from './find-row.js'
import { list } from './list.js'
import type { ListQuery, Outcome } from './outcome.js'
import { notFound, type Target } from './target.js'

/** The most retries of a default action whose row changes each time before it is written. */
export const TRIES = 100

/** A version that no row has. */
export const NO_VERSION = ''

/** Performs the action of an authorized request. */
export type PerformAction<Result extends Outcome | undefined = Outcome> = (state: ActionState) => MaybePromise<Result>

/** An action that works with rows; `new` and `edit` show forms. */
export type RowAction = Exclude<ActionName, 'new' | 'edit'>

type PerformOnRow = (state: ActionState, id: Id) => MaybePromise<Outcome>

/** The actions of a resource for which the app has no handler. */
export interface DefaultActions extends Readonly<Record<RowAction, PerformAction>> {
  /** Shows the form of a new row again. */
  readonly redisplayNew: PerformAction
  /** Shows the form of a row again. */
  readonly redisplay: PerformAction
}

export function compileDefaultActions ({ resource }: CompiledResource): DefaultActions {
  const { singular, singleton } = resource
  const onRow = singleton ? onSingleton : onNamedRow

  function createNew (state: ActionState): MaybePromise<Outcome> {
    checkNew(state)
    return create(state.target, state.attributes, state)
  }

  function createOnly (state: ActionState): MaybePromise<Outcome> {
    checkNew(state)
    return andThen(findSingleton(state.target, state), (row) => {
      checkNoneMatch(row, state)
      if (row !== undefined) throw new ExistsError(singular)
      return create(state.target, state.attributes, state)
    })
  }

  return {
    list: (state) =>
      andThen(parseListQuery(state), (query) => list(state.target, query, state)),
    show: onRow((state, id) =>
      state.authorizedRow === undefined ? show(state.target, id, state) : { kind: 'found', row: state.authorizedRow }
    ),
    create: singleton ? createOnly : createNew,
    update: onRow((state, id) => andThen(findGuard(state, id), change, state, id)),
    delete: onRow((state, id) => andThen(findGuard(state, id), erase, state, id)),
    redisplayNew: () => ({ kind: 'revised', row: undefined }),
    redisplay: onRow((state, id) =>
      state.authorizedRow === undefined
        ? redisplay(state.target, id, state)
        : { kind: 'revised', row: state.authorizedRow }
    )
  }
}

/**
 * Parses the query of a list. If a browser's condition or search is refused, the page shows the list without it, with
 * the error at its field. A second refusal is an error, because the page has the fields of one condition.
 * @throws InvalidQueryError
 */
export function parseListQuery (state: ActionState): MaybePromise<ListQuery> {
  const { request, compiled: { listQuery }, choice: { format: { browser, writer } }, route: { hasQueryBody } } = state
  const canShow = browser === true && writer.list === undefined && writer.showsRefusedConditions === true
  try {
    return listQuery.parse(request.query, state)
  } catch (error) {
    const isKnown = state.openCondition?.error !== undefined
    if (!isConditionError(error) || !canShow || isKnown || hasQueryBody) throw error
    const { parameter, reason } = error
    const { [parameter]: value = '', ...others } = request.query
    if (value.length > MOST_REPEATED) throw error
    logFailure(error, describeError(error, 400), state)
    request.query = others
    state.openCondition = { parameter, value, error: reason }
    return parseListQuery(state)
  }
}

/** Changes what was not sent back as it was shown. */
function change (guard: Guard, state: ActionState, id: Id): MaybePromise<Outcome> {
  const { payload, attributes, target, found = state.authorizedRow } = state
  if (payload?.isCompared === true) {
    const isCurrent = found?.id === id && (guard.version ?? found.version) === found.version
    const row = isCurrent ? found : target.store.get(id, guard.scope, state)
    return andThen(row, (row) => changeCompared(row, { id, attributes, guard }, state))
  }
  const changes = payload?.isUntouched === undefined ? attributes : findChanges(attributes, payload.isUntouched)
  return update(target, { id, attributes: changes, guard }, state)
}

/** Changes what differs from a row, if the row still has this version. If it has not, compares with the next one. */
function changeCompared (
  row: Row | undefined,
  change: RowChange,
  state: ActionState,
  tries = 0
): MaybePromise<Outcome> {
  const { payload, target } = state
  const { attributes, guard, guard: { version } } = change
  if (row === undefined) throw notFound(target.resource, change.id)
  if (version !== undefined && version !== row.version) return { kind: 'stale', row }
  const isUntouched = payload?.compareWith?.(row) as IsUntouched
  const changes = findChanges(attributes, isUntouched)
  if (isEmpty(changes)) return { kind: 'updated', row }
  const guarded = { ...change, attributes: changes, guard: { ...guard, version: row.version } }
  return andThen(update(target, guarded, state), (outcome) => {
    if (outcome.kind !== 'stale' || version !== undefined || outcome.row.version === row.version) return outcome
    if (tries === TRIES) throw new UnavailableError()
    return changeCompared(outcome.row, change, state, tries + 1)
  })
}

function erase (guard: Guard, state: ActionState, id: Id): MaybePromise<Outcome> {
  return remove(state.target, id, guard, state)
}

/** Performs an action on the row that the path or the payload has named. */
function onNamedRow (perform: PerformOnRow): PerformAction {
  return (state) => perform(state, state.id as Id)
}

/** Performs an action on the row of a singleton, which is found by its scope. */
function onSingleton (perform: PerformOnRow): PerformAction {
  // A row that was read before is used again, even if another one has taken its place.
  return (state) =>
    andThen(state.authorizedRow ?? state.checked ?? findSingleton(state.target, state), (row) => {
      if (row === undefined) throw notFound(state.target.resource, undefined)
      state.found = row
      state.id = row.id
      return perform(state, row.id)
    })
}

/**
 * Finds the guard of a default update or delete: the row that `authorize` was shown and the preconditions decide. After
 * `proceed()`, it is the guard of the handler.
 * @throws MatchRequiredError, NotFoundError, NothingHereError
 */
function findGuard (state: ActionState, id: Id): MaybePromise<Guard> {
  const { guard, preconditions, authorizedRow, merged: read = authorizedRow, target: { scope, resource } } = state
  if (guard !== undefined) return guard
  if (lacksVersion(state)) return refuseWithoutVersion(state)
  if (read !== undefined) return guardAgainst(read, state)
  if (preconditions?.dependOnRow !== true) return { version: undefined, scope }
  if (state.found !== undefined) return guardAgainst(state.found, state)
  // Fast path: the store compares the only named version in its atomic step. Without a "-", no id precedes a version.
  const version = resource.publicVersion === undefined ? preconditions.soleVersion : undefined
  if (version !== undefined && (!version.includes('-') || !mayBeQualified(version, id))) return { version, scope }
  return andThen(findRow(state.target, id, state), (row) =>
    row === undefined ? { version: NO_VERSION, scope } : guardAgainst(row, state)
  )
}

/**
 * Refuses a write that names no version.
 * @throws MatchRequiredError, NotFoundError, NothingHereError
 */
export function refuseWithoutVersion (state: ActionState): MaybePromise<never> {
  const { target, target: { resource } } = state
  return andThen(findRow(target, state.id, state), (row) => {
    // Without a store, only the handler knows whether the row exists.
    if (row !== undefined || state.target.store === noStore) throw new MatchRequiredError(resource.singular)
    throw notFound(resource, state.id)
  })
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
  state.checked = row
  return { version: isMet(row, state) ? row.version : NO_VERSION, scope: state.target.scope }
}

/** Returns whether the preconditions hold for a row. */
export function isMet (row: Row, { preconditions, id, target: { resource } }: ActionState): boolean {
  if (preconditions === undefined) return true
  const known = { id: row.id, version: versionOf(row, resource) }
  return areMet(preconditions, known, !resource.singleton && row.id === id)
}

/**
 * Checks that a create names no version, because a new row has none yet.
 * @throws PreconditionFailedError
 */
export function checkNew ({ preconditions, target: { resource } }: ActionState): void {
  if (preconditions?.match === undefined && preconditions?.formVersion === undefined) return
  throw new PreconditionFailedError(
    `a new ${resource.singular} has no version yet; leave out If-Match and _version`
  )
}

/**
 * Checks that `If-None-Match` allows the creation of a singleton if there may be one already.
 * @throws PreconditionFailedError
 */
export function checkNoneMatch (row: Row | undefined, state: ActionState): void {
  if (row !== undefined && !isMet(row, state)) {
    throw new PreconditionFailedError(`the ${state.target.resource.singular} exists already`)
  }
}

/**
 * Creates a row.
 * @throws DuplicateError
 */
function create ({ store, scope }: Target, attributes: Attributes, context: Context): MaybePromise<Outcome> {
  return andThen(store.create(attributes, scope, context), created)
}

function created (row: Row): Outcome {
  return { kind: 'created', row }
}

/**
 * Deletes a row.
 * @throws NotFoundError, NothingHereError
 */
function remove (target: Target, id: Id, guard: Guard, context: Context): MaybePromise<Outcome> {
  return andThen(target.store.delete(id, guard, context), deleted, target, id)
}

function deleted (written: WriteOutcome, { resource }: Target, id: Id): Outcome {
  if (written.ok) return { kind: 'deleted', row: written.row }
  if (written.why === 'stale') return { kind: 'stale', row: written.current }
  throw notFound(resource, id)
}

/**
 * Reads a row.
 * @throws NotFoundError, NothingHereError
 */
function show (target: Target, id: Id, context: Context): MaybePromise<Outcome> {
  return andThen(target.store.get(id, target.scope, context), found, target, id)
}

function found (row: Row | undefined, { resource }: Target, id: Id): Outcome {
  if (row === undefined) throw notFound(resource, id)
  return { kind: 'found', row }
}

/**
 * Reads the row of a form that asks to add or remove a row in the form, and writes nothing.
 * @throws NotFoundError, NothingHereError
 */
function redisplay ({ resource, store, scope }: Target, id: Id, context: Context): MaybePromise<Outcome> {
  return andThen(store.get(id, scope, context), (row) => {
    if (row === undefined) throw notFound(resource, id)
    return { kind: 'revised', row }
  })
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
function update (target: Target, change: RowChange, context: Context): MaybePromise<Outcome> {
  const { id, attributes, guard } = change
  if (isEmpty(attributes)) return andThen(target.store.get(id, guard.scope, context), keep, target, change)
  // A client may send an attribute of the scope, which no write changes.
  return andThen(target.store.update(id, omitScope(attributes, guard.scope), guard, context), updated, target, id)
}

function keep (row: Row | undefined, { resource }: Target, { id, guard: { version } }: RowChange): Outcome {
  if (row === undefined) throw notFound(resource, id)
  return { kind: version === undefined || version === row.version ? 'updated' : 'stale', row }
}

function updated (written: WriteOutcome, { resource }: Target, id: Id): Outcome {
  if (written.ok) return { kind: 'updated', row: written.row }
  if (written.why === 'stale') return { kind: 'stale', row: written.current }
  throw notFound(resource, id)
}
