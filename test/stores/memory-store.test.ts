import t, { type Test } from 'tap'
import v8 from 'node:v8'
import vm from 'node:vm'
import {
  type Attributes, comparePositions, DuplicateError, type Id, memoryStore, memoryStores, type Order, positionOf,
  type Row, type Scalar, type Scope
} from '../../lib/index.js'
import { caseVariants, ignoringCase } from '../../lib/core/util/case-folding.js'
import { isLongInteger, readInteger } from '../../lib/core/util/decimal.js'
import { build } from '../support/helper.js'
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
