import type { Test } from 'tap'
import { storeContract, type StoreContractOptions } from '../../../lib/stores/contract/index.js'
import { BRIEF } from '../helper.js'

/** Runs every scenario, none of which may find that it is none for this store. */
export function testContract (t: Test, options: StoreContractOptions): void {
  for (const { name, run } of storeContract({ ...options, ...(BRIEF && { rows: 1_500, writes: 200 }) })) t.test(name, async (t) => { t.equal(await run(), undefined) })
}
