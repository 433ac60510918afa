import { InvalidError, UnavailableError } from '../core/errors.js'
import type { IdType } from '../core/resource/resource.js'
import { type Id, makeUuid, type Row, type Scope } from '../core/resource/row.js'
import type { Attributes, AttributesSchema } from '../core/schema/types.js'
import type { MaybePromise } from '../core/util/maybe-promise.js'
import { isSame as isEqual } from '../core/util/own-property.js'
import {
  type Changes, checkScope, type Context, type Count, type CountQuery, type Guard, type Query, rulesOf, type Store,
  type TransactionContext, type TransactionOptions, type WriteOutcome
} from '../core/stores/store.js'
import type { Transactions, TransactionSource } from '../core/stores/transaction.js'
import { Lists } from './lists.js'
import { type BoundStatement, makeDecoder, type NewRow, Statements, type WriteTarget } from './statements.js'
import { ConstraintError, makeRescue, REFUSALS, type Rescue, rescueDeletion, rescueRead } from './constraint-errors.js'
import type { Dialect, Driver, RawRow, SqlSession } from './dialect.js'
import { SqlRequests } from './requests.js'
import { checkGiven, type IdColumns, keepKey } from './keys/id-columns.js'
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
    readonly search: true | readonly string[]
    readonly count: true
  }
  list (query: Query, context: Context): AsyncIterable<ReadonlyArray<Row<A>>>
  count (query: CountQuery, context: Context): Promise<Count>
  get (id: Id, scope: Scope, context?: Context): Promise<Row<A> | undefined>
  create (attributes: A, scope: Scope, context?: Context): Promise<Row<A>>
  createMany? (rows: readonly A[], scope: Scope, context: Context): Promise<ReadonlyArray<Row<A>>>
  update (id: Id, changes: Changes<A>, guard: Guard, context?: Context): Promise<WriteOutcome<A>>
  delete (id: Id, guard: Guard, context?: Context): Promise<WriteOutcome<A>>
  /** Runs a function in a transaction. A store in SQLite has it only with a connection for transactions. */
  transaction? <T>(
    run: (context: SqlTransactionContext) => MaybePromise<T>,
    context: Context,
    options?: TransactionOptions
  ): Promise<T>
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
   * @returns the foreign keys that the table may lack and lacks, as sentences with the statements that add them
   * @throws InvalidOptionError with the columns and their types, if the table is missing or does not fit
   */
  prepare (): Promise<readonly string[]>
}

/** The context of the calls in a transaction of an SQL database. */
export interface SqlTransactionContext extends TransactionContext {
  /**
   * Runs SQL of the app in the transaction, and returns the rows, as the driver of the database returns them. An error
   * of the database dooms the transaction.
   * @throws TransactionError if the statement would begin or end a transaction
   *
   * @example
   * await context.sql('UPDATE counters SET value = value + 1 WHERE name = $1 RETURNING value', ['posts'])
   */
  sql (text: string, values?: readonly unknown[]): Promise<ReadonlyArray<Readonly<Record<string, unknown>>>>
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
  const { transactions, source } = driver
  const { mostInserted } = dialect
  const searched = definition.search?.of ?? true
  /** Makes a call in the transaction of its context, or outside of any. */
  const call = async <T>(context: Context | undefined, perform: (session?: SqlSession) => Promise<T>): Promise<T> =>
    transactions.call(context, perform)
  let rows = new SqlTable(definition, dialect, driver)
  const rules = { ...rulesOf(options.references ?? {}) }
  /** Takes over what the check of the table has found. */
  const learn = (found: CheckedTable): readonly string[] => {
    rows = new SqlTable(defineTable(options, dialect, found), dialect, driver)
    for (const [attribute, rule] of found.rules) {
      if (rule === undefined) delete rules[attribute]
      else rules[attribute] = rule
    }
    return found.warnings
  }
  return Object.freeze<SqlStore>({
    id: definition.ids.type,
    attributes: requireKey(options.attributes, definition.ids),
    key: definition.ids.isGenerated ? undefined : definition.ids.parts.map(({ by }) => by),
    unique: options.unique,
    onDelete: options.references && rules,
    versions: definition.versions.kind === 'values' ? 'values' : undefined,
    capabilities: Object.freeze({ order: true, offset: true, filter: true, search: searched, count: true }),
    plan: () => migration.plan(),
    migrate: async () => { learn(await migration.run()) },
    prepare: async () => learn(await (migrate ? migration.run() : migration.check())),
    list: (query, context) => rows.lists.read(query, context),
    count: (query, context) => rows.lists.count(query, context),
    get: (id, scope, context) => call(context, (session) => rows.get(id, scope, session)),
    create: (attributes, scope, context) => call(context, (session) => rows.create(attributes, scope, session)),
    ...(mostInserted !== undefined && {
      createMany: (many: readonly Attributes[], scope: Scope, context: Context) =>
        call(context, (session) => rows.createMany(many, scope, mostInserted, session))
    }),
    update: (id, changes, guard, context) => call(context, (session) => rows.update(id, changes, guard, session)),
    delete: (id, guard, context) => call(context, (session) => rows.delete(id, guard, session)),
    ...(source && {
      transaction: <T>(
        run: (context: SqlTransactionContext) => MaybePromise<T>,
        context: Context,
        options?: TransactionOptions
      ) => rows.transaction(run, context, options, source),
      requests: new SqlRequests(options, dialect, driver)
    })
  })
}

