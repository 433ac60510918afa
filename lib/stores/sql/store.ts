import { v7 as uuid } from 'uuid'
import {
  DuplicateError,
  InvalidError,
  InvalidOptionError,
  UnknownOptionError,
  UnknownOutcomeError
} from '../../errors.js'
import { type GeneratedIdType, parseId } from '../../resource/resource.js'
import type { Id, Scope, Row } from '../../resource/row.js'
import type { Attributes, AttributesSchema } from '../../schema/types.js'
import { didYouMean } from '../../util/did-you-mean.js'
import { type MaybePromise, catchError, andThen } from '../../util/maybe-promise.js'
import type { Batches, Context, Guard, Query, Store, Written } from '../store.js'
import { areGroups, attributeAtFault, NO_GROUPS } from '../unique.js'
import { BatchPlan } from './batch-plan.js'
import { type Columns, decodeInteger, isLongKind, makeColumns } from './column.js'
import {
  ConstraintError,
  type Dialect,
  type Driver,
  quoteTable,
  type RawRow,
  type Statement,
  type Table
} from './dialect.js'
import { type Bound, Statements } from './statements.js'
import { checkTable, missingIndexes, missingTable } from './table.js'
import { Walk } from './walk.js'

/** What the stores in databases have in common. */
export interface SqlStoreOptions<S extends AttributesSchema = AttributesSchema> {
  /** The name of the table. */
  readonly table: string
  /** The schema of the attributes, each of which has a column. The resource takes it over. */
  readonly attributes: S
  /**
   * What ids look like; `'uuid'` is a time-ordered UUID v7 (RFC 9562 §5.7) made by the store. The column must be the
   * primary key or unique. For `'uuid'`, a unique key of the id and attributes that are not null, such as
   * `PRIMARY KEY (tenant, id)`, is enough. @default 'integer'
   */
  readonly id?: GeneratedIdType
  /** Attribute, or `id`, → the name of its column, where that is another. @default {} */
  readonly columns?: Readonly<Record<string, string>>
  /** The column of the row's version: an integer, not null. @default 'version' */
  readonly version?: string
  /** Attributes, or groups of them, of which no two rows may have the same value; null does not count. @default [] */
  readonly unique?: ReadonlyArray<string | readonly string[]>
  /** Whether the table and its unique indexes are made, where they are missing, when a resource is registered. @default false */
  readonly migrate?: boolean
}

/** What the stores in databases can do beside what every store must. */
export interface SqlStore<A = Attributes> extends Store<A> {
  readonly id: GeneratedIdType
  readonly attributes: AttributesSchema
  readonly capabilities: { readonly order: true, readonly filter: true }
  /**
   * Makes the table, and the unique indexes that are missing; what is there already stays as it is, and is checked as
   * by `prepare`.
   * @throws InvalidOptionError where the table that there is does not fit
   */
  migrate (): MaybePromise<void>
  /**
   * Checks that the table fits, or makes it with the option `migrate`; called when a resource is registered.
   * @throws InvalidOptionError that names column and type
   */
  prepare (): MaybePromise<void>
}

/** The options that every store in a database takes. */
const SQL_OPTIONS: readonly string[] = ['table', 'attributes', 'id', 'columns', 'version', 'unique', 'migrate']

/** @throws UnknownOptionError, InvalidOptionError */
export function checkOptions (options: SqlStoreOptions, others: readonly string[]): void {
  const known = [...SQL_OPTIONS, ...others]
  for (const key of Object.keys(options)) {
    if (!known.includes(key)) throw new UnknownOptionError(key, didYouMean(key, known))
  }
  const { table, attributes, id = 'integer', columns = {}, version = 'version', unique = [], migrate = false } = options
  if (typeof table !== 'string' || table === '' || table.includes('\0')) {
    throw new InvalidOptionError('table', "must be the name of a table such as 'posts'")
  }
  if (typeof attributes !== 'object' || attributes === null) {
    throw new InvalidOptionError(
      'attributes',
      "must be a JSON Schema { type: 'object', properties: { … } }: each property has a column"
    )
  }
  if (id !== 'integer' && id !== 'uuid') throw new InvalidOptionError('id', 'must be \'integer\' or \'uuid\'')
  if (typeof columns !== 'object' || columns === null) {
    throw new InvalidOptionError('columns', "must be an object such as { publishedAt: 'published_at' }")
  }
  if (typeof version !== 'string') throw new InvalidOptionError('version', 'must be the name of a column')
  if (typeof migrate !== 'boolean') throw new InvalidOptionError('migrate', 'must be true or false')
  if (!areGroups(unique)) throw new InvalidOptionError('unique', NO_GROUPS)
}

