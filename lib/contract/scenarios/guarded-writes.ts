import assert from 'node:assert/strict'
import type { Row } from '../../core/resource/row.js'
import type { Attributes } from '../../core/schema/types.js'
import { carries, currentOf, distinct, existing, isMissing, rowOf, same } from '../assertions.js'
import { type Checks, holds, type Subject, times } from '../subject.js'

export const guardChecks: Checks = {
  'an update with the current version succeeds': async (subject) => {
    let row = await subject.create({ count: 0 })
    for (const count of times(12, (index) => index)) {
      row = rowOf(await subject.update(row.id, { count }, { version: row.version }))
      carries(row, { title: 'T', count })
    }
    await holds(subject, [row])
  },

  'an update with a stale version changes nothing and returns the current row': async (subject) => {
    const { id, version } = await subject.create({ title: 'First' })
    const current = rowOf(await subject.update(id, { title: 'Second' }))
    for (const changes of [{ title: 'Third', count: 1 }, {}]) {
      same(currentOf(await subject.update(id, changes, { version })), current, 'the current row that is returned')
    }
    await holds(subject, [current])
  },

  'a deletion with the current version succeeds': async (subject) => {
    const row = await subject.create()
    const current = rowOf(await subject.update(row.id, { title: 'Second' }))
    same(rowOf(await subject.delete(row.id, { version: current.version })), current, 'the row that delete returns')
    await holds(subject, [])
  },

  'a deletion with a stale version deletes nothing and returns the current row': async (subject) => {
    const row = await subject.create()
    const current = rowOf(await subject.update(row.id, { title: 'Second' }))
    same(currentOf(await subject.delete(row.id, { version: row.version })), current, 'the current row that is returned')
    await holds(subject, [current])
  },

  'a write without a version succeeds for every version': async (subject) => {
    const { id } = await subject.create()
    const row = rowOf(await subject.update(id, { count: 1 }, { version: undefined }))
    same(rowOf(await subject.delete(row.id, { version: undefined })), row, 'the row that delete returns')
  },

  'a version that no row ever had is stale, whatever it looks like': async (subject) => {
    const { id } = await subject.create()
    const row = rowOf(await subject.update(id, { count: 1 }))
    for (const version of strangers(row)) {
      const shown = JSON.stringify(version.slice(0, 40))
      const answers = [await subject.update(id, { count: 2 }, { version }), await subject.delete(id, { version })]
      for (const written of answers) same(currentOf(written), row, `the current row, with the version ${shown}`)
    }
    await holds(subject, [row])
  },

  'a write to a deleted row reports that the row is missing, whatever the version': async (subject) => {
    const { id, version } = await subject.create()
    rowOf(await subject.delete(id))
    for (const guard of [{}, { version }, { version: 'nonsense' }, { version: '' }]) {
      isMissing(await subject.update(id, { count: 1 }, guard))
      isMissing(await subject.delete(id, guard))
    }
  }
}

/** Returns versions other than the current one of the row, because a client may send any text. */
function strangers ({ version }: Row): string[] {
  const invented = [
    '', '0', '00', '01', '1', '1e0', '1.0', '+1', '-1', ' 1', '0x1', '1n', '1_0', '١', 'é', 'nonsense', 'null',
    'undefined', 'NaN', 'Infinity', '*', '%', '_', "'", '" OR ""="', '; --', '9007199254740993',
    '9223372036854775808', '1e400', '9'.repeat(10_000), 'x'.repeat(10_000)
  ]
  const derived = [
    `0${version}`, `+${version}`, ` ${version}`, `${version} `, `${version}.0`, `${version}e0`, `${version}n`,
    `${version}%`, `${version}-`, version.slice(0, -1), `0x${version}`, version.toUpperCase(), version.toLowerCase()
  ]
  return [...invented, ...derived].filter((stranger) => stranger !== version)
}

const PARTS: readonly Attributes[] = [
  { title: 'a' }, { email: 'b' }, { code: 'c' }, { shelf: 4 }, { count: 5 }, { ratio: 0.6 }, { done: true },
  { tags: ['h'] }, { details: { i: 9 } }, { order: 'j' }, { select: 'k' }, { 'a.b': 'l' }
]

