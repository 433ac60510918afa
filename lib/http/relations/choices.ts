import type { AccessContext } from '../../actions/authorize/level.js'
import { compileOpenList, readSome } from '../../actions/include/first-rows.js'
import type { ChoiceRow } from '../../formats/format.js'
import { BY_ID } from '../../stores/order.js'
import { guardsMore } from '../hook-guards.js'
import type { ListedResource } from './related-lists.js'
import { type FindLinks, findTitle } from './row-links.js'

/** The rows that an attribute of a form can reference. */
export interface RowChoices {
  readonly attribute: string
  readonly list: ListChoices
  readonly findLinks: FindLinks
}

/** The rows that a form lists, or `undefined` if there are too many. */
export interface ListedChoices {
  readonly rows: readonly ChoiceRow[] | undefined
}

/** Lists the rows that a form can reference. Returns `undefined` if the request may not list them. */
export type ListChoices = (context: AccessContext) => Promise<ListedChoices | undefined>

/** The most rows that a form lists. */
const MOST_CHOICES = 50

// The root of all languages, because the names of rows can have any.
const BY_NAME = new Intl.Collator('und', { numeric: true })

/**
 * Compiles the list of the rows that a form can reference. Returns `undefined` if there is no such list, if rows have
 * no names, or if only a request of their own path can tell which ones it may list.
 */
export function compileListChoices (listed: ListedResource, from: ListedResource): ListChoices | undefined {
  const { target, resource, resourcePaths: { collection: { names: parameters } }, accessChecks, options } = listed
  const title = findTitle(listed)
  const isHandled = options.routing.handlers.has('list')
  if (title === undefined || isHandled || !resource.actions.has('list')) return undefined
  if (guardsMore(listed, from, 'list')) return undefined
  const open = compileOpenList({ target, checkAccess: accessChecks.collection, parameters })
  return async (context) => {
    const opened = await open(context)
    if (opened === undefined) return undefined
    const { store, scope } = opened.target
    const query = { order: BY_ID, after: undefined, scope, filter: [], search: undefined, limit: MOST_CHOICES }
    const { rows, hasMore } = await readSome(store, query, context)
    if (hasMore) return { rows: undefined }
    const named = rows.map((row) => ({ id: row.id, name: title(row) }))
    return { rows: named.sort((a, b) => BY_NAME.compare(a.name, b.name)) }
  }
}
