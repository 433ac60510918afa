import { findMember } from '../../../core/util/own-property.js'
import { groupIndexes, quoteName } from '../../dialect.js'
import { readCheck, readLiteral, type Token, tokenize } from '../../tables/checks.js'
import { describeTable } from '../../tables/describe-table.js'
import type { FoundColumn, FoundForeignKey, FoundTable, TableDescription } from '../../tables/description.js'
import { type DescribeOptions, selectTables } from '../../tables/selection.js'
import type { SqliteDatabase } from '../statement.js'
import { type PragmaColumn, type PragmaReference, type ReadRows, readStructure, type Structure } from '../structure.js'
import { type Contents, contentsOfType, sampleColumns, UNKNOWN } from './contents.js'

/**
 * Describes the tables and views of an SQLite database.
 * @throws InvalidOptionError if a table does not exist
 */
export function describeSqlite (database: SqliteDatabase, options: DescribeOptions): TableDescription[] {
  const reader = new SchemaReader(database)
  const selected = selectTables(reader.tables.map(({ name }) => name), options)
  return reader.tables.filter(({ name }) => selected.includes(name)).map((table) => reader.describe(table))
}

/** Describes a table or view of an SQLite database. Returns `undefined` if it is missing. */
export function describeSqliteTable (database: SqliteDatabase, table: string): TableDescription | undefined {
  const reader = new SchemaReader(database)
  const found = reader.tables.find(({ name }) => fold(name) === fold(table))
  return found && reader.describe(found)
}

/** Returns the columns of a full text index. */
export function describeSqliteIndex (database: SqliteDatabase, index: string): string[] {
  const columns = database.prepare('SELECT name FROM pragma_table_xinfo(?) WHERE hidden = 0').all(index)
  return (columns as ReadonlyArray<{ readonly name: string }>).map(({ name }) => name)
}

/** A table or view in the schema of SQLite. */
interface ListedTable {
  readonly name: string
  readonly type: 'table' | 'view' | 'virtual'
  readonly isWithoutRowid: number
  /** The statement that created it. */
  readonly sql: string
}

/** Reads tables from the schema of SQLite, and from what their columns contain. */
class SchemaReader {
  readonly tables: readonly ListedTable[]
  readonly #database: SqliteDatabase
  readonly #query: ReadRows
  readonly #structures = new Map<string, Structure>()

  constructor (database: SqliteDatabase) {
    this.#database = database
    this.#query = <R>(text: string, ...values: unknown[]) => database.prepare(text).all(...values) as R[]
    this.tables = this.#query<ListedTable>(TABLES)
  }

  describe (table: ListedTable): TableDescription {
    try {
      return describeTable(this.#read(table))
    } catch (error) {
      // A view may name a column that is missing, and a table may need an extension, a function or a collation.
      const problem = `SQLite cannot read "${table.name}": ${String(findMember(error, 'message'))}.`
      return describeTable({ ...this.#begin(table), problems: [problem] })
    }
  }

  /** Returns a table of which nothing is served yet. */
  #begin ({ name, type }: ListedTable): FoundTable {
    return {
      name,
      kind: type === 'view' ? 'view' : 'table',
      columns: [],
      primaryKey: [],
      unique: [],
      partial: [],
      foreignKeys: [],
      demands: [],
      version: 'values',
      may: { create: false, update: false, delete: false },
      problems: []
    }
  }

  /** @throws an error of the driver if SQLite cannot read the table */
  #read (table: ListedTable): FoundTable {
    const { name, type, sql } = table
    const { columns, primaryKey, indexes, partial } = this.#structureOf(table)
    const visible = columns.filter(({ hidden }) => hidden !== 1)
    const names = visible.map(({ name }) => quoteName(name)).join(', ')
    this.#database.prepare(`SELECT ${names} FROM ${quoteName(name)} ORDER BY ${names}`)
    const { checks, collated } = readCreateTable(type === 'table' ? sql : '')
    const findColumn = (word: string): string | undefined => columns.find(({ name }) => fold(name) === fold(word))?.name
    const contents = type === 'view' ? describeView(visible) : this.#sample(table, visible)
    const hasFullKey = this.#hasFullKey(table)
    const foreignKeys = this.#findForeignKeys(table)
    const [problem] = [...foreignKeys.flatMap(({ problem }) => problem ?? []), ...this.#findProblems(table)]
    return {
      ...this.#begin(table),
      columns: visible.map((column) => ({
        ...this.#readColumn(table, column, contents.get(column.name) as Contents),
        isNullable: column.notnull === 0 && !(hasFullKey && column.pk > 0),
        isExact: !collated.has(fold(column.name))
      })),
      primaryKey: hasFullKey ? primaryKey : [],
      unique: groupIndexes(indexes.filter(({ origin }) => origin !== 'pk')),
      partial,
      foreignKeys,
      demands: checks.flatMap((check) => readCheck(check, findColumn)),
      rowName: type === 'view' ? undefined : rowNameOf(table, columns),
      counter: MADE.test(sql) ? 'version' : undefined,
      may: { create: problem === undefined, update: problem === undefined, delete: problem === undefined },
      problems: problem === undefined ? [] : [problem]
    }
  }

  #readColumn (
    table: ListedTable,
    { name, type, dflt_value: fallback, hidden }: PragmaColumn,
    { schema, isComparable, isMixed = false }: Contents
  ): Omit<FoundColumn, 'isNullable' | 'isExact'> {
    const isAlias = name === this.#structureOf(table).alias
    const made = readLiteral(tokenize(fallback ?? '', 'sqlite'))
    const declared = type === '' ? 'has no declared type' : `is declared as ${type}`
    const problem = isMixed
      ? `The column "${name}" ${declared} and contains other values, so its values are shown as they are ` +
        'and are read-only.'
      : `The column "${name}" has no type, so lists are neither sorted nor filtered by it. CAST it in the view.`
    return {
      name,
      schema,
      hasDefault: isAlias || hidden > 1 || (fallback !== null && !/^null$/i.test(fallback)),
      // SQLite keeps booleans as 0 and 1.
      default: schema.type === 'boolean' && (made === 0 || made === 1) ? made === 1 : made,
      makes: isAlias ? 'integer' : undefined,
      isComparable,
      isReadOnly: hidden > 1 || isMixed,
      may: { read: true, create: true, update: true },
      problem: isMixed || (table.type === 'view' && schema === UNKNOWN.schema) ? problem : undefined
    }
  }

  #structureOf ({ name, isWithoutRowid }: ListedTable): Structure {
    const made = this.#structures.get(name) ?? readStructure(this.#query, name, isWithoutRowid === 1)
    this.#structures.set(name, made)
    return made
  }

