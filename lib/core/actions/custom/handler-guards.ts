import { findRow } from '../find-row.js'
import type { Outcome } from '../outcome.js'
import { notFound } from '../target.js'
import { InvalidAnswerError, PreconditionFailedError } from '../../errors.js'
import type { Row } from '../../resource/row.js'
import type { FoundRow } from '../../options/handler.js'
import { type Guard, noStore } from '../../stores/store.js'
import { type MaybePromise, andThen } from '../../util/maybe-promise.js'
import { namesRow, type Preconditions } from '../../request/preconditions.js'
import type { ActionState } from '../../request/state.js'
import { guardAgainst, isMet, lacksVersion, NO_VERSION, refuseWithoutVersion } from '../default-actions.js'

/**
 * Finds the guard of a handler for the row that its request names, or for the row of a singleton. Returns the outcome
 * instead if the preconditions do not hold.
 * @throws MatchRequiredError, NotFoundError, NothingHereError
 */
export function findHandlerGuard (state: ActionState): MaybePromise<Guard | Outcome> {
  const { preconditions, merged, authorizedRow = merged, target: { resource, scope, store } } = state
  if (lacksVersion(state)) return refuseWithoutVersion(state)
  if (preconditions === undefined) return { version: authorizedRow?.version, scope }
  // `If-Match: *` alone demands that the row exists, in any version.
  const isChecked = preconditions.dependOnRow
  // Without a store, only the handler knows its row. A version does not say which row of a singleton it belongs to.
  const sole = resource.singleton ? NO_VERSION : preconditions.soleVersion ?? NO_VERSION
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

/** Finds the guard for a missing row, which meets `If-None-Match` but no other precondition (RFC 9110 §13.1.1). */
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
export function guardFor ({ id, version = NO_VERSION, attributes }: FoundRow, state: ActionState): Guard {
  const { action, authorizedRow, preconditions, target: { scope, resource } } = state
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
