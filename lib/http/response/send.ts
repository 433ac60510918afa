import type { Readable } from 'node:stream'
import type { FastifyReply, onSendHookHandler } from 'fastify'
import type { FindCacheControl } from '../../routing/cache-control.js'
import { findState, type RequestState } from '../request/state.js'

/** A body that the onSend hook writes, as text or as a stream. */
class Unwritten {
  readonly write: () => string | Readable

  constructor (write: () => string | Readable) {
    this.write = write
  }
}

/** Sends a body that the onSend hook writes. JSON is written at once, because Fastify would serialize an object. */
export function sendText ({ choice, reply }: RequestState, write: () => string | Readable): FastifyReply {
  const { mediaType, contentType, format: { headers } } = choice
  for (const [name, value] of headers) reply.header(name, value)
  reply.type(contentType)
  return reply.send(mediaType.includes('json') ? write() : new Unwritten(write))
}

/**
 * Makes the hook that completes the headers of every answer on our routes, whoever gives it, and writes the bodies of
 * `sendText`.
 */
export function makeOnSend (cacheControl: FindCacheControl): onSendHookHandler<unknown> {
  return (request, reply, payload, done) => {
    if (reply.getHeader('cache-control') === undefined) {
      const state = findState(request)
      // A hook's answer to one user, such as a redirect to the login, counts as an error: others must not get it.
      reply.header('cache-control', cacheControl(state?.action, state?.isAnswered !== true || reply.statusCode >= 400))
    }
    // Browsers must not take an answer for a page or a script that is neither (Fetch §3.6).
    reply.header('x-content-type-options', 'nosniff')
    if (!(payload instanceof Unwritten)) return done(null, payload)
    let written: string | Readable
    try {
      written = payload.write()
    } catch (error) {
      // The status that was set belongs to the answer that could not be written.
      reply.code(500)
      return done(error as Error)
    }
    done(null, written)
  }
}