  /** Returns whether no row has null in the primary key, which SQLite allows unless the columns are NOT NULL. */
  #hasFullKey (table: ListedTable): boolean {
    const { columns, alias } = this.#structureOf(table)
    const nullable = columns.filter(({ pk, notnull }) => pk > 0 && notnull === 0)
    if (nullable.length === 0 || alias !== undefined || table.isWithoutRowid === 1) return true
    const condition = nullable.map(({ name }) => `${quoteName(name)} IS NULL`).join(' OR ')
    return this.#query(`SELECT 1 FROM ${quoteName(table.name)} WHERE ${condition} LIMIT 1`).length === 0
  }

  /** Returns what the columns of a table contain. */
  #sample (table: ListedTable, visible: readonly PragmaColumn[]): ReadonlyMap<string, Contents> {
    const { columns, primaryKey, indexes } = this.#structureOf(table)
    const rowName = rowNameOf(table, columns)
    const order = table.type === 'table' ? (rowName === undefined ? primaryKey : [rowName]) : []
    // The numbers of keys are ids, which are integers in every format.
    const keys = primaryKey.length > 0 ? primaryKey : indexes.map(({ column }) => column ?? '')
    const references = this.#findForeignKeys(table).filter(({ isToPrimary }) => isToPrimary)
    const numbers = new Set([...keys, ...references.flatMap(({ columns }) => columns)])
    const declared = visible.map(({ name, type, dflt_value: fallback }) =>
      ({ name, type, isKey: numbers.has(name), fallback: fallback ?? '' }))
    return sampleColumns(this.#query, { table: table.name, order }, declared)
  }

  #findForeignKeys (table: ListedTable): ReadReference[] {
    const { references } = this.#structureOf(table)
    const ids = [...new Set(references.map(({ id }) => id))]
    return ids.map((id) => this.#readReference(table.name, references.filter((reference) => reference.id === id)))
  }

  #readReference (name: string, parts: readonly PragmaReference[]): ReadReference {
    const columns = parts.map(({ from }) => from)
    const { table: to, onDelete } = parts[0] as PragmaReference
    const other = this.tables.find((table) => fold(table.name) === fold(to))
    const fault = `Rows of "${name}" are read-only, because they refer`
    if (other?.type !== 'table') {
      const problem = `${fault} to the table "${to}", which does not exist.`
      return { columns, table: undefined, onDelete, key: undefined, isToPrimary: false, problem }
    }
    const { columns: otherColumns, primaryKey, indexes } = this.#structureOf(other)
    const targets = parts.flatMap(({ to }) => (to === null ? [] : fold(to)))
    const isRequired = (name: string): boolean =>
      otherColumns.some((column) => column.name === name && column.notnull === 1)
    const key = primaryKey.length > 0 || targets.length === 0
      ? primaryKey
      : groupIndexes(indexes).find((group) => group.every(isRequired)) ?? []
    const isToPrimary = targets.length === 0 || isSameGroup(targets, key)
    const matched = key.map((name, index) => columns[targets.length === 0 ? index : targets.indexOf(fold(name))])
    const isUnique = isToPrimary || groupIndexes(indexes).some((group) => isSameGroup(targets, group))
    return {
      columns,
      table: other.name,
      onDelete,
      key: matched.includes(undefined) ? undefined : matched as string[],
      isToPrimary,
      problem: isUnique && (targets.length > 0 || primaryKey.length === columns.length)
        ? undefined
        : `${fault} to columns of "${other.name}" that are not unique.`
    }
  }

  /** Returns why no rows of a table can be written. */
  #findProblems (table: ListedTable): string[] {
    const { name, type } = table
    const [setting] = this.#query<{ query_only: number }>('PRAGMA query_only')
    if (setting?.query_only === 1) return ['The database is read-only.']
    if (type !== 'table') return [`The ${type === 'view' ? 'view' : 'virtual table'} "${name}" is read-only.`]
    const set = this.#structureOf(table).columns.filter(({ hidden }) => hidden === 0)
      .map(({ name }) => `${quoteName(name)} = ${quoteName(name)}`).join(', ')
    const quoted = quoteName(name)
    try {
      // A trigger may call a function that only another program has. These statements are prepared, and never run.
      this.#database.prepare(`INSERT INTO ${quoted} DEFAULT VALUES`)
      this.#database.prepare(`UPDATE ${quoted} SET ${set}`)
      this.#database.prepare(`DELETE FROM ${quoted}`)
      return []
    } catch (error) {
      return [`Rows of "${name}" are read-only: ${String(findMember(error, 'message'))}.`]
    }
  }
}

