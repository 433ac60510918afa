import type { ActionLink } from '../../format.js'
import { versionField } from '../forms/forms.js'
import { capitalize, wordsOf } from '../messages.js'
import type { Translate } from '../translate.js'
import type { HiddenField, PageAction } from '../views/model.js'

/** Gives what can be done at a path, by a form with the version of the row where it has one. */
export type MakeActions = (path: string, version?: string) => readonly PageAction[]

/** What the app lets be done beside the usual; its labels are worked out once. */
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

/** `sendMail` → `Send mail` */
export function nameInWords (name: string): string {
  return capitalize(wordsOf(name))
}

function hiddenFields (method: string, version: string | undefined): HiddenField[] {
  return [...(method === 'POST' ? [] : [{ name: '_method', value: method }]), ...versionField(version)]
}
