import formbody from '@fastify/formbody'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Asset, Entries } from '../formats/format.js'
import { writeXmlSchema } from '../formats/xml/xsd/xsd.js'
import type { CompiledResource } from '../http/compiled-resource.js'
import { type Negotiator, refuseMethod } from '../http/request/negotiate.js'
import { findState, STATE } from '../http/request/state.js'
import { makeOnSend } from '../http/response/send.js'
import type { Route, RouteAction, RouteInfo, RoutePath } from '../http/route.js'
import { assetPath } from '../resource/asset-path.js'
import { type Parameters, SUFFIX } from '../resource/path-pattern.js'
import { addHooks, callFor, type Hook, type HookName, type Hooks } from '../routing/hooks.js'
import { addRefusal, joinMethods, methodsOf, type RouteBase, supportedBy } from './allowed-methods.js'
import type { PreparedResource } from './prepare.js'
import { RouteSchemas } from './route-schemas.js'
import { addXmlSchema } from './xsd.js'

/** Where a route keeps what its requests meet. */
const ROUTE: unique symbol = Symbol('fastify-resources.route')

/** In seconds: a year, the longest that is meant to be said. What never changes is asked for once (RFC 8246). */
const FOR_EVER = 31_536_000

/** Finds all paths, of this resource and of others, that a router takes for the same one, in their order. */
export type SharedPaths = (path: RoutePath) => readonly RoutePath[]

/**
 * Adds the routes of a resource. A request meets, in this order: the negotiation (onRequest), the parser of its body,
 * the reading of its payload (preValidation), the authorization and the action (handler), and the writer (onSend). All
 * of it, and the error handler, stands in a scope of our own.
 */
export function addRoutes (app: FastifyInstance, prepared: PreparedResource, pathsLike: SharedPaths): void {
  const { compiled, paths, urls: { collection } } = prepared
  app.decorateRequest(STATE, undefined)
  addParsers(app, compiled)
  // First, so that those of the resource get what is sent.
  app.addHook('onSend', makeOnSend(compiled.cacheControl))
  addHooks(app, compiled.options.routing.hooks)
  setErrorHandler(app, prepared)
  const adder = new RouteAdder(app, prepared)
  for (const path of paths) {
    const alike = pathsLike(path)
    adder.addPath(path, alike, { suffix: undefined, isSuffixed: false })
    if (!path.endsWithId) adder.addSuffixes(path, alike)
  }
  const hasRows = paths.some(({ endsWithId }) => endsWithId)
  for (const path of paths) {
    // The path of a row has `/posts/`, too: as one without an id.
    if (path.endsWithId || (path.url === collection && (!hasRows || compiled.mount.isShallow))) adder.addSlash(path)
  }
  for (const { writer } of compiled.representations) {
    for (const asset of writer.list === undefined ? (writer.assets ?? []) : []) adder.addAsset(asset)
  }
  if (compiled.options.xsd) adder.addXmlSchema()
}

/** Errors on routes without an action (stylesheet, XML Schema) use what is known of the first route. */
function setErrorHandler (app: FastifyInstance, { negotiator, handlers, paths }: PreparedResource): void {
  const [fallback] = paths.map((path) => ({ ...makeInfo(path, path.routes[0], { allow: '' }), allowed: false }))
  app.setErrorHandler((error, request, reply) => {
    const { [ROUTE]: route = fallback } = request.routeOptions.config as { [ROUTE]?: RouteInfo }
    return handlers.fail(error, negotiator.stateOf(request, reply, route as RouteInfo))
  })
}

/** Bodies are read by our own readers alone, whatever the app parses elsewhere; an empty one is none. */
function addParsers (app: FastifyInstance, { bodies }: CompiledResource): void {
  app.removeAllContentTypeParsers()
  for (const { mediaTypes, reader } of bodies) {
    const parse = (body: Buffer): Entries | undefined => body.length === 0 ? undefined : reader.parse(body)
    if (reader.form) {
      app.register(formbody, { parser: (body: string) => parse(Buffer.from(body)) as Record<string, unknown> })
    } else {
      app.addContentTypeParser<Buffer>([...mediaTypes], { parseAs: 'buffer' }, (_request, body, done) => {
        done(null, parse(body))
      })
    }
  }
}

