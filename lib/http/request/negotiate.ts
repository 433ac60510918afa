import type { FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify'
import {
  CrossSiteError,
  MethodNotAllowedError,
  NotAcceptableError,
  TrailingSlashError,
  UnsupportedMediaTypeError
} from '../../errors.js'
import { type Parameters, SUFFIX } from '../../resource/path-pattern.js'
import type { ActionName } from '../../resource/resource.js'
import type { BodyFormat, CompiledResource, Representation } from '../compiled-resource.js'
import type { RouteInfo } from '../route.js'
import { type FormatChoice, makeFormatChoice } from './accept.js'
import { parseContentType } from './content-type.js'
import { findCrossSite } from './cross-site.js'
import { checkQuery } from './query.js'
import { findState, keepState, type RequestState } from './state.js'

const NOTHING: Readonly<Record<string, unknown>> = Object.freeze({})

/** Answers that the method is not served, and by which the path is (RFC 9110 §15.5.6). */
export function refuseMethod (request: FastifyRequest, reply: FastifyReply, allow = '', cure = ''): never {
  reply.header('allow', allow)
  throw new MethodNotAllowedError(request.method, allow + cure)
}

const WRITES: ReadonlyMap<string, ActionName> = new Map([['PUT', 'update'], ['DELETE', 'delete']])

/** Finds out what a request is to be answered in, and whatever forbids to look at it any further. */
export class Negotiator {
  readonly #compiled: CompiledResource
  readonly #bodies: ReadonlyMap<string, BodyFormat>
  readonly #suffixes: ReadonlyMap<string, FormatChoice<Representation>>
  readonly #fallback: FormatChoice<Representation>
  /** Of ids that may be any text, one that ends as a suffix does has its dot encoded. */
  readonly #isText: boolean

  constructor (compiled: CompiledResource) {
    this.#compiled = compiled
    this.#bodies = new Map(compiled.bodies.flatMap((body) => body.mediaTypes.map((mediaType) => [mediaType, body])))
    this.#suffixes = new Map(compiled.representations.map((format) => [format.name, makeFormatChoice(format)]))
    this.#fallback = [...this.#suffixes.values()][0] as FormatChoice<Representation>
    this.#isText = compiled.resource.idType === 'string'
  }

  /** The suffixes that a path may have, each the name of a format. */
  get suffixes (): readonly string[] {
    return [...this.#suffixes.keys()]
  }

  /** The hook in which a request of such a path is met. */
  open (route: RouteInfo): onRequestHookHandler {
    const { safe, allow, allowed, parameters, endsWithId } = route
    const { options } = this.#compiled
    return (request, reply, done) => {
      const chosen = this.#choose(request, reply, route)
      // The router takes what stands after the slash of `/posts/` for an id.
      if (endsWithId && (findState(request) as RequestState).member === '') throw new TrailingSlashError()
      const crossSite = safe ? undefined : findCrossSite(request, options.trustedOrigins)
      if (crossSite !== undefined) throw new CrossSiteError(crossSite)
      if (!allowed) refuseMethod(request, reply, allow, this.#cureOf(request, route))
      checkQuery(request.query, parameters)
      if (chosen === undefined) throw this.#notAcceptable(request)
      if (!safe) this.#checkBody(request, reply)
      done()
    }
  }

  /** The hook of a path of ours with a slash at its end, which is another path (RFC 3986 §6.2.4). */
  refuseSlash (route: RouteInfo): onRequestHookHandler {
    return (request, reply) => {
      this.#choose(request, reply, route)
      throw new TrailingSlashError()
    }
  }

  /** The state of a request, also of one that an app's hook has refused before the door. */
  stateOf (request: FastifyRequest, reply: FastifyReply, route: RouteInfo): RequestState {
    const state = findState(request)
    if (state !== undefined) return state
    this.#choose(request, reply, route)
    return findState(request) as RequestState
  }

  bodyOf (request: FastifyRequest): BodyFormat | undefined {
    const header = request.headers['content-type']
    return header === undefined
      ? undefined
      : (this.#bodies.get(header) ?? this.#bodies.get(parseContentType(header)?.mediaType ?? ''))
  }

  /** Whether a browser's form is sent, which may ask by `_method` for something else than its POST does. */
  isForm (request: FastifyRequest): boolean {
    return this.bodyOf(request)?.reader.form === true
  }

  /** Suffix, `?format=`, Accept, in this order. Undefined: nothing fits, and the state says what a refusal is written in. */
  #choose (request: FastifyRequest, reply: FastifyReply, route: RouteInfo): FormatChoice<Representation> | undefined {
    const { param, endsWithId } = route
    const parameters = request.params as Parameters
    const text = param === undefined ? undefined : parameters[param]
    const bySuffix = endsWithId
      ? this.#suffixIn(text as string, request)
      : this.#suffixes.get(route.suffix ?? parameters[SUFFIX] ?? '')
    const member =
      endsWithId && bySuffix !== undefined ? (text as string).slice(0, (text as string).lastIndexOf('.')) : text
    const { format } = request.query as { format?: unknown }
    const decided = bySuffix ?? (typeof format === 'string' ? this.#suffixes.get(format) : undefined)
    if (decided !== undefined) {
      keepState(request, this.#makeState(request, route, decided, bySuffix !== undefined, member))
      return decided
    }
    addVary(reply, 'Accept')
    const { method, headers } = request
    // The Content-Type of a GET would choose the answer, although Vary does not name it: a cache would mix formats up.
    const isRead = method === 'GET' || method === 'HEAD'
    const choice = this.#compiled.negotiate(headers.accept, isRead ? undefined : this.bodyOf(request)?.answer)
    keepState(request, this.#makeState(request, route, choice ?? this.#fallback, false, member))
    return typeof format === 'string' ? undefined : choice
  }

  #makeState (
    request: FastifyRequest,
    route: RouteInfo,
    choice: FormatChoice<Representation>,
    isSuffixed: boolean,
    member: string | undefined
  ): RequestState {
    const { action, formDecides } = route
    const { findLocation, accessCheckOf, target } = this.#compiled
    return {
      route,
      choice,
      location: findLocation(request.params as Parameters),
      parameters: request.params as Parameters,
      isSuffixed,
      member,
      action: formDecides && this.isForm(request) ? undefined : action,
      payload: undefined,
      customAction: undefined,
      query: NOTHING,
      target: accessCheckOf(route.isMember) === undefined ? target : undefined,
      refused: undefined,
      outcome: undefined,
      isAnswered: false,
      isTraced: false,
      linksBefore: undefined
    }
  }

  /** `1.xml` is the member 1 as XML; what names no format is part of the id. */
  #suffixIn (id: string, { url }: FastifyRequest): FormatChoice<Representation> | undefined {
    const dot = id.lastIndexOf('.')
    const choice = dot < 1 ? undefined : this.#suffixes.get(id.slice(dot + 1))
    return choice !== undefined &&
      this.#isText &&
      !(url.split('?', 1)[0] as string).replace(/\/+$/, '').endsWith(id.slice(dot))
      ? undefined
      : choice
  }

  /** Says to whoever writes to the path of a row that writes stand on the collection's path. */
  #cureOf (request: FastifyRequest, { endsWithId }: RouteInfo): string {
    const {
      options: { writes },
      resource: { actions }
    } = this.#compiled
    const {
      location: { members }
    } = findState(request) as RequestState
    const verb = request.method === 'PATCH' ? 'PUT' : request.method
    const action = WRITES.get(verb)
    if (!endsWithId || writes !== 'collection' || action === undefined || !actions.has(action)) return ''
    return `; send ${verb} ${members} with the id, or set writes: 'both'`
  }

  #notAcceptable ({ query }: FastifyRequest): Error {
    const { format } = query as { format?: string }
    const asked =
      format === undefined
        ? 'nothing that Accept names can be written here'
        : `there is no format "${format.slice(0, 100)}"`
    return new NotAcceptableError(
      asked,
      this.#compiled.representations.map(({ name, mediaTypes }) => `${mediaTypes.join(', ')} (${name})`).join('; ')
    )
  }

  /** A body must be of a type that is read, in UTF-8 and as it is, not compressed (RFC 9110 §15.5.16). */
  #checkBody (request: FastifyRequest, reply: FastifyReply): void {
    const { headers } = request
    const header = headers['content-type']
    if (header === undefined && !hasBody(request)) return
    if (header !== undefined && this.#bodies.has(header) && headers['content-encoding'] === undefined) return
    const refuse = (what: string, cure = '; set the header Content-Type to the type of the body'): never => {
      const readable = [...this.#bodies.keys()].join(', ')
      reply.header('accept', readable)
      throw new UnsupportedMediaTypeError(what, `${readable}${cure}`)
    }
    const encoding = headers['content-encoding']?.toLowerCase()
    if (encoding !== undefined && encoding !== 'identity') {
      reply.header('accept-encoding', 'identity')
      refuse(`the content coding "${encoding.slice(0, 40)}"`, '')
    }
    if (header === undefined) refuse('a body without a Content-Type')
    const type = parseContentType(header as string)
    if (type === undefined) refuse('the malformed Content-Type')
    else if (!this.#bodies.has(type.mediaType)) refuse(type.mediaType.slice(0, 100))
    else if (type.charset !== undefined && type.charset !== 'utf-8' && type.charset !== 'utf8') {
      refuse(`the charset "${type.charset.slice(0, 40)}"`)
    }
  }
}

/** RFC 9112 §6.3 */
function hasBody ({ headers }: FastifyRequest): boolean {
  return (
    headers['transfer-encoding'] !== undefined ||
    (headers['content-length'] !== undefined && headers['content-length'] !== '0')
  )
}

/** Adds to what other plugins have said already. */
function addVary (reply: FastifyReply, field: string): void {
  const before = reply.getHeader('vary')
  if (before === undefined) reply.header('vary', field)
  else if (!/(?:^|[\s,])(?:\*|accept)(?:[\s,]|$)/i.test(String(before))) {
    reply.header('vary', `${String(before)}, ${field}`)
  }
}
