import type { Problem } from '../../core/errors.js'
import type { Paths } from '../../core/routes/path-helpers.js'
import type { Id } from '../../core/resource/row.js'
import type { Attributes } from '../../core/schema/types.js'
import type { View } from '../../core/formats/format.js'
import type { Navigation } from '../../core/formats/view.js'
import type { Markup } from '../html-tag.js'
import type { PageBrand } from '../style/brand.js'
import type { PageMessages, Translate } from '../messages.js'
import type { FilterForm, SearchField } from './filter-model.js'
import type { Button, Field, Form, HiddenField, Link } from './form-model.js'

export type * from './filter-model.js'
export type * from './form-model.js'

/** The model of a page. Its texts are plain, and `markup` escapes them; markup has the type `Markup`. */
export type Page<A = Attributes> = ListPage<A> | RecordPage | EditPage | ChoosePage | StalePage | ErrorPage

/** The members of every page. */
export interface PageFrame {
  /** The title of the document, which is also its heading. */
  readonly title: string
  /** The last of the `crumbs`, or `undefined` if there are none. */
  readonly parent: Link | undefined
  /** The links to the pages above this one: the parent row, then the list. */
  readonly crumbs: readonly Link[]
  /** The bar with the links of the app, or `undefined` if it has no home page above this one. */
  readonly navigation: Navigation | undefined
  /** The resource as the app has declared it. `path` is the path of the collection, or of the singleton. */
  readonly resource: {
    readonly plural: string
    readonly singular: string
    readonly path: string
    readonly singleton: boolean
  }
  /** The links to the same content in other formats. Only pages of lists and rows have them. */
  readonly alternates: readonly Alternate[]
  /** The path of the stylesheet. */
  readonly stylesheet: string
  /** The option `brand`. The functions in it have been called. */
  readonly brand: PageBrand
  /** The language tag of the page (BCP 47). */
  readonly lang: string
  /** The direction of the language. */
  readonly dir: 'ltr' | 'rtl'
  /** The words of the page. */
  readonly messages: PageMessages
  /** Translates a message of the server, or a text of the app, into the language of the page. */
  readonly translate: Translate
  /** The path helpers of the app: `page.paths.newPost()`. */
  readonly paths: Paths
  /** Whether the page is sent as `application/xhtml+xml`, which XML parsers read. */
  readonly xhtml: boolean
  /** The request that is answered. Views can show the user: `page.request.user`. */
  readonly request: View['request']
}

/** A link to the same content in another format. */
export interface Alternate extends Link {
  /** The media type of that format. */
  readonly mediaType: string
}

/** A custom action: a link if its method is GET, otherwise a form with one button. */
export interface PageAction extends Link {
  /** The name of the action: `publish`. */
  readonly name: string
  /** The method. A form sends PUT and DELETE in a hidden field. */
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** The hidden fields of the form, which is posted to `href`. */
  readonly hidden: readonly HiddenField[]
}

/** A page of rows. */
export interface ListPage<A = Attributes> extends PageFrame {
  /** The kind of page, which distinguishes the types of pages. */
  readonly kind: 'list'
  /** The columns, in their order. */
  readonly columns: readonly Column[]
  /** The rows. Each access makes them anew. */
  readonly rows: ReadonlyArray<ListRow<A>>
  /** Whether there are no rows. */
  readonly isEmpty: boolean
  /** The rows as the default table. It is written faster than from `rows`. */
  readonly table: Markup
  /** The number of all rows in words, or `undefined` if they were not counted or there are none here. */
  readonly total: string | undefined
  /** The place of the page in the list in words, or `undefined` if it is not known or the page is the whole list. */
  readonly range: string | undefined
  /** The link to the previous page, or `undefined` on the first page. */
  readonly previous: Link | undefined
  /** The link to the next page, or `undefined` on the last page. */
  readonly next: Link | undefined
  /** The link to the first page, or `undefined` on that page. */
  readonly first: Link | undefined
  /** The filter, or `undefined` if there is nothing to filter by. */
  readonly filter: FilterForm | undefined
  /** The custom actions of the collection. */
  readonly actions: readonly PageAction[]
  /** The form for a new row, or `undefined` if it has its own page or rows cannot be created. */
  readonly create: Form | undefined
  /** The link to the page of that form, or `undefined` if there is none. */
  readonly newLink: Link | undefined
}

/** A column of a list. */
export interface Column {
  /** The name of the attribute, or `id`. */
  readonly name: string
  /** The heading. */
  readonly label: string
  /** Whether the column has numbers. */
  readonly numeric: boolean
  /** The link that sorts by this column, or reverses the order. `undefined` if the list cannot be sorted by it. */
  readonly sort: Link | undefined
  /** The direction, if the query sorts by this column first, or `undefined` if not. */
  readonly sorted: 'ascending' | 'descending' | undefined
}

/** A row, without `writeOnly` values. */
export interface ListRow<A = Attributes> {
  /** The id in paths and payloads. */
  readonly id: Id
  /** The version for the field `_version` of a form, or the empty text if the row has none. */
  readonly version: string
  /** The name of the row: its title, or else `Post 1`. */
  readonly title: string
  /** The path of the row, or `undefined` if rows have no pages. */
  readonly href: string | undefined
  /** The attributes, as they are stored. */
  readonly attributes: A
  /** The content of each column. */
  readonly cells: readonly Markup[]
}

