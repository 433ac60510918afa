import { notFound } from './actions/action.js'
import type { Wanted } from './actions/list.js'
import { findRow as readRow } from './actions/only.js'
import { InvalidError, NothingHereError } from './errors.js'
import type { Job } from './job.js'
import type { Outcome } from './outcome.js'
import type { ActionContext } from './routing/handler.js'
import type { Paths } from './routing/paths.js'
import { settle } from './settle.js'
import type { Attributes, Guard, Id, MaybePromise, Stored } from './stores/store.js'

/** What a handler may ask for besides what is known of the request. */
export interface Possibilities {
  readonly paths: Paths
  readonly guard: Guard
  readonly query: Readonly<Record<string, unknown>>
  readonly wanted: Wanted | undefined
  proceed (): MaybePromise<Outcome>
}

/** What a handler of the app's own works with. Its members are its own, so that it may be taken apart. */
export function makeContext (job: Job, possibilities: Possibilities): ActionContext<Attributes, Attributes, Id | undefined> {
  const { request, reply, action, id, subject, state } = job
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

/** @throws NotFoundError, NothingHereError, InvalidError */
function findRow (job: Job): MaybePromise<Stored> {
  const { id, subject, seen, request: { method } } = job
  const { resource } = subject
  // Nothing that the app has not looked at is shown; whoever writes may have changed it.
  if (seen !== undefined && (method === 'GET' || method === 'HEAD')) return seen
  if (id === undefined && !resource.singleton) throw new InvalidError({ id: ['must be given'] })
  return settle(readRow(subject, id, job), (row) => {
    if (row === undefined) throw resource.singleton ? new NothingHereError(resource.singular) : notFound(resource, id)
    return row
  })
}
