import { validateHeaderName, validateHeaderValue } from 'node:http'
import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest, onSendHookHandler } from 'fastify'
import { findShown, isOfParent } from '../../actions/authorize/authorize.js'
import type { Refused } from '../../actions/authorize/refused-actions.js'
import { findRow } from '../../actions/find-row.js'
import {
  type OutcomeResponse,
  OUTCOME_RESPONSES,
  type Listed,
  type Outcome,
  type Source
} from '../../actions/outcome.js'
import type { Target } from '../../actions/target.js'
import { describeError, InvalidAnswerError, type Problem } from '../../errors.js'
import type { Input, ListWriter, PageView, TextWriter, View } from '../../formats/format.js'
import { parseId } from '../../resource/resource.js'
import { memberPath } from '../../resource/row-path.js'
import type { Id, Row } from '../../resource/row.js'
import { type FindCacheControl, isUnstored } from '../../routing/cache-control.js'
import { LARGEST_BATCH_SIZE, sizeOf } from '../../stores/row-size.js'
import type { Order } from '../../stores/store.js'
import { type MaybePromise, catchError, andThen } from '../../util/maybe-promise.js'
import type { CompiledResource } from '../compiled-resource.js'
import { isClientGone } from '../request/client-gone.js'
import { writeCursor } from '../request/cursor.js'
import { Job } from '../request/job.js'
import type { Payload } from '../request/payload.js'
import { noneMatches, parseEntityTag, parseEntityTags, qualifyVersion } from '../request/preconditions.js'
import { findState, type RequestState } from '../request/state.js'
import type { ActionLog } from '../telemetry/action-log.js'
import { printFailure } from '../telemetry/print-failure.js'
import { writeList } from './list-stream.js'

/** What the onSend hook turns into text or into a stream. */
class Unwritten {
  readonly write: () => string | Readable

  constructor (write: () => string | Readable) {
    this.write = write
  }
}

/**
 * Completes the headers of every answer on our routes, whoever has given it. Writes what no writer has written yet;
 * whatever else is sent, errors on their way back included, stays as it is.
 */
export function makeOnSend (cacheControl: FindCacheControl): onSendHookHandler<unknown> {
  return (request, reply, payload, done) => {
    if (reply.getHeader('cache-control') === undefined) {
      const state = findState(request)
      // What a hook sends to one user, as a redirect to the login, is not what others get: it counts as an error.
      reply.header('cache-control', cacheControl(state?.action, state?.isAnswered !== true || reply.statusCode >= 400))
    }
    // Browsers must not take for a page or a script what is neither (Fetch §3.6).
    reply.header('x-content-type-options', 'nosniff')
    if (!(payload instanceof Unwritten)) return done(null, payload)
    let written: string | Readable
    try {
      written = payload.write()
    } catch (error) {
      // The status of the answer that could not be written says nothing of the failure.
      reply.code(500)
      return done(error as Error)
    }
    done(null, written)
  }
}

/** From an outcome to an answer: the one step in which status, headers and body are set. */
export class Responder {
  readonly #compiled: CompiledResource
  readonly #actionLog: ActionLog
  readonly #formats: readonly string[]

  constructor (compiled: CompiledResource, actionLog: ActionLog) {
    this.#compiled = compiled
    this.#actionLog = actionLog
    this.#formats = compiled.representations.map(({ name }) => name)
  }

