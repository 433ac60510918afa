import { currentOf, distinct, idsOf, isDuplicate, isMissing, rowOf, same } from '../assertions.js'
import { type Checks, holds } from '../subject.js'
import { raceForVersions } from './guarded-writes.js'
import { staysInLists } from './lists.js'
import { raceForEmail } from './unique.js'

const EMAIL = { email: 'a@example.com' }

export const handleChecks: Checks = {
  'a connection reads what another one has written': async (subject, another) => {
    const row = await subject.create({ title: 'First', details: { a: [1] } }, { tenant: 'a' })
    const other = await another()
    same(await other.get(row.id), row, 'the row that the other connection returns')
    same(await other.rows({ scope: { tenant: 'a' } }), [row], 'the rows that the other connection lists')
    const updated = rowOf(await other.update(row.id, { title: 'Second' }, { version: row.version }))
    await holds(subject, [updated])
    const made = await other.create()
    await holds(subject, [updated, made])
    rowOf(await subject.delete(made.id, { version: made.version }))
    await holds(other, [updated])
  },

  'a version that one connection has replaced is stale for the others': async (subject, another) => {
    const other = await another()
    const { id, version } = await subject.create()
    const current = rowOf(await other.update(id, { count: 1 }))
    same(currentOf(await subject.update(id, { count: 2 }, { version })), current, 'the current row')
    same(currentOf(await subject.delete(id, { version })), current, 'the current row')
    rowOf(await other.delete(id))
    isMissing(await subject.update(id, { count: 2 }, { version: current.version }))
  },

  'two connections never give the same id, nor one that a row had before': async (subject, another) => {
    const other = await another()
    const before = [...(await subject.seed(3)), ...(await other.seed(3))]
    for (const { id } of before) rowOf(await other.delete(id))
    const third = await another()
    const made = await Promise.all([subject, other, third].map((handle) => handle.seed(10)))
    distinct(idsOf([...before, ...made.flat()]), 'ids that were given twice')
    await holds(third, made.flat())
  },

  'exactly one of all updates by two connections with the same version succeeds': async (subject, another) =>
    raceForVersions([subject, await another()]),

  'a row that stays is listed once, whatever another connection writes meanwhile': async (subject, another) =>
    staysInLists(subject, await another())
}

export const uniqueHandleChecks: Checks = {
  'a value that one connection has taken is taken for the others': async (subject, another) => {
    const other = await another()
    const row = await subject.create(EMAIL)
    await isDuplicate(other.create(EMAIL), ['email'])
    await holds(other, [row])
    rowOf(await other.update(row.id, { email: null }))
    const next = await subject.create(EMAIL)
    await isDuplicate(other.update(row.id, EMAIL), ['email'])
    same(await other.get(next.id), next, 'the row that has the value')
  },

  'exactly one of all creates by two connections with the same value succeeds': async (subject, another) =>
    raceForEmail([subject, await another()])
}
