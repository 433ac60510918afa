import { NONE_REFUSED } from '../actions/authorize/refused-actions.js'
import type { LinkedRows, View } from '../formats/format.js'
import type { RequestState } from '../request/state.js'
import { findTitle } from '../relations/row-links.js'

/** The facts beside its rows that a page shows. */
export type PageContent = Pick<View, 'refused' | 'unlisted' | 'related' | 'links' | 'choices' | 'rowSearch' | 'parents'>

const NO_LINKS: LinkedRows = new Map()
const NO_CHOICES: View['choices'] = new Map()

/** The content of answers other than pages, which show only their rows. */
export const NO_CONTENT: PageContent = {
  refused: NONE_REFUSED,
  unlisted: undefined,
  related: [],
  links: NO_LINKS,
  choices: NO_CHOICES,
  rowSearch: undefined,
  parents: []
}

/** Returns what was found for the page of a request. */
export function contentOf (state: RequestState): PageContent {
  const { refused = NONE_REFUSED, unlisted, related = [], links = NO_LINKS, choices = NO_CHOICES } = state
  return { refused, unlisted, related, links, choices, rowSearch: state.rowSearch, parents: nameParents(state) }
}

/** Returns whether a page shows more than its row, whose version does not change with the rest. */
export function hasMoreContent (state: RequestState): boolean {
  const { refused, related, links = NO_LINKS, choices, parents, compiled, choice: { format: { writer } } } = state
  const isPage = writer.list === undefined
  return (refused ?? related ?? choices) !== undefined || links.size > 0 ||
    (isPage && (parents.length > 0 || writer.volatile === true || compiled.listChecks().length > 0))
}

/** Returns the names of the rows above a page, from the nearest to the outermost, as far as they are known. */
function nameParents (state: RequestState): string[] {
  const names: string[] = []
  let { parent } = state.compiled
  for (const row of state.parents.toReversed()) {
    const title = parent && findTitle(parent)
    if (title === undefined) break
    names.push(title(row, state))
    parent = parent?.parent
  }
  return names
}
