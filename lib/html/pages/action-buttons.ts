import type { ActionLink } from '../../core/formats/format.js'
import type { HtmlView } from '../content.js'
import { capitalize, wordsOf } from '../../core/util/words.js'
import type { Translate } from '../messages.js'
import type { HiddenField, PageAction } from '../views/model.js'

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
