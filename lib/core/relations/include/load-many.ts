import { type Parameters, spellId } from '../../resource/path-pattern.js'
import { parseId, referencedAttribute, referenceTo } from '../../resource/resource.js'
import { type Id, isId, type Row, type Scope } from '../../resource/row.js'
import { BY_ID, compileMatcher } from '../../stores/order.js'
import type { Attributes, Scalar } from '../../schema/types.js'
import { type Query, sizeOf } from '../../stores/store.js'
import {
  type AccessContext, authorize, type GuardedResource, type ParentLink, passesChecks, resolveScope
} from '../../actions/authorize/level.js'
import { notFound, ofId } from '../../modes.js'
import {
  compileIncludedRecord, type Included, type LoadRelation, passesConstraints, requestFor, unlessRefused
} from './relation.js'

/** The most rows of a nested resource that a row includes. A row with more has a link to their list. */
export const MOST_INCLUDED = 100

/** A resource that is nested in the one whose rows include it. */
export interface Nested extends Included {
  readonly parent: GuardedResource
  /** The attribute that references the parent. */
  readonly foreignKey: string
  /** The path parameter with the id of the parent, or `undefined` if the parent is a singleton. */
  readonly param: string | undefined
  /** Whether the rows of the parent may come from the app, which may show rows outside its own scope. */
  readonly isHandled: boolean
  /** Returns the path of the list. */
  locate (parameters: Parameters): string
}

/** A row that includes others. */
interface Including {
  /** The value of the foreign key of its nested rows. */
  readonly value: NonNullable<Scalar>
  readonly request: AccessContext['request']
  readonly scope: Scope
  /** The included rows. */
  rows: readonly Row[]
  size: number
  /** Whether there are more rows than can be included. */
  isFull: boolean
}

/** Compiles the loading of nested rows. What the list of a row would refuse, the row does not include. */
export function compileLoadMany (nested: Nested): LoadRelation {
  const loader = new Loader(nested)
  return (rows, context, mostSize) => loader.load(rows, context, mostSize)
}

class Loader {
  readonly #nested: Nested
  readonly #toRecord: ReturnType<typeof compileIncludedRecord>
  readonly #most: number

  constructor (nested: Nested) {
    const { resource } = nested.level.target
    this.#nested = nested
    this.#toRecord = compileIncludedRecord(resource)
    this.#most = resource.singleton ? 1 : MOST_INCLUDED
  }

