import type { Row } from '../../resource/row.js'
import type { Context, Written } from '../store.js'
import { carries, codeOf, existing, idsOf, type Settled, rowOf, same, settle } from './assertions.js'
import { inOrder, manyOf } from './lists.js'
import { bounded, type Checks, holds, makeQuery, type Subject, times } from './subject.js'

/** When the client goes: before the call is begun, or while it is on its way. */
const MOMENTS = ['before', 'during'] as const
type Moment = typeof MOMENTS[number]

export const abortChecks: Checks = {
  'a read whose client has gone is answered or fails, and leaves nothing hanging': async (subject) => {
    const [row, ...others] = inOrder(await subject.seed(50)) as [Row, ...Row[]]
    for (const moment of times(20, (index) => MOMENTS[index % 2] as Moment)) {
      const got = await leaving(subject, moment, async (context) => subject.store.get(row.id, {}, context))
      if (got.answered) same(got.value, row, 'the row that get answers nevertheless')
      const listed = await leaving(subject, moment, (context) => drain(subject, context))
      if (listed.answered) {
        same(
          listed.value,
          idsOf([row, ...others]).slice(0, listed.value.length),
          'the ids of the list, as far as it went'
        )
      }
    }
    await holds(subject, [row, ...others], 'the rows after the reads')
  },

  'a list whose client goes midway ends, and leaves the store at work': async (subject) => {
    const rows = inOrder(await subject.seed(manyOf(subject)))
    for (const pulls of [1, 2, 1]) {
      const seen: Row[] = []
      await bounded(subject, settle(readOn(subject, seen, pulls)), 'a list whose client had gone')
      same(idsOf(seen), idsOf(rows).slice(0, seen.length), 'the ids of the list, as far as it went')
    }
    const updated = rowOf(await subject.update((rows[0] as Row).id, { count: 1 }))
    same(await subject.rows({ limit: 2 }), [updated, rows[1]], 'the rows after the lists')
  },

  'a create whose client has gone has happened where it is answered, and has not where it fails': async (subject) => {
    for (const moment of MOMENTS) {
      const before = await subject.rows()
      const created = await leaving(subject, moment, async (context) =>
        subject.store.create({ title: 'T' }, {}, context)
      )
      if (created.answered) {
        await holds(subject, [...before, created.value], 'the rows after a create that was answered')
      } else if (isKnown(created.error)) await holds(subject, before, 'the rows after a create that failed')
    }
  },

  'an update whose client has gone has happened where it is answered, and has not where it fails': async (subject) => {
    for (const moment of MOMENTS) {
      const before = await subject.create({ count: 0 })
      const updated = await leaving(subject, moment, async (context) =>
        subject.store.update(before.id, { count: 1 }, { version: before.version, scope: {} }, context)
      )
      const after = existing(await subject.get(before.id))
      if (updated.answered) {
        carries(
          after,
          { title: 'T', count: happened(updated.value, after) },
          'the row after an update that was answered'
        )
      } else if (isKnown(updated.error)) same(after, before, 'the row after an update that failed')
    }
  },

  'a deletion whose client has gone has happened where it is answered, and has not where it fails': async (subject) => {
    for (const moment of MOMENTS) {
      const before = await subject.create()
      const deleted = await leaving(subject, moment, async (context) =>
        subject.store.delete(before.id, { version: before.version, scope: {} }, context)
      )
      const after = await subject.get(before.id)
      if (deleted.answered) {
        same(
          [deleted.value, after],
          [{ ok: true, row: before }, undefined],
          'a deletion that was answered, and the row after it'
        )
      } else if (isKnown(deleted.error)) same(after, before, 'the row after a deletion that failed')
    }
  }
}

function happened (updated: Written, after: Row): number {
  same(rowOf(updated), after, 'the row after an update that was answered')
  return 1
}

/** Of a write whose answer was lost nothing is known, and that is what it has to say. */
function isKnown (error: unknown): boolean {
  return codeOf(error) !== 'FST_RESOURCES_UNKNOWN_OUTCOME'
}

/** What becomes of a call whose client goes at that moment. */
function leaving<T> (subject: Subject, moment: Moment, call: (context: Context) => Promise<T>): Promise<Settled<T>> {
  const client = new AbortController()
  if (moment === 'before') client.abort()
  const settled = settle(call(client))
  client.abort()
  return bounded(subject, settled, 'a call whose client had gone')
}

async function drain (subject: Subject, context: Context): Promise<Array<Row['id']>> {
  const rows: Row[] = []
  for await (const batch of subject.store.list(makeQuery({}), context)) rows.push(...batch)
  return idsOf(rows)
}

/** Asks for more, though the client goes with the last of so many batches. */
async function readOn (subject: Subject, seen: Row[], pulls: number): Promise<void> {
  const client = new AbortController()
  let left = pulls
  for await (const batch of subject.batches({}, client)) {
    seen.push(...batch)
    if (--left === 0) client.abort()
  }
}
