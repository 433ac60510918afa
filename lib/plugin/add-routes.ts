import formbody from '@fastify/formbody'
import type { FastifyContextConfig, FastifyInstance, FastifyRequest, HTTPMethods, RouteOptions } from 'fastify'
import type { Entries } from '../formats/format.js'
import { writeXmlSchema } from '../formats/xml/xsd/xsd.js'
import type { CompiledResource } from '../http/compiled-resource.js'
import type { Handlers } from '../http/handlers/handlers.js'
import { type Negotiator, refuseMethod } from '../http/request/negotiate.js'
import { findState, STATE } from '../http/request/state.js'
import { answerOptions, methodsOf } from '../http/response/allow.js'
import { makeOnSend } from '../http/response/send.js'
import type { RouteAction, RouteInfo, Path, Service, Urls } from '../http/route.js'
import type { Description } from '../openapi/describe-routes.js'
import { ID_SCHEMAS } from '../openapi/resource-schemas.js'
import { type Parameters, SUFFIX } from '../resource/path-pattern.js'
import { addHooks, callFor, type Hook, type HookName, type Hooks } from '../routing/hooks.js'
import { mapReferences } from '../schema/bundle.js'
import type { Schema } from '../schema/types.js'
import { addAsset } from './asset-route.js'
import { addXmlSchema } from './xsd.js'

type ResponseSchema = Pick<RouteOptions, 'schema' | 'serializerCompiler'>

/**
 * The routes of a resource. A request meets, in this order: the door (onRequest), the parser of its body, the reading
 * of its payload (preValidation), what it must be let in by and the action (handler), and the writer (onSend). All of it,
 * and the error handler, stands in a scope of our own.
 */
export function addRoutes (
  app: FastifyInstance,
  { compiled, negotiator, handlers, paths, urls: { collection }, description }: Ready,
  sharing: Sharing
): void {
  app.decorateRequest(STATE, undefined)
  addParsers(app, compiled)
  // First, so that those of the resource get what is sent.
  app.addHook('onSend', makeOnSend(compiled.cacheControl))
  addHooks(app, compiled.options.routing.hooks)
  // Of what is no action: style sheets, the XML Schema.
  const fallback = { ...routeInfoOf(paths[0] as Path, (paths[0] as Path).services[0] as Service, ''), allowed: false }
  app.setErrorHandler((error, request, reply) => {
    const { [ROUTE]: route = fallback } = request.routeOptions.config as { [ROUTE]?: RouteInfo }
    return handlers.fail(error, negotiator.stateOf(request, reply, route))
  })
  const schemas = { record: responseSchema(compiled, 'record'), blank: responseSchema(compiled, 'blank') }
  const add: AddPath = (path, share, suffix, isSuffixed) => {
    addPath(app, compiled, negotiator, schemas, description, path, share, suffix, isSuffixed)
  }
  for (const path of paths) {
    const share = sharing(path)
    add(path, share, undefined, false)
    if (!path.endsWithId) addSuffixes(app, negotiator, add, path, share)
  }
  const hasRows = paths.some(({ endsWithId }) => endsWithId)
  for (const path of paths) {
    // The path of a row has `/posts/`, too: as one without an id.
    if (path.endsWithId || (path.url === collection && (!hasRows || compiled.mount.isShallow))) {
      addSlash(app, negotiator, path, description)
    }
  }
  for (const { writer } of compiled.representations) {
    for (const asset of writer.list === undefined ? (writer.assets ?? []) : []) {
      addAsset(app, collection, asset, compiled.options.routing.routeConstraints, description)
    }
  }
  if (compiled.options.xsd) {
    addXmlSchema(
      app,
      `${collection}.xsd`,
      {
        constraints: compiled.options.routing.routeConstraints,
        config: { swaggerTransform: description.hidden } as object
      },
      () => writeXmlSchema(compiled.resource)
    )
  }
}

/** A resource that is ready to be registered. */
export interface Ready {
  readonly compiled: CompiledResource
  readonly negotiator: Negotiator
  readonly handlers: Handlers
  readonly paths: readonly Path[]
  readonly urls: Urls
  readonly description: Description
}

/** What other resources serve on a path, and whether this one is the last of them. */
export interface Share {
  readonly services: readonly Service[]
  readonly endsWithId: boolean
}

export type Sharing = (path: Path) => Share

/** Where a route keeps what its requests meet. */
const ROUTE: unique symbol = Symbol('fastify-resources.entrance')

function routeInfoOf (
  { pattern, isMember, param, endsWithId }: Path,
  { actions: [asked, ...others], parameters, payload }: Service,
  allow: string,
  suffix?: string
): RouteInfo {
  return {
    path: pattern,
    isMember,
    param,
    endsWithId,
    suffix,
    allow,
    allowed: true,
    safe: payload === undefined,
    parameters,
    action: asked.name,
    formDecides: others.length > 0
  }
}