/** The five methods over any database: what is peculiar to one is the dialect's and the driver's. */
export function makeSqlStore (
  options: SqlStoreOptions & { readonly schema?: string | undefined },
  dialect: Dialect,
  driver: Driver
): SqlStore {
  const { table, schema, attributes, id: idType = 'integer', version = 'version', migrate = false } = options
  const columns = makeColumns({ table, attributes, columns: options.columns ?? {}, version }, dialect)
  const groups = resolveUnique(options.unique ?? [], columns)
  const statements = new Statements(table, schema, columns, idType, dialect)
  const readId = makeIdReader(columns, idType)
  const decode = makeRowReader(columns, readId, dialect)
  const read = (row: RawRow): Row => decode(row, undefined) as Row
  const plan = new BatchPlan(columns)

  function find (id: Id, scope: Scope): MaybePromise<Row | undefined> {
    if (!isId(id, idType) || !statements.canFit(scope)) return undefined
    return andThen(
      catchError(() => run(statements.select(id, scope)), noneFits),
      ([row]) => (row === undefined ? undefined : read(row))
    )
  }

  function run ({ statement, values }: Bound): MaybePromise<readonly RawRow[]> {
    return driver.run(statement, values)
  }

  function write (bind: () => Bound, rescue: Rescue): MaybePromise<Row | undefined> {
    return andThen(
      catchError(() => run(bind()), rescue),
      ([row]) => (row === undefined ? undefined : readWritten(row))
    )
  }

  /** What the row holds beside what was written may be beyond reading; that does not undo the write. */
  function readWritten (row: RawRow): Row {
    try {
      return read(row)
    } catch (cause) {
      throw new UnknownOutcomeError({ cause })
    }
  }

  function list (query: Query, context: Context): Batches {
    const { scope, filter } = query
    const canFit = statements.canFit(scope) && statements.canFit(filter)
    const select = ({ statement, values }: Bound): MaybePromise<readonly RawRow[]> =>
      catchError(() => driver.run(statement, values, context), noneFits)
    const walk = new Walk(query, context, {
      plan,
      read: (range, { limit, mostBytes }) =>
        canFit ? select(statements.selectRange(range, query, limit, mostBytes)) : [],
      readWhole: (row) => andThen(select(statements.select(readId(row), scope)), ([whole]) => whole),
      isSame: (row, other) => row[columns.version] === other[columns.version],
      decode
    })
    return driver.sync
      ? { [Symbol.iterator]: () => walk as Iterator<readonly Row[]> }
      : { [Symbol.asyncIterator]: () => new AsyncWalk(walk) }
  }

  /** The guard is a part of the write: only what it has not let through is looked at again. */
  function guarded (
    id: Id,
    { version, scope }: Guard,
    rescue: Rescue,
    bind: (version: number | undefined) => Bound
  ): MaybePromise<Written> {
    const wanted = version === undefined ? undefined : parseVersion(version)
    const isVain = !isId(id, idType) || !statements.canFit(scope) || (version !== undefined && wanted === undefined)
    const attempt = isVain ? undefined : write(() => bind(wanted), rescue)
    return andThen(attempt, (row): MaybePromise<Written> => {
      if (row !== undefined) return { ok: true, row }
      if (version === undefined) return { ok: false, why: 'missing' }
      return andThen(find(id, scope), (current): Written =>
        current === undefined ? { ok: false, why: 'missing' } : { ok: false, why: 'stale', current }
      )
    })
  }

  function make (): MaybePromise<void> {
    const failures: unknown[] = []
    // Another process may be making the same at the same time: what counts is what is there in the end.
    const attempt = (statement: Statement): MaybePromise<unknown> =>
      catchError<unknown>(
        () => driver.run(statement, []),
        (error) => {
          failures.push(error)
        }
      )
    const makeTable = (found: Table | undefined): MaybePromise<unknown> =>
      found ?? andThen(driver.needsCollation(), (collated) => attempt(statements.createTable(collated)))
    const makeIndexes = (found: Table | undefined): MaybePromise<void> =>
      forEachInOrder(missingIndexes(groups, found).map((group) => () => attempt(statements.createUniqueIndex(group))))
    const finish = (): MaybePromise<void> =>
      catchError(check, (error) => {
        throw failures[0] ?? error
      })
    return andThen(driver.describe(), (found) =>
      andThen(makeTable(found), () => andThen(driver.describe(), (made) => andThen(makeIndexes(made), finish)))
    )
  }

  function check (): MaybePromise<void> {
    return andThen(driver.describe(), (found) => {
      if (found === undefined) {
        return andThen(driver.tables(), (tables) => {
          throw missingTable(table, schema, tables)
        })
      }
      checkTable({ table, quoted: quoteTable(dialect, table, schema), columns, idType, unique: groups }, found, dialect)
    })
  }

  return Object.freeze({
    id: idType,
    attributes,
    capabilities: Object.freeze({ order: true, filter: true }),
    migrate: make,
    prepare: migrate ? make : check,
    list,
    get: find,
    create: (attributes: Attributes, scope: Scope) =>
      andThen(
        write(
          () => statements.insert(idType === 'uuid' ? uuid() : undefined, attributes, scope),
          explain(columns, attributes, scope)
        ),
        (row) => {
          // As a trigger can have it.
          if (row === undefined) throw new InvalidError({}, { detail: REFUSALS.check.detail })
          return row
        }
      ),
    update: (id: Id, changes: Attributes, guard: Guard) =>
      guarded(id, guard, explain(columns, changes, guard.scope), (version) =>
        statements.update(id, changes, version, guard.scope)
      ),
    delete: (id: Id, guard: Guard) =>
      guarded(id, guard, explainDeletion, (version) => statements.delete(id, version, guard.scope))
  })
}

