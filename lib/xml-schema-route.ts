import { createHash } from 'node:crypto'
import type { FastifyInstance, HTTPMethods, RouteOptions } from 'fastify'
import { refuseMethod } from './door.js'
import { InvalidOptionError } from './errors.js'
import { answerOptions, methodsOf } from './methods.js'
import { once } from './once.js'
import { noneMatches, parseEntityTags } from './preconditions.js'

/** What the routes of a resource have in common. */
type Conditions = Required<Pick<RouteOptions, 'constraints' | 'config'>>

/**
 * A resource's XML Schema at a path of its own, made when it is first asked for. Whatever hooks guard the resource's
 * routes guard it, too.
 * @throws InvalidOptionError where something is served there already
 */
export function addXmlSchema (app: FastifyInstance, url: string, { constraints, config }: Conditions, write: () => string): void {
  const methods = app.supportedMethods as HTTPMethods[]
  const others = methodsOf(app, url, constraints)
  if (others.includes('GET')) throw new InvalidOptionError('xsd', `adds GET ${url}, which is served already: by the app, or by another resource of this path; leave it out of one of them`)
  const allow = [...new Set(['GET', 'HEAD', ...others, 'OPTIONS'])].join(', ')
  const schema = once(() => {
    const text = write()
    return { text, hash: createHash('sha256').update(text).digest('hex').slice(0, 16) }
  })
  const route = { url, constraints, config, exposeHeadRoute: false }
  app.route({
    ...route,
    method: ['GET', 'HEAD'],
    handler ({ headers }, reply) {
      const { text, hash } = schema()
      reply.header('etag', `"${hash}"`)
      const tags = parseEntityTags(headers['if-none-match'], 'If-None-Match')
      if (tags !== undefined && noneMatches(tags, hash)) return reply.code(304).send()
      return reply.type('application/xml; charset=utf-8').send(text)
    }
  })
  app.route({
    ...route,
    method: methods.filter((method) => !['GET', 'HEAD', ...others].includes(method)),
    onRequest (request, reply) {
      if (request.method !== 'OPTIONS') return refuseMethod(request, reply, allow)
      answerOptions(reply, allow)
    },
    // The hook has answered.
    handler: refuseMethod
  })
}
