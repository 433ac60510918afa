import type { Problem } from '../../../errors.js'
import type { Paths } from '../../../resource/path-helpers.js'
import type { Id } from '../../../resource/row.js'
import type { Attributes } from '../../../schema/types.js'
import type { View } from '../../format.js'
import type { Markup } from '../html-tag.js'
import type { PageMessages } from '../messages.js'
import type { Field, Form, HiddenField, Option } from './form-model.js'

export type * from './form-model.js'

/** What a page is made of. Texts are plain and are escaped by `html`; what is markup says so by its type. */
export type Page<A = Attributes> = ListPage<A> | RecordPage | EditPage | StalePage | ErrorPage

/** What every page has. */
export interface PageFrame {
  /** The title of the document, and its heading. */
  readonly title: string
  /** What is in front of this page: the list, unless this is the list, or there is none. */
  readonly parent: Link | undefined
  /** All that is in front of it, the parent last: the row that these rows belong to, the list. */
  readonly crumbs: readonly Link[]
  /** The resource as the app has declared it; `path` is that of the collection, or of a singleton. */
  readonly resource: {
    readonly plural: string
    readonly singular: string
    readonly path: string
    readonly singleton: boolean
  }
  /** The same in other formats; none of a page that answers a write. */
  readonly alternates: readonly Alternate[]
  /** The path of the stylesheet. */
  readonly stylesheet: string
  /** The language tag of the page (BCP 47). */
  readonly lang: string
  /** The direction that the language is written in. */
  readonly dir: 'ltr' | 'rtl'
  /** The words of the page. */
  readonly messages: PageMessages
  /** What the server says, in the words of the page. */
  readonly translate: (text: string) => string
  /** The paths of the app by name: `page.paths.newPost()`. */
  readonly paths: Paths
  /** Whether a parser of XML reads the page: it is sent as `application/xhtml+xml`. */
  readonly xhtml: boolean
  /** The request that is answered, for views that show who asks: `page.request.user`. */
  readonly request: View['request']
}

/** A link, or where a form is posted. */
export interface Link {
  /** What it says. */
  readonly label: string
  /** Path and query. */
  readonly href: string
}

/** The same content in another format. */
export interface Alternate extends Link {
  /** The media type of that format. */
  readonly mediaType: string
}

/** What the app lets be done beside the usual: with GET a link, else a form of one button. */
export interface PageAction extends Link {
  /** `publish` */
  readonly name: string
  /** A form asks for PUT and DELETE by a hidden field. */
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** The hidden fields of the form, which is posted to `href`. */
  readonly hidden: readonly HiddenField[]
}

/** Some rows of a resource. */
export interface ListPage<A = Attributes> extends PageFrame {
  /** Tells the pages apart. */
  readonly kind: 'list'
  /** In their order. */
  readonly columns: readonly Column[]
  /** Made when they are asked for. */
  readonly rows: ReadonlyArray<ListRow<A>>
  /** Whether there are no rows. */
  readonly isEmpty: boolean
  /** The rows as our own table, written at once: faster than from `rows`. */
  readonly table: Markup
  /** Undefined: this is the last. */
  readonly next: Link | undefined
  /** Undefined: this is the first. */
  readonly first: Link | undefined
  /** Undefined where the store cannot find rows by attributes. */
  readonly filter: FilterForm | undefined
  /** What can be done with all of them. */
  readonly actions: readonly PageAction[]
  /** Undefined where it has a page of its own, or no rows are created. */
  readonly create: Form | undefined
  /** To the page of that form; undefined where there is none. */
  readonly newLink: Link | undefined
}

/** A column of a list. */
export interface Column {
  /** The attribute, or `id`. */
  readonly name: string
  /** Its heading. */
  readonly label: string
  /** Whether it holds numbers. */
  readonly numeric: boolean
  /** The list in the order of this attribute, or in the opposite order where it is so already. */
  readonly sort: Link | undefined
  /** How the list is sorted by it, if it is what it is first sorted by. */
  readonly sorted: 'ascending' | 'descending' | undefined
}