function makeInfo (
  { pattern: path, isMember, param, endsWithId }: RoutePath,
  { actions: [asked, ...others], parameters, payload }: Route,
  { allow, suffix }: { readonly allow: string, readonly suffix?: string | undefined }
): RouteInfo {
  return {
    path,
    isMember,
    param,
    endsWithId,
    suffix,
    allow,
    allowed: true,
    safe: payload === undefined,
    parameters,
    action: asked.name,
    formDecides: others.length > 0
  }
}

/** Where a path is added: with the one suffix that the URL has, if any, or with a parameter for all of them. */
interface Suffixed {
  readonly suffix: string | undefined
  readonly isSuffixed: boolean
}

class RouteAdder {
  readonly #app: FastifyInstance
  readonly #prepared: PreparedResource
  readonly #schemas: RouteSchemas

  constructor (app: FastifyInstance, prepared: PreparedResource) {
    this.#app = app
    this.#prepared = prepared
    this.#schemas = new RouteSchemas(prepared.compiled)
  }

  /** @param alike the paths that a router takes for this one, itself included */
  addPath (path: RoutePath, alike: readonly RoutePath[], { suffix, isSuffixed }: Suffixed): void {
    const { negotiator, description } = this.#prepared
    const { url, routeConstraints, routes } = path
    // What the app itself serves on this path stays the app's, and what another resource does that one's.
    const all = [...routes, ...alike.flatMap((other) => (other.routes === routes ? [] : other.routes))]
    const served = all.flatMap(({ methods }) => methods)
    const named = all.flatMap(({ methods, formOnly }) => (formOnly === true ? [] : methods))
    const others = methodsOf(this.#app, url, routeConstraints).filter((method) => !served.includes(method))
    const allow = joinMethods([...named, ...others])
    for (const route of routes) {
      const info = makeInfo(path, route, { allow, suffix })
      this.#app.route({
        ...this.#base(url, routeConstraints, info, description.route(path, route, isSuffixed)),
        method: [...route.methods],
        ...hooksOf(route, negotiator, info),
        handler: route.handler,
        ...this.#schemas.of(route)
      })
    }
    // The last of the resources that share a path refuses for all of them.
    if (alike.at(-1)?.routes !== routes) return
    const info = makeInfo(path, routes[0], { allow, suffix })
    const refused = { ...info, allowed: false, safe: false, parameters: [], formDecides: false }
    addRefusal(this.#app, this.#base(url, routeConstraints, refused), allow, {
      method: supportedBy(this.#app).filter((method) => !served.includes(method) && !others.includes(method)),
      refuse: negotiator.open(refused),
      isRefused: ({ params }) => path.endsWithId && (params as Parameters)[path.param as string] === ''
    })
  }

  /**
   * Adds one URL for all suffixes, since each costs some 40 KiB, which a thousand resources would feel. One of its own
   * has a suffix that the app serves too, and each where the router ignores case, which it does not in a parameter.
   */
  addSuffixes (path: RoutePath, alike: readonly RoutePath[]): void {
    const { suffixes } = this.#prepared.negotiator
    const isStrict = this.#app.initialConfig.routerOptions?.caseSensitive !== false
    const shared = suffixes.filter(
      (suffix) => isStrict && methodsOf(this.#app, `${path.url}.${suffix}`, path.routeConstraints).length === 0
    )
    for (const suffix of suffixes.filter((suffix) => !shared.includes(suffix))) {
      this.addPath({ ...path, url: `${path.url}.${suffix}` }, alike, { suffix, isSuffixed: true })
    }
    if (shared.length > 0) {
      const url = `${path.url}.:${SUFFIX}(^(?:${shared.join('|')})$)`
      this.addPath({ ...path, url }, alike, { suffix: undefined, isSuffixed: true })
    }
  }

  /**
   * Answers that there is nothing at the path with a slash at its end, where the router takes that for another path.
   * Only the methods of the path itself have such a route, which costs some 2 KiB a method; the others get the app's
   * own 404.
   */
  addSlash (path: RoutePath): void {
    const { ignoreTrailingSlash, routerOptions } = this.#app.initialConfig
    // Fastify still takes the option beside the others of the router.
    if (ignoreTrailingSlash === true || routerOptions?.ignoreTrailingSlash === true) return
    const { routeConstraints, routes } = path
    const url = `${path.url}/`
    // The app, or another resource of the same path, may have it already.
    const others = methodsOf(this.#app, url, routeConstraints)
    const method = routes.flatMap(({ methods }) => methods).filter((method) => !others.includes(method))
    if (method.length === 0) return
    const info = { ...makeInfo(path, routes[0], { allow: '' }), allowed: false, safe: false }
    this.#app.route({
      ...this.#base(url, routeConstraints, info),
      method,
      onRequest: this.#prepared.negotiator.refuseSlash(info),
      // The hook has answered.
      handler: refuseMethod
    })
  }

  /**
   * Serves what pages refer to, under the resource's own path, so that hooks which guard its routes guard it, too. A
   * page that is older than this process, or is another's that runs beside it, asks by another hash: it gets what there
   * is, and asks again.
   */
  addAsset ({ stem, hash, extension, mediaType, body }: Asset): void {
    const {
      urls: { collection },
      compiled: {
        options: {
          routing: { routeConstraints }
        }
      }
    } = this.#prepared
    const url = assetPath(collection, `${stem}.:hash(^[\\da-f]+).${extension}`)
    // A resource that shares its path with another one has the same.
    if (methodsOf(this.#app, url, routeConstraints).length > 0) return
    this.#app.route<{ Params: { hash: string } }>({
      ...this.#base(url, routeConstraints),
      method: ['GET', 'HEAD'],
      handler: ({ params }, reply) =>
        reply
          .headers(params.hash === hash ? { 'cache-control': `public, max-age=${FOR_EVER}, immutable` } : {})
          .type(`${mediaType}; charset=utf-8`)
          .send(body)
    })
  }

  addXmlSchema (): void {
    const {
      urls: { collection },
      compiled: {
        resource,
        options: { routing }
      }
    } = this.#prepared
    addXmlSchema(this.#app, this.#base(`${collection}.xsd`, routing.routeConstraints), () => writeXmlSchema(resource))
  }

  #base (
    url: string,
    constraints: RoutePath['routeConstraints'],
    info?: RouteInfo,
    swaggerTransform = this.#prepared.description.hidden
  ): RouteBase {
    const config: object = { ...(info !== undefined && { [ROUTE]: info }), swaggerTransform }
    return { url, constraints, config, exposeHeadRoute: false }
  }
}

