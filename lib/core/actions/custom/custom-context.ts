import { findRow as readRow } from '../find-row.js'
import type { Outcome } from '../outcome.js'
import { notFound } from '../target.js'
import { InvalidError, PreconditionFailedError } from '../../errors.js'
import type { Paths } from '../../routes/path-helpers.js'
import type { Id, Row } from '../../resource/row.js'
import type { ActionContext, HandlerRow } from '../../options/handler.js'
import type { Attributes } from '../../schema/types.js'
import type { Guard } from '../../stores/store.js'
import { type MaybePromise, andThen } from '../../util/maybe-promise.js'
import type { ActionState } from '../../request/state.js'

/** The members of a context that do not come from the state of the request. */
export interface ContextMembers {
  readonly paths: Paths
  readonly guard: Guard
  readonly query: Readonly<Record<string, unknown>>
  guardFor (row: Pick<HandlerRow, 'id' | 'version'>): Guard
  proceed (): MaybePromise<Outcome>
}

/** Makes the context of a handler. Its members are its own, so that it can be destructured. */
export function makeContext (
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
