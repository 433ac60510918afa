import type { FastifyReply, FastifyRequest, onSendHookHandler } from 'fastify'
import { validateHeaderName, validateHeaderValue } from 'node:http'
import { Readable } from 'node:stream'
import { writeCursor } from './cursor.js'
import { describeError, type Problem } from './errors.js'
import type { Input, PageView, TextWriter, View } from './formats/format.js'
import { findState, type Hall, type State } from './hall.js'
import { ANSWERS, type Listed, type Outcome } from './outcome.js'
import type { Payload } from './payload.js'
import { noneMatches, parseEntityTags } from './preconditions.js'
import { recover, settle } from './settle.js'
import type { Context, MaybePromise, Order, Stored } from './stores/store.js'
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

  constructor (hall: Hall) {
    this.#hall = hall
  }

  send (outcome: Outcome, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const state = findState(request) as State
    const { format } = state.choice
    const answer = ANSWERS[outcome.kind][format.browser === true ? 'browser' : 'document']
    reply.code(answer.status)
    if (outcome.kind === 'listed') return this.#sendList(outcome, state, request, reply)
    if (outcome.kind === 'revised') return this.#sendRevised(outcome.row, state, reply)
    if (outcome.kind !== 'deleted') {
      if (answer.etag) reply.header('etag', `"${tagOf(outcome.row, state)}"`)
      if (answer.location === 'member') reply.header('location', `${this.#hall.resource.path}/${outcome.row.id}`)
    } else if (answer.location === 'collection') {
      reply.header('location', this.#hall.resource.path)
    }
    if (!answer.body || outcome.kind === 'deleted') return reply.send()
    if (outcome.kind === 'found' && isUnchanged(outcome.row, state, request)) return reply.code(304).send()
    return this.#sendRecord(outcome.row, outcome.kind === 'stale', state, reply)
  }

  #sendRecord (row: Stored, isStale: boolean, state: State, reply: FastifyReply): FastifyReply {
    const { writer } = state.choice.format
    if (writer.document !== undefined) return reply.type(state.choice.contentType).send(writer.document(row))
    const view = this.#view(state, isStale ? row : undefined, {})
    return sendText(reply, state, () => isStale && writer.stale !== undefined ? writer.stale(row, view) : writer.record(row, view))
  }

  #sendRevised (row: Stored | undefined, state: State, reply: FastifyReply): FastifyReply {
    // Which has been made sure of before.
    const { revised } = state.choice.format.writer as Required<TextWriter>
    const view = this.#view(state, row, {})
    return sendText(reply, state, () => revised(view))
  }

  #sendList (listed: Listed, state: State, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const { writer } = state.choice.format
    const next = listed.last === undefined ? undefined : this.#nextPage(listed.last, listed.order, state, request)
    if (next !== undefined) reply.header('link', `<${next}>; rel="next"`)
    if (writer.list === undefined) return sendText(reply, state, () => writer.page(listed.first, this.#pageView(listed, next, state, request)))
    const body = writeList(listed, writer.list)
    if (typeof body !== 'string') releaseWith(reply, body)
    return sendText(reply, state, () => bodyFor(request, body))
  }

  #pageView ({ order }: Listed, next: string | undefined, { choice: { mediaType }, path }: State, request: FastifyRequest): PageView {
    const query = request.query as Record<string, string>
    const { after } = query
    return { mediaType, input: undefined, next, path, parameters: after === undefined ? query : without(query, 'after'), order, after }
  }

  /** The same list from another place on, with the other parameters as they were given. */
  #nextPage (last: Stored, order: Order, { path }: State, { query }: FastifyRequest): string {
    let link = `${path}?`
    for (const name in query as Record<string, string>) {
      if (name !== 'after') link += `${writeParameter(name, (query as Record<string, string>)[name] as string)}&`
    }
    return `${link}after=${writeCursor(last, order, this.#hall.resource)}`
  }

  /** An error in the client's own format, whoever threw it and wherever. */
  fail (thrown: unknown, request: FastifyRequest, reply: FastifyReply, state: State, context: Context): MaybePromise<FastifyReply> {
    const problem = describeError(thrown, reply.statusCode)
    logError(thrown, problem, reply)
    for (const name of OF_SUCCESS) reply.removeHeader(name)
    setHeaders(reply, thrown)
    reply.code(problem.status)
    const { writer } = state.choice.format
    if (writer.document !== undefined) return reply.type(writer.problemType).send(problem)
    const write = (row: Stored | undefined): FastifyReply => {
      const view = this.#view(state, row, problem.errors ?? {})
      return sendText(reply, state, () => writeProblem(() => writer.problem(problem, view), request, reply))
    }
    return isFormAgain(problem, state) ? settle(this.#findRow(state, context), write) : write(undefined)
  }

  /** The row that a form was about, so that it can come back whole; without it, it comes back with what was supplied. */
  #findRow ({ payload }: State, context: Context): MaybePromise<Stored | undefined> {
    const { store, scope } = this.#hall.subject
    const { id } = payload as Payload
    return id === undefined ? undefined : recover<Stored | undefined>(() => store.get(id, scope, context), () => undefined)
  }

  #view ({ choice, payload }: State, row: Stored | undefined, errors: Input['errors']): View {
    if (payload === undefined) return { mediaType: choice.mediaType, input: undefined }
    const { id, version, node, attributes } = payload
    // The version that the form had: what somebody else has changed meanwhile, it has not seen.
    const input = { id, version: version ?? row?.version, node, attributes, row, errors }
    return { mediaType: choice.mediaType, input }
  }
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

/** A store that has just failed is not asked again. */
function isFormAgain ({ status }: Problem, { choice, payload }: State): boolean {
  return choice.format.browser === true && payload?.node !== undefined && status < 500
}

function isUnchanged (row: Stored, state: State, { headers }: FastifyRequest): boolean {
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

/** Of a client that has gone, the failure is the client's: a store gives up what it does for it. */
function logError (thrown: unknown, { status }: Problem, { log, raw }: FastifyReply): void {
  if (status >= 500 && !raw.destroyed) log.error({ err: thrown })
  else log.info({ err: thrown })
}
