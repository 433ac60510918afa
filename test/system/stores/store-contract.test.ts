import t, { type Test } from 'tap'
import {
  ATTRIBUTES, type Scenario, storeContract, type StoreContractOptions, UNIQUE
} from '../../../lib/contract/index.js'
import type { Store } from '../../../lib/core/stores/store.js'
import type { MakeStore } from '../../support/stores/contract/altered-stores.js'
import { mutants, variants } from '../../support/stores/contract/mutant-stores.js'
import { referenceStore, type Steps, Table } from '../../support/stores/contract/reference-store.js'

/** A volume that suffices for these stores, which answer quickly and have batches of 500. */
const SMALL = { rows: 2_400, writes: 500, tasks: 20 }
/** The least volume in which stores with such batches have more than one. */
const FEW = { rows: 600, writes: 60, tasks: 10 }

/** Returns the scenarios of a store whose two handles share a table. */
function scenariosOf (make: MakeStore, options: Partial<StoreContractOptions> = {}): readonly Scenario[] {
  const tables = new WeakMap<Store, Table>()
  return storeContract({
    open (needs) {
      const table = new Table()
      const store = make(needs, table)
      tables.set(store, table)
      return store
    },
    another: (store, needs) => make(needs, tables.get(store) as Table),
    ...options
  })
}

function making (make: Partial<Steps> | MakeStore): MakeStore {
  return typeof make === 'function' ? make : (needs, table) => referenceStore(needs, make, table)
}

async function passes (t: Test, scenarios: readonly Scenario[]): Promise<void> {
  for (const { name, run } of scenarios) t.equal(await run(), undefined, name)
}

function find (scenarios: readonly Scenario[], name: string): Scenario {
  const scenario = scenarios.find((scenario) => scenario.name === name)
  if (scenario === undefined) throw new Error(`there is no scenario "${name}"`)
  return scenario
}

const reference: MakeStore = (needs, table) => referenceStore(needs, {}, table)

// What the kind of ids changes does not depend on the volume.
for (const id of ['integer', 'uuid'] as const) {
  t.test(`a correct store with ids of the kind ${id} passes`, (t) =>
    passes(t, scenariosOf(reference, { id, ...id === 'uuid' ? FEW : SMALL })))
}

for (const [what, make] of variants) {
  t.test(`a correct store passes if it ${what}`, (t) => passes(t, scenariosOf(making(make), FEW)))
}

// Wrong stores get a short patience, correct ones all the time that a slow machine needs.
for (const [what, make, ...names] of mutants) {
  t.test(`the contract detects a store that ${what}`, async (t) => {
    for (const name of names) {
      const rows = name === 'a long list comes in batches' ? 6_000 : SMALL.rows
      await t.rejects(
        find(scenariosOf(making(make), { ...SMALL, rows, patienceMs: 300 }), name).run(), { message: /./ }, name
      )
    }
  })
}

t.test('skipped scenarios give their reason', async (t) => {
  const counts = new Map<string | undefined, number>()
  const bare: MakeStore = (needs, table) => ({
    ...referenceStore(needs, {}, table), requests: undefined, capabilities: { search: false }
  })
  for (const { run } of storeContract({
    ...FEW,
    open: (needs) =>
      bare(needs, new Table()),
    unique: false,
    decimals: false
  })) {
    const why = await run()
    counts.set(why, (counts.get(why) ?? 0) + 1)
  }
  t.same([...counts.keys()], [
    undefined, 'the option unique is false', 'the store does not declare capabilities.order',
    'the store does not declare capabilities.offset', 'the store does not declare capabilities.filter',
    'the store does not declare capabilities.search', 'the option decimals is false',
    'the store does not declare capabilities.count', 'the store keeps no requests', 'the option another is not given'
  ])
})

t.test('a store that filters by some operators runs the scenarios of these and of eq', async (t) => {
  const skipped = new Set<string | undefined>()
  for (const { run } of storeContract({
    ...FEW,
    open: (needs) => ({
      ...referenceStore(needs),
      capabilities: { filter: ['gt', 'contains'], order: true, offset: true, search: true, count: true }
    })
  })) {
    skipped.add(await run())
  }
  const others = ['null', 'not', 'in', 'gte', 'lt', 'lte', 'starts'].map((operator) =>
    `capabilities.filter of the store does not name "${operator}"`)
  t.strictSame([...skipped].sort(), [undefined, 'the option another is not given', ...others].sort())
  const some = storeContract({ open: (needs) => ({ ...referenceStore(needs), capabilities: { filter: ['gt'] } }) })
  for (const name of [
    'a filter selects the rows that have its value', 'the operator gt does not select values of another type'
  ]) {
    t.equal(await find(some, name).run(), undefined, name)
  }
})

t.test('a store that declares a count must have it', async (t) => {
  const { count, ...rest } = referenceStore({ id: 'integer', attributes: ATTRIBUTES, unique: UNIQUE })
  await t.rejects(find(storeContract({
    open: () =>
      rest
  }), 'a count is the number of the rows').run(), { code: 'ERR_ASSERTION', message: /must have the method count/ })
})

t.test('a store is opened with its needs, prepared, and closed at the end', async (t) => {
  const events: unknown[] = []
  const scenarios = storeContract({
    id: 'uuid',
    unique: false,
    open (needs) {
      events.push(needs)
      return Object.assign(referenceStore(needs), { name: 'first', prepare: () => { events.push('prepared') } })
    },
    another: async (_store, needs) => Object.assign(referenceStore(needs), { name: 'second' }),
    close: async (store) => { events.push(`closed ${(store as unknown as { name: string }).name}`) }
  })
  const scenario = find(scenarios, 'a connection reads what another one has written')
  await t.rejects(scenario.run(), { code: 'ERR_ASSERTION', message: /^the row that the other connection returns\n/ })
  t.same(events, [{ id: 'uuid', attributes: ATTRIBUTES, unique: [] }, 'prepared', 'closed second', 'closed first'])
})

t.test('the contract checks the kind of ids that a store declares', async (t) => {
  const open = (): Store => referenceStore({ id: 'uuid', attributes: ATTRIBUTES, unique: UNIQUE })
  const name = 'ids have the type that the store declares'
  t.equal(await find(storeContract({ open }), name).run(), undefined)
  await t.rejects(find(storeContract({ open, id: 'integer' }), name).run(), { code: 'ERR_ASSERTION' })
})

t.test('each scenario has a unique name', async (t) => {
  const names = scenariosOf(reference).map(({ name }) => name)
  t.equal(new Set(names).size, names.length)
})
