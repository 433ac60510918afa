import formbody from '@fastify/formbody'
import type { FastifyBodyParser, FastifyInstance, FastifyRequest } from 'fastify'
import { form, parseFormText } from '../formats/form/read.js'
import type { Asset } from '../formats/format.js'
import type { CompiledResource } from '../compiled-resource.js'
import { compileErrorHandler } from '../response/failure.js'
import { compileBodyParser, keepBody, keepQuery } from '../request/payload-hooks.js'
import { type Negotiator, refuseMethod } from '../request/negotiate.js'
import { QUERY_TYPES } from '../request/query-body.js'
import { STATE } from '../request/state.js'
import { makeOnSend } from '../response/responder.js'
import { assetPath, type Parameters, SUFFIX } from '../resource/path-pattern.js'
import { addHooks, callFor, type Hook, type Hooks } from '../options/hooks.js'
import type { PreparedResource } from '../registration/prepare.js'
import type { AddXmlSchema } from '../wings.js'
import type { Route, RouteAction, RouteInfo, RoutePath } from './route.js'
import { registryOf } from './route-registry.js'
import { acceptHeaders, joinMethods, makeRefusal, methodsOf, type RouteBase, supportedBy } from './allowed-methods.js'

/** The key of the facts about a route in its Fastify config. */
const ROUTE: unique symbol = Symbol('fastify-resources.route')

/** The `max-age` of files that never change, in seconds: one year. Caches need not revalidate them (RFC 8246). */
const FOR_EVER = 31_536_000

/**
 * Adds the routes of a resource. A request passes through negotiation (onRequest), the body parser, payload reading
 * (preValidation), authorization and action (handler), and the writer. JSON is written by Fastify's serializer, other
 * formats in onSend. `app` must be a scope of our own, because hooks, parsers and the error handler apply to all of it.
 */
export function addRoutes (
  app: FastifyInstance,
  prepared: PreparedResource,
  addXmlSchema: AddXmlSchema | undefined
): void {
  const { compiled, paths, urls: { collection } } = prepared
  app.decorateRequest(STATE, undefined)
  addParsers(app, compiled)
  // Our hook runs before the resource's own onSend hooks, so that they receive the written body.
  app.addHook('onSend', makeOnSend(compiled.cacheControl))
  addHooks(app, compiled.options.routing.hooks)
  setErrorHandler(app, prepared)
  const adder = new RouteAdder(app, prepared)
  for (const path of paths) {
    const alike = registryOf(app).pathsLike(path)
    adder.addPath(path, alike, { suffix: undefined, isSuffixed: false })
    if (!path.endsWithId) adder.addSuffixes(path, alike)
  }
  const hasRows = paths.some(({ endsWithId }) => endsWithId)
  for (const path of paths) {
    // `/posts/:id` also matches `/posts/`, with an empty id. So the collection needs a route only if no row path does
    // that.
    const isList = path.url === collection && (!hasRows || compiled.resourcePaths.isShallow)
    if (path.endsWithId || isList) adder.addSlash(path)
  }
  for (const { writer } of compiled.representations) {
    for (const asset of writer.list === undefined ? (writer.assets ?? []) : []) adder.addAsset(asset)
  }
  if (compiled.options.xsd) addXmlSchema?.(app, adder.schemaBase(), compiled)
}

/**
 * Sets the error handler. Errors on routes without an action (stylesheet, XML Schema) use the metadata of the first
 * path.
 */
function setErrorHandler (app: FastifyInstance, { negotiator, paths }: PreparedResource): void {
  const [fallback] = paths.map((path) => ({ ...makeInfo(path, path.routes[0], { allow: '' }), allowed: false }))
  app.setErrorHandler(
    compileErrorHandler((request, reply) => {
      const { [ROUTE]: info = fallback } = request.routeOptions.config as { [ROUTE]?: RouteInfo }
      return negotiator.begin(request, reply, info as RouteInfo)
    })
  )
}

/**
 * Replaces the app's body parsers in this scope by our readers. The bodies of QUERY, which are no payload, have the
 * same types. A scope of their own would take a seventh of the registration.
 */
function addParsers (app: FastifyInstance, { bodies, patches }: CompiledResource): void {
  app.removeAllContentTypeParsers()
  const parsers = new Map(QUERY_TYPES.map((type) => [type, keepBody]))
  for (const { mediaTypes, reader, compileReader } of [...patches, ...bodies]) {
    const parse = compileReader === form.compileReader ? findFormParser(app) : compileBodyParser(reader)
    for (const mediaType of mediaTypes) parsers.set(mediaType, keepQuery(parse))
  }
  for (const [mediaType, parse] of parsers) app.addContentTypeParser(mediaType, { parseAs: 'buffer' }, parse)
}

/** Returns the parser that `@fastify/formbody` adds. A QUERY must bypass it, because its body is no payload. */
function findFormParser (app: FastifyInstance): FastifyBodyParser<Buffer> {
  let parser = keepBody
  const add = (_type: string, _options: object, parse: typeof parser): void => { parser = parse }
  const collector: FastifyInstance = Object.create(app, { addContentTypeParser: { value: add } })
  formbody(collector, { parser: parseFormText }, () => {})
  return parser
}

function makeInfo (
  { pattern: path, isMember, param, endsWithId }: RoutePath,
  { actions: [asked, ...others], parameters, readPayload, hasQueryBody = false, mergesPatches = false }: Route,
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
    safe: readPayload === undefined,
    hasQueryBody,
    mergesPatches,
    parameters,
    action: asked.name,
    formDecides: others.length > 0
  }
}

