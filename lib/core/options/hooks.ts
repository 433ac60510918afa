import type { FastifyInstance, FastifyRequest, RouteShorthandOptions } from 'fastify'
import { InvalidOptionError } from '../errors.js'
import { checkEach, checkKnown, checkObject, isFunction } from '../util/check-option.js'

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

/** The name of a hook of a route. */
export type HookName = (typeof HOOKS)[number]

/** Hooks as Fastify takes them for a route. Each may be a list. */
export type Hooks = Pick<RouteShorthandOptions, HookName>

/** Any hook. Its parameters depend on its name. */
export type Hook = (this: unknown, request: FastifyRequest, ...rest: unknown[]) => unknown

/** Lists of hooks by their names. */
export type HookLists = ReadonlyMap<string, readonly Hook[]>

/**
 * Checks hooks, and returns a list for each name.
 * @throws InvalidOptionError
 */
export function checkHooks (option: string, given: unknown, known: readonly string[] = HOOKS): HookLists {
  const all = checkObject(option, given, 'hooks such as { onRequest (request, reply, done) { … } }')
  return checkEach(all, (name, hooks) => {
    checkKnown(option, name, known)
    const list = [hooks].flat()
    if (!list.every(isFunction<Hook>)) {
      throw new InvalidOptionError(option, `has "${name}", which must be a function, or a list of them`)
    }
    // Fastify refuses such hooks of a route, but does not see those of single actions.
    if (list.some((hook) => hook.constructor.name === 'AsyncFunction' && hook.length === lengthWithDone(name))) {
      throw new InvalidOptionError(option, `has "${name}", which is async and has "done" as a parameter; omit either`)
    }
    return list
  })
}

/** Returns the number of parameters of a hook with the last one, `done`. */
function lengthWithDone (name: string): number {
  if (name === 'onRequestAbort') return 2
  return ['preParsing', 'preSerialization', 'onSend', 'onError'].includes(name) ? 4 : 3
}

/**
 * The hooks that an action may have. `preParsing` is not among them, because a form's action is known only after
 * parsing.
 */
export const ACTION_HOOKS: readonly string[] = HOOKS.filter((name) => name !== 'preParsing')

/**
 * Checks hooks by action, and returns their lists for each action.
 * @throws InvalidOptionError
 */
export function checkActionHooks (
  option: string,
  given: unknown,
  actions: readonly string[]
): ReadonlyMap<string, HookLists> {
  const all = checkObject(option, given, 'hooks by action such as { create: { preHandler () { … } } }')
  return checkEach(all, (action, hooks) => {
    checkKnown(option, action, actions)
    return checkHooks(option, hooks, ACTION_HOOKS)
  })
}

/** Joins the hooks of each name, the outer ones first. */
export function joinHooks (lists: readonly HookLists[]): HookLists {
  const joined = new Map<string, readonly Hook[]>()
  for (const hooks of lists) {
    for (const [name, list] of hooks) joined.set(name, [...joined.get(name) ?? [], ...list])
  }
  return joined
}

export function addHooks (app: FastifyInstance, hooks: HookLists): void {
  // `addHook` has a signature for each name. `checkHooks` has checked the names.
  for (const [name, list] of hooks) for (const hook of list) app.addHook(name as 'onRequest', hook as never)
}

/** Returns a hook that runs only for certain requests. For others it calls `done`, the last parameter of each hook. */
export function callFor (isFor: (request: FastifyRequest) => boolean, hook: Hook): Hook {
  return function (request, ...rest) {
    return isFor(request) ? hook.call(this, request, ...rest) : (rest.at(-1) as () => void)()
  }
}
