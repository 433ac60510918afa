import type { OutcomeResponse } from '../../actions/outcome.js'
import { ADDED } from '../../formats/form/parse.js'
import { fitsPath, parseId } from '../../resource/resource.js'
import { memberPath } from '../../resource/row-path.js'
import type { Row } from '../../resource/row.js'
import type { RequestState } from '../request/state.js'

/**
 * Returns the `Location` of an answer: a path without suffix or query. For a browser, its fragment names the notice
 * that the page shows, so that the notice needs neither a cookie nor another ETag of the page.
 */
export function locate ({ location, notice }: OutcomeResponse, row: Row | undefined, state: RequestState): string {
  if (notice === undefined) return findPath(location, row, state)
  return findBlankForm(state) ?? `${findPath(location, row, state)}#${notice}`
}

/** Returns the path back to the blank form if the form that was sent asks for it. */
function findBlankForm (state: RequestState): string | undefined {
  const { payload, compiled: { resource: { actions, singleton }, options: { routing } }, location } = state
  if (payload?.isAnother !== true || singleton) return undefined
  const { collection } = location
  if (actions.has('new')) return `${collection}/${encodeURI(routing.pathNames.new)}#created`
  return actions.has('list') ? `${collection}#${ADDED}` : undefined
}

/** Returns the path of the row, or of the list if no page shows the row. */
function findPath (to: OutcomeResponse['location'], row: Row | undefined, state: RequestState): string {
  const { compiled: { findLocation, representations, resource }, choice: { format }, member, parameters } = state
  const { idType, longestId, singleton, actions } = resource
  const { collection, members, parent } =
    row === undefined ? state.location : findLocation(parameters, row.attributes)
  const isPage = format.browser === true
  if (singleton) return to === 'collection' ? (parent?.path ?? collection) : collection
  if (to === 'collection' || (isPage && !actions.has('show'))) {
    // Without a list, a browser goes to the page of the parent.
    return isPage && !actions.has('list') ? (parent?.path ?? collection) : collection
  }
  const id = row?.id ?? (member === undefined ? undefined : parseId(idType, member))
  if (id === undefined || !fitsPath(id, longestId)) return collection
  return memberPath(members, id, representations.map(({ name }) => name))
}
