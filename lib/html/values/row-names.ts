import type { Resource } from '../../core/resource/resource.js'
import type { Id, Row } from '../../core/resource/row.js'
import type { Property } from '../../core/schema/shape.js'
import { abbreviate, capitalize } from '../../core/util/words.js'
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
  /** The heading of the titles in a list, or `undefined` if rows have no titles. */
  readonly label: string | undefined
  readonly #resource: Resource
  readonly #messages: PageMessages
  readonly #read: (row: Row) => unknown

  constructor (
    resource: Resource,
    shown: ShownAttributes,
    messages: PageMessages,
    title: RowTitle | undefined = findTitleAttribute(resource)
  ) {
    const attribute = typeof title === 'function' || title === 'id' ? undefined : shown.find(title)
    this.attribute = attribute
    this.label = typeof title === 'function' ? capitalize(messages.singular) : attribute?.label
    this.#resource = resource
    this.#messages = messages
    this.#read = typeof title === 'function'
      ? title
      : attribute === undefined ? () => undefined : ({ attributes }) => attribute.read(attributes)
  }

  /** Returns the title of a row, or `undefined` if it has none. */
  titleOf (row: Row): string | undefined {
    const value = this.#read(row)
    const text = typeof value === 'number' ? String(value) : typeof value === 'string' ? value.trim() : ''
    return text === '' ? undefined : abbreviate(text, LONGEST_NAME)
  }

  /** Returns the name of a row, of which only the id may be known. */
  of (id: Id, row?: Row): RowName {
    const { record, singular } = this.#messages
    const title = row && this.titleOf(row)
    if (title !== undefined) return { alone: title, within: title }
    const within = this.#resource.singleton ? singular : record(singular, shorten(id))
    return { alone: capitalize(within), within }
  }
}

// Matches a UUID, and its last group, which is random in every version.
const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-([\da-f]{12})$/

/** Returns the last group of a UUID, because a line must not break a name. Other ids stay as they are. */
function shorten (id: Id): Id {
  return UUID.exec(String(id))?.[1] ?? id
}

/** Finds the first required text that is short, has no default and is neither an id, an address nor a choice. */
export function findTitleAttribute ({ attributes, singleton }: Pick<Resource, 'attributes' | 'singleton'>): string {
  return singleton ? 'id' : [...attributes.values()].find(isTitle)?.name ?? 'id'
}

function isTitle ({ required, writeOnly, schema, shape }: Property): boolean {
  const { only, format, encoding, choices, titles } = shape
  const { maxLength = 0, contentMediaType, default: fallback } = keywordsOf(schema)
  const others = [format, encoding, choices, contentMediaType, fallback]
  const isText = only === 'string' && others.every((it) => it === undefined)
  return required && !writeOnly && isText && titles.size === 0 && Number(maxLength) <= 2 * LONGEST_NAME
}
