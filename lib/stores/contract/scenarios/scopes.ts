import assert from 'node:assert/strict'
import type { Scope, Row } from '../../resource/row.js'
import type { Attributes, Scalar } from '../../schema/types.js'
import { carries, existing, idsOf, isMissing, rowOf, same, settle } from './assertions.js'
import { NO_UUIDS, UUIDS } from './rows.js'
import { type Checks, holds, type Subject } from './subject.js'

const A: Scope = { tenant: 'a' }
const B: Scope = { tenant: 'b' }
/** Some differ in what only close comparison sees. */
const TENANTS = [
  'a',
  'A',
  'a ',
  ' a',
  'á',
  'a\u0301',
  '',
  ' ',
  '%',
  '_',
  "'",
  '"',
  '\\',
  "' OR 1=1 --",
  '1',
  '01',
  '1.0',
  'null',
  'NULL',
  'true',
  'a\tb',
  '😀'
]

export const scopeChecks: Checks = {
  'a read sees no row outside of its scope': async (subject) => {
    const [mine, theirs, nobodys] = [await subject.create({}, A), await subject.create({}, B), await subject.create()]
    same(await subject.get(mine.id, A), mine, 'the row in its scope')
    same(await subject.get(mine.id), mine, 'the row without a scope')
    for (const { id } of [theirs, nobodys]) same(await subject.get(id, A), undefined, 'a row outside of the scope')
    same(await subject.rows({ scope: A }), [mine], 'the rows of the scope')
    same(await subject.rows({ scope: { tenant: 'c' } }), [], 'the rows of a scope without rows')
    await holds(subject, [mine, theirs, nobodys], 'the rows without a scope')
  },

  'an update reaches no row outside of its scope': async (subject) => {
    const rows = [await subject.create({}, B), await subject.create()]
    for (const { id, version } of rows) {
      isMissing(await subject.update(id, { title: 'Written' }, { scope: A }), 'an update outside of its scope')
      isMissing(
        await subject.update(id, { title: 'Written' }, { scope: A, version }),
        'an update outside of its scope, with the right version'
      )
      isMissing(
        await subject.update(id, { title: 'Written' }, { scope: A, version: 'stale' }),
        'an update outside of its scope, with a stale version'
      )
    }
    await holds(subject, rows, 'the rows after the updates')
  },

  'a deletion reaches no row outside of its scope': async (subject) => {
    const rows = [await subject.create({}, B), await subject.create()]
    for (const { id, version } of rows) {
      isMissing(await subject.delete(id, { scope: A }), 'a deletion outside of its scope')
      isMissing(
        await subject.delete(id, { scope: A, version }),
        'a deletion outside of its scope, with the right version'
      )
      isMissing(
        await subject.delete(id, { scope: A, version: 'stale' }),
        'a deletion outside of its scope, with a stale version'
      )
    }
    await holds(subject, rows, 'the rows after the deletions')
  },

  'writes in their scope are as others': async (subject) => {
    const row = await subject.create({ count: 1 }, A)
    const updated = rowOf(await subject.update(row.id, { count: 2 }, { scope: A, version: row.version }))
    carries(updated, { title: 'T', count: 2, ...A }, 'the row that update answers')
    same(
      await subject.update(row.id, { count: 3 }, { scope: A, version: row.version }),
      { ok: false, why: 'stale', current: updated },
      'an update with a stale version'
    )
    same(
      await subject.delete(row.id, { scope: A, version: row.version }),
      { ok: false, why: 'stale', current: updated },
      'a deletion with a stale version'
    )
    same(
      rowOf(await subject.delete(row.id, { scope: A, version: updated.version })),
      updated,
      'the row that delete answers'
    )
  },

  'a scope of what is no UUID in lower case has no rows': async (subject) => {
    const owners = UUIDS.slice(0, 2)
    const rows = await subject.seed(2, (index) => ({ owner: owners[index] }))
    for (const owner of NO_UUIDS) {
      const scope = { owner }
      same(await subject.rows({ scope }), [], `the rows of the owner ${JSON.stringify(owner)}`)
      for (const { id, version } of rows) {
        same(await subject.get(id, scope), undefined, `the row in the scope ${JSON.stringify(scope)}`)
        isMissing(
          await subject.update(id, { title: 'Written' }, { scope, version }),
          `an update in the scope ${JSON.stringify(scope)}`
        )
        isMissing(await subject.delete(id, { scope, version }), `a deletion in the scope ${JSON.stringify(scope)}`)
      }
    }
    for (const [index, owner] of owners.entries()) {
      same(await subject.rows({ scope: { owner } }), [rows[index]], `the rows of the owner ${owner}`)
    }
  },

  'a create stamps the scope on, whatever it was given': async (subject) => {
    const scope = { tenant: 'a', shelf: 7, 'a.b': 'c', toString: 'text' }
    for (const given of [{}, { tenant: 'b' }, { tenant: 'b', shelf: null, 'a.b': 'd' }]) {
      const row = await subject.create(given, scope)
      carries(row, { title: 'T', ...scope }, `the row that create answers, given ${JSON.stringify(given)}`)
      same(await subject.get(row.id, scope), row, 'the row in its scope')
    }
  },

  'an update neither leaves its scope nor brings a row into it': async (subject) => {
    const [mine, theirs] = [await subject.create({}, A), await subject.create({}, B)]
    const kept = rowOf(await subject.update(mine.id, { tenant: 'b', count: 1 }, { scope: A }))
    carries(kept, { title: 'T', tenant: 'a', count: 1 }, 'the row after an update that names another tenant')
    isMissing(
      await subject.update(theirs.id, { tenant: 'a' }, { scope: A }),
      'an update of a row that would be in the scope after it'
    )
    await holds(subject, [kept, theirs], 'the rows after the updates')
  },

  'an update without a scope may move a row to another': async (subject) => {
    const { id } = await subject.create({}, A)
    const moved = rowOf(await subject.update(id, B))
    same(
      [await subject.get(id, A), await subject.get(id, B)],
      [undefined, moved],
      'the row in its old scope and in the new one'
    )
  },

  'a scope of several attributes wants them all': async (subject) => {
    const scope = { tenant: 'a', shelf: 1, done: true, naïve: 'b' }
    const row = await subject.create({}, scope)
    for (const [name, value] of Object.entries({ tenant: 'b', shelf: 2, done: false, naïve: 'c' })) {
      const near = { ...scope, [name]: value }
      await isOutside(subject, row, near)
      same(await subject.rows({ scope: near }), [], `the rows of ${JSON.stringify(near)}`)
    }
    same(await subject.rows({ scope }), [row], 'the rows of the scope')
  },

  'null in a scope is the value null, or none': async (subject) => {
    const scope = { shelf: null }
    const [row, bare, other] = [
      await subject.create({ shelf: 1 }, scope),
      await subject.create(),
      await subject.create({ shelf: 0 })
    ]
    carries(row, { title: 'T', ...scope }, 'the row that create answers')
    await holds(subject, [row, bare], 'the rows of the scope', { scope })
    same(
      [await subject.get(row.id, scope), await subject.get(bare.id, scope)],
      [row, bare],
      'the rows that get answers'
    )
    await isOutside(subject, other, scope)
    await isOutside(subject, row, { shelf: 0 })
    rowOf(await subject.update(bare.id, { count: 1 }, { scope }))
    rowOf(await subject.delete(row.id, { scope }))
  },

  'values of scopes are compared to the letter': async (subject) => {
    const rows = new Map<string, Row>()
    for (const tenant of TENANTS) rows.set(tenant, await subject.create({}, { tenant }))
    for (const [tenant, row] of rows) {
      same(await subject.rows({ scope: { tenant } }), [row], `the rows of ${JSON.stringify(tenant)}`)
      for (const other of TENANTS) {
        same(
          await subject.get(row.id, { tenant: other }),
          other === tenant ? row : undefined,
          `the row of ${JSON.stringify(tenant)} for ${JSON.stringify(other)}`
        )
      }
    }
  },

  'a scope does not match a value of another type': async (subject) => {
    const cases: ReadonlyArray<[Attributes, Record<string, Scalar>]> = [
      [{ shelf: 1 }, { shelf: '1' }],
      [{ shelf: 1 }, { shelf: true }],
      [{ shelf: 0 }, { shelf: false }],
      [{ shelf: 0 }, { shelf: '' }],
      [{ shelf: null }, { shelf: 'null' }],
      [{ shelf: null }, { shelf: 0 }],
      [{ tenant: '1' }, { tenant: 1 }],
      [{ tenant: 'true' }, { tenant: true }],
      [{ tenant: '' }, { tenant: 0 }],
      [{ tenant: '' }, { tenant: null }],
      [{ tenant: 'null' }, { tenant: null }],
      [{ done: true }, { done: 1 }],
      [{ done: false }, { done: null }]
    ]
    for (const [attributes, scope] of cases) {
      await matchesNot(subject, await subject.create({ email: null, ...attributes }), scope)
    }
  },

  'a name that every object has is in no scope by itself': async (subject) => {
    const row = await subject.create()
    for (const name of ['toString', 'constructor']) await isOutside(subject, row, { [name]: 'text' })
    const scope = { toString: 'text', constructor: 'other' }
    const inside = await subject.create({}, scope)
    same(idsOf(await subject.rows({ scope })), [inside.id], 'the rows of the scope')
    same(existing(await subject.get(inside.id, scope)), inside, 'the row that get answers')
  }
}

async function isOutside (subject: Subject, { id, version }: Row, scope: Scope): Promise<void> {
  const shown = JSON.stringify(scope)
  same(await subject.get(id, scope), undefined, `a row outside of ${shown}`)
  isMissing(await subject.update(id, { title: 'Written' }, { scope, version }), `an update outside of ${shown}`)
  isMissing(await subject.delete(id, { scope, version }), `a deletion outside of ${shown}`)
}

/** A store that refuses such a scope does not match it either. */
async function matchesNot (subject: Subject, { id }: Row, scope: Scope): Promise<void> {
  const shown = JSON.stringify(scope)
  const [got, listed] = [await settle(subject.get(id, scope)), await settle(subject.rows({ scope }))]
  if (got.answered) same(got.value, undefined, `a row for ${shown}`)
  if (listed.answered) assert.ok(!idsOf(listed.value).includes(id), `a row in the list for ${shown}`)
}
