import { InvalidError } from '../core/errors.js'
import { say } from '../core/messages.js'
import type { Id, Row, Scope } from '../core/resource/row.js'
import type { Attributes } from '../core/schema/types.js'
import type { CountQuery, OrderBy } from '../core/stores/store.js'
import { isEmpty, isSame, readMember, setMember } from '../core/util/own-property.js'
import type { Bind, Dialect, Estimate, RawRow, SqlColumn, Statement } from './dialect.js'
import type { VersionGuard } from './keys/versions.js'
import type { Comparison, Range } from './keyset.js'
import { bindTo, Conditions, conditionsOf, type Predicate } from './predicates.js'
import type { TableDefinition } from './tables/definition.js'

/** A statement with the values of its placeholders. */
export interface BoundStatement {
  readonly statement: Statement
  readonly values: readonly unknown[]
}

/** A row that does not exist yet. */
export interface NewRow {
  /** The id, or `undefined` if the database makes it. */
  readonly id: Id | undefined
  readonly attributes: Attributes
}

/** A statement that inserts rows, and these rows. */
interface BoundInsert extends BoundStatement {
  readonly rows: readonly NewRow[]
}

/** The row that a write changes. `guard` is `undefined` if any version may be changed. */
export interface WriteTarget {
  readonly id: Id
  readonly guard: VersionGuard | undefined
  readonly scope: Scope
}

/** The most values of one statement. PostgreSQL takes up to 65,535. */
const MOST_VALUES = 30_000

/** The most statements of one verb to keep. Clients choose the attributes of a write and the order of a list. */
const KEPT = 60

/** Makes the statements of one verb. Drivers keep the first ones prepared. */
class VerbStatements {
  readonly #writes: boolean
  readonly #kept = new Set<string>()

  constructor (writes: boolean) {
    this.#writes = writes
  }

