import type { FastifyRequest } from 'fastify'
import type { Messages } from '../errors.js'
import type { Location } from '../resource/location.js'
import type { Id, Row } from '../resource/row.js'
import type { Attributes } from '../schema/types.js'
import type { Count, OnDelete, Order } from '../stores/store.js'
import type { OpenCondition } from './form/condition.js'
import type { ChoiceField } from './form/parse.js'
import type { Resource } from '../resource/resource.js'

/** The names of a resource on pages in one language. */
export interface ResourceWords {
  /** The name of its list, or of the only record of a singleton: `Blog posts`. */
  readonly heading: string
  /** The plural name: `Blog posts`. */
  readonly plural: string
  /** The singular name within a sentence: `blog post`. */
  readonly singular: string
}

/** The list of the rows that belong to the row of a page: they reference it, or are nested in it. */
export interface RelatedList {
  /** The plural name of their resource: `albums`. */
  readonly name: string
  /** The id of the list on the page, to which a form of the list leads back. */
  readonly anchor: string
  /** The singular name of their resource: `album`. */
  readonly singular: string
  /** Returns the names of their resource in a language. */
  readonly words: (lang: string) => ResourceWords
  /** What they call the row that they reference: `artist` for `artistId`. `undefined` for nested rows. */
  readonly relation: string | undefined
  /** What deleting the row of the page does to these rows, or `undefined` if it is not known. */
  readonly onDelete: OnDelete | undefined
  /** The path and query of the list. */
  readonly href: string
  /** The path of the form for a new row, or `undefined` if the request may not create one. */
  readonly newHref: string | undefined
  /** The number of these rows, perhaps cut off at `most`; `undefined` if they were not counted. */
  readonly total: PageView['total']
  /** The first of these rows, as the `table` of their own writer; `undefined` if there are none to show. */
  readonly table: string | undefined
  /** The form for one more of these rows, as the `add` of their own writer. @default none */
  readonly create?: unknown
}

/** The details of a request that a table of rows may show besides them. */
export interface TableView extends Pick<View, 'location' | 'request'> {
  /** The rows that the rows of the table reference, as far as the request may see them. */
  readonly links: LinkedRows
  /** The attribute that the table leaves out, because all its rows have the same value. */
  readonly without: string
  /** The other reference of the rows of a join table, and whether the page removes them. @default another table */
  readonly joined?: { readonly attribute: string, readonly canRemove: boolean } | undefined
}

/** The rows that others reference: by the attribute that has their ids, and then by id. */
export type LinkedRows = ReadonlyMap<string, ReadonlyMap<unknown, LinkedRow>>

/** A row that another one references. */
export interface LinkedRow {
  /** The name of the row, or `undefined` if it is not known. Then its id stands for it. */
  readonly name: string | undefined
  /** The path of its page, or `undefined` if it has none. */
  readonly href: string | undefined
}

/** A row that a form can reference. */
export interface ChoiceRow {
  /** The value of the attribute: the id, or the key. */
  readonly id: Id
  /** The name, which the user chooses. */
  readonly name: string
}

/** The rows that an attribute can reference, for the choice in a form. */
export interface ReferenceChoices {
  /** The rows that the request may list, ordered by name; `undefined` if there are more than 50. */
  readonly rows: readonly ChoiceRow[] | undefined
  /** The names of other rows that the form shows, by the texts of their ids, as far as the request may see them. */
  readonly names: ReadonlyMap<string, string>
}

/** The rows that a user can choose from, for an attribute of a form or of a condition. */
export interface RowSearch {
  /**
   * Writes the rows with a button each, their search and their filter, as the `choices` of their own writer.
   * @param nameOf returns the name of a field
   * @param boxes choose several rows, in place of the buttons. @default buttons
   */
  write (nameOf: NameChoiceField, boxes?: ChoiceBoxes): string
}

/** Returns the name of a field of a page on which a user chooses a row. `chosen` is the button of a row. */
export type NameChoiceField = (field: ChoiceField | 'chosen') => string

/** The boxes of a page on which a user chooses several rows. */
export interface ChoiceBoxes {
  /** The name of each box. */
  readonly name: string
  /** The values that are chosen already. The writer removes those whose boxes it has ticked. */
  readonly chosen: Set<string>
}

/** The rows of a page on which a user chooses one, and their list. */
export interface ChoicesView extends Pick<PageView, 'location' | 'request' | 'parameters' | 'openCondition'> {
  /** The rows that these rows reference, as far as the request may see them. */
  readonly links: LinkedRows
  readonly nameOf: NameChoiceField
  /** The boxes that choose several rows, or `undefined` for buttons that choose one. */
  readonly boxes?: ChoiceBoxes | undefined
  /** Returns the value that stands for a row: its id, or its key. */
  readonly valueOf: (row: Row) => Id
  /** The queries of the previous and the next page, or `undefined` if there is none. */
  readonly prev: string | undefined
  readonly next: string | undefined
}