/**
 * Answers that there is nothing at the path with a slash at its end, where the router takes that for another path. Only
 * the methods of the path itself have such a route, which costs some 2 KiB a method; the others get the app's own 404.
 */
function addSlash (app: FastifyInstance, negotiator: Negotiator, path: Path, { hidden }: Description): void {
  const { ignoreTrailingSlash, routerOptions } = app.initialConfig
  // Fastify still takes the option beside the others of the router.
  if (ignoreTrailingSlash === true || routerOptions?.ignoreTrailingSlash === true) return
  const { routeConstraints, services } = path
  const url = `${path.url}/`
  // The app, or another resource of the same path, may have it already.
  const others = methodsOf(app, url, routeConstraints)
  const method = services.flatMap(({ methods }) => methods).filter((method) => !others.includes(method))
  if (method.length === 0) return
  const route = { ...routeInfoOf(path, services[0] as Service, ''), allowed: false, safe: false }
  app.route({
    method,
    url,
    constraints: routeConstraints,
    exposeHeadRoute: false,
    config: { [ROUTE]: route, swaggerTransform: hidden } as object as FastifyContextConfig,
    onRequest: negotiator.refuseSlash(route),
    // The hook has answered.
    handler: refuseMethod
  })
}

/** Bodies are read by our own readers alone, whatever the app parses elsewhere; an empty one is none. */
function addParsers (app: FastifyInstance, { bodies }: CompiledResource): void {
  app.removeAllContentTypeParsers()
  for (const { mediaTypes, reader } of bodies) {
    const parse = (body: Buffer): Entries | undefined => body.length === 0 ? undefined : reader.parse(body)
    if (reader.form) {
      app.register(formbody, { parser: (body: string) => parse(Buffer.from(body)) as Record<string, unknown> })
    } else {
      app.addContentTypeParser([...mediaTypes], { parseAs: 'buffer' }, (_request, body, done) => {
        done(null, parse(body as Buffer))
      })
    }
  }
}

/**
 * One path for all suffixes, since each costs some 40 KiB, which a thousand resources would feel. One of its own has a
 * suffix that the app serves too, and each where the router is to pass over case, which it does not in a parameter.
 */
function addSuffixes (app: FastifyInstance, negotiator: Negotiator, add: AddPath, path: Path, share: Share): void {
  const isStrict = app.initialConfig.routerOptions?.caseSensitive !== false
  const shared = negotiator.suffixes.filter(
    (suffix) => isStrict && methodsOf(app, `${path.url}.${suffix}`, path.routeConstraints).length === 0
  )
  for (const suffix of negotiator.suffixes) {
    if (!shared.includes(suffix)) add({ ...path, url: `${path.url}.${suffix}` }, share, suffix, true)
  }
  if (shared.length > 0) {
    add({ ...path, url: `${path.url}.:${SUFFIX}(^(?:${shared.join('|')})$)` }, share, undefined, true)
  }
}

type Schemas = Readonly<Record<NonNullable<Service['document']>, ResponseSchema>>

/** `suffix`: the one that the path has; `isSuffixed`: whether it has one at all. */
type AddPath = (path: Path, share: Share, suffix: string | undefined, isSuffixed: boolean) => void

function addPath (
  app: FastifyInstance,
  compiled: CompiledResource,
  negotiator: Negotiator,
  schemas: Schemas,
  description: Description,
  path: Path,
  { services: shared, endsWithId }: Share,
  suffix: string | undefined,
  isSuffixed: boolean
): void {
  const { url, services } = path
  const constraints = path.routeConstraints
  // What the app itself serves on this path stays the app's, and what another resource does that one's.
  const all = [...services, ...shared]
  const served = all.flatMap(({ methods }) => [...methods])
  const named = all.flatMap(({ methods, formOnly }) => (formOnly === true ? [] : [...methods]))
  const others = methodsOf(app, url, constraints).filter((method) => !served.includes(method))
  const allow = [...new Set([...named, ...others, 'OPTIONS'])].join(', ')
  for (const service of services) {
    const route = routeInfoOf(path, service, allow, suffix)
    app.route({
      method: [...service.methods],
      url,
      constraints,
      exposeHeadRoute: false,
      config: {
        [ROUTE]: route,
        swaggerTransform: description.service(path, service, isSuffixed)
      } as object as FastifyContextConfig,
      ...hooksOf(service, negotiator, route),
      handler: service.handler,
      ...schemasOf(compiled, service, schemas)
    })
  }
  // The last of the resources that share a path refuses for all of them.
  if (!endsWithId) return
  const refused = {
    ...routeInfoOf(path, services[0] as Service, allow, suffix),
    allowed: false,
    safe: false,
    parameters: [],
    formDecides: false
  }
  const refuse = negotiator.open(refused)
  app.route({
    method: (app.supportedMethods as HTTPMethods[]).filter(
      (method) => !served.includes(method) && !others.includes(method)
    ),
    url,
    constraints,
    exposeHeadRoute: false,
    config: { [ROUTE]: refused, swaggerTransform: description.hidden } as object as FastifyContextConfig,
    onRequest (request, reply, done) {
      const isBlank = path.endsWithId && (request.params as Parameters)[path.param as string] === ''
      if (request.method !== 'OPTIONS' || isBlank) return refuse.call(this, request, reply, done)
      answerOptions(reply, allow)
    },
    // The door has refused before.
    handler: refuseMethod
  })
}

