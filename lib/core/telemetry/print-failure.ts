import type { FastifyBaseLogger } from 'fastify'

/** The longest message, in characters. A message may quote a whole query or document. */
const LONGEST = 500

/**
 * Prints a failure as one line on stderr if the app has no logger, because it would leave no trace otherwise. The line
 * quotes nothing of the request itself, but the message of the error may.
 * @param what the action and its outcome: `posts#show: failed`
 */
export function printFailure (log: FastifyBaseLogger, what: string, thrown: unknown): void {
  if (!isSilent(log)) return
  process.stderr.write(`fastify-resources: ${what}: ${describe(thrown)} (give fastify() a logger to see more)\n`)
}

/** Returns whether the app has no logger. Its `log` then has functions that do nothing, and no level, unlike pino. */
function isSilent (log: FastifyBaseLogger): boolean {
  const { level, error, trace } = log as Partial<FastifyBaseLogger>
  return level === undefined && error === trace
}

/** Describes a thrown value. A value that throws when it is read must not hide the failure. */
function describe (thrown: unknown): string {
  try {
    return describeReadable(thrown)
  } catch {
    return 'the thrown value cannot be read'
  }
}

function describeReadable (thrown: unknown): string {
  if (!(thrown instanceof Error)) {
    return typeof thrown === 'string' ? oneLine(thrown) : `the thrown value is of type ${typeof thrown}`
  }
  const { name, stack, cause } = thrown
  const message = String(thrown.message)
  const reason = cause instanceof Error ? `, caused by ${oneLine(`${cause.name}: ${cause.message}`)}` : ''
  const [place = ''] = /\bat [^\n]+/.exec(String(stack).slice(String(stack).indexOf(message) + message.length)) ?? []
  return `${oneLine(`${name}: ${message}`)}${reason} ${oneLine(place)}`
}

/** Replaces white space and control characters, which would end the line or control the terminal. */
function oneLine (text: string): string {
  return text.replaceAll(/[\s\p{Cc}]+/gu, ' ').slice(0, LONGEST)
}
