import { html, type Markup } from '../html-tag.js'
import type {
  Button, CheckboxesField, CheckField, Constraints, Field, HiddenField, InputField, KeptField, MomentField, Option,
  Page, RadiosField, RowsField, SelectField, TextField
} from './model.js'
import type { ResolvedViews } from './types.js'

/** A control with its label, what explains it, and what is wrong with it. */
export function renderField (field: Field, page: Page, views: ResolvedViews): Markup {
  switch (field.control) {
    case 'checkbox':
      return renderCheckbox(field)
    case 'radios':
      return renderFieldset(field, page, renderChoices(field, 'radio', field.name))
    case 'checkboxes':
      return renderFieldset(field, page, html`<input type="hidden" name="${field.name}[]" value=""/>${
        renderChoices(field, 'checkbox', `${field.name}[]`)
      }`)
    case 'moment':
      return renderFieldset(field, page, renderMoment(field, page))
    case 'kept':
      return renderKept(field, page)
    case 'group':
      return renderFieldset(field, page, html`${field.fields.map((field) => views.field(field, page, views))}`)
    case 'rows':
      return renderFieldset(field, page, renderRows(field, page, views))
    default:
      return html`<div class="${classOf(field)}">
<label for="${field.id}">${field.label}${renderOptional(field, page)}</label>
${renderExplanations(field)}${renderHidden(field.hidden)}${renderControl(field, page)}
</div>
`
  }
}

function renderCheckbox (field: CheckField): Markup {
  const { id, name, label, checked } = field
  // A box that is not ticked sends nothing.
  const hidden = renderHidden([...field.hidden, { name, value: 'false' }])
  const box = html`id="${id}" name="${name}" value="true"${checked && html` checked="checked"`}${describe(field)}`
  return html`<div class="${classOf(field)}">
${hidden}<div class="choice"><input type="checkbox" ${box}/> <label for="${id}">${label}</label></div>
${renderExplanations(field)}</div>
`
}

function renderKept ({ label, beginning }: KeptField, { messages }: Page): Markup {
  return html`<p class="kept"><strong>${label}</strong> ${messages.kept}</p>\n${
    beginning !== undefined && html`<blockquote class="kept" dir="auto">${beginning}</blockquote>\n`
  }`
}

/** Fields that nobody sees. */
export function renderHidden (fields: readonly HiddenField[]): Markup | false {
  return fields.length > 0 &&
    html`${fields.map(({ name, value }) => html`<input type="hidden" name="${name}" value="${value}"/>`)}\n`
}

function renderControl (field: InputField | TextField | SelectField, { xhtml }: Page): Markup {
  const common = html`id="${field.id}" name="${field.name}"${field.required && html` required="required"`}${
    describe(field)
  }`
  if (field.control === 'select') return html`<select ${common}>${field.options.map(renderOption)}</select>`
  const constraints = renderConstraints(field.constraints)
  if (field.control === 'input') {
    const { type, value } = field
    return html`<input type="${type}" ${common}${constraints}${
      type === 'password' && html` autocomplete="new-password"`
    } value="${value}"${type === 'text' && html` dir="auto"`}/>`
  }
  const { rows, code, value } = field
  return html`<textarea ${common}${constraints} rows="${rows}" cols="60"${
    code ? html` class="code" spellcheck="false"` : html` dir="auto"`
  }>${
    // An HTML parser drops a newline right after the tag.
    !xhtml && value.startsWith('\n') && html`\n`
  }${value}</textarea>`
}

/** A choice of a list. */
export function renderOption ({ value, label, selected }: Option): Markup {
  return html`<option value="${value}"${selected && html` selected="selected"`}>${label}</option>`
}

function renderConstraints (constraints: Constraints): Markup[] {
  return Object.entries(constraints).map(([name, value]) => html` ${name}="${value}"`)
}

/** The first choice has the id of the field, which links lead to. */
function renderChoices (field: RadiosField | CheckboxesField, type: 'radio' | 'checkbox', name: string): Markup {
  return html`<div class="choices">${field.options.map(({ value, label, selected }, index) => {
    const id = index === 0 ? field.id : `${field.id}!${index}`
    return html`<div class="choice"><input type="${type}" id="${id}" name="${name}" value="${value}"${
      selected && html` checked="checked"`
    }${
      type === 'radio' && field.required && html` required="required"`
    }/> <label for="${id}">${label}</label></div>`
  })}</div>
`
}

function renderMoment ({ id, name, value, step, required, offset }: MomentField, { messages }: Page): Markup {
  const clock = html`id="${id}" name="${name}" value="${value}"${required && html` required="required"`}${
    step !== undefined && html` step="${step}"`
  }`
  const zone = html`id="${offset.id}" name="${offset.name}" value="${offset.value}"`
  return html`<div class="clock">
<div><label for="${id}">${messages.dateTime}</label><input type="datetime-local" ${clock}/></div>
<div><label for="${offset.id}">${messages.offset}</label><input type="text" ${zone} size="7"/></div>
</div>
`
}

function renderRows ({ rows, add }: RowsField, page: Page, views: ResolvedViews): Markup {
  return html`${rows.map(({ field, remove }) => html`<div class="row">
${views.field(field, page, views)}${renderButton(remove)}
</div>
`)}${add !== undefined && html`<p>${renderButton(add)}</p>\n`}`
}

/** A button that changes the form and sends nothing to be saved. */
export function renderButton ({ name, value, label }: Button): Markup {
  return html`<button type="submit" name="${name}" value="${value}" formnovalidate="formnovalidate">${label}</button>`
}

/** What belongs together: a legend is what it is all called. */
function renderFieldset (field: Field, page: Page, content: Markup): Markup {
  const { id, control, label, hidden } = field
  const isTarget = control === 'group' || control === 'rows'
  return html`<fieldset class="${classOf(field)}"${isTarget && html` id="${id}"`}${describe(field)}>
<legend>${label}${renderOptional(field, page)}</legend>
${renderExplanations(field)}${renderHidden(hidden)}${content}</fieldset>
`
}

function renderOptional ({ optional }: Field, { messages }: Page): Markup | false {
  return optional && html` <span class="optional">${messages.optional}</span>`
}

function classOf ({ control, errors }: Field): string {
  return `field ${control}${errors.length > 0 ? ' wrong' : ''}`
}

/** The ids of what explains a field, in the order in which they stand. */
function describe ({ id, control, description, hint, errors }: Field): Markup {
  const isWrong = errors.length > 0
  const ids = [
    ...(description === undefined ? [] : [`${id}!description`]),
    ...(hint === undefined ? [] : [`${id}!hint`]),
    ...(isWrong ? [`${id}!error`] : [])
  ]
  const isControl = control === 'input' || control === 'textarea' || control === 'select' || control === 'checkbox'
  return html`${ids.length > 0 && html` aria-describedby="${ids.join(' ')}"`}${
    isControl && isWrong && html` aria-invalid="true"`
  }`
}

function renderExplanations ({ id, description, hint, errors }: Field): Markup {
  const lines = errors.map((error, index) => html`${index > 0 && html`<br/>`}${error}`)
  return html`${
    description !== undefined && html`<p class="explanation" id="${id}!description">${description}</p>\n`
  }${
    hint !== undefined && html`<p class="explanation" id="${id}!hint">${hint}</p>\n`
  }${lines.length > 0 && html`<p class="error" id="${id}!error">${lines}</p>\n`}`
}
