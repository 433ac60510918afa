import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Subject } from './actions/action.js'
import { RequestContext } from './context.js'
import type { State } from './hall.js'
import type { Outcome } from './outcome.js'
import type { Id, Stored } from './stores/store.js'

/** A request on its way through an action: what it is about, and what has been found out. It is the context of a store's calls. */
export class Job extends RequestContext {
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  readonly state: State
  readonly action: string
  /** Of the row that it is about. */
  id: Id | undefined
  /** What may be read and written; set when the request has been let in. */
  subject: Subject
  /** The row that `authorize` has looked at. */
  seen: Stored | undefined
  /** What has come of `proceed()`. */
  proceeded: Outcome | undefined
  /** How often it has been begun. */
  tries = 0

  get isOwn (): boolean {
    return this.state.own !== undefined
  }

  constructor (request: FastifyRequest, reply: FastifyReply, state: State, action: string, id: Id | undefined, subject: Subject) {
    super(reply)
    this.request = request
    this.reply = reply
    this.state = state
    this.action = action
    this.id = id
    this.subject = subject
  }
}
