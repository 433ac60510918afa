import { InvalidOptionError } from '../../core/errors.js'
import type { AttributesSchema } from '../../core/schema/types.js'
import type { OnDelete } from '../../core/stores/store.js'
import { type Columns, makeColumns, requireColumn } from '../columns/column.js'
import { type Dialect, quoteTable, type TextIndex } from '../dialect.js'
import { type IdColumns, makeGeneratedId, makeKey } from '../keys/id-columns.js'
import { makeVersions, type Versions } from '../keys/versions.js'
import type { ForeignKey, SqlStoreOptions } from '../options.js'

/** The table that a store needs. */
export interface TableDefinition {
  readonly table: string
  /** The schema of the database that contains the table, or `undefined` if the database finds the table by its name. */
  readonly schema: string | undefined
  /** The name of the table in a statement. */
  readonly quoted: string
  readonly columns: Columns
  /** The attributes whose columns cannot hold null. */
  readonly notNull: readonly string[]
  readonly ids: IdColumns
  /** Whether no two rows can have the same id. */
  readonly isKeyUnique: boolean
  readonly versions: Versions
  /** The columns of each unique index. */
  readonly unique: ReadonlyArray<readonly string[]>
  /** The column that is null in each row whose values are unique. `undefined` if those of all rows are. */
  readonly softDelete: string | undefined
  readonly references: readonly ForeignKey[]
  readonly search: TextIndex | undefined
}

/** What the check of a table has found. */
export interface CheckedTable {
  /** Whether no two rows can have the same id. */
  readonly isKeyUnique: boolean
  /** The types of the columns, by name. */
  readonly types: ReadonlyMap<string, string>
  /** The names of the columns that cannot hold null. */
  readonly notNull: ReadonlySet<string>
  /** The columns that the database fills in if an insert does not name them. */
  readonly filled: ReadonlySet<string>
  /** What each foreign key does at a deletion, by its attribute; `undefined` if the table lacks it. */
  readonly rules: ReadonlyMap<string, OnDelete | undefined>
  /** What the app should be warned of, as sentences. */
  readonly warnings: readonly string[]
}

export type TableDefinitionOptions = SqlStoreOptions & { readonly schema?: string | undefined }

/**
 * Makes the definition of a table.
 * @param found what the check of the table has found, if the database has described it
 * @throws InvalidOptionError or InvalidAttributesError if an option is wrong
 */
export function defineTable (
  options: TableDefinitionOptions,
  dialect: Dialect,
  { types, notNull, filled, isKeyUnique = true }: Partial<CheckedTable> = {}
): TableDefinition {
  const { table, schema, attributes, key, id, columns = {}, version = 'version', unique = [] } = options
  const { softDelete, references = {}, search } = options
  const hasColumn = version !== 'xmin' && version !== 'values'
  const made = makeColumns(
    { table, attributes, columns, hasKey: key !== undefined, version: hasColumn ? version : undefined, types },
    dialect
  )
  const { byAttribute } = made
  const ids = made.id === undefined
    ? makeKey(key as readonly string[], byAttribute, id === 'string', filled)
    : makeGeneratedId({ name: made.id, quoted: dialect.quote(made.id) }, id === 'uuid' ? id : 'integer')
  if (id !== undefined && id !== ids.type) {
    throw new InvalidOptionError('id', `is '${id}', but the ids are of the type '${ids.type}'; ` +
      'leave "id" out if "key" names the attributes of the id, or else set it to \'integer\' or \'uuid\'')
  }
  return {
    table,
    schema,
    quoted: quoteTable(dialect, table, schema),
    columns: made,
    notNull: [...byAttribute.values()].flatMap(({ name, attribute }) => notNull?.has(name) === true ? [attribute] : []),
    versions: makeVersions(version, [...byAttribute.values()], dialect),
    ids,
    isKeyUnique,
    unique: unique.map((group) =>
      [group].flat().map((attribute) => requireColumn(byAttribute, attribute, 'unique', 'unique').name)),
    softDelete: softDelete && requireColumn(byAttribute, softDelete, 'softDelete').name,
    references: Object.entries(references).map(([attribute, { table, onDelete = 'restrict', optional = false }]) =>
      ({ column: requireColumn(byAttribute, attribute, 'references'), table, onDelete, optional })),
    search: search && {
      ...search,
      columns: search.of.map((attribute) => requireColumn(byAttribute, attribute, 'search', 'searched').name)
    }
  }
}

/** Returns the schema with the attributes of the key among the required ones. */
export function requireKey (attributes: AttributesSchema, { parts }: IdColumns): AttributesSchema {
  const given = parts.filter(({ isGiven }) => isGiven).map(({ by }) => by)
  if (given.length === 0) return attributes
  return { ...attributes, required: [...new Set([...attributes.required ?? [], ...given])] }
}
