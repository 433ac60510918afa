import { findRow } from '../../actions/find-row.js'
import type { Outcome } from '../../actions/outcome.js'
import { notFound } from '../../actions/target.js'
import { MatchRequiredError, PreconditionFailedError } from '../../errors.js'
import type { Id, Row } from '../../resource/row.js'
import type { HandlerRow } from '../../routing/handler.js'
import { noStore } from '../../stores/null-store.js'
import type { Guard } from '../../stores/store.js'
import { type MaybePromise, andThen } from '../../util/maybe-promise.js'
import type { CompiledResource } from '../compiled-resource.js'
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
export const NONE = ''

/** What a write must demand of its row: the row that `authorize` has looked at, and the preconditions of the request. */
export class WriteGuards {
  readonly #compiled: CompiledResource

  constructor (compiled: CompiledResource) {
    this.#compiled = compiled
  }

  /**
   * The guard of a default update or delete, or the rest of a handler's guard after its `proceed()`.
   * @throws MatchRequiredError, NotFoundError, NothingHereError
   */
  find (state: ActionState): MaybePromise<Guard> {
    const { guard, preconditions, authorizedRow, target: { scope } } = state
    if (guard !== undefined) return guard
    if (this.#lacksVersion(state)) return this.#refuseWithoutVersion(state)
    if (authorizedRow !== undefined) return this.#guardAgainst(authorizedRow, state)
    if (!dependsOnRow(preconditions)) return { version: undefined, scope }
    if (state.found !== undefined) return this.#guardAgainst(state.found, state)
    // Fast path: the store compares the one version that is named, in its atomic step.
    const version = soleVersion(preconditions)
    if (version !== undefined && !mayBeQualified(version, state.id as Id)) return { version, scope }
    return andThen(findRow(state.target, state.id, state), (row) =>
      row === undefined ? { version: NONE, scope } : this.#guardAgainst(row, state)
    )
  }

  /**
   * The guard of a handler of the app's own for the row that its request names, or, for a singleton, for the one row; or the
   * outcome if the preconditions do not hold.
   * @throws MatchRequiredError, NotFoundError, NothingHereError
   */
  admit (state: ActionState): MaybePromise<Guard | Outcome> {
    const { preconditions, authorizedRow, target: { scope, store } } = state
    if (this.#lacksVersion(state)) return this.#refuseWithoutVersion(state)
    if (preconditions === undefined) return { version: authorizedRow?.version, scope }
    // `If-Match: *` alone demands a row, and no version of it.
    const isChecked: boolean = dependsOnRow(preconditions)
    const { resource } = this.#compiled
    // The handler alone knows its row. A version alone does not say which row of a singleton it belongs to.
    const sole = resource.singleton ? NONE : soleVersion(preconditions) ?? NONE
    const decide = (row: Row | undefined): Guard | Outcome => {
      if (row === undefined && store === noStore) return { version: isChecked ? sole : undefined, scope }
      if (row === undefined) return this.#admitMissing(preconditions, state)
      if (!isChecked) return { version: authorizedRow?.version, scope }
      const guard = this.#guardAgainst(row, state)
      return guard.version === NONE ? { kind: 'stale', row } : guard
    }
    if (authorizedRow !== undefined || store === noStore) return decide(authorizedRow)
    return andThen(findRow(state.target, state.id, state), decide)
  }

  /** A row that is not there meets `If-None-Match`, and no other precondition (RFC 9110 §13.1.1). */
  #admitMissing ({ match, formVersion }: Preconditions, { id, target: { scope } }: ActionState): Guard {
    const { resource } = this.#compiled
    if (match === undefined && formVersion === undefined) return { version: undefined, scope }
    throw notFound(resource, id)
  }

  /**
   * The guard of a handler whose request names no row: if the request names a version, only `guardFor` lets a row through.
   * @throws PreconditionFailedError if `If-Match` or `_version` can name no row either
   */
  admitUnnamed ({ preconditions, target: { scope } }: ActionState): Guard {
    if (!dependsOnRow(preconditions)) return { version: undefined, scope }
    const { match, formVersion } = preconditions
    const isLost =
      (typeof match === 'object' && !match.some(namesRow)) || (formVersion !== undefined && !namesRow(formVersion))
    if (isLost) {
      throw new PreconditionFailedError(
        'If-Match or _version names a version without its row; send it as the ETag of this path has it, such as "7-3.xml"'
      )
    }
    return { version: NONE, scope }
  }

  /** What a write must demand of a row that a handler has found. */
  guardFor ({ id, version = NONE }: Pick<HandlerRow, 'id' | 'version'>, state: ActionState): Guard {
    const { authorizedRow, preconditions, target: { scope } } = state
    const isSeen = authorizedRow?.id === id
    const row = isSeen ? authorizedRow : { id, version }
    if (dependsOnRow(preconditions)) return { version: this.#isMet(row, state) ? row.version : NONE, scope }
    return { version: isSeen ? row.version : undefined, scope }
  }

  /**
   * A new row has no version that a request could name.
   * @throws PreconditionFailedError
   */
  checkNew ({ preconditions }: ActionState): void {
    if (preconditions?.match === undefined && preconditions?.formVersion === undefined) return
    throw new PreconditionFailedError(
      `a new ${this.#compiled.resource.singular} has no version yet that If-Match or _version could name; leave it out`
    )
  }

  /**
   * A new singleton may find another one there, which `If-None-Match` may forbid.
   * @throws PreconditionFailedError
   */
  checkNoneMatch (row: Row | undefined, state: ActionState): void {
    if (row !== undefined && !this.#isMet(row, state)) {
      throw new PreconditionFailedError(`there is a ${this.#compiled.resource.singular} already`)
    }
  }

  #isMet (row: RowKey, { preconditions, id }: ActionState): boolean {
    return (
      preconditions === undefined || areMet(preconditions, row, !this.#compiled.resource.singleton && row.id === id)
    )
  }

  #guardAgainst (row: Row, state: ActionState): Guard {
    state.checked = row
    return { version: this.#isMet(row, state) ? row.version : NONE, scope: state.target.scope }
  }

  #lacksVersion ({ preconditions, isCustom, action }: ActionState): boolean {
    return (
      this.#compiled.options.requireMatch &&
      !isCustom &&
      (action === 'update' || action === 'delete') &&
      !namesVersion(preconditions)
    )
  }

  #refuseWithoutVersion (state: ActionState): MaybePromise<never> {
    const { resource } = this.#compiled
    return andThen(findRow(state.target, state.id, state), (row) => {
      // Without a store the handler alone knows whether there is a row.
      if (row !== undefined || state.target.store === noStore) throw new MatchRequiredError(resource.singular)
      throw notFound(resource, state.id)
    })
  }
}
