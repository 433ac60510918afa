import v8 from 'node:v8'
import vm from 'node:vm'
import t, { type Test } from 'tap'
import { equalTo } from '../../lib/contract/scenarios/filters.js'
import { type Attributes, BY_ID, comparePositions, DuplicateError, type Guard, type Id, memoryStore, type MemoryStore, type Order, positionOf, type Query, type Scalar, type Scope, type Row, type WriteOutcome } from '../../lib/index.js'

const anywhere: Scope = {}
const anyVersion: Guard = { version: undefined, scope: anywhere }

function versioned (version: string, scope: Scope = anywhere): Guard {
  return { version, scope }
}

function query (parts: Partial<Query> = {}): Query {
  return { order: BY_ID, after: undefined, limit: undefined, scope: anywhere, filter: [], search: undefined, ...parts }
}

function rows (store: MemoryStore, parts: Partial<Query> = {}): Row[] {
  return [...store.list(query(parts))].flat()
}

function ids (store: MemoryStore, parts: Partial<Query> = {}): Id[] {
  return rows(store, parts).map(({ id }) => id)
}

/** Returns a store with the rows 1 to `count`, each with its number. */
function seeded (count: number, options: Parameters<typeof memoryStore>[0] = {}): MemoryStore {
  const store = memoryStore(options)
  for (let number = 1; number <= count; number++) store.create({ number }, anywhere)
  return store
}

/** Returns the order of `by('-rating', 'id')`. */
function by (...names: string[]): Order {
  return names.map((name) => ({ by: name.replace('-', ''), descending: name.startsWith('-') }))
}

function numbers (from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index)
}

function writtenRow (written: WriteOutcome): Row {
  if (!written.ok) throw new Error(written.why)
  return written.row
}

/** @param named the attribute that the error is about, and another one that it names after a space */
function isDuplicate (t: Test, write: () => unknown, named: string, label = `a second ${named}`): void {
  const [attribute = '', other] = named.split(' ')
  try {
    write()
    t.fail(`${label} is accepted`)
  } catch (error) {
    t.ok(error instanceof DuplicateError, label)
    const message = other === undefined ? 'is already taken' : `is already taken together with ${other}`
    t.strictSame([(error as DuplicateError).errors, (error as DuplicateError).message], [{ [attribute]: [message] }, `${attribute} ${message}`], label)
    t.equal((error as DuplicateError).statusCode, 409)
  }
}

t.test('a stored text that is no decimal comes after the decimals', t => {
  const compare = (a: Scalar, b: Scalar): number => Math.sign(comparePositions([{ by: 'price', descending: false, type: 'decimal' }], [a], [b]))
  const sorted = [null, '-1.5', '9', '10.0', '1 €', 'ten']
  for (const [index, a] of sorted.entries()) {
    for (const [other, b] of sorted.entries()) t.equal(compare(a, b), Math.sign(index - other), `${a} and ${b}`)
  }
  t.end()
})

t.test('a created row can be read, changed and deleted', t => {
  const store = memoryStore()
  t.strictSame(store.create({ title: 'T', body: 'B' }, anywhere), { id: 1, version: '1', attributes: { title: 'T', body: 'B' } })
  t.strictSame(store.create({}, anywhere), { id: 2, version: '1', attributes: {} })
  t.strictSame(store.get(1, anywhere), { id: 1, version: '1', attributes: { title: 'T', body: 'B' } })
  const changed = { id: 1, version: '2', attributes: { title: 'U', body: 'B', rating: null } }
  t.strictSame(store.update(1, { title: 'U', rating: null }, anyVersion), { ok: true, row: changed }, 'only the named attributes change')
  t.strictSame(store.get(1, anywhere), changed)
  t.strictSame(store.update(1, {}, anyVersion), { ok: true, row: { ...changed, version: '3' } }, 'the version changes with each write')
  t.strictSame(store.delete(1, anyVersion), { ok: true, row: { ...changed, version: '3' } }, 'a deletion returns the deleted row')
  t.equal(store.get(1, anywhere), undefined)
  t.strictSame(ids(store), [2])
  t.end()
})

t.test('each method returns synchronously', t => {
  const store = seeded(1)
  for (const answer of [store.get(1, anywhere), store.create({}, anywhere), store.update(1, {}, anyVersion), store.delete(1, anyVersion), store.list(query())]) {
    t.notOk(answer instanceof Promise)
    t.not(typeof (answer as { then?: unknown }).then, 'function')
  }
  t.type(store.list(query())[Symbol.iterator], 'function')
  t.end()
})

t.test('each store has its own rows and unique values', t => {
  const [one, other] = [seeded(2, { unique: ['number'] }), seeded(1, { unique: ['number'] })]
  one.update(1, { number: 9 }, anyVersion)
  t.strictSame([ids(one), ids(other)], [[1, 2], [1]])
  t.strictSame(other.create({ number: 9 }, anywhere).id, 2)
  t.end()
})

t.test('a store declares the kind of its ids', t => {
  t.strictSame([memoryStore().id, memoryStore({}).id, memoryStore({ id: 'integer' }).id, memoryStore({ id: 'uuid' }).id], ['integer', 'integer', 'integer', 'uuid'])
  t.end()
})

t.test('an unknown id is missing', t => {
  const store = seeded(3)
  store.delete(2, anyVersion)
  for (const id of [2, 0, -1, 4, 1.5, NaN, '1', '', 'constructor', '__proto__']) {
    t.equal(store.get(id, anywhere), undefined, String(id))
    t.strictSame(store.update(id, { number: 9 }, anyVersion), { ok: false, why: 'missing' })
    t.strictSame(store.update(id, { number: 9 }, versioned('1')), { ok: false, why: 'missing' })
    t.strictSame(store.delete(id, anyVersion), { ok: false, why: 'missing' })
    t.strictSame(store.delete(id, versioned('1')), { ok: false, why: 'missing' })
  }
  t.strictSame(rows(store).map(({ attributes }) => attributes.number), [1, 3])
  t.end()
})

