import { type Attributes, memoryStore, type MemoryStoreOptions, type Scope, type Store } from '../../../lib/index.js'

/** What a store was asked: the method, and the scope it was given. */
export interface Call {
  readonly method: 'list' | 'get' | 'create' | 'update' | 'delete'
  readonly scope: Scope
}

export interface RecordingStore extends Store {
  /** All calls since the last `forget`. */
  readonly calls: Call[]
  /** The same store, of which no call is recorded. */
  readonly inner: Store
  /** Done once, right after the row has been read: what somebody else does meanwhile. */
  meanwhile: (() => unknown) | undefined
  forget (): void
}

/** A store in memory that remembers what it was asked. */
export function recordingStore (rows: readonly Attributes[] = [], options: MemoryStoreOptions = {}): RecordingStore {
  const inner = memoryStore(options)
  for (const row of rows) inner.create(row, {})
  const calls: Call[] = []
  return {
    id: inner.id,
    capabilities: inner.capabilities,
    calls,
    inner,
    meanwhile: undefined,
    forget () { calls.length = 0 },
    list (query) {
      calls.push({ method: 'list', scope: query.scope })
      return inner.list(query)
    },
    get (id, scope) {
      calls.push({ method: 'get', scope })
      const row = inner.get(id, scope)
      const { meanwhile } = this
      this.meanwhile = undefined
      meanwhile?.()
      return row
    },
    create (attributes, scope) {
      calls.push({ method: 'create', scope })
      return inner.create(attributes, scope)
    },
    update (id, changes, guard) {
      calls.push({ method: 'update', scope: guard.scope })
      return inner.update(id, changes, guard)
    },
    delete (id, guard) {
      calls.push({ method: 'delete', scope: guard.scope })
      return inner.delete(id, guard)
    }
  }
}
