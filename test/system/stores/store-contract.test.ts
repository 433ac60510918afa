import t from 'tap'
import {
  ATTRIBUTES, type Scenario, storeContract, type StoreRequirements, UNIQUE
} from '../../../lib/contract/index.js'
import { equalTo } from '../../../lib/contract/scenarios/filters.js'
import { InvalidError, UnavailableError, UnknownOutcomeError } from '../../../lib/core/errors.js'
import { memoryStore, type Store, type WriteOutcome } from '../../../lib/index.js'
import { mutants, type Whole } from '../../support/stores/contract/mutants.js'

/** The least volume in which a list of the memory store has several batches. */
const FEW = { rows: 1_200, writes: 60, tasks: 10 }

const open = ({ id, unique }: Pick<StoreRequirements, 'id' | 'unique'> = { id: 'integer', unique: UNIQUE }): Whole =>
  memoryStore({ id, unique }) as Store as Whole

/** Returns the scenarios of a store whose second handle is the same store again. */
function scenariosOf (replace: (store: Whole) => Partial<Store>, options = {}): readonly Scenario[] {
  const make = (store: Whole): Store => ({ ...store, ...replace(store) })
  const whole = new WeakMap<Store, Whole>()
  return storeContract({
    ...FEW,
    open (needs) {
      const inner = open(needs)
      const store = make(inner)
      whole.set(store, inner)
      return store
    },
    another: (store) => make(whole.get(store) as Whole),
    ...options
  })
}

function find (scenarios: readonly Scenario[], name: string): Scenario {
  const scenario = scenarios.find((scenario) => scenario.name === name)
  if (scenario === undefined) throw new Error(`there is no scenario "${name}"`)
  return scenario
}

/** Stores that keep the contract, each in its own way. */
const VARIANTS: ReadonlyArray<readonly [string, (store: Whole) => Partial<Store>]> = [
  ['is plain', () => ({})],
  ['is there when it is prepared', (store) => {
    let isPrepared = false
    return {
      prepare: () => { isPrepared = true },
      create: async (...given) => {
        if (!isPrepared) throw new Error('not prepared')
        return store.create(...given)
      }
    }
  }],
  ['loses the answer when a client has gone', (store) => ({
    async create (attributes, scope, context) {
      const row = await store.create(attributes, scope, context)
      if (context.signal.aborted) throw new UnknownOutcomeError()
      return row
    }
  })],
  ['refuses texts that it cannot keep', (store) => ({
    create: async (attributes, ...given) => {
      if (/\0|\p{Surrogate}/u.test(String(attributes.title))) throw new InvalidError({ title: ['no'] })
      return store.create(attributes, ...given)
    },
    update: async (id, changes, ...given) => {
      if (/\0|\p{Surrogate}/u.test(String(changes.title))) throw new InvalidError({ title: ['no'] })
      return store.update(id, changes, ...given)
    }
  })],
  ['has small batches, some of them empty', (store) => ({
    async * list (...given) {
      for await (const batch of store.list(...given)) {
        yield []
        yield batch.slice(0, 40)
        yield batch.slice(40)
      }
    }
  })]
]

for (const [what, replace] of VARIANTS) {
  t.test(`a correct store passes if it ${what}`, async (t) => {
    for (const { name, run } of scenariosOf(replace)) {
      if (!/one of several rows|created together/.test(name)) t.equal(await run(), undefined, name)
    }
  })
}

// Wrong stores get a short patience, correct ones all the time that a slow machine needs.
for (const [what, replace, ...names] of mutants) {
  t.test(`the contract detects a store that ${what}`, async (t) => {
    for (const name of names) {
      const scenario = find(scenariosOf(replace, { rows: 6_000, patienceMs: 300 }), name)
      await t.rejects(scenario.run(), { message: /./ }, name)
    }
  })
}

const NO_CREATE_MANY = 'the store has no method createMany'

t.test('skipped scenarios give their reason', async (t) => {
  const counts = new Map<string | undefined, number>()
  const open = (): Store => {
    const { transaction: _, requests: __, ...store } = memoryStore()
    return { ...store, capabilities: { search: false } }
  }
  for (const { run } of storeContract({ ...FEW, open, unique: false, decimals: false })) {
    const why = await run()
    counts.set(why, (counts.get(why) ?? 0) + 1)
  }
  t.same([...counts.keys()], [
    undefined, 'the option unique is false', 'the store does not declare capabilities.order',
    'the store does not declare capabilities.offset', 'the store does not declare capabilities.filter',
    'the store does not declare capabilities.search', 'the option decimals is false',
    'the store does not declare capabilities.count', 'the store has no method transaction',
    'the store keeps no requests', 'the option another is not given'
  ])
})

