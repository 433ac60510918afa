import type { AttributesSchema, Schema } from '../../core/schema/types.js'
import type { OnDelete } from '../../core/stores/store.js'
import type { PartialIndex } from '../dialect.js'
import type { Demand } from './checks.js'

/** What a database says about a table or a view. It is plain data, which apps may change before they register it. */
export interface TableDescription {
  /** The name of the table. */
  name: string
  /** The schema that contains the table, in PostgreSQL. */
  schema?: string
  /**
   * The name by which options and references call a table outside of the first schema: `hr.employees`. The names of its
   * resource begin with the schema, too. @default `name`
   */
  qualifiedName?: string
  /** What the database calls it. A partitioned table is a table. */
  kind: 'table' | 'view' | 'materialized view' | 'foreign table'
  /** The type of the ids. */
  id: 'integer' | 'uuid' | 'string'
  /** The attributes that form the id. Absent if the column of `columns.id` holds the ids. */
  key?: string[]
  /** The names of the columns that differ from those of their attributes, and the name of the id's column as `id`. */
  columns: Record<string, string>
  /** The schema of the attributes, one for each column that is served. */
  attributes: AttributesSchema
  /** The groups of attributes whose values are unique. */
  unique: string[][]
  /** The groups that are unique among the rows in which an attribute is null, by this attribute. */
  uniqueWhereNull?: Record<string, string[][]>
  /** The table to which each foreign key refers, by attribute: the last one of several that `referenceKeys` names. */
  references: Record<string, string>
  /** The attributes that together have the key of that table, in its order, by attribute. */
  referenceKeys?: Record<string, string[]>
  /** What deleting a row of that table does to the rows here, by attribute, as far as a store has this rule. */
  onDelete?: Record<string, OnDelete>
  /** The name of the version's column, `'xmin'` (PostgreSQL's system column), or `'values'` (a digest of the row). */
  version: string
  /** Whether rows can be created. */
  canCreate: boolean
  /** Whether rows can be updated. */
  canUpdate: boolean
  /** Whether rows can be deleted. */
  canDelete: boolean
  /** Whether each update and deletion must name the version of its row, because another row may get the id later. */
  needsVersion: boolean
  /** What is not served or cannot be written, and why, as sentences. `column` is absent if it concerns the table. */
  problems: Array<{ column?: string, problem: string }>
  /** Whether the table can be served. If not, `problems` says why. */
  isServed: boolean
}

/** Returns the name by which options and references call a table. */
export function nameTable ({ name, qualifiedName = name }: Pick<TableDescription, 'name' | 'qualifiedName'>): string {
  return qualifiedName
}

/** A table as the catalog of a database describes it, with the schemas of its columns. */
export interface FoundTable {
  readonly name: string
  readonly schema?: string
  readonly qualifiedName?: string | undefined
  readonly kind: TableDescription['kind']
  readonly description?: string | undefined
  readonly columns: readonly FoundColumn[]
  /** The columns of the primary key, in their order. */
  readonly primaryKey: readonly string[]
  /** The columns of each unique index, without the primary key. */
  readonly unique: ReadonlyArray<readonly string[]>
  readonly partial: readonly PartialIndex[]
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
  /** The rule in SQL: `RESTRICT`, `NO ACTION`, `CASCADE`, `SET NULL` or `SET DEFAULT`. */
  readonly onDelete: string
  /**
   * The columns, among those of `columns`, that have the primary key of the other table, in the order of that key, or
   * without one its first unique index that is never null; `undefined` if not all of it is there.
   */
  readonly key: readonly string[] | undefined
}
