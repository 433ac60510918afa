import type { Row } from '../../core/resource/row.js'
import { carries, codeOf, currentOf, existing, isDuplicate, isMissing, rowOf, same, settle } from '../assertions.js'
import { type Checks, holds, type Subject, times } from '../subject.js'

const EMAIL = ['email']
const PLACE = ['tenant', 'code']
const A = { email: 'a@example.com' }
const B = { email: 'b@example.com' }

export const uniqueChecks: Checks = {
  'a create with a value that is taken throws a DuplicateError, and creates nothing': async (subject) => {
    const row = await subject.create(A)
    await isDuplicate(subject.create({ title: 'Other', ...A }), EMAIL)
    await holds(subject, [row])
    const next = await subject.create(B)
    await holds(subject, [row, next])
  },

  'an update to a value that is taken throws a DuplicateError, and changes nothing': async (subject) => {
    const rows = [await subject.create(A), await subject.create(B)] as const
    const [, { id, version }] = rows
    await isDuplicate(subject.update(id, { title: 'Written', ...A }), EMAIL)
    await isDuplicate(subject.update(id, { ...A, count: 1 }, { version }), EMAIL)
    await holds(subject, rows)
    rowOf(await subject.update(id, { count: 1 }, { version }))
  },

  'null and missing values are never taken': async (subject) => {
    const [none, tenant, code] = [{ email: null }, { tenant: 'a' }, { code: 'a' }]
    const given = [{}, {}, none, none, tenant, tenant, code, code]
    const rows = await Promise.all(given.map((attributes) => subject.create(attributes)))
    const { id } = await subject.create(A)
    rows.push(rowOf(await subject.update(id, none)))
    await holds(subject, rows)
  },

  'a row may be given its own value again': async (subject) => {
    const row = await subject.create({ ...A, tenant: 'a', code: '1' })
    const same = rowOf(await subject.update(row.id, { ...A, tenant: 'a', code: '1' }))
    await holds(subject, [rowOf(await subject.update(same.id, { code: '1', count: 1 }))])
  },

  'values that only look alike do not conflict': async (subject) => {
    const texts = ['a', 'A', 'a ', ' a', '', ' ', 'é', 'e\u0301', 'ss', 'ß', '1', '01', '1.0', 'null', '%', '_']
    const rows = await subject.seed(texts.length, (index) => ({ email: texts[index] }))
    await holds(subject, rows)
    for (const email of texts) await isDuplicate(subject.create({ email }), EMAIL)
  },

  'a value is free again once its row is deleted': async (subject) => {
    const { id } = await subject.create({ ...A, tenant: 'a', code: '1' })
    rowOf(await subject.delete(id))
    const next = await subject.create({ ...A, tenant: 'a', code: '1' })
    await isDuplicate(subject.create(A), EMAIL)
    await holds(subject, [next])
  },

  'a value is free again once its row has another value': async (subject) => {
    const { id } = await subject.create({ ...A, tenant: 'a', code: '1' })
    const moved = rowOf(await subject.update(id, { ...B, code: '2' }))
    const next = await subject.create({ ...A, tenant: 'a', code: '1' })
    await isDuplicate(subject.create(B), EMAIL)
    await isDuplicate(subject.create({ tenant: 'a', code: '2' }), PLACE)
    await holds(subject, [moved, next])
  },

  'a write that is refused takes no value, and frees none': async (subject) => {
    const row = await subject.create(A)
    currentOf(await subject.update(row.id, B, { version: 'stale' }))
    isMissing(await subject.update(row.id, B, { scope: { tenant: 'x' } }))
    await isDuplicate(subject.create({ ...A, tenant: 'a', code: '1' }), EMAIL)
    const next = await subject.create({ ...B, tenant: 'a', code: '1' })
    await isDuplicate(subject.create(A), EMAIL)
    await holds(subject, [row, next])
  },

  'in a group, only the combination of values is unique': async (subject) => {
    const places = [
      ['a', '1'], ['a', '2'], ['b', '1'], ['a', '11'], ['a1', '1'], ['', 'a1'], ['a","b', 'c'], ['a', 'b","c'],
      ['a|b', 'c'], ['a', 'b|c']
    ]
    const rows: Row[] = []
    for (const [tenant, code] of places) rows.push(await subject.create({ tenant, code }))
    for (const [tenant, code] of places) await isDuplicate(subject.create({ tenant, code }), PLACE)
    const second = existing(rows[1])
    await isDuplicate(subject.update(second.id, { code: '1' }), PLACE)
    await holds(subject, rows)
    carries(rowOf(await subject.update(second.id, { code: '3' })), { title: 'T', tenant: 'a', code: '3' })
  },

  'a value of the scope counts like any other value': async (subject) => {
    const [code, scope] = [{ code: '1' }, { tenant: 'b' }]
    const rows = [await subject.create(code, { tenant: 'a' }), await subject.create(code, scope)]
    await isDuplicate(subject.create(code, { tenant: 'a' }), PLACE)
    const third = await subject.create({ code: '2' }, scope)
    await isDuplicate(subject.update(third.id, code, { scope }), PLACE)
    await holds(subject, [...rows, third])
  },

  'a value is taken in all scopes if the scope is not part of the group': async (subject) => {
    const row = await subject.create(A, { tenant: 'a' })
    await isDuplicate(subject.create(A, { tenant: 'b' }), EMAIL)
    await holds(subject, [row])
  },

  'exactly one of several concurrent creates with the same value succeeds': (subject) => raceForEmail([subject]),

  'exactly one of several concurrent updates to the same value succeeds': async (subject) => {
    const rows = await subject.seed(20)
    const won = await winners(rows.map(({ id }) => subject.update(id, A).then(rowOf)))
    same(won.length, 1, 'the number of updates to one email that succeeded')
    await holds(subject, rows.map((row) => won.find(({ id }) => id === row.id) ?? row))
  }
}

/** Checks that only one create succeeds if all subjects create rows with the same email at once. */
export async function raceForEmail (subjects: readonly Subject[]): Promise<void> {
  const creates = subjects.flatMap((subject) => times(20, (count) => subject.create({ ...A, count })))
  const won = await winners(creates)
  same(won.length, 1, 'the number of creates with one email that succeeded')
  for (const subject of subjects) await holds(subject, won)
}

async function winners (writes: ReadonlyArray<Promise<Row>>): Promise<Row[]> {
  const outcomes = await Promise.all(writes.map(settle))
  const failed = outcomes.filter((outcome) => !outcome.answered)
  const others = failed.filter(({ error }) => codeOf(error) !== 'FST_RESOURCES_DUPLICATE')
  same(others, [], 'errors other than DuplicateError')
  return outcomes.flatMap((outcome) => outcome.answered ? [outcome.value] : [])
}
