import type { FastifyContextConfig, FastifyInstance } from 'fastify'
import type { Asset } from '../formats/format.js'
import { methodsOf } from '../http/response/allow.js'
import type { Path } from '../http/route.js'
import type { Description } from '../openapi/describe-routes.js'
import { assetPath } from '../resource/asset-path.js'

/** In seconds: a year, the longest that is meant to be said. What never changes is asked for once (RFC 8246). */
const FOR_EVER = 31_536_000

/**
 * What pages refer to, under the resource's own path, so that whatever hooks guard its routes let it through alike. A
 * page that is older than this process, or is another's that runs beside it, asks by another hash: it gets what there is,
 * and asks again.
 */
export function addAsset (
  app: FastifyInstance,
  collection: string,
  { stem, hash, extension, mediaType, body }: Asset,
  routeConstraints: Path['routeConstraints'],
  { hidden }: Description
): void {
  const url = assetPath(collection, `${stem}.:hash(^[\\da-f]+).${extension}`)
  // Of a resource that shares its path with another one, which has the same.
  if (methodsOf(app, url, routeConstraints).length > 0) return
  app.route<{ Params: { hash: string } }>({
    method: ['GET', 'HEAD'],
    url,
    constraints: routeConstraints,
    exposeHeadRoute: false,
    config: { swaggerTransform: hidden } as object as FastifyContextConfig,
    handler: ({ params }, reply) =>
      reply
        .headers(params.hash === hash ? { 'cache-control': `public, max-age=${FOR_EVER}, immutable` } : {})
        .type(`${mediaType}; charset=utf-8`)
        .send(body)
  })
}
