import { InvalidOptionError } from '../core/errors.js'
import { capitalize, wordsOf } from '../core/util/words.js'
import { nameReference } from '../core/relations/relations.js'
import type { ReferenceOptions } from '../core/options/options.js'
import { type ActionName, referencedAttribute } from '../core/resource/resource.js'
import type { AttributesSchema, Schema } from '../core/schema/types.js'
import { nameTable, type TableDescription } from '../sql/tables/description.js'
import { isObject } from '../core/util/own-property.js'
import type { TableOptions } from './options.js'
import { splitName } from './resource-names.js'

/** Returns the options that the app gives to a table. A table may be called `constructor`. */
export function tableOptionsOf (
  given: Readonly<Record<string, TableOptions>>,
  table: TableDescription
): TableOptions {
  const name = nameTable(table)
  return Object.hasOwn(given, name) ? given[name] as TableOptions : {}
}

/**
 * Returns the actions of a table, with those that the app has chosen.
 * @throws InvalidOptionError if the app has chosen one that the table cannot have
 */
export function findActions (
  table: TableDescription,
  write: boolean,
  { only, except = [], formPages = true }: Pick<TableOptions, 'only' | 'except' | 'formPages'>
): readonly ActionName[] {
  const { canCreate, canUpdate, canDelete } = table
  const possible: readonly ActionName[] = [
    'list',
    'show',
    ...(write && canCreate ? ['create', 'new'] as const : []),
    ...(write && canUpdate ? ['update', 'edit'] as const : []),
    ...(write && canDelete ? ['delete'] as const : [])
  ]
  if (only === undefined) {
    const isWanted = (action: ActionName): boolean => formPages || (action !== 'new' && action !== 'edit')
    return possible.filter((action) => isWanted(action) && ![except].flat().includes(action))
  }
  const chosen = [only].flat()
  const other = chosen.find((action) => !possible.includes(action))
  if (other === undefined) return chosen
  const cure = write ? 'which its database does not allow' : 'which needs the option "write: true"'
  throw new InvalidOptionError('tables', `has "${nameTable(table)}", whose "only" names '${other}', ${cure}`)
}

/** Adds titles to attributes whose columns have names that pages would show badly: `FIRST_NAME` → `First name`. */
export function addTitles ({ attributes, columns }: TableDescription): AttributesSchema {
  const properties = Object.entries(attributes.properties as Readonly<Record<string, Schema>>)
  const columnOf = (name: string): string => Object.hasOwn(columns, name) ? columns[name] as string : name
  const names = properties.map(([name]) => columnOf(name))
  const isLoud = names.every((name) => name === name.toUpperCase())
  return {
    ...attributes,
    properties: Object.fromEntries(properties.map(([name, schema]) => {
      const title = capitalize(splitName(columnOf(name), isLoud).join(' '))
      const isNamed = schema.title !== undefined || title === '' || title === capitalize(wordsOf(name))
      return [name, isNamed ? schema : { ...schema, title }]
    }))
  } as AttributesSchema
}

/** A resource to which attributes may refer. */
export interface ReferenceTarget {
  readonly name: string
  readonly table: TableDescription
}

/** Returns the resources to which the attributes of a table refer, without those that cannot be included. */
export function findReferences (
  { references, referenceKeys = {}, attributes }: TableDescription,
  findTarget: (table: string) => ReferenceTarget | undefined
): Readonly<Record<string, string | ReferenceOptions>> {
  const taken = new Set(['id', ...Object.keys(attributes.properties)])
  const found: Record<string, string | ReferenceOptions> = {}
  for (const [attribute, table] of Object.entries(references)) {
    const target = findTarget(table)
    if (target === undefined) continue
    const key = Object.hasOwn(referenceKeys, attribute) ? referenceKeys[attribute] : undefined
    const types = typesOfReferences(target.table, key !== undefined)
    const parts = key ?? [attribute]
    const relation = nameReference(attribute, target.name, (name) => taken.has(name))
    const fits = types.length === parts.length && !types.includes(undefined) &&
      parts.every((name, index) => typeOf(attributes, name) === types[index])
    if (!fits || taken.has(relation)) continue
    taken.add(relation)
    found[attribute] = key === undefined ? target.name : { to: target.name, key }
  }
  return found
}

/** Returns the types of the values that reference a row, or of each attribute of its key. */
function typesOfReferences ({ id, key = [], attributes }: TableDescription, isWhole: boolean): readonly unknown[] {
  if (isWhole) return key.map((name) => typeOf(attributes, name))
  const attribute = referencedAttribute({ key })
  return [attribute === 'id' ? id === 'integer' ? 'integer' : 'string' : typeOf(attributes, attribute)]
}

/** Returns the only type of an attribute besides null, unless it has several, is unknown, or is `writeOnly`. */
function typeOf ({ properties }: AttributesSchema, attribute: string): unknown {
  const schema = (properties as Schema)[attribute]
  if (!isObject(schema) || schema.writeOnly === true) return undefined
  const [type, other] = [schema.type].flat().filter((type) => type !== 'null')
  return other === undefined ? type : undefined
}
