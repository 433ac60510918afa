import type { FastifyReply, FastifyRequest, onSendHookHandler } from 'fastify'
import { validateHeaderName, validateHeaderValue } from 'node:http'
import { Readable } from 'node:stream'
import { writeCursor } from './cursor.js'
import { isOfParent } from './access.js'
import { describeError, type Problem } from './errors.js'
import type { Subject } from './actions/action.js'
import { findRow } from './actions/only.js'
import type { Input, PageView, TextWriter, View } from './formats/format.js'
import type { Hall, State } from './hall.js'
import { Job } from './job.js'
import { memberPath } from './member-path.js'
import { type Answer, ANSWERS, type Listed, type Outcome } from './outcome.js'
import type { Payload } from './payload.js'
import { noneMatches, parseEntityTags } from './preconditions.js'
import { parseId } from './resource.js'
import { recover, settle } from './settle.js'
import type { Id, MaybePromise, Order, Stored } from './stores/store.js'
import { writeList } from './stream.js'

/** What the onSend hook turns into text or into a stream. */
class Unwritten {
  readonly write: () => string | Readable

  constructor (write: () => string | Readable) {
    this.write = write
  }
}

/** Writes what no writer has written yet; whatever else is sent, errors on their way back included, stays as it is. */
export const writeOnSend: onSendHookHandler<unknown> = (_request, reply, payload, done) => {
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

/** `1.xml` */
function tagOf ({ version }: Stored, { choice: { format: { name } } }: State): string {
  return `${version}.${name}`
}

/** From an outcome to an answer: the one step in which status, headers and body are set. */
export class Responder {
  readonly #hall: Hall
  readonly #formats: readonly string[]

  constructor (hall: Hall) {
    this.#hall = hall
    this.#formats = hall.representations.map(({ name }) => name)
  }

  send (outcome: Outcome, { request, reply, state }: Job): FastifyReply {
    const { format } = state.choice
    const answer = ANSWERS[outcome.kind][format.browser === true ? 'browser' : 'document']
    reply.code(answer.status)
    if (outcome.kind === 'listed') return this.#sendList(outcome, state, request, reply)
    if (outcome.kind === 'revised') return this.#sendRevised(outcome.row, state, reply)
    if (outcome.kind === 'blank') return this.#sendBlank(outcome.row, state, reply)
    const row = outcome.kind === 'done' ? undefined : outcome.row
    // A row of an app's own handler may have no version.
    if (row !== undefined && answer.etag && row.version !== '') reply.header('etag', `"${tagOf(row, state)}"`)
    if (answer.location !== undefined) reply.header('location', this.#locate(answer.location, row, state))
    if (!answer.body || outcome.kind === 'done' || outcome.kind === 'deleted') return reply.send()
    if ((outcome.kind === 'found' || outcome.kind === 'edit') && outcome.row.version !== '' && isUnchanged(outcome.row, state, request)) return reply.code(304).send()
    return this.#sendRecord(outcome.row, outcome.kind, state, reply)
  }

  /** A path without suffix or query; of what no page shows, that of the list. */
  #locate (location: NonNullable<Answer['location']>, row: Stored | undefined, state: State): string {
    const { resource, findPlace, subject: { resource: { singleton, actions } } } = this.#hall
    const place = row === undefined ? state.place : findPlace(state.parameters, row.attributes)
    const { choice: { format }, member } = state
    if (singleton) return location === 'collection' ? place.parent?.path ?? place.collection : place.collection
    const isShown = format.browser !== true || actions.has('show')
    // Of rows that are listed nowhere what they are in.
    if (location === 'collection' || !isShown) return format.browser === true && !actions.has('list') ? place.parent?.path ?? place.collection : place.collection
    if (row !== undefined) return memberPath(place.members, row.id, this.#formats)
    return member === undefined ? place.collection : memberPath(place.members, parseId(resource.idType, member) as Id, this.#formats)
  }

  #sendRecord (row: Stored, kind: 'found' | 'edit' | 'created' | 'updated' | 'stale', state: State, reply: FastifyReply): FastifyReply {
    const { writer } = state.choice.format
    if (writer.document !== undefined) return reply.type(state.choice.contentType).send(writer.document(row))
    const view = this.#view(state, kind === 'stale' ? row : undefined, {}, row)
    const { stale, edit } = writer
    return sendText(reply, state, () => {
      if (kind === 'stale' && stale !== undefined) return stale(row, view)
      return kind === 'edit' && edit !== undefined ? edit(row, view) : writer.record(row, view)
    })
  }

  #sendBlank (row: Stored, state: State, reply: FastifyReply): FastifyReply {
    const { writer, blank } = state.choice.format
    const view = this.#view(state, undefined, {}, undefined)
    if (writer.document === undefined && writer.blank !== undefined) {
      const write = writer.blank
      return sendText(reply, state, () => write(view))
    }
    const other = blank()
    if (other.document !== undefined) return reply.type(state.choice.contentType).send(other.document(row))
    return sendText(reply, state, () => other.record(row, view))
  }

  #sendRevised (row: Stored | undefined, state: State, reply: FastifyReply): FastifyReply {
    // Which has been made sure of before.
    const { revised } = state.choice.format.writer as Required<TextWriter>
    const view = this.#view(state, row, {}, row)
    return sendText(reply, state, () => revised(view))
  }

  #sendList (listed: Listed, state: State, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const { writer } = state.choice.format
    const path = pathOf(state)
    const next = listed.last === undefined ? undefined : this.#nextPage(listed.last, listed.order, path, request)
    if (next !== undefined) reply.header('link', `<${next}>; rel="next"`)
    if (writer.list === undefined) return sendText(reply, state, () => writer.page(listed.first, pageView(listed, next, path, state, request)))
    const body = writeList(listed, writer.list)
    if (typeof body !== 'string') releaseWith(reply, body)
    return sendText(reply, state, () => bodyFor(request, body))
  }

  /** The same list from another place on, with the other parameters as they were given. */
  #nextPage (last: Stored, order: Order, path: string, { query }: FastifyRequest): string {
    let link = `${path}?`
    for (const name in query as Record<string, string>) {
      if (name !== 'after') link += `${writeParameter(name, (query as Record<string, string>)[name] as string)}&`
    }
    return `${link}after=${writeCursor(last, order, this.#hall.resource)}`
  }

  /** An error in the client's own format, whoever threw it and wherever. */
  fail (thrown: unknown, request: FastifyRequest, reply: FastifyReply, state: State): MaybePromise<FastifyReply> {
    const problem = describeError(thrown, reply.statusCode)
    this.#hall.signals.noteFailure(thrown, problem, request, reply, state)
    for (const name of OF_SUCCESS) reply.removeHeader(name)
    setHeaders(reply, thrown)
    reply.code(problem.status)
    const { writer } = state.choice.format
    if (writer.document !== undefined) return reply.type(writer.problemType).send(problem)
    const write = (row: Stored | undefined): FastifyReply => {
      const found = this.#view(state, row, problem.errors ?? {}, row)
      // Where the parent is not there, or is hidden, nothing on the way to it is linked to.
      const view = isOfParent(thrown) ? { ...found, place: { ...found.place, isListed: false, parent: undefined } } : found
      return sendText(reply, state, () => writeProblem(() => writer.problem(problem, view), request, reply))
    }
    return isFormAgain(problem, state) ? settle(this.#findRow(request, reply, state), write) : write(undefined)
  }

  /**
   * The row that a form was about, so that it can come back whole; without it, it comes back with what was supplied. It is
   * read only for a request that may have it.
   */
  #findRow (request: FastifyRequest, reply: FastifyReply, state: State): MaybePromise<Stored | undefined> {
    const { subject, entryOf } = this.#hall
    const { action, id } = state.payload as Payload
    if (action !== 'update' && action !== 'delete') return undefined
    const job = new Job(request, reply, state, action, id, subject)
    const enter = entryOf(state.entrance)
    const read = (subject: Subject): MaybePromise<Stored | undefined> => findRow(subject, id, job)
    // Also where it has been let in before: the row may have changed since.
    return recover<Stored | undefined>(() => enter === undefined ? read(subject) : settle(enter(request, job, job), ({ subject, seen }) => seen ?? read(subject)), () => undefined)
  }

  #view ({ choice, action, payload, place, parameters, entrance }: State, row: Stored | undefined, errors: Input['errors'], shown: Stored | undefined): View {
    const found = shown === undefined || !this.#hall.site.isShallow || !entrance.isMember ? place : this.#hall.findPlace(parameters, shown.attributes)
    if (payload === undefined) return { mediaType: choice.mediaType, input: undefined, action, place: found }
    const { id, version, node, attributes } = payload
    // The version that the form had: what somebody else has changed meanwhile, it has not seen.
    const input = { id, version: version ?? row?.version, node, attributes, row, errors }
    return { mediaType: choice.mediaType, input, action, place: found }
  }
}

