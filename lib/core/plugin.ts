import type { FastifyInstance, FastifyPluginAsync, RegisterOptions } from 'fastify'
import fp from 'fastify-plugin'
import { InvalidOptionError, nameOwner, ownerOf } from './errors.js'
import { type Declaration, NO_INHERITED_OPTIONS } from './options/declaration.js'
import type { ResourceOptions } from './options/options.js'
import { warnOfOpenGroups } from './registration/check-resource.js'
import { prepare, type Registration } from './registration/prepare.js'
import { resolveDeclarations } from './registration/resolve-declarations.js'
import { addDeleted } from './registration/soft-delete.js'
import { openTables, prepareStores } from './registration/stores.js'
import { normalizePrefix } from './resource/path-pattern.js'
import { addRoutes } from './routes/add-routes.js'
import { addPaths, namesOf } from './routes/route-registry.js'
import type { AttributesSchema } from './schema/types.js'
import type { Store } from './stores/store.js'
import { show } from './util/check-option.js'
import { nameScope } from './util/functions.js'
import { isObject } from './util/own-property.js'
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
  const inner = nameOwner(owner, () => normalizePrefix(prefix))
  const scope = nameScope(owner, async (app: FastifyInstance) => {
    await addResources({ app, names, prefix: inner }, declarations, wings)
  })
  await app.register(scope, log)
}

/**
 * Registers the declared resources, each in a scope of its own. All declarations are checked before the first route is
 * added.
 * @throws InvalidOptionError, UnknownOptionError, InvalidAttributesError, ClashError
 */
async function addResources (
  given: Pick<Registration, 'app' | 'names' | 'prefix'>,
  declarations: readonly Declaration[],
  wings: Wings
): Promise<void> {
  const { app, names } = given
  // Options: checked, with their defaults.
  const resolved = await resolveDeclarations(app, addDeleted(declarations), wings.loadHtml)
  const describeRoutes = app.hasPlugin('@fastify/swagger') ? await wings.loadOpenapi() : undefined
  const registration = { ...given, assetOwners: [], describeRoutes }
  const opened = openTables(registration, resolved)
  // Resources: everything that serves their requests, as closures, and the table of their routes.
  const prepared = resolved.flatMap((declaration) => prepare(registration, declaration))
  addPaths(app, names, prepared)
  const options = prepared.map(({ compiled }) => compiled.options)
  await prepareStores(app, options, opened)
  for (const one of options) warnOfOpenGroups(app, one)
  // Routes of Fastify.
  const serveXmlSchema = options.some(({ xsd }) => xsd) ? await wings.loadXsd() : undefined
  for (const resource of prepared) {
    // A resource without actions serves only as a parent: it has a store, but no routes.
    if (resource.paths.length === 0) continue
    const owner = ownerOf(resource.compiled.options.name)
    const add = (scope: FastifyInstance): void => {
      nameOwner(owner, () => { addRoutes(scope, resource, serveXmlSchema) })
    }
    // Hooks, parsers and the error handler need a scope of their own. For a single resource, `app` is such a scope.
    if (prepared.length === 1) add(app)
    else await app.register(nameScope(owner, async (scope) => { add(scope) }))
  }
}