/** The page of one row. */
export interface RecordPage extends PageFrame {
  /** The kind of page, which distinguishes the types of pages. */
  readonly kind: 'record'
  /** The id of the row, or the empty text for a singleton. */
  readonly id: Id
  /** The version of the row, or the empty text if it has none. */
  readonly version: string
  /** The custom actions of the row. */
  readonly actions: readonly PageAction[]
  /** The links to nested singletons. */
  readonly children: readonly Link[]
  /** The lists of the rows that belong to this one, as far as the request may list them. */
  readonly related: readonly RelatedRows[]
  /** The visible attributes, in their order. The default view folds away the blank ones. */
  readonly values: readonly Value[]
  /** The form for the row, or `undefined` if it has its own page or rows cannot be updated. */
  readonly edit: Form | undefined
  /** The link to the page of that form, or `undefined` if there is none. */
  readonly editLink: Link | undefined
  /** The form that deletes the row, or `undefined` if rows cannot be deleted. */
  readonly delete: Form | undefined
}

/** The list of the rows that belong to a row: they reference it, or are nested in it. It links to the whole list. */
export interface RelatedRows extends Link {
  /** The number of these rows in words, or `undefined` if they were not counted. */
  readonly total: string | undefined
  /** The first of these rows as a table, or `undefined` if there are none, or if they may not be shown here. */
  readonly table: Markup | undefined
  /** The text for no rows. */
  readonly empty: string
  /** The link to all of these rows. */
  readonly all: Link
  /** The link to the form for a new row, or `undefined` if the request may not create one. */
  readonly newLink: Link | undefined
}

/** An attribute and its value. */
export interface Value {
  /** The name of the attribute. */
  readonly name: string
  /** The label of the attribute. */
  readonly label: string
  /** The id of the element. The link of a clipped cell leads to it. */
  readonly anchor: string
  /** The value, as it is stored. */
  readonly value: unknown
  /** The value, as readable markup. */
  readonly markup: Markup
}

/** A page that only has a form: it was refused, its rows have changed, or it has its own path. */
export interface EditPage extends PageFrame {
  /** The kind of page, which distinguishes the types of pages. */
  readonly kind: 'edit'
  /** The form with its errors, or `undefined` if the resource does not have its action. */
  readonly form: Form | undefined
}

/** The rows that an attribute of a form can reference, to choose one. Its hidden fields keep what was typed. */
export interface ChoosePage extends PageFrame {
  /** The kind of page, which distinguishes the types of pages. */
  readonly kind: 'choose'
  /** The path that each button posts the form to. */
  readonly action: string
  /** The hidden fields: the whole form that the page was opened from. */
  readonly hidden: readonly HiddenField[]
  /** The search, or `undefined` if the rows cannot be searched. */
  readonly search: SearchField | undefined
  /** The rows, each with the button that chooses it. The label of the button is the name of the row. */
  readonly rows: ReadonlyArray<{ readonly name: string, readonly id: string, readonly choose: Button }>
  /** The text in place of the rows if there are none. */
  readonly empty: string
  /** The button that chooses no row, or `undefined` if one is required. */
  readonly none: Button | undefined
  /** The button that shows the next rows, or `undefined` if there are none. */
  readonly next: Button | undefined
  /** The button that leads back to the form. */
  readonly back: Button
}

/** A conflict: somebody else has saved the row since the form was opened. */
export interface StalePage extends PageFrame {
  /** The kind of page, which distinguishes the types of pages. */
  readonly kind: 'stale'
  /** The id of the row, or the empty text for a singleton. */
  readonly id: Id
  /** The path of the row, or `undefined` if rows have no pages. */
  readonly href: string | undefined
  /** The attributes of the row, as it is now. */
  readonly current: readonly Value[]
  /** The attributes that somebody else has changed, in their order. A deletion has none. */
  readonly conflicts: readonly Conflict[]
  /** The form that saves or deletes again, with all other fields as they were sent. `undefined` for a custom action. */
  readonly form: Form | undefined
}

/** An attribute that somebody else has changed since the form was opened. */
export interface Conflict {
  /** Whether the user has changed it too. If not, the field has the old value, and theirs is chosen. */
  readonly changedBy: 'both' | 'them'
  /** The label of the attribute. */
  readonly label: string
  /** The value that was sent, as markup. */
  readonly yours: Markup
  /** The value that is stored now, as markup. */
  readonly theirs: Markup
  /** The control with the value that was sent. */
  readonly field: Field
  /** The field that says which value stays: `yours` or `theirs`. `keep` is the initial choice. */
  readonly choice: { readonly name: string, readonly id: string, readonly keep: 'yours' | 'theirs' }
}

/** Any other error. */
export interface ErrorPage extends PageFrame {
  /** The kind of page, which distinguishes the types of pages. */
  readonly kind: 'error'
  /** The error, as other formats render it. */
  readonly problem: Problem
  /** The messages, in the words of the page. */
  readonly texts: readonly string[]
  /** The form that creates a missing singleton, or `undefined` for every other error. */
  readonly create: Form | undefined
}
