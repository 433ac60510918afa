import formbody from '@fastify/formbody'
import type {
  FastifyBodyParser, FastifyInstance, FastifyRequest, HTTPMethods, onRequestHookHandler, RouteHandlerMethod,
  RouteOptions
} from 'fastify'
import { InvalidOptionError } from '../errors.js'
import { MULTIPART } from '../formats/files.js'
import { form, parseFormText } from '../formats/form/read.js'
import type { Asset } from '../formats/format.js'
import type { CompiledResource } from '../compiled-resource.js'
import { parseBody, parsePayload } from '../request/payload-hooks.js'
import { perVariant } from '../relations/variants.js'
import { type Negotiator, refuseMethod } from '../request/negotiate.js'
import { ACCEPT_QUERY, QUERY_TYPES } from '../request/query-body.js'
import { type RequestState, STATE } from '../request/state.js'
import { compileErrorHandler, makeOnSend } from '../response/responder.js'
import { assetPath, type Parameters, SUFFIX } from '../resource/path-pattern.js'
import { addHooks, callFor, type Hook, type Hooks } from '../options/hooks.js'
import type { PreparedResource } from '../registration/prepare.js'
import type { ServeXmlSchema } from '../wings.js'
import type { Route, RouteAction, RouteInfo, RoutePath } from './route.js'
import { registryOf } from './route-registry.js'

/** The key of the facts about a route in its Fastify config. */
const ROUTE: unique symbol = Symbol('fastify-resources.route')

/** The `max-age` of files that never change, in seconds: one year. Caches need not revalidate them (RFC 8246). */
const FOR_EVER = 31_536_000

/**
 * Adds the routes of a resource. A request passes through negotiation (onRequest), the body parser, payload reading
 * (preValidation), validation, authorization and action (handler), and the writer. Fastify's serializer writes the
 * records and errors of JSON. The responder writes its lists, and the onSend hook writes all other formats. `app` must
 * be a scope of our own, because hooks, parsers and the error handler apply to all of it.
 */
export function addRoutes (
  app: FastifyInstance,
  prepared: PreparedResource,
  serveXmlSchema: ServeXmlSchema | undefined
): void {
  const { compiled, paths, urls: { collection, isShallow } } = prepared
  app.decorateRequest(STATE, undefined)
  addParsers(app, compiled)
  // Our hook runs before the resource's own onSend hooks, so that they receive the written body.
  app.addHook('onSend', makeOnSend(compiled.cacheControl))
  addHooks(app, compiled.options.routing.hooks)
  setErrorHandler(app, prepared)
  const adder = new RouteAdder(app, prepared)
  const hasRows = paths.some(({ endsWithId }) => endsWithId)
  for (const path of paths) {
    adder.addPath(path, {})
    if (!path.endsWithId && path.isPage !== true) adder.addSuffixes(path)
    // `/posts/:id` also matches `/posts/`, with an empty id. So the collection needs a route only if no row path does
    // that.
    const isList = path.url === collection && (!hasRows || isShallow)
    if (path.endsWithId || isList) adder.addSlash(path)
  }
  for (const { writer } of compiled.representations) {
    for (const asset of writer.assets ?? []) adder.addAsset(asset)
  }
  if (compiled.options.xsd && serveXmlSchema !== undefined) adder.addXmlSchema(serveSeen(compiled, serveXmlSchema))
}

/** Returns the handler of an XML Schema, which has the attributes that the request sees. */
function serveSeen (compiled: CompiledResource, serve: ServeXmlSchema): RouteHandlerMethod {
  const handlers = perVariant(compiled, serve)
  return function (request, reply) { return handlers.of(request).call(this, request, reply) }
}

/**
 * Sets the error handler. The routes of stylesheets and XML Schemas have no facts of their own, so that their errors
 * are written as those of the first path.
 */
function setErrorHandler (app: FastifyInstance, { negotiator, paths }: PreparedResource): void {
  const [fallback] = paths.map((path) => ({ ...makeInfo(path, path.routes[0]), allowed: false }))
  app.setErrorHandler(
    compileErrorHandler((request, reply) => {
      const { [ROUTE]: info = fallback } = request.routeOptions.config as { [ROUTE]?: RouteInfo }
      return negotiator.makeState(request, reply, info as RouteInfo)
    })
  )
}

/**
 * Replaces the app's body parsers in this scope by our readers. The bodies of QUERY, which are no payload, have the
 * same types. A scope of their own would take a seventh of the registration.
 */
