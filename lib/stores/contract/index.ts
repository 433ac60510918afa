import type { Store } from '../store.js'
import { abortChecks } from './aborts.js'
import { guardChecks, raceChecks } from './guarded-writes.js'
import { listChecks } from './lists.js'
import { needsOf, type StoreContractOptions, volumeOf } from './options.js'
import { ownershipChecks } from './ownership.js'
import { filterChecks, orderChecks, orderedFilterChecks, orderedWalkChecks, walkChecks } from './queries.js'
import { rowChecks, valueChecks } from './rows.js'
import { scopeChecks } from './scopes.js'
import { type Check, type Checks, type Requirement, Subject } from './subject.js'
import { handleChecks, uniqueChecks, uniqueHandleChecks } from './unique.js'

export { type Needs, ATTRIBUTES, UNIQUE } from './options.js'
export type { StoreContractOptions } from './options.js'

/** A part of the contract, and what shows that a store keeps to it. */
export interface Scenario {
  /** A sentence of the contract. */
  readonly name: string
  /**
   * Resolves to undefined, or to why the scenario is none for this store: a capability that it does not declare, an
   * option that is not given.
   * @throws AssertionError where the store breaks the contract, and whatever the store throws
   */
  readonly run: () => Promise<string | undefined>
}

const PARTS: ReadonlyArray<readonly [Checks, ...Requirement[]]> = [
  [rowChecks],
  [valueChecks],
  [ownershipChecks],
  [uniqueChecks, 'unique'],
  [guardChecks],
  [raceChecks],
  [scopeChecks],
  [listChecks],
  [walkChecks],
  [orderChecks, 'order'],
  [orderedWalkChecks, 'order'],
  [filterChecks, 'filter'],
  [orderedFilterChecks, 'order', 'filter'],
  [abortChecks],
  [handleChecks, 'another'],
  [uniqueHandleChecks, 'another', 'unique']
]

/**
 * The contract of a store (`Store`) in executable form, for any test runner: scenarios that do not depend on each
 * other, each of which opens a store of its own.
 *
 * ```js
 * for (const { name, run } of storeContract({ open: (needs) => myStore(needs) })) {
 *   test(name, async (t) => {
 *     const why = await run()
 *     if (why !== undefined) t.skip(why)
 *   })
 * }
 * ```
 */
export function storeContract (options: StoreContractOptions): readonly Scenario[] {
  return PARTS.flatMap(([checks, ...requirements]) => Object.entries(checks).map(([name, check]): Scenario => ({
    name,
    run: () => runCheck(check, requirements, options)
  })))
}

async function runCheck (
  check: Check,
  requirements: readonly Requirement[],
  options: StoreContractOptions
): Promise<string | undefined> {
  const opened: Store[] = []
  const needs = needsOf(options)
  const prepare = async (store: Store): Promise<Subject> => {
    opened.unshift(store)
    await store.prepare?.()
    return new Subject(store, options.id ?? store.id ?? 'integer', volumeOf(options))
  }
  try {
    const subject = await prepare(await options.open(needs))
    const why = requirements
      .map((requirement) => findObstacle(requirement, subject.store, options))
      .find((why) => why !== undefined)
    if (why !== undefined) return why
    await check(subject, async () => prepare(await (options as Another).another(subject.store, needs)))
    return undefined
  } finally {
    for (const store of opened) await options.close?.(store)
  }
}

type Another = Required<Pick<StoreContractOptions, 'another'>>

/** Why the requirement is not met; undefined: it is. */
function findObstacle (
  requirement: Requirement,
  { capabilities = {} }: Store,
  { another, unique }: StoreContractOptions
): string | undefined {
  if (requirement === 'another') return another === undefined ? 'the option another is not given' : undefined
  if (requirement === 'unique') return unique === false ? 'the option unique is false' : undefined
  return capabilities[requirement] === true ? undefined : `the store does not declare capabilities.${requirement}`
}
