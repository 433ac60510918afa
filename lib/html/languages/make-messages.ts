import type { Resource } from '../../core/resource/resource.js'
import { capitalize, wordsOf } from '../../core/util/words.js'
import { identity } from '../../core/util/functions.js'
import type { PageMessages } from '../messages.js'
import type { PageLanguage } from '../options.js'
import { ENGLISH } from './english.js'
import { compileOwn, compilePhrases, type FindTranslation, type Translate } from './phrases.js'

/** Returns the words of a resource's pages: those of the language, with the app's in their place. */
export function makeMessages (
  { plural, singular }: Pick<Resource, 'plural' | 'singular'>,
  { words, messages }: Pick<PageLanguage, 'words' | 'messages'>
): PageMessages {
  const translate = compileOwn(messages)
  return {
    ...ENGLISH,
    ...words?.messages,
    ...messages,
    plural: translate(messages.plural ?? capitalize(wordsOf(plural))),
    singular: translate(messages.singular ?? wordsOf(singular))
  }
}

/** Matches a message about a parameter, such as `"rating" must be an integer`. A label has no quotes. */
const OF_PARAMETER = /^"([^"]*)" (.*)$/s

/**
 * Compiles the translation of the server's texts: by the phrases of the app, or else by those of the language. A
 * message about a parameter may be that about an attribute.
 */
export function compileTranslation (
  { words, messages: { phrases = {} } }: PageLanguage,
  { fieldError }: PageMessages
): Translate {
  // Most pages show the texts of the server as they are.
  if (words === undefined && Object.keys(phrases).length === 0) return identity
  const findOwn = compilePhrases(phrases)
  const find: FindTranslation = (text) => findOwn(text) ?? words?.translate(text)
  return (text) => {
    const found = find(text)
    if (found !== undefined) return found
    const [, parameter = '', message = ''] = OF_PARAMETER.exec(text) ?? []
    const translated = find(message)
    return translated === undefined ? text : fieldError(parameter, translated)
  }
}
