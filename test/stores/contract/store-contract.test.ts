import t, { type Test } from 'tap'
import { ATTRIBUTES, type Scenario, storeContract, type StoreContractOptions, UNIQUE } from '../../../lib/stores/contract/index.js'
import { memoryStore } from '../../../lib/stores/memory.js'
import type { Store } from '../../../lib/stores/store.js'
import { BRIEF } from '../../support/helper.js'
import { type MakeStore, mutants, variants } from '../../support/stores/mutant-stores.js'
import { referenceStore, type Steps, Table } from '../../support/stores/reference-store.js'

const skip = BRIEF ? 'which mistakes are found does not depend on the version of Node.js' : false

/** Enough for what the full volume shows of stores that answer as these do, and have batches of 500. */
const SMALL = { rows: 2_400, writes: 1_000, tasks: 20 }
/** So many rows that they are too many for a batch. */
const LARGE = { ...SMALL, rows: 6_000 }
/** Of a store that is wrong; one that is right has all the time that a slow machine takes. */
const IMPATIENT = { patienceMs: 300 }

/** The scenarios of stores over tables that both their handles have. */
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

for (const id of ['integer', 'uuid'] as const) {
  t.test(`a right store with ids of the kind ${id} passes`, (t) => passes(t, scenariosOf(reference, { id, ...(BRIEF && SMALL) })))

  t.test(`the memory store with ids of the kind ${id} passes`, async (t) => {
    for (const { name, run } of storeContract({ id, ...(BRIEF && SMALL), open: ({ id, unique }) => memoryStore({ id, unique }) })) {
      t.ok([undefined, 'the option another is not given'].includes(await run()), name)
    }
  })
}

for (const [what, make] of variants) {
  t.test(`a right store passes that ${what}`, (t) => passes(t, scenariosOf(making(make), SMALL)))
}

for (const [what, make, ...names] of mutants) {
  t.test(`a store is found out that ${what}`, { skip }, async (t) => {
    t.ok(names.length > 0)
    for (const name of names) {
      const volume = name === 'a long list comes in batches' ? LARGE : SMALL
      const [broken, right] = [scenariosOf(making(make), { ...volume, ...IMPATIENT }), scenariosOf(reference, volume)] as const
      await t.rejects(find(broken, name).run(), { message: /./ }, `fails: ${name}`)
      t.equal(await find(right, name).run(), undefined, `passes where the store is right: ${name}`)
    }
  })
}

t.test('scenarios that are none for a store say why', async (t) => {
  const counts = new Map<string | undefined, number>()
  const bare: MakeStore = (needs, table) => ({ ...referenceStore(needs, {}, table), capabilities: { filter: false } })
  for (const { run } of storeContract({ ...SMALL, open: (needs) => bare(needs, new Table()), unique: false })) {
    const why = await run()
    counts.set(why, (counts.get(why) ?? 0) + 1)
  }
  t.same([...counts.keys()], [
    undefined,
    'the option unique is false',
    'the store does not declare capabilities.order',
    'the store does not declare capabilities.filter',
    'the option another is not given'
  ])
})

t.test('a store without capabilities is not asked for more', async (t) => {
  const { capabilities, id, ...plain } = referenceStore({ id: 'integer', attributes: ATTRIBUTES, unique: UNIQUE })
  t.equal(await find(storeContract({ open: () => plain }), 'false comes before true').run(), 'the store does not declare capabilities.order')
})

t.test('a store is made for what it needs, prepared, and closed at the end', async (t) => {
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
  const scenario = find(scenarios, 'what is written by one handle is read by another')
  await t.rejects(scenario.run(), { code: 'ERR_ASSERTION', message: /^the row that the other handle answers\n/ })
  t.same(events, [{ id: 'uuid', attributes: ATTRIBUTES, unique: [] }, 'prepared', 'closed second', 'closed first'])
})

t.test('the kind of ids that a store declares is the one that it is held to', async (t) => {
  const open = (): Store => referenceStore({ id: 'uuid', attributes: ATTRIBUTES, unique: UNIQUE })
  const name = 'the kind of ids is the one that the store declares'
  t.equal(await find(storeContract({ open }), name).run(), undefined)
  await t.rejects(find(storeContract({ open, id: 'integer' }), name).run(), { code: 'ERR_ASSERTION' })
})

t.test('scenarios have names of their own', async (t) => {
  const names = scenariosOf(reference).map(({ name }) => name)
  t.equal(new Set(names).size, names.length)
})
