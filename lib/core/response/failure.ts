import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { describeError, type Problem } from '../errors.js'
import { type RequestState, STATE } from '../request/state.js'
import { respondWithError } from './responder.js'
import { makeServices } from './services.js'
import type { PreparedProblem } from '../formats/format.js'
import { logFailure, printFailure } from '../telemetry/action-log.js'
import { channel, publishRefusal } from '../telemetry/tracing.js'

/** Compiles Fastify's error handler. `negotiate` makes the state of a request that failed before it had one. */
export function compileErrorHandler (
  negotiate: (request: FastifyRequest, reply: FastifyReply) => RequestState
): FastifyInstance['errorHandler'] {
  return (error, request, reply) => fail(error, request[STATE] ?? negotiate(request, reply))
}

/** Answers an error, whoever threw it. */
async function fail (thrown: unknown, state: RequestState): Promise<FastifyReply> {
  const { request, reply, isTraced, compiled: { name } } = state
  const problem = describeError(thrown, reply.statusCode)
  const { action, id, outcome } = logFailure(thrown, problem, state)
  // An action that is traced has its own events.
  if (action !== undefined && !isTraced && channel.hasSubscribers) {
    publishRefusal({ request, resource: name, action, id, outcome, error: thrown })
  }
  return respondWithError({ thrown, problem, prepared: await prepareProblem(problem, state) }, state)
}

/** Finds what the writer shows besides an error. If that fails, the error is answered alone. */
async function prepareProblem (problem: Problem, state: RequestState): Promise<PreparedProblem | undefined> {
  try {
    return await state.choice.format.writer.prepareProblem?.(problem, makeServices(state, undefined))
  } catch (error) {
    state.request.log.error({ err: error })
    printFailure(state.request.log, 'what belongs to an error could not be found', error)
    return undefined
  }
}
