import { DuplicateError } from '../../../../lib/core/errors.js'
import type { Id, Row, Scope } from '../../../../lib/core/resource/row.js'
import type { Attributes, Scalar } from '../../../../lib/core/schema/types.js'
import type {
  Condition, Context, CountQuery, Filter, KeptRequests, Query, RunInTransaction, Store, TransactionContext,
  TransactionOptions, WriteOutcome
} from '../../../../lib/core/stores/store.js'

export type Whole = Required<Store>
/** Replaces methods of a correct store. */
type Replace = (store: Whole) => Partial<Store>

const written = (outcome: WriteOutcome, change: (row: Row) => Row): WriteOutcome =>
  outcome.ok ? { ok: true, row: change(outcome.row) } : outcome

/** Hands out rows that are changed. */
const hands = (change: (row: Row) => Row): Replace => (store) => ({
  async get (...given) {
    const row = await store.get(...given)
    return row && change(row)
  },
  async * list (...given) {
    for await (const batch of store.list(...given)) yield batch.map(change)
  },
  create: async (...given) => change(await store.create(...given)),
  update: async (...given) => written(await store.update(...given), change),
  delete: async (...given) => written(await store.delete(...given), change)
})

/** Keeps other values than the given ones. */
const takes = (change: (value: unknown) => unknown): Replace => (store) => {
  const changed = (attributes: Attributes): Attributes =>
    Object.fromEntries(Object.entries(attributes).map(([name, value]) => [name, change(value)]))
  return {
    create: (attributes, ...given) => store.create(changed(attributes), ...given),
    update: (id, changes, ...given) => store.update(id, changed(changes), ...given)
  }
}
const takesText = (change: (text: string) => unknown): Replace =>
  takes((value) => typeof value === 'string' ? change(value) : value)

/** Updates only some of the given attributes. */
const updates = (isMeant: (value: unknown, name: string, row: Row) => boolean): Replace => (store) => ({
  async update (id, changes, guard, context) {
    const row = await store.get(id, {}, context)
    const meant = row === undefined ? [] : Object.entries(changes).filter(([name, value]) => isMeant(value, name, row))
    return store.update(id, Object.fromEntries(meant), guard, context)
  }
})

async function rowsOf (store: Whole, query: Query, context: Context): Promise<Row[]> {
  const rows: Row[] = []
  for await (const batch of store.list(query, context)) rows.push(...batch)
  return rows
}

/** Lists what is made of all rows of another query. */
const lists = (
  ask: (query: Query) => Query, answer: (rows: Row[], query: Query) => readonly Row[] = (rows) => rows
): Replace => (store) => ({
  async * list (query, context) { yield answer(await rowsOf(store, ask(query), context), query) }
})

const valueOf = ({ attributes }: Row, name: string): Scalar =>
  Object.hasOwn(attributes, name) ? (attributes[name] ?? null) as Scalar : null

/** Sorts by the first criterion in another way. */
const sorts = (compare: (a: Scalar, b: Scalar) => number): Replace => lists((query) => query, (rows, { order }) => {
  const [{ by, descending } = { by: 'id', descending: false }] = order
  return rows.sort((a, b) => compare(valueOf(a, by), valueOf(b, by)) * (descending ? -1 : 1))
})

/** Replaces the conditions of filters by others. */
const conditions = (change: (condition: Condition) => Condition | readonly Condition[]): Replace => {
  const changed = (filter: Filter): Filter => filter.flatMap(change)
  return (store) => ({
    list: (query, context) => store.list({ ...query, filter: changed(query.filter) }, context)
  })
}
const operator = (from: Condition['operator'], to: Condition['operator']): Replace =>
  conditions((condition) => condition.operator === from ? { ...condition, operator: to } as Condition : condition)

/** Selects texts by another rule. */
const matches = (rule: (text: string, part: string) => boolean): Replace =>
  lists((query) => ({ ...query, filter: [] }), (rows, { filter }) => rows.filter((row) =>
    filter.every(({ attribute, value }) => {
      const text = valueOf(row, attribute)
      return typeof text === 'string' && rule(text, String(value))
    })))

