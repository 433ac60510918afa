import type { FastifyRequest } from 'fastify'
import type { Parameters } from '../../resource/path-pattern.js'
import type { Resource } from '../../resource/resource.js'
import type { Row } from '../../resource/row.js'
import { compileVisibleRow } from '../../resource/visible.js'
import type { Attributes } from '../../schema/types.js'
import { findMember } from '../../util/own-property.js'
import type { AccessContext, GuardedResource } from '../../actions/authorize/level.js'

/** A relation of a resource to another one, whose rows `?include=` adds to its own. */
export interface Relation {
  /** The name in `?include=`, and of the member that each row gets. */
  readonly name: string
  /** The included resource. */
  readonly resource: Resource
  /** Whether a row has many of its rows, or at most one. */
  readonly isMany: boolean
  readonly load: LoadRelation
}

/**
 * Loads what rows include, with one query for all of them. Returns `undefined` if that is larger than `mostSize`,
 * unless there is only one row.
 */
export type LoadRelation = (
  rows: readonly Row[],
  context: AccessContext,
  mostSize: number
) => Promise<LoadedRelation | undefined>

export interface LoadedRelation {
  /**
   * What each row includes: a record, a list of records, the path of a longer list, or null for none. `undefined` if
   * the client may not know.
   */
  readonly values: readonly unknown[]
  /** The size, in characters as `sizeOf` counts them. */
  readonly size: number
}

/** What is included from: a resource, with the path parameters of its collection. */
export interface Included {
  readonly level: GuardedResource
  readonly parameters: readonly string[]
}

/** Compiles a function that makes the record of an included row, without what answers never show. */
export function compileIncludedRecord (resource: Resource): (row: Row) => Attributes {
  const see = compileVisibleRow(resource)
  return resource.singleton ? (row) => see(row).attributes : (row) => ({ id: row.id, ...see(row).attributes })
}

/**
 * Returns the request as `authorize` and `scope` of an included resource see it: with the path parameters of its own
 * path.
 */
export function requestFor (
  { request }: AccessContext,
  names: readonly string[],
  more: Parameters = {}
): AccessContext['request'] {
  const params = { ...Object.fromEntries(names.map((name) => [name, request.params[name]])), ...more }
  const derived: FastifyRequest = Object.create(request, { params: { value: params, enumerable: true } })
  return derived as AccessContext['request']
}

/** Returns whether the constraints on the path of an included resource allow the parameters of a request. */
export function passesConstraints (
  { parameterChecks }: GuardedResource,
  { params }: AccessContext['request']
): boolean {
  return parameterChecks.every(([name, isFit]) => isFit(params[name] as string))
}

/** Returns the result of a check, or `undefined` if it throws an error that blames the client, such as a 403. */
export async function unlessRefused<T> (check: () => Promise<T>): Promise<T | undefined> {
  try {
    return await check()
  } catch (error) {
    const status = findMember(error, 'statusCode')
    if (typeof status === 'number' && status >= 400 && status < 500) return undefined
    throw error
  }
}
