import type { FastifyInstance } from 'fastify'

const WARNED: unique symbol = Symbol('fastify-resources.timeout')

interface Warned {
  readonly requestTimeout?: number
  [WARNED]?: boolean
}

/** Says once of a server, when it is ready, that a client may send a body for ever: a plugin cannot set what it lacks. */
export function warnOfTimeout (app: FastifyInstance): void {
  const server = app.server as Warned
  if (server[WARNED] === true) return
  server[WARNED] = true
  app.addHook('onReady', (done) => {
    if (server.requestTimeout === 0) app.log.warn('the server waits for ever for the body of a request: give fastify() the options requestTimeout: 10_000 and http: { headersTimeout: 5_000, connectionsCheckingInterval: 1_000 }')
    done()
  })
}
