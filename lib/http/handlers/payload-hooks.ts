import { notFound } from '../../actions/target.js'
import { MalformedBodyError } from '../../errors.js'
import type { BodyFormat, CompiledCustomAction, CompiledResource } from '../compiled-resource.js'
import { checkQuery, refuseMethod } from '../request/negotiate.js'
import { type Payload, type ReadPayload, readMethod, type WriteAction } from '../request/payload.js'
import { type ActionState, type RequestState, stateOf } from '../request/state.js'
import type { PayloadHooks } from '../route.js'

const WRITE_ACTIONS: ReadonlyMap<string, WriteAction> = new Map([['POST', 'create'], ['DELETE', 'delete']])

/** Compiles the hooks that read and validate the payload of the default writes on one path. */
export function compilePayloadHooks (compiled: CompiledResource, actions: ReadonlySet<string>): PayloadHooks {
  const { validation } = compiled
  return {
    read (request, _reply, done) {
      const state = stateOf(request)
      const action = WRITE_ACTIONS.get(readMethodOf(state, compiled)) ?? 'update'
      if (!actions.has(action)) refuseAction(state)
      state.action = action
      readPayload(state, compiled, bodyOf(state, compiled).readPayload, action)
      done()
    },
    check (request, _reply, done) {
      const state = stateOf(request)
      const { action, attributes, issues, isRevised } = state.payload as Payload
      if (isRevised) checkRevisable(state)
      else if (action === 'create') validation.create(attributes, issues)
      else if (action === 'update') validation.update(attributes, issues)
      done()
    }
  }
}

/** Compiles the same hooks for the app's own writes on one path. */
export function compileCustomPayloadHooks (
  compiled: CompiledResource,
  byMethod: ReadonlyMap<string, CompiledCustomAction>
): PayloadHooks {
  return {
    read (request, _reply, done) {
      const state = stateOf(request)
      const action = byMethod.get(readMethodOf(state, compiled))
      if (action === undefined) return refuseAction(state)
      state.customAction = action
      state.action = action.name
      readPayload(state, compiled, action.payloadReader(bodyOf(state, compiled)), undefined)
      done()
    },
    check (request, _reply, done) {
      const state = stateOf(request)
      const { validate, readQuery, parameters } = state.customAction as CompiledCustomAction
      const { attributes, issues } = state.payload as Payload
      validate(attributes, issues)
      const { query } = state.request
      // The path of a form takes the parameters of each action that the form may ask for.
      if (state.route.formDecides) checkQuery(query, ['format', ...parameters])
      state.query = readQuery(query)
      done()
    }
  }
}

/** Reads a payload; the hooks of the app that follow see the same body, whatever format it came in. */
function readPayload (
  state: ActionState,
  { resource, isId }: CompiledResource,
  read: ReadPayload,
  action: WriteAction | undefined
): void {
  const { request, member } = state
  const payload = read(request.body ?? {}, { action, member, query: request.query.id })
  const { id, attributes } = payload
  if (id !== undefined && isId?.(id) === false) throw notFound(resource, id)
  state.payload = payload
  request.body = id === undefined ? { [resource.singular]: attributes } : { id, [resource.singular]: attributes }
}

function bodyOf ({ body }: RequestState, { bodiless }: CompiledResource): BodyFormat {
  return body ?? bodiless
}

function readMethodOf (state: RequestState, compiled: CompiledResource): string {
  return readMethod(state.request.method, state.request.body ?? {}, bodyOf(state, compiled).reader)
}

/** Refuses an action that a form asks for, and that its path does not serve. */
function refuseAction (state: RequestState): never {
  state.action = undefined
  refuseMethod(state.request, state.reply, state.route.allow)
}

/** @throws MalformedBodyError if the answer has no page that could show the form again */
function checkRevisable ({ choice: { format: { writer } } }: RequestState): void {
  if (writer.document !== undefined || writer.revised === undefined) {
    throw new MalformedBodyError('the form asks for other rows in it, which only a page can show')
  }
}
