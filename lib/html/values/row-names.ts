import type { Resource } from '../../core/resource/resource.js'
import type { Id, Row } from '../../core/resource/row.js'
import type { Property } from '../../core/schema/shape.js'
import type { Attributes } from '../../core/schema/types.js'
import { abbreviate, capitalize, wordsOf } from '../../core/util/words.js'
import type { LinkedRows } from '../../core/formats/format.js'
import { keywordsOf } from '../forms/constraints.js'
import type { PageMessages } from '../messages.js'
import type { ShownAttribute, ShownAttributes } from './shown-attributes.js'

/** The option `title`: an attribute, or a function that returns the name of a row. `'id'` names rows by their ids. */
export type RowTitle = string | ((row: Row) => string | undefined)

/** The name of a row, alone and within a sentence: `Post 1` and `post 1`, or twice its title. */
export interface RowName {
  readonly alone: string
  readonly within: string
}

/** The maximum length of a name, in characters. */
const LONGEST_NAME = 100

/** Names the rows of a resource by their titles. A row without a title has its id as its name: `Post 1`. */
export class RowNames {
  /** The attribute whose values are the titles, if it is one. */
  readonly attribute: ShownAttribute | undefined
  /** The names of the attributes that the titles are made of, as far as they are known. */
  readonly parts: readonly string[]
  /** The heading of the titles in a list, or `undefined` if rows have no titles. */
  readonly label: string | undefined
  /** Whether the app says that rows are named by their ids. */
  readonly isById: boolean
  /** Whether the titles are made of the names of other rows, as those of a join table are. */
  readonly isJoin: boolean
  readonly #resource: Resource
  readonly #messages: PageMessages
  readonly #read: (row: Row, links: LinkedRows) => readonly unknown[]

  constructor (
    resource: Resource,
    shown: ShownAttributes,
    messages: PageMessages,
    { title, references }: { readonly title: RowTitle | readonly string[], readonly references: Names }
  ) {
    const names = typeof title === 'function' || title === 'id' ? [] : [title].flat()
    const parts = names.map((name) => shown.find(name)).filter((part) => part !== undefined)
    const isJoined = typeof title === 'function' || parts.length > 1
    this.attribute = isJoined ? undefined : parts[0]
    this.parts = parts.map(({ name }) => name)
    this.isById = title === 'id'
    this.isJoin = parts.length > 1 && parts.every(({ name }) => references.has(name))
    this.label = isJoined ? capitalize(messages.singular) : parts[0]?.label
    this.#resource = resource
    this.#messages = messages
    this.#read = typeof title === 'function'
      ? (row) => [title(row)]
      : this.isJoin
        ? ({ attributes }, links) => nameSides(parts, attributes, links)
        : ({ attributes }) => parts.map((part) => part.read(attributes))
  }

  /**
   * Returns the title of a row, or `undefined` if it has none.
   * @param links the rows that it references, which a row of a join table is named by
   */
  titleOf (row: Row, links: LinkedRows = NO_LINKS): string | undefined {
    const texts = this.#read(row, links).map((value) =>
      typeof value === 'number' ? String(value) : typeof value === 'string' ? value.trim() : '')
    const text = texts.filter((text) => text !== '').join(this.isJoin ? ' \u00b7 ' : ' ')
    return text === '' ? undefined : abbreviate(text, LONGEST_NAME)
  }

  /** Returns the name of a row, of which only the id may be known. */
  of (id: Id, row?: Row, links?: LinkedRows): RowName {
    const { record, singular } = this.#messages
    const title = row && this.titleOf(row, links)
    if (title !== undefined) return { alone: title, within: title }
    const within = this.#resource.singleton ? singular : record(singular, shorten(id))
    return { alone: capitalize(within), within }
  }
}

const NO_LINKS: LinkedRows = new Map()

