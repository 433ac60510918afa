import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ListQuery } from '../../actions/list.js'
import type { Outcome } from '../../actions/outcome.js'
import type { Target } from '../../actions/target.js'
import type { Id, Scope, Row } from '../../resource/row.js'
import { RequestContext } from './client-gone.js'
import type { Preconditions } from './preconditions.js'
import type { RequestState } from './state.js'

/** A request on its way through an action: what it is about, and what has been found out. It is the context of a store's calls. */
export class Job extends RequestContext {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly state: RequestState
  readonly action: string
  /** Of the row that it is about. */
  id: Id | undefined
  /** What may be read and written; set when the request has been let in. */
  target: Target
  /** The row that `authorize` has looked at. */
  authorizedRow: Row | undefined
  /** What a write's headers and form demand of the row; undefined: nothing. */
  preconditions: Preconditions | undefined
  /** The row of a singleton. */
  found: Row | undefined
  /** The row that the preconditions have been compared with: nothing else is to be written over. */
  checked: Row | undefined
  /** What has come of `proceed()`. */
  proceeded: Outcome | undefined
  /** What the handler of the app's own was told that its writes must demand of the row. */
  guard: { version: string | undefined; readonly scope: Scope } | undefined
  /** Whether a handler of the app's own has been called: it is called once, whatever happens to the row meanwhile. */
  isHandled = false
  /** Of a list that the app's own handler makes, which rows the query asks for. */
  listQuery: ListQuery | undefined
  /** How often it has been begun. */
  tries = 0

  get isCustom (): boolean {
    return this.state.customAction !== undefined
  }

  constructor (
    request: FastifyRequest,
    reply: FastifyReply,
    state: RequestState,
    action: string,
    id: Id | undefined,
    target: Target
  ) {
    super(reply)
    this.request = request
    this.reply = reply
    this.state = state
    this.action = action
    this.id = id
    this.target = target
  }
}
