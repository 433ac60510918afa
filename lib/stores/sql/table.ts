import { InvalidOptionError } from '../../errors.js'
import type { GeneratedIdType } from '../../resource.js'
import type { Column, Columns } from './column.js'
import type { Dialect, Table, TableColumn } from './dialect.js'

/** What a table is to be. */
export interface Wanted {
  readonly table: string
  readonly columns: Columns
  readonly idType: GeneratedIdType
  /** The columns of each unique index. */
  readonly unique: ReadonlyArray<readonly string[]>
}

/** The groups of columns that no unique index of the table is made of. */
export function missingIndexes (wanted: ReadonlyArray<readonly string[]>, found: Table | undefined): ReadonlyArray<readonly string[]> {
  if (found === undefined) return []
  return wanted.filter((group) => !found.unique.some((columns) => columns.length === group.length && group.every((column) => columns.includes(column))))
}

/** @throws InvalidOptionError where the table cannot keep what it is to keep, with all that is wrong */
export function checkTable (wanted: Wanted, found: Table | undefined, dialect: Dialect): void {
  const { table, idType, unique, columns: { id, version, byAttribute } } = wanted
  if (found === undefined) throw new InvalidOptionError('table', `is "${table}", which is not in the database; call migrate() of the store, or set its option "migrate" to true`)
  const faults: string[] = []
  const left = new Map(found.columns.map((column) => [column.name, column]))
  const take = (name: string, what: string): TableColumn | undefined => {
    const column = left.get(name)
    left.delete(name)
    if (column === undefined) faults.push(`there is no column "${name}" for ${what}`)
    return column
  }
  const idColumn = take(id, 'the id')
  if (idColumn !== undefined) {
    if (!dialect.fitsId(idType, idColumn.type)) faults.push(`the column "${id}" is of type ${idColumn.type}, which does not keep ids of the type '${idType}'`)
    else if (idType === 'integer' && found.reusesIds !== undefined) faults.push(`the column "${id}" ${found.reusesIds}`)
    else if (idType === 'integer' && !idColumn.filled) faults.push(`the column "${id}" has no default that counts up, so that there are no ids`)
    if (missingIndexes([[id]], found).length > 0) faults.push(`the column "${id}" is neither the primary key nor unique`)
  }
  const versionColumn = take(version, 'the version, an integer that is not null (see the option "version")')
  if (versionColumn !== undefined) {
    if (!dialect.fitsVersion(versionColumn.type)) faults.push(`the column "${version}" is of type ${versionColumn.type}, but must be an integer for the version`)
    if (!versionColumn.notNull) faults.push(`the column "${version}" may be null, which a version must not be`)
  }
  for (const column of byAttribute.values()) {
    const { attribute, name, kind, allowsNull, readOnly } = column
    const made = take(name, `"${attribute}" (such as ${dialect.columnType[kind]})`)
    if (made === undefined) continue
    if (!dialect.fits(column, made.type)) faults.push(`the column "${name}" is of type ${made.type}, which does not keep "${attribute}" (${describe(column)}) as it is; ${dialect.columnType[kind]} does`)
    if (allowsNull && made.notNull) faults.push(`the column "${name}" must not be null, but "${attribute}" may be`)
    if (made.generated && !readOnly) faults.push(`the column "${name}" is generated and cannot be written; make "${attribute}" readOnly`)
  }
  for (const { name, type, notNull, filled } of left.values()) {
    if (notNull && !filled) faults.push(`the column "${name}" of type ${type} must not be null and has no default, but there is no attribute for it`)
  }
  for (const group of missingIndexes(unique, found)) faults.push(`there is no unique index of ${group.map((name) => `"${name}"`).join(', ')}`)
  if (faults.length > 0) throw new InvalidOptionError('table', `is "${table}", which does not fit: ${faults.join('; ')}`)
}

function describe ({ kind, maxLength }: Column): string {
  if (kind !== 'string') return kind
  return maxLength === Infinity ? 'string of any length' : `string of up to ${maxLength} characters`
}
