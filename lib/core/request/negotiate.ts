import type { FastifyReply, FastifyRequest, onRequestHookHandler, preValidationHookHandler } from 'fastify'
import {
  CrossSiteError, InvalidQueryError, MalformedBodyError, MethodNotAllowedError, NotAcceptableError,
  TrailingSlashError, UnsupportedMediaTypeError, UriTooLongError
} from '../errors.js'
import { readSpelling, SUFFIX } from '../resource/path-pattern.js'
import type { ActionName } from '../resource/resource.js'
import { say } from '../messages.js'
import { Cache } from '../util/cache.js'
import { abbreviate, findNear } from '../util/words.js'
import { findMember } from '../util/own-property.js'
import type { BodyFormat, CompiledResource, Representation } from '../compiled-resource.js'
import type { RouteInfo } from '../routes/route.js'
import { chooseFormat, type ContentType, type FormatChoice, makeFormatChoice, parseContentType } from './accept.js'
import type { QueryParameters } from './filter-query.js'
import { IDS } from './rows.js'
import { ACCEPT_QUERY, checkUrl, compileQueryBody, MOST_PARAMETERS, QUERY_TYPES } from './query-body.js'
import { RequestState, type ResourceRequest, STATE } from './state.js'

const WRITES: ReadonlyMap<string, ActionName> = new Map([['PUT', 'update'], ['DELETE', 'delete']])
/** The most `Accept` headers that are kept; browsers send a handful of different ones. */
const REMEMBERED = 100
/** The longest header that is kept, in characters. */
const LONGEST = 512
/** The longest URL, in characters. */
const LONGEST_URL = 65_536
const UTF_8: readonly unknown[] = [undefined, 'utf-8', 'utf8']

/** Throws `MethodNotAllowedError`, and sets the header `Allow` (RFC 9110 §15.5.6). */
export function refuseMethod (request: FastifyRequest, reply: FastifyReply, allow = '', cure = ''): never {
  reply.header('allow', allow)
  throw new MethodNotAllowedError(request.method, allow + cure)
}

/**
 * Checks that a query has at most 100 parameters, each of them known and given once.
 * @throws InvalidQueryError
 */
export function checkQuery (query: QueryParameters, known: readonly string[]): void {
  const names = Object.keys(query)
  if (names.length > MOST_PARAMETERS) {
    throw new InvalidQueryError(`a query must have at most ${MOST_PARAMETERS} parameters`)
  }
  for (const name of names) {
    if (!known.includes(name)) {
      throw new InvalidQueryError(say('parameterUnknown', { name: abbreviate(name), ...explainUnknown(name, known) }))
    }
    // A query parser of the app may return values that are not strings.
    if (typeof query[name] !== 'string' && name !== IDS) throw new InvalidQueryError(say('parameterRepeated', { name }))
  }
}

/** Returns a query without the unknown parameters that match `ignored`, so that no link repeats them. */
export function withoutIgnored (
  query: QueryParameters,
  known: readonly string[],
  ignored: RegExp | undefined
): QueryParameters {
  if (ignored === undefined) return query
  const isIgnored = (name: string): boolean => ignored.test(name) && !known.includes(name)
  if (!Object.keys(query).some(isIgnored)) return query
  return Object.fromEntries(Object.entries(query).filter(([name]) => !isIgnored(name)))
}

/** Returns the operators of an attribute whose parameter has another one in brackets, or else the nearest name. */
function explainUnknown (
  name: string,
  known: readonly string[]
): { readonly near: string | undefined, readonly cure?: string } {
  const attribute = name.slice(0, name.indexOf('[') + 1)
  if (attribute === '') return { near: findNear(name, known) }
  const operators = known.filter((other) => other.startsWith(attribute))
  if (operators.length === 0) {
    const plain = attribute.slice(0, -1)
    return known.includes(plain)
      ? { near: undefined, cure: `; "${plain}" takes no operators` }
      : { near: findNear(name, known) }
  }
  const names = operators.map((other) => other.slice(attribute.length, -1))
  const cure = `; "${attribute.slice(0, -1)}" takes one of these operators in brackets: ${names.join(', ')}`
  return { near: undefined, cure }
}

/** Chooses the format of the answer, and refuses what cannot be served. */
export class Negotiator {
  readonly #compiled: CompiledResource
  readonly #bodies: ReadonlyMap<string, BodyFormat>
  /** The formats that a body with one row may have. */
  readonly #single: ReadonlyMap<string, BodyFormat>
  /** The formats that the body of a PATCH may have. They include merge patches. */
  readonly #patches: ReadonlyMap<string, BodyFormat>
  readonly #suffixes: ReadonlyMap<string, FormatChoice<Representation>>
  /** The formats that `?format=` may name. */
  readonly #named: ReadonlyMap<string, FormatChoice<Representation>>
  readonly #fallback: FormatChoice<Representation>
  /** The choices by the header `Accept`, and by the format of the body after a line break. */
  readonly #choices = new Cache<string | undefined, FormatChoice<Representation> | undefined>(REMEMBERED)

