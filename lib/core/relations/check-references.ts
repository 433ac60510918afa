import { findRow } from '../actions/find-row.js'
import type { Outcome } from '../actions/outcome.js'
import { InvalidError, NO_SUCH_REFERENCE } from '../errors.js'
import { isId } from '../resource/row.js'
import { noStore } from '../stores/store.js'
import { andThen } from '../util/maybe-promise.js'
import { ownMember } from '../util/own-property.js'
import type { GuardedReference } from './relations.js'
import type { ActionState } from '../request/state.js'
import { isMet, lacksVersion, type PerformAction } from '../actions/default-actions.js'

/**
 * Checks first that the request may see the rows to which the supplied attributes refer. A row that is hidden is
 * answered as one that does not exist, because a reference to it would tell that it exists, and keep it from being
 * deleted.
 */
export function checkFirst (perform: PerformAction<Outcome | undefined>): PerformAction<Outcome | undefined> {
  return (state) => {
    const named = state.compiled.relations.guarded.filter(({ attribute }) =>
      isId(ownMember(state.attributes, attribute)))
    return named.length === 0 ? perform(state) : andThen(checkReferences(named, state), () => perform(state))
  }
}

/** @throws InvalidError */
async function checkReferences (named: readonly GuardedReference[], state: ActionState): Promise<void> {
  const { attributes, payload, target, id, action, customAction } = state
  const seen = await Promise.all(named.map(({ attribute, find }) => isFound(find([attributes[attribute]], state))))
  const hidden = named.filter((_, index) => seen[index] !== true).map(({ attribute }) => attribute)
  if (hidden.length === 0) return
  const isNew = target.store === noStore || (customAction === undefined ? action === 'create' : id === undefined)
  const row = isNew ? undefined : state.authorizedRow ?? state.checked ?? await findRow(target, id, state)
  // What the action answers to these requests comes first.
  if (!isNew && (row === undefined || lacksVersion(state) || !isMet(row, state))) return
  const changed = hidden.filter((name) =>
    row?.attributes[name] !== attributes[name] && payload?.isUntouched?.(name, attributes[name]) !== true)
  if (changed.length > 0) throw new InvalidError(Object.fromEntries(changed.map((name) => [name, [NO_SUCH_REFERENCE]])))
}

async function isFound (rows: AsyncGenerator<unknown>): Promise<boolean> {
  const { done } = await rows.next()
  await rows.return(undefined)
  return done !== true
}
