import { InvalidOptionError } from '../../../core/errors.js'
import { didYouMean } from '../../../core/util/words.js'
import type { RawRow, TextIndex } from '../../dialect.js'
import { describeTable } from '../../tables/describe-table.js'
import type { TableDescription } from '../../tables/description.js'
import { type DescribeOptions, selectTables } from '../../tables/selection.js'
import type { PostgresPool } from '../client.js'
import { PostgresDriver } from '../driver.js'
import { type CatalogParts, readCatalog } from './catalog-reader.js'

/**
 * Describes the tables and views of a PostgreSQL database.
 * @throws InvalidOptionError if a schema or a table does not exist
 */
export async function describePostgres (
  pool: PostgresPool,
  { schema, only, except }: DescribeOptions
): Promise<TableDescription[]> {
  const ask = compileAsk(pool)
  const schemas = schema === undefined ? undefined : [schema].flat()
  const find = async (only?: readonly string[]): Promise<CatalogParts> =>
    readParts(await ask(CATALOG_QUERY, [schemas, only].map((names) => names && JSON.stringify(names))))
  const parts = await find(only)
  const empty = schemas?.filter((name) => parts.table.every((table) => table.schema !== name)) ?? []
  const known = empty.length === 0 ? [] : (await ask(SCHEMAS, [])).map(({ name }) => String(name))
  const missing = empty.find((name) => !known.includes(name))
  if (missing !== undefined) {
    throw new InvalidOptionError('schema', `is "${missing}", which does not exist${didYouMean(missing, known)}`)
  }
  const names = parts.table.map(({ called }) => called)
  const isKnown = (only ?? []).every((name) => names.includes(name))
  const selected = selectTables(isKnown ? names : (await find()).table.map(({ called }) => called), { only, except })
  return readCatalog(parts, selected).map(describeTable)
}

/** Returns the name of a PostgreSQL database. */
export async function namePostgres (pool: PostgresPool): Promise<string> {
  const [row] = await compileAsk(pool)('SELECT current_database() AS name', [])
  return String(row?.name)
}

/** Returns the schemas besides these, or besides those of `search_path`, that have tables which the user may read. */
export async function findOtherSchemas (pool: PostgresPool, schemas?: readonly string[]): Promise<string[]> {
  const rows = await compileAsk(pool)(OTHER_SCHEMAS, [schemas && JSON.stringify(schemas)])
  return rows.map(({ name }) => String(name))
}

/** Returns the columns of which a column of the type `tsvector` is generated, and its text search configuration. */
export async function describePostgresIndex (
  pool: PostgresPool,
  table: string,
  index: string
): Promise<Pick<TextIndex, 'columns' | 'configuration'>> {
  const rows = await compileAsk(pool)(INDEX_QUERY, [table, index])
  const configuration = rows[0]?.configuration as string | null | undefined
  return { columns: rows.map(({ name }) => String(name)), ...(configuration && { configuration }) }
}

/** Returns the function that reads the rows of a query. */
function compileAsk (pool: PostgresPool): (text: string, values: readonly unknown[]) => Promise<readonly RawRow[]> {
  const limits = { acquireTimeout: 5000, statementTimeout: 10_000, attempts: 10 }
  const driver = new PostgresDriver({ pool, name: '', table: '', ...limits })
  return (text, values) => driver.run({ text, writes: false, returns: true, kept: false }, values)
}

/** Describes a table or view of a PostgreSQL database. Returns `undefined` if it is missing. */
export async function describePostgresTable (
  driver: PostgresDriver,
  { table, schema }: { readonly table: string, readonly schema: string | undefined }
): Promise<TableDescription | undefined> {
  const statement = { text: CATALOG_QUERY, writes: false, returns: true, kept: false }
  const values = [schema && JSON.stringify([schema]), JSON.stringify([table])]
  const parts = readParts(await driver.run(statement, values))
  const [found] = readCatalog(parts, [table])
  return found && describeTable(found)
}

const SCHEMAS = 'SELECT nspname AS name FROM pg_catalog.pg_namespace'

function readParts (rows: readonly RawRow[]): CatalogParts {
  const parts: CatalogParts = { table: [], column: [], type: [], constraint: [], index: [] }
  for (const { part, found } of rows) parts[part as keyof CatalogParts].push(JSON.parse(String(found)))
  return parts
}

