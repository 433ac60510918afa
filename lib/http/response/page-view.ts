import type { Refused } from '../../actions/authorize/refused-actions.js'
import type { Listed } from '../../actions/outcome.js'
import type { Input, PageView, View } from '../../formats/format.js'
import type { Row } from '../../resource/row.js'
import { qualifyVersion } from '../request/preconditions.js'
import type { RequestState } from '../request/state.js'

const NONE_REFUSED: Refused = new Set()

/** Returns a row for a form. The `_version` of a singleton's form names the row it belongs to. */
export function toFormRow (row: Row, { compiled: { resource } }: RequestState): Row {
  return resource.singleton ? { ...row, version: qualifyVersion(row) } : row
}

/**
 * Makes the view of an answer with one row, or with none.
 * @param shown the row of the page
 * @param row the stored row of a form that is shown again
 */
export function makeView (
  state: RequestState,
  shown: Row | undefined,
  row: Row | undefined,
  errors: Input['errors'] = {}
): View {
  const { choice: { mediaType }, action, request, compiled, payload, refused = NONE_REFUSED } = state
  const location =
    shown === undefined || !compiled.mount.isShallow || !state.route.isMember
      ? state.location
      : compiled.findLocation(state.parameters, shown.attributes)
  if (payload === undefined) return { mediaType, input: undefined, action, location, request, refused }
  const { id, node, attributes } = payload
  // The version that the form had: its user has not seen what others have changed since.
  const version = payload.version ?? (row === undefined ? undefined : toFormRow(row, state).version)
  return { mediaType, input: { id, version, node, attributes, row, errors }, action, location, request, refused }
}

/** Makes the view of a page of a list. */
export function makePageView ({ order }: Listed, next: string | undefined, state: RequestState): PageView {
  const { choice, location, action, route, request, customAction, refused = NONE_REFUSED } = state
  const { after, ...others } = request.query
  return {
    mediaType: choice.mediaType,
    input: undefined,
    action,
    location,
    next,
    path: pathOf(state),
    list: route.path.fill(state.parameters),
    own: customAction?.name,
    parameters: after === undefined ? request.query : others,
    order,
    after,
    request,
    refused
  }
}

/** The path of a list, with the suffix of the request. */
export function pathOf ({ route, parameters, isSuffixed, choice: { format } }: RequestState): string {
  const path = route.path.fill(parameters)
  return isSuffixed ? `${path}.${format.name}` : path
}
