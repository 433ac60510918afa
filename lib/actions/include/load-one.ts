import { type Id, isId, type Row } from '../../resource/row.js'
import { parseId } from '../../resource/resource.js'
import { BY_ID } from '../../stores/order.js'
import { sizeOf } from '../../stores/row-size.js'
import type { Attributes } from '../../schema/types.js'
import { type AccessContext, authorize, passesChecks, resolveScope } from '../authorize/level.js'
import { notFound } from '../target.js'
import { compileRecord, fitsPath, type Included, type LoadRelation, requestFor, unlessRefused } from './relation.js'

/** A resource whose ids attributes have. */
export interface Referenced extends Included {
  /** The path parameter of its ids. */
  readonly param: string
}

/** Finds rows by their ids, with one query. It leaves out the rows that the client may not see. */
export type FindReferenced = (ids: readonly unknown[], context: AccessContext) => AsyncGenerator<Row>

/** Compiles the finding of the rows that attributes name. */
export function compileFindReferenced ({ level, parameters, param }: Referenced): FindReferenced {
  const { resource, store } = level.target

  function list (ids: readonly Id[], context: AccessContext): Promise<ReturnType<typeof store.list> | undefined> {
    return unlessRefused(async () => {
      const request = requestFor(context, parameters)
      if (!fitsPath(level, request)) return undefined
      const scope = await resolveScope(level, request)
      const filter = [{ attribute: 'id', operator: 'in', value: ids }] as const
      const query = { order: BY_ID, after: undefined, limit: ids.length, scope, filter, search: undefined }
      return store.list(query, context)
    })
  }

  /** Returns whether an id has the type of the ids, without which some databases refuse a query. */
  function isIdOf (id: Id): boolean {
    return parseId(resource.idType, String(id)) === id
  }

  function isAllowed (row: Row, context: AccessContext): Promise<boolean | undefined> {
    return unlessRefused(async () => {
      const { id } = row
      const request = requestFor(context, parameters, { [param]: String(id) })
      const makeHidden = (): Error => notFound(resource, id)
      await authorize(level, request, { action: 'show', id, row: () => row, makeHidden })
      return true
    })
  }

  return async function * (values, context) {
    const ids = [...new Set(values.filter(isId))].filter((id) => isIdOf(id) && passesChecks(level.idChecks, id))
    for await (const batch of ids.length === 0 ? [] : await list(ids, context) ?? []) {
      for (const row of batch) if (await isAllowed(row, context) === true) yield row
    }
  }
}

/** Compiles the loading of the rows that an attribute names. A row that the client may not see is null. */
export function compileLoadOne (find: FindReferenced, { level }: Referenced, attribute: string): LoadRelation {
  const toRecord = compileRecord(level.target.resource)
  return async (rows, context, mostSize) => {
    const named = rows.map(({ attributes }) => attributes[attribute])
    const records = new Map<unknown, Attributes>()
    let size = 0
    for await (const row of find(named, context)) {
      size += sizeOf(row)
      if (size > mostSize && rows.length > 1) return undefined
      records.set(row.id, toRecord(row))
    }
    return { values: named.map((id) => records.get(id) ?? null), size }
  }
}
