import assert from 'node:assert/strict'
import { setImmediate as turn, setTimeout as delay } from 'node:timers/promises'
import type { Row } from '../../core/resource/row.js'
import { memoryStore } from '../../core/stores/memory.js'
import type { TransactionContext } from '../../core/stores/store.js'
import { carries, codeOf, existing, isDuplicate, isMissing, rowOf, same, type Settled, settle } from '../assertions.js'
import { bounded, type Checks, holds, makeContext, type Subject, times } from '../subject.js'

/** The time that a call from outside gets before the transaction ends, in milliseconds. A store may let it wait. */
const HEAD_START = 30

/** The number of rows that are created together. */
const TOGETHER = 250

/** Attributes of rows, one after the other. */
const KINDS = [{}, { count: 1 }, { count: 2 }, { ratio: 0.5 }, { shelf: null }]

/** A failure of the app in a transaction. */
class AppError extends Error {}

export const transactionChecks: Checks = {
  'the writes of a transaction happen together': async (subject) => {
    const [one, two] = [await subject.create(), await subject.create()]
    const written = await subject.transaction(async (inner) => {
      const made = await inner.create({ title: 'Made' }, { tenant: 'a' })
      rowOf(await inner.delete(two.id, { version: two.version }))
      return [made, rowOf(await inner.update(one.id, { count: 1 }, { version: one.version }))]
    })
    assert.ok(Array.isArray(written), 'a transaction must return what its function returns')
    await holds(subject, written)
  },

  'a transaction whose function throws leaves nothing, and throws the same': async (subject) => {
    const [one, two] = [await subject.create(), await subject.create()]
    const error = new AppError()
    await fails(subject, async (inner) => {
      await inner.create()
      rowOf(await inner.update(one.id, { count: 1 }))
      rowOf(await inner.delete(two.id))
      throw error
    }, error)
    await holds(subject, [one, two])
    await subject.transaction(async (inner) => { rowOf(await inner.update(one.id, { count: 2 })) })
    carries(existing(await subject.get(one.id)), { title: 'T', count: 2 })
  },

  'calls in a transaction see its writes, and others do not before its end': async (subject) => {
    const row = await subject.create({ count: 0 })
    const opened = openGate()
    const left = openGate()
    const transaction = settle(subject.transaction(async (inner) => {
      const updated = rowOf(await inner.update(row.id, { count: 1 }))
      const made = await inner.create()
      same(await inner.get(row.id), updated, 'the row that get returns in the transaction')
      await holds(inner, [updated, made])
      opened.open()
      await left.opened
      return [updated, made]
    }))
    await Promise.race([opened.opened, transaction])
    const outside = settle(Promise.all([subject.get(row.id), subject.rows()]))
    const early = await Promise.race([outside, delay(HEAD_START, undefined)])
    left.open()
    if (early?.answered === true) same(early.value, [row, [row]], 'what others see before the end')
    await bounded(subject, outside, 'a read beside a transaction that was over')
    const written = await transaction
    if (!written.answered) throw written.error
    await holds(subject, written.value)
  },

  'a write that is refused throws in a transaction, and dooms it even if that is caught': async (subject) => {
    const { id, version } = await subject.create()
    const row = rowOf(await subject.update(id, { count: 1 }))
    const [unknown] = subject.unknownIds()
    for (const [missing, guard] of [[unknown, {}], [id, { version }]] as const) {
      for (const write of ['update', 'delete'] as const) {
        await dooms(subject, async (inner) => write === 'update'
          ? inner.update(missing, { count: 2 }, guard)
          : inner.delete(missing, guard))
      }
    }
    await holds(subject, [row])
  },

  'a transaction in a transaction joins it': async (subject) => {
    const error = new AppError()
    await fails(subject, async (inner) => {
      await inner.transaction(async (joined) => { await joined.create() })
      throw error
    }, error)
    await holds(subject, [])
    await dooms(subject, async (inner) => inner.transaction(async (joined) => {
      await joined.create()
      throw error
    }))
    const rows = await subject.transaction(async (inner) =>
      [await inner.create(), await inner.transaction((joined) => joined.create())])
    await holds(subject, rows)
  },

  'a call in a transaction without its context is an error at once': async (subject) => {
    const row = await subject.create()
    const calls: ReadonlyArray<() => Promise<unknown>> = [
      async () => subject.store.get(row.id, {}, makeContext()),
      async () => subject.store.create({ title: 'T' }, {}, makeContext()),
      async () => subject.store.update(row.id, { count: 1 }, { version: undefined, scope: {} }, makeContext()),
      async () => subject.store.delete(row.id, { version: undefined, scope: {} }, makeContext()),
      () => subject.rows(),
      () => subject.transaction(async () => {}),
      // In a transaction of another database inside this one.
      async () => memoryStore().transaction(async () => subject.store.get(row.id, {}, makeContext()), makeContext())
    ]
    for (const call of calls) await dooms(subject, async () => isRefused(subject, call))
    await holds(subject, [row])
  },

  'the context of a transaction that is over is an error': async (subject) => {
    const row = await subject.create()
    const contexts: TransactionContext[] = []
    await subject.transaction(async (_inner, context) => { contexts.push(context) })
    await settle(subject.transaction(async (_inner, context) => {
      contexts.push(context)
      throw new AppError()
    }))
    for (const context of contexts) await refusesAll(subject.within(context), row)
    await holds(subject, [row])
  },

  'the context of a transaction in another database is an error': async (subject) => {
    const row = await subject.create()
    const other = memoryStore()
    await settle(other.transaction((context) => refusesAll(subject.within(context), row), makeContext()))
      .then((settled) => {
        // The call has doomed the transaction of the other database.
        if (!settled.answered && codeOf(settled.error) === 'ERR_ASSERTION') throw settled.error
      })
    await holds(subject, [row])
  },

  'a dry run returns what its function returns, and writes nothing': async (subject) => {
    const row = await subject.create({ count: 0 })
    const made = await subject.transaction(async (inner) => {
      const updated = rowOf(await inner.update(row.id, { count: 1 }))
      same(await inner.get(row.id), updated, 'the row that get returns in the dry run')
      return inner.create({ title: 'Made' })
    }, { dryRun: true })
    assert.ok(made !== undefined, 'a dry run must return what its function returns')
    carries(made, { title: 'Made' })
    await holds(subject, [row])
  },

  'a function for after the commit runs after a commit alone': async (subject) => {
    const called: string[] = []
    const committed = openGate<Settled<Row | undefined>>()
    const row = await subject.transaction(async (inner, { afterCommit }) => {
      const made = await inner.create()
      afterCommit(async () => {
        called.push('committed')
        committed.open(await settle(subject.get(made.id)))
      })
      await turn()
      same(called, [], 'the functions that were called before the end')
      return made
    })
    const read = await bounded(subject, committed.opened, 'a function for after the commit')
    if (!read.answered) throw read.error
    same(read.value, row, 'the row after the commit')
    await subject.transaction(async (_inner, { afterCommit }) => {
      afterCommit(() => { called.push('dry run') })
    }, { dryRun: true })
    await fails(subject, async (_inner, { afterCommit }) => {
      afterCommit(() => { called.push('rolled back') })
      throw new AppError()
    })
    await turn()
    same(called, ['committed'], 'the functions that were called')
  },

  'a transaction whose client leaves is rolled back, and its function writes nothing after that': async (subject) => {
    const row = await subject.create()
    const client = new AbortController()
    const woken = openGate()
    const done = openGate()
    const transaction = settle(subject.transaction(async (inner) => {
      await inner.create()
      client.abort()
      await woken.opened
      await settle(inner.create())
      done.open()
    }, {}, client))
    const settled = await bounded(subject, transaction, 'a transaction whose client had left')
    assert.ok(!settled.answered, 'a transaction whose client has left must throw')
    woken.open()
    await bounded(subject, done.opened, 'a call in a transaction that was over')
    await holds(subject, [row])
  },

  'two transactions that overlap both end, and keep their updates or throw UnavailableError': async (subject) => {
    const [one, two] = [await subject.create(), await subject.create()]
    const changes = [{ count: 1 }, { code: 'B' }]
    const both = Promise.all(changes.map((change) => settle(subject.transaction(async (inner) => {
      rowOf(await inner.update(one.id, change))
      await turn()
      rowOf(await inner.update(two.id, change))
    }))))
    const settled = await bounded(subject, both, 'two transactions that overlap')
    const kept = Object.assign({ title: 'T' }, ...settled.map(({ answered }, index) => answered ? changes[index] : {}))
    for (const outcome of settled) {
      if (!outcome.answered && codeOf(outcome.error) !== 'FST_RESOURCES_UNAVAILABLE') throw outcome.error
    }
    for (const { id } of [one, two]) carries(existing(await subject.get(id)), kept)
    assert.ok(settled.some(({ answered }) => answered), 'one of two transactions must succeed')
  },

  'a write that is refused in an attempt is returned, and the transaction goes on': async (subject) => {
    const [unknown = 0] = subject.unknownIds()
    const row = await subject.transaction(async (inner, { openTransaction }) => {
      isMissing(await openTransaction.attempt(() => inner.update(unknown, { count: 1 })))
      isMissing(await openTransaction.attempt(() => inner.delete(unknown)))
      return inner.create()
    })
    await holds(subject, [row])
  }
}

