import { getEventListeners } from 'node:events'
import t, { type Test } from 'tap'
import { type Session, type TransactionSource, Transactions } from '../../lib/core/stores/transaction.js'
import type { Context, Transaction, TransactionContext } from '../../lib/core/stores/store.js'

const outside: Context = { signal: new AbortController().signal }
const MISSING = { ok: false, why: 'missing' }
const UNWRITTEN = 'FST_RESOURCES_UNWRITTEN'
const TRANSACTION = { code: 'FST_RESOURCES_TRANSACTION' }
const nothing = async (): Promise<void> => {}

interface Database {
  /** What the sessions of the database were asked. */
  readonly log: string[]
  readonly transactions: Transactions<Session>
}

/** Opens a database whose sessions note what they are asked. */
function open (parts: Partial<TransactionSource<Session>> = {}, session: Partial<Session> = {}): Database {
  const log: string[] = []
  const source: TransactionSource<Session> = {
    begin () {
      log.push('begin')
      return { commit: () => { log.push('commit') }, rollback: () => { log.push('rollback') }, ...session }
    },
    ...parts
  }
  return { log, transactions: new Transactions(source) }
}

const openOf = (context: Context): Transaction => context.openTransaction as Transaction
const ask = (transactions: Transactions<Session>, context?: Context): string =>
  transactions.call(context, (session) => session === undefined ? 'outside' : 'inside')

async function * rejecting (transactions: Transactions<Session>): AsyncGenerator<(context: Context) => unknown> {
  yield (context) => transactions.call(context, () => { throw new Error('broken') })
  yield (context) => transactions.call(context, async () => { throw new Error('broken') })
  yield async (context) => transactions.run(async () => { throw new Error('broken') }, context)
}

t.test('a transaction commits what its function returns, and gives its session to each call', async (t) => {
  const { log, transactions } = open()
  const controller = new AbortController()
  const result = await transactions.run(async (context) => {
    t.equal(context.signal, controller.signal)
    t.equal(ask(transactions, context), 'inside')
    t.equal(typeof transactions.sessionOf(context)?.commit, 'function')
    t.equal(openOf(context).isDoomed, false)
    for (const same of [undefined, null, [], { ok: true }, 'text']) {
      t.equal(transactions.call(context, () => same), same)
      t.equal(await transactions.call(context, async () => same), same)
    }
    return 'done'
  }, controller)
  t.strictSame([result, log], ['done', ['begin', 'commit']])
  t.strictSame([ask(transactions), ask(transactions, outside)], ['outside', 'outside'])
  t.equal(transactions.sessionOf(outside), undefined)
})

t.test('a function that throws, at once or later, rolls back', async (t) => {
  for (const run of [() => { throw new Error('broken') }, async () => { throw new Error('broken') }]) {
    const { log, transactions } = open()
    await t.rejects(transactions.run(run, outside), { message: 'broken' })
    t.strictSame(log, ['begin', 'rollback'])
  }
})

t.test('a call that fails dooms the transaction, even if the function catches the error', async (t) => {
  const { log, transactions } = open()
  let cases = 0
  for await (const fail of rejecting(transactions)) {
    cases++
    await t.rejects(transactions.run(async (context) => {
      await t.rejects(async () => fail(context), { message: 'broken' })
      t.equal(openOf(context).isDoomed, true)
      t.throws(() => ask(transactions, context), { message: 'broken' }, 'no further call is made')
      t.throws(() => transactions.sessionOf(context), { message: 'broken' })
      return 'done'
    }, outside), { message: 'broken' })
  }
  t.strictSame(log, new Array(cases).fill(['begin', 'rollback']).flat())
})

t.test('a write that is refused dooms the transaction, unless refused writes are returned', async (t) => {
  const { log, transactions } = open()
  for (const [outcome, statusCode] of [[MISSING, 404], [{ ok: false, why: 'stale' }, 412]] as const) {
    const fault = { code: UNWRITTEN, statusCode }
    await t.rejects(transactions.run(async (context) => {
      t.throws(() => transactions.call(context, () => outcome), fault)
    }, outside), fault)
    await t.rejects(
      transactions.run(async (context) => transactions.call(context, async () => outcome), outside), fault
    )
    log.length = 0
    const returned = await transactions.run(async (context) => transactions.call(context, () => outcome), outside,
      { returnsRefused: true })
    t.strictSame([returned, log], [outcome, ['begin', 'commit']])
  }
})