/** A row, without what is `writeOnly`. */
export interface ListRow<A = Attributes> {
  /** By which paths and payloads name it. */
  readonly id: Id
  /** For `_version` in a form; the empty text where it has none. */
  readonly version: string
  /** Undefined where no row has a page. */
  readonly href: string | undefined
  /** As they are kept. */
  readonly attributes: A
  /** What stands in each column but that of the id. */
  readonly cells: readonly Markup[]
}

/** A form for the parameters of a list. */
export interface FilterForm {
  /** The path that is asked for, by a GET. */
  readonly action: string
  /** What else of the query is to stay. */
  readonly hidden: readonly HiddenField[]
  /** One for each attribute that the list can be asked for. */
  readonly fields: readonly FilterField[]
  /** The list without any filter; undefined where there is none. */
  readonly clear: Link | undefined
}

/** A field of a filter. */
export interface FilterField {
  /** Of the control. */
  readonly id: string
  /** Of the parameter. */
  readonly name: string
  /** That of the attribute. */
  readonly label: string
  /** What is asked for; the empty text: anything. */
  readonly value: string
  /** Of a boolean or an enumeration; else a text is asked for. */
  readonly options: readonly Option[] | undefined
  /** The keyboard that suits a number; undefined for a text. */
  readonly inputMode: 'numeric' | 'decimal' | undefined
}

/** One row. */
export interface RecordPage extends PageFrame {
  /** Tells the pages apart. */
  readonly kind: 'record'
  /** Of a singleton the empty text. */
  readonly id: Id
  /** The empty text where the row has none. */
  readonly version: string
  /** What can be done with it. */
  readonly actions: readonly PageAction[]
  /** To what belongs to it. */
  readonly children: readonly Link[]
  /** The attributes that are shown, in their order. */
  readonly values: readonly Value[]
  /** Undefined where it has a page of its own, or rows are not updated. */
  readonly edit: Form | undefined
  /** To the page of that form; undefined where there is none. */
  readonly editLink: Link | undefined
  /** Undefined where rows are not deleted. */
  readonly delete: Form | undefined
}

/** An attribute as it is shown. */
export interface Value {
  /** Of the attribute. */
  readonly name: string
  /** What people call it. */
  readonly label: string
  /** What a link in a list leads to. */
  readonly anchor: string
  /** As it is kept. */
  readonly value: unknown
  /** All of it, as people read it. */
  readonly markup: Markup
}

/** A form for itself: one that has been refused, that has been given other rows, or that has a path of its own. */
export interface EditPage extends PageFrame {
  /** Tells the pages apart. */
  readonly kind: 'edit'
  /** With what is wrong with it; undefined where the resource does not do what it is for. */
  readonly form: Form | undefined
}

/** What somebody else has saved since a form was opened. */
export interface StalePage extends PageFrame {
  /** Tells the pages apart. */
  readonly kind: 'stale'
  /** Of a singleton the empty text. */
  readonly id: Id
  /** The row as it is; undefined where no row has a page. */
  readonly href: string | undefined
  /** The row as it is, attribute by attribute. */
  readonly current: readonly Value[]
  /** What differs, in the order of the attributes; empty of a deletion. */
  readonly conflicts: readonly Conflict[]
  /** To save or to delete once more, with the fields that do not differ. Undefined of an action of the app's own. */
  readonly form: Form | undefined
}

/** An attribute that two have changed. */
export interface Conflict {
  /** What people call it. */
  readonly label: string
  /** What was sent, as it is shown. */
  readonly yours: Markup
  /** What there is now. */
  readonly theirs: Markup
  /** The control that has what was sent. */
  readonly field: Field
  /** The field that says which of them is to stay, `yours` or `theirs`. */
  readonly choice: { readonly name: string, readonly id: string, readonly keep: 'yours' | 'theirs' }
}

/** Whatever is refused or has failed. */
export interface ErrorPage extends PageFrame {
  /** Tells the pages apart. */
  readonly kind: 'error'
  /** What other formats say of it. */
  readonly problem: Problem
  /** What it says, in the words of the page. */
  readonly texts: readonly string[]
  /** To make the singleton that there is none of; undefined of every other error. */
  readonly create: Form | undefined
}
