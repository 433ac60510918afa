import type { FastifyBaseLogger, FastifyReply } from 'fastify'
import type { ActionOutcome, Outcome } from '../actions/outcome.js'
import { describeError, type Problem } from '../errors.js'
import { parseId, type Resource } from '../resource/resource.js'
import type { Id } from '../resource/row.js'
import { type ActionState, isClientGone, type RequestState } from '../request/state.js'

/** The header of an answer that is given again, because the request was carried out before. */
export const REPLAYED = 'idempotency-replayed'

/** Logs the outcome of a write. */
export function logOutcome (outcome: Outcome | undefined, state: ActionState): void {
  const { reply, action, compiled } = state
  const resource = compiled.name
  const kind = (state.outcome = outcomeKind(outcome))
  const what = { resource, action, id: idOf(outcome, state), outcome: kind }
  const replayed = reply.hasHeader(REPLAYED) && { replayed: true }
  reply.log.info({ ...what, ...replayed }, `${resource}#${action}: ${kind}`)
}

/** Logs a refusal or a failure, and returns the members for its event. */
export function logFailure (thrown: unknown, problem: Problem, state: RequestState): FailureLog {
  const { reply, route, payload, negotiated: { member }, compiled: { resource } } = state
  const id = payload?.id ?? (member === undefined ? undefined : parseId(resource.idType, member))
  // A method that is not served has no action.
  const action = route.allowed ? state.action : undefined
  const outcome = outcomeOf(problem.status, reply)
  writeFailure({ thrown, problem, status: problem.status }, state, { action, id, outcome: state.outcome ?? outcome })
  return { action, id, outcome }
}

/** Logs a handler that fails after it has sent its answer, which can no longer report the failure. */
export function logLateFailure (thrown: unknown, state: ActionState): void {
  const { action, id, reply } = state
  // The server has failed, whatever status the error has.
  const failure = { thrown, problem: describeError(thrown, 500), status: 500 }
  writeFailure(failure, state, { action, id, outcome: outcomeOf(500, reply) })
}

function writeFailure ({ thrown, problem, status }: LoggedFailure, state: RequestState, what: FailureLog): void {
  const { reply, compiled: { name, resource } } = state
  const { action, outcome } = what
  const err = isOurs(thrown, problem) ? describe(thrown, problem, resource) : thrown
  const line = { resource: name, ...what, err }
  const text = `${action === undefined ? name : `${name}#${action}`}: ${outcome}`
  // If the client has left, a failure is expected: the store stops its work then.
  if (status < 500 || isClientGone(reply)) return reply.log.info(line, text)
  reply.log.error(line, text)
  // The message of one of our errors may quote the request, so only its code is printed.
  printFailure(reply.log, text, isOurs(thrown, problem) ? thrown.code : thrown)
}

/** Describes one of our errors, without messages and undeclared names, because both may quote the request. */
function describe ({ code, errors, cause }: OurError, { status }: Problem, { attributes }: Resource): object {
  const names = Object.keys(errors ?? {}).map((path) => path.replace(/\..*$/s, ''))
  return {
    code,
    statusCode: status,
    ...(errors !== undefined && { attributes: [...new Set(names)].filter((name) => attributes.has(name)) }),
    ...(cause !== undefined && { cause: { code: cause?.code, constraint: cause?.constraint } })
  }
}

interface LoggedFailure {
  readonly thrown: unknown
  readonly problem: Problem
  readonly status: number
}

/** The members of a failure's log line, in their order. */
export interface FailureLog {
  readonly action: string | undefined
  readonly id: Id | undefined
  readonly outcome: ActionOutcome
}

interface OurError {
  readonly code: string
  readonly errors?: Readonly<Record<string, unknown>>
  /** A database gives its SQLSTATE and the constraint's name. */
  readonly cause?: { readonly code?: unknown, readonly constraint?: unknown } | null
}

/** Returns whether an error is one of ours, about a mistake of the client. */
function isOurs (thrown: unknown, { status }: Problem): thrown is OurError {
  return status < 500 && String((thrown as Partial<OurError> | null | undefined)?.code).startsWith('FST_RESOURCES_')
}

/** Returns the result of an action; a handler without an outcome has sent its answer itself. */
export function outcomeKind (outcome: Outcome | undefined): ActionOutcome {
  return outcome === undefined ? 'sent' : outcome.kind
}

/** Returns the id that the request names, or else the id of the row that was written. */
export function idOf (outcome: Outcome | undefined, { id }: ActionState): Id | undefined {
  return id ?? (outcome?.kind === 'created' || outcome?.kind === 'updated' ? outcome.row.id : undefined)
}

/** Returns the result of an action that was refused or has failed with this status. */
export function outcomeOf (status: number, reply: FastifyReply): ActionOutcome {
  if (status < 500) return 'refused'
  return isClientGone(reply) ? 'aborted' : 'failed'
}

/** The longest message, in characters. A message may quote a whole query or document. */
const LONGEST = 500

/**
 * Prints a failure as one line on stderr if the app has no logger, because it would leave no trace otherwise. The line
 * quotes nothing of the request itself, but the message of the error may.
 * @param what the action and its outcome: `posts#show: failed`
 */
export function printFailure (log: FastifyBaseLogger, what: string, thrown: unknown): void {
  if (!isSilent(log)) return
  process.stderr.write(`fastify-resources: ${what}: ${describeFailure(thrown)} (give fastify() a logger to see more)\n`)
}

/** Returns whether the app has no logger. Its `log` then has functions that do nothing, and no level, unlike pino. */
function isSilent (log: FastifyBaseLogger): boolean {
  const { level, error, trace } = log as Partial<FastifyBaseLogger>
  return level === undefined && error === trace
}

/** Describes a thrown value. A value that throws when it is read must not hide the failure. */
function describeFailure (thrown: unknown): string {
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
