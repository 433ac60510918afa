import { type Id, isId, type Row } from '../../resource/row.js'
import { BY_ID } from '../../stores/order.js'
import { sizeOf } from '../../stores/row-size.js'
import type { Attributes } from '../../schema/types.js'
import { type AccessContext, authorize, passesChecks, resolveScope } from '../authorize/level.js'
import { notFound } from '../target.js'
import { compileRecord, fitsPath, type Included, type LoadRelation, requestFor, unlessRefused } from './relation.js'

/** A resource whose ids an attribute has. */
export interface Referenced extends Included {
  readonly attribute: string
  /** The path parameter of its ids. */
  readonly param: string
}

/** Compiles the loading of the rows that an attribute names. A row that the client may not see is null. */
export function compileLoadOne (referenced: Referenced): LoadRelation {
  const { level, parameters, attribute, param } = referenced
  const { resource, store } = level.target
  const toRecord = compileRecord(resource)

  function find (context: AccessContext, ids: readonly Id[]): Promise<AsyncIterable<Row> | undefined> {
    return unlessRefused(async () => {
      const request = requestFor(context, parameters)
      if (!fitsPath(level, request)) return undefined
      const scope = await resolveScope(level, request)
      const filter = [{ attribute: 'id', operator: 'in', value: ids }] as const
      return readRows(store.list(
        { order: BY_ID, after: undefined, limit: ids.length, scope, filter, search: undefined },
        context
      ))
    })
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

  return async (rows, context, mostSize) => {
    const named = rows.map(({ attributes }) => attributes[attribute])
    const ids = [...new Set(named.filter(isId))].filter((id) => passesChecks(level.idChecks, id))
    const records = new Map<unknown, Attributes>()
    let size = 0
    for await (const row of ids.length === 0 ? [] : await find(context, ids) ?? []) {
      size += sizeOf(row)
      if (size > mostSize && rows.length > 1) return undefined
      if (await isAllowed(row, context) === true) records.set(row.id, toRecord(row))
    }
    return { values: named.map((id) => records.get(id) ?? null), size }
  }
}

async function * readRows (batches: Iterable<readonly Row[]> | AsyncIterable<readonly Row[]>): AsyncGenerator<Row> {
  for await (const batch of batches) yield * batch
}
