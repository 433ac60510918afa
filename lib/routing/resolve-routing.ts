import type { RouteOptions } from 'fastify'
import type { Authorize, FindScope } from '../actions/authorize/level.js'
import { InvalidOptionError } from '../errors.js'
import { SUFFIX } from '../resource/path-pattern.js'
import type { ActionName } from '../resource/resource.js'
import { isXmlName } from '../schema/legal-text.js'
import type { Schema } from '../schema/types.js'
import { checkBoolean, checkMembers, show } from '../util/check-option.js'
import { didYouMean } from '../util/did-you-mean.js'
import { isObject } from '../util/own-property.js'
import type { Handler } from './handler.js'
import { checkActionHooks, checkHooks, type HookLists, joinHooks } from './hooks.js'
import type { RoutingOptions } from './routing-options.js'

/** Routing options as the rest of the plugin reads them: checked, complete. */
export interface Routing {
  readonly segment: string
  readonly actions: ReadonlySet<ActionName>
  readonly pathNames: { readonly new: string, readonly edit: string }
  readonly param: string
  readonly constraints: Readonly<Record<string, Schema>>
  readonly routeConstraints: NonNullable<RouteOptions['constraints']>
  readonly as: string
  readonly handlers: ReadonlyMap<string, Handler>
  readonly hooks: HookLists
  readonly actionHooks: ReadonlyMap<string, HookLists>
  /** Each of them is asked. */
  readonly authorize: readonly Authorize[]
  /** Each of them narrows. */
  readonly scope: readonly FindScope[]
  readonly foreignKey: string | undefined
}

/** What a resource has from the scopes that it is declared in. */
export interface Guards {
  readonly hooks: readonly HookLists[]
  readonly authorize: readonly Authorize[]
  readonly scope: readonly FindScope[]
}

export const NO_GUARDS: Guards = Object.freeze({ hooks: [], authorize: [], scope: [] })

