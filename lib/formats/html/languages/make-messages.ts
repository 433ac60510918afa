import type { Resource } from '../../../resource/resource.js'
import { capitalize } from '../../../util/capitalize.js'
import type { PageMessages } from '../messages.js'
import { wordsOf } from '../names.js'
import { ENGLISH } from './english.js'

/** Returns the words of a resource's pages: the English ones, with the app's in their place. */
export function makeMessages (
  { plural, singular }: Pick<Resource, 'plural' | 'singular'>,
  given: Partial<PageMessages>
): PageMessages {
  return {
    ...ENGLISH,
    plural: capitalize(wordsOf(plural)),
    singular: wordsOf(singular),
    ...given
  }
}
