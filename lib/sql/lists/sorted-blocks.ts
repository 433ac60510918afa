import { InvalidQueryError } from '../../core/errors.js'
import type { GeneratedIdType } from '../../core/resource/resource.js'
import type { Scalar } from '../../core/schema/types.js'
import { andThen, catchError, type MaybePromise } from '../../core/util/maybe-promise.js'
import type { Order, Position, Query } from '../../core/stores/store.js'
import { decodeInteger, decodeLongInteger } from '../columns/codec.js'
import type { Dialect, RawRow, Statement } from '../dialect.js'
import type { Predicate } from '../predicates.js'
import type { BoundStatement } from '../statements.js'
import type { TableDefinition } from '../tables/definition.js'
import type { Reading } from './batch-plan.js'
import { rangesAfter } from './keyset.js'
import { COUNT, LONGEST_BOUND, type ListStatements } from './list-statements.js'
import { mayBeReplaced } from './position-check.js'

/** Consecutive rows of a sorted list, whose ids were read in advance. */
export interface Block {
  /** The ids, as `Dialect.blocks` collects them. They are `undefined` where the blocks end before the list. */
  readonly ids: unknown
  /** The position of the first row when the ids were read. */
  readonly first: Position
}

/** A list whose rows are to be found. */
export interface BlockQuery {
  readonly query: Query
  readonly predicates: readonly Predicate[]
  /** The position after which the rows begin. */
  readonly after: Position
  /** The next batch without blocks. */
  readonly reading: Reading
  /** The number of rows that the list still needs. */
  readonly left: number
}

type Run = (bound: BoundStatement) => MaybePromise<readonly RawRow[]>

/** The most ids that a list holds, which take at most 5 MiB. A longer list sorts again after them. */
const MOST_IDS = { integer: 2 ** 18, uuid: 2 ** 17 } as const

/** The number of ids in a block of large rows, which several batches read. */
const SMALLEST_BLOCK = 64

/** The most rows of a list without blocks that are sorted again for each batch, and of one that is numbered besides. */
const MOST_SORTED = 50_000
const MOST_NUMBERED = 10_000

/** The number of rows for which a plan is asked. For many more, a database would sort in spite of an index. */
const FEW = 100

/** How long the answer holds whether the database sorts, in milliseconds. An index may be made or dropped meanwhile. */
const REMEMBERED = 60_000

const NONE: readonly Block[] = []

/** The criterion whose values are never null. */
const NEVER_NULL: ReadonlySet<string> = new Set(['id'])

/**
 * Finds the rows of a list that no index sorts. Without the blocks, the database would sort all rows again for each
 * batch. A batch of a block is read by the ids, within the positions of the block, and sorted again. It
 * thus contains no row that has left the block meanwhile.
 */
export class BlockFinder {
  readonly #definition: TableDefinition
  readonly #dialect: Dialect
  readonly #statements: ListStatements
  readonly #answers = new WeakMap<Statement, { readonly sorts: boolean, readonly until: number }>()

  constructor (definition: TableDefinition, dialect: Dialect, statements: ListStatements) {
    this.#definition = definition
    this.#dialect = dialect
    this.#statements = statements
  }

