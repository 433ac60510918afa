import { InvalidError, UnknownOutcomeError } from '../../../../lib/core/errors.js'
import type { Id, Row } from '../../../../lib/core/resource/row.js'
import type { Attributes, Scalar } from '../../../../lib/core/schema/types.js'
import type { Context } from '../../../../lib/core/stores/store.js'
import type { MaybePromise } from '../../../../lib/core/util/maybe-promise.js'
import { answers, type MakeStore, type Mutant, over, takesText, withSteps } from './altered-stores.js'
import { mutantsOfLists } from './list-mutants.js'
import { has, referenceStore, type Steps, steps, Table, valueOf } from './reference-store.js'
import { mutantsOfRows } from './row-mutants.js'
import { requestMutants } from './request-mutants.js'
import { transactionMutants } from './transaction-mutants.js'

const WRITES = [
  'when the client disconnects, a create that returns has happened, and one that fails has not',
  'when the client disconnects, an update that returns has happened, and one that fails has not',
  'when the client disconnects, a deletion that returns has happened, and one that fails has not'
]

/** Checks something after each write, before it answers. */
const afterWrites = (check: (signal: AbortSignal) => void): MakeStore => over((store) => {
  const checked = async <T>({ signal }: Context, answer: MaybePromise<T>): Promise<T> => {
    const known = await answer
    check(signal)
    return known
  }
  return {
    create: (attributes, scope, context) => checked(context, store.create(attributes, scope, context)),
    update: (id, changes, guard, context) => checked(context, store.update(id, changes, guard, context)),
    delete: (id, guard, context) => checked(context, store.delete(id, guard, context))
  }
})

const abortMutants: readonly Mutant[] = [
  ['never answers whose client has gone', {
    pause: ({ signal }) => signal.aborted ? new Promise(() => {}) : Promise.resolve()
  }, 'a read whose client has disconnected ends with a result or an error',
  'a list whose client disconnects midway ends, and the store keeps working'],
  ['writes, and throws when a client has gone', afterWrites((signal) => signal.throwIfAborted()), ...WRITES],
  ['answers, and does not write when a client has gone', over((store, { rows }) => ({
    create: (attributes, scope, context) => context.signal.aborted
      ? { id: 999, version: '1', attributes }
      : store.create(attributes, scope, context),
    update: (id, changes, guard, context) => context.signal.aborted
      ? { ok: true, row: { ...rows.get(id) as Row, attributes: changes } }
      : store.update(id, changes, guard, context),
    delete: (id, guard, context) => context.signal.aborted
      ? { ok: true, row: rows.get(id) as Row }
      : store.delete(id, guard, context)
  })), ...WRITES]
]

const connectionMutants: readonly Mutant[] = [
  ['sees its own rows alone', (needs) => referenceStore(needs), 'a connection reads what another one has written',
    'a row that stays is listed once, whatever another connection writes meanwhile'],
  ['guards its own writes alone', over((store) => {
    const known = new Map<Id, string>()
    return {
      update: async (id, changes, { version, scope }, context) => {
        const guard = { version: version === known.get(id) ? undefined : version, scope }
        const written = await store.update(id, changes, guard, context)
        if (written.ok) known.set(id, written.row.version)
        return written
      },
      create: async (...given) => {
        const row = await store.create(...given)
        known.set(row.id, row.version)
        return row
      }
    }
  }), 'a version that one connection has replaced is stale for the others',
  'exactly one of all updates by two connections with the same version succeeds'],
  ['counts ids by itself', withSteps(({ rows }) => {
    let last = rows.size
    return { nextId: () => ++last }
  }), 'two connections never give the same id, nor one that a row had before'],
  ['knows its own duplicates alone', withSteps(() => {
    const own = new Table()
    return {
      checkUnique (_table, row, unique) {
        steps.checkUnique(own, row, unique)
        own.rows.set(row.id, row)
      }
    }
  }), 'a value that one connection has taken is taken for the others',
  'exactly one of all creates by two connections with the same value succeeds']
]

export const mutants: readonly Mutant[] = [
  ...mutantsOfRows, ...mutantsOfLists, ...abortMutants, ...connectionMutants, ...transactionMutants,
  ...requestMutants
]

function unavailable (): never {
  throw Object.assign(new Error('busy'), { code: 'FST_RESOURCES_UNAVAILABLE' })
}

const TYPES: ReadonlyMap<string, string> = new Map([
  ['shelf', 'number'], ['count', 'number'], ['ratio', 'number'], ['done', 'boolean']
])

function checkType (name: string, value: Scalar): void {
  const type: string = typeof value
  if (value !== null && type !== (TYPES.get(name) ?? 'string')) {
    throw new InvalidError({ [name]: ['is of another type'] })
  }
}

/** Stores that keep the contract, each in its own way. */
export const variants: ReadonlyArray<readonly [string, Partial<Steps> | MakeStore]> = [
  ['has rows that inherit nothing', answers((row) => {
    row.attributes = Object.assign(Object.create(null) as Attributes, row.attributes)
  })],
  ['gives null for what may be null', answers((row) => {
    row.attributes = { email: null, shelf: null, count: null, at: null, ...row.attributes }
  })],
  ['throws when a client has gone', { pause: async ({ signal }) => signal.throwIfAborted() }],
  ['loses the answer when a client has gone', afterWrites((signal) => {
    if (signal.aborted) throw new UnknownOutcomeError()
  })],
  ['has too much to do at times', over((store) => {
    let calls = 0
    return {
      create: async (...given) => ++calls % 20 === 0 ? unavailable() : store.create(...given),
      update: async (...given) => ++calls % 20 === 0 ? unavailable() : store.update(...given)
    }
  })],
  ['refuses texts that it cannot keep', takesText((text) => {
    if (!text.isWellFormed() || text.includes('\0')) throw new InvalidError({ title: ['no'] })
    return text
  })],
  ['refuses scopes and filters of another type', {
    isIn (row, scope) {
      for (const [name, value] of Object.entries(scope)) checkType(name, value)
      return has(row, scope)
    },
    matches: (row, filter) => filter.every((condition) => {
      const { attribute, operator, value } = condition
      if (attribute === 'id') return steps.meets(row.id, condition)
      if (operator !== 'null') for (const one of [value].flat()) checkType(attribute, one)
      return steps.meets(valueOf(row, attribute), condition)
    })
  }],
  ['is there when it is prepared', (needs, table) => {
    let prepared = false
    const pause = async (): Promise<void> => {
      if (!prepared) throw new Error('not prepared')
    }
    return { ...referenceStore(needs, { pause }, table), prepare: async () => { prepared = true } }
  }],
  ['has small batches, some of them empty', over((store) => ({
    async * list (...given) {
      for await (const batch of store.list(...given)) {
        yield []
        yield batch.slice(0, 40)
        yield batch.slice(40)
      }
    }
  }))]
]