/** Before PostgreSQL 15 the generated column depends on the others, and later its expression does. */
const INDEX_QUERY = `SELECT a.attname AS name,
  (regexp_match(pg_get_expr(f.adbin, f.adrelid), 'to_tsvector\\(''([^'']+)''::regconfig'))[1] AS configuration
  FROM pg_catalog.pg_attribute g JOIN pg_catalog.pg_attrdef f ON f.adrelid = g.attrelid AND f.adnum = g.attnum
  JOIN pg_catalog.pg_depend d ON (d.classid = 'pg_catalog.pg_attrdef'::regclass AND d.objid = f.oid)
  OR (d.classid = 'pg_catalog.pg_class'::regclass AND d.objid = g.attrelid AND d.objsubid = g.attnum)
  JOIN pg_catalog.pg_attribute a ON a.attrelid = g.attrelid AND a.attrelid = d.refobjid AND a.attnum = d.refobjsubid
  WHERE g.attrelid = to_regclass($1) AND g.attname = $2 AND a.attnum <> g.attnum ORDER BY a.attnum`

/** The tables and views, except those of the system. */
const RELATIONS = `pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND NOT c.relispartition AND c.relpersistence <> 't'
  AND n.nspname <> 'information_schema' AND n.nspname NOT LIKE 'pg\\_%'`
/** The condition that a table is not part of an extension. */
const IS_OWN = `NOT EXISTS (SELECT FROM pg_catalog.pg_depend d
    WHERE d.classid = 'pg_catalog.pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')`
/** The condition that a schema is in the JSON array `$1`. */
const IS_NAMED = 'n.nspname IN (SELECT json_array_elements_text($1::json))'

const OTHER_SCHEMAS = `SELECT DISTINCT n.nspname AS name FROM ${RELATIONS} AND ${IS_OWN}
  AND has_schema_privilege(n.oid, 'USAGE') AND has_any_column_privilege(c.oid, 'SELECT')
  AND NOT CASE WHEN $1::text IS NULL THEN n.nspname = ANY (current_schemas(false)) ELSE ${IS_NAMED} END ORDER BY name`

/** Writes what options call a table: its name, after its schema unless that is the first one of `$1`. */
const call = (name: string): string =>
  `CASE WHEN n.nspname <> $1::json ->> 0 THEN n.nspname || '.' ELSE '' END || ${name}`

/**
 * Selects what the catalog says about all tables, in one statement and thus at one moment. Each row has the name of a
 * part in `part` and a JSON object in `found`. `$1` is a JSON array of schemas, or null for all tables that
 * `search_path` finds. `$2` contains what the only tables to describe are called as a JSON array, or is null.
 */
