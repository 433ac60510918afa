import { type TracingChannel, tracingChannel } from 'node:diagnostics_channel'
import type { FastifyRequest } from 'fastify'
import type { ActionOutcome, Outcome } from '../actions/outcome.js'
import { describeError } from '../errors.js'
import type { Id } from '../resource/row.js'
import { isPromise, type MaybePromise, catchError } from '../util/maybe-promise.js'
import type { ActionState } from '../request/state.js'
import { idOf, outcomeKind, outcomeOf } from './action-log.js'

/**
 * An action, as the channels of `tracingChannel('fastify-resources.action')` publish it: one object for all events of a
 * request. `start` and `end` are published for every action. If the action returns a promise, `end` comes before it is
 * over, and `asyncStart` and `asyncEnd` afterwards.
 */
export interface ActionEvent {
  /** The request that asks for the action. */
  readonly request: FastifyRequest
  /** The name of the resource: `posts`, or `profile` for a singleton. */
  readonly resource: string
  /** The name of the action: `list`, `update`, `publish`. */
  readonly action: string
  /** The id of the row that the action is about; a create has it once the row exists. */
  id: Id | undefined
  /** The outcome, or `undefined` until the action is over. */
  outcome: ActionOutcome | undefined
  /** The thrown value if the action was refused or failed, as published on `error`. */
  error: unknown
  /**
   * The time in milliseconds from the start of the action until its outcome is known, without the writing of the
   * answer. A list is timed until its first rows are read. 0 if the action was refused before it began; `undefined`
   * until it is over.
   */
  duration: number | undefined
  /** Whether the action returns a promise, and is over on `asyncEnd`. Otherwise it is over on `end`. */
  async: boolean
}

/** The channels of all actions. Without subscribers, no events are made. */
export const channel: TracingChannel<unknown, ActionEvent> = tracingChannel('fastify-resources.action')

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
      resource: compiled.name,
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
