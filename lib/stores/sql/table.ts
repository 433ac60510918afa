import { InvalidOptionError } from '../../errors.js'
import type { GeneratedIdType } from '../../resource/resource.js'
import { didYouMean } from '../../util/did-you-mean.js'
import type { Columns } from './column.js'
import type { Column, Dialect, Table, TableColumn, TableName } from './dialect.js'

/** What a table is to be. */
export interface RequiredTable {
  readonly table: string
  /** The table as it stands in a statement. */
  readonly quoted: string
  readonly columns: Columns
  readonly idType: GeneratedIdType
  /** The columns of each unique index. */
  readonly unique: ReadonlyArray<readonly string[]>
}

/** The groups of columns that no unique index of the table is made of. */
export function missingIndexes (
  wanted: ReadonlyArray<readonly string[]>,
  found: Table | undefined
): ReadonlyArray<readonly string[]> {
  if (found === undefined) return []
  return wanted.filter(
    (group) =>
      !found.unique.some(
        (columns) => columns.length === group.length && group.every((column) => columns.includes(column))
      )
  )
}

/** @throws InvalidOptionError where the table cannot keep what it is to keep, with all that is wrong */
export function checkTable (wanted: RequiredTable, found: Table, dialect: Dialect): void {
  const { table, quoted, idType, unique, columns: { id, version, byAttribute } } = wanted
  const faults: string[] = []
  /** Statements that add the columns which are missing. */
  const cures: string[] = []
  const left = new Map(found.columns.map((column) => [column.name, column]))
  const take = (name: string, what: string, type?: string): TableColumn | undefined => {
    const column = left.get(name)
    left.delete(name)
    if (column === undefined) faults.push(`there is no column "${name}" for ${what}`)
    if (column === undefined && type !== undefined) {
      cures.push(`ALTER TABLE ${quoted} ADD COLUMN ${dialect.quote(name)} ${type}`)
    }
    return column
  }
  const idColumn = take(id, 'the id')
  if (idColumn !== undefined) {
    if (!dialect.fitsId(idType, idColumn.type)) {
      faults.push(`the column "${id}" ${describeType(idColumn)}, which does not keep ids of the type '${idType}'`)
    } else if (idType === 'integer' && found.reusesIds !== undefined) { faults.push(`the column "${id}" ${found.reusesIds}`) } else if (idType === 'integer' && !idColumn.filled) {
      faults.push(`the column "${id}" has no default that counts up, so that there are no ids`)
    }
    const hint = idType === 'uuid' ? WIDER_KEY : ''
    if (!isUniqueId(wanted, found)) faults.push(`the column "${id}" is neither the primary key nor unique${hint}`)
  }
  const versionColumn = take(
    version,
    'the version, an integer that is not null (see the option "version")',
    dialect.versionType
  )
  if (versionColumn !== undefined) {
    if (!dialect.fitsVersion(versionColumn.type)) {
      faults.push(`the column "${version}" ${describeType(versionColumn)}, but must be an integer for the version`)
    }
    if (!versionColumn.notNull) faults.push(`the column "${version}" may be null, which a version must not be`)
  }
  for (const column of byAttribute.values()) {
    const { attribute, name, kind, allowsNull, readOnly } = column
    const made = take(name, `"${attribute}" (such as ${dialect.columnType[kind]})`, dialect.columnType[kind])
    if (made === undefined) continue
    if (!dialect.fits(column, made.type)) {
      faults.push(
        `the column "${name}" ${describeType(made)}, which does not keep "${attribute}" (${describe(column)}) as it is; ${dialect.columnType[kind]} does${orLength(column, made)}`
      )
    }
    if (allowsNull && made.notNull) faults.push(`the column "${name}" must not be null, but "${attribute}" may be`)
    if (made.generated && !readOnly) {
      faults.push(`the column "${name}" is generated and cannot be written; make "${attribute}" readOnly`)
    }
  }
  for (const { name, type, notNull, filled } of left.values()) {
    if (notNull && !filled) {
      faults.push(
        `the column "${name}"${type === '' ? '' : ` of type ${type}`} must not be null and has no default, but there is no attribute for it`
      )
    }
  }
  for (const group of missingIndexes(unique, found)) {
    faults.push(`there is no unique index of ${group.map((name) => `"${name}"`).join(', ')}`)
  }
  const cure = cures.length === 0 ? '' : `. Add what is missing by: ${cures.join('; ')}`
  if (faults.length > 0) {
    throw new InvalidOptionError('table', `is "${table}", which does not fit: ${faults.join('; ')}${cure}`)
  }
}

/** SQLite declares no type for what a view computes, nor must a table declare one. */
function describeType ({ type }: TableColumn): string {
  return type === '' ? 'has no declared type' : `is of type ${type}`
}

/** Says which `maxLength` makes a text fit into a column of a bounded length. */
function orLength ({ attribute, kind }: Column, { type }: TableColumn): string {
  const [, length] = /^character varying\((\d+)\)$/.exec(type) ?? []
  return length === undefined || kind !== 'string' ? '' : `, or give "${attribute}" maxLength: ${length}`
}

/** The error about a table that is not in the database, with the nearest one that is. */
export function missingTable (table: string, schema: string | undefined, tables: readonly TableName[]): Error {
  const place = schema === undefined ? 'the database' : `the schema "${schema}"`
  return new InvalidOptionError(
    'table',
    `is "${table}", which is not in ${place}; call migrate() of the store, or set its option "migrate" to true${suggestTable(table, schema, tables)}`
  )
}

function suggestTable (table: string, schema: string | undefined, tables: readonly TableName[]): string {
  const near = didYouMean(table, tables.map(({ name }) => name))
  // A table of this very name is one that the option "schema" leads away from, or does not lead to.
  const found =
    tables.find((other) => other.name === table || `${other.schema}.${other.name}` === table) ??
    tables.find(({ name }) => near === `; did you mean "${name}"?`)
  if (found === undefined || found.schema === schema || (found.isVisible && schema === undefined)) return near
  return found.isVisible
    ? `; did you mean "${found.name}" without the option "schema"?`
    : `; did you mean "${found.name}" with the option "schema" set to '${found.schema}'?`
}

const WIDER_KEY =
  '; a unique key of several columns counts if all others are attributes of a simple type, and not null (PRIMARY KEY (tenant, id), say)'

/**
 * Returns whether no two rows can have one id. The store makes a UUID only once, for whatever tenant. A table that is
 * distributed by tenant can only have keys that contain the tenant; such a key is enough for UUIDs.
 */
function isUniqueId ({ idType, columns: { id, byAttribute } }: RequiredTable, found: Table): boolean {
  if (missingIndexes([[id]], found).length === 0) return true
  if (idType === 'integer') return false
  const notNull = new Set(found.columns.filter((column) => column.notNull).map(({ name }) => name))
  const simple = [...byAttribute.values()].filter(({ kind }) => kind !== 'json').map(({ name }) => name)
  const others = new Set(simple.filter((name) => notNull.has(name)))
  return found.unique.some((key) => key.includes(id) && key.every((name) => name === id || others.has(name)))
}

function describe ({ kind, maxLength }: Column): string {
  if (kind !== 'string') return kind
  return maxLength === Infinity ? 'string of any length' : `string of up to ${maxLength} characters`
}