/** Where a list is, with the suffix that was asked for. */
function pathOf ({ entrance, parameters, isSuffixed, choice: { format } }: State): string {
  const path = entrance.path.fill(parameters)
  return isSuffixed ? `${path}.${format.name}` : path
}

function pageView ({ order }: Listed, next: string | undefined, path: string, { choice: { mediaType }, place, parameters: params, action, entrance, own }: State, { query }: FastifyRequest): PageView {
  const { after } = query as Record<string, string>
  const parameters = after === undefined ? query as Record<string, string> : without(query as Record<string, string>, 'after')
  return { mediaType, input: undefined, action, place, next, path, list: entrance.path.fill(params), own: own?.name, parameters, order, after }
}

/** Leaves the writing to onSend, but for a kind of JSON: an object that is sent as that Fastify would serialize itself. */
function sendText (reply: FastifyReply, { choice: { mediaType, contentType, format: { headers } } }: State, write: () => string | Readable): FastifyReply {
  for (const [name, value] of headers) reply.header(name, value)
  reply.type(contentType)
  return reply.send(mediaType.includes('json') ? write() : new Unwritten(write))
}

/** Says of an answer that failed to be written what is true of its success only. */
const OF_SUCCESS = ['etag', 'location', 'link']

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

function isFormAgain ({ status }: Problem, { choice, payload }: State): boolean {
  return choice.format.browser === true && payload?.node !== undefined && OF_SUPPLIED.has(status)
}

function isUnchanged (row: Stored, state: State, { headers }: FastifyRequest): boolean {
  const { payload, choice: { format: { writer } } } = state
  // Of what is no GET, a 304 would say that nothing has been done (RFC 9110 §13.1.2).
  if (payload !== undefined || (writer.list === undefined && writer.volatile === true)) return false
  const tags = parseEntityTags(headers['if-none-match'], 'If-None-Match')
  return tags !== undefined && noneMatches(tags, tagOf(row, state))
}

/** Gives back what a stream holds when the answer is over, whether the stream was sent or not. */
function releaseWith ({ raw }: FastifyReply, stream: Readable): void {
  // Fastify logs what it sends; what is not sent must not end the process by an error that nobody listens for.
  stream.on('error', () => {})
  raw.once('close', () => { stream.destroy() })
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
    reply.code(500).type('text/plain; charset=utf-8')
    return 'Internal Server Error'
  }
}
