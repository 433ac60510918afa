import type { FastifyReply, FastifyRequest, onRequestHookHandler, preValidationHookHandler } from 'fastify'
import {
  CrossSiteError, InvalidQueryError, MalformedBodyError, MethodNotAllowedError, NotAcceptableError,
  TrailingSlashError, UnsupportedMediaTypeError, UriTooLongError
} from '../errors.js'
import { addMark, nameMarked } from '../formats/escape.js'
import { readSpelling, SUFFIX } from '../resource/path-pattern.js'
import type { ActionName } from '../resource/resource.js'
import { abbreviate, didYouMean } from '../util/words.js'
import { findMember } from '../util/own-property.js'
import type { BodyFormat, CompiledResource, Representation } from '../compiled-resource.js'
import type { RouteInfo } from '../routes/route.js'
import {
  type ContentType, type FormatChoice, makeFormatChoice, parseContentType, rankFormats, type Ranking
} from './accept.js'
import type { QueryParameters } from './filter-query.js'
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
      throw new InvalidQueryError(`the parameter "${abbreviate(name)}" is unknown${explainUnknown(name, known)}`)
    }
    // A query parser of the app may return values that are not strings.
    if (typeof query[name] !== 'string') throw new InvalidQueryError(`the parameter "${name}" must be given once`)
  }
}

/** Matches the parameters that advertisements, mails and scripts add to the URLs of pages. */
const TRACKER = /^(?:utm_.*|fbclid|gclid|msclkid|_ga|_)$/s

/** Returns a query of a page without the unknown parameters that trackers add, so that no link repeats them. */
export function withoutTrackers (query: QueryParameters, known: readonly string[]): QueryParameters {
  const isTracker = (name: string): boolean => TRACKER.test(name) && !known.includes(name)
  if (!Object.keys(query).some(isTracker)) return query
  return Object.fromEntries(Object.entries(query).filter(([name]) => !isTracker(name)))
}

/** Returns the operators of an attribute whose parameter has another one in brackets, or else the nearest name. */
function explainUnknown (name: string, known: readonly string[]): string {
  const attribute = name.slice(0, name.indexOf('[') + 1)
  if (attribute === '') return didYouMean(name, known)
  const operators = known.filter((other) => other.startsWith(attribute))
  if (operators.length === 0) {
    const plain = attribute.slice(0, -1)
    return known.includes(plain) ? `; "${plain}" takes no operators` : didYouMean(name, known)
  }
  const names = operators.map((other) => other.slice(attribute.length, -1))
  return `; "${attribute.slice(0, -1)}" takes one of these operators in brackets: ${names.join(', ')}`
}

/** Chooses the format of the answer, and refuses what cannot be served. */
export class Negotiator {
  readonly #compiled: CompiledResource
  readonly #bodies: ReadonlyMap<string, BodyFormat>
  /** The formats that the body of a PATCH may have. They include merge patches. */
  readonly #patches: ReadonlyMap<string, BodyFormat>
  /** The content types that need no parsing. */
  readonly #contentTypes: ReadonlyMap<string, ContentType>
  readonly #suffixes: ReadonlyMap<string, FormatChoice<Representation>>
  /** The formats that `?format=` may name. */
  readonly #named: ReadonlyMap<string, FormatChoice<Representation>>
  readonly #fallback: FormatChoice<Representation>
  /** The rankings by `Accept` header. The key `undefined` stands for requests without one. */
  readonly #rankings = new Map<string | undefined, Ranking<Representation>>()

