import { v7 as uuid } from 'uuid'
import { InvalidError, UnknownOutcomeError } from '../../errors.js'
import { type GeneratedIdType, parseId } from '../../resource/resource.js'
import type { Id, Scope, Row } from '../../resource/row.js'
import type { Attributes, AttributesSchema } from '../../schema/types.js'
import { type MaybePromise, catchError, andThen } from '../../util/maybe-promise.js'
import type { Batches, Context, Guard, Query, Store, Written } from '../store.js'
import { BatchPlan } from './batch-plan.js'
import { AsyncBatchReader, BatchReader } from './batch-reader.js'
import { makeColumns } from './column.js'
import { makeRescue, REFUSALS, type Rescue, rescueDeletion, rescueRead } from './constraint-errors.js'
import { type Dialect, type Driver, quoteTable, type RawRow } from './dialect.js'
import { Migration } from './migration.js'
import { resolveUnique, type SqlStoreOptions } from './options.js'
import { RowDecoder } from './row-decoder.js'
import { type Bound, Statements, type WriteTarget } from './statements.js'
import type { TableDefinition } from './table-check.js'

/** The members that all SQL stores share. */
export interface SqlStore<A = Attributes> extends Store<A> {
  readonly id: GeneratedIdType
  readonly attributes: AttributesSchema
  readonly capabilities: { readonly order: true, readonly filter: true }
  /**
   * Creates the table and its unique indexes if they are missing. What exists stays as it is, and is checked as by
   * `prepare`.
   * @throws InvalidOptionError if an existing table does not fit
   */
  migrate (): MaybePromise<void>
  /**
   * Checks that the table fits, or creates it with the option `migrate`. Registration of a resource calls it.
   * @throws InvalidOptionError that names column and type
   */
  prepare (): MaybePromise<void>
}

/** Makes the store of any database: the dialect and the driver hold what differs. */
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
  return Object.freeze({
    id,
    attributes,
    capabilities: Object.freeze({ order: true, filter: true }),
    migrate: () => migration.run(),
    prepare: () => migrate ? migration.run() : migration.check(),
    list: (query: Query, context: Context) => rows.list(query, context),
    get: (id: Id, scope: Scope) => rows.get(id, scope),
    create: (attributes: Attributes, scope: Scope) => rows.create(attributes, scope),
    update: (id: Id, changes: Attributes, guard: Guard) => rows.update(id, changes, guard),
    delete: (id: Id, guard: Guard) => rows.delete(id, guard)
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
    const select = ({ statement, values }: Bound): MaybePromise<readonly RawRow[]> =>
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

  update (id: Id, changes: Attributes, guard: Guard): MaybePromise<Written> {
    const rescue = makeRescue(this.#definition.columns, changes, guard.scope)
    return this.#writeGuarded(id, guard, (target) => this.#statements.update(changes, target), rescue)
  }

  delete (id: Id, guard: Guard): MaybePromise<Written> {
    return this.#writeGuarded(id, guard, (target) => this.#statements.delete(target), rescueDeletion)
  }

  /** Writes with the guard in the statement itself. Reads the row only if the guard has stopped the write. */
  #writeGuarded (
    id: Id,
    { version, scope }: Guard,
    bind: (target: WriteTarget) => Bound,
    rescue: Rescue
  ): MaybePromise<Written> {
    const wanted = version === undefined ? undefined : parseVersion(version)
    const canMatch = this.#isId(id) && this.#statements.canFit(scope) && (version === undefined || wanted !== undefined)
    const attempt = canMatch ? this.#write(() => bind({ id, version: wanted, scope }), rescue) : undefined
    return andThen(attempt, (row): MaybePromise<Written> => {
      if (row !== undefined) return { ok: true, row }
      if (version === undefined) return { ok: false, why: 'missing' }
      return andThen(this.get(id, scope), (current): Written =>
        current === undefined ? { ok: false, why: 'missing' } : { ok: false, why: 'stale', current })
    })
  }

  #write (bind: () => Bound, rescue: Rescue): MaybePromise<Row | undefined> {
    return andThen(catchError(() => this.#run(bind()), rescue), ([raw]) => {
      if (raw === undefined) return undefined
      try {
        return this.#decoder.decode(raw)
      } catch (cause) {
        // An unreadable value elsewhere in the row does not undo the write.
        throw new UnknownOutcomeError({ cause })
      }
    })
  }

  #run ({ statement, values }: Bound): MaybePromise<readonly RawRow[]> {
    return this.#driver.run(statement, values)
  }

  #isId (id: unknown): boolean {
    return parseId(this.#definition.idType, String(id)) === id
  }
}

/** Returns the number that a version spells, or undefined if no row can have the version. */
function parseVersion (version: string): number | undefined {
  return /^(?:0|[1-9]\d{0,15})$/.test(version) && Number.isSafeInteger(Number(version)) ? Number(version) : undefined
}
