import type { ConfiguredResource, ResourceWords } from '../../core/formats/format.js'
import { ABOUT_PARAMETER, type Said, writeMessage } from '../../core/messages.js'
import type { Resource } from '../../core/resource/resource.js'
import { capitalize, wordsOf } from '../../core/util/words.js'
import { identity, lazy } from '../../core/util/functions.js'
import type { PageMessages, Translate, TranslateText } from '../messages.js'
import { labelOf } from '../names.js'
import type { PageLanguage } from '../options.js'
import { ENGLISH } from './en.js'

/** Compiles the translation of texts of the app: names, labels and explanations. */
export function compileOwn ({ phrases = {} }: Partial<Pick<PageMessages, 'phrases'>>): TranslateText {
  const all = new Map(Object.entries(phrases))
  return all.size === 0 ? identity : (text) => all.get(text) ?? text
}

/** Returns the words of a resource's pages: those of the language, with the app's in their place. */
export function makeMessages (
  { plural, singular, singleton = false, live }: Omit<ConfiguredResource, 'singleton'> & Partial<ConfiguredResource>,
  language: Pick<PageLanguage, 'words' | 'messages'>
): PageMessages {
  if (live !== undefined) {
    const words = makeMessages(live, language)
    return { ...words, heading: words.deletedPlural(words.heading), plural: words.deletedPlural(words.plural) }
  }
  const { words, messages } = language
  const translate = compileOwn(messages)
  const all = { ...ENGLISH, phrases: {}, ...words?.messages, ...messages }
  const many = translate(messages.plural ?? capitalize(wordsOf(plural))) || all.genericPlural
  const one = translate(messages.singular ?? wordsOf(singular)) || all.genericSingular
  return {
    ...all,
    heading: messages.heading === undefined ? singleton ? capitalize(one) : many : translate(messages.heading),
    plural: many,
    singular: one
  }
}

/**
 * Compiles the translation of what the server says. A message is written by its code, and a text is looked up. A text
 * in the app's `phrases` comes first.
 * @param attributes the attributes whose labels a message has. @default their names in words
 */
export function compileTranslation (
  { words }: Pick<PageLanguage, 'words'>,
  messages: PageMessages,
  attributes: Resource['attributes'] = new Map()
): Translate {
  const texts = new Map<string, string>(Object.entries({ ...words?.texts, ...messages.phrases }))
  const translate: Translate = (said) => {
    const found = texts.get(String(said))
    if (found !== undefined || typeof said === 'string') return found ?? String(said)
    const { code, params } = said
    if (code === 'isTakenTogether') {
      const { others } = params as { readonly others: string }
      const labels = others.split(', ').map((name) => labelOf(attributes.get(name) ?? { name, schema: {} }))
      return writeMessage(messages, code, { others: labels.reduce(messages.listed) })
    }
    if (code !== ABOUT_PARAMETER) return writeMessage(messages, code, params)
    const { parameter, reason } = params as { readonly parameter: string, readonly reason: Said }
    const translated = translate(reason)
    return translated === String(reason) ? said.text : messages.fieldError(parameter, translated)
  }
  return translate
}

/** Compiles the names of a resource in each language. */
export function compileWords (
  names: ConfiguredResource,
  languages: readonly PageLanguage[]
): (lang: string) => ResourceWords {
  return inEach(languages, (language) => {
    const { heading, plural, singular } = makeMessages(names, language)
    return { heading, plural, singular }
  })
}

/** Makes a value in each language. A language that is not among them gets that of the first. */
export function inEach<Value> (
  languages: readonly PageLanguage[],
  make: (language: PageLanguage) => Value
): (lang: string) => Value {
  const made = lazy(() => new Map(languages.map((language) => [language.tag, make(language)])))
  return (lang) => made().get(lang) ?? [...made().values()][0] as Value
}
