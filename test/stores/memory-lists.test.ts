import t from 'tap'
import { equalTo } from '../../lib/contract/scenarios/filters.js'
import { caseVariants, ignoringCase } from '../../lib/core/util/case-folding.js'
import {
  comparePositions, type Id, memoryStore, type MemoryStore, type Order, positionOf, type Query, type Row, type Scalar
} from '../../lib/index.js'
import { anyVersion, anywhere, ids, numbers, query, rows, seeded } from '../support/stores/memory-rows.js'

/** Returns the order of `by('-rating', 'id')`. */
function by (...names: string[]): Order {
  return names.map((name) => ({ by: name.replace('-', ''), descending: name.startsWith('-') }))
}

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

  await t.test('a limit and a position are exact', async t => {
    const store = seeded(1300)
    for (const limit of [1, 2, 511, 512, 513, 1024, 1299, 1300, 1301, 5000]) {
      t.strictSame(ids(store, { limit }), numbers(1, Math.min(limit, 1300)), `limit ${limit}`)
    }
    t.strictSame(ids(store, { limit: 0 }), [])
    for (const after of [1, 2, 511, 512, 513, 1299]) {
      t.strictSame(ids(store, { after: [after] }), numbers(after + 1, 1300), `after ${after}`)
    }
    for (const after of [1300, 1301, Number.MAX_SAFE_INTEGER]) {
      t.strictSame(ids(store, { after: [after] }), [], `after ${after}`)
    }
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

t.test('a list can be read while rows change', async t => {
  await t.test('a batch is read only when it is pulled', async t => {
    const store = seeded(2000)
    const list = store.list(query())[Symbol.iterator]()
    const first = list.next().value as Row[]
    for (const id of numbers(first.length + 1, 2000)) store.delete(id, anyVersion)
    t.strictSame(list.next(), { done: true, value: undefined }, 'rows that were not pulled have not been read')
  })

  await t.test('deletions do not disturb a list', async t => {
    for (const [name, gone] of [['before its position', numbers(1, 1500)], ['around its position', numbers(300, 1700)],
      ['of every other row', numbers(1, 2000).filter((id) =>
        id % 3 !== 0)]] as const) {
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
    const [one, other] = [store.list(query())[Symbol.iterator](),
      store.list(query({ after: [700] }))[Symbol.iterator]()]
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

  const orders = [['id'], ['-id'],
    ...['title', 'rating', 'published', 'nothing', 'constructor'].flatMap(
      (name) => [[name, 'id'], [`-${name}`, 'id'], [name, '-id'], [`-${name}`, '-id']]
    ),
    ['rating', 'title', 'id'], ['-rating', 'title', 'id'], ['published', '-rating', 'title', '-id']]
  for (const names of orders) {
    await t.test(names.join(), async t => {
      const [store, order] = [mixed(), by(...names)]
      const expected = sorted(rows(store), order)
      t.strictSame(rows(store, { order }), expected)
      for (const limit of [0, 1, 7, 60, 100]) {
        t.strictSame(rows(store, { order, limit }), expected.slice(0, limit), `limit ${limit}`)
      }
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
    for (const attributes of [{ rating: 2 }, { rating: null }, {}, { rating: 1 }, { rating: undefined }]) {
      store.create(attributes, anywhere)
    }
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
    t.strictSame(rows(store, { order: by('title', 'id') }).map(({ attributes }) =>
      attributes.title), ['', '10', '9', 'B', 'a', 'aa', 'a\uffee', 'a\u{10000}', 'b', '\ud7ff', '\ufffd', '\u{1f984}'])
  })

  await t.test('the order holds within a scope and a filter', async t => {
    const [store, order] = [mixed(), by('-rating', 'id')]
    const [scope, filter] = [{ tenant: 'a' }, equalTo({ published: true })]
    const expected = sorted(rows(store), order).filter(({ attributes }) =>
      attributes.tenant === 'a' && attributes.published === true)
    t.ok(expected.length > 5)
    t.strictSame(rows(store, { order, scope, filter }), expected)
    t.strictSame(rows(store, { order, scope, filter, limit: 3 }), expected.slice(0, 3))
    t.strictSame(rows(store, { order, scope, filter, after: positionOf(expected[2] as Row, order) }), expected.slice(3))
  })

  await t.test('a long list gives the same order in a short page and as a whole', async t => {
    const store = memoryStore()
    for (const number of numbers(1, 3000)) store.create({ number: (number * 7919) % 3001 }, anywhere)
    const values = (parts: Partial<Query>): unknown[] =>
      rows(store, { order: by('number', 'id'), ...parts }).map(({ attributes }) => attributes.number)
    t.strictSame(values({ limit: 3 }), [1, 2, 3])
    t.strictSame(values({ limit: 3, after: [2990, 3001] }), [2991, 2992, 2993])
    t.strictSame(values({ limit: 700 }), numbers(1, 700))
    t.strictSame(values({}), numbers(1, 3000))
    const lengths = [...store.list(query({ order: by('number', 'id') }))].map(({ length }) => length)
    t.ok(lengths.every((length) => length > 0 && length <= 1000), String(lengths))
  })

  await t.test('an ordered list omits deleted rows, and has those created at a later position', async t => {
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
  const all = [{ title: 'a', rating: 1 }, { title: 'A', rating: null }, { title: '1' }, { title: 1, rating: 0 },
    { title: '', rating: 1 }, { title: true }, {}]
  for (const attributes of all) store.create(attributes, anywhere)
  const cases: [values: Record<string, Scalar>, found: Id[]][] = [
    [{}, [1, 2, 3, 4, 5, 6, 7]],
    [{ title: 'a' }, [1]], [{ title: 'A' }, [2]], [{ title: '1' }, [3]], [{ title: 1 }, [4]], [{ title: '' }, [5]],
    [{ title: true }, [6]], [{ title: null }, [7]], [{ title: 'x' }, []],
    [{ rating: 1 }, [1, 5]], [{ rating: 0 }, [4]], [{ rating: null }, [2, 3, 6, 7]], [{ rating: 1, title: '' }, [5]],
    [{ rating: null, title: null }, [7]],
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
  t.strictSame(ids(long, { filter: equalTo({ even: true }), limit: 600, after: [1000] }),
    numbers(501, 1100).map((half) =>
      half * 2), 'a limit counts the found rows')
  t.end()
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

t.test('some variants', async (t) => {
  for (const group of ['kK\u212a', 'sSſ', 'σςΣ', 'ßẞ', '\u0390\u1fd3', 'ﬅﬆ', 'iI', 'ı', 'İ', 'ﬁ', '𐐨𐐀', '1', '中']) {
    for (const character of group) {
      t.strictSame(Array.from(caseVariants(character)).sort(), Array.from(group).sort(), group)
    }
  }
})

t.test('a text is taken as it is, apart from its case', async (t) => {
  const text = 'aβ^$\\.*+?()[]{}|/-ſ'
  t.ok(ignoringCase(text, false).test(`x${text.toUpperCase()}`))
  t.notOk(ignoringCase(text, true).test(`x${text}`))
  t.ok(ignoringCase(text, true).test(text))
  t.notOk(ignoringCase('.', false).test('x'))
  t.notOk(ignoringCase('ss', false).test('ß'))
})
