import type { Test } from 'tap'
import { storeContract, type StoreContractOptions } from '../../../../lib/stores/contract/index.js'
import { LONG } from '../../long.js'

/** Runs every scenario. Fails if a scenario is skipped for this store, unless the options say so. */
export function testContract (t: Test, options: StoreContractOptions): void {
  for (const { name, run } of storeContract({ ...options, ...(!LONG && { rows: 1_500, writes: 200 }) })) t.test(name, async (t) => { t.ok([undefined, options.decimals === false ? 'the option decimals is false' : undefined].includes(await run())) })
}
