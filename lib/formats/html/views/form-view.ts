import { html, type Markup } from '../html-tag.js'
import { renderButton, renderHidden } from './field-view.js'
import type { Form, FormError, FreeRows, HiddenField, Page } from './model.js'
import type { ResolvedViews } from './types.js'

export function form (form: Form, page: Page, views: ResolvedViews): Markup {
  const { kind, action, hidden, errors } = form
  return html`${
    errors.length > 0 && renderErrors(errors, page)
  }<form method="post" action="${action}" class="${kind === 'delete' ? 'form danger' : 'form'}">
${renderHidden(hidden)}${renderDefaultButton(form)}${renderBody(form, page, views)}</form>
`
}

/** Enter presses the first submit button of a form (HTML §4.10.22.2), which must be none that adds or removes a row. */
export function renderDefaultButton ({ hasRows, submit }: Form): Markup | false {
  return hasRows &&
    html`<button type="submit" class="default" tabindex="-1" aria-hidden="true">${submit}</button>\n`
}

export function renderBody ({ fields, free, submit }: Form, page: Page, views: ResolvedViews): Markup {
  return html`${fields.map((field) => views.field(field, page, views))}${
    free !== undefined && renderFree(free, page)
  }<p class="actions"><button type="submit" class="primary">${submit}</button></p>
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
    ? html`<textarea ${attributes} rows="2" cols="60" dir="auto">${
      // An HTML parser drops a newline right after the tag.
      !xhtml && value.startsWith('\n') && html`\n`
    }${value}</textarea>`
    : html`<input type="text" ${attributes} value="${value}" dir="auto"/>`
  return html`<td data-label="${label}">${control}</td>`
}

/** Focused when the page opens, so that it is read first. */
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
