import type { RouteOptions } from 'fastify'
import type { Authorize, FindScope } from '../../actions/authorize/level.js'
import { InvalidOptionError } from '../../errors.js'
import { SUFFIX } from '../../resource/path-pattern.js'
import type { ActionName } from '../../resource/resource.js'
import { isXmlName } from '../../schema/legal-text.js'
import type { Schema } from '../../schema/types.js'
import {
  checkBoolean,
  checkEach,
  checkKnown,
  checkMembers,
  checkObject,
  checkText,
  checkThat,
  isFunction,
  show
} from '../../util/check-option.js'
import { didYouMean } from '../../util/words.js'
import { findMember, isObject } from '../../util/own-property.js'
import type { Handler } from '../handler.js'
import { checkActionHooks, checkHooks, type HookLists, joinHooks } from '../hooks.js'
import type { ResourceOptions, RoutingOptions } from '../options.js'

/** Checked routing options with their defaults. */
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
  readonly authorize: readonly Authorize[]
  readonly scope: readonly FindScope[]
  readonly foreignKey: string | undefined
}

/** The hooks, `authorize` and `scope` functions that the scopes around a declaration add to its own. */
export interface Guards {
  readonly hooks: readonly HookLists[]
  readonly authorize: readonly Authorize[]
  readonly scope: readonly FindScope[]
}

export const NO_GUARDS: Guards = Object.freeze({ hooks: [], authorize: [], scope: [] })

