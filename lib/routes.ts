import formbody from '@fastify/formbody'
import type { FastifyInstance, HTTPMethods, preValidationHookHandler, RouteHandlerMethod, RouteOptions } from 'fastify'
import { Door, refuseMethod } from './door.js'
import type { Asset, Entries } from './formats/format.js'
import { makeHandlers } from './handlers.js'
import { type Hall, STATE } from './hall.js'
import { RequestContext } from './context.js'
import { Responder, writeOnSend } from './respond.js'

/** Some methods of a path, and what they do there. */
interface Service {
  readonly methods: readonly HTTPMethods[]
  /** The parameters that the query may have. */
  readonly parameters: readonly string[]
  readonly preValidation?: preValidationHookHandler
  readonly handler: RouteHandlerMethod
  /** How Fastify serializes what is answered, where that is a record. */
  readonly schema?: ResponseSchema
  /** Left out of `Allow`: there only because a form can do nothing else. */
  readonly unnamed?: boolean
}

type ResponseSchema = Pick<RouteOptions, 'schema' | 'serializerCompiler'>

interface Path {
  readonly url: string
  /** The suffix of a path that has the one alone. */
  readonly suffix?: string
  readonly services: readonly Service[]
}

/**
 * The routes of a resource. A request meets, in this order: the door (onRequest), the parser of its body, the reading
 * of its payload (preValidation), the action (handler), and the writer (onSend). All of it, and the error handler,
 * stands in a scope of our own.
 */
export function addRoutes (app: FastifyInstance, hall: Hall): void {
  const door = new Door(hall)
  const responder = new Responder(hall)
  app.decorateRequest(STATE, undefined)
  addParsers(app, hall)
  app.addHook('onSend', writeOnSend)
  app.setErrorHandler((error, request, reply) => responder.fail(error, request, reply, door.stateOf(request, reply), new RequestContext(reply)))
  for (const path of pathsOf(app, hall, door, responder)) addPath(app, door, path)
  for (const { writer } of hall.representations) {
    for (const asset of writer.list === undefined ? writer.assets ?? [] : []) addAsset(app, hall, asset)
  }
}

/** In seconds: a year, the longest that is meant to be said. What never changes is asked for once (RFC 8246). */
const FOR_EVER = 31_536_000

/**
 * What pages refer to, under the resource's own path, so that whatever hooks guard its routes let it through alike. A
 * page that is older than this process, or is another's that runs beside it, asks by another hash: it gets what there is,
 * and asks again.
 */
function addAsset (app: FastifyInstance, { resource: { plural } }: Hall, { stem, hash, extension, mediaType, body }: Asset): void {
  app.route<{ Params: { hash: string } }>({
    method: ['GET', 'HEAD'],
    url: `/${plural}/${stem}.:hash(^[\\da-f]+).${extension}`,
    exposeHeadRoute: false,
    handler: ({ params }, reply) => reply
      .headers({ 'cache-control': params.hash === hash ? `public, max-age=${FOR_EVER}, immutable` : 'no-cache', 'x-content-type-options': 'nosniff' })
      .type(`${mediaType}; charset=utf-8`)
      .send(body)
  })
}

/** Bodies are read by our own readers alone, whatever the app parses elsewhere; an empty one is none. */
function addParsers (app: FastifyInstance, { bodies }: Hall): void {
  app.removeAllContentTypeParsers()
  for (const { mediaTypes, reader } of bodies) {
    const parse = (body: Buffer): Entries | undefined => body.length === 0 ? undefined : reader.parse(body)
    if (reader.form) app.register(formbody, { parser: (body: string) => parse(Buffer.from(body)) as Record<string, unknown> })
    else app.addContentTypeParser([...mediaTypes], { parseAs: 'buffer' }, (_request, body, done) => { done(null, parse(body as Buffer)) })
  }
}