const counts = (change: (query: CountQuery) => CountQuery): Replace =>
  (store) => ({ count: (query, context) => store.count(change(query), context) })

const withoutGuard: Replace = (store) => ({
  async update (id, changes, { version, scope }, context) {
    const row = await store.get(id, scope, context)
    await Promise.resolve()
    if (row !== undefined && version !== undefined && version !== row.version) {
      return { ok: false, why: 'stale', current: row }
    }
    return store.update(id, changes, { version: undefined, scope }, context)
  },
  async delete (id, { version, scope }, context) {
    const row = await store.get(id, scope, context)
    await Promise.resolve()
    if (row !== undefined && version !== undefined && version !== row.version) {
      return { ok: false, why: 'stale', current: row }
    }
    return store.delete(id, { version: undefined, scope }, context)
  }
})

/** Guards writes by another version than the given one. */
const guards = (change: (version: string | undefined) => string | undefined): Replace => (store) => ({
  update: (id, changes, { version, scope }, context) =>
    store.update(id, changes, { version: change(version), scope }, context),
  delete: (id, { version, scope }, context) => store.delete(id, { version: change(version), scope }, context)
})

const withScope = (change: (scope: Scope) => Scope): Replace => (store) => ({
  get: (id, scope, context) => store.get(id, change(scope), context),
  list: (query, context) => store.list({ ...query, scope: change(query.scope) }, context)
})

type Mutant = readonly [what: string, replace: Replace, ...scenarios: string[]]

const ofRows: readonly Mutant[] = [
  ['forgets what it is given', (store) => ({ create: (_attributes, ...given) => store.create({}, ...given) }),
    'a create returns a row with the given attributes, and the row can be read'],
  ['gives null for what is absent', hands((row) => ({ ...row, attributes: { code: null, ...row.attributes } })),
    'attributes that were not given are absent, or null if their schema allows null'],
  ['answers null where there is no row', (store) => ({
    get: async (...given) => (await store.get(...given) ?? null) as unknown as undefined
  }), 'a store without rows lists nothing and finds nothing'],
  ['takes null for absence', updates((value) => value !== null), 'an update with null sets the attribute to null'],
  ['ignores undefined', updates((value) => value !== undefined), 'an update with undefined removes the attribute'],
  ['only updates what was there', updates((_value, name, row) => Object.hasOwn(row.attributes, name)),
    'an update adds attributes that the row did not have'],
  ['keeps a deleted row', (store) => ({ delete: (id, guard, context) => store.update(id, {}, guard, context) }),
    'a deletion returns the row as it was, and the row is gone'],
  ['has versions that are numbers', hands((row) => ({ ...row, version: Number(row.version) as unknown as string })),
    'a create returns a row with the given attributes, and the row can be read'],
  ['changes the version with each read', (store) => ({
    async get (id, scope, context) {
      await store.update(id, {}, { version: undefined, scope }, context)
      return store.get(id, scope, context)
    }
  }), 'reads change no version'],
  ['gives one id to all rows', hands((row) => ({ ...row, id: 1 })), 'a hundred concurrent creates make a hundred rows'],
  ['declares ids that it does not make', () => ({ id: 'uuid' }), 'ids have the type that the store declares'],
  ['takes text that looks like a number for one', takesText((text) =>
    text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : text), 'texts are kept exactly',
  'values of different types are kept apart'],
  ['keeps 65,535 characters', takesText((text) => text.slice(0, 65_535)), 'a text of a million characters is kept'],
  ['ends texts at U+0000', takesText((text) => text.split('\0')[0]),
    'a text that a store cannot keep is refused as invalid, and nothing is written'],
  ['rounds numbers', takes((value) => typeof value === 'number' ? Math.fround(value) : value),
    'integers are kept up to 2^53 - 1', 'numbers are kept to the last bit'],
  ['keeps booleans as numbers', takes((value) => typeof value === 'boolean' ? Number(value) : value),
    'true is kept as true, false as false'],
  ['keeps times as instants', takesText((text) =>
    /^\d{4}-.*Z$/.test(text) && !Number.isNaN(Date.parse(text)) ? new Date(text).toISOString() : text),
  'times are kept as the text that was given'],
  ['keeps UUIDs in capitals', takesText((text) => /^[\da-f]{8}-/.test(text) ? text.toUpperCase() : text),
    'UUIDs are kept as they were given'],
  ['keeps no empty array', takes((value) => Array.isArray(value) && value.length === 0 ? null : value),
    'arrays are kept in their order, empty ones too'],
  ['drops null in objects', takes((value) =>
    JSON.parse(JSON.stringify(value), (_name, part: unknown) => part ?? undefined) as unknown),
  'objects are kept with all their members'],
  ['hands out its rows', (store) => {
    const known = new Map<Id, Row>()
    return {
      async get (id, scope, context) {
        const row = await store.get(id, scope, context)
        if (row !== undefined && !known.has(id)) known.set(id, structuredClone(row))
        return known.get(id)
      }
    }
  }, 'get returns a copy of the row'],
  ['keeps what it is given', (store) => {
    const kept = new Map<Id, Attributes>()
    return {
      async create (attributes, ...given) {
        const row = await store.create(attributes, ...given)
        kept.set(row.id, attributes)
        return row
      },
      async get (id, ...given) {
        const row = await store.get(id, ...given)
        return row && { ...row, attributes: kept.get(id) ?? row.attributes }
      }
    }
  }, 'a create keeps a copy of what it is given'],
  ['looks at the guard, and writes then', withoutGuard,
    'exactly one of all concurrent updates with the same version succeeds',
    'exactly one of an update and a deletion with the same version succeeds'],
  ['ignores the version', guards(() => undefined),
    'an update with a stale version changes nothing and returns the current row',
    'a deletion with a stale version deletes nothing and returns the current row'],
  ['wants a version', guards((version) => version ?? 'none'), 'a write without a version succeeds for every version'],
  ['compares versions as numbers', guards((version) => version && String(Number(version))),
    'a version that no row ever had is stale, whatever it looks like'],
  ['says that a stale row is missing', (store) => ({
    async update (...given) {
      const outcome = await store.update(...given)
      return outcome.ok ? outcome : { ok: false, why: 'missing' }
    }
  }), 'an update with a stale version changes nothing and returns the current row']
]

