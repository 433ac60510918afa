import type { FastifyRequest } from 'fastify'
import type { Refused } from '../../actions/authorize/refused-actions.js'
import type { ActionOutcome } from '../../actions/outcome.js'
import type { Target } from '../../actions/target.js'
import type { Location } from '../../resource/location.js'
import type { Parameters } from '../../resource/path-pattern.js'
import type { CompiledCustomAction, Representation } from '../compiled-resource.js'
import type { RouteInfo } from '../route.js'
import type { FormatChoice } from './accept.js'
import type { Payload } from './payload.js'

/** What is known of a request on its way. */
export interface RequestState {
  readonly route: RouteInfo
  readonly choice: FormatChoice<Representation>
  readonly location: Location
  /** Of the path; of a shallow row also those that it tells. */
  parameters: Parameters
  /** Whether the path has a suffix that says the format. */
  readonly isSuffixed: boolean
  /** The id in the path of a member, its suffix taken off. */
  readonly member: string | undefined
  /** What is to be done; undefined as long as the body of a form, which may say it, has not been read. */
  action: string | undefined
  /** Set once the body has been read. */
  payload: Payload | undefined
  /** The action of the app's own that is asked for, once that is known. */
  customAction: CompiledCustomAction | undefined
  /** The parameters of the query, as that action has them. */
  query: Readonly<Record<string, unknown>>
  /** What may be read and written; undefined as long as the request has not been let in. */
  target: Target | undefined
  /** What a page of the answer does not offer; undefined: nobody has been asked. */
  refused: Refused | undefined
  /** Of a write what has become of it, once that is known. */
  outcome: ActionOutcome | undefined
  /** Whether the action answers, by the responder or by a handler of the app's own; else a hook of the app has. */
  isAnswered: boolean
  /** Whether it is told as an event. */
  isTraced: boolean
  /** The links that the app had set before the link to the next page was added; undefined: none was added. */
  linksBefore: ReadonlyArray<string | number> | undefined
}

/** Where a request keeps its state; decorated in our own scope alone. */
export const STATE: unique symbol = Symbol('fastify-resources.state')

interface Stateful extends FastifyRequest {
  [STATE]: RequestState | undefined
}

export function findState (request: FastifyRequest): RequestState | undefined {
  return (request as Stateful)[STATE]
}

export function keepState (request: FastifyRequest, state: RequestState): void {
  (request as Stateful)[STATE] = state
}