  /** @param mayBeKept whether drivers may keep the statement. @default true */
  make (text: string, more: Pick<Statement, 'isSelective' | 'fills'> = {}, mayBeKept = true): Statement {
    if (mayBeKept && this.#kept.size < KEPT) this.#kept.add(text)
    return { text, writes: this.#writes, returns: true, kept: this.#kept.has(text), ...more }
  }
}

/**
 * Returns the columns to read, for `SELECT` and `RETURNING`. Only the version may be an expression, because RETURNING
 * in Citus allows only immutable ones.
 */
function rowOf ({ columns, ids, versions: { selected } }: TableDefinition): string {
  const version = selected === undefined ? [] : [selected]
  return [...ids.selected, ...version, ...[...columns.byAttribute.values()].map(({ quoted }) => quoted)].join(', ')
}

/** The column of a count. */
export const COUNT = 'rows'

/** The column of the size of a row. */
export const SIZE = 'size'

/** The rows of a range that a statement selects. */
export interface Portion {
  readonly limit: number
  readonly offset: number
  /** What the statement selects. @default 'rows' */
  readonly what?: 'rows' | 'sizes'
}

/** Makes the statements that read and write the rows of a table. */
export class Statements {
  readonly #definition: TableDefinition
  readonly #dialect: Dialect
  readonly #columns: readonly SqlColumn[]
  readonly conditions: Conditions
  /** Whether rows may be so large that few of them can be held together. */
  readonly hasSizes: boolean
  /** The table before the names of columns. A name without it would mean a column of the result. */
  readonly #table: string
  readonly #row: string
  readonly #size: string
  readonly #select = new VerbStatements(false)
  /** The lists without a filter and a search, which are not so many. */
  readonly #plain = new VerbStatements(false)
  readonly #filtered = new VerbStatements(false)
  readonly #insert = new VerbStatements(true)
  readonly #update = new VerbStatements(true)
  readonly #delete = new VerbStatements(true)

  constructor (definition: TableDefinition, dialect: Dialect) {
    this.#definition = definition
    this.#dialect = dialect
    this.conditions = new Conditions(definition, dialect)
    this.#columns = [...definition.columns.byAttribute.values()]
    this.#table = dialect.quote(definition.table)
    this.#row = rowOf(definition)
    const sizes = this.#columns.filter(({ kind }) => LONG.has(kind)).map((column) => dialect.sizeOf(column))
    this.hasSizes = sizes.length > 0
    this.#size = `${sizes.join(' + ')} AS ${SIZE}`
  }

  select (id: Id, scope: Scope): BoundStatement {
    const { quoted, isKeyUnique } = this.#definition
    const values: unknown[] = []
    const where = this.conditions.where(this.conditions.ofRow(id, scope), bindTo(values, this.#dialect))
    const limit = isKeyUnique ? '' : ' LIMIT 2'
    return { statement: this.#select.make(`SELECT ${this.#row} FROM ${quoted}${where}${limit}`), values }
  }

  /**
   * Makes the statement that inserts a row.
   * @throws InvalidError if the table cannot keep a value
   */
  insert (row: NewRow, scope: Scope): BoundStatement {
    return this.#insertRows([row], this.#given(row, scope), scope)
  }

  /**
   * Makes the statements that insert rows in their order. Each inserts up to `most` rows with the same columns.
   * @throws InvalidError if the table cannot keep a value
   */
  insertMany (rows: readonly NewRow[], scope: Scope, most: number): BoundInsert[] {
    const groups: Array<{ readonly columns: readonly SqlColumn[], readonly rows: NewRow[] }> = []
    for (const row of rows) {
      const columns = this.#given(row, scope)
      const last = groups.at(-1)
      // A row may have two values more, for its id and its version.
      const isFull = last !== undefined &&
        (last.rows.length === most || (last.rows.length + 1) * (columns.length + 2) > MOST_VALUES)
      const isAlike = last !== undefined && columns.length > 0 && columns.length === last.columns.length &&
        columns.every((column, index) => column === last.columns[index])
      if (isAlike && !isFull) last.rows.push(row)
      else groups.push({ columns, rows: [row] })
    }
    return groups.map(({ columns, rows }) => this.#insertRows(rows, columns, scope))
  }

  /** Returns the columns that an insert fills, besides the id and the version. */
  #given ({ attributes }: NewRow, scope: Scope): SqlColumn[] {
    const columns = this.#find(attributes, scope).filter(({ attribute }) => attributes[attribute] !== undefined)
    if (!isEmpty(scope)) columns.push(...this.#find(scope, {}))
    return columns
  }

  #insertRows (rows: readonly NewRow[], columns: readonly SqlColumn[], scope: Scope): BoundInsert {
    const { quoted: table, columns: { version }, ids, versions: { counter } } = this.#definition
    const first = counter === undefined ? [] : [counter]
    const last = rows[0]?.id === undefined ? [] : [ids.parts[0].quoted]
    const names = [...first, ...columns.map(({ quoted }) => quoted), ...last]
    const values: unknown[] = []
    const bind = bindTo(values, this.#dialect)
    const tuples = rows.map(({ id, attributes }) => [
      ...first.map(() => bind(1)),
      ...columns.map((column) => {
        const { attribute } = column
        return store(bind, column, Object.hasOwn(scope, attribute) ? scope[attribute] : attributes[attribute])
      }),
      ...last.map(() => bind(id))
    ])
    const given = `(${names.join(', ')}) VALUES ${tuples.map((tuple) => `(${tuple.join(', ')})`).join(', ')}`
    const text = `INSERT INTO ${table} ${names.length === 0 ? 'DEFAULT VALUES' : given} RETURNING ${this.#row}`
    const fills = [...first.map(() => version as string), ...columns.map(({ name }) => name)]
    return { statement: this.#insert.make(text, { fills }, rows.length === 1), values, rows }
  }

  /**
   * Makes the statement that updates a row. A removed attribute becomes NULL. A column of JSON keeps its text if that
   * is another spelling of the value.
   * @param raw the row that was read before, if it was
   * @throws InvalidError if the table cannot keep a value
   */
  update (changes: Attributes, target: WriteTarget, raw?: RawRow): BoundStatement {
    const { quoted: table, versions: { counter } } = this.#definition
    const columns = this.#find(changes, target.scope)
    const values: unknown[] = []
    const bind = bindTo(values, this.#dialect)
    const set = columns.map((column) => {
      const { attribute, name, kind, decode, quoted } = column
      const value = changes[attribute] ?? null
      const stored = kind === 'json' ? raw?.[name] : undefined
      const isKept = typeof stored === 'string' && isSame(decode(stored), value)
      return `${quoted} = ${isKept ? bind(stored) : store(bind, column, value)}`
    })
    if (counter !== undefined) set.unshift(`${counter} = ${counter} + 1`)
    const assigned = set.length === 0 ? this.#touch() : set.join(', ')
    const text = `UPDATE ${table} SET ${assigned}${this.#whereRow(target, bind)}`
    return { statement: this.#update.make(text, { fills: columns.map(({ name }) => name) }), values }
  }

  delete (target: WriteTarget): BoundStatement {
    const values: unknown[] = []
    const text = `DELETE FROM ${this.#definition.quoted}${this.#whereRow(target, bindTo(values, this.#dialect))}`
    return { statement: this.#delete.make(text), values }
  }

  /**
   * Finds the columns of attributes outside the scope, in the order of the schema. A client's order thus makes no other
   * statement.
   */
  #find (supplied: Attributes, scope: Scope): SqlColumn[] {
    const { byAttribute } = this.#definition.columns
    for (const name in supplied) if (!byAttribute.has(name)) throw refuseUnknown(supplied, byAttribute)
    return this.#columns.filter(({ attribute }) =>
      Object.hasOwn(supplied, attribute) && !Object.hasOwn(scope, attribute))
  }

  /** Writes the end of a statement that writes a row, and returns it. */
  #whereRow ({ id, guard, scope }: WriteTarget, bind: Bind): string {
    const where = this.conditions.where(this.conditions.ofRow(id, scope), bind)
    return `${where}${guard === undefined ? '' : ` AND ${guard(bind)}`} RETURNING ${this.#row}`
  }

  /** Sets a column to its own value, for an update without changes. */
  #touch (): string {
    const { quoted } = this.#columns.find(({ readOnly }) => !readOnly) ?? this.#definition.ids.parts[0]
    return `${quoted} = ${quoted}`
  }

  /**
   * Makes the statement that selects the first rows of a range, behind those that `offset` skips, or only their sizes.
   */
  selectRange (
    { conditions: bounds, order }: Range,
    scope: Scope,
    predicates: readonly Predicate[],
    { limit, offset, what = 'rows' }: Portion
  ): BoundStatement {
    const values: unknown[] = []
    const bind = bindTo(values, this.#dialect)
    const conditions = [...conditionsOf(scope), ...bounds]
    const where = this.conditions.where(conditions, bind, predicates)
    const orderBy = order.map((criterion) => this.#orderBy(criterion, conditions)).join(', ')
    const isPlain = predicates.length === 0
    const most = isPlain ? this.#dialect.fixedLimit(bind(limit)) : bind(limit)
    const skip = offset > 0 ? ` OFFSET ${bind(offset)}` : ''
    const selected = what === 'rows' ? this.#row : this.#size
    const text = `SELECT ${selected} FROM ${this.#definition.quoted}${where} ORDER BY ${orderBy} LIMIT ${most}${skip}`
    const verb = isPlain ? this.#plain : this.#filtered
    return { statement: verb.make(text, { isSelective: areSelective(predicates) }), values }
  }

  /** Makes the statement that counts the rows that meet conditions. It ends at `most` rows. */
  count (
    bounds: readonly Comparison[],
    { scope, most }: Pick<CountQuery, 'scope' | 'most'>,
    predicates: readonly Predicate[]
  ): BoundStatement {
    const values: unknown[] = []
    const bind = bindTo(values, this.#dialect)
    const where = this.conditions.where([...conditionsOf(scope), ...bounds], bind, predicates)
    const from = `FROM ${this.#definition.quoted}${where}`
    const counted = most === undefined ? from : `FROM (SELECT 1 AS one ${from} LIMIT ${bind(most)}) AS counted`
    const text = `SELECT count(*) AS ${COUNT} ${counted}`
    return { statement: this.#filtered.make(text, { isSelective: areSelective(predicates) }), values }
  }

  /** Makes the statement that estimates their number, or returns `undefined` if the database estimates none. */
  estimate (
    predicates: readonly Predicate[]
  ): { readonly bound: BoundStatement, readonly read: Estimate['read'] } | undefined {
    const { estimate } = this.#dialect
    if (estimate === undefined) return undefined
    const { statement, values } = this.count([], { scope: {}, most: undefined }, predicates)
    const text = estimate.explain(statement.text.replace(`count(*) AS ${COUNT}`, '1'))
    return { bound: { statement: { ...statement, text, kept: false }, values }, read: estimate.read }
  }

  /**
   * Returns a criterion of ORDER BY. It names the place of nulls only if the range may contain nulls and other values.
   */
  #orderBy ({ by, descending }: OrderBy, conditions: readonly Comparison[]): string {
    const { nullsFirst, sortable } = this.#dialect
    const column = this.conditions.columnOf(by)
    const quoted = `${this.#table}.${column.quoted}`
    const direction = `${sortable({ ...column, quoted })}${descending ? ' DESC' : ''}`
    const { neverNull } = this.conditions
    if (nullsFirst || neverNull.has(by) || conditions.some((condition) => condition.by === by)) return direction
    return `${direction} NULLS ${descending ? 'LAST' : 'FIRST'}`
  }
}

function areSelective (predicates: readonly Predicate[]): boolean {
  return predicates.some(({ isSelective }) => isSelective)
}

/** The kinds of values that may have any length. */
const LONG: ReadonlySet<unknown> = new Set(['string', 'json', 'bytes'])

/** Binds a value that is stored. */
function store (bind: Bind, { kind, encode }: SqlColumn, value: unknown): string {
  return bind(encode(value), kind === 'bytes' ? kind : undefined)
}

function refuseUnknown (supplied: Attributes, known: ReadonlyMap<string, SqlColumn>): InvalidError {
  const unknown = Object.keys(supplied).filter((name) => !known.has(name))
  return new InvalidError(Object.fromEntries(unknown.map((name) => [name, [say('hasNoColumn')]])))
}

/** Makes the function that decodes the rows of a table. */
export function makeDecoder ({ columns: { byAttribute }, ids, versions }: TableDefinition): (raw: RawRow) => Row {
  const columns = [...byAttribute.values()]
  return (raw) => {
    const attributes: Record<string, unknown> = {}
    for (const { name, attribute, decode } of columns) {
      const value = decode(readMember(raw, name))
      if (value !== undefined) setMember(attributes, attribute, value)
    }
    return { id: ids.decode(raw), version: versions.decode(raw), attributes }
  }
}
