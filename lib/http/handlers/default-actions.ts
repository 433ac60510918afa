import { create } from '../../actions/create.js'
import { remove } from '../../actions/delete.js'
import { findSingleton } from '../../actions/find-row.js'
import { list } from '../../actions/list.js'
import type { Outcome } from '../../actions/outcome.js'
import { redisplay } from '../../actions/redisplay.js'
import { show } from '../../actions/show.js'
import { notFound } from '../../actions/target.js'
import { update } from '../../actions/update.js'
import { ExistsError } from '../../errors.js'
import type { ActionName } from '../../resource/resource.js'
import type { Id } from '../../resource/row.js'
import type { Guard } from '../../stores/store.js'
import { andThen, type MaybePromise } from '../../util/maybe-promise.js'
import type { CompiledResource } from '../compiled-resource.js'
import type { ActionState } from '../request/state.js'
import { checkNew, checkNoneMatch, findGuard } from './write-guards.js'

/** Does what an authorized request asks for. */
export type PerformAction<Result extends Outcome | undefined = Outcome> = (state: ActionState) => MaybePromise<Result>

/** An action that works with rows; `new` and `edit` show forms. */
export type RowAction = Exclude<ActionName, 'new' | 'edit'>

type PerformOnRow = (state: ActionState, id: Id) => MaybePromise<Outcome>

/** What a resource does if the app has no handler of its own. */
export interface DefaultActions extends Readonly<Record<RowAction, PerformAction>> {
  /** Shows the form of a new row again. */
  readonly redisplayNew: PerformAction
  /** Shows the form of a row again. */
  readonly redisplay: PerformAction
}

export function compileDefaultActions ({ resource, listQuery }: CompiledResource): DefaultActions {
  const { singular, singleton } = resource
  const onRow = singleton ? onSingleton : onNamedRow

  function createNew (state: ActionState): MaybePromise<Outcome> {
    checkNew(state)
    return create(state.target, state.attributes, state)
  }

  function createOnly (state: ActionState): MaybePromise<Outcome> {
    checkNew(state)
    return andThen(findSingleton(state.target, state), (row) => {
      checkNoneMatch(row, state)
      if (row !== undefined) throw new ExistsError(singular)
      return create(state.target, state.attributes, state)
    })
  }

  return {
    list: (state) =>
      andThen(listQuery.parse(state.request.query, state), (query) => list(state.target, query, state)),
    show: onRow((state, id) =>
      state.authorizedRow === undefined ? show(state.target, id, state) : { kind: 'found', row: state.authorizedRow }
    ),
    create: singleton ? createOnly : createNew,
    update: onRow((state, id) => andThen(findGuard(state), change, state, id)),
    delete: onRow((state, id) => andThen(findGuard(state), erase, state, id)),
    redisplayNew: () => ({ kind: 'revised', row: undefined }),
    redisplay: onRow((state, id) =>
      state.authorizedRow === undefined
        ? redisplay(state.target, id, state)
        : { kind: 'revised', row: state.authorizedRow }
    )
  }
}

function change (guard: Guard, state: ActionState, id: Id): MaybePromise<Outcome> {
  return update(state.target, { id, attributes: state.attributes, guard }, state)
}

function erase (guard: Guard, state: ActionState, id: Id): MaybePromise<Outcome> {
  return remove(state.target, id, guard, state)
}

/** Its path or its payload has named the row. */
function onNamedRow (perform: PerformOnRow): PerformAction {
  return (state) => perform(state, state.id as Id)
}

/** Finds the row of a singleton by its scope. */
function onSingleton (perform: PerformOnRow): PerformAction {
  // A row that was looked at before stays the one, even if another one has taken its place.
  return (state) =>
    andThen(state.authorizedRow ?? state.checked ?? findSingleton(state.target, state), (row) => {
      if (row === undefined) throw notFound(state.target.resource, undefined)
      state.found = row
      state.id = row.id
      return perform(state, row.id)
    })
}
