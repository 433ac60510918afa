import type { ConfiguredResource } from '../../core/formats/format.js'
import { capitalize } from '../../core/util/words.js'
import { lazy } from '../../core/util/functions.js'
import type { PageLanguage } from '../options.js'
import { makeMessages } from './make-messages.js'

/** Compiles the plural name of a resource in each language, or the singular name of a singleton. */
export function compileLabel (
  names: ConfiguredResource,
  languages: readonly PageLanguage[]
): (lang: string) => string {
  return compileText(languages, (language) => {
    const { plural, singular } = makeMessages(names, language)
    return names.singleton ? capitalize(singular) : plural
  })
}

/** Compiles a text in each language. A language that is not among them gets the text of the first. */
export function compileText (
  languages: readonly PageLanguage[],
  write: (language: PageLanguage) => string
): (lang: string) => string {
  const labels = lazy(() => new Map(languages.map((language) => [language.tag, write(language)])))
  return (lang) => labels().get(lang) ?? [...labels().values()][0] as string
}
