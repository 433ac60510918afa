import { InvalidError } from '../../errors.js'
import type { Id, Scope } from '../../resource/row.js'
import type { Attributes } from '../../schema/types.js'
import { ownMember } from '../../util/own-property.js'
import type { Filter, OrderBy, Query } from '../store.js'
import type { Reading } from './batch-plan.js'
import { isLongKind } from './column.js'
import type { Column, Dialect, Statement } from './dialect.js'
import type { Condition, Range } from './keyset.js'
import type { TableDefinition } from './table-check.js'

/** A statement with the values of its placeholders. */
export interface BoundStatement {
  readonly statement: Statement
  readonly values: readonly unknown[]
}

/** The row that a write changes. `version` is `undefined` if any version may be changed. */
export interface WriteTarget {
  readonly id: Id
  readonly version: number | undefined
  readonly scope: Scope
}

/** A statement before its text is made. */
interface Draft {
  /** Statements of one verb with the same key have the same text. */
  readonly key: string
  readonly values: readonly unknown[]
  readonly makeText: () => string
  readonly isKept?: boolean
}

/** The most statements to keep of each verb. Clients choose the attributes of a write and the order of a list. */
const KEPT = 60

type Verb = 'select' | 'list' | 'insert' | 'update' | 'delete'

/** Makes the statements that read and write rows. The text of a kept statement is made only once. */
export class Statements {
  readonly #definition: TableDefinition
  readonly #dialect: Dialect
  readonly #columns: readonly Column[]
  readonly #id: Pick<Column, 'quoted' | 'kind' | 'encode'>
  readonly #version: string
  /**
   * The names of the columns to read. They are no expressions, because RETURNING in Citus allows only immutable ones.
   */
  readonly #row: string
  readonly #kept: Readonly<Record<Verb, Map<string, Statement>>> = {
    select: new Map(),
    list: new Map(),
    insert: new Map(),
    update: new Map(),
    delete: new Map()
  }

  constructor (definition: TableDefinition, dialect: Dialect) {
    const { columns, idType } = definition
    this.#definition = definition
    this.#dialect = dialect
    this.#columns = [...columns.byAttribute.values()]
    this.#id = { quoted: dialect.quote(columns.id), kind: idType, encode: (id) => id }
    this.#version = dialect.quote(columns.version)
    this.#row = [this.#id, { quoted: this.#version }, ...this.#columns].map(({ quoted }) => quoted).join(', ')
  }

  /** Returns whether rows can have these values. For example, a column of integers never contains `'1'`. */
  canFit (filter: Filter): boolean {
    for (const by in filter) if (!this.#attributeColumn(by).fits(filter[by])) return false
    return true
  }

  select (id: Id, scope: Scope): BoundStatement {
    const conditions = conditionsOf(scope)
    return this.#bind('select', {
      key: keyOf(conditions),
      values: [id, ...this.#valuesOf(conditions)],
      makeText: () => `SELECT ${this.#row} FROM ${this.#definition.quoted} WHERE ${this.#id.quoted} = ` +
        `${this.#dialect.placeholder(1, this.#id.kind)}${this.#and(conditions, 2)}`
    })
  }

  /** Makes the statement that selects the first rows of a range. */
  selectRange (
    { conditions: bounds, order }: Range,
    { scope, filter }: Query,
    { limit, mostBytes }: Reading
  ): BoundStatement {
    const conditions = [...conditionsOf(scope), ...conditionsOf(filter), ...bounds]
    const values = [...this.#valuesOf(conditions), limit]
    const keyOfOrder = order.map(({ by, descending }) => (descending ? `-${by}` : by)).join()
    return this.#bind('list', {
      key: `${keyOf(conditions)} by ${keyOfOrder} cut ${mostBytes}`,
      values,
      makeText: () => {
        const where = conditions.length === 0 ? '' : ` WHERE ${this.#and(conditions, 1).slice(' AND '.length)}`
        const orderBy = order.map((criterion) => this.#orderBy(criterion, conditions)).join(', ')
        const row = mostBytes === undefined ? this.#row : this.#cutRow(mostBytes)
        const most = this.#dialect.placeholder(values.length)
        return `SELECT ${row} FROM ${this.#definition.quoted}${where} ORDER BY ${orderBy} LIMIT ${most}`
      },
      // Every list without a filter and an order uses this statement.
      isKept: order[0]?.by === 'id' && bounds.length <= 1 && Object.keys(filter).length === 0
    })
  }

  /**
   * Makes the statement that inserts a row. If `id` is `undefined`, the database makes the id.
   * @throws InvalidError if the table cannot keep a value
   */
  insert (id: Id | undefined, attributes: Attributes, scope: Scope): BoundStatement {
    const columns = [...this.#find(attributes, scope), ...this.#find(scope, {})]
    const values = [1, ...columns.map(({ attribute, encode }) =>
      encode(Object.hasOwn(scope, attribute) ? scope[attribute] : attributes[attribute]))]
    if (id !== undefined) values.push(id)
    return this.#bind('insert', {
      key: namesOf(columns),
      values,
      makeText: () => {
        const names = [this.#version, ...columns.map(({ quoted }) => quoted)]
        if (id !== undefined) names.push(this.#id.quoted)
        const placeholders = names.map((_, index) => this.#dialect.placeholder(index + 1)).join(', ')
        return `INSERT INTO ${this.#definition.quoted} (${names.join(', ')}) VALUES (${placeholders}) ` +
          `RETURNING ${this.#row}`
      }
    })
  }

  /**
   * Makes the statement that updates a row.
   * @throws InvalidError if the table cannot keep a value
   */
  update (changes: Attributes, target: WriteTarget): BoundStatement {
    const columns = this.#find(changes, target.scope)
    return this.#bindGuarded('update', target, {
      key: namesOf(columns),
      values: columns.map(({ attribute, encode }) => encode(changes[attribute])),
      makeText: () => {
        const set = columns.map(({ quoted }, index) => `, ${quoted} = ${this.#dialect.placeholder(index + 1)}`)
        return `UPDATE ${this.#definition.quoted} SET ${this.#version} = ${this.#version} + 1${set.join('')}`
      }
    })
  }

  delete (target: WriteTarget): BoundStatement {
    const makeText = (): string => `DELETE FROM ${this.#definition.quoted}`
    return this.#bindGuarded('delete', target, { key: '', values: [], makeText })
  }

  /** Finds the columns of attributes, in the order of the schema. A client's order thus makes no other statement. */
  #find (supplied: Attributes, scope: Scope): Column[] {
    const unknown = Object.keys(supplied).filter((name) => !this.#definition.columns.byAttribute.has(name))
    if (unknown.length > 0) {
      throw new InvalidError(Object.fromEntries(unknown.map((name) => [name, ['has no column in the table']])))
    }
    return this.#columns.filter(({ attribute }) =>
      ownMember(supplied, attribute) !== undefined && !Object.hasOwn(scope, attribute))
  }

  #bindGuarded (verb: Verb, { id, version, scope }: WriteTarget, { key, values, makeText }: Draft): BoundStatement {
    const conditions = conditionsOf(scope)
    const given = version === undefined ? [...values, id] : [...values, id, version]
    return this.#bind(verb, {
      key: `${key} ${version === undefined ? '' : 'version'} ${keyOf(conditions)}`,
      values: [...given, ...this.#valuesOf(conditions)],
      makeText: () => {
        const { placeholder } = this.#dialect
        const whereId = `${this.#id.quoted} = ${placeholder(values.length + 1, this.#id.kind)}`
        const whereVersion =
          version === undefined ? '' : ` AND ${this.#version} = ${placeholder(given.length, 'integer')}`
        const whereScope = this.#and(conditions, given.length + 1)
        return `${makeText()} WHERE ${whereId}${whereVersion}${whereScope} RETURNING ${this.#row}`
      }
    })
  }

  #bind (verb: Verb, { key, values, makeText, isKept = false }: Draft): BoundStatement {
    const known = this.#kept[verb]
    let statement = known.get(key)
    if (statement === undefined) {
      const kept = isKept || known.size < KEPT
      statement = { text: makeText(), writes: verb !== 'select' && verb !== 'list', returns: true, kept }
      if (kept) known.set(key, statement)
    }
    return { statement, values }
  }

  #cutRow (mostBytes: number): string {
    const columns = this.#columns.map((column) =>
      isLongKind(column) ? this.#dialect.selectCut(column, mostBytes) : column.quoted)
    return [this.#id.quoted, this.#version, ...columns].join(', ')
  }

  #columnOf (by: string): Pick<Column, 'quoted' | 'kind' | 'encode'> {
    return by === 'id' ? this.#id : this.#attributeColumn(by)
  }

  #attributeColumn (attribute: string): Column {
    const { table, columns } = this.#definition
    const column = columns.byAttribute.get(attribute)
    if (column === undefined) throw new TypeError(`resources: the table "${table}" has no column for "${attribute}"`)
    return column
  }

  #valuesOf (conditions: readonly Condition[]): unknown[] {
    const values: unknown[] = []
    for (const { by, value } of conditions) if (value !== null) values.push(this.#columnOf(by).encode(value))
    return values
  }

  #and (conditions: readonly Condition[], from: number): string {
    let position = from
    return conditions.map(({ by, is, value }) => {
      const { quoted, kind } = this.#columnOf(by)
      if (value === null) return ` AND ${quoted} IS ${is === '=' ? 'NULL' : 'NOT NULL'}`
      return ` AND ${quoted} ${is} ${this.#dialect.placeholder(position++, kind)}`
    }).join('')
  }

  /**
   * Returns a criterion of ORDER BY. It names the place of nulls only if the range may contain nulls and other values.
   */
  #orderBy ({ by, descending }: OrderBy, conditions: readonly Condition[]): string {
    const { quote, nullsFirst } = this.#dialect
    // A name without its table would mean a column of the result.
    const direction = `${quote(this.#definition.table)}.${this.#columnOf(by).quoted}${descending ? ' DESC' : ''}`
    if (nullsFirst || by === 'id' || conditions.some((condition) => condition.by === by)) return direction
    return `${direction} NULLS ${descending ? 'LAST' : 'FIRST'}`
  }
}

function conditionsOf (filter: Filter): Condition[] {
  return Object.keys(filter).map((by) => ({ by, is: '=', value: filter[by] as Condition['value'] }))
}

/** Returns a key that conditions with the same text share. Names contain none of its separators. */
function keyOf (conditions: readonly Condition[]): string {
  return conditions.map(({ by, is, value }) => value === null ? `${by}${is}null` : `${by}${is}`).join()
}

function namesOf (columns: readonly Column[]): string {
  return columns.map(({ attribute }) => attribute).join()
}
