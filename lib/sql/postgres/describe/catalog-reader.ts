import { type PartialIndex, readNullCondition } from '../../dialect.js'
import { type Demand, readCheck, readLiteral, type Token, tokenize } from '../../tables/checks.js'
import { LONG_INTEGER, markRepeating } from '../../tables/describe-table.js'
import type { FoundColumn, FoundForeignKey, FoundTable, Right } from '../../tables/description.js'
import { RULES } from '../catalog.js'
import { type CatalogType, readType } from './column-types.js'

// The rows of `CATALOG_QUERY`, by their parts.

interface CatalogTable {
  readonly table: string
  readonly name: string
  readonly schema: string
  /** The name by which options call the table: with its schema, unless that is the first one. */
  readonly called: string
  /** `r` for tables, `p` for partitioned ones, `v` for views, `m` for materialized views, `f` for foreign tables. */
  readonly kind: 'r' | 'p' | 'v' | 'm' | 'f'
  readonly description: string | null
  /** Whether the user may use the schema. */
  readonly isReachable: boolean
  readonly mayCreate: boolean
  readonly mayUpdate: boolean
  readonly mayDelete: boolean
  readonly mayReadXmin: boolean
  /** Whether the server or the session is read-only. */
  readonly isReadOnly: boolean
  /** Whether other tables inherit from it. */
  readonly hasHeirs: boolean
  /** The events that rules replace: `2` for updates, `3` for inserts, `4` for deletes. */
  readonly rules: readonly string[] | null
  /** Whether policies say which rows users may read and write (row security). */
  readonly hasPolicies: boolean
}

interface CatalogColumn {
  readonly table: string
  readonly number: number
  readonly name: string
  readonly type: string
  readonly modifier: number
  /** The declared number of dimensions of an array, or 0. */
  readonly dimensions: number
  readonly isNotNull: boolean
  /** `a` for GENERATED ALWAYS AS IDENTITY, `d` for BY DEFAULT, otherwise empty. */
  readonly identity: string
  readonly isGenerated: boolean
  readonly default: string | null
  readonly description: string | null
  readonly isExact: boolean
  /** The name of the collation, or null for a type that has none. */
  readonly collation: string | null
  readonly mayRead: boolean
  readonly mayCreate: boolean
  readonly mayUpdate: boolean
  /** The estimated number of values that are not null, or null if the table was not analyzed. */
  readonly values: number | null
  /** The estimated number of values that differ. */
  readonly distinct: number | null
}

interface CatalogConstraint {
  readonly table: string
  readonly kind: 'c' | 'f'
  /** The numbers of the columns of a foreign key. */
  readonly columns: readonly number[]
  readonly check: string | null
  readonly other: string | null
  /** The rule of a foreign key for deletions. */
  readonly rule: string
  /** The types of the columns to which a foreign key refers. */
  readonly types: readonly string[]
  /**
   * The numbers of the columns that refer to those which identify the rows of the table, or null for one of those to
   * which none refers. Null if no columns identify the rows.
   */
  readonly key: ReadonlyArray<number | null> | null
  /** Whether a foreign key refers to the primary key, or without one to the first unique index without null. */
  readonly isToPrimary: boolean
  /** Whether the table to which a foreign key refers may be among the described ones. */
  readonly isNear: boolean | null
}

interface CatalogIndex {
  readonly table: string
  /** The numbers of the columns, with those that the index only includes at the end. */
  readonly columns: string
  readonly size: number
  readonly isPrimary: boolean
  /** The condition of the rows in the index, in SQL. */
  readonly condition: string | null
}

export interface CatalogParts {
  readonly table: CatalogTable[]
  readonly column: CatalogColumn[]
  readonly type: CatalogType[]
  readonly constraint: CatalogConstraint[]
  readonly index: CatalogIndex[]
}

/** What the catalog says about one table. */
interface TableParts {
  readonly table: CatalogTable
  readonly columns: readonly CatalogColumn[]
  readonly constraints: readonly CatalogConstraint[]
  readonly indexes: readonly CatalogIndex[]
}

/** Reads the tables that are called by these names from the parts of the catalog. */
export function readCatalog ({ table, type, ...parts }: CatalogParts, names: readonly string[]): FoundTable[] {
  const types = new Map(type.map((one) => [one.type, one]))
  const columns = groupByTable(parts.column)
  const constraints = groupByTable(parts.constraint)
  const indexes = groupByTable(parts.index)
  return table.filter(({ called }) => names.includes(called)).map((table) => new TableReader({
    table,
    columns: columns.get(table.table) ?? [],
    constraints: constraints.get(table.table) ?? [],
    indexes: indexes.get(table.table) ?? []
  }, types).read())
}

