import type { FastifyInstance } from 'fastify'
import { InvalidOptionError, ownerOf, withOwner } from '../errors.js'
import type { Declaration, ResolvedDeclaration } from '../options/declaration.js'
import { type LoadHtml, resolveFormats } from '../options/resolve/formats.js'
import { nameResource, type ResolvedOptions, resolveOptions } from '../options/resolve/options.js'
import { idParameter } from '../modes.js'
import { bundleSchema, type SharedSchemas } from '../schema/subschemas.js'
import { noStore, type Store } from '../stores/store.js'
import { findMember, isObject } from '../util/own-property.js'
import { callStore } from './stores.js'

/**
 * Checks the options of declarations and of those nested in them.
 * @throws InvalidOptionError, UnknownOptionError
 */
export async function resolveDeclarations (
  app: FastifyInstance,
  declarations: readonly Declaration[],
  loadHtml: LoadHtml
): Promise<readonly ResolvedDeclaration[]> {
  const schemas = app.getSchemas()
  const described = new Set<unknown>()
  const resolve = async (
    declaration: Declaration,
    parent: ResolvedDeclaration | undefined
  ): Promise<ResolvedDeclaration> => {
    const { name, store } = declaration.options
    // The options depend on what the store finds in the database.
    if (typeof findMember(store, 'describe') === 'function' && !described.has(store)) {
      described.add(store)
      await callStore(app, store as Store, name, 'describe')
    }
    try {
      const options = await resolveOwn(declaration, schemas, loadHtml)
      checkNesting(options, declaration, parent?.options)
      const foreignKey = parent && (options.routing.foreignKey ?? idParameter(parent.options))
      const children: ResolvedDeclaration[] = []
      const resolved = { ...declaration, options, parent, foreignKey, children }
      for (const child of declaration.children) children.push(await resolve(child, resolved))
      return resolved
    } catch (error) {
      throw withOwner(error, ownerOf(name))
    }
  }
  const all: ResolvedDeclaration[] = []
  for (const declaration of declarations) all.push(await resolve(declaration, undefined))
  return all
}

async function resolveOwn (
  { options, singleton, inherited: { shared, guards }, live }: Declaration,
  schemas: SharedSchemas,
  loadHtml: LoadHtml
): Promise<ResolvedOptions> {
  const names = { ...nameResource(options, singleton), live }
  const formats = await resolveFormats(options, shared, names, loadHtml)
  const { attributes, roles } = options
  // Attributes that are not an object are refused later.
  const bundled = isObject(attributes) ? { ...options, attributes: bundleSchema(attributes, schemas) } : options
  // A scope may give the role of its requests to resources that have no roles.
  const isInherited = roles === undefined && options.role === shared.role
  const { role: _, ...others } = bundled
  const resolved = resolveOptions(isInherited ? others : bundled, names, formats, guards)
  const { softDelete } = options
  if (softDelete === undefined) return resolved
  const rows = live === undefined ? 'live' as const : 'deleted' as const
  return Object.freeze({ ...resolved, softDelete: { attribute: softDelete, rows } })
}

function checkNesting (
  { store, stores, onDelete, routing: { foreignKey } }: ResolvedOptions,
  { children }: Declaration,
  parent: ResolvedOptions | undefined
): void {
  if (onDelete !== undefined && (parent === undefined || parent.stores !== stores)) {
    throw new InvalidOptionError(
      'onDelete',
      'can be given only to a resource that is nested in another one with the same "stores"'
    )
  }
  if (children.length > 0 && store === noStore && stores === undefined) {
    throw new InvalidOptionError(
      'store',
      'is required, because a request for a nested resource looks up the row of this one first; give the store that ' +
        'has these rows'
    )
  }
  if (parent === undefined && foreignKey !== undefined) {
    throw new InvalidOptionError(
      'foreignKey',
      'can be given only to a resource that is nested in another one, and this one is not nested'
    )
  }
}
