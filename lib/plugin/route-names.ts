import type { ChildLink } from '../formats/format.js'
import type { CompiledResource } from '../http/compiled-resource.js'
import { camelize, singularize as singularOf } from '../resource/inflection.js'
import type { Parent } from '../resource/location.js'
import type { Declaration, InheritedOptions } from '../routing/declaration.js'
import type { ResolvedOptions } from '../routing/resolve-options.js'
import type { Schema } from '../schema/types.js'
import type { RouteNames } from './route-table.js'

/** A resource in which others are nested. */
export interface ParentContext {
  readonly compiled: CompiledResource
  /** Of its row, as the router takes it. */
  readonly url: string
  /** Of the row in `app.paths`. */
  readonly name: string
  /** What the parameters of that are like. */
  readonly parameters: ReadonlyMap<string, Schema>
  readonly parent: Omit<Parent, 'foreignKey'>
}

export function linkTo ({ options, singleton, inherited }: Declaration): ChildLink {
  const { name, path = name } = options
  return {
    name: singleton ? (options.singular ?? name) : name,
    segment: [...inherited.path, path].map((segment) => encodeURI(segment)).join('/')
  }
}

export function nameRoutes (
  { plural, singular, routing: { as } }: ResolvedOptions,
  singleton: boolean,
  { as: outer, shallowAs }: InheritedOptions,
  parentContext: ParentContext | undefined,
  isShallow: boolean
): RouteNames {
  const isRenamed = as !== (singleton ? singular : plural)
  const one = singleton ? as : isRenamed ? singularOf(as) : singular
  const many = isRenamed ? as : plural
  const before = [...(parentContext === undefined ? [] : [parentContext.name]), ...outer]
  const beforeRow = isShallow ? shallowAs : before
  const name = (...parts: readonly string[]): string => camelize(parts.join('_'))
  // A name that is its own plural is that of one.
  const all = singleton ? [one] : many === one ? [many, 'index'] : [many]
  const collection = name(...before, ...all)
  const member = name(...beforeRow, one)
  const blank = name('new', ...before, one)
  return {
    collection,
    members: name(...beforeRow, ...all),
    member,
    blank,
    edit: name('edit', ...beforeRow, one),
    custom: (action, on) =>
      on === 'collection' ? name(action, collection) : on === 'member' ? name(action, member) : name(action, blank)
  }
}