function pathsOf (app: FastifyInstance, hall: Hall, door: Door, responder: Responder): Path[] {
  const { resource: { plural }, options: { writes }, listing: { parameters } } = hall
  const { list, show, write, readCollection, readMember } = makeHandlers(hall, door, responder)
  const schema = responseSchema(hall)
  const collection: Service[] = [
    { methods: ['GET', 'HEAD'], parameters, handler: list },
    { methods: ['POST'], parameters: ['format'], preValidation: readCollection, handler: write, schema }
  ]
  const member: Service[] = [{ methods: ['GET', 'HEAD'], parameters: ['format'], handler: show, schema }]
  if (writes !== 'member') collection.push({ methods: ['PUT', 'DELETE'], parameters: ['format', 'id'], preValidation: readCollection, handler: write, schema })
  if (writes !== 'collection') {
    member.push(
      { methods: ['PUT', 'PATCH', 'DELETE'], parameters: ['format', 'id'], preValidation: readMember, handler: write, schema },
      { methods: ['POST'], parameters: ['format'], preValidation: readMember, handler: write, schema, unnamed: true }
    )
  }
  return [
    { url: `/${plural}`, services: collection },
    ...suffixPaths(app, plural, door.suffixes).map((path) => ({ ...path, services: collection })),
    { url: `/${plural}/:id`, services: member }
  ]
}

/**
 * One path for all suffixes, since each costs some 40 KiB, which a thousand resources would feel. One of its own has a
 * suffix that the app serves too, and each where the router is to pass over case, which it does not in a parameter.
 */
function suffixPaths (app: FastifyInstance, plural: string, suffixes: readonly string[]): Array<Omit<Path, 'services'>> {
  const isStrict = app.initialConfig.routerOptions?.caseSensitive !== false
  const shared = suffixes.filter((suffix) => isStrict && methodsOf(app, `/${plural}.${suffix}`).length === 0)
  const alone = suffixes.filter((suffix) => !shared.includes(suffix)).map((suffix) => ({ url: `/${plural}.${suffix}`, suffix }))
  return shared.length === 0 ? alone : [{ url: `/${plural}.:suffix(^(?:${shared.join('|')})$)` }, ...alone]
}

/** Those that the app itself serves on a path. */
function methodsOf (app: FastifyInstance, url: string): HTTPMethods[] {
  return app.supportedMethods.filter((method) => app.hasRoute({ method, url: app.prefix.replace(/\/$/, '') + url })) as HTTPMethods[]
}

function addPath (app: FastifyInstance, door: Door, { url, suffix, services }: Path): void {
  // What the app itself serves on this path stays the app's.
  const others = methodsOf(app, url)
  const served = services.flatMap(({ methods }) => [...methods])
  const named = services.flatMap(({ methods, unnamed }) => unnamed === true ? [] : [...methods])
  const allow = [...new Set([...named, ...others, 'OPTIONS'])].join(', ')
  for (const { methods, parameters, preValidation, handler, schema } of services) {
    app.route({
      method: [...methods],
      url,
      exposeHeadRoute: false,
      onRequest: door.open({ suffix, allow, allowed: true, safe: preValidation === undefined, parameters }),
      ...(preValidation !== undefined && { preValidation }),
      handler,
      ...schema
    })
  }
  const refuse = door.open({ suffix, allow, allowed: false, safe: false, parameters: [] })
  app.route({
    method: (app.supportedMethods as HTTPMethods[]).filter((method) => !served.includes(method) && !others.includes(method)),
    url,
    exposeHeadRoute: false,
    onRequest (request, reply, done) {
      if (request.method !== 'OPTIONS') return refuse.call(this, request, reply, done)
      // At once: whatever body there is is not looked at.
      reply.code(204).header('allow', allow).send()
    },
    // The door has refused before.
    handler: refuseMethod
  })
}

/** What Fastify serializes as JSON: records by the writer that was made of the schema, which lets out what is declared. */
function responseSchema ({ resource, representations }: Hall): ResponseSchema {
  const [serialize] = representations.flatMap(({ writer }) => writer.document === undefined ? [] : [writer.serialize])
  if (serialize === undefined) return {}
  const properties = Object.fromEntries([...resource.attributes.values()].filter(({ writeOnly }) => !writeOnly).map(({ name, schema }) => [name, schema]))
  const record = { type: 'object', properties: { [resource.singular]: { type: 'object', properties: { id: { type: resource.idType === 'uuid' ? 'string' : 'integer' }, ...properties } } } }
  return {
    schema: { response: { 200: record, 201: record, 412: record } },
    serializerCompiler: () => serialize as (document: unknown) => string
  }
}
