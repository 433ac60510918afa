import type { Problem } from '../../core/errors.js'
import type { Paths } from '../../core/routes/path-helpers.js'
import type { Id } from '../../core/resource/row.js'
import type { Attributes } from '../../core/schema/types.js'
import type { View } from '../../core/formats/format.js'
import type { Navigation } from '../../core/formats/view.js'
import type { Markup } from '../html-tag.js'
import type { PageBrand } from '../style/brand.js'
import type { PageMessages, Translate } from '../messages.js'

/** The model of a page. Its texts are plain, and `markup` escapes them; markup has the type `Markup`. */
export type Page<A = Attributes> =
  ListPage<A> | RecordPage | EditPage | ChoosePage | ChosenPage | ImportPage | StalePage | ErrorPage

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
  /** What the write before the page has done: 'Saved.'; `undefined` without one. */
  readonly notice: string | undefined
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

/** A page of one kind. */
interface PageOf<Kind extends string> extends PageFrame {
  /** The kind of page, which distinguishes the types of pages. */
  readonly kind: Kind
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
  /** The text of the button for screen readers. @default the same text */
  readonly spoken?: string
}

/** A page of rows. */
export interface ListPage<A = Attributes> extends PageOf<'list'> {
  /** The columns, in their order. */
  readonly columns: readonly Column[]
  /** The rows. Each access makes them anew. */
  readonly rows: ReadonlyArray<ListRow<A>>
  /** Whether there are no rows. */
  readonly isEmpty: boolean
  /** The rows as the default table, with the boxes and the form that choose them. It is faster than `rows`. */
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
  /** The link to the last page; `undefined` on that page, or if the store cannot read a list from its end. */
  readonly last: Link | undefined
  /** The filter, or `undefined` if there is nothing to filter by. */
  readonly filter: FilterForm | undefined
  /** The links that show or hide a column, or `undefined` if the list has all of them by default. */
  readonly columnChoice: ColumnChoice | undefined
  /** The links that show or hide the sum of a column, or `undefined` if no column has numbers. */
  readonly sumChoice: ColumnChoice | undefined
  /** The sums over all pages, which `table` has as its foot; `undefined` if the request asks for none. */
  readonly sums: SumRow | undefined
  /** The sentences that say why sums are missing. */
  readonly sumNotes: readonly string[]
  /** The form of the rows that are chosen, or `undefined` if there is nothing to do with several rows. */
  readonly selection: SelectionForm | undefined
  /** The custom actions of the collection, and the links to the import of rows and to the rows as CSV. */
  readonly actions: readonly PageAction[]
  /** The form for a new row, or `undefined` if it has its own page or rows cannot be created. */
  readonly create: Form | undefined
  /** The notice that stands in this form, because the form was just sent. @default none */
  readonly added?: string | undefined
  /** The link to the page of that form, or `undefined` if there is none. */
  readonly newLink: Link | undefined
}

/** The form of the rows that are chosen. Their boxes are `id[]`, with the id of the form in their attribute `form`. */
export interface SelectionForm {
  /** The id of the form. */
  readonly id: string
  /** The query of the list, to which the next pages lead back. */
  readonly hidden: readonly HiddenField[]
  /** The path that the form is posted to. */
  readonly action: string
  /** The text before the number of the rows that are chosen. */
  readonly label: string
  /** The buttons, each of which leads to a page with the next step. */
  readonly buttons: readonly Button[]
}

/** The links that show or hide a column of a list, or its sum. */
export interface ColumnChoice {
  readonly label: string
  /** Whether the request has chosen some, so that the links are not folded. */
  readonly isOpen: boolean
  readonly links: readonly ColumnLink[]
}

/** A link that shows a column or a sum, or hides one that is shown. */
export interface ColumnLink extends Link {
  readonly isShown: boolean
  /** The sum of the column as the language writes it. @default none is shown */
  readonly value?: string | undefined
}

