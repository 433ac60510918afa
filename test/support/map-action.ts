import type { ActionContext, ActionOptions, Handler } from '../../lib/index.js'

// Takes a handler of any resource, at any place in it.
export type AnyHandler = Handler<any, any, any>
export type AnyContext = ActionContext<any, any, any>

export type Stand = 'collection' | 'member' | 'new'
export type Verb = 'get' | 'post' | 'put' | 'patch' | 'delete'

type Declare = (this: unknown, name: string, options: ActionOptions, handler: AnyHandler) => unknown

/** Declares an action at a place and with a verb that are known only at run time. */
export function mapAction (
  mapper: object, on: Stand, verb: Verb, name: string, options: ActionOptions, handler: AnyHandler
): void {
  const stand = (mapper as Record<Stand, Record<Verb, Declare>>)[on]
  stand[verb](name, options, handler)
}