t.test('the guard of a write is checked', async t => {
  await t.test('a row can be written under its current version', async t => {
    const store = seeded(1)
    t.strictSame(store.update(1, { number: 2 }, versioned('1')), { ok: true, row: { id: 1, version: '2', attributes: { number: 2 } } })
    t.strictSame(store.delete(1, versioned('2')), { ok: true, row: { id: 1, version: '2', attributes: { number: 2 } } })
  })

  await t.test('another version is stale, returns the current row and changes nothing', async t => {
    const store = seeded(1)
    store.update(1, { number: 2 }, anyVersion)
    const current = { id: 1, version: '2', attributes: { number: 2 } }
    for (const version of ['1', '3', '', '02', '2.0', ' 2', 'x']) {
      t.strictSame(store.update(1, { number: 9 }, versioned(version)), { ok: false, why: 'stale', current }, JSON.stringify(version))
      t.strictSame(store.delete(1, versioned(version)), { ok: false, why: 'stale', current }, JSON.stringify(version))
      t.strictSame(rows(store), [current])
    }
  })

  await t.test('of many writes that name one version exactly one succeeds', async t => {
    const store = seeded(1)
    const written = await Promise.all(numbers(1, 20).map(async (number) => store.update(1, { number }, versioned('1'))))
    t.strictSame(written.map(({ ok }) => ok), [true, ...Array<boolean>(19).fill(false)])
    t.strictSame(rows(store), [{ id: 1, version: '2', attributes: { number: 1 } }])
  })

  await t.test('a stale version is reported before a duplicate', async t => {
    const store = seeded(2, { unique: ['number'] })
    t.match(store.update(1, { number: 2 }, versioned('7')), { ok: false, why: 'stale' })
  })

  await t.test('a version is never used again', async t => {
    const store = seeded(1)
    const versions = numbers(1, 50).map((number) => writtenRow(store.update(1, { number: number % 2 }, anyVersion)).version)
    t.equal(new Set(['1', ...versions]).size, 51)
    for (const version of versions) t.match(version, /^[\w-]+$/)
  })
})

t.test('a scope is a set of values that every row must have', async t => {
  function tenants (): MemoryStore {
    const store = memoryStore()
    store.create({ title: 'one' }, { tenant: 'a' })
    store.create({ title: 'two' }, { tenant: 'b' })
    store.create({ title: 'three', post: 7 }, { tenant: 'a' })
    store.create({ title: 'four' }, anywhere)
    return store
  }
  const a = { tenant: 'a' }
  const b = { tenant: 'b' }

  await t.test('create sets the values of the scope and ignores others', async t => {
    const store = memoryStore()
    t.strictSame(store.create({ title: 'T' }, { tenant: 'a', post: 7 }).attributes, { title: 'T', tenant: 'a', post: 7 })
    t.strictSame(store.create({ title: 'T', tenant: 'b' }, a).attributes, { title: 'T', tenant: 'a' })
    t.strictSame(store.get(2, a)?.attributes, { title: 'T', tenant: 'a' })
    t.equal(store.get(2, b), undefined)
  })

  await t.test('get finds only rows of the scope', async t => {
    const store = tenants()
    t.equal(store.get(1, a)?.attributes.title, 'one')
    t.equal(store.get(1, b), undefined)
    t.equal(store.get(4, a), undefined, 'a row without the attribute is outside the scope')
    t.equal(store.get(3, { tenant: 'a', post: 7 })?.attributes.title, 'three')
    t.equal(store.get(1, { tenant: 'a', post: 7 }), undefined, 'every value counts')
    t.equal(store.get(3, { tenant: 'a', post: '7' }), undefined, 'the type of a value counts')
  })

  await t.test('list returns only rows of the scope', async t => {
    const store = tenants()
    t.strictSame(ids(store), [1, 2, 3, 4])
    t.strictSame(ids(store, { scope: a }), [1, 3])
    t.strictSame(ids(store, { scope: b }), [2])
    t.strictSame(ids(store, { scope: { tenant: 'c' } }), [])
    t.strictSame(ids(store, { scope: a, limit: 1 }), [1])
    t.strictSame(ids(store, { scope: a, after: [1] }), [3])
    t.strictSame(ids(store, { scope: a, after: [2], limit: 5 }), [3], 'a position may be that of a row outside the scope')
  })

  await t.test('a limit counts the rows of the scope', async t => {
    const store = memoryStore()
    for (const number of numbers(1, 3000)) store.create({ number }, number % 1000 === 0 ? a : b)
    t.strictSame(ids(store, { scope: a, limit: 2 }), [1000, 2000])
    t.strictSame(ids(store, { scope: a }), [1000, 2000, 3000])
    t.equal(ids(store, { scope: b, limit: 1500 }).length, 1500)
  })

  await t.test('update and delete touch only rows of the scope', async t => {
    const store = tenants()
    const before = rows(store)
    for (const guard of [{ version: undefined, scope: b }, versioned('1', b), versioned('9', b)]) {
      t.strictSame(store.update(1, { title: 'stolen' }, guard), { ok: false, why: 'missing' }, 'a row outside the scope is missing, not stale, so that nothing is revealed')
      t.strictSame(store.delete(1, guard), { ok: false, why: 'missing' })
    }
    t.strictSame(rows(store), before)
    t.strictSame(writtenRow(store.update(1, { title: 'mine' }, { version: undefined, scope: a })).attributes, { title: 'mine', tenant: 'a' })
    t.match(store.update(1, { title: 'mine' }, versioned('1', a)), { ok: false, why: 'stale', current: { attributes: { title: 'mine' } } })
    t.match(store.delete(1, versioned('2', a)), { ok: true })
    t.strictSame(ids(store, { scope: a }), [3])
  })

  await t.test('an update cannot move a row out of its scope', async t => {
    const store = tenants()
    t.throws(() => store.update(1, { tenant: 'b' }, { version: undefined, scope: a }), { code: 'FST_RESOURCES_SCOPE_CHANGE' })
    t.strictSame(writtenRow(store.update(1, { tenant: 'a' }, { version: undefined, scope: a })).attributes, { title: 'one', tenant: 'a' })
    t.strictSame([ids(store, { scope: a }), ids(store, { scope: b })], [[1, 3], [2]])
  })

  await t.test('an update without a scope can change the values of a scope', async t => {
    const store = tenants()
    store.update(1, { tenant: 'b' }, anyVersion)
    t.strictSame([ids(store, { scope: a }), ids(store, { scope: b })], [[3], [1, 2]])
  })
})

