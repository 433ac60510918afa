import { InvalidOptionError } from '../../core/errors.js'
import { findMember } from '../../core/util/own-property.js'
import { capitalize } from '../../core/util/words.js'
import { ConstraintError } from '../constraint-errors.js'
import type { Dialect, Driver, RawRow, Table } from '../dialect.js'
import type { ForeignKey } from '../options.js'
import { bindTo } from '../predicates.js'
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
  /** The foreign keys that the table may lack, which only the app can add. */
  readonly gaps: readonly Misfit[]
  readonly statements: TableStatements
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

  /**
   * Throws `InvalidOptionError` if the table is missing or does not fit.
   * @param refusal why the database has refused to add what may be missing
   */
  async check (refusal?: Error): Promise<CheckedTable> {
    const definition = this.#definition
    const { found, misfits, gaps, statements } = await this.#inspect()
    if (found === undefined) throw missingTable(definition, await this.#driver.tables())
    const faults = misfits.filter(({ optional }) => optional !== true)
    if (faults.length > 0) throw misfitError(definition.table, faults)
    await this.#checkSearch()
    const warnings: string[] = []
    for (const gap of gaps) warnings.push(await this.#describeGap(gap, statements))
    const reason = refusal === undefined ? '' : `. The database has refused that: ${refusal.message}`
    for (const misfit of misfits) warnings.push(await this.#describeGap(misfit, statements) + reason)
    return { ...learnTable(definition, found), warnings }
  }

  /** Throws `InvalidOptionError` if the database cannot search by the full text index. */
  async #checkSearch (): Promise<void> {
    const { search, quoted } = this.#definition
    if (search === undefined) return
    const values: unknown[] = []
    const condition = this.#dialect.matchIndex(search, ['a'], bindTo(values, this.#dialect))
    const text = `SELECT 1 AS found FROM ${quoted} WHERE ${condition} LIMIT 1`
    try {
      await this.#driver.run({ text, writes: false, returns: true, kept: false }, values)
    } catch (error) {
      const reason = `names "${search.index}", which is no full text index of ${search.of.join(', ')}`
      throw new InvalidOptionError('search', `${reason}: ${findMember(error, 'message')}`)
    }
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
    let failures = await this.#repair(await this.#inspect())
    const { references } = this.#definition
    // Citus refuses foreign keys between tables that it does not distribute alike.
    if (failures.length > 0 && references.some(({ optional }) => optional)) {
      await this.#repair(await this.#inspect(references.filter(({ optional }) => !optional)))
      failures = [...failures, ...await this.#repair(await this.#inspect())]
    }
    try {
      return await this.check(failures.at(-1))
    } catch (error) {
      throw failures[0] ?? error
    }
  }

  /** Runs the statements for all misfits, unless something is left to the app. Returns what has failed. */
  async #repair ({ misfits }: Inspection): Promise<readonly Error[]> {
    const failures: Error[] = []
    for (const { cure } of misfits.every(isCurable) ? misfits : []) {
      try {
        await this.#execute(cure as readonly string[])
      } catch (error) {
        // Another process may run the same statements at the same time, so a failure counts only if the check fails.
        failures.push(this.#explain(cure as readonly string[], error))
      }
    }
    return failures
  }

  /** Returns an error that says which statement has failed, if rows that exist are the reason. */
  #explain (cure: readonly string[], error: unknown): Error {
    if (!(error instanceof ConstraintError)) return error as Error
    const reason = `is "${this.#definition.table}", whose rows do not allow this; change them first: ${cure.at(-1)}`
    return Object.assign(new InvalidOptionError('table', reason), { cause: error })
  }

  async #execute (statements: readonly string[]): Promise<void> {
    if (statements.length === 0) return
    const [text, steps] = [statements.at(-1) as string, statements.slice(0, -1)]
    await this.#driver.run({ text, steps, writes: true, returns: false, kept: false }, [])
  }

  /** @param known the foreign keys. @default all but those to tables that do not exist yet */
  async #inspect (known?: readonly ForeignKey[]): Promise<Inspection> {
    const references = known ?? await this.#findReferences()
    const definition = { ...this.#definition, references }
    const found = await this.#driver.describe()
    const statements = new TableStatements(definition, this.#dialect)
    if (found === undefined) {
      const cures = [statements.createTable(), ...definition.unique.map((group) => [statements.addIndex(group)])]
      const misfits = cures.map((cure) => ({ fault: 'the table is missing', cure }))
      return { found, misfits, gaps: [], statements }
    }
    const misfits: Misfit[] = []
    const gaps: Misfit[] = []
    for (const misfit of new TableCheck(definition, found, this.#dialect, statements).run()) {
      const { optional, reference, cure } = misfit
      const isAddable = reference !== undefined && cure !== undefined &&
        (await this.#query(statements.findValue(reference))).length === 0
      if (optional === true && !isAddable) gaps.push(misfit)
      else misfits.push(misfit)
    }
    return { found, misfits, gaps, statements }
  }

  /** Returns the foreign keys without those to tables that do not exist yet, which a later preparation adds. */
  async #findReferences (): Promise<readonly ForeignKey[]> {
    const { references, table, schema } = this.#definition
    const isOpen = ({ optional, table: target }: ForeignKey): boolean => optional && target !== table
    if (!this.#dialect.addsReferences || !references.some(isOpen)) return references
    const tables = await this.#driver.tables()
    return references.filter((foreignKey) => !isOpen(foreignKey) || tables.some((other) =>
      other.name === foreignKey.table && (schema === undefined ? other.isVisible : other.schema === schema)))
  }

  async #query (text: string): Promise<readonly RawRow[]> {
    return this.#driver.run({ text, writes: false, returns: true, kept: false }, [])
  }

  /** Describes a foreign key that the table may lack: how many rows break it, and the statements that add it. */
  async #describeGap ({ fault, reference }: Misfit, statements: TableStatements): Promise<string> {
    const begin = `the table ${this.#definition.quoted} is used as it is, but ${fault}`
    if (reference === undefined) return begin
    let broken = 'How many rows refer to nothing is unknown.'
    try {
      const [row] = await this.#query(statements.countOrphans(reference))
      broken = `Rows that refer to nothing: ${String(row?.orphans)}.`
    } catch {
      // The types of the two columns cannot be compared, or the database has no time.
    }
    const text = `${begin}. ${broken} To add it, mend these rows and`
    return this.#dialect.addsReferences
      ? `${text} run: ${statements.validateReference(reference).join('; ')}`
      : `${text} move all to a new table with ${statements.writeReference(reference)}: ` +
        'https://www.sqlite.org/lang_altertable.html#otheralter'
  }
}

/** Returns whether a migration may repair something without the app. */
function isCurable ({ cure, obstacle }: Misfit): boolean {
  return cure !== undefined && obstacle === undefined
}
