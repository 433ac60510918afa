import type { FastifyInstance, FastifyRequest, HTTPMethods, onRequestHookHandler, RouteOptions } from 'fastify'
import { type Negotiator, refuseMethod } from '../request/negotiate.js'
import { ACCEPT_QUERY } from '../request/query-body.js'
import type { Route } from './route.js'

/** The options that all routes of one URL share. */
export interface RouteBase extends Required<Pick<RouteOptions, 'url' | 'constraints' | 'config'>> {
  readonly exposeHeadRoute: false
}

/** Returns the methods that the app already serves at a URL. */
export function methodsOf (app: FastifyInstance, url: string, constraints: RouteBase['constraints']): HTTPMethods[] {
  return supportedBy(app).filter((method) =>
    app.hasRoute({ method, url: app.prefix.replace(/\/$/, '') + url, constraints })
  )
}

/** Returns all methods that the app can serve. */
export function supportedBy (app: FastifyInstance): HTTPMethods[] {
  return app.supportedMethods as HTTPMethods[]
}

/** Returns the value of the header `Allow`, which always names OPTIONS. */
export function joinMethods (methods: readonly string[]): string {
  return [...new Set([...methods, 'OPTIONS'])].join(', ')
}

/** Returns the headers that say which bodies the methods of a URL accept. */
export function acceptHeaders (routes: readonly Route[], negotiator: Negotiator): Readonly<Record<string, string>> {
  const patch = routes.find(({ methods }) => methods.includes('PATCH'))
  return {
    ...(routes.some(({ methods }) => methods.includes('QUERY')) && { 'accept-query': ACCEPT_QUERY }),
    ...(patch !== undefined && { 'accept-patch': negotiator.patchTypes(patch.mergesPatches === true) })
  }
}

/** The refusal of the methods that a URL does not serve. */
interface MethodRefusal {
  readonly method: HTTPMethods[]
  readonly refuse: onRequestHookHandler
  /** Returns whether a request is refused even if its method is OPTIONS. @default never */
  isRefused? (request: FastifyRequest): boolean
}

/**
 * Makes the route that refuses the methods that nothing serves at a URL. OPTIONS is answered with these headers at
 * once, whatever body it has.
 */
export function makeRefusal (
  headers: Readonly<Record<string, string>>,
  { method, refuse, isRefused = () => false }: MethodRefusal
): Required<Pick<RouteOptions, 'onRequest' | 'handler'>> & { readonly method: HTTPMethods[] } {
  return {
    method,
    onRequest (request, reply, done) {
      if (request.method !== 'OPTIONS' || isRefused(request)) return refuse.call(this, request, reply, done)
      reply.code(204).headers(headers).send()
    },
    // Never runs, because the hook always answers.
    handler: refuseMethod
  }
}
