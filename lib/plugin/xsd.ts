import { createHash } from 'node:crypto'
import type { FastifyInstance, HTTPMethods, RouteOptions } from 'fastify'
import { InvalidOptionError, nameOwner, ownerOf } from '../errors.js'
import { writeXmlSchema } from '../formats/xml/xsd/xsd.js'
import { refuseMethod } from '../http/request/negotiate.js'
import { noneMatches, parseEntityTags } from '../http/request/preconditions.js'
import { answerOptions, methodsOf } from '../http/response/allow.js'
import { makeResource } from '../resource/resource.js'
import type { ResourceOptions } from '../routing/options.js'
import { resolveOptions } from '../routing/resolve-options.js'
import { compileValidation } from '../schema/validation/validation.js'
import { noStore } from '../stores/null-store.js'
import { lazy } from '../util/lazy.js'

/** What the routes of a resource have in common. */
type Conditions = Required<Pick<RouteOptions, 'constraints' | 'config'>>

/**
 * A resource's XML Schema at a path of its own, made when it is first asked for. Whatever hooks guard the resource's
 * routes guard it, too.
 * @throws InvalidOptionError where something is served there already
 */
export function addXmlSchema (
  app: FastifyInstance,
  url: string,
  { constraints, config }: Conditions,
  write: () => string
): void {
  const methods = app.supportedMethods as HTTPMethods[]
  const others = methodsOf(app, url, constraints)
  if (others.includes('GET')) {
    throw new InvalidOptionError(
      'xsd',
      `adds GET ${url}, which is served already: by the app, or by another resource of this path; leave it out of one of them`
    )
  }
  const allow = [...new Set(['GET', 'HEAD', ...others, 'OPTIONS'])].join(', ')
  const schema = lazy(() => {
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

/** Of the options of a resource, those that its XML depends on. */
export interface XmlSchemaOptions extends Pick<ResourceOptions, 'name' | 'singular' | 'attributes' | 'store' | 'id'> {
  /** Whether there is but one, as of `map.resource`. @default false */
  readonly singleton?: boolean
}

/**
 * The XML Schema (XSD 1.0) of a resource's documents, as the option `xsd` serves it.
 *
 * @example
 * writeFileSync('posts.xsd', xmlSchema({ name: 'posts', attributes }))
 * @throws InvalidOptionError, UnknownOptionError, InvalidAttributesError
 */
export function xmlSchema ({ singleton = false, ...options }: XmlSchemaOptions): string {
  const { store = noStore } = options
  const {
    plural,
    singular,
    idType,
    schema,
    routing: { segment, actions }
  } = nameOwner(ownerOf(options.name), () => resolveOptions({ ...options, store }, singleton))
  const resource = makeResource(
    { plural, singular, path: `/${segment}`, memberWrites: false, singleton, actions, foreignKey: undefined },
    idType,
    schema
  )
  compileValidation(resource)
  return writeXmlSchema(resource)
}
