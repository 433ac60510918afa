import { findChosen } from '../actions/chosen-rows.js'
import { findParameters, findParent, findShown } from '../actions/authorize/authorize.js'
import { findRow, ofId } from '../modes.js'
import { findUnlisted, type ListCheck, NONE_REFUSED, NONE_UNLISTED } from '../actions/authorize/refused-actions.js'
import type { Outcome } from '../actions/outcome.js'
import { canCount, COUNT_OF_PAGES, type Target } from '../actions/list.js'
import type { ListedRows, Prepared, Refused, Services, Unlisted } from '../formats/format.js'
import { hasGuards } from '../relations/hook-guards.js'
import { anchorOf } from '../relations/related-lists.js'
import { unlessRefused } from '../relations/include/relation.js'
import { findTitle } from '../relations/row-links.js'
import type { QueryParameters } from '../request/filter-query.js'
import type { RequestState } from '../request/state.js'
import { isId, type Row } from '../resource/row.js'
import type { Attributes } from '../schema/types.js'
import { BY_ID } from '../stores/order.js'

/**
 * Makes the services for the answer to a request.
 * @param outcome the outcome, or `undefined` after an error
 */
export function makeServices (state: RequestState, outcome: Outcome | undefined): Services {
  const { request, action, isCustom, payload, negotiated: { body }, compiled, hasPassedHooks } = state
  // A hook may have refused the rows.
  const sent = hasPassedHooks && body?.reader.form === true && state.importing === undefined ? payload?.rows : undefined
  const isCreation = payload?.action === 'create'
  const { relations: { links, memberLinks, choices, lists }, resource, refusals } = compiled
  return {
    request,
    get signal () { return state.signal },
    action,
    isCustom,
    form: payload?.node,
    choosing: payload?.isRevised === true && payload.rows === undefined
      ? body?.reader.choosing?.(payload.node)
      : undefined,
    openCondition: state.openCondition,
    get prefilled () { return prefilledOf(state) },
    listed: outcome?.kind === 'listed' ? openListed(state) : undefined,
    // A list does not show the members of objects.
    links: outcome?.kind === 'listed' ? links : [...links, ...memberLinks],
    choices: hasPassedHooks ? choices : [],
    lists,
    get parents () { return nameParents(state) },
    get isGuarded () { return refusals !== undefined || compiled.listChecks().length > 0 },
    async refused (about): Promise<Refused> {
      if (refusals === undefined) return NONE_REFUSED
      if (about === 'collection') return refusals.ofCollection(request)
      if (about === 'rows') return refusals.ofRows(request)
      if (about === 'nothing') return refusals.ofNothing(request)
      // A handler of the app may answer with another row, and included rows are no attributes.
      const isStored = state.call === undefined && state.included.length === 0
      return refusals.ofRow(request, ofId(resource, about.id), isStored ? about : undefined)
    },
    async unlisted (of): Promise<Unlisted> {
      // The hooks may refuse strangers, who must not learn which lists there are.
      if (!hasPassedHooks && hasGuards(compiled)) return undefined
      const checks = compiled.listChecks().filter((check) => of === 'bar' ? check.isOfBar : !isPassed(check))
      return checks.length === 0 ? NONE_UNLISTED : findUnlisted(checks, state, state.parameters)
    },
    formRow: async () => findFormRow(state),
    back: async () => hasPassedHooks
      ? findWayBack((payload?.rows?.[0]?.payload ?? payload)?.attributes, state)
      : undefined,
    importing: state.route.form === undefined ? undefined : { file: state.importing },
    newRows: isCreation ? sent?.map(({ payload }) => payload) : undefined,
    chosen: async () => sent === undefined || isCreation ? undefined : findChosen(state, sent)
  }

  /** Returns whether the request has passed a question already. */
  function isPassed (check: ListCheck): boolean {
    const isRead = !isCustom && (outcome?.kind === 'listed' || outcome?.kind === 'found')
    return isRead && check.resource === compiled.resource && check.action === action
  }
}

