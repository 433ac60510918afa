import { findShown } from '../actions/authorize/authorize.js'
import { findParameters, findParent } from '../actions/authorize/parents.js'
import type { Refusals, Refused } from '../actions/authorize/refused-actions.js'
import { findUnlisted, NONE_UNLISTED, type ListCheck } from '../actions/authorize/unlisted.js'
import { unlessRefused } from '../relations/include/relation.js'
import { type Outcome, OUTCOME_RESPONSES, type PulledBatch } from '../actions/outcome.js'
import { PreconditionFailedError } from '../errors.js'
import type { Row } from '../resource/row.js'
import { type MaybePromise, andThen } from '../util/maybe-promise.js'
import { findChoices, showsForm } from '../relations/form-choices.js'
import type { FindRelatedList } from '../relations/related-lists.js'
import { addLinks, type FoundLinks, type RowLinks } from '../relations/row-links.js'
import type { RequestState } from '../request/state.js'
import { NO_VERSION } from '../actions/default-actions.js'

/** The outcome of a write that has written nothing, and shows the stored row. */
export type OutcomeWithoutWrite = Outcome & { readonly kind: 'stale' | 'revised' }

/**
 * Finds the facts that the page of an outcome needs besides the row. Returns the outcome with its further rows, whose
 * links are found as they are read.
 */
export function findContent<O extends Outcome> (outcome: O, state: RequestState): MaybePromise<O> {
  const { resourcePaths: { isShallow }, refusals, relations: { lists, links, choices }, listChecks } = state.compiled
  // A browser is redirected after a write, from a shallow row to the list that the row is in.
  if (!OUTCOME_RESPONSES[outcome.kind].browser.body) {
    return isShallow ? andThen(findParents(outcome, state), () => outcome) : outcome
  }
  let found = refusals === undefined ? undefined : findRefused(outcome, state, refusals)
  found = andThen(found, () => findLists(checksOf(outcome, listChecks(), state), state))
  if (lists.length > 0) found = andThen(found, () => findRelated(outcome, state, lists))
  if (isShallow) found = andThen(found, () => findParents(outcome, state))
  const linked = andThen(found, () => links.length > 0 ? linkRows(outcome, state, links) : outcome)
  if (choices.length === 0) return linked
  return andThen(linked, (linked) =>
    showsForm(linked, state) ? andThen(findChoices(rowOf(linked), state), () => linked) : linked)
}

/**
 * Leaves out the stored row of a write that was refused, if `authorize` does not let the client see it.
 * @throws PreconditionFailedError if nothing remains to be shown
 */
export function hideUnauthorized (outcome: OutcomeWithoutWrite, state: RequestState): MaybePromise<Outcome> {
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
      `the ${singular} does not meet the If-Match, If-None-Match or _version of the request; read it again`
    )
  })
}

/** Finds the actions that `authorize` refuses, because a page does not offer them. */
function findRefused (outcome: Outcome, state: RequestState, refusals: Refusals): MaybePromise<void> {
  const { request } = state
  const keep = (refused: Refused): void => {
    state.refused = refused
  }
  if (outcome.kind === 'listed') return andThen(refusals.ofCollection(request), keep)
  if (outcome.kind !== 'found') return
  return andThen(refusals.ofRow(request, state.compiled.resource.singleton ? undefined : outcome.row.id), keep)
}

/** Finds the lists that a page must not link to. */
export function findLists (checks: readonly ListCheck[], state: RequestState): MaybePromise<void> {
  state.unlisted = NONE_UNLISTED
  if (checks.length === 0) return
  return andThen(findUnlisted(checks, state, state.parameters), (unlisted) => {
    state.unlisted = unlisted
  })
}

/** Returns the questions that the request has not passed already. */
function checksOf (outcome: Outcome, checks: readonly ListCheck[], state: RequestState): readonly ListCheck[] {
  const { compiled: { resource }, action, isCustom } = state
  const isPassed = !isCustom && (outcome.kind === 'listed' || outcome.kind === 'found')
  return checks.filter((check) => !isPassed || check.resource !== resource || check.action !== action)
}

/** Finds the lists of the rows that reference the row of a page, all of them at the same time. */
function findRelated (
  outcome: Outcome,
  state: RequestState,
  lists: readonly FindRelatedList[]
): MaybePromise<void> {
  if (outcome.kind !== 'found') return
  return Promise.all(lists.map((find) => find(outcome.row, state))).then((found) => {
    state.related = found.filter((list) => list !== undefined)
  })
}

/** Finds the links from the rows of a page to others. Those of further rows are found as these are read. */
async function linkRows<O extends Outcome> (
  outcome: O,
  state: RequestState,
  relations: readonly RowLinks[]
): Promise<O> {
  const row = rowOf(outcome)
  const rows = outcome.kind === 'listed' ? outcome.rows : row === undefined ? [] : [row]
  const links: FoundLinks = new Map()
  state.links = links
  await addLinks(relations, rows, state, links)
  if (outcome.kind !== 'listed' || outcome.more === undefined) return outcome
  const { more } = outcome
  return {
    ...outcome,
    more: {
      next: () => andThen(more.next(), async (pulled): Promise<PulledBatch> => {
        if (pulled.done !== true) await addLinks(relations, pulled.value, state, links)
        return pulled
      }),
      return: () => more.return?.()
    }
  }
}

/** Finds the parents of a shallow row, whose page leads back to the list that the row is in. */
function findParents (outcome: Outcome, state: RequestState): MaybePromise<void> {
  const row = 'row' in outcome ? outcome.row : undefined
  const parentLink = state.compiled.levels.at(-1)?.parentLink
  if (row === undefined || parentLink === undefined) return
  if (!state.route.isMember || state.choice.format.browser !== true) return
  return andThen(findParameters(row, parentLink, state.parameters, state), async (parameters) => {
    state.parameters = parameters
    const parent = rowOf(outcome) && await unlessRefused(() => findParent(row, parentLink, state))
    if (parent !== undefined) state.parents = [parent]
  })
}

/** Returns the row that the page of an outcome shows. A browser is redirected after a write. */
function rowOf (outcome: Outcome): Row | undefined {
  return ['found', 'edit', 'stale', 'revised'].includes(outcome.kind) && 'row' in outcome ? outcome.row : undefined
}