/** The details of a request that its answer may show besides the row. */
export interface View {
  /** The media type of the answer, without parameters. */
  readonly mediaType: string
  /** The client's input, for a form that is shown again; `undefined` without one. */
  readonly input: Input | undefined
  /** The action: `update`, or the name of a custom action; `undefined` if a request fails before it is known. */
  readonly action: string | undefined
  /** The paths of the resource for this request. */
  readonly location: Location
  /** The request that is answered. */
  readonly request: FastifyRequest
  /** The thrown value, if the answer is an error. */
  readonly thrown?: unknown
  /** What `prepare` of the writer has found; `undefined` without it. */
  readonly content: unknown
  /** The attributes with which the form for a new row begins, besides defaults: those that the query names. */
  readonly prefilled: Attributes
}

/** The details of a request that the page of a list may show besides the rows. */
export interface PageView extends View {
  /** The path and query of the previous page, or `undefined` if there is none. */
  readonly prev: string | undefined
  /** The path and query of the next page, or `undefined` if there is none. */
  readonly next: string | undefined
  /** The requested path: `/posts` or `/posts.html`. */
  readonly path: string
  /** The same path without a suffix. For a custom action, it is the path of that action. */
  readonly list: string
  /** The name of that custom action, whose rows the query cannot sort, filter or page. `undefined` for a usual list. */
  readonly own: string | undefined
  /** The query parameters, without `after`, `before` and `offset`, and without the blank fields of a filter form. */
  readonly parameters: Readonly<Record<string, string>>
  /** The condition whose fields the page shows, or `undefined` for none. */
  readonly openCondition: OpenCondition | undefined
  /** The order of the rows. */
  readonly order: Order
  /** The number of all rows, perhaps cut off at `most`; `undefined` if they were not counted. */
  readonly total: (Count & { readonly most?: number | undefined }) | undefined
  /** The numbers of the first and the last row of the page, counted from 1; `undefined` if they are not known. */
  readonly range: readonly [first: number, last: number] | undefined
  /** The requested cursor after which the page begins; `undefined` for the first page. */
  readonly after: string | undefined
  /** The requested cursor before which the page ends; empty for the last page, or `undefined`. */
  readonly before: string | undefined
  /** The requested number of rows before the page, or `undefined`. */
  readonly offset?: string | undefined
}

/** The input of a write, as a form has sent it. */
export interface Input {
  /** The id of the row that the write is about, or `undefined` if it names none. */
  readonly id: Id | undefined
  /** The version that the form had, or else the current version of that row. */
  readonly version: string | undefined
  /** The key that the form had, which it keeps until it has written something. @default undefined */
  readonly key?: string | undefined
  /** The group of attributes, as a node of the form's reader. */
  readonly node: unknown
  /** The values of the attributes, as far as they could be read. */
  readonly attributes: Attributes
  /** The stored row that the write is about, or `undefined` if there is none. */
  readonly row: Row | undefined
  /** The error messages by attribute; empty if nothing is wrong. */
  readonly errors: Messages
}

/** The bar of all pages: the home page, and the lists of the app. */
export interface Navigation {
  /** The title of the app, which is the text of the link to the home page. */
  readonly title: string
  /** The path of the home page. */
  readonly href: string
  /** Whether the page is the home page. */
  readonly isCurrent: boolean
  /** The links to lists, and to singletons. */
  readonly links: readonly NavigationLink[]
  /** Whether the home page links to more than these. */
  readonly hasMore: boolean
  /** Whether it links to tables of a database. */
  readonly hasTables: boolean
}

/** A link of the bar. */
export interface NavigationLink {
  /** The text of the link. */
  readonly label: string
  /** The path. */
  readonly href: string
  /** Whether the page belongs to that list. */
  readonly isCurrent: boolean
}

/** A link that a bar may have. */
export interface PossibleLink extends NavigationLink {
  readonly resource: Resource
  /** Whether `authorize` or a scope decides for each request if it may open the list. */
  readonly isGuarded: boolean
  /** Links with more weight come first where there is no room for all. */
  readonly weight: number
}

/** The bar of the pages of a resource, with all links that one of its pages may have. */
export type PossibleNavigation =
  Pick<Navigation, 'title' | 'href' | 'hasTables'> & { readonly links: readonly PossibleLink[] }

/** The resources whose lists a request may not open, as far as was asked; `undefined` if nothing was asked. */
export type Unlisted = ReadonlySet<Pick<Resource, 'plural'>> | undefined
