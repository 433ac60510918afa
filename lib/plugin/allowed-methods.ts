import type { FastifyInstance, FastifyRequest, HTTPMethods, onRequestHookHandler, RouteOptions } from 'fastify'
import { refuseMethod } from '../http/request/negotiate.js'

/** Where routes stand: what several routes of one URL have in common. */
export interface RouteBase extends Required<Pick<RouteOptions, 'url' | 'constraints' | 'config'>> {
  readonly exposeHeadRoute: false
}

/** Returns the methods that the app serves at a URL already. */
export function methodsOf (app: FastifyInstance, url: string, constraints: RouteBase['constraints']): HTTPMethods[] {
  return supportedBy(app).filter((method) =>
    app.hasRoute({ method, url: app.prefix.replace(/\/$/, '') + url, constraints })
  )
}

/** Returns all methods that requests may have. */
export function supportedBy (app: FastifyInstance): HTTPMethods[] {
  return app.supportedMethods as HTTPMethods[]
}

/** Returns the value of `Allow`. */
export function joinMethods (methods: readonly string[]): string {
  return [...new Set([...methods, 'OPTIONS'])].join(', ')
}

/** How methods are refused. */
interface Refusal {
  readonly method: HTTPMethods[]
  readonly refuse: onRequestHookHandler
  /** Whether OPTIONS is refused, too. @default never */
  isRefused? (request: FastifyRequest): boolean
}

/** Refuses the methods that nobody serves at a URL, and answers OPTIONS at once, whatever body it has. */
export function addRefusal (
  app: FastifyInstance,
  base: RouteBase,
  allow: string,
  { method, refuse, isRefused = () => false }: Refusal
): void {
  app.route({
    ...base,
    method,
    onRequest (request, reply, done) {
      if (request.method !== 'OPTIONS' || isRefused(request)) return refuse.call(this, request, reply, done)
      reply.code(204).header('allow', allow).send()
    },
    // The hook has answered.
    handler: refuseMethod
  })
}
