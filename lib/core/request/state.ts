import { setMaxListeners } from 'node:events'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { CheckAccess } from '../actions/authorize/authorize.js'
import type { Relation } from '../relations/include/relation.js'
import type { ListQuery, Target } from '../actions/list.js'
import type { ActionOutcome, Outcome } from '../actions/outcome.js'
import type { Entries, ImportedFile } from '../formats/format.js'
import type { Location } from '../resource/location.js'
import type { Parameters } from '../resource/path-pattern.js'
import type { Id, Row, Scope } from '../resource/row.js'
import type { Attributes } from '../schema/types.js'
import type { Context, Transaction } from '../stores/store.js'
import type { BodyFormat, CompiledCustomAction, CompiledResource, Representation } from '../compiled-resource.js'
import type { RouteInfo } from '../routes/route.js'
import type { OpenCondition } from '../formats/form/condition.js'
import type { ContentType, FormatChoice } from './accept.js'
import type { QueryParameters } from './filter-query.js'
import type { KeyedWrite } from './keyed-write.js'
import type { Payload } from './payload.js'
import type { Preconditions, ReadConditions } from './preconditions.js'

/** A request of our routes, after `checkQuery`. */
export type ResourceRequest = FastifyRequest<{
  Params: Parameters
  Querystring: QueryParameters
  Body: Entries | undefined
}>

/** The result of the negotiation, from the headers and the path of a request. */
export interface Negotiated {
  readonly route: RouteInfo
  /** The format of the answer. If none is acceptable, the format of the error. */
  readonly choice: FormatChoice<Representation>
  readonly isAcceptable: boolean
  /** Whether a suffix of the path names the format. */
  readonly isSuffixed: boolean
  /** The path parameter with the id of the row, without its suffix. */
  readonly member: string | undefined
  /** The parsed Content-Type, or `undefined` if it is absent or malformed. */
  readonly contentType: ContentType | undefined
  /** The format that the content type names, or `undefined` if that is not read. */
  readonly body: BodyFormat | undefined
}

const NO_RELATIONS: readonly Relation[] = Object.freeze([])
const NO_ROWS: readonly Row[] = Object.freeze([])
const NO_MEMBERS: Readonly<Record<string, unknown>> = Object.freeze({})

/** What one attempt to act has learned. If the row changes meanwhile, the next attempt learns it again. */
export interface Attempt {
  /** The rows that the request may read and write: all of them until it is authorized. */
  readonly target: Target
  /** The row that `authorize` was shown. */
  readonly authorizedRow: Row | undefined
  /** The rows of the parents, as far as `authorize` allows to show them, from the outermost to the nearest. */
  parents: readonly Row[]
  /** The row of a singleton. */
  found?: Row
  /** The row that a patch was merged with. The write must find this version of it. */
  merged?: Row
  /** The row that the preconditions were compared with. A write must not replace another one. */
  checked?: Row
}

/** The call of a handler of the app. It is made once only, whatever happens to the row meanwhile. */
export interface HandlerCall {
  /** The guard that the handler was given. */
  readonly guard: { version: string | undefined, readonly scope: Scope }
  /** The page that the query of a list asks for. */
  readonly listQuery: ListQuery | undefined
  /** The outcome of `proceed()`. */
  proceeded: Outcome | undefined
}

/** The state of one request. It is also the context of the request's calls of a store. */
export class RequestState implements Context {
  readonly request: ResourceRequest
  readonly reply: FastifyReply
  readonly compiled: CompiledResource
  readonly negotiated: Negotiated
  /** The format of the answer. It changes once a query selects attributes. */
  choice: FormatChoice<Representation>
  /** The parameters of the path. A shallow row adds those of its parents. */
  parameters: Parameters
  /** The action; `undefined` until a form is read that may name another action than the route. */
  action: string | undefined
  /** The custom action that the request asks for. */
  customAction: CompiledCustomAction | undefined = undefined
  /** The payload, or `undefined` until the body is read. */
  payload: Payload | undefined = undefined
  /** The digest of the body, if requests with a key are kept and the request has a body. */
  bodyDigest: string | undefined = undefined
  /** The key in a form: its texts, of which there must be one. */
  formKey: unknown = undefined
  /** The write that is kept with the key of the request. */
  keyed: KeyedWrite | undefined = undefined
  /** The imported file, as far as it is read. */
  importing: ImportedFile | undefined = undefined
  /** The attributes supplied: those of the payload, or those with which the form for a new row begins. */
  attributes: Attributes = NO_MEMBERS
  /** The query, as the schema of the custom action converts it. */
  query: Readonly<Record<string, unknown>> = NO_MEMBERS
  /** The condition whose fields the page of a list shows. Its `error` says that it was refused. */
  openCondition: OpenCondition | undefined = undefined
  /** The relations whose rows the answer includes. */
  included: readonly Relation[] = NO_RELATIONS
  /** The id of the row that the request is about. */
  id: Id | undefined = undefined
  /** The demands of the headers and the form of a write on its row. */
  preconditions: Preconditions | undefined = undefined
  /** The demands of the headers of a GET on its answer. */
  readConditions: ReadConditions | undefined = undefined
  /** The attempt in progress. */
  attempt: Attempt
  /** The call of a handler of the app, or `undefined` before it. */
  call: HandlerCall | undefined = undefined
  /** The kind of the outcome of a write, as it is logged; `undefined` before that. */
  outcome: ActionOutcome | undefined = undefined
  /** Whether the request has passed the hooks before its handler. */
  hasPassedHooks = false
  /** Whether the action answers, through the responder or a handler of the app, and not a hook. */
  isAnswered = false
  /** Whether tracing events are published for the action. */
  isTraced = false
  /** The links that the app had set before the link to the next page; `undefined` if no such link was added. */
  linksBefore: ReadonlyArray<string | number> | undefined = undefined
  #location: Location | undefined = undefined
  #controller: AbortController | undefined = undefined
  #transaction: Transaction | undefined = undefined

