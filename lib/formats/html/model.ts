import type { Problem } from '../../errors.js'
import type { Attributes, Id } from '../../stores/store.js'
import type { Markup } from './markup.js'
import type { PageMessages } from './messages.js'

/** What a page is made of. Texts are plain and are escaped by `html`; what is markup says so by its type. */
export type Page = ListPage | RecordPage | EditPage | StalePage | ErrorPage

/** What every page has. */
export interface PageFrame {
  /** Of the document, and its heading. */
  readonly title: string
  /** What is in front of this page: the list, unless this is the list. */
  readonly parent: Link | undefined
  /** The resource as the app has declared it. */
  readonly resource: { readonly plural: string, readonly singular: string, readonly path: string }
  /** The same in other formats; none of a page that answers a write. */
  readonly alternates: readonly Alternate[]
  /** The path of the stylesheet. */
  readonly stylesheet: string
  readonly lang: string
  readonly dir: 'ltr' | 'rtl'
  readonly messages: PageMessages
  /** What the server says, in the words of the page. */
  readonly translate: (text: string) => string
  /** Whether a parser of XML reads the page: it is sent as `application/xhtml+xml`. */
  readonly xhtml: boolean
}

export interface Link {
  readonly label: string
  readonly href: string
}

export interface Alternate extends Link {
  readonly mediaType: string
}

/** Some rows of a resource. */
export interface ListPage extends PageFrame {
  readonly kind: 'list'
  readonly columns: readonly Column[]
  /** Made when they are asked for. */
  readonly rows: readonly Row[]
  readonly isEmpty: boolean
  /** The rows as our own table, written at once: faster than from `rows`. */
  readonly table: Markup
  /** Undefined: this is the last. */
  readonly next: Link | undefined
  /** Undefined: this is the first. */
  readonly first: Link | undefined
  /** Undefined where the store cannot find rows by attributes. */
  readonly filter: FilterForm | undefined
  readonly create: Form
}

export interface Column {
  /** The attribute, or `id`. */
  readonly name: string
  readonly label: string
  /** Whether it holds numbers. */
  readonly numeric: boolean
  /** The list in the order of this attribute, or in the opposite order where it is so already. */
  readonly sort: Link | undefined
  /** How the list is sorted by it, if it is what it is first sorted by. */
  readonly sorted: 'ascending' | 'descending' | undefined
}

/** A row, without what is `writeOnly`. */
export interface Row {
  readonly id: Id
  readonly version: string
  readonly href: string
  readonly attributes: Attributes
  /** What stands in each column but that of the id. */
  readonly cells: readonly Markup[]
}

/** A form for the parameters of a list. */
export interface FilterForm {
  readonly action: string
  readonly hidden: readonly HiddenField[]
  readonly fields: readonly FilterField[]
  /** The list without any filter; undefined where there is none. */
  readonly clear: Link | undefined
}

export interface FilterField {
  readonly id: string
  readonly name: string
  readonly label: string
  readonly value: string
  /** Of a boolean or an enumeration; else a text is asked for. */
  readonly options: readonly Option[] | undefined
  readonly inputMode: 'numeric' | 'decimal' | undefined
}

/** One row. */
export interface RecordPage extends PageFrame {
  readonly kind: 'record'
  readonly id: Id
  readonly version: string
  /** The attributes that are shown, in their order. */
  readonly values: readonly Value[]
  readonly edit: Form
  readonly delete: Form
}

/** An attribute as it is shown. */
export interface Value {
  readonly name: string
  readonly label: string
  /** What a link in a list leads to. */
  readonly anchor: string
  readonly value: unknown
  /** All of it, as people read it. */
  readonly markup: Markup
}

/** A form for itself: one that has been refused, or that has been given other rows. */
export interface EditPage extends PageFrame {
  readonly kind: 'edit'
  readonly form: Form
}

/** What somebody else has saved since a form was opened. */
export interface StalePage extends PageFrame {
  readonly kind: 'stale'
  readonly id: Id
  /** The row as it is. */
  readonly href: string
  readonly current: readonly Value[]
  /** What differs, in the order of the attributes; empty of a deletion. */
  readonly conflicts: readonly Conflict[]
  /** To save or to delete once more. Its fields are those that do not differ. */
  readonly form: Form
}

