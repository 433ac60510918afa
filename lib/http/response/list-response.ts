import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { NONE_REFUSED } from '../../actions/authorize/refused-actions.js'
import type { ListOutcome, Source } from '../../actions/outcome.js'
import type { ListWriter, PageView } from '../../formats/format.js'
import type { Row } from '../../resource/row.js'
import { LARGEST_BATCH_SIZE, sizeOf } from '../../stores/row-size.js'
import { andThen, type MaybePromise } from '../../util/maybe-promise.js'
import { writeCursor } from '../request/cursor.js'
import { isClientGone, type RequestState, type ResourceRequest } from '../request/state.js'
import { printFailure } from '../telemetry/print-failure.js'
import { writeList } from './list-stream.js'

/** Writes the body of an answer, as text or as a stream. */
export type WriteBody = () => string | Readable

/** Makes the body of a list, in chunks or as a page, and adds the link to the next page. */
export function makeListBody (listed: ListOutcome, state: RequestState): MaybePromise<WriteBody> {
  const { writer } = state.choice.format
  const { rows, more, last } = listed
  if (writer.list === undefined && writer.frame === undefined && more !== undefined) {
    return andThen(gather(listed, more, state.customAction !== undefined), makeListBody, state)
  }
  const next = last === undefined ? undefined : nextPage(last, listed, state)
  if (next !== undefined) addLink(`<${next}>; rel="next"`, state)
  if (writer.list !== undefined) return makeRowsBody(listed, writer.list, state)
  const view = makePageView(listed, next, state)
  return more === undefined || writer.frame === undefined
    ? () => writer.page(rows, view)
    : makeRowsBody(listed, writer.frame(rows, view), state)
}

function makeRowsBody (listed: ListOutcome, writer: ListWriter, { request, reply }: RequestState): WriteBody {
  const body = writeList(listed, writer)
  if (typeof body !== 'string') releaseWith(reply, body)
  return () => bodyFor(request, body)
}

/**
 * Gathers the rows of a page that is written whole. If they are too large to be held together, the page ends early and
 * the next one begins there; only the action "list" has a next page.
 */
async function gather (listed: ListOutcome, more: Source, isCustom: boolean): Promise<ListOutcome> {
  const rows = [...listed.rows]
  let size = rows.reduce((sum, row) => sum + sizeOf(row), 0)
  for (;;) {
    const pulled = await more.next()
    if (pulled.done === true) return { ...listed, rows, more: undefined }
    for (const row of pulled.value) {
      size += sizeOf(row)
      if (!isCustom && size > LARGEST_BATCH_SIZE) {
        await more.return?.()
        return { ...listed, rows, more: undefined, last: rows.at(-1) }
      }
      rows.push(row)
    }
  }
}

/** Adds a link to those that the app has set (RFC 8288 §3). The state keeps these, in case the answer fails. */
function addLink (link: string, state: RequestState): void {
  const { reply } = state
  state.linksBefore = [reply.getHeader('link') ?? []].flat()
  reply.header('link', [...state.linksBefore, link].join(', '))
}

/** Makes the view of a page of a list. */
function makePageView ({ order }: ListOutcome, next: string | undefined, state: RequestState): PageView {
  const { choice, location, action, route, request, customAction, refused = NONE_REFUSED } = state
  const { after, ...others } = request.query
  return {
    mediaType: choice.mediaType,
    input: undefined,
    action,
    location,
    next,
    path: pathOf(state),
    list: route.path.fill(state.parameters),
    own: customAction?.name,
    parameters: after === undefined ? request.query : others,
    order,
    after,
    request,
    refused
  }
}

/** Returns the path of a list, with the suffix of the request. */
function pathOf ({ route, parameters, isSuffixed, choice: { format } }: RequestState): string {
  const path = route.path.fill(parameters)
  return isSuffixed ? `${path}.${format.name}` : path
}

/** Returns the URL of the next page: the same list after this row, with the other parameters as they were given. */
function nextPage (last: Row, { order }: ListOutcome, state: RequestState): string {
  const { request: { query }, compiled: { resource } } = state
  let link = `${pathOf(state)}?`
  for (const [name, value] of Object.entries(query)) {
    if (name !== 'after') link += `${writeParameter(name, value)}&`
  }
  return `${link}after=${writeCursor(last, order, resource)}`
}

/** Writes a parameter as URLSearchParams does, but faster if nothing must be encoded (WHATWG URL §5.2). */
function writeParameter (name: string, value: string): string {
  return CLEAN.test(name) && CLEAN.test(value) ? `${name}=${value}` : new URLSearchParams([[name, value]]).toString()
}

const CLEAN = /^[\w*.-]*$/

/** Frees what a stream holds when the answer is over, whether the stream was sent or not. */
function releaseWith (reply: FastifyReply, stream: Readable): void {
  // Fastify logs the error of a stream that it sends. The error of a stream that is not sent must not end the process.
  stream.on('error', (error) => { if (!isClientGone(reply)) printFailure(reply.log, 'a list was cut off', error) })
  reply.raw.once('close', () => { stream.destroy() })
}

/** Returns the body of a GET, or an empty body for a HEAD, which reads nothing from a stream. */
function bodyFor ({ method, log }: ResourceRequest, body: string | Readable): string | Readable {
  if (method !== 'HEAD' || typeof body === 'string') return body
  body.on('error', (error) => { log.error({ err: error }) })
  body.destroy()
  return Readable.from([])
}
