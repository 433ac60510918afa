import { MOST_REPEATED } from '../../core/util/words.js'
import type { HtmlListView } from '../content.js'

type ListAddress = Pick<HtmlListView, 'path' | 'parameters'>
/** The most characters that a page repeats of its query in links that lead elsewhere than to the pages around it. */
const MOST_ON_PAGE = 16_000

type QueryChanges = Readonly<Record<string, string | undefined>>

/**
 * Returns a link to the first page of the requested list, with some parameters changed. `undefined` removes a
 * parameter.
 */
export function linkTo ({ path, parameters }: ListAddress, changes: QueryChanges): string {
  let query = ''
  for (const name in parameters) {
    query += pair(query, name, Object.hasOwn(changes, name) ? changes[name] : parameters[name])
  }
  for (const name in changes) if (!Object.hasOwn(parameters, name)) query += pair(query, name, changes[name])
  return path + query
}

/** Returns whether a number of links may repeat the query of a page. */
export function mayRepeat ({ parameters }: Pick<HtmlListView, 'parameters'>, links: number): boolean {
  const { length } = linkTo({ path: '', parameters }, {})
  return length <= MOST_REPEATED && length * links <= MOST_ON_PAGE
}

function pair (before: string, name: string, value: string | undefined): string {
  return value === undefined ? '' : `${before === '' ? '?' : '&'}${encode(name)}=${encode(value)}`
}

/** Encodes like `URLSearchParams`, which is slow and therefore only used for texts that need it. */
function encode (text: string): string {
  return /^[\w.*-]*$/.test(text) ? text : new URLSearchParams({ '': text }).toString().slice(1)
}
