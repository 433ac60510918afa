import { ForbiddenError, TooManyRowsError } from '../errors.js'
import { canFind } from '../relations/relations.js'
import { unlessRefused } from '../relations/include/relation.js'
import { checkQuery } from '../request/negotiate.js'
import type { RowPayload } from '../request/payload.js'
import { collectRows, limitRows } from '../request/rows.js'
import type { RequestState } from '../request/state.js'
import type { Id, Row } from '../resource/row.js'
import { BY_ID } from '../stores/order.js'
import type { Query } from '../stores/store.js'
import { canCount, type Target } from './list.js'
import type { Chosen } from './outcome.js'

/**
 * Finds the rows that a form has chosen, as far as the request may show them. Rows that `authorize` was not shown are
 * read together.
 * @throws ForbiddenError, NotFoundError if the request may not list the rows
 */
export async function findChosen (state: RequestState, given: readonly RowPayload[]): Promise<Chosen> {
  const { checkAccess, compiled, compiled: { resource } } = state
  // Without a list, a client that may only write must not read the names of rows.
  if (!resource.actions.has('list')) throw new ForbiddenError('list', resource.plural)
  const listed = await checkAccess?.({ action: 'list', id: undefined, isCustom: false }, state)
  if (listed !== undefined) state.attempt = { ...listed }
  const target = listed?.target ?? compiled.target
  const { payload: { list, isOfAll = false, isRevised = false } = {} } = state
  if (isOfAll) return chooseAll(list, target, state)
  const found = new Map<Id, Row | undefined>()
  const unread: Id[] = []
  for (const id of new Set(given.flatMap(({ payload }) => payload?.id ?? []))) {
    if (compiled.isId?.(id) === false) continue
    const isShown = checkAccess === undefined
      ? { hasLooked: false, authorizedRow: undefined }
      : await unlessRefused(() => checkAccess({ action: 'show', id, isCustom: false }, state))
    if (isShown?.hasLooked === false) unread.push(id)
    else found.set(id, isShown?.authorizedRow)
  }
  for (const row of await readRows(unread, target, state)) found.set(row.id, row)
  const sent = given.find(({ payload }) => payload?.node !== undefined)?.payload
  return {
    rows: given.map(({ payload: { id, version } = {} }) =>
      ({ id, version, row: id === undefined ? undefined : found.get(id) })),
    node: sent?.node,
    attributes: sent?.attributes ?? {},
    list,
    all: isRevised && list !== undefined ? await countAll(list, target, state) : undefined
  }
}

/**
 * Reads the conditions of the list in which rows are chosen.
 * @throws InvalidQueryError if the list would refuse them, because all rows would be chosen without them
 */
async function readConditions (
  list: string | undefined,
  state: RequestState
): Promise<Pick<Query, 'filter' | 'search'>> {
  const { listQuery } = state.compiled
  const query = Object.fromEntries(new URLSearchParams(list))
  checkQuery(query, [...listQuery.parameters, 'include'])
  const { filter, search } = await listQuery.parse(query, state)
  return { filter, search }
}

/**
 * Chooses all rows of a list. The page of the next step has their ids, so that no list is read again to write them.
 * @throws TooManyRowsError, InvalidQueryError, ForbiddenError
 */
async function chooseAll (list: string | undefined, target: Target, state: RequestState): Promise<Chosen> {
  const { options: { maxRows, routing: { handlers } }, resource: { plural } } = state.compiled
  // A handler of the app lists other rows.
  if (handlers.has('list')) throw new ForbiddenError('list', plural)
  const query = {
    order: BY_ID, after: undefined, limit: maxRows + 1, scope: target.scope, ...await readConditions(list, state)
  }
  const rows = await collectRows(target.store.list(query, state), limitRows('filter the list first'))
  if (rows.length > maxRows) throw new TooManyRowsError(`the list has more than ${maxRows} rows; filter it first`)
  return { rows: rows.map((row) => ({ id: row.id, version: undefined, row })), node: undefined, attributes: {}, list }
}

/** Counts all rows of a list, if they are not too many to be chosen, and no handler of the app lists others. */
async function countAll (list: string, { store, scope }: Target, state: RequestState): Promise<number | undefined> {
  const { maxRows, routing: { handlers } } = state.compiled.options
  if (!canCount(store) || handlers.has('list')) return undefined
  const query = { order: BY_ID, after: undefined, scope, most: maxRows + 1, estimate: false }
  const counted = await store.count?.({ ...query, ...await readConditions(list, state) }, state)
  return counted === undefined || counted.rows > maxRows ? undefined : counted.rows
}

/** Reads rows by one query if the store can, else one by one. */
async function readRows (ids: readonly Id[], { store, scope }: Target, state: RequestState): Promise<readonly Row[]> {
  if (ids.length === 0) return []
  if (!canFind(store)) {
    const rows = await Promise.all(ids.map(async (id) => store.get(id, scope, state)))
    return rows.filter((row) => row !== undefined)
  }
  const filter = [{ attribute: 'id', operator: 'in', value: ids }] as const
  const query = { order: BY_ID, after: undefined, limit: ids.length, scope, filter, search: undefined }
  return collectRows(store.list(query, state), limitRows('choose fewer'))
}
