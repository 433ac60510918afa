import { referenceTo, type Resource } from '../../resource/resource.js'
import type { Id, Row } from '../../resource/row.js'
import type { Scalar } from '../../schema/types.js'
import { BY_ID } from '../../stores/order.js'
import { type Context, type Count, LARGEST_BATCH_SIZE, type Query, type Store } from '../../stores/store.js'
import type { CheckAccess } from '../../actions/authorize/authorize.js'
import type { AccessContext } from '../../actions/authorize/level.js'
import { canCount, collect, COUNT_OF_PAGES, iterate, type Target } from '../../actions/list.js'
import { type Nested, openNested } from './load-many.js'
import { requestFor, unlessRefused } from './relation.js'

/** The most related rows that the page of a row shows. */
const MOST_SHOWN = 10

/** A list that the request may read. */
export interface OpenedList {
  /** The request with the path parameters of the list. */
  readonly request: AccessContext['request']
  readonly target: Target
}

/** The rows of a list that belong to one row, as far as the request may list them. */
export interface OpenRelatedRows extends OpenedList {
  readonly filter: Query['filter']
}

/** A resource whose list a page of another one shows. */
export interface Listed {
  /** All its rows. */
  readonly target: Target
  /** The check of a request for its list, or `undefined` if nothing restricts access. */
  readonly checkAccess: CheckAccess | undefined
  /** The path parameters of its list. */
  readonly parameters: readonly string[]
}

/** Checks the access to a list. Returns `undefined` if the request may not read it. */
export type OpenList = (context: AccessContext) => Promise<OpenedList | undefined>

/** Compiles the check of a request for a list. */
export function compileOpenList ({ target: all, checkAccess, parameters }: Listed): OpenList {
  return (context) => {
    const request = requestFor(context, parameters)
    const access = { action: 'list', id: undefined, isCustom: false }
    return unlessRefused(async () => {
      const opened = await checkAccess?.(access, { request, get signal () { return context.signal } })
      return { request, target: opened?.target ?? all }
    })
  }
}

/** Checks the access to the rows that belong to a row, or to others. Returns `undefined` if it may not list them. */
export type OpenRelated =
  (row: Row, context: AccessContext, others?: readonly Row[]) => Promise<OpenRelatedRows | undefined>

/** A resource whose rows reference rows of another one. */
export interface Referencing extends Listed {
  /** The attributes that reference rows of the other resource: one, or those that have its key. */
  readonly attributes: readonly string[]
  /** The other resource, whose rows they reference. */
  readonly referenced: Resource
}

/** Compiles the check for rows that reference a row. It is the check of a request for their list. */
export function compileOpenReferencing (referencing: Referencing): OpenRelated {
  const { attributes, attributes: [attribute = ''], referenced } = referencing
  const open = compileOpenList(referencing)
  return async (row, context, others) => {
    const opened = await open(context)
    const all = others && [row, ...others].map((row) => referenceTo(row, referenced))
    const filter = all
      ? [{ attribute, operator: 'in', value: all } as const]
      : filterBy(row, referenced, attributes)
    return opened && { ...opened, filter }
  }
}

/** Returns the conditions that attributes reference a row: one attribute, or those that have its key. */
export function filterBy (
  row: Row,
  referenced: Pick<Resource, 'key'>,
  attributes: readonly string[]
): ReadonlyArray<{ readonly attribute: string, readonly operator: 'eq', readonly value: NonNullable<Scalar> }> {
  const { key } = referenced
  return attributes.map((attribute, index) => ({
    attribute,
    operator: 'eq',
    value: attributes.length === 1 ? referenceTo(row, referenced) : row.attributes[key[index] as string] as Id
  }))
}

/** Compiles the check for the nested rows of a row. */
export function compileOpenNested (nested: Nested): OpenRelated {
  const { level: { target }, parent, foreignKey } = nested
  return (row, context) => unlessRefused(async () => {
    const opened = await openNested(nested, row, context)
    if (opened === undefined) return undefined
    const scope = { ...opened.scope, [foreignKey]: referenceTo(row, parent.target.resource) }
    return { request: opened.request, target: { ...target, scope }, filter: [] }
  })
}

/** Reads the first rows of a list. Counts all of them only if there are more, and if the store can count. */
export async function readFirst (
  { target: { store, scope }, filter }: OpenRelatedRows,
  context: AccessContext
): Promise<{ readonly rows: readonly Row[], readonly total: Count | undefined }> {
  const query = { order: BY_ID, after: undefined, scope, filter, search: undefined }
  const { rows, hasMore } = await readSome(store, { ...query, limit: MOST_SHOWN }, context)
  if (!hasMore) return { rows, total: { rows: rows.length, isEstimate: false } }
  const total = canCount(store) ? await store.count?.({ ...query, ...COUNT_OF_PAGES }, context) : undefined
  return { rows, total }
}

/** Reads at most `limit` rows, or fewer if they are large, and whether there are more. */
export async function readSome (
  store: Store,
  { limit, ...query }: Query & { readonly limit: number },
  context: Context
): Promise<{ readonly rows: readonly Row[], readonly hasMore: boolean }> {
  // One extra row shows whether there are more.
  const source = iterate(store.list({ ...query, limit: limit + 1 }, context))
  const { rows, rest } = await collect(source, limit + 1, LARGEST_BATCH_SIZE)
  await rest?.return?.()
  return { rows: rows.slice(0, limit), hasMore: rest !== undefined || rows.length > limit }
}