  constructor (request: ResourceRequest, reply: FastifyReply, compiled: CompiledResource, negotiated: Negotiated) {
    const { route, body } = negotiated
    this.request = request
    this.reply = reply
    this.compiled = compiled
    this.negotiated = negotiated
    this.choice = negotiated.choice
    this.parameters = request.params
    this.action = route.formDecides && body?.reader.form === true ? undefined : route.action
    this.attempt = this.makeAttempt()
  }

  /** Makes a new attempt, which may act on any row of the store. */
  makeAttempt (): Attempt {
    return { target: this.compiled.target, authorizedRow: undefined, parents: NO_ROWS }
  }

  get route (): RouteInfo {
    return this.negotiated.route
  }

  /** The check that the request must pass before its action, or `undefined` if nothing restricts access. */
  get checkAccess (): CheckAccess | undefined {
    const { accessChecks } = this.compiled
    return this.route.isMember ? accessChecks.row : accessChecks.collection
  }

  /** The attributes with which the form for a new row begins, from the query. */
  get prefilled (): Attributes {
    return this.payload === undefined ? this.attributes : NO_MEMBERS
  }

  /** The transaction in which the stores are called, or `undefined` if there is none. */
  get openTransaction (): Transaction | undefined {
    return this.#transaction
  }

  /** Lets the calls of stores take part in a transaction, or in none. */
  join (transaction: Transaction | undefined): void {
    this.#transaction = transaction
  }

  get isCustom (): boolean {
    return this.customAction !== undefined
  }

  /** The paths of the resource for this request. They are computed when they are first needed. */
  get location (): Location {
    return (this.#location ??= this.compiled.findLocation(this.request.params))
  }

  /** Aborts when the client leaves. It is made when a store asks for it, because most stores never do. */
  get signal (): AbortSignal {
    if (this.#controller === undefined) {
      const { reply } = this
      const controller = (this.#controller = new AbortController())
      // A page can count many related lists at once, each with a listener of its own.
      setMaxListeners(0, controller.signal)
      if (reply.raw.destroyed || isClientGone(reply)) controller.abort()
      else reply.raw.once('close', () => { if (isClientGone(reply)) controller.abort() })
    }
    return this.#controller.signal
  }
}

/** The state of one row of a request with many rows: its payload, its access and its preconditions are its own. */
export class RowState extends RequestState {
  /** The number of rows of the request; `undefined` if it is a dry run of a request with one row. */
  readonly rows: number | undefined
  readonly dryRun: true | undefined
  readonly #whole: RequestState

  constructor (whole: RequestState, payload: Payload, { rows, dryRun }: Pick<RowState, 'rows' | 'dryRun'>) {
    super(whole.request, whole.reply, whole.compiled, whole.negotiated)
    this.#whole = whole
    this.rows = rows
    this.dryRun = dryRun
    this.action = payload.action ?? whole.action
    this.customAction = whole.customAction
    this.query = whole.query
    this.payload = payload
    this.attributes = payload.attributes
    this.id = payload.id
  }

  override get signal (): AbortSignal {
    return this.#whole.signal
  }
}

/** The state of a request whose action is known. */
export interface ActionState extends RequestState {
  action: string
}

/** The key of a request's state. Only our own scope decorates requests with it. */
export const STATE: unique symbol = Symbol('fastify-resources.state')

declare module 'fastify' {
  interface FastifyRequest {
    /** The state, or `undefined` before the negotiation. A hook of the app may refuse the request before that. */
    [STATE]?: RequestState | undefined
  }
}

/** Returns whether the client has left without its answer. */
export function isClientGone ({ raw }: FastifyReply): boolean {
  // A response of HTTP/2 is never destroyed, and always finished.
  const { stream } = raw as { readonly stream?: { readonly aborted: boolean } }
  return stream === undefined ? raw.destroyed && !raw.writableFinished : stream.aborted
}