/** A foreign key, and why its table cannot be written. */
interface ReadReference extends FoundForeignKey {
  readonly isToPrimary: boolean
  readonly problem: string | undefined
}

/** Returns what the columns of a view contain by their types, because a view is not evaluated. */
function describeView (columns: readonly PragmaColumn[]): ReadonlyMap<string, Contents> {
  // An expression has no type, and a part of a compound query may have the type BLOB with texts.
  const contents = columns.map(({ name, type }) =>
    [name, type === '' || type === 'BLOB' ? UNKNOWN : contentsOfType(type)] as const)
  const isIdentified = contents.some(([, { isComparable }]) => isComparable)
  return new Map(isIdentified ? contents : contents.map(([name]) => [name, TEXTS]))
}

/** What the columns of a view contain about which nothing is known, so that its rows are identified by their texts. */
const TEXTS: Contents = { schema: { type: 'string' }, isComparable: true }

/** What a CREATE TABLE statement says beyond the pragmas of SQLite. */
interface TableText {
  /** The expressions of the CHECK constraints. */
  readonly checks: ReadonlyArray<readonly Token[]>
  /** The columns with a collation other than BINARY, in lower case. */
  readonly collated: ReadonlySet<string>
}

/** Reads a CREATE TABLE statement as SQLite keeps it in its schema. */
function readCreateTable (sql: string): TableText {
  const tokens = tokenize(sql, 'sqlite')
  const checks: Token[][] = []
  const collated = new Set<string>()
  let depth = 0
  let column = ''
  for (const [index, { type, value }] of tokens.entries()) {
    const next = tokens[index + 1]
    if (type === 'word' && value === 'check' && next?.value === '(') checks.push(tokensInside(tokens.slice(index + 2)))
    if (type === 'word' && value === 'collate' && depth === 1 && next !== undefined && fold(next.value) !== 'binary') {
      collated.add(column)
    }
    if (type !== 'symbol') continue
    if (value === '(') depth++
    if (value === ')') depth--
    if (depth === 1 && (value === '(' || value === ',')) column = fold((next as Token).value)
  }
  return { checks, collated }
}

/** Returns the tokens up to the bracket that closes them. */
function tokensInside (tokens: readonly Token[]): Token[] {
  let depth = 0
  const end = tokens.findIndex(({ type, value }) => {
    if (type === 'symbol') depth += value === '(' ? 1 : value === ')' ? -1 : 0
    return depth < 0
  })
  return tokens.slice(0, end)
}

/** Matches the statement of a table that `migrate` has made, with its column for the version. */
const MADE = /(?:, |\()"version" INTEGER NOT NULL DEFAULT 1(?:,.*)?\) STRICT$/s
/** Selects the tables and views, except those of SQLite and those that belong to a virtual table. */
const TABLES = `SELECT l.name, l.type, l.wr AS isWithoutRowid, s.sql
  FROM pragma_table_list AS l JOIN sqlite_schema AS s ON s.name = l.name AND s.type IN ('table', 'view')
  WHERE l.schema = 'main' AND l.type <> 'shadow' AND l.name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY l.name`

/** Names of SQLite are equal if only the case of their ASCII letters differs. */
function fold (name: string): string {
  return name.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
}

function isSameGroup (folded: readonly string[], group: readonly string[]): boolean {
  return folded.length === group.length && group.every((name) => folded.includes(fold(name)))
}

/** Returns a name of the number of a row that no column has, or `undefined` if rows have no number. */
function rowNameOf ({ type, isWithoutRowid }: ListedTable, columns: readonly PragmaColumn[]): string | undefined {
  if (type === 'table' && isWithoutRowid === 1) return undefined
  return ['rowid', '_rowid_', 'oid'].find((name) => columns.every((column) => fold(column.name) !== name))
}
