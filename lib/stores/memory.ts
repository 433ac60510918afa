import { v7 as uuid } from 'uuid'
import { DuplicateError, InvalidOptionError, UnknownOptionError } from '../errors.js'
import { suggest } from '../nearest.js'
import type { Attributes, Guard, Id, Query, Scope, Store, Stored, Written } from './store.js'

export interface MemoryStoreOptions {
  /** What ids look like: `'integer'` counts from 1, `'uuid'` is a time-ordered UUID v7 (RFC 9562 §5.7). @default 'integer' */
  readonly id?: 'integer' | 'uuid'
  /** Attributes of which no two rows may have the same value; null and absence do not count. @default [] */
  readonly unique?: readonly string[]
}

/** The five methods, all answering at once. */
export interface MemoryStore extends Store {
  readonly id: 'integer' | 'uuid'
  list (query: Query): Iterable<readonly Stored[]>
  get (id: Id, scope: Scope): Stored | undefined
  create (attributes: Attributes, scope: Scope): Stored
  update (id: Id, changes: Attributes, guard: Guard): Written
  delete (id: Id, guard: Guard): Written
}

const BATCH = 512

/**
 * A store in memory: gone with the process, right in everything else. Rows are frozen and replaced, never changed,
 * so readers of a list need no copy. A list that is being read sees the writes that happen behind its position.
 * @throws InvalidOptionError, UnknownOptionError
 */
export function memoryStore (options: MemoryStoreOptions = {}): MemoryStore {
  const { id: kind = 'integer', unique = [] } = checkOptions(options)
  const rows = new Map<Id, Stored>()
  // Ids in the order they were made, which is their own order; those of deleted rows stay until `compact`.
  let ids: Id[] = []
  let lastId = 0
  const taken = new Map(unique.map((attribute) => [attribute, new Map<unknown, Id>()]))

  function find (id: Id, scope: Scope): Stored | undefined {
    const row = rows.get(id)
    return row !== undefined && isInScope(row, scope) ? row : undefined
  }

  function check (id: Id, guard: Guard): Written {
    const row = find(id, guard.scope)
    if (row === undefined) return { ok: false, why: 'missing' }
    if (guard.version !== undefined && guard.version !== row.version) return { ok: false, why: 'stale', current: row }
    return { ok: true, row }
  }

  function checkUnique (id: Id | undefined, attributes: Attributes): void {
    for (const [attribute, owners] of taken) {
      const value = attributes[attribute]
      const owner = value == null ? undefined : owners.get(keyOf(value))
      if (owner !== undefined && owner !== id) throw new DuplicateError(attribute)
    }
  }

  function keep (row: Stored, previous: Stored | undefined): Stored {
    for (const [attribute, owners] of taken) {
      const before = previous?.attributes[attribute]
      const value = row.attributes[attribute]
      if (before != null) owners.delete(keyOf(before))
      if (value != null) owners.set(keyOf(value), row.id)
    }
    rows.set(row.id, row)
    return row
  }

  function compact (): void {
    if (ids.length > 64 && ids.length > rows.size * 2) ids = ids.filter((id) => rows.has(id))
  }

  function * list ({ after, limit = Infinity, scope }: Query): Generator<readonly Stored[]> {
    let last = after
    let left = limit
    while (left > 0) {
      const batch: Stored[] = []
      // Looked up anew for each batch, since `compact` may have moved the ids.
      let position = last === undefined ? 0 : findPositionAfter(ids, last)
      const size = Math.min(BATCH, left)
      while (position < ids.length && batch.length < size) {
        last = ids[position++] as Id
        const row = find(last, scope)
        if (row !== undefined) batch.push(row)
      }
      if (batch.length === 0) return
      left -= batch.length
      yield batch
    }
  }

  return {
    id: kind,
    list,
    get: find,
    create (attributes, scope) {
      const whole = Object.freeze({ ...copy(attributes), ...copy(scope) })
      checkUnique(undefined, whole)
      const id = kind === 'uuid' ? uuid() : ++lastId
      ids.push(id)
      return keep(Object.freeze({ id, version: '1', attributes: whole }), undefined)
    },
    update (id, changes, guard) {
      const checked = check(id, guard)
      if (!checked.ok) return checked
      const previous = checked.row
      const whole = Object.freeze({ ...previous.attributes, ...copy(changes), ...copy(guard.scope) })
      checkUnique(id, whole)
      const version = String(Number(previous.version) + 1)
      return { ok: true, row: keep(Object.freeze({ id, version, attributes: whole }), previous) }
    },
    delete (id, guard) {
      const checked = check(id, guard)
      if (!checked.ok) return checked
      rows.delete(id)
      for (const [attribute, owners] of taken) owners.delete(keyOf(checked.row.attributes[attribute]))
      compact()
      return checked
    }
  }
}

function checkOptions (options: MemoryStoreOptions): MemoryStoreOptions {
  for (const key of Object.keys(options)) {
    if (key !== 'id' && key !== 'unique') throw new UnknownOptionError(key, suggest(key, ['id', 'unique']))
  }
  const { id, unique } = options
  if (id !== undefined && id !== 'integer' && id !== 'uuid') throw new InvalidOptionError('id', 'must be \'integer\' or \'uuid\'')
  if (unique !== undefined && !Array.isArray(unique)) throw new InvalidOptionError('unique', 'must be a list of attributes such as [\'title\']')
  return options
}

function isInScope ({ attributes }: Stored, scope: Scope): boolean {
  for (const name in scope) if (attributes[name] !== scope[name]) return false
  return true
}

/** Where the first id greater than `id` stands in the sorted `ids`. */
function findPositionAfter (ids: readonly Id[], id: Id): number {
  let low = 0
  let high = ids.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((ids[middle] as Id) > id) high = middle
    else low = middle + 1
  }
  return low
}

/** What equal values share and different ones do not, so that arrays and objects can be unique too. */
function keyOf (value: unknown): unknown {
  if (typeof value === 'string') return `"${value}`
  return typeof value === 'object' ? JSON.stringify(value, sortNames) : value
}

function sortNames (_name: string, value: unknown): unknown {
  return typeof value !== 'object' || value === null || Array.isArray(value) ? value : Object.fromEntries(Object.entries(value).sort())
}

/** A frozen copy, all the way down. */
function copy<T> (value: T): T {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return Object.freeze(value.map(copy)) as T
  const result: Record<string, unknown> = {}
  for (const [name, part] of Object.entries(value)) result[name] = copy(part)
  return Object.freeze(result) as T
}
