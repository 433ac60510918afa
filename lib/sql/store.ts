import { InvalidError, InvalidQueryError } from '../core/errors.js'
import type { IdType } from '../core/resource/resource.js'
import { type Id, makeUuid, type Row, type Scope } from '../core/resource/row.js'
import type { Attributes, AttributesSchema, Scalar } from '../core/schema/types.js'
import { isSame as isEqual } from '../core/util/own-property.js'
import {
  type Changes, checkScope, type Context, type Count, type CountQuery, type Guard, LARGEST_BATCH_SIZE, type Order,
  type Position, type Query, type Store, type WriteOutcome
} from '../core/stores/store.js'
import { COUNT, findLong, FIRST_BATCH, ListStatements, readBatches, SIZE } from './lists.js'
import { decodeInteger } from './columns/kinds.js'
import { type BoundStatement, RowDecoder, Statements, type WriteTarget } from './statements.js'
import { Conditions, type Predicate } from './predicates.js'
import { makeRescue, REFUSALS, type Rescue, rescueDeletion, rescueRead } from './constraint-errors.js'
import type { Dialect, Driver, RawRow } from './dialect.js'
import { checkGiven, expandOrder, expandPosition, keepKey } from './keys/id-columns.js'
import { type Comparison, rangesAfter } from './keyset.js'
import {
  type CheckedTable,
  defineTable,
  requireKey,
  type TableDefinition,
  type TableDefinitionOptions
} from './tables/definition.js'
import { Migration, type TablePlan } from './tables/migration.js'

/** The members that all SQL stores share. */
export interface SqlStore<A = Attributes> extends Store<A> {
  readonly id: IdType
  readonly attributes: AttributesSchema
  readonly capabilities: {
    readonly order: true
    readonly offset: true
    readonly filter: true
    readonly search: true
    readonly count: true
  }
  list (query: Query, context: Context): AsyncIterable<ReadonlyArray<Row<A>>>
  count (query: CountQuery, context: Context): Promise<Count>
  get (id: Id, scope: Scope, context?: Context): Promise<Row<A> | undefined>
  create (attributes: A, scope: Scope, context?: Context): Promise<Row<A>>
  update (id: Id, changes: Changes<A>, guard: Guard, context?: Context): Promise<WriteOutcome<A>>
  delete (id: Id, guard: Guard, context?: Context): Promise<WriteOutcome<A>>
  /**
   * Returns the statements that make the table fit, and what the app must change itself. Both lists are empty if the
   * table fits. Nothing changes.
   */
  plan (): Promise<TablePlan>
  /**
   * Runs the statements of `plan()`: creates the table, or adds columns, foreign keys and indexes that are missing. It
   * runs none of them if the app must change something itself. Existing columns stay as they are.
   * @throws InvalidOptionError if the table does not fit
   */
  migrate (): Promise<void>
  /**
   * Checks that the table fits. With the option `migrate`, does what `migrate()` does. The registration of a resource
   * calls it.
   * @throws InvalidOptionError with the columns and their types, if the table is missing or does not fit
   */
  prepare (): Promise<void>
}

/** Makes a store in an SQL database. The dialect and the driver hold the differences between databases. */
export function makeSqlStore (
  options: TableDefinitionOptions,
  dialect: Dialect,
  driver: Driver
): SqlStore {
  const { migrate = false } = options
  const definition = defineTable(options, dialect)
  const migration = new Migration(definition, dialect, driver)
  let rows = new SqlTable(definition, dialect, driver)
  /** Takes over what the check of the table has found. */
  const learn = (found: CheckedTable): void => {
    rows = new SqlTable(defineTable(options, dialect, found), dialect, driver)
  }
  return Object.freeze<SqlStore>({
    id: definition.ids.type,
    attributes: requireKey(options.attributes, definition.ids),
    key: definition.ids.isGenerated ? undefined : definition.ids.parts.map(({ by }) => by),
    unique: options.unique,
    versions: definition.versions.kind === 'values' ? 'values' : undefined,
    capabilities: Object.freeze({ order: true, offset: true, filter: true, search: true, count: true }),
    plan: () => migration.plan(),
    migrate: async () => learn(await migration.run()),
    prepare: async () => learn(await (migrate ? migration.run() : migration.check())),
    list: (query, context) => rows.list(query, context),
    count: (query, context) => rows.count(query, context),
    get: (id, scope) => rows.get(id, scope),
    create: (attributes, scope) => rows.create(attributes, scope),
    update: (id, changes, guard) => rows.update(id, changes, guard),
    delete: (id, guard) => rows.delete(id, guard)
  })
}

