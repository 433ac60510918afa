import { InvalidError } from '../core/errors.js'
import { say } from '../core/messages.js'
import type { Id, Row, Scope } from '../core/resource/row.js'
import type { Attributes } from '../core/schema/types.js'
import { isEmpty, isSame, readMember, setMember } from '../core/util/own-property.js'
import type { Dialect, RawRow, SqlColumn, Statement } from './dialect.js'
import type { VersionGuard } from './keys/versions.js'
import { type Conditions, keyOf } from './predicates.js'
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
export interface BoundInsert extends BoundStatement {
  readonly rows: readonly NewRow[]
}

/** The row that a write changes. `guards` is empty if any version may be changed. */
export interface WriteTarget {
  readonly id: Id
  readonly guards: readonly VersionGuard[]
  readonly scope: Scope
}

/** A statement that a cache may keep. */
interface NewStatement extends Pick<Statement, 'text' | 'isSelective' | 'fills'> {
  /** Whether the statement is kept even if there are many others. @default false */
  readonly isKept?: boolean
}

/** The most values of one statement. PostgreSQL takes up to 65,535. */
const MOST_VALUES = 30_000

/** The most statements to keep in a cache. Clients choose the attributes of a write and the order of a list. */
const KEPT = 60

/**
 * Keeps statements of one verb, so that the text of a kept statement is made only once. Statements with the same key
 * have the same text.
 */
export class StatementCache {
  readonly #known = new Map<string, Statement>()
  readonly #writes: boolean

  constructor (writes: boolean) {
    this.#writes = writes
  }

  /** Returns the statement of a key, which `make` makes if it is not known. */
  get (key: string, make: () => NewStatement): Statement {
    const known = this.#known.get(key)
    if (known !== undefined) return known
    const { isKept = false, ...made } = make()
    const kept = isKept || this.#known.size < KEPT
    const statement = { ...made, writes: this.#writes, returns: true, kept }
    if (kept) this.#known.set(key, statement)
    return statement
  }
}

/**
 * Returns the columns to read, for `SELECT` and `RETURNING`. Only the version may be an expression, because RETURNING
 * in Citus allows only immutable ones.
 */
export function rowOf ({ columns, ids, versions: { selected } }: TableDefinition): string {
  const version = selected === undefined ? [] : [selected]
  return [...ids.selected, ...version, ...[...columns.byAttribute.values()].map(({ quoted }) => quoted)].join(', ')
}

/** Makes the statements that read and write one row. */
export class Statements {
  readonly #definition: TableDefinition
  readonly #dialect: Dialect
  readonly #columns: readonly SqlColumn[]
  readonly #conditions: Conditions
  readonly #row: string
  readonly #select = new StatementCache(false)
  readonly #insert = new StatementCache(true)
  readonly #update = new StatementCache(true)
  readonly #delete = new StatementCache(true)

  constructor (definition: TableDefinition, dialect: Dialect, conditions: Conditions) {
    this.#definition = definition
    this.#dialect = dialect
    this.#conditions = conditions
    this.#columns = [...definition.columns.byAttribute.values()]
    this.#row = rowOf(definition)
  }

