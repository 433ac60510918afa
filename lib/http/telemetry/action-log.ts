import type { FastifyReply } from 'fastify'
import type { ActionOutcome, Outcome } from '../../actions/outcome.js'
import { describeError, type Problem } from '../../errors.js'
import { nameOf, parseId, type Resource } from '../../resource/resource.js'
import type { Id } from '../../resource/row.js'
import type { MaybePromise } from '../../util/maybe-promise.js'
import { type ActionState, isClientGone, type RequestState } from '../request/state.js'
import { printFailure } from './print-failure.js'
import { idOf, hasSubscribers, outcomeKind, outcomeOf, publishEvent, traceAction } from './tracing.js'

/** What a resource tells of its actions: lines of the log, and events. */
export class ActionLog {
  readonly #name: string
  readonly #resource: Resource

  constructor (resource: Resource) {
    this.#name = nameOf(resource)
    this.#resource = resource
  }

  trace (state: ActionState, perform: () => MaybePromise<Outcome | undefined>): MaybePromise<Outcome | undefined> {
    return traceAction(this.#name, state, perform)
  }

  /** A line for a write that has come to something. */
  logOutcome (outcome: Outcome | undefined, state: ActionState): void {
    const { reply, action } = state
    const kind = (state.outcome = outcomeKind(outcome))
    reply.log.info(
      { resource: this.#name, action, id: idOf(outcome, state), outcome: kind },
      `${this.#name}#${action}: ${kind}`
    )
  }

  /** A line, and an event where there has been none, for whatever has been refused or has failed. */
  logFailure (thrown: unknown, problem: Problem, state: RequestState): void {
    const { request, reply, route, isTraced } = state
    const id = this.#idIn(state)
    // Nobody knows what a method would have done that is not served.
    const action = route.allowed ? state.action : undefined
    const outcome = outcomeOf(problem.status, reply)
    this.#writeFailure({ thrown, problem, status: problem.status }, reply, { action, id, outcome: state.outcome ?? outcome })
    if (action !== undefined && !isTraced && hasSubscribers()) {
      publishEvent({ request, resource: this.#name, action, id, outcome, error: thrown })
    }
  }

  /** Logs a handler that fails after it has sent its answer, which can no longer tell of the failure. */
  logLateFailure (thrown: unknown, { reply, action, id }: ActionState): void {
    // Whatever status the error has, the server has failed.
    const failure = { thrown, problem: describeError(thrown, 500), status: 500 }
    this.#writeFailure(failure, reply, { action, id, outcome: outcomeOf(500, reply) })
  }

  #writeFailure ({ thrown, problem, status }: Failure, reply: FastifyReply, what: Failed): void {
    const { action, outcome } = what
    const err = isOurs(thrown, problem) ? this.#describe(thrown, problem) : thrown
    const line = { resource: this.#name, ...what, err }
    const text = `${action === undefined ? this.#name : `${this.#name}#${action}`}: ${outcome}`
    // If the client has left, the failure is the client's: a store gives up its work for it.
    if (status < 500 || isClientGone(reply)) return reply.log.info(line, text)
    reply.log.error(line, text)
    // A message of ours may quote what the client has sent.
    printFailure(reply.log, text, isOurs(thrown, problem) ? thrown.code : thrown)
  }

  /** Without messages, which may quote what the client has sent; of attributes those that are declared, by their names. */
  #describe ({ code, errors, cause }: OurError, { status }: Problem): object {
    const { attributes } = this.#resource
    const names = Object.keys(errors ?? {}).map((path) => path.split('.', 1)[0] as string)
    return {
      code,
      statusCode: status,
      ...(errors !== undefined && { attributes: [...new Set(names)].filter((name) => attributes.has(name)) }),
      ...(cause !== undefined && { cause: { code: cause?.code, constraint: cause?.constraint } })
    }
  }

  #idIn ({ payload, member }: RequestState): Id | undefined {
    return payload?.id ?? (member === undefined ? undefined : parseId(this.#resource.idType, member))
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
  /** Of a database: SQLSTATE, and the constraint's name. */
  readonly cause?: { readonly code?: unknown, readonly constraint?: unknown } | null
}

/** Whether it is an error of ours that tells a client of its mistake. */
function isOurs (thrown: unknown, { status }: Problem): thrown is OurError {
  return status < 500 && String((thrown as Partial<OurError> | null | undefined)?.code).startsWith('FST_RESOURCES_')
}
