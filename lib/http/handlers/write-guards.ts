import { findRow } from '../../actions/find-row.js'
import type { Outcome } from '../../actions/outcome.js'
import { notFound } from '../../actions/target.js'
import { MatchRequiredError, PreconditionFailedError } from '../../errors.js'
import type { Id, Row } from '../../resource/row.js'
import type { HandlerRow } from '../../routing/handler.js'
import { noStore } from '../../stores/null-store.js'
import type { Guard } from '../../stores/store.js'
import { type MaybePromise, andThen } from '../../util/maybe-promise.js'
import {
  areMet,
  dependsOnRow,
  mayBeQualified,
  namesRow,
  namesVersion,
  type Preconditions,
  type RowKey,
  soleVersion
} from '../request/preconditions.js'
import type { ActionState } from '../request/state.js'

/** A version that no row has. */
export const NO_VERSION = ''

/**
 * Finds the guard of a default update or delete: the row that `authorize` was shown and the preconditions decide. After
 * `proceed()`, it is the guard of the handler.
 * @throws MatchRequiredError, NotFoundError, NothingHereError
 */
export function findGuard (state: ActionState): MaybePromise<Guard> {
  const { guard, preconditions, authorizedRow, target: { scope } } = state
  if (guard !== undefined) return guard
  if (lacksVersion(state)) return refuseWithoutVersion(state)
  if (authorizedRow !== undefined) return guardAgainst(authorizedRow, state)
  if (!dependsOnRow(preconditions)) return { version: undefined, scope }
  if (state.found !== undefined) return guardAgainst(state.found, state)
  // Fast path: the store compares the one version that is named, in its atomic step.
  const version = soleVersion(preconditions)
  if (version !== undefined && !mayBeQualified(version, state.id as Id)) return { version, scope }
  return andThen(findRow(state.target, state.id, state), (row) =>
    row === undefined ? { version: NO_VERSION, scope } : guardAgainst(row, state)
  )
}

/**
 * Finds the guard of a handler for the row that its request names, or for the row of a singleton; or the outcome if the
 * preconditions do not hold.
 * @throws MatchRequiredError, NotFoundError, NothingHereError
 */
export function findHandlerGuard (state: ActionState): MaybePromise<Guard | Outcome> {
  const { preconditions, authorizedRow, target: { resource, scope, store } } = state
  if (lacksVersion(state)) return refuseWithoutVersion(state)
  if (preconditions === undefined) return { version: authorizedRow?.version, scope }
  // `If-Match: *` alone demands a row, and no version of it.
  const isChecked: boolean = dependsOnRow(preconditions)
  // The handler alone knows its row. A version alone does not say which row of a singleton it belongs to.
  const sole = resource.singleton ? NO_VERSION : soleVersion(preconditions) ?? NO_VERSION
  const decide = (row: Row | undefined): Guard | Outcome => {
    if (row === undefined && store === noStore) return { version: isChecked ? sole : undefined, scope }
    if (row === undefined) return findGuardWithoutRow(preconditions, state)
    if (!isChecked) return { version: authorizedRow?.version, scope }
    const guard = guardAgainst(row, state)
    return guard.version === NO_VERSION ? { kind: 'stale', row } : guard
  }
  if (authorizedRow !== undefined || store === noStore) return decide(authorizedRow)
  return andThen(findRow(state.target, state.id, state), decide)
}

/** A row that does not exist meets `If-None-Match`, and no other precondition (RFC 9110 §13.1.1). */
function findGuardWithoutRow ({ match, formVersion }: Preconditions, { id, target }: ActionState): Guard {
  const { resource, scope } = target
  if (match === undefined && formVersion === undefined) return { version: undefined, scope }
  throw notFound(resource, id)
}

/**
 * Finds the guard of a handler whose request names no row. If the request names a version, only `guardFor` accepts
 * a row.
 * @throws PreconditionFailedError if `If-Match` or `_version` can name no row either
 */
export function findGuardWithoutId ({ preconditions, target: { scope } }: ActionState): Guard {
  if (!dependsOnRow(preconditions)) return { version: undefined, scope }
  const { match, formVersion } = preconditions
  const isLost =
    (typeof match === 'object' && !match.some(namesRow)) || (formVersion !== undefined && !namesRow(formVersion))
  if (isLost) {
    throw new PreconditionFailedError(
      'If-Match or _version names a version without its row; ' +
        'send it as the ETag of this path has it, such as "7-3.xml"'
    )
  }
  return { version: NO_VERSION, scope }
}

/** Returns the guard of a row that a handler has found. */
export function guardFor ({ id, version = NO_VERSION }: Pick<HandlerRow, 'id' | 'version'>, state: ActionState): Guard {
  const { authorizedRow, preconditions, target: { scope } } = state
  const isAuthorized = authorizedRow?.id === id
  const row = isAuthorized ? authorizedRow : { id, version }
  if (dependsOnRow(preconditions)) return { version: isMet(row, state) ? row.version : NO_VERSION, scope }
  return { version: isAuthorized ? row.version : undefined, scope }
}

/**
 * A new row has no version that a request could name.
 * @throws PreconditionFailedError
 */
export function checkNew ({ preconditions, target: { resource } }: ActionState): void {
  if (preconditions?.match === undefined && preconditions?.formVersion === undefined) return
  throw new PreconditionFailedError(
    `a new ${resource.singular} has no version yet that If-Match or _version could name; leave it out`
  )
}

/**
 * A new singleton may find another one there, which `If-None-Match` may forbid.
 * @throws PreconditionFailedError
 */
export function checkNoneMatch (row: Row | undefined, state: ActionState): void {
  if (row !== undefined && !isMet(row, state)) {
    throw new PreconditionFailedError(`there is a ${state.target.resource.singular} already`)
  }
}

function isMet (row: RowKey, { preconditions, id, target: { resource } }: ActionState): boolean {
  return (
    preconditions === undefined || areMet(preconditions, row, !resource.singleton && row.id === id)
  )
}

function guardAgainst (row: Row, state: ActionState): Guard {
  state.checked = row
  return { version: isMet(row, state) ? row.version : NO_VERSION, scope: state.target.scope }
}

function lacksVersion ({ compiled: { options }, preconditions, isCustom, action }: ActionState): boolean {
  return (
    options.requireMatch &&
    !isCustom &&
    (action === 'update' || action === 'delete') &&
    !namesVersion(preconditions)
  )
}

function refuseWithoutVersion (state: ActionState): MaybePromise<never> {
  const { target, target: { resource } } = state
  return andThen(findRow(target, state.id, state), (row) => {
    // Without a store the handler alone knows whether there is a row.
    if (row !== undefined || state.target.store === noStore) throw new MatchRequiredError(resource.singular)
    throw notFound(resource, state.id)
  })
}
