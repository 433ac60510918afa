import type { Parameters } from '../../resource/path-pattern.js'
import type { Row } from '../../resource/row.js'
import type { Context } from '../../stores/store.js'
import { lazy } from '../../util/lazy.js'
import { type MaybePromise, andThen } from '../../util/maybe-promise.js'
import {
  type AccessContext,
  authorize,
  isFitFor,
  isGuarded,
  type GuardedResource,
  guardsParent,
  resolveScope,
  type ParentLink
} from './level.js'

/**
 * Checks the parents of a shallow row, which no path tells: the row names its parent, and the parent's row its own. A
 * request that may not see a parent, or that a constraint on its id excludes, does not see the row either.
 * @param makeHidden makes the error for a row that is hidden
 */
export function checkParents (
  row: Row,
  { over }: GuardedResource,
  makeHidden: () => Error,
  context: AccessContext
): MaybePromise<void> {
  if (!guardsParent(over)) return
  const { level, foreignKey, fits } = over
  const { resource, store } = level.target
  const id = row.attributes[foreignKey]
  // A row without a parent belongs to nobody.
  if ((typeof id !== 'string' && typeof id !== 'number') || !isFitFor(fits, id)) throw makeHidden()
  if (!isGuarded(level)) return
  return andThen(resolveScope(level, context.request), (scope) => {
    // A nested singleton has an id too: there is one for each parent.
    const read = lazy((): MaybePromise<Row | undefined> => store.get(id, scope, context))
    const question = { action: 'show', id: resource.singleton ? undefined : id, row: read, makeHidden }
    return andThen(authorize(level, context.request, question), () =>
      andThen(read(), (parent) => {
        if (parent?.id !== id) throw makeHidden()
        return checkParents(parent, level, makeHidden, context)
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