t.test('only the store can change its rows', async t => {
  const make = (): { author: { name: string, roles: string[] }, tags: string[][], title: string } => ({ title: 'T', tags: [['a'], ['b']], author: { name: 'N', roles: ['editor'] } })
  const whole = { id: 1, version: '1', attributes: make() }

  function isFrozen (value: unknown): boolean {
    return typeof value !== 'object' || value === null || (Object.isFrozen(value) && Object.values(value).every(isFrozen))
  }

  await t.test('a caller may change the object that it passed to create', async t => {
    const freezes: [name: string, freeze: (attributes: ReturnType<typeof make>) => ReturnType<typeof make>][] = [
      ['an object as it is', (attributes) => attributes],
      ['an object that is frozen, what is in it not', (attributes) => Object.freeze(attributes)],
      ['an object in which only an inner one is frozen', (attributes) => { Object.freeze(attributes.author); return attributes }]
    ]
    for (const [name, freeze] of freezes) {
      const store = memoryStore()
      const attributes = freeze(make())
      const created = store.create(attributes, anywhere)
      t.equal(Object.isFrozen(attributes.tags[0]), false, 'the store does not freeze the caller\'s objects')
      attributes.tags[0]?.push('changed')
      attributes.tags.pop()
      attributes.author.roles[0] = 'changed'
      if (!Object.isFrozen(attributes.author)) attributes.author.name = 'changed'
      if (!Object.isFrozen(attributes)) attributes.title = 'changed'
      t.strictSame(created, whole, name)
      t.strictSame(store.get(1, anywhere), whole, name)
    }
  })

  await t.test('a caller may change the object that it passed to update', async t => {
    for (const freeze of [<T>(value: T): T => value, <T>(value: T): T => Object.freeze(value)]) {
      const store = seeded(1)
      const changes = freeze(make())
      store.update(1, changes, anyVersion)
      changes.tags[0]?.push('changed')
      changes.author.name = 'changed'
      t.strictSame(store.get(1, anywhere), { id: 1, version: '2', attributes: { number: 1, ...make() } })
    }
  })

  await t.test('a caller may change the scope that it passed', async t => {
    const store = memoryStore()
    const scope = { tenant: 'a' }
    store.create({}, scope)
    scope.tenant = 'b'
    t.strictSame(store.get(1, anywhere)?.attributes, { tenant: 'a' })
    const guard = { version: undefined, scope: { tenant: 'a' } }
    store.update(1, {}, guard)
    guard.scope.tenant = 'b'
    t.equal(store.get(1, anywhere)?.attributes.tenant, 'a')
  })

  await t.test('rows that the store returns are frozen', async t => {
    const store = memoryStore()
    const answers: unknown[] = [store.create(make(), anywhere), store.get(1, anywhere), rows(store)[0], store.update(1, { title: 'U', more: [{ deep: [1] }] }, anyVersion), store.update(1, {}, versioned('9')), store.get(1, anywhere)]
    for (const answer of answers) {
      const row = (answer as { row?: Row, current?: Row }).row ?? (answer as { current?: Row }).current ?? answer as Row
      t.ok(isFrozen(row))
      t.throws(() => { (row.attributes as { title: string }).title = 'changed' }, TypeError)
      t.throws(() => { (row.attributes.tags as string[][])[0]?.push('changed') }, TypeError)
    }
    const deleted = store.delete(1, anyVersion)
    t.ok(isFrozen(writtenRow(deleted)))
  })

  await t.test('a row that was read keeps its values', async t => {
    const store = memoryStore()
    store.create(make(), anywhere)
    const before = store.get(1, anywhere)
    const [listed] = rows(store)
    store.update(1, { title: 'U' }, anyVersion)
    store.delete(1, anyVersion)
    t.strictSame([before, listed], [whole, whole])
  })

  await t.test('a batch is not the store\'s own array', async t => {
    const store = seeded(3)
    for (const batch of store.list(query())) (batch as Row[]).length = 0
    t.strictSame(ids(store), [1, 2, 3])
  })
})

