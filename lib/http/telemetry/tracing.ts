import { tracingChannel } from 'node:diagnostics_channel'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ActionOutcome, Outcome } from '../../actions/outcome.js'
import { describeError } from '../../errors.js'
import { nameOf } from '../../resource/resource.js'
import type { Id } from '../../resource/row.js'
import { isPromise, type MaybePromise, catchError } from '../../util/maybe-promise.js'
import { type ActionState, isClientGone } from '../request/state.js'

/**
 * An action, as the channels of `tracingChannel('fastify-resources.action')` publish it: one object for all events of a
 * request. `start` and `end` are published for every action. If it returns a promise, `end` comes before it is over,
 * and `asyncStart` and `asyncEnd` afterwards.
 */
export interface ActionEvent {
  /** The request that has asked for it. */
  readonly request: FastifyRequest
  /** `posts`; of a singleton `profile`. */
  readonly resource: string
  /** `list`, `update`, `publish` */
  readonly action: string
  /** The id of the row that the action is about; a create has it once the row exists. */
  id: Id | undefined
  /** Undefined as long as it is not over. */
  outcome: ActionOutcome | undefined
  /** What was thrown where it was refused or has failed, as it is told on `error`. */
  error: unknown
  /**
   * In milliseconds, from the handler's beginning until the outcome is known: of a list until its first rows are there,
   * and without the writing of the answer. 0 of what was refused before it began. Undefined as long as it is not over.
   */
  duration: number | undefined
  /** Whether it answers by a promise, and is over on `asyncEnd`; else it is on `end`. */
  async: boolean
}

const channel = tracingChannel<unknown, ActionEvent>('fastify-resources.action')

/** Returns whether anybody listens. */
export function hasSubscribers (): boolean {
  return channel.hasSubscribers
}

/** Runs an action, and publishes its beginning and its outcome. */
export function traceAction (
  state: ActionState,
  perform: () => MaybePromise<Outcome | undefined>
): MaybePromise<Outcome | undefined> {
  state.isTraced = true
  return new Trace(state).run(perform)
}

/** Publishes an action that was refused before it began. */
export function publishEvent (
  event: Pick<ActionEvent, 'request' | 'resource' | 'action' | 'id' | 'outcome' | 'error'>
): void {
  const whole: ActionEvent = { ...event, duration: 0, async: false }
  channel.start.runStores(whole, () => {
    channel.error.publish(whole)
    channel.end.publish(whole)
  })
}

class Trace {
  readonly #state: ActionState
  readonly #event: ActionEvent
  readonly #begun = performance.now()

  constructor (state: ActionState) {
    const { request, action, id, compiled } = state
    this.#state = state
    this.#event = {
      request,
      resource: nameOf(compiled.resource),
      action,
      id,
      outcome: undefined,
      error: undefined,
      duration: undefined,
      async: false
    }
  }

  run (perform: () => MaybePromise<Outcome | undefined>): MaybePromise<Outcome | undefined> {
    return channel.start.runStores(this.#event, () => {
      try {
        const outcome = catchError(perform, (error) => this.#fail(error))
        this.#event.async = isPromise(outcome)
        return isPromise(outcome) ? this.#wait(outcome) : this.#succeed(outcome)
      } finally {
        channel.end.publish(this.#event)
      }
    })
  }

  async #wait (outcome: PromiseLike<Outcome | undefined>): Promise<Outcome | undefined> {
    try {
      return this.#succeed(await outcome)
    } finally {
      channel.asyncStart.publish(this.#event)
      channel.asyncEnd.publish(this.#event)
    }
  }

  #succeed (outcome: Outcome | undefined): Outcome | undefined {
    this.#end(outcomeKind(outcome), idOf(outcome, this.#state))
    return outcome
  }

  #fail (error: unknown): never {
    const { reply, id } = this.#state
    this.#event.error = error
    this.#end(outcomeOf(describeError(error, reply.statusCode).status, reply), id)
    channel.error.publish(this.#event)
    throw error
  }

  #end (outcome: ActionOutcome, id: Id | undefined): void {
    Object.assign(this.#event, { id, outcome, duration: performance.now() - this.#begun })
  }
}

export function outcomeKind (outcome: Outcome | undefined): ActionOutcome {
  return outcome === undefined ? 'sent' : outcome.kind
}

/** Returns the id of the row that was asked for, or else of the one that was written. */
export function idOf (outcome: Outcome | undefined, { id }: ActionState): Id | undefined {
  return id ?? (outcome?.kind === 'created' || outcome?.kind === 'updated' ? outcome.row.id : undefined)
}

export function outcomeOf (status: number, reply: FastifyReply): ActionOutcome {
  if (status < 500) return 'refused'
  return isClientGone(reply) ? 'aborted' : 'failed'
}
