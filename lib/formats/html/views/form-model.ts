/** A form that is posted. */
export interface Form {
  /** What it asks for. */
  readonly kind: 'create' | 'update' | 'delete'
  /** What it is for. */
  readonly heading: string
  /** Says what a deletion will do. */
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
