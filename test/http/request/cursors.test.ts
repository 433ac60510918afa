import t from 'tap'
import { parseCursor, writeCursor } from '../../../lib/core/request/list-query.js'
import { type IdType, makeResource, type Resource } from '../../../lib/core/resource/resource.js'
import type { Row } from '../../../lib/core/resource/row.js'
import { BY_ID } from '../../../lib/core/stores/order.js'
import type { Order } from '../../../lib/core/stores/store.js'

const properties = {
  title: { type: 'string' },
  rating: { type: ['integer', 'null'] },
  ratio: { type: 'number' },
  done: { type: 'boolean' },
  price: { type: 'string', format: 'decimal' },
  owner: { type: 'string', format: 'uuid' }
} as const
const place = {
  plural: 'posts',
  singular: 'post',
  path: '/posts',
  memberWrites: false,
  singleton: false,
  actions: new Set(['list'] as const),
  foreignKey: undefined,
  longestId: 100,
  key: []
}
const REFUSED = { code: 'FST_RESOURCES_INVALID_QUERY', statusCode: 400 }
const UUID = '01890a5d-ac96-774b-bcce-b302099a8057'

function resourceOf (idType: IdType): Resource {
  return makeResource(place, idType, { type: 'object', properties })
}

/** Returns the order of these criteria and of the id behind them. */
function orderOf (...names: readonly string[]): Order {
  return names.map((name) => ({ by: name.replace('-', ''), descending: name.startsWith('-') }))
}

const row = (attributes: object, id: string | number = 7): Row => ({ id, version: '1', attributes: { ...attributes } })
const encode = (parts: unknown): string => Buffer.from(JSON.stringify(parts)).toString('base64url')
const posts = resourceOf('integer')

t.test('a cursor is the position of a row, or its id where that is too long or not in the schema', async (t) => {
  const cases: ReadonlyArray<readonly [order: Order, attributes: object, parts: unknown, place: unknown]> = [
    [BY_ID, {}, [7], [7]],
    [orderOf('-id'), {}, ['-id', 7], [7]],
    [orderOf('title', 'id'), { title: 'T' }, ['title', 'T', 7], ['T', 7]],
    [orderOf('-title', '-id'), { title: 'T' }, ['-title,-id', 'T', 7], ['T', 7]],
    [orderOf('-rating', 'title', 'id'), { rating: 3, title: 'T' }, ['-rating,title', 3, 'T', 7], [3, 'T', 7]],
    [orderOf('rating', 'id'), {}, ['rating', null, 7], [null, 7]],
    [orderOf('done', 'id'), { done: false }, ['done', false, 7], [false, 7]],
    [orderOf('ratio', 'id'), { ratio: 0.5 }, ['ratio', 0.5, 7], [0.5, 7]],
    [orderOf('title', 'id'), { title: 'x'.repeat(1486) }, ['title', 'x'.repeat(1486), 7], ['x'.repeat(1486), 7]],
    [orderOf('title', 'id'), { title: 'x'.repeat(1487) }, ['title', [7]], 7],
    [orderOf('title', 'id'), { title: 5 }, ['title', [7]], 7]
  ]
  for (const [order, attributes, parts, place] of cases) {
    const cursor = writeCursor(row(attributes), order, posts)
    const what = JSON.stringify(parts).slice(0, 60)
    t.strictSame(JSON.parse(Buffer.from(cursor, 'base64url').toString()), parts, what)
    t.strictSame(parseCursor('after', cursor, order, posts), place, what)
  }
  const [most, more] = [1486, 1487].map((length) =>
    writeCursor(row({ title: 'x'.repeat(length) }), orderOf('title', 'id'), posts).length)
  t.strictSame([most, more], [2000, 18], 'a cursor has at most 2,000 characters')
})

