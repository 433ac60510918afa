import {
  BY_ID, type Guard, type Id, memoryStore, type MemoryStore, type Query, type Row, type Scope, type WriteOutcome
} from '../../../lib/index.js'

export const anywhere: Scope = {}
export const anyVersion: Guard = { version: undefined, scope: anywhere }

export function query (parts: Partial<Query> = {}): Query {
  return { order: BY_ID, after: undefined, limit: undefined, scope: anywhere, filter: [], search: undefined, ...parts }
}

export function rows (store: MemoryStore, parts: Partial<Query> = {}): Row[] {
  return [...store.list(query(parts))].flat()
}

export function ids (store: MemoryStore, parts: Partial<Query> = {}): Id[] {
  return rows(store, parts).map(({ id }) => id)
}

/** Returns a store with the rows 1 to `count`, each with its number. */
export function seeded (count: number, options: Parameters<typeof memoryStore>[0] = {}): MemoryStore {
  const store = memoryStore(options)
  for (let number = 1; number <= count; number++) store.create({ number }, anywhere)
  return store
}

export function numbers (from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index)
}

export function writtenRow (written: WriteOutcome): Row {
  if (!written.ok) throw new Error(written.why)
  return written.row
}
