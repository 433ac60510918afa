import type { Resource } from '../../../resource/resource.js'
import { capitalize } from '../../../util/capitalize.js'
import type { PageMessages } from '../messages.js'
import { wordsOf } from '../names.js'
import type { PageLanguage } from '../options.js'
import { ENGLISH } from './english.js'
import { compilePhrases, type Translate } from './phrases.js'

/** Returns the words of a resource's pages: those of the language, with the app's in their place. */
export function makeMessages (
  { plural, singular }: Pick<Resource, 'plural' | 'singular'>,
  { words, messages }: Pick<PageLanguage, 'words' | 'messages'>
): PageMessages {
  return {
    ...ENGLISH,
    ...words?.messages,
    plural: capitalize(wordsOf(plural)),
    singular: wordsOf(singular),
    ...messages
  }
}

/** Compiles the translation of the server's texts: by the phrases of the app, or else by those of the language. */
export function compileTranslation ({ words, messages: { phrases = {} } }: PageLanguage): Translate {
  const find = compilePhrases(phrases)
  return (text) => find(text) ?? words?.translate(text) ?? text
}
