import { InvalidOptionError } from '../../errors.js'
import type { IdType } from '../../resource/resource.js'
import type { Schema } from '../../schema/types.js'
import { memoryStore } from '../../stores/memory/store.js'
import { noStore } from '../../stores/null-store.js'
import type { OnDelete, Store, Stores } from '../../stores/store.js'
import { checkUnique, type UniqueGroups } from '../../stores/unique.js'
import { checkEach, checkObject, checkOneOf, checkThat, show } from '../../util/check-option.js'
import { findMember, isObject } from '../../util/own-property.js'
import type { ResourceOptions } from '../options.js'
import type { Routing } from './routing.js'

const METHODS = ['list', 'get', 'create', 'update', 'delete'] as const satisfies ReadonlyArray<keyof Store>

/** Returns the actions that need a store, because no handler of the app replaces them. */
function actionsOfStore ({ actions, handlers }: Routing): readonly string[] {
  return [...actions].filter((action) => !handlers.has(action === 'edit' ? 'show' : action) && action !== 'new')
}

/** Makes a memory store, or returns `noStore` if handlers of the app replace all actions that need a store. */
function makeStore ({ id, unique }: StoreNeeds & { readonly id: IdType }, routing: Routing): Store {
  const left = actionsOfStore(routing)
  if (left.length === 0) return noStore
  if (id === 'string') {
    throw new InvalidOptionError(
      'id',
      'is \'string\', but the memory store makes no such ids; give a "store" that does, or handlers of your own for ' +
        left.join(', ')
    )
  }
  return memoryStore({ id, unique })
}

/** What a store of the plugin must be able to do. */
interface StoreNeeds {
  readonly id: unknown
  readonly unique: UniqueGroups
}

export function resolveStore (option: string, store: unknown, { id, unique }: StoreNeeds, routing: Routing): Store {
  if (store === undefined) return makeStore({ id: checkIdType('id', id), unique }, routing)
  const missing = METHODS.filter((method) => typeof findMember(store, method) !== 'function')
  if (missing.length > 0) {
    throw new InvalidOptionError(option, `must have the methods of a store; missing: ${missing.join(', ')}`)
  }
  // The parameters of a method cannot be checked.
  return store as Store
}

/** Returns whether a resource takes its store from `stores`. */
export function needsStore ({ store, stores }: ResourceOptions, routing: Routing): boolean {
  return store === undefined && stores !== undefined && actionsOfStore(routing).length > 0
}

export function checkStores (option: string, stores: unknown): Stores {
  const hasOpen = (value: unknown): value is Stores => typeof findMember(value, 'open') === 'function'
  return checkThat(option, stores, hasOpen, "stores of one database, such as sqliteStores({ file: 'blog.sqlite' })")
}

export function checkTable (option: string, table: unknown): string {
  const isName = (value: unknown): value is string => typeof value === 'string' && value !== ''
  return checkThat(option, table, isName, "the name of a table such as 'posts'")
}

export function resolveUnique (_option: string, unique: unknown): UniqueGroups {
  checkUnique(unique)
  return unique
}

export function checkOnDelete (option: string, rule: unknown): OnDelete | undefined {
  return rule === undefined ? undefined : checkOneOf<OnDelete>(option, rule, ['restrict', 'cascade', 'set null'])
}

export function checkScopeAttributes (option: string, given: unknown): Readonly<Record<string, Schema>> {
  const schemas = checkObject(option, given, "schemas by attribute such as { tenant: { type: 'string' } }")
  return Object.fromEntries(checkEach(schemas, (name, schema) => {
    if (isObject(schema)) return schema
    throw new InvalidOptionError(option, `has "${name}", which must be a JSON Schema, not ${show(schema)}`)
  }))
}

/** Throws `InvalidOptionError` if there is an option about a table, but no `stores` that have it. */
export function checkTableOptions ({ store, ...options }: ResourceOptions): void {
  const tableOptions = store === undefined ? ['table', 'onDelete'] as const : ['table', 'onDelete', 'unique'] as const
  const other = tableOptions.find((name) => options[name] !== undefined)
  if (other === undefined) return
  throw new InvalidOptionError(other, store === undefined
    ? 'is about a table of the option "stores", which this resource does not have'
    : 'is about a table of the option "stores", but this resource has a "store"; give it to the store itself')
}

export function checkIdType (option: string, id: unknown = 'integer'): IdType {
  return checkOneOf(option, id, ['integer', 'uuid', 'string'])
}
