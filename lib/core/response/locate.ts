import type { OutcomeResponse } from '../actions/outcome.js'
import { ADDED, type FormNode, markerOf } from '../formats/form/parse.js'
import { parseId } from '../resource/resource.js'
import { fitsPath, memberPath } from '../resource/row-path.js'
import type { Row } from '../resource/row.js'
import { MOST_REPEATED } from '../util/truncate.js'
import type { RequestState } from '../request/state.js'

/**
 * Returns the `Location` of an answer: a path without suffix or query. For a browser, its fragment names the notice
 * that the page shows, so that the notice needs neither a cookie nor another ETag of the page. Only the way back to a
 * blank form has a query: the references with which it begins.
 */
export function locate ({ location, notice }: OutcomeResponse, row: Row | undefined, state: RequestState): string {
  if (notice === undefined) return findPath(location, row, state)
  return findBlankForm(row, state) ?? `${findPath(location, row, state)}#${notice}`
}

/** Returns the path back to the blank form if the form that was sent asks for it. References that it had stay. */
function findBlankForm (row: Row | undefined, state: RequestState): string | undefined {
  const { payload, compiled: { resource: { actions, singleton }, options: { routing }, prefill }, location } = state
  if (payload?.isAnother !== true || singleton) return undefined
  const { collection } = location
  const isList = !actions.has('new')
  if (isList && !actions.has('list')) return undefined
  const names = markerOf(payload.node as FormNode, 'again')?.split(' ') ?? []
  const whole = prefill.write(names, row?.attributes ?? {}, isList)
  const query = whole.length > MOST_REPEATED ? '' : whole
  return isList ? `${collection}${query}#${ADDED}` : `${collection}/${encodeURI(routing.pathNames.new)}${query}#created`
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
  const path = memberPath(members, id, representations.map(({ name }) => name))
  return path.length > MOST_REPEATED ? collection : path
}