const CATALOG_QUERY = `WITH tables AS (
  SELECT c.*, n.nspname, ${call('c.relname')} AS called FROM ${RELATIONS}
  AND CASE WHEN $1::text IS NULL THEN pg_catalog.pg_table_is_visible(c.oid) ELSE ${IS_NAMED} END
  AND CASE WHEN $2::text IS NULL THEN ${IS_OWN}
    ELSE ${call('c.relname')} IN (SELECT json_array_elements_text($2::json)) END
)
SELECT 'table' AS part, row_to_json(t) AS found FROM (
  SELECT oid::text AS table, relname AS name, nspname AS schema, called, relkind AS kind,
  obj_description(oid, 'pg_class') AS description,
  has_schema_privilege(relnamespace, 'USAGE') AS "isReachable",
  has_any_column_privilege(oid, 'INSERT') AS "mayCreate",
  has_any_column_privilege(oid, 'UPDATE') AS "mayUpdate",
  has_table_privilege(oid, 'DELETE') AS "mayDelete",
  coalesce(has_column_privilege(oid, (-2)::smallint, 'SELECT'), false) AS "mayReadXmin",
  current_setting('transaction_read_only') = 'on' AS "isReadOnly",
  EXISTS (SELECT FROM pg_catalog.pg_inherits i JOIN pg_catalog.pg_class p ON p.oid = i.inhparent
    WHERE i.inhparent = tables.oid AND p.relkind = 'r') AS "hasHeirs",
  (SELECT json_agg(ev_type) FROM pg_catalog.pg_rewrite r WHERE r.ev_class = tables.oid AND r.is_instead
    AND ev_type <> '1' AND r.ev_enabled <> 'D') AS rules,
  relrowsecurity AS "hasPolicies"
  FROM tables ORDER BY called <> relname, called COLLATE "C") t
UNION ALL
SELECT 'column', row_to_json(t) FROM (
  SELECT a.attrelid::text AS table, a.attnum AS number, a.attname AS name, a.atttypid::text AS type,
  a.atttypmod AS modifier, a.attndims AS dimensions, a.attnotnull AS "isNotNull", a.attidentity AS identity,
  a.attgenerated <> '' AS "isGenerated",
  pg_get_expr(d.adbin, d.adrelid) AS default, col_description(a.attrelid, a.attnum) AS description,
  coalesce(l.collisdeterministic, true) AS "isExact", l.collname AS collation,
  has_column_privilege(a.attrelid, a.attnum, 'SELECT') AS "mayRead",
  has_column_privilege(a.attrelid, a.attnum, 'INSERT') AS "mayCreate",
  has_column_privilege(a.attrelid, a.attnum, 'UPDATE') AS "mayUpdate",
  c.reltuples * (1 - s.null_frac) AS values,
  CASE WHEN s.n_distinct < 0 THEN -s.n_distinct * c.reltuples ELSE s.n_distinct END AS distinct
  FROM pg_catalog.pg_attribute a JOIN tables c ON c.oid = a.attrelid
  LEFT JOIN pg_catalog.pg_stats s ON s.schemaname = c.nspname AND s.tablename = c.relname AND s.attname = a.attname
    AND NOT s.inherited
  LEFT JOIN pg_catalog.pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
  LEFT JOIN pg_catalog.pg_collation l ON l.oid = a.attcollation
  WHERE a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attrelid, a.attnum) t
UNION ALL
SELECT 'type', row_to_json(t) FROM (
  SELECT t.oid::text AS type, t.typname AS name, t.typtype AS kind, t.typbasetype::text AS base,
  t.typtypmod AS modifier,
  t.typnotnull AS "isNotNull", t.typdefault IS NOT NULL AS "hasDefault",
  EXISTS (SELECT FROM pg_catalog.pg_type e WHERE e.oid = t.typelem AND e.typarray = t.oid) AS "isArray",
  t.typelem::text AS item,
  n.nspname = 'pg_catalog' AS "isBuiltIn",
  (SELECT json_agg(e.enumlabel ORDER BY e.enumsortorder) FROM pg_catalog.pg_enum e WHERE e.enumtypid = t.oid) AS labels,
  (SELECT json_agg(pg_get_expr(k.conbin, 0)) FROM pg_catalog.pg_constraint k
    WHERE k.contypid = t.oid AND k.contype = 'c') AS checks
  FROM pg_catalog.pg_type t JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace
  WHERE t.typtype <> 'c' OR n.nspname = 'pg_catalog'
  OR t.oid IN (SELECT a.atttypid FROM pg_catalog.pg_attribute a JOIN tables c ON c.oid = a.attrelid)) t
UNION ALL
SELECT 'constraint', row_to_json(t) FROM (
  SELECT k.conrelid::text AS table, k.contype AS kind, k.conkey AS columns,
  CASE k.contype WHEN 'c' THEN pg_get_expr(k.conbin, k.conrelid) END AS check,
  ${call('f.relname')} AS other, k.confdeltype AS rule,
  (SELECT json_agg(k.conkey[array_position(k.confkey, u.number)] ORDER BY u.position)
    FROM unnest(r.key) WITH ORDINALITY u (number, position)) AS key,
  (SELECT json_agg(a.atttypid::text) FROM pg_catalog.pg_attribute a
    WHERE a.attrelid = k.confrelid AND a.attnum = ANY (k.confkey)) AS types,
  coalesce(r.index = k.conindid, false) AS "isToPrimary",
  CASE WHEN $1::text IS NOT NULL THEN ${IS_NAMED}
    ELSE f.relnamespace = c.relnamespace OR pg_catalog.pg_table_is_visible(f.oid) END AS "isNear"
  FROM pg_catalog.pg_constraint k JOIN tables c ON c.oid = k.conrelid
  LEFT JOIN pg_catalog.pg_class f ON f.oid = k.confrelid
  LEFT JOIN pg_catalog.pg_namespace n ON n.oid = f.relnamespace
  LEFT JOIN LATERAL (SELECT i.indexrelid AS index, (i.indkey::int2[])[0:i.indnkeyatts - 1] AS key
    FROM pg_catalog.pg_index i
    WHERE i.indrelid = k.confrelid AND i.indisunique AND i.indisvalid AND i.indpred IS NULL AND i.indexprs IS NULL
    AND NOT EXISTS (SELECT FROM pg_catalog.pg_attribute a WHERE a.attrelid = i.indrelid AND NOT a.attnotnull
      AND a.attnum = ANY ((i.indkey::int2[])[0:i.indnkeyatts - 1]))
    ORDER BY i.indisprimary DESC, i.indexrelid LIMIT 1) r ON true
  WHERE k.contype = 'c' OR (k.contype = 'f' AND k.conparentid = 0) ORDER BY k.conrelid, k.conname) t
UNION ALL
SELECT 'index', row_to_json(t) FROM (
  SELECT i.indrelid::text AS table, i.indkey::text AS columns, i.indnkeyatts AS size, i.indisprimary AS "isPrimary",
  pg_get_expr(i.indpred, i.indrelid) AS condition
  FROM pg_catalog.pg_index i JOIN tables c ON c.oid = i.indrelid
  WHERE i.indisunique AND i.indisvalid AND i.indexprs IS NULL
  ORDER BY i.indrelid, i.indisprimary DESC, i.indexrelid) t`
