import type { FastifyInstance, FastifyReply, HTTPMethods, RouteOptions } from 'fastify'

/** Those that are served on a path already. */
export function methodsOf (
  app: FastifyInstance,
  url: string,
  constraints: NonNullable<RouteOptions['constraints']>
): HTTPMethods[] {
  return app.supportedMethods.filter((method) =>
    app.hasRoute({ method, url: app.prefix.replace(/\/$/, '') + url, constraints })
  ) as HTTPMethods[]
}

/** At once: whatever body there is is not looked at. */
export function answerOptions (reply: FastifyReply, allow: string): void {
  reply.code(204).header('allow', allow).send()
}
