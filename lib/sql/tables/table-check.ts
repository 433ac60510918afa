import { InvalidOptionError } from '../../core/errors.js'
import { didYouMean } from '../../core/util/words.js'
import type { GeneratedIdType } from '../../core/resource/resource.js'
import type { OnDelete } from '../../core/stores/store.js'
import {
  type SqlColumn,
  type Dialect,
  type FoundReference,
  LIMITED_TEXT,
  type Table,
  type TableColumn,
  type TableName
} from '../dialect.js'
import { ROW_NUMBER } from '../keys/id-columns.js'
import type { ForeignKey } from '../options.js'
import type { CheckedTable, TableDefinition } from './definition.js'
import type { TableStatements } from './table-statements.js'

/** Returns whether one of the indexes has exactly these columns. */
function hasIndex (indexes: ReadonlyArray<readonly string[]>, group: readonly string[]): boolean {
  return indexes.some((columns) =>
    columns.length === group.length && group.every((column) => columns.includes(column)))
}

/** A reason why a table does not fit. */
export interface Misfit {
  /** What is wrong, as a part of a sentence. */
  readonly fault: string
  /** The statements that repair it. `[]` if those of another misfit do. */
  readonly cure?: readonly string[]
  /** Why the app must decide whether to run them, as a sentence. */
  readonly obstacle?: string
  /** Whether the app starts all the same, with a warning. @default false */
  readonly optional?: boolean
  /** The foreign key that the table may lack. */
  readonly reference?: ForeignKey
}

/** Returns what a store learns from a table that fits. */
export function learnTable (wanted: TableDefinition, found: Table): Omit<CheckedTable, 'warnings'> {
  return {
    rules: new Map(wanted.references.map((foreignKey) =>
      [foreignKey.column.attribute, ruleOf(findReference(found, foreignKey)) as OnDelete | undefined])),
    isKeyUnique: wanted.ids.isGenerated || isUniqueKey(wanted, found),
    types: new Map(found.columns.map(({ name, type }) => [name, type])),
    notNull: new Set(found.columns.flatMap(({ name, notNull }) => notNull ? [name] : [])),
    filled: new Set(found.columns.flatMap(({ name, filled }) => filled ? [name] : []))
  }
}

/** Makes the error about a table that does not fit, with every fault, and the statements that add what is missing. */
export function misfitError (table: string, misfits: readonly Misfit[]): Error {
  const cures = misfits.flatMap(({ cure = [] }) => cure)
  const cure = cures.length === 0 ? '' : `. To add what is missing, run: ${cures.join('; ')}`
  const faults = misfits.map(({ fault }) => fault).join('; ')
  return new InvalidOptionError('table', `is "${table}", which does not fit: ${faults}${cure}`)
}

/** Finds everything that keeps a table from fitting. */
export class TableCheck {
  readonly #wanted: TableDefinition
  readonly #found: Table
  readonly #dialect: Dialect
  readonly #statements: TableStatements
  readonly #misfits: Misfit[] = []
  /** The columns that no check has taken yet, by name. */
  readonly #left: Map<string, TableColumn>
  /** The missing columns that the app must add. */
  readonly #blocked = new Set<string>()

  constructor (wanted: TableDefinition, found: Table, dialect: Dialect, statements: TableStatements) {
    this.#wanted = wanted
    this.#found = found
    this.#dialect = dialect
    this.#statements = statements
    this.#left = new Map(found.columns.map((column) => [column.name, column]))
  }

  run (): readonly Misfit[] {
    const { columns, unique, references } = this.#wanted
    if (columns.id === undefined) this.#checkKey()
    else this.#checkId(columns.id)
    if (columns.version === undefined) this.#checkOwnVersion()
    else this.#checkVersion(columns.version)
    for (const column of columns.byAttribute.values()) this.#checkColumn(column)
    for (const { name, type, notNull, filled } of this.#left.values()) {
      if (!notNull || filled) continue
      const typed = type === '' ? '' : ` of type ${type}`
      this.#report(`the column "${name}"${typed} must not be null and has no default, but no attribute fills it`)
    }
    for (const foreignKey of references) this.#checkReference(foreignKey)
    for (const group of unique) this.#checkIndex(group)
    return this.#misfits
  }

