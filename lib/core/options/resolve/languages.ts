import { InvalidOptionError } from '../../errors.js'
import { findWords, KNOWN_LANGUAGES, type Languages } from '../../../html/languages/language.js'
import { makeMessages } from '../../../html/languages/make-messages.js'
import type { PageMessages } from '../../../html/messages.js'
import type { PageLanguage } from '../../../html/options.js'
import type { Resource } from '../../resource/resource.js'
import { capitalize } from '../../util/capitalize.js'
import { checkMembers, isFunction, show } from '../../util/check-option.js'
import { lazy } from '../../util/functions.js'

/**
 * Checks the option `lang`. Returns the tags of the languages that are offered, the default one first.
 * @throws InvalidOptionError
 */
export function checkLanguages (option: string, lang: unknown): readonly string[] {
  if (lang === 'auto') return KNOWN_LANGUAGES
  if (!Array.isArray(lang)) return [checkLanguage(option, lang)]
  const tags = lang.map((tag) => checkLanguage(option, tag))
  if (tags.length === 0) throw new InvalidOptionError(option, "must name a language such as 'de', or be 'auto'")
  const [twice] = tags.filter((tag, index) => tags.indexOf(tag) < index)
  if (twice !== undefined) throw new InvalidOptionError(option, `has '${twice}' twice`)
  return tags
}

function checkLanguage (option: string, lang: unknown): string {
  try {
    const [canonical] = typeof lang === 'string' ? Intl.getCanonicalLocales(lang) : []
    if (canonical !== undefined) return canonical
  } catch {}
  throw new InvalidOptionError(option, `must be a language tag such as 'de' or 'pt-BR', not ${show(lang)}`)
}

/**
 * Checks the option `timeZone`.
 * @throws InvalidOptionError
 */
export function checkTimeZone (option: string, zone: unknown): string | undefined {
  if (zone === undefined) return undefined
  try {
    if (typeof zone === 'string') return new Intl.DateTimeFormat('en', { timeZone: zone }).resolvedOptions().timeZone
  } catch {}
  throw new InvalidOptionError(option, `must be a time zone such as 'Europe/Berlin', not ${show(zone)}`)
}

/**
 * Checks the option `messages`. Returns the languages of the pages with the words of the app.
 * @throws InvalidOptionError
 */
export function checkMessages (
  option: string,
  given: unknown,
  tags: readonly string[],
  languages: Languages
): readonly PageLanguage[] {
  return tags.map((tag) => {
    const own = isFunction<(tag: string) => unknown>(given) ? given(tag) : given
    return { tag, words: findWords(tag, languages), messages: checkWords(option, own) }
  })
}

const EVERY = makeMessages({ plural: '', singular: '' }, { words: undefined, messages: {} })

function checkWords (option: string, given: unknown): Partial<PageMessages> {
  const messages = checkMembers<PageMessages>(option, given, EVERY)
  const { phrases = {} } = messages
  for (const [phrase, words] of Object.entries<unknown>(phrases)) {
    if (typeof words !== 'string' && typeof words !== 'function') {
      throw new InvalidOptionError(
        option,
        `has the phrase "${phrase}", whose translation must be a string, or a function that returns one`
      )
    }
  }
  return { ...messages, phrases: { ...phrases } }
}

/** Compiles the plural name of a resource in each language, or the singular name of a singleton. */
export function compileLabel (
  names: Pick<Resource, 'plural' | 'singular' | 'singleton'>,
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
