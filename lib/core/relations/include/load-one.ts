import { type Id, isId, type Row } from '../../resource/row.js'
import { parseId, referencedAttribute, referenceTo } from '../../resource/resource.js'
import { spellId } from '../../resource/row-path.js'
import { BY_ID } from '../../stores/order.js'
import { sizeOf } from '../../stores/row-size.js'
import type { Attributes } from '../../schema/types.js'
import { type AccessContext, authorize, passesChecks, resolveScope } from '../../actions/authorize/level.js'
import { notFound } from '../../actions/target.js'
import { compileRecord, fitsPath, type Included, type LoadRelation, requestFor, unlessRefused } from './relation.js'

/** A resource that attributes of others reference. */
export interface Referenced extends Included {
  /** The path parameter of its ids. */
  readonly param: string
}

/** Finds the rows that values reference, with one query. It leaves out the rows that the client may not see. */
export type FindReferenced = (values: readonly unknown[], context: AccessContext) => AsyncGenerator<Row>

/** Compiles the finding of the rows that attributes reference. */
export function compileFindReferenced ({ level, parameters, param }: Referenced): FindReferenced {
  const { resource, store } = level.target
  const attribute = referencedAttribute(resource)
  const type = attribute === 'id' ? undefined : resource.attributes.get(attribute)?.shape.only

  function list (values: readonly Id[], context: AccessContext): Promise<ReturnType<typeof store.list> | undefined> {
    return unlessRefused(async () => {
      const request = requestFor(context, parameters)
      if (!fitsPath(level, request)) return undefined
      const scope = await resolveScope(level, request)
      const filter = [{ attribute, operator: 'in', value: values }] as const
      const query = { order: BY_ID, after: undefined, limit: values.length, scope, filter, search: undefined }
      return store.list(query, context)
    })
  }

  /** Returns whether a value has the type of those that reference a row. Some databases refuse a query with another. */
  function fits (value: Id): boolean {
    if (attribute === 'id') return parseId(resource.idType, String(value)) === value
    if (type === 'integer') return parseId(type, String(value)) === value
    return type === undefined || (type === 'string') === (typeof value === 'string')
  }

  function isAllowed (row: Row, context: AccessContext): Promise<boolean | undefined> {
    return unlessRefused(async () => {
      const { id } = row
      const request = requestFor(context, parameters, { [param]: spellId(id) })
      const makeHidden = (): Error => notFound(resource, id)
      await authorize(level, request, { action: 'show', id, row: () => row, makeHidden })
      return true
    })
  }

  return async function * (values, context) {
    const fitting = [...new Set(values.filter(isId))].filter(fits)
    for await (const batch of fitting.length === 0 ? [] : await list(fitting, context) ?? []) {
      for (const row of batch) {
        if (passesChecks(level.idChecks, row.id) && await isAllowed(row, context) === true) yield row
      }
    }
  }
}

/** Compiles the loading of the rows that an attribute references. A row that the client may not see is null. */
export function compileLoadOne (find: FindReferenced, { level }: Referenced, attribute: string): LoadRelation {
  const { resource } = level.target
  const toRecord = compileRecord(resource)
  return async (rows, context, mostSize) => {
    const values = rows.map(({ attributes }) => attributes[attribute])
    const records = new Map<unknown, Attributes>()
    let size = 0
    for await (const row of find(values, context)) {
      size += sizeOf(row)
      if (size > mostSize && rows.length > 1) return undefined
      records.set(referenceTo(row, resource), toRecord(row))
    }
    return { values: values.map((value) => records.get(value) ?? null), size }
  }
}