  select (id: Id, scope: Scope): BoundStatement {
    const { key, values } = this.#findRow(id, scope)
    const { quoted, isKeyUnique } = this.#definition
    const statement = this.#select.get(key, () => {
      const where = this.#conditions.where(this.#conditions.ofRow(id, scope), this.#conditions.placeholders(1))
      return { text: `SELECT ${this.#row} FROM ${quoted}${where}${isKeyUnique ? '' : ' LIMIT 2'}` }
    })
    return { statement, values }
  }

  /**
   * Makes the statement that inserts a row.
   * @throws InvalidError if the table cannot keep a value
   */
  insert (row: NewRow, scope: Scope): BoundStatement {
    const columns = this.#given(row, scope)
    const statement = this.#insert.get(namesOf(columns), () => this.#writeInsert(columns, row.id !== undefined, 1))
    return { statement, values: this.#valuesOf(row, columns, scope) }
  }

  /**
   * Makes the statements that insert rows in their order. Each inserts up to `most` rows with the same columns.
   * @throws InvalidError if the table cannot keep a value
   */
  insertMany (rows: readonly NewRow[], scope: Scope, most: number): BoundInsert[] {
    const groups: Array<{ names: string, columns: readonly SqlColumn[], rows: NewRow[], values: unknown[] }> = []
    for (const row of rows) {
      const columns = this.#given(row, scope)
      const names = namesOf(columns)
      const values = this.#valuesOf(row, columns, scope)
      const last = groups.at(-1)
      if (
        last === undefined || last.names !== names || values.length === 0 ||
        last.rows.length === most || last.values.length + values.length > MOST_VALUES
      ) {
        groups.push({ names, columns, rows: [row], values })
      } else {
        last.rows.push(row)
        last.values.push(...values)
      }
    }
    return groups.map(({ columns, rows, values }) => ({
      statement: {
        ...this.#writeInsert(columns, rows[0]?.id !== undefined, rows.length), writes: true, returns: true, kept: false
      },
      rows,
      values
    }))
  }

  /** Returns the columns that an insert fills, besides the id and the version. */
  #given ({ attributes }: NewRow, scope: Scope): SqlColumn[] {
    const columns = this.#find(attributes, scope).filter(({ attribute }) => attributes[attribute] !== undefined)
    if (!isEmpty(scope)) columns.push(...this.#find(scope, {}))
    return columns
  }

  #valuesOf ({ id, attributes }: NewRow, columns: readonly SqlColumn[], scope: Scope): unknown[] {
    const values: unknown[] = this.#definition.versions.counter === undefined ? [] : [1]
    for (const { attribute, encode } of columns) {
      values.push(encode(Object.hasOwn(scope, attribute) ? scope[attribute] : attributes[attribute]))
    }
    if (id !== undefined) values.push(id)
    return values
  }

  #writeInsert (columns: readonly SqlColumn[], hasId: boolean, count: number): NewStatement {
    const { quoted: table, columns: { version }, ids, versions: { counter } } = this.#definition
    const first = counter === undefined ? [] : [counter]
    const last = hasId ? [ids.parts[0].quoted] : []
    const names = [...first, ...columns.map(({ quoted }) => quoted), ...last]
    const rows = Array.from({ length: count }, (_, row) => names.map((_, index) =>
      this.#stored(row * names.length + index + 1, columns[index - first.length])))
    const given = `(${names.join(', ')}) VALUES ${rows.map((values) => `(${values.join(', ')})`).join(', ')}`
    return {
      text: `INSERT INTO ${table} ${names.length === 0 ? 'DEFAULT VALUES' : given} RETURNING ${this.#row}`,
      fills: [...first.map(() => version as string), ...columns.map(({ name }) => name)]
    }
  }

  /**
   * Makes the statement that updates a row. A removed attribute becomes NULL. A column of JSON keeps its text if that
   * is another spelling of the value.
   * @param raw the row that was read before, if it was
   * @throws InvalidError if the table cannot keep a value
   */
  update (changes: Attributes, target: WriteTarget, raw?: RawRow): BoundStatement {
    const columns = this.#find(changes, target.scope)
    const values = columns.map(({ attribute, name, kind, encode, decode }) => {
      const value = changes[attribute] ?? null
      const stored = kind === 'json' ? raw?.[name] : undefined
      return typeof stored === 'string' && isSame(decode(stored), value) ? stored : encode(value)
    })
    return this.#bindGuarded(this.#update, target, columns, values)
  }

  #beginUpdate (columns: readonly SqlColumn[]): string {
    const { quoted: table, versions: { counter } } = this.#definition
    const set = columns.map((column, index) => `${column.quoted} = ${this.#stored(index + 1, column)}`)
    if (counter !== undefined) set.unshift(`${counter} = ${counter} + 1`)
    return `UPDATE ${table} SET ${set.length === 0 ? this.#touch() : set.join(', ')}`
  }

  delete (target: WriteTarget): BoundStatement {
    return this.#bindGuarded(this.#delete, target, [], [])
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

  /** Returns the placeholder of a value that is stored. */
  #stored (position: number, column: SqlColumn | undefined): string {
    return this.#dialect.placeholder(position, column?.kind === 'bytes' ? column.kind : undefined)
  }

  #bindGuarded (
    cache: StatementCache,
    target: WriteTarget,
    columns: readonly SqlColumn[],
    stored: readonly unknown[]
  ): BoundStatement {
    const { id, guards, scope } = target
    const row = this.#findRow(id, scope)
    const key = `${namesOf(columns)} ${guards.length > 0 ? 'version' : ''} ${row.key}`
    const values = stored.concat(row.values)
    for (const { value } of guards) values.push(value)
    const statement = cache.get(key, () => {
      const begin = cache === this.#delete ? `DELETE FROM ${this.#definition.quoted}` : this.#beginUpdate(columns)
      const next = this.#conditions.placeholders(columns.length + 1)
      const where = this.#conditions.where(this.#conditions.ofRow(id, scope), next)
      const whereVersion = guards.map(({ write }) => ` AND ${write(next)}`).join('')
      return { text: `${begin}${where}${whereVersion} RETURNING ${this.#row}`, fills: columns.map(({ name }) => name) }
    })
    return { statement, values }
  }

  /** Returns the values of the conditions that find a row, and the key that conditions with the same text share. */
  #findRow (id: Id, scope: Scope): { readonly key: string, readonly values: readonly unknown[] } {
    // Fast path: an id in a column of its own finds most rows.
    const { ids } = this.#definition
    if (ids.isGenerated && isEmpty(scope)) return { key: BY_ID_ALONE, values: [ids.parts[0].compare(id)] }
    const conditions = this.#conditions.ofRow(id, scope)
    return { key: keyOf(conditions), values: this.#conditions.valuesOf(conditions) }
  }

  /** Sets a column to its own value, for an update without changes. */
  #touch (): string {
    const { quoted } = this.#columns.find(({ readOnly }) => !readOnly) ?? this.#definition.ids.parts[0]
    return `${quoted} = ${quoted}`
  }
}

/** The key of the condition that finds a row by its id. */
const BY_ID_ALONE = keyOf([{ by: 'id', is: '=', value: 0 }])

function refuseUnknown (supplied: Attributes, known: ReadonlyMap<string, SqlColumn>): InvalidError {
  const unknown = Object.keys(supplied).filter((name) => !known.has(name))
  return new InvalidError(Object.fromEntries(unknown.map((name) => [name, [say('hasNoColumn')]])))
}

function namesOf (columns: readonly SqlColumn[]): string {
  return columns.map(({ attribute }) => attribute).join()
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
