import type { ConstraintError } from '../sql/constraint-errors.js'
import { type RawRow, type Table, type TableName, groupIndexes } from '../sql/dialect.js'
import type { ViolationError } from './errors.js'

/** A function that runs a query of the catalog. */
export type RunQuery = (text: string, values: readonly unknown[]) => Promise<readonly RawRow[]>

/** Describes a table and the server by the catalog of the database. */
export class PostgresCatalog {
  readonly #ask: RunQuery
  readonly #name: string
  readonly #table: string

  /**
   * @param name the name of the table
   * @param table the quoted name of the table, with its schema if that is known
   */
  constructor (ask: RunQuery, name: string, table: string) {
    this.#ask = ask
    this.#name = name
    this.#table = table
  }

  async describe (): Promise<Table | undefined> {
    const columns = await this.#ask(COLUMNS, [this.#table])
    if (columns.length === 0) return undefined
    const indexed = await this.#ask(INDEXES, [this.#table])
    return {
      columns: columns.map(({ name, type, not_null: notNull, filled, generated }) => ({
        name: String(name),
        type: String(type),
        notNull: notNull === 't',
        filled: filled === 't',
        generated: generated === 't'
      })),
      unique: groupIndexes(indexed.filter(isOfKey)),
      reusesIds: undefined
    }
  }

  async tables (): Promise<readonly TableName[]> {
    const rows = await this.#ask(TABLES, [])
    return rows.map(({ name, schema, visible }) => ({
      name: String(name),
      schema: String(schema),
      isVisible: visible === 't'
    }))
  }

  /** Returns false for CockroachDB, which sorts texts by their code points and rejects the collation of the dialect. */
  async needsCollation (): Promise<boolean> {
    return !(await this.#version()).startsWith('CockroachDB')
  }

  /** Returns whether no other server can take part in a write. Related engines may lack the tables of the query. */
  async isSingleServer (): Promise<boolean> {
    if (!POSTGRESQL.test(await this.#version())) return false
    const [row] = await this.#ask(OTHERS, [])
    return row?.others === 'f'
  }

  /** Returns the columns that violate a constraint, as far as they are known. */
  async columnsOf (
    kind: ConstraintError['kind'],
    { table, column, constraint, detail = '' }: ViolationError
  ): Promise<string[]> {
    // A trigger may have written to another table. A cluster may report an error of one of its shards without any
    // names.
    if (table !== undefined && !isPart(table, this.#name)) return []
    if (column !== undefined) return [column]
    if (constraint !== undefined) {
      const query = kind === 'unique' ? COLUMNS_OF_INDEX : COLUMNS_OF_CONSTRAINT
      const rows = await this.#ask(query, [this.#table, constraint]).catch(() => [])
      if (rows.length > 0) return rows.filter(isOfKey).map(({ column }) => String(column))
    }
    const [, names] = /^Key \((.*?)\)=/.exec(detail) ?? []
    return names === undefined ? [] : names.split(', ').map((name) => name.replace(/^"(.*)"$/, '$1'))
  }

  async #version (): Promise<string> {
    const [row] = await this.#ask('SELECT version() AS version', [])
    return String(row?.version)
  }
}

/** Returns whether `table` is the table `name` or one of its shards, whose names end with a number. */
function isPart (table: string, name: string): boolean {
  return table === name || table.replace(/_\d+$/, '') === name
}

/** Returns whether a column belongs to the key of an index. Other columns are only included (INCLUDE). */
function isOfKey ({ key, size, number }: RawRow): boolean {
  return key === undefined || String(key).split(' ').slice(0, Number(size)).includes(String(number))
}

/**
 * Matches the version of PostgreSQL itself, also from some packages. Related engines put their own names there.
 */
const POSTGRESQL =
  /^PostgreSQL \d+(?:\.\d+)?(?: \((?:Debian|Homebrew|Ubuntu)\b[^()]*\))?(?: on \S+)?, compiled by .*, \d\d-bit$/
/** Selects whether statements can reach other servers: by foreign tables, or by an extension. */
const OTHERS = `SELECT EXISTS (SELECT FROM pg_catalog.pg_foreign_server)
  OR EXISTS (SELECT FROM pg_catalog.pg_extension WHERE extname IN ('bdr', 'citus', 'dblink', 'plproxy')) AS others`
const COLUMNS = `SELECT a.attname AS name,
  CASE t.typtype WHEN 'e' THEN 'enum' WHEN 'd' THEN format_type(t.typbasetype, t.typtypmod)
  ELSE format_type(a.atttypid, a.atttypmod) END AS type,
  a.attnotnull AS not_null, a.atthasdef OR a.attidentity <> '' AS filled, a.attgenerated <> '' AS generated
  FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_type t ON t.oid = a.atttypid
  WHERE a.attrelid = to_regclass($1) AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum`
const TABLES = `SELECT c.relname AS name, n.nspname AS schema, pg_catalog.pg_table_is_visible(c.oid) AS visible
  FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  WHERE c.relkind IN ('r', 'p') AND n.nspname <> 'information_schema' AND n.nspname NOT LIKE 'pg\\_%'
  ORDER BY visible DESC, schema, name`
const INDEXED = `SELECT i.indexrelid AS index, i.indkey AS key, i.indnkeyatts AS size,
  a.attnum AS number, a.attname AS column
  FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid
  JOIN pg_catalog.pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY(i.indkey)
  WHERE i.indrelid = to_regclass($1)`
const INDEXES = `${INDEXED} AND i.indisunique AND i.indisvalid AND i.indpred IS NULL AND i.indexprs IS NULL`
const COLUMNS_OF_INDEX = `${INDEXED} AND c.relname = $2`
const COLUMNS_OF_CONSTRAINT = `SELECT a.attname AS column
  FROM pg_catalog.pg_constraint c JOIN pg_catalog.pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = ANY(c.conkey)
  WHERE c.conrelid = to_regclass($1) AND c.conname = $2`
