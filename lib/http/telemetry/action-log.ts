import type { ActionOutcome, Outcome } from '../../actions/outcome.js'
import { describeError, type Problem } from '../../errors.js'
import { nameOf, parseId, type Resource } from '../../resource/resource.js'
import type { Id } from '../../resource/row.js'
import { type ActionState, isClientGone, type RequestState } from '../request/state.js'
import { printFailure } from './print-failure.js'
import { idOf, hasSubscribers, outcomeKind, outcomeOf, publishEvent } from './tracing.js'

/** Logs the outcome of a write. */
export function logOutcome (outcome: Outcome | undefined, state: ActionState): void {
  const { reply, action, compiled } = state
  const resource = nameOf(compiled.resource)
  const kind = (state.outcome = outcomeKind(outcome))
  reply.log.info({ resource, action, id: idOf(outcome, state), outcome: kind }, `${resource}#${action}: ${kind}`)
}

/** Logs a refusal or a failure, and publishes an event unless the action was traced. */
export function logFailure (thrown: unknown, problem: Problem, state: RequestState): void {
  const { request, reply, route, isTraced, payload, member, compiled: { resource } } = state
  const id = payload?.id ?? (member === undefined ? undefined : parseId(resource.idType, member))
  // Nobody knows what a method would have done that is not served.
  const action = route.allowed ? state.action : undefined
  const outcome = outcomeOf(problem.status, reply)
  writeFailure({ thrown, problem, status: problem.status }, state, { action, id, outcome: state.outcome ?? outcome })
  if (action !== undefined && !isTraced && hasSubscribers()) {
    publishEvent({ request, resource: nameOf(resource), action, id, outcome, error: thrown })
  }
}

/** Logs a handler that fails after it has sent its answer, which can no longer tell of the failure. */
export function logLateFailure (thrown: unknown, state: ActionState): void {
  const { action, id, reply } = state
  // Whatever status the error has, the server has failed.
  const failure = { thrown, problem: describeError(thrown, 500), status: 500 }
  writeFailure(failure, state, { action, id, outcome: outcomeOf(500, reply) })
}

function writeFailure ({ thrown, problem, status }: Failure, state: RequestState, what: Failed): void {
  const { reply, compiled: { resource } } = state
  const { action, outcome } = what
  const name = nameOf(resource)
  const err = isOurs(thrown, problem) ? describe(thrown, problem, resource) : thrown
  const line = { resource: name, ...what, err }
  const text = `${action === undefined ? name : `${name}#${action}`}: ${outcome}`
  // If the client has left, the failure is the client's: a store gives up its work for it.
  if (status < 500 || isClientGone(reply)) return reply.log.info(line, text)
  reply.log.error(line, text)
  // Our own message may quote the request.
  printFailure(reply.log, text, isOurs(thrown, problem) ? thrown.code : thrown)
}

/** Describes an error without messages, which may quote the request, and by the names of declared attributes only. */
function describe ({ code, errors, cause }: OurError, { status }: Problem, { attributes }: Resource): object {
  const names = Object.keys(errors ?? {}).map((path) => path.split('.', 1)[0] as string)
  return {
    code,
    statusCode: status,
    ...(errors !== undefined && { attributes: [...new Set(names)].filter((name) => attributes.has(name)) }),
    ...(cause !== undefined && { cause: { code: cause?.code, constraint: cause?.constraint } })
  }
}

interface Failure {
  readonly thrown: unknown
  readonly problem: Problem
  readonly status: number
}

/** What the line of a failure says, in its order. */
interface Failed {
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

/** Returns whether an error of ours tells a client of its mistake. */
function isOurs (thrown: unknown, { status }: Problem): thrown is OurError {
  return status < 500 && String((thrown as Partial<OurError> | null | undefined)?.code).startsWith('FST_RESOURCES_')
}
