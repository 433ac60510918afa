import type {
  Context, RunInTransaction, Store, TransactionContext, TransactionOptions
} from '../../../../lib/core/stores/store.js'
import type { Row } from '../../../../lib/core/resource/row.js'
import type { Attributes } from '../../../../lib/core/schema/types.js'
import { type MakeStore, type Mutant, over } from './altered-stores.js'
import { steps, storeOn } from './reference-store.js'

const TOGETHER = 'the writes of a transaction happen together'
const NOTHING = 'a transaction whose function throws leaves nothing, and throws the same'
const SEES = 'calls in a transaction see its writes, and others do not before its end'
const REFUSED = 'a write that is refused throws in a transaction, and dooms it even if that is caught'
const ERROR = 'an error of a call dooms a transaction, even if it is caught'
const JOINS = 'a transaction in a transaction joins it'
const WITHOUT = 'a call in a transaction without its context is an error at once'
const OVER = 'the context of a transaction that is over is an error'
const OTHER = 'the context of a transaction in another database is an error'
const DRY = 'a dry run returns what its function returns, and writes nothing'
const DRY_FAILS = 'a dry run throws what would fail'
const AFTER = 'a function for after the commit runs after a commit alone'
const LEAVES = 'a transaction whose client leaves is rolled back, and its function writes nothing after that'
const OVERLAP = 'two transactions that overlap both end, and keep their updates or throw UnavailableError'
const RETURNED = 'a write that is refused in an attempt is returned, and the transaction goes on'
const MANY = 'rows that are created together are those that create makes, and come as they were given'
const ALL_OR_NONE = 'if one of several rows is refused, none of them is created, and the transaction is doomed'
const UNDOES = 'a failed attempt undoes its own writes alone'

/** Replaces the context of the functions that run in transactions. */
const withContext = (change: (context: TransactionContext) => Partial<TransactionContext>): MakeStore =>
  over((store) => ({
    transaction: (run, context, options) =>
      store.transaction((inner) => run({ ...inner, ...change(inner) }), context, options)
  }))

/** Makes the writes with some contexts at once, outside of all transactions. */
const writesAtOnce = (
  isMeant: (store: Required<Store>, ...given: Parameters<Store['create']>) => Promise<boolean>
): MakeStore => (needs, table) => over((store) => {
  const plain = storeOn(table, needs, steps)
  return {
    create: async (...given) => await isMeant(store, ...given) ? plain.create(...given) : store.create(...given)
  }
})(needs, table)

/** Returns whether the store refuses a call for the sake of its context. */
const isRefused: Parameters<typeof writesAtOnce>[0] = async (store, _attributes, _scope, context) => {
  try {
    await store.get(0, {}, context)
    return false
  } catch (error) {
    return (error as { readonly code?: unknown }).code === 'FST_RESOURCES_TRANSACTION'
  }
}