const USUAL: readonly ActionName[] = ['list', 'show', 'create', 'update', 'delete']
const FORMS: readonly ActionName[] = ['new', 'edit']
/** What a store must be able to do for an action. */
const WRITES: ReadonlyMap<ActionName, 'create' | 'update' | 'delete'> = new Map([
  ['create', 'create'], ['new', 'create'], ['update', 'update'], ['edit', 'update'], ['delete', 'delete']
])
/** Matches segments without characters that have a meaning for the router. */
const SEGMENT = /^[^\s/:*?#%()[\]]+(?:\/[^\s/:*?#%()[\]]+)*$/
const PARAM = /^[A-Za-z_]\w*$/
/** Matches the name of a resource, a path or an action. */
export const NAME: RegExp = /^[A-Za-z_][\w-]*$/

/** The type of a check. TypeScript compares the parameters of methods loosely, so each check may have its own. */
type OptionCheck = { of (option: string, value: unknown, ...more: readonly unknown[]): unknown }['of']

type OptionEntry = readonly [check: OptionCheck, fallback?: unknown]

/** The check and the default of each option. */
export type OptionTable<Name extends string> = Readonly<Record<Name, OptionEntry>>

type More<F> = F extends (option: string, value: unknown, ...more: infer M) => unknown ? M : never

/** Returns the checked value of an option, or of its default. */
export type ReadOption<T extends OptionTable<string>> = <K extends keyof T & string>(
  name: K,
  ...more: More<T[K][0]>
) => ReturnType<T[K][0]>

export function readOptions<T extends OptionTable<string>> (
  table: T,
  given: { readonly [K in keyof T]?: unknown }
): ReadOption<T> {
  return (name, ...more) => {
    const [check, fallback] = table[name] as OptionEntry
    const { [name]: value = fallback } = given
    // TypeScript does not relate the result to the check of this name.
    return check(name, value, ...more) as ReturnType<T[typeof name][0]>
  }
}

/** Returns a check of an option. If the option has no value, the name is checked in its place. */
export function defaultToName (check: typeof checkAs): (option: string, value: unknown, name: string) => string {
  return (option, value, name) => check(option, value === undefined ? name : value)
}

const OPTIONS = {
  path: [defaultToName(checkSegment)],
  only: [checkActions],
  except: [checkActions, []],
  formPages: [checkBoolean, false],
  pathNames: [checkPathNames, {}],
  param: [checkParam, 'id'],
  constraints: [checkConstraints, {}],
  routeConstraints: [checkRouteConstraints, {}],
  as: [defaultToName(checkAs)],
  actions: [checkHandlers, {}],
  hooks: [checkHooks, {}],
  actionHooks: [checkActionHooks, {}],
  authorize: [checkFunction<Authorize>],
  scope: [checkFunction<FindScope>],
  foreignKey: [checkForeignKey]
} as const satisfies OptionTable<keyof RoutingOptions | 'as'>

/** The options that only `app.register` takes, and not a map. The last two are Fastify's own. */
export const REGISTER_OPTIONS = ['prefix', 'logLevel', 'logSerializers'] as const

export const ROUTING_OPTIONS: readonly string[] = Object.keys(OPTIONS)

/**
 * Checks routing options and fills in the defaults.
 * @throws InvalidOptionError
 */
export function resolveRouting (
  name: string,
  options: RoutingOptions & Pick<ResourceOptions, 'store'> & { readonly as?: string },
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
  { only, except, store, actions: handlers = {} }: RoutingOptions & Pick<ResourceOptions, 'store'>,
  read: ReadOption<typeof OPTIONS>,
  singleton: boolean
): ReadonlySet<ActionName> {
  const usual = singleton ? USUAL.filter((action) => action !== 'list') : USUAL
  const known = [...usual, ...FORMS]
  // The handlers are checked later, because they may only be those of these actions.
  const isPossible = (action: ActionName): boolean => {
    const write = WRITES.get(action)
    return write === undefined || store?.capabilities?.[write] !== false || findMember(handlers, write) !== undefined
  }
  if (only !== undefined && except !== undefined) {
    throw new InvalidOptionError('except', 'must not be given together with "only", which lists all actions already')
  }
  if (only !== undefined) {
    const chosen = read('only', known)
    const other = chosen.find((action) => !isPossible(action))
    if (other === undefined) return new Set(chosen)
    throw new InvalidOptionError('only', `names '${other}', which the store of the resource cannot do`)
  }
  const all = (read('formPages') ? known : usual).filter(isPossible)
  const without = read('except', known)
  return new Set(all.filter((action) => !without.includes(action)))
}

function checkActions (option: string, given: unknown, known: readonly ActionName[]): readonly ActionName[] {
  return [given].flat().map((name: unknown) => {
    const found = known.find((action) => action === name)
    if (found !== undefined) return found
    throw new InvalidOptionError(
      option,
      `names ${show(name)}, which is not one of ${known.join(', ')}${didYouMean(String(name), known)}`
    )
  })
}

export function checkSegment (option: string, segment: unknown): string {
  const isSegment = (text: unknown): text is string =>
    typeof text === 'string' &&
    SEGMENT.test(text) &&
    text.isWellFormed() &&
    !text.split('/').some((part) => part === '.' || part === '..')
  return checkThat(option, segment, isSegment, "a segment of a path such as 'posts', without a slash at its ends")
}

function checkPathNames (option: string, given: unknown): Routing['pathNames'] {
  const names = checkMembers<Routing['pathNames']>(option, given, { new: '', edit: '' })
  for (const segment of Object.values(names)) checkSegment(option, segment)
  return { new: 'new', edit: 'edit', ...names }
}

export function checkParam (option: string, given: unknown): string {
  const name = checkText(option, given, PARAM, "a name of letters, digits and \"_\" such as 'id'")
  if (name !== SUFFIX) return name
  throw new InvalidOptionError(option, `must not name a parameter "${SUFFIX}", which is a reserved name`)
}

function checkForeignKey (option: string, given: unknown): string | undefined {
  if (given === undefined) return undefined
  const name = checkParam(option, given)
  if (name !== 'id' && isXmlName(name)) return name
  throw new InvalidOptionError(option, `must be the name of an attribute, but no attribute can be called "${name}"`)
}

function checkConstraints (option: string, given: unknown): Readonly<Record<string, Schema>> {
  const isOfSchemas = (value: unknown): value is Readonly<Record<string, Schema>> =>
    isObject(value) && Object.values(value).every(isObject)
  const wanted = 'JSON Schemas by parameter such as { id: { maximum: 999 } }'
  const constraints = checkThat(option, given, isOfSchemas, wanted)
  // A regular expression has no keywords of a schema, so it would allow every value.
  const expression = Object.keys(constraints).find((name) => constraints[name] instanceof RegExp)
  if (expression === undefined) return constraints
  throw new InvalidOptionError(
    option,
    `has "${expression}", which must be a JSON Schema; write a regular expression as { pattern: '^…$' }`
  )
}

export function checkRouteConstraints (option: string, given: unknown): Routing['routeConstraints'] {
  return checkObject(option, given, "route constraints of Fastify such as { host: 'admin.example.com' }")
}

export function checkAs (option: string, name: unknown): string {
  return checkText(option, name, NAME, "a name such as 'posts'")
}

function checkHandlers (
  option: string,
  given: unknown,
  actions: ReadonlySet<ActionName>
): ReadonlyMap<string, Handler> {
  const handlers = checkObject(option, given, 'functions by action such as { list () { … } }')
  const known = [...actions].filter((action) => !FORMS.includes(action))
  return checkEach(handlers, (action, handler) => {
    checkKnown(option, action, known)
    if (isFunction<Handler>(handler)) return handler
    throw new InvalidOptionError(option, `has "${action}", which must be a function, not ${show(handler)}`)
  })
}

export function checkFunction<F extends Authorize | FindScope> (option: string, given: unknown): readonly F[] {
  return given === undefined ? [] : [checkThat(option, given, isFunction<F>, 'a function')]
}

/** Returns the plural names of resources by the attributes that have their ids. */
export function checkReferences (option: string, given: unknown): ReadonlyMap<string, string> {
  const references = checkObject(option, given, "an object of attributes and resources such as { authorId: 'authors' }")
  return checkEach(references, (attribute, target) => {
    if (typeof target === 'string') return target
    throw new InvalidOptionError(option, `has "${attribute}", which must name a resource, not ${show(target)}`)
  })
}
