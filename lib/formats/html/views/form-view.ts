import { randomUUID } from 'node:crypto'
import { escapeAttribute } from '../../escape.js'
import { flatten } from '../../row-template.js'
import { html, type Markup, raw, show } from '../html-tag.js'
import type {
  Button, CheckboxesField, CheckField, Constraints, Field, Form, FormError, FreeRows, HiddenField, InputField,
  UnchangedField, MomentField, Option, Page, RadiosField, RowsField, SelectField, TextField
} from './model.js'
import type { ResolvedViews } from './types.js'

export function form (form: Form, page: Page, views: ResolvedViews): Markup {
  const { kind, action, hidden, errors } = form
  return html`${
    errors.length > 0 && renderErrors(errors, page)
  }<form method="post" action="${action}" class="${kind === 'delete' ? 'form danger' : 'form'}">
${renderHidden(hidden)}${renderDefaultButton(form)}${renderBody(form, page, views)}</form>
`
}

/**
 * Renders a hidden submit button in front of the others. Enter presses the first one (HTML §4.10.22.2), which must not
 * add or remove a row.
 */
export function renderDefaultButton ({ hasRows, submit }: Form): Markup | false {
  return hasRows &&
    html`<button type="submit" class="default" tabindex="-1" aria-hidden="true">${submit}</button>\n`
}

export function renderBody (form: Form, page: Page, views: ResolvedViews): Markup {
  const { fields, free, submit, another, cancel } = form
  return html`${fields.map((field) => views.field(field, page, views))}${
    free !== undefined && renderFree(free, page)
  }<p class="actions"><button type="submit" class="primary">${submit}</button>${
    another !== undefined && html`<button type="submit" name="${another.name}" value="${another.value}">${
      another.label
    }</button>`
  }${cancel !== undefined && html`<a class="button plain" href="${cancel.href}">${cancel.label}</a>`}</p>
`
}

function renderFree ({ rows, add }: FreeRows, page: Page): Markup {
  const { attributeName, attributeValue, furtherAttributes } = page.messages
  return html`<fieldset class="free">
<legend>${furtherAttributes}</legend>
<table>
<thead><tr><th scope="col">${attributeName}</th><th scope="col">${attributeValue}</th></tr></thead>
<tbody>
${rows.map(({ name, value }, index) =>
  html`<tr>${renderCell(name, attributeName, index, page)}${renderCell(value, attributeValue, index, page)}</tr>\n`
)}</tbody>
</table>
<p>${renderButton(add)}</p>
</fieldset>
`
}

function renderCell ({ name, value }: HiddenField, label: string, index: number, { messages, xhtml }: Page): Markup {
  const attributes = html`name="${name}" aria-label="${messages.item(label, index + 1)}"`
  const control = value.includes('\n')
    ? html`<textarea ${attributes} rows="2" cols="60" dir="auto">${extraNewline(value, xhtml)}${value}</textarea>`
    : html`<input type="text" ${attributes} value="${value}" dir="auto"/>`
  return html`<td data-label="${label}">${control}</td>`
}

/** Renders the errors of a form. They get the focus when the page opens, so that a screen reader reads them first. */
export function renderErrors (errors: readonly FormError[], { messages }: Page): Markup {
  return html`<div class="problem" role="alert" tabindex="-1" autofocus="autofocus" aria-labelledby="problem-heading">
<h2 id="problem-heading">${messages.problem}</h2>
<ul>
${errors.map(({ text, href }) =>
  html`<li>${href === undefined ? text : html`<a href="${href}">${text}</a>`}</li>\n`
)}</ul>
</div>
`
}

/** Renders a control with its label, explanations and errors. */
export function field (field: Field, page: Page, views: ResolvedViews): Markup {
  return show(field, (field) => {
    const cache = CachedModel.cacheOf(field)
    if (cache === undefined) return renderField(field, page, views)
    return field.control === 'input' || field.control === 'textarea'
      ? cache.render(field.value, page, views, (value) => renderField({ ...field, value }, page, views))
      : cache.render('', page, views, () => renderField(field, page, views))
  })
}

