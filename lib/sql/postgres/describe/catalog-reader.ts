import { parseExpression } from '../../tables/checks/expression.js'
import { type Demand, readCheck } from '../../tables/checks/keywords.js'
import { type Token, tokenize } from '../../tables/checks/tokens.js'
import { LONG_INTEGER } from '../../tables/describe-column.js'
import type { FoundForeignKey, FoundColumn, FoundTable } from '../../tables/found-table.js'
import type { CatalogColumn, CatalogConstraint, CatalogParts, TableParts } from './catalog-parts.js'
import { type CatalogType, readType } from './column-types.js'
import { isReadable, readRights } from './rights.js'

/** Reads the tables of these names from the parts of the catalog. */
export function readCatalog ({ table, type, ...parts }: CatalogParts, names: readonly string[]): FoundTable[] {
  const types = new Map(type.map((one) => [one.type, one]))
  const columns = groupByTable(parts.column)
  const constraints = groupByTable(parts.constraint)
  const indexes = groupByTable(parts.index)
  return table.filter(({ name }) => names.includes(name)).map((table) => new TableReader({
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

  constructor (parts: TableParts, types: ReadonlyMap<string, CatalogType>) {
    this.#parts = parts
    this.#types = types
    // A row of a table that inherits from this one may have the same key.
    const indexes = parts.table.hasHeirs ? [] : parts.indexes
    const groups = indexes.map(({ columns, size, isPrimary }) => ({
      isPrimary,
      columns: columns.split(' ').slice(0, size).map((number) => this.#nameOf(Number(number)))
    }))
    this.#primaryKey = groups.find(({ isPrimary }) => isPrimary)?.columns ?? []
    this.#unique = groups.filter(({ isPrimary }) => !isPrimary).map(({ columns }) => columns)
  }

  read (): FoundTable {
    const { table, columns, constraints } = this.#parts
    const { name, schema, kind, description, mayReadXmin } = table
    const references = constraints.filter((constraint) => constraint.kind === 'f')
    const numbers = this.#findKeyNumbers(references)
    return {
      name,
      schema,
      kind: KINDS[kind],
      description: description ?? undefined,
      columns: isReadable(this.#parts) ? columns.map((column) => this.#readColumn(column, numbers)) : [],
      primaryKey: this.#primaryKey,
      unique: this.#unique,
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

  readonly #findColumn = ({ value }: Token): string | undefined =>
    this.#parts.columns.find(({ name }) => name === value)?.name

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

  #readReference ({ columns, other, isToKey, isNear }: CatalogConstraint): FoundForeignKey {
    return {
      columns: columns.map((number) => this.#nameOf(number)),
      table: isNear === true && other !== null ? other : undefined,
      isToKey
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
    const literal = made === null ? undefined : parseExpression(tokensOf(made), () => undefined)
    return {
      name,
      // An array of several dimensions is a text in the spelling of PostgreSQL.
      schema: type.name === 'int8' && keyNumbers.has(name)
        ? LONG_INTEGER
        : column.dimensions > 1 ? { type: 'string' } : type.schema,
      isNullable: !isNotNull && !type.isNotNull,
      hasDefault: made !== null || identity !== '' || type.hasDefault,
      default: literal?.is === 'value' ? literal.value : undefined,
      makes: type.name === 'uuid' ? 'uuid' : INTEGERS.has(type.name) && isCounted ? 'integer' : undefined,
      isComparable: type.isComparable,
      isExact: column.isExact && type.isExact,
      isReadOnly: isGenerated || identity === 'a',
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
  return tokenize(sql, { hasBrackets: false })
}

/** Reads a CHECK constraint of a domain, in which the word VALUE is the column. */
function readDomain (check: string, column: string): Demand[] {
  return readCheck(tokensOf(check), ({ value }) => (value === 'value' ? column : undefined))
}
