import type { FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify'
import { CrossSiteError, MethodNotAllowedError, NotAcceptableError, UnsupportedMediaTypeError } from './errors.js'
import { findState, type BodyFormat, type Hall, keepState, type Representation, type State } from './hall.js'
import { parseContentType } from './media-type.js'
import { type Choice, makeChoice } from './negotiation.js'
import { findCrossSite } from './origin.js'
import { checkQuery } from './query.js'

/** What a path lets in. */
export interface Entrance {
  /** The suffix of a path that has the one alone. */
  readonly suffix: string | undefined
  /** The methods that are served, as `Allow` names them. */
  readonly allow: string
  /** Whether the request's method is one of them. */
  readonly allowed: boolean
  /** Whether what it does is only read, and has no body: then there is less to look at. */
  readonly safe: boolean
  /** The parameters that the query may have. */
  readonly parameters: readonly string[]
}

/** A form is the only POST to a member: it stands for a PUT or a DELETE. */
export function refuseMethod (request: FastifyRequest, reply: FastifyReply, allow = ''): never {
  reply.header('allow', allow)
  throw new MethodNotAllowedError(request.method, allow)
}

/** Finds out what a request is to be answered in, and whatever forbids to look at it any further. */
export class Door {
  readonly #hall: Hall
  readonly #path: string
  readonly #bodies: ReadonlyMap<string, BodyFormat>
  readonly #suffixes: ReadonlyMap<string, Choice<Representation>>
  readonly #fallback: Choice<Representation>

  constructor (hall: Hall) {
    this.#hall = hall
    this.#path = hall.resource.path
    this.#bodies = new Map(hall.bodies.flatMap((body) => body.mediaTypes.map((mediaType) => [mediaType, body])))
    this.#suffixes = new Map(hall.representations.map((format) => [format.name, makeChoice(format)]))
    this.#fallback = [...this.#suffixes.values()][0] as Choice<Representation>
  }

  /** The suffixes that a path may have, each the name of a format. */
  get suffixes (): readonly string[] {
    return [...this.#suffixes.keys()]
  }

  /** The hook in which a request of such a path is met. */
  open ({ suffix, allow, allowed, safe, parameters }: Entrance): onRequestHookHandler {
    const { options } = this.#hall
    return (request, reply, done) => {
      const chosen = this.#choose(request, reply, suffix)
      const crossSite = safe ? undefined : findCrossSite(request, options.trustedOrigins)
      if (crossSite !== undefined) throw new CrossSiteError(crossSite)
      if (!allowed) refuseMethod(request, reply, allow)
      checkQuery(request.query, parameters)
      if (chosen === undefined) throw this.#notAcceptable(request)
      if (!safe) this.#checkBody(request, reply)
      done()
    }
  }

  /** The state of a request, also of one that an app's hook has refused before the door. */
  stateOf (request: FastifyRequest, reply: FastifyReply): State {
    const state = findState(request)
    if (state !== undefined) return state
    const { url = '' } = request.routeOptions
    const suffix = url.slice(url.lastIndexOf('.') + 1)
    this.#choose(request, reply, this.#suffixes.has(suffix) ? suffix : undefined)
    return findState(request) as State
  }

  bodyOf (request: FastifyRequest): BodyFormat | undefined {
    const header = request.headers['content-type']
    return header === undefined ? undefined : this.#bodies.get(header) ?? this.#bodies.get(parseContentType(header)?.mediaType ?? '')
  }

  /** Suffix, `?format=`, Accept, in this order. Undefined: nothing fits, and the state says what a refusal is written in. */
  #choose (request: FastifyRequest, reply: FastifyReply, suffixOfPath: string | undefined): Choice<Representation> | undefined {
    const { id, suffix = suffixOfPath } = request.params as { id?: string, suffix?: string }
    const path = suffix === undefined ? this.#path : `${this.#path}.${suffix}`
    const bySuffix = id !== undefined ? this.#suffixIn(id) : suffix !== undefined ? this.#suffixes.get(suffix) : undefined
    const member = bySuffix === undefined ? id : id?.slice(0, id.lastIndexOf('.'))
    const { format } = request.query as { format?: unknown }
    const decided = bySuffix ?? (typeof format === 'string' ? this.#suffixes.get(format) : undefined)
    if (decided !== undefined) {
      keepState(request, { choice: decided, path, member, payload: undefined })
      return decided
    }
    addVary(reply, 'Accept')
    const choice = this.#hall.negotiate(request.headers.accept, this.bodyOf(request)?.answer)
    keepState(request, { choice: choice ?? this.#fallback, path, member, payload: undefined })
    return typeof format === 'string' ? undefined : choice
  }

  /** `1.xml` is the member 1 as XML; what names no format is part of the id. */
  #suffixIn (id: string): Choice<Representation> | undefined {
    const dot = id.lastIndexOf('.')
    return dot < 1 ? undefined : this.#suffixes.get(id.slice(dot + 1))
  }

  #notAcceptable ({ query }: FastifyRequest): Error {
    const { format } = query as { format?: string }
    const asked = format === undefined ? 'nothing that Accept names can be written here' : `there is no format "${format.slice(0, 100)}"`
    return new NotAcceptableError(asked, this.#hall.representations.map(({ name, mediaTypes }) => `${mediaTypes.join(', ')} (${name})`).join('; '))
  }

  /** A body must be of a type that is read, in UTF-8 and as it is, not compressed (RFC 9110 §15.5.16). */
  #checkBody (request: FastifyRequest, reply: FastifyReply): void {
    const { headers } = request
    const header = headers['content-type']
    if (header === undefined && !hasBody(request)) return
    if (header !== undefined && this.#bodies.has(header) && headers['content-encoding'] === undefined) return
    const refuse = (what: string): never => {
      const readable = [...this.#bodies.keys()].join(', ')
      reply.header('accept', readable)
      throw new UnsupportedMediaTypeError(what, readable)
    }
    const encoding = headers['content-encoding']?.toLowerCase()
    if (encoding !== undefined && encoding !== 'identity') {
      reply.header('accept-encoding', 'identity')
      refuse(`the content coding "${encoding.slice(0, 40)}"`)
    }
    if (header === undefined) refuse('a body without a Content-Type')
    const type = parseContentType(header as string)
    if (type === undefined) refuse('the malformed Content-Type')
    else if (!this.#bodies.has(type.mediaType)) refuse(type.mediaType.slice(0, 100))
    else if (type.charset !== undefined && type.charset !== 'utf-8' && type.charset !== 'utf8') refuse(`the charset "${type.charset.slice(0, 40)}"`)
  }
}

/** RFC 9112 §6.3 */
function hasBody ({ headers }: FastifyRequest): boolean {
  return headers['transfer-encoding'] !== undefined || (headers['content-length'] !== undefined && headers['content-length'] !== '0')
}

/** Adds to what other plugins have said already. */
function addVary (reply: FastifyReply, field: string): void {
  const before = reply.getHeader('vary')
  if (before === undefined) reply.header('vary', field)
  else if (!/(?:^|[\s,])(?:\*|accept)(?:[\s,]|$)/i.test(String(before))) reply.header('vary', `${String(before)}, ${field}`)
}
