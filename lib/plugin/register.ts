import type { FastifyInstance } from 'fastify'
import { nameOwner, ownerOf, withOwner } from '../errors.js'
import type { CompiledResource } from '../http/compiled-resource.js'
import type { RoutePath } from '../http/route.js'
import type { NamedPath, PathNames } from '../resource/path-helpers.js'
import type { Declaration } from '../routing/declaration.js'
import { addRoutes, type SharedPaths } from './add-routes.js'
import { prepare, type PreparedResource, type Registration } from './prepare.js'
import { addName, registryOf, routeKey } from './route-registry.js'

/**
 * Registers what has been declared: each resource in a scope of its own, after all of them have been found to be right.
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
    // A resource that exists only for what is nested in it has a store, and no routes.
    if (resource.paths.length === 0) continue
    // Hooks, parsers and the error handler stay in a scope of their own.
    await app.register(async (scope) => {
      nameOwner(ownerOf(resource.compiled.options.name), () => { addRoutes(scope, resource, pathsLike) })
    })
  }
}

/** Checks that the store can keep the rows. */
async function prepareStore ({ options: { store, name } }: CompiledResource): Promise<void> {
  try {
    await store.prepare?.()
  } catch (error) {
    throw withOwner(error, `the store of ${ownerOf(name)}`)
  }
}

/** Resources may have a path in common. */
function findShared (prepared: readonly PreparedResource[]): SharedPaths {
  const all = new Map<string, RoutePath[]>()
  const keyOf = ({ url, routeConstraints }: RoutePath): string => routeKey(url, routeConstraints)
  for (const path of prepared.flatMap(({ paths }) => paths)) all.set(keyOf(path), [...all.get(keyOf(path)) ?? [], path])
  return (path) => all.get(keyOf(path)) as RoutePath[]
}

/** Enters the names of all paths in what `app.paths` knows. */
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

/** Enters all routes in what is printed. */
function registerRoutes (app: FastifyInstance, prepared: readonly PreparedResource[]): void {
  const registry = registryOf(app)
  for (const path of prepared.flatMap(({ paths }) => paths)) for (const route of path.routes) registry.add(path, route)
}