t.test('a transaction inside another of the database joins it', async (t) => {
  const { log, transactions } = open()
  const result = await transactions.run(async (context) =>
    transactions.run(async (inner) => [inner === context, ask(transactions, inner)], context), outside)
  t.strictSame([result, log], [[true, 'inside'], ['begin', 'commit']])
})

t.test('a call without the context of the transaction around it is an error that dooms it', async (t) => {
  const { log, transactions } = open()
  const other = open()
  const calls: ReadonlyArray<() => unknown> = [
    () => ask(transactions), () => ask(transactions, outside), () => transactions.sessionOf(outside),
    () => transactions.run(nothing, outside),
    () => other.transactions.run(async () => ask(transactions), outside)
  ]
  for (const call of calls) {
    log.length = 0
    await t.rejects(transactions.run(async () => { await Promise.resolve().then(call).catch(() => {}) }, outside),
      { ...TRANSACTION, message: /without its context/ })
    t.strictSame(log, ['begin', 'rollback'])
  }
})

t.test('a call is made outside while a transaction is open, and after it is over', async (t) => {
  const { transactions } = open()
  let end = (): void => {}
  const running = transactions.run(() => new Promise<void>((resolve) => { end = resolve }), outside)
  await new Promise((resolve) => { setImmediate(resolve) })
  t.equal(ask(transactions), 'outside')
  end()
  await running
  let later: Promise<unknown> = Promise.resolve()
  let kept: Context = outside
  let over = (): void => {}
  await transactions.run(async (context) => {
    kept = context
    later = new Promise<void>((resolve) => { over = resolve }).then(() =>
      transactions.run(async (inner) => ask(transactions, inner), outside))
  }, outside)
  over()
  t.equal(await later, 'inside', 'a transaction that is over is around no call')
  t.throws(() => ask(transactions, kept), { ...TRANSACTION, message: /is over/ })
  t.throws(() => transactions.sessionOf(kept), { message: /is over/ })
  await t.rejects(transactions.run(nothing, kept), { message: /is over/ })
  await t.rejects(openOf(kept).attempt(nothing), { message: /is over/ })
})

t.test('a context of another database is an error, which dooms its transaction', async (t) => {
  const [one, other] = [open(), open()]
  await t.rejects(one.transactions.run(async (context) => {
    t.throws(() => ask(other.transactions, context), { ...TRANSACTION, message: /in another database/ })
  }, outside), { message: /in another database/ })
  t.strictSame(one.log, ['begin', 'rollback'])
  const foreign = { ...outside, openTransaction: {} as Transaction }
  t.throws(() => ask(other.transactions, foreign), { message: /in another database/ })
})

t.test('a dry run checks, and rolls back', async (t) => {
  for (const session of [{}, { check: () => { throw new Error('late') } }]) {
    const { log, transactions } = open({}, session)
    let called = false
    const run = transactions.run(async (context) => {
      context.afterCommit(() => { called = true })
      return 'done'
    }, outside, { dryRun: true })
    if ('check' in session) await t.rejects(run, { message: 'late' })
    else t.equal(await run, 'done')
    await new Promise((resolve) => { setImmediate(resolve) })
    t.strictSame([log, called], [['begin', 'rollback'], false])
  }
})

t.test('functions are called after the commit in their order, and may fail', async (t) => {
  const { log, transactions } = open()
  const warnings: unknown[] = []
  t.intercept(process, 'emitWarning', { value: (warning: Error) => { warnings.push(warning.message, warning.cause) } })
  await transactions.run(async ({ afterCommit }) => {
    afterCommit(() => { log.push('one') })
    afterCommit(() => { throw new Error('no mail') })
    afterCommit(async () => { log.push('two') })
  }, outside)
  await new Promise((resolve) => { setImmediate(resolve) })
  t.strictSame(log, ['begin', 'commit', 'one', 'two'])
  t.match(warnings, ['a function of afterCommit has failed', { message: 'no mail' }])
})