export interface Conflict {
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

export interface ErrorPage extends PageFrame {
  readonly kind: 'error'
  readonly problem: Problem
  /** What it says, in the words of the page. */
  readonly texts: readonly string[]
}

export interface Form {
  readonly kind: 'create' | 'update' | 'delete'
  /** What it is for. */
  readonly heading: string
  /** Of a deletion, what it will do. */
  readonly warning: string | undefined
  readonly action: string
  readonly hidden: readonly HiddenField[]
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

export interface HiddenField {
  readonly name: string
  readonly value: string
}

export interface FormError {
  /** A sentence with the label of the field. */
  readonly text: string
  /** The control; undefined where no field is at fault. */
  readonly href: string | undefined
}

export interface FreeRows {
  /** Two fields each; those that have been filled in and could not be taken come first. */
  readonly rows: ReadonlyArray<{ readonly name: HiddenField, readonly value: HiddenField }>
  readonly add: Button
}

/** A submit button that changes the form and saves nothing. */
export interface Button {
  readonly name: string
  readonly value: string
  readonly label: string
}

export type Field = InputField | TextField | CheckField | SelectField | RadiosField | CheckboxesField | MomentField | GroupField | RowsField | KeptField

/** What every field has. */
export interface FieldFrame {
  readonly id: string
  /** `post[author][name]` */
  readonly name: string
  readonly label: string
  readonly description: string | undefined
  /** What a value looks like, in words. */
  readonly hint: string | undefined
  /** Whether it must be filled in for the form to be sent. */
  readonly required: boolean
  /** Whether it may be left blank; inside of what may be left blank itself, where there is anything in it. */
  readonly optional: boolean
  readonly errors: readonly string[]
  /** What says how the field is to be read, and what it means when it is left blank. */
  readonly hidden: readonly HiddenField[]
}

/** A line of text, a number, a date. */
export interface InputField extends FieldFrame {
  readonly control: 'input'
  readonly type: 'text' | 'number' | 'date' | 'email' | 'url' | 'password'
  readonly value: string
  readonly constraints: Constraints
}

/** Several lines: a text, a list with an item in each line, or JSON. */
export interface TextField extends FieldFrame {
  readonly control: 'textarea'
  readonly value: string
  readonly rows: number
  readonly code: boolean
  readonly constraints: Constraints
}

/** A boolean that is either. */
export interface CheckField extends FieldFrame {
  readonly control: 'checkbox'
  readonly checked: boolean
}

/** One of many. */
export interface SelectField extends FieldFrame {
  readonly control: 'select'
  readonly options: readonly Option[]
}

/** One of a few. */
export interface RadiosField extends FieldFrame {
  readonly control: 'radios'
  readonly options: readonly Option[]
}

/** Some of several. */
export interface CheckboxesField extends FieldFrame {
  readonly control: 'checkboxes'
  readonly options: readonly Option[]
}

export interface Option {
  readonly value: string
  readonly label: string
  readonly selected: boolean
}

/** A date and time with its offset from UTC. */
export interface MomentField extends FieldFrame {
  readonly control: 'moment'
  /** `2026-01-31T12:00` */
  readonly value: string
  /** In seconds: what the control's time can be told in. */
  readonly step: string | undefined
  readonly offset: { readonly id: string, readonly name: string, readonly value: string }
}

/** The properties of an object. */
export interface GroupField extends FieldFrame {
  readonly control: 'group'
  readonly fields: readonly Field[]
}

/** The items of an array, each with a field of its own. */
export interface RowsField extends FieldFrame {
  readonly control: 'rows'
  readonly rows: ReadonlyArray<{ readonly field: Field, readonly remove: Button }>
  /** Undefined where the form could not be sent with more. */
  readonly add: Button | undefined
}

/** What stays as it is, since no form can show all of it. */
export interface KeptField extends FieldFrame {
  readonly control: 'kept'
}

/**
 * The constraint attributes of HTML (§4.10.19, §4.10.5.3). None of them refuses what the schema lets through, but that
 * `maxlength` counts the units of UTF-16, where the schema counts characters.
 */
export interface Constraints {
  readonly minlength?: number
  readonly maxlength?: number
  readonly pattern?: string
  readonly min?: number
  readonly max?: number
  readonly step?: number | 'any'
  readonly inputmode?: 'numeric' | 'decimal'
}
