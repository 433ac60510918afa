import type { Context } from '../core/stores/store.js'
import type { Session, Transactions, TransactionSource } from '../core/stores/transaction.js'
import type { Codec, ColumnKind, Values } from './columns/kinds.js'

/** Matches the type of a text of limited length, as PostgreSQL writes it. */
export const LIMITED_TEXT: RegExp = /^character(?: varying)?\((\d+)\)$/

/** The differences between a database and others, in SQL and types. */
export interface Dialect {
  /** Quotes a name for a statement, such as `"title"`. */
  quote (name: string): string
  /**
   * Returns `$1` for position 1. With `kind`, its value is compared with a column, whose type may be smaller than the
   * kind. The value of the kind `bytes` may also be stored.
   */
  placeholder (position: number, kind?: ColumnKind): string
  /** The most rows of one INSERT, if it returns them in the order given. @default 1 */
  readonly mostInserted?: number
  /** Returns an expression of the length of a value, in bytes. It should not read a text of several pages. */
  sizeOf (column: TypedColumn): string
  /**
   * Returns the statement that locks the rows of a table in the order of an id, whose values are a list; `undefined` if
   * the database locks no rows.
   */
  lockRows? (table: string, id: Pick<TypedColumn, 'quoted' | 'kind'>): string
  /**
   * Returns the statement that adds a request to a table, unless one with its key has not expired. Its values are the
   * key, the digest, the time of expiry and the present time. It waits at most 5 seconds for another transaction.
   */
  insertRequest (table: string): string
  /** Returns the limit of a list without a filter, whose plan does not depend on it. */
  fixedLimit (placeholder: string): string
  /** Returns a condition that a text matches a pattern. */
  matchText (column: TypedColumn, placeholder: string, operator: TextPattern['operator']): string
  /** Returns the patterns of texts that contain a text, or begin with it, in letters of either case. All must match. */
  textPatterns (text: string, isStart: boolean): readonly TextPattern[]
  /** Returns a column as an expression that can be compared with any value of its kind, without an error. */
  anyValue (column: TypedColumn): string
  /** Returns a condition that the texts of an index have all words, whose characters have no special meaning. */
  matchIndex (index: TextIndex, words: readonly string[], bind: Bind): string
  /** Encodes a stored value that is shown as a text, because the column should not have it. */
  compareUnfit (shown: unknown): unknown
  /** Returns an expression that sorts the rows, and can be compared with a value. `quoted` may contain the table. */
  sortable (column: TypedColumn): string
  /** How the database tells whether it sorts all rows for a query. */
  readonly sorting: SortingDialect
  /** Whether rows have the system column `xmin`, the number of the transaction that wrote them. */
  readonly hasXmin: boolean
  /** How versions are made from the values of a row. */
  readonly versions: ValueVersions
  /** How the database estimates the number of rows of a query; `undefined` if it estimates none. */
  readonly estimate?: Estimate
  /** The length of the longest name, in bytes. */
  readonly longestName: number
  /** Whether `Title` and `title` are different columns. */
  readonly sameCase: boolean
  /** Whether null comes first in an ascending order by default. */
  readonly nullsFirst: boolean
  /** Returns the type of the column that `migrate` creates for values. */
  columnType (values: Values): string
  /** The SQL after the type of a column that sorts its texts by their code points. */
  readonly collation: string
  /** The definition of the id's column that `migrate` creates, without its name. */
  readonly idType: Readonly<Record<'integer' | 'uuid', string>>
  /** The definition of the version's column that `migrate` creates, without its name. */
  readonly versionType: string
  /** Whether a foreign key can be added to a table that exists. */
  readonly addsReferences: boolean
  /** Returns the statements that make a trigger, which counts the version up when a foreign key becomes null. */
  countNulls (names: CountedNames): readonly string[]
  /** The SQL after the columns of a table that `migrate` creates. */
  readonly tableOptions: string
  /** Returns how a column of this type keeps values, or `undefined` if it does not keep them as they are. */
  findCodec (values: Values, type: string): Codec | undefined
  /** Returns whether a column of this type keeps ids of this type. */
  fitsId (id: 'integer' | 'uuid', type: string): boolean
  /** Returns whether a column of this type keeps versions. */
  fitsVersion (type: string): boolean
}

/** A pattern of texts, and the operator that compares a text with it. */
export interface TextPattern {
  readonly operator: 'LIKE' | 'GLOB' | '~'
  readonly pattern: string
}

