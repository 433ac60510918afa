import { type PartialIndex, readPartial } from '../dialect.js'

/** A function that runs a query and returns its rows. */
export type ReadRows = <R> (text: string, ...values: unknown[]) => R[]

/** A column as `pragma_table_xinfo` describes it. */
export interface PragmaColumn {
  readonly name: string
  /** The declared type. */
  readonly type: string
  readonly notnull: number
  /** The SQL of the default. */
  readonly dflt_value: string | null
  /** The position in the primary key, from 1, or 0. */
  readonly pk: number
  /** 1 for hidden columns of virtual tables, 2 and 3 for generated columns. */
  readonly hidden: number
}

interface PragmaIndex {
  readonly index: string
  readonly origin: 'c' | 'u' | 'pk'
  readonly column: string | null
  /** The statement that made a partial index, else null. */
  readonly condition: string | null
}

export interface PragmaReference {
  readonly id: number
  readonly table: string
  readonly from: string
  /** The column of the other table, or null for its primary key. */
  readonly to: string | null
  /** The rule for deletions in SQL. */
  readonly onDelete: string
}

/** What the pragmas say about a table. */
export interface Structure {
  readonly columns: readonly PragmaColumn[]
  readonly indexes: readonly PragmaIndex[]
  readonly partial: readonly PartialIndex[]
  readonly references: readonly PragmaReference[]
  readonly primaryKey: readonly string[]
  /** The column that is another name of `rowid`, which SQLite fills in. */
  readonly alias: string | undefined
}

/** Reads what the pragmas say about a table. They find it whatever the case of its letters. */
export function readStructure (query: ReadRows, name: string, isWithoutRowid: boolean): Structure {
  const columns = query<PragmaColumn>(COLUMNS, name)
  const unique = query<PragmaIndex>(INDEXES, name)
  const indexes = unique.filter(({ condition }) => condition === null)
  const references = query<PragmaReference>(REFERENCES, name)
  const key = columns.filter(({ pk }) => pk > 0).sort((a, b) => a.pk - b.pk)
  // A key of this type that has an index of its own, as `INTEGER PRIMARY KEY DESC` has, is not filled in.
  const isAlias = !isWithoutRowid && key.length === 1 && /^INTEGER$/i.test((key[0] as PragmaColumn).type) &&
    indexes.every(({ origin }) => origin !== 'pk')
  const primaryKey = key.map(({ name }) => name)
  const partial = readPartial(unique)
  return { columns, indexes, partial, references, primaryKey, alias: isAlias ? primaryKey[0] : undefined }
}

const COLUMNS = 'SELECT name, type, "notnull", dflt_value, pk, hidden FROM pragma_table_xinfo(?)'
/** Selects the columns of the unique indexes. The column of an expression is null. */
const INDEXES = `SELECT list.name AS "index", list.origin, info.name AS "column", CASE list.partial WHEN 1
  THEN (SELECT sql FROM sqlite_master WHERE type = 'index' AND name = list.name) END AS condition
  FROM pragma_index_list(?) AS list, pragma_index_info(list.name) AS info
  WHERE list."unique" = 1 ORDER BY list.seq DESC, info.seqno`
const REFERENCES = `SELECT id, "table", "from", "to", on_delete AS "onDelete" FROM pragma_foreign_key_list(?)
  ORDER BY id DESC, seq`