t.test('only one row may have a value of a unique attribute', async t => {
  const different: unknown[] = ['a', 'A', '', ' ', '1', 1, 0, 'true', true, false, 'null', 'undefined', '[1]', [1], ['1'], [1, 2], [[1], 2], [1, [2]], [], '{}', {}, { a: 1 }, { a: '1' }, { a: 1, b: 2 }, { a: { b: 1 } }, '{"a":1}', '"a"', ['a'], 'constructor', '__proto__']

  await t.test('different values do not collide', async t => {
    const store = memoryStore({ unique: ['key'] })
    for (const key of different) store.create({ key }, anywhere)
    t.equal(ids(store).length, different.length)
    for (const key of different) isDuplicate(t, () => store.create({ key: structuredClone(key) }, anywhere), 'key', JSON.stringify(key))
    t.equal(ids(store).length, different.length, 'nothing was written')
  })

  await t.test('null and absent values do not collide', async t => {
    const store = memoryStore({ unique: ['key'] })
    for (const attributes of [{ key: null }, {}, { key: null }, {}, { key: undefined }, { key: undefined }]) store.create(attributes, anywhere)
    store.update(1, { key: 'a' }, anyVersion)
    store.update(1, { key: null }, anyVersion)
    store.update(2, { key: null }, anyVersion)
    store.delete(3, anyVersion)
    store.delete(4, anyVersion)
    t.equal(store.create({ key: 'a' }, anywhere).id, 7)
    isDuplicate(t, () => store.create({ key: 'a' }, anywhere), 'key')
  })

  await t.test('an update to a taken value throws and leaves the row unchanged', async t => {
    const store = memoryStore({ unique: ['key'] })
    store.create({ key: 'a', title: 'A' }, anywhere)
    store.create({ key: 'b', title: 'B' }, anywhere)
    isDuplicate(t, () => store.update(2, { key: 'a', title: 'changed' }, anyVersion), 'key')
    t.strictSame(store.get(2, anywhere), { id: 2, version: '1', attributes: { key: 'b', title: 'B' } })
    isDuplicate(t, () => store.create({ key: 'b' }, anywhere), 'key', 'it still has its own')
  })

  await t.test('a row may be updated with its own value', async t => {
    for (const key of ['a', 1, [1], { a: 1 }]) {
      const store = memoryStore({ unique: ['key'] })
      store.create({ key }, anywhere)
      t.match(store.update(1, { key: structuredClone(key), title: 'T' }, anyVersion), { ok: true })
      t.match(store.update(1, { title: 'U' }, anyVersion), { ok: true })
      isDuplicate(t, () => store.create({ key }, anywhere), 'key')
    }
  })

  await t.test('an update frees the old value and takes the new one', async t => {
    for (const [before, after] of [['a', 'b'], [[1], [2]], [{ a: 1 }, { a: 2 }], ['1', 1]] as const) {
      const store = memoryStore({ unique: ['key'] })
      store.create({ key: before }, anywhere)
      store.update(1, { key: after }, anyVersion)
      isDuplicate(t, () => store.create({ key: after }, anywhere), 'key')
      t.strictSame(store.create({ key: before }, anywhere).id, 2)
    }
  })

  await t.test('a deletion frees the value', async t => {
    for (const key of ['a', 1, true, [1], { a: 1 }]) {
      const store = memoryStore({ unique: ['key'] })
      store.create({ key }, anywhere)
      store.delete(1, anyVersion)
      t.strictSame(store.create({ key }, anywhere).id, 2)
      isDuplicate(t, () => store.create({ key }, anywhere), 'key')
    }
  })

  await t.test('a missing or stale write takes and frees nothing', async t => {
    const store = memoryStore({ unique: ['key'] })
    store.create({ key: 'a' }, anywhere)
    store.update(1, { key: 'b' }, versioned('9'))
    store.update(2, { key: 'b' }, anyVersion)
    store.delete(1, versioned('9'))
    store.delete(1, { version: undefined, scope: { tenant: 'x' } })
    isDuplicate(t, () => store.create({ key: 'a' }, anywhere), 'key')
    t.equal(store.create({ key: 'b' }, anywhere).id, 2)
  })

  await t.test('each of several unique attributes is checked by itself', async t => {
    const store = memoryStore({ unique: ['slug', 'mail'] })
    store.create({ slug: 'a', mail: 'a' }, anywhere)
    store.create({ slug: 'b', mail: 'b' }, anywhere)
    isDuplicate(t, () => store.create({ slug: 'c', mail: 'a' }, anywhere), 'mail')
    isDuplicate(t, () => store.create({ slug: 'a', mail: 'c' }, anywhere), 'slug')
    isDuplicate(t, () => store.update(2, { slug: 'c', mail: 'a' }, anyVersion), 'mail')
    t.equal(store.create({ slug: 'c', mail: 'c' }, anywhere).id, 3, 'a refused write has taken nothing')
    isDuplicate(t, () => store.create({ slug: 'b' }, anywhere), 'slug')
  })

  await t.test('the values of a scope are checked as well', async t => {
    const store = memoryStore({ unique: ['tenant'] })
    store.create({}, { tenant: 'a' })
    isDuplicate(t, () => store.create({ tenant: 'b' }, { tenant: 'a' }), 'tenant')
    t.equal(store.create({ tenant: 'a' }, { tenant: 'b' }).id, 2)
  })

  await t.test('without the option unique no value collides', async t => {
    const store = memoryStore()
    for (const number of numbers(1, 3)) t.equal(store.create({ key: 'a' }, anywhere).id, number)
  })

  await t.test('the order of its keys does not make an object different', async t => {
    const store = memoryStore({ unique: ['key'] })
    store.create({ key: { a: 1, b: [{ c: 1, d: 2 }] } }, anywhere)
    isDuplicate(t, () => store.create({ key: { b: [{ d: 2, c: 1 }], a: 1 } }, anywhere), 'key')
  })
})

t.test('a list is ordered by id', async t => {
  await t.test('a list comes in batches of some hundred rows, none of them empty', async t => {
    const store = seeded(5000)
    const lengths = [...store.list(query())].map(({ length }) => length)
    t.ok(lengths.length >= 5, `${lengths.length} batches`)
    t.ok(lengths.every((length) => length > 0 && length <= 1000), String(lengths))
    t.strictSame(ids(store), numbers(1, 5000))
    t.strictSame([...memoryStore().list(query())], [])
  })

  await t.test('a limit and a position are exact', async t => {
    const store = seeded(1300)
    for (const limit of [1, 2, 511, 512, 513, 1024, 1299, 1300, 1301, 5000]) t.strictSame(ids(store, { limit }), numbers(1, Math.min(limit, 1300)), `limit ${limit}`)
    t.strictSame(ids(store, { limit: 0 }), [])
    for (const after of [1, 2, 511, 512, 513, 1299]) t.strictSame(ids(store, { after: [after] }), numbers(after + 1, 1300), `after ${after}`)
    for (const after of [1300, 1301, Number.MAX_SAFE_INTEGER]) t.strictSame(ids(store, { after: [after] }), [], `after ${after}`)
    t.strictSame(ids(store, { after: [0] }), numbers(1, 1300))
    t.strictSame(ids(store, { after: [600], limit: 600 }), numbers(601, 1200))
    t.strictSame(ids(store, { after: [1298], limit: 600 }), [1299, 1300])
  })

  await t.test('a list continues after the position of a deleted row', async t => {
    const store = seeded(10)
    for (const id of [3, 4, 10]) store.delete(id, anyVersion)
    t.strictSame(ids(store, { after: [3] }), [5, 6, 7, 8, 9])
    t.strictSame(ids(store, { after: [4], limit: 2 }), [5, 6])
    t.strictSame(ids(store, { after: [9] }), [])
  })

  await t.test('an update does not move a row', async t => {
    const store = seeded(5)
    store.update(2, { number: 9 }, anyVersion)
    t.strictSame(ids(store), numbers(1, 5))
  })

  await t.test('an id is never used again', async t => {
    const store = seeded(200)
    for (const id of numbers(1, 200)) store.delete(id, anyVersion)
    t.strictSame(ids(store), [])
    t.equal(store.create({}, anywhere).id, 201)
    store.delete(201, anyVersion)
    t.equal(store.create({}, anywhere).id, 202)
  })

  const orders: [name: string, order: (count: number) => number[]][] = [
    ['from the first', (count) => numbers(1, count)],
    ['from the last', (count) => numbers(1, count).reverse()],
    ['here and there', (count) => numbers(0, count - 1).map((index) => (index * 7919) % count + 1)]
  ]
  for (const [name, order] of orders) {
    await t.test(`a list is complete after many deletions ${name}`, async t => {
      const store = seeded(1000)
      const left = new Set(numbers(1, 1000))
      for (const [index, id] of order(1000).entries()) {
        t.match(store.delete(id, anyVersion), { ok: true })
        left.delete(id)
        if (index % 97 === 0 || index > 930) {
          const expected = [...left].sort((a, b) => a - b)
          if (!t.strictSame(ids(store), expected)) return
          t.strictSame(ids(store, { after: [400], limit: 30 }), expected.filter((id) => id > 400).slice(0, 30))
        }
        if (index % 250 === 0) left.add(store.create({}, anywhere).id as number)
      }
      t.strictSame(ids(store), [1001, 1002, 1003, 1004])
    })
  }
})

