import { currentOf, distinct, idsOf, isDuplicate, isMissing, rowOf, same } from './assertions.js'
import { staysInLists } from './lists.js'
import { raceForVersions } from './races.js'
import type { Checks } from './scenario.js'
import { holds } from './subject.js'
import { raceForEmail } from './unique.js'

export const handleChecks: Checks = {
  'what is written by one handle is read by another': async (subject, another) => {
    const row = await subject.create({ title: 'First', details: { a: [1] } }, { tenant: 'a' })
    const other = await another()
    same(await other.get(row.id), row, 'the row that the other handle answers')
    same(await other.rows({ scope: { tenant: 'a' } }), [row], 'the rows that the other handle lists')
    const updated = rowOf(await other.update(row.id, { title: 'Second' }, { version: row.version }))
    await holds(subject, [updated], 'the rows after an update by the other handle')
    const made = await other.create()
    await holds(subject, [updated, made], 'the rows after a create by the other handle')
    rowOf(await subject.delete(made.id, { version: made.version }))
    await holds(other, [updated], 'the rows after a deletion, as the other handle sees them')
  },

  'a version that one handle has replaced is stale to another': async (subject, another) => {
    const other = await another()
    const { id, version } = await subject.create()
    const current = rowOf(await other.update(id, { count: 1 }))
    same(currentOf(await subject.update(id, { count: 2 }, { version })), current, 'the current row')
    same(currentOf(await subject.delete(id, { version })), current, 'the current row')
    rowOf(await other.delete(id))
    isMissing(await subject.update(id, { count: 2 }, { version: current.version }), 'an update of a row that the other handle has deleted')
  },

  'no two handles give the same id, nor one that a row had before': async (subject, another) => {
    const other = await another()
    const before = [...await subject.seed(3), ...await other.seed(3)]
    for (const { id } of before) rowOf(await other.delete(id))
    const third = await another()
    const made = await Promise.all([subject, other, third].map((handle) => handle.seed(10)))
    distinct(idsOf([...before, ...made.flat()]), 'ids that were given twice')
    await holds(third, made.flat(), 'the rows of the list')
  },

  'of all concurrent updates by two handles that name one version exactly one succeeds': async (subject, another) => raceForVersions([subject, await another()]),

  'a row that stays is in a list once, whatever another handle writes while it is read': async (subject, another) => staysInLists(subject, await another())
}

export const uniqueHandleChecks: Checks = {
  'a value that is taken by one handle is taken for another': async (subject, another) => {
    const other = await another()
    const row = await subject.create({ email: 'a@example.com' })
    await isDuplicate(other.create({ email: 'a@example.com' }), ['email'], 'a create by the other handle')
    await holds(other, [row], 'the rows after the create')
    rowOf(await other.update(row.id, { email: null }))
    const next = await subject.create({ email: 'a@example.com' })
    await isDuplicate(other.update(row.id, { email: 'a@example.com' }), ['email'], 'an update by the other handle')
    same(await other.get(next.id), next, 'the row that has the value')
  },

  'of concurrent creates by two handles with one value exactly one succeeds': async (subject, another) => raceForEmail([subject, await another()])
}
