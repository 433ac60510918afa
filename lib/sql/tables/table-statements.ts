import { createHash } from 'node:crypto'
import type { GeneratedIdType } from '../../core/resource/resource.js'
import { TEXTUAL } from '../columns/kinds.js'
import { type SqlColumn, type Dialect, quoteTable } from '../dialect.js'
import type { ForeignKey } from '../options.js'
import type { TableDefinition } from './definition.js'

/** The statements that add a column. */
export interface AddedColumn {
  readonly statements: readonly string[]
  /** Why the app must decide whether to run them, as a sentence. */
  readonly obstacle: string | undefined
}

/** Writes the statements that create a table, or that add to it what is missing. None of them loses data. */
export class TableStatements {
  readonly #definition: TableDefinition
  readonly #dialect: Dialect

  constructor (definition: TableDefinition, dialect: Dialect) {
    this.#definition = definition
    this.#dialect = dialect
  }

  /** Creates the table with its foreign keys, and the indexes that serve them. */
  createTable (): readonly string[] {
    const { quoted, columns, ids, versions: { counter }, references } = this.#definition
    const { idType: typeOfId, versionType, tableOptions } = this.#dialect
    const key = ids.isGenerated ? [] : ids.parts.map(({ quoted }) => quoted)
    const parts = ids.isGenerated ? [`${ids.parts[0].quoted} ${typeOfId[ids.type as GeneratedIdType]}`] : []
    if (counter !== undefined) parts.push(`${counter} ${versionType}`)
    for (const column of columns.byAttribute.values()) {
      const notNull = column.required || key.includes(column.quoted) ? ' NOT NULL' : ''
      parts.push(`${column.quoted} ${this.#typeOf(column)}${notNull}`)
    }
    if (key.length > 0) parts.push(`PRIMARY KEY (${key.join(', ')})`)
    for (const foreignKey of references) parts.push(this.writeReference(foreignKey))
    return [
      `CREATE TABLE IF NOT EXISTS ${quoted} (${parts.join(', ')})${tableOptions}`,
      ...references.flatMap((foreignKey) => this.#serveReference(foreignKey))
    ]
  }

  /** Adds the column of an attribute, with its foreign key. The rows that exist get the default of the attribute. */
  addColumn (column: SqlColumn): AddedColumn {
    const { attribute, name, quoted, required } = column
    const reference = this.#definition.references.find((reference) => reference.column.name === name)
    // SQLite adds a foreign key only if the rows that exist have null in it.
    const value = reference === undefined ? this.#defaultOf(column) : undefined
    const isFilled = value !== undefined
    const parts = [
      `ALTER TABLE ${this.#definition.quoted} ADD COLUMN ${quoted} ${this.#typeOf(column)}`,
      ...(isFilled && required ? ['NOT NULL'] : []),
      ...(isFilled ? [`DEFAULT ${value}`] : []),
      ...(reference === undefined ? [] : [this.#target(reference)])
    ]
    const statements = [parts.join(' '), ...(reference === undefined ? [] : this.#serveReference(reference))]
    const obstacle = required && !isFilled
      ? `The rows that exist would have no "${attribute}", which is required. Run this, and fill the column: ` +
        `${statements.join('; ')}.`
      : undefined
    return { statements, obstacle }
  }

  addVersion (column: string): string {
    const { quote, versionType } = this.#dialect
    return `ALTER TABLE ${this.#definition.quoted} ADD COLUMN ${quote(column)} ${versionType}`
  }

  /** Adds a foreign key to a column, and the index that serves it. */
  addReference (foreignKey: ForeignKey): readonly string[] {
    return [
      `ALTER TABLE ${this.#definition.quoted} ADD ${this.writeReference(foreignKey)}`,
      ...this.#serveReference(foreignKey)
    ]
  }

  /** Selects a row that has a value in the column of a foreign key. */
  findValue ({ column }: ForeignKey): string {
    return `SELECT 1 AS found FROM ${this.#definition.quoted} WHERE ${column.quoted} IS NOT NULL LIMIT 1`
  }

  /** Counts the rows that refer to no row of the table of a foreign key, which is found by its `id`. */
  countOrphans ({ column: { quoted: column }, table }: ForeignKey): string {
    const { quoted, schema } = this.#definition
    const target = quoteTable(this.#dialect, table, schema)
    return `SELECT count(*) AS orphans FROM ${quoted} AS child WHERE ${column} IS NOT NULL ` +
      `AND NOT EXISTS (SELECT 1 FROM ${target} AS parent WHERE parent.${this.#dialect.quote('id')} = child.${column})`
  }

  /** Adds a foreign key to a table with many rows, which are checked while others are written. */
  validateReference (foreignKey: ForeignKey): readonly string[] {
    const { table, quoted } = this.#definition
    const { quote, longestName } = this.#dialect
    const name = quote(nameIndex([table, foreignKey.column.name], 'fkey', longestName))
    return [
      `ALTER TABLE ${quoted} ADD CONSTRAINT ${name} ${this.writeReference(foreignKey)} NOT VALID`,
      `ALTER TABLE ${quoted} VALIDATE CONSTRAINT ${name}`,
      ...this.#serveReference(foreignKey)
    ]
  }

  /** Adds a unique index, which has only the rows that are not deleted. */
  addIndex (columns: readonly string[]): string {
    const { quote, longestName } = this.#dialect
    const { table, quoted, softDelete } = this.#definition
    const time = softDelete === undefined ? [] : [softDelete]
    const name = quote(nameIndex([table, ...columns, ...time], 'key', longestName))
    const where = time.map((column) => ` WHERE ${quote(column)} IS NULL`).join('')
    return `CREATE UNIQUE INDEX IF NOT EXISTS ${name} ON ${quoted} (${columns.map(quote).join(', ')})${where}`
  }

  #typeOf (column: SqlColumn): string {
    const { columnType, collation } = this.#dialect
    return `${columnType(column)}${TEXTUAL.has(column.kind) ? collation : ''}`
  }

  /** Returns the default of a column in SQL, or `undefined` if it has none, or one that the column cannot keep. */
  #defaultOf ({ default: value, kind, keeps, encode }: SqlColumn): string | undefined {
    if (value === undefined || value === null || kind === 'bytes' || !keeps(value)) return undefined
    const encoded = encode(value)
    return typeof encoded === 'string' ? `'${encoded.replaceAll("'", "''")}'` : String(encoded)
  }

  /** Writes a foreign key, as it stands in CREATE TABLE. */
  writeReference (foreignKey: ForeignKey): string {
    return `FOREIGN KEY (${foreignKey.column.quoted}) ${this.#target(foreignKey)}`
  }

  #target ({ table, onDelete }: ForeignKey): string {
    const target = quoteTable(this.#dialect, table, this.#definition.schema)
    return `REFERENCES ${target} ON DELETE ${onDelete.toUpperCase()}`
  }

  /** Makes the index that finds the rows of a parent in the order of their ids, and counts their versions. */
  #serveReference ({ column, onDelete }: ForeignKey): readonly string[] {
    const { quote, longestName } = this.#dialect
    const { table, schema, quoted, ids: { parts }, versions: { counter } } = this.#definition
    const indexed = [column, ...parts.filter(({ name }) => name !== column.name)]
    const index = quote(nameIndex([table, ...indexed.map(({ name }) => name)], 'idx', longestName))
    const made =
      `CREATE INDEX IF NOT EXISTS ${index} ON ${quoted} (${indexed.map(({ quoted }) => quoted).join(', ')})`
    // A version that is made of the row changes with the foreign key.
    if (onDelete !== 'set null' || counter === undefined) return [made]
    const trigger = nameIndex([table, column.name], 'count', longestName)
    return [made, ...this.#dialect.countNulls({
      trigger: quote(trigger),
      routine: quoteTable(this.#dialect, trigger, schema),
      table: quoted,
      column: column.quoted,
      ids: parts.map(({ quoted }) => quoted),
      version: counter
    })]
  }
}

/** Returns a name such as `posts_title_key`. If that is too long or ambiguous, the name contains a digest. */
function nameIndex (parts: readonly string[], suffix: string, most: number): string {
  const plain = [...parts, suffix].join('_')
  if (!parts.some((part) => part.includes('_')) && Buffer.byteLength(plain) <= most) return plain
  const digest = createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 16)
  return `${Buffer.from(plain).subarray(0, Math.min(most, 63) - 17).toString().replace(/\ufffd$/, '')}_${digest}`
}