/** Names the rows that a row references, as far as they were looked up. There are no names if none of them is known. */
function nameSides (parts: readonly ShownAttribute[], attributes: Attributes, links: LinkedRows): readonly unknown[] {
  const sides = parts.filter(({ name }) => links.has(name)).map(({ name, read }) => {
    const value = read(attributes)
    return { value, name: links.get(name)?.get(value)?.name }
  })
  return sides.some(({ name }) => name !== undefined) ? sides.map(({ name, value }) => name ?? value) : []
}

// Matches a UUID, and its last group, which is random in every version.
const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-([\da-f]{12})$/

/** Returns the last group of a UUID, because a line must not break a name. Other ids stay as they are. */
function shorten (id: Id): Id {
  return UUID.exec(String(id))?.[1] ?? id
}

/** The names of some attributes. */
type Names = Pick<ReadonlySet<string>, 'has'>

/** The words of the two names of a person, without spaces. */
const FIRST = /^(?:(?:first|given|f)name|given|forename)$/
const LAST = /^(?:(?:last|family|l)name|family|surname)$/
/** The words of texts that usually name a row. */
const TITLE = /^(?:name|title|label|subject)$/
/** The words of texts that name a row if every row has one, such as `company_name`. */
const NAME = / name$/
/** A word of texts that name no row, because nobody can read them or nobody should. */
const UNREADABLE = /\b(?:api|auth|password)?(?:key|token|secret|hash|password|passwd|pwd|uuid|guid|salt)s?\b/

/**
 * Finds the attributes whose values, one after the other, name the rows of a resource: those with the first and the
 * last name of a person, or else a text such as `name` or `company_name`, a unique text, or the first required one.
 * A join table has those of its key. There are none if rows are known by their ids. The `title` of a person is that of
 * a job, which others have, too.
 */
export function findTitleAttributes (
  { attributes, singleton, key }: Pick<Resource, 'attributes' | 'singleton' | 'key'>,
  { references, unique }: { readonly references: Names, readonly unique: Names }
): readonly string[] {
  if (singleton) return []
  if (key.length > 1 && key.every((name) => references.has(name))) return key
  const isKey = ({ name }: Property): boolean => key.length === 1 && key[0] === name
  const texts = [...attributes.values()]
    .map((property) => ({ ...property, words: wordsOf(property.name).toLowerCase() }))
    .filter(({ words, ...property }) =>
      isReadable(property) && !references.has(property.name) && (!UNREADABLE.test(words) || isKey(property)))
  const find = (pattern: RegExp): string | undefined =>
    texts.find(({ words }) => pattern.test(words.replaceAll(' ', '')))?.name
  const [first, last] = [find(FIRST), find(LAST)]
  if (first !== undefined && last !== undefined) return [first, last]
  // The description of a database says which texts many rows have in common.
  const alone = texts.filter(({ name, schema }) => schema['x-repeats'] !== true || unique.has(name))
  // A name that a row may lack, such as the `ship_name` of an order, often is that of something else.
  const named = (alone.find(({ words }) => TITLE.test(words)) ??
    alone.find(({ name, words, required }) => NAME.test(words) && (required || unique.has(name))))?.name
  if (named !== undefined) return [named]
  // Other rows have the same value in a part of their keys.
  const own = alone.filter(({ name }) => key.length < 2 || !key.includes(name))
  const telling = own.find(({ name }) => unique.has(name))
  const found = telling ?? own.find(isShort)
  // A name that several rows have is told apart by a text that only one has.
  const shared = telling && texts.find(({ words }) => TITLE.test(words))
  return [shared, found].flatMap((property) => property?.name ?? [])
}

/** Returns whether an attribute is a text that pages show as it is: neither an address nor a choice. */
function isReadable ({ writeOnly, schema, shape: { only, format, encoding, choices, titles } }: Property): boolean {
  const others = [format, encoding, choices, keywordsOf(schema).contentMediaType]
  return !writeOnly && only === 'string' && others.every((it) => it === undefined) && titles.size === 0
}

/** Returns whether each row has a text of its own, of which a name can show the most part. */
function isShort ({ required, schema }: Property): boolean {
  const { maxLength = 0, default: fallback } = keywordsOf(schema)
  return required && fallback === undefined && Number(maxLength) <= 2 * LONGEST_NAME
}
