// A resource has rows, each with an id, or is a singleton: one record, which its scope finds, and which has no id in
// paths, payloads and documents. What follows from that for names, paths and rows is asked here.
import { list, type ListQuery, type Target } from './actions/list.js'
import { NotFoundError, NothingHereError } from './errors.js'
import { camelize } from './resource/inflection.js'
import type { Resource } from './resource/resource.js'
import type { Id, Row } from './resource/row.js'
import { BY_ID } from './stores/order.js'
import type { Context } from './stores/store.js'
import { capitalize } from './util/words.js'

type Mode = Pick<Resource, 'singleton'>

/** Returns an id, or what belongs to ids; `undefined` for a singleton, which has none. */
export function ofId<Value> ({ singleton }: Mode, value: Value): Value | undefined {
  return singleton ? undefined : value
}

/** Returns the name of a resource: the plural, `posts`, or the singular of a singleton, `profile`. */
export function nameOf ({ singleton, singular, plural }: Pick<Resource, 'singleton' | 'singular' | 'plural'>): string {
  return singleton ? singular : plural
}

/** Returns the action that opens a resource from a link. */
export function openingAction ({ singleton }: Mode): 'list' | 'show' {
  return singleton ? 'show' : 'list'
}

/** Returns the path of a row below the path of its resource, with this parameter. */
export function rowPath ({ singleton }: Mode, members: string, param: string): string {
  return singleton ? members : `${members}/:${param}`
}

/** Returns the name of the id in nested paths: `postId`, or `postSlug` if the parameter is called `slug`. */
export function idParameter ({ singular, singleton, routing: { param } }: Mode & {
  readonly singular: string
  readonly routing: { readonly param: string }
}): string {
  return camelize(singular) + capitalize(singleton ? 'id' : param)
}

/** Returns whether the id is missing without which a request names no row. */
export function lacksId ({ singleton }: Mode, id: Id | undefined): id is undefined {
  return id === undefined && !singleton
}

/** Returns the error for a row that does not exist. */
export function notFound ({ singular, singleton }: Resource, id: unknown): Error {
  return singleton || id === undefined
    ? new NothingHereError(singular)
    : new NotFoundError(singular, JSON.stringify(id))
}

/** The query of a list for its first row. */
export const FIRST: ListQuery =
  { order: BY_ID, after: undefined, before: undefined, limit: 1, filter: [], search: undefined, count: undefined }

/** Finds the only row in a scope, or the first if there are several. */
export async function findOnlyRow (target: Target, context: Context): Promise<Row | undefined> {
  const { rows: [first] } = await list(target, FIRST, context)
  return first
}

/** Finds the row of an id within the scope, or the row of a singleton. */
export async function findRow (target: Target, id: Id | undefined, context: Context): Promise<Row | undefined> {
  const { resource, store, scope } = target
  return resource.singleton ? findOnlyRow(target, context) : store.get(id as Id, scope, context)
}
