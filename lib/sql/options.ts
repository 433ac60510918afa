import { InvalidOptionError } from '../core/errors.js'
import type { IdType } from '../core/resource/resource.js'
import type { AttributesSchema } from '../core/schema/types.js'
import { checkBoolean, checkMembers, checkNames, checkOneOf, checkOptionNames } from '../core/util/check-option.js'
import { isObject } from '../core/util/own-property.js'
import type { OnDelete, Reference, TableRequest } from '../core/stores/store.js'
import { checkSoftDelete, checkUnique, type UniqueGroups } from '../core/stores/unique.js'
import type { SearchIndex, SqlColumn } from './dialect.js'

/** The options that all SQL stores share. */
export interface SqlStoreOptions<S extends AttributesSchema = AttributesSchema> {
  /** The name of the table. */
  readonly table: string
  /**
   * The schema of the attributes. Each attribute has a column. A resource without attributes takes the schema over.
   * @default the table describes itself
   */
  readonly attributes: S
  /**
   * The type of ids. For `'uuid'`, the store makes time-ordered UUIDs v7 (RFC 9562 §5.7). The column must be the
   * primary key or unique. For `'uuid'`, a unique key of the id and attributes that are not null is enough, such as
   * `PRIMARY KEY (tenant, id)`. With the option `key`, the attributes decide. @default 'integer'
   */
  readonly id?: IdType
  /**
   * The attributes that form the id, for tables whose ids clients choose. A create must give them, and no update
   * changes them. The id of one attribute is its value, that of several is joined by commas: `/playlist-tracks/1,5`.
   * @default none: the database or the store makes the ids
   */
  readonly key?: readonly string[]
  /**
   * The names of columns that differ from those of their attributes, by attribute or `id`:
   * `{ publishedAt: 'published_at' }`. @default {}
   */
  readonly columns?: Readonly<Record<string, string>>
  /**
   * The name of the column of the row's version, an integer that is not null. Without such a column: `'xmin'` for the
   * transaction that wrote the row (PostgreSQL), or `'values'` for a digest of the row's values. @default 'version'
   */
  readonly version?: string
  /** Attributes, or groups of attributes, whose values are unique. Null never conflicts. @default [] */
  readonly unique?: UniqueGroups
  /**
   * The attribute with the time of a soft deletion. Only rows in which it is null have unique values.
   * @default all rows have them
   */
  readonly softDelete?: string | undefined
  /**
   * The foreign keys, by attribute: `{ postId: { table: 'posts', onDelete: 'cascade' } }`. Each refers to the primary
   * key of a table of the same database. @default {}
   */
  readonly references?: Readonly<Record<string, Reference>>
  /** The full text index by which lists are searched. @default none: a search reads the texts */
  readonly search?: SearchIndex | undefined
  /** Whether registration creates the table, or adds what is missing, as `migrate()` does. @default false */
  readonly migrate?: boolean
}

const SQL_OPTIONS: readonly string[] =
  ['table', 'attributes', 'id', 'key', 'columns', 'version', 'unique', 'softDelete', 'references', 'search', 'migrate']

/** Throws `UnknownOptionError` or `InvalidOptionError` if an option is wrong. `others` names further known options. */
export function checkOptions (options: SqlStoreOptions, others: readonly string[], owner: string): void {
  checkOptionNames(options, [...SQL_OPTIONS, ...others], owner)
  const { table, attributes, id = 'integer', key, columns = {} } = options
  const { version = 'version', unique = [], references = {}, migrate = false } = options
  checkReferences(references)
  checkTableName(table)
  if (typeof attributes !== 'object' || attributes === null) throw new InvalidOptionError('attributes', ATTRIBUTES)
  checkOneOf('id', id, ['integer', 'uuid', 'string'])
  if (key !== undefined && !isKey(key)) {
    throw new InvalidOptionError('key', "must be a list of attributes such as ['playlistId', 'trackId']")
  }
  if (typeof columns !== 'object' || columns === null) {
    throw new InvalidOptionError('columns', "must be an object such as { publishedAt: 'published_at' }")
  }
  if (typeof version !== 'string') {
    throw new InvalidOptionError('version', "must be the name of a column, 'xmin' or 'values'")
  }
  checkBoolean('migrate', migrate)
  checkUnique(unique)
  checkSoftDelete(options.softDelete)
  if (options.search !== undefined) checkSearch(options.search)
}

function checkSearch (search: unknown): void {
  const { index, of } = checkMembers<SearchIndex>('search', search, SEARCH)
  if (index === undefined || !checkNames('search.of', of)?.length) {
    throw new InvalidOptionError('search', "must be an object such as { index: 'posts_fts', of: ['title', 'body'] }")
  }
}

const SEARCH: Required<SearchIndex> = { index: '', of: [], configuration: '' }

/** Returns whether options have `attributes`. An undefined value is refused later, because it may be a mistake. */
export function hasAttributes<T extends { readonly attributes: unknown }> (
  options: T | { readonly attributes?: never }
): options is T {
  return 'attributes' in options
}

/** The options that say what the table is, which a table that describes itself says. */
const DESCRIBED = ['id', 'key', 'columns', 'version', 'unique', 'references', 'migrate'] as const

/**
 * Checks the options of a store that describes itself.
 * @throws UnknownOptionError or InvalidOptionError if an option is wrong
 */
export function checkUndescribed (
  options: Omit<Partial<SqlStoreOptions>, 'attributes'>,
  others: readonly string[],
  owner: string
): void {
  checkOptionNames(options, [...SQL_OPTIONS, ...others], owner)
  checkTableName(options.table)
  const other = DESCRIBED.find((name) => options[name] !== undefined)
  if (other === undefined) return
  throw new InvalidOptionError(other, 'needs the option "attributes"; without both, the table describes itself')
}

/** Returns the options of a table that a resource needs. @throws InvalidOptionError if it has no attributes */
export function requireAttributes (request: TableRequest): SqlStoreOptions {
  const { attributes } = request
  if (!isObject(attributes)) throw new InvalidOptionError('attributes', ATTRIBUTES)
  return { ...request, attributes }
}

const ATTRIBUTES = "must be a JSON Schema { type: 'object', properties: { … } }: each property has a column"

function checkTableName (table: unknown): void {
  if (typeof table === 'string' && table !== '' && !table.includes('\0')) return
  throw new InvalidOptionError('table', "must be the name of a table such as 'posts'")
}

function isKey (key: unknown): boolean {
  return Array.isArray(key) && key.length > 0 && key.every((name) => typeof name === 'string')
}

function checkReferences (references: unknown): void {
  if (!isObject(references)) {
    throw new InvalidOptionError('references', "must be an object such as { postId: { table: 'posts' } }")
  }
  for (const [attribute, reference] of Object.entries(references)) {
    const { table, onDelete = 'restrict' } = checkMembers('references', reference, REFERENCE)
    if (table === undefined || table === '') {
      throw new InvalidOptionError('references', `has "${attribute}" without the name of a table`)
    }
    checkOneOf('references', onDelete, ['restrict', 'cascade', 'set null'])
  }
}

const REFERENCE = { table: '', onDelete: '', optional: true }

/** A foreign key of a table. */
export interface ForeignKey {
  readonly column: SqlColumn
  readonly table: string
  readonly onDelete: OnDelete
  /** Whether a table that exists may lack it. */
  readonly optional: boolean
}
