import { quoteName } from '../../dialect.js'
import type { Right } from '../../tables/found-table.js'
import { findMember } from '../../../core/util/own-property.js'
import type { SqliteDatabase } from '../driver.js'

/** What SQLite cannot do with a column. */
export interface Obstacle {
  readonly canRead: boolean
  /** What it cannot do and why, as a sentence. */
  readonly problem: string
}

/** A column of a table that a column of a view shows. */
export interface Origin {
  readonly table: string
  readonly column: string
}

/**
 * Finds what SQLite cannot do with a table, such as call a function that only another program has. It prepares
 * statements and runs none of them, so that no row is read or changed, and no view is evaluated.
 */
export class Abilities {
  readonly #database: SqliteDatabase

  constructor (database: SqliteDatabase) {
    this.#database = database
  }

  /**
   * Finds the columns that SQLite cannot read or compare.
   * @throws an error of the driver if it can read no column
   */
  findObstacles (table: string, columns: readonly string[]): ReadonlyMap<string, Obstacle> {
    const obstacles = new Map<string, Obstacle>()
    const from = `FROM ${quoteName(table)}`
    const all = columns.map(quoteName).join(', ')
    if (this.#findFault(`SELECT ${all} ${from} ORDER BY ${all}`) === undefined) return obstacles
    for (const column of columns) {
      const name = quoteName(column)
      const unread = this.#findFault(`SELECT ${name} ${from}`)
      const fault = unread ?? this.#findFault(`SELECT 1 ${from} ORDER BY ${name}`)
      if (fault === undefined) continue
      obstacles.set(column, unread === undefined
        ? { canRead: true, problem: `Lists are neither sorted nor filtered by "${column}": ${fault}.` }
        : { canRead: false, problem: `SQLite cannot read the column "${column}": ${fault}.` })
    }
    const isLegible = columns.some((column) => obstacles.get(column)?.canRead !== false)
    if (!isLegible) this.#database.prepare(`SELECT * ${from}`)
    return obstacles
  }

  /** Finds the writes that fail whatever they write, by the message of SQLite. `columns` are those that can be set. */
  findFailingWrites (table: string, columns: readonly string[]): ReadonlyMap<string, readonly Right[]> {
    const name = quoteName(table)
    const set = columns.map((column) => `${quoteName(column)} = ${quoteName(column)}`).join(', ')
    const statements: ReadonlyArray<readonly [Right, string]> = [
      ['create', `INSERT INTO ${name} DEFAULT VALUES`],
      ['update', `UPDATE ${name} SET ${set}`],
      ['delete', `DELETE FROM ${name}`]
    ]
    const failing = new Map<string, Right[]>()
    for (const [right, text] of statements) {
      const fault = this.#findFault(text)
      if (fault !== undefined) failing.set(fault, [...failing.get(fault) ?? [], right])
    }
    return failing
  }

  /** Finds the columns of tables that a view shows as they are, by the columns of the view. */
  findOrigins (view: string): ReadonlyMap<string, Origin> {
    const columns: ReadonlyArray<{ name: string, table?: unknown, column?: unknown }> =
      this.#database.prepare(`SELECT * FROM ${quoteName(view)}`).columns?.() ?? []
    return new Map(columns.flatMap(({ name, table, column }) =>
      typeof table === 'string' && typeof column === 'string' ? [[name, { table, column }]] : []))
  }

  #findFault (text: string): string | undefined {
    try {
      this.#database.prepare(text)
      return undefined
    } catch (error) {
      return String(findMember(error, 'message'))
    }
  }
}