/**
 * The hooks of a route: the door and the reading, and those that the app has given the actions that may be asked for. A
 * form says in its body which of them it is, so that those which belong before that run as soon as it is read.
 */
function hooksOf ({ actions, payload }: Service, negotiator: Negotiator, route: RouteInfo): Hooks {
  const lists = new Map<HookName, Hook[]>()
  const add = (name: HookName, hook: Hook): void => { lists.set(name, [...lists.get(name) ?? [], hook]) }
  add('onRequest', negotiator.open(route) as Hook)
  if (payload !== undefined) add('preValidation', payload.read as Hook)
  // What the app has answered before the door asks for nothing.
  const asks = ({ isFor }: RouteAction) => (request: FastifyRequest): boolean => {
    const state = findState(request)
    return state !== undefined && isFor(state)
  }
  for (const asked of route.formDecides ? actions : []) {
    for (const hook of asked.hooks.get('onRequest') ?? []) {
      add(
        'preValidation',
        callFor((request) => negotiator.isForm(request) && asks(asked)(request), hook)
      )
    }
  }
  for (const asked of actions) {
    for (const [name, list] of asked.hooks) {
      for (const hook of list) add(name, route.formDecides ? callFor(asks(asked), hook) : hook)
    }
  }
  // Last of all: a form in which something is wrong comes back with the row that it is about, which no hook has refused.
  if (payload !== undefined) add('preHandler', payload.check as Hook)
  return Object.fromEntries(lists) as Hooks
}

/** What a body holds goes to `onRoute` hooks of the app. It has been checked by us when Fastify would check it. */
function schemasOf (
  compiled: CompiledResource,
  service: Service,
  schemas: Schemas
): Pick<RouteOptions, 'schema' | 'serializerCompiler' | 'validatorCompiler'> {
  const answered = service.document === undefined ? {} : schemas[service.document]
  if (service.payload === undefined) return answered
  return {
    ...answered,
    schema: { ...(answered.schema as object), body: bodySchema(compiled, service) },
    validatorCompiler: () => () => true
  }
}

/** The document that a body is after it has been read: the id, and the group as a create or an update takes it. */
function bodySchema ({ resource }: CompiledResource, { customAction: own, actions: [{ name }] }: Service): Schema {
  const { singleton, idType, singular } = resource
  const { attributes, schema } =
    own?.attributes === undefined ? resource : { attributes: own.supplied, schema: own.attributes }
  const given = [...attributes.values()].filter(({ readOnly }) => !readOnly)
  const isWhole = own === undefined ? name === 'create' : own.attributes !== undefined
  const required = isWhole
    ? given.filter((attribute) => attribute.required && attribute.schema.default === undefined).map(({ name }) => name)
    : []
  const group = {
    ...mapReferences(schema, (reference) =>
      reference.startsWith('#') ? `#/properties/${singular}${reference.slice(1)}` : reference
    ),
    type: 'object',
    required
  }
  const isNamed = !singleton && name !== 'create'
  return { type: 'object', properties: { ...(isNamed && { id: ID_SCHEMAS[idType] }), [singular]: group } }
}

/** What Fastify serializes as JSON: records by the writer that was made of the schema, which lets out what is declared. */
function responseSchema ({ resource, representations }: CompiledResource, kind: keyof Schemas): ResponseSchema {
  const [serialize] = representations.flatMap(({ writer, blank }) => {
    const used = writer.document === undefined || kind === 'record' ? writer : blank()
    return used.document === undefined ? [] : [used.serialize]
  })
  if (serialize === undefined) return {}
  const properties = Object.fromEntries(
    [...resource.attributes.values()].filter(({ writeOnly }) => !writeOnly).map(({ name, schema }) => [name, schema])
  )
  const id =
    resource.singleton || kind === 'blank' ? {} : { id: { type: resource.idType === 'integer' ? 'integer' : 'string' } }
  const record = {
    type: 'object',
    properties: { [resource.singular]: { type: 'object', properties: { ...id, ...properties } } }
  }
  return {
    schema: { response: { 200: record, 201: record, 412: record } },
    serializerCompiler: () => serialize as (document: unknown) => string
  }
}
