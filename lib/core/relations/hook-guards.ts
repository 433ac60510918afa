import type { HookLists } from '../options/hooks.js'
import type { ResolvedOptions } from '../options/resolve/options.js'

/** The hooks that a request passes: those of the app, and those of the resource. */
export interface HookedResource {
  readonly options: ResolvedOptions
  /** Returns the hooks of the instance on which the resource is registered. They are complete once the app is ready. */
  readonly appHooks: () => HookLists
}

/** The hooks that a request has passed. */
export interface PassedHooks {
  readonly options: { readonly routing: { readonly hooks: HookLists } }
  readonly appHooks: () => HookLists
}

const GUARDS = ['onRequest', 'preParsing', 'preValidation', 'preHandler']

/** Returns whether an action has hooks of the app that a request of another resource does not pass. */
export function guardsMore (
  { options: { routing }, appHooks }: HookedResource,
  from: PassedHooks,
  action: string
): boolean {
  const passed = [from.appHooks(), from.options.routing.hooks]
  const lists: ReadonlyArray<HookLists | undefined> = [appHooks(), routing.hooks, routing.actionHooks.get(action)]
  return lists.some((hooks) => GUARDS.some((name) =>
    hooks?.get(name)?.some((hook) => !passed.some((hooks) => hooks.get(name)?.includes(hook) === true)) === true))
}

/** Returns whether the app has hooks that may refuse a request before its action. */
export function hasGuards ({ options: { routing: { hooks, actionHooks } }, appHooks }: HookedResource): boolean {
  return [appHooks(), hooks, ...actionHooks.values()].some((hooks) =>
    GUARDS.some((name) => (hooks.get(name) ?? []).length > 0))
}