export const raceChecks: Checks = {
  'exactly one of all concurrent updates with the same version succeeds': (subject) => raceForVersions([subject]),

  'exactly one of several concurrent deletions succeeds': async (subject) => {
    const row = await subject.create()
    const guards = times(20, (index) => index % 2 === 0 ? {} : { version: row.version })
    const written = await Promise.all(guards.map((guard) => subject.delete(row.id, guard)))
    same(written.filter(({ ok }) => ok), [{ ok: true, row }], 'the deletions that succeeded')
    for (const answer of written) if (!answer.ok) isMissing(answer)
    await holds(subject, [])
  },

  'concurrent updates of different attributes are all kept': async (subject) => {
    const { id, version } = await subject.create()
    const written = await Promise.all(PARTS.map((part) => subject.update(id, part)))
    distinct([version, ...written.map((answer) => rowOf(answer).version)], 'versions that the row had twice')
    carries(existing(await subject.get(id)), Object.assign({}, ...PARTS))
  },

  'a concurrent update and deletion happen one after the other': async (subject) => {
    for (const turn of times(10, (index) => index)) {
      const row = await subject.create({ count: 0 })
      const updates = times(6, (count) => async () => subject.update(row.id, { count: count + 1 }))
      const [deleted, ...updated] = await allAtOnce(turn % 7, () => subject.delete(row.id), updates)
      const states = [row, ...updated.flatMap((answer) => answer.ok ? [answer.row] : [])]
      const last = rowOf(deleted)
      const before = states.filter(({ version }) => version === last.version)
      same(before, [last], 'the row before its deletion, as the other writes returned it')
      for (const answer of updated) if (!answer.ok) isMissing(answer)
      same(await subject.get(row.id), undefined, 'the row after its deletion')
    }
    await holds(subject, [])
  },

  'exactly one of an update and a deletion with the same version succeeds': async (subject) => {
    for (const updateFirst of [true, false, true, false]) {
      const { id, version } = await subject.create()
      const update = async () => subject.update(id, { count: 1 }, { version })
      const remove = async () => subject.delete(id, { version })
      const written = await Promise.all((updateFirst ? [update, remove] : [remove, update]).map((write) => write()))
      same(written.filter(({ ok }) => ok).length, 1, 'the number of writes that succeeded')
    }
  }
}

/** Starts all writes at once, the deletion after `position` updates. Returns the outcome of the deletion first. */
async function allAtOnce<T> (
  position: number,
  remove: () => Promise<T>,
  updates: ReadonlyArray<() => Promise<T>>
): Promise<[T, ...T[]]> {
  const before = updates.slice(0, position).map((update) => update())
  const deleted = remove()
  const after = updates.slice(position).map((update) => update())
  return [await deleted, ...(await Promise.all([...before, ...after]))]
}

/** The versions before and after an update. */
interface WriteStep {
  readonly from: string
  readonly to: string
}

/** Lets many tasks increment one counter. Each update names the version that its task has read. */
export async function raceForVersions (subjects: readonly [Subject, ...Subject[]]): Promise<void> {
  const [subject] = subjects
  const { writes, tasks } = subject.volume
  const start = await subject.create({ count: 0 })
  const steps: WriteStep[] = []
  await Promise.all(times(tasks, async (task) => {
    const own = subjects[task % subjects.length] as Subject
    for (let turn = task; turn < writes; turn += tasks) {
      const step = await count(own, existing(await own.get(start.id)))
      if (step !== undefined) steps.push(step)
    }
  }))
  distinct(steps.map(({ from }) => from), 'versions for which more than one update succeeded')
  const end = existing(await subject.get(start.id))
  const expected = { version: end.version, length: steps.length }
  same(follow(steps, start), expected, 'the version after all successful updates, and their number')
  carries(end, { title: 'T', count: steps.length })
}

async function count (subject: Subject, { id, version, attributes }: Row): Promise<WriteStep | undefined> {
  const written = await subject.update(id, { count: Number(attributes.count) + 1 }, { version })
  if (written.ok) return { from: version, to: written.row.version }
  const isOther = currentOf(written).version !== version
  assert.ok(isOther, 'an update was refused as stale, but the current row has the version that it named')
}

/** Returns the version to which the steps lead from that of the row, and their number. */
function follow (steps: readonly WriteStep[], { version }: Row): { version: string, length: number } {
  const next = new Map(steps.map(({ from, to }) => [from, to]))
  let [length, last, to] = [0, version, next.get(version)]
  while (to !== undefined && length < steps.length) [length, last, to] = [length + 1, to, next.get(to)]
  return { version: last, length }
}