function renderField (field: Field, page: Page, views: ResolvedViews): Markup {
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
      return renderKept(field)
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
  // A browser sends nothing for an unticked box, so the hidden field says `false`.
  const hidden = renderHidden([...field.hidden, { name, value: 'false' }])
  const box = html`id="${id}" name="${name}" value="true"${checked && html` checked="checked"`}${describe(field)}`
  return html`<div class="${classOf(field)}">
${hidden}<div class="choice"><input type="checkbox" ${box}/> <label for="${id}">${label}</label></div>
${renderExplanations(field)}</div>
`
}

function renderKept ({ label, hint, beginning }: UnchangedField): Markup {
  return html`<p class="kept"><strong>${label}</strong> ${hint}</p>\n${
    beginning !== undefined && html`<blockquote class="kept" dir="auto">${beginning}</blockquote>\n`
  }`
}

const NEWLINE = raw('\n')

/** Renders hidden fields. */
export function renderHidden (fields: readonly HiddenField[]): Markup {
  return show(fields, (fields) => html`${
    fields.map(({ name, value }) => html`<input type="hidden" name="${name}" value="${value}"/>`)
  }${fields.length > 0 && NEWLINE}`)
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
  }>${extraNewline(value, xhtml)}${value}</textarea>`
}

/** Returns a newline for the beginning of a textarea: an HTML parser drops a newline right after the tag. */
function extraNewline (text: string, xhtml: boolean): Markup | false {
  return !xhtml && text.startsWith('\n') && NEWLINE
}

/** Renders a choice of a drop-down list. */
export function renderOption ({ value, label, selected }: Option): Markup {
  return html`<option value="${value}"${selected && html` selected="selected"`}>${label}</option>`
}

function renderConstraints (constraints: Constraints): Markup[] {
  return Object.entries(constraints).map(([name, value]) => html` ${name}="${value}"`)
}

/** Renders radio buttons or checkboxes. The first one has the id of the field, which links lead to. */
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

/** Renders a button that changes the form and saves nothing. */
function renderButton ({ name, value, label }: Button): Markup {
  return html`<button type="submit" name="${name}" value="${value}" formnovalidate="formnovalidate">${label}</button>`
}

/** Renders a fieldset. Its legend is the label of the field. */
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

/** Renders the attributes that refer to the explanations of a field and mark an invalid control. */
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

/** The markup before and after the text that differs, and the inputs that it was rendered from. */
interface SplitMarkup {
  readonly messages: Page['messages']
  readonly xhtml: boolean
  readonly views: ResolvedViews
  readonly before: string
  /** The markup after that text, or `undefined` if no text differs. */
  readonly after: string | undefined
}

/**
 * The markup that similar models share: they differ in one text at most. It is made for the first of them and kept for
 * the others.
 */
export class MarkupCache {
  #split: SplitMarkup | undefined

  /** Returns the markup of a model with this text. `render` makes it for the first model. */
  render (text: string, page: Page, views: ResolvedViews, render: (text: string) => Markup): Markup {
    let split = this.#split
    if (split?.messages !== page.messages || split.xhtml !== page.xhtml || split.views !== views) {
      const mark = randomUUID()
      const [before = '', after] = render(mark).toString().split(mark).map(flatten)
      split = { messages: page.messages, xhtml: page.xhtml, views, before, after }
      this.#split = split
    }
    const { before, after } = split
    return raw(after === undefined ? before : before + escapeAttribute(text) + after)
  }
}

/** A model that looks like others. A copy made by a spread is an ordinary model, because it may differ in anything. */
export class CachedModel {
  readonly #cache: MarkupCache | undefined

  constructor (cache: MarkupCache | undefined) {
    this.#cache = cache
  }

  /** Returns what the model shares with others, or `undefined` for any other object. */
  static cacheOf (model: object): MarkupCache | undefined {
    return #cache in model ? model.#cache : undefined
  }
}