t.test('a commit that fails is not rolled back, and nothing is called after it', async (t) => {
  const { log, transactions } = open({}, { commit: async () => { throw new Error('disk') } })
  await t.rejects(transactions.run(async ({ afterCommit }) => { afterCommit(() => { log.push('called') }) }, outside),
    { message: 'disk' })
  await new Promise((resolve) => { setImmediate(resolve) })
  t.strictSame(log, ['begin'])
})

t.test('a transaction ends with its time or when its client leaves, and leaves nothing behind', async (t) => {
  const forever = () => new Promise<never>(() => {})
  const late = () => new Promise<never>((_resolve, reject) => { setTimeout(() => { reject(new Error('late')) }, 20) })
  const unavailable = { code: 'FST_RESOURCES_UNAVAILABLE', cause: { message: 'the transaction took too long' } }
  const count = (): number => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
  const { log, transactions } = open({ timeout: 5 })
  await t.rejects(transactions.run(forever, outside), unavailable, 'the time of the database')
  const patient = open({ timeout: 60_000 })
  await t.rejects(patient.transactions.run(late, outside, { timeout: 5 }), unavailable, 'the time of the transaction')
  t.strictSame([log, patient.log], [['begin', 'rollback'], ['begin', 'rollback']])
  const controller = new AbortController()
  const timers = count()
  const left = patient.transactions.run(forever, controller)
  await new Promise((resolve) => { setImmediate(resolve) })
  controller.abort(new Error('gone'))
  await t.rejects(left, { message: 'gone' })
  await t.rejects(patient.transactions.run(forever, controller), { message: 'gone' }, 'the client has left before')
  const staying = new AbortController()
  await patient.transactions.run(nothing, staying)
  t.equal(getEventListeners(staying.signal, 'abort').length, 0)
  t.equal(getEventListeners(controller.signal, 'abort').length, 0)
  t.ok(count() <= timers, 'no timer goes on')
})

t.test('no call is made after the client has left, even before the transaction is rolled back', async (t) => {
  const { transactions } = open()
  const controller = new AbortController()
  let call: () => unknown = () => {}
  const run = transactions.run((context) => {
    call = () => ask(transactions, context)
    return new Promise(() => {})
  }, controller)
  await new Promise((resolve) => { setImmediate(resolve) })
  controller.abort(new Error('gone'))
  t.throws(() => call(), { message: 'gone' })
  await t.rejects(run, { message: 'gone' })
})

t.test('what happens after the end of the time is not committed', async (t) => {
  const { log, transactions } = open()
  let call: () => unknown = () => {}
  await t.rejects(transactions.run((context) => {
    call = () => ask(transactions, context)
    return new Promise(() => {})
  }, outside, { timeout: 5 }), { code: 'FST_RESOURCES_UNAVAILABLE' })
  t.throws(() => call(), { message: /is over/ })
  t.strictSame(log, ['begin', 'rollback'])
})

/** Replaces the pauses between attempts, and returns the lengths of all timers. */
function shortenPauses (t: Test): number[] {
  const lengths: number[] = []
  const real = globalThis.setTimeout
  t.intercept(Math, 'random', { value: () => 1 })
  t.intercept(globalThis, 'setTimeout', {
    value: (call: () => void, length: number) => {
      lengths.push(length)
      return real(call, length <= 200 ? 0 : length)
    }
  })
  return lengths
}

