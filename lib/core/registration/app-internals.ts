import type { FastifyInstance } from 'fastify'
import type { Hook, HookLists } from '../options/hooks.js'

/** Returns what Fastify keeps on an instance for its hooks, or `undefined` if it has no such symbol any more. */
function internalHooksOf (app: FastifyInstance): unknown {
  let instance: object | null = app
  while (instance !== null) {
    const key = Object.getOwnPropertySymbols(instance).find(({ description }) => description === 'fastify.hooks')
    if (key !== undefined) return Reflect.get(instance, key)
    instance = Object.getPrototypeOf(instance)
  }
}

/**
 * Returns the hooks that all routes on this instance have. If they are unknown, it returns one that no other instance
 * has, so that nobody takes the routes for unguarded.
 */
export function appHooksOf (app: FastifyInstance): HookLists {
  const hooks = internalHooksOf(app) ?? { onRequest: [() => {}] }
  return new Map(Object.entries(hooks as Readonly<Record<string, readonly Hook[]>>))
}

/** Fastify's default of `maxParamLength`, in characters. */
const DEFAULT_LENGTH = 100

/**
 * Returns the length of the longest path parameter that the router accepts, in characters. Fastify fills in the default
 * of `routerOptions` even if it takes the value from the top level.
 */
export function longestParameter ({ initialConfig }: FastifyInstance): number {
  const { maxParamLength = DEFAULT_LENGTH, routerOptions } = initialConfig
  const { maxParamLength: given = DEFAULT_LENGTH } = routerOptions ?? {}
  return given === DEFAULT_LENGTH ? maxParamLength : given
}

/** Warns, when the app is ready, if a client may take for ever to send a body. A plugin cannot set the timeout. */
export function warnOfTimeout (app: FastifyInstance): void {
  const server: { readonly requestTimeout?: number } = app.server
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
