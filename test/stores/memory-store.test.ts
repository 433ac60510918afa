import v8 from 'node:v8'
import vm from 'node:vm'
import t, { type Test } from 'tap'
import type { FastifyInstance, LightMyRequestResponse as Response } from 'fastify'
import Database from 'libsql'
import {
  type Attributes, comparePositions, DuplicateError, type Id, memoryStore, type MemoryStore, memoryStores, type Order,
  positionOf, type Row, type Scalar, type Scope, type Store
} from '../../lib/index.js'
import { caseVariants, ignoringCase } from '../../lib/core/util/case-folding.js'
import { isLongInteger, readInteger } from '../../lib/core/util/decimal.js'
import { type SqliteDatabase, sqliteStore } from '../../lib/sql/sqlite/index.js'
import { shapeOf } from '../../lib/core/schema/shape.js'
import type { Schema } from '../../lib/core/schema/types.js'
import { decodeInteger, valuesOf } from '../../lib/sql/columns/kinds.js'
import { columnTypeOf, findCodec } from '../../lib/sql/postgres/column-types.js'
import { addKeywords, readCheck, tokenize } from '../../lib/sql/tables/checks.js'
import { build, draft } from '../support/helper.js'
import { testContract } from '../support/stores/contract/contract-tests.js'
import { anyVersion, anywhere, ids, numbers, query, rows, seeded, writtenRow } from '../support/stores/memory-rows.js'
import { testStores } from '../support/stores/stores-tests.js'

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

for (const id of ['integer', 'uuid'] as const) {
  t.test(`the store keeps the contract with ids of the kind ${id}`, async (t) => {
    testContract(t, { id, rows: 600, writes: 60, open: ({ id, unique }) => memoryStore({ id, unique }) },
      /connection|together|one of several/)
  })
}

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

  await t.test('rows that the store returns are frozen', async t => {
    const store = memoryStore()
    const answers: unknown[] = [store.create(make(), anywhere), store.get(1, anywhere), rows(store)[0],
      store.update(
        1, { title: 'U', more: [{ deep: [1] }] }, anyVersion
      ), store.update(1, {}, { version: '9', scope: anywhere }),
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

  await t.test('the order of its keys does not make an object different', async t => {
    const store = memoryStore({ unique: ['key'] })
    store.create({ key: { a: 1, b: [{ c: 1, d: 2 }] } }, anywhere)
    isDuplicate(t, () => store.create({ key: { b: [{ d: 2, c: 1 }], a: 1 } }, anywhere), 'key')
  })
})

t.test('several attributes can be unique together', async t => {
  const a = { tenant: 'a' }

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
    for (let number = 0; number < 100_000; number++) store.delete(store.create({ number }, anywhere).id, anyVersion)
  }
  churn()
  const before = used()
  churn()
  const grown = used() - before
  t.ok(grown < 2 ** 20, `grew by ${Math.round(grown / 2 ** 10)} KiB`)
  t.strictSame(ids(store), [])
  t.end()
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
})

t.test('invalid options throw', async t => {
  const make = memoryStore as (options: object) => unknown
  t.throws(() => make({ uniqe: ['title'] }), { code: 'FST_RESOURCES_UNKNOWN_OPTION', message: /did you mean "unique"/ })
  for (const unique of ['title', {}, [5], [null], [[]], [['tenant', 5]], [['tenant', ['title']]]]) {
    t.throws(() =>
      make({ unique }), { code: 'FST_RESOURCES_INVALID_OPTION', message: /unique/ }, JSON.stringify(unique))
  }
  for (const softDelete of [5, '', null]) {
    t.throws(() => make({ softDelete }), { message: /"softDelete" must be the name of an attribute/ })
  }
  t.throws(() => make({ id: 'text' }), { code: 'FST_RESOURCES_INVALID_OPTION', message: /id/ })
})

testStores(t, async () => memoryStores())

const request = { table: 'rows', attributes: undefined, id: 'integer', unique: [], references: {} } as const