function addParsers (app: FastifyInstance, { bodies, patches, importing, representations }: CompiledResource): void {
  app.removeAllContentTypeParsers()
  const parsers = new Map(QUERY_TYPES.map((type) => [type, parseBody]))
  for (const { mediaTypes, compileReader } of [...patches, ...bodies]) {
    const parse = compileReader === form.compileReader ? findFormParser(app) : parseBody
    for (const mediaType of mediaTypes) parsers.set(mediaType, parse)
  }
  const isForm = bodies.some(({ mediaTypes, compileReader }) =>
    compileReader === form.compileReader && mediaTypes.includes(MULTIPART))
  const parseFiles = isForm ? representations.find(({ browser }) => browser === true)?.parseFiles : undefined
  const parseMultipart = parsers.get(MULTIPART)
  parsers.delete(MULTIPART)
  for (const [type, parse] of parsers) app.addContentTypeParser(type, { parseAs: 'buffer' }, parsePayload(parse))
  if (importing === undefined && parseMultipart === undefined) return
  const parse = parsePayload(parseMultipart ?? parseBody)
  app.addContentTypeParser<Buffer>(MULTIPART, { parseAs: 'buffer' }, (request, body, done) => {
    const state = request[STATE] as RequestState
    const type = request.headers['content-type'] as string
    if (state.route.form === undefined) {
      if (parseFiles === undefined) return parse(request, body, done)
      // The digest of a form with files is that of its fields, because a browser sends them with other boundaries.
      parseFiles(body, type).then((text) => { parse(request, Buffer.from(text), done) }).catch(done)
      return
    }
    importing?.parse(body, type).then((form) => {
      state.importing = { ...form, csv: undefined }
      done(null)
    }).catch(done)
  })
}

/** Returns the parser that `@fastify/formbody` adds. A QUERY must bypass it, because its body is no payload. */
function findFormParser (app: FastifyInstance): FastifyBodyParser<Buffer> {
  let parser = parseBody
  const add = (_type: string, _options: object, parse: typeof parser): void => { parser = parse }
  const collector: FastifyInstance = Object.create(app, { addContentTypeParser: { value: add } })
  formbody(collector, { parser: parseFormText }, () => {})
  return parser
}

function makeInfo (
  { pattern: path, isMember, param, endsWithId }: RoutePath,
  route: Route,
  { allow, suffix }: { readonly allow?: string, readonly suffix?: string | undefined } = {}
): RouteInfo {
  const { actions: [asked, ...others], parameters, readPayload, customAction } = route
  const { hasQueryBody = false, mergesPatches = false, sendsBytes = false } = route
  return {
    declared: route,
    path,
    isMember,
    param,
    endsWithId,
    suffix,
    allow: allow ?? '',
    allowed: true,
    safe: readPayload === undefined,
    hasQueryBody,
    mergesPatches,
    sendsBytes,
    form: route.form?.body,
    takesLists: param === undefined && customAction === undefined,
    parameters,
    action: asked.name,
    formDecides: others.length > 0
  }
}

/** The options that all routes of one URL share. */
interface RouteBase extends Required<Pick<RouteOptions, 'url' | 'constraints' | 'config'>> {
  readonly exposeHeadRoute: false
}

/** The suffix of an added URL. An `isSuffixed` URL without a fixed `suffix` has a parameter for several suffixes. */
interface Suffixed {
  readonly suffix?: string
  readonly isSuffixed?: boolean
}

/** The refusal of the methods that nothing serves at a URL. */
interface RefusedPath {
  readonly served: readonly string[]
  /** The headers of an answer to OPTIONS. */
  readonly headers: Readonly<Record<string, string>>
  readonly refuse: onRequestHookHandler
  /** Returns whether a request is refused even if its method is OPTIONS. */
  isRefused (request: FastifyRequest): boolean
}

class RouteAdder {
  readonly #app: FastifyInstance
  readonly #prepared: PreparedResource

  constructor (app: FastifyInstance, prepared: PreparedResource) {
    this.#app = app
    this.#prepared = prepared
  }