/** A full text index of a table. */
export interface SearchIndex {
  /** In SQLite an FTS5 table with the `rowid` of the rows, in PostgreSQL a column of the type `tsvector`. */
  readonly index: string
  /** The attributes whose texts are in the index. */
  readonly of: readonly string[]
  /** The text search configuration, in PostgreSQL. @default `default_text_search_config` */
  readonly configuration?: string | undefined
}

/** A full text index with the columns of its attributes. */
export type TextIndex = SearchIndex & { readonly columns: readonly string[] }

/** A column for an expression: its name there, and its types. */
export type TypedColumn = Pick<SqlColumn, 'quoted' | 'kind' | 'type'>

/** How a database tells whether it sorts all rows for a query. */
export interface SortingDialect {
  /** Returns the statement that explains how the database reads a query. */
  explain (query: string): string
  /** Returns whether the rows of that statement show that the database sorts all rows. */
  sorts (rows: readonly RawRow[]): boolean
}

/** The quoted names of a trigger that counts versions, and of what it watches. */
export interface CountedNames {
  readonly trigger: string
  /** The name of a function for the trigger, with the schema of the table. */
  readonly routine: string
  readonly table: string
  readonly column: string
  /** The columns that find a row. */
  readonly ids: readonly string[]
  readonly version: string
}

/** A digest that the database makes, or else a comparison with values that were read. */
export type ValueVersions =
  /** Returns an expression that makes a hexadecimal digest of `DIGEST_LENGTH` digits from the values of columns. */
  | { digest (columns: readonly string[]): string }
  /** Returns a condition that a column has exactly the value that was read from it, which may be null. */
  | { isSame (column: Pick<SqlColumn, 'quoted'>, placeholder: string): string }

/** An estimate of the number of rows of a query. */
export interface Estimate {
  /** Returns the statement that estimates a query. */
  explain (query: string): string
  /** Reads the estimate from the rows of that statement. */
  read (rows: readonly RawRow[]): number
}

/** How much more memory the objects of a JSON text take, such as those of `[{},{},{}]`. */
export const JSON_WEIGHT = 30

/** Quotes a name as standard SQL does. */
export function quoteName (name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

export function quoteTable ({ quote }: Dialect, table: string, schema: string | undefined): string {
  return schema === undefined ? quote(table) : `${quote(schema)}.${quote(table)}`
}

/** Returns the end of the statement that adds a request: an expired one is replaced. */
export function replaceExpired (table: string, now: string): string {
  return 'ON CONFLICT (key) DO UPDATE SET digest = excluded.digest, expires = excluded.expires ' +
    `WHERE ${table}.expires <= ${now}`
}

/** A row of a driver: the values of its columns, by name. */
export type RawRow = Readonly<Record<string, unknown>>

/** Adds a value to a statement, which is compared with a column of this kind. Returns its placeholder. */
export type Bind = (value: unknown, kind?: ColumnKind) => string

export interface Statement {
  readonly text: string
  /** The statements to run before, in one transaction with `text`. @default none */
  readonly steps?: readonly string[] | undefined
  /** Whether the statement writes. */
  readonly writes: boolean
  /** Whether the statement returns rows, even if it finds none. */
  readonly returns: boolean
  /** Whether drivers keep the statement prepared. The number of such statements is limited. */
  readonly kept: boolean
  /** Whether the values decide how many rows match, so that each of them needs a plan of its own. @default false */
  readonly isSelective?: boolean | undefined
  /** The columns that the first placeholders fill, if it is known. */
  readonly fills?: readonly string[] | undefined
}

/** A table of the database. */
export interface Table {
  readonly columns: readonly TableColumn[]
  /** The columns of each unique index, including the primary key. */
  readonly unique: ReadonlyArray<readonly string[]>
  readonly partial: readonly PartialIndex[]
  /** The foreign keys of a single column. */
  readonly references: readonly FoundReference[]
  readonly kind: 'table' | 'partitioned table' | 'view' | 'materialized view' | 'foreign table'
  /** Whether rows have a number of their own besides the columns: `rowid` in SQLite. */
  readonly hasRowNumber: boolean
}

export interface FoundReference {
  readonly column: string
  /** The name of the table that it refers to. */
  readonly table: string
  /** The rule in SQL: `RESTRICT`, `NO ACTION`, `CASCADE`, `SET NULL` or `SET DEFAULT`. */
  readonly onDelete: string
}

/** A unique index of the rows in which a column is null. */
export interface PartialIndex {
  readonly isNull: string
  readonly columns: readonly string[]
}

/** Returns the partial unique indexes. A row contains the name of an index, one of its columns, and its condition. */
export function readPartial (
  rows: ReadonlyArray<{ readonly index?: unknown, readonly column?: unknown, readonly condition?: unknown }>
): readonly PartialIndex[] {
  return [...new Set(rows.map(({ condition }) => condition))].flatMap((text) => {
    const isNull = readNullCondition(String(text))
    if (isNull === undefined) return []
    return groupIndexes(rows.filter(({ condition }) => condition === text)).map((columns) => ({ isNull, columns }))
  })
}

/** Returns the column of a condition that a column is null, or `undefined` if the condition is another one. */
export function readNullCondition (text: string): string | undefined {
  const [, quoted, plain] = NULL_CONDITION.exec(text) ?? []
  return quoted?.replaceAll('""', '"') ?? plain
}

/** Matches the condition that a column is null, also at the end of a statement that creates an index. */
const NULL_CONDITION = /(?:^|\bWHERE\s)[\s(]*(?:"((?:[^"]|"")+)"|([\w$]+))\s+IS\s+NULL[\s)]*$/i