  constructor (compiled: CompiledResource) {
    const { representations, bodies, patches } = compiled
    const single = bodies.filter(({ reader }) => reader.onlyLists !== true)
    this.#compiled = compiled
    this.#bodies = byMediaType(bodies)
    this.#single = byMediaType(single)
    this.#patches = byMediaType([...patches, ...single])
    this.#suffixes = byName(representations)
    this.#named = byName([...representations, ...representations.flatMap(({ spreadsheet }) => spreadsheet ?? [])])
    this.#fallback = makeFormatChoice(representations[0] as Representation)
  }

  /** The suffixes that a path may have, each the name of a format. */
  get suffixes (): readonly string[] {
    return [...this.#suffixes.keys()]
  }

  /** Returns the value of `Accept-Patch` (RFC 5789 §3.1). */
  patchTypes (mergesPatches: boolean): string {
    return [...(mergesPatches ? this.#patches : this.#single).keys()].join(', ')
  }

  #bodiesOf (method: string, { form, mergesPatches, takesLists }: RouteInfo): ReadonlyMap<string, BodyFormat> {
    if (form !== undefined) return byMediaType([form])
    if (mergesPatches && method === 'PATCH') return this.#patches
    return takesLists && !this.#compiled.resource.singleton ? this.#bodies : this.#single
  }

  /** Makes the first hook of a route, which negotiates and checks its requests. */
  negotiate (route: RouteInfo): onRequestHookHandler {
    const { safe, allow, allowed, parameters, endsWithId, hasQueryBody, form, sendsBytes } = route
    const { trustedOrigins } = this.#compiled.options
    return (request, reply, done) => {
      const state = this.makeState(request, reply, route)
      if (request.url.length > LONGEST_URL) throw new UriTooLongError(LONGEST_URL)
      // The router takes the empty text after the slash of `/posts/` for an id.
      if (endsWithId && state.negotiated.member === '') throw new TrailingSlashError()
      const crossSite = safe ? undefined : findCrossSite(request, trustedOrigins)
      if (crossSite !== undefined) throw new CrossSiteError(crossSite)
      if (!allowed) refuseMethod(request, reply, allow, this.#cureOf(state))
      if (hasQueryBody) checkUrl(state.request.query)
      else if (safe) request.query = withoutIgnored(state.request.query, parameters, state.choice.format.ignored)
      checkQuery(state.request.query, parameters)
      // The body of a QUERY may name the format.
      if (!state.negotiated.isAcceptable && !hasQueryBody && !sendsBytes) throw this.#notAcceptable(state)
      if (form !== undefined && state.choice.format.writer.imported === undefined) {
        throw new NotAcceptableError('only a page (text/html) shows what is here')
      }
      if (!safe || hasQueryBody) this.#checkBody(state)
      done()
    }
  }

  /** Makes the hook that reads the body of a QUERY. The request then has the query of the equivalent GET. */
  readQuery (route: RouteInfo): preValidationHookHandler {
    const { listQuery, relations: { names } } = this.#compiled
    const parameters = names.length > 0 ? [...listQuery.parameters, 'include'] : listQuery.parameters
    const parse = compileQueryBody(listQuery)
    return (request, reply, done) => {
      const { negotiated: { contentType } } = request[STATE] as RequestState
      const query = parse(request as ResourceRequest, contentType?.mediaType)
      checkQuery(query, parameters)
      request.query = query
      request.body = undefined
      const state = this.makeState(request, reply, route)
      if (!state.negotiated.isAcceptable) throw this.#notAcceptable(state)
      done()
    }
  }

  /** Makes the hook of a path with a slash at its end, which is another path than ours (RFC 3986 §6.2.4). */
  refuseSlash (route: RouteInfo): onRequestHookHandler {
    return (request, reply) => {
      this.makeState(request, reply, route)
      throw new TrailingSlashError()
    }
  }

  /** Returns whether the body is a form, whose `_method` may ask for another action than POST does. */
  isForm (request: FastifyRequest): boolean {
    return request[STATE]?.negotiated.body?.reader.form === true
  }

  /** Makes the state of a request. Its format comes from the suffix, `?format=` or Accept, in this order. */
  makeState (given: FastifyRequest, reply: FastifyReply, route: RouteInfo): RequestState {
    const request = given as ResourceRequest
    const { param, endsWithId } = route
    const { method, headers, params: parameters, query: { format } } = request
    const text = param === undefined ? undefined : parameters[param]
    const bySuffix =
      endsWithId && text !== undefined
        ? this.#suffixIn(text, request)
        : this.#suffixes.get(route.suffix ?? parameters[SUFFIX] ?? '')
    const decided = bySuffix ?? (typeof format === 'string' ? this.#named.get(format) : undefined)
    const header = headers['content-type']
    const contentType = header === undefined ? undefined : parseContentType(header)
    const body = contentType === undefined ? undefined : this.#bodiesOf(method, route).get(contentType.mediaType)
    if (decided === undefined) addVary(reply, 'Accept')
    // The Content-Type of a read is ignored, because `Vary` does not name it: a cache would mix formats up.
    const isRead = method === 'GET' || method === 'HEAD' || route.hasQueryBody
    const choice = decided ?? this.#choose(headers.accept, route.form?.answer ?? (isRead ? undefined : body?.answer))
    const spelled = endsWithId && bySuffix !== undefined ? text?.slice(0, text.lastIndexOf('.')) : text
    const state = new RequestState(request, reply, this.#compiled, {
      route,
      choice: choice ?? this.#fallback,
      isAcceptable: decided !== undefined || (choice !== undefined && typeof format !== 'string'),
      isSuffixed: bySuffix !== undefined,
      member: spelled?.includes('%') === true ? readSpelling(spelled) : spelled,
      contentType,
      body
    })
    if (state.choice.format.languageOf !== undefined) addVary(reply, 'Accept-Language')
    given[STATE] = state
    return state
  }

  /** Chooses by `Accept`, and keeps the choice. Clients choose their headers, so only a few short ones are kept. */
  #choose (accept: string | undefined, body: Representation | undefined): FormatChoice<Representation> | undefined {
    const key = body === undefined ? accept : `${accept}\n${body.name}`
    const choose = (): FormatChoice<Representation> | undefined =>
      chooseFormat(accept, this.#compiled.representations, body)
    return key !== undefined && key.length > LONGEST ? choose() : this.#choices.get(key, choose)
  }

  /** Finds the suffix of an id: `1.xml` is the member 1 as XML. A text that names no format is part of the id. */
  #suffixIn (id: string, { url }: ResourceRequest): FormatChoice<Representation> | undefined {
    const dot = id.lastIndexOf('.')
    const choice = dot < 1 ? undefined : this.#suffixes.get(id.slice(dot + 1))
    if (choice === undefined || this.#compiled.resource.idType !== 'string') return choice
    // If any text can be an id, an encoded dot begins no suffix. Our own paths have no such dot (`spellId`).
    const path = url.replace(/\?.*$/s, '').replace(/\/+$/, '')
    return path.endsWith(id.slice(dot)) ? choice : undefined
  }

  /** Returns a hint for a client that writes to the path of a row, or the empty text: the path that serves writes. */
  #cureOf ({ request: { method }, route: { endsWithId }, location: { members } }: RequestState): string {
    const { options: { writes }, resource: { actions } } = this.#compiled
    const verb = method === 'PATCH' ? 'PUT' : method
    const action = WRITES.get(verb)
    if (!endsWithId || writes !== 'collection' || action === undefined || !actions.has(action)) return ''
    return `; to write, send ${verb} ${members} with the id, or set the option writes to 'both'`
  }

  #notAcceptable ({ request: { query: { format } } }: RequestState): Error {
    const formats =
      this.#compiled.representations.map(({ name, mediaTypes }) => `${mediaTypes.join(', ')} (${name})`).join('; ')
    return new NotAcceptableError(
      format === undefined
        ? `none of the types in Accept is available here; choose one of ${formats}`
        : say('formatUnknown', { format: format.slice(0, 100), formats })
    )
  }

  /** Checks that a body has a type that is read, is in UTF-8, and is not compressed (RFC 9110 §15.5.16). */
  #checkBody ({ request, reply, negotiated: { contentType, body }, route }: RequestState): void {
    const { hasQueryBody } = route
    const { headers, method } = request
    const header = headers['content-type']
    const coding = headers['content-encoding']?.toLowerCase() ?? 'identity'
    const isRead = hasQueryBody ? QUERY_TYPES.includes(contentType?.mediaType ?? '') : body !== undefined
    if (hasQueryBody) reply.header('accept-query', ACCEPT_QUERY)
    if (hasQueryBody && header === undefined) {
      throw new MalformedBodyError(`send the header Content-Type: ${QUERY_TYPES.join(' or ')}`)
    }
    if (coding === 'identity' && isRead && UTF_8.includes(contentType?.charset)) return
    if (!hasQueryBody && !hasBody(request)) {
      // Fastify would refuse the type, too.
      delete headers['content-type']
      return
    }
    const readable = (hasQueryBody ? QUERY_TYPES : [...this.#bodiesOf(method, route).keys()]).join(', ')
    if (!hasQueryBody) reply.header('accept', readable)
    if (method === 'PATCH') reply.header('accept-patch', readable)
    if (coding !== 'identity') {
      reply.header('accept-encoding', 'identity')
      throw new UnsupportedMediaTypeError(`the content coding "${coding.slice(0, 40)}"`, readable)
    }
    const what = header === undefined ? 'a body without a Content-Type' : describeType(contentType, isRead)
    throw new UnsupportedMediaTypeError(what, `${readable}; set the header Content-Type to the type of the body`)
  }
}

function describeType (contentType: ContentType | undefined, isRead: boolean): string {
  if (contentType === undefined) return 'the malformed Content-Type'
  return isRead ? `the charset "${contentType.charset?.slice(0, 40)}"` : contentType.mediaType.slice(0, 100)
}

function byName (formats: readonly Representation[]): ReadonlyMap<string, FormatChoice<Representation>> {
  return new Map(formats.map((format) => [format.name, makeFormatChoice(format)]))
}

function byMediaType (bodies: readonly BodyFormat[]): ReadonlyMap<string, BodyFormat> {
  return new Map(bodies.flatMap((body) => body.mediaTypes.map((mediaType) => [mediaType, body])))
}

/** Returns whether a request has a body (RFC 9112 §6.3). HTTP/2 tells it by a flag of the headers (RFC 9113 §8.1). */
function hasBody ({ headers: { 'transfer-encoding': coding, 'content-length': length = '0' }, raw }: ResourceRequest) {
  const isOpen = findMember(findMember(raw, 'stream'), 'endAfterHeaders') === false
  return coding !== undefined || length !== '0' || isOpen
}

/** Adds a field to `Vary`, which other plugins may have set, unless `Vary` has `*` or the field. */
function addVary (reply: FastifyReply, field: string): void {
  const before = reply.getHeader('vary')
  const fields = before === undefined ? [] : String(before).toLowerCase().split(/[\s,]+/)
  if (fields.includes('*') || fields.includes(field.toLowerCase())) return
  reply.header('vary', before === undefined ? field : `${String(before)}, ${field}`)
}

/** The methods that change nothing. */
const SAFE: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'TRACE', 'QUERY'])

