import type { Id, Row } from '../resource/row.js'
import { BY_ID } from '../stores/order.js'
import type { Context } from '../stores/store.js'
import { list, type ListQuery } from './list.js'
import type { Target } from './target.js'

const FIRST: ListQuery =
  { order: BY_ID, after: undefined, before: undefined, limit: 1, filter: [], search: undefined, count: undefined }

/** Finds the row of a singleton: the only one in its scope, or the first if there are several. */
export async function findSingleton (target: Target, context: Context): Promise<Row | undefined> {
  const { rows: [first] } = await list(target, FIRST, context)
  return first
}

/** Finds the row of an id within the scope, or the row of a singleton, which needs no id. */
export async function findRow (target: Target, id: Id | undefined, context: Context): Promise<Row | undefined> {
  const { resource, store, scope } = target
  return resource.singleton ? findSingleton(target, context) : store.get(id as Id, scope, context)
}