  send (outcome: Outcome, job: Job): MaybePromise<FastifyReply> {
    const { request, reply, state } = job
    state.isAnswered = true
    const { format } = state.choice
    const answer = OUTCOME_RESPONSES[outcome.kind][format.browser === true ? 'browser' : 'document']
    reply.code(answer.status)
    if (outcome.kind === 'listed') return this.#sendList(outcome, state, request, reply)
    if (outcome.kind === 'revised') return this.#sendRevised(outcome.row, job)
    if (outcome.kind === 'blank') return this.#sendBlank(outcome.row, job)
    const row = outcome.kind === 'done' ? undefined : outcome.row
    const tag =
      row !== undefined && answer.etag ? this.#tag(row, 'etag' in outcome ? outcome.etag : undefined, job) : undefined
    if (answer.location !== undefined) reply.header('location', this.#locate(answer.location, row, state))
    if (!answer.body || outcome.kind === 'done' || outcome.kind === 'deleted') return reply.send()
    if (
      (outcome.kind === 'found' || outcome.kind === 'edit') &&
      tag !== undefined &&
      isUnchanged(tag, state, request)
    ) {
      return reply.code(304).send()
    }
    return this.#sendRecord(outcome.row, outcome.kind, job)
  }

  /**
   * Sets the entity tag of an answer with a row: `"<version>.<format>"`, or `"<id>-<version>.<format>"` where the path does
   * not name the row. A handler of the app's own may set another one, or none.
   * @param given what the handler's outcome says of it
   * @returns what stands between the quotes; undefined: there is none
   * @throws InvalidAnswerError
   */
  #tag (row: Row, given: string | false | undefined, job: Job): string | undefined {
    const {
      action,
      reply,
      state: {
        customAction: own,
        choice: { format }
      },
      id,
      isHandled
    } = job
    const set = given ?? (isHandled ? reply.getHeader('etag') : undefined)
    if (set === false) {
      reply.removeHeader('etag')
      return undefined
    }
    if (set !== undefined) return setOwnTag(set, job)
    // A row of an app's own handler may have no version.
    if (row.version === '') return undefined
    // A handler of the app's own may answer with another row than the path names.
    const isNamed = own === undefined ? row.id === id || action === 'create' : own.on === 'member' && row.id === id
    const tag = `${isNamed && !this.#compiled.resource.singleton ? row.version : qualifyVersion(row)}.${format.name}`
    reply.header('etag', `"${tag}"`)
    return tag
  }

