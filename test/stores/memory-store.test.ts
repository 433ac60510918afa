import t, { type Test } from 'tap'
import v8 from 'node:v8'
import vm from 'node:vm'
import {
  type Attributes, DuplicateError, type Guard, type Id, memoryStore, type MemoryStore, memoryStores, type Order,
  type Row, type Scope
} from '../../lib/index.js'
import { anyVersion, anywhere, ids, numbers, query, rows, seeded, writtenRow } from '../support/stores/memory-rows.js'
import { testStores } from '../support/stores/stores-tests.js'

function versioned (version: string, scope: Scope = anywhere): Guard {
  return { version, scope }
}

/** Returns the order of `by('-rating', 'id')`. */
function by (...names: string[]): Order {
  return names.map((name) => ({ by: name.replace('-', ''), descending: name.startsWith('-') }))
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
    t.strictSame([(error as DuplicateError).errors, (error as DuplicateError).message],
      [{ [attribute]: [message] }, `${attribute} ${message}`], label)
    t.equal((error as DuplicateError).statusCode, 409)
  }
}

t.test('a created row can be read, changed and deleted', t => {
  const store = memoryStore()
  t.strictSame(store.create({ title: 'T', body: 'B' },
    anywhere), { id: 1, version: '1', attributes: { title: 'T', body: 'B' } })
  t.strictSame(store.create({}, anywhere), { id: 2, version: '1', attributes: {} })
  t.strictSame(store.get(1, anywhere), { id: 1, version: '1', attributes: { title: 'T', body: 'B' } })
  const changed = { id: 1, version: '2', attributes: { title: 'U', body: 'B', rating: null } }
  t.strictSame(store.update(1, { title: 'U', rating: null }, anyVersion), { ok: true, row: changed },
    'only the named attributes change')
  t.strictSame(store.get(1, anywhere), changed)
  t.strictSame(store.update(1, {}, anyVersion), { ok: true, row: { ...changed, version: '3' } },
    'the version changes with each write')
  t.strictSame(store.delete(1, anyVersion), { ok: true, row: { ...changed, version: '3' } },
    'a deletion returns the deleted row')
  t.equal(store.get(1, anywhere), undefined)
  t.strictSame(ids(store), [2])
  t.end()
})

t.test('each method returns synchronously', t => {
  const store = seeded(1)
  for (const answer of [store.get(1, anywhere), store.create({}, anywhere), store.update(1, {}, anyVersion),
    store.delete(1, anyVersion), store.list(query())]) {
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
  t.strictSame(
    [memoryStore().id, memoryStore({}).id, memoryStore({ id: 'integer' }).id, memoryStore({ id: 'uuid' }).id],
    ['integer', 'integer', 'integer', 'uuid']
  )
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
    t.strictSame(store.update(1, { number: 2 },
      versioned('1')), { ok: true, row: { id: 1, version: '2', attributes: { number: 2 } } })
    t.strictSame(store.delete(1, versioned('2')), { ok: true, row: { id: 1, version: '2', attributes: { number: 2 } } })
  })

  await t.test('another version is stale, returns the current row and changes nothing', async t => {
    const store = seeded(1)
    store.update(1, { number: 2 }, anyVersion)
    const current = { id: 1, version: '2', attributes: { number: 2 } }
    for (const version of ['1', '3', '', '02', '2.0', ' 2', 'x']) {
      t.strictSame(store.update(1, { number: 9 }, versioned(version)), { ok: false, why: 'stale', current },
        JSON.stringify(version))
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
    const versions = numbers(1, 50).map((number) =>
      writtenRow(store.update(1, { number: number % 2 }, anyVersion)).version)
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
    t.strictSame(store.create({ title: 'T' }, { tenant: 'a', post: 7 }).attributes, {
      title: 'T', tenant: 'a', post: 7
    })
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
    t.strictSame(ids(store, { scope: a, after: [2], limit: 5 }), [3],
      'a position may be that of a row outside the scope')
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
      t.strictSame(store.update(1, { title: 'stolen' }, guard), { ok: false, why: 'missing' },
        'a row outside the scope is missing, not stale, so that nothing is revealed')
      t.strictSame(store.delete(1, guard), { ok: false, why: 'missing' })
    }
    t.strictSame(rows(store), before)
    t.strictSame(
      writtenRow(store.update(1, { title: 'mine' }, { version: undefined, scope: a })).attributes,
      { title: 'mine', tenant: 'a' }
    )
    t.match(store.update(1, { title: 'mine' },
      versioned('1', a)), { ok: false, why: 'stale', current: { attributes: { title: 'mine' } } })
    t.match(store.delete(1, versioned('2', a)), { ok: true })
    t.strictSame(ids(store, { scope: a }), [3])
  })

  await t.test('an update cannot move a row out of its scope', async t => {
    const store = tenants()
    t.throws(() =>
      store.update(1, { tenant: 'b' }, { version: undefined, scope: a }), { code: 'FST_RESOURCES_SCOPE_CHANGE' })
    t.strictSame(
      writtenRow(store.update(1, { tenant: 'a' }, { version: undefined, scope: a })).attributes,
      { title: 'one', tenant: 'a' }
    )
    t.strictSame([ids(store, { scope: a }), ids(store, { scope: b })], [[1, 3], [2]])
  })

  await t.test('an update without a scope can change the values of a scope', async t => {
    const store = tenants()
    store.update(1, { tenant: 'b' }, anyVersion)
    t.strictSame([ids(store, { scope: a }), ids(store, { scope: b })], [[3], [1, 2]])
  })
})

