import { capitalize } from '../../core/util/words.js'
import type { Dialect, Driver, Table } from '../dialect.js'
import type { CheckedTable, TableDefinition } from './definition.js'
import { learnTable, type Misfit, misfitError, missingTable, TableCheck } from './table-check.js'
import { TableStatements } from './table-statements.js'

/** What must be done so that a table fits a store. */
export interface TablePlan {
  /** The name of the table. */
  readonly table: string
  /** The statements that create the table, or add what is missing. None of them loses data. */
  readonly statements: readonly string[]
  /** What the app must change itself, as sentences. As long as there is something, a migration runs no statement. */
  readonly problems: readonly string[]
}

interface Inspection {
  /** The table, or `undefined` if it is missing. */
  readonly found: Table | undefined
  readonly misfits: readonly Misfit[]
}

/** Checks that a table fits, and runs the statements that create it, or add what is missing. */
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
  async check (): Promise<CheckedTable> {
    const definition = this.#definition
    const { found, misfits } = await this.#inspect()
    if (found === undefined) throw missingTable(definition, await this.#driver.tables())
    if (misfits.length > 0) throw misfitError(definition.table, misfits)
    return learnTable(definition, found)
  }

  /** Returns what must be done so that the table fits. Nothing changes. */
  async plan (): Promise<TablePlan> {
    const { misfits } = await this.#inspect()
    return {
      table: this.#definition.table,
      statements: misfits.filter(isCurable).flatMap(({ cure }) => cure as readonly string[]),
      problems: misfits.filter((misfit) => !isCurable(misfit)).map(({ fault, obstacle }) =>
        `${capitalize(fault)}.${obstacle === undefined ? '' : ` ${obstacle}`}`)
    }
  }

  /**
   * Runs the statements of the plan, unless something is left to the app.
   * @throws InvalidOptionError if the table does not fit
   */
  async run (): Promise<CheckedTable> {
    const failures: unknown[] = []
    const { misfits } = await this.#inspect()
    for (const { cure } of misfits.every(isCurable) ? misfits : []) {
      try {
        await this.#execute(cure as readonly string[])
      } catch (error) {
        // Another process may run the same statements at the same time, so a failure counts only if the check fails.
        failures.push(error)
      }
    }
    try {
      return await this.check()
    } catch (error) {
      throw failures[0] ?? error
    }
  }

  async #execute (statements: readonly string[]): Promise<void> {
    if (statements.length === 0) return
    const [text, steps] = [statements.at(-1) as string, statements.slice(0, -1)]
    await this.#driver.run({ text, steps, writes: true, returns: false, kept: false }, [])
  }

  async #inspect (): Promise<Inspection> {
    const definition = this.#definition
    const found = await this.#driver.describe()
    const statements = new TableStatements(definition, this.#dialect)
    if (found !== undefined) {
      return { found, misfits: new TableCheck(definition, found, this.#dialect, statements).run() }
    }
    const cures = [statements.createTable(), ...definition.unique.map((group) => [statements.addIndex(group)])]
    return { found, misfits: cures.map((cure) => ({ fault: 'the table is missing', cure })) }
  }
}

/** Returns whether a migration may repair something without the app. */
function isCurable ({ cure, obstacle }: Misfit): boolean {
  return cure !== undefined && obstacle === undefined
}
