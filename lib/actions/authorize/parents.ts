import type { FastifyRequest } from 'fastify'
import type { Parameters } from '../../resource/path-pattern.js'
import type { Row } from '../../resource/row.js'
import type { Context } from '../../stores/store.js'
import { lazy } from '../../util/lazy.js'
import { type MaybePromise, andThen } from '../../util/maybe-promise.js'
import {
  authorize,
  isFitFor,
  isGuarded,
  type GuardedResource,
  guardsParent,
  resolveScope,
  type ParentLink
} from './level.js'

/**
 * Of a shallow row no path tells the parent: the row does, and the parent's row its own in turn. Where these are guarded,
 * the row is there for those alone who may see them; where there are constraints on their ids, these hold.
 * @param lost what is thrown where they are not there
 */
export function checkParents (
  row: Row,
  { over }: GuardedResource,
  lost: () => Error,
  request: FastifyRequest,
  context: Context
): MaybePromise<void> {
  if (!guardsParent(over)) return
  const { level, foreignKey, fits } = over
  const { resource, store } = level.target
  const id = row.attributes[foreignKey]
  // A row that does not tell is nobody's.
  if ((typeof id !== 'string' && typeof id !== 'number') || !isFitFor(fits, id)) throw lost()
  if (!isGuarded(level)) return
  return andThen(resolveScope(level, request), (scope) => {
    // Also of a singleton, of which there are many where it is nested itself.
    const read = lazy((): MaybePromise<Row | undefined> => store.get(id, scope, context))
    const subjectId = resource.singleton ? undefined : id
    return andThen(authorize(level, request, 'show', subjectId, read, lost), () =>
      andThen(read(), (parent) => {
        if (parent?.id !== id) throw lost()
        return checkParents(parent, level, lost, request, context)
      })
    )
  })
}

/**
 * The parameters of the paths that a row is listed under, as far as it and the rows that it is nested in tell them.
 * @param over what it is nested in
 */
export function findParameters (
  row: Row,
  { level, foreignKey, param }: ParentLink,
  known: Parameters,
  context: Context
): MaybePromise<Parameters> {
  const id = row.attributes[foreignKey]
  if (typeof id !== 'string' && typeof id !== 'number') return known
  // A singleton has no parameter, but what it is nested in may.
  const parameters = param === undefined ? known : { ...known, [param]: String(id) }
  const { over } = level
  if (over === undefined) return parameters
  return andThen(level.target.store.get(id, {}, context), (parent) =>
    parent === undefined ? parameters : findParameters(parent, over, parameters, context)
  )
}