const USUAL: readonly ActionName[] = ['list', 'show', 'create', 'update', 'delete']
const FORMS: readonly ActionName[] = ['new', 'edit']
/** One segment, or several; what a router would take for something else is left out. */
const SEGMENT = /^[^\s/:*?#%()[\]]+(?:\/[^\s/:*?#%()[\]]+)*$/
const PARAM = /^[A-Za-z_]\w*$/

/** @throws InvalidOptionError */
export function resolveRouting (
  name: string,
  options: RoutingOptions & { readonly as?: string },
  singleton: boolean,
  outer: Guards
): Routing {
  const {
    path = name,
    param = 'id',
    constraints = {},
    routeConstraints = {},
    as = name,
    actions: handlers = {},
    hooks = {},
    actionHooks = {},
    authorize,
    scope,
    foreignKey
  } = options
  const actions = resolveActions(options, singleton)
  return Object.freeze({
    segment: checkSegment('path', path),
    actions,
    pathNames: checkPathNames(options.pathNames ?? {}),
    param: checkParam('param', param),
    constraints: checkConstraints(constraints),
    routeConstraints: checkConditions(routeConstraints),
    as: checkAs(as),
    handlers: checkHandlers(handlers, actions),
    hooks: joinHooks([...outer.hooks, checkHooks('hooks', hooks)]),
    actionHooks: checkActionHooks(actionHooks, [...actions]),
    authorize: [...outer.authorize, ...checkFunction('authorize', authorize)],
    scope: [...outer.scope, ...checkFunction('scope', scope)],
    foreignKey: foreignKey === undefined ? undefined : checkForeignKey(foreignKey)
  })
}

function resolveActions ({ only, except, formPages }: RoutingOptions, singleton: boolean): ReadonlySet<ActionName> {
  const usual = singleton ? USUAL.filter((action) => action !== 'list') : USUAL
  const known = [...usual, ...FORMS]
  if (only !== undefined && except !== undefined) {
    throw new InvalidOptionError('except', 'must not be given beside "only", which says what there is')
  }
  if (only !== undefined) return new Set(checkActions('only', only, known))
  const all = formPages !== undefined && checkBoolean('formPages', formPages) ? known : usual
  const without = checkActions('except', except ?? [], known)
  return new Set(all.filter((action) => !without.includes(action)))
}

function checkActions (option: string, given: unknown, known: readonly ActionName[]): readonly ActionName[] {
  const names: unknown[] = [given].flat()
  for (const name of names) {
    if (!known.includes(name as ActionName)) {
      throw new InvalidOptionError(
        option,
        `names ${show(name)}, which is none of ${known.join(', ')}${didYouMean(String(name), known)}`
      )
    }
  }
  return names as ActionName[]
}

export function checkSegment (option: string, segment: unknown): string {
  if (
    typeof segment !== 'string' ||
    !SEGMENT.test(segment) ||
    !segment.isWellFormed() ||
    segment.split('/').some((part) => part === '.' || part === '..')
  ) {
    throw new InvalidOptionError(
      option,
      `must be a segment of a path such as 'posts', without a slash at its ends, not ${show(segment)}`
    )
  }
  return segment
}

function checkPathNames (given: unknown): Routing['pathNames'] {
  const names = checkMembers<Routing['pathNames']>('pathNames', given, { new: '', edit: '' })
  for (const segment of Object.values(names)) checkSegment('pathNames', segment)
  return { new: 'new', edit: 'edit', ...names }
}

export function checkParam (option: string, name: unknown): string {
  if (typeof name !== 'string' || !PARAM.test(name)) {
    throw new InvalidOptionError(option, `must be a name of letters, digits and "_" such as 'id', not ${show(name)}`)
  }
  if (name === SUFFIX) {
    throw new InvalidOptionError(option, `must not name a parameter "${SUFFIX}", which has the suffix of a path`)
  }
  return name
}

function checkForeignKey (given: unknown): string {
  const name = checkParam('foreignKey', given)
  if (name === 'id' || !isXmlName(name)) {
    throw new InvalidOptionError('foreignKey', `must be the name of an attribute, which "${name}" cannot be`)
  }
  return name
}

function checkConstraints (given: unknown): Readonly<Record<string, Schema>> {
  if (!isObject(given) || !Object.values(given).every(isObject)) {
    throw new InvalidOptionError(
      'constraints',
      `must be JSON Schemas by parameter such as { id: { maximum: 999 } }, not ${show(given)}`
    )
  }
  // It would be taken for a schema that says nothing, and let everything through.
  const [expression] = Object.entries(given).find(([, schema]) => schema instanceof RegExp) ?? []
  if (expression !== undefined) {
    throw new InvalidOptionError(
      'constraints',
      `has "${expression}", which must be a JSON Schema: a regular expression is one as { pattern: '^…$' }`
    )
  }
  return given as Readonly<Record<string, Schema>>
}

export function checkConditions (given: unknown): Exclude<RouteOptions['constraints'], undefined> {
  if (!isObject(given)) {
    throw new InvalidOptionError(
      'routeConstraints',
      `must be route constraints of Fastify such as { host: 'admin.example.com' }, not ${show(given)}`
    )
  }
  return given
}

const AS = /^[A-Za-z_][\w-]*$/

export function checkAs (name: unknown): string {
  if (typeof name !== 'string' || !AS.test(name)) {
    throw new InvalidOptionError('as', `must be a name such as 'posts', not ${show(name)}`)
  }
  return name
}

function checkHandlers (given: unknown, actions: ReadonlySet<ActionName>): ReadonlyMap<string, Handler> {
  if (!isObject(given)) {
    throw new InvalidOptionError('actions', `must be functions by action such as { list () { … } }, not ${show(given)}`)
  }
  const known = [...actions].filter((action) => !FORMS.includes(action))
  return new Map(Object.entries(given).filter(([, handler]) => handler !== undefined).map(([action, handler]) => {
    if (!known.includes(action as ActionName)) {
      throw new InvalidOptionError(
        'actions',
        `has "${action}", which is none of ${known.join(', ')}${didYouMean(action, known)}`
      )
    }
    if (typeof handler !== 'function') {
      throw new InvalidOptionError('actions', `has "${action}", which must be a function, not ${show(handler)}`)
    }
    return [action, handler as Handler]
  }))
}

export function checkFunction<F extends (...parameters: never[]) => unknown> (
  option: string,
  given: F | undefined
): readonly F[] {
  if (given === undefined) return []
  if (typeof given !== 'function') throw new InvalidOptionError(option, `must be a function, not ${show(given)}`)
  return [given]
}
