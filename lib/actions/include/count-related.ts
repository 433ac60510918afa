import type { Id } from '../../resource/row.js'
import { BY_ID } from '../../stores/order.js'
import type { Count } from '../../stores/store.js'
import type { MaybePromise } from '../../util/maybe-promise.js'
import type { CheckAccess } from '../authorize/authorize.js'
import type { AccessContext } from '../authorize/level.js'
import type { Target } from '../target.js'
import { COUNT_OF_PAGES } from '../total.js'
import { requestFor, unlessRefused } from './relation.js'

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
  /** Whether its rows may be counted. */
  readonly isCounted: boolean
}

/** What a request may know about the rows that reference a row. */
export interface RelatedCount {
  /** Their number, at most that of `COUNT_OF_PAGES`; `undefined` if they are not counted. */
  readonly total: Count | undefined
}

/** Counts the rows that reference a row. Returns `undefined` if the request may not list them. */
export type CountRelated = (id: Id, context: AccessContext) => Promise<RelatedCount | undefined>

/** Compiles the counting. It checks the access as a request for the list would, and counts within the same scope. */
export function compileCountRelated (referencing: Referencing): CountRelated {
  const { target, checkAccess, parameters, attribute, isCounted } = referencing

  /** Returns the rows that the request may list, or `undefined` if it may not list any. */
  async function open (context: AccessContext): Promise<Target | undefined> {
    if (checkAccess === undefined) return target
    const request = requestFor(context, parameters)
    const access = { action: 'list', id: undefined, isCustom: false }
    return unlessRefused(async () =>
      (await checkAccess(access, { request, get signal () { return context.signal } })).target)
  }

  return async (id, context) => {
    const opened = await open(context)
    if (opened === undefined || !isCounted) return opened && { total: undefined }
    const { store, scope } = opened
    const filter = [{ attribute, operator: 'eq', value: id }] as const
    const query = { order: BY_ID, after: undefined, scope, filter, search: undefined, ...COUNT_OF_PAGES }
    // Only a store that counts has `isCounted`.
    return { total: await (store.count?.(query, context) as MaybePromise<Count>) }
  }
}