  /** Returns the blocks of a list, or none if its batches are to be read without them. */
  find (list: BlockQuery, run: Run): MaybePromise<readonly Block[]> {
    const { query, predicates, after, reading } = list
    // Only ids that the database or the store makes are small, and have a column of their own.
    if (!this.#definition.ids.isGenerated) return NONE
    // This range is the one that is sorted by all criteria. A descending list has none among its nulls.
    const range = rangesAfter(query.order, after, NEVER_NULL).find(({ conditions, order }) =>
      order.length === query.order.length && conditions[0]?.is !== '=')
    if (range === undefined) return NONE
    const next = this.#statements.selectRange(range, query, predicates, reading)
    const findAll = (): MaybePromise<readonly Block[]> =>
      andThen(this.#sorts(next, run), (sorts) => sorts ? this.#read(list, run) : NONE)
    // A sort of all rows may take longer than a statement may, and some engines cannot explain a statement.
    return catchError(findAll, () => {
      this.#remember(next.statement, false)
      return NONE
    })
  }

  /**
   * Throws `InvalidQueryError` if a list has no blocks, and each of its batches would sort many rows again.
   * @throws InvalidQueryError
   */
  checkLength ({ query, predicates }: Pick<BlockQuery, 'query' | 'predicates'>, run: Run): MaybePromise<void> {
    const { scope, order, after, limit = Infinity } = query
    const { ids } = this.#definition
    const most = ids.own === undefined ? MOST_SORTED : MOST_NUMBERED
    if (ids.isGenerated || limit <= most) return
    const range = rangesAfter(order, after, NEVER_NULL).find(({ conditions }) => conditions[0]?.is !== '=')
    if (range === undefined) return
    const next = this.#statements.selectRange(range, query, predicates, { limit: FEW, mostBytes: undefined })
    return andThen(catchError(() => this.#sorts(next, run), () => false), (sorts) => {
      if (!sorts) return
      return andThen(run(this.#statements.count([], { scope, most: most + 1 }, predicates)), ([found]) => {
        if (decodeInteger(found?.[COUNT]) <= most) return
        throw new InvalidQueryError(
          `this list has more than ${most} rows, and no index has them in its order; read it by pages, with "limit"`
        )
      })
    })
  }

  /** Returns whether the database sorts rows for a statement. */
  #sorts ({ statement, values }: BoundStatement, run: Run): MaybePromise<boolean> {
    const answer = this.#answers.get(statement)
    if (answer !== undefined && Date.now() < answer.until) return answer.sorts
    const { explain, sorts } = this.#dialect.blocks
    return andThen(run({ statement: { ...statement, text: explain(statement.text), kept: false }, values }), (plan) =>
      this.#remember(statement, sorts(plan)))
  }

  #remember (statement: Statement, sorts: boolean): boolean {
    this.#answers.set(statement, { sorts, until: Date.now() + REMEMBERED })
    return sorts
  }

  #read ({ query, predicates, after, reading, left }: BlockQuery, run: Run): MaybePromise<readonly Block[]> {
    // Powers of two keep the number of statements small.
    const size = Math.max(SMALLEST_BLOCK, 2 ** Math.floor(Math.log2(reading.limit)))
    const mostIds = MOST_IDS[this.#definition.ids.type as GeneratedIdType]
    // One more id shows whether the list goes on.
    const most = Math.min(left, mostIds + 1)
    return andThen(run(this.#statements.selectBlocks(query, after, predicates, { size, most })), (found) => {
      if (found.some((raw) => this.#isCut(raw, query.order))) return NONE
      return found.map((raw, index) => ({
        ids: index * size < mostIds ? raw.ids : undefined,
        first: query.order.map(({ by }, criterion) => this.#decode(by, raw[`c${criterion}`]))
      }))
    })
  }

  /** Returns whether a text of a position is too long to be held for each block, or may not be what the table holds. */
  #isCut (raw: RawRow, order: Order): boolean {
    const { byAttribute } = this.#definition.columns
    return order.some(({ by }, criterion) => {
      const column = byAttribute.get(by)
      const bound = raw[`c${criterion}`]
      return mayBeReplaced(bound) ||
        (by !== 'id' && column?.isLong === true && this.#dialect.isCut(bound, LONGEST_BOUND, column))
    })
  }

  #decode (by: string, raw: unknown): Scalar {
    const { columns: { byAttribute }, ids } = this.#definition
    if (by === 'id') return ids.type === 'uuid' ? String(raw) : decodeLongInteger(raw)
    return (byAttribute.get(by)?.decode(raw) ?? null) as Scalar
  }
}
