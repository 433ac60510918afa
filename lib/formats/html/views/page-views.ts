import { html, type Markup } from '../html-tag.js'
import { renderHidden } from './field-view.js'
import { renderBody, renderDefaultButton, renderErrors } from './form-view.js'
import type { Conflict, EditPage, ErrorPage, RecordPage, StalePage } from './model.js'
import { renderNew, renderTitle, renderValues } from './parts.js'
import type { ResolvedViews } from './types.js'

export function record (page: RecordPage, views: ResolvedViews): Markup {
  const { title, id, resource, values, actions, children, edit, editLink, messages } = page
  return html`${renderTitle(title, actions, editLink)}${
    children.length > 0 && html`<ul class="children">${
      children.map(({ label, href }) => html`<li><a href="${href}">${label}</a></li>`)
    }</ul>\n`
  }<dl class="record">
${!resource.singleton && html`<div><dt>${messages.id}</dt><dd>${id}</dd></div>\n`}${renderValues(values)}</dl>
${edit !== undefined && html`<section class="card" aria-labelledby="edit-heading">
<h2 id="edit-heading">${edit.heading}</h2>
${views.form(edit, page, views)}</section>
`}${page.delete !== undefined && html`<details class="danger">
<summary>${page.delete.heading}</summary>
<p>${page.delete.warning}</p>
${views.form(page.delete, page, views)}</details>
`}`
}

export function edit (page: EditPage, views: ResolvedViews): Markup {
  return html`<h1>${page.title}</h1>
${page.form !== undefined && views.form(page.form, page, views)}`
}

export function error (page: ErrorPage, views: ResolvedViews): Markup {
  const { title, parent, texts, create } = page
  return html`<h1>${title}</h1>
<div class="problem" role="alert"><ul>
${texts.map((text) => html`<li>${text}</li>\n`)}</ul></div>
${parent !== undefined && html`<p><a href="${parent.href}">${parent.label}</a></p>\n`}${
  renderNew(create, page, views)
}`
}

export function stale (page: StalePage, views: ResolvedViews): Markup {
  const { title, href, current, conflicts, form, messages } = page
  const advice = html`<h1>${title}</h1>
<p class="lead" role="alert">${messages.staleAdvice}${conflicts.length > 0 && html` ${messages.staleChoose}`}</p>
${href !== undefined && html`<p><a href="${href}">${messages.leave}</a></p>\n`}`
  if (form === undefined || form.kind === 'delete') {
    return html`${advice}<dl class="record">\n${renderValues(current)}</dl>\n${
      form !== undefined && views.form(form, page, views)
    }`
  }
  return html`${advice}${
    form.errors.length > 0 && renderErrors(form.errors, page)
  }<form method="post" action="${form.action}" class="form">
${renderHidden(form.hidden)}${renderDefaultButton(form)}${
  conflicts.map((conflict) => renderConflict(conflict, page, views))
}${form.fields.length > 0 && html`<h2>${messages.same}</h2>\n`}${renderBody(form, page, views)}</form>
`
}

function renderConflict ({ label, theirs, field, choice }: Conflict, page: StalePage, views: ResolvedViews): Markup {
  const { messages } = page
  return html`<fieldset class="conflict">
<legend>${label}</legend>
<div class="sides">
<div class="side">${renderSide(choice, 'yours', messages.keepYours)}${views.field(field, page, views)}</div>
<div class="side">${
  renderSide(choice, 'theirs', messages.keepTheirs)
}<div class="theirs"><p class="label">${messages.theirs}</p><div class="value" dir="auto">${theirs}</div></div></div>
</div>
</fieldset>
`
}

function renderSide ({ name, id, keep }: Conflict['choice'], side: 'yours' | 'theirs', label: string): Markup {
  return html`<div class="choice"><input type="radio" id="${id}!${side}" name="${name}" value="${side}"${
    keep === side && html` checked="checked"`
  }/> <label for="${id}!${side}">${label}</label></div>\n`
}