  /** The row as a page has it: the `_version` of a singleton's form says which row it belongs to. */
  #forForms<R extends Row | undefined>(row: R): R | Row {
    return row === undefined || !this.#compiled.resource.singleton ? row : { ...row, version: qualifyVersion(row) }
  }

  /** A path without suffix or query; of what no page shows, that of the list. */
  #locate (to: NonNullable<OutcomeResponse['location']>, row: Row | undefined, state: RequestState): string {
    const {
      resource,
      findLocation,
      target: {
        resource: { singleton, actions }
      }
    } = this.#compiled
    const location = row === undefined ? state.location : findLocation(state.parameters, row.attributes)
    const {
      choice: { format },
      member
    } = state
    if (singleton) return to === 'collection' ? (location.parent?.path ?? location.collection) : location.collection
    const isShown = format.browser !== true || actions.has('show')
    // Of rows that are listed nowhere what they are in.
    if (to === 'collection' || !isShown) {
      return format.browser === true && !actions.has('list')
        ? (location.parent?.path ?? location.collection)
        : location.collection
    }
    if (row !== undefined) return memberPath(location.members, row.id, this.#formats)
    return member === undefined
      ? location.collection
      : memberPath(location.members, parseId(resource.idType, member) as Id, this.#formats)
  }

  #sendRecord (stored: Row, kind: 'found' | 'edit' | 'created' | 'updated' | 'stale', job: Job): FastifyReply {
    const { reply, state } = job
    const { writer } = state.choice.format
    if (writer.document !== undefined) return reply.type(state.choice.contentType).send(writer.document(stored))
    const row = this.#forForms(stored)
    const view = this.#view(job, kind === 'stale' ? stored : undefined, {}, stored)
    const { stale, edit } = writer
    return sendText(reply, state, () => {
      if (kind === 'stale' && stale !== undefined) return stale(row, view)
      return kind === 'edit' && edit !== undefined ? edit(row, view) : writer.record(row, view)
    })
  }

  #sendBlank (row: Row, job: Job): FastifyReply {
    const { reply, state } = job
    const { writer, blank } = state.choice.format
    const view = this.#view(job, undefined, {}, undefined)
    if (writer.document === undefined && writer.blank !== undefined) {
      const write = writer.blank
      return sendText(reply, state, () => write(view))
    }
    const other = blank()
    if (other.document !== undefined) return reply.type(state.choice.contentType).send(other.document(row))
    return sendText(reply, state, () => other.record(row, view))
  }

  #sendRevised (row: Row | undefined, job: Job): FastifyReply {
    const { reply, state } = job
    // Which has been made sure of before.
    const { revised } = state.choice.format.writer as Required<TextWriter>
    const view = this.#view(job, row, {}, row)
    return sendText(reply, state, () => revised(view))
  }

  #sendList (
    listed: Listed,
    state: RequestState,
    request: FastifyRequest,
    reply: FastifyReply
  ): MaybePromise<FastifyReply> {
    const { writer } = state.choice.format
    if (writer.list === undefined && writer.frame === undefined && listed.more !== undefined) {
      return gather(listed, listed.more, state.customAction === undefined).then((page) =>
        this.#sendList(page, state, request, reply)
      )
    }
    const path = pathOf(state)
    const next = listed.last === undefined ? undefined : this.#nextPage(listed.last, listed.order, path, request)
    if (next !== undefined) addLink(`<${next}>; rel="next"`, state, reply)
    if (writer.list !== undefined) return this.#sendRows(listed, writer.list, state, request, reply)
    const { rows: first, more: rest } = listed
    const view = pageView(listed, next, path, state, request)
    if (rest === undefined || writer.frame === undefined) return sendText(reply, state, () => writer.page(first, view))
    return this.#sendRows(listed, writer.frame(first, view), state, request, reply)
  }

  #sendRows (
    listed: Listed,
    writer: ListWriter,
    state: RequestState,
    request: FastifyRequest,
    reply: FastifyReply
  ): FastifyReply {
    const body = writeList(listed, writer)
    if (typeof body !== 'string') releaseWith(reply, body)
    return sendText(reply, state, () => bodyFor(request, body))
  }

  /** The same list from another place on, with the other parameters as they were given. */
  #nextPage (last: Row, order: Order, path: string, { query }: FastifyRequest): string {
    let link = `${path}?`
    for (const name in query as Record<string, string>) {
      if (name !== 'after') link += `${writeParameter(name, (query as Record<string, string>)[name] as string)}&`
    }
    return `${link}after=${writeCursor(last, order, this.#compiled.resource)}`
  }

  /** An error in the client's own format, whoever threw it and wherever. */
  fail (thrown: unknown, request: FastifyRequest, reply: FastifyReply, state: RequestState): MaybePromise<FastifyReply> {
    const problem = describeError(thrown, reply.statusCode)
    this.#actionLog.logFailure(thrown, problem, request, reply, state)
    for (const name of OF_SUCCESS) reply.removeHeader(name)
    removeLink(state, reply)
    removeCacheControl(reply)
    setHeaders(reply, thrown)
    reply.code(problem.status)
    const { writer } = state.choice.format
    if (writer.document !== undefined) return reply.type(writer.problemType).send(problem)
    const write = (row: Row | undefined): FastifyReply => {
      const found = this.#view({ request, state }, row, problem.errors ?? {}, row)
      // Where the parent is not there, or is hidden, nothing on the way to it is linked to.
      const view = isOfParent(thrown)
        ? { ...found, location: { ...found.location, isListed: false, parent: undefined } }
        : found
      return sendText(reply, state, () => writeProblem(() => writer.problem(problem, view), request, reply))
    }
    if (isFormAgain(problem, state)) return andThen(this.#findRow(request, reply, state), write)
    return andThen(this.#findRefused(problem, request, state), (refused) => {
      state.refused = refused
      return write(undefined)
    })
  }

  /**
   * Finds the row that a form was about, so that the form can come back whole; without it, the form comes back with what was
   * supplied. The row is shown only if `authorize` lets the request show it.
   */
  #findRow (request: FastifyRequest, reply: FastifyReply, state: RequestState): MaybePromise<Row | undefined> {
    const { target, accessCheckOf } = this.#compiled
    const { action, id } = state.payload as Payload
    if (action !== 'update' && action !== 'delete') return undefined
    const job = new Job(request, reply, state, action, id, target)
    const checkAccess = accessCheckOf(state.route.isMember)
    const read = (target: Target): MaybePromise<Row | undefined> => findRow(target, id, job)
    return checkAccess === undefined
      ? catchError<Row | undefined>(
        () => read(target),
        () => undefined
      )
      : findShown(checkAccess, request, id, job, read)
  }

  /** Only the page of a singleton that is not there offers something: to create it. */
  #findRefused (
    { status }: Problem,
    request: FastifyRequest,
    { choice }: RequestState
  ): MaybePromise<Refused | undefined> {
    const {
      refusals,
      resource: { singleton }
    } = this.#compiled
    return singleton && status === 404 && choice.format.writer.list === undefined
      ? refusals?.ofNothing(request)
      : undefined
  }

  #view (
    { request, state }: Pick<Job, 'request' | 'state'>,
    row: Row | undefined,
    errors: Input['errors'],
    shown: Row | undefined
  ): View {
    const { choice, action, payload, location, parameters, route, refused = NOTHING_REFUSED } = state
    const found =
      shown === undefined || !this.#compiled.mount.isShallow || !route.isMember
        ? location
        : this.#compiled.findLocation(parameters, shown.attributes)
    if (payload === undefined) {
      return { mediaType: choice.mediaType, input: undefined, action, location: found, request, refused }
    }
    const { id, version, node, attributes } = payload
    // The version that the form had: what somebody else has changed meanwhile, it has not seen.
    const input = { id, version: version ?? this.#forForms(row)?.version, node, attributes, row, errors }
    return { mediaType: choice.mediaType, input, action, location: found, request, refused }
  }
}

