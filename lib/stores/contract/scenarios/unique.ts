import type { Row } from '../../resource/row.js'
import {
  carries,
  codeOf,
  currentOf,
  distinct,
  idsOf,
  isDuplicate,
  isMissing,
  rowOf,
  same,
  settle
} from './assertions.js'
import { raceForVersions } from './guarded-writes.js'
import { staysInLists } from './lists.js'
import { type Checks, holds, type Subject, times } from './subject.js'

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
    isMissing(
      await subject.update(id, { count: 2 }, { version: current.version }),
      'an update of a row that the other handle has deleted'
    )
  },

  'no two handles give the same id, nor one that a row had before': async (subject, another) => {
    const other = await another()
    const before = [...(await subject.seed(3)), ...(await other.seed(3))]
    for (const { id } of before) rowOf(await other.delete(id))
    const third = await another()
    const made = await Promise.all([subject, other, third].map((handle) => handle.seed(10)))
    distinct(idsOf([...before, ...made.flat()]), 'ids that were given twice')
    await holds(third, made.flat(), 'the rows of the list')
  },

  'of all concurrent updates by two handles that name one version exactly one succeeds': async (subject, another) =>
    raceForVersions([subject, await another()]),

  'a row that stays is in a list once, whatever another handle writes while it is read': async (subject, another) =>
    staysInLists(subject, await another())
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

  'of concurrent creates by two handles with one value exactly one succeeds': async (subject, another) =>
    raceForEmail([subject, await another()])
}

const EMAIL = ['email']
const PLACE = ['tenant', 'code']

