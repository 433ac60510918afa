import { v7 as uuid } from 'uuid'
import { InvalidError, UnknownOutcomeError } from '../../errors.js'
import { type GeneratedIdType, parseId } from '../../resource/resource.js'
import type { Id, Scope, Row } from '../../resource/row.js'
import type { Attributes, AttributesSchema } from '../../schema/types.js'
import { type MaybePromise, catchError, andThen } from '../../util/maybe-promise.js'
import type { Batches, Context, Guard, Query, Store, WriteOutcome } from '../store.js'
import { BatchPlan } from './batch-plan.js'
import { AsyncBatchReader, BatchReader } from './batch-reader.js'
import { makeColumns } from './column.js'
import { makeRescue, REFUSALS, type Rescue, rescueDeletion, rescueRead } from './constraint-errors.js'
import { type Dialect, type Driver, quoteTable, type RawRow } from './dialect.js'
import { Migration } from './migration.js'
import { resolveUnique, type SqlStoreOptions } from './options.js'
import { RowDecoder } from './row-decoder.js'
import { type BoundStatement, Statements, type WriteTarget } from './statements.js'
import type { TableDefinition } from './table-check.js'

/** The members that all SQL stores share. */
export interface SqlStore<A = Attributes> extends Store<A> {
  readonly id: GeneratedIdType
  readonly attributes: AttributesSchema
  readonly capabilities: { readonly order: true, readonly filter: true }
  /**
   * Creates the table and its unique indexes if they are missing. Existing columns stay as they are, and are checked as
   * `prepare` checks them.
   * @throws InvalidOptionError if an existing table does not fit
   */
  migrate (): MaybePromise<void>
  /**
   * Checks that the table fits. With the option `migrate`, does what `migrate()` does. The registration of a resource
   * calls it.
   * @throws InvalidOptionError with the columns and their types, if the table is missing or does not fit
   */
  prepare (): MaybePromise<void>
}

/** Makes a store in an SQL database. The dialect and the driver hold the differences between databases. */
export function makeSqlStore (
  options: SqlStoreOptions & { readonly schema?: string | undefined },
  dialect: Dialect,
  driver: Driver
): SqlStore {
  const { table, schema, attributes, id = 'integer', version = 'version', migrate = false } = options
  const columns = makeColumns({ table, attributes, columns: options.columns ?? {}, version }, dialect)
  const unique = resolveUnique(options.unique ?? [], columns)
  const definition = { table, schema, quoted: quoteTable(dialect, table, schema), columns, idType: id, unique }
  const migration = new Migration(definition, dialect, driver)
  const rows = new SqlTable(definition, dialect, driver)
  return Object.freeze<SqlStore>({
    id,
    attributes,
    capabilities: Object.freeze({ order: true, filter: true }),
    migrate: () => migration.run(),
    prepare: () => migrate ? migration.run() : migration.check(),
    list: (query, context) => rows.list(query, context),
    get: (id, scope) => rows.get(id, scope),
    create: (attributes, scope) => rows.create(attributes, scope),
    update: (id, changes, guard) => rows.update(id, changes, guard),
    delete: (id, guard) => rows.delete(id, guard)
  })
}

class SqlTable {
  readonly #definition: TableDefinition
  readonly #driver: Driver
  readonly #statements: Statements
  readonly #decoder: RowDecoder
  readonly #plan: BatchPlan

  constructor (definition: TableDefinition, dialect: Dialect, driver: Driver) {
    this.#definition = definition
    this.#driver = driver
    this.#statements = new Statements(definition, dialect)
    this.#decoder = new RowDecoder(definition, dialect)
    this.#plan = new BatchPlan(definition.columns)
  }

