import type { AttributesSchema } from '../../core/schema/types.js'

/** What a database says about a table or a view. It is plain data, which apps may change before they register it. */
export interface TableDescription {
  /** The name of the table. */
  name: string
  /** The schema that contains the table, in PostgreSQL. */
  schema?: string
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
  /** The table to which each foreign key of a single attribute refers, by attribute. */
  references: Record<string, string>
  /** The name of the version's column, `'xmin'` (PostgreSQL's system column), or `'values'` (a digest of the row). */
  version: string
  /** Whether rows can be created. */
  canCreate: boolean
  /** Whether rows can be updated. */
  canUpdate: boolean
  /** Whether rows can be deleted. */
  canDelete: boolean
  /** What is not served or cannot be written, and why, as sentences. `column` is absent if it concerns the table. */
  problems: Array<{ column?: string, problem: string }>
  /** Whether the table can be served. If not, `problems` says why. */
  isServed: boolean
}
