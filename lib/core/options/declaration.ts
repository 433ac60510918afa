import type { Authorize, FindScope } from '../actions/authorize/level.js'
import { InvalidOptionError } from '../errors.js'
import type { ConfiguredResource } from '../formats/format.js'
import { checkEach, checkMembers } from '../util/check-option.js'
import { isObject } from '../util/own-property.js'
import type { CustomAction } from '../actions/custom/custom-action.js'
import { checkHooks } from './hooks.js'
import { OWN_OPTIONS, type ResourceOptions, type ScopeOptions } from './options.js'
import type { ResolvedOptions } from './resolve/options.js'
import { checkAs, checkFunction, checkParam, checkSegment, type Guards, NO_GUARDS } from './resolve/routing.js'

/** The options that a declaration inherits from the scopes and the resource around it. */
export interface InheritedOptions {
  /** The segments that scopes add before the resource's own segment, and after the path of a parent: `['admin']`. */
  readonly path: readonly string[]
  /** The prefixes that scopes add to names, after the name of a parent. */
  readonly as: readonly string[]
  readonly guards: Guards
  /** The defaults that scopes give to its options. */
  readonly shared: Partial<ResourceOptions>
  readonly shallow: boolean
  /** The first segments of the paths of shallow rows. */
  readonly shallowPath: readonly string[]
  readonly shallowAs: readonly string[]
}

export interface Declaration {
  readonly options: ResourceOptions
  readonly singleton: boolean
  readonly inherited: InheritedOptions
  readonly customActions: readonly CustomAction[]
  readonly children: readonly Declaration[]
  /** What names the deleted rows of another resource, if it has those. */
  readonly live?: ConfiguredResource['live']
}

/** A declaration with its checked options. */
export interface ResolvedDeclaration extends Omit<Declaration, 'options' | 'children'> {
  /** The store among them is `noStore` until `openTables` has opened its table. */
  options: ResolvedOptions
  readonly parent: ResolvedDeclaration | undefined
  /** The attribute with the id of the parent, or `undefined` if there is no parent. */
  readonly foreignKey: string | undefined
  readonly children: readonly ResolvedDeclaration[]
}

/** The inherited options of a declaration that nothing surrounds. */
export const NO_INHERITED_OPTIONS: InheritedOptions = Object.freeze({
  path: [],
  as: [],
  guards: NO_GUARDS,
  shared: {},
  shallow: false,
  shallowPath: [],
  shallowAs: []
})

const SCOPE_ONLY = { path: '', as: '', shallow: true, shallowPath: '', shallowAs: '' }

export function extendInherited (outer: InheritedOptions, given: ScopeOptions): InheritedOptions {
  const { path, as, shallow, shallowPath = path, shallowAs = as, hooks, authorize, scope, ...shared } = given
  const own = { path, as, shallow, shallowPath, shallowAs }
  checkMembers('scope', Object.fromEntries(checkEach(own, (_name, value) => value)), SCOPE_ONLY)
  const other = Object.keys(shared).find((name) => OWN_OPTIONS.some((own) => own === name))
  if (other !== undefined) throw new InvalidOptionError(other, 'belongs to a single resource, not to a scope')
  return {
    path: [...outer.path, ...splitPath('path', path)],
    as: [...outer.as, ...(as === undefined ? [] : [checkAs('as', as)])],
    guards: {
      hooks: [...outer.guards.hooks, ...(hooks === undefined ? [] : [checkHooks('hooks', hooks)])],
      authorize: [...outer.guards.authorize, ...checkFunction<Authorize>('authorize', authorize)],
      scope: [...outer.guards.scope, ...checkFunction<FindScope>('scope', scope)]
    },
    shared: mergeOptions(outer.shared, shared),
    shallow: shallow ?? outer.shallow,
    shallowPath:
      given.shallowPath === undefined
        ? [...outer.shallowPath, ...splitPath('shallowPath', shallowPath)]
        : splitPath('shallowPath', shallowPath),
    shallowAs:
      given.shallowAs === undefined
        ? [...outer.shallowAs, ...(shallowAs === undefined ? [] : [shallowAs])]
        : [checkAs('as', given.shallowAs)]
  }
}

/**
 * Merges options. Constraints add up, and so do the members of the options of formats. Other options of the inner
 * object replace those of the outer one.
 * @throws InvalidOptionError if both constrain the same name
 */
export function mergeOptions<O extends Partial<ResourceOptions>> (
  outer: Partial<ResourceOptions>,
  inner: O
): Partial<ResourceOptions> & O {
  const joined = JOINED.map((option) => joinAll(option, outer, inner))
  return Object.assign({ ...outer, ...inner }, ...joined, joinFormats(outer, inner))
}

/** Joins the options of formats, member by member. */
function joinFormats (outer: Partial<ResourceOptions>, inner: Partial<ResourceOptions>): Partial<ResourceOptions> {
  const { formats = outer.formats ?? [] } = inner
  // Lists of formats are checked later.
  const own = [formats].flat().flatMap((format) => isObject(format) ? [String(format.name)] : [])
  const [before, after]: ReadonlyArray<Readonly<Record<string, unknown>>> = [{ ...outer }, { ...inner }]
  const joined = ['html', 'csv', ...own].filter((name) => isObject(before?.[name]) && isObject(after?.[name]))
  return Object.fromEntries(joined.map((name) => [name, Object.assign({}, before?.[name], after?.[name])]))
}

/** The options whose members add up. */
const JOINED = ['constraints', 'routeConstraints', 'scopeAttributes'] as const

function joinAll (
  option: typeof JOINED[number],
  { [option]: outer = {} }: Partial<ResourceOptions>,
  { [option]: inner = {} }: Partial<ResourceOptions>
): Partial<ResourceOptions> {
  if (!isObject(outer) || !isObject(inner)) return {}
  const twice = Object.keys(inner).find((name) => Object.hasOwn(outer, name))
  if (twice !== undefined) throw new InvalidOptionError(option, `has "${twice}", which the scope around it has already`)
  const joined = { ...outer, ...inner }
  return Object.keys(joined).length === 0 ? {} : { [option]: joined }
}

function splitPath (option: string, path = ''): readonly string[] {
  return path.split('/')
    .filter((segment) => segment !== '')
    .map((segment) =>
      segment.startsWith(':') ? `:${checkParam(option, segment.slice(1))}` : checkSegment(option, segment)
    )
}
