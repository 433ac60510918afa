import type { ConstraintError } from '../constraint-errors.js'
import { type RawRow, type Table, type TableName, groupIndexes, readPartial } from '../dialect.js'
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

  /** Describes tables, which it finds by their quoted names, by three queries for all. */
  async describe (tables: readonly string[]): Promise<ReadonlyMap<string, Table>> {
    const ask = async (query: string): Promise<ReadonlyMap<string, RawRow[]>> => {
      const found = new Map<string, RawRow[]>()
      for (const row of await this.#ask(query, [JSON.stringify(tables)])) {
        const table = String(row.wanted)
        found.set(table, [...found.get(table) ?? [], row])
      }
      return found
    }
    const [columns, indexes, references] = [await ask(COLUMNS), await ask(INDEXES), await ask(REFERENCES)]
    return new Map([...columns].map(([table, rows]) =>
      [table, readTable(rows, indexes.get(table) ?? [], references.get(table) ?? [])]))
  }

  async tables (): Promise<readonly TableName[]> {
    const rows = await this.#ask(TABLES, [])
    return rows.map(({ name, schema, visible }) => ({
      name: String(name),
      schema: String(schema),
      isVisible: visible === 't'
    }))
  }

  /** Returns whether no other server can take part in a write. Related engines count as several servers. */
  async isSingle (): Promise<boolean> {
    try {
      const [row] = await this.#ask('SELECT version() AS version', [])
      if (!POSTGRESQL.test(String(row?.version))) return false
      const [found] = await this.#ask(OTHERS, [])
      return found?.others === 'f'
    } catch {
      return false
    }
  }

  /**
   * Returns the columns that violate a constraint, as far as they are known.
   * @param ask runs a query. @default on a connection of the pool
   */
  async columnsOf (
    kind: ConstraintError['kind'],
    { table, column, constraint, detail = '' }: ViolationError,
    ask: RunQuery = this.#ask
  ): Promise<string[]> {
    // A trigger may have written to another table.
    if (table !== undefined && !isPart(table, this.#name)) return []
    if (column !== undefined) return [column]
    const [, names] = /^[^(]*\((.*?)\)=\(/s.exec(detail) ?? []
    if (names !== undefined) {
      return [...names.matchAll(/"(?:[^"]|"")*"|[^,]+/g)]
        .map(([name]) => name.trim().replace(/^"(.*)"$/s, '$1').replaceAll('""', '"'))
    }
    if (kind !== 'check' || constraint === undefined) return []
    const rows = await ask(COLUMNS_OF_CONSTRAINT, [this.#table, constraint]).catch(() => [])
    return rows.map(({ column }) => String(column))
  }
}

/** Returns whether `table` is the table `name` or one of its shards, whose names end with a number. */
function isPart (table: string, name: string): boolean {
  return table === name || table.replace(/_\d+$/, '') === name
}

function readTable (columns: readonly RawRow[], indexes: readonly RawRow[], references: readonly RawRow[]): Table {
  return {
    columns: columns.map(({ name, type, not_null: notNull, filled, generated }) => ({
      name: String(name),
      type: String(type),
      notNull: notNull === 't',
      filled: filled === 't',
      generated: generated === 't'
    })),
    unique: groupIndexes(indexes.filter((row) => isOfKey(row) && row.condition === null)),
    partial: readPartial(indexes.filter(isOfKey)),
    references: references.map(({ column, table, rule }) => ({
      column: String(column),
      table: String(table),
      onDelete: RULES.get(rule) as string
    })),
    kind: KINDS.get(String(columns[0]?.kind)) ?? 'table',
    hasRowNumber: false
  }
}

/** Returns whether a column belongs to the key of an index. Other columns are only included (INCLUDE). */
function isOfKey ({ key, size, number }: RawRow): boolean {
  return String(key).split(' ').slice(0, Number(size)).includes(String(number))
}

/**
 * Matches the version of PostgreSQL itself, also from some packages. Related engines put their own names there.
 */
const POSTGRESQL =
  /^PostgreSQL \d+(?:\.\d+)?(?: \((?:Debian|Homebrew|Ubuntu)\b[^()]*\))?(?: on \S+)?, compiled by .*, \d\d-bit$/
/** Selects whether statements can reach other servers: by foreign tables, or by an extension. */
const OTHERS = `SELECT EXISTS (SELECT FROM pg_catalog.pg_foreign_server)
  OR EXISTS (SELECT FROM pg_catalog.pg_extension WHERE extname IN ('bdr', 'citus', 'dblink', 'plproxy')) AS others`
/** The kinds of relations other than tables, by `pg_class.relkind`. */
const KINDS: ReadonlyMap<string, Table['kind']> = new Map([
  ['p', 'partitioned table'],
  ['v', 'view'],
  ['m', 'materialized view'],
  ['f', 'foreign table']
])
/** The tables of a JSON array of quoted names. */
const WANTED = `wanted AS (SELECT w.name AS wanted, to_regclass(w.name) AS found
  FROM json_array_elements_text($1::json) AS w(name))`
// Each step replaces a domain by its base type, or an array by the type of its items. A domain of an enumeration keeps
// the name of the enumeration, because PostgreSQL compares it with no text. A text of a nondeterministic collation is
// compared as its collation says, but only in another collation can it be searched.
const COLUMNS = `WITH RECURSIVE ${WANTED}, types AS (
  SELECT w.wanted, w.found, a.attnum AS number, a.atttypid AS type, a.atttypmod AS modifier, '' AS brackets
  FROM wanted w JOIN pg_catalog.pg_attribute a ON a.attrelid = w.found
  WHERE a.attnum > 0 AND NOT a.attisdropped
  UNION ALL SELECT s.wanted, s.found, s.number, CASE t.typtype WHEN 'd' THEN t.typbasetype ELSE t.typelem END,
  CASE WHEN t.typtype = 'd' AND s.modifier = -1 THEN t.typtypmod ELSE s.modifier END,
  CASE t.typtype WHEN 'd' THEN s.brackets ELSE s.brackets || '[]' END
  FROM types s JOIN pg_catalog.pg_type t ON t.oid = s.type LEFT JOIN pg_catalog.pg_type e ON e.typarray = t.oid
  WHERE t.typtype = 'd' OR e.oid IS NOT NULL
  ) SELECT s.wanted, a.attname AS name,
  CASE WHEN t.typtype = 'e' AND s.type = a.atttypid THEN 'enum'
  WHEN l.collisdeterministic IS FALSE AND s.brackets = '' THEN 'folded text'
  ELSE format_type(s.type, s.modifier) END
  || s.brackets AS type,
  a.attnotnull AS not_null, a.atthasdef OR a.attidentity <> '' AS filled,
  a.attgenerated <> '' AS generated, c.relkind AS kind
  FROM types s JOIN pg_catalog.pg_type t ON t.oid = s.type
  JOIN pg_catalog.pg_attribute a ON a.attrelid = s.found AND a.attnum = s.number
  JOIN pg_catalog.pg_class c ON c.oid = a.attrelid
  LEFT JOIN pg_catalog.pg_collation l ON l.oid = a.attcollation
  WHERE t.typtype <> 'd' AND NOT EXISTS (SELECT FROM pg_catalog.pg_type e WHERE e.typarray = t.oid)
  ORDER BY s.wanted, a.attnum`
const TABLES = `SELECT c.relname AS name, n.nspname AS schema, pg_catalog.pg_table_is_visible(c.oid) AS visible
  FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  WHERE c.relkind IN ('r', 'p') AND n.nspname <> 'information_schema' AND n.nspname NOT LIKE 'pg\\_%'
  ORDER BY visible DESC, schema, name`
const INDEXES = `WITH ${WANTED} SELECT w.wanted, i.indexrelid AS index, i.indkey AS key, i.indnkeyatts AS size,
  a.attnum AS number, a.attname AS column, pg_get_expr(i.indpred, i.indrelid) AS condition
  FROM wanted w JOIN pg_catalog.pg_index i ON i.indrelid = w.found
  JOIN pg_catalog.pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY(i.indkey)
  WHERE i.indisunique AND i.indisvalid AND i.indexprs IS NULL`
/** Selects the foreign keys of a single column. */
const REFERENCES = `WITH ${WANTED} SELECT w.wanted, a.attname AS column, t.relname AS table, c.confdeltype AS rule
  FROM wanted w JOIN pg_catalog.pg_constraint c ON c.conrelid = w.found
  JOIN pg_catalog.pg_class t ON t.oid = c.confrelid
  JOIN pg_catalog.pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = c.conkey[1]
  WHERE c.contype = 'f' AND cardinality(c.conkey) = 1`
/** The rules for deletions (PostgreSQL, pg_constraint.confdeltype). */
export const RULES: ReadonlyMap<unknown, string> = new Map([
  ['a', 'NO ACTION'], ['r', 'RESTRICT'], ['c', 'CASCADE'], ['n', 'SET NULL'], ['d', 'SET DEFAULT']
])
const COLUMNS_OF_CONSTRAINT = `SELECT a.attname AS column
  FROM pg_catalog.pg_constraint c JOIN pg_catalog.pg_attribute a ON a.attrelid = to_regclass($1)
  AND (a.attrelid = c.conrelid AND a.attnum = ANY(c.conkey) OR a.atttypid = c.contypid AND NOT a.attisdropped)
  WHERE c.conname = $2`
