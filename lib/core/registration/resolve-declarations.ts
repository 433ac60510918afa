import type { FastifyInstance } from 'fastify'
import { InvalidOptionError, nameOwner, ownerOf } from '../errors.js'
import type { Format } from '../formats/format.js'
import { idParameter } from '../resource/location.js'
import type { Declaration } from '../options/declaration.js'
import type { ResourceOptions } from '../options/options.js'
import { resolveOptions, type ResolvedOptions } from '../options/resolve/options.js'
import { type SharedSchemas, bundleSchema } from '../schema/bundle.js'
import type { Store, Stores } from '../stores/store.js'
import { isObject } from '../util/own-property.js'
import { requestTable, type TableUser } from './table-request.js'

/** The checked options of declarations. The stores of those with `stores` are open. */
export interface ResolvedDeclarations {
  readonly options: ReadonlyMap<Declaration, ResolvedOptions>
  /** The stores that were opened, in the order in which they must be prepared: a foreign key needs its target. */
  readonly opened: readonly Store[]
}

/**
 * Checks the options of declarations and those nested in them, and opens their tables. Resources with the same table
 * share its store.
 * @throws InvalidOptionError, UnknownOptionError
 */
export function resolveDeclarations (
  app: FastifyInstance,
  declarations: readonly Declaration[],
  formats: ReadonlyMap<Declaration, readonly Format[]>
): ResolvedDeclarations {
  const shared = app.getSchemas()
  const options = new Map<Declaration, ResolvedOptions>()
  const tables = new Tables()
  const visit = (declaration: Declaration, parent: ResolvedOptions | undefined): void => {
    const { singleton, inherited, children } = declaration
    const resolved = nameOwner(ownerOf(declaration.options.name), () => {
      const own = bundleAttributes(declaration.options, shared)
      const resolved = resolveOptions(own, singleton, inherited.guards, formats.get(declaration))
      checkOnDelete(resolved, parent)
      return resolved
    })
    options.set(declaration, resolved)
    tables.add(resolved, parent)
    for (const child of children) visit(child, resolved)
  }
  for (const declaration of declarations) visit(declaration, undefined)
  const stores = tables.open()
  for (const [declaration, resolved] of options) {
    const store = stores.get(resolved)
    if (store !== undefined) options.set(declaration, Object.freeze({ ...resolved, store }))
  }
  return { options, opened: [...new Set(stores.values())] }
}

/**
 * Adds the shared schemas that the attributes refer to. Attributes that are not an object stay, and are refused later.
 */
function bundleAttributes (options: ResourceOptions, shared: SharedSchemas): ResourceOptions {
  const { attributes } = options
  if (attributes === undefined || !isObject(attributes)) return options
  return { ...options, attributes: bundleSchema(attributes, shared) }
}

function checkOnDelete ({ onDelete, stores }: ResolvedOptions, parent: ResolvedOptions | undefined): void {
  if (onDelete === undefined || (parent !== undefined && parent.stores === stores)) return
  throw new InvalidOptionError(
    'onDelete',
    'can be given only to a resource that is nested in another one with the same "stores"'
  )
}

/** The tables of all databases, each with the resources that use it. */
class Tables {
  readonly #users = new Map<Stores, Map<string, [TableUser, ...TableUser[]]>>()
  readonly #opened = new Map<ResolvedOptions, Store>()

  add (options: ResolvedOptions, parent: ResolvedOptions | undefined): void {
    const { stores, table } = options
    if (stores === undefined) return
    const user = { options, parent: parent && { foreignKey: foreignKeyOf(options, parent), options: parent } }
    const tables = this.#users.get(stores) ?? new Map<string, [TableUser, ...TableUser[]]>()
    this.#users.set(stores, tables)
    const users = tables.get(table)
    if (users === undefined) tables.set(table, [user])
    else users.push(user)
  }

  /** Opens all tables, and returns the stores of the resources. */
  open (): ReadonlyMap<ResolvedOptions, Store> {
    for (const tables of this.#users.values()) for (const table of tables.keys()) this.#openTable(tables, [table])
    return this.#opened
  }

  /**
   * Opens a table after those that it refers to.
   * @param path the tables that refer to each other, the last of which is opened
   */
  #openTable (tables: ReadonlyMap<string, [TableUser, ...TableUser[]]>, path: readonly string[]): void {
    const table = path.at(-1) as string
    const users = tables.get(table) as [TableUser, ...TableUser[]]
    const [{ options: first }] = users
    if (this.#opened.has(first)) return
    const owner = ownerOf((users.find(({ options }) => options.schema === undefined)?.options ?? first).name)
    nameOwner(owner, () => {
      for (const { parent } of users) {
        if (parent === undefined || parent.options.stores !== first.stores || parent.options.table === table) continue
        if (path.includes(parent.options.table)) {
          throw new InvalidOptionError(
            'stores',
            `cannot have tables that refer to each other: ${path.join(', ')}; give one of them a "store" of its own`
          )
        }
        this.#openTable(tables, [...path, parent.options.table])
      }
      const store = (first.stores as Stores).open(requestTable(table, users))
      for (const { options } of users) this.#opened.set(options, store)
    })
  }
}

/** Returns the attribute with the id of the parent. */
function foreignKeyOf ({ routing }: ResolvedOptions, parent: ResolvedOptions): string {
  return routing.foreignKey ?? idParameter(parent.singular, parent.singleton ? 'id' : parent.routing.param)
}
