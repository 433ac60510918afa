import { LONGEST_FILE } from '../../core/formats/files.js'
import { isPortableName } from '../../core/schema/legal-text.js'
import type { Schema } from '../../core/schema/types.js'
import type { OnDelete } from '../../core/stores/store.js'
import { countDigits, isDecimal } from '../../core/util/decimal.js'
import { isEmpty } from '../../core/util/own-property.js'
import { addKeywords, type Demand, isFreeText } from './checks.js'
import type { FoundColumn, FoundTable, Right, TableDescription } from './description.js'

/** The name of a column that counts the changes of its row. A column `version` may be what users call a version. */
const VERSION = 'lock_version'

/** Describes a table for stores and resources. */
export function describeTable (table: FoundTable): TableDescription {
  return new TableDescriber(table).describe()
}

/** What identifies the rows of a table. */
interface Key {
  readonly id: TableDescription['id']
  /** The column that keeps the id, and nothing that clients choose. */
  readonly column?: string
  /** The columns of the attributes that form the id. */
  readonly columns: readonly string[]
  /** Whether the database ensures that no two rows have the same id. */
  readonly isUnique: boolean
  /** Whether the id is the number of the row, which another row may get. @default false */
  readonly isRowNumber?: boolean
}

class TableDescriber {
  readonly #table: FoundTable
  /** The columns that can be served, by name. */
  readonly #columns: ReadonlyMap<string, FoundColumn>
  readonly #problems: TableDescription['problems']
  readonly #can: Record<Right, boolean>

  constructor (table: FoundTable) {
    const { columns, problems, may } = table
    this.#table = table
    this.#problems = problems.map((problem) => ({ problem }))
    this.#columns = new Map(columns.filter((column) => this.#isServed(column)).map((column) => [column.name, column]))
    this.#can = { ...may }
  }