/**
 * Returns the hooks of a route: the negotiation, the reading, and those that the app has given the actions that may be
 * asked for. A form says in its body which action it asks for. Those hooks of the action that belong before the body
 * run as soon as it is read.
 */
function hooksOf ({ actions, payload }: Route, negotiator: Negotiator, route: RouteInfo): Hooks {
  const lists = new Map<HookName, Hook[]>()
  const add = (name: HookName, hook: Hook): void => { lists.set(name, [...lists.get(name) ?? [], hook]) }
  add('onRequest', negotiator.open(route) as Hook)
  if (payload !== undefined) add('preValidation', payload.read as Hook)
  // What the app has answered before the negotiation asks for nothing.
  const asks = ({ isFor }: RouteAction) => (request: FastifyRequest): boolean => {
    const state = findState(request)
    return state !== undefined && isFor(state)
  }
  for (const asked of route.formDecides ? actions : []) {
    for (const hook of asked.hooks.get('onRequest') ?? []) {
      add(
        'preValidation',
        callFor((request) => negotiator.isForm(request) && asks(asked)(request), hook)
      )
    }
  }
  for (const asked of actions) {
    for (const [name, list] of asked.hooks) {
      for (const hook of list) add(name, route.formDecides ? callFor(asks(asked), hook) : hook)
    }
  }
  // Last of all: a form in which something is wrong comes back with the row that it is about, which no hook has
  // refused.
  if (payload !== undefined) add('preHandler', payload.check as Hook)
  return Object.fromEntries(lists) as Hooks
}