  #checkIndex (group: readonly string[]): void {
    const { softDelete, ids: { parts } } = this.#wanted
    const { unique, partial } = this.#found
    const names = group.map((name) => `"${name}"`).join(', ')
    const where = softDelete === undefined ? '' : ` where "${softDelete}" is null`
    const isWhole = hasIndex(unique, group)
    // Two rows never have the same id, whether they are deleted or not.
    if (isWhole && (softDelete === undefined || hasIndex([parts.map(({ name }) => name)], group))) return
    const cure = this.#statements.addIndex(group)
    if (isWhole) {
      const fault = `its unique index of ${names} has deleted rows, too; to free their values, drop it and run: ${cure}`
      this.#misfits.push({ fault, optional: true })
    } else if (!hasIndex(partial.flatMap(({ isNull, columns }) => isNull === softDelete ? [columns] : []), group)) {
      const isBlocked = [...group, softDelete].some((name) => name !== undefined && this.#blocked.has(name))
      const obstacle = isBlocked ? 'Its columns must be added first.' : undefined
      this.#report(`there is no unique index of ${names}${where}`, [cure], obstacle)
    }
  }

  /** Notes a fault, and the statements that repair it. Only a table can be altered. */
  #report (fault: string, cure?: readonly string[], obstacle?: string): void {
    const { kind } = this.#found
    const isTable = kind === 'table' || kind === 'partitioned table'
    this.#misfits.push({ fault, ...(cure && isTable && { cure }), ...(obstacle !== undefined && { obstacle }) })
  }

  #checkId (id: string): void {
    const type = this.#wanted.ids.type as GeneratedIdType
    if (!this.#left.has(id) && this.#found.hasRowNumber && ROW_NUMBER.test(id)) return
    const column = this.#take(id, 'the id (or name the attributes that form the id by the option "key")')
    if (column === undefined) return
    if (!this.#dialect.fitsId(type, column.type)) {
      this.#report(`the column "${id}" ${describeType(column)}, which does not keep ids of the type '${type}'`)
    } else if (type === 'integer' && !column.filled) {
      this.#report(`the column "${id}" has no default that counts up, so new rows would have no id`)
    }
    const hint = type === 'uuid' ? WIDER_KEY : ''
    if (!isUniqueId(this.#wanted, this.#found, id)) {
      this.#report(`the column "${id}" is neither the primary key nor unique${hint}`)
    }
  }

  /** Checks that a key is unique. A view can have no index, and a key of all values needs none, but allows no write. */
  #checkKey (): void {
    const { kind } = this.#found
    const { ids: { parts }, columns: { byAttribute } } = this.#wanted
    const named = new Set(parts.map(({ by }) => by))
    const simple = [...byAttribute.values()].filter(({ kind }) => kind !== 'json')
    const hasAll = simple.every(({ attribute }) => named.has(attribute))
    if ((kind !== 'table' && kind !== 'partitioned table') || hasAll || isUniqueKey(this.#wanted, this.#found)) return
    const names = parts.map(({ name }) => `"${name}"`).join(', ')
    this.#report(`there is no unique index of the key ${names} whose columns are not null`)
  }

  /** Checks that the database can tell the versions of rows that have no column for it. */
  #checkOwnVersion (): void {
    const { kind } = this.#found
    if (this.#wanted.versions.kind !== 'xmin' || kind === 'table') return
    this.#report(`a ${kind} has no "xmin" in all statements; set the option "version" to 'values'`)
  }

  #checkVersion (version: string): void {
    const what = 'the version, an integer that is not null (or set the option "version" to \'values\')'
    const column = this.#take(version, what, [this.#statements.addVersion(version)])
    if (column === undefined) return
    if (!this.#dialect.fitsVersion(column.type)) {
      this.#report(`the column "${version}" ${describeType(column)}, but must be an integer for the version`)
    }
    if (!column.notNull) this.#report(`the column "${version}" may be null, but the version must not be null`)
  }

  #checkColumn (column: SqlColumn): void {
    const { attribute, name, allowsNull, readOnly } = column
    const type = this.#dialect.columnType(column)
    const { statements, obstacle } = this.#statements.addColumn(column)
    const found = this.#take(name, `"${attribute}" (such as ${type})`, statements, obstacle)
    if (found === undefined) return
    const fault = (text: string): void => { this.#report(`the column "${name}" ${text}`) }
    if (this.#dialect.findCodec(column, found.type) === undefined) {
      fault(`${describeType(found)}, which does not keep "${attribute}" (${describe(column)}) as it is; ` +
        `${type} does${orLength(column, found)}`)
    }
    if (allowsNull && found.notNull) fault(`must not be null, but "${attribute}" may be`)
    if (found.generated && !readOnly) fault(`is generated and cannot be written; make "${attribute}" readOnly`)
  }

  #checkReference (foreignKey: ForeignKey): void {
    const { column: { name }, table, onDelete, optional } = foreignKey
    const found = findReference(this.#found, foreignKey)
    if (ruleOf(found) === onDelete) return
    const wanted = `ON DELETE ${onDelete.toUpperCase()}`
    const fault = found === undefined
      ? `the column "${name}" has no foreign key to "${table}" with ${wanted}`
      : `the foreign key "${name}" has ON DELETE ${found.onDelete}, but needs ${wanted}`
    const isAddable = found === undefined && this.#dialect.addsReferences
    const cure = isAddable ? this.#statements.addReference(foreignKey) : undefined
    // A column that is added gets its foreign key at once.
    if (!this.#found.columns.some((column) => column.name === name)) this.#report(fault, [])
    else if (optional && found !== undefined) this.#misfits.push({ fault, optional })
    else if (optional) this.#misfits.push({ fault, optional, reference: foreignKey, ...(cure && { cure }) })
    else if (cure !== undefined || found !== undefined) this.#report(fault, cure)
    else this.#report(`${fault}, which the database can only add to a new table: move the rows to one`)
  }

  /** Takes a column from `#left` and returns it, or notes that it is missing. */
  #take (name: string, what: string, cure?: readonly string[], obstacle?: string): TableColumn | undefined {
    const column = this.#left.get(name)
    this.#left.delete(name)
    if (column !== undefined) return column
    if (obstacle !== undefined) this.#blocked.add(name)
    this.#report(`there is no column "${name}" for ${what}`, cure, obstacle)
  }
}

