import type { GeneratedIdType, IdType } from '../core/resource/resource.js'
import type { Schema } from '../core/schema/types.js'
import type { MaybePromise } from '../core/util/maybe-promise.js'
import type { Store } from '../core/stores/store.js'

/** The properties of a store that the suite can test. */
export interface StoreRequirements {
  /** The type of ids. A store whose ids are texts other than UUIDs ignores it. */
  readonly id: 'integer' | 'uuid'
  /** The attributes of the rows, which are `ATTRIBUTES`, without `price` if the option `decimals` is false. */
  readonly attributes: NonNullable<Store['attributes']>
  /** The unique attributes: `UNIQUE`, or none if the option `unique` is false. */
  readonly unique: ReadonlyArray<string | readonly string[]>
}

const text = { type: 'string' }

/**
 * The attributes of the rows, as JSON Schema: one of each kind, and some with the names of SQL keywords, paths and
 * members that JavaScript objects inherit. Only `title` is required.
 */
export const ATTRIBUTES: StoreRequirements['attributes'] = {
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
    price: { type: ['string', 'null'], format: 'decimal' },
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

/** Attributes, and groups of attributes, whose values are unique. */
export const UNIQUE: StoreRequirements['unique'] = ['email', ['tenant', 'code']]

/** Names that objects inherit, that SQL reserves, or that are not plain identifiers. */
export const ODD_NAMES: readonly string[] = ['order', 'select', 'first-name', 'naïve', 'a.b', 'toString', 'constructor']

/** Attributes that may come back as null if they were never given. */
export const NULLABLE: readonly string[] = Object.entries(ATTRIBUTES.properties)
  .filter(([, { type = 'null' }]: [string, { readonly type?: string | readonly string[] }]) => type.includes('null'))
  .map(([name]) => name)

/** The options of `storeContract`. */
export interface StoreContractOptions {
  /** Opens a new store without rows, for each scenario. */
  open (needs: StoreRequirements): MaybePromise<Store>
  /**
   * Opens a second store with the rows of `store`, by a connection or handle of its own. Without this option, scenarios
   * with two connections are skipped. @default none
   */
  another? (store: Store, needs: StoreRequirements): MaybePromise<Store>
  /** Closes each store of `open` and `another` at the end of its scenario, the last one first. */
  close? (store: Store): MaybePromise<void>
  /** The type of the store's ids. @default the store's own `id`, or else 'integer' */
  readonly id?: IdType
  /**
   * What gives a row a new version: each write, or only a write that changes a value of the row. The version is a
   * digest then, as with the option `version: 'values'` of the SQL stores. @default the store's own, or else 'writes'
   */
  readonly versions?: 'writes' | 'values'
  /** Whether the store supports unique attributes. @default true */
  readonly unique?: boolean
  /** Whether the store compares attributes with the format `decimal` as numbers. @default true */
  readonly decimals?: boolean
  /**
   * The number of rows of a long list. It must be some thousands, so that there are several batches. @default 12,000
   */
  readonly rows?: number
  /** The number of conditional updates of one row. @default 10,000 */
  readonly writes?: number
  /** The number of concurrent tasks. @default 100 */
  readonly tasks?: number
  /**
   * The time that a call may take after its client has disconnected, or after lists were abandoned, in milliseconds.
   * @default 10,000
   */
  readonly patienceMs?: number
}

/** The options that limit the amount of work and its time. */
export type Volume = Required<Pick<StoreContractOptions, 'rows' | 'writes' | 'tasks' | 'patienceMs'>>

export function volumeOf ({
  rows = 12_000,
  writes = 10_000,
  tasks = 100,
  patienceMs = 10_000
}: StoreContractOptions): Volume {
  return { rows, writes, tasks, patienceMs }
}

export function needsOf (
  { id = 'integer', unique = true, decimals = true }: StoreContractOptions
): StoreRequirements {
  const { price, ...others } = ATTRIBUTES.properties as Schema
  return {
    id: id as GeneratedIdType,
    attributes: decimals ? ATTRIBUTES : { ...ATTRIBUTES, properties: others },
    unique: unique ? UNIQUE : []
  }
}
