import { PreconditionFailedError } from '../errors.js'
import { say } from '../messages.js'
import { ofId } from '../modes.js'
import type { RequestState } from '../request/state.js'
import { findShown } from './authorize/authorize.js'
import { NO_VERSION } from './default-actions.js'
import type { Outcome } from './outcome.js'

/** The outcome of a write that has written nothing, and shows the stored row. */
export type OutcomeWithoutWrite = Outcome & { readonly kind: 'stale' | 'revised' }

/**
 * Leaves out the stored row of a write that was refused, if `authorize` does not let the client see it.
 * @throws PreconditionFailedError if nothing remains to be shown
 */
export async function hideUnauthorized (outcome: OutcomeWithoutWrite, state: RequestState): Promise<Outcome> {
  const { row } = outcome
  const { compiled: { resource }, checkAccess } = state
  if (row === undefined || checkAccess === undefined) return outcome
  const shown = await findShown(checkAccess, ofId(resource, row.id), state, () => row)
  if (outcome.kind === 'revised') return { ...outcome, row: shown }
  // A handler's row without a version may be another state of the row than `authorize` was shown.
  if (shown !== undefined) {
    return row.version === NO_VERSION || row.version === shown.version ? outcome : { ...outcome, row: shown }
  }
  state.outcome = 'stale'
  throw new PreconditionFailedError(say('changedMeanwhile', { resource: resource.singular }))
}