const ofValues: readonly Mutant[] = [
  ['names another attribute', (store) => ({
    async create (...given) {
      try {
        return await store.create(...given)
      } catch (error) {
        throw error instanceof DuplicateError ? new DuplicateError('title') : error
      }
    }
  }), 'a create with a value that is taken throws a DuplicateError, and creates nothing'],
  ['knows no capital letters', (store) => ({
    create: ({ email, ...attributes }, ...given) => store.create(
      typeof email === 'string' ? { email: email.toLowerCase(), ...attributes } : attributes, ...given)
  }), 'values that only look alike do not conflict'],
  ['never frees what was taken', (store) => {
    const taken = new Map<unknown, Id>()
    return {
      async create (attributes, ...given) {
        if (taken.has(attributes.email)) throw new DuplicateError('email')
        const row = await store.create(attributes, ...given)
        if (attributes.email != null) taken.set(attributes.email, row.id)
        return row
      }
    }
  }, 'a value is free again once its row is deleted'],
  ['ignores the scope of reads', withScope(() => ({})), 'a read sees no row outside of its scope',
    'values of scopes must match exactly', 'a scope of several attributes contains the rows that match all of them'],
  ['ignores the scope of updates', (store) => ({
    update: (id, changes, { version }, context) => store.update(id, changes, { version, scope: {} }, context)
  }), 'an update reaches no row outside of its scope', 'an update moves no row out of its scope or into it'],
  ['ignores the scope of deletions', (store) => ({
    delete: (id, { version }, context) => store.delete(id, { version, scope: {} }, context)
  }), 'a deletion reaches no row outside of its scope'],
  ['does not stamp its scope on rows', (store) => ({
    create: (attributes, _scope, context) => store.create(attributes, {}, context)
  }), 'a create sets the values of its scope, whatever attributes it is given'],
  ['takes null in a scope for anything', withScope((scope) =>
    Object.fromEntries(Object.entries(scope).filter(([, value]) => value !== null))),
  'null in a scope matches null and a missing value'],
  ['compares a scope loosely', lists((query) => ({ ...query, scope: {} }), (rows, { scope }) => rows.filter((row) =>
    Object.entries(scope).every(([name, wanted]) => String(valueOf(row, name)) === String(wanted)))),
  'a scope does not match a value of another type']
]