t.test('only the store can change its rows', async t => {
  const make = (): {
    author: { name: string, roles: string[] }, tags: string[][], title: string
  } => ({ title: 'T', tags: [['a'], ['b']], author: { name: 'N', roles: ['editor'] } })
  const whole = { id: 1, version: '1', attributes: make() }

  function isFrozen (value: unknown): boolean {
    return typeof value !== 'object' || value === null ||
      (Object.isFrozen(value) && Object.values(value).every(isFrozen))
  }

  await t.test('a caller may change the object that it passed to create', async t => {
    const freezes: [name: string, freeze: (attributes: ReturnType<typeof make>) => ReturnType<typeof make>][] = [
      ['an object as it is', (attributes) => attributes],
      ['an object that is frozen, what is in it not', (attributes) => Object.freeze(attributes)],
      ['an object in which only an inner one is frozen', (attributes) => {
        Object.freeze(attributes.author)
        return attributes
      }]
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
    const answers: unknown[] = [store.create(make(), anywhere), store.get(1, anywhere), rows(store)[0],
      store.update(1, { title: 'U', more: [{ deep: [1] }] }, anyVersion), store.update(1, {}, versioned('9')),
      store.get(1, anywhere)]
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
  const different: unknown[] = ['a', 'A', '', ' ', '1', 1, 0, 'true', true, false, 'null', 'undefined', '[1]', [1],
    ['1'], [1, 2], [[1], 2], [1, [2]], [], '{}', {}, { a: 1 }, { a: '1' }, { a: 1, b: 2 }, { a: { b: 1 } }, '{"a":1}',
    '"a"', ['a'], 'constructor', '__proto__']

  await t.test('different values do not collide', async t => {
    const store = memoryStore({ unique: ['key'] })
    for (const key of different) store.create({ key }, anywhere)
    t.equal(ids(store).length, different.length)
    for (const key of different) {
      isDuplicate(t, () => store.create({ key: structuredClone(key) }, anywhere), 'key', JSON.stringify(key))
    }
    t.equal(ids(store).length, different.length, 'nothing was written')
  })

  await t.test('null and absent values do not collide', async t => {
    const store = memoryStore({ unique: ['key'] })
    for (const attributes of [{ key: null }, {}, { key: null }, {}, { key: undefined }, { key: undefined }]) {
      store.create(attributes, anywhere)
    }
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
  t.throws(() =>
    store.update(1, { title: 'mine', tenant: 'a' }, guard), { code: 'FST_RESOURCES_SCOPE_CHANGE' },
  'no write changes an attribute that the scope names')
  for (const tenant of [null, undefined]) {
    t.strictSame(writtenRow(store.update(1, { title: 'mine', tenant }, guard)).attributes, { title: 'mine' })
  }
  t.match(store.delete(1, guard), { ok: true })
  t.equal(store.get(2, { constructor: null } as unknown as Scope)?.id, 2,
    'a property of Object.prototype is not a value')
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
    for (const attributes of [{ title: 'T' }, { title: 'T', tenant: null }, { tenant: 'a' },
      { tenant: 'a', title: null }, {}]) {
      for (let times = 0; times < 2; times++) store.create(attributes, anywhere)
    }
    t.equal(ids(store).length, 10)
    isDuplicate(t, () => {
      for (let id = 1; id < 3; id++) store.update(id, { tenant: 'a' }, anyVersion)
    }, 'tenant title')
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
    for (const [attributes, scope, named] of cases) {
      isDuplicate(t, () => store.create(attributes, scope), named, JSON.stringify([attributes, scope]))
    }
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
    const { now: clock } = Date
    t.teardown(() => { Date.now = clock })
    for (const shift of [0, 5000, -86_400_000, 0, -1, 1]) {
      Date.now = () => now + shift
      made.push(store.create({ shift }, anywhere).id)
    }
    t.strictSame(made, [...made].sort())
    t.strictSame(ids(store), made)
    for (const [index, after] of made.entries()) t.strictSame(ids(store, { after: [after] }), made.slice(index + 1))
  })

  await t.test('UUIDs work in all methods', async t => {
    const store = memoryStore({ id: 'uuid', unique: ['key'] })
    const [one, other] = ['a', 'b'].map((key) =>
      store.create({ key } satisfies Attributes, { tenant: key })) as [Row, Row]
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
  for (const unique of ['title', {}, [5], [null], [[]], [['tenant', 5]], [['tenant', ['title']]]]) {
    t.throws(() =>
      make({ unique }), { code: 'FST_RESOURCES_INVALID_OPTION', message: /unique/ }, JSON.stringify(unique))
  }
  t.throws(() => make({ id: 'text' }), { code: 'FST_RESOURCES_INVALID_OPTION', message: /id/ })
})

testStores(t, async () => memoryStores())

const request = { table: 'rows', attributes: undefined, id: 'integer', unique: [], references: {} } as const

t.test('a table is opened once', async (t) => {
  const stores = memoryStores()
  t.equal(stores.open(request), stores.open({ ...request }))
  t.not(stores.open(request), memoryStores().open(request))
  t.throws(() =>
    stores.open({ ...request, unique: ['title'] }), {
    code: 'FST_RESOURCES_INVALID_OPTION',
    message:
        'Option "stores" has the table "rows" already, of another registration ' +
          'whose type of ids, "unique" and "onDelete" differ.'
  })
  t.throws(() =>
    stores.open({ ...request, table: 'others', references: { post: { table: 'posts' } } }), {
    code: 'FST_RESOURCES_INVALID_OPTION', message: 'Option "stores" must open the table "posts" first.'
  })
})

t.test('unique decimals are compared as numbers', async (t) => {
  const price = { type: ['string', 'null'], format: 'decimal' } as const
  const attributes = { type: 'object', properties: { price, name: { type: 'string' } } } as const
  const prices = memoryStores().open({ ...request, attributes, unique: ['price', ['name', 'price']] })
  const context = { signal: new AbortController().signal }
  prices.create({ price: '1.10' }, {}, context)
  t.throws(() => prices.create({ price: '1.1' }, {}, context), { code: 'FST_RESOURCES_DUPLICATE' })
  t.throws(() => prices.create({ price: '01.100' }, {}, context), { code: 'FST_RESOURCES_DUPLICATE' })
  prices.create({ price: '1.11' }, {}, context)
  prices.create({ price: null }, {}, context)
})

t.test('rows that refer to each other in a circle are deleted together', async (t) => {
  const any = { version: undefined, scope: {} }
  const stores = memoryStores()
  const rows = stores.open({ ...request, references: { next: { table: 'rows', onDelete: 'cascade' } } })
  const freed = stores.open({
    ...request,
    table: 'freed',
    references: { row: { table: 'rows', onDelete: 'set null' }, other: { table: 'rows', onDelete: 'cascade' } }
  })
  const context = { signal: new AbortController().signal }
  for (const next of [undefined, 1, 2]) rows.create({ next }, {}, context)
  rows.update(1, { next: 3 }, any, context)
  // One of these is deleted by another foreign key.
  freed.create({ row: 2 }, {}, context)
  freed.create({ row: 2, other: 3 }, {}, context)
  t.match(rows.delete(2, any, context), { ok: true })
  for (const id of [1, 2, 3]) t.equal(rows.get(id, {}, context), undefined)
  t.match(freed.get(1, {}, context), { version: '2', attributes: { row: null } })
  t.equal(freed.get(2, {}, context), undefined)
})
