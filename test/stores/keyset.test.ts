import t from 'tap'
import type { Filter, Order, Position } from '../../lib/core/stores/store.js'
import { rangesAfter, rangesOf } from '../../lib/sql/keyset.js'

const NEVER_NULL = new Set(['id', 'title'])

function orderOf (names: string): Order {
  return names.split(' ').map((name) => ({ by: name.replace('-', ''), descending: name.startsWith('-') }))
}

/** Returns the ranges as texts, such as `rating = 3, id > 7: id`. */
function show (ranges: ReturnType<typeof rangesAfter>): readonly string[] {
  return ranges.map(({ conditions, order }) => [
    conditions.map(({ by, is, value }) => `${by} ${is} ${String(value)}`).join(', '),
    order.map(({ by, descending }) => `${descending ? '-' : ''}${by}`).join(' ')
  ].join(': '))
}

t.test('the ranges after a position follow each other in the order', async (t) => {
  const cases: ReadonlyArray<readonly [order: string, after: Position | undefined, ranges: readonly string[]]> = [
    ['id', undefined, [': id']],
    ['-id', undefined, [': -id']],
    ['title id', undefined, [': title id']],
    ['rating id', undefined, ['rating = null: rating id', 'rating > null: rating id']],
    ['-rating -id', undefined, ['rating > null: -rating -id', 'rating = null: -rating -id']],
    ['id', [7], ['id > 7: id']],
    ['-id', [7], ['id < 7: -id']],
    ['title id', ['T', 7], ['title = T, id > 7: id', 'title > T: title id']],
    ['-title -id', ['T', 7], ['title = T, id < 7: -id', 'title < T: -title -id']],
    ['rating id', [3, 7], ['rating = 3, id > 7: id', 'rating > 3: rating id']],
    ['rating id', [null, 7], ['rating = null, id > 7: id', 'rating > null: rating id']],
    ['-rating -id', [3, 7], ['rating = 3, id < 7: -id', 'rating < 3: -rating -id', 'rating = null: -rating -id']],
    ['-rating -id', [null, 7], ['rating = null, id < 7: -id']],
    ['title -rating id', ['T', 3, 7], [
      'title = T, rating = 3, id > 7: id', 'title = T, rating < 3: -rating id', 'title = T, rating = null: -rating id',
      'title > T: title -rating id'
    ]]
  ]
  for (const [order, after, ranges] of cases) {
    const what = JSON.stringify([order, after])
    t.strictSame(show(rangesAfter(orderOf(order), after, NEVER_NULL)), ranges, what)
    t.strictSame(show(rangesOf({ order: orderOf(order), filter: [] }, after, NEVER_NULL)), ranges, what)
  }
})

t.test('a range of nulls is left out if a condition excludes nulls', async (t) => {
  const all = ['rating = null: rating id', 'rating > null: rating id']
  const cases: ReadonlyArray<readonly [condition: Filter[number], ranges: readonly string[]]> = [
    [{ attribute: 'rating', operator: 'eq', value: 3 }, all.slice(1)],
    [{ attribute: 'rating', operator: 'in', value: [3] }, all.slice(1)],
    [{ attribute: 'rating', operator: 'null', value: false }, all.slice(1)],
    [{ attribute: 'rating', operator: 'null', value: true }, all],
    [{ attribute: 'rating', operator: 'not', value: 3 }, all],
    [{ attribute: 'title', operator: 'eq', value: 'T' }, all]
  ]
  for (const [condition, ranges] of cases) {
    for (const filter of [[condition], [{ attribute: 'title', operator: 'not', value: 'x' }, condition]] as Filter[]) {
      t.strictSame(
        show(rangesOf({ order: orderOf('rating id'), filter }, undefined, NEVER_NULL)), ranges, JSON.stringify(filter)
      )
    }
  }
  const filter: Filter = [{ attribute: 'rating', operator: 'gt', value: 1 }]
  t.strictSame(show(rangesOf({ order: orderOf('-rating -id'), filter }, [3, 7], NEVER_NULL)),
    ['rating = 3, id < 7: -id', 'rating < 3: -rating -id'], 'after a position')
  t.strictSame(show(rangesOf({ order: orderOf('-grade rating id'), filter }, [3, null, 7], NEVER_NULL)),
    ['grade = 3, rating > null: rating id', 'grade < 3: -grade rating id', 'grade = null: -grade rating id'])
  const mixed: Filter = [{ attribute: 'rating', operator: 'gt', value: 1 }]
  t.strictSame(show(rangesOf({ order: orderOf('-grade id'), filter: mixed }, [3, 7], NEVER_NULL)),
    ['grade = 3, id > 7: id', 'grade < 3: -grade id', 'grade = null: -grade id'], 'a condition on another attribute')
})
