import type { DeclaredOptions, ResourceOptions, ScopeOptions } from '../core/options/options.js'
import type { ActionName } from '../core/resource/resource.js'
import type { Stamp } from '../core/stores/stamp.js'
import type { HomeOptions } from '../home/home-pages.js'
import type { PostgresPool } from '../sql/postgres/client.js'
import type { TableDescription } from '../sql/tables/description.js'
import type { SqliteDatabase } from '../sql/sqlite/statement.js'
import type { SearchIndex } from '../sql/dialect.js'
import type { NameOf } from './resource-names.js'

/** The options of `app.register(database, …)`. */
export type DatabaseOptions = DatabaseSource & TablesOptions

/** The options of `app.register(database, …)` besides the database itself. */
export interface TablesOptions {
  /** The only tables and views to serve. @default all */
  readonly only?: readonly string[]
  /** The tables and views to leave out. @default [] */
  readonly except?: readonly string[]
  /** Whether rows can be created, updated and deleted, as far as the database lets its user. @default false */
  readonly write?: boolean
  /**
   * Options of the resources of single tables, by the names of the tables: `{ Artist: { pageSize: 20 } }`.
   * @default {}
   */
  readonly tables?: Readonly<Record<string, TableOptions>>
  /**
   * Attributes that each create and update sets, and clients only read, with functions that return their text:
   * `{ updated_by: (request) => request.user.name }`. Every table that has such an attribute gets it. @default {}
   */
  readonly stamp?: Readonly<Record<string, Stamp>>
  /** Options of all resources, as `map.scope` takes them: `{ authorize, formats: ['html', 'json'] }`. @default {} */
  readonly defaults?: ScopeOptions
  /** Returns the plural name of the resource of a table, or `undefined` for the default one. @default `invoiceLines` */
  readonly nameOf?: NameOf
  /** The descriptions of the tables, which the app may have changed. @default those of `describeDatabase` */
  readonly descriptions?: readonly TableDescription[]
  /**
   * The title of the page at `/` (with the prefix) that links to all lists, or its options: `{ notFound: true }`.
   * `false` leaves the page out.
   * @default the name of the database
   */
  readonly home?: string | Partial<HomeOptions> | false
  /** Is called with all tables once they are registered. @default they are logged */
  readonly report?: (tables: readonly TableReport[]) => void
  /** The prefix of paths as in Fastify's `register`. @default '' */
  readonly prefix?: string
}

/** The options of the resource of a table. */
export interface TableOptions
  extends Omit<DeclaredOptions, 'search'>, Pick<Partial<ResourceOptions>, 'name' | 'singular' | 'as'> {
  /**
   * Attributes that do not exist for any client. Rows cannot be created if a new row must have one of them.
   * @default none
   */
  readonly hide?: readonly string[]
  /** The attributes in which `?q=tea` searches, or a full text index, such as `{ index: 'posts_fts' }`. */
  readonly search?: readonly string[] | Pick<SearchIndex, 'index'> & Partial<SearchIndex>
}

/** The database of `app.register(database, …)`. */
export type DatabaseSource = PostgresTables | SqliteTables | SqliteFileTables

/** A PostgreSQL database. */
export interface PostgresTables {
  /** A pool of pg. */
  readonly pool: PostgresPool
  /**
   * The schema of the tables, or several. Names of tables outside of the first one begin with their schema:
   * `hr.employees` in options, and `/hr-employees`. @default those that `search_path` finds
   */
  readonly schema?: string | readonly string[]
  readonly database?: never
  readonly file?: never
  readonly readTimeout?: never
}

/** An open SQLite database. */
export interface SqliteTables {
  /** The database, which the app closes. */
  readonly database: SqliteDatabase
  readonly pool?: never
  readonly schema?: never
  readonly file?: never
  readonly readTimeout?: never
}

/** A file of SQLite. */
export interface SqliteFileTables {
  /** The path of the file, which is closed with the app. Without `write`, nothing in it changes. */
  readonly file: string
  /** The time that a list or count may take before a 503, as in `sqliteStore`. @default 0, no limit */
  readonly readTimeout?: number
  readonly pool?: never
  readonly schema?: never
  readonly database?: never
}

/** A table of a database, and how it is served. */
export interface TableReport {
  /** What the database says about the table. */
  readonly table: TableDescription
  /** The plural name of the resource, or `undefined` if the table is not served. */
  readonly name: string | undefined
  /** The path of the list, or `undefined` if the table is not served. */
  readonly path: string | undefined
  /** The actions of the resource. */
  readonly actions: readonly ActionName[]
  /** What is not served or cannot be written, and why, as sentences. */
  readonly problems: TableDescription['problems']
}
