import type { RouteOptions } from 'fastify'
import type { Authorize, FindScope } from '../actions/authorize/level.js'
import { InvalidOptionError } from '../errors.js'
import { SUFFIX } from '../resource/path-pattern.js'
import type { ActionName } from '../resource/resource.js'
import { isXmlName } from '../schema/legal-text.js'
import type { Schema } from '../schema/types.js'
import { checkBoolean, checkKnown, checkMembers, checkObject, show } from '../util/check-option.js'
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

/** An option: how it is checked, with what else that depends on, and its default. */
type Option = readonly [check: (option: string, value: unknown, ...more: never[]) => unknown, fallback?: unknown]

/** Options by name. */
export type OptionTable<Name extends string> = Readonly<Record<Name, Option>>

type More<O extends Option> = O[0] extends (option: string, value: unknown, ...more: infer M) => unknown ? M : never

/** Returns the checked value of an option, or of its default. */
export type ReadOption<T extends OptionTable<string>> = <K extends keyof T & string>(
  name: K,
  ...more: More<T[K]>
) => ReturnType<T[K][0]>

export function readOptions<T extends OptionTable<string>> (table: T, given: object): ReadOption<T> {
  return (name, ...more) => {
    const [check, fallback] = table[name] as Option
    const { [name]: value = fallback } = given as Readonly<Record<string, unknown>>
    return check(name, value, ...(more as readonly unknown[] as never[])) as ReturnType<T[typeof name][0]>
  }
}

/** Makes a check of a value, or of a name where there is no value. */
export function orName (check: typeof checkAs): (option: string, value: unknown, name: string) => string {
  return (option, value, name) => check(option, value === undefined ? name : value)
}

const OPTIONS = {
  path: [orName(checkSegment)],
  only: [checkActions],
  except: [checkActions, []],
  formPages: [checkBoolean, false],
  pathNames: [checkPathNames, {}],
  param: [checkParam, 'id'],
  constraints: [checkConstraints, {}],
  routeConstraints: [checkRouteConstraints, {}],
  as: [orName(checkAs)],
  actions: [checkHandlers, {}],
  hooks: [checkHooks, {}],
  actionHooks: [checkActionHooks, {}],
  authorize: [checkFunction<Authorize>],
  scope: [checkFunction<FindScope>],
  foreignKey: [checkForeignKey]
} as const satisfies OptionTable<keyof RoutingOptions | 'as'>

/** What `app.register` takes beside them. The last two are Fastify's own. */
export const OF_REGISTER = ['prefix', 'logLevel', 'logSerializers'] as const

export const ROUTING_OPTIONS: readonly string[] = Object.keys(OPTIONS)

/** @throws InvalidOptionError */
export function resolveRouting (
  name: string,
  options: RoutingOptions & { readonly as?: string },
  singleton: boolean,
  outer: Guards
): Routing {
  const read = readOptions(OPTIONS, options)
  const actions = resolveActions(options, read, singleton)
  return Object.freeze({
    segment: read('path', name),
    actions,
    pathNames: read('pathNames'),
    param: read('param'),
    constraints: read('constraints'),
    routeConstraints: read('routeConstraints'),
    as: read('as', name),
    handlers: read('actions', actions),
    hooks: joinHooks([...outer.hooks, read('hooks')]),
    actionHooks: read('actionHooks', [...actions]),
    authorize: [...outer.authorize, ...read('authorize')],
    scope: [...outer.scope, ...read('scope')],
    foreignKey: read('foreignKey')
  })
}

function resolveActions (
  { only, except }: RoutingOptions,
  read: ReadOption<typeof OPTIONS>,
  singleton: boolean
): ReadonlySet<ActionName> {
  const usual = singleton ? USUAL.filter((action) => action !== 'list') : USUAL
  const known = [...usual, ...FORMS]
  if (only !== undefined && except !== undefined) {
    throw new InvalidOptionError('except', 'must not be given beside "only", which says what there is')
  }
  if (only !== undefined) return new Set(read('only', known))
  const all = read('formPages') ? known : usual
  const without = read('except', known)
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

function checkPathNames (option: string, given: unknown): Routing['pathNames'] {
  const names = checkMembers<Routing['pathNames']>(option, given, { new: '', edit: '' })
  for (const segment of Object.values(names)) checkSegment(option, segment)
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

function checkForeignKey (option: string, given: unknown): string | undefined {
  if (given === undefined) return undefined
  const name = checkParam(option, given)
  if (name === 'id' || !isXmlName(name)) {
    throw new InvalidOptionError(option, `must be the name of an attribute, which "${name}" cannot be`)
  }
  return name
}

function checkConstraints (option: string, given: unknown): Readonly<Record<string, Schema>> {
  if (!isObject(given) || !Object.values(given).every(isObject)) {
    throw new InvalidOptionError(
      option,
      `must be JSON Schemas by parameter such as { id: { maximum: 999 } }, not ${show(given)}`
    )
  }
  // It would be taken for a schema that says nothing, and let everything through.
  const [expression] = Object.entries(given).find(([, schema]) => schema instanceof RegExp) ?? []
  if (expression !== undefined) {
    throw new InvalidOptionError(
      option,
      `has "${expression}", which must be a JSON Schema: a regular expression is one as { pattern: '^…$' }`
    )
  }
  return given as Readonly<Record<string, Schema>>
}

export function checkRouteConstraints (option: string, given: unknown): Routing['routeConstraints'] {
  return checkObject(option, given, "route constraints of Fastify such as { host: 'admin.example.com' }")
}

const AS = /^[A-Za-z_][\w-]*$/

export function checkAs (option: string, name: unknown): string {
  if (typeof name !== 'string' || !AS.test(name)) {
    throw new InvalidOptionError(option, `must be a name such as 'posts', not ${show(name)}`)
  }
  return name
}

function checkHandlers (
  option: string,
  given: unknown,
  actions: ReadonlySet<ActionName>
): ReadonlyMap<string, Handler> {
  const handlers = checkObject(option, given, 'functions by action such as { list () { … } }')
  const known = [...actions].filter((action) => !FORMS.includes(action))
  return new Map(Object.entries(handlers).filter(([, handler]) => handler !== undefined).map(([action, handler]) => {
    checkKnown(option, action, known)
    if (typeof handler !== 'function') {
      throw new InvalidOptionError(option, `has "${action}", which must be a function, not ${show(handler)}`)
    }
    return [action, handler as Handler]
  }))
}

export function checkFunction<F> (option: string, given: unknown): readonly F[] {
  if (given === undefined) return []
  if (typeof given !== 'function') throw new InvalidOptionError(option, `must be a function, not ${show(given)}`)
  return [given as F]
}
