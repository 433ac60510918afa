import type { StoreRequirements } from '../../../../lib/contract/index.js'
import type { Row, Scope } from '../../../../lib/core/resource/row.js'
import type { Attributes, Scalar } from '../../../../lib/core/schema/types.js'
import type { Context, Query, Store } from '../../../../lib/core/stores/store.js'
import { copy, referenceStore, type Steps, type Table, valueOf } from './reference-store.js'

export type MakeStore = (needs: StoreRequirements, table: Table) => Store

/** A store that breaks the contract: the mistake, the store, and the scenarios that must fail. */
export type Mutant = readonly [what: string, make: Partial<Steps> | MakeStore, ...scenarios: string[]]

/** Returns the reference store with some of its methods replaced. */
export function over (replace: (store: Required<Store>, table: Table) => Partial<Store>): MakeStore {
  return (needs, table) => {
    const store = referenceStore(needs, {}, table) as Required<Store>
    return { ...store, ...replace(store, table) }
  }
}

/** Returns the reference store with steps that know its table, or that remember something. */
export const withSteps = (make: (table: Table) => Partial<Steps>): MakeStore => (needs, table) =>
  referenceStore(needs, make(table), table)

/** Keeps another value than the given one. */
export const takes = (change: (value: unknown) => unknown): Partial<Steps> => ({
  take: <T>(given: T) => Object.fromEntries(Object.entries(given as Attributes).map(([name, value]) =>
    [name, change(copy(value))])) as T
})

export const takesText = (change: (text: string) => unknown): Partial<Steps> =>
  takes((value) => typeof value === 'string' ? change(value) : value)

/** Hands out rows that are changed. */
export const answers = (change: (row: { -readonly [K in keyof Row]: Row[K] }) => void): Partial<Steps> => ({
  hand (row) {
    const changed = copy(row)
    change(changed)
    return changed
  }
})

/** Tells whether a row has the values of a scope. */
export type Has = (row: Row, values: Scope) => boolean

/** Compares each value of a scope by another rule. */
export const hasWhere = (equals: (value: Scalar, wanted: Scalar) => boolean): Has => (row, values) =>
  Object.entries(values).every(([name, wanted]) => equals(valueOf(row, name), wanted))

export const hasLoosely: Has = hasWhere((value, wanted) => String(value) === String(wanted))

/** Matches like PostgreSQL, which reads UUIDs in any case, in braces and without hyphens. */
export const readsUuid: Has = hasWhere((value, wanted) =>
  String(value).replaceAll('-', '') === String(wanted).toLowerCase().replaceAll(/[-{}]/g, ''))

export const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/

export async function rowsOf (store: Store, query: Query, context: Context): Promise<Row[]> {
  const rows: Row[] = []
  for await (const batch of store.list(query, context)) rows.push(...batch)
  return rows
}