/** The suffix of an added URL. An `isSuffixed` URL without a fixed `suffix` has a parameter for several suffixes. */
interface Suffixed {
  readonly suffix: string | undefined
  readonly isSuffixed: boolean
}

class RouteAdder {
  readonly #app: FastifyInstance
  readonly #prepared: PreparedResource

  constructor (app: FastifyInstance, prepared: PreparedResource) {
    this.#app = app
    this.#prepared = prepared
  }

  /**
   * Adds a path: its routes, and the refusal of all other methods.
   * @param alike the paths that the router treats as this one, itself included
   */
  addPath (path: RoutePath, alike: readonly RoutePath[], { suffix, isSuffixed }: Suffixed): void {
    const { negotiator, descriptions } = this.#prepared
    const { url, routeConstraints, routes } = path
    // Methods that the app or another resource serves on this path stay with them. `Allow` names them, too.
    const all = [...routes, ...alike.flatMap((other) => (other.routes === routes ? [] : other.routes))]
    const served = all.flatMap(({ methods }) => methods)
    const named = all.flatMap(({ methods, formOnly }) => (formOnly === true ? [] : methods))
    const others = methodsOf(this.#app, url, routeConstraints).filter((method) => !served.includes(method))
    const allow = joinMethods([...named, ...others])
    for (const route of routes) {
      const info = makeInfo(path, route, { allow, suffix })
      this.#app.route({
        ...this.#base(url, routeConstraints, info, descriptions?.route(path, route, isSuffixed)),
        ...hooksOf(route, negotiator, info),
        method: [...route.methods],
        handler: route.handler
      })
    }
    // If resources share a path, the last one adds the refusal for all of them.
    if (alike.at(-1)?.routes !== routes) return
    const info = makeInfo(path, routes[0], { allow, suffix })
    const refused = { ...info, allowed: false, safe: false, parameters: [], formDecides: false }
    this.#app.route({
      ...this.#base(url, routeConstraints, refused),
      ...makeRefusal({ allow, ...acceptHeaders(all, negotiator) }, {
        method: supportedBy(this.#app).filter((method) => !served.includes(method) && !others.includes(method)),
        refuse: negotiator.open(refused),
        isRefused: ({ params }) => path.endsWithId && (params as Parameters)[path.param as string] === ''
      })
    })
  }

  /**
   * Adds one URL with a parameter for all suffixes, because each URL costs about 40 KiB of memory. A suffix gets a URL
   * of its own if the app also serves that URL. Each suffix does if the router ignores case, because it does not ignore
   * it in a parameter's expression.
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
   * Answers a trailing slash with 404, if the router treats the path with it as another one. Only the methods of the
   * path have such a route, because each costs about 2 KiB. Other methods get the app's own 404.
   */
  addSlash (path: RoutePath): void {
    const { ignoreTrailingSlash, routerOptions } = this.#app.initialConfig
    // Fastify also accepts the option at the top level.
    if (ignoreTrailingSlash === true || routerOptions?.ignoreTrailingSlash === true) return
    const { routeConstraints, routes } = path
    const url = `${path.url}/`
    // The app, or another resource of this path, may serve the URL already.
    const others = methodsOf(this.#app, url, routeConstraints)
    const method = routes.flatMap(({ methods }) => methods).filter((method) => !others.includes(method))
    if (method.length === 0) return
    const info = { ...makeInfo(path, routes[0], { allow: '' }), allowed: false, safe: false }
    this.#app.route({
      ...this.#base(url, routeConstraints, info),
      method,
      onRequest: this.#prepared.negotiator.refuseSlash(info),
      // Never runs, because the hook always answers.
      handler: refuseMethod
    })
  }

  /**
   * Serves a file of the pages under the resource's own path, so that the hooks of its routes guard it, too. A page of
   * an older or a parallel process may ask for another hash. It gets the current file without the header that caches it
   * for a year.
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
    // Another resource of this path has added the file already.
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

  /** Returns the options of the routes of the XML Schema. */
  schemaBase (): RouteBase {
    const { urls: { collection }, compiled: { options: { routing } } } = this.#prepared
    return this.#base(`${collection}.xsd`, routing.routeConstraints)
  }

  /** Returns the options that all our routes have. Errors on routes for files need no facts about the route. */
  #base (
    url: string,
    constraints: RoutePath['routeConstraints'],
    info?: RouteInfo,
    swaggerTransform = this.#prepared.descriptions?.hidden
  ): RouteBase {
    const config: object = {
      ...(info !== undefined && { [ROUTE]: info }),
      ...(swaggerTransform !== undefined && { swaggerTransform })
    }
    return { url, constraints, config, exposeHeadRoute: false }
  }
}

/**
 * Returns the hooks of a route: negotiation, payload reading, and the app's hooks of each action that the route serves.
 * A form names its action in its body, so the onRequest hooks of that action run right after the body is read.
 */
function hooksOf (
  { actions, readPayload }: Route,
  negotiator: Negotiator,
  route: RouteInfo
): Hooks {
  const lists = new Map<string, Hook[]>()
  const add = (name: string, hook: Hook): void => { lists.set(name, [...lists.get(name) ?? [], hook]) }
  add('onRequest', negotiator.open(route) as Hook)
  if (readPayload !== undefined) add('preValidation', readPayload as Hook)
  if (route.hasQueryBody) add('preValidation', negotiator.readQuery(route) as Hook)
  // A request that the app answers before the negotiation has no state, and asks for no action.
  const asks = ({ isFor }: RouteAction) => (request: FastifyRequest): boolean => {
    const state = request[STATE]
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
  return Object.fromEntries(lists) as Hooks
}
