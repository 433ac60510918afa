import type { FastifyInstance } from 'fastify'
import { nameOwner, ownerOf, withOwner } from '../errors.js'
import { KNOWN_LANGUAGES, loadLanguages } from '../../html/languages/language.js'
import type { CompiledResource } from '../compiled-resource.js'
import type { RoutePath } from '../routes/route.js'
import type { NamedPath, PathNames } from '../../draw/path-helpers.js'
import type { Declaration } from '../options/declaration.js'
import type { Store } from '../stores/store.js'
import { nameScope } from '../util/functions.js'
import { findMember } from '../util/own-property.js'
import { findOpenGroups } from './check-resource.js'
import { plannedStores } from '../../database/planned-stores.js'
import { addRoutes, type SharedPaths } from '../routes/add-routes.js'
import { prepare, type PreparedResource, type Registration } from './prepare.js'
import { resolveDeclarations } from './resolve-declarations.js'
import { addName, registryOf, routeKey } from '../routes/route-registry.js'

/**
 * Registers the declared resources, each in a scope of its own. All declarations are checked before the first route is
 * added.
 * @throws InvalidOptionError, UnknownOptionError, InvalidAttributesError, ClashError
 */
export async function addResources (
  given: Omit<Registration, 'options' | 'assetOwners'>,
  declarations: readonly Declaration[]
): Promise<void> {
  const { app, names } = given
  await describeStores(app, declarations)
  const languages = await loadLanguages(languagesOf(declarations))
  const { options, opened } = resolveDeclarations(app, declarations, languages)
  const registration = { ...given, options, assetOwners: [] }
  const prepared = declarations.flatMap((declaration) => prepare(registration, declaration))
  registerNames(names, prepared)
  registerRoutes(app, prepared)
  const pathsLike = findShared(prepared)
  const rankOf = ({ compiled: { options } }: PreparedResource): number => opened.indexOf(options.store)
  for (const resource of prepared.toSorted((one, other) => rankOf(one) - rankOf(other))) {
    await prepareStore(app, resource.compiled)
  }
  for (const { compiled: { options } } of prepared) {
    for (const group of findOpenGroups(options)) {
      const names = group.map((name) => `'${name}'`).join(', ')
      app.log.warn(
        `${ownerOf(options.name)}: "unique" has [${names}] without an attribute of its "scope", so a 409 tells which ` +
          'values rows outside the scope have; if it must not, add the attribute to the group'
      )
    }
  }
  for (const resource of prepared) {
    // A resource without actions serves only as a parent: it has a store, but no routes.
    if (resource.paths.length === 0) continue
    const owner = ownerOf(resource.compiled.options.name)
    const add = (scope: FastifyInstance): void => nameOwner(owner, () => { addRoutes(scope, resource, pathsLike) })
    // Hooks, parsers and the error handler need a scope of their own. For a single resource, `app` is such a scope.
    if (prepared.length === 1) add(app)
    else await app.register(nameScope(owner, async (scope) => { add(scope) }))
  }
}

/** Returns the tags of the languages that declarations name. Values that are not valid are refused later. */
function languagesOf (declarations: readonly Declaration[]): string[] {
  return declarations.flatMap(({ options: { lang }, children }) => [
    ...[lang === 'auto' ? KNOWN_LANGUAGES : lang].flat().filter((tag) => typeof tag === 'string'),
    ...languagesOf(children)
  ])
}

/** Calls `describe` of each store once, because the options of the resources depend on it. */
async function describeStores (
  app: FastifyInstance,
  declarations: readonly Declaration[],
  described = new Set<unknown>()
): Promise<void> {
  for (const { options: { name, store }, children } of declarations) {
    if (typeof findMember(store, 'describe') === 'function' && !described.has(store)) {
      described.add(store)
      await callStore(app, store as Store, name, 'describe')
    }
    await describeStores(app, children, described)
  }
}

async function prepareStore (app: FastifyInstance, { options: { store, name } }: CompiledResource): Promise<void> {
  const planned = plannedStores()
  if (planned === undefined) await callStore(app, store, name, 'prepare')
  else planned.add(store)
}

/** Calls a method that throws if the store cannot keep the rows, and `close` when the app closes. */
async function callStore (
  app: FastifyInstance,
  store: Store,
  name: string,
  method: 'describe' | 'prepare'
): Promise<void> {
  app.addHook('onClose', async () => { await store.close?.() })
  try {
    await store[method]?.()
  } catch (error) {
    throw withOwner(error, `the store of ${ownerOf(name)}`)
  }
}

/** Returns a function that finds the paths that the router treats as one, because resources may share a path. */
function findShared (prepared: readonly PreparedResource[]): SharedPaths {
  const all = new Map<string, RoutePath[]>()
  const keyOf = ({ url, routeConstraints }: RoutePath): string => routeKey(url, routeConstraints)
  for (const path of prepared.flatMap(({ paths }) => paths)) all.set(keyOf(path), [...all.get(keyOf(path)) ?? [], path])
  return (path) => all.get(keyOf(path)) as RoutePath[]
}

/** Adds the names of all paths to `app.paths`. */
function registerNames (names: PathNames, prepared: readonly PreparedResource[]): void {
  const beside = new Map<string, NamedPath>()
  for (const { compiled, paths } of prepared) {
    for (const path of paths) {
      for (const { name = path.name } of path.routes) {
        const named = name === path.name ? path : { ...path, name }
        nameOwner(ownerOf(compiled.options.name), () => { addName(names, named, beside) })
      }
    }
  }
}

/** Adds all routes to the registry, which `printResources` prints. */
function registerRoutes (app: FastifyInstance, prepared: readonly PreparedResource[]): void {
  const registry = registryOf(app)
  for (const path of prepared.flatMap(({ paths }) => paths)) for (const route of path.routes) registry.add(path, route)
}