function findReference ({ references }: Table, { column: { name }, table }: ForeignKey): FoundReference | undefined {
  return references.find((reference) => reference.column === name && reference.table === table)
}

/** Returns what a foreign key of the database does at a deletion, as the option `onDelete` spells it. */
function ruleOf (found: FoundReference | undefined): string | undefined {
  return found?.onDelete.toLowerCase().replace('no action', 'restrict')
}

/** Describes the type of a column for a message. In SQLite, some have none, such as the computed columns of a view. */
function describeType ({ type }: TableColumn): string {
  return type === '' ? 'has no declared type' : `is of type ${type}`
}

/** Returns a hint for a column of limited length: the `maxLength` with which a text fits. */
function orLength ({ attribute, kind }: SqlColumn, { type }: TableColumn): string {
  const [, length] = LIMITED_TEXT.exec(type) ?? []
  return length === undefined || kind !== 'string' ? '' : `, or give "${attribute}" maxLength: ${length}`
}

/** Makes the error about a missing table, which suggests the nearest one. `cure` says what to do. */
export function missingTable (
  { table, schema }: Pick<TableDefinition, 'table' | 'schema'>,
  tables: readonly TableName[],
  cure = 'call migrate() of the store, or set its option "migrate" to true'
): Error {
  const place = schema === undefined ? 'the database' : `the schema "${schema}"`
  const hint = suggestTable(table, schema, tables)
  return new InvalidOptionError('table', `is "${table}", which is not in ${place}; ${cure}${hint}`)
}

function suggestTable (table: string, schema: string | undefined, tables: readonly TableName[]): string {
  const near = didYouMean(table, tables.map(({ name }) => name))
  // A table of the same name may be in another schema than the option "schema" says.
  const found =
    tables.find((other) => other.name === table || `${other.schema}.${other.name}` === table) ??
    tables.find(({ name }) => near === `; did you mean "${name}"?`)
  if (found === undefined || found.schema === schema || (found.isVisible && schema === undefined)) return near
  return `; did you mean "${found.name}" with the option "schema" set to '${found.schema}'?`
}

const WIDER_KEY = '; a unique key of several columns is enough if the others are attributes of a simple type ' +
  'and not null, such as PRIMARY KEY (tenant, id)'

/**
 * Returns whether no two rows can have the same id. For UUIDs, a key of the id and other columns is enough, because the
 * store makes each UUID only once. A table that is distributed by tenant can only have keys that contain the tenant.
 */
function isUniqueId ({ ids, columns: { byAttribute } }: TableDefinition, found: Table, id: string): boolean {
  if (hasIndex(found.unique, [id])) return true
  if (ids.type === 'integer') return false
  const present = new Set(namesOfPresent(found))
  const simple = [...byAttribute.values()].filter(({ kind }) => kind !== 'json').map(({ name }) => name)
  const others = new Set(simple.filter((name) => present.has(name)))
  return found.unique.some((key) => key.includes(id) && key.every((name) => name === id || others.has(name)))
}

/** Returns whether a unique index without nulls makes the key of attributes unique. */
function isUniqueKey ({ ids: { parts } }: TableDefinition, found: Table): boolean {
  const names = parts.map(({ name }) => name)
  const present = namesOfPresent(found)
  return found.unique.some((columns) =>
    columns.length > 0 && columns.every((name) => names.includes(name) && present.includes(name)))
}

/** Returns the columns that identify rows or cannot hold null. */
function namesOfPresent ({ columns }: Table): readonly string[] {
  return columns.filter(({ notNull, isKey }) => notNull || isKey).map(({ name }) => name)
}

function describe ({ kind, maxLength }: SqlColumn): string {
  if (kind !== 'string') return kind
  return maxLength === Infinity ? 'string of any length' : `string of up to ${maxLength} characters`
}
