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
import type { ManyHandler, ResourceOptions } from '../options.js'

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
  /** The actions whose handlers run once for each row of a request with many rows. */
  readonly manyRows: ReadonlySet<string>
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

/** The options that only `app.register` takes, and not a map. The last two are Fastify's own. */
export const REGISTER_OPTIONS = ['prefix', 'logLevel', 'logSerializers'] as const

/**
 * Checks routing options and fills in the defaults.
 * @throws InvalidOptionError
 */
export function resolveRouting (options: ResourceOptions, singleton: boolean, outer: Guards): Routing {
  const { name, path = name, as = name, pathNames = {}, param = 'id', authorize, scope, foreignKey } = options
  const { constraints = {}, routeConstraints = {}, actions: handlers = {}, hooks = {}, actionHooks = {} } = options
  const actions = resolveActions(options, singleton)
  return Object.freeze({
    segment: checkSegment('path', path),
    actions,
    pathNames: checkPathNames(pathNames),
    param: checkParam('param', param),
    constraints: checkConstraints(constraints),
    routeConstraints: checkRouteConstraints(routeConstraints),
    as: checkAs('as', as),
    ...checkHandlers(handlers, actions),
    hooks: joinHooks([...outer.hooks, checkHooks('hooks', hooks)]),
    actionHooks: checkActionHooks('actionHooks', actionHooks, [...actions]),
    authorize: [...outer.authorize, ...checkFunction<Authorize>('authorize', authorize)],
    scope: [...outer.scope, ...checkFunction<FindScope>('scope', scope)],
    foreignKey: checkForeignKey(foreignKey)
  })
}

function resolveActions (options: ResourceOptions, singleton: boolean): ReadonlySet<ActionName> {
  const { only, except = [], store, stores, actions: handlers = {} } = options
  const { formPages = store === undefined && stores !== undefined } = options
  const usual = singleton ? USUAL.filter((action) => action !== 'list') : USUAL
  const known = [...usual, ...FORMS]
  // The handlers are checked later, because they may only be those of these actions.
  const isPossible = (action: ActionName): boolean => {
    const write = WRITES.get(action)
    return write === undefined || store?.capabilities?.[write] !== false || findMember(handlers, write) !== undefined
  }
  if (only !== undefined && options.except !== undefined) {
    throw new InvalidOptionError('except', 'must not be given together with "only", which lists all actions already')
  }
  if (only !== undefined) {
    const chosen = checkActions('only', only, known)
    const other = chosen.find((action) => !isPossible(action))
    if (other === undefined) return new Set(chosen)
    throw new InvalidOptionError('only', `names '${other}', which the store of the resource cannot do`)
  }
  const without = checkActions('except', except, known)
  const all = checkBoolean('formPages', formPages) ? known : usual
  return new Set(all.filter((action) => isPossible(action) && !without.includes(action)))
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

function checkPathNames (given: unknown): Routing['pathNames'] {
  const names = checkMembers<Routing['pathNames']>('pathNames', given, { new: '', edit: '' })
  for (const segment of Object.values(names)) checkSegment('pathNames', segment)
  return { new: 'new', edit: 'edit', ...names }
}

export function checkParam (option: string, given: unknown): string {
  const name = checkText(option, given, PARAM, "a name of letters, digits and \"_\" such as 'id'")
  if (name !== SUFFIX) return name
  throw new InvalidOptionError(option, `must not name a parameter "${SUFFIX}", which is a reserved name`)
}

function checkForeignKey (given: unknown): string | undefined {
  if (given === undefined) return undefined
  const name = checkParam('foreignKey', given)
  if (name !== 'id' && isXmlName(name)) return name
  const reason = `must be the name of an attribute, but no attribute can be called "${name}"`
  throw new InvalidOptionError('foreignKey', reason)
}

function checkConstraints (given: unknown): Readonly<Record<string, Schema>> {
  const isOfSchemas = (value: unknown): value is Readonly<Record<string, Schema>> =>
    isObject(value) && Object.values(value).every(isObject)
  const wanted = 'JSON Schemas by parameter such as { id: { maximum: 999 } }'
  const constraints = checkThat('constraints', given, isOfSchemas, wanted)
  // A regular expression has no keywords of a schema, so it would allow every value.
  const expression = Object.keys(constraints).find((name) => constraints[name] instanceof RegExp)
  if (expression === undefined) return constraints
  throw new InvalidOptionError(
    'constraints',
    `has "${expression}", which must be a JSON Schema; write a regular expression as { pattern: '^…$' }`
  )
}

export function checkRouteConstraints (given: unknown): Routing['routeConstraints'] {
  return checkObject('routeConstraints', given, "route constraints of Fastify such as { host: 'admin.example.com' }")
}

export function checkAs (option: string, name: unknown): string {
  return checkText(option, name, NAME, "a name such as 'posts'")
}

function checkHandlers (
  given: unknown,
  actions: ReadonlySet<ActionName>
): Pick<Routing, 'handlers' | 'manyRows'> {
  const known = [...actions].filter((action) => !FORMS.includes(action))
  const declared = checkObject('actions', given, 'functions by action such as { list () { … } }')
  const manyRows = new Set<string>()
  const handlers = checkEach(declared, (action, value: unknown) => {
    checkKnown('actions', action, known)
    if (isFunction<Handler>(value)) return value
    if (!isObject(value) || !isFunction<Handler>(value.handler)) {
      throw new InvalidOptionError('actions', `has "${action}", which must be a function, not ${show(value)}`)
    }
    const { many = false } = checkMembers<ManyHandler>('actions', value, { handler: () => {}, many: false })
    if (checkBoolean('actions', many)) {
      if (!WRITES.has(action as ActionName)) {
        throw new InvalidOptionError('actions', `has "many" at "${action}"; only create, update and delete take it`)
      }
      manyRows.add(action)
    }
    return value.handler
  })
  return { handlers, manyRows }
}

export function checkFunction<F extends Authorize | FindScope> (option: string, given: unknown): readonly F[] {
  return given === undefined ? [] : [checkThat(option, given, isFunction<F>, 'a function')]
}