  async load (rows: readonly Row[], context: AccessContext, mostSize: number): ReturnType<LoadRelation> {
    const { parent } = this.#nested
    const including = new Map<Id, Including>()
    const groups = new Map<string, Including[]>()
    for (const row of rows) {
      const opened = await unlessRefused(() => openNested(this.#nested, row, context))
      if (opened === undefined) continue
      const value = referenceTo(row, parent.target.resource)
      const found = { value, ...opened, rows: [], size: 0, isFull: false }
      including.set(row.id, found)
      const key = JSON.stringify(found.scope)
      groups.set(key, [...groups.get(key) ?? [], found])
    }
    for (const group of groups.values()) {
      if (!await this.#read(group, context, mostSize) && rows.length > 1) return undefined
    }
    const all = [...including.values()]
    const size = all.reduce((sum, one) => sum + one.size, 0)
    if (size > mostSize && rows.length > 1) return undefined
    const values = new Map<Id, unknown>()
    for (const [id, one] of including) values.set(id, await this.#write(one))
    return { values: rows.map(({ id }) => values.get(id)), size }
  }

  /**
   * Reads the nested rows of one scope. If one row has very many, the reading begins again after them. Returns whether
   * all of them are read; they are not if they are too large.
   */
  async #read (group: readonly Including[], context: AccessContext, mostSize: number): Promise<boolean> {
    const { level: { target: { store } }, foreignKey } = this.#nested
    const left = new Map<NonNullable<Scalar>, Including>(group.map((one) => [one.value, one]))
    let size = 0
    while (left.size > 0) {
      let last: Including | undefined
      const done = new Set<NonNullable<Scalar>>()
      for await (const batch of store.list(this.#query(group, left), context)) {
        for (const row of batch) {
          const value = row.attributes[foreignKey] as NonNullable<Scalar>
          last = left.get(value)
          if (last === undefined) continue
          done.add(value)
          size += this.#add(row, last)
          if (size > mostSize) {
            last.isFull = true
            return false
          }
        }
        if (last?.isFull === true) break
      }
      if (last?.isFull !== true) return true
      for (const value of done) left.delete(value)
    }
    return true
  }

  #query (group: readonly Including[], left: ReadonlyMap<NonNullable<Scalar>, Including>): Query {
    const { foreignKey } = this.#nested
    return {
      order: [{ by: foreignKey, descending: false }, { by: 'id', descending: false }],
      after: undefined,
      limit: undefined,
      scope: group[0]?.scope as Scope,
      filter: [{ attribute: foreignKey, operator: 'in', value: [...left.keys()] }],
      search: undefined
    }
  }

  /** Adds a nested row, and returns by how much that makes the answer larger. */
  #add (row: Row, including: Including): number {
    const { rows, size } = including
    if (including.isFull) return 0
    if (rows.length < this.#most) {
      const added = sizeOf(row)
      including.rows = [...rows, row]
      including.size += added
      return added
    }
    including.isFull = true
    // The only row is the first, if there are several.
    if (this.#most === 1) return 0
    including.rows = []
    including.size = 0
    return -size
  }

  async #write ({ request, rows, isFull }: Including): Promise<unknown> {
    const { locate, level: { target: { resource } } } = this.#nested
    if (!resource.singleton) return isFull ? { href: locate(request.params) } : rows.map(this.#toRecord)
    const [row] = rows
    if (row === undefined) return null
    const isAllowed = await unlessRefused(() => authorizeNested(this.#nested, request, 'show', row))
    return isAllowed === true ? this.#toRecord(row) : null
  }
}

/** Asks what the list of a row would ask. Returns `undefined` if the path of the list does not exist. */
export async function openNested (
  nested: Nested,
  row: Row,
  context: AccessContext
): Promise<Pick<Including, 'request' | 'scope'> | undefined> {
  const { level, parent, parameters, param, foreignKey, isHandled } = nested
  const { id } = row
  const request = requestFor(context, parameters, param === undefined ? {} : { [param]: spellId(id) })
  const { idChecks } = level.parentLink as ParentLink
  if (!passesConstraints(level, request) || !passesChecks(idChecks, id)) return undefined
  if (isHandled) {
    const scope = await resolveScope(parent, request)
    if (!compileMatcher({ scope, filter: [], search: undefined })(row)) return undefined
  }
  const { resource } = parent.target
  await authorize(parent, request, {
    action: 'show',
    id: ofId(resource, id),
    row: async () => row,
    makeHidden: () => notFound(resource, id)
  })
  const scope = await resolveScope(level, request)
  if (Object.hasOwn(scope, foreignKey) && scope[foreignKey] !== referenceTo(row, resource)) return undefined
  if (!level.target.resource.singleton) await authorizeNested(nested, request, 'list')
  return { request, scope }
}

async function authorizeNested (
  { level, level: { target: { resource } } }: Nested,
  request: AccessContext['request'],
  action: 'list' | 'show',
  row?: Row
): Promise<true> {
  const makeHidden = (): Error => notFound(resource, undefined)
  await authorize(level, request, { action, id: undefined, row: row && (async () => row), makeHidden })
  return true
}

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
      if (!passesConstraints(level, request)) return undefined
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
      await authorize(level, request, { action: 'show', id, row: async () => row, makeHidden })
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

/**
 * Compiles the loading of the rows that attributes reference. A row that the client may not see is null.
 * @param valueIn returns the value by which a row references another one
 */
export function compileLoadOne (
  find: FindReferenced,
  { level }: Referenced,
  valueIn: (row: Row) => unknown
): LoadRelation {
  const { resource } = level.target
  const toRecord = compileIncludedRecord(resource)
  return async (rows, context, mostSize) => {
    const values = rows.map(valueIn)
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
