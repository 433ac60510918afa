import { createHash } from 'node:crypto'
import { andThen, catchError, forEachInOrder, type MaybePromise } from '../../util/maybe-promise.js'
import { TEXTUAL } from './column.js'
import type { Dialect, Driver, Table } from './dialect.js'
import { checkTable, missingIndexes, missingTable, type TableDefinition } from './table-check.js'

/** Checks that a table fits, and creates the table and its unique indexes if they are missing. */
export class Migration {
  readonly #definition: TableDefinition
  readonly #dialect: Dialect
  readonly #driver: Driver

  constructor (definition: TableDefinition, dialect: Dialect, driver: Driver) {
    this.#definition = definition
    this.#dialect = dialect
    this.#driver = driver
  }

  /** Throws `InvalidOptionError` if the table is missing or does not fit. */
  check (): MaybePromise<void> {
    return andThen(this.#driver.describe(), (found) => {
      if (found !== undefined) return checkTable(this.#definition, found, this.#dialect)
      return andThen(this.#driver.tables(), (tables) => { throw missingTable(this.#definition, tables) })
    })
  }

  /**
   * Creates the table and its unique indexes if they are missing. Existing columns and indexes stay as they are.
   * @throws InvalidOptionError if the table does not fit
   */
  run (): MaybePromise<void> {
    const driver = this.#driver
    const failures: unknown[] = []
    // Another process may create the same table at the same time, so a failure counts only if the final check fails.
    const attempt = (text: string): MaybePromise<void> => catchError<void>(
      () => andThen(driver.run({ text, writes: true, returns: false, kept: false }, []), () => {}),
      (error) => { failures.push(error) }
    )
    const createTable = (found: Table | undefined): MaybePromise<void> => found === undefined
      ? andThen(driver.needsCollation(), (isCollated) => attempt(this.#makeTable(isCollated)))
      : undefined
    const createIndexes = (found: Table | undefined): MaybePromise<void> =>
      forEachInOrder(missingIndexes(this.#definition.unique, found), (group) => attempt(this.#makeIndex(group)))
    return forEachInOrder([
      () => andThen(driver.describe(), createTable),
      () => andThen(driver.describe(), createIndexes),
      () => catchError(() => this.check(), (error) => { throw failures[0] ?? error })
    ], (step) => step())
  }

  #makeTable (isCollated: boolean): string {
    const { quoted, columns, idType } = this.#definition
    const { columnType, collation, idType: typeOfId, versionType, tableOptions, quote } = this.#dialect
    const parts = [`${quote(columns.id)} ${typeOfId[idType]}`, `${quote(columns.version)} ${versionType}`]
    for (const { quoted, kind, required } of columns.byAttribute.values()) {
      const type = `${columnType[kind]}${isCollated && TEXTUAL.has(kind) ? collation : ''}`
      parts.push(`${quoted} ${type}${required ? ' NOT NULL' : ''}`)
    }
    return `CREATE TABLE IF NOT EXISTS ${quoted} (${parts.join(', ')})${tableOptions}`
  }

  #makeIndex (columns: readonly string[]): string {
    const { quote, longestName } = this.#dialect
    const { table, quoted } = this.#definition
    const name = quote(nameIndex([table, ...columns], longestName))
    return `CREATE UNIQUE INDEX IF NOT EXISTS ${name} ON ${quoted} (${columns.map(quote).join(', ')})`
  }
}

/** Returns a name such as `posts_title_key`. If that is too long or ambiguous, the name contains a digest. */
function nameIndex (parts: readonly string[], most: number): string {
  const plain = [...parts, 'key'].join('_')
  if (!parts.some((part) => part.includes('_')) && Buffer.byteLength(plain) <= most) return plain
  const digest = createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 16)
  return `${Buffer.from(plain).subarray(0, Math.min(most, 63) - 17).toString().replace(/\ufffd$/, '')}_${digest}`
}