/** The number of rows for which a plan is asked. For many more, a database would sort in spite of an index. */
const FEW = 100

class SqlTable {
  readonly #definition: TableDefinition
  readonly #driver: Driver
  readonly #conditions: Conditions
  readonly #statements: Statements
  readonly #listStatements: ListStatements
  readonly #decoder: RowDecoder
  readonly #dialect: Dialect
  /** Whether rows may be so large that few of them can be held together. */
  readonly #mayBeLarge: boolean

  constructor (definition: TableDefinition, dialect: Dialect, driver: Driver) {
    this.#dialect = dialect
    this.#definition = definition
    this.#driver = driver
    this.#conditions = new Conditions(definition, dialect)
    this.#statements = new Statements(definition, dialect, this.#conditions)
    this.#listStatements = new ListStatements(definition, dialect, this.#conditions)
    this.#decoder = new RowDecoder(definition)
    this.#mayBeLarge = findLong(definition).length > 0
  }

  async * list (given: Query, context: Context): AsyncGenerator<readonly Row[], void> {
    const query = this.#expand(given)
    const predicates = query && this.#predicates(query)
    if (query === undefined || predicates === undefined) return
    const { scope, order, limit, after } = query
    const { isKeyUnique } = this.#definition
    if (!isKeyUnique && after !== undefined) await this.#checkAlone(order, after, context)
    const statements = this.#listStatements
    const { sorting, nullsFirst } = this.#dialect
    yield * readBatches(query, context, {
      neverNull: this.#conditions.neverNull,
      splitsNulls: !nullsFirst,
      // A sort finds all rows before the first one.
      isSparse: predicates.length > 0 && given.order.length === 1 && limit === undefined && isKeyUnique,
      isKeyUnique,
      fit: async (range, limit, offset) => {
        // A view should be evaluated once for a page or a short list.
        if (!this.#mayBeLarge || limit === 1 || (!isKeyUnique && limit <= FIRST_BATCH)) return limit
        const portion = { limit, offset, what: 'sizes' } as const
        return countFitting(await this.#read(statements.selectRange(range, scope, predicates, portion), context), limit)
      },
      read: async (range, limit, offset) => {
        const rows = await this.#read(statements.selectRange(range, scope, predicates, { limit, offset }), context)
        return rows.map((raw) => this.#decoder.decode(raw))
      },
      sorts: async (range) => {
        // An id that the database or the store makes has an index.
        if (this.#definition.ids.isGenerated && order.length === 1) return false
        const { statement, values } = statements.selectRange(range, scope, predicates, { limit: FEW, offset: 0 })
        const text = sorting.explain(statement.text)
        try {
          return sorting.sorts(await this.#read({ statement: { ...statement, text, kept: false }, values }, context))
        } catch {
          // Some engines cannot explain a statement.
          return false
        }
      },
      count: async (most) => this.#countRange([], { scope, most }, predicates, context),
      refuseText: () => new Error(
        `resources: a list of the table ${this.#definition.quoted} cannot continue after a row, because the driver ` +
        'does not return a text of the row as the table holds it; docs/existing-tables.md says how to repair it, in ' +
        'the section "Texts that a driver changes"')
    })
  }

  /** Throws `InvalidQueryError` if several rows have the position after which a page begins. */
  async #checkAlone (order: Order, after: Position, context: Context): Promise<void> {
    const equal = order.map(({ by }, index): Comparison => ({ by, is: '=', value: after[index] as Scalar }))
    if (await this.#countRange(equal, { scope: {}, most: 2 }, [], context) <= 1) return
    throw new InvalidQueryError(
      'several rows have the key after which this page begins; read the list by "limit" and "offset"'
    )
  }

  async #countRange (
    bounds: readonly Comparison[],
    query: Pick<CountQuery, 'scope' | 'most'>,
    predicates: readonly Predicate[],
    context: Context
  ): Promise<number> {
    const [found] = await this.#read(this.#listStatements.count(bounds, query, predicates), context)
    return decodeInteger(found?.[COUNT])
  }

  /** Counts rows. After a position, it adds up the ranges there. */
  async count (given: CountQuery, context: Context): Promise<Count> {
    const query = this.#expand(given)
    const predicates = query && this.#predicates(query)
    if (query === undefined || predicates === undefined) return { rows: 0, isEstimate: false }
    const { scope, order, after, most } = query
    // The statistics of the database know the rows outside the scope, so that an estimate would tell about them.
    const mayEstimate = query.estimate && after === undefined && Object.keys(scope).length === 0
    const estimate = mayEstimate ? this.#listStatements.estimate(predicates) : undefined
    if (estimate !== undefined) {
      return { rows: estimate.read(await this.#read(estimate.bound, context)), isEstimate: true }
    }
    const { neverNull } = this.#conditions
    const ranges = after === undefined ? [[]] : rangesAfter(order, after, neverNull).map(({ conditions }) => conditions)
    let rows = 0
    for (const bounds of ranges) {
      const left = most === undefined ? undefined : most - rows
      if (left === 0) break
      rows += await this.#countRange(bounds, { scope, most: left }, predicates, context)
    }
    return { rows, isEstimate: false }
  }

  async get (id: Id, scope: Scope): Promise<Row | undefined> {
    const raw = await this.#find(id, scope)
    return raw && this.#decoder.decode(raw)
  }

  async create (attributes: Attributes, scope: Scope): Promise<Row> {
    const { ids, columns } = this.#definition
    this.#checkWrite()
    checkGiven(ids, attributes, scope)
    const id = ids.isGenerated && ids.type === 'uuid' ? makeUuid() : undefined
    const rescue = makeRescue(columns, attributes, scope)
    const row = await this.#write(this.#statements.insert(id, attributes, scope), rescue)
    // A trigger of the database can suppress the row.
    if (row === undefined) throw new InvalidError({}, { detail: REFUSALS.check.detail })
    return row
  }

  async update (id: Id, given: Attributes, guard: Guard): Promise<WriteOutcome> {
    this.#checkWrite()
    checkScope(given, guard.scope)
    const { ids, versions } = this.#definition
    const { changes, errors } = keepKey(ids, id, given, guard.scope)
    // A text of JSON may be spelled in another way than we would write it.
    const { byAttribute } = this.#definition.columns
    const isCompared = versions.kind === 'values' ||
      Object.keys(changes).some((name) => byAttribute.get(name)?.kind === 'json')
    if (errors === undefined && !isCompared) return this.#change(id, changes, guard)
    const raw = await this.#find(id, guard.scope)
    if (raw === undefined) return { ok: false, why: 'missing' }
    const row = this.#decoder.decode(raw)
    if (guard.version !== undefined && row.version !== guard.version) return { ok: false, why: 'stale', current: row }
    if (errors !== undefined) throw new InvalidError(errors)
    // A digest of the same values is the same version, so there is nothing to write, and no trigger to run.
    const isSame = versions.kind === 'values' && Object.entries(changes).every(([name, value]) =>
      Object.hasOwn(guard.scope, name) || isEqual(value, row.attributes[name]))
    return isSame ? { ok: true, row } : this.#change(id, changes, guard, raw)
  }

  /** @param raw the row that was read before, if it was */
  async #change (id: Id, changes: Attributes, guard: Guard, raw?: RawRow): Promise<WriteOutcome> {
    const rescue = makeRescue(this.#definition.columns, changes, guard.scope)
    return this.#writeGuarded(id, guard, (target) =>
      this.#write(this.#statements.update(changes, target, raw), rescue), raw)
  }

  async delete (id: Id, guard: Guard): Promise<WriteOutcome> {
    this.#checkWrite()
    return this.#writeGuarded(id, guard, (target) =>
      this.#write(this.#statements.delete(target), rescueDeletion))
  }

  /**
   * Writes with the guard in the statement itself. Afterwards, reads the row only if the guard may have stopped it.
   * @param read the row that was read before, if it was
   */
  async #writeGuarded (
    id: Id,
    { version, scope }: Guard,
    write: (target: WriteTarget) => Promise<Row | undefined>,
    read?: RawRow
  ): Promise<WriteOutcome> {
    const { versions } = this.#definition
    if (!this.#canMatch(id, scope)) return { ok: false, why: 'missing' }
    const raw = version !== undefined && versions.needsRow ? read ?? await this.#find(id, scope) : undefined
    const guards = version === undefined ? [] : versions.guard(version, raw)
    const row = guards && await write({ id, guards, scope })
    if (row !== undefined) return { ok: true, row }
    const current = version === undefined ? undefined : await this.get(id, scope)
    return current === undefined ? { ok: false, why: 'missing' } : { ok: false, why: 'stale', current }
  }

  async #write ({ statement, values }: BoundStatement, rescue: Rescue): Promise<Row | undefined> {
    try {
      // Without a context, the write of a client that disconnects is not given up, and its outcome is known.
      const [raw] = await this.#driver.run(statement, values)
      return raw && this.#decoder.decode(raw)
    } catch (error) {
      rescue(error)
    }
  }

  async #read (bound: BoundStatement, context?: Context): Promise<readonly RawRow[]> {
    try {
      return await this.#driver.run(bound.statement, bound.values, context)
    } catch (error) {
      return rescueRead(error)
    }
  }

  /** Returns the predicates of a query, or `undefined` if no row can meet them. */
  #predicates ({ scope, filter, search }: CountQuery | Query): readonly Predicate[] | undefined {
    return this.#conditions.canFit(scope) ? this.#conditions.makePredicates(filter, search) : undefined
  }

  /** Finds the only row with an id. Several rows with one key have no name. */
  async #find (id: Id, scope: Scope): Promise<RawRow | undefined> {
    if (!this.#canMatch(id, scope)) return undefined
    const rows = await this.#read(this.#statements.select(id, scope))
    return rows.length === 1 ? rows[0] : undefined
  }

  /** Returns whether a row can have the id and the values of the scope. */
  #canMatch (id: Id, scope: Scope): boolean {
    return this.#definition.ids.parse(id) !== undefined && this.#conditions.canFit(scope)
  }

  /** Throws `InvalidError` if several rows may have one id, so that a write to one of them would change others. */
  #checkWrite (): void {
    if (this.#definition.isKeyUnique) return
    throw new InvalidError({}, { detail: 'the rows of this table cannot be written, because no key of it is unique' })
  }

  /**
   * Replaces the id in the order of a query, and in its position, by the attributes that form it. Returns `undefined`
   * if no row can be at the position.
   */
  #expand<Q extends Pick<Query, 'order' | 'after'>> (query: Q): Q | undefined {
    const { ids } = this.#definition
    if (ids.isGenerated) return query
    const { order, after } = query
    const position = after && expandPosition(ids, order, after)
    if (after !== undefined && position === undefined) return undefined
    return { ...query, order: expandOrder(ids, order), after: position }
  }
}

/** Returns how many rows take about `LARGEST_BATCH_SIZE`, and `limit` if all of them do. */
function countFitting (rows: readonly RawRow[], limit: number): number {
  let size = 0
  const index = rows.findIndex((raw) => (size += Number(raw[SIZE])) > LARGEST_BATCH_SIZE)
  return index < 0 ? limit : Math.max(1, index)
}
