import type { ActionLink, WriterContext } from '../../core/formats/format.js'
import type { Navigation, PossibleNavigation, Unlisted } from '../../core/formats/view.js'
import { capitalize, MOST_REPEATED, wordsOf } from '../../core/util/words.js'
import type { HtmlListView, HtmlView } from '../content.js'
import type { Translate } from '../messages.js'
import type { HiddenField, PageAction } from '../views/model.js'

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

/**
 * Makes the custom actions at a path. Their forms send the version of the row, unless it is `undefined`: rows of a list
 * have none.
 */
export type MakeActions = (path: string, version: string | undefined) => readonly PageAction[]

/** Compiles the custom actions. Their labels are translated once. */
export function compileActions (links: readonly ActionLink[], translate: Translate): MakeActions {
  const labelled = links.map((link) => ({ ...link, label: translate(link.label ?? nameInWords(link.name)) }))
  return (path, version) =>
    labelled.map(({ name, label, method, segment }) => ({
      name,
      label,
      method,
      href: `${path}/${segment}`,
      hidden: method === 'GET' ? [] : hiddenFields(method, version)
    }))
}

/** Compiles the actions that are also performed on several rows, by a form with their ids. */
export function compileManyActions ({ memberActions }: WriterContext, translate: Translate): MakeActions {
  return compileActions(memberActions.filter(({ many }) => many), translate)
}

/** Returns the actions that `authorize` does not refuse. */
export function withoutRefused (actions: readonly PageAction[], { refused }: HtmlView): readonly PageAction[] {
  return refused.size === 0 ? actions : actions.filter(({ name }) => !refused.has(name))
}

/** Converts a name to words: `sendMail` → `Send mail`. */
export function nameInWords (name: string): string {
  return capitalize(wordsOf(name))
}

function hiddenFields (method: string, version: string | undefined): HiddenField[] {
  return [
    ...(method === 'POST' ? [] : [{ name: '_method', value: method }]),
    ...(version === undefined ? [] : [{ name: '_version', value: version }])
  ]
}

/** The most links of a bar, beside the one to the home page. */
const MOST_LINKS = 8

/** Returns the bar of a request. If nothing was asked, it only leads home. */
export function chooseLinks ({ links: all, ...home }: PossibleNavigation, unlisted: Unlisted): Navigation {
  const links = all.filter(({ resource }) => unlisted?.has(resource) === false)
  const main = links.toSorted((one, other) => other.weight - one.weight).slice(0, MOST_LINKS - 1)
  const shown = links.length > MOST_LINKS ? links.filter((link) => link.isCurrent || main.includes(link)) : links
  const chosen = shown.map(({ label, href, isCurrent }) => ({ label, href, isCurrent }))
  return { ...home, isCurrent: false, links: chosen, hasMore: shown.length < links.length }
}
