import type { GeneratedIdType, IdType } from '../resource.js'
import type { MaybePromise, Store } from '../stores/store.js'
import { type Needs, ATTRIBUTES, UNIQUE } from './needs.js'

/** What `storeContract` is given. */
export interface StoreContractOptions {
  /** A new store without rows; called for each scenario. */
  open (needs: Needs): MaybePromise<Store>
  /**
   * A store with the very rows of `store`, by a connection or handle of its own. @default none: that two of them agree
   * is not checked
   */
  another? (store: Store, needs: Needs): MaybePromise<Store>
  /** Called with each store that `open` and `another` gave, at the end of its scenario, the last one first. */
  close? (store: Store): MaybePromise<void>
  /** The kind of ids that the store makes. @default the store's own `id`, or else 'integer' */
  readonly id?: IdType
  /** Whether stores can be made that have unique attributes. @default true */
  readonly unique?: boolean
  /** How many rows a long list has: some thousands, lest it be a single batch. @default 12,000 */
  readonly rows?: number
  /** How many conditional updates of one row there are. @default 10,000 */
  readonly writes?: number
  /** How many tasks there are at a time. @default 100 */
  readonly tasks?: number
  /** For how many milliseconds a call may go on whose client has gone, or before which lists were left. @default 10,000 */
  readonly patienceMs?: number
}

/** The options that say how much is done. */
export type Volume = Required<Pick<StoreContractOptions, 'rows' | 'writes' | 'tasks' | 'patienceMs'>>

export function volumeOf ({ rows = 12_000, writes = 10_000, tasks = 100, patienceMs = 10_000 }: StoreContractOptions): Volume {
  return { rows, writes, tasks, patienceMs }
}

export function needsOf ({ id = 'integer', unique = true }: StoreContractOptions): Needs {
  return { id: id as GeneratedIdType, attributes: ATTRIBUTES, unique: unique ? UNIQUE : [] }
}
