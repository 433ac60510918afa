import type { Row } from '../../core/resource/row.js'
import type { Context, WriteOutcome } from '../../core/stores/store.js'
import type { MaybePromise } from '../../core/util/maybe-promise.js'
import { carries, codeOf, existing, idsOf, type Settled, rowOf, same, settle } from '../assertions.js'
import { inOrder, manyOf } from './lists.js'
import { bounded, type Check, type Checks, holds, makeQuery, type Subject, times } from '../subject.js'

/** The moments at which a client disconnects: before the call, or during it. */
const MOMENTS = ['before', 'during'] as const
type AbortMoment = typeof MOMENTS[number]

export const abortChecks: Checks = {
  'a read whose client has disconnected ends with a result or an error': async (subject) => {
    const rows = inOrder(await subject.seed(50))
    const row = existing(rows[0])
    for (const moment of times(10, () => MOMENTS).flat()) {
      const got = await leaving(subject, moment, async (context) => subject.store.get(row.id, {}, context))
      if (got.answered) same(got.value, row, 'the row that get returns')
      const listed = await leaving(subject, moment, (context) => drain(subject, context))
      if (listed.answered) same(listed.value, rows.slice(0, listed.value.length), 'the listed rows')
    }
    await holds(subject, rows)
  },

  'a list whose client disconnects midway ends, and the store keeps working': async (subject) => {
    const rows = inOrder(await subject.seed(manyOf(subject)))
    for (const pulls of [1, 2, 1]) {
      const seen: Row[] = []
      await bounded(subject, settle(readOn(subject, seen, pulls)), 'a list whose client had disconnected')
      same(idsOf(seen), idsOf(rows).slice(0, seen.length), 'the ids that the list returned before it ended')
    }
    const updated = rowOf(await subject.update(existing(rows[0]).id, { count: 1 }))
    same(await subject.rows({ limit: 2 }), [updated, rows[1]], 'the rows after the lists')
  },

  'when the client disconnects, a create that returns has happened, and one that fails has not': async (subject) => {
    for (const moment of MOMENTS) {
      const before = await subject.rows()
      const attempt = async (context: Context): Promise<Row> => subject.store.create({ title: 'T' }, {}, context)
      const created = await leaving(subject, moment, attempt)
      if (created.answered) await holds(subject, [...before, created.value])
      else if (isKnown(created.error)) await holds(subject, before)
    }
  },

  'when the client disconnects, an update that returns has happened, and one that fails has not': leavesWrite(
    ({ store }, { id, version }, context) => store.update(id, { count: 1 }, { version, scope: {} }, context),
    (_before, updated, after) => {
      same(updated, after, 'the row after an update that returned')
      carries(updated, { title: 'T', count: 1 })
    }
  ),

  'when the client disconnects, a deletion that returns has happened, and one that fails has not': leavesWrite(
    ({ store }, { id, version }, context) => store.delete(id, { version, scope: {} }, context),
    (before, deleted, after) => {
      same(deleted, before, 'the row that delete returns')
      same(after, undefined, 'the row after a deletion that returned')
    }
  )
}

/**
 * Makes a check of a write whose client disconnects. `checkWritten` gets the row before the write, that of its outcome,
 * and that which can be read afterwards.
 */
function leavesWrite (
  write: (subject: Subject, row: Row, context: Context) => MaybePromise<WriteOutcome>,
  checkWritten: (before: Row, written: Row, after: Row | undefined) => void
): Check {
  return async (subject) => {
    for (const moment of MOMENTS) {
      const before = await subject.create({ count: 0 })
      const written = await leaving(subject, moment, async (context) => write(subject, before, context))
      const after = await subject.get(before.id)
      if (written.answered) checkWritten(before, rowOf(written.value), after)
      else if (isKnown(written.error)) same(after, before, 'the row after a write that failed')
    }
  }
}

/** Returns whether the outcome of a write is known from its error. */
function isKnown (error: unknown): boolean {
  return codeOf(error) !== 'FST_RESOURCES_UNKNOWN_OUTCOME'
}

/** Returns the outcome of a call whose client disconnects at the moment. */
function leaving<T> (
  subject: Subject,
  moment: AbortMoment,
  call: (context: Context) => Promise<T>
): Promise<Settled<T>> {
  const client = new AbortController()
  if (moment === 'before') client.abort()
  const settled = settle(call(client))
  client.abort()
  return bounded(subject, settled, 'a call whose client had disconnected')
}

async function drain (subject: Subject, context: Context): Promise<Row[]> {
  const rows: Row[] = []
  for await (const batch of subject.store.list(makeQuery({}), context)) rows.push(...batch)
  return rows
}

/** Reads a list whose client disconnects after `pulls` batches, and reads on after that. */
async function readOn (subject: Subject, seen: Row[], pulls: number): Promise<void> {
  const client = new AbortController()
  let left = pulls
  for await (const batch of subject.batches({}, client)) {
    seen.push(...batch)
    if (--left === 0) client.abort()
  }
}