function groupByTable<T extends { readonly table: string }> (parts: readonly T[]): ReadonlyMap<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const part of parts) {
    const group = groups.get(part.table)
    if (group === undefined) groups.set(part.table, [part])
    else group.push(part)
  }
  return groups
}

class TableReader {
  readonly #parts: TableParts
  readonly #types: ReadonlyMap<string, CatalogType>
  readonly #primaryKey: readonly string[]
  readonly #unique: ReadonlyArray<readonly string[]>
  readonly #partial: readonly PartialIndex[]

  constructor (parts: TableParts, types: ReadonlyMap<string, CatalogType>) {
    this.#parts = parts
    this.#types = types
    // A row of a table that inherits from this one may have the same key.
    const indexes = parts.table.hasHeirs ? [] : parts.indexes
    const groups = indexes.map(({ columns, size, isPrimary, condition }) => ({
      isPrimary,
      isNull: condition === null ? undefined : readNullCondition(condition),
      isWhole: condition === null,
      columns: columns.split(' ').slice(0, size).map((number) => this.#nameOf(Number(number)))
    }))
    this.#primaryKey = groups.find(({ isPrimary }) => isPrimary)?.columns ?? []
    this.#unique = groups.filter(({ isPrimary, isWhole }) => !isPrimary && isWhole).map(({ columns }) => columns)
    this.#partial = groups.flatMap(({ isNull, columns }) => isNull === undefined ? [] : [{ isNull, columns }])
  }

  read (): FoundTable {
    const { table, columns, constraints } = this.#parts
    const { name, schema, called, kind, description, mayReadXmin } = table
    const references = constraints.filter((constraint) => constraint.kind === 'f')
    const numbers = this.#findKeyNumbers(references)
    return {
      name,
      schema,
      qualifiedName: called === name ? undefined : called,
      kind: KINDS[kind],
      description: description ?? undefined,
      columns: isReadable(this.#parts) ? columns.map((column) => this.#readColumn(column, numbers)) : [],
      primaryKey: this.#primaryKey,
      unique: this.#unique,
      partial: this.#partial,
      foreignKeys: references.map((reference) => this.#readReference(reference)),
      demands: [
        ...constraints.flatMap(({ check }) => (check === null ? [] : readCheck(tokensOf(check), this.#findColumn))),
        ...columns.flatMap(({ name, type, modifier }) => readType(this.#types, type, modifier).checks.flatMap((check) =>
          readDomain(check, name)))
      ],
      counter: this.#isMade() ? 'version' : undefined,
      version: kind === 'r' && mayReadXmin ? 'xmin' : 'values',
      ...readRights(this.#parts)
    }
  }

  readonly #findColumn = (word: string): string | undefined =>
    this.#parts.columns.find(({ name }) => name === word)?.name

  /**
   * Returns whether `migrate` has made the table: the column of the version follows the id, or is the first one, and
   * each text is sorted by its code points.
   */
  #isMade (): boolean {
    const { columns } = this.#parts
    const at = columns.findIndex(({ name }) => name === 'version')
    const { type, isNotNull, default: fallback } = columns[at] ?? {}
    const isCounter = type === BIGINT && isNotNull === true && fallback === '1'
    const isAfterId = at === 0 || (at === 1 && (columns[0]?.identity === 'd' || columns[0]?.type === UUID))
    return isCounter && isAfterId && columns.every(({ collation }) => collation !== 'default')
  }

  #nameOf (number: number): string {
    return (this.#parts.columns.find((column) => column.number === number) as CatalogColumn).name
  }

  #readReference ({ columns, other, rule, key, isNear }: CatalogConstraint): FoundForeignKey {
    return {
      columns: columns.map((number) => this.#nameOf(number)),
      table: isNear === true && other !== null ? other : undefined,
      onDelete: RULES.get(rule) as string,
      key: key === null || key.includes(null) ? undefined : key.map((number) => this.#nameOf(number as number))
    }
  }

  /** Finds the columns whose numbers are ids, which are integers in every format. */
  #findKeyNumbers (references: readonly CatalogConstraint[]): ReadonlySet<string> {
    const keys = this.#primaryKey.length > 0 ? this.#primaryKey : this.#unique.flat()
    const numbers = references.flatMap(({ isToPrimary, types, columns }) =>
      isToPrimary || types.every((type) => SMALLER.has(type)) ? columns : [])
    return new Set([...keys, ...numbers.map((number) => this.#nameOf(number))])
  }

  #readColumn (column: CatalogColumn, keyNumbers: ReadonlySet<string>): FoundColumn {
    const { name, isNotNull, identity, isGenerated, default: made, mayRead, mayCreate, mayUpdate } = column
    const type = readType(this.#types, column.type, column.modifier)
    const isCounted = identity !== '' || (made !== null && CALL.test(made))
    // An array of several dimensions is a text in the spelling of PostgreSQL.
    const schema = type.name === 'int8' && keyNumbers.has(name)
      ? LONG_INTEGER
      : column.dimensions > 1 ? { type: 'string' } : type.schema
    return {
      name,
      schema: markRepeating(schema, { values: column.values ?? 0, distinct: column.distinct ?? 0 }),
      isNullable: !isNotNull && !type.isNotNull,
      hasDefault: made !== null || identity !== '' || type.hasDefault,
      default: made === null ? undefined : readLiteral(tokensOf(made)),
      makes: type.name === 'uuid' ? 'uuid' : INTEGERS.has(type.name) && isCounted ? 'integer' : undefined,
      isComparable: type.isComparable,
      isExact: column.isExact && type.isExact,
      isReadOnly: isGenerated || identity === 'a' || type.schema.readOnly === true,
      description: column.description ?? undefined,
      may: { read: mayRead, create: mayCreate, update: mayUpdate }
    }
  }
}

const KINDS = { r: 'table', p: 'table', v: 'view', m: 'materialized view', f: 'foreign table' } as const
/** The types `bigint` and `uuid`. */
const BIGINT = '20'
const UUID = '2950'
/** The types `smallint` and `integer`. */
const SMALLER: ReadonlySet<string> = new Set(['21', '23'])
const INTEGERS: ReadonlySet<string> = new Set(['int2', 'int4', 'int8'])
/** Matches a call of a function such as `nextval('posts_id_seq'::regclass)`. */
const CALL = /[\p{L}_"][\p{L}\p{N}_"]*\(/u

function tokensOf (sql: string): Token[] {
  return tokenize(sql, 'postgres')
}

/** Reads a CHECK constraint of a domain, in which the word VALUE is the column. */
function readDomain (check: string, column: string): Demand[] {
  return readCheck(tokensOf(check), (word) => word === 'value' ? column : undefined)
}

/** A kind of write: its words, its event in `CatalogTable.rules`, and whether the user may make it. */
const WRITES: Readonly<Record<Right, readonly [string, string, string, (table: CatalogTable) => boolean]>> = {
  create: ['create', 'created', '3', ({ mayCreate }) => mayCreate],
  update: ['change', 'changed', '2', ({ mayUpdate }) => mayUpdate],
  delete: ['delete', 'deleted', '4', ({ mayDelete }) => mayDelete]
}

/** Returns whether the user may read some column of a table. */
function isReadable ({ table, columns }: TableParts): boolean {
  return table.isReachable && (columns.length === 0 || columns.some(({ mayRead }) => mayRead))
}

/** Reads which writes a table allows, and why it does not allow the others. */
function readRights (parts: TableParts): Pick<FoundTable, 'may' | 'problems'> {
  const { name, hasPolicies } = parts.table
  const whole = findProblem(parts)
  const [create, update, remove] = (['create', 'update', 'delete'] as const)
    .map((right) => whole ?? findObstacle(right, parts.table))
  const policies = `"${name}" has row security: rows that its policies hide are not shown, and writes that they ` +
    'forbid are refused.'
  return {
    may: { create: create === undefined, update: update === undefined, delete: remove === undefined },
    problems: [...new Set([create, update, remove, hasPolicies ? policies : undefined])]
      .filter((problem) => problem !== undefined)
  }
}

/** Returns why one kind of write is impossible, or `undefined` if it is possible. */
function findObstacle (right: Right, table: CatalogTable): string | undefined {
  const { name, rules } = table
  const [verb, done, event, isGranted] = WRITES[right]
  if (!isGranted(table)) return `The database does not let you ${verb} rows of "${name}".`
  if (rules?.includes(event) === true) {
    return `A rule of "${name}" replaces statements that ${verb} rows, so rows cannot be ${done}.`
  }
}

/** Returns why no rows of a table can be written, or `undefined` if they can. */
function findProblem (parts: TableParts): string | undefined {
  const { name, schema, kind, ...table } = parts.table
  if (!table.isReachable) return `The database does not let you use the schema "${schema}".`
  if (!isReadable(parts)) return `The database does not let you read "${name}".`
  if (table.isReadOnly) return 'The database is read-only.'
  if (kind === 'f') return `The foreign table "${name}" is read-only, because its key is unknown.`
  if (kind === 'm') return `The materialized view "${name}" is read-only.`
  if (kind === 'v') return `The view "${name}" is read-only.`
  if (!table.mayCreate && !table.mayUpdate && !table.mayDelete) return `The database does not let you write "${name}".`
  if (!table.hasHeirs) return undefined
  return `Other tables inherit from "${name}", so its keys are not unique, and its rows are read-only.`
}