t.test('deleted rows use no memory', t => {
  v8.setFlagsFromString('--expose-gc')
  const gc = vm.runInNewContext('gc') as () => void
  const used = (): number => {
    gc()
    gc()
    return process.memoryUsage().heapUsed
  }
  const store = memoryStore({ unique: ['number'] })
  const churn = (): void => {
    for (let number = 0; number < 400_000; number++) store.delete(store.create({ number }, anywhere).id, anyVersion)
  }
  churn()
  const before = used()
  churn()
  const grown = used() - before
  t.ok(grown < 2 ** 20, `grew by ${Math.round(grown / 2 ** 10)} KiB`)
  t.strictSame(ids(store), [])
  t.end()
})

t.test('a list can be read while rows change', async t => {
  await t.test('a batch is read only when it is pulled', async t => {
    const store = seeded(2000)
    const list = store.list(query())[Symbol.iterator]()
    const first = list.next().value as Row[]
    for (const id of numbers(first.length + 1, 2000)) store.delete(id, anyVersion)
    t.strictSame(list.next(), { done: true, value: undefined }, 'rows that were not pulled have not been read')
  })

  await t.test('deletions do not disturb a list', async t => {
    for (const [name, gone] of [['before its position', numbers(1, 1500)], ['around its position', numbers(300, 1700)], ['of every other row', numbers(1, 2000).filter((id) => id % 3 !== 0)]] as const) {
      const store = seeded(2000)
      const list = store.list(query())[Symbol.iterator]()
      const first = (list.next().value as Row[]).map(({ id }) => id)
      for (const id of gone) store.delete(id, anyVersion)
      const rest: Id[] = []
      for (let { done, value } = list.next(); done !== true; { done, value } = list.next()) rest.push(...(value as Row[]).map(({ id }) => id))
      const dead = new Set<Id>(gone)
      t.strictSame([...first, ...rest], [...first, ...numbers(first.length + 1, 2000).filter((id) => !dead.has(id))], name)
    }
  })

  await t.test('deletions between all batches do not disturb a limit', async t => {
    const store = seeded(5000)
    const seen: Id[] = []
    let next = 1
    for (const batch of store.list(query({ limit: 2000 }))) {
      seen.push(...batch.map(({ id }) => id))
      for (const last = seen.at(-1) as number; next <= last; next++) store.delete(next, anyVersion)
    }
    t.strictSame(seen, numbers(1, 2000))
    t.strictSame(ids(store), numbers(2001, 5000))
  })

  await t.test('a list shows writes behind its position', async t => {
    const store = seeded(600)
    const list = store.list(query())[Symbol.iterator]()
    const first = list.next().value as Row[]
    store.update(600, { number: 'changed' }, anyVersion)
    store.create({ number: 601 }, anywhere)
    const second = list.next().value as Row[]
    t.strictSame([...first, ...second].map(({ id }) => id), numbers(1, 601))
    t.equal(second.at(-2)?.attributes.number, 'changed')
    t.strictSame(list.next(), { done: true, value: undefined })
  })

  await t.test('a list goes on where it was when a large row is created', async t => {
    const store = seeded(1300)
    const batches = store.list(query())[Symbol.iterator]()
    const found = [...(batches.next().value as Row[])]
    store.delete(520, anyVersion)
    store.create({ text: 'x'.repeat(5000) }, anywhere)
    for (const batch of { [Symbol.iterator]: () => batches }) found.push(...batch)
    t.strictSame(found.map(({ id }) => id), numbers(1, 1301).filter((id) => id !== 520))
  })

  await t.test('a list can be abandoned', async t => {
    const store = seeded(2000)
    const list = store.list(query())[Symbol.iterator]()
    list.next()
    list.return?.()
    t.strictSame(list.next(), { done: true, value: undefined })
  })

  await t.test('two lists can be read at once', async t => {
    const store = seeded(1500)
    const [one, other] = [store.list(query())[Symbol.iterator](), store.list(query({ after: [700] }))[Symbol.iterator]()]
    const seen: Id[][] = [[], []]
    for (let index = 0; index < 5; index++) {
      for (const [which, list] of [one, other].entries()) {
        const { done, value } = list.next()
        if (done !== true) seen[which]?.push(...value.map(({ id }) => id))
      }
    }
    t.strictSame(seen, [numbers(1, 1500), numbers(701, 1500)])
  })
})