export const uniqueChecks: Checks = {
  'a create with a value that is taken throws a DuplicateError, and creates nothing': async (subject) => {
    const row = await subject.create({ email: 'a@example.com' })
    await isDuplicate(
      subject.create({ title: 'Other', email: 'a@example.com' }),
      EMAIL,
      'a create with an email that is taken'
    )
    await holds(subject, [row], 'the rows after the create')
    const next = await subject.create({ email: 'b@example.com' })
    await holds(subject, [row, next], 'the rows after another create')
  },

  'an update to a value that is taken throws a DuplicateError, and changes nothing': async (subject) => {
    const rows = [
      await subject.create({ email: 'a@example.com' }),
      await subject.create({ email: 'b@example.com' })
    ] as const
    const [, { id, version }] = rows
    await isDuplicate(
      subject.update(id, { title: 'Written', email: 'a@example.com' }),
      EMAIL,
      'an update to an email that is taken'
    )
    await isDuplicate(
      subject.update(id, { email: 'a@example.com', count: 1 }, { version }),
      EMAIL,
      'an update with a version'
    )
    await holds(subject, rows, 'the rows after the updates')
    rowOf(await subject.update(id, { count: 1 }, { version }), 'an update with the version from before')
  },

  'null and absence are never taken': async (subject) => {
    const rows = [
      await subject.create(),
      await subject.create(),
      await subject.create({ email: null }),
      await subject.create({ email: null })
    ]
    const { id } = await subject.create({ email: 'a@example.com' })
    rows.push(rowOf(await subject.update(id, { email: null })))
    const partial = [{ tenant: 'a' }, { tenant: 'a' }, { code: 'a' }, { code: 'a' }]
    for (const attributes of partial) rows.push(await subject.create(attributes))
    await holds(subject, rows, 'the rows without values')
  },

  'a row may be given the value that it has': async (subject) => {
    const row = await subject.create({ email: 'a@example.com', tenant: 'a', code: '1' })
    const same = rowOf(await subject.update(row.id, { email: 'a@example.com', tenant: 'a', code: '1' }))
    await holds(subject, [rowOf(await subject.update(same.id, { code: '1', count: 1 }))], 'the rows after the updates')
  },

  'values that look alike are not the same': async (subject) => {
    const texts = ['a', 'A', 'a ', ' a', '', ' ', 'é', 'e\u0301', 'ss', 'ß', '1', '01', '1.0', 'null', '%', '_']
    const rows: Row[] = []
    for (const email of texts) rows.push(await subject.create({ email }))
    await holds(subject, rows, 'the rows with emails that look alike')
    for (const email of texts) await isDuplicate(subject.create({ email }), EMAIL, `a second ${JSON.stringify(email)}`)
  },

  'a value is free again once its row is deleted': async (subject) => {
    const { id } = await subject.create({ email: 'a@example.com', tenant: 'a', code: '1' })
    rowOf(await subject.delete(id))
    const next = await subject.create({ email: 'a@example.com', tenant: 'a', code: '1' })
    await isDuplicate(subject.create({ email: 'a@example.com' }), EMAIL, 'a third row with the email')
    await holds(subject, [next], 'the rows after the creates')
  },

  'a value is free again once its row has another': async (subject) => {
    const { id } = await subject.create({ email: 'a@example.com', tenant: 'a', code: '1' })
    const moved = rowOf(await subject.update(id, { email: 'b@example.com', code: '2' }))
    const next = await subject.create({ email: 'a@example.com', tenant: 'a', code: '1' })
    await isDuplicate(
      subject.create({ email: 'b@example.com' }),
      EMAIL,
      'a row with the email that the first one has come to'
    )
    await isDuplicate(
      subject.create({ tenant: 'a', code: '2' }),
      PLACE,
      'a row with the place that the first one has come to'
    )
    await holds(subject, [moved, next], 'the rows after the creates')
  },

  'a write that is refused takes no value, and frees none': async (subject) => {
    const row = await subject.create({ email: 'a@example.com' })
    currentOf(await subject.update(row.id, { email: 'b@example.com' }, { version: 'stale' }))
    isMissing(await subject.update(row.id, { email: 'b@example.com' }, { scope: { tenant: 'x' } }))
    await isDuplicate(subject.create({ email: 'a@example.com', tenant: 'a', code: '1' }), EMAIL, 'a create')
    const next = await subject.create({ email: 'b@example.com', tenant: 'a', code: '1' })
    await isDuplicate(subject.create({ email: 'a@example.com' }), EMAIL, 'a create of what was not freed')
    await holds(subject, [row, next], 'the rows after the writes')
  },

  'of a group all values together are unique': async (subject) => {
    const places = [
      ['a', '1'],
      ['a', '2'],
      ['b', '1'],
      ['a', '11'],
      ['a1', '1'],
      ['', 'a1'],
      ['a","b', 'c'],
      ['a', 'b","c'],
      ['a|b', 'c'],
      ['a', 'b|c']
    ]
    const rows: Row[] = []
    for (const [tenant, code] of places) rows.push(await subject.create({ tenant, code }))
    for (const [tenant, code] of places) {
      await isDuplicate(subject.create({ tenant, code }), PLACE, `a second ${JSON.stringify([tenant, code])}`)
    }
    const [, second] = rows as [Row, Row]
    await isDuplicate(subject.update(second.id, { code: '1' }), PLACE, 'an update of one of them')
    await holds(subject, rows, 'the rows after the writes')
    carries(
      rowOf(await subject.update(second.id, { code: '3' })),
      { title: 'T', tenant: 'a', code: '3' },
      'the row after an update to what is free'
    )
  },

  'a value of the scope counts as any other': async (subject) => {
    const rows = [
      await subject.create({ code: '1' }, { tenant: 'a' }),
      await subject.create({ code: '1' }, { tenant: 'b' })
    ] as const
    await isDuplicate(
      subject.create({ code: '1' }, { tenant: 'a' }),
      PLACE,
      'a create in a scope where the code is taken'
    )
    const third = await subject.create({ code: '2' }, { tenant: 'b' })
    await isDuplicate(
      subject.update(third.id, { code: '1' }, { scope: { tenant: 'b' } }),
      PLACE,
      'an update in a scope where the code is taken'
    )
    await holds(subject, [...rows, third], 'the rows after the writes')
  },

  'what is taken is taken in every scope, where the scope is no part of the group': async (subject) => {
    const row = await subject.create({ email: 'a@example.com' }, { tenant: 'a' })
    await isDuplicate(subject.create({ email: 'a@example.com' }, { tenant: 'b' }), EMAIL, 'a create in another scope')
    await holds(subject, [row], 'the rows after the create')
  },

  'of concurrent creates with one value exactly one succeeds': (subject) => raceForEmail([subject]),

  'of concurrent updates to one value exactly one succeeds': async (subject) => {
    const rows = await subject.seed(20)
    const won = await winners(rows.map(({ id }) => subject.update(id, { email: 'a@example.com' }).then(rowOf)))
    same(won.length, 1, 'the number of updates to one email that succeeded')
    await holds(subject, rows.map((row) => won.find(({ id }) => id === row.id) ?? row), 'the rows after the updates')
  }
}

/** Creates of one email by all of the subjects at once. */
export async function raceForEmail (subjects: readonly Subject[]): Promise<void> {
  const creates = subjects.flatMap((subject) => times(20, (count) => subject.create({ email: 'a@example.com', count })))
  const won = await winners(creates)
  same(won.length, 1, 'the number of creates with one email that succeeded')
  for (const subject of subjects) await holds(subject, won, 'the rows after the creates')
}

async function winners (writes: ReadonlyArray<Promise<Row>>): Promise<Row[]> {
  const outcomes = await Promise.all(writes.map(settle))
  const failed = outcomes.filter((outcome) => !outcome.answered)
  same(
    failed.filter(({ error }) => codeOf(error) !== 'FST_RESOURCES_DUPLICATE'),
    [],
    'what was thrown that is no DuplicateError'
  )
  return outcomes.flatMap((outcome) => outcome.answered ? [outcome.value] : [])
}
