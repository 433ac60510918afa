import type { FastifyInstance, FastifyPluginAsync, RegisterOptions } from 'fastify'
import fp from 'fastify-plugin'
import type { CompiledResource } from './compiled-resource.js'
import { InvalidOptionError, nameOwner, ownerOf, withOwner } from './errors.js'
import { type Declaration, NO_INHERITED_OPTIONS } from './options/declaration.js'
import type { ResourceOptions } from './options/options.js'
import { resolveFormats } from './options/resolve/formats.js'
import { findOpenGroups } from './registration/check-resource.js'
import { prepare, type PreparedResource, type Registration } from './registration/prepare.js'
import { resolveDeclarations } from './registration/resolve-declarations.js'
import { preparations, type StorePreparation } from './registration/store-preparation.js'
import { addRoutes, type SharedPaths } from './routes/add-routes.js'
import type { NamedPath, PathNames } from './routes/path-helpers.js'
import type { RoutePath } from './routes/route.js'
import { addName, namesOf, registryOf, routeKey } from './routes/route-registry.js'
import type { AttributesSchema } from './schema/types.js'
import type { Store } from './stores/store.js'
import { show } from './util/check-option.js'
import { nameScope } from './util/functions.js'
import { findMember, isObject } from './util/own-property.js'
import type { Wings } from './wings.js'

/**
 * Makes the plugin. It may be registered many times: each registration declares one resource.
 * @param wings what loads the parts of the package that the core does not know
 *
 * @example
 * app.register(resources, { name: 'posts' })
 */
export function makeResources (wings: Wings): FastifyPluginAsync<ResourceOptions> {
  return fp(async (app: FastifyInstance, declared: ResourceOptions & RegisterOptions) => {
    // Fastify passes on any value, even a string.
    if (!isObject(declared)) {
      throw new InvalidOptionError(
        'name',
        `must be in an object of options, as in app.register(resources, { name: 'posts' }), not in ${show(declared)}`
      )
    }
    const { prefix = '', logLevel, logSerializers, ...options } = declared
    const declaration: Declaration = {
      options,
      singleton: false,
      inherited: NO_INHERITED_OPTIONS,
      customActions: [],
      children: []
    }
    const log = { ...(logLevel !== undefined && { logLevel }), ...(logSerializers !== undefined && { logSerializers }) }
    await registerDeclarations(app, [declaration], { wings, prefix, owner: ownerOf(options.name), log })
  }, { fastify: '5.x', name: 'fastify-resources' })
}

/** Returns its options for `app.register(resources, …)`. The compiler types the handlers in them by the schema. */
export function defineResource<
  const S extends AttributesSchema | undefined = undefined,
  T extends Store<unknown> = Store
> (options: ResourceOptions<S, T>): ResourceOptions
// The result types its handlers for any rows. A handler for certain rows is not assignable to that.
export function defineResource (options: unknown): unknown {
  return options
}

/** How declared resources are registered. */
export interface DeclarationsContext {
  readonly wings: Wings
  /** The option `prefix`, which is checked here. */
  readonly prefix: unknown
  /** The owner of the option that an error about the prefix names. */
  readonly owner: string
  /** The level and the serializers of the log of their requests. */
  readonly log: Pick<RegisterOptions, 'logLevel' | 'logSerializers'>
}

/**
 * Registers declared resources, and those nested in them, in a scope of their own.
 * @throws InvalidOptionError, UnknownOptionError, InvalidAttributesError, ClashError
 */
export async function registerDeclarations (
  app: FastifyInstance,
  declarations: readonly Declaration[],
  { wings, prefix, owner, log }: DeclarationsContext
): Promise<void> {
  const names = namesOf(app)
  warnOfTimeout(app)
  const inner = nameOwner(owner, () => normalizePrefix(prefix))
  const scope = nameScope(owner, async (app: FastifyInstance) => {
    await addResources({ app, names, wings, prefix: inner }, declarations)
  })
  await app.register(scope, log)
}

/**
 * Registers the declared resources, each in a scope of its own. All declarations are checked before the first route is
 * added.
 * @throws InvalidOptionError, UnknownOptionError, InvalidAttributesError, ClashError
 */
async function addResources (
  given: Omit<Registration, 'options' | 'assetOwners' | 'describeRoutes'> & { readonly wings: Wings },
  declarations: readonly Declaration[]
): Promise<void> {
  const { app, names, wings } = given
  await describeStores(app, declarations)
  const formats = await resolveFormats(declarations, wings.loadHtml)
  const { options, opened } = resolveDeclarations(app, declarations, formats)
  const describeRoutes = app.hasPlugin('@fastify/swagger') ? await wings.loadOpenapi() : undefined
  const hasXsd = [...options.values()].some(({ xsd }) => xsd)
  const addXmlSchema = hasXsd ? await wings.loadXsd() : undefined
  const registration = { ...given, options, assetOwners: [], describeRoutes }
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
    const add = (scope: FastifyInstance): void => {
      nameOwner(owner, () => { addRoutes(scope, resource, { pathsLike, addXmlSchema }) })
    }
    // Hooks, parsers and the error handler need a scope of their own. For a single resource, `app` is such a scope.
    if (prepared.length === 1) add(app)
    else await app.register(nameScope(owner, async (scope) => { add(scope) }))
  }
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
  const preparation: StorePreparation = { store, isPlanned: false }
  preparations.publish(preparation)
  if (!preparation.isPlanned) await callStore(app, store, name, 'prepare')
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

/** Returns a prefix with a slash at its beginning and none at its end. The option may have either, as in Fastify. */
export function normalizePrefix (prefix: unknown): string {
  if (typeof prefix !== 'string') {
    throw new InvalidOptionError('prefix', `must be a path such as '/blog', not ${String(prefix)}`)
  }
  if (prefix === '' || prefix === '/') return ''
  const inner = prefix.replace(/^\//, '').replace(/\/$/, '')
  // Clients resolve these segments before they send a request, and so ask for another path (WHATWG URL §4.4).
  if (inner.split('/').some((segment) => ['', '.', '..'].includes(segment))) {
    throw new InvalidOptionError(
      'prefix',
      `must be a path such as '/blog', without "." or ".." as a segment and without "//", not '${prefix}'`
    )
  }
  return `/${inner}`
}

const WARNED: unique symbol = Symbol('fastify-resources.timeout')

interface Warned {
  readonly requestTimeout?: number
  [WARNED]?: boolean
}

/**
 * Warns once per server, when it is ready, if a client may take for ever to send a body. A plugin cannot set the
 * timeout.
 */
function warnOfTimeout (app: FastifyInstance): void {
  const server: typeof app.server & Warned = app.server
  if (server[WARNED] === true) return
  server[WARNED] = true
  app.addHook('onReady', (done) => {
    if (server.requestTimeout === 0) {
      app.log.warn(
        'the server waits for ever for the body of a request: give fastify() the options requestTimeout: 10_000 and ' +
          'http: { headersTimeout: 5_000, connectionsCheckingInterval: 1_000 }'
      )
    }
    done()
  })
}
