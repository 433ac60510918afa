import type { FastifyInstance, FastifyPluginAsync, RegisterOptions } from 'fastify'
import fp from 'fastify-plugin'
import { InvalidOptionError, nameOwner, ownerOf, UnknownOptionError } from './errors.js'
import type { Brand } from '../html/style/brand.js'
import type { HELPERS, NamedHelpers } from '../draw/path-helpers.js'
import { drawOn, MapBuilder } from '../draw/map-builder.js'
import type { Mapper, NamesIn } from '../draw/mapper.js'
import { NO_INHERITED_OPTIONS } from './options/declaration.js'
import type { ResourceOptions } from './options/options.js'
import { REGISTER_OPTIONS } from './options/resolve/routing.js'
import type { AttributesSchema } from './schema/types.js'
import type { Store, Stores } from './stores/store.js'
import { show } from './util/check-option.js'
import { didYouMean } from './util/did-you-mean.js'
import { nameScope } from './util/functions.js'
import { lazy } from './util/functions.js'
import { isObject } from './util/own-property.js'
import { namesOf } from './routes/route-registry.js'

type Registering = typeof import('./registration/register.js')

/** Imports the registration when the first resource is registered, because it imports nearly all other modules. */
const loadRegistration: () => Promise<Registering> = lazy(() => import('./registration/register.js'))

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

/**
 * A Fastify plugin that serves a named resource as XML, HTML and JSON: list, show, create, update and delete. It may be
 * registered many times.
 *
 * @example
 * app.register(resources, { name: 'posts' })
 */
export const resources: FastifyPluginAsync<ResourceOptions> = fp(register, {
  fastify: '5.x',
  name: 'fastify-resources'
})

async function register (app: FastifyInstance, declared: ResourceOptions & RegisterOptions): Promise<void> {
  // Fastify passes on any value, even a string.
  if (!isObject(declared)) {
    throw new InvalidOptionError(
      'name',
      `must be in an object of options, as in app.register(resources, { name: 'posts' }), not in ${show(declared)}`
    )
  }
  const { name, prefix, logLevel, logSerializers, ...options } = declared
  const given = Object.entries({ prefix, logLevel, logSerializers }).filter(([, value]) => value !== undefined)
  await addTo(app, (map) => map.resources([name], options), Object.fromEntries(given), ownerOf(name))
}

/** A plugin that `draw` returns. The compiler knows the names of its paths if the map is declared by a chain. */
export interface MapPlugin<N = NamedHelpers> extends FastifyPluginAsync<RegisterOptions> {
  readonly [HELPERS]?: N
}

/** The options of `draw`. */
export interface DrawOptions {
  /** The database in which each resource without a `store` of its own has a table. @default none */
  readonly stores?: Stores
  /** The colour of links and buttons. @default '#1d5fd1' */
  readonly accent?: string
  /** The name, the logo and further parts of the pages' face. @default {} */
  readonly brand?: Brand
  /** The language of the pages, or several. @default 'en' */
  readonly lang?: string | readonly string[]
  /** The time zone of dates and times on pages. @default none */
  readonly timeZone?: string
}

/**
 * Returns a Fastify plugin that registers the resources of a map.
 * @param options the options that all resources of the map inherit
 *
 * @example
 * app.register(draw((map) => map
 *   .resources('posts', { store }, (posts) => posts.resources('comments'))))
 */
export function draw<R> (declare: (map: Mapper) => R, options: DrawOptions = {}): MapPlugin<NamesIn<R>> {
  checkMapOptions(options, ['stores', 'accent', 'brand', 'lang', 'timeZone'], 'draw')
  // `MapBuilder` has the methods of `Mapper`, whose types also carry the declared names for the compiler.
  const build = declare as unknown as (map: MapBuilder) => unknown
  return fp(
    async (app: FastifyInstance, registered: RegisterOptions) => {
      checkMapOptions(registered, REGISTER_OPTIONS, 'the registration of a map')
      await addTo(app, build, { ...registered, shared: options }, 'a map')
    },
    { fastify: '5.x', name: 'fastify-resources' }
  )
}

/** Returns its options for `app.register(resources, …)`. The compiler types the handlers in them by the schema. */
export function defineResource<
  const S extends AttributesSchema | undefined = undefined,
  T extends Store<unknown> = Store
> (options: ResourceOptions<S, T>): ResourceOptions {
  // The result types its handlers for any rows. A handler for certain rows is not assignable to that.
  return options as unknown as ResourceOptions
}

/**
 * Registers the resources of a map.
 * @param owner the owner of the option that an error about the prefix names
 */
async function addTo (
  app: FastifyInstance,
  declare: (map: MapBuilder) => unknown,
  { prefix = '', shared = {}, ...options }: RegisterOptions & { readonly shared?: DrawOptions },
  owner: string
): Promise<void> {
  const map = new MapBuilder({ ...NO_INHERITED_OPTIONS, shared })
  drawOn('draw', declare, map)
  map.end()
  const names = namesOf(app)
  warnOfTimeout(app)
  const inner = nameOwner(owner, () => normalizePrefix(prefix))
  const { addResources } = await loadRegistration()
  const scope = nameScope(owner, async (app: FastifyInstance) => {
    await addResources({ app, names, prefix: inner }, map.declarations)
  })
  // The options are the level and the serializers of the scope's log.
  await app.register(scope, options)
}

/**
 * Checks that there are no other options. They would be ignored silently, even one that was meant as a guard.
 * @throws UnknownOptionError
 */
function checkMapOptions (options: object, known: readonly string[], owner: string): void {
  const other = Object.keys(options).find((name) => !known.includes(name))
  if (other === undefined) return
  const cure = didYouMean(other, known) || '; options of resources belong in map.resources or map.scope'
  throw new UnknownOptionError(other, cure, ` of ${owner}`)
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
