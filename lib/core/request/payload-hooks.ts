import type { FastifyBodyParser, FastifyReply, preValidationHookHandler } from 'fastify'
import { notFound } from '../modes.js'
import { InvalidError, InvalidMethodError } from '../errors.js'
import type { Entries, Reader } from '../formats/format.js'
import type { BodyFormat, CompiledCustomAction, CompiledResource } from '../compiled-resource.js'
import { refuseMethod } from './negotiate.js'
import type { Payload, WriteAction } from './payload.js'
import { checkRows, IDS, makeRowsPayload } from './rows.js'
import { type ActionState, type RequestState, STATE } from './state.js'

/** Compiles Fastify's parser of bodies. An empty body counts as no body. */
export function compileBodyParser (reader: Reader): FastifyBodyParser<Buffer> {
  return (_request, body, done) => { done(null, body.length === 0 ? undefined : reader.parse(body)) }
}

/** Fastify's parser of the bodies of QUERY, which are no payload. */
export const keepBody: FastifyBodyParser<Buffer> = (_request, body, done) => { done(null, body) }

/** Returns a parser that keeps the bodies of QUERY, and parses others. */
export function keepQuery (parse: FastifyBodyParser<Buffer>): FastifyBodyParser<Buffer> {
  return (request, body, done) =>
    request.method === 'QUERY' ? keepBody(request, body, done) : parse(request, body, done)
}

/** Compiles a function that finds the default write that a method asks for, if it is one of these actions. */
export function compileFindWrite (actions: ReadonlySet<string>): (method: string) => WriteAction | undefined {
  return (method) => {
    const action = method === 'POST' ? 'create' : method === 'DELETE' ? 'delete' : 'update'
    return actions.has(action) ? action : undefined
  }
}

/**
 * Compiles the hook that reads the payload of the writes on one path. The app's later hooks see the same body for every
 * format.
 * @param find finds the action that a method asks for, a default one or one of the app's own
 * @param hasManyRows whether requests for an action of the app name several rows
 */
export function compilePayloadHook (
  { resource, isId, bodiless }: CompiledResource,
  find: (method: string) => WriteAction | CompiledCustomAction | undefined,
  hasManyRows = false
): preValidationHookHandler {
  const { singular } = resource
  return ({ [STATE]: given }, reply, done) => {
    const state = given as ActionState
    const { request, negotiated: { member, body = bodiless } } = state
    // A form without fields has no members, like a request without a body.
    const { body: entries = {} } = request
    const asked = find(readMethod(request.method, entries, body.reader))
    if (asked === undefined) return refuseAction(state)
    const isDefault = typeof asked === 'string'
    state.action = isDefault ? asked : asked.name
    state.customAction = isDefault ? undefined : asked
    if (isDefault ? member === undefined : hasManyRows) {
      state.payload = readRows(state, asked, body, entries)
      if (state.payload !== undefined) return done()
      if (!isDefault) throw new InvalidError({ id: ['must be a list of ids'] })
    }
    const read = isDefault ? body.readPayload : asked.payloadReader(body)
    const payload = read(entries, { action: isDefault ? asked : undefined, member, query: request.query.id })
    const { id, attributes } = payload
    noteIgnored(payload, reply)
    if (id !== undefined && isId?.(id) === false) throw notFound(resource, id)
    state.payload = payload
    state.attributes = attributes
    // A literal with a computed name would add a twentieth to an update's time (`npm run bench -- in-process`).
    const shown: Record<string, unknown> = {}
    if (id !== undefined) shown.id = id
    shown[singular] = attributes
    request.body = shown
    done()
  }
}

/**
 * Reads the rows of a request with many rows, if it is one. The app's later hooks see them as
 * `{ posts: [{ id, post }] }`, without those that cannot be read.
 * @throws ManyRowsError, TooManyRowsError, MalformedBodyError, InvalidError
 */
function readRows (
  state: ActionState,
  asked: WriteAction | CompiledCustomAction,
  body: BodyFormat,
  entries: Entries
): Payload | undefined {
  const { request, reply, compiled } = state
  const { resource, resource: { plural, singular }, options: { store, maxRows, routing } } = compiled
  const [action, findRows] = typeof asked === 'string' ? [asked, body.findRows] : [undefined, asked.rowsFinder(body)]
  const { id, [IDS]: ids } = request.query as { readonly id?: string, readonly [IDS]?: string | readonly string[] }
  const found = findRows(entries, { action, query: id, ids: ids === undefined ? undefined : [ids].flat() })
  if (found === undefined) return undefined
  const isReplaced = action !== undefined && routing.handlers.has(action) && !routing.manyRows.has(action)
  checkRows(found.count, state.action, { resource, store, maxRows, isReplaced, headers: request.headers })
  const payload = makeRowsPayload(action, found.read())
  noteIgnored(payload, reply)
  request.body = {
    [plural]: (payload.rows ?? []).flatMap(({ payload }) => payload === undefined
      ? []
      : [{ ...(payload.id !== undefined && { id: payload.id }), [singular]: payload.attributes }])
  }
  return payload
}

function noteIgnored ({ ignored }: Payload, reply: FastifyReply): void {
  if (ignored.length > 0) reply.header('ignored-attributes', ignored.map(encodeURIComponent).join(', '))
}

/** Refuses an action that a form asks for, and that its path does not serve. */
function refuseAction (state: RequestState): never {
  state.action = undefined
  refuseMethod(state.request, state.reply, state.route.allow)
}

/**
 * Returns the method that a body asks for. A form can only POST: its `_method` names another one.
 * @throws InvalidMethodError
 */
function readMethod (method: string, entries: Entries, reader: Reader): string {
  if (!reader.form || entries._method === undefined) return method
  if (method !== 'POST') throw new InvalidMethodError('"_method" is allowed in a POST only; leave it out')
  const value = reader.scalar(entries._method)
  const override = typeof value === 'string' ? value.toUpperCase() : ''
  if (override !== 'PUT' && override !== 'DELETE') {
    throw new InvalidMethodError('"_method" must be PUT or DELETE, and given once')
  }
  return override
}
