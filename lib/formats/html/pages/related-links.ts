import type { View } from '../../format.js'
import type { PageMessages } from '../messages.js'
import type { Translate } from '../languages/phrases.js'
import { wordsOf } from '../names.js'
import type { RelatedLink } from '../views/model.js'
import { nameInWords } from './action-buttons.js'

/** Makes the links from a row to the lists of the rows that reference it. */
export type MakeRelatedLinks = (view: View) => readonly RelatedLink[]

/** Compiles the links. If rows of one resource reference the row by several attributes, the labels tell them apart. */
export function compileRelatedLinks (
  { relatedBy, moreRelated }: PageMessages,
  translate: Translate,
  lang: string
): MakeRelatedLinks {
  const numbers = new Intl.NumberFormat(lang)
  return ({ related }) => related.map(({ name, relation, href, total }) => {
    const label = translate(nameInWords(name))
    const isAlone = related.filter((other) => other.name === name).length === 1
    const { rows = 0, most = Infinity } = total ?? {}
    return {
      label: isAlone ? label : relatedBy(label, translate(wordsOf(relation))),
      href,
      total: total && (rows < most ? numbers.format(rows) : moreRelated(numbers.format(most - 1)))
    }
  })
}
