import { createHash } from 'node:crypto'
import { InvalidError } from '../../errors.js'
import type { GeneratedIdType } from '../../resource/resource.js'
import type { Id, Scope } from '../../resource/row.js'
import type { Attributes } from '../../schema/types.js'
import { ownMember } from '../../util/own-property.js'
import type { Filter, Order, Query } from '../store.js'
import { type Columns, isLongKind, TEXTUAL } from './column.js'
import { type Column, type Dialect, type ColumnKind, quoteTable, type Statement } from './dialect.js'
import type { Condition, Range } from './keyset.js'

/** A statement with the values of its placeholders. */
export interface Bound {
  readonly statement: Statement
  readonly values: readonly unknown[]
}

/** Which attributes are written, and how a list is sorted, is for a client to say: of each verb so many are kept. */
const KEPT = 60

type Verb = 'select' | 'list' | 'insert' | 'update' | 'delete'

/** Makes the statements of a table, each text once. */
export class Statements {
  readonly #dialect: Dialect
  readonly #columns: Columns
  readonly #all: readonly Column[]
  readonly #idType: GeneratedIdType
  readonly #table: string
  readonly #quotedTable: string
  readonly #id: string
  readonly #version: string
  /** The columns that are read. Columns and no expressions: Citus allows no other RETURNING than of immutable ones. */
  readonly #row: string
  readonly #kept: Readonly<Record<Verb, Map<string, Statement>>> = {
    select: new Map(),
    list: new Map(),
    insert: new Map(),
    update: new Map(),
    delete: new Map()
  }

  /** @param schema where the table is; undefined: where the database looks by itself */
  constructor (table: string, schema: string | undefined, columns: Columns, idType: GeneratedIdType, dialect: Dialect) {
    this.#dialect = dialect
    this.#columns = columns
    this.#all = [...columns.byAttribute.values()]
    this.#idType = idType
    this.#table = table
    this.#quotedTable = quoteTable(dialect, table, schema)
    this.#id = dialect.quote(columns.id)
    this.#version = dialect.quote(columns.version)
    this.#row = [this.#id, this.#version, ...this.#all.map(({ quoted }) => quoted)].join(', ')
  }

  /** Whether there can be rows with these values: `'1'` is in no column of integers. */
  canFit (filter: Filter): boolean {
    for (const by in filter) if (!this.#columnOf(by).fits(filter[by])) return false
    return true
  }

  /** The row of an id. */
  select (id: Id, scope: Scope): Bound {
    const conditions = conditionsOf(scope)
    return this.#bind(
      'select',
      keyOf(conditions),
      [id, ...this.#valuesOf(conditions)],
      () =>
        `SELECT ${this.#row} FROM ${this.#quotedTable} WHERE ${this.#id} = ${this.#dialect.placeholder(1, this.#idKind)}${this.#and(conditions, 2)}`
    )
  }

  /** The rows of a range, so many at the most. `mostBytes`: texts that are longer come cut; undefined: they come whole. */
  selectRange (
    { conditions: bounds, order }: Range,
    { scope, filter }: Pick<Query, 'scope' | 'filter'>,
    limit: number,
    mostBytes: number | undefined
  ): Bound {
    const conditions = [...conditionsOf(scope), ...conditionsOf(filter), ...bounds]
    const values = [...this.#valuesOf(conditions), limit]
    const key = `${keyOf(conditions)} by ${order.map(({ by, descending }) => (descending ? `-${by}` : by)).join()} cut ${mostBytes}`
    // What every list is made of has no need to be among the first.
    const isPlain = order[0]?.by === 'id' && bounds.length <= 1 && Object.keys(filter).length === 0
    return this.#bind(
      'list',
      key,
      values,
      () => {
        const where =
          conditions.length === 0 ? '' : ` WHERE ${this.#and(conditions, 1).slice(' AND '.length)}`
        const orderBy = order.map((criterion) => this.#orderBy(criterion, conditions)).join(', ')
        return `SELECT ${mostBytes === undefined ? this.#row : this.#cutRow(mostBytes)} FROM ${this.#quotedTable}${where} ORDER BY ${orderBy} LIMIT ${this.#dialect.placeholder(values.length)}`
      },
      isPlain
    )
  }

  /**
   * `id` undefined: the database makes it.
   * @throws InvalidError where the table cannot keep a value
   */
  insert (id: Id | undefined, attributes: Attributes, scope: Scope): Bound {
    const columns = [...this.#find(attributes, scope), ...this.#find(scope, {})]
    const values = [
      1,
      ...columns.map((column) =>
        column.encode(Object.hasOwn(scope, column.attribute) ? scope[column.attribute] : attributes[column.attribute])
      )
    ]
    if (id !== undefined) values.push(id)
    return this.#bind('insert', namesOf(columns), values, () => {
      const names = [this.#version, ...columns.map(({ quoted }) => quoted), ...(id === undefined ? [] : [this.#id])]
      const placeholders = names.map((_, index) => this.#dialect.placeholder(index + 1))
      return `INSERT INTO ${this.#quotedTable} (${names.join(', ')}) VALUES (${placeholders.join(', ')}) RETURNING ${this.#row}`
    })
  }

  /**
   * `version` undefined: any.
   * @throws InvalidError where the table cannot keep a value
   */
  update (id: Id, changes: Attributes, version: number | undefined, scope: Scope): Bound {
    const columns = this.#find(changes, scope)
    const values = columns.map((column) => column.encode(changes[column.attribute]))
    return this.#guarded('update', namesOf(columns), id, version, scope, values, () => {
      const set = columns.map(({ quoted }, index) => `, ${quoted} = ${this.#dialect.placeholder(index + 1)}`)
      return `UPDATE ${this.#quotedTable} SET ${this.#version} = ${this.#version} + 1${set.join('')}`
    })
  }

  /** `version` undefined: any. */
  delete (id: Id, version: number | undefined, scope: Scope): Bound {
    return this.#guarded('delete', '', id, version, scope, [], () => `DELETE FROM ${this.#quotedTable}`)
  }

  /** `collated`: whether columns of texts are told to be sorted by code points. */
  createTable (collated: boolean): Statement {
    const { columnType, collation, idType, versionType, tableOptions } = this.#dialect
    const columns = this.#all.map(
      ({ quoted, kind, required }) =>
        `${quoted} ${columnType[kind]}${collated && TEXTUAL.has(kind) ? collation : ''}${required ? ' NOT NULL' : ''}`
    )
    const all = [`${this.#id} ${idType[this.#idType]}`, `${this.#version} ${versionType}`, ...columns]
    return {
      text: `CREATE TABLE IF NOT EXISTS ${this.#quotedTable} (${all.join(', ')})${tableOptions}`,
      writes: true,
      returns: false,
      kept: false
    }
  }

  createUniqueIndex (columns: readonly string[]): Statement {
    const name = nameIndex([this.#table, ...columns], this.#dialect.longestName)
    const text = `CREATE UNIQUE INDEX IF NOT EXISTS ${this.#dialect.quote(name)} ON ${this.#quotedTable} (${columns.map((column) => this.#dialect.quote(column)).join(', ')})`
    return { text, writes: true, returns: false, kept: false }
  }

  /** The columns of what is supplied, in the order of the schema: the order of a client's makes no other statement. */
  #find (supplied: Attributes, scope: Scope): Column[] {
    const names = Object.keys(supplied)
    const unknown = names.filter((name) => !this.#columns.byAttribute.has(name))
    if (unknown.length > 0) {
      throw new InvalidError(Object.fromEntries(unknown.map((name) => [name, ['has no column to be kept in']])))
    }
    return this.#all.filter(
      ({ attribute }) => ownMember(supplied, attribute) !== undefined && !Object.hasOwn(scope, attribute)
    )
  }

  /** A write that carries its guard. */
  #guarded (
    verb: Verb,
    key: string,
    id: Id,
    version: number | undefined,
    scope: Scope,
    values: readonly unknown[],
    makeText: () => string
  ): Bound {
    const conditions = conditionsOf(scope)
    const given = [...values, id, ...(version === undefined ? [] : [version])]
    const bound = [...given, ...this.#valuesOf(conditions)]
    return this.#bind(
      verb,
      `${key} ${version === undefined ? '' : 'version'} ${keyOf(conditions)}`,
      bound,
      () => {
        const { placeholder } = this.#dialect
        const whereVersion =
          version === undefined ? '' : ` AND ${this.#version} = ${placeholder(given.length, 'integer')}`
        return `${makeText()} WHERE ${this.#id} = ${placeholder(values.length + 1, this.#idKind)}${whereVersion}${this.#and(conditions, given.length + 1)} RETURNING ${this.#row}`
      }
    )
  }

  #bind (verb: Verb, key: string, values: readonly unknown[], makeText: () => string, always = false): Bound {
    const known = this.#kept[verb]
    let statement = known.get(key)
    if (statement === undefined) {
      const kept = always || known.size < KEPT
      statement = { text: makeText(), writes: verb !== 'select' && verb !== 'list', returns: true, kept }
      if (kept) known.set(key, statement)
    }
    return { statement, values }
  }

  #cutRow (mostBytes: number): string {
    const columns = this.#all.map((column) =>
      isLongKind(column) ? this.#dialect.selectCut(column, mostBytes) : column.quoted
    )
    return [this.#id, this.#version, ...columns].join(', ')
  }

  get #idKind (): ColumnKind | undefined {
    return this.#idType === 'integer' ? 'integer' : undefined
  }

  #columnOf (attribute: string): Column {
    const column = this.#columns.byAttribute.get(attribute)
    if (column === undefined) {
      throw new TypeError(`resources: the table "${this.#table}" keeps no attribute "${attribute}"`)
    }
    return column
  }

  #quote (by: string): string {
    return by === 'id' ? this.#id : this.#columnOf(by).quoted
  }

  #valuesOf (conditions: readonly Condition[]): unknown[] {
    const values: unknown[] = []
    for (const { by, value } of conditions) {
      if (value !== null) values.push(by === 'id' ? value : this.#columnOf(by).encode(value))
    }
    return values
  }

  #and (conditions: readonly Condition[], from: number): string {
    let position = from
    return conditions
      .map(({ by, is, value }) => {
        const column = this.#quote(by)
        if (value === null) return ` AND ${column} IS ${is === '=' ? 'NULL' : 'NOT NULL'}`
        return ` AND ${column} ${is} ${this.#dialect.placeholder(position++, by === 'id' ? this.#idKind : this.#columnOf(by).kind)}`
      })
      .join('')
  }

  /** Where nulls stand must be said only of what may be null in the range. */
  #orderBy ({ by, descending }: Order[number], conditions: readonly Condition[]): string {
    // A name without its table would mean a column of the output.
    const direction = `${this.#dialect.quote(this.#table)}.${this.#quote(by)}${descending ? ' DESC' : ''}`
    if (this.#dialect.nullsFirst || by === 'id' || conditions.some((condition) => condition.by === by)) {
      return direction
    }
    return `${direction} NULLS ${descending ? 'LAST' : 'FIRST'}`
  }
}

function conditionsOf (filter: Filter): Condition[] {
  return Object.keys(filter).map((by) => ({ by, is: '=', value: filter[by] as Condition['value'] }))
}

/** What conditions with the same text share; none of these characters is one of a name's. */
function keyOf (conditions: readonly Condition[]): string {
  return conditions.map(({ by, is, value }) => value === null ? `${by}${is}null` : `${by}${is}`).join()
}

function namesOf (columns: readonly Column[]): string {
  return columns.map(({ attribute }) => attribute).join()
}

/** `posts_title_key`, or, where that might be another one's name too or is too long, one with a digest. */
function nameIndex (parts: readonly string[], most: number): string {
  const plain = [...parts, 'key'].join('_')
  if (!parts.some((part) => part.includes('_')) && Buffer.byteLength(plain) <= most) return plain
  const digest = createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 16)
  return `${Buffer.from(plain).subarray(0, Math.min(most, 63) - 17).toString().replace(/\ufffd$/, '')}_${digest}`
}
