import { compileCountRelated } from '../actions/include/count-related.js'
import type { CheckAccess } from '../actions/authorize/authorize.js'
import type { AccessContext } from '../actions/authorize/level.js'
import { canCount } from '../actions/list.js'
import type { Target } from '../actions/target.js'
import { COUNT_OF_PAGES } from '../actions/total.js'
import type { RelatedList } from '../formats/format.js'
import type { ResourcePaths } from '../resource/location.js'
import type { Resource } from '../resource/resource.js'
import type { Row } from '../resource/row.js'
import type { HookLists } from '../routing/hooks.js'
import type { ResolvedOptions } from '../routing/resolve/options.js'
import type { ListQueryParser } from './request/list-query.js'

/** The hooks that a request passes: those of the app, and those of the resource. */
export interface HookedResource {
  readonly options: ResolvedOptions
  /** Returns the hooks of the instance on which the resource is registered. They are complete once the app is ready. */
  readonly appHooks: () => HookLists
}

/** What a link to a filtered list needs of its resource. */
export interface ListedResource extends HookedResource {
  readonly target: Target
  readonly resource: Resource
  readonly resourcePaths: ResourcePaths
  readonly accessChecks: { readonly collection: CheckAccess | undefined }
  readonly listQuery: ListQueryParser
}

/** A row that others reference: its resource, and what they call it. */
export interface ReferencedBy {
  readonly resource: HookedResource & Pick<ListedResource, 'resourcePaths'>
  readonly attribute: string
  readonly relation: string
}

/** Finds the list of the rows that reference a row, or `undefined` if the request may not list them. */
export type FindRelatedList = (row: Row, context: AccessContext) => Promise<RelatedList | undefined>

/**
 * Compiles the function that finds the list of the rows that reference a row. Returns `undefined` if there is no such
 * list, if it cannot be filtered by the attribute, or if its path has a parameter that the path of the row has not.
 */
export function compileRelatedList (listed: ListedResource, by: ReferencedBy): FindRelatedList | undefined {
  const { target, resource, resourcePaths: { collection }, accessChecks, listQuery, options } = listed
  const { attribute, relation } = by
  const isFilterable = listQuery.filterable.some((other) => other.isPlain && other.attribute.name === attribute)
  const isLocated = collection.names.every((name) => by.resource.resourcePaths.members.names.includes(name))
  if (!resource.actions.has('list') || !isFilterable || !isLocated) return undefined
  const { store, routing } = options
  const count = compileCountRelated({
    target,
    checkAccess: accessChecks.collection,
    parameters: collection.names,
    attribute,
    // A handler of the app may list other rows, and its hooks may protect the list.
    isCounted: canCount(store) && !routing.handlers.has('list') && !guardsMore(listed, by.resource, 'list')
  })
  return async ({ id }, context) => {
    const counted = await count(id, context)
    if (counted === undefined) return undefined
    const query = new URLSearchParams({ [attribute]: String(id) })
    const href = `${collection.fill(context.request.params)}?${query.toString()}`
    const total = counted.total && { ...counted.total, most: COUNT_OF_PAGES.most }
    return { name: resource.plural, relation, href, total }
  }
}

const GUARDS = ['onRequest', 'preParsing', 'preValidation', 'preHandler']

/** Returns whether an action has hooks of the app that a request of another resource does not pass. */
export function guardsMore (
  { options: { routing }, appHooks }: HookedResource,
  from: HookedResource,
  action: string
): boolean {
  const passed = [from.appHooks(), from.options.routing.hooks]
  const lists: ReadonlyArray<HookLists | undefined> = [appHooks(), routing.hooks, routing.actionHooks.get(action)]
  return lists.some((hooks) => GUARDS.some((name) =>
    hooks?.get(name)?.some((hook) => !passed.some((hooks) => hooks.get(name)?.includes(hook) === true)) === true))
}