/** The sums of a list. */
export interface SumRow {
  /** What they are the sums of: `Sum (1,234 orders)`. */
  readonly label: string
  /** The sum of each column as the language writes it, or `undefined` for a column without one. */
  readonly values: ReadonlyArray<string | undefined>
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
export interface RecordPage extends PageOf<'record'> {
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
  /** The link to the form for a copy of the row, or `undefined` if there is none. */
  readonly duplicateLink: Link | undefined
  /** The form that deletes the row, or `undefined` if rows cannot be deleted. */
  readonly delete: Form | undefined
}

/** The list of the rows that belong to a row: they reference it, or are nested in it. It links to the whole list. */
export interface RelatedRows extends Link {
  /** The id of the heading, to which the forms of the list lead back. */
  readonly anchor: string
  /** The number of these rows in words, or `undefined` if they were not counted. */
  readonly total: string | undefined
  /** The first of these rows as a table, or `undefined` if there are none, or if they may not be shown here. */
  readonly table: Markup | undefined
  /** The text for no rows. */
  readonly empty: string
  /** The link to all of these rows. */
  readonly all: Link
  /** The small form that adds a row and leads back, or `undefined` if rows are too large for one. */
  readonly create: Form | undefined
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
export interface EditPage extends PageOf<'edit'> {
  /** The form with its errors, or `undefined` if the resource does not have its action. */
  readonly form: Form | undefined
}

/** The rows that an attribute of a form can reference, to choose one. Its hidden fields keep what was typed. */
export interface ChoosePage extends PageOf<'choose'> {
  /** The method of the form: `get` if a list is filtered by the row. */
  readonly method: 'get' | 'post'
  /** The path that each button sends the form to. */
  readonly action: string
  /** The hidden fields: the whole form that the page was opened from. */
  readonly hidden: readonly HiddenField[]
  /** Whether they may have files, so that the form is sent as `multipart/form-data`. @default false */
  readonly hasFiles?: boolean
  /** The search and the filter of the rows, and a table of them, in which each has a button or a box. */
  readonly choices: Markup
  /** The button that makes a record of each row that is chosen, or `undefined` if one row is chosen. */
  readonly add: Button | undefined
  /** The button that chooses no row, or `undefined` if one is required. */
  readonly none: Button | undefined
  /** The button that leads back to the form, or the link that leads back to the list. */
  readonly back: Button | Link
}

/** The next step for the rows that were chosen in a list: their deletion, or the changes that all of them get. */
export interface ChosenPage extends PageOf<'chosen'> {
  /** The first 20 rows, and those that the database or a check has refused. */
  readonly rows: readonly ChosenRowModel[]
  /** The number of other rows in words, or `undefined` if there are none. */
  readonly more: string | undefined
  /** The number of chosen rows that do not exist any more, in words, or `undefined` if there are none. */
  readonly missing: string | undefined
  /** The attributes that the form can change. A deletion has none. */
  readonly changes: readonly AttributeChange[]
  /** The form, whose hidden fields have the ids and the versions; `undefined` if no row remains. */
  readonly form: Form | undefined
  /** The form that chooses all rows of the list, or `undefined` if they are chosen, or cannot be. */
  readonly chooseAll: PageAction | undefined
  /** The link back to the list, or `undefined` if there is none. */
  readonly back: Link | undefined
}

/** A row that was chosen. */
export interface ChosenRowModel {
  /** The name of the row. */
  readonly name: string
  /** The path of the row, or `undefined` if rows have no pages. */
  readonly href: string | undefined
  /** The reasons why nothing could be done with the row. */
  readonly errors: readonly string[]
}

/** An attribute that a form can change in several rows. */
export interface AttributeChange extends Pick<Conflict, 'label' | 'field'> {
  /** The choice whether it is changed: `yours`, or `theirs` to leave it. `keep` is the initial choice. */
  readonly choice: Conflict['choice']
}

/** The page that imports rows from a file: the form that asks for one, and what a file would do. */
export interface ImportPage extends PageOf<'import'> {
  /** The path that the forms are posted to, as `multipart/form-data`. */
  readonly action: string
  /** The errors of the file. */
  readonly errors: readonly FormError[]
  /** What the file would do, in words; empty before a file is sent, and if it is refused. */
  readonly notes: readonly string[]
  /** The first rows of the file, or its faults, as a table; `undefined` if there are none. */
  readonly table: Markup | undefined
  /** The number of other rows in words, or `undefined` if there are none. */
  readonly more: string | undefined
  /** The hidden fields of the form with the next steps, which carry the file; empty before a file is sent. */
  readonly hidden: readonly HiddenField[]
  /** The buttons of the next steps. */
  readonly buttons: readonly Button[]
  /** The form that asks for a file: the fields `file` and `text`. */
  readonly upload: {
    /** Whether it is what the page is for, and not folded away. */
    readonly isFirst: boolean
    /** The columns that a file may have. */
    readonly columns: readonly string[]
    /** The choices of the field `match`: how rows are found. Only the id, if nothing else is unique. */
    readonly matches: readonly Option[]
    /** The content of the field for a text. */
    readonly text: string
  }
  /** The link that leaves the page, or `undefined` if there is no list. */
  readonly cancel: Link | undefined
}

/** A conflict: somebody else has saved the row since the form was opened. */
export interface StalePage extends PageOf<'stale'> {
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
  /** The fields of the form that nobody has changed. */
  readonly unchanged: readonly Field[]
  /** Whether these fields are folded. They are not once the form comes back with an error. */
  readonly isFolded: boolean
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
export interface ErrorPage extends PageOf<'error'> {
  /** The error, as other formats render it. */
  readonly problem: Problem
  /** The messages that the title does not say, in the words of the page. */
  readonly texts: readonly string[]
  /** The links to the lists of the rows that refer to the row, after a deletion that they refuse. */
  readonly referrers: readonly Link[]
  /** The form that creates a missing singleton, or `undefined` for every other error. */
  readonly create: Form | undefined
}

/** A link, or the address of a form. */
export interface Link {
  /** The text of the link. */
  readonly label: string
  /** The path and query. */
  readonly href: string
}

/** A form that is posted. */
export interface Form {
  /** The purpose of the form. */
  readonly kind: 'create' | 'add' | 'update' | 'delete'
  /** The heading of the form. */
  readonly heading: string
  /** The text that says what a deletion does, or `undefined` for other forms. */
  readonly warning: string | undefined
  /** The text that says which other rows a deletion deletes, or leaves without the row. @default none are known */
  readonly cascade?: string | undefined
  /** The path that the form is posted to. */
  readonly action: string
  /** The hidden fields: `_method`, the id and the version, if the form needs them. */
  readonly hidden: readonly HiddenField[]
  /** The fields, in the order of the attributes. */
  readonly fields: readonly Field[]
  /** The rows for further attributes, or `undefined` if the form has none. */
  readonly free: FreeRows | undefined
  /** The errors, in the order of the fields. */
  readonly errors: readonly FormError[]
  /** Whether the form may have buttons besides the one that sends it. Then Enter must not press one of those. */
  readonly hasRows: boolean
  /** Whether it may have fields for files, so that it is sent as `multipart/form-data`. @default false */
  readonly hasFiles?: boolean
  /** The text of the button that sends the form. */
  readonly submit: string
  /** The button that saves a new row and leads to the blank form again, or `undefined` if there is none. */
  readonly another: Button | undefined
  /** The link that leaves a form without saving, or `undefined` if the form is not the only content of its page. */
  readonly cancel: Link | undefined
}

/** A hidden field. */
export interface HiddenField {
  /** The name that is sent. */
  readonly name: string
  /** The value that is sent. */
  readonly value: string
}

/** An error of a form. */
export interface FormError {
  /** The message, which names the field if there is one. */
  readonly text: string
  /** The link to the control, or `undefined` if the error belongs to no field. */
  readonly href: string | undefined
}

/** The rows for further attributes, each with a name and a value. */
export interface FreeRows {
  /** The rows, each with two fields. Rows that were sent with an unusable name come before the blank ones. */
  readonly rows: ReadonlyArray<{ readonly name: HiddenField, readonly value: HiddenField }>
  /** The index of the row that gets the focus, because it was just asked for, or `undefined`. */
  readonly focus: number | undefined
  /** The button that adds a row. */
  readonly add: Button
}

/** A submit button that sends a name and a value. */
export interface Button {
  /** The name that is sent. */
  readonly name: string
  /** The value that is sent. */
  readonly value: string
  /** The text of the button. */
  readonly label: string
  /** The text for screen readers, which names the row that the button is about. @default the same text */
  readonly spoken?: string
  /** Whether the button gets the focus when the page opens. @default false */
  readonly autofocus?: boolean
  /** The path to which the button sends the form. @default the action of the form */
  readonly action?: string
}

/** A field of a form. Each kind of control has its own type. */
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
  | ReferenceField
  | FileField
  | UnchangedField

/** The width of a control in characters, or `undefined` for the whole width. */
export type ControlWidth = 4 | 10 | 20 | undefined

/** The members of every field. */
export interface FieldFrame {
  /** The id of the control. */
  readonly id: string
  /** The name of the field: `post[author][name]`. */
  readonly name: string
  /** The `title` of the attribute, or its name in words. */
  readonly label: string
  /** The `description` of the schema, or `undefined` if it has none. */
  readonly description: string | undefined
  /** A text that says how to fill in the field, or `undefined` if it needs none. */
  readonly hint: string | undefined
  /** Whether the control gets the focus when the page opens. */
  readonly autofocus: boolean
  /** The width of the control. Only a line is short, and only if its schema says so. */
  readonly width: ControlWidth
  /** Whether the field must be filled in before the form can be sent. */
  readonly required: boolean
  /**
   * Whether the field may be left blank. Inside an optional group: whether it may be left blank if other fields are
   * not.
   */
  readonly optional: boolean
  /** The messages about the field, or an empty list if there are none. */
  readonly errors: readonly string[]
  /** The hidden fields that say how the field is parsed, and what it means if it is left blank. */
  readonly hidden: readonly HiddenField[]
  /** The box that empties an attribute whose value is never shown, or `undefined` if the field has none. */
  readonly removal: Removal | undefined
}

/** A field with one kind of control. */
interface FieldOf<Control extends string> extends FieldFrame {
  /** The kind of control, which distinguishes the types of fields. */
  readonly control: Control
}

/** A field that offers choices. */
interface OptionsField<Control extends string> extends FieldOf<Control> {
  /** The choices. */
  readonly options: readonly Option[]
}

/** A box that empties an attribute. */
export interface Removal extends HiddenField {
  /** The id of the box. */
  readonly id: string
  /** The text beside the box. */
  readonly label: string
  /** Whether the box is ticked. */
  readonly checked: boolean
}

/** A field of one line: a text, a number or a date. */
export interface InputField extends FieldOf<'input'> {
  /** The `type` of the `input` element. */
  readonly type: 'text' | 'number' | 'date' | 'datetime-local' | 'time' | 'email' | 'url' | 'password'
  /** The content of the control. */
  readonly value: string
  /** The constraints, as attributes of the element. */
  readonly constraints: Constraints
}

/** A field of several lines: a text, a list with one item per line, or JSON. */
export interface TextField extends FieldOf<'textarea'> {
  /** The content of the control. */
  readonly value: string
  /** The number of visible lines. */
  readonly rows: number
  /** Whether the content is JSON, which is shown in a font of fixed width. */
  readonly code: boolean
  /** The constraints, as attributes of the element. */
  readonly constraints: Constraints
}

/** A checkbox for a boolean that is either `true` or `false`. */
export interface CheckField extends FieldOf<'checkbox'> {
  /** Whether the box is ticked. */
  readonly checked: boolean
}

/** A drop-down list: one of many choices. */
export type SelectField = OptionsField<'select'>

/** Radio buttons: one of a few choices. */
export type RadiosField = OptionsField<'radios'>

/** Checkboxes: any of several choices. */
export type CheckboxesField = OptionsField<'checkboxes'>

/** A choice. */
export interface Option {
  /** The value that is sent. */
  readonly value: string
  /** The text of the choice. */
  readonly label: string
  /** Whether it is chosen. */
  readonly selected: boolean
}

/** A date and time with its offset from UTC. */
export interface MomentField extends FieldOf<'moment'> {
  /** The date and time without the offset: `2026-01-31T12:00`. */
  readonly value: string
  /** The step of the control in seconds, or `undefined` for whole minutes. */
  readonly step: string | undefined
  /** The field beside it for the offset from UTC: `Z`, `+02:00`. */
  readonly offset: { readonly id: string, readonly name: string, readonly value: string }
}

/** A group of fields for the properties of an object. */
export interface GroupField extends FieldOf<'group'> {
  /** The fields, in the order of the properties. */
  readonly fields: readonly Field[]
  /** Whether the fields stand in one line, as the cells of a table. */
  readonly inline: boolean
}

/** A field for each item of an array. */
export interface RowsField extends FieldOf<'rows'> {
  /**
   * The heads of the columns if each item takes one line: an object with a few short properties. A text, a number or a
   * choice has no head. `undefined` for larger items.
   */
  readonly columns: readonly RowColumn[] | undefined
  /** The field of each item, with the button that removes the item. */
  readonly rows: ReadonlyArray<{ readonly field: Field, readonly remove: Button }>
  /** The button that adds an item, or `undefined` if the form could not be sent with more. */
  readonly add: Button | undefined
}

/** The head of a column of rows. */
export interface RowColumn extends Pick<FieldFrame, 'label' | 'description' | 'optional' | 'width'> {
  /** The kind of control in the column. */
  readonly control: 'input' | 'textarea' | 'select' | 'reference'
  /** Whether the column has numbers. */
  readonly numeric: boolean
}

/** An attribute that references one of many rows. Its id is a hidden field, and a button leads to the rows. */
export interface ReferenceField extends FieldOf<'reference'> {
  /** The name of the row, or its id if the name is not known, or the word for no row. */
  readonly text: string
  /** The button that leads to the rows. */
  readonly choose: Button
}

/** A file that the user chooses. A form that comes back has the file that was chosen before as a hidden field. */
export interface FileField extends FieldOf<'file'> {
  /** The media type of the files, or `undefined` for any. */
  readonly accept: string | undefined
}

/** An attribute that stays as it is. Its hint says why: it forms the id, or the form cannot show all of it. */
export interface UnchangedField extends FieldOf<'kept'> {
  /** The first characters of a text, a number or a boolean, or `undefined` for any other value. */
  readonly beginning: string | undefined
}

/**
 * The constraint attributes of HTML (§4.10.19, §4.10.5.3). Each allows every value that the schema allows, except
 * `maxlength`: it counts UTF-16 code units, and the schema counts characters.
 */
export interface Constraints {
  /** The minimum length. */
  readonly minlength?: number
  /** The maximum length. */
  readonly maxlength?: number
  /** A regular expression that the whole value must match. */
  readonly pattern?: string
  /** The minimum of a number. */
  readonly min?: number
  /** The maximum of a number. */
  readonly max?: number
  /** The step between valid numbers, counted from `min`. For a time: the step in seconds. */
  readonly step?: number | 'any'
  /** The keyboard that suits the value. */
  readonly inputmode?: 'numeric' | 'decimal'
}

/** The filter of a list: a form that is sent by GET, and the conditions of the query. */
export interface FilterForm {
  /** The path that the form requests. */
  readonly action: string
  /** The hidden fields: the parameters that stay. */
  readonly hidden: readonly HiddenField[]
  /**
   * The name of the buttons that take the place of links, because the filter stands in a form that is kept; their value
   * is the query of the link. `undefined` for a form of its own.
   */
  readonly opener: string | undefined
  /** The field that searches the texts of the list, or `undefined` if there is none. */
  readonly search: SearchField | undefined
  /** The conditions of the query, such as `rating[gte]=3`. */
  readonly conditions: readonly FilterCondition[]
  /** The choice of an attribute for one more condition; `undefined` if a condition is open or there is none to add. */
  readonly add: AddCondition | undefined
  /** The fields of the condition that is open, or `undefined` if none is. */
  readonly open: ConditionForm | undefined
  /** The fields of a range of dates or times that is open, or `undefined` if none is. */
  readonly range: RangeForm | undefined
  /** The links to the rows with each value of enumerations and flags. */
  readonly values: readonly ValueLinks[]
  /** The link to the unfiltered list, or `undefined` if it is not filtered. */
  readonly clear: Link | undefined
}

/** The field of a search. */
export interface SearchField {
  /** The id of the control. */
  readonly id: string
  /** The name of the parameter. */
  readonly name: string
  /** The label, which is also the text of the button. */
  readonly label: string
  /** The names of the attributes in which it looks: `Name, Email`. */
  readonly placeholder: string
  /** The requested text, or the empty text. */
  readonly value: string
  /** The message if the search was refused, or `undefined` if not. */
  readonly error: string | undefined
  /** Whether the control gets the focus when the page opens. @default false */
  readonly autofocus?: boolean
}

/** A condition of a query. */
export interface FilterCondition {
  /** The condition in words: `Rating at least 3`. */
  readonly text: string
  /** The link to the list without it. Its label is for screen readers. */
  readonly remove: Link
}

/** The links to the rows with each value of an attribute. */
export interface ValueLinks {
  /** The label of the attribute. */
  readonly label: string
  /** The links. Their labels are the values in words. */
  readonly links: readonly CountedLink[]
}

/** A link to a list, with the number of its rows. */
export interface CountedLink extends Link {
  /** The number as the language writes it, or `undefined` if the rows were not counted. */
  readonly count: string | undefined
  /** Whether the list has only these rows. Then the link leads to the others, too. */
  readonly isChosen: boolean
}

/** The choice of the attribute of a new condition. Its page shows the fields of that condition. */
export interface AddCondition {
  /** The id of the control. */
  readonly id: string
  /** The name of the query parameter. */
  readonly name: string
  /** The label of the control. */
  readonly label: string
  /** The attributes, after a blank choice. */
  readonly options: readonly Option[]
  /** The text of the button. */
  readonly submit: string
}

/** The fields of a condition: its operator and its value. */
export interface ConditionForm {
  /** The label of the attribute. */
  readonly label: string
  /** The choice of the operator. */
  readonly operator: { readonly id: string, readonly name: string, readonly options: readonly Option[] }
  /** The control of the value. */
  readonly value: ConditionValue
  /** The message if the condition was refused, or `undefined` if not. */
  readonly error: string | undefined
  /** The text of the button. */
  readonly submit: string
  /** The link to the list without the fields. */
  readonly cancel: Link
}

/** The control of a condition's value. */
export interface ConditionValue {
  /** The id of the control. */
  readonly id: string
  /** The name of the query parameter. */
  readonly name: string
  /** The text that was typed, or the empty text. */
  readonly value: string
  /** The `type` of the `input` element, if there are no choices. */
  readonly type: 'text' | 'number' | 'date' | 'datetime-local' | 'time'
  /** The choices of a boolean, an enumeration or a reference, or `undefined` for an input. */
  readonly options: readonly Option[] | undefined
  /** The button that leads to the rows of a reference, in place of a control. @default a control */
  readonly choose?: Button
}

/** The fields of a range: where it begins, and where it ends. */
export interface RangeForm {
  /** The label of the attribute. */
  readonly label: string
  /** The hidden field that names the attribute. */
  readonly by: HiddenField
  readonly from: RangeEnd
  readonly to: RangeEnd
  /** The links to the rows of usual ranges, such as today, and of rows without a value. */
  readonly links: readonly Link[]
  /** The message if an end was refused, or `undefined` if not. */
  readonly error: string | undefined
  /** The text of the button. */
  readonly submit: string
  /** The link to the list without the fields. */
  readonly cancel: Link
}

/** An end of a range. */
export interface RangeEnd {
  /** The label, which follows that of the attribute. */
  readonly label: string
  /** The control, whose `name` is the query parameter. */
  readonly control: Omit<ConditionValue, 'options' | 'choose'>
  /** Whether the error is about this end. */
  readonly isRefused: boolean
}
