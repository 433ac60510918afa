import { InvalidOptionError } from '../core/errors.js'
import type { AttributesSchema, Schema } from '../core/schema/types.js'
import type { Stamp } from '../core/stores/stamp.js'
import { checkNames, checkObject, isFunction } from '../core/util/check-option.js'
import { didYouMean } from '../core/util/words.js'
import { nameTable, type TableDescription } from '../sql/tables/description.js'
import type { DatabaseOptions } from './options.js'

type Stamps = NonNullable<DatabaseOptions['stamp']>

/** The attributes of a table that clients do not see, and those that they only read, because each write sets them. */
interface Limits {
  readonly hidden: readonly string[]
  readonly stamps: ReadonlyArray<readonly [name: string, find: Stamp]>
}

function schemasOf ({ properties }: AttributesSchema): Readonly<Record<string, Schema>> {
  return properties as Readonly<Record<string, Schema>>
}

/**
 * Checks the stamps of all tables, or of one.
 * @throws InvalidOptionError if the option is malformed, or names what no table has
 */
export function checkStamp (given: unknown, tables: readonly TableDescription[], option = 'stamp'): Stamps {
  const stamps = checkObject(option, given, 'an object of functions by attribute')
  const known = [...new Set(tables.flatMap(({ attributes }) => Object.keys(schemasOf(attributes))))]
  for (const [name, find] of Object.entries(stamps)) {
    if (!isFunction(find)) throw new InvalidOptionError(option, `has "${name}", which must be a function`)
    if (known.includes(name)) continue
    const whose = tables.length === 1 ? 'the table does not have' : 'no table has'
    throw new InvalidOptionError(option, `names "${name}", which ${whose}${didYouMean(name, known)}`)
  }
  return stamps as Stamps
}

/**
 * Finds what limits the attributes of a table.
 * @throws InvalidOptionError if an attribute is unknown, or cannot be hidden or stamped
 */
export function findLimits (table: TableDescription, hide: unknown, stamps: Stamps): Limits {
  const { kind, key = [], columns, attributes, canCreate, canUpdate } = table
  const ofTable = nameTable(table)
  const schemas = schemasOf(attributes)
  const refuse = (option: string, name: string, reason: string): never => {
    throw new InvalidOptionError(option, `names "${name}" of the table "${ofTable}", ${reason}`)
  }
  const hidden = checkNames(`tables.${ofTable}.hide`, hide) ?? []
  for (const name of hidden) {
    // A view has no key. Its rows are known by the values that remain.
    if (name === (columns.id ?? 'id') || (kind === 'table' && key.includes(name))) {
      refuse('tables', name, 'which cannot be hidden, because the paths of its rows have its value')
    }
    if (!Object.hasOwn(schemas, name)) {
      refuse('tables', name, `which is not among its attributes${didYouMean(name, Object.keys(schemas))}`)
    }
  }
  const own = Object.entries(stamps).filter(([name]) => Object.hasOwn(schemas, name))
  for (const [name] of canCreate || canUpdate ? own : []) {
    const { type = 'string', readOnly = false } = schemas[name] as Schema
    if (readOnly === true || key.includes(name) || ![type].flat().includes('string')) {
      refuse('stamp', name, 'where it is not a text that can be written')
    }
  }
  return { hidden, stamps: own }
}

/** Returns the description of a table whose rows cannot be created if a new row must have what is hidden. */
export function limitTable (table: TableDescription, { hidden, stamps }: Limits): TableDescription {
  const { key, attributes, attributes: { required = [] }, canCreate, problems } = table
  const needed = hidden.find((name) => required.includes(name) &&
    schemasOf(attributes)[name]?.default === undefined && !stamps.some(([stamped]) => stamped === name))
  const problem = `Rows cannot be created: they need a value of "${needed}", which is hidden.`
  return {
    ...table,
    ...(key && { key: key.filter((name) => !hidden.includes(name)) }),
    ...(canCreate && needed !== undefined && { canCreate: false, problems: [...problems, { problem }] })
  }
}

/** Returns the schema of the attributes that clients see. */
export function limitAttributes (schema: AttributesSchema, { hidden, stamps }: Limits): AttributesSchema {
  const stamped = new Set(stamps.map(([name]) => name))
  const shown = Object.entries(schemasOf(schema)).filter(([name]) => !hidden.includes(name))
  return {
    ...schema,
    ...(schema.required && { required: schema.required.filter((name) => !hidden.includes(name)) }),
    properties: Object.fromEntries(shown.map(([name, schema]) =>
      [name, stamped.has(name) ? { ...schema, readOnly: true } : schema]))
  }
}