t.test('a list has the requested order', async t => {
  // Values of each type, with ties, nulls and absent ones. By code points the astral texts follow U+FFFD, by UTF-16
  // they precede it.
  const texts = ['b', 'a', '', 'B', 'aa', '\u{1f984}', '\ufffd', '\ud7ff', 'a\u{10000}', 'a\uffee', '10', '9']
  function mixed (count = 60): MemoryStore {
    const store = memoryStore()
    for (const number of numbers(0, count - 1)) {
      store.create({
        ...(number % 5 !== 4 && { title: texts[number % texts.length] }),
        rating: number % 7 === 6 ? null : number % 4 - 1.5,
        ...(number % 3 !== 2 && { published: number % 2 === 0 })
      }, { tenant: number % 2 === 0 ? 'a' : 'b' })
    }
    return store
  }

  function compare (a: Scalar, b: Scalar): number {
    if (a === null || b === null) return Number(a !== null) - Number(b !== null)
    return typeof a === 'string' ? Buffer.compare(Buffer.from(a), Buffer.from(String(b))) : Number(a) - Number(b)
  }

  /** Sorts in another way: by one criterion after the other, the last one first. */
  function sorted (all: readonly Row[], order: Order): Row[] {
    return [...order].reverse().reduce((rows, { by, descending }) => {
      const value = ({ id, attributes }: Row): Scalar => (by === 'id' ? id : attributes[by] ?? null) as Scalar
      return rows.sort((a, b) => compare(value(a), value(b)) * (descending ? -1 : 1))
    }, [...all])
  }

  const orders = [['id'], ['-id'], ...['title', 'rating', 'published', 'nothing', 'constructor'].flatMap((name) => [[name, 'id'], [`-${name}`, 'id'], [name, '-id'], [`-${name}`, '-id']]),
    ['rating', 'title', 'id'], ['-rating', 'title', 'id'], ['published', '-rating', 'title', '-id']]
  for (const names of orders) {
    await t.test(names.join(), async t => {
      const [store, order] = [mixed(), by(...names)]
      const expected = sorted(rows(store), order)
      t.strictSame(rows(store, { order }), expected)
      for (const limit of [0, 1, 7, 60, 100]) t.strictSame(rows(store, { order, limit }), expected.slice(0, limit), `limit ${limit}`)
      for (const [index, row] of expected.entries()) {
        const after = positionOf(row, order)
        t.strictSame(rows(store, { order, after, limit: 5 }), expected.slice(index + 1, index + 6))
        store.delete(row.id, anyVersion)
        t.strictSame(rows(store, { order, after }), expected.slice(index + 1), 'the position of a deleted row')
      }
    })
  }

  await t.test('nulls and absent values come first, or last in descending order', async t => {
    const store = memoryStore()
    for (const attributes of [{ rating: 2 }, { rating: null }, {}, { rating: 1 }, { rating: undefined }]) store.create(attributes, anywhere)
    t.strictSame(ids(store, { order: by('rating', 'id') }), [2, 3, 5, 4, 1])
    t.strictSame(ids(store, { order: by('-rating', 'id') }), [1, 4, 2, 3, 5])
    t.strictSame(ids(store, { order: by('rating', '-id') }), [5, 3, 2, 4, 1])
    t.strictSame(ids(store, { order: by('rating', 'id'), after: [null, 3] }), [5, 4, 1])
    t.strictSame(ids(store, { order: by('-rating', 'id'), after: [null, 3] }), [5])
    t.strictSame(ids(store, { order: by('rating', 'id'), after: [1.5, 1] }), [1], 'a position without a row')
  })

  await t.test('strings are ordered by code points', async t => {
    const store = memoryStore()
    for (const title of texts) store.create({ title }, anywhere)
    t.strictSame(rows(store, { order: by('title', 'id') }).map(({ attributes }) => attributes.title), ['', '10', '9', 'B', 'a', 'aa', 'a\uffee', 'a\u{10000}', 'b', '\ud7ff', '\ufffd', '\u{1f984}'])
  })

  await t.test('the order holds within a scope and a filter', async t => {
    const [store, order] = [mixed(), by('-rating', 'id')]
    const [scope, filter] = [{ tenant: 'a' }, equalTo({ published: true })]
    const expected = sorted(rows(store), order).filter(({ attributes }) => attributes.tenant === 'a' && attributes.published === true)
    t.ok(expected.length > 5)
    t.strictSame(rows(store, { order, scope, filter }), expected)
    t.strictSame(rows(store, { order, scope, filter, limit: 3 }), expected.slice(0, 3))
    t.strictSame(rows(store, { order, scope, filter, after: positionOf(expected[2] as Row, order) }), expected.slice(3))
  })

  await t.test('a long list gives the same order in a short page and as a whole', async t => {
    const store = memoryStore()
    for (const number of numbers(1, 3000)) store.create({ number: (number * 7919) % 3001 }, anywhere)
    const values = (parts: Partial<Query>): unknown[] => rows(store, { order: by('number', 'id'), ...parts }).map(({ attributes }) => attributes.number)
    t.strictSame(values({ limit: 3 }), [1, 2, 3])
    t.strictSame(values({ limit: 3, after: [2990, 3001] }), [2991, 2992, 2993])
    t.strictSame(values({ limit: 700 }), numbers(1, 700))
    t.strictSame(values({}), numbers(1, 3000))
    const lengths = [...store.list(query({ order: by('number', 'id') }))].map(({ length }) => length)
    t.ok(lengths.every((length) => length > 0 && length <= 1000), String(lengths))
  })

  await t.test('an ordered list omits rows deleted since its start, and has those created at a later position', async t => {
    const store = seeded(1600)
    const list = store.list(query({ order: by('-number', 'id') }))[Symbol.iterator]()
    const first = list.next().value as Row[]
    t.strictSame(first.map(({ id }) => id), numbers(1601 - first.length, 1600).reverse())
    for (const id of numbers(500, 1595)) store.delete(id, anyVersion)
    store.create({ number: 0 }, anywhere)
    const rest = [...{ [Symbol.iterator]: () => list }].flat().map(({ id }) => id)
    t.strictSame(rest, [...numbers(1, 499).reverse(), 1601])
  })

  await t.test('an order stays right while rows are created, changed and deleted', async t => {
    const store = memoryStore()
    const all = new Map<Id, Row>()
    const keep = (row: Row): void => { all.set(row.id, row) }
    const known = [by('number', 'id'), by('-number', 'id'), by('text', '-number', 'id')]
    const check = (): void => {
      for (const order of known) {
        const expected = sorted([...all.values()], order)
        t.strictSame(rows(store, { order }), expected)
        const after = positionOf(expected[all.size >> 1] ?? { id: 0, version: '1', attributes: {} }, order)
        t.strictSame(rows(store, { order, after, limit: 9 }), expected.slice((all.size >> 1) + 1, (all.size >> 1) + 10))
      }
    }
    check()
    const make = (number: number): { number: number, text: string | undefined } => ({ number: (number * 7919) % 1999, text: texts[number % texts.length] })
    for (const number of numbers(1, 3000)) keep(store.create(make(number), anywhere))
    check()
    for (const id of numbers(1, 3000).filter((id) => id % 3 === 0)) keep((store.update(id, make(id + 1), anyVersion) as { row: Row }).row)
    check()
    for (const id of numbers(1, 3000).filter((id) => id % 4 !== 0)) all.delete((store.delete(id, anyVersion) as { row: Row }).row.id)
    check()
    for (const id of all.keys()) store.delete(id, anyVersion)
    all.clear()
    check()
  })

  await t.test('a list in descending order of ids comes batch by batch', async t => {
    const store = seeded(2000)
    const seen: Id[] = []
    for (const batch of store.list(query({ order: by('-id') }))) {
      seen.push(...batch.map(({ id }) => id))
      for (const id of numbers(1, 1900)) if (id % 4 !== 0) store.delete(id, anyVersion)
      store.create({}, anywhere)
    }
    t.strictSame(seen, [...numbers(1489, 2000).reverse(), ...numbers(1, 1488).filter((id) => id % 4 === 0).reverse()])
    t.strictSame(ids(store, { order: by('-id'), after: [8], limit: 5 }), [4])
    t.strictSame(ids(store, { order: by('-id'), after: [10] }), [8, 4], 'the position of a deleted row')
    t.strictSame(ids(store, { order: by('-id'), after: [1] }), [])
  })

  await t.test('UUIDs are ordered as well', async t => {
    const store = seeded(20, { id: 'uuid' })
    const made = ids(store)
    t.strictSame(ids(store, { order: by('-id') }), made.toReversed())
    t.strictSame(ids(store, { order: by('nothing', '-id'), after: [null, made[5] as Id] }), made.slice(0, 5).reverse())
  })
})

