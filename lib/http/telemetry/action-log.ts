import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ActionOutcome, Outcome } from '../../actions/outcome.js'
import { describeError, type Problem } from '../../errors.js'
import { nameOf, parseId, type Resource } from '../../resource/resource.js'
import type { Id } from '../../resource/row.js'
import type { MaybePromise } from '../../util/maybe-promise.js'
import { isClientGone } from '../request/client-gone.js'
import type { Job } from '../request/job.js'
import type { RequestState } from '../request/state.js'
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

  /** Whether actions are to be traced: mostly nobody listens, and then it must cost nothing. */
  get hasSubscribers (): boolean {
    return hasSubscribers()
  }

  trace (job: Job, perform: () => MaybePromise<Outcome | undefined>): MaybePromise<Outcome | undefined> {
    return traceAction(this.#name, job, perform)
  }

  /** A line for a write that has come to something. */
  logOutcome (outcome: Outcome | undefined, job: Job): void {
    const { state, reply, action } = job
    if (state.route.safe) return
    const kind = (state.outcome = outcomeKind(outcome))
    reply.log.info(
      { resource: this.#name, action, id: idOf(outcome, job), outcome: kind },
      `${this.#name}#${action}: ${kind}`
    )
  }

  /** A line, and an event where there has been none, for whatever has been refused or has failed. */
  logFailure (
    thrown: unknown,
    problem: Problem,
    request: FastifyRequest,
    reply: FastifyReply,
    state: RequestState
  ): void {
    const id = this.#idIn(state)
    // Of a method that is not served nobody knows what it would have done.
    const action = state.route.allowed ? state.action : undefined
    const outcome = outcomeOf(problem.status, reply)
    this.#writeFailure(thrown, problem, reply, problem.status, state.outcome ?? outcome, action, id)
    if (action !== undefined && !state.isTraced && hasSubscribers()) {
      publishEvent({ request, resource: this.#name, action, id, outcome, error: thrown })
    }
  }

  /** A line for what fails once it has been answered, which no answer can tell of any more. */
  logLateFailure (thrown: unknown, { reply, action, id }: Job): void {
    this.#writeFailure(thrown, describeError(thrown, 500), reply, 500, outcomeOf(500, reply), action, id)
  }

  #writeFailure (
    thrown: unknown,
    problem: Problem,
    reply: FastifyReply,
    status: number,
    outcome: ActionOutcome,
    action: string | undefined,
    id: Id | undefined
  ): void {
    const name = action === undefined ? this.#name : `${this.#name}#${action}`
    const line = {
      resource: this.#name,
      action,
      id,
      outcome,
      err: isOurs(thrown, problem) ? this.#describe(thrown, problem) : thrown
    }
    // Of a client that has gone, the failure is the client's: a store gives up what it does for it.
    const text = `${name}: ${outcome}`
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
