import { validateHeaderName, validateHeaderValue } from 'node:http'
import type { FastifyReply } from 'fastify'
import { isUnstored } from '../../routing/cache-control.js'
import type { RequestState } from '../request/state.js'

/** Adds a link to those that the app has set (RFC 8288 §3). The state keeps these, in case the answer fails. */
export function addLink (link: string, state: RequestState): void {
  const { reply } = state
  state.linksBefore = [reply.getHeader('link') ?? []].flat()
  reply.header('link', [...state.linksBefore, link].join(', '))
}

/** Replaces the headers of an answer that succeeds by those of an error. */
export function setErrorHeaders (thrown: unknown, { reply, linksBefore }: RequestState): void {
  reply.removeHeader('etag')
  reply.removeHeader('location')
  if (linksBefore !== undefined) {
    reply.removeHeader('link')
    if (linksBefore.length > 0) reply.header('link', linksBefore.join(', '))
  }
  // A value for an answer that succeeds does not hold for an error, unless it forbids to store any.
  const cacheControl = reply.getHeader('cache-control')
  if (cacheControl !== undefined && !isUnstored(String(cacheControl))) reply.removeHeader('cache-control')
  addHeaders(reply, (thrown as { readonly headers?: unknown } | null | undefined)?.headers)
}

/** Adds the headers that an error brings, such as Retry-After. A malformed header would be another error. */
function addHeaders (reply: FastifyReply, headers: unknown): void {
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
