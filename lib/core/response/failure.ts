import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { findShown } from '../actions/authorize/authorize.js'
import { findRow } from '../actions/find-row.js'
import { describeError, type Problem } from '../errors.js'
import type { Row } from '../resource/row.js'
import { andThen, catchError, type MaybePromise } from '../util/maybe-promise.js'
import { findLists, listChoices } from './page-content.js'
import type { Payload } from '../request/payload.js'
import { hasGuards } from '../relations/hook-guards.js'
import { type RequestState, STATE } from '../request/state.js'
import { respondWithError } from './responder.js'
import { logFailure } from '../telemetry/action-log.js'
import { channel, publishEvent } from '../telemetry/tracing.js'

/** Compiles Fastify's error handler. `negotiate` makes the state of a request that failed before it had one. */
export function compileErrorHandler (
  negotiate: (request: FastifyRequest, reply: FastifyReply) => RequestState
): FastifyInstance['errorHandler'] {
  return (error, request, reply) => fail(error, request[STATE] ?? negotiate(request, reply))
}

/** Answers an error, whoever threw it. */
function fail (thrown: unknown, state: RequestState): MaybePromise<FastifyReply> {
  const { request, reply, isTraced, compiled: { name }, choice: { format: { writer } } } = state
  const problem = describeError(thrown, reply.statusCode)
  const { action, id, outcome } = logFailure(thrown, problem, state)
  // An action that is traced has its own events.
  if (action !== undefined && !isTraced && channel.hasSubscribers) {
    publishEvent({ request, resource: name, action, id, outcome, error: thrown })
  }
  // A document shows nothing beside the error.
  if (writer.document !== undefined) return respondWithError({ thrown, problem }, state)
  return andThen(findBar(problem, state), () =>
    andThen(findProblemRow(problem, state), (row) =>
      andThen(findFormChoices(problem, row, state), () => respondWithError({ thrown, problem, row }, state))))
}

/**
 * Finds the lists that the bar of an error page links to. It links to none before the request has passed the hooks of
 * the app, which may refuse strangers, and if the server has failed. Without a bar, nothing is asked.
 */
function findBar ({ status }: Problem, state: RequestState): MaybePromise<void> {
  const { compiled } = state
  if (status >= 500 || (!state.hasPassedHooks && hasGuards(compiled))) return
  return findLists(compiled.listChecks().filter(({ isOfBar }) => isOfBar), state)
}

/** The statuses of errors in the input. After another refusal, or a failure of the store, no row is read. */
const OF_SUPPLIED: ReadonlySet<number> = new Set([409, 422, 428])

/**
 * Finds the row of a form that is shown again after an error; without it the form shows only what was supplied. For
 * other pages, it finds the actions that the page must not offer.
 */
function findProblemRow (problem: Problem, state: RequestState): MaybePromise<Row | undefined> {
  const { choice: { format: { writer } }, compiled: { refusals, resource: { singleton } }, payload } = state
  if (isFormShown(problem, state)) return findFormRow(payload as Payload, state)
  // The pages of a missing singleton, and of a form whose row is missing, offer to create it.
  const canCreate = isGone(problem, state) || (singleton && problem.status === 404)
  if (refusals === undefined || !canCreate || writer.list !== undefined) return undefined
  return andThen(refusals.ofNothing(state.request), (refused) => {
    state.refused = refused
    return undefined
  })
}

/** Finds the rows that a form can reference that is shown again. Without them its fields take ids. */
function findFormChoices (problem: Problem, row: Row | undefined, state: RequestState): MaybePromise<void> {
  const { choices } = state.compiled.relations
  if (choices.length === 0 || !state.hasPassedHooks || !(isFormShown(problem, state) || isGone(problem, state))) {
    return undefined
  }
  return catchError<void>(() => listChoices(row, state), () => undefined)
}

/** Returns whether the error is shown in the form that was sent. */
function isFormShown ({ status }: Problem, { choice: { format }, payload }: RequestState): boolean {
  return format.browser === true && payload?.node !== undefined && OF_SUPPLIED.has(status)
}

/** Returns whether the row of a form does not exist. Then its page may offer to create the row again. */
function isGone ({ status }: Problem, { choice: { format }, payload }: RequestState): boolean {
  return status === 404 && format.browser === true && payload?.node !== undefined && payload.action === 'update'
}

function findFormRow ({ action, id }: Payload, state: RequestState): MaybePromise<Row | undefined> {
  if (action === 'create') return undefined
  const { compiled: { target }, checkAccess } = state
  return checkAccess === undefined
    ? catchError<Row | undefined>(() => findRow(target, id, state), () => undefined)
    : findShown(checkAccess, id, state, (target) => findRow(target, id, state))
}
