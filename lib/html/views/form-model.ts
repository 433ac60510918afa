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
  readonly kind: 'create' | 'update' | 'delete'
  /** The heading of the form. */
  readonly heading: string
  /** The text that says what a deletion does, or `undefined` for other forms. */
  readonly warning: string | undefined
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
export interface InputField extends FieldFrame {
  /** The kind of control, which distinguishes the types of fields. */
  readonly control: 'input'
  /** The `type` of the `input` element. */
  readonly type: 'text' | 'number' | 'date' | 'datetime-local' | 'time' | 'email' | 'url' | 'password'
  /** The content of the control. */
  readonly value: string
  /** The constraints, as attributes of the element. */
  readonly constraints: Constraints
}

/** A field of several lines: a text, a list with one item per line, or JSON. */
export interface TextField extends FieldFrame {
  /** The kind of control, which distinguishes the types of fields. */
  readonly control: 'textarea'
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
export interface CheckField extends FieldFrame {
  /** The kind of control, which distinguishes the types of fields. */
  readonly control: 'checkbox'
  /** Whether the box is ticked. */
  readonly checked: boolean
}

/** A drop-down list: one of many choices. */
export interface SelectField extends FieldFrame {
  /** The kind of control, which distinguishes the types of fields. */
  readonly control: 'select'
  /** The choices. */
  readonly options: readonly Option[]
}

/** Radio buttons: one of a few choices. */
export interface RadiosField extends FieldFrame {
  /** The kind of control, which distinguishes the types of fields. */
  readonly control: 'radios'
  /** The choices. */
  readonly options: readonly Option[]
}

/** Checkboxes: any of several choices. */
export interface CheckboxesField extends FieldFrame {
  /** The kind of control, which distinguishes the types of fields. */
  readonly control: 'checkboxes'
  /** The choices. */
  readonly options: readonly Option[]
}

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
export interface MomentField extends FieldFrame {
  /** The kind of control, which distinguishes the types of fields. */
  readonly control: 'moment'
  /** The date and time without the offset: `2026-01-31T12:00`. */
  readonly value: string
  /** The step of the control in seconds, or `undefined` for whole minutes. */
  readonly step: string | undefined
  /** The field beside it for the offset from UTC: `Z`, `+02:00`. */
  readonly offset: { readonly id: string, readonly name: string, readonly value: string }
}

/** A group of fields for the properties of an object. */
export interface GroupField extends FieldFrame {
  /** The kind of control, which distinguishes the types of fields. */
  readonly control: 'group'
  /** The fields, in the order of the properties. */
  readonly fields: readonly Field[]
  /** Whether the fields stand in one line, as the cells of a table. */
  readonly inline: boolean
}

/** A field for each item of an array. */
export interface RowsField extends FieldFrame {
  /** The kind of control, which distinguishes the types of fields. */
  readonly control: 'rows'
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
  readonly control: 'input' | 'textarea' | 'select'
  /** Whether the column has numbers. */
  readonly numeric: boolean
}

/** An attribute that references one of many rows. Its id is a hidden field, and a button leads to the rows. */
export interface ReferenceField extends FieldFrame {
  /** The kind of control, which distinguishes the types of fields. */
  readonly control: 'reference'
  /** The name of the row, or its id if the name is not known, or the word for no row. */
  readonly text: string
  /** The button that leads to the rows. */
  readonly choose: Button
}

/** An attribute that stays as it is. Its hint says why: it forms the id, or the form cannot show all of it. */
export interface UnchangedField extends FieldFrame {
  /** The kind of control, which distinguishes the types of fields. */
  readonly control: 'kept'
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