/**
 * As generators do: of two who ask at once, the second waits for the first, and after an error there is no more. A
 * generator would hold the batch that it has handed out until the next one is asked for.
 */
class AsyncWalk implements AsyncIterator<readonly Row[]> {
  readonly #walk: Walk
  /** Settled when nobody is being answered. */
  #idle: Promise<unknown> = Promise.resolve()

  constructor (walk: Walk) {
    this.#walk = walk
  }

  next (): Promise<IteratorResult<readonly Row[]>> {
    const result = this.#idle.then(() => this.#walk.next())
    this.#idle = result.then(() => {}, () => { this.#walk.return() })
    return result
  }

  return (): Promise<IteratorResult<readonly Row[]>> {
    return this.#idle.then(() => this.#walk.return())
  }
}

/** The columns of each group of attributes. */
function resolveUnique (
  unique: ReadonlyArray<string | readonly string[]>,
  { byAttribute }: Columns
): ReadonlyArray<readonly string[]> {
  return unique.map((group) =>
    [group].flat().map((attribute) => {
      const column = byAttribute.get(attribute)
      if (column === undefined) {
        throw new InvalidOptionError(
          'unique',
          `names "${attribute}", which is not among the attributes${didYouMean(attribute, [...byAttribute.keys()])}`
        )
      }
      if (column.kind === 'json') {
        throw new InvalidOptionError('unique', `names "${attribute}", which is kept as JSON and cannot be unique`)
      }
      return column.name
    })
  )
}

