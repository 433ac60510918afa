import type { MaybePromise } from '../../util/maybe-promise.js'
import type { Context } from '../store.js'

type PerKind<T> = Readonly<Record<ColumnKind, T>>

/** The peculiarities of a database. */
export interface Dialect {
  /** `"title"` */
  quote (name: string): string
  /** Returns `$1`; `position` counts from 1. The column compared with it may have a smaller type than `kind`. */
  placeholder (position: number, kind?: ColumnKind): string
  /**
   * Returns an expression that selects something short in place of a text of more than `mostBytes` bytes. The database
   * must find the length without reading a text that fills several pages.
   */
  selectCut (column: Pick<Column, 'quoted' | 'kind'>, mostBytes: number): string
  /** Returns whether a value that was read by `selectCut` is cut. */
  isCut (raw: unknown, mostBytes: number): boolean
  /** In bytes. */
  readonly longestName: number
  /** Whether `Title` and `title` are two columns. */
  readonly sameCase: boolean
  /** Whether null comes first in an ascending order by default. */
  readonly nullsFirst: boolean
  /** The types of columns that `migrate` makes. */
  readonly columnType: PerKind<string>
  /** Follows the type of a column, so that its texts are sorted by their code points. */
  readonly collation: string
  /** The column of the id that `migrate` makes. */
  readonly idType: Readonly<Record<'integer' | 'uuid', string>>
  /** The column of the version that `migrate` makes. */
  readonly versionType: string
  /** Follows the columns of a table that `migrate` makes. */
  readonly tableOptions: string
  /** Returns whether a column of this type keeps the attribute's values as they are. */
  fits (column: Column, type: string): boolean
  /** Returns whether a column of this type keeps ids of this type. */
  fitsId (id: 'integer' | 'uuid', type: string): boolean
  /** Returns whether a column of this type has room for versions. */
  fitsVersion (type: string): boolean
  /** Encodes a value, which is not null, for the driver. */
  readonly encode: PerKind<(value: unknown) => unknown>
  /** Decodes a value of the driver, which is not null. */
  readonly decode: PerKind<(raw: unknown) => unknown>
}

/** Quotes a name as standard SQL does. */
export function quoteName (name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

export function quoteTable ({ quote }: Dialect, table: string, schema: string | undefined): string {
  return schema === undefined ? quote(table) : `${quote(schema)}.${quote(table)}`
}

/** A row of a driver: its columns by their names. */
export type RawRow = Readonly<Record<string, unknown>>

export interface Statement {
  readonly text: string
  /** Whether it changes anything. */
  readonly writes: boolean
  /** Whether it answers rows, also if there are none. */
  readonly returns: boolean
  /** Whether it is one of a limited number, so that drivers prepare it once. */
  readonly kept: boolean
}

/** A table of the database. */
export interface Table {
  readonly columns: readonly TableColumn[]
  /** The columns of each unique index, including the primary key. */
  readonly unique: ReadonlyArray<readonly string[]>
  /** Why new rows might get the ids of deleted ones; undefined: they do not. */
  readonly reusesIds: string | undefined
}

/** Returns the columns of each index, of rows that pair both. */
export function groupIndexes (
  rows: ReadonlyArray<{ readonly index?: unknown, readonly column?: unknown }>
): ReadonlyArray<readonly string[]> {
  const indexes = [...new Set(rows.map(({ index }) => index))]
  return indexes.map((name) => rows.filter(({ index }) => index === name).map(({ column }) => String(column ?? '')))
}

/** The name of a table. */
export interface TableName {
  readonly name: string
  /** Its schema; undefined if the database has none. */
  readonly schema: string | undefined
  /** Whether the database finds it without its schema. */
  readonly isVisible: boolean
}

export interface TableColumn {
  readonly name: string
  readonly type: string
  readonly notNull: boolean
  /** Whether it has a default. */
  readonly filled: boolean
  /** Whether it is computed and cannot be written. */
  readonly generated: boolean
}

/** Connects to a database. Throws errors of stores, ConstraintError, and unknown errors as they are. */
export interface Driver {
  /** Whether it answers synchronously. */
  readonly sync: boolean
  /** Runs a statement, with `context` if it may be abandoned when the client has gone. */
  run (statement: Statement, values: readonly unknown[], context?: Context): MaybePromise<readonly RawRow[]>
  /** Returns whether columns of texts need the dialect's collation. Some engines have no other order. */
  needsCollation (): MaybePromise<boolean>
  /** Returns the table, or undefined if it does not exist. */
  describe (): MaybePromise<Table | undefined>
  /** Lists the tables of the database, for the error about a missing table. */
  tables (): MaybePromise<readonly TableName[]>
}

/** The kind of values in a column. Everything but a single simple type is kept as JSON. */
export type ColumnKind = 'string' | 'uuid' | 'date-time' | 'date' | 'integer' | 'number' | 'boolean' | 'json'

/** The column of an attribute. */
export interface Column {
  readonly attribute: string
  readonly name: string
  /** The name in a statement. */
  readonly quoted: string
  readonly kind: ColumnKind
  /** Whether the attribute may be null. */
  readonly allowsNull: boolean
  /** Whether every row has a value. */
  readonly required: boolean
  /** Whether it is never written. */
  readonly readOnly: boolean
  /** The largest length of a text that the schema allows, in characters. */
  readonly maxLength: number
  /** Returns whether the column can keep the value as it is. */
  fits (value: unknown): boolean
  /** @throws InvalidError if the column cannot keep the value as it is */
  encode (value: unknown): unknown
  /** Decodes a value of the driver; undefined: absent. */
  decode (raw: unknown): unknown
}
