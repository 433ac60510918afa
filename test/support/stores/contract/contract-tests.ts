import type { Test } from 'tap'
import { storeContract, type StoreContractOptions } from '../../../../lib/contract/index.js'

/** A volume that is enough for stores which read batches of some hundred rows. */
const VOLUME = { rows: 1_200, writes: 100, tasks: 30 } as const

/** The scenarios of long lists. They take half the time, and do not depend on how a table was made. */
export const LONG_LISTS = /page|batch|position|list that is left|listed once|in every order|in the reversed order|count/
/** These, and the other scenarios of queries: what is left are the values of rows, and writes to them. */
export const QUERIES = new RegExp(`${LONG_LISTS.source}|order|operator|search|filter|limit|disconnect`)

/** Why scenarios are skipped whose store creates rows one by one. */
const NOT_TOGETHER = 'the store has no method createMany'

/** Runs every scenario except those of `leftOut`. Fails if one is skipped for this store, unless the options say so. */
export function testContract (t: Test, options: StoreContractOptions, leftOut?: RegExp): void {
  // SQLite keeps no decimals, and does not tell which of the rows of a statement is which.
  const ofSqlite = ['the option decimals is false', NOT_TOGETHER]
  const reasons = [undefined, ...options.decimals === false ? ofSqlite : []]
  for (const { name, run } of storeContract({ ...VOLUME, ...options })) {
    if (leftOut?.test(name) !== true) t.test(name, async (t) => { t.ok(reasons.includes(await run())) })
  }
}