const reversed = (query: Query): Query =>
  ({ ...query, order: query.order.map(({ descending, ...rest }) => ({ ...rest, descending: !descending })) })
const untyped = ({ type, ...criterion }: Query['order'][number]): Query['order'][number] => criterion

const ofLists: readonly Mutant[] = [
  ['lists the last row first', lists(reversed), 'a list has every row once, in the order of the ids'],
  ['lists one row too many', lists(({ limit, ...query }) => ({ ...query, limit: limit && limit + 1 })),
    'a list has as many rows as the limit, or all of them if there are fewer', 'each row is on exactly one page'],
  ['begins at the beginning', lists((query) => ({ ...query, after: undefined })),
    'a list after a position has the rows that follow it', 'each row of a scope is on exactly one page',
    'in the reversed order, a list after a position has the rows before it'],
  ['has one batch of any size', lists((query) => query), 'a long list comes in batches',
    'a batch holds no more than 4 MiB beyond its largest row'],
  ['counts places', (store) => {
    const places = new Map<string, number>()
    return {
      async * list (query, context) {
        const rows = await rowsOf(store, { ...query, after: undefined, limit: undefined }, context)
        const start = query.after === undefined ? 0 : places.get(JSON.stringify(query.after)) ?? 0
        const page = rows.slice(start, query.limit && start + query.limit)
        for (const [index, { id }] of page.entries()) places.set(JSON.stringify([id]), start + index + 1)
        yield page
      }
    }
  }, 'a row that stays is on exactly one page, whatever is written in between'],
  ['writes when lists have been read', (store) => {
    let open = 0
    return {
      async * list (...given) {
        open++
        yield * store.list(...given)
        open--
      },
      update: async (...given) => open > 0 ? new Promise<never>(() => {}) : store.update(...given)
    }
  }, 'a list that is left before its end blocks nothing'],
  ['has one cursor', (store) => {
    let current: AsyncIterator<readonly Row[]> | Iterator<readonly Row[]>
    return {
      async * list (...given) {
        const batches = store.list(...given)
        current = Symbol.iterator in batches ? batches[Symbol.iterator]() : batches[Symbol.asyncIterator]()
        for (let next = await current.next(); next.done !== true; next = await current.next()) yield next.value
      }
    }
  }, 'lists that are read at the same time do not affect each other'],
  ['ignores an offset', lists(({ offset, ...query }) => query),
    'in every order, a list with an offset leaves out that many of its rows'],
  ['declares an order and has none', lists((query) => ({ ...query, order: query.order.slice(-1) })),
    'rows can be ordered by three attributes', 'rows can be ordered by an attribute of any name'],
  ['puts numbers in order as text', sorts((a, b) => String(a) < String(b) ? -1 : 1),
    'integers are ordered by size, with null first', 'numbers are ordered by size'],
  ['puts texts in order by a dictionary', sorts((a, b) => String(a).localeCompare(String(b))),
    'texts are ordered by their code points'],
  ['has true first', sorts((a, b) => Number(b) - Number(a)), 'false comes before true'],
  ['puts times in order by instants', sorts((a, b) => Date.parse(String(a)) - Date.parse(String(b))),
    'times are ordered as texts'],
  ['keeps decimals as doubles', takesText((text) => /^-?\d+(?:\.\d+)?$/.test(text) ? String(Number(text)) : text),
    'decimals keep all their digits'],
  ['orders decimals as texts', lists((query) => ({ ...query, order: query.order.map(untyped) })),
    'decimals are ordered as numbers, with null first'],
  ['compares decimals as texts', conditions(({ type, ...condition }) => condition as Condition),
    'the operator eq compares decimals as numbers', 'the operator gt compares decimals as numbers',
    'the operator in selects decimals as numbers']
]

