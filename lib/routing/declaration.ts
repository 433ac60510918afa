import type { Authorize, FindScope } from '../actions/authorize/level.js'
import { InvalidOptionError } from '../errors.js'
import { checkMembers } from '../util/check-option.js'
import { isObject } from '../util/own-property.js'
import type { CustomAction } from './custom-action.js'
import { checkHooks } from './hooks.js'
import type { ScopeOptions } from './mapper.js'
import type { ResourceOptions } from './options.js'
import { checkAs, checkFunction, checkParam, checkSegment, type Guards, NO_GUARDS } from './resolve-routing.js'

/** What scopes around a declaration give it. */
export interface InheritedOptions {
  /** Of the path, from the resource around it, or else from the beginning: `['admin']`. */
  readonly path: readonly string[]
  /** What names begin with, besides that of the resource around it. */
  readonly as: readonly string[]
  readonly guards: Guards
  /** Options that it has where it gives none itself. */
  readonly shared: Partial<ResourceOptions>
  readonly shallow: boolean
  /** What paths of rows begin with that are shallow. */
  readonly shallowPath: readonly string[]
  readonly shallowAs: readonly string[]
}

/** A resource as an app has declared it. */
export interface Declaration {
  readonly options: ResourceOptions
  readonly singleton: boolean
  readonly inherited: InheritedOptions
  readonly customActions: readonly CustomAction[]
  readonly children: readonly Declaration[]
}

/** What a declaration inherits that stands in no scope. */
export const OUTERMOST: InheritedOptions = Object.freeze({
  path: [],
  as: [],
  guards: NO_GUARDS,
  shared: {},
  shallow: false,
  shallowPath: [],
  shallowAs: []
})

const SCOPE_ONLY = { path: '', as: '', shallow: true, shallowPath: '', shallowAs: '' }
const NOT_SHARED = ['name', 'singular', 'actions', 'actionHooks', 'prefix', 'foreignKey']

/** Adds to what is inherited what a scope gives. */
export function narrow (outer: InheritedOptions, given: ScopeOptions): InheritedOptions {
  const { path, as, shallow, shallowPath = path, shallowAs = as, hooks, authorize, scope, ...shared } = given
  checkMembers(
    'scope',
    Object.fromEntries(
      Object.entries({ path, as, shallow, shallowPath, shallowAs }).filter(([, value]) => value !== undefined)
    ),
    SCOPE_ONLY
  )
  const own = Object.keys(shared).find((name) => NOT_SHARED.includes(name))
  if (own !== undefined) throw new InvalidOptionError(own, 'belongs to one resource, and not to a scope')
  const segments = (option: string, text: string | undefined): readonly string[] =>
    text === undefined ? [] : splitPath(option, text)
  return {
    path: [...outer.path, ...segments('path', path)],
    as: [...outer.as, ...(as === undefined ? [] : [checkAs('as', as)])],
    guards: {
      hooks: [...outer.guards.hooks, ...(hooks === undefined ? [] : [checkHooks('hooks', hooks)])],
      authorize: [...outer.guards.authorize, ...checkFunction<Authorize>('authorize', authorize)],
      scope: [...outer.guards.scope, ...checkFunction<FindScope>('scope', scope)]
    },
    shared: share(outer.shared, shared),
    shallow: shallow ?? outer.shallow,
    shallowPath:
      given.shallowPath === undefined
        ? [...outer.shallowPath, ...segments('shallowPath', shallowPath)]
        : segments('shallowPath', shallowPath),
    shallowAs:
      given.shallowAs === undefined
        ? [...outer.shallowAs, ...(shallowAs === undefined ? [] : [shallowAs])]
        : [checkAs('as', given.shallowAs)]
  }
}

/** What narrows the routes adds up; of the rest the inner one counts. */
export function share<O extends Partial<ResourceOptions>> (
  outer: Partial<ResourceOptions>,
  inner: O
): Partial<ResourceOptions> & O {
  return { ...outer, ...inner, ...joinAll('constraints', outer, inner), ...joinAll('routeConstraints', outer, inner) }
}

function joinAll (
  option: 'constraints' | 'routeConstraints',
  { [option]: outer = {} }: Partial<ResourceOptions>,
  { [option]: inner = {} }: Partial<ResourceOptions>
): Partial<ResourceOptions> {
  if (!isObject(outer) || !isObject(inner)) return {}
  const twice = Object.keys(inner).find((name) => Object.hasOwn(outer, name))
  if (twice !== undefined) throw new InvalidOptionError(option, `has "${twice}", which the scope around it has, too`)
  const joined = { ...outer, ...inner }
  return Object.keys(joined).length === 0 ? {} : { [option]: joined }
}

/** Segments of a scope may be parameters. */
function splitPath (option: string, path: string): readonly string[] {
  const segments = path.replace(/^\//, '').replace(/\/$/, '').split('/')
  return segments
    .filter((segment) => segment !== '')
    .map((segment) =>
      segment.startsWith(':') ? `:${checkParam(option, segment.slice(1))}` : checkSegment(option, segment)
    )
}
