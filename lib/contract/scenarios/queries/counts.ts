import assert from 'node:assert/strict'
import type { Attributes } from '../../../core/schema/types.js'
import { positionOf } from '../../../core/stores/order.js'
import type { CountQuery } from '../../../core/stores/store.js'
import { existing, idsOf, rowOf, same, valueOf } from '../../assertions.js'
import { type Checks, type Subject, times } from '../../subject.js'
import { equalTo } from '../filters.js'
import { inOrder } from '../lists.js'
import { ordersBy, seedTied } from '../orders.js'

export const countChecks: Checks = {
  'a count is the number of the rows': async (subject) => {
    await counts(subject, 0)
    const rows = await subject.seed(30)
    await counts(subject, 30)
    for (const id of idsOf(rows.slice(0, 4))) rowOf(await subject.delete(id))
    await counts(subject, 26)
  },

  'a count respects the scope': async (subject) => {
    const given = [{ tenant: 'a' }, { tenant: 'b', select: 'x' }, {}]
    await subject.seed(12, (index) => given[index % 3] as Attributes)
    await counts(subject, 4, { scope: { tenant: 'a' } })
    await counts(subject, 4, { scope: { tenant: null } })
    await counts(subject, 4, { scope: { tenant: 'b', select: 'x' } })
    await counts(subject, 0, { scope: { tenant: 'a', select: 'x' } })
  },

  'a count with an end is exact below it, and reaches it otherwise': async (subject) => {
    await subject.seed(12, (index) => ({ tenant: index < 5 ? 'a' : 'b' }))
    for (const most of [1, 4, 5, 6, 11, 12, 13, 10_000]) {
      for (const [scope, total] of [[{}, 12], [{ tenant: 'a' }, 5], [{ tenant: 'c' }, 0]] as const) {
        const { rows } = await subject.count({ most, scope })
        const what = `the rows of ${total}, counted up to ${most}`
        if (total < most) same(rows, total, what)
        else assert.ok(rows >= most && rows <= total, `${what}, but count returned ${rows}`)
      }
    }
  },

  'a count after a position is the number of the rows that follow it': async (subject) => {
    const rows = inOrder(await subject.seed(12))
    for (const [index, { id }] of rows.entries()) await counts(subject, 11 - index, { after: [id] })
    rowOf(await subject.delete(existing(rows[5]).id))
    await counts(subject, 6, { after: [existing(rows[5]).id] })
  },

  'a count that may be an estimate says whether it is one': async (subject) => {
    await subject.seed(20, (index) => ({ tenant: index < 5 ? 'a' : 'b' }))
    for (const [scope, total] of [[{}, 20], [{ tenant: 'a' }, 5]] as const) {
      const { rows, isEstimate } = await subject.count({ estimate: true, scope })
      if (!isEstimate) same(rows, total, 'the rows of a count that is not an estimate')
    }
  },

  'a count is between the numbers of the rows before and after concurrent writes': async (subject) => {
    const rows = await subject.seed(40)
    const creates = times(40, () => subject.create())
    const made = await Promise.all([...creates.slice(0, 20), subject.count(), ...creates.slice(20), subject.count()])
    for (const counted of made) if ('rows' in counted) isWithin(counted.rows, 40, 80)
    await counts(subject, 80)
    const deletions = rows.map(({ id }) => subject.delete(id))
    const deleted = await Promise.all([...deletions, subject.count()])
    for (const counted of deleted) if ('rows' in counted) isWithin(counted.rows, 40, 80)
    await counts(subject, 40)
  }
}

export const countFilterChecks: Checks = {
  'a count respects the filter': async (subject) => {
    const rows = await seedTied(subject)
    const [one, large] = [equalTo({ shelf: 1 }), [{ attribute: 'shelf', operator: 'gte', value: 2 }] as const]
    const isLarge = (value: unknown): boolean => value === 2 || value === 10
    await counts(subject, rows.filter((row) => valueOf(row, 'shelf') === 1).length, { filter: one })
    await counts(subject, rows.filter((row) => isLarge(valueOf(row, 'shelf'))).length, { filter: large })
    const mine = rows.filter((row) => valueOf(row, 'tenant') === 'a' && isLarge(valueOf(row, 'shelf')))
    await counts(subject, mine.length, { filter: large, scope: { tenant: 'a' } })
    await counts(subject, 0, { filter: [...one, ...large] })
    await counts(subject, 0, { filter: equalTo({ shelf: 3 }), estimate: false })
  }
}

export const countSearchChecks: Checks = {
  'a count respects the search': async (subject) => {
    await subject.seed(9, (index) => ({ title: ['Green tea', 'tea', 'water'][index % 3], code: 'green' }))
    const search = { words: ['green', 'tea'], attributes: ['title', 'code'] }
    await counts(subject, 6, { search })
    await counts(subject, 3, { search: { ...search, attributes: ['title'] } })
  }
}

export const countOrderChecks: Checks = {
  'in every order, a count after a position is the number of the rows that follow it': async (subject) => {
    const rows = await seedTied(subject, 30)
    for (const order of ordersBy(['shelf', 'title'])) {
      for (const [index, row] of inOrder(rows, order).entries()) {
        const after = positionOf(row, order)
        await counts(subject, 29 - index, { order, after })
        same((await subject.count({ order, after, most: 1 })).rows > 0, index < 29, 'whether a row follows')
      }
    }
  }
}

async function counts (subject: Subject, expected: number, parts: Partial<CountQuery> = {}): Promise<void> {
  same((await subject.count(parts)).rows, expected, `the number of rows for ${JSON.stringify(parts)}`)
}

function isWithin (rows: number, least: number, most: number): void {
  assert.ok(rows >= least && rows <= most, `a count during writes was ${rows}, which is not from ${least} to ${most}`)
}
