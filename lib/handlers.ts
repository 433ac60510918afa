import type { FastifyReply, FastifyRequest, preValidationHookHandler, RouteHandlerMethod } from 'fastify'
import { notFound } from './actions/action.js'
import { create } from './actions/create.js'
import { remove } from './actions/delete.js'
import { list } from './actions/list.js'
import { revise } from './actions/revise.js'
import { show } from './actions/show.js'
import { update } from './actions/update.js'
import { RequestContext } from './context.js'
import { type Door, refuseMethod } from './door.js'
import { MalformedBodyError, MatchRequiredError } from './errors.js'
import type { Entries } from './formats/format.js'
import { findState, type Hall, type State } from './hall.js'
import type { Outcome } from './outcome.js'
import type { Payload } from './payload.js'
import { matchedVersions, parseEntityTags } from './preconditions.js'
import { parseLimit, type QueryParameters } from './query.js'
import { parseId } from './resource.js'
import type { Responder } from './respond.js'
import { settle } from './settle.js'
import type { Context, Guard, Id, MaybePromise } from './stores/store.js'

/** A version that no row has. */
const NONE = ''

export interface Handlers {
  readonly list: RouteHandlerMethod
  readonly show: RouteHandlerMethod
  readonly write: RouteHandlerMethod
  /** Reads and checks the payload of a write to the collection's path. */
  readonly readCollection: preValidationHookHandler
  /** The same of a write to a member's path. */
  readonly readMember: preValidationHookHandler
}

/** From a request to an action's arguments, and from its outcome to the responder. */
export function makeHandlers (hall: Hall, door: Door, responder: Responder): Handlers {
  const { options, resource, subject, validation, listing } = hall
  const { store, scope } = subject

  const send = (outcome: Outcome, request: FastifyRequest, reply: FastifyReply): FastifyReply => responder.send(outcome, request, reply)

  function answer (outcome: MaybePromise<Outcome>, request: FastifyRequest, reply: FastifyReply): unknown {
    return settle(outcome, send, request, reply)
  }

  function read (request: FastifyRequest): void {
    const state = findState(request) as State
    const { id: query } = request.query as QueryParameters
    const readPayload = door.bodyOf(request)?.readPayload ?? hall.readBodiless
    const payload = readPayload(request.body as Entries | undefined, { method: request.method, member: state.member, query })
    state.payload = payload
    // What the app's own hooks see from here on is the same, whatever it was sent as.
    request.body = payload.id === undefined ? { [resource.singular]: payload.attributes } : { id: payload.id, [resource.singular]: payload.attributes }
    if (payload.isRevised) return checkRevisable(state)
    if (payload.action === 'create') validation.create(payload.attributes, payload.issues)
    if (payload.action === 'update') validation.update(payload.attributes, payload.issues)
  }

  function act (payload: Payload, request: FastifyRequest, context: Context): MaybePromise<Outcome> {
    const { action, id, attributes, version, isRevised } = payload
    if (isRevised) return revise(subject, id, context)
    if (action === 'create') return create(subject, attributes, context)
    return settle(findGuard(id as Id, version, request, context), change, payload, context)
  }

  function change (guard: Guard, { action, id, attributes }: Payload, context: Context): MaybePromise<Outcome> {
    return action === 'update' ? update(subject, id as Id, attributes, guard, context) : remove(subject, id as Id, guard, context)
  }

  /** What `If-Match` and a form's `_version` demand together. */
  function findGuard (id: Id, formVersion: string | undefined, request: FastifyRequest, context: Context): MaybePromise<Guard> {
    const header = request.headers['if-match']
    if (options.requireMatch && header === undefined && formVersion === undefined) {
      return settle(store.get(id, scope, context), (row) => {
        throw row === undefined ? notFound(resource, id) : new MatchRequiredError(resource.singular)
      })
    }
    const matched = matchedVersions(parseEntityTags(header, 'If-Match'))
    const versions = formVersion === undefined ? matched : matched === undefined || matched.includes(formVersion) ? [formVersion] : []
    if (versions === undefined || versions.length < 2) return { version: versions === undefined ? undefined : versions[0] ?? NONE, scope }
    // The store compares one version in its atomic step: of several, the one that the row has.
    return settle(store.get(id, scope, context), (row) => ({ version: versions.find((version) => version === row?.version) ?? NONE, scope }))
  }

  return {
    list (request, reply) {
      const given = request.query as QueryParameters
      const query = given.blank === undefined ? given : listing.dropBlanks(given)
      // The links of the page name what was asked for, and no more.
      request.query = query
      const { choice } = findState(request) as State
      const pageSize = choice.format.writer.list === undefined ? options.pageSize : undefined
      const order = listing.parseOrder(query.sort)
      const wanted = { order, after: undefined, limit: parseLimit(query.limit, options.maxLimit) ?? pageSize, filter: listing.parseFilter(query) }
      const context = new RequestContext(reply)
      if (query.after === undefined) return answer(list(subject, wanted, context), request, reply)
      const place = listing.findPlace(query.after, order, scope, context)
      return answer(settle(place, (after) => list(subject, { ...wanted, after }, context)), request, reply)
    },
    show (request, reply) {
      const { member = '' } = findState(request) as State
      const id = parseId(resource.idType, member)
      if (id === undefined) throw notFound(resource, member)
      return answer(show(subject, id, new RequestContext(reply)), request, reply)
    },
    write (request, reply) {
      const { payload } = findState(request) as State
      return answer(act(payload as Payload, request, new RequestContext(reply)), request, reply)
    },
    readCollection (request, _reply, done) {
      read(request)
      done()
    },
    readMember (request, reply, done) {
      // A form is the only POST to a member: it stands for a PUT or a DELETE.
      const { form } = door.bodyOf(request)?.reader ?? { form: false }
      if (request.method === 'POST' && (!form || (request.body as Entries | undefined)?._method === undefined)) refuseMethod(request, reply, MEMBER_METHODS)
      read(request)
      done()
    }
  }
}

/** @throws MalformedBodyError where what is answered in has no page that could show the form again */
function checkRevisable ({ choice }: State): void {
  const { writer } = choice.format
  if (writer.document !== undefined || writer.revised === undefined) throw new MalformedBodyError('the form asks for other rows in it, which only a page can show')
}

const MEMBER_METHODS = 'GET, HEAD, PUT, PATCH, DELETE, OPTIONS'
