import type { FastifyInstance, FastifyPluginAsync, RegisterOptions } from 'fastify'
import fp from 'fastify-plugin'
import { InvalidOptionError, nameOwner, ownerOf, UnknownOptionError } from '../errors.js'
import type { HELPERS, NamedHelpers } from '../resource/path-helpers.js'
import { drawOn, MapBuilder } from '../routing/map-builder.js'
import type { Mapper, NamesIn } from '../routing/mapper.js'
import type { ResourceOptions } from '../routing/options.js'
import { OF_REGISTER } from '../routing/resolve-routing.js'
import type { AttributesSchema } from '../schema/types.js'
import type { Store } from '../stores/store.js'
import { show } from '../util/check-option.js'
import { didYouMean } from '../util/did-you-mean.js'
import { isObject } from '../util/own-property.js'
import * as publicValues from './public-values.js'
import { addResources } from './register.js'
import { namesOf } from './route-registry.js'

const WARNED: unique symbol = Symbol('fastify-resources.timeout')

interface Warned {
  readonly requestTimeout?: number
  [WARNED]?: boolean
}

/**
 * Says once of a server, when it is ready, that a client may send a body for ever: a plugin cannot set what it lacks.
 */
export function warnOfTimeout (app: FastifyInstance): void {
  const server = app.server as Warned
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
 * A Fastify plugin that makes a named resource a web resource: list, show, create, update and delete, in XML, HTML and
 * JSON. May be registered many times.
 *
 * @example
 * app.register(resources, { name: 'posts' })
 */
export const resources: FastifyPluginAsync<ResourceOptions> = fp(register, {
  fastify: '5.x',
  name: 'fastify-resources'
})

async function register (app: FastifyInstance, declared: ResourceOptions & RegisterOptions): Promise<void> {
  // Fastify hands on whatever it was given, also a text.
  if (!isObject(declared)) {
    throw new InvalidOptionError(
      'name',
      "must stand in an object of options: app.register(resources, { name: 'posts' }). It was registered with " +
        `${show(declared)}`
    )
  }
  const { name, prefix, logLevel, logSerializers, ...options } = declared
  const given = Object.entries({ prefix, logLevel, logSerializers }).filter(([, value]) => value !== undefined)
  await addTo(app, (map) => map.resources([name], options), Object.fromEntries(given), ownerOf(name))
}

/** A plugin that has been drawn; the compiler knows its names where it has been drawn by chains. */
export interface Drawn<N = NamedHelpers> extends FastifyPluginAsync<RegisterOptions> {
  readonly [HELPERS]?: N
}

/**
 * A Fastify plugin that registers all that is declared by the helper methods of a map.
 *
 * @example
 * app.register(draw((map) => map
 *   .resources('posts', { store }, (posts) => posts.resources('comments'))))
 */
export function draw<R> (declare: (map: Mapper) => R): Drawn<NamesIn<R>> {
  // The builder does what the types say.
  const build = declare as unknown as (map: MapBuilder) => unknown
  return fp(
    async (app: FastifyInstance, options: RegisterOptions) => {
      await addTo(app, build, checkRegistered(options), 'a map')
    },
    { fastify: '5.x', name: 'fastify-resources' }
  )
}

/** Options for `app.register(resources, …)` of which the compiler types the handlers by the schema. */
export function defineResource<const S extends AttributesSchema | undefined = undefined, T extends Store<any> = Store> (
  options: ResourceOptions<S, T>
): ResourceOptions {
  return options as unknown as ResourceOptions
}

/** @param owner what an error about the prefix names */
async function addTo (
  app: FastifyInstance,
  declare: (map: MapBuilder) => unknown,
  { prefix = '', ...options }: RegisterOptions,
  owner: string
): Promise<void> {
  const map = new MapBuilder()
  drawOn('draw', declare, map)
  map.end()
  const names = namesOf(app)
  warnOfTimeout(app)
  // What a scope of its own is for: the level and the serializers of its log.
  const inner = nameOwner(owner, () => normalizePrefix(prefix))
  await app.register(async (scope) => {
    await addResources({ app: scope, names, prefix: inner }, map.declarations)
  }, options)
}

/** Refuses anything else, which would be ignored silently, and a guard with it. */
function checkRegistered (options: RegisterOptions): RegisterOptions {
  const other = Object.keys(options).find((key) => !OF_REGISTER.some((known) => known === key))
  if (other !== undefined) throw new UnknownOptionError(other, didYouMean(other, OF_REGISTER))
  return options
}

/** As Fastify takes it: with a slash at its beginning or without, and one at its end makes no difference. */
function normalizePrefix (prefix: unknown): string {
  if (typeof prefix !== 'string') {
    throw new InvalidOptionError('prefix', `must be a path such as '/blog', not ${String(prefix)}`)
  }
  if (prefix === '' || prefix === '/') return ''
  const inner = prefix.replace(/^\//, '').replace(/\/$/, '')
  // Other paths than those that are asked for (WHATWG URL §4.4).
  if (inner.split('/').some((segment) => ['', '.', '..'].includes(segment))) {
    throw new InvalidOptionError(
      'prefix',
      `must be a path such as '/blog', without "." and ".." and two slashes in a row, not '${prefix}'`
    )
  }
  return `/${inner}`
}

/**
 * What `require()` gives: the plugin itself (Node.js, "Loading ECMAScript modules using require()"), with all else as
 * its members.
 */
export const required: typeof resources &
  typeof publicValues & {
    readonly resources: typeof resources
    readonly draw: typeof draw
    readonly defineResource: typeof defineResource
  } = Object.assign(resources, publicValues, { resources, draw, defineResource })