/** Adds the member `sql` to the context of a transaction. */
function addSql (context: TransactionContext, transactions: Transactions<SqlSession>): SqlTransactionContext {
  const sql: SqlTransactionContext['sql'] = async (text, values = []) =>
    transactions.call(context, (session) => (session as SqlSession).query(text, values))
  return Object.assign(context, { sql })
}

/** What a write is given besides its values. */
interface Given {
  /** The transaction, if there is one. */
  readonly session: SqlSession | undefined
  /** The row that was read before, if it was. */
  readonly raw?: RawRow
}

class SqlTable {
  readonly #definition: TableDefinition
  readonly #driver: Driver
  readonly #statements: Statements
  readonly #decode: (raw: RawRow) => Row
  readonly #dialect: Dialect
  /** Whether the rows of the table can be locked; `undefined` before the first attempt. */
  #canLock: boolean | undefined
  readonly lists: Lists

  constructor (definition: TableDefinition, dialect: Dialect, driver: Driver) {
    this.#definition = definition
    this.#dialect = dialect
    this.#driver = driver
    this.#statements = new Statements(definition, dialect)
    this.#decode = makeDecoder(definition)
    this.lists = new Lists(definition, dialect, this.#statements, async (bound, context) =>
      driver.transactions.call(context, (session) => this.#read(bound, session, context)))
  }

  /** Runs a function in a transaction. The rows that it will change are locked first, in the order of their ids. */
  async transaction<T> (
    run: (context: SqlTransactionContext) => MaybePromise<T>,
    context: Context,
    options: TransactionOptions | undefined,
    source: TransactionSource<SqlSession>
  ): Promise<T> {
    const { transactions } = this.#driver
    try {
      return await transactions.run(async (inner) => {
        await transactions.call(inner, (session) => this.#lock(options?.ids ?? [], session as SqlSession))
        return run(addSql(inner, transactions))
      }, context, options, source)
    } catch (error) {
      // The database checks deferred constraints at the end.
      if (!(error instanceof ConstraintError)) throw error
      const { columns, table } = this.#definition
      return makeRescue(columns, {}, {})(
        error.tables.length > 0 && !error.tables.includes(table)
          ? new ConstraintError(error.kind, [], error.cause)
          : error
      )
    }
  }

  async #lock (ids: readonly Id[], session: SqlSession): Promise<void> {
    const { quoted, ids: { parts } } = this.#definition
    const [part, ...others] = parts
    const known = ids.filter((id) => this.#canMatch(id, {}))
    const text = this.#dialect.lockRows?.(quoted, part)
    if (text === undefined || known.length < 2 || others.length > 0 || this.#canLock === false) return
    const values = known.map((id) => part.compare(this.#definition.ids.parse(id)?.[0]))
    const lock = async (): Promise<unknown> =>
      this.#driver.run({ text, writes: false, returns: true, kept: false }, [values], undefined, session)
    try {
      await (this.#canLock === undefined && session.savepoint !== undefined ? session.savepoint(lock) : lock())
      this.#canLock = true
    } catch (error) {
      if (this.#canLock === true || error instanceof UnavailableError) throw error
      // The rows of some views, and those of a table on several servers, cannot be locked.
      this.#canLock = false
    }
  }

  async get (id: Id, scope: Scope, session?: SqlSession): Promise<Row | undefined> {
    const raw = await this.#find(id, scope, session)
    return raw && this.#decode(raw)
  }

  async create (attributes: Attributes, scope: Scope, session?: SqlSession): Promise<Row> {
    const insert = this.#statements.insert(this.#makeNew(attributes, scope), scope)
    const row = await this.#write(insert, makeRescue(this.#definition.columns, attributes, scope), session)
    // A trigger of the database can suppress the row.
    if (row === undefined) throw new InvalidError({}, { detail: REFUSALS.check.detail })
    return row
  }

  async createMany (
    many: readonly Attributes[],
    scope: Scope,
    mostInserted: number,
    session?: SqlSession
  ): Promise<Row[]> {
    const given = many.map((attributes) => this.#makeNew(attributes, scope))
    const rescue = makeRescue(this.#definition.columns, {}, scope)
    const created: Row[] = []
    for (const insert of this.#statements.insertMany(given, scope, mostInserted)) {
      const rows = await this.#writeRows(insert, rescue, session)
      // A trigger can suppress a row, and a database on several servers can return the rows in another order.
      if (rows.length !== insert.rows.length || !areInOrder(rows, insert.rows, this.#definition.ids)) {
        throw new InvalidError({}, { detail: REFUSALS.check.detail })
      }
      created.push(...rows)
    }
    return created
  }

  /** @throws InvalidError if the row cannot be inserted */
  #makeNew (attributes: Attributes, scope: Scope): NewRow {
    const { ids } = this.#definition
    this.#checkWrite()
    checkGiven(ids, attributes, scope)
    return { id: ids.isGenerated && ids.type === 'uuid' ? makeUuid() : undefined, attributes }
  }

  async update (id: Id, given: Attributes, guard: Guard, session?: SqlSession): Promise<WriteOutcome> {
    this.#checkWrite()
    checkScope(given, guard.scope)
    const { ids, versions } = this.#definition
    const { changes, errors } = keepKey(ids, id, given, guard.scope)
    // A text of JSON may be spelled in another way than we would write it.
    const { byAttribute } = this.#definition.columns
    const isCompared = versions.kind === 'values' ||
      Object.keys(changes).some((name) => byAttribute.get(name)?.kind === 'json')
    if (errors === undefined && !isCompared) return this.#change(id, changes, guard, { session })
    const raw = await this.#find(id, guard.scope, session)
    if (raw === undefined) return { ok: false, why: 'missing' }
    const row = this.#decode(raw)
    if (guard.version !== undefined && row.version !== guard.version) return { ok: false, why: 'stale', current: row }
    if (errors !== undefined) throw new InvalidError(errors)
    // A digest of the same values is the same version, so there is nothing to write, and no trigger to run.
    const isSame = versions.kind === 'values' && Object.entries(changes).every(([name, value]) =>
      Object.hasOwn(guard.scope, name) || isEqual(value, row.attributes[name]))
    return isSame ? { ok: true, row } : this.#change(id, changes, guard, { session, raw })
  }

  async #change (id: Id, changes: Attributes, guard: Guard, given: Given): Promise<WriteOutcome> {
    const rescue = makeRescue(this.#definition.columns, changes, guard.scope)
    return this.#writeGuarded(id, guard, given, (target) =>
      this.#write(this.#statements.update(changes, target, given.raw), rescue, given.session))
  }

  async delete (id: Id, guard: Guard, session?: SqlSession): Promise<WriteOutcome> {
    this.#checkWrite()
    return this.#writeGuarded(id, guard, { session }, (target) =>
      this.#write(this.#statements.delete(target), rescueDeletion, session))
  }

  /** Writes with the guard in the statement itself. Afterwards, reads the row only if the guard may have stopped it. */
  async #writeGuarded (
    id: Id,
    { version, scope }: Guard,
    { session, raw: read }: Given,
    write: (target: WriteTarget) => Promise<Row | undefined>
  ): Promise<WriteOutcome> {
    const { versions } = this.#definition
    if (!this.#canMatch(id, scope)) return { ok: false, why: 'missing' }
    const raw = version !== undefined && versions.needsRow
      ? read ?? await this.#find(id, scope, session)
      : undefined
    const guard = version === undefined ? undefined : versions.guard(version, raw)
    const row = version !== undefined && guard === undefined ? undefined : await write({ id, guard, scope })
    if (row !== undefined) return { ok: true, row }
    const current = version === undefined ? undefined : await this.get(id, scope, session)
    return current === undefined ? { ok: false, why: 'missing' } : { ok: false, why: 'stale', current }
  }

  async #write (bound: BoundStatement, rescue: Rescue, session: SqlSession | undefined): Promise<Row | undefined> {
    const [row] = await this.#writeRows(bound, rescue, session)
    return row
  }

  async #writeRows (
    { statement, values }: BoundStatement,
    rescue: Rescue,
    session: SqlSession | undefined
  ): Promise<readonly Row[]> {
    try {
      // Without a context, the write of a client that disconnects is not given up, and its outcome is known.
      const found = await this.#driver.run(statement, values, undefined, session)
      return found.map((raw) => this.#decode(raw))
    } catch (error) {
      rescue(error)
      checkGoesOn(error, session)
      return []
    }
  }

  async #read (
    bound: BoundStatement,
    session: SqlSession | undefined,
    context?: Context
  ): Promise<readonly RawRow[]> {
    try {
      return await this.#driver.run(bound.statement, bound.values, context, session)
    } catch (error) {
      const rows = rescueRead(error)
      checkGoesOn(error, session)
      return rows
    }
  }

  /** Finds the only row with an id. Several rows with one key have no name. */
  async #find (id: Id, scope: Scope, session?: SqlSession): Promise<RawRow | undefined> {
    if (!this.#canMatch(id, scope)) return undefined
    const rows = await this.#read(this.#statements.select(id, scope), session)
    return rows.length === 1 ? rows[0] : undefined
  }

  /** Returns whether a row can have the id and the values of the scope. */
  #canMatch (id: Id, scope: Scope): boolean {
    return this.#definition.ids.parse(id) !== undefined && this.#statements.conditions.canFit(scope)
  }

  /** Throws `InvalidError` if several rows may have one id, so that a write to one of them would change others. */
  #checkWrite (): void {
    if (this.#definition.isKeyUnique) return
    throw new InvalidError({}, { detail: 'the rows of this table cannot be written, because no key of it is unique' })
  }
}

/** Returns whether inserted rows are in the order in which they were given, as far as their ids tell. */
function areInOrder (rows: readonly Row[], given: readonly NewRow[], { isGenerated, parts }: IdColumns): boolean {
  return rows.every(({ id, attributes }, index) => {
    const { id: made, attributes: own } = given[index] as NewRow
    if (made !== undefined) return id === made
    if (isGenerated) return index === 0 || BigInt(id) > BigInt((rows[index - 1] as Row).id)
    return parts.every(({ by }) => own[by] === undefined || isEqual(own[by], attributes[by]))
  })
}

/** Throws `InvalidError` in a transaction, which cannot go on after a failed statement, whatever the error means. */
function checkGoesOn (cause: unknown, session: SqlSession | undefined): void {
  if (session !== undefined) throw new InvalidError({}, { detail: REFUSALS.value.detail, cause })
}
