import { InvalidOptionError } from '../../errors.js'
import type { GeneratedIdType } from '../../resource/resource.js'
import { didYouMean } from '../../util/did-you-mean.js'
import type { Columns } from './column.js'
import { type Column, type Dialect, LIMITED_TEXT, type Table, type TableColumn, type TableName } from './dialect.js'

/** The table that a store needs. */
export interface TableDefinition {
  readonly table: string
  /** The schema of the database that contains the table, or `undefined` if the database finds the table by its name. */
  readonly schema: string | undefined
  /** The name of the table in a statement. */
  readonly quoted: string
  readonly columns: Columns
  readonly idType: GeneratedIdType
  /** The columns of each unique index. */
  readonly unique: ReadonlyArray<readonly string[]>
}

/** Returns the groups of columns for which the table has no unique index. */
export function missingIndexes (
  wanted: ReadonlyArray<readonly string[]>,
  found: Table | undefined
): ReadonlyArray<readonly string[]> {
  if (found === undefined) return []
  return wanted.filter((group) => !found.unique.some((columns) =>
    columns.length === group.length && group.every((column) => columns.includes(column))))
}

/** Throws an `InvalidOptionError` that lists every fault if the table does not fit. */
export function checkTable (wanted: TableDefinition, found: Table, dialect: Dialect): void {
  new TableCheck(wanted, found, dialect).run()
}

class TableCheck {
  readonly #wanted: TableDefinition
  readonly #found: Table
  readonly #dialect: Dialect
  readonly #faults: string[] = []
  /** The statements that add the missing columns. */
  readonly #cures: string[] = []
  /** The columns that no check has taken yet, by name. */
  readonly #left: Map<string, TableColumn>

  constructor (wanted: TableDefinition, found: Table, dialect: Dialect) {
    this.#wanted = wanted
    this.#found = found
    this.#dialect = dialect
    this.#left = new Map(found.columns.map((column) => [column.name, column]))
  }

  run (): void {
    const { table, columns, unique } = this.#wanted
    const faults = this.#faults
    this.#checkId(columns.id)
    this.#checkVersion(columns.version)
    for (const column of columns.byAttribute.values()) this.#checkColumn(column)
    for (const { name, type, notNull, filled } of this.#left.values()) {
      if (!notNull || filled) continue
      const typed = type === '' ? '' : ` of type ${type}`
      faults.push(`the column "${name}"${typed} must not be null and has no default, but no attribute fills it`)
    }
    for (const group of missingIndexes(unique, this.#found)) {
      faults.push(`there is no unique index of ${group.map((name) => `"${name}"`).join(', ')}`)
    }
    if (faults.length === 0) return
    const cure = this.#cures.length === 0 ? '' : `. To add what is missing, run: ${this.#cures.join('; ')}`
    throw new InvalidOptionError('table', `is "${table}", which does not fit: ${faults.join('; ')}${cure}`)
  }

  #checkId (id: string): void {
    const { idType } = this.#wanted
    const { reusesIds } = this.#found
    const faults = this.#faults
    const column = this.#take(id, 'the id')
    if (column === undefined) return
    if (!this.#dialect.fitsId(idType, column.type)) {
      faults.push(`the column "${id}" ${describeType(column)}, which does not keep ids of the type '${idType}'`)
    } else if (idType === 'integer' && reusesIds !== undefined) faults.push(`the column "${id}" ${reusesIds}`)
    else if (idType === 'integer' && !column.filled) {
      faults.push(`the column "${id}" has no default that counts up, so new rows would have no id`)
    }
    const hint = idType === 'uuid' ? WIDER_KEY : ''
    if (!isUniqueId(this.#wanted, this.#found)) {
      faults.push(`the column "${id}" is neither the primary key nor unique${hint}`)
    }
  }

  #checkVersion (version: string): void {
    const { versionType } = this.#dialect
    const what = 'the version, an integer that is not null (see the option "version")'
    const column = this.#take(version, what, versionType)
    if (column === undefined) return
    if (!this.#dialect.fitsVersion(column.type)) {
      this.#faults.push(`the column "${version}" ${describeType(column)}, but must be an integer for the version`)
    }
    if (!column.notNull) this.#faults.push(`the column "${version}" may be null, but the version must not be null`)
  }

  #checkColumn (column: Column): void {
    const { attribute, name, kind, allowsNull, readOnly } = column
    const type = this.#dialect.columnType[kind]
    const found = this.#take(name, `"${attribute}" (such as ${type})`, type)
    if (found === undefined) return
    const fault = (text: string): void => { this.#faults.push(`the column "${name}" ${text}`) }
    if (!this.#dialect.fits(column, found.type)) {
      fault(`${describeType(found)}, which does not keep "${attribute}" (${describe(column)}) as it is; ` +
        `${type} does${orLength(column, found)}`)
    }
    if (allowsNull && found.notNull) fault(`must not be null, but "${attribute}" may be`)
    if (found.generated && !readOnly) fault(`is generated and cannot be written; make "${attribute}" readOnly`)
  }

  /** Takes a column from `#left` and returns it, or notes that it is missing. */
  #take (name: string, what: string, type?: string): TableColumn | undefined {
    const column = this.#left.get(name)
    this.#left.delete(name)
    if (column !== undefined) return column
    this.#faults.push(`there is no column "${name}" for ${what}`)
    if (type !== undefined) {
      this.#cures.push(`ALTER TABLE ${this.#wanted.quoted} ADD COLUMN ${this.#dialect.quote(name)} ${type}`)
    }
  }
}

/** Describes the type of a column for a message. In SQLite, some have none, such as the computed columns of a view. */
function describeType ({ type }: TableColumn): string {
  return type === '' ? 'has no declared type' : `is of type ${type}`
}

/** Returns a hint for a column of limited length: the `maxLength` with which a text fits. */
function orLength ({ attribute, kind }: Column, { type }: TableColumn): string {
  const [, length] = LIMITED_TEXT.exec(type) ?? []
  return length === undefined || kind !== 'string' ? '' : `, or give "${attribute}" maxLength: ${length}`
}

/** Makes the error about a missing table, which suggests the nearest one. */
export function missingTable ({ table, schema }: TableDefinition, tables: readonly TableName[]): Error {
  const place = schema === undefined ? 'the database' : `the schema "${schema}"`
  return new InvalidOptionError('table', `is "${table}", which is not in ${place}; ` +
    `call migrate() of the store, or set its option "migrate" to true${suggestTable(table, schema, tables)}`)
}

function suggestTable (table: string, schema: string | undefined, tables: readonly TableName[]): string {
  const near = didYouMean(table, tables.map(({ name }) => name))
  // A table of the same name may be in another schema than the option "schema" says.
  const found =
    tables.find((other) => other.name === table || `${other.schema}.${other.name}` === table) ??
    tables.find(({ name }) => near === `; did you mean "${name}"?`)
  if (found === undefined || found.schema === schema || (found.isVisible && schema === undefined)) return near
  return found.isVisible
    ? `; did you mean "${found.name}" without the option "schema"?`
    : `; did you mean "${found.name}" with the option "schema" set to '${found.schema}'?`
}

const WIDER_KEY = '; a unique key of several columns is enough if the others are attributes of a simple type ' +
  'and not null, such as PRIMARY KEY (tenant, id)'

/**
 * Returns whether no two rows can have the same id. For UUIDs, a key of the id and other columns is enough, because the
 * store makes each UUID only once. A table that is distributed by tenant can only have keys that contain the tenant.
 */
function isUniqueId ({ idType, columns: { id, byAttribute } }: TableDefinition, found: Table): boolean {
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