  constructor (compiled: CompiledResource) {
    this.#compiled = compiled
    this.#bodies = byMediaType(compiled.bodies)
    this.#patches = byMediaType([...compiled.patches, ...compiled.bodies])
    this.#contentTypes = new Map(
      [...this.#bodies.keys()].map((mediaType) => [mediaType, { mediaType, charset: undefined }])
    )
    this.#suffixes = new Map(compiled.representations.map((format) => [format.name, makeFormatChoice(format)]))
    const marked = compiled.representations.filter(({ spreadsheet }) => spreadsheet === true).map(addMarkTo)
    this.#named = new Map([...compiled.representations, ...marked].map((format) =>
      [format.name, this.#suffixes.get(format.name) ?? makeFormatChoice(format)]))
    this.#fallback = [...this.#suffixes.values()][0] as FormatChoice<Representation>
  }

  /** The suffixes that a path may have, each the name of a format. */
  get suffixes (): readonly string[] {
    return [...this.#suffixes.keys()]
  }

  /** Returns the value of `Accept-Patch` (RFC 5789 §3.1). */
  patchTypes (mergesPatches: boolean): string {
    return [...(mergesPatches ? this.#patches : this.#bodies).keys()].join(', ')
  }

  #bodiesOf (method: string, { mergesPatches }: RouteInfo): ReadonlyMap<string, BodyFormat> {
    return mergesPatches && method === 'PATCH' ? this.#patches : this.#bodies
  }

  /** Makes the first hook of a route, which negotiates and checks its requests. */
  open (route: RouteInfo): onRequestHookHandler {
    const { safe, allow, allowed, parameters, endsWithId, hasQueryBody } = route
    const { trustedOrigins } = this.#compiled.options
    return (request, reply, done) => {
      const state = this.begin(request, reply, route)
      if (request.url.length > LONGEST_URL) throw new UriTooLongError(LONGEST_URL)
      // The router takes the empty text after the slash of `/posts/` for an id.
      if (endsWithId && state.member === '') throw new TrailingSlashError()
      const crossSite = safe ? undefined : findCrossSite(request, trustedOrigins)
      if (crossSite !== undefined) throw new CrossSiteError(crossSite)
      if (!allowed) refuseMethod(request, reply, allow, this.#cureOf(state))
      if (hasQueryBody) checkUrl(state.request.query)
      else if (safe && state.choice.format.browser) request.query = withoutTrackers(state.request.query, parameters)
      checkQuery(state.request.query, parameters)
      // The body of a QUERY may name the format.
      if (!state.isAcceptable && !hasQueryBody) throw this.#notAcceptable(state)
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
      const { contentType } = request[STATE] as RequestState
      const query = parse(request as ResourceRequest, contentType?.mediaType)
      checkQuery(query, parameters)
      request.query = query
      request.body = undefined
      const state = this.begin(request, reply, route)
      if (!state.isAcceptable) throw this.#notAcceptable(state)
      done()
    }
  }

  /** Makes the hook of a path with a slash at its end, which is another path than ours (RFC 3986 §6.2.4). */
  refuseSlash (route: RouteInfo): onRequestHookHandler {
    return (request, reply) => {
      this.begin(request, reply, route)
      throw new TrailingSlashError()
    }
  }

  /** Returns whether the body is a form, whose `_method` may ask for another action than POST does. */
  isForm (request: FastifyRequest): boolean {
    return request[STATE]?.body?.reader.form === true
  }

  /** Makes the state of a request. Its format comes from the suffix, `?format=` or Accept, in this order. */
  begin (given: FastifyRequest, reply: FastifyReply, route: RouteInfo): RequestState {
    const request = given as ResourceRequest
    const { param, endsWithId } = route
    const { method, headers, params: parameters, query: { format } } = request
    const text = param === undefined ? undefined : parameters[param]
    const bySuffix =
      endsWithId && text !== undefined
        ? this.#suffixIn(text, request)
        : this.#suffixes.get(route.suffix ?? parameters[SUFFIX] ?? '')
    const decided = bySuffix ?? (typeof format === 'string' ? this.#named.get(format) : undefined)
    const contentType = this.#contentTypeOf(headers['content-type'])
    const body = contentType === undefined ? undefined : this.#bodiesOf(method, route).get(contentType.mediaType)
    if (decided === undefined) addVary(reply, 'Accept')
    // The Content-Type of a read is ignored, because `Vary` does not name it: a cache would mix formats up.
    const isRead = method === 'GET' || method === 'HEAD' || route.hasQueryBody
    const choice = decided ?? this.#choose(headers.accept, isRead ? undefined : body?.answer)
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

  /** Chooses by `Accept`. If only a wildcard matches, or the header is absent, the format of the body comes first. */
  #choose (accept: string | undefined, body: Representation | undefined): FormatChoice<Representation> | undefined {
    const { best, tied } = this.#rankings.get(accept) ?? this.#rank(accept)
    if (body === undefined || best?.format === body) return best
    return tied.find(({ format }) => format === body) ?? best
  }

  /** Ranks the formats, and keeps the result. Clients choose their headers, so only a few short ones are kept. */
  #rank (accept: string | undefined): Ranking<Representation> {
    const ranking = rankFormats(accept, this.#compiled.representations)
    if (accept === undefined || accept.length <= LONGEST) {
      if (this.#rankings.size >= REMEMBERED) this.#rankings.clear()
      this.#rankings.set(accept, ranking)
    }
    return ranking
  }

  #contentTypeOf (header: string | undefined): ContentType | undefined {
    return header === undefined ? undefined : (this.#contentTypes.get(header) ?? parseContentType(header))
  }

  /** Finds the suffix of an id: `1.xml` is the member 1 as XML. A text that names no format is part of the id. */
  #suffixIn (id: string, { url }: ResourceRequest): FormatChoice<Representation> | undefined {
    // Fast path: `lastIndexOf` takes ten times as long as `includes`.
    if (!id.includes('.')) return undefined
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
    const asked =
      format === undefined
        ? 'none of the types in Accept is available here'
        : `there is no format "${format.slice(0, 100)}"`
    return new NotAcceptableError(
      asked,
      this.#compiled.representations.map(({ name, mediaTypes }) => `${mediaTypes.join(', ')} (${name})`).join('; ')
    )
  }

  /** Checks that a body has a type that is read, is in UTF-8, and is not compressed (RFC 9110 §15.5.16). */
  #checkBody ({ request, reply, contentType, body, route }: RequestState): void {
    const { headers, method } = request
    const { hasQueryBody } = route
    const { 'content-type': header, 'content-encoding': given = 'identity' } = headers
    if (hasQueryBody) reply.header('accept-query', ACCEPT_QUERY)
    if (hasQueryBody && header === undefined) {
      throw new MalformedBodyError(`send the header Content-Type: ${QUERY_TYPES.join(' or ')}`)
    }
    const coding = given.toLowerCase()
    const charset = contentType?.charset
    const isRead = hasQueryBody ? QUERY_TYPES.includes(contentType?.mediaType ?? '') : body !== undefined
    if (coding === 'identity' && isRead && UTF_8.includes(charset)) return
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
    const what =
      header === undefined
        ? 'a body without a Content-Type'
        : contentType === undefined
          ? 'the malformed Content-Type'
          : isRead
            ? `the charset "${String(charset).slice(0, 40)}"`
            : contentType.mediaType.slice(0, 100)
    throw new UnsupportedMediaTypeError(what, `${readable}; set the header Content-Type to the type of the body`)
  }
}

/** Returns the same format with a byte order mark. */
function addMarkTo (format: Representation): Representation {
  const select: Representation['select'] = (selection) => addMarkTo(format.select(selection))
  return { ...format, name: nameMarked(format.name), writer: addMark(format.writer), select }
}

function byMediaType (bodies: readonly BodyFormat[]): ReadonlyMap<string, BodyFormat> {
  return new Map(bodies.flatMap((body) => body.mediaTypes.map((mediaType) => [mediaType, body])))
}

/** Returns whether a request has a body (RFC 9112 §6.3). HTTP/2 tells it by a flag of the headers (RFC 9113 §8.1). */
function hasBody ({ headers: { 'transfer-encoding': coding, 'content-length': length = '0' }, raw }: ResourceRequest) {
  const isOpen = findMember(findMember(raw, 'stream'), 'endAfterHeaders') === false
  return coding !== undefined || length !== '0' || isOpen
}

/** Match values of `Vary` that have the field, or `*`. */
const NAMED = {
  Accept: /(?:^|[\s,])(?:\*|accept)(?:[\s,]|$)/i,
  'Accept-Language': /(?:^|[\s,])(?:\*|accept-language)(?:[\s,]|$)/i
} as const

/** Adds a field to `Vary`, which other plugins may have set, unless `Vary` has `*` or the field. */
function addVary (reply: FastifyReply, field: keyof typeof NAMED): void {
  const before = reply.getHeader('vary')
  if (before === undefined) reply.header('vary', field)
  else if (!NAMED[field].test(String(before))) reply.header('vary', `${String(before)}, ${field}`)
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

/**
 * Returns whether an origin has this host. The scheme is not compared, because it is unknown behind a proxy that ends
 * TLS. `host` is the forwarded one only if the app trusts its proxy.
 */
function isOwn (origin: string, host: string): boolean {
  const [, scheme, authority] = /^(https?):\/\/(.+)$/.exec(origin.toLowerCase()) ?? []
  if (scheme === undefined || authority === undefined) return false
  const port = scheme === 'http' ? /:80$/ : /:443$/
  // `localhost.` is the host `localhost`, written as an absolute name (RFC 3986 §3.2.2).
  const simplify = (text: string): string => text.replace(port, '').replace(/\.(?=:\d+$|$)/, '')
  return simplify(authority) === simplify(host.toLowerCase())
}
