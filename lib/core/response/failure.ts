import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { findShown } from '../actions/authorize/authorize.js'
import { findRow } from '../actions/find-row.js'
import type { Target } from '../actions/target.js'
import { describeError, type Problem } from '../errors.js'
import type { Row } from '../resource/row.js'
import { findLists, listChoices } from './page-content.js'
import type { Payload } from '../request/payload.js'
import { hasGuards } from '../relations/hook-guards.js'
import { type RequestState, STATE } from '../request/state.js'
import { respondWithError } from './responder.js'
import { logFailure } from '../telemetry/action-log.js'
import { channel, publishRefusal } from '../telemetry/tracing.js'

/** Compiles Fastify's error handler. `negotiate` makes the state of a request that failed before it had one. */
export function compileErrorHandler (
  negotiate: (request: FastifyRequest, reply: FastifyReply) => RequestState
): FastifyInstance['errorHandler'] {
  return (error, request, reply) => fail(error, request[STATE] ?? negotiate(request, reply))
}

/** Answers an error, whoever threw it. */
async function fail (thrown: unknown, state: RequestState): Promise<FastifyReply> {
  const { request, reply, isTraced, compiled: { name }, choice: { format: { writer } } } = state
  const problem = describeError(thrown, reply.statusCode)
  const { action, id, outcome } = logFailure(thrown, problem, state)
  // An action that is traced has its own events.
  if (action !== undefined && !isTraced && channel.hasSubscribers) {
    publishRefusal({ request, resource: name, action, id, outcome, error: thrown })
  }
  // A document shows nothing beside the error.
  if (writer.document !== undefined) return respondWithError({ thrown, problem }, state)
  await findBar(problem, state)
  const row = await findProblemRow(problem, state)
  await findFormChoices(problem, row, state)
  return respondWithError({ thrown, problem, row }, state)
}

/**
 * Finds the lists that the bar of an error page links to. It links to none before the request has passed the hooks of
 * the app, which may refuse strangers, and if the server has failed. Without a bar, nothing is asked.
 */
async function findBar ({ status }: Problem, state: RequestState): Promise<void> {
  const { compiled } = state
  if (status >= 500 || (!state.hasPassedHooks && hasGuards(compiled))) return
  await findLists(compiled.listChecks().filter(({ isOfBar }) => isOfBar), state)
}

/** The statuses of errors in the input. After another refusal, or a failure of the store, no row is read. */
const OF_SUPPLIED: ReadonlySet<number> = new Set([409, 422, 428])

/**
 * Finds the row of a form that is shown again after an error; without it the form shows only what was supplied. For
 * other pages, it finds the actions that the page must not offer.
 */
async function findProblemRow (problem: Problem, state: RequestState): Promise<Row | undefined> {
  const { choice: { format: { writer } }, compiled: { refusals, resource: { singleton } }, payload } = state
  if (isFormShown(problem, state)) return findFormRow(payload as Payload, state)
  // The pages of a missing singleton, and of a form whose row is missing, offer to create it.
  const canCreate = isGone(problem, state) || (singleton && problem.status === 404)
  if (refusals === undefined || !canCreate || writer.list !== undefined) return undefined
  state.refused = await refusals.ofNothing(state.request)
  return undefined
}

/** Finds the rows that a form can reference that is shown again. Without them its fields take ids. */
async function findFormChoices (problem: Problem, row: Row | undefined, state: RequestState): Promise<void> {
  const { choices } = state.compiled.relations
  if (choices.length === 0 || !state.hasPassedHooks || !(isFormShown(problem, state) || isGone(problem, state))) {
    return
  }
  try {
    await listChoices(row, state)
  } catch {}
}

/** Returns whether the error is shown in the form that was sent. */
function isFormShown ({ status }: Problem, { choice: { format }, payload }: RequestState): boolean {
  return format.browser === true && payload?.node !== undefined && OF_SUPPLIED.has(status)
}

/** Returns whether the row of a form does not exist. Then its page may offer to create the row again. */
function isGone ({ status }: Problem, { choice: { format }, payload }: RequestState): boolean {
  return status === 404 && format.browser === true && payload?.node !== undefined && payload.action === 'update'
}

async function findFormRow ({ action, id }: Payload, state: RequestState): Promise<Row | undefined> {
  if (action === 'create') return undefined
  const { compiled: { target }, checkAccess } = state
  const find = async (target: Target): Promise<Row | undefined> => findRow(target, id, state)
  return checkAccess === undefined ? find(target).catch(() => undefined) : findShown(checkAccess, id, state, find)
}
