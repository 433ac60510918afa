import type { Store } from '../core/stores/store.js'
import { needsOf, type StoreContractOptions, volumeOf } from './options.js'
import { abortChecks } from './scenarios/aborts.js'
import { filterChecks, orderedFilterChecks } from './scenarios/filters.js'
import { guardChecks, raceChecks } from './scenarios/guarded-writes.js'
import { handleChecks, uniqueHandleChecks } from './scenarios/handles.js'
import { listChecks } from './scenarios/lists.js'
import { orderChecks } from './scenarios/orders.js'
import { backwardChecks, offsetChecks, orderedPageChecks, pageChecks, queryChecks } from './scenarios/pages.js'
import { countChecks, countFilterChecks, countOrderChecks, countSearchChecks } from './scenarios/queries/counts.js'
import {
  decimalChecks, decimalConditionChecks, decimalListChecks, decimalOrderChecks
} from './scenarios/queries/decimals.js'
import {
  combinedChecks, containsChecks, eqChecks, inChecks, notChecks, nullChecks, RANGES, rangeChecks, startsChecks
} from './scenarios/queries/operators.js'
import { searchChecks, searchFilterChecks } from './scenarios/queries/searches.js'
import { requestChecks } from './scenarios/requests.js'
import { ownershipChecks, rowChecks } from './scenarios/rows.js'
import { scopeChecks } from './scenarios/scopes.js'
import {
  createManyChecks, transactionChecks, uniqueCreateManyChecks, uniqueTransactionChecks
} from './scenarios/transactions.js'
import { uniqueChecks } from './scenarios/unique.js'
import { valueChecks } from './scenarios/values.js'
import { type Check, type Checks, type Requirement, Subject } from './subject.js'

export { type StoreRequirements, ATTRIBUTES, UNIQUE } from './options.js'
export type { StoreContractOptions } from './options.js'

/** One sentence of the contract, with its check. */
export interface Scenario {
  /** A sentence of the contract. */
  readonly name: string
  /**
   * Runs the check. Resolves to `undefined`, or to the reason why the scenario does not apply: an undeclared
   * capability, or a missing option.
   * @throws AssertionError if the store breaks the contract, or any error that the store throws
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
  [pageChecks],
  [orderChecks, 'order'],
  [orderedPageChecks, 'order'],
  [offsetChecks, 'offset', 'order', 'eq'],
  [backwardChecks, 'order'],
  [filterChecks, 'eq'],
  [eqChecks, 'eq'],
  [nullChecks, 'null'],
  [orderedFilterChecks, 'order', 'eq'],
  [notChecks, 'not'],
  [inChecks, 'in'],
  ...RANGES.map((operator) => [rangeChecks(operator), operator] as const),
  [containsChecks, 'contains'],
  [startsChecks, 'starts'],
  [combinedChecks, 'gte', 'lt', 'not', 'contains', 'starts'],
  [searchChecks, 'search'],
  [searchFilterChecks, 'search', 'eq'],
  [queryChecks, 'order', 'gte', 'not', 'search'],
  [decimalChecks, 'decimals'],
  [decimalOrderChecks, 'decimals', 'order'],
  ...(['eq', 'not', ...RANGES] as const).map((name) => [decimalConditionChecks(name), 'decimals', name] as const),
  [decimalListChecks, 'decimals', 'in'],
  [countChecks, 'count'],
  [countFilterChecks, 'count', 'eq', 'gte'],
  [countSearchChecks, 'count', 'search'],
  [countOrderChecks, 'count', 'order'],
  [abortChecks],
  [transactionChecks, 'transaction'],
  [uniqueTransactionChecks, 'transaction', 'unique'],
  [createManyChecks, 'transaction', 'createMany'],
  [uniqueCreateManyChecks, 'transaction', 'createMany', 'unique'],
  [requestChecks, 'requests'],
  [handleChecks, 'another'],
  [uniqueHandleChecks, 'another', 'unique']
]

/**
 * Returns the contract of a store (`Store`) as independent scenarios for any test runner. Each scenario opens a store
 * of its own.
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
    const { id = store.id ?? 'integer', versions = store.versions } = options
    return new Subject(store, id, volumeOf(options), versions !== 'values')
  }
  try {
    const subject = await prepare(await options.open(needs))
    const why = requirements.map((requirement) => findObstacle(requirement, subject.store, options))
      .find((why) => why !== undefined)
    if (why !== undefined) return why
    await check(subject, async () => prepare(await (options as Another).another(subject.store, needs)))
    return undefined
  } finally {
    for (const store of opened) await options.close?.(store)
  }
}

type Another = Required<Pick<StoreContractOptions, 'another'>>

/** Returns why the requirement is not met, or `undefined` if it is. */
function findObstacle (
  requirement: Requirement,
  { capabilities = {}, transaction, createMany, requests }: Store,
  { another, unique, decimals }: StoreContractOptions
): string | undefined {
  if (requirement === 'transaction') {
    return transaction === undefined ? 'the store has no method transaction' : undefined
  }
  if (requirement === 'createMany') {
    return createMany === undefined ? 'the store has no method createMany' : undefined
  }
  if (requirement === 'requests') return requests === undefined ? 'the store keeps no requests' : undefined
  if (requirement === 'another') return another === undefined ? 'the option another is not given' : undefined
  if (requirement === 'unique') return unique === false ? 'the option unique is false' : undefined
  if (requirement === 'decimals') return decimals === false ? 'the option decimals is false' : undefined
  if (requirement === 'order' || requirement === 'offset' || requirement === 'search' || requirement === 'count') {
    return capabilities[requirement] === true ? undefined : `the store does not declare capabilities.${requirement}`
  }
  const { filter = false } = capabilities
  if (typeof filter === 'boolean') return filter ? undefined : 'the store does not declare capabilities.filter'
  const isNamed = requirement === 'eq' || filter.includes(requirement)
  return isNamed ? undefined : `capabilities.filter of the store does not name "${requirement}"`
}
