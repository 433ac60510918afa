import { findRow as readRow } from '../../actions/find-row.js'
import type { Outcome } from '../../actions/outcome.js'
import { notFound } from '../../actions/target.js'
import { InvalidError, PreconditionFailedError } from '../../errors.js'
import type { Paths } from '../../resource/path-helpers.js'
import type { Id, Row } from '../../resource/row.js'
import type { ActionContext, HandlerRow } from '../../routing/handler.js'
import type { Attributes } from '../../schema/types.js'
import type { Guard } from '../../stores/store.js'
import { type MaybePromise, andThen } from '../../util/maybe-promise.js'
import type { ActionState } from '../request/state.js'

/** What a handler may ask for besides what is known of the request. */
export interface Possibilities {
  readonly paths: Paths
  readonly guard: Guard
  readonly query: Readonly<Record<string, unknown>>
  guardFor (row: Pick<HandlerRow, 'id' | 'version'>): Guard
  proceed (): MaybePromise<Outcome>
}

/** What a handler of the app's own works with. Its members are its own, so that it may be taken apart. */
export function makeContext (
  state: ActionState,
  possibilities: Possibilities
): ActionContext<Attributes, Attributes, Id | undefined> {
  const { request, reply, action, id, target, attributes } = state
  // It may send something itself.
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
    // Made when it is asked for, which it mostly is not.
    get signal () {
      return state.signal
    },
    row: () => findRow(state)
  }
}

/** @throws NotFoundError, NothingHereError, InvalidError, PreconditionFailedError */
function findRow (state: ActionState): MaybePromise<Row> {
  const { id, target, authorizedRow, checked = authorizedRow, request: { method } } = state
  const { resource } = target
  // Nothing that the app has not looked at is shown; whoever writes may have changed it.
  if (authorizedRow !== undefined && (method === 'GET' || method === 'HEAD')) return authorizedRow
  if (id === undefined && !resource.singleton) throw new InvalidError({ id: ['must be given'] })
  return andThen(readRow(target, id, state), (row) => {
    if (row === undefined) throw notFound(resource, id)
    // Another singleton has taken the place of the one that was looked at, and may have the same version.
    if (checked !== undefined && checked.id !== row.id) {
      throw new PreconditionFailedError(`the ${resource.singular} has been replaced meanwhile; read it again`)
    }
    return row
  })
}
