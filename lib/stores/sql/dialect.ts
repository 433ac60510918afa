import type { MaybePromise } from '../../util/maybe-promise.js'
import type { Context } from '../store.js'

/** Matches the type of a text of limited length, as PostgreSQL writes it. */
export const LIMITED_TEXT: RegExp = /^character varying\((\d+)\)$/

type PerKind<T> = Readonly<Record<ColumnKind, T>>

/** The differences between a database and others, in SQL and types. */
export interface Dialect {
  /** Quotes a name for a statement, such as `"title"`. */
  quote (name: string): string
  /** Returns `$1` for position 1. The column that is compared with it may have a smaller type than `kind`. */
  placeholder (position: number, kind?: ColumnKind): string
  /**
   * Returns an expression that selects a short value in place of a text of more than `mostBytes` bytes. The database
   * should find the length without reading a text that fills several pages.
   */
  selectCut (column: Pick<Column, 'quoted' | 'kind'>, mostBytes: number): string
  /** Returns whether a value that was read by `selectCut` is cut. */
  isCut (raw: unknown, mostBytes: number): boolean
  /** The length of the longest name, in bytes. */
  readonly longestName: number
  /** Whether `Title` and `title` are different columns. */
  readonly sameCase: boolean
  /** Whether null comes first in an ascending order by default. */
  readonly nullsFirst: boolean
  /** The types of the columns that `migrate` creates. */
  readonly columnType: PerKind<string>
  /** The SQL after the type of a column that sorts its texts by their code points. */
  readonly collation: string
  /** The definition of the id's column that `migrate` creates, without its name. */
  readonly idType: Readonly<Record<'integer' | 'uuid', string>>
  /** The definition of the version's column that `migrate` creates, without its name. */
  readonly versionType: string
  /** The SQL after the columns of a table that `migrate` creates. */
  readonly tableOptions: string
  /** Returns whether a column of this type keeps the attribute's values as they are. */
  fits (column: Column, type: string): boolean
  /** Returns whether a column of this type keeps ids of this type. */
  fitsId (id: 'integer' | 'uuid', type: string): boolean
  /** Returns whether a column of this type keeps versions. */
  fitsVersion (type: string): boolean
  /** The functions that encode values, except null, for the driver. @default the value unchanged */
  readonly encode: Partial<PerKind<(value: unknown) => unknown>>
  /** The functions that decode values of the driver, except null. @default the value unchanged, which must be a text */
  readonly decode: Partial<PerKind<(raw: unknown) => unknown>>
}

/** Quotes a name as standard SQL does. */
export function quoteName (name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

export function quoteTable ({ quote }: Dialect, table: string, schema: string | undefined): string {
  return schema === undefined ? quote(table) : `${quote(schema)}.${quote(table)}`
}

/** A row of a driver: the values of its columns, by name. */
export type RawRow = Readonly<Record<string, unknown>>

export interface Statement {
  readonly text: string
  /** Whether the statement writes. */
  readonly writes: boolean
  /** Whether the statement returns rows, even if it finds none. */
  readonly returns: boolean
  /** Whether drivers keep the statement prepared. The number of such statements is limited. */
  readonly kept: boolean
}

/** A table of the database. */
export interface Table {
  readonly columns: readonly TableColumn[]
  /** The columns of each unique index, including the primary key. */
  readonly unique: ReadonlyArray<readonly string[]>
  /** Why new rows may get the ids of deleted ones, or `undefined` if they do not. */
  readonly reusesIds: string | undefined
}

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
  readonly notNull: boolean
  /** Whether the database fills the column in if an insert does not name it. */
  readonly filled: boolean
  /** Whether the column is computed and cannot be written. */
  readonly generated: boolean
}

/**
 * A connection to a database. It throws errors of stores and `ConstraintError`, and leaves unknown errors unchanged.
 */
export interface Driver {
  /** Whether the methods return synchronously. */
  readonly sync: boolean
  /** Runs a statement. With `context`, the driver may give up when the client has disconnected. */
  run (statement: Statement, values: readonly unknown[], context?: Context): MaybePromise<readonly RawRow[]>
  /** Returns whether text columns need the collation of the dialect. Some engines always have this order. */
  needsCollation (): MaybePromise<boolean>
  /** Returns the table, or `undefined` if it does not exist. */
  describe (): MaybePromise<Table | undefined>
  /** Lists the tables of the database, for the error about a missing table. */
  tables (): MaybePromise<readonly TableName[]>
}

/** The kind of values in a column. An attribute that is not of a single simple type is kept as JSON. */
export type ColumnKind = 'string' | 'uuid' | 'date-time' | 'date' | 'integer' | 'number' | 'boolean' | 'json'

/** The column of an attribute. */
export interface Column {
  readonly attribute: string
  readonly name: string
  /** The quoted name for a statement. */
  readonly quoted: string
  readonly kind: ColumnKind
  /** Whether the attribute may be null. */
  readonly allowsNull: boolean
  /** Whether every row must have a value. */
  readonly required: boolean
  /** Whether the attribute is `readOnly`, so that requests never write it. */
  readonly readOnly: boolean
  /** The length of the longest text that the schema allows, in characters, or `Infinity`. */
  readonly maxLength: number
  /** Returns whether the column can keep the value as it is. */
  fits (value: unknown): boolean
  /**
   * Encodes a value for the driver.
   * @throws InvalidError if the column cannot keep the value as it is
   */
  encode (value: unknown): unknown
  /** Decodes a value of the driver. Returns `undefined` if the attribute is absent. */
  decode (raw: unknown): unknown
}
