import type { Row } from '../../resource/row.js'
import { BY_ID } from '../../stores/order.js'
import { LARGEST_BATCH_SIZE } from '../../stores/row-size.js'
import type { Count, Query } from '../../stores/store.js'
import type { CheckAccess } from '../authorize/authorize.js'
import type { AccessContext } from '../authorize/level.js'
import { canCount } from '../list.js'
import { collect, iterate } from '../sources.js'
import type { Target } from '../target.js'
import { COUNT_OF_PAGES } from '../total.js'
import { type Nested, openNested } from './load-many.js'
import { requestFor, unlessRefused } from './relation.js'

/** The most related rows that the page of a row shows. */
const MOST_SHOWN = 10

/** The rows of a list that belong to one row, as far as the request may list them. */
export interface RelatedRows {
  /** The request with the path parameters of the list. */
  readonly request: AccessContext['request']
  readonly target: Target
  readonly filter: Query['filter']
}

/** Checks the access to the rows that belong to a row. Returns `undefined` if the request may not list them. */
export type OpenRelated = (row: Row, context: AccessContext) => Promise<RelatedRows | undefined>

/** A resource whose rows reference rows of another one. */
export interface Referencing {
  /** All its rows. */
  readonly target: Target
  /** The check of a request for its list, or `undefined` if nothing restricts access. */
  readonly checkAccess: CheckAccess | undefined
  /** The path parameters of its list. */
  readonly parameters: readonly string[]
  /** The attribute that has the ids. */
  readonly attribute: string
}

/** Compiles the check for rows that reference a row. It is the check of a request for their list. */
export function compileOpenReferencing (referencing: Referencing): OpenRelated {
  const { target: all, checkAccess, parameters, attribute } = referencing
  return ({ id }, context) => {
    const request = requestFor(context, parameters)
    const filter = [{ attribute, operator: 'eq', value: id }] as const
    const access = { action: 'list', id: undefined, isCustom: false }
    return unlessRefused(async () => {
      const opened = await checkAccess?.(access, { request, get signal () { return context.signal } })
      return { request, target: opened?.target ?? all, filter }
    })
  }
}

/** Compiles the check for the nested rows of a row. */
export function compileOpenNested (nested: Nested): OpenRelated {
  const { level: { target }, foreignKey } = nested
  return (row, context) => unlessRefused(async () => {
    const opened = await openNested(nested, row, context)
    if (opened === undefined) return undefined
    const scope = { ...opened.scope, [foreignKey]: row.id }
    return { request: opened.request, target: { ...target, scope }, filter: [] }
  })
}

/** Reads the first rows of a list. Counts all of them only if there are more, and if the store can count. */
export async function readFirst (
  { target: { store, scope }, filter }: RelatedRows,
  context: AccessContext
): Promise<{ readonly rows: readonly Row[], readonly total: Count | undefined }> {
  const query = { order: BY_ID, after: undefined, scope, filter, search: undefined }
  const limit = MOST_SHOWN + 1
  const { rows, rest } = await collect(iterate(store.list({ ...query, limit }, context)), limit, LARGEST_BATCH_SIZE)
  await rest?.return?.()
  if (rest === undefined && rows.length <= MOST_SHOWN) return { rows, total: { rows: rows.length, isEstimate: false } }
  const total = canCount(store) ? await store.count?.({ ...query, ...COUNT_OF_PAGES }, context) : undefined
  return { rows: rows.slice(0, MOST_SHOWN), total }
}
