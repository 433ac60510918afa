import { findShown } from '../../actions/authorize/authorize.js'
import { findParameters } from '../../actions/authorize/parents.js'
import type { Refusals, Refused } from '../../actions/authorize/refused-actions.js'
import { findRow } from '../../actions/find-row.js'
import type { Outcome } from '../../actions/outcome.js'
import { PreconditionFailedError, type Problem } from '../../errors.js'
import type { Row } from '../../resource/row.js'
import { type MaybePromise, catchError, andThen } from '../../util/maybe-promise.js'
import type { Payload } from '../request/payload.js'
import type { RequestState } from '../request/state.js'
import { NO_VERSION } from './write-guards.js'

/** The outcome of a write that has written nothing, and shows the row as it is. */
export type Unwritten = Outcome & { readonly kind: 'stale' | 'revised' }

/** The statuses of errors in what was supplied. After another refusal, or a failure of the store, no row is read. */
const OF_SUPPLIED: ReadonlySet<number> = new Set([409, 422, 428])

/** Finds what the page of an outcome shows; a document needs none of it. */
export function findContent (outcome: Outcome, state: RequestState): MaybePromise<void> {
  const { mount, refusals } = state.compiled
  const found = refusals === undefined ? undefined : findRefused(outcome, state, refusals)
  return mount.isShallow ? andThen(found, () => findParents(outcome, state)) : found
}

/**
 * Leaves out the stored row of a write that was refused, if `authorize` does not let the client see it.
 * @throws PreconditionFailedError if nothing remains to be shown
 */
export function conceal (outcome: Unwritten, state: RequestState): MaybePromise<Outcome> {
  const { row } = outcome
  const { compiled: { resource: { singular, singleton } }, checkAccess } = state
  if (row === undefined || checkAccess === undefined) return outcome
  return andThen(findShown(checkAccess, singleton ? undefined : row.id, state, () => row), (shown) => {
    if (outcome.kind === 'revised') return { ...outcome, row: shown }
    // A handler's row without a version may be another state of the row than `authorize` was shown.
    if (shown !== undefined) {
      return row.version === NO_VERSION || row.version === shown.version ? outcome : { ...outcome, row: shown }
    }
    state.outcome = 'stale'
    throw new PreconditionFailedError(
      `the ${singular} is not as the request demands by If-Match, If-None-Match or _version; read it again`
    )
  })
}

/**
 * Finds the row of a form that is shown again after an error; without it the form shows only what was supplied. For
 * other pages, it finds the actions that the page must not offer.
 */
export function findProblemRow ({ status }: Problem, state: RequestState): MaybePromise<Row | undefined> {
  const { choice: { format }, payload } = state
  if (format.browser === true && payload?.node !== undefined && OF_SUPPLIED.has(status)) {
    return findFormRow(payload, state)
  }
  // Only the page of a singleton that is not there offers an action: to create it.
  const { refusals, resource: { singleton } } = state.compiled
  if (refusals === undefined || !singleton || status !== 404 || format.writer.list !== undefined) return undefined
  return andThen(refusals.ofNothing(state.request), (refused) => {
    state.refused = refused
    return undefined
  })
}

function findFormRow ({ action, id }: Payload, state: RequestState): MaybePromise<Row | undefined> {
  if (action === 'create') return undefined
  const { compiled: { target }, checkAccess } = state
  return checkAccess === undefined
    ? catchError<Row | undefined>(() => findRow(target, id, state), () => undefined)
    : findShown(checkAccess, id, state, (target) => findRow(target, id, state))
}

/** Finds the actions that `authorize` refuses: a page does not offer them. */
function findRefused (outcome: Outcome, state: RequestState, refusals: Refusals): MaybePromise<void> {
  const { request, choice } = state
  if (choice.format.writer.list !== undefined) return
  const keep = (refused: Refused): void => {
    state.refused = refused
  }
  if (outcome.kind === 'listed') return andThen(refusals.ofCollection(request), keep)
  if (outcome.kind !== 'found') return
  return andThen(refusals.ofRow(request, state.compiled.resource.singleton ? undefined : outcome.row.id), keep)
}

/** Finds the parents of a shallow row, whose page leads back to the list that the row is in. */
function findParents (outcome: Outcome, state: RequestState): MaybePromise<void> {
  const row = 'row' in outcome ? outcome.row : undefined
  const over = state.compiled.levels.at(-1)?.over
  if (row === undefined || over === undefined) return
  if (!state.route.isMember || state.choice.format.browser !== true) return
  return andThen(findParameters(row, over, state.parameters, state), (parameters) => {
    state.parameters = parameters
  })
}
