import type { RouteOptions } from 'fastify'
import type { Schema } from '../schema/types.js'
import type { Handler } from './handler.js'
import type { HookLists } from './hooks.js'

export type Verb = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** Where an action of the app's own stands: `/posts/recent`, `/posts/1/publish`, `/posts/new/preview`. */
export type ActionScope = 'collection' | 'member' | 'new'

/** An action of the app's own: checked, complete. */
export interface CustomAction {
  readonly name: string
  readonly verb: Verb
  readonly on: ActionScope
  readonly segment: string
  readonly handler: Handler
  /** The schema of what may be supplied; undefined: attributes of the resource. */
  readonly attributes: Schema | undefined
  /** The schema of the parameters of the query. */
  readonly query: Schema | undefined
  readonly hooks: HookLists
  readonly routeConstraints: NonNullable<RouteOptions['constraints']>
  /** What the button or the link says; undefined: made of the name. False: pages have none. */
  readonly label: string | false | undefined
}
