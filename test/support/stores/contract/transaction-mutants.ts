import type {
  Context, RunInTransaction, Store, TransactionContext, TransactionOptions
} from '../../../../lib/core/stores/store.js'
import type { Row } from '../../../../lib/core/resource/row.js'
import { type MakeStore, type Mutant, over } from './altered-stores.js'
import { steps, storeOn } from './reference-store.js'

const NOTHING = 'a transaction whose function throws leaves nothing, and throws the same'
const SEES = 'calls in a transaction see its writes, and others do not before its end'
const JOINS = 'a transaction in a transaction joins it'
const DRY = 'a dry run returns what its function returns, and writes nothing'
const AFTER = 'a function for after the commit runs after a commit alone'
const LEAVES = 'a transaction whose client leaves is rolled back, and its function writes nothing after that'
const MANY = 'rows that are created together are those that create makes, and come as they were given'
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

export const transactionMutants: readonly Mutant[] = [
  ['returns nothing from a transaction', over((store) => ({
    transaction: async <T>(run: RunInTransaction<T>, ...given: [Context, TransactionOptions?]) => {
      await store.transaction(run, ...given)
      return undefined as T
    }
  })), 'the writes of a transaction happen together', DRY],
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
  ['writes at once in a transaction', writesAtOnce(async (_store, _attributes, _scope, { openTransaction }) =>
    openTransaction !== undefined), SEES, NOTHING, JOINS, DRY, LEAVES],
  ['reads only what is committed', (needs, table) => over(() => {
    const plain = storeOn(table, needs, steps)
    return { get: (...given) => plain.get(...given), list: (...given) => plain.list(...given) }
  })(needs, table), SEES, 'a call in a transaction without its context is an error at once',
  'the context of a transaction that is over is an error',
  'the context of a transaction in another database is an error'],
  ['returns writes that it has refused', over((store) => ({
    transaction: (run, context, options) => store.transaction(run, context, { ...options, returnsRefused: true })
  })), 'a write that is refused throws in a transaction, and dooms it even if that is caught'],
  ['forgets an error that the app has caught', over((store) => ({
    create: (attributes, scope, context) => {
      const { openTransaction } = context
      const create = async (): Promise<Row> => store.create(attributes, scope, context)
      return openTransaction === undefined ? create() : openTransaction.attempt(create)
    }
  })), 'an error of a call dooms a transaction, even if it is caught', UNDOES],
  ['begins a transaction in a transaction', over((store) => ({
    transaction: (run, { signal }, options) => store.transaction(run, { signal }, options)
  })), JOINS],
  ['commits a dry run', over((store) => ({
    transaction: (run, context, options) => store.transaction(run, context, { ...options, dryRun: false })
  })), DRY, AFTER],
  ['takes a dry run for granted', over((store) => ({
    transaction: async <T>(run: RunInTransaction<T>, context: Context, options?: TransactionOptions) =>
      options?.dryRun === true ? undefined as T : store.transaction(run, context, options)
  })), DRY, 'a dry run throws what would fail'],
  ['calls functions before the commit', withContext(() => ({ afterCommit: (call) => { call() } })), AFTER],
  ['does not notice that a client leaves', over((store) => ({
    transaction: (run, context, options) =>
      store.transaction(run, { ...context, signal: new AbortController().signal }, options)
  })), LEAVES],
  ['lets transactions overwrite each other', { excludes: false },
    'two transactions that overlap both end, and keep their updates or throw UnavailableError'],
  ['keeps the writes of a failed attempt', { undoes: false }, UNDOES],
  ['throws refused writes in an attempt', over((store) => ({
    update: async (...given) => {
      const outcome = await store.update(...given)
      if (!outcome.ok && given[3].openTransaction !== undefined) throw new Error('refused')
      return outcome
    }
  })), 'a write that is refused in an attempt is returned, and the transaction goes on'],
  ['creates rows together from the last to the first', over((store) => ({
    createMany: async (many, scope, context) => store.createMany([...many].reverse(), scope, context)
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
  })), 'if one of several rows is refused, none of them is created, and the transaction is doomed']
]
