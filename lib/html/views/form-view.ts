import { MULTIPART } from '../../core/formats/files.js'
import { markup, type Markup, raw } from '../html-tag.js'
import {
  renderChoices, renderFree, renderMoment, renderOption, renderReference, renderRows
} from './controls-view.js'
import type {
  CheckField, Constraints, Field, FileField, Form, FormError, GroupField, HiddenField, InputField, MomentField, Page,
  ReferenceField, SelectField, TextField, UnchangedField
} from './model.js'
import type { ResolvedViews } from './types.js'

export function form (form: Form, page: Page, views: ResolvedViews): Markup {
  const { action, hidden, errors } = form
  return markup`${
    errors.length > 0 && renderErrors(errors, page)
  }<form method="post" action="${action}" class="${classOfForm(form)}"${renderEncoding(form)}>
${renderHidden(hidden)}${renderDefaultButton(form)}${renderBody(form, page, views)}</form>
`
}

/** Renders how a form is sent. */
export function renderEncoding ({ hasFiles }: Form): Markup | false {
  return hasFiles === true && markup` enctype="${MULTIPART}"`
}

/** The number of fields from which the buttons of a form stay in view. */
const LONG = 8

/** Returns the class of a form. */
export function classOfForm ({ kind, fields, hasRows }: Form): string {
  if (kind === 'delete') return 'form danger'
  if (kind === 'add') return 'form add line'
  return hasRows || fields.length >= LONG ? 'form long' : 'form'
}

/**
 * Renders a hidden submit button in front of the others. Enter presses the first one (HTML §4.10.22.2), which must not
 * add or remove a row.
 */
export function renderDefaultButton ({ hasRows, submit }: Form): Markup | false {
  return hasRows &&
    markup`<button type="submit" class="default" tabindex="-1" aria-hidden="true">${submit}</button>\n`
}

export function renderBody (form: Form, page: Page, views: ResolvedViews): Markup {
  const { kind, fields, free, submit, another, cancel } = form
  return markup`${fields.map((field) => views.field(field, page, views))}${
    free !== undefined && renderFree(free, page)
  }<p class="actions"><button type="submit"${kind !== 'add' && markup` class="primary"`}>${submit}</button>${
    another !== undefined && markup`<button type="submit" name="${another.name}" value="${another.value}">${
      another.label
    }</button>`
  }${cancel !== undefined && markup`<a class="button plain" href="${cancel.href}">${cancel.label}</a>`}</p>
`
}

/** Renders the errors of a form. They get the focus when the page opens, so that a screen reader reads them first. */
export function renderErrors (errors: readonly FormError[], { messages }: Page): Markup {
  return markup`<div class="problem" role="alert" tabindex="-1" autofocus="autofocus" aria-labelledby="problem-heading">
<h2 id="problem-heading">${messages.problem}</h2>
<ul>
${errors.map(({ text, href }) =>
  markup`<li>${href === undefined ? text : markup`<a href="${href}">${text}</a>`}</li>\n`
)}</ul>
</div>
`
}

/** Renders a control with its label, explanations and errors. */
export function field (field: Field, page: Page, views: ResolvedViews): Markup {
  switch (field.control) {
    case 'checkbox':
      return renderCheckbox(field)
    case 'radios':
      return renderFieldset(field, page, renderChoices(field, 'radio', field.name))
    case 'checkboxes':
      return renderFieldset(field, page, markup`<input type="hidden" name="${field.name}[]" value=""/>${
        renderChoices(field, 'checkbox', `${field.name}[]`)
      }`)
    case 'kept':
      return renderKept(field)
    case 'group':
      return renderFieldset(field, page, renderGroup(field, page, views))
    case 'rows':
      return renderFieldset(field, page, renderRows(field, page, views))
    default:
      return markup`<div class="${classOf(field)}">
<label for="${field.id}">${field.label}${renderOptional(field, page)}</label>
${renderExplanations(field)}${renderHidden(field.hidden)}${renderControl(field, page)}
${renderRemoval(field)}</div>
`
  }
}

function renderRemoval ({ removal }: Field): Markup | false {
  if (removal === undefined) return false
  const { id, name, value, label, checked } = removal
  return markup`<div class="choice"><input type="checkbox" id="${id}" name="${name}" value="${value}"${
    checked && markup` checked="checked"`
  }/> <label for="${id}">${label}</label></div>\n`
}

function renderGroup ({ fields, inline }: GroupField, page: Page, views: ResolvedViews): Markup {
  const content = markup`${fields.map((field) => views.field(field, page, views))}`
  return inline ? markup`<div class="line">\n${content}</div>\n` : content
}

