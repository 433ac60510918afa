import { groupIndexes, quoteName } from '../../dialect.js'
import type { FindColumn } from '../../tables/checks/expression.js'
import { readCheck } from '../../tables/checks/keywords.js'
import type { FoundForeignKey, FoundTable, Right } from '../../tables/found-table.js'
import { findCandidates } from './candidates.js'
import type { SqliteDatabase } from '../driver.js'
import { Abilities, type Obstacle } from './abilities.js'
import { type PragmaColumn, readColumn } from './columns.js'
import { readCreateTable } from './create-table.js'
import { type Contents, type RunSampleQuery, sampleColumns, UNKNOWN } from './sample.js'

/** A table or view in the schema of SQLite. */
export interface ListedTable {
  readonly name: string
  readonly type: 'table' | 'view' | 'virtual'
  readonly isWithoutRowid: number
  /** The statement that created it. */
  readonly sql: string
}

interface PragmaIndex {
  readonly index: string
  readonly origin: 'c' | 'u' | 'pk'
  readonly column: string | null
}

interface PragmaReference {
  readonly id: number
  readonly table: string
  readonly from: string
  /** The column of the other table, or null for its primary key. */
  readonly to: string | null
}

/** What the pragmas say about a table. */
interface Structure {
  readonly columns: readonly PragmaColumn[]
  readonly indexes: readonly PragmaIndex[]
  readonly references: readonly PragmaReference[]
  readonly primaryKey: readonly string[]
  /** The column that is another name of `rowid`, which SQLite fills in. */
  readonly alias: string | undefined
}

/** Reads tables from the schema of SQLite, and from what their columns contain. */
export class SchemaReader {
  readonly #query: RunSampleQuery
  readonly #abilities: Abilities
  readonly #tables: ReadonlyMap<string, ListedTable>
  readonly #structures = new Map<string, Structure>()
  readonly #obstacles = new Map<string, ReadonlyMap<string, Obstacle>>()
  /** What the columns of each table contain, by the name of the table. */
  readonly #contents = new Map<string, ReadonlyMap<string, Contents>>()

  constructor (database: SqliteDatabase, query: RunSampleQuery, tables: readonly ListedTable[]) {
    this.#abilities = new Abilities(database)
    this.#query = query
    this.#tables = new Map(tables.map((table) => [fold(table.name), table]))
  }

  /** @throws an error of the driver if SQLite cannot read the table */
  read (table: ListedTable): FoundTable {
    const { name, type, sql } = table
    const { columns, primaryKey, indexes, alias } = this.#structureOf(table)
    const foreignKeys = this.#findForeignKeys(table)
    const { checks, collated } = type === 'table' ? readCreateTable(sql) : NOTHING
    const obstacles = this.#obstaclesOf(table)
    const contents = type === 'view' ? this.#findContentsOfView(table) : this.#contentsOf(table)
    const contentsOf = ({ name }: PragmaColumn): Contents => contents.get(name) as Contents
    const findColumn: FindColumn = ({ value }) => columns.find((column) => fold(column.name) === fold(value))?.name
    const hasFullKey = this.#hasFullKey(table)
    const { may, problems } = this.#findRights(table, hasFullKey, foreignKeys)
    return {
      name,
      kind: kindOf(type),
      columns: columns.filter(isVisible).map((column) => readColumn(column, {
        contents: contentsOf(column),
        isAlias: column.name === alias,
        hasFullKey,
        hasUnfitIds: column.name !== alias && this.#hasUnfitIds(table, column.name, contentsOf(column)),
        isExact: !collated.has(fold(column.name)),
        obstacle: obstacles.get(column.name)
      })),
      primaryKey: hasFullKey ? primaryKey : [],
      unique: groupIndexes(indexes.filter(({ origin }) => origin !== 'pk')),
      foreignKeys,
      demands: checks.flatMap((check) => readCheck(check, findColumn)),
      rowName: type === 'view' ? undefined : rowNameOf(table, columns),
      counter: MADE.test(sql) ? 'version' : undefined,
      version: 'values',
      may,
      problems
    }
  }

