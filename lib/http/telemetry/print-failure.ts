import type { FastifyBaseLogger } from 'fastify'

/** In characters: a message may quote a whole query or a document. */
const LONGEST = 500

/**
 * Prints a failure as one line on stderr if the app has no logger, which would leave no trace of it. Nothing of the
 * request is in it; the message is the one that whoever threw has written.
 * @param what has failed: `posts#show: failed`
 */
export function printFailure (log: FastifyBaseLogger, what: string, thrown: unknown): void {
  if (!isSilent(log)) return
  process.stderr.write(`fastify-resources: ${what}: ${describe(thrown)} (give fastify() a logger to see more)\n`)
}

/** fastify() without a logger has one whose functions do nothing; it has no level, as loggers of pino have. */
function isSilent (log: FastifyBaseLogger): boolean {
  const { level, error, trace } = log as Partial<FastifyBaseLogger>
  return level === undefined && error === trace
}

/** An app may throw what cannot be read: that must not be told in the place of the failure. */
function describe (thrown: unknown): string {
  try {
    return describeReadable(thrown)
  } catch {
    return 'what was thrown cannot be read'
  }
}

function describeReadable (thrown: unknown): string {
  if (!(thrown instanceof Error)) {
    return typeof thrown === 'string' ? oneLine(thrown) : `what was thrown is no error, but of type ${typeof thrown}`
  }
  const { name, stack, cause } = thrown
  const message = String(thrown.message)
  const reason = cause instanceof Error ? `, caused by ${oneLine(`${cause.name}: ${cause.message}`)}` : ''
  const [place = ''] = /\bat [^\n]+/.exec(String(stack).slice(String(stack).indexOf(message) + message.length)) ?? []
  return `${oneLine(`${name}: ${message}`)}${reason} ${oneLine(place)}`
}

/** Control characters would end the line, or command the terminal. */
function oneLine (text: string): string {
  return text.replaceAll(/[\s\p{Cc}]+/gu, ' ').slice(0, LONGEST)
}
