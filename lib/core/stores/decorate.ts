import { UnavailableError } from '../errors.js'
import type { Id, Row, Scope } from '../resource/row.js'
import { isFunction } from '../util/check-option.js'
import type { MaybePromise } from '../util/maybe-promise.js'
import { type Context, type Guard, type Store, type WriteOutcome, writeWhenIdle } from './store.js'

/** Returns a store in which some members of the store below are replaced, if it has them. */
export function decorateStore (store: Store, own: Partial<Store>): Store {
  const read = (name: string | symbol): unknown => {
    const member: unknown = Reflect.get(store, name)
    if (member !== undefined && Object.hasOwn(own, name)) return Reflect.get(own, name)
    // A store may be an instance of a class with private members.
    return isFunction<() => unknown>(member) ? member.bind(store) : member
  }
  return new Proxy(own as Store, {
    get: (_target, name) => read(name),
    has: (_target, name) => name in store,
    // A handler may copy the store to replace a method: `{ ...store, list }`.
    ownKeys: () => [...new Set([...Reflect.ownKeys(store), ...Object.keys(own).filter((name) => name in store)])],
    getOwnPropertyDescriptor: (_target, name) =>
      name in store ? { value: read(name), enumerable: true, configurable: true } : undefined
  })
}

/** The most times that a write begins again, because its row has changed since it was read. */
const TRIES = 100
/** A version that no row has. */
const NO_VERSION = ''

/** A write that must find its row. */
interface GuardedWrite {
  readonly id: Id
  readonly guard: Guard
  readonly context: Context
  /** Returns whether the row is one that may be written. @default each is */
  readonly isFound?: (row: Row) => boolean
  /** A scope that no row has if the row is not one of these. @default that of the guard */
  readonly others?: Scope
}

/**
 * Reads a row, and writes only if the row still has the version that was read.
 * @param write is given the row, and a guard with its version
 */
export async function writeFound (
  store: Store,
  { id, guard, context, isFound = () => true, others = guard.scope }: GuardedWrite,
  write: (row: Row, guard: Guard) => MaybePromise<WriteOutcome>
): Promise<WriteOutcome> {
  // Nothing has this version. The store says why it writes nothing, so that it also ends a transaction.
  const refuse = (scope: Scope): Promise<WriteOutcome> =>
    writeWhenIdle(store, context, () => store.update(id, {}, { scope, version: NO_VERSION }, context))
  for (let tries = 0; tries <= TRIES; tries++) {
    const row = await store.get(id, guard.scope, context)
    if (row === undefined || !isFound(row)) return await refuse(others)
    if ((guard.version ?? row.version) !== row.version) return await refuse(guard.scope)
    const outcome = await writeWhenIdle(store, context, () => write(row, { ...guard, version: row.version }))
    const isFinal = outcome.ok || outcome.why !== 'stale' || guard.version !== undefined
    // A write that fails in a transaction dooms it.
    if (isFinal || context.openTransaction !== undefined) return outcome
  }
  throw new UnavailableError()
}
