import { notFound } from './actions/action.js'
import type { Wanted } from './actions/list.js'
import { findRow as readRow } from './actions/only.js'
import { InvalidError, NothingHereError, PreconditionFailedError } from './errors.js'
import type { Job } from './job.js'
import type { Outcome } from './outcome.js'
import type { ActionContext, HandlerRow } from './routing/handler.js'
import type { Paths } from './routing/paths.js'
import { settle } from './settle.js'
import type { Attributes, Guard, Id, MaybePromise, Stored } from './stores/store.js'

/** What a handler may ask for besides what is known of the request. */
export interface Possibilities {
  readonly paths: Paths
  readonly guard: Guard
  readonly query: Readonly<Record<string, unknown>>
  readonly wanted: Wanted | undefined
  guardFor (row: Pick<HandlerRow, 'id' | 'version'>): Guard
  proceed (): MaybePromise<Outcome>
}

/** What a handler of the app's own works with. Its members are its own, so that it may be taken apart. */
export function makeContext (job: Job, possibilities: Possibilities): ActionContext<Attributes, Attributes, Id | undefined> {
  const { request, reply, action, id, subject, state } = job
  // It may send something itself.
  state.isAnswered = true
  return {
    request,
    reply,
    action,
    resource: subject.resource,
    store: subject.store,
    scope: subject.scope,
    id,
    attributes: state.payload?.attributes ?? {},
    ...possibilities,
    // Made when it is asked for, which it mostly is not.
    get signal () { return job.signal },
    row: () => findRow(job)
  }
}

/** @throws NotFoundError, NothingHereError, InvalidError, PreconditionFailedError */
function findRow (job: Job): MaybePromise<Stored> {
  const { id, subject, seen, checked = seen, request: { method } } = job
  const { resource } = subject
  // Nothing that the app has not looked at is shown; whoever writes may have changed it.
  if (seen !== undefined && (method === 'GET' || method === 'HEAD')) return seen
  if (id === undefined && !resource.singleton) throw new InvalidError({ id: ['must be given'] })
  return settle(readRow(subject, id, job), (row) => {
    if (row === undefined) throw resource.singleton ? new NothingHereError(resource.singular) : notFound(resource, id)
    // Another singleton has taken the place of the one that was looked at, and may have the same version.
    if (checked !== undefined && checked.id !== row.id) throw new PreconditionFailedError(`the ${resource.singular} has been replaced meanwhile; read it again`)
    return row
  })
}