t.test('a filter finds the rows with its values', async t => {
  const store = memoryStore()
  const all = [{ title: 'a', rating: 1 }, { title: 'A', rating: null }, { title: '1' }, { title: 1, rating: 0 }, { title: '', rating: 1 }, { title: true }, {}]
  for (const attributes of all) store.create(attributes, anywhere)
  const cases: [values: Record<string, Scalar>, found: Id[]][] = [
    [{}, [1, 2, 3, 4, 5, 6, 7]],
    [{ title: 'a' }, [1]], [{ title: 'A' }, [2]], [{ title: '1' }, [3]], [{ title: 1 }, [4]], [{ title: '' }, [5]], [{ title: true }, [6]], [{ title: null }, [7]], [{ title: 'x' }, []],
    [{ rating: 1 }, [1, 5]], [{ rating: 0 }, [4]], [{ rating: null }, [2, 3, 6, 7]], [{ rating: 1, title: '' }, [5]], [{ rating: null, title: null }, [7]],
    [{ nothing: null }, [1, 2, 3, 4, 5, 6, 7]], [{ nothing: 1 }, []], [{ constructor: null }, [1, 2, 3, 4, 5, 6, 7]]
  ]
  for (const [values, found] of cases) {
    const filter = equalTo(values)
    t.strictSame(ids(store, { filter }), found, JSON.stringify(values))
    t.strictSame(ids(store, { filter, order: by('-id') }), found.toReversed())
    t.strictSame(ids(store, { filter, order: by('nothing', 'id') }), found)
    t.strictSame(ids(store, { filter, limit: 1 }), found.slice(0, 1))
    t.strictSame(ids(store, { filter, scope: { rating: 1 } }), found.filter((id) => id === 1 || id === 5))
  }
  const long = memoryStore()
  for (const number of numbers(1, 3000)) long.create({ number, even: number % 2 === 0 }, anywhere)
  t.strictSame(ids(long, { filter: equalTo({ even: true }), limit: 600, after: [1000] }), numbers(501, 1100).map((half) => half * 2), 'a limit counts the found rows')
  t.end()
})

t.test('null in a scope also matches absent values', async t => {
  const none = { tenant: null }
  const guard = { version: undefined, scope: none }
  const store = memoryStore()
  store.create({ title: 'one' }, anywhere)
  store.create({ title: 'two', tenant: 'a' }, anywhere)
  t.strictSame(store.create({ title: 'three', tenant: 'a' }, none).attributes, { title: 'three', tenant: null })
  t.strictSame(ids(store, { scope: none }), [1, 3])
  t.strictSame(ids(store, { scope: none, order: by('-title', 'id') }), [3, 1])
  t.strictSame([1, 2, 3].map((id) => store.get(id, none)?.id), [1, undefined, 3])
  t.match(store.update(2, { title: 'stolen' }, guard), { ok: false, why: 'missing' })
  t.match(store.delete(2, guard), { ok: false, why: 'missing' })
  t.throws(() => store.update(1, { title: 'mine', tenant: 'a' }, guard), { code: 'FST_RESOURCES_SCOPE_CHANGE' }, 'no write changes an attribute that the scope names')
  for (const tenant of [null, undefined]) t.strictSame(writtenRow(store.update(1, { title: 'mine', tenant }, guard)).attributes, { title: 'mine' })
  t.match(store.delete(1, guard), { ok: true })
  t.equal(store.get(2, { constructor: null } as unknown as Scope)?.id, 2, 'a property of Object.prototype is not a value')
})

t.test('several attributes can be unique together', async t => {
  const [a, b] = [{ tenant: 'a' }, { tenant: 'b' }]

  await t.test('all their values count', async t => {
    const store = memoryStore({ unique: [['tenant', 'title']] })
    store.create({ title: 'T' }, a)
    store.create({ title: 'T' }, b)
    store.create({ title: 'U' }, a)
    isDuplicate(t, () => store.create({ title: 'T' }, a), 'title')
    isDuplicate(t, () => store.update(3, { title: 'T' }, { version: undefined, scope: a }), 'title')
    t.match(store.update(3, { title: 'U', more: 1 }, anyVersion), { ok: true }, 'a row keeps its own values')
    store.delete(1, anyVersion)
    t.match(store.update(3, { title: 'T' }, anyVersion), { ok: true }, 'deleted values are free')
    t.match(store.create({ title: 'U' }, a), { id: 4 }, 'replaced values are free')
  })

  await t.test('rows with a null or absent value do not collide', async t => {
    const store = memoryStore({ unique: [['tenant', 'title']] })
    for (const attributes of [{ title: 'T' }, { title: 'T', tenant: null }, { tenant: 'a' }, { tenant: 'a', title: null }, {}]) {
      for (let times = 0; times < 2; times++) store.create(attributes, anywhere)
    }
    t.equal(ids(store).length, 10)
    isDuplicate(t, () => { for (let id = 1; id < 3; id++) store.update(id, { tenant: 'a' }, anyVersion) }, 'tenant title')
    store.delete(3, anyVersion)
    isDuplicate(t, () => store.update(2, { tenant: 'a' }, anyVersion), 'tenant title')
  })

  await t.test('the error names the attributes that the client could change', async t => {
    const store = memoryStore({ unique: ['mail', ['tenant', 'title'], ['tenant', 'owner']] })
    store.create({ title: 'T', owner: 'o', mail: 'm' }, { tenant: 'a' })
    const cases: [attributes: Attributes, scope: Scope, named: string][] = [
      [{ title: 'T' }, a, 'title'],
      [{ title: 'T', tenant: 'a' }, anywhere, 'tenant title'],
      [{}, { tenant: 'a', title: 'T' }, 'tenant'],
      [{ owner: 'o' }, a, 'owner'],
      [{ title: 'T' }, { constructor: 'x', tenant: 'a' } as unknown as Scope, 'title'],
      [{ title: 'T', mail: 'm' }, a, 'mail']
    ]
    for (const [attributes, scope, named] of cases) isDuplicate(t, () => store.create(attributes, scope), named, JSON.stringify([attributes, scope]))
  })

  await t.test('different values stay different when they are combined', async t => {
    const store = memoryStore({ unique: [['one', 'other']] })
    const values = ['', 'a', '"', '","', 'a,b', 1, '1', true, 'true', [1], [], { a: 1 }, '[1]']
    for (const one of values) for (const other of values) store.create({ one, other }, anywhere)
    t.equal(ids(store).length, values.length ** 2)
    isDuplicate(t, () => store.create({ one: { a: 1 }, other: [1] }, anywhere), 'one other')
  })

  await t.test('a group of one attribute works like the attribute alone', async t => {
    const store = memoryStore({ unique: [['title'], 'constructor'] })
    store.create({ title: 'T' }, anywhere)
    store.create({ title: 'U' }, anywhere)
    isDuplicate(t, () => store.create({ title: 'T' }, anywhere), 'title')
  })
})