  /** Adds a path: its routes, and the refusal of all other methods. */
  addPath (path: RoutePath, { suffix, isSuffixed = suffix !== undefined }: Suffixed): void {
    const { negotiator, descriptions } = this.#prepared
    const { url, routeConstraints, routes } = path
    const alike = registryOf(this.#app).pathsLike(path)
    // Methods that the app or another resource serves on this path stay with them. `Allow` names them, too.
    const all = alike.flatMap((other) => other.routes)
    const ours = all.flatMap(({ methods }) => methods)
    const served = new Set([...ours, ...this.#methodsAt(url, routeConstraints)])
    const formOnly = all.flatMap(({ methods, formOnly }) => (formOnly === true ? methods : []))
    const allow = joinMethods([...served].filter((method) => !formOnly.includes(method)))
    for (const route of routes) {
      const info = makeInfo(path, route, { allow, suffix })
      const described = path.isPage === true ? undefined : descriptions?.route(path, route, isSuffixed)
      this.#app.route({
        ...this.#base(url, routeConstraints, info, described),
        ...hooksOf(route, negotiator, info),
        method: [...route.methods],
        ...(route.bodyLimit !== undefined && { bodyLimit: route.bodyLimit }),
        handler: route.handler
      })
    }
    // If resources share a path, the last one adds the refusal for all of them.
    if (alike.at(-1)?.routes !== routes) return
    const info = makeInfo(path, routes[0], { allow, suffix })
    const refused = { ...info, allowed: false, safe: false, parameters: [], formDecides: false }
    this.#refuseOthers(this.#base(url, routeConstraints, refused), {
      served: [...served],
      headers: { allow, ...acceptHeaders(all, negotiator) },
      refuse: negotiator.negotiate(refused),
      isRefused: ({ params }) => path.endsWithId && (params as Parameters)[path.param as string] === ''
    })
  }

  /**
   * Adds one URL with a parameter for all suffixes, because each URL costs about 40 KiB of memory. A suffix gets a URL
   * of its own if the app also serves that URL. Each suffix does if the router ignores case, because it does not ignore
   * it in a parameter's expression.
   */
  addSuffixes (path: RoutePath): void {
    const isStrict = this.#app.initialConfig.routerOptions?.caseSensitive !== false
    const shared: string[] = []
    for (const suffix of this.#prepared.negotiator.suffixes) {
      const url = `${path.url}.${suffix}`
      if (isStrict && this.#methodsAt(url, path.routeConstraints).length === 0) shared.push(suffix)
      else this.addPath({ ...path, url }, { suffix })
    }
    if (shared.length === 0) return
    this.addPath({ ...path, url: `${path.url}.:${SUFFIX}(^(?:${shared.join('|')})$)` }, { isSuffixed: true })
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
    const others = this.#methodsAt(url, routeConstraints)
    const method = routes.flatMap(({ methods }) => methods).filter((method) => !others.includes(method))
    if (method.length === 0) return
    const info = { ...makeInfo(path, routes[0]), allowed: false, safe: false }
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
    const { urls: { collection }, compiled: { options: { routing: { routeConstraints } } } } = this.#prepared
    const url = assetPath(collection, `${stem}.:hash(^[\\da-f]+).${extension}`)
    // Another resource of this path has added the file already.
    if (this.#methodsAt(url, routeConstraints).length > 0) return
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

  /** @throws InvalidOptionError if the app or another resource serves the path already */
  addXmlSchema (handler: RouteHandlerMethod): void {
    const { urls: { collection }, compiled: { options: { routing: { routeConstraints } } } } = this.#prepared
    const base = this.#base(`${collection}.xsd`, routeConstraints)
    const others = this.#methodsAt(base.url, routeConstraints)
    if (others.includes('GET')) {
      throw new InvalidOptionError(
        'xsd',
        `adds GET ${base.url}, which the app or another resource with this path serves already; leave "xsd" out of ` +
          'one of them'
      )
    }
    const served = ['GET', 'HEAD', ...others]
    const allow = joinMethods(served)
    this.#app.route({ ...base, method: ['GET', 'HEAD'], handler })
    this.#refuseOthers(base, {
      served,
      headers: { allow },
      refuse: (request, reply) => refuseMethod(request, reply, allow),
      isRefused: () => false
    })
  }

  /** Refuses the methods that nothing serves at a URL. OPTIONS is answered at once, whatever body it has. */
  #refuseOthers (base: RouteBase, { served, headers, refuse, isRefused }: RefusedPath): void {
    const methods = this.#app.supportedMethods as HTTPMethods[]
    this.#app.route({
      ...base,
      method: methods.filter((method) => !served.includes(method)),
      onRequest (request, reply, done) {
        if (request.method !== 'OPTIONS' || isRefused(request)) return refuse.call(this, request, reply, done)
        reply.code(204).headers(headers).send()
      },
      // Never runs, because the hook always answers.
      handler: refuseMethod
    })
  }

  /** Returns the methods that are already served at a URL. */
  #methodsAt (url: string, constraints: RouteBase['constraints']): HTTPMethods[] {
    const methods = this.#app.supportedMethods as HTTPMethods[]
    const whole = this.#app.prefix.replace(/\/$/, '') + url
    return methods.filter((method) => this.#app.hasRoute({ method, url: whole, constraints }))
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

/** Returns the value of the header `Allow`, which always names OPTIONS. */
function joinMethods (methods: readonly string[]): string {
  return [...new Set([...methods, 'OPTIONS'])].join(', ')
}

/** Returns the headers that say which bodies the methods of a URL accept. */
function acceptHeaders (routes: readonly Route[], negotiator: Negotiator): Readonly<Record<string, string>> {
  const patch = routes.find(({ methods }) => methods.includes('PATCH'))
  return {
    ...(routes.some(({ hasQueryBody }) => hasQueryBody === true) && { 'accept-query': ACCEPT_QUERY }),
    ...(patch !== undefined && { 'accept-patch': negotiator.patchTypes(patch.mergesPatches === true) })
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
  add('onRequest', negotiator.negotiate(route) as Hook)
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
