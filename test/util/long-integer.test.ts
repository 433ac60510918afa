import t from 'tap'
import { build } from '../support/helper.js'
import { memoryStore } from '../../lib/index.js'
import { isLongInteger, readInteger } from '../../lib/core/util/decimal.js'

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
