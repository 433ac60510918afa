import type { GeneratedIdType, IdType } from '../../resource/resource.js'
import type { MaybePromise } from '../../util/maybe-promise.js'
import type { Store } from '../store.js'

/** What a store is made for. What it does not have to know, its author ignores. */
export interface Needs {
  /** Of the option `id`; a store that makes other texts than UUIDs knows it by itself. */
  readonly id: 'integer' | 'uuid'
  /** `ATTRIBUTES` */
  readonly attributes: NonNullable<Store['attributes']>
  /** `UNIQUE`, or none where the option `unique` is false. */
  readonly unique: ReadonlyArray<string | readonly string[]>
}

const text = { type: 'string' }

/**
 * The attributes of the rows, as JSON Schema: one of each kind, and some that are called like words of SQL, parts of
 * paths and what every object of JavaScript inherits. All may be absent but `title`.
 */
export const ATTRIBUTES: Needs['attributes'] = {
  type: 'object',
  required: ['title'],
  additionalProperties: false,
  properties: {
    title: text,
    email: { type: ['string', 'null'] },
    tenant: text,
    code: text,
    shelf: { type: ['integer', 'null'] },
    count: { type: ['integer', 'null'] },
    ratio: { type: 'number' },
    done: { type: 'boolean' },
    at: { type: ['string', 'null'], format: 'date-time' },
    owner: { type: ['string', 'null'], format: 'uuid' },
    tags: { type: 'array', items: text },
    details: { type: 'object' },
    anything: {},
    order: text,
    select: text,
    'first-name': text,
    naïve: text,
    'a.b': text,
    toString: text,
    constructor: text
  }
}

/** Attributes, and groups of them, of which no two rows have the same values. */
export const UNIQUE: Needs['unique'] = ['email', ['tenant', 'code']]

/** Names that an object has without having been given them, that mean something to SQL, or that are not plain ASCII. */
export const ODD_NAMES: readonly string[] = ['order', 'select', 'first-name', 'naïve', 'a.b', 'toString', 'constructor']

/** Those that may come back as null where they were never given. */
export const NULLABLE: readonly string[] = Object.entries(ATTRIBUTES.properties)
  .filter(([, { type = 'null' }]: [string, { readonly type?: string | readonly string[] }]) => type.includes('null'))
  .map(([name]) => name)

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

export function volumeOf ({
  rows = 12_000,
  writes = 10_000,
  tasks = 100,
  patienceMs = 10_000
}: StoreContractOptions): Volume {
  return { rows, writes, tasks, patienceMs }
}

export function needsOf ({ id = 'integer', unique = true }: StoreContractOptions): Needs {
  return { id: id as GeneratedIdType, attributes: ATTRIBUTES, unique: unique ? UNIQUE : [] }
}