t.test('a write beside an open transaction is refused', async (t) => {
  const store = memoryStore()
  let end: () => void = () => {}
  const run = store.transaction(() => new Promise<void>((resolve) => { end = resolve }), {
    signal: new AbortController().signal
  })
  await new Promise((resolve) => { setImmediate(resolve) })
  t.throws(() => store.create({}, anywhere), { code: 'FST_RESOURCES_UNAVAILABLE' })
  end()
  await run
  const { id } = store.create({ gone: null }, anywhere)
  t.match(store.update(id, { gone: null }, { version: undefined, scope: { gone: null } }), { ok: true },
    'a change may repeat a value of the scope')
})

t.test('kept requests are found until they expire, however many follow', async (t) => {
  const { requests, transaction } = memoryStore() as MemoryStore & { requests: NonNullable<Store['requests']> }
  const context = { signal: new AbortController().signal }
  const keep = async (key: string, expires: number): Promise<void> => transaction((context) => {
    requests.add(key, { digest: 'd', expires }, context)
    requests.finish(key, 'r', context)
  }, context)
  await keep('old', 0)
  for (const number of numbers(1, 12)) await keep(`new${number}`, Infinity)
  t.equal(requests.find('old', context), undefined)
  t.match(numbers(1, 12).map((number) => requests.find(`new${number}`, context)), Array(12).fill({ result: 'r' }))
})

