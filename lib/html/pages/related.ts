import type { RelatedList } from '../../core/formats/format.js'
import type { Resource } from '../../core/resource/resource.js'
import type { HtmlView } from '../content.js'
import { raw } from '../html-tag.js'
import type { PageMessages, Translate } from '../messages.js'
import { wordsOf } from '../../core/util/words.js'
import type { Form, Link, RelatedRows } from '../views/model.js'

/** Makes the lists of the rows that belong to a row. */
export type MakeRelated = (view: HtmlView) => readonly RelatedRows[]

/**
 * Compiles the lists. If rows of one resource reference the row by several attributes, or those of its own resource do,
 * the labels tell them apart.
 */
export function compileRelated (
  { plural: own }: Pick<Resource, 'plural'>,
  messages: PageMessages,
  translate: Translate,
  lang: string
): MakeRelated {
  const { relatedBy, moreRelated, empty, new: newOf, all, rowsOf } = messages
  const numbers = new Intl.NumberFormat(lang)
  return ({ related }) => related.map(({ name, anchor, words, relation, href, newHref, total, table, create }) => {
    const { heading, plural, singular } = words(lang)
    const title = translate(heading)
    const rest = translate(plural)
    const isAlone = relation === undefined ||
      (name !== own && related.filter((other) => other.name === name).length === 1)
    const { rows = 0, most = Infinity } = total ?? {}
    const number = rows < most ? numbers.format(rows) : moreRelated(numbers.format(most - 1))
    const isCounted = rows > 1 && rows < most && plural !== messages.genericPlural
    return {
      label: isAlone ? title : relatedBy(title, translate(wordsOf(relation))),
      anchor,
      href,
      total: total && number,
      table: table === undefined ? undefined : raw(table),
      empty: empty(rest),
      all: { label: all(isCounted ? rowsOf(rows, number, rest, translate(singular)) : rest), href },
      create: create as Form | undefined,
      newLink: newHref === undefined ? undefined : { label: newOf(translate(singular)), href: newHref }
    }
  })
}

/** Rows of other resources that a deletion is about, as far as the request may list them. */
export interface Referrers {
  /** The number of rows of each list: `9 orders, 1 invoice`. */
  readonly text: string
  /** The number of all rows. */
  readonly rows: number
  /** The links to the lists. */
  readonly links: readonly Link[]
}

type Rule = Pick<RelatedList, 'onDelete'>
/** Returns whether these rows are deleted together with the row to which they refer. */
export const isDeleted = ({ onDelete }: Rule): boolean => onDelete === 'cascade'
/** Returns whether they refuse its deletion, as far as that is known. */
export const isRestricting = ({ onDelete }: Rule): boolean => onDelete !== 'cascade' && onDelete !== 'set null'

/** Counts the rows of lists. Returns `undefined` if there are none, or if they were not counted. */
export type CountReferrers = (lists: readonly RelatedList[]) => Referrers | undefined

/** Compiles the text with the numbers of rows. */
export function compileReferrers (messages: PageMessages, translate: Translate, lang: string): CountReferrers {
  const { rowsOf, relatedBy, moreRelated, listed, labelled, genericPlural, genericSingular } = messages
  const numbers = new Intl.NumberFormat(lang)
  return (lists) => {
    const counted = lists.flatMap(({ total, ...list }) =>
      total === undefined || total.rows === 0 ? [] : { ...list, total })
    if (counted.length === 0) return undefined
    const links = counted.map(({ name, words, relation, total: { rows, most = Infinity }, href }) => {
      const number = rows < most ? numbers.format(rows) : moreRelated(numbers.format(most - 1))
      const { heading, plural, singular } = words(lang)
      const isNamed = plural !== genericPlural && (rows !== 1 || singular !== genericSingular)
      const label = isNamed
        ? rowsOf(rows, number, translate(plural), translate(singular))
        : labelled(translate(heading), number)
      const isAlone = relation === undefined || counted.filter((other) => other.name === name).length === 1
      return { label: isAlone ? label : relatedBy(label, translate(wordsOf(relation))), href }
    })
    return {
      text: links.map(({ label }) => label).reduce(listed),
      rows: counted.reduce((sum, { total }) => sum + total.rows, 0),
      links
    }
  }
}