/**
 * Describes where an unsafe request comes from, and how to trust it, if a browser made it for another origin. Returns
 * `undefined` otherwise. This guards against forged requests without a token. A browser marks its requests by Fetch
 * Metadata, and an older browser by Origin. A request that has neither does not come from a page.
 */
function findCrossSite (request: FastifyRequest, trusted: ReadonlySet<string>): string | undefined {
  const { method, headers } = request
  if (SAFE.has(method)) return undefined
  const { origin, 'sec-fetch-site': site } = headers
  if (origin !== undefined && trusted.has(origin)) return undefined
  if (site === undefined) {
    return origin === undefined || isOwn(origin, request.host)
      ? undefined
      : describe('another origin', `Origin is ${origin.slice(0, 100)}`, origin)
  }
  if (site === 'same-origin' || site === 'none') return undefined
  const isSameSite = site === 'same-site'
  return describe(
    isSameSite ? 'another origin of this site' : 'another site',
    `Sec-Fetch-Site is ${String(site).slice(0, 40)}`,
    origin
  )
}

/** Names the option, because developers meet this error first with an app on another port of localhost. */
function describe (where: string, why: string, origin: string | undefined): string {
  const whose = origin === undefined || origin === 'null' || origin.length > 100 ? 'its origin' : `"${origin}"`
  return `${where}: ${why}; if its pages may write here, add ${whose} to the option trustedOrigins`
}

/** The schemes of origins, with their default ports. */
const SCHEMES = [['http', /:80$/], ['https', /:443$/]] as const

/**
 * Returns whether an origin has this host. The scheme is not compared, because it is unknown behind a proxy that ends
 * TLS. `host` is the forwarded one only if the app trusts its proxy.
 */
function isOwn (origin: string, host: string): boolean {
  return SCHEMES.some(([scheme, port]) => {
    // `localhost.` is the host `localhost`, written as an absolute name (RFC 3986 §3.2.2).
    const simplify = (text: string): string => text.toLowerCase().replace(port, '').replace(/\.(?=(?::\d+)?$)/, '')
    return simplify(origin) === simplify(`${scheme}://${host}`)
  })
}