t.test('a transaction that conflicts with others begins again, after pauses that grow', async (t) => {
  const isConflict = (error: unknown): boolean => (error as Error).message === 'conflict'
  const { log, transactions } = open({ isConflict })
  const lengths = shortenPauses(t)
  let calls = 0
  const run = async (): Promise<number> => {
    if (++calls < 10) throw new Error('conflict')
    return calls
  }
  t.equal(await transactions.run(run, outside, { attempts: 10 }), 10)
  t.strictSame(lengths.filter((length) => length < 1000), [2, 4, 8, 16, 32, 64, 128, 128, 128])
  t.strictSame([...new Set(lengths.filter((length) => length >= 1000))], [30_000], 'the longest time')
  t.equal(log.filter((what) => what === 'begin').length, 10)
  for (
    const [attempts, message, begun] of [[undefined, 'conflict', 1], [3, 'conflict', 3], [3, 'broken', 1]] as const
  ) {
    log.length = 0
    await t.rejects(transactions.run(
      async () => { throw new Error(message) }, outside, { ...(attempts && { attempts }) }
    ),
    { message })
    t.equal(log.filter((what) => what === 'begin').length, begun)
  }
  const simple = open()
  await t.rejects(simple.transactions.run(async () => { throw new Error('conflict') }, outside, { attempts: 3 }),
    { message: 'conflict' })
  t.equal(simple.log.length, 2, 'a database without conflicts does not begin again')
})

t.test('a transaction may begin in another way than the others of its database', async (t) => {
  const { log, transactions } = open()
  const given: unknown[] = []
  const source: TransactionSource<Session> = {
    begin (...parts) {
      given.push(...parts)
      return { commit: () => { log.push('own commit') }, rollback () {} }
    }
  }
  await transactions.run(nothing, outside, { attempts: 2 }, source)
  t.strictSame([log, given], [['own commit'], [outside, { attempts: 2 }]])
})

/** A session with savepoints, which notes them. */
function savepoints (log: () => string[]): Partial<Session> {
  return {
    async savepoint (call) {
      log().push('savepoint')
      try {
        return await call()
      } catch (error) {
        log().push('undone')
        throw error
      }
    }
  }
}

t.test('an attempt that fails is undone alone, if the database has savepoints', async (t) => {
  const database: Database = open({}, savepoints(() => database.log))
  const { log, transactions } = database
  await transactions.run(async (context) => {
    const { attempt } = openOf(context)
    const tried = attempt.bind(openOf(context))
    t.equal(await tried(() => 'done'), 'done')
    t.strictSame(await tried(() => transactions.call(context, () => MISSING)), MISSING, 'a refused write is returned')
    await t.rejects(tried(() => { throw new Error('broken') }), { message: 'broken' })
    await t.rejects(tried(async () => {
      await t.rejects(async () => transactions.call(context, async () => { throw new Error('first') }))
      t.throws(() => ask(transactions, context), { message: 'first' }, 'the attempt is doomed')
      t.equal(openOf(context).isDoomed, false)
    }), { message: 'first' }, 'a caught error fails the attempt')
    t.equal(await tried(async () => {
      await t.rejects(tried(() => transactions.call(context, () => { throw new Error('inner') })), { message: 'inner' })
      return ask(transactions, context)
    }), 'inside', 'an attempt inside another')
    t.equal(ask(transactions, context), 'inside')
    return 'done'
  }, outside)
  t.strictSame(log, [
    'begin', 'savepoint', 'savepoint', 'savepoint', 'undone', 'savepoint', 'undone', 'savepoint', 'savepoint', 'undone',
    'commit'
  ])
  await t.rejects(transactions.run(async (context) => transactions.call(context, () => MISSING), outside),
    { code: UNWRITTEN, statusCode: 404 }, 'a write after an attempt is refused again')
})

t.test('an attempt that fails dooms the transaction of a database without savepoints', async (t) => {
  const { log, transactions } = open()
  await t.rejects(transactions.run(async (context: TransactionContext) => {
    t.equal(await openOf(context).attempt(() => 'done'), 'done')
    t.equal(openOf(context).isDoomed, false)
    await t.rejects(openOf(context).attempt(() => { throw new Error('broken') }), { message: 'broken' })
    t.equal(openOf(context).isDoomed, true)
    await t.rejects(openOf(context).attempt(() => 'done'), { message: 'broken' })
  }, outside), { message: 'broken' })
  t.strictSame(log, ['begin', 'rollback'])
})