  describe (): TableDescription {
    const { name, schema, qualifiedName, kind, description } = this.#table
    const key = this.#findKey()
    const version = this.#findVersion(key)
    const served = [...this.#columns.values()].filter(({ name }) => name !== key?.column && name !== version)
    const names = nameAttributes(served.map(({ name }) => name))
    this.#limitWrites(key, version, served)
    const described = served.map((column) =>
      [column, describeColumn(column, this.#table.demands, this.#isReadOnly(column, key))] as const)
    const required = described.filter(([column, schema]) => this.#isRequired(column, schema, key))
      .map(([{ name }]) => nameIn(names, name))
    return {
      name,
      ...(schema === undefined ? {} : { schema }),
      ...(qualifiedName === undefined ? {} : { qualifiedName }),
      kind,
      id: key?.id ?? 'string',
      ...(key === undefined || key.column !== undefined
        ? {}
        : { key: key.columns.map((column) => nameIn(names, column)) }),
      columns: {
        ...(key?.column === undefined || key.column === 'id' ? {} : { id: key.column }),
        ...Object.fromEntries([...names].flatMap(([column, attribute]) =>
          column === attribute ? [] : [[attribute, column]]))
      },
      attributes: {
        type: 'object',
        ...(description === undefined ? {} : { description }),
        ...(required.length === 0 ? {} : { required }),
        properties: Object.fromEntries(described.map(([{ name }, schema]) => [nameIn(names, name), schema]))
      },
      unique: this.#nameGroups(this.#table.unique.filter((group) => group !== key?.columns), names),
      ...this.#findPartial(names),
      ...this.#findReferences(names),
      version: version ?? this.#table.version,
      canCreate: this.#can.create,
      canUpdate: this.#can.update,
      canDelete: this.#can.delete,
      needsVersion: key?.isRowNumber === true,
      problems: this.#problems,
      isServed: key !== undefined
    }
  }

  /** Returns whether a column can be served, and notes why not. */
  #isServed ({ name, may, problem }: FoundColumn): boolean {
    const isNamed = name !== '' && name !== '__proto__'
    const reason = !isNamed
      ? `No column can be called "${name}" here.`
      : problem ?? (may.read ? undefined : `The database does not let you read the column "${name}".`)
    if (reason !== undefined) this.#problems.push({ column: name, problem: reason })
    return isNamed && may.read
  }

  /** Finds what identifies a row. Without a key that is the values of the row. */
  #findKey (): Key | undefined {
    const { primaryKey, unique, foreignKeys, kind, name, rowName } = this.#table
    const [first = ''] = primaryKey
    const makes = primaryKey.length === 1 ? this.#columns.get(first)?.makes : undefined
    // A row that shares the id of another one gets it from the client.
    if (makes !== undefined && !foreignKeys.some(({ columns }) => columns.includes(first))) {
      return { id: makes, column: first, columns: [], isUnique: true }
    }
    const keys = [primaryKey, ...unique.filter((group) =>
      group.every((name) => this.#columns.get(name)?.isNullable === false))]
    const columns = keys.find((group) => group.length > 0 && group.every((name) => this.#isComparable(name)))
    if (columns !== undefined) return { id: this.#typeOf(columns), columns, isUnique: true }
    if (rowName !== undefined && this.#columns.size > 0) {
      return { id: 'integer', column: rowName, columns: [], isUnique: true, isRowNumber: true }
    }
    const comparable = [...this.#columns.keys()].filter((name) => this.#isComparable(name))
    if (comparable.length > 0) return { id: 'string', columns: comparable, isUnique: false }
    if (this.#columns.size > 0 || this.#problems.length === 0) {
      this.#problems.push({ problem: `No column of the ${kind} "${name}" can identify its rows, so it is not served.` })
    }
  }

  #isComparable (name: string): boolean {
    return this.#columns.get(name)?.isComparable === true
  }

  #typeOf (columns: readonly string[]): TableDescription['id'] {
    if (columns.length > 1) return 'string'
    const { schema: { type, format } } = this.#columns.get(columns[0] as string) as FoundColumn
    return type === 'integer' ? 'integer' : format === 'uuid' ? 'uuid' : 'string'
  }

  /**
   * Finds the column that counts the changes of a row: the one that `migrate` made, or else one of the usual name. A
   * column that is part of a key or refers to another table has another meaning.
   */
  #findVersion (key: Key | undefined): string | undefined {
    const { primaryKey, unique, foreignKeys, counter, counter: name = VERSION } = this.#table
    if (!this.#can.update || key?.isUnique !== true || key.isRowNumber === true) return undefined
    const others = new Set([primaryKey, ...unique, ...foreignKeys.map(({ columns }) => columns)].flat())
    const column = this.#columns.get(name)
    if (column === undefined || this.#isReadOnly(column, key) || others.has(name)) return undefined
    return name === counter || (column.schema.type === 'integer' && !column.isNullable) ? name : undefined
  }

  /** Notes which writes are impossible, and why. */
  #limitWrites (key: Key | undefined, version: string | undefined, served: readonly FoundColumn[]): void {
    const { name: table, kind, columns } = this.#table
    const can = this.#can
    if (!can.create && !can.update && !can.delete) return
    if (key?.isUnique !== true) {
      can.create = can.update = can.delete = false
      if (key === undefined) return
      this.#problems.push({ problem: `The ${kind} "${table}" ${this.#describeKey()}, so its rows are read-only.` })
      return
    }
    // The version of such a row must tell it from all others.
    if (key.isRowNumber === true && columns.some(({ name }) => !this.#columns.has(name))) {
      can.update = can.delete = false
    } else if (key.isRowNumber === true) {
      this.#problems.push({
        problem: `The ${kind} "${table}" ${this.#describeKey()}, so updates and deletions must name the version of ` +
          'their row, and after VACUUM links may lead to other rows.'
      })
    }
    for (const column of columns) {
      const { name, isNullable, hasDefault } = column
      const isKey = key.columns.includes(name)
      const isFilled = name === key.column || name === version || hasDefault || (!isKey && isNullable)
      if (!can.create || isFilled || (this.#columns.has(name) && !this.#isReadOnly(column, key))) continue
      can.create = false
      const problem = `Rows cannot be created: they need a value of "${name}", which cannot be written.`
      this.#problems.push({ column: name, problem })
    }
    can.update &&= served.some((column) => !key.columns.includes(column.name) && !this.#isReadOnly(column, key))
  }

  /** Says why the primary key does not identify the rows. */
  #describeKey (): string {
    const obstacles = this.#table.primaryKey.filter((name) => !this.#isComparable(name)).map((name) => `"${name}"`)
    return obstacles.length === 0
      ? `has no ${this.#table.rowName === undefined ? '' : 'complete '}primary key`
      : `has ${obstacles.join(' and ')} in its primary key, which paths cannot contain`
  }

  /** Returns whether clients cannot write a column. Updates never write the columns of a key. */
  #isReadOnly ({ name, isReadOnly, may }: FoundColumn, key: Key | undefined): boolean {
    const { create, update } = this.#table.may
    return isReadOnly || (create && !may.create) || (update && !may.update && key?.columns.includes(name) !== true)
  }

  /**
   * Returns whether an attribute is required. Its default in the schema is the value of a create that leaves it out. A
   * default that only the database can compute needs an optional attribute.
   */
  #isRequired (column: FoundColumn, schema: Schema, key: Key | undefined): boolean {
    const { name, isNullable, hasDefault } = column
    if (key?.isUnique !== true || this.#isReadOnly(column, key)) return false
    return (key.columns.includes(name) || !isNullable) && (!hasDefault || schema.default !== undefined)
  }

  #findPartial (names: ReadonlyMap<string, string>): Pick<TableDescription, 'uniqueWhereNull'> {
    const found = new Map<string, string[][]>()
    for (const { isNull, columns } of this.#table.partial) {
      const attribute = names.get(isNull)
      const groups = this.#nameGroups([columns], names)
      if (attribute === undefined || groups.length === 0) continue
      found.set(attribute, [...found.get(attribute) ?? [], ...groups])
    }
    return found.size === 0 ? {} : { uniqueWhereNull: Object.fromEntries(found) }
  }

  #nameGroups (groups: ReadonlyArray<readonly string[]>, names: ReadonlyMap<string, string>): string[][] {
    return groups.filter((group) => group.every((name) => names.has(name) && this.#isComparable(name)))
      .map((group) => group.map((name) => nameIn(names, name)))
  }

  #findReferences (
    names: ReadonlyMap<string, string>
  ): Pick<TableDescription, 'references' | 'referenceKeys' | 'onDelete'> {
    const references: Record<string, string> = {}
    const referenceKeys: Record<string, string[]> = {}
    const onDelete: Record<string, OnDelete> = {}
    const { foreignKeys } = this.#table
    for (const foreignKey of foreignKeys) {
      const { columns, table, key = [], onDelete: rule } = foreignKey
      const attributes = key.flatMap((column) => names.get(column) ?? [])
      // The column of a tenant is in several foreign keys.
      const shared = foreignKeys.flatMap((other) => other === foreignKey ? [] : other.columns)
      const own = key.filter((column) => !shared.includes(column))
      const attribute = names.get(columns.findLast((column) => (own.length > 0 ? own : key).includes(column)) ?? '')
      if (table === undefined || attribute === undefined || attributes.length < key.length) continue
      // A foreign key of one column says the same, with the rule of that column.
      if (Object.hasOwn(references, attribute) && columns.length > 1) continue
      references[attribute] = table
      delete referenceKeys[attribute]
      if (attributes.length > 1) referenceKeys[attribute] = attributes
      const known = RULES.get(rule)
      if (known !== undefined) onDelete[attribute] = known
    }
    return { references, ...isEmpty(referenceKeys) ? {} : { referenceKeys }, onDelete }
  }
}

/** The rules of SQL for deletions that a store has, too. */
const RULES: ReadonlyMap<string, OnDelete> = new Map([
  ['NO ACTION', 'restrict'], ['RESTRICT', 'restrict'], ['CASCADE', 'cascade'], ['SET NULL', 'set null']
])

function nameIn (names: ReadonlyMap<string, string>, column: string): string {
  return names.get(column) as string
}

/**
 * Names the attributes of columns. An attribute has the name of its column if that is a name in XML, and not `id`.
 * Otherwise each other character becomes `_`: `first name` becomes `first_name`, `2nd` becomes `_2nd`, and `id` becomes
 * `id_`. A number at the end, such as in `first_name_2`, distinguishes the name from those of other columns.
 */
function nameAttributes (columns: readonly string[]): ReadonlyMap<string, string> {
  const taken = new Set(['id', ...columns.filter(isName)])
  return new Map(columns.map((column) => [column, isName(column) ? column : makeName(column, taken)]))
}

function isName (column: string): boolean {
  return isPortableName(column) && column !== 'id'
}

function makeName (column: string, taken: Set<string>): string {
  const plain = Array.from(column, (character) => (isPortableName(`_${character}`) ? character : '_')).join('')
  const base = plain === 'id' ? 'id_' : isPortableName(plain) ? plain : `_${plain}`
  let name = base
  for (let number = 2; taken.has(name); number++) name = `${base}_${number}`
  taken.add(name)
  return name
}

/** The schema of a column of bytes, a file. A stored value may be longer. */
export const BYTES: Schema = { type: 'string', contentEncoding: 'base64', maxLength: LONGEST_FILE }

/** The fewest values that say whether those of a column repeat. */
const FEWEST = 10

/**
 * Marks the schema of a text of which more than a tenth of the rows have a value of another row. Pages do not name rows
 * by such a text.
 */
export function markRepeating (schema: Schema, { values, distinct }: ValueCounts): Schema {
  const repeats = isFreeText(schema) && values >= FEWEST && distinct < 0.9 * values
  return repeats ? { ...schema, 'x-repeats': true } : schema
}

/** How many values a column has that are not null, and how many of them differ. */
export interface ValueCounts {
  readonly values: number
  readonly distinct: number
}

/** The schema of an integer of eight bytes in a key, or in a reference to a key. */
export const LONG_INTEGER: Schema = { type: 'integer', format: 'int64' }

/** Returns the schema of the attribute of a column. */
function describeColumn (column: FoundColumn, demands: readonly Demand[], isReadOnly: boolean): Schema {
  const { name, isExact, isNullable, description } = column
  const schema = addKeywords(column.schema, demands.filter((demand) => demand.column === name), isExact)
  const fallback = schema.format === 'decimal' ? spellDecimal(column.default, schema) : column.default
  return {
    ...(isNullable ? allowNull(schema) : refuseNull(schema)),
    ...(!isReadOnly && isFitting(fallback, schema) ? { default: fallback } : {}),
    ...(isReadOnly ? { readOnly: true } : {}),
    ...(description === undefined ? {} : { description })
  }
}

/** Allows null beside the values of a schema. A schema without a type allows it already. */
function allowNull (schema: Schema): Schema {
  if (schema.type === undefined) return schema
  const choices = Array.isArray(schema.enum) ? { enum: [...schema.enum, null] } : {}
  return { ...schema, type: [schema.type, 'null'].flat(), ...choices }
}

/** The types of JSON besides null. */
const ALL_BUT_NULL = ['object', 'array', 'string', 'number', 'boolean']

/** Refuses null in a column of JSON that must not be null. A schema without a type would allow it. */
function refuseNull (schema: Schema): Schema {
  return schema.type === undefined && schema.enum === undefined ? { type: ALL_BUT_NULL, ...schema } : schema
}

/** Returns whether a default is certain to be valid. A text with a format may need another spelling. */
function isFitting (value: unknown, schema: Schema): boolean {
  const { type, enum: choices } = schema
  if (Array.isArray(choices)) return choices.includes(value)
  if (type === 'integer') return Number.isInteger(value) && isWithin(value as number, schema)
  if (type === 'number') return Number.isFinite(value) && isWithin(value as number, schema)
  if (type === 'boolean') return typeof value === 'boolean'
  if (schema.format === 'decimal') return value !== undefined
  return isFreeText(schema) && isOfLength(value, schema)
}

/** The most digits after the point of a decimal that has all digits of its scale. */
const MOST_PLACES = 20

/** Spells a number with the places that its column shows. Returns `undefined` if the schema does not allow it. */
function spellDecimal (value: unknown, { precision, scale }: Schema): string | undefined {
  if (typeof value !== 'number') return undefined
  const text = typeof scale === 'number' ? value.toFixed(Math.min(scale, MOST_PLACES)) : String(value)
  if (!isDecimal(text) || Number(text) !== value) return undefined
  return countDigits(text).whole <= bound(precision, Infinity) - bound(scale, 0) ? text : undefined
}

function isWithin (value: number, { minimum, maximum, exclusiveMinimum, exclusiveMaximum }: Schema): boolean {
  return value >= bound(minimum, -Infinity) && value <= bound(maximum, Infinity) &&
    value > bound(exclusiveMinimum, -Infinity) && value < bound(exclusiveMaximum, Infinity)
}

function isOfLength (value: unknown, { minLength, maxLength }: Schema): boolean {
  if (typeof value !== 'string') return false
  const { length } = Array.from(value)
  return length >= bound(minLength, 0) && length <= bound(maxLength, Infinity)
}

function bound (value: unknown, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise
}