t.test('a store declares its capabilities', async t => {
  const store = memoryStore()
  t.strictSame(store.capabilities, { order: true, offset: true, filter: true, search: true, count: true })
  t.ok(Object.isFrozen(store) && Object.isFrozen(store.capabilities))
  t.strictSame([store.attributes, store.prepare], [undefined, undefined])
})

t.test('ids can be UUIDs', async t => {
  const UUID_7 = /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/

  await t.test('UUIDs sort by creation, also within one millisecond', async t => {
    const store = seeded(5000, { id: 'uuid' })
    const made = ids(store)
    t.equal(new Set(made).size, 5000)
    t.strictSame(made, [...made].sort())
    t.strictSame(rows(store).map(({ attributes }) => attributes.number), numbers(1, 5000))
    for (const id of made) if (!UUID_7.test(String(id))) t.fail(`${id} is no UUID v7`)
  })

  await t.test('UUIDs sort by creation even if the clock is set back', async t => {
    const store = memoryStore({ id: 'uuid' })
    const now = Date.now()
    const made: Id[] = []
    for (const shift of [0, 5000, -86_400_000, 0, -1, 1]) {
      t.intercept(Date, 'now', { value: () => now + shift })
      made.push(store.create({ shift }, anywhere).id)
    }
    t.strictSame(made, [...made].sort())
    t.strictSame(ids(store), made)
    for (const [index, after] of made.entries()) t.strictSame(ids(store, { after: [after] }), made.slice(index + 1))
  })

  await t.test('UUIDs work in all methods', async t => {
    const store = memoryStore({ id: 'uuid', unique: ['key'] })
    const [one, other] = ['a', 'b'].map((key) => store.create({ key } satisfies Attributes, { tenant: key })) as [Row, Row]
    t.strictSame(store.get(one.id, anywhere), one)
    t.equal(store.get(one.id, { tenant: 'b' }), undefined)
    t.equal(store.get(String(one.id).toUpperCase(), anywhere), undefined)
    t.match(store.update(one.id, { key: 'c' }, versioned('1')), { ok: true, row: { id: one.id, version: '2' } })
    t.match(store.update(one.id, { key: 'd' }, versioned('1')), { ok: false, why: 'stale' })
    isDuplicate(t, () => store.update(other.id, { key: 'c' }, anyVersion), 'key')
    t.match(store.delete(one.id, anyVersion), { ok: true })
    t.strictSame(ids(store), [other.id])
    t.strictSame(ids(store, { after: [one.id] }), [other.id], 'the position of a deleted row')
  })
})

t.test('invalid options throw', async t => {
  const make = memoryStore as (options: object) => unknown
  t.throws(() => make({ uniqe: ['title'] }), { code: 'FST_RESOURCES_UNKNOWN_OPTION', message: /did you mean "unique"/ })
  for (const unique of ['title', {}, [5], [null], [[]], [['tenant', 5]], [['tenant', ['title']]]]) t.throws(() => make({ unique }), { code: 'FST_RESOURCES_INVALID_OPTION', message: /unique/ }, JSON.stringify(unique))
  t.throws(() => make({ id: 'text' }), { code: 'FST_RESOURCES_INVALID_OPTION', message: /id/ })
})

t.test('an ordered list shows a row that changes meanwhile at most once, at its new place', async t => {
  for (const id of ['integer', 'uuid'] as const) {
    const store = memoryStore<{ title: string, count?: number }>({ id })
    const rows = Array.from({ length: 1500 }, (_, index) => store.create({ title: String(index).padStart(4, '0') }, {}))
    const order = [{ by: 'title', descending: true }, { by: 'id', descending: true }]
    const guard = { version: undefined, scope: {} }
    const seen: string[] = []
    for (const batch of store.list({ order, after: undefined, limit: undefined, scope: {}, filter: [], search: undefined })) {
      if (seen.length === 0) {
        store.update(rows[700]!.id, { count: 1 }, guard)
        store.update(rows[600]!.id, { title: '0300x' }, guard)
        store.update(rows[500]!.id, { title: '9999' }, guard)
        for (const row of rows.slice(0, 3)) store.delete(row.id, guard)
      }
      seen.push(...batch.map(({ attributes }) => attributes.title))
    }
    const expected = rows.map(({ attributes }) => attributes.title).filter((_title, index) => index > 2 && ![600, 500].includes(index)).concat('0300x').sort().reverse()
    t.strictSame(seen, expected, id)
  }
})

t.test('an ordered list ends if all remaining rows have been deleted', async (t) => {
  const store = seeded(1500)
  const seen: Id[] = []
  for (const batch of store.list(query({ order: by('number', 'id') }))) {
    for (const id of numbers(batch.length + 1, 1500)) store.delete(id, anyVersion)
    seen.push(...batch.map(({ id }) => id))
  }
  t.ok(seen.length < 1500)
  t.strictSame(seen, numbers(1, seen.length))
})
