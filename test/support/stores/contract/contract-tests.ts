import type { Test } from 'tap'
import { storeContract, type StoreContractOptions } from '../../../../lib/contract/index.js'

/** The scenarios of long lists. They take half the time, and do not depend on how a table was made. */
export const LONG_LISTS = /page|batch|position|list that is left|listed once|in every order|in the reversed order|count/

/** Runs every scenario except those of `leftOut`. Fails if one is skipped for this store, unless the options say so. */
export function testContract (t: Test, options: StoreContractOptions, leftOut?: RegExp): void {
  const scenarios = storeContract({ rows: 1_500, writes: 200, ...options })
  for (const { name, run } of scenarios.filter(({ name }) => leftOut?.test(name) !== true)) t.test(name, async (t) => { t.ok([undefined, options.decimals === false ? 'the option decimals is false' : undefined].includes(await run())) })
}
