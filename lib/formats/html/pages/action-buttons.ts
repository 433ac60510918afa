import type { ActionLink, View } from '../../format.js'
import { concat, type ReadContext } from '../html-tag.js'
import type { Translate } from '../languages/phrases.js'
import { wordsOf } from '../names.js'
import type { HiddenField, PageAction } from '../views/model.js'
import { capitalize } from '../../../util/capitalize.js'

/** Makes the custom actions at a path. Their forms send the version of the row, if it has one. */
export type MakeActions = <C>(of: ReadContext<C>, source: ActionSource<C>) => readonly PageAction[]

/** The sources of the path and the version for the actions. */
interface ActionSource<C> {
  readonly path: (context: C) => string
  /** The function that returns the version, or `undefined` if the actions name no version. */
  readonly version: ((context: C) => string) | undefined
}

/** Compiles the custom actions. Their labels are translated once. */
export function compileActions (links: readonly ActionLink[], translate: Translate): MakeActions {
  const labelled = links.map((link) => ({ ...link, label: translate(link.label ?? nameInWords(link.name)) }))
  return (of, { path, version }) =>
    labelled.map(({ name, label, method, segment }) => ({
      name,
      label,
      method,
      href: concat(of(path), `/${segment}`),
      hidden: method === 'GET' ? [] : hiddenFields(method, version && of(version))
    }))
}

/** Returns the actions that `authorize` does not refuse. */
export function withoutRefused (actions: readonly PageAction[], { refused }: View): readonly PageAction[] {
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
