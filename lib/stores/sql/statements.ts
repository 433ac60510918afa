import { InvalidError } from '../../errors.js'
import type { Id, Scope } from '../../resource/row.js'
import type { Attributes } from '../../schema/types.js'
import { type Conditions, keyOf, whereOf } from './conditions.js'
import type { Column, Dialect, Statement } from './dialect.js'
import type { VersionGuard } from './keys/versions.js'
import type { TableDefinition } from './tables/definition.js'

/** A statement with the values of its placeholders. */
export interface BoundStatement {
  readonly statement: Statement
  readonly values: readonly unknown[]
}

/** The row that a write changes. `guards` is empty if any version may be changed. */
export interface WriteTarget {
  readonly id: Id
  readonly guards: readonly VersionGuard[]
  readonly scope: Scope
}

/** A statement before its text is made. */
export interface Draft {
  /** Statements of one cache with the same key have the same text. */
  readonly key: string
  readonly values: readonly unknown[]
  readonly makeText: () => string
  readonly isKept?: boolean
  readonly isSelective?: boolean
  /** The columns that the first placeholders fill. */
  readonly fills?: readonly string[] | undefined
}

/** The most statements to keep in a cache. Clients choose the attributes of a write and the order of a list. */
const KEPT = 60

/** Keeps statements of one verb, so that the text of a kept statement is made only once. */
export class StatementCache {
  readonly #known = new Map<string, Statement>()
  readonly #writes: boolean

  constructor (writes: boolean) {
    this.#writes = writes
  }

  bind ({ key, values, makeText, isKept = false, isSelective, fills }: Draft): BoundStatement {
    const known = this.#known
    let statement = known.get(key)
    if (statement === undefined) {
      const kept = isKept || known.size < KEPT
      statement = { text: makeText(), writes: this.#writes, returns: true, kept, isSelective, fills }
      if (kept) known.set(key, statement)
    }
    return { statement, values }
  }
}

/**
 * Returns the columns to read, for `SELECT` and `RETURNING`. Only the version may be an expression, because RETURNING
 * in Citus allows only immutable ones.
 */
export function rowOf (
  { columns, ids, versions: { selected } }: TableDefinition,
  select: (column: Column) => string = ({ quoted }) => quoted
): string {
  const version = selected === undefined ? [] : [selected]
  return [...ids.selected, ...version, ...[...columns.byAttribute.values()].map(select)].join(', ')
}

/** Makes the statements that read and write one row. */
export class Statements {
  readonly #definition: TableDefinition
  readonly #dialect: Dialect
  readonly #columns: readonly Column[]
  readonly #conditions: Conditions
  readonly #row: string
  readonly #select = new StatementCache(false)
  readonly #insert = new StatementCache(true)
  readonly #update = new StatementCache(true)
  readonly #delete = new StatementCache(true)

  constructor (definition: TableDefinition, dialect: Dialect, conditions: Conditions) {
    this.#definition = definition
    this.#dialect = dialect
    this.#conditions = conditions
    this.#columns = [...definition.columns.byAttribute.values()]
    this.#row = rowOf(definition)
  }

  select (id: Id, scope: Scope): BoundStatement {
    const conditions = this.#conditions.ofRow(id, scope)
    return this.#select.bind({
      key: keyOf(conditions),
      values: this.#conditions.valuesOf(conditions),
      makeText: () => {
        const where = whereOf(this.#conditions.write(conditions, this.#conditions.placeholders(1)))
        return `SELECT ${this.#row} FROM ${this.#definition.source}${where}`
      }
    })
  }

