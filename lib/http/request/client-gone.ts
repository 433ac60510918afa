import type { FastifyReply } from 'fastify'
import type { Context } from '../../stores/store.js'

/** What accompanies a store's calls; the signal is made when a store asks for it, since most never do. */
export class RequestContext implements Context {
  readonly #reply: FastifyReply
  #controller: AbortController | undefined

  constructor (reply: FastifyReply) {
    this.#reply = reply
  }

  get signal (): AbortSignal {
    if (this.#controller === undefined) {
      const controller = this.#controller = new AbortController()
      const { raw } = this.#reply
      if (raw.destroyed || isClientGone(this.#reply)) controller.abort()
      else raw.once('close', () => { if (isClientGone(this.#reply)) controller.abort() })
    }
    return this.#controller.signal
  }
}

/** Whether the client has gone without its answer. */
export function isClientGone ({ raw }: FastifyReply): boolean {
  // Of HTTP/2, whose answers are never called destroyed, and always finished.
  const { stream } = raw as { readonly stream?: { readonly aborted: boolean } }
  return stream === undefined ? raw.destroyed && !raw.writableFinished : stream.aborted
}
