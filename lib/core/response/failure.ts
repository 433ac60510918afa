import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { describeError } from '../errors.js'
import { type RequestState, STATE } from '../request/state.js'
import { respondWithError } from './responder.js'
import { makeServices } from './services.js'
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
  const { request, reply, isTraced, compiled: { name } } = state
  const problem = describeError(thrown, reply.statusCode)
  const { action, id, outcome } = logFailure(thrown, problem, state)
  // An action that is traced has its own events.
  if (action !== undefined && !isTraced && channel.hasSubscribers) {
    publishRefusal({ request, resource: name, action, id, outcome, error: thrown })
  }
  const prepared = await state.choice.format.writer.prepareProblem?.(problem, makeServices(state, undefined))
  return respondWithError({ thrown, problem, prepared }, state)
}
