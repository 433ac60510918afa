import type { Parameters } from '../../resource/path-pattern.js'
import { spellId } from '../../resource/row-path.js'
import { isId, type Row } from '../../resource/row.js'
import type { Context } from '../../stores/store.js'
import { notFound } from '../target.js'
import { lazy } from '../../util/functions.js'
import { type MaybePromise, andThen } from '../../util/maybe-promise.js'
import {
  type AccessContext,
  authorize,
  passesChecks,
  isGuarded,
  type GuardedResource,
  guardsParent,
  resolveScope,
  type ParentLink
} from './level.js'

/**
 * Checks the parents of a shallow row. Its path does not name them, but the row names its parent, and the parent's row
 * its own. If a parent is hidden, or a constraint excludes its id, the row is hidden too.
 * @param makeHidden makes the error for a row that is hidden
 */
export function checkParents (
  row: Row,
  { parentLink }: GuardedResource,
  makeHidden: () => Error,
  context: AccessContext
): MaybePromise<void> {
  if (!guardsParent(parentLink)) return
  const { level, foreignKey, idChecks } = parentLink
  const { resource, store } = level.target
  const id = row.attributes[foreignKey]
  // A row without a parent is hidden, because nobody owns it.
  if (!isId(id) || !passesChecks(idChecks, id)) throw makeHidden()
  if (!isGuarded(level)) return
  return andThen(resolveScope(level, context.request), (scope) => {
    // A nested singleton is read by its id too, because each parent has one.
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
 * Finds the parent of a shallow row, as far as its `scope` has it and its `authorize` allows `show`.
 * @throws ForbiddenError, NotFoundError
 */
export async function findParent (
  row: Row,
  { level, foreignKey }: ParentLink,
  context: AccessContext
): Promise<Row | undefined> {
  const { resource, store } = level.target
  const id = row.attributes[foreignKey]
  if (!isId(id)) return undefined
  const scope = await resolveScope(level, context.request)
  const read = lazy((): MaybePromise<Row | undefined> => {
    return store.get(id, scope, context)
  })
  await authorize(level, context.request, {
    action: 'show',
    id: resource.singleton ? undefined : id,
    row: read,
    makeHidden: notFound.bind(undefined, resource, id)
  })
  return read()
}

/**
 * Finds the path parameters of the list that a row is in, as far as the row and its parents name them.
 * @param link the resource that it is nested in
 */
export function findParameters (
  row: Row,
  { level, foreignKey, param }: ParentLink,
  known: Parameters,
  context: Context
): MaybePromise<Parameters> {
  const id = row.attributes[foreignKey]
  if (!isId(id)) return known
  // A singleton has no parameter, but its parents may have one.
  const parameters = param === undefined ? known : { ...known, [param]: spellId(id) }
  const { parentLink } = level
  if (parentLink === undefined) return parameters
  return andThen(level.target.store.get(id, {}, context), (parent) =>
    parent === undefined ? parameters : findParameters(parent, parentLink, parameters, context)
  )
}