  /**
   * Makes the statement that inserts a row. If `id` is `undefined`, the database makes the id.
   * @throws InvalidError if the table cannot keep a value
   */
  insert (id: Id | undefined, attributes: Attributes, scope: Scope): BoundStatement {
    const given = this.#find(attributes, scope).filter(({ attribute }) => attributes[attribute] !== undefined)
    const columns = [...given, ...this.#find(scope, {})]
    const { quoted: table, columns: { version }, ids, versions: { counter } } = this.#definition
    const first = counter === undefined ? [] : [counter]
    const last = id === undefined ? [] : [ids.parts[0].quoted]
    const values = [...first.map(() => 1), ...columns.map(({ attribute, encode }) =>
      encode(Object.hasOwn(scope, attribute) ? scope[attribute] : attributes[attribute])), ...last.map(() => id)]
    return this.#insert.bind({
      key: namesOf(columns),
      values,
      fills: [...first.map(() => version as string), ...columns.map(({ name }) => name)],
      makeText: () => {
        const names = [...first, ...columns.map(({ quoted }) => quoted), ...last]
        const placeholders = names.map((_, index) => this.#stored(index + 1, columns[index - first.length]))
        const given = `(${names.join(', ')}) VALUES (${placeholders.join(', ')})`
        return `INSERT INTO ${table} ${names.length === 0 ? 'DEFAULT VALUES' : given} RETURNING ${this.#row}`
      }
    })
  }

  /**
   * Makes the statement that updates a row. A removed attribute becomes NULL.
   * @throws InvalidError if the table cannot keep a value
   */
  update (changes: Attributes, target: WriteTarget): BoundStatement {
    const columns = this.#find(changes, target.scope)
    return this.#bindGuarded(this.#update, target, {
      key: namesOf(columns),
      values: columns.map(({ attribute, encode }) => encode(changes[attribute] ?? null)),
      fills: columns.map(({ name }) => name),
      makeText: () => {
        const { quoted: table, versions: { counter } } = this.#definition
        const set = columns.map((column, index) => `${column.quoted} = ${this.#stored(index + 1, column)}`)
        if (counter !== undefined) set.unshift(`${counter} = ${counter} + 1`)
        return `UPDATE ${table} SET ${set.length === 0 ? this.#touch() : set.join(', ')}`
      }
    })
  }

  delete (target: WriteTarget): BoundStatement {
    const makeText = (): string => `DELETE FROM ${this.#definition.quoted}`
    return this.#bindGuarded(this.#delete, target, { key: '', values: [], makeText })
  }

  /**
   * Finds the columns of attributes outside the scope, in the order of the schema. A client's order thus makes no other
   * statement.
   */
  #find (supplied: Attributes, scope: Scope): Column[] {
    const unknown = Object.keys(supplied).filter((name) => !this.#definition.columns.byAttribute.has(name))
    if (unknown.length > 0) {
      throw new InvalidError(Object.fromEntries(unknown.map((name) => [name, ['has no column in the table']])))
    }
    return this.#columns.filter(({ attribute }) =>
      Object.hasOwn(supplied, attribute) && !Object.hasOwn(scope, attribute))
  }

  /** Returns the placeholder of a value that is stored. */
  #stored (position: number, column: Column | undefined): string {
    return this.#dialect.placeholder(position, column?.kind === 'bytes' ? column.kind : undefined)
  }

  #bindGuarded (cache: StatementCache, { id, guards, scope }: WriteTarget, draft: Draft): BoundStatement {
    const { key, values, makeText, fills } = draft
    const conditions = this.#conditions.ofRow(id, scope)
    return cache.bind({
      key: `${key} ${guards.length > 0 ? 'version' : ''} ${keyOf(conditions)}`,
      values: values.concat(this.#conditions.valuesOf(conditions), guards.map(({ value }) => value)),
      fills,
      makeText: () => {
        const next = this.#conditions.placeholders(values.length + 1)
        const where = whereOf(this.#conditions.write(conditions, next))
        const whereVersion = guards.map(({ write }) => ` AND ${write(next)}`).join('')
        return `${makeText()}${where}${whereVersion} RETURNING ${this.#row}`
      }
    })
  }

  /** Sets a column to its own value, for an update without changes. */
  #touch (): string {
    const { quoted } = this.#columns.find(({ readOnly }) => !readOnly) ?? this.#definition.ids.parts[0]
    return `${quoted} = ${quoted}`
  }
}

function namesOf (columns: readonly Column[]): string {
  return columns.map(({ attribute }) => attribute).join()
}
