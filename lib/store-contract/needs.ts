import type { Store } from '../stores/store.js'

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