export const uniqueTransactionChecks: Checks = {
  'an error of a call dooms a transaction, even if it is caught': async (subject) => {
    const row = await subject.create({ email: 'a@example.com' })
    await dooms(subject, (inner) => inner.create({ email: 'a@example.com' }))
    await holds(subject, [row])
  },

  'a dry run throws what would fail': async (subject) => {
    await isDuplicate(subject.transaction(async (inner) => {
      await inner.create({ email: 'a@example.com' })
      await inner.create({ email: 'a@example.com' })
    }, { dryRun: true }), ['email'])
    await holds(subject, [])
  },

  'a failed attempt undoes its own writes alone': async (subject) => {
    const [one, two] = [await subject.create({ email: 'a@example.com' }), await subject.create()]
    const rows = await subject.transaction(async (inner, { openTransaction }) => {
      const updated = rowOf(await inner.update(one.id, { count: 1 }))
      for (const isCaught of [false, true]) {
        await isDuplicate(openTransaction.attempt(async () => {
          await inner.create({ email: 'b@example.com' })
          rowOf(await inner.update(one.id, { count: 2 }))
          rowOf(await inner.delete(two.id))
          const write = inner.create({ email: 'a@example.com' })
          await (isCaught ? settle(write) : write)
        }), ['email'])
        await holds(inner, [updated, two])
      }
      return [updated, two, await inner.create({ email: 'b@example.com' })]
    })
    await holds(subject, rows)
  }
}