const SEARCHED = 'a search selects the rows that have each word in at least one of the attributes'

const ofQueries: readonly Mutant[] = [
  ['declares a filter and has none', conditions(() => []), 'a filter selects the rows that have its value',
    'a filter narrows a scope, and never widens it',
    'in every order, a filter, a scope, a position and a limit work together'],
  ['knows one condition', lists((query) => ({ ...query, filter: query.filter.slice(0, 1) })),
    'a filter of several attributes selects the rows that match all of them',
    'several conditions on one attribute select the rows that meet all of them'],
  ['has no scope where there is a filter', lists((query) =>
    query.filter.length === 0 ? query : { ...query, scope: {} }), 'a filter narrows a scope, and never widens it'],
  ['has gt with the other end', operator('gt', 'gte'),
    'the operator gt compares values of each type, and selects no row without a value'],
  ['has lte with the other end', operator('lte', 'lt'),
    'the operator lte compares values of each type, and selects no row without a value'],
  ['has a not like that of SQL', conditions((condition) => condition.operator === 'not'
    ? [condition, { attribute: condition.attribute, operator: 'null', value: false }]
    : condition), 'the operator not selects the rows with another value, and those without a value'],
  ['knows 999 values of in', conditions((condition) => condition.operator === 'in'
    ? { ...condition, value: condition.value.slice(-999) } as Condition
    : condition), 'the operator in takes 1,000 values'],
  ['has one kind of null', conditions((condition) => condition.operator === 'null'
    ? { ...condition, value: true }
    : condition), 'the operator null selects the rows without a value, or those with one'],
  ['looks for beginnings anywhere', operator('starts', 'contains'),
    'the operator starts selects the rows whose text begins with the value'],
  ['takes parts for patterns of LIKE', matches((text, part) =>
    new RegExp(part.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&').replaceAll('%', '.*').replaceAll('_', '.'), 'is')
      .test(text)), 'the operator contains selects the rows whose text contains the value'],
  ['lowers letters', matches((text, part) => text.toLowerCase().includes(part.toLowerCase())),
    'the operator contains ignores the case of letters by simple case folding'],
  ['looks at 100 characters', conditions((condition) => condition.operator === 'contains'
    ? { ...condition, value: condition.value.slice(0, 100) }
    : condition), 'the operator contains takes 200 characters'],
  ['declares a search and has none', lists((query) => ({ ...query, search: undefined })), SEARCHED,
    'a search narrows a scope, and never widens it', 'a search and a filter select the rows that match both'],
  ['looks for one of the words', lists(({ search, ...query }) =>
    ({ ...query, search: search && { ...search, words: search.words.slice(0, 1) } })), SEARCHED,
  'a search takes ten words'],
  ['counts without the scope', counts((query) => ({ ...query, scope: {} })), 'a count respects the scope'],
  ['counts without the filter', counts((query) => ({ ...query, filter: [] })), 'a count respects the filter'],
  ['counts without the search', counts((query) => ({ ...query, search: undefined })), 'a count respects the search'],
  ['counts from the beginning', counts((query) => ({ ...query, after: undefined })),
    'a count after a position is the number of the rows that follow it'],
  ['answers the end of a count', (store) => ({
    count: async (query, context) =>
      ({ rows: query.most ?? (await store.count(query, context)).rows, isEstimate: false })
  }), 'a count with an end is exact below it, and reaches it otherwise'],
  ['hides that it estimates', (store) => ({
    count: async (query, context) => query.estimate ? { rows: 1000, isEstimate: false } : store.count(query, context)
  }), 'a count that may be an estimate says whether it is one']
]

const ABORTED_CREATE = 'when the client disconnects, a create that returns has happened, and one that fails has not'
const NOTHING = 'a transaction whose function throws leaves nothing, and throws the same'
const DRY = 'a dry run returns what its function returns, and writes nothing'
const AFTER = 'a function for after the commit runs after a commit alone'

/** Replaces the context of the functions that run in transactions. */
const withContext = (change: (context: TransactionContext) => Partial<TransactionContext>): Replace => (store) => ({
  transaction: (run, context, options) =>
    store.transaction((inner) => run({ ...inner, ...change(inner) }), context, options)
})

const withOptions = (more: TransactionOptions): Replace => (store) => ({
  transaction: (run, context, options) => store.transaction(run, context, { ...options, ...more })
})

const withRequests = (replace: (requests: KeptRequests) => Partial<KeptRequests>): Replace => (store) => {
  const requests = store.requests as KeptRequests
  return {
    requests: {
      find: (...given) => requests.find(...given),
      add: (...given) => requests.add(...given),
      finish: (...given) => requests.finish(...given),
      ...replace(requests)
    }
  }
}

const ofTransactions: readonly Mutant[] = [
  ['never answers whose client has gone', (store) => ({
    get: async (id, scope, context) =>
      context.signal.aborted ? new Promise<never>(() => {}) : store.get(id, scope, context)
  }), 'a read whose client has disconnected ends with a result or an error'],
  ['writes, and throws when a client has gone', (store) => ({
    async create (attributes, scope, context) {
      const row = await store.create(attributes, scope, context)
      context.signal.throwIfAborted()
      return row
    }
  }), ABORTED_CREATE],
  ['answers, and does not write when a client has gone', (store) => ({
    create: async (attributes, scope, context) => context.signal.aborted
      ? { id: 999, version: '1', attributes }
      : store.create(attributes, scope, context)
  }), ABORTED_CREATE],
  ['commits what the app has given up', (store) => ({
    async transaction<T> (run: RunInTransaction<T>, ...given: [Context, TransactionOptions?]) {
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
  }), NOTHING],
  ['returns writes that it has refused', withOptions({ returnsRefused: true }),
    'a write that is refused throws in a transaction, and dooms it even if that is caught'],
  ['begins a transaction in a transaction', (store) => ({
    transaction: (run, { signal }, options) => store.transaction(run, { signal }, options)
  }), 'a transaction in a transaction joins it'],
  ['commits a dry run', withOptions({ dryRun: false }), DRY, AFTER],
  ['calls functions before the commit', withContext(() => ({ afterCommit: (call) => { call() } })), AFTER],
  ['does not notice that a client leaves', (store) => ({
    transaction: (run, context, options) =>
      store.transaction(run, { ...context, signal: new AbortController().signal }, options)
  }), 'a transaction whose client leaves is rolled back, and its function writes nothing after that'],
  ['throws refused writes in an attempt', (store) => ({
    async update (...given) {
      const outcome = await store.update(...given)
      if (!outcome.ok && given[3].openTransaction !== undefined) throw new Error('refused')
      return outcome
    }
  }), 'a write that is refused in an attempt is returned, and the transaction goes on'],
  ['keeps no result', withRequests(() => ({ finish: () => {} })),
    'a request is kept with the writes of its transaction'],
  ['adds a key that is kept', withRequests((requests) => ({
    async add (...given) {
      await requests.add(...given)
      return true
    }
  })), 'of transactions with one key, one is carried out, and the others wait for it'],
  ['keeps a request for ever', withRequests((requests) => ({
    add: (key, request, context) => requests.add(key, { ...request, expires: Infinity }, context)
  })), 'an expired request is unknown, and its key is added again'],
  ['remembers what it has read', (store) => {
    const known = new Map<Id, Row>()
    return {
      async get (id, ...given) {
        const row = known.get(id) ?? await store.get(id, ...given)
        if (row) known.set(id, row)
        return row
      }
    }
  }, 'exactly one of all updates by two connections with the same version succeeds']
]

/** Stores that break the contract: the mistake, what it replaces in a store, and the scenarios that must fail. */
export const mutants: readonly Mutant[] = [...ofRows, ...ofValues, ...ofLists, ...ofQueries, ...ofTransactions]