t.test('a cursor that this list has not written is refused', async (t) => {
  const byTitle = orderOf('title', 'id')
  const long = encode(['title', 'x'.repeat(1487), 7])
  const cases: ReadonlyArray<readonly [order: Order, text: string]> = [
    [BY_ID, ''], [BY_ID, 'x'], [BY_ID, encode({})], [BY_ID, encode('7')], [BY_ID, encode(7)], [BY_ID, encode([])],
    [BY_ID, encode([7, 8])], [BY_ID, encode([[7]])], [BY_ID, encode(['7'])], [BY_ID, encode([null])],
    [BY_ID, encode([1.5])], [BY_ID, encode([{ toString: 1 }])], [BY_ID, encode([true])],
    [BY_ID, `${encode([7])}=`], [BY_ID, Buffer.from('[7 ]').toString('base64url')],
    [orderOf('-id'), encode([7])], [orderOf('-id'), encode(['-id', [7]])],
    [byTitle, encode(['T', 7])], [byTitle, encode(['-title', 'T', 7])], [byTitle, encode(['title', 'T'])],
    [byTitle, encode(['title', 'T', 7, 8])], [byTitle, encode(['title', 'T', 'x'])], [byTitle, encode(['title'])],
    [byTitle, encode(['title', [7, 8]])], [byTitle, encode(['title', []])], [byTitle, encode(['title', ['7']])],
    [byTitle, encode(['title', [7], 8])], [byTitle, encode(['title', 7])], [byTitle, long],
    [orderOf('title', 'rating', 'id'), encode(['title,rating', 'T', 7])],
    ...['T', 5, true].map((value) => [orderOf('missing', 'id'), encode(['missing', value, 7])] as const)
  ]
  for (const [order, text] of cases) {
    const what = Buffer.from(text, 'base64url').toString().slice(0, 60)
    for (const [parameter, relation] of [['after', 'next'], ['before', 'prev']] as const) {
      t.throws(() => parseCursor(parameter, text, order, posts), {
        statusCode: 400, message: new RegExp(`"${parameter}" must come from .*${relation}`)
      }, what)
    }
  }
})

t.test('a position has values that the schema allows', async (t) => {
  const cases: ReadonlyArray<readonly [by: string, allowed: readonly unknown[], refused: readonly unknown[]]> = [
    ['title', ['', 'T', null], [1, true, '\0', '\ud800', [], {}]],
    ['rating', [0, -5, '9007199254740993', null], [1.5, '1', 'x', 2 ** 53, true]],
    ['ratio', [0.5, 3, 1e300, null], ['1', 'x', true]],
    ['done', [true, false, null], [0, 'true', {}]],
    ['price', ['1.50', '-2', null], ['x', '', 1]],
    ['owner', [UUID, null], ['x', UUID.toUpperCase().slice(1)]]
  ]
  for (const [by, allowed, refused] of cases) {
    const order = orderOf(by, 'id')
    const read = (value: unknown) => () => parseCursor('after', encode([by, value, 7]), order, posts)
    for (const value of allowed) t.strictSame(read(value)(), [value, 7], `${by} ${JSON.stringify(value)}`)
    for (const value of refused) t.throws(read(value), REFUSED, `${by} ${JSON.stringify(value)}`)
  }
})

t.test('an id in a cursor has the type of the ids', async (t) => {
  const cases: ReadonlyArray<readonly [type: IdType, allowed: readonly unknown[], refused: readonly unknown[]]> = [
    ['integer', [7, '9007199254740993'], ['7', '%[1]', 'x', null, ['7'], 1.5]],
    ['uuid', [UUID], [7, 'x', `%[${UUID}`]],
    ['string', ['a', '%[1]', 'x%['], [7, '', '.', '%[\0', null]]
  ]
  for (const [type, allowed, refused] of cases) {
    const resource = resourceOf(type)
    const read = (id: unknown) => () => parseCursor('before', encode([id]), BY_ID, resource)
    for (const id of allowed) t.strictSame(read(id)(), [id], `${type} ${String(id)}`)
    for (const id of refused) t.throws(read(id), REFUSED, `${type} ${JSON.stringify(id)}`)
  }
})
