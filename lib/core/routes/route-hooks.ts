import type { FastifyRequest } from 'fastify'
import type { Negotiator } from '../request/negotiate.js'
import { STATE } from '../request/state.js'
import type { Route, RouteAction, RouteInfo } from './route.js'
import { callFor, type Hook, type Hooks } from '../options/hooks.js'

/**
 * Returns the hooks of a route: negotiation, payload reading, and the app's hooks of each action that the route serves.
 * A form names its action in its body, so the onRequest hooks of that action run right after the body is read.
 */
export function hooksOf (
  { actions, readPayload }: Route,
  negotiator: Negotiator,
  route: RouteInfo
): Hooks {
  const lists = new Map<string, Hook[]>()
  const add = (name: string, hook: Hook): void => { lists.set(name, [...lists.get(name) ?? [], hook]) }
  add('onRequest', negotiator.open(route) as Hook)
  if (readPayload !== undefined) add('preValidation', readPayload as Hook)
  if (route.hasQueryBody) add('preValidation', negotiator.readQuery(route) as Hook)
  // A request that the app answers before the negotiation has no state, and asks for no action.
  const asks = ({ isFor }: RouteAction) => (request: FastifyRequest): boolean => {
    const state = request[STATE]
    return state !== undefined && isFor(state)
  }
  for (const asked of route.formDecides ? actions : []) {
    for (const hook of asked.hooks.get('onRequest') ?? []) {
      add(
        'preValidation',
        callFor((request) => negotiator.isForm(request) && asks(asked)(request), hook)
      )
    }
  }
  for (const asked of actions) {
    for (const [name, list] of asked.hooks) {
      for (const hook of list) add(name, route.formDecides ? callFor(asks(asked), hook) : hook)
    }
  }
  return Object.fromEntries(lists) as Hooks
}
