import { type Attributes, memoryStore, type MemoryStoreOptions, type Scope, type Store } from '../../../lib/index.js'
import { resettableStore } from './resettable-store.js'

/** A call of the store: the method and the scope. */
export interface Call {
  readonly method: 'list' | 'count' | 'get' | 'create' | 'update' | 'delete'
  readonly scope: Scope
}

export interface RecordingStore extends Store {
  /** All calls since the last `forget`. */
  readonly calls: Call[]
  /** The same store without recording. */
  readonly inner: Store
  /** Runs once, right after the row has been read, like a concurrent write. */
  meanwhile: (() => unknown) | undefined
  forget (): void
  /** Puts the rows back and forgets the calls, so that one app serves many cases. */
  reset (): void
}

/** Returns a memory store that records its calls. */
export function recordingStore (rows: readonly Attributes[] = [], options: MemoryStoreOptions = {}): RecordingStore {
  const inner = resettableStore(() => {
    const store = memoryStore(options)
    for (const row of rows) store.create(row, {})
    return store
  })
  const calls: Call[] = []
  return {
    id: inner.id,
    capabilities: inner.capabilities,
    calls,
    inner,
    meanwhile: undefined,
    forget () { calls.length = 0 },
    reset () {
      inner.reset()
      calls.length = 0
      this.meanwhile = undefined
    },
    list (query) {
      calls.push({ method: 'list', scope: query.scope })
      return inner.list(query)
    },
    count (query) {
      calls.push({ method: 'count', scope: query.scope })
      return inner.count(query)
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
