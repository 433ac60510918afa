import type { FastifyReply } from 'fastify'

/** Whether the client has gone without its answer. */
export function hasLeft ({ raw }: FastifyReply): boolean {
  // Of HTTP/2, whose answers are never called destroyed, and always finished.
  const { stream } = raw as { readonly stream?: { readonly aborted: boolean } }
  return stream === undefined ? raw.destroyed && !raw.writableFinished : stream.aborted
}