const NOTHING_REFUSED: Refused = new Set()

/**
 * Gathers the rows of a page that is written whole. If they are too large to be held together, the page ends early and the
 * next one begins there; only the action "list" has a next page.
 */
async function gather (listed: Listed, rest: Source, isPaged: boolean): Promise<Listed> {
  const first = [...listed.rows]
  let size = first.reduce((sum, row) => sum + sizeOf(row), 0)
  for (;;) {
    const { done, value } = await rest.next()
    if (done === true) return { ...listed, rows: first, more: undefined }
    for (const row of value) {
      size += sizeOf(row)
      if (isPaged && size > LARGEST_BATCH_SIZE) {
        await rest.return?.()
        return { ...listed, rows: first, more: undefined, last: first.at(-1) }
      }
      first.push(row)
    }
  }
}

/** Where a list is, with the suffix that was asked for. */
function pathOf ({ route, parameters, isSuffixed, choice: { format } }: RequestState): string {
  const path = route.path.fill(parameters)
  return isSuffixed ? `${path}.${format.name}` : path
}

function pageView (
  { order }: Listed,
  next: string | undefined,
  path: string,
  {
    choice: { mediaType },
    location,
    parameters: params,
    action,
    route,
    customAction: own,
    refused = NOTHING_REFUSED
  }: RequestState,
  request: FastifyRequest
): PageView {
  const { query } = request
  const { after } = query as Record<string, string>
  const parameters =
    after === undefined ? (query as Record<string, string>) : without(query as Record<string, string>, 'after')
  return {
    mediaType,
    input: undefined,
    action,
    location,
    next,
    path,
    list: route.path.fill(params),
    own: own?.name,
    parameters,
    order,
    after,
    request,
    refused
  }
}

/** Leaves the writing to onSend, but for a kind of JSON: an object that is sent as that Fastify would serialize itself. */
function sendText (
  reply: FastifyReply,
  {
    choice: {
      mediaType,
      contentType,
      format: { headers }
    }
  }: RequestState,
  write: () => string | Readable
): FastifyReply {
  for (const [name, value] of headers) reply.header(name, value)
  reply.type(contentType)
  return reply.send(mediaType.includes('json') ? write() : new Unwritten(write))
}

/** Says of an answer that failed to be written what is true of its success only. */
const OF_SUCCESS = ['etag', 'location']

/** Adds a link to those that the app has set (RFC 8288 §3), which the state keeps for an answer that fails. */
function addLink (link: string, state: RequestState, reply: FastifyReply): void {
  const before = [reply.getHeader('link') ?? []].flat()
  state.linksBefore = before
  reply.header('link', [...before, link].join(', '))
}