/** Returns the columns of each index. A row contains the name of an index and one of its columns. */
export function groupIndexes (
  rows: ReadonlyArray<{ readonly index?: unknown, readonly column?: unknown }>
): ReadonlyArray<readonly string[]> {
  const indexes = [...new Set(rows.map(({ index }) => index))]
  return indexes.map((name) => rows.filter(({ index }) => index === name).map(({ column }) => String(column ?? '')))
}

/** The name of a table. */
export interface TableName {
  readonly name: string
  /** The schema of the table, or `undefined` if the database has no schemas. */
  readonly schema: string | undefined
  /** Whether the database finds the table without its schema. */
  readonly isVisible: boolean
}

export interface TableColumn {
  readonly name: string
  readonly type: string
  /** Whether the column cannot hold null. */
  readonly notNull: boolean
  /** Whether the column is part of the primary key, which in SQLite can hold null. */
  readonly isKey?: boolean
  /** Whether the database fills the column in if an insert does not name it. */
  readonly filled: boolean
  /** Whether the column is computed and cannot be written. */
  readonly generated: boolean
}

/**
 * A connection to a database. It throws errors of stores and `ConstraintError`, and leaves unknown errors unchanged.
 */
export interface Driver {
  /** Runs a statement. With `context`, as lists and counts have it, the driver may give up early. */
  run (
    statement: Statement,
    values: readonly unknown[],
    context?: Context,
    session?: SqlSession
  ): Promise<readonly RawRow[]>
  /** Returns the table, or `undefined` if it does not exist. */
  describe (): Promise<Table | undefined>
  /** Lists the tables of the database, for the error about a missing table. */
  tables (): Promise<readonly TableName[]>
  /** The transactions of the database, which all of its stores share. */
  readonly transactions: Transactions<SqlSession>
  /** How transactions of this store begin; `undefined` if the driver has no connection for them. */
  readonly source: TransactionSource<SqlSession> | undefined
}

/** A transaction, in which one statement runs after the other. */
export interface SqlSession extends Session {
  /** Runs SQL of the app. Returns the rows, as the driver returns them to the app itself. */
  query (text: string, values: readonly unknown[]): Promise<readonly RawRow[]>
}

/** The column of an attribute. */
export interface SqlColumn extends Values {
  readonly attribute: string
  readonly name: string
  /** The quoted name for a statement. */
  readonly quoted: string
  /** The type of the column, as the database writes it. */
  readonly type: string
  /** Whether the attribute may be null. */
  readonly allowsNull: boolean
  /** Whether every row must have a value. */
  readonly required: boolean
  /** The default that the schema declares. */
  readonly default: unknown
  /** Returns whether a value is of the kind of the column, so that it can be compared with the column. */
  fits (value: unknown): boolean
  /** Returns whether the column can keep the value as it is, so that a row may have it. */
  keeps (value: unknown): boolean
  /**
   * Encodes a value that is stored for the driver.
   * @throws InvalidError if the column cannot keep the value as it is
   */
  encode (value: unknown): unknown
  /** Encodes a value that is compared with the column: one that fits, or one that was decoded. */
  compare (value: unknown): unknown
  /** Decodes a value of the driver. Returns `undefined` if the attribute is absent. */
  decode (raw: unknown): unknown
}

/** A column that a condition compares: that of an attribute or of the id. */
export type ComparedColumn = TypedColumn & Pick<SqlColumn, 'fits' | 'keeps' | 'compare'>
