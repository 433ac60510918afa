import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import type { Listed, Source } from '../../actions/outcome.js'
import type { ListWriter } from '../../formats/format.js'
import type { Row } from '../../resource/row.js'
import { LARGEST_BATCH_SIZE, sizeOf } from '../../stores/row-size.js'
import type { MaybePromise } from '../../util/maybe-promise.js'
import { writeCursor } from '../request/cursor.js'
import { isClientGone, type RequestState, type ResourceRequest } from '../request/state.js'
import { printFailure } from '../telemetry/print-failure.js'
import { addLink } from './headers.js'
import { writeList } from './list-stream.js'
import { makePageView, pathOf } from './page-view.js'
import { sendText } from './send.js'

/** Sends a list: in chunks, or as a page. */
export function sendList (listed: Listed, state: RequestState): MaybePromise<FastifyReply> {
  const { writer } = state.choice.format
  const { rows, more, last } = listed
  if (writer.list === undefined && writer.frame === undefined && more !== undefined) {
    return gather(listed, more, state.isCustom).then((page) => sendList(page, state))
  }
  const next = last === undefined ? undefined : nextPage(last, listed, state)
  if (next !== undefined) addLink(`<${next}>; rel="next"`, state)
  if (writer.list !== undefined) return sendRows(listed, writer.list, state)
  const view = makePageView(listed, next, state)
  return more === undefined || writer.frame === undefined
    ? sendText(state, () => writer.page(rows, view))
    : sendRows(listed, writer.frame(rows, view), state)
}

function sendRows (listed: Listed, writer: ListWriter, state: RequestState): FastifyReply {
  const body = writeList(listed, writer)
  if (typeof body !== 'string') releaseWith(state.reply, body)
  return sendText(state, () => bodyFor(state.request, body))
}

/**
 * Gathers the rows of a page that is written whole. If they are too large to be held together, the page ends early and
 * the next one begins there; only the action "list" has a next page.
 */
async function gather (listed: Listed, more: Source, isCustom: boolean): Promise<Listed> {
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

/** Returns the URL of the next page: the same list after this row, with the other parameters as they were given. */
function nextPage (last: Row, { order }: Listed, state: RequestState): string {
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
  // Fastify logs the error of a stream that it sends. That of another one must not end the process.
  stream.on('error', (error) => { if (!isClientGone(reply)) printFailure(reply.log, 'a list broke off', error) })
  reply.raw.once('close', () => { stream.destroy() })
}

/** Returns the body of a GET, or the empty one of a HEAD, which reads nothing of a stream. */
function bodyFor ({ method, log }: ResourceRequest, body: string | Readable): string | Readable {
  if (method !== 'HEAD' || typeof body === 'string') return body
  body.on('error', (error) => { log.error({ err: error }) })
  body.destroy()
  return Readable.from([])
}
