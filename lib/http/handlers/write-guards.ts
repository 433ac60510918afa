import { findRow } from '../../actions/find-row.js'
import type { Outcome } from '../../actions/outcome.js'
import { notFound } from '../../actions/target.js'
import { MatchRequiredError, NothingHereError, PreconditionFailedError } from '../../errors.js'
import type { Id, Stored } from '../../resource/row.js'
import type { HandlerRow } from '../../routing/handler.js'
import { noStore } from '../../stores/null-store.js'
import type { Guard } from '../../stores/store.js'
import { type MaybePromise, settle } from '../../util/maybe-promise.js'
import type { Hall } from '../compiled-resource.js'
import type { Job } from '../request/job.js'
import { areMet, dependsOnRow, mayBeQualified, namesRow, namesVersion, type Preconditions, type RowKey, soleVersion } from '../request/preconditions.js'

/** A version that no row has. */
export const NONE = ''

/** What a write must demand of its row: the row that `authorize` has looked at, and the preconditions of the request. */
export class WriteGuards {
  readonly #hall: Hall

  constructor (hall: Hall) {
    this.#hall = hall
  }

  /**
   * The guard of a default update or delete, or the rest of a handler's guard after its `proceed()`.
   * @throws MatchRequiredError, NotFoundError, NothingHereError
   */
  find (job: Job): MaybePromise<Guard> {
    const { guard, preconditions, seen, subject: { scope } } = job
    if (guard !== undefined) return guard
    if (this.#lacksVersion(job)) return this.#refuseWithoutVersion(job)
    if (seen !== undefined) return this.#guardAgainst(seen, job)
    if (!dependsOnRow(preconditions)) return { version: undefined, scope }
    if (job.found !== undefined) return this.#guardAgainst(job.found, job)
    // Fast path: the store compares the one version that is named, in its atomic step.
    const version = soleVersion(preconditions)
    if (version !== undefined && !mayBeQualified(version, job.id as Id)) return { version, scope }
    return settle(findRow(job.subject, job.id, job), (row) => row === undefined ? { version: NONE, scope } : this.#guardAgainst(row, job))
  }

  /**
   * The guard of a handler of the app's own for the row that its request names, or, for a singleton, for the one row; or the
   * outcome if the preconditions do not hold.
   * @throws MatchRequiredError, NotFoundError, NothingHereError
   */
  admit (job: Job): MaybePromise<Guard | Outcome> {
    const { preconditions, seen, subject: { scope, store } } = job
    if (this.#lacksVersion(job)) return this.#refuseWithoutVersion(job)
    if (preconditions === undefined) return { version: seen?.version, scope }
    // `If-Match: *` alone demands a row, and no version of it.
    const isChecked: boolean = dependsOnRow(preconditions)
    const { resource } = this.#hall
    // The handler alone knows its row. A version alone does not say which row of a singleton it belongs to.
    const sole = resource.singleton ? NONE : soleVersion(preconditions) ?? NONE
    const decide = (row: Stored | undefined): Guard | Outcome => {
      if (row === undefined && store === noStore) return { version: isChecked ? sole : undefined, scope }
      if (row === undefined) return this.#admitMissing(preconditions, job)
      if (!isChecked) return { version: seen?.version, scope }
      const guard = this.#guardAgainst(row, job)
      return guard.version === NONE ? { kind: 'stale', row } : guard
    }
    if (seen !== undefined || store === noStore) return decide(seen)
    return settle(findRow(job.subject, job.id, job), decide)
  }

  /** A row that is not there meets `If-None-Match`, and no other precondition (RFC 9110 §13.1.1). */
  #admitMissing ({ match, formVersion }: Preconditions, { id, subject: { scope } }: Job): Guard {
    const { resource } = this.#hall
    if (match === undefined && formVersion === undefined) return { version: undefined, scope }
    throw resource.singleton ? new NothingHereError(resource.singular) : notFound(resource, id)
  }

  /**
   * The guard of a handler whose request names no row: if the request names a version, only `guardFor` lets a row through.
   * @throws PreconditionFailedError if `If-Match` or `_version` can name no row either
   */
  admitUnnamed ({ preconditions, subject: { scope } }: Job): Guard {
    if (!dependsOnRow(preconditions)) return { version: undefined, scope }
    const { match, formVersion } = preconditions
    const isLost = (typeof match === 'object' && !match.some(namesRow)) || (formVersion !== undefined && !namesRow(formVersion))
    if (isLost) throw new PreconditionFailedError('If-Match or _version names a version without its row; send it as the ETag of this path has it, such as "7-3.xml"')
    return { version: NONE, scope }
  }

  /** What a write must demand of a row that a handler has found. */
  guardFor ({ id, version = NONE }: Pick<HandlerRow, 'id' | 'version'>, job: Job): Guard {
    const { seen, preconditions, subject: { scope } } = job
    const isSeen = seen?.id === id
    const row = isSeen ? seen : { id, version }
    if (dependsOnRow(preconditions)) return { version: this.#isMet(row, job) ? row.version : NONE, scope }
    return { version: isSeen ? row.version : undefined, scope }
  }

  /**
   * A new row has no version that a request could name.
   * @throws PreconditionFailedError
   */
  checkNew ({ preconditions }: Job): void {
    if (preconditions?.match === undefined && preconditions?.formVersion === undefined) return
    throw new PreconditionFailedError(`a new ${this.#hall.resource.singular} has no version yet that If-Match or _version could name; leave it out`)
  }

  /**
   * A new singleton may find another one there, which `If-None-Match` may forbid.
   * @throws PreconditionFailedError
   */
  checkNoneMatch (row: Stored | undefined, job: Job): void {
    if (row !== undefined && !this.#isMet(row, job)) throw new PreconditionFailedError(`there is a ${this.#hall.resource.singular} already`)
  }

  #isMet (row: RowKey, { preconditions, id }: Job): boolean {
    return preconditions === undefined || areMet(preconditions, row, !this.#hall.resource.singleton && row.id === id)
  }

  #guardAgainst (row: Stored, job: Job): Guard {
    job.checked = row
    return { version: this.#isMet(row, job) ? row.version : NONE, scope: job.subject.scope }
  }

  #lacksVersion ({ preconditions, state, action }: Job): boolean {
    return this.#hall.options.requireMatch && state.own === undefined && (action === 'update' || action === 'delete') && !namesVersion(preconditions)
  }

  #refuseWithoutVersion (job: Job): MaybePromise<never> {
    const { resource } = this.#hall
    return settle(findRow(job.subject, job.id, job), (row) => {
      // Without a store the handler alone knows whether there is a row.
      if (row !== undefined || job.subject.store === noStore) throw new MatchRequiredError(resource.singular)
      throw resource.singleton ? new NothingHereError(resource.singular) : notFound(resource, job.id)
    })
  }
}