t.test('a store that filters by some operators runs the scenarios of these and of eq', async (t) => {
  const skipped = new Set<string | undefined>()
  for (const { run } of storeContract({
    ...FEW,
    open: (needs) => ({
      ...open(needs),
      capabilities: { filter: ['gt', 'contains'], order: true, offset: true, search: true, count: true }
    })
  })) {
    skipped.add(await run())
  }
  const others = ['null', 'not', 'in', 'gte', 'lt', 'lte', 'starts'].map((operator) =>
    `capabilities.filter of the store does not name "${operator}"`)
  t.strictSame([...skipped].sort(), [undefined, 'the option another is not given', NO_CREATE_MANY, ...others].sort())
  const some = storeContract({ open: (needs) => ({ ...open(needs), capabilities: { filter: ['gt'] } }) })
  for (const name of [
    'a filter selects the rows that have its value', 'the operator gt does not select values of another type'
  ]) {
    t.equal(await find(some, name).run(), undefined, name)
  }
})

t.test('a store may ignore its scope in a change, be busy at first, and fail if the client has gone', async (t) => {
  let isBusy = true
  const scenarios = scenariosOf((store) => ({
    id: undefined,
    async create (...given) {
      if (isBusy) {
        isBusy = false
        throw new UnavailableError()
      }
      return store.create(...given)
    },
    async update (id, { tenant, ...changes }, guard, context) {
      context.signal.throwIfAborted()
      return store.update(id, changes, guard, context)
    }
  } as Partial<Store>))
  for (const name of [
    'an update moves no row out of its scope or into it',
    'when the client disconnects, an update that returns has happened, and one that fails has not'
  ]) t.equal(await find(scenarios, name).run(), undefined, name)
  t.strictSame(equalTo({ a: null, b: 1 }),
    [{ attribute: 'a', operator: 'null', value: true }, { attribute: 'b', operator: 'eq', value: 1 }])
})

t.test('a store that hands out dates, or breaks its word in a transaction, is refused', async (t) => {
  const dates = scenariosOf((store) => ({
    get: async (...given) => {
      const row = await store.get(...given)
      return row && { ...row, attributes: { ...row.attributes, title: new Date(0) } }
    }
  }))
  await t.rejects(find(dates, 'an update moves no row out of its scope or into it').run(), { code: 'ERR_ASSERTION' })
  const lax = scenariosOf((store) => ({
    create: async (attributes, ...given) => {
      if (/\0|\p{Surrogate}/u.test(String(attributes.title))) throw new InvalidError({ title: ['no'] })
      return store.create(attributes, ...given)
    }
  }))
  const down = scenariosOf((store) => ({
    async transaction (...given) {
      await store.transaction(...given)
      throw new Error('down')
    }
  }))
  for (const name of [
    'calls in a transaction see its writes, and others do not before its end',
    'two transactions that overlap both end, and keep their updates or throw UnavailableError'
  ]) await t.rejects(find(down, name).run(), { message: 'down' }, name)
  const lost = scenariosOf(() => ({ get: async () => { throw new Error('lost') } }))
  await t.rejects(find(lost, 'a function for after the commit runs after a commit alone').run(), { message: 'lost' })
  const odd = scenariosOf((store) => ({
    update: async (...given) => given[3].openTransaction === undefined ? store.update(...given) : {} as WriteOutcome
  }))
  const dooms = 'a write that is refused throws in a transaction, and dooms it even if that is caught'
  await t.rejects(find(odd, dooms).run(), { code: 'ERR_ASSERTION' })
  const alone = scenariosOf((store) => ({
    update: async (id, changes, guard, { openTransaction: _, ...context }) => store.update(id, changes, guard, context)
  }))
  await t.rejects(find(alone, 'the context of a transaction in another database is an error').run(),
    { code: 'ERR_ASSERTION' })
  await t.rejects(find(lax, 'a text that a store cannot keep is refused as invalid, and nothing is written').run(),
    { code: 'ERR_ASSERTION' })
})

t.test('a store that declares a count must have it', async (t) => {
  const { count, ...rest } = open()
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
      return { ...open(needs), name: 'first', prepare: () => { events.push('prepared') } } as Store
    },
    another: async (_store, needs) => ({ ...open(needs), name: 'second' }) as Store,
    close: async (store) => { events.push(`closed ${(store as unknown as { name: string }).name}`) }
  })
  const scenario = find(scenarios, 'a connection reads what another one has written')
  await t.rejects(scenario.run(), { code: 'ERR_ASSERTION', message: /^the row that the other connection returns\n/ })
  t.same(events, [{ id: 'uuid', attributes: ATTRIBUTES, unique: [] }, 'prepared', 'closed second', 'closed first'])
})

t.test('the contract checks the kind of ids that a store declares', async (t) => {
  const openUuids = (): Store => open({ id: 'uuid', unique: UNIQUE })
  const name = 'ids have the type that the store declares'
  t.equal(await find(storeContract({ open: openUuids }), name).run(), undefined)
  await t.rejects(find(storeContract({ open: openUuids, id: 'integer' }), name).run(), { code: 'ERR_ASSERTION' })
})

t.test('each scenario has a unique name', async (t) => {
  const names = scenariosOf(() => ({})).map(({ name }) => name)
  t.equal(new Set(names).size, names.length)
})