/** A row in the database's own types → a row of the store's; undefined: a text is cut, as may be with `mostBytes`. */
type RowReader = (raw: RawRow, mostBytes: number | undefined) => Row | undefined

function makeRowReader (
  { version: versionColumn, byAttribute }: Columns,
  readId: (raw: RawRow) => Id,
  { isCut }: Dialect
): RowReader {
  const columns = [...byAttribute.values()].map((column) => ({ ...column, isLong: isLongKind(column) }))
  return (raw, mostBytes) => {
    const attributes: Record<string, unknown> = {}
    for (const { attribute, name, isLong, decode } of columns) {
      const text = raw[name]
      if (isLong && mostBytes !== undefined && isCut(text, mostBytes)) return undefined
      const value = decode(text)
      if (value !== undefined) attributes[attribute] = value
    }
    return { id: readId(raw), version: String(raw[versionColumn]), attributes }
  }
}

function makeIdReader ({ id }: Columns, idType: GeneratedIdType): (raw: RawRow) => Id {
  return idType === 'uuid' ? (raw) => raw[id] as string : (raw) => decodeInteger(raw[id])
}

/** Answers in the place of what was thrown, or throws. */
type Rescue = (error: unknown) => readonly RawRow[]

/** A value that no column can hold is in no row. */
const noneFits: Rescue = (error) => {
  if (error instanceof ConstraintError && error.kind === 'value') return []
  throw error
}

function isId (id: unknown, idType: GeneratedIdType): boolean {
  return parseId(idType, String(id)) === id
}

/** The number that a version spells, or undefined where no row has such a version. */
function parseVersion (version: string): number | undefined {
  return /^(?:0|[1-9]\d{0,15})$/.test(version) && Number.isSafeInteger(Number(version)) ? Number(version) : undefined
}

/** What the database refuses of a row, in terms of attributes. */
function explain ({ id, byAttribute }: Columns, supplied: Attributes, scope: Scope): Rescue {
  return (error) => {
    if (!(error instanceof ConstraintError)) throw error
    const { kind, columns, cause } = error
    // A database that makes an id twice is no fault of the client's.
    if (kind === 'unique' && columns.includes(id)) throw cause
    const attributes = [...byAttribute.values()]
      .filter(({ name }) => columns.includes(name))
      .map(({ attribute }) => attribute)
    if (kind === 'unique' && attributes.length > 0) {
      throw new DuplicateError(attributeAtFault(attributes, scope), { cause })
    }
    const named = attributes.filter((attribute) => !Object.hasOwn(scope, attribute))
    const [attribute] =
      kind === 'required' || named.length === 1 ? named : named.filter((name) => Object.hasOwn(supplied, name))
    if (attribute === undefined) throw new InvalidError({}, { detail: REFUSALS[kind].detail, cause })
    throw new InvalidError({ [attribute]: [REFUSALS[kind].message] }, { cause })
  }
}

/** A deletion gives no values but those of its scope. */
const explainDeletion: Rescue = (error) => {
  if (!(error instanceof ConstraintError) || error.kind === 'value') return noneFits(error)
  throw new InvalidError({}, { detail: 'other resources still refer to it', cause: error.cause })
}

const REFUSALS = {
  unique: { message: 'is already taken', detail: 'there is one like it already' },
  required: { message: 'must be given', detail: 'something that must be given is missing' },
  reference: {
    message: 'refers to nothing that exists',
    detail: 'it refers to something that does not exist, or is referred to'
  },
  check: { message: 'is not valid', detail: 'the database does not take it' },
  value: {
    message: 'cannot be kept',
    detail: 'an attribute is too long, too large, or of characters that cannot be kept'
  }
} as const

function forEachInOrder (steps: ReadonlyArray<() => MaybePromise<unknown>>): MaybePromise<void> {
  const [step, ...rest] = steps
  return step === undefined ? undefined : andThen(step(), () => forEachInOrder(rest))
}