function renderCheckbox (field: CheckField): Markup {
  const { id, name, label, checked } = field
  // A browser sends nothing for an unticked box, so the hidden field says `false`.
  const hidden = renderHidden([...field.hidden, { name, value: 'false' }])
  const box = markup`id="${id}" name="${name}" value="true"${checked && markup` checked="checked"`}${
    describe(field)
  }${field.autofocus && AUTOFOCUS}`
  return markup`<div class="${classOf(field)}">
${hidden}<div class="choice"><input type="checkbox" ${box}/> <label for="${id}">${label}</label></div>
${renderExplanations(field)}</div>
`
}

function renderKept ({ label, hint, beginning }: UnchangedField): Markup {
  return markup`<p class="kept"><strong>${label}</strong> ${hint}</p>\n${
    beginning !== undefined && markup`<blockquote class="kept" dir="auto">${beginning}</blockquote>\n`
  }`
}

const NEWLINE = raw('\n')
const AUTOFOCUS = raw(' autofocus="autofocus"')

/** Renders hidden fields. */
export function renderHidden (fields: readonly HiddenField[]): Markup {
  return markup`${
    fields.map(({ name, value }) => markup`<input type="hidden" name="${name}" value="${value}"/>`)
  }${fields.length > 0 && NEWLINE}`
}

type SingleField = InputField | TextField | SelectField | MomentField | ReferenceField | FileField

function renderControl (field: SingleField, page: Page): Markup {
  const more = markup`${describe(field)}${field.autofocus && AUTOFOCUS}`
  if (field.control === 'reference') return renderReference(field, markup`id="${field.id}"${more}`)
  const common = markup`id="${field.id}" name="${field.name}"${field.required && markup` required="required"`}${more}`
  if (field.control === 'select') return markup`<select ${common}>${field.options.map(renderOption)}</select>`
  if (field.control === 'file') {
    return markup`<input type="file" ${common}${field.accept !== undefined && markup` accept="${field.accept}"`}/>`
  }
  if (field.control === 'moment') return renderMoment(field, common, page)
  const constraints = renderConstraints(field.constraints)
  if (field.control === 'input') {
    const { type, value } = field
    return markup`<input type="${type}" ${common}${constraints}${
      type === 'password' && markup` autocomplete="new-password"`
    } value="${value}"${type === 'text' && markup` dir="auto"`}/>`
  }
  const { rows, code, value } = field
  // An HTML parser drops a newline right after the tag.
  return markup`<textarea ${common}${constraints} rows="${rows}" cols="60"${
    code ? markup` class="code" spellcheck="false"` : markup` dir="auto"`
  }>${!page.xhtml && value.startsWith('\n') && NEWLINE}${value}</textarea>`
}

function renderConstraints (constraints: Constraints): Markup[] {
  return Object.entries(constraints).map(([name, value]) => markup` ${name}="${value}"`)
}

/** Renders a fieldset. Its legend is the label of the field. */
function renderFieldset (field: Field, page: Page, content: Markup): Markup {
  const { id, control, label, hidden } = field
  const isTarget = control === 'group' || control === 'rows'
  return markup`<fieldset class="${classOf(field)}"${isTarget && markup` id="${id}"`}${describe(field)}>
<legend>${label}${renderOptional(field, page)}</legend>
${renderExplanations(field)}${renderHidden(hidden)}${content}${renderRemoval(field)}</fieldset>
`
}

function renderOptional ({ optional }: Field, { messages }: Page): Markup | false {
  return optional && markup` <span class="optional">${messages.optional}</span>`
}

function classOf (field: Field): string {
  const { control, width, errors } = field
  const table = control === 'rows' && field.columns !== undefined ? ' table' : ''
  return `field ${control}${table}${width === undefined ? '' : ` w${width}`}${errors.length > 0 ? ' wrong' : ''}`
}

/** The fields with several controls, which a fieldset surrounds. */
const FIELDSETS: ReadonlySet<Field['control']> = new Set(['radios', 'checkboxes', 'group', 'rows'])

/** Renders the attributes that refer to the explanations of a field and mark an invalid control. */
function describe ({ id, control, description, hint, errors }: Field): Markup {
  const isWrong = errors.length > 0
  const ids = [
    ...(description === undefined ? [] : [`${id}!description`]),
    ...(hint === undefined ? [] : [`${id}!hint`]),
    ...(isWrong ? [`${id}!error`] : [])
  ]
  const isControl = !FIELDSETS.has(control)
  return markup`${ids.length > 0 && markup` aria-describedby="${ids.join(' ')}"`}${
    isControl && isWrong && markup` aria-invalid="true"`
  }`
}

function renderExplanations ({ id, description, hint, errors }: Field): Markup {
  const lines = errors.map((error, index) => markup`${index > 0 && markup`<br/>`}${error}`)
  return markup`${
    description !== undefined && markup`<p class="explanation" id="${id}!description">${description}</p>\n`
  }${
    hint !== undefined && markup`<p class="explanation" id="${id}!hint">${hint}</p>\n`
  }${lines.length > 0 && markup`<p class="error" id="${id}!error">${lines}</p>\n`}`
}
