import { InvalidOptionError } from '../../core/errors.js'
import { checkOptionNames } from '../../core/util/check-option.js'
import { didYouMean } from '../../core/util/words.js'
import { REQUESTS } from '../requests.js'

/** The selection of the tables to describe. */
export interface DescribeOptions {
  /**
   * The schema of the tables, in PostgreSQL, or several. Options and references call the tables of all but the first
   * one `hr.employees`. @default all tables that `search_path` finds
   */
  readonly schema?: string | readonly string[] | undefined
  /** The names of the tables to describe. @default all but that of the option `idempotency` */
  readonly only?: readonly string[] | undefined
  /** The names of the tables to leave out. @default [] */
  readonly except?: readonly string[] | undefined
}

/**
 * Checks the options that select tables.
 * @throws UnknownOptionError or InvalidOptionError if an option is wrong
 */
export function checkSelection (options: DescribeOptions): void {
  checkOptionNames(options, ['schema', 'only', 'except'], 'describeDatabase')
  const { schema, only, except } = options
  const schemas: readonly unknown[] = schema === undefined ? ['public'] : [schema].flat()
  if (schemas.length === 0 || !schemas.every((name) => typeof name === 'string' && name !== '')) {
    throw new InvalidOptionError('schema', "must be the name of a schema, or a list such as ['sales', 'hr']")
  }
  for (const [option, names] of Object.entries({ only, except })) {
    if (names !== undefined && (!Array.isArray(names) || !names.every((name) => typeof name === 'string'))) {
      throw new InvalidOptionError(option, "must be a list of tables such as ['posts']")
    }
  }
}

/**
 * Returns the names of the selected tables, in their order.
 * @throws InvalidOptionError if an option names an unknown table
 */
export function selectTables (known: readonly string[], { only, except = [] }: DescribeOptions): readonly string[] {
  for (const [option, names] of Object.entries({ only: only ?? [], except })) {
    for (const name of names) {
      if (!known.includes(name)) {
        const hint = didYouMean(name, known)
        throw new InvalidOptionError(option, `names "${name}", which is not a table or view of the database${hint}`)
      }
    }
  }
  return known.filter((name) => (only?.includes(name) ?? name !== REQUESTS) && !except.includes(name))
}
