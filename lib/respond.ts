import type { FastifyReply, FastifyRequest, onSendHookHandler } from 'fastify'
import { Readable } from 'node:stream'
import { describeError, type Problem } from './errors.js'
import type { Input, View } from './formats/format.js'
import { findState, type Hall, type State } from './hall.js'
import { ANSWERS, type Listed, type Outcome, settle } from './outcome.js'
import { noneMatches, parseEntityTags } from './preconditions.js'
import { writeCursor } from './query.js'
import type { Context, Id, MaybePromise, Stored } from './stores/store.js'
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
  try {
    done(null, payload.write())
  } catch (error) {
    // The status of the answer that could not be written says nothing of the failure.
    reply.code(500)
    done(error as Error)
  }
}

/** `1.xml` */
function tagOf ({ version }: Stored, { choice }: State): string {
  return `${version}.${choice.format.name}`
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
    if (writer.document !== undefined) return reply.send(writer.document(row))
    reply.type(contentType(state))
    const view = this.#view(state, isStale ? row : undefined, {})
    return reply.send(new Unwritten(() => isStale && writer.stale !== undefined ? writer.stale(row, view) : writer.record(row, view)))
  }

  #sendList (listed: Listed, state: State, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    const { format } = state.choice
    const { writer } = format
    const next = listed.nextAfter === undefined ? undefined : this.#nextPage(listed.nextAfter, request)
    if (next !== undefined) reply.header('link', `<${next}>; rel="next"`)
    reply.type(contentType(state))
    if (writer.list === undefined) return reply.send(new Unwritten(() => writer.page(listed.first, { ...this.#view(state, undefined, {}), next })))
    const frame = writer.list
    const write = (): string | Readable => bodyFor(request, writeList(listed, frame))
    // Fastify would serialize an object that is sent as JSON before onSend sees it.
    return reply.send(writer.document === undefined ? new Unwritten(write) : write())
  }

  #nextPage (after: Stored['id'], request: FastifyRequest): string {
    const { format, limit } = request.query as Record<string, string | undefined>
    const query = new URLSearchParams({ ...(format !== undefined && { format }), ...(limit !== undefined && { limit }), after: writeCursor(after) })
    const [path = ''] = request.url.split('?', 1)
    return `${this.#hall.resource.path}${path.slice(path.lastIndexOf('/')).replace(/^[^.]*/, '')}?${query.toString()}`
  }

  /** An error in the client's own format, whoever threw it and wherever. */
  fail (thrown: unknown, request: FastifyRequest, reply: FastifyReply, state: State, context: Context): MaybePromise<FastifyReply> {
    const problem = describeError(thrown, reply.statusCode)
    logError(thrown, problem, request)
    const { headers } = (thrown ?? {}) as { headers?: Record<string, string> }
    if (headers !== undefined) reply.headers(headers)
    reply.code(problem.status)
    const { writer } = state.choice.format
    if (writer.document !== undefined) return reply.type(writer.problemType).send(problem)
    reply.type(contentType(state))
    const write = (row: Stored | undefined): FastifyReply => {
      const view = this.#view(state, row, problem.errors ?? {})
      return reply.send(new Unwritten(() => writeProblem(() => writer.problem(problem, view), request, reply)))
    }
    return isFormAgain(problem, state) ? settle(this.#findRow(state, context), write) : write(undefined)
  }

  /** The row that a form was about, so that it can come back whole; without it, it comes back with what was supplied. */
  #findRow ({ payload }: State, context: Context): MaybePromise<Stored | undefined> {
    const { store, scope } = this.#hall.subject
    const find = async (id: Id): Promise<Stored | undefined> => store.get(id, scope, context)
    return payload?.id === undefined ? undefined : find(payload.id).catch(() => undefined)
  }

  #view ({ choice, payload }: State, row: Stored | undefined, errors: Input['errors']): View {
    const input = payload === undefined ? undefined : { id: payload.id, version: row?.version ?? payload.version, node: payload.node, row, errors }
    return { mediaType: choice.mediaType, input }
  }
}

function contentType ({ choice }: State): string {
  return `${choice.mediaType}; charset=utf-8`
}

function isFormAgain ({ status }: Problem, { choice, payload }: State): boolean {
  return choice.format.browser === true && payload?.node !== undefined && (status === 409 || status === 422)
}

function isUnchanged (row: Stored, state: State, { headers }: FastifyRequest): boolean {
  return headers['if-none-match'] !== undefined && noneMatches(parseEntityTags(headers['if-none-match'], 'If-None-Match'), tagOf(row, state))
}

/** HEAD is answered as GET is; a stream that nobody reads gives back what it holds. */
function bodyFor ({ method }: FastifyRequest, body: string | Readable): string | Readable {
  if (method !== 'HEAD' || typeof body === 'string') return body
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

function logError (thrown: unknown, { status }: Problem, { log }: FastifyRequest): void {
  if (status >= 500) log.error({ err: thrown })
  else log.info({ err: thrown })
}