  /** Returns a table that cannot be read, so that nothing of it is served. */
  readBroken ({ name, type }: ListedTable, message: string): FoundTable {
    return {
      name,
      kind: kindOf(type),
      columns: [],
      primaryKey: [],
      unique: [],
      foreignKeys: [],
      demands: [],
      version: 'values',
      may: { create: false, update: false, delete: false },
      problems: [`SQLite cannot read "${name}": ${message}.`]
    }
  }

  #structureOf ({ name, isWithoutRowid }: ListedTable): Structure {
    const known = this.#structures.get(name)
    if (known !== undefined) return known
    const columns = this.#query<PragmaColumn>(COLUMNS, name)
    const indexes = this.#query<PragmaIndex>(INDEXES, name)
    const references = this.#query<PragmaReference>(REFERENCES, name)
    const key = columns.filter(({ pk }) => pk > 0).sort((a, b) => a.pk - b.pk)
    // A key of this type that has an index of its own, as `INTEGER PRIMARY KEY DESC` has, is not filled in.
    const isAlias = isWithoutRowid === 0 && key.length === 1 && /^INTEGER$/i.test((key[0] as PragmaColumn).type) &&
      indexes.every(({ origin }) => origin !== 'pk')
    const primaryKey = key.map(({ name }) => name)
    const made = { columns, indexes, references, primaryKey, alias: isAlias ? primaryKey[0] : undefined }
    this.#structures.set(name, made)
    return made
  }

  /** Returns whether no row has null in the primary key, which SQLite allows unless the columns are NOT NULL. */
  #hasFullKey (table: ListedTable): boolean {
    const { columns, alias } = this.#structureOf(table)
    const nullable = columns.filter(({ pk, notnull }) => pk > 0 && notnull === 0)
    if (nullable.length === 0 || alias !== undefined || table.isWithoutRowid === 1) return true
    const condition = nullable.map(({ name }) => `${quoteName(name)} IS NULL`).join(' OR ')
    return this.#query(`SELECT 1 FROM ${quoteName(table.name)} WHERE ${condition} LIMIT 1`).length === 0
  }

  /** Returns whether a column alone is a key, and has values besides the sampled ones that do not fit its schema. */
  #hasUnfitIds (table: ListedTable, column: string, { fits, schema: { type, format } }: Contents): boolean {
    const { primaryKey, indexes } = this.#structureOf(table)
    const keys = [primaryKey, ...groupIndexes(indexes)]
    const isKey = keys.some(([first, second]) => first === column && second === undefined)
    if (!isKey || fits === undefined || (type !== 'integer' && format !== 'uuid')) return false
    const name = quoteName(column)
    // An index serves this condition, so that the table itself is not read.
    return this.#query(`SELECT 1 FROM ${quoteName(table.name)} WHERE NOT (${fits(name)}) LIMIT 1`).length > 0
  }

  /** Returns what the columns of a table contain. */
  #contentsOf (table: ListedTable): ReadonlyMap<string, Contents> {
    const known = this.#contents.get(table.name)
    if (known !== undefined) return known
    const { columns, primaryKey } = this.#structureOf(table)
    const obstacles = this.#obstaclesOf(table)
    const numbers = this.#findKeyNumbers(table)
    const rowName = rowNameOf(table, columns)
    const order = table.type === 'table' ? (rowName === undefined ? primaryKey : [rowName]) : []
    const visible = columns.filter(isVisible)
    const candidates = visible.filter(({ name }) => !obstacles.has(name)).map(({ name, type, dflt_value: fallback }) =>
      [name, findCandidates(type, numbers.has(name), fallback ?? '')] as const)
    const sampled = sampleColumns(this.#query, { name: table.name, order }, new Map(candidates))
    const contents = new Map(visible.map(({ name }) => [name, sampled.get(name) ?? UNKNOWN]))
    this.#contents.set(table.name, contents)
    return contents
  }

  /**
   * Returns what the columns of a view contain, without evaluating it: what the columns of its tables contain that it
   * shows, or what the declared types say. If nothing is known about any column, all values are taken for texts.
   */
  #findContentsOfView (view: ListedTable): ReadonlyMap<string, Contents> {
    const obstacles = this.#obstaclesOf(view)
    const origins = this.#abilities.findOrigins(view.name)
    const contents = this.#structureOf(view).columns.map(({ name, type }): [string, Contents] => {
      if (obstacles.has(name)) return [name, UNKNOWN]
      const origin = origins.get(name)
      const table = this.#tables.get(fold(origin?.table ?? ''))
      if (origin !== undefined && table !== undefined) {
        return [name, this.#contentsOf(table).get(origin.column) ?? UNKNOWN]
      }
      // An expression has no type, and a part of a compound query may have the type BLOB with texts.
      if (type === '' || type === 'BLOB') return [name, COMPUTED]
      const { candidates: [first], whenEmpty = first } = findCandidates(type, false, '')
      return [name, whenEmpty ?? UNKNOWN]
    })
    const isIdentified = contents.some(([, { isComparable }]) => isComparable)
    if (isIdentified) return new Map(contents)
    return new Map(contents.map(([name, known]) => [name, known === COMPUTED ? TEXTS : known]))
  }

  /** Returns what SQLite cannot do with the columns. @throws an error of the driver if it can read none of them */
  #obstaclesOf (table: ListedTable): ReadonlyMap<string, Obstacle> {
    const known = this.#obstacles.get(table.name)
    if (known !== undefined) return known
    const names = this.#structureOf(table).columns.filter(isVisible).map(({ name }) => name)
    const found = this.#abilities.findObstacles(table.name, names)
    this.#obstacles.set(table.name, found)
    return found
  }

  /** Finds the columns whose numbers are ids, which are integers in every format. */
  #findKeyNumbers (table: ListedTable): ReadonlySet<string> {
    const { primaryKey, indexes } = this.#structureOf(table)
    const keys = primaryKey.length > 0 ? primaryKey : indexes.map(({ column }) => column ?? '')
    const references = this.#findForeignKeys(table).filter(({ isToPrimary }) => isToPrimary)
    return new Set([...keys, ...references.flatMap(({ columns }) => columns)])
  }

  #findForeignKeys (table: ListedTable): ReadReference[] {
    const { references } = this.#structureOf(table)
    const ids = [...new Set(references.map(({ id }) => id))]
    return ids.map((id) => this.#readReference(table.name, references.filter((reference) => reference.id === id)))
  }

  #readReference (name: string, parts: readonly PragmaReference[]): ReadReference {
    const columns = parts.map(({ from }) => from)
    const { table: to } = parts[0] as PragmaReference
    const other = this.#tables.get(fold(to))
    const fault = `Rows of "${name}" are read-only, because they refer`
    if (other?.type !== 'table') {
      return {
        columns,
        table: undefined,
        isToKey: false,
        isToPrimary: false,
        problem: `${fault} to the table "${to}", which does not exist.`
      }
    }
    const { columns: otherColumns, primaryKey, indexes } = this.#structureOf(other)
    const targets = parts.flatMap(({ to }) => (to === null ? [] : fold(to)))
    const isRequired = (name: string): boolean =>
      otherColumns.some((column) => column.name === name && column.notnull === 1)
    const key = primaryKey.length > 0 || targets.length === 0
      ? primaryKey
      : groupIndexes(indexes).find((group) => group.every(isRequired)) ?? []
    const isToPrimary = targets.length === 0 || isSameGroup(targets, key)
    const isUnique = isToPrimary || groupIndexes(indexes).some((group) => isSameGroup(targets, group))
    return {
      columns,
      table: other.name,
      isToKey: isToPrimary && columns.length === 1 && key.length === 1,
      isToPrimary,
      problem: isUnique && (targets.length > 0 || primaryKey.length === columns.length)
        ? undefined
        : `${fault} to columns of "${other.name}" that are not unique.`
    }
  }

  /** Returns which writes a table allows, and why it does not allow the others. */
  #findRights (
    table: ListedTable,
    hasFullKey: boolean,
    foreignKeys: readonly ReadReference[]
  ): Pick<FoundTable, 'may' | 'problems'> {
    const obstacles = [
      ...this.#findProblems(table, hasFullKey),
      ...foreignKeys.flatMap(({ problem }) => problem ?? [])
    ]
    if (obstacles.length > 0) return { may: { create: false, update: false, delete: false }, problems: obstacles }
    const columns = this.#structureOf(table).columns.filter(({ hidden }) => hidden === 0).map(({ name }) => name)
    const failing = [...this.#abilities.findFailingWrites(table.name, columns)]
    const can = (right: Right): boolean => !failing.some(([, rights]) => rights.includes(right))
    return {
      may: { create: can('create'), update: can('update'), delete: can('delete') },
      problems: failing.map(([fault, rights]) =>
        `Rows of "${table.name}" cannot be ${rights.map((right) => DONE[right]).join(' or ')}: ${fault}.`)
    }
  }

  /** Returns why no rows of a table can be written. */
  #findProblems (table: ListedTable, hasFullKey: boolean): string[] {
    const { name, type } = table
    const [setting] = this.#query<{ query_only: number }>('PRAGMA query_only')
    if (setting?.query_only === 1) return ['The database is read-only.']
    if (type === 'virtual') return [`The virtual table "${name}" is read-only.`]
    if (!hasFullKey) return [`Some rows of "${name}" have null in the primary key, so the table is read-only.`]
    const [compared] = [...this.#obstaclesOf(table)].flatMap(([column, { canRead }]) => canRead ? [column] : [])
    if (type !== 'view' && compared !== undefined) {
      return [`SQLite cannot compare "${compared}", so the rows of "${name}" are read-only.`]
    }
    if (type !== 'view') return []
    const isWritable = this.#query(TRIGGERS, name).length > 0
    return [`The view "${name}" is read-only${isWritable ? ', although it has triggers for writes' : ''}.`]
  }
}