  list (query: Query, context: Context): Batches {
    const { scope, filter } = query
    const statements = this.#statements
    const decoder = this.#decoder
    const canFit = statements.canFit(scope) && statements.canFit(filter)
    const select = ({ statement, values }: BoundStatement): MaybePromise<readonly RawRow[]> =>
      catchError(() => this.#driver.run(statement, values, context), rescueRead)
    const reader = new BatchReader(query, context, {
      plan: this.#plan,
      decoder,
      read: (range, reading) => canFit ? select(statements.selectRange(range, query, reading)) : [],
      readWhole: (raw) => andThen(select(statements.select(decoder.decodeId(raw), scope)), ([whole]) => whole)
    })
    return this.#driver.sync
      ? { [Symbol.iterator]: () => reader as Iterator<readonly Row[]> }
      : { [Symbol.asyncIterator]: () => new AsyncBatchReader(reader) }
  }

  get (id: Id, scope: Scope): MaybePromise<Row | undefined> {
    if (!this.#isId(id) || !this.#statements.canFit(scope)) return undefined
    return andThen(catchError(() => this.#run(this.#statements.select(id, scope)), rescueRead), ([raw]) =>
      raw === undefined ? undefined : this.#decoder.decode(raw))
  }

  create (attributes: Attributes, scope: Scope): MaybePromise<Row> {
    const { idType, columns } = this.#definition
    const id = idType === 'uuid' ? uuid() : undefined
    const rescue = makeRescue(columns, attributes, scope)
    return andThen(this.#write(() => this.#statements.insert(id, attributes, scope), rescue), (row) => {
      // A trigger can suppress the row.
      if (row === undefined) throw new InvalidError({}, { detail: REFUSALS.check.detail })
      return row
    })
  }

  update (id: Id, changes: Attributes, guard: Guard): MaybePromise<WriteOutcome> {
    const rescue = makeRescue(this.#definition.columns, changes, guard.scope)
    return this.#writeGuarded(id, guard, (target) => this.#statements.update(changes, target), rescue)
  }

  delete (id: Id, guard: Guard): MaybePromise<WriteOutcome> {
    return this.#writeGuarded(id, guard, (target) => this.#statements.delete(target), rescueDeletion)
  }

  /** Writes with the guard in the statement itself. Reads the row only if the guard may have stopped the write. */
  #writeGuarded (
    id: Id,
    { version, scope }: Guard,
    bind: (target: WriteTarget) => BoundStatement,
    rescue: Rescue
  ): MaybePromise<WriteOutcome> {
    const wanted = version === undefined ? undefined : parseVersion(version)
    const canMatch = this.#isId(id) && this.#statements.canFit(scope) && (version === undefined || wanted !== undefined)
    const attempt = canMatch ? this.#write(() => bind({ id, version: wanted, scope }), rescue) : undefined
    return andThen(attempt, (row): MaybePromise<WriteOutcome> => {
      if (row !== undefined) return { ok: true, row }
      if (version === undefined) return { ok: false, why: 'missing' }
      return andThen(this.get(id, scope), (current): WriteOutcome =>
        current === undefined ? { ok: false, why: 'missing' } : { ok: false, why: 'stale', current })
    })
  }

  #write (bind: () => BoundStatement, rescue: Rescue): MaybePromise<Row | undefined> {
    return andThen(catchError(() => this.#run(bind()), rescue), ([raw]) => {
      if (raw === undefined) return undefined
      try {
        return this.#decoder.decode(raw)
      } catch (cause) {
        // The write has happened, although a value in the row cannot be decoded.
        throw new UnknownOutcomeError({ cause })
      }
    })
  }

  #run ({ statement, values }: BoundStatement): MaybePromise<readonly RawRow[]> {
    return this.#driver.run(statement, values)
  }

  #isId (id: unknown): boolean {
    return parseId(this.#definition.idType, String(id)) === id
  }
}

/** Returns a version as a number, or `undefined` if no row can have the version. */
function parseVersion (version: string): number | undefined {
  return /^(?:0|[1-9]\d{0,15})$/.test(version) && Number.isSafeInteger(Number(version)) ? Number(version) : undefined
}
