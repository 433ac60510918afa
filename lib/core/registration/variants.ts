import type { FastifyReply, FastifyRequest, onRequestHookHandler, preValidationHookHandler } from 'fastify'
import type { CompiledResource } from '../compiled-resource.js'
import { Negotiator } from '../request/negotiate.js'
import type { RequestState } from '../request/state.js'
import type { Route, RouteInfo, RoutePath } from '../routes/route.js'
import type { Lack, RoleLacks } from './roles.js'
import { Cache } from '../util/cache.js'

/** A variant of a resource, with the table of its routes. Each variant has the same routes, in the same order. */
export interface ServedVariant {
  readonly compiled: CompiledResource
  readonly paths: readonly RoutePath[]
}

/** A variant that has served a request. */
interface KnownVariant {
  readonly compiled: CompiledResource
  readonly negotiator: Negotiator
  readonly routes: readonly Route[]
}

/**
 * The variants of a resource with roles. Each is a whole resource that has only the attributes which some roles see, so
 * that what they do not see does not exist for their requests. It is compiled for the first request that needs it.
 */
export class Variants {
  readonly #lacks: RoleLacks
  readonly #compile: (lack: Lack) => ServedVariant
  readonly #known = new Cache<string, KnownVariant>()
  /** The variants of requests by their messages, which the requests derived from them share. */
  readonly #found = new WeakMap<object, KnownVariant>()

  constructor (lacks: RoleLacks, compile: (lack: Lack) => ServedVariant) {
    this.#lacks = lacks
    this.#compile = compile
  }

  /** Returns the variant of a request, whose roles are asked once. */
  of (request: FastifyRequest): CompiledResource {
    return this.find(request).compiled
  }

  find (request: FastifyRequest): KnownVariant {
    let found = this.#found.get(request.raw)
    if (found === undefined) this.#found.set(request.raw, found = this.#get(this.#lacks.find(request)))
    return found
  }

  /** The variant of requests that failed before their roles were known: it has no attributes. */
  get ofNobody (): KnownVariant {
    return this.#get(this.#lacks.ofNobody)
  }

  #get (lack: Lack): KnownVariant {
    return this.#known.get(JSON.stringify([[...lack.hidden].sort(), [...lack.readOnly].sort()]), () => {
      const { compiled, paths } = this.#compile(lack)
      return { compiled, negotiator: new Negotiator(compiled), routes: routesOf(paths) }
    })
  }
}

function routesOf (paths: readonly RoutePath[]): readonly Route[] {
  return paths.flatMap(({ routes }) => routes)
}

/** Returns the routes of a resource, whose functions call those of the variant that the request sees. */
export function varyRoutes (paths: readonly RoutePath[], variants: Variants): readonly RoutePath[] {
  const all = routesOf(paths)
  const vary = (route: Route): Route => {
    const index = all.indexOf(route)
    const find = (request: FastifyRequest): Route => variants.find(request).routes[index] as Route
    return {
      ...route,
      handler (request, reply) { return find(request).handler.call(this, request, reply) },
      ...(route.readPayload !== undefined && {
        readPayload (request, reply, done) {
          return (find(request).readPayload as preValidationHookHandler).call(this, request, reply, done)
        }
      })
    }
  }
  return paths.map(({ routes: [first, ...others], ...path }) =>
    ({ ...path, routes: [vary(first), ...others.map(vary)] }))
}

/** Negotiates each request for the variant that it sees. */
export class VariantNegotiator extends Negotiator {
  readonly #variants: Variants
  readonly #routes: readonly Route[]

  /** @param paths the paths that `varyRoutes` has returned */
  constructor (compiled: CompiledResource, paths: readonly RoutePath[], variants: Variants) {
    super(compiled)
    this.#variants = variants
    this.#routes = routesOf(paths)
  }

  override negotiate (route: RouteInfo): onRequestHookHandler {
    return this.#vary((variant) => variant.negotiator.negotiate(this.#infoOf(route, variant)))
  }

  override readQuery (route: RouteInfo): preValidationHookHandler {
    return this.#vary((variant) => variant.negotiator.readQuery(this.#infoOf(route, variant)))
  }

  /** Makes the state of a request that fails before it is negotiated. */
  override makeState (request: FastifyRequest, reply: FastifyReply, route: RouteInfo): RequestState {
    return this.#variants.ofNobody.negotiator.makeState(request, reply, route)
  }

  #vary (make: (variant: KnownVariant) => onRequestHookHandler): onRequestHookHandler {
    const variants = this.#variants
    const hooks = new Cache<KnownVariant, onRequestHookHandler>()
    return function (request, reply, done) {
      const variant = variants.find(request)
      return hooks.get(variant, () => make(variant)).call(this, request, reply, done)
    }
  }

  #infoOf (route: RouteInfo, { routes }: KnownVariant): RouteInfo {
    const { parameters, form } = routes[this.#routes.indexOf(route.declared)] as Route
    return { ...route, parameters, form: form?.body }
  }
}
