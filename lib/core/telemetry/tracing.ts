import { type TracingChannel, tracingChannel } from 'node:diagnostics_channel'
import type { FastifyRequest } from 'fastify'
import type { ActionOutcome, Outcome } from '../actions/outcome.js'
import { describeError } from '../errors.js'
import type { Id } from '../resource/row.js'
import type { ActionState } from '../request/state.js'
import { idOf, outcomeKind, outcomeOf } from './action-log.js'

/**
 * An action, as the channels of `tracingChannel('fastify-resources.action')` publish it: one object for all events of a
 * request. `start` and `end` are published when an action begins, and `asyncStart` and `asyncEnd` when it is over, with
 * `error` before them if it was refused or has failed.
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
}

/** The channels of all actions. Without subscribers, no events are made. */
export const channel: TracingChannel<unknown, ActionEvent> = tracingChannel('fastify-resources.action')

/** Runs an action, and publishes its beginning and its outcome. */
export async function traceAction (
  state: ActionState,
  perform: () => Promise<Outcome | undefined>
): Promise<Outcome | undefined> {
  const { request, reply, action, id, compiled } = state
  state.isTraced = true
  const begun = performance.now()
  const event: ActionEvent = {
    request,
    resource: compiled.name,
    action,
    id,
    outcome: undefined,
    error: undefined,
    duration: undefined
  }
  const end = (outcome: ActionOutcome, id: Id | undefined): void => {
    Object.assign(event, { id, outcome, duration: performance.now() - begun })
  }
  let outcome: Outcome | undefined
  await channel.tracePromise(async () => {
    try {
      outcome = await perform()
      end(outcomeKind(outcome), idOf(outcome, state))
    } catch (error) {
      end(outcomeOf(describeError(error, reply.statusCode).status, reply), state.id)
      throw error
    }
  }, event)
  return outcome
}

/** Publishes an action that was refused before it began. */
export function publishRefusal (event: Omit<ActionEvent, 'duration'>): void {
  const refuse = async (): Promise<void> => { throw event.error }
  channel.tracePromise(refuse, { ...event, duration: 0 }).catch(() => {})
}
