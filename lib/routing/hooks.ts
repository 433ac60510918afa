import type { FastifyInstance, FastifyRequest, RouteShorthandOptions } from 'fastify'
import { InvalidOptionError } from '../errors.js'
import { checkKnown, checkObject } from '../util/check-option.js'

const HOOKS = [
  'onRequest',
  'preParsing',
  'preValidation',
  'preHandler',
  'preSerialization',
  'onSend',
  'onResponse',
  'onTimeout',
  'onError',
  'onRequestAbort'
] as const

/** What a hook of a route is called. */
export type HookName = (typeof HOOKS)[number]

/** Hooks as Fastify takes them for a route; each may be a list. */
export type Hooks = Pick<RouteShorthandOptions, HookName>

/** What a hook is called with differs from one to the other: we hand it on. */
export type Hook = (this: unknown, request: FastifyRequest, ...rest: unknown[]) => unknown

/** Hooks by their names, each a list. */
export type HookLists = ReadonlyMap<HookName, readonly Hook[]>

/** @throws InvalidOptionError */
export function checkHooks (option: string, given: unknown, known: readonly string[] = HOOKS): HookLists {
  const all = checkObject(option, given, 'hooks such as { onRequest (request, reply, done) { … } }')
  return new Map(Object.entries(all).filter(([, hooks]) => hooks !== undefined).map(([name, hooks]) => {
    checkKnown(option, name, known)
    const list = [hooks].flat()
    if (!list.every((hook) => typeof hook === 'function')) {
      throw new InvalidOptionError(option, `has "${name}", which must be a function, or a list of them`)
    }
    return [name as HookName, list as Hook[]]
  }))
}

/** Those of an action: a body is parsed before it is known which one a form asks for. */
export const OF_ACTIONS: readonly string[] = HOOKS.filter((name) => name !== 'preParsing')

/** @throws InvalidOptionError */
export function checkActionHooks (
  option: string,
  given: unknown,
  actions: readonly string[]
): ReadonlyMap<string, HookLists> {
  const all = checkObject(option, given, 'hooks by action such as { create: { preHandler () { … } } }')
  return new Map(Object.entries(all).filter(([, hooks]) => hooks !== undefined).map(([action, hooks]) => {
    checkKnown(option, action, actions)
    return [action, checkHooks(option, hooks, OF_ACTIONS)]
  }))
}

/** All of each name, the outer ones first. */
export function joinHooks (lists: readonly HookLists[]): HookLists {
  const joined = new Map<HookName, readonly Hook[]>()
  for (const hooks of lists) {
    for (const [name, list] of hooks) joined.set(name, [...joined.get(name) ?? [], ...list])
  }
  return joined
}

/** For all routes of a scope of ours. */
export function addHooks (app: FastifyInstance, hooks: HookLists): void {
  // Each hook was given under its name.
  for (const [name, list] of hooks) for (const hook of list) app.addHook(name as 'onRequest', hook as never)
}

/**
 * The hook for those requests that it is for; the others go on at once, by the function that each hook is called with
 * last.
 */
export function callFor (isFor: (request: FastifyRequest) => boolean, hook: Hook): Hook {
  return function (request, ...rest) {
    return isFor(request) ? hook.call(this, request, ...rest) : (rest.at(-1) as () => void)()
  }
}
