import type { Attributes } from '../schema/types.js'
import type { Parameters, PathPattern } from './path-pattern.js'
import { parseId, type Resource } from './resource.js'
import { memberPath } from './row-path.js'
import type { Id } from './row.js'

/** A resource in whose row another one is nested. */
export interface Parent {
  readonly resource: Resource
  /** The parameter that has its id; undefined of a singleton, which has none. */
  readonly param: string | undefined
  /** The path of the row. */
  readonly path: PathPattern
  /** The suffixes that it may have. */
  readonly formats: readonly string[]
  /** The attribute of the nested rows that has its id. */
  readonly foreignKey: string
}

/** Where a resource stands, whatever the request. */
export interface Mount {
  readonly collection: PathPattern
  /** Another one of a shallow resource. */
  readonly members: PathPattern
  readonly isShallow: boolean
  readonly parent: Parent | undefined
}

/** From the parameters of a request to where the resource stands for it; of a shallow one the row tells its parent. */
export type FindLocation = (parameters: Parameters, attributes?: Attributes) => Location

/** Where nothing varies, it is one object for all requests. */
export function compileLocation ({ collection, members, isShallow, parent }: Mount): FindLocation {
  if (collection.names.length === 0) {
    const only: Location = Object.freeze({
      collection: collection.text,
      members: members.text,
      parent: parent === undefined ? undefined : { resource: parent.resource, id: '', path: parent.path.text }
    })
    return () => only
  }
  return (given, attributes) => {
    const parameters = isShallow && parent !== undefined ? withParent(given, parent, attributes) : given
    const path = members.fill(parameters)
    // A row without the id of its parent does not tell where it is listed.
    if (!collection.names.every((name) => parameters[name] !== undefined)) {
      return { collection: path, isListed: false, members: path, parent: undefined }
    }
    return {
      collection: collection.fill(parameters),
      members: path,
      parent: parent === undefined ? undefined : locateParent(parent, parameters)
    }
  }
}

function withParent (given: Parameters, { param, foreignKey }: Parent, attributes: Attributes = {}): Parameters {
  const value = attributes[foreignKey]
  return param === undefined || given[param] !== undefined || (typeof value !== 'string' && typeof value !== 'number')
    ? given
    : { ...given, [param]: String(value) }
}

function locateParent ({ resource, param, path, formats }: Parent, parameters: Parameters): Location['parent'] {
  const filled = path.fill(parameters)
  if (param === undefined) return { resource, id: '', path: filled }
  const text = parameters[param] as string
  const id = parseId(resource.idType, text) ?? text
  return { resource, id, path: memberPath(filled.slice(0, filled.lastIndexOf('/')), id, formats) }
}

/**
 * Where a resource stands for one request: paths in which this request's parameters stand already, without suffix or
 * query.
 */
export interface Location {
  /** Where rows are listed and created, `/posts/7/comments`; of a singleton, where it is. */
  readonly collection: string
  /**
   * False where there is no list to lead to: of a shallow row that nobody knows, of what is nested in nothing.
   * @default true
   */
  readonly isListed?: boolean
  /**
   * Under which each row stands, and where a write with the id in the payload is sent: the same, but of a shallow
   * resource `/comments`.
   */
  readonly members: string
  /** The row that these belong to: its resource, its id and its path. */
  readonly parent:
    | { readonly resource: Pick<Resource, 'plural' | 'singular' | 'singleton'>; readonly id: Id; readonly path: string }
    | undefined
}
