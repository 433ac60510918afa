import type { Schema } from '../../core/schema/types.js'
import type { Demand } from './checks/keywords.js'
import type { TableDescription } from './description.js'

/** A table as the catalog of a database describes it, with the schemas of its columns. */
export interface FoundTable {
  readonly name: string
  readonly schema?: string
  readonly kind: TableDescription['kind']
  readonly description?: string | undefined
  readonly columns: readonly FoundColumn[]
  /** The columns of the primary key, in their order. */
  readonly primaryKey: readonly string[]
  /** The columns of each unique index, without the primary key. */
  readonly unique: ReadonlyArray<readonly string[]>
  readonly foreignKeys: readonly FoundForeignKey[]
  /** What the CHECK constraints demand, as far as they can be read. */
  readonly demands: readonly Demand[]
  /** The name by which statements address rows that have no key, such as `rowid`. */
  readonly rowName?: string | undefined
  /** The column in which a table that `migrate` has made counts the versions of its rows. @default none is known */
  readonly counter?: string | undefined
  /** How stores know the version of a row if no column keeps it. */
  readonly version: 'xmin' | 'values'
  /** Whether the database lets the user write rows. */
  readonly may: Readonly<Record<Right, boolean>>
  /** What concerns the whole table. */
  readonly problems: readonly string[]
}

/** A right to write rows. */
export type Right = 'create' | 'update' | 'delete'

export interface FoundColumn {
  readonly name: string
  /** The JSON Schema of the values that are not null. */
  readonly schema: Schema
  readonly isNullable: boolean
  /** Whether the database fills the column in if an insert does not name it. */
  readonly hasDefault: boolean
  /** The default, if it is a simple value. */
  readonly default?: unknown
  /** The type of the ids that the database, or the store, makes in this column. */
  readonly makes?: 'integer' | 'uuid' | undefined
  /** Whether the database can compare the values, and a path can contain them. */
  readonly isComparable: boolean
  /** Whether the column alone is a key, and has values that do not fit the schema, so that ids must be texts. */
  readonly hasUnfitIds?: boolean
  /** Whether the database takes two texts for equal only if they are the same. */
  readonly isExact: boolean
  /** Whether the column cannot be written at all, for example because it is generated. */
  readonly isReadOnly: boolean
  readonly description?: string | undefined
  /** Whether the database lets the user read, insert and update the column. */
  readonly may: Readonly<Record<'read' | 'create' | 'update', boolean>>
  /** What an app should know about the column, as a sentence. */
  readonly problem?: string | undefined
}

export interface FoundForeignKey {
  readonly columns: readonly string[]
  /** The table to which it refers, or `undefined` if the table is not among the described ones. */
  readonly table: string | undefined
  /** Whether it refers to the whole primary key, or without one to the first unique column that is never null. */
  readonly isToKey: boolean
}