/** Opens all rows of the list of a request, which has been authorized. */
function openListed (state: RequestState): ListedRows | undefined {
  const { action, isCustom, route, compiled: { listQuery, options: { routing } }, request: { query } } = state
  const { store, scope } = state.attempt.target
  if (action !== 'list' || isCustom || !route.safe || routing.handlers.has('list')) return undefined
  const { after: _after, before: _before, offset: _offset, ...parameters } = query
  const parse = async ({ sort: _sort, limit: _limit, count: _count, ...conditions }: QueryParameters) => {
    const { filter, search } = await listQuery.parse(conditions, state)
    return { order: BY_ID, after: undefined, scope, filter, search }
  }
  return {
    parameters,
    async read (limit) {
      const batches = store.list({ ...await parse(parameters), limit }, state)
      return (async function * () {
        for await (const rows of batches) {
          state.signal.throwIfAborted()
          yield rows
        }
      })()
    },
    async count (other) {
      if (!canCount(store)) return undefined
      state.signal.throwIfAborted()
      return (await store.count?.({ ...await parse(other), ...COUNT_OF_PAGES }, state))?.rows
    }
  }
}

/** Lets the writer prepare an answer, and sets the headers that it has for this answer alone. */
export async function prepareAnswer (outcome: Outcome, state: RequestState): Promise<Prepared | undefined> {
  const { reply, choice: { format: { writer } } } = state
  const prepared = await writer.prepare?.(outcome, makeServices(state, outcome))
  if (prepared?.headers !== undefined) reply.headers(prepared.headers).removeHeader('etag')
  return prepared
}

/** Returns the values with which a form for a new row begins. */
export function prefilledOf (state: RequestState): Attributes {
  const { action, isCustom, compiled: { prefill }, request, attempt: { target } } = state
  return action === 'list' && !isCustom ? prefill.readFilter(request.query, target.scope) : state.prefilled
}

async function findFormRow (state: RequestState): Promise<Row | undefined> {
  const { payload, compiled: { target }, checkAccess } = state
  // A hook may have refused the row.
  if (payload === undefined || !state.hasPassedHooks || payload.action === 'create') return undefined
  const { id } = payload
  const find = async (target: Target): Promise<Row | undefined> => findRow(target, id, state)
  return checkAccess === undefined ? find(target).catch(() => undefined) : findShown(checkAccess, id, state, find)
}

/** Returns the names of the rows above a page, from the nearest to the outermost, as far as they are known. */
function nameParents (state: RequestState): string[] {
  const names: string[] = []
  let { parent } = state.compiled
  for (const row of state.attempt.parents.toReversed()) {
    const title = parent && findTitle(parent.variants?.of(state.request) ?? parent)
    if (title === undefined) break
    names.push(title(row, state))
    parent = parent?.parent
  }
  return names
}

/** Finds the parents of a shallow row. Its page leads back to the list that the row is in, and so does a redirect. */
export async function findParents (outcome: Outcome, state: RequestState): Promise<void> {
  const row = 'row' in outcome ? outcome.row : undefined
  const { compiled: { levels }, route, choice: { format } } = state
  const parentLink = levels.at(-1)?.parentLink
  if (row === undefined || parentLink === undefined || !route.isMember || format.browser !== true) return
  state.parameters = await findParameters(row, parentLink, state.parameters, state)
  if (!['found', 'edit', 'stale', 'revised'].includes(outcome.kind)) return
  const parent = await unlessRefused(async () => findParent(row, parentLink, state))
  if (parent !== undefined) state.attempt.parents = [parent]
}

/**
 * Finds the list on the page of the row on which the form stood, as far as the request may see that row.
 * @param attributes those of the row that the form is about
 */
export async function findWayBack (
  attributes: Attributes | undefined,
  state: RequestState
): Promise<string | undefined> {
  const { payload, compiled: { relations, findLocation, level, resource }, parameters } = state
  const name = payload?.back
  if (name === undefined || attributes === undefined) return undefined
  const value = attributes[name]
  const link = relations.links.find(({ attribute }) => attribute === name)
  let page = name === level.foreignKey ? findLocation(parameters, attributes).parent?.path : undefined
  if (link !== undefined && isId(value)) {
    for await (const [, { href = page }] of link.find([value], state)) page = href
  }
  return page && `${page}#${anchorOf(resource, name)}`
}