/** Gives an error the links that the app has set, without ours. */
function removeLink ({ linksBefore }: RequestState, reply: FastifyReply): void {
  if (linksBefore === undefined) return
  if (linksBefore.length === 0) reply.removeHeader('link')
  else reply.header('link', linksBefore.join(', '))
}

/** What the app has set for an answer that succeeds does not hold for an error, unless it forbids to store it. */
function removeCacheControl (reply: FastifyReply): void {
  const value = reply.getHeader('cache-control')
  if (value !== undefined && !isUnstored(String(value))) reply.removeHeader('cache-control')
}

/** What an error says beside its message, such as Retry-After; a header that could not be sent would be another error. */
function setHeaders (reply: FastifyReply, thrown: unknown): void {
  const { headers } = (thrown ?? {}) as { headers?: unknown }
  if (typeof headers !== 'object' || headers === null) return
  for (const [name, value] of Object.entries(headers)) {
    try {
      validateHeaderName(name)
      validateHeaderValue(name, value)
      reply.header(name, value)
    } catch (err) {
      reply.log.warn({ err })
    }
  }
}

function without (query: Readonly<Record<string, string>>, left: string): Record<string, string> {
  return Object.fromEntries(Object.entries(query).filter(([name]) => name !== left))
}

/** As URLSearchParams does, which is asked where something must be encoded (WHATWG URL §5.2). */
function writeParameter (name: string, value: string): string {
  return CLEAN.test(name) && CLEAN.test(value) ? `${name}=${value}` : new URLSearchParams([[name, value]]).toString()
}

const CLEAN = /^[\w*.-]*$/

/** What is wrong with what was supplied. Whoever is refused for another reason is shown no row, and a store that has just failed is not asked again. */
const OF_SUPPLIED: ReadonlySet<number> = new Set([409, 422, 428])

function isFormAgain ({ status }: Problem, { choice, payload }: RequestState): boolean {
  return choice.format.browser === true && payload?.node !== undefined && OF_SUPPLIED.has(status)
}

function isUnchanged (tag: string, state: RequestState, { headers }: FastifyRequest): boolean {
  const { payload, choice: { format: { writer } } } = state
  // Of what is no GET, a 304 would say that nothing has been done (RFC 9110 §13.1.2).
  // What is refused may be another thing to another user, whose browser is the same.
  if (payload !== undefined || state.refused !== undefined || (writer.list === undefined && writer.volatile === true)) {
    return false
  }
  const tags = parseEntityTags(headers['if-none-match'], 'If-None-Match')
  return tags !== undefined && noneMatches(tags, tag)
}

/** @throws InvalidAnswerError if a handler of the app's own has set what is no entity tag */
function setOwnTag (set: unknown, { action, reply }: Job): string {
  const tag = parseEntityTag(String(set))
  if (tag === undefined) {
    throw new InvalidAnswerError(
      action,
      `has set the ETag ${JSON.stringify(set)}, which is no entity tag: it stands in quotes, as in '"ann-3"' or 'W/"ann-3"'`
    )
  }
  reply.header('etag', String(set))
  return tag.opaque
}

/** Gives back what a stream holds when the answer is over, whether the stream was sent or not. */
function releaseWith (reply: FastifyReply, stream: Readable): void {
  // Fastify logs what it sends; what is not sent must not end the process by an error that nobody listens for.
  stream.on('error', (error) => { if (!isClientGone(reply)) printFailure(reply.log, 'a list broke off', error) })
  reply.raw.once('close', () => { stream.destroy() })
}

/** HEAD is answered as GET is, but reads nothing of a stream. */
function bodyFor ({ method, log }: FastifyRequest, body: string | Readable): string | Readable {
  if (method !== 'HEAD' || typeof body === 'string') return body
  body.on('error', (error) => { log.error({ err: error }) })
  body.destroy()
  return Readable.from([])
}

/** Where the writer of errors fails itself, Fastify would show what was thrown. */
function writeProblem (write: () => string, { log }: FastifyRequest, reply: FastifyReply): string {
  try {
    return write()
  } catch (error) {
    log.error({ err: error })
    printFailure(log, 'an error could not be written', error)
    reply.code(500).type('text/plain; charset=utf-8')
    return 'Internal Server Error'
  }
}
