import type { Problem } from '../../../errors.js'
import type { Paths } from '../../../resource/path-helpers.js'
import type { Id } from '../../../resource/row.js'
import type { Attributes } from '../../../schema/types.js'
import type { View } from '../../format.js'
import type { Markup } from '../html-tag.js'
import type { PageMessages } from '../messages.js'

/** What a page is made of. Texts are plain and are escaped by `html`; what is markup says so by its type. */
export type Page<A = Attributes> = ListPage<A> | RecordPage | EditPage | StalePage | ErrorPage

/** What every page has. */
export interface PageFrame {
  /** Of the document, and its heading. */
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
  /** Of that format. */
  readonly mediaType: string
}

/** What the app lets be done beside the usual: with GET a link, else a form of one button. */
export interface PageAction extends Link {
  /** `publish` */
  readonly name: string
  /** A form asks for PUT and DELETE by a hidden field. */
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Of the form, which is posted to `href`. */
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
  /** To save or to delete once more. Its fields are those that do not differ. Undefined of an action of the app's own. */
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

/** A form that is posted. */
export interface Form {
  /** What it asks for. */
  readonly kind: 'create' | 'update' | 'delete'
  /** What it is for. */
  readonly heading: string
  /** Of a deletion, what it will do. */
  readonly warning: string | undefined
  /** The path that it is posted to. */
  readonly action: string
  /** `_method`, the id and the version, where they are needed. */
  readonly hidden: readonly HiddenField[]
  /** In the order of the attributes. */
  readonly fields: readonly Field[]
  /** Rows in which attributes without a schema are named. */
  readonly free: FreeRows | undefined
  /** What is wrong, in the order of the fields. */
  readonly errors: readonly FormError[]
  /** Whether it may have buttons besides the one that sends it: then Enter must not press one of those. */
  readonly hasRows: boolean
  /** What the button says. */
  readonly submit: string
}

/** A field that nobody sees. */
export interface HiddenField {
  /** As it is sent. */
  readonly name: string
  /** As it is sent. */
  readonly value: string
}

/** What is wrong with a form. */
export interface FormError {
  /** A sentence with the label of the field. */
  readonly text: string
  /** The control; undefined where no field is at fault. */
  readonly href: string | undefined
}

/** Rows of a name and a value. */
export interface FreeRows {
  /** Two fields each; those that have been filled in and could not be taken come first. */
  readonly rows: ReadonlyArray<{ readonly name: HiddenField, readonly value: HiddenField }>
  /** Gives another row. */
  readonly add: Button
}

/** A submit button that changes the form and saves nothing. */
export interface Button {
  /** As it is sent. */
  readonly name: string
  /** As it is sent. */
  readonly value: string
  /** What it says. */
  readonly label: string
}

/** A field of a form: one kind for each control. */
export type Field =
  | InputField
  | TextField
  | CheckField
  | SelectField
  | RadiosField
  | CheckboxesField
  | MomentField
  | GroupField
  | RowsField
  | KeptField

/** What every field has. */
export interface FieldFrame {
  /** Of the control. */
  readonly id: string
  /** `post[author][name]` */
  readonly name: string
  /** The `title` of the attribute, or its name in words. */
  readonly label: string
  /** That of the schema. */
  readonly description: string | undefined
  /** What a value looks like, in words. */
  readonly hint: string | undefined
  /** Whether it must be filled in for the form to be sent. */
  readonly required: boolean
  /** Whether it may be left blank; inside of what may be left blank itself, where there is anything in it. */
  readonly optional: boolean
  /** What is wrong with it; empty where nothing is. */
  readonly errors: readonly string[]
  /** What says how the field is to be read, and what it means when it is left blank. */
  readonly hidden: readonly HiddenField[]
}

/** A line of text, a number, a date. */
export interface InputField extends FieldFrame {
  /** Tells the fields apart. */
  readonly control: 'input'
  /** That of the `input` element. */
  readonly type: 'text' | 'number' | 'date' | 'email' | 'url' | 'password'
  /** What stands in it. */
  readonly value: string
  /** As attributes of the element. */
  readonly constraints: Constraints
}

/** Several lines: a text, a list with an item in each line, or JSON. */
export interface TextField extends FieldFrame {
  /** Tells the fields apart. */
  readonly control: 'textarea'
  /** What stands in it. */
  readonly value: string
  /** How many lines are shown. */
  readonly rows: number
  /** Whether it is JSON, for a font of fixed width. */
  readonly code: boolean
  /** As attributes of the element. */
  readonly constraints: Constraints
}

/** A boolean that is either. */
export interface CheckField extends FieldFrame {
  /** Tells the fields apart. */
  readonly control: 'checkbox'
  /** Whether it is ticked. */
  readonly checked: boolean
}

/** One of many. */
export interface SelectField extends FieldFrame {
  /** Tells the fields apart. */
  readonly control: 'select'
  /** What there is to choose from. */
  readonly options: readonly Option[]
}

/** One of a few. */
export interface RadiosField extends FieldFrame {
  /** Tells the fields apart. */
  readonly control: 'radios'
  /** What there is to choose from. */
  readonly options: readonly Option[]
}

/** Some of several. */
export interface CheckboxesField extends FieldFrame {
  /** Tells the fields apart. */
  readonly control: 'checkboxes'
  /** What there is to choose from. */
  readonly options: readonly Option[]
}

/** A choice. */
export interface Option {
  /** As it is sent. */
  readonly value: string
  /** What it says. */
  readonly label: string
  /** Whether it is chosen. */
  readonly selected: boolean
}

/** A date and time with its offset from UTC. */
export interface MomentField extends FieldFrame {
  /** Tells the fields apart. */
  readonly control: 'moment'
  /** `2026-01-31T12:00` */
  readonly value: string
  /** In seconds: what the control's time can be told in. */
  readonly step: string | undefined
  /** The field beside it, for the offset from UTC: `Z`, `+02:00`. */
  readonly offset: { readonly id: string, readonly name: string, readonly value: string }
}

/** The properties of an object. */
export interface GroupField extends FieldFrame {
  /** Tells the fields apart. */
  readonly control: 'group'
  /** In the order of the properties. */
  readonly fields: readonly Field[]
}

/** The items of an array, each with a field of its own. */
export interface RowsField extends FieldFrame {
  /** Tells the fields apart. */
  readonly control: 'rows'
  /** A field and the button that takes it away, for each item. */
  readonly rows: ReadonlyArray<{ readonly field: Field, readonly remove: Button }>
  /** Undefined where the form could not be sent with more. */
  readonly add: Button | undefined
}

/** What stays as it is, since no form can show all of it. */
export interface KeptField extends FieldFrame {
  /** Tells the fields apart. */
  readonly control: 'kept'
  /** The first characters of a long text. */
  readonly beginning: string | undefined
}

/**
 * The constraint attributes of HTML (§4.10.19, §4.10.5.3). None of them refuses what the schema lets through, but that
 * `maxlength` counts the units of UTF-16, where the schema counts characters.
 */
export interface Constraints {
  /** The fewest characters. */
  readonly minlength?: number
  /** The most characters. */
  readonly maxlength?: number
  /** A regular expression that all of the value must match. */
  readonly pattern?: string
  /** The least number. */
  readonly min?: number
  /** The greatest number. */
  readonly max?: number
  /** In what steps from `min` on. */
  readonly step?: number | 'any'
  /** The keyboard that suits it. */
  readonly inputmode?: 'numeric' | 'decimal'
}
