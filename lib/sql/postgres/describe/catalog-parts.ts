import type { CatalogType } from './column-types.js'

// The rows of `CATALOG_QUERY`, by their parts.

export interface CatalogTable {
  readonly table: string
  readonly name: string
  readonly schema: string
  /** `r` for tables, `p` for partitioned ones, `v` for views, `m` for materialized views, `f` for foreign tables. */
  readonly kind: 'r' | 'p' | 'v' | 'm' | 'f'
  readonly description: string | null
  /** Whether the user may use the schema. */
  readonly isReachable: boolean
  readonly mayCreate: boolean
  readonly mayUpdate: boolean
  readonly mayDelete: boolean
  readonly mayReadXmin: boolean
  /** Whether the server or the session is read-only. */
  readonly isReadOnly: boolean
  /** Whether other tables inherit from it. */
  readonly hasHeirs: boolean
  /** The events that rules replace: `2` for updates, `3` for inserts, `4` for deletes. */
  readonly rules: readonly string[] | null
  /** Whether it has triggers that replace writes (INSTEAD OF). */
  readonly hasTriggers: boolean
  /** Whether policies say which rows users may read and write (row security). */
  readonly hasPolicies: boolean
}

export interface CatalogColumn {
  readonly table: string
  readonly number: number
  readonly name: string
  readonly type: string
  readonly modifier: number
  /** The declared number of dimensions of an array, or 0. */
  readonly dimensions: number
  readonly isNotNull: boolean
  /** `a` for GENERATED ALWAYS AS IDENTITY, `d` for BY DEFAULT, otherwise empty. */
  readonly identity: string
  readonly isGenerated: boolean
  readonly default: string | null
  readonly description: string | null
  readonly isExact: boolean
  /** The name of the collation, or null for a type that has none. */
  readonly collation: string | null
  readonly mayRead: boolean
  readonly mayCreate: boolean
  readonly mayUpdate: boolean
  /** Whether the user may use the sequence of the default. */
  readonly mayCount: boolean
}

export interface CatalogConstraint {
  readonly table: string
  readonly kind: 'c' | 'f'
  /** The numbers of the columns of a foreign key. */
  readonly columns: readonly number[]
  readonly check: string | null
  readonly other: string | null
  /** The types of the columns to which a foreign key refers. */
  readonly types: readonly string[]
  /** Whether a foreign key refers to one column, which identifies the rows of the table. */
  readonly isToKey: boolean
  /** Whether a foreign key refers to the primary key, or without one to the first unique index without null. */
  readonly isToPrimary: boolean
  /** Whether the table to which a foreign key refers may be among the described ones. */
  readonly isNear: boolean | null
}

export interface CatalogIndex {
  readonly table: string
  /** The numbers of the columns, with those that the index only includes at the end. */
  readonly columns: string
  readonly size: number
  readonly isPrimary: boolean
}

export interface CatalogParts {
  readonly table: CatalogTable[]
  readonly column: CatalogColumn[]
  readonly type: CatalogType[]
  readonly constraint: CatalogConstraint[]
  readonly index: CatalogIndex[]
}

/** What the catalog says about one table. */
export interface TableParts {
  readonly table: CatalogTable
  readonly columns: readonly CatalogColumn[]
  readonly constraints: readonly CatalogConstraint[]
  readonly indexes: readonly CatalogIndex[]
}
