import type { MaybePromise } from '../../util/maybe-promise.js'
import type { Context } from '../store.js'

type PerKind<T> = Readonly<Record<ColumnKind, T>>

/** What is peculiar to a kind of database. */
export interface Dialect {
  /** `"title"` */
  quote (name: string): string
  /** `$1`; `position` counts from 1. `kind`: of what it is compared with, which may be of a smaller type. */
  placeholder (position: number, kind?: ColumnKind): string
  /**
   * How a column of texts is read where a text of more than so many bytes must not be: the database answers something
   * short in its place. It must find out the length without reading all of a text that is kept in several pages.
   */
  selectCut (column: Pick<Column, 'quoted' | 'kind'>, mostBytes: number): string
  /** Whether a value that was read by `selectCut` is not the column's own. */
  isCut (raw: unknown, mostBytes: number): boolean
  /** In bytes. */
  readonly longestName: number
  /** Whether `Title` and `title` are two columns. */
  readonly sameCase: boolean
  /** Whether null comes first in an ascending order by itself. */
  readonly nullsFirst: boolean
  /** The type of a column that `migrate` makes. */
  readonly columnType: PerKind<string>
  /** What follows the type of a column of texts, so that they are sorted by their code points. */
  readonly collation: string
  /** The column of the id that `migrate` makes. */
  readonly idType: Readonly<Record<'integer' | 'uuid', string>>
  /** The column of the version that `migrate` makes. */
  readonly versionType: string
  /** What follows the columns of a table that `migrate` makes. */
  readonly tableOptions: string
  /** Whether a column of this type keeps the attribute's values as they are. */
  fits (column: Column, type: string): boolean
  /** Whether a column of this type keeps ids of this type. */
  fitsId (id: 'integer' | 'uuid', type: string): boolean
  /** Whether a column of this type has room for versions. */
  fitsVersion (type: string): boolean
  /** A value, which is not null, as the driver takes it. */
  readonly encode: PerKind<(value: unknown) => unknown>
  /** A value, which is not null, as the driver gives it. */
  readonly decode: PerKind<(raw: unknown) => unknown>
}

/** As standard SQL quotes names. */
export function quoteName (name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}

export function quoteTable ({ quote }: Dialect, table: string, schema: string | undefined): string {
  return schema === undefined ? quote(table) : `${quote(schema)}.${quote(table)}`
}

/** A row as a driver gives it: the columns by their names. */
export type RawRow = Readonly<Record<string, unknown>>

export interface Statement {
  readonly text: string
  /** Whether it changes anything. */
  readonly writes: boolean
  /** Whether it answers rows, be it none. */
  readonly returns: boolean
  /** Whether it is one of a bounded number, so that it is worth being prepared once for all. */
  readonly kept: boolean
}

/** A table as it is in the database. */
export interface Table {
  readonly columns: readonly TableColumn[]
  /** The columns of each unique index, the primary key's among them. */
  readonly unique: ReadonlyArray<readonly string[]>
  /** Why ids of deleted rows might be given to new ones; undefined: they are not. */
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
  /** The schema that it is in; undefined where the database has none. */
  readonly schema: string | undefined
  /** Whether it is found without its schema. */
  readonly isVisible: boolean
}

export interface TableColumn {
  readonly name: string
  readonly type: string
  readonly notNull: boolean
  /** Whether a row that does not give it a value gets one nevertheless. */
  readonly filled: boolean
  /** Whether it is computed, so that it cannot be given a value. */
  readonly generated: boolean
}

/** The connection to a database. Throws the store's own errors, ConstraintError, and what it has no word for as it is. */
export interface Driver {
  /** Whether its answers are there at once. */
  readonly sync: boolean
  /** `context`: given for what is worth being given up when the client has gone. */
  run (statement: Statement, values: readonly unknown[], context?: Context): MaybePromise<readonly RawRow[]>
  /** Whether columns of texts need the dialect's collation: an engine may have no other order, and no name for it. */
  needsCollation (): MaybePromise<boolean>
  /** The table, or undefined where there is none of that name. */
  describe (): MaybePromise<Table | undefined>
  /** Lists the tables of the database, for the error about a table that is not there. */
  tables (): MaybePromise<readonly TableName[]>
}

/** What is kept in a column. Whatever is not one simple type is kept as JSON. */
export type ColumnKind = 'string' | 'uuid' | 'date-time' | 'date' | 'integer' | 'number' | 'boolean' | 'json'

/** Where an attribute is kept. */
export interface Column {
  readonly attribute: string
  readonly name: string
  /** The name as it stands in a statement. */
  readonly quoted: string
  readonly kind: ColumnKind
  /** Whether null is one of the attribute's values. */
  readonly allowsNull: boolean
  /** Whether no row can do without it. */
  readonly required: boolean
  /** Whether it is never written. */
  readonly readOnly: boolean
  /** The length that the schema allows a text, in characters. */
  readonly maxLength: number
  /** Whether the column can keep the value as it is. */
  fits (value: unknown): boolean
  /**
   * A value as the driver takes it.
   * @throws InvalidError where the column cannot keep it as it is
   */
  encode (value: unknown): unknown
  /** A value that the driver has given; undefined: absent. */
  decode (raw: unknown): unknown
}
