import type { FastifyInstance, FastifyPluginAsync } from 'fastify'
import { nameOwner, ownerOf, withOwner } from '../errors.js'
import type { CompiledResource } from '../http/compiled-resource.js'
import type { RoutePath } from '../http/route.js'
import type { NamedPath, PathNames } from '../resource/path-helpers.js'
import type { Declaration } from '../routing/declaration.js'
import { addRoutes, type SharedPaths } from './add-routes.js'
import { prepare, type PreparedResource, type Registration } from './prepare.js'
import { addName, registryOf, routeKey } from './route-registry.js'

/**
 * Registers the declared resources, each in a scope of its own. All declarations are checked before the first route is
 * added.
 * @throws InvalidOptionError, UnknownOptionError, InvalidAttributesError, ClashError
 */
export async function addResources (registration: Registration, declarations: readonly Declaration[]): Promise<void> {
  const { app, names } = registration
  const prepared = declarations.flatMap((declaration) => prepare(registration, declaration))
  registerNames(names, prepared)
  registerRoutes(app, prepared)
  const pathsLike = findShared(prepared)
  for (const resource of prepared) {
    await prepareStore(resource.compiled)
    // A resource without actions serves only as a parent: it has a store, but no routes.
    if (resource.paths.length === 0) continue
    const owner = ownerOf(resource.compiled.options.name)
    const add = (scope: FastifyInstance): void => nameOwner(owner, () => { addRoutes(scope, resource, pathsLike) })
    // Hooks, parsers and the error handler need a scope of their own. For a single resource, `app` is such a scope.
    if (prepared.length === 1) add(app)
    else await app.register(nameScope(owner, async (scope) => { add(scope) }))
  }
}

const DISPLAY_NAME: unique symbol = Symbol.for('fastify.display-name')

/**
 * Names a plugin for Fastify's errors and `app.pluginName`. For a plugin without a name, Fastify searches all loaded
 * modules, which takes a twentieth of a registration.
 */
export function nameScope (name: string, plugin: FastifyPluginAsync): FastifyPluginAsync {
  return Object.assign(plugin, { [DISPLAY_NAME]: name })
}

/** Calls `prepare` of the store, which throws if the store cannot keep the rows. */
async function prepareStore ({ options: { store, name } }: CompiledResource): Promise<void> {
  try {
    await store.prepare?.()
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
  const beside: NamedPath[] = []
  for (const { compiled, paths } of prepared) {
    for (const path of paths) {
      for (const { name = path.name } of path.routes) {
        const named = name === path.name ? path : { ...path, name }
        nameOwner(ownerOf(compiled.options.name), () => { addName(names, named, beside) })
        beside.push(named)
      }
    }
  }
}

/** Adds all routes to the registry, which `printResources` prints. */
function registerRoutes (app: FastifyInstance, prepared: readonly PreparedResource[]): void {
  const registry = registryOf(app)
  for (const path of prepared.flatMap(({ paths }) => paths)) for (const route of path.routes) registry.add(path, route)
}