/** A foreign key, and why its table cannot be written. */
interface ReadReference extends FoundForeignKey {
  readonly isToPrimary: boolean
  readonly problem: string | undefined
}

/** Matches the statement of a table that `migrate` has made, with its column for the version. */
const MADE = /(?:, |\()"version" INTEGER NOT NULL DEFAULT 1(?:,.*)?\) STRICT$/s
const DONE: Readonly<Record<Right, string>> = { create: 'created', update: 'changed', delete: 'deleted' }
const COMPUTED: Contents = {
  ...UNKNOWN,
  remark: 'has no type, so lists are neither sorted nor filtered by it. CAST it in the view'
}
const TEXTS: Contents = {
  schema: { type: 'string' },
  isComparable: true,
  remark: 'has no type, so its values are compared as texts. CAST it in the view'
}
const NOTHING = { checks: [], collated: new Set<string>() }
const COLUMNS = 'SELECT name, type, "notnull", dflt_value, pk, hidden FROM pragma_table_xinfo(?)'
/** Selects the columns of the unique indexes. The column of an expression is null. */
const INDEXES = `SELECT list.name AS "index", list.origin, info.name AS "column"
  FROM pragma_index_list(?) AS list, pragma_index_info(list.name) AS info
  WHERE list."unique" = 1 AND list.partial = 0 ORDER BY list.seq DESC, info.seqno`
const REFERENCES = 'SELECT id, "table", "from", "to" FROM pragma_foreign_key_list(?) ORDER BY id DESC, seq'
const TRIGGERS = "SELECT name FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = ? COLLATE NOCASE"

function kindOf (type: ListedTable['type']): FoundTable['kind'] {
  return type === 'view' ? 'view' : 'table'
}

function isVisible ({ hidden }: PragmaColumn): boolean {
  return hidden !== 1
}

/** Names of SQLite are equal if only the case of their ASCII letters differs. */
export function fold (name: string): string {
  return name.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
}

function isSameGroup (folded: readonly string[], group: readonly string[]): boolean {
  return folded.length === group.length && group.every((name) => folded.includes(fold(name)))
}

/** Returns a name of the number of a row that no column has, or `undefined` if rows have no number. */
function rowNameOf ({ type, isWithoutRowid }: ListedTable, columns: readonly PragmaColumn[]): string | undefined {
  if (type === 'table' && isWithoutRowid === 1) return undefined
  return ['rowid', '_rowid_', 'oid'].find((name) => columns.every((column) => fold(column.name) !== name))
}
