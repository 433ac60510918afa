import { UnavailableError } from '../errors.js'
import type { Store } from '../stores/store.js'
import { isFunction } from '../util/check-option.js'
import type { Rules } from './rules.js'

/** The most times that an update begins again, because its row has changed since it was checked. */
const TRIES = 100
/** A version that no row has. */
const NO_VERSION = ''

type Ruled = Pick<Store, 'create' | 'createMany' | 'update'>

/** The members of a store that stay as they are. */
const SHARED: Readonly<Record<Exclude<keyof Store, keyof Ruled>, true>> = {
  id: true,
  attributes: true,
  key: true,
  versions: true,
  unique: true,
  onDelete: true,
  capabilities: true,
  describe: true,
  prepare: true,
  close: true,
  list: true,
  count: true,
  get: true,
  delete: true,
  transaction: true,
  requests: true,
  idle: true
}

/**
 * Returns a store that refuses rows which break the rules. An update reads its row, checks what becomes of it, and
 * writes only if the row still has the version that was checked.
 */
export function withRules (store: Store, rules: Rules): Store {
  const ruled: Ruled = {
    async create (attributes, scope, context) {
      rules.verify({ ...attributes, ...scope }, undefined)
      return await store.create(attributes, scope, context)
    },
    ...(store.createMany !== undefined && {
      async createMany (rows, scope, context) {
        for (const row of rows) rules.verify({ ...row, ...scope }, undefined)
        return await (store.createMany as NonNullable<Store['createMany']>)(rows, scope, context)
      }
    }),
    async update (id, changes, guard, context) {
      if (!rules.concern(changes)) return await store.update(id, changes, guard, context)
      for (let tries = 0; tries <= TRIES; tries++) {
        const row = await store.get(id, guard.scope, context)
        if (row === undefined || (guard.version ?? row.version) !== row.version) {
          // Nothing was checked, so that nothing may be written. The store says why.
          return await store.update(id, changes, { ...guard, version: NO_VERSION }, context)
        }
        rules.verify({ ...row.attributes, ...changes }, row.attributes)
        const outcome = await store.update(id, changes, { ...guard, version: row.version }, context)
        const isFinal = outcome.ok || outcome.why !== 'stale' || guard.version !== undefined
        // A write that fails in a transaction dooms it.
        if (isFinal || context.openTransaction !== undefined) return outcome
      }
      throw new UnavailableError()
    }
  }
  const names = (Object.keys(SHARED) as Array<keyof typeof SHARED>).filter((name) => store[name] !== undefined)
  const shared = Object.fromEntries(names.map((name) => {
    const get = (): unknown => {
      const member: unknown = store[name]
      // A store may be an instance of a class with private members.
      return isFunction<() => unknown>(member) ? member.bind(store) : member
    }
    return [name, { get, enumerable: true }]
  }))
  return Object.defineProperties(ruled, shared) as Store
}