export const transactionMutants: readonly Mutant[] = [
  ['returns nothing from a transaction', over((store) => ({
    transaction: async <T>(run: RunInTransaction<T>, ...given: [Context, TransactionOptions?]) => {
      await store.transaction(run, ...given)
      return undefined as T
    }
  })), TOGETHER, DRY],
  ['commits what the app has given up', over((store) => ({
    transaction: async <T>(run: RunInTransaction<T>, ...given: [Context, TransactionOptions?]) => {
      let failure: { readonly error: unknown } | undefined
      const result = await store.transaction(async (inner) => {
        try {
          return await run(inner)
        } catch (error) {
          failure = { error }
          return undefined
        }
      }, ...given)
      if (failure !== undefined) throw failure.error
      return result as T
    }
  })), NOTHING, JOINS],
  ['wraps what the function throws', over((store) => ({
    transaction: (...given) => store.transaction(...given).catch((cause: unknown) => {
      throw new Error('rolled back', { cause })
    })
  })), NOTHING],
  ['writes at once in a transaction', writesAtOnce(async (_store, _attributes, _scope, { openTransaction }) =>
    openTransaction !== undefined), SEES, NOTHING, JOINS, DRY, LEAVES],
  ['reads only what is committed', (needs, table) => over(() => {
    const plain = storeOn(table, needs, steps)
    return { get: (...given) => plain.get(...given), list: (...given) => plain.list(...given) }
  })(needs, table), SEES, WITHOUT, OVER, OTHER],
  ['returns writes that it has refused', over((store) => ({
    transaction: (run, context, options) => store.transaction(run, context, { ...options, returnsRefused: true })
  })), REFUSED],
  ['forgets an error that the app has caught', over((store) => ({
    create: (attributes, scope, context) => {
      const { openTransaction } = context
      const create = async (): Promise<Row> => store.create(attributes, scope, context)
      return openTransaction === undefined ? create() : openTransaction.attempt(create)
    }
  })), ERROR, UNDOES],
  ['begins a transaction in a transaction', over((store) => ({
    transaction: (run, { signal }, options) => store.transaction(run, { signal }, options)
  })), JOINS],
  ['waits for the transaction around a call', (needs, table) => over((store) => ({
    get: async (id, scope, context) => {
      if (context.openTransaction === undefined) await table.idle
      return store.get(id, scope, context)
    }
  }))(needs, table), WITHOUT],
  ['does not look at contexts that it does not know', writesAtOnce(isRefused), WITHOUT, OVER, OTHER],
  ['commits a dry run', over((store) => ({
    transaction: (run, context, options) => store.transaction(run, context, { ...options, dryRun: false })
  })), DRY, AFTER],
  ['takes a dry run for granted', over((store) => ({
    transaction: async <T>(run: RunInTransaction<T>, context: Context, options?: TransactionOptions) =>
      options?.dryRun === true ? undefined as T : store.transaction(run, context, options)
  })), DRY, DRY_FAILS],
  ['calls functions before the commit', withContext(() => ({ afterCommit: (call) => { call() } })), AFTER],
  ['never calls functions after the commit', withContext(() => ({ afterCommit: () => {} })), AFTER],
  ['does not notice that a client leaves', over((store) => ({
    transaction: (run, context, options) =>
      store.transaction(run, { ...context, signal: new AbortController().signal }, options)
  })), LEAVES],
  ['lets transactions overwrite each other', { excludes: false }, OVERLAP],
  ['says nothing useful about a conflict', (needs, table) => over((store) => ({
    transaction: async (...given) => {
      if (table.idle !== undefined && given[1].openTransaction === undefined) throw new Error('conflict')
      return store.transaction(...given)
    }
  }))(needs, table), OVERLAP],
  ['gives up a transaction with an attempt', { undoes: undefined }, UNDOES],
  ['keeps the writes of a failed attempt', { undoes: false }, UNDOES],
  ['throws refused writes in an attempt', over((store) => ({
    update: async (...given) => {
      const outcome = await store.update(...given)
      if (!outcome.ok && given[3].openTransaction !== undefined) throw new Error('refused')
      return outcome
    }
  })), RETURNED],
  ['creates rows together from the last to the first', over((store) => ({
    createMany: async (many, scope, context) => store.createMany([...many].reverse(), scope, context)
  })), MANY],
  ['gives all rows the attributes of the first', over((store) => ({
    createMany: async (many, scope, context) =>
      store.createMany(many.map((attributes) => pick(attributes, Object.keys(many[0] ?? {}))), scope, context)
  })), MANY],
  ['creates rows together without their scope', over((store) => ({
    createMany: async (many, _scope, context) => store.createMany(many, {}, context)
  })), MANY],
  ['leaves out a row that is refused', over((store) => ({
    async createMany (many, scope, context) {
      const rows: Row[] = []
      for (const attributes of many) {
        const attempt = context.openTransaction?.attempt(() => store.create(attributes, scope, context))
        await attempt?.then((row) => rows.push(row), () => {})
      }
      return rows
    }
  })), ALL_OR_NONE]
]

function pick (attributes: Attributes, names: readonly string[]): Attributes {
  return Object.fromEntries(Object.entries(attributes).filter(([name]) => names.includes(name)))
}