export const createManyChecks: Checks = {
  'rows that are created together are those that create makes, and come as they were given': async (subject) => {
    const given = times(TOGETHER, (index) => ({ title: `${index}`, ...KINDS[index % KINDS.length] }))
    const together = await subject.transaction((inner) => inner.createMany(given, { tenant: 'a' }))
    const singles: Row[] = []
    for (const attributes of given) singles.push(await subject.create(attributes, { tenant: 'a' }))
    same(together.map(({ attributes }) => attributes), singles.map(({ attributes }) => attributes), 'the rows')
    assert.equal(new Set([...together, ...singles].map(({ id }) => id)).size, 2 * TOGETHER, 'ids must differ')
    await holds(subject, [...together, ...singles])
    same(await subject.transaction((inner) => inner.createMany([])), [], 'what no rows return')
  }
}

export const uniqueCreateManyChecks: Checks = {
  'if one of several rows is refused, none of them is created, and the transaction is doomed': async (subject) => {
    const row = await subject.create({ email: 'a@example.com' })
    await dooms(subject, (inner) => inner.createMany([{}, { email: 'a@example.com' }, {}]))
    await holds(subject, [row])
  }
}

/** A promise that is resolved from outside. */
interface Gate<T> {
  readonly opened: Promise<T>
  open (value: T): void
}

function openGate<T = void> (): Gate<T> {
  let open = (_value: T): void => {}
  const opened = new Promise<T>((resolve) => { open = resolve })
  return { opened, open: (value) => { open(value) } }
}

/** Checks that a transaction throws. */
async function fails (
  subject: Subject,
  run: (inner: Subject, context: TransactionContext) => Promise<unknown>,
  expected?: Error
): Promise<void> {
  const settled = await bounded(subject, settle(subject.transaction(run)), 'a transaction that fails')
  assert.ok(!settled.answered, 'a transaction that fails must throw')
  if (codeOf(settled.error) === 'ERR_ASSERTION') throw settled.error
  if (expected !== undefined) assert.equal(settled.error, expected, 'a transaction must throw what its function throws')
}

/** Checks that a call throws in a transaction, which cannot go on, even if the error is caught. */
async function dooms (subject: Subject, call: (inner: Subject) => Promise<unknown>): Promise<void> {
  const before = await subject.rows()
  await fails(subject, async (inner) => {
    await inner.create()
    const settled = await settle(call(inner))
    assert.ok(!settled.answered, 'a call that is refused in a transaction must throw')
    if (codeOf(settled.error) === 'ERR_ASSERTION') throw settled.error
    const later = await settle(inner.create())
    assert.ok(!later.answered, 'a call after one that was refused must throw')
  })
  await holds(subject, before)
}

/** Throws the error of a call that must be refused. */
async function isRefused (subject: Subject, call: () => Promise<unknown>): Promise<never> {
  const settled = await bounded(subject, settle(call()), 'a call without the context of the transaction around it')
  assert.ok(!settled.answered, 'a call without the context of the transaction around it must throw')
  throw settled.error
}

/** Checks that calls with the context of a transaction are refused. */
async function refusesAll (inner: Subject, row: Row): Promise<void> {
  const calls: ReadonlyArray<() => Promise<unknown>> = [
    () => inner.get(row.id), () => inner.rows(), () => inner.create(), () => inner.update(row.id, { count: 1 }),
    () => inner.delete(row.id), () => inner.transaction(async () => {})
  ]
  for (const call of calls) {
    const settled = await bounded(inner, settle(call()), 'a call with the context of another transaction')
    assert.ok(!settled.answered, 'a call with the context of another transaction must throw')
  }
}