t.test('a table is opened once', async (t) => {
  const stores = memoryStores()
  t.equal(stores.open(request), stores.open({ ...request }))
  t.not(stores.open(request), memoryStores().open(request))
  t.throws(() =>
    stores.open({ ...request, unique: ['title'] }), {
    code: 'FST_RESOURCES_INVALID_OPTION',
    message:
        'Option "stores" has the table "rows" already, of another registration ' +
          'whose type of ids, "unique", "softDelete" and "onDelete" differ.'
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

t.test('a stored text that is no decimal comes after the decimals', t => {
  const compare = (a: Scalar, b: Scalar): number =>
    Math.sign(comparePositions([{ by: 'price', descending: false, type: 'decimal' }], [a], [b]))
  const sorted = [null, '-1.5', '9', '10.0', '1 €', 'ten']
  for (const [index, a] of sorted.entries()) {
    for (const [other, b] of sorted.entries()) t.equal(compare(a, b), Math.sign(index - other), `${a} and ${b}`)
  }
  t.end()
})

t.test('a list is ordered by id', async t => {
  await t.test('a list comes in batches of some hundred rows, none of them empty', async t => {
    const store = seeded(5000)
    const lengths = [...store.list(query())].map(({ length }) => length)
    t.ok(lengths.length >= 5, `${lengths.length} batches`)
    t.ok(lengths.every((length) => length > 0 && length <= 1000), String(lengths))
    t.strictSame(ids(store), numbers(1, 5000))
    t.strictSame([...memoryStore().list(query())], [])
    t.strictSame(ids(store, { limit: 0 }), [])
  })

  await t.test('a list is complete after many deletions here and there', async t => {
    const store = seeded(1000)
    const left = new Set(numbers(1, 1000))
    for (const [index, id] of numbers(0, 999).map((index) => (index * 7919) % 1000 + 1).entries()) {
      t.match(store.delete(id, anyVersion), { ok: true })
      left.delete(id)
      if (index % 97 === 0 || index > 980) {
        const expected = [...left].sort((a, b) => a - b)
        if (!t.strictSame(ids(store), expected)) return
        t.strictSame(ids(store, { after: [400], limit: 30 }), expected.filter((id) => id > 400).slice(0, 30))
      }
      if (index % 250 === 0) left.add(store.create({}, anywhere).id as number)
    }
    t.strictSame(ids(store), [1001, 1002, 1003, 1004])
  })
})

t.test('a list can be read while rows change', async t => {
  await t.test('deletions do not disturb a list', async t => {
    for (const [name, gone] of [['before its position', numbers(1, 1500)], ['around its position', numbers(300, 1700)],
      ['of every other row', numbers(1, 2000).filter((id) => id % 3 !== 0)]] as const) {
      const store = seeded(2000)
      const list = store.list(query())[Symbol.iterator]()
      const first = (list.next().value as Row[]).map(({ id }) => id)
      for (const id of gone) store.delete(id, anyVersion)
      const rest: Id[] = []
      for (let { done, value } = list.next(); done !== true; { done, value } = list.next()) {
        rest.push(...(value as Row[]).map(({ id }) => id))
      }
      const dead = new Set<Id>(gone)
      t.strictSame([...first, ...rest], [...first, ...numbers(first.length + 1, 2000).filter((id) =>
        !dead.has(id))], name)
    }
  })
})

t.test('a list has the requested order', async t => {
  // Values of each type, with ties, nulls and absent ones. By code points the astral texts follow U+FFFD, by UTF-16
  // they precede it.
  const texts = ['b', 'a', '', 'B', 'aa', '\u{1f984}', '\ufffd', '\ud7ff', 'a\u{10000}', 'a\uffee', '10', '9']
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
    const make = (number: number): {
      number: number, text: string | undefined
    } => ({ number: (number * 7919) % 1999, text: texts[number % texts.length] })
    for (const number of numbers(1, 3000)) keep(store.create(make(number), anywhere))
    check()
    for (const id of numbers(1, 3000).filter((id) => id % 3 === 0)) {
      keep((store.update(id, make(id + 1), anyVersion) as { row: Row }).row)
    }
    check()
    for (const id of numbers(1, 3000).filter((id) => id % 4 !== 0)) {
      all.delete((store.delete(id, anyVersion) as { row: Row }).row.id)
    }
    check()
    for (const id of all.keys()) store.delete(id, anyVersion)
    all.clear()
    check()
  })
})

t.test('an ordered list shows a row that changes meanwhile at most once, at its new place', async t => {
  for (const id of ['integer', 'uuid'] as const) {
    const store = memoryStore<{ title: string, count?: number }>({ id })
    const rows = Array.from({ length: 1500 }, (_, index) => store.create({ title: String(index).padStart(4, '0') }, {}))
    const order = [{ by: 'title', descending: true }, { by: 'id', descending: true }]
    const guard = { version: undefined, scope: {} }
    const seen: string[] = []
    for (const batch of store.list({
      order, after: undefined, limit: undefined, scope: {}, filter: [], search: undefined
    })) {
      if (seen.length === 0) {
        store.update(rows[700]!.id, { count: 1 }, guard)
        store.update(rows[600]!.id, { title: '0300x' }, guard)
        store.update(rows[500]!.id, { title: '9999' }, guard)
        for (const row of rows.slice(0, 3)) store.delete(row.id, guard)
      }
      seen.push(...batch.map(({ attributes }) => attributes.title))
    }
    const expected = rows.map(({ attributes }) => attributes.title).filter((_title, index) =>
      index > 2 && ![600, 500].includes(index)).concat('0300x').sort().reverse()
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

/** All characters, except surrogates. */
const CHARACTERS = Array.from({ length: 0x110000 }, (_, point) => point).filter((point) =>
  point < 0xd800 || point > 0xdfff).map((point) =>
  String.fromCodePoint(point))

t.test('the variants of a character are those that a regular expression with the flags iu takes for the same', async (
  t
) => {
  const cased = CHARACTERS.filter((character) =>
    /\p{Changes_When_Casemapped}/u.test(character) || caseVariants(character) !== character)
  t.ok(cased.length > 2_500)
  const all = cased.join('')
  const wrong = cased.filter((character) => {
    const matched = all.match(new RegExp(ignoringCase(character, false).source, 'giu')) ?? []
    return [...matched].sort().join('') !== Array.from(caseVariants(character)).sort().join('')
  })
  t.strictSame(wrong, [])
})

t.test('characters without a case have no variants', async (t) => {
  const others = CHARACTERS.filter((character) => !/\p{Changes_When_Casemapped}/u.test(character))
  t.strictSame(others.filter((character) => caseVariants(character) !== character), [])
})

t.test('an integer beyond 2^53 - 1 is a text, in one spelling and of at most eight bytes', (t) => {
  const long = ['9007199254740992', '-9007199254740992', '9223372036854775807', '-9223372036854775808']
  const none = [
    '9007199254740991', '-9007199254740991', '9223372036854775808', '-9223372036854775809', '09007199254740993',
    '+9007199254740993', '9007199254740993.0', '9.1e15', ' 9007199254740993', '', '-', 'x', 2 ** 53, null, undefined
  ]
  for (const text of long) t.equal(readInteger(text), isLongInteger(text) ? text : undefined, text)
  for (const value of none) t.equal(isLongInteger(value), false, String(value))
  t.strictSame(['0', '-1', '9007199254740991'].map(readInteger), [0, -1, 9007199254740991])
  for (const text of ['-0', '01', '1.0', '1e3', ' 1', 'x', '', '9223372036854775808']) {
    t.equal(readInteger(text), undefined, text)
  }
  t.end()
})

t.test('references of eight bytes are sorted and filtered as numbers in memory', async (t) => {
  const attributes = { type: 'object', properties: { tweet: { type: ['integer', 'null'], format: 'int64' } } } as const
  const app = await build(t, { name: 'replies', attributes, store: memoryStore() })
  const least = '-9223372036854775808'
  const most = '9223372036854775807'
  const values = [most, 5, least, null, '1119360021460566017', '-9007199254740993', -7]
  const sorted = [null, least, '-9007199254740993', -7, 5, '1119360021460566017', most]
  for (const tweet of values) {
    const created = await app.inject({ method: 'POST', url: '/replies.json', payload: { reply: { tweet } } })
    t.equal(created.statusCode, 201, created.body)
  }
  const found = async (query: string): Promise<unknown[]> => {
    const answer = await app.inject(`/replies.json?${query}`)
    return answer.json().replies.map(({ tweet }: { tweet: unknown }) => tweet)
  }
  t.strictSame(await found('sort=tweet'), sorted)
  t.strictSame(await found('sort=-tweet'), [...sorted].reverse())
  for (const [query, from, to] of [
    ['tweet[gt]=5', 5, 7], ['tweet[gte]=5', 4, 7], ['tweet[lt]=-9007199254740993', 1, 2], ['tweet[lte]=-7', 1, 4],
    ['tweet[gt]=1119360021460566016', 5, 7], ['tweet[gt]=1119360021460566017', 6, 7],
    ['tweet=1119360021460566017', 5, 6], ['tweet=1119360021460566016', 5, 5], ['tweet[in]=5,1119360021460566017', 4, 6]
  ] as const) t.strictSame(await found(`${query}&sort=tweet`), sorted.slice(from, to), query)
  for (const tweet of ['5', '09007199254740993', '9223372036854775808', 1.5]) {
    const refused = await app.inject({ method: 'POST', url: '/replies.json', payload: { reply: { tweet } } })
    t.equal(refused.statusCode, 422)
    t.strictSame(refused.json().errors, { tweet: ['must be an integer or null'] }, String(tweet))
  }
})

const JSON_TYPE = { accept: 'application/json' }
const attributes = {
  type: 'object',
  properties: {
    title: { type: 'string' },
    email: { type: ['string', 'null'] },
    tags: { type: 'array', items: { type: 'string' } },
    settings: { type: 'object', additionalProperties: { type: 'integer' } }
  }
} as const

type Options = Partial<Parameters<typeof build>[1] & object>

/** Opens a store of `posts` with a unique `email`, whose rows have these attributes. */
type OpenStore = () => Store

function openSqlite (version: string): Store {
  const database = new Database(':memory:') as unknown as SqliteDatabase
  const columns = version === 'values' ? '' : ', version INTEGER NOT NULL DEFAULT 1'
  database.exec(`CREATE TABLE posts
    (id INTEGER PRIMARY KEY AUTOINCREMENT, title TEXT, email TEXT UNIQUE, tags TEXT, settings TEXT${columns})`)
  return sqliteStore({ database, table: 'posts', attributes, unique: ['email'], version }) as Store
}

/** Makes a store whose methods begin and answer some turns of the queue of promises later than they are called. */
function makeLate (store: Store): Store {
  async function wait (): Promise<void> {
    for (let turn = 0; turn < 3; turn++) await Promise.resolve()
  }
  async function late <T> (call: () => T): Promise<Awaited<T>> {
    await wait()
    const answer = await call()
    await wait()
    return answer
  }
  return {
    capabilities: store.capabilities,
    list: (query, context) => store.list(query, context),
    count: (...parameters) => late(() => (store.count as NonNullable<Store['count']>)(...parameters)),
    get: (...parameters) => late(() => store.get(...parameters)),
    create: (...parameters) => late(() => store.create(...parameters)),
    update: (...parameters) => late(() => store.update(...parameters)),
    delete: (...parameters) => late(() => store.delete(...parameters))
  } as Store
}

const STORES: Readonly<Record<string, OpenStore>> = {
  'SQLite with a counted version': () => openSqlite('version'),
  'SQLite with the version \'values\'': () => openSqlite('values'),
  'the memory store': () => memoryStore({ unique: ['email'] }) as Store,
  'a memory store that answers late': () => makeLate(memoryStore({ unique: ['email'] }) as Store)
}

async function open (t: Test, openStore: OpenStore, options: Options = {}): Promise<FastifyInstance> {
  return build(t, { name: 'posts', store: openStore(), attributes, ...options } as Parameters<typeof build>[1])
}

async function post (app: FastifyInstance, values: object): Promise<Response> {
  return app.inject({ method: 'POST', url: '/posts', headers: JSON_TYPE, payload: { post: values } })
}

async function put (app: FastifyInstance, values: object, etag?: string): Promise<Response> {
  const headers = { ...JSON_TYPE, ...(etag !== undefined && { 'if-match': etag }) }
  return app.inject({ method: 'PUT', url: '/posts', headers, payload: { id: 1, post: values } })
}

function statusesOf (responses: readonly Response[]): number[] {
  return responses.map(({ statusCode }) => statusCode).sort((a, b) => a - b)
}

for (const [name, openStore] of Object.entries(STORES)) {
  t.test(`${name}: of writes that name one version, one succeeds`, async (t) => {
    for (const values of [(index: number) => ({ title: `T${index}` }),
      (index: number) => ({ title: `T${index}`, tags: [`${index}`] })]) {
      const app = await open(t, openStore)
      const etag = String((await post(app, { title: 'a', tags: [] })).headers.etag)
      const written = await Promise.all(Array.from({ length: 8 }, (_, index) => put(app, values(index), etag)))
      t.strictSame(statusesOf(written), [200, ...new Array<number>(7).fill(412)])
      const winner = written.find(({ statusCode }) => statusCode === 200)
      const stored = (await app.inject({ url: '/posts/1', headers: JSON_TYPE })).json()
      t.strictSame(stored, winner?.json(), 'the row has the values of the one')
      t.ok(
        written.every(
          (response) => response.statusCode === 200 || response.headers.etag === undefined ||
            response.headers.etag === winner?.headers.etag
        )
      )
    }
  })

  t.test(`${name}: of handlers that proceed with one version, one succeeds`, async (t) => {
    let calls = 0
    const app = await open(t, openStore, {
      actions: {
        async update (context: { proceed (): unknown }) {
          calls++
          await Promise.resolve()
          return context.proceed()
        }
      }
    } as Options)
    const etag = String((await post(app, { title: 'a' })).headers.etag)
    const written = await Promise.all(Array.from({ length: 4 }, (_, index) => put(app, { title: `T${index}` }, etag)))
    t.strictSame(statusesOf(written), [200, 412, 412, 412])
    t.ok(calls >= 1 && calls <= 4)
  })

  t.test(`${name}: updates by XML, which are compared with the row, and others at the same time are all kept`, async (
    t
  ) => {
    const app = await open(t, openStore)
    await post(app, { title: 'a', email: 'a@example.com', tags: [] })
    // The client sends the whole row back as it has read it, with one change.
    const headers = { accept: 'application/xml', 'content-type': 'application/xml' }
    const shown = (await app.inject({ url: '/posts/1', headers })).body
    const payload = shown.replace('<title>a</title>', '<title>b</title>')
    const putXml = async (): Promise<Response> => app.inject({ method: 'PUT', url: '/posts', headers, payload })
    const written = await Promise.all([putXml(), put(app, { email: 'b@example.com' }), put(app, { tags: ['b'] })])
    t.strictSame(statusesOf(written), [200, 200, 200])
    const stored = (await app.inject({ url: '/posts/1', headers: JSON_TYPE })).json()
    t.equal(stored.post.title, 'b')
  })

  t.test(`${name}: merge patches of different members at one time are all kept`, async (t) => {
    const app = await open(t, openStore, { writes: 'member' })
    await post(app, { settings: {} })
    const patch = async (member: string): Promise<Response> =>
      app.inject({
        method: 'PATCH',
        url: '/posts/1',
        headers: { ...JSON_TYPE, 'content-type': 'application/merge-patch+json' },
        payload: JSON.stringify({ post: { settings: { [member]: 1 } } })
      })
    const written = await Promise.all(['a', 'b', 'c', 'd'].map(patch))
    t.strictSame(statusesOf(written), [200, 200, 200, 200])
    const stored = (await app.inject({ url: '/posts/1', headers: JSON_TYPE })).json()
    t.strictSame(stored.post.settings, { a: 1, b: 1, c: 1, d: 1 })
  })
}

t.test('of creates of one singleton with one unique value at the same time, one succeeds', async (t) => {
  const attributes = { type: 'object', properties: { email: { type: 'string' } } } as const
  for (const store of [memoryStore({ unique: ['email'] }), makeLate(memoryStore({ unique: ['email'] }) as Store)]) {
    const app = await draft(t, (map) => map.resource('profile', { store, attributes }))
    const create = async (): Promise<Response> =>
      app.inject({
        method: 'POST', url: '/profile', headers: JSON_TYPE, payload: { profile: { email: 'a@example.com' } }
      })
    t.strictSame(statusesOf(await Promise.all([create(), create(), create()])), [201, 409, 409])
  }
})

const INTEGER = { type: 'integer' }
const STRING = { type: 'string' }

/** Adds the keywords of a constraint to the schema of the column `a`. Another column is called `b`. */
function read (check: string, schema: object, dialect: 'sqlite' | 'postgres' = 'sqlite'): object {
  const demands = readCheck(tokenize(check, dialect),
    (name) => (['a', 'b'].includes(name.toLowerCase()) ? name.toLowerCase() : undefined))
  return addKeywords({ ...schema }, demands.filter(({ column }) => column === 'a'), true)
}

const READ: ReadonlyArray<readonly [check: string, schema: object, keywords: object]> = [
  ['A >= 0', INTEGER, { minimum: 0 }],
  ['[a] >= 0 AND `a` < 5', INTEGER, { minimum: 0, exclusiveMaximum: 5 }],
  ['a >= 0 AND a >= 3 AND a <= 9 AND a <= 7', INTEGER, { minimum: 3, maximum: 7 }],
  ['0 <= a AND 9 > a', INTEGER, { minimum: 0, exclusiveMaximum: 9 }],
  ['a > +1000', INTEGER, { exclusiveMinimum: 1000 }],
  ['a BETWEEN 1 AND 5 AND b > 3', INTEGER, { minimum: 1, maximum: 5 }],
  ['a == 5', INTEGER, { enum: [5] }],
  ['5 = a', INTEGER, { enum: [5] }],
  ['a IN (1, 2, 2) AND a IN (2, 3)', INTEGER, { enum: [2] }],
  ['a IN (1) AND a IN (2)', INTEGER, { enum: [1] }],
  ['a IN ("x", "b""c")', STRING, { enum: ['x', 'b"c'] }],
  ['a > 0 AND b LIKE \'x\'', INTEGER, { exclusiveMinimum: 0 }],
  ['a > 0 AND f(b, (1)) > 5', INTEGER, { exclusiveMinimum: 0 }],
  ['a > 0 AND b IS NOT NULL', INTEGER, { exclusiveMinimum: 0 }],
  ['length(a) > 2.5 AND length(a) < 8.5', STRING, { minLength: 3, maxLength: 8 }],
  ['length(a) >= 2 AND length(a) == 4', STRING, { minLength: 4, maxLength: 4 }],
  ['a != \'\'', STRING, { minLength: 1 }]
]

const LEFT: ReadonlyArray<readonly [check: string, schema: object]> = [
  ['', INTEGER], ['a', INTEGER], ['a >', INTEGER], ['a > \'5\'', INTEGER], ['a IS NULL OR a > 5', INTEGER],
  ['a = \'x\' OR a = \'y\'', STRING], ['a > 0 AND (b BETWEEN 1 AND 2 + 3)', INTEGER], ['f(b AND a > 5 AND b)', INTEGER],
  ['b = (1 AND a > 5 AND 1)', INTEGER], ['(b AND a > 5) = 0', INTEGER], ['(a > 5', INTEGER], ['a > 5)', INTEGER],
  ['a > 5, 6', INTEGER], ['(a, b) = (1, 2)', INTEGER], ['a > 5 + 1', INTEGER], ['a > 5 > 0', INTEGER],
  ['- a > 5', INTEGER], ['a > - b', INTEGER], ['a > -\'5\'', INTEGER], ['a > b', INTEGER], ['a > c', INTEGER],
  ['a > 9007199254740993', INTEGER], ['a > 5 OR b > 5', INTEGER], ['a > 5 OR a < 3', INTEGER],
  ['b IS NULL OR a > 5', INTEGER], ['b IS NULL OR a = 5 OR a = 6', INTEGER], ['a + 1 IS NULL OR a > 5', INTEGER],
  ['a = 5 OR b = 6', INTEGER], ['a = 5 OR length(a) = 6', STRING], ['a IS NULL', INTEGER], ['a IS NOT NULL', INTEGER],
  ['a IS 5', INTEGER], ['NOT a > 5', INTEGER], ['NOT a > 5 AND b = 1', INTEGER], ['a NOT IN (1, 2)', INTEGER],
  ['a NOT BETWEEN 1 AND a > 3', INTEGER], ['a BETWEEN 1 + 2 AND a > 3', INTEGER],
  ['CASE WHEN b THEN b AND a > 3 AND b END', INTEGER], ['a IN (1, NULL)', INTEGER], ['a IN (1, \'x\')', INTEGER],
  ['a IN (1, b)', INTEGER], ['a IN (1 2)', INTEGER], ['a IN 1', INTEGER], ['a IN (1', INTEGER], ['length(a', STRING],
  ['5 IS NULL OR a > 5', INTEGER], ['a IN 1 AND a > b', INTEGER], ['a > * 5', INTEGER], ['length(a 5) = 3', STRING],
  ['a IN b', INTEGER], ['1 IN (a)', INTEGER], ['1 = 1', INTEGER], ['a <> 5', INTEGER], ['a <> \'x\'', STRING],
  ['a > \'x\'', STRING], ['a = 5', STRING], ['a = \'x\' COLLATE NOCASE', STRING], ['a COLLATE NOCASE = \'x\'', STRING],
  ['length(a, b) = 5', STRING], ['length() = 5', STRING], ['length(b + 1) = 5', STRING], ['length(a) < 0', STRING],
  ['length(a) <> 5', STRING], ['length(a) = \'5\'', STRING], ['length(a) = 5', { type: 'string', format: 'uuid' }],
  ['length(a) = 5', { type: 'string', contentEncoding: 'base64' }],
  ['a = \'x\'', { type: 'string', format: 'decimal' }], ['a = 5', { type: 'boolean' }], ['upper(a) = \'X\'', STRING],
  ['a = x\'00\'', STRING]
]

/** Expressions as PostgreSQL writes them. */
const CAST: ReadonlyArray<readonly [check: string, schema: object, keywords: object]> = [
  ["((a)::text = ANY ((ARRAY['x'::character varying, 'y'::character varying(5)])::text[]))", STRING,
    { enum: ['x', 'y'] }],
  ["(a >= '-5'::integer)", INTEGER, { minimum: -5 }], ['((a)::numeric >= 0.5)', { type: 'number' }, { minimum: 0.5 }],
  ["(a = 'x'::public.\"My Type\")", STRING, { enum: ['x'] }], ["(a = E'x\\\\y')", STRING, {}],
  ["(a > '2020-01-01'::timestamp(3) without time zone)", STRING, {}], ['((a)::integer > 5)', { type: 'number' }, {}],
  ["((a)::character varying(3) = 'x')", STRING, {}], ['(a <> ALL (ARRAY[1, 2]))', INTEGER, {}],
  ['(a > ANY (ARRAY[1, 2]))', INTEGER, {}], ['(a = ANY (b))', INTEGER, {}],
  ["(a = ANY ('{1,2}'::integer[]))", INTEGER, {}], ["(a = 'x'::text[", STRING, {}], ["(a = 'x'::", STRING, {}]
]

t.test('simple conditions become keywords', async (t) => {
  for (const [check, schema, keywords] of READ) t.strictSame(read(check, schema), { ...schema, ...keywords }, check)
  for (const [check, schema, keywords] of CAST) {
    t.strictSame(read(check, schema, 'postgres'), { ...schema, ...keywords }, check)
  }
})

t.test('other conditions are left to the database', async (t) => {
  for (const [check, schema] of LEFT) t.strictSame(read(check, schema), schema, check)
})

t.test('texts that are equal without being the same get no keywords', async (t) => {
  const demands = readCheck(tokenize("a IN ('x') AND length(a) = 1 AND a <> ''", 'sqlite'), (name) =>
    name === 'a' ? name : undefined)
  t.equal(demands.length, 3)
  t.strictSame(addKeywords(STRING, demands, false), STRING)
})

const string = { type: 'string' }
const format = (name: string): Schema => ({ type: 'string', format: name })
const array = (items: Schema): Schema => ({ type: 'array', items })

t.test('a column of another type keeps no values', async (t) => {
  const cases: ReadonlyArray<readonly [schema: Schema, ...types: string[]]> = [
    [string, 'integer', 'bytea', 'numeric(10,2)', 'jsonb', 'timestamp without time zone', 'uuid',
      'character varying(20)', 'character(3)'],
    [format('uuid'), 'integer', 'character varying(35)'],
    [format('date-time'), 'timestamp without time zone', 'date', 'character varying(20)'],
    [format('date-time-local'), 'timestamp with time zone', 'time without time zone'],
    [format('time-local'), 'time with time zone'], [format('date'), 'timestamp without time zone'],
    [format('decimal'), 'text', 'real', 'money', 'numeric(2,3)'],
    [{ ...string, contentEncoding: 'base64' }, 'text', 'jsonb'],
    [{ type: 'integer' }, 'numeric', 'text', 'real'], [{ type: 'number' }, 'numeric', 'integer'],
    [{ type: 'boolean' }, 'integer', 'text'], [{}, 'text', 'bytea', 'integer[]'],
    [array(string), 'text', 'integer[]', 'box[]'], [array({}), 'text[]']
  ]
  for (const [schema, ...types] of cases) {
    const values = valuesOf(shapeOf(schema), false)
    for (const type of types) t.equal(findCodec(values, type), undefined, `${JSON.stringify(schema)} in ${type}`)
    t.not(findCodec(values, columnTypeOf(values)), undefined, `${JSON.stringify(schema)} in ${columnTypeOf(values)}`)
  }
})

t.test('a readOnly attribute may have a shorter column', async (t) => {
  const values = valuesOf(shapeOf(string), true)
  for (const type of ['character varying(20)', 'character(3)']) t.not(findCodec(values, type), undefined, type)
  for (const name of ['uuid', 'date-time']) {
    t.not(findCodec(valuesOf(shapeOf(format(name)), true), 'character varying(20)'), undefined, name)
  }
})

t.test('a column of texts keeps a UUID, and one of times keeps the digits of the second that it has', async (t) => {
  t.not(findCodec(valuesOf(shapeOf(format('uuid')), false), 'text'), undefined)
  const codec = findCodec(valuesOf(shapeOf(format('time-local')), false), 'time(0) without time zone')
  t.strictSame(['10:00:00', '10:00:00.5'].map((value) => codec?.findFault?.(value)),
    [undefined, 'must not have digits after the point of the seconds'])
})

t.test('a decimal has a column of its digits', async (t) => {
  t.equal(columnTypeOf(valuesOf(shapeOf({ ...format('decimal'), precision: 10, scale: 2 }), false)), 'numeric(10,2)')
  t.equal(columnTypeOf(valuesOf(shapeOf(format('decimal')), false)), 'numeric')
})

t.test('an id is a safe integer', async (t) => {
  for (const raw of [5, 5n, '5']) t.equal(decodeInteger(raw), 5)
  for (const raw of [null, 2n ** 53n, '9007199254740993', 'x']) {
    t.throws(() => decodeInteger(raw), { message: /which JavaScript cannot represent exactly/ })
  }
})
