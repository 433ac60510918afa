import type { Id, Scope, Row } from '../../core/resource/row.js'
import type { Guard, WriteOutcome } from '../../core/stores/store.js'
import { carries, currentOf, existing, isMissing, rowOf, same, settle } from '../assertions.js'
import { type Check, type Checks, holds, type Subject } from '../subject.js'
import { MISTYPED } from './filters.js'
import { lists, matchesNot } from './lists.js'
import { NO_UUIDS, UUIDS } from './values.js'

const A: Scope = { tenant: 'a' }
const B: Scope = { tenant: 'b' }
const WRITTEN = { title: 'Written' }
/** Values of a scope, some of which look alike. */
const TENANTS = [
  'a', 'A', 'a ', ' a', 'á', 'a\u0301', '', ' ', '%', '_', "'", '"', '\\', "' OR 1=1 --", '1', '01', '1.0', 'null',
  'NULL', 'true', 'a\tb', '😀'
]

export const scopeChecks: Checks = {
  'a read sees no row outside of its scope': async (subject) => {
    const [mine, theirs, nobodys] = [await subject.create({}, A), await subject.create({}, B), await subject.create()]
    same(await subject.get(mine.id, A), mine, 'the row in its scope')
    same(await subject.get(mine.id), mine, 'the row without a scope')
    for (const { id } of [theirs, nobodys]) same(await subject.get(id, A), undefined, 'a row outside of the scope')
    same(await subject.rows({ scope: A }), [mine], 'the rows of the scope')
    same(await subject.rows({ scope: { tenant: 'c' } }), [], 'the rows of a scope without rows')
    await holds(subject, [mine, theirs, nobodys])
  },

  'an update reaches no row outside of its scope': reachesNone((subject, id, guard) =>
    subject.update(id, WRITTEN, guard)),
  'a deletion reaches no row outside of its scope': reachesNone((subject, id, guard) => subject.delete(id, guard)),

  'writes to rows in their scope work as they do without a scope': async (subject) => {
    const { id, version } = await subject.create({ count: 1 }, A)
    const guard = { scope: A, version }
    const updated = rowOf(await subject.update(id, { count: 2 }, guard))
    carries(updated, { title: 'T', count: 2, ...A })
    same(currentOf(await subject.update(id, { count: 3 }, guard)), updated, 'the current row that update returns')
    same(currentOf(await subject.delete(id, guard)), updated, 'the current row that delete returns')
    const deleted = rowOf(await subject.delete(id, { scope: A, version: updated.version }))
    same(deleted, updated, 'the row that delete returns')
  },

  'a scope with a text that is not a UUID in lower case has no rows': async (subject) => {
    const owners = UUIDS.slice(0, 2)
    const rows = await subject.seed(2, (index) => ({ owner: owners[index] }))
    for (const owner of NO_UUIDS) {
      await lists(subject, { scope: { owner } }, [])
      for (const row of rows) await isOutside(subject, row, { owner })
    }
    for (const [index, owner] of owners.entries()) await lists(subject, { scope: { owner } }, [existing(rows[index])])
  },

  'a create sets the values of its scope, whatever attributes it is given': async (subject) => {
    const scope = { tenant: 'a', shelf: 7, 'a.b': 'c', toString: 'text' }
    for (const given of [{}, { tenant: 'b' }, { tenant: 'b', shelf: null, 'a.b': 'd' }]) {
      const row = await subject.create(given, scope)
      carries(row, { title: 'T', ...scope })
      same(await subject.get(row.id, scope), row, 'the row in its scope')
    }
  },

  'an update moves no row out of its scope or into it': async (subject) => {
    const [mine, theirs] = [await subject.create({}, A), await subject.create({}, B)]
    // A store may also refuse the change.
    const { answered } = await settle(subject.update(mine.id, { tenant: 'b', count: 1 }, { scope: A }))
    const kept = existing(await subject.get(mine.id, A))
    carries(kept, { title: 'T', tenant: 'a', ...(answered && { count: 1 }) })
    const updated = rowOf(await subject.update(mine.id, { tenant: 'a', count: 1 }, { scope: A }))
    carries(updated, { title: 'T', tenant: 'a', count: 1 })
    isMissing(await subject.update(theirs.id, { tenant: 'a' }, { scope: A }))
    await holds(subject, [updated, theirs])
  },

  'an update without a scope may move a row to another scope': async (subject) => {
    const { id } = await subject.create({}, A)
    const moved = rowOf(await subject.update(id, B))
    const found = [await subject.get(id, A), await subject.get(id, B)]
    same(found, [undefined, moved], 'the row in its old scope and in the new one')
  },

  'a scope of several attributes contains the rows that match all of them': async (subject) => {
    const scope = { tenant: 'a', shelf: 1, done: true, naïve: 'b' }
    const row = await subject.create({}, scope)
    for (const [name, value] of Object.entries({ tenant: 'b', shelf: 2, done: false, naïve: 'c' })) {
      const near = { ...scope, [name]: value }
      await isOutside(subject, row, near)
      await lists(subject, { scope: near }, [])
    }
    same(await subject.rows({ scope }), [row], 'the rows of the scope')
  },

  'null in a scope matches null and a missing value': async (subject) => {
    const scope = { shelf: null }
    const row = await subject.create({ shelf: 1 }, scope)
    const [bare, other] = [await subject.create(), await subject.create({ shelf: 0 })]
    carries(row, { title: 'T', ...scope })
    await holds(subject, [row, bare], { scope })
    for (const inside of [row, bare]) same(await subject.get(inside.id, scope), inside, 'the row that get returns')
    await isOutside(subject, other, scope)
    await isOutside(subject, row, { shelf: 0 })
    rowOf(await subject.update(bare.id, { count: 1 }, { scope }))
    rowOf(await subject.delete(row.id, { scope }))
  },

  'values of scopes must match exactly': async (subject) => {
    const rows = new Map<string, Row>()
    for (const tenant of TENANTS) rows.set(tenant, await subject.create({}, { tenant }))
    for (const [tenant, row] of rows) {
      same(await subject.rows({ scope: { tenant } }), [row], `the rows of ${JSON.stringify(tenant)}`)
      for (const other of TENANTS) {
        const what = `the row of ${JSON.stringify(tenant)} for ${JSON.stringify(other)}`
        same(await subject.get(row.id, { tenant: other }), other === tenant ? row : undefined, what)
      }
    }
  },

  'a scope does not match a value of another type': async (subject) => {
    for (const [attributes, scope] of MISTYPED) {
      const { id } = await subject.create(attributes)
      const got = await settle(subject.get(id, scope))
      // A store may also refuse the scope.
      if (got.answered) same(got.value, undefined, `a row for ${JSON.stringify(scope)}`)
      await matchesNot(subject, id, { scope })
    }
  },

  'a scope does not match inherited names such as toString': async (subject) => {
    const row = await subject.create()
    for (const name of ['toString', 'constructor']) await isOutside(subject, row, { [name]: 'text' })
    const scope = { toString: 'text', constructor: 'other' }
    const inside = await subject.create({}, scope)
    await lists(subject, { scope }, [inside])
    same(await subject.get(inside.id, scope), inside, 'the row that get returns')
  }
}

/** Makes a check that a write reaches no row outside of its scope. */
function reachesNone (write: (subject: Subject, id: Id, guard: Partial<Guard>) => Promise<WriteOutcome>): Check {
  return async (subject) => {
    const rows = [await subject.create({}, B), await subject.create()]
    for (const { id, version } of rows) {
      for (const guard of [{}, { version }, { version: 'stale' }]) {
        isMissing(await write(subject, id, { scope: A, ...guard }))
      }
    }
    await holds(subject, rows)
  }
}

async function isOutside (subject: Subject, { id, version }: Row, scope: Scope): Promise<void> {
  same(await subject.get(id, scope), undefined, `a row outside of ${JSON.stringify(scope)}`)
  isMissing(await subject.update(id, WRITTEN, { scope, version }))
  isMissing(await subject.delete(id, { scope, version }))
}
