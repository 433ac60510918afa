import type { Attributes } from '../schema/types.js'
import { type Parameters, type PathPattern, readSpelling, spellId } from './path-pattern.js'
import { parseId, type Resource } from './resource.js'
import { type Id, isId } from './row.js'

/** The parent of a nested resource. */
export interface Parent {
  readonly resource: Resource
  /** The path parameter of its id, or `undefined` for a singleton. */
  readonly param: string | undefined
  /** The path of the parent's row. */
  readonly path: PathPattern
  /** The suffixes of the path. */
  readonly formats: readonly string[]
  /** The attribute of nested rows that has the parent's id. */
  readonly foreignKey: string
  /** The path of the list that the parent's row is in, or `undefined` if there is none. */
  readonly list: PathPattern | undefined
  /** The parent of the parent. */
  readonly parent: Parent | undefined
}

/** The paths of a resource, with parameters. */
export interface ResourcePaths {
  readonly collection: PathPattern
  readonly members: PathPattern
  readonly isShallow: boolean
  readonly parent: Parent | undefined
}

/** Returns the paths for the parameters of a request. The attributes of a shallow row name its parent. */
export type FindLocation = (parameters: Parameters, attributes?: Attributes) => Location

export function compileLocation ({ collection, members, isShallow, parent }: ResourcePaths): FindLocation {
  return (given, attributes) => {
    const parameters = isShallow && parent !== undefined ? withParent(given, parent, attributes) : given
    const path = members.fill(parameters)
    // A shallow row that does not name its parent is in no list.
    if (!collection.names.every((name) => parameters[name] !== undefined)) {
      return { collection: path, isListed: false, members: path, parent: undefined }
    }
    return {
      collection: collection.fill(parameters),
      members: path,
      parent: parent && locateParent(parent, parameters)
    }
  }
}

function withParent (given: Parameters, { param, foreignKey }: Parent, attributes: Attributes = {}): Parameters {
  const value = attributes[foreignKey]
  return param === undefined || given[param] !== undefined || !isId(value)
    ? given
    : { ...given, [param]: spellId(value) }
}

function locateParent (above: Parent, parameters: Parameters): ParentLocation {
  const { resource, param, path, formats, list, parent } = above
  const isKnown = (pattern: PathPattern): boolean => pattern.names.every((name) => parameters[name] !== undefined)
  const outer = {
    list: list !== undefined && isKnown(list) ? list.fill(parameters) : undefined,
    parent: parent !== undefined && isKnown(parent.path) ? locateParent(parent, parameters) : undefined
  }
  if (param === undefined) return { resource, id: '', path: path.fill(parameters), ...outer }
  // A path of this parent always has the parameter.
  const text = readSpelling(parameters[param] as string)
  const id = parseId(resource.idType, text) ?? text
  return { resource, id, path: path.fill({ ...parameters, [param]: spellId(id, formats) }), ...outer }
}

/** The paths of a resource for one request, without suffix and query. */
export interface Location {
  /** The path of the list, `/posts/7/comments`, or of the singleton. */
  readonly collection: string
  /** Whether `collection` is the path of a list. It is not if the parent of a shallow row is unknown. @default true */
  readonly isListed?: boolean
  /** The path before the ids of rows. Writes with the id in the payload use it, too. Shallow: `/comments`. */
  readonly members: string
  /** The parent row, or `undefined` if there is none or it is unknown. */
  readonly parent: ParentLocation | undefined
}

/** The paths of a parent row for one request. */
export interface ParentLocation {
  /** The names of the row's resource. */
  readonly resource: Pick<Resource, 'plural' | 'singular' | 'singleton'>
  /** The id of the row. */
  readonly id: Id
  /** The path of the row. */
  readonly path: string
  /** The path of the list that the row is in, or `undefined` if there is none. */
  readonly list: string | undefined
  /** The parent of that row, or `undefined` if there is none or it is unknown. */
  readonly parent: ParentLocation | undefined
}
