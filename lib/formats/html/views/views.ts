import { type Content, html, Markup, raw, render } from '../html-tag.js'
import { renderField, renderHidden, renderOption } from './field-view.js'
import type { Column, EditPage, ErrorPage, FilterField, FilterForm, Form, FormError, FreeRows, HiddenField, Link, ListPage, Page, PageAction, RecordPage, StalePage, Value } from './model.js'
import type { ResolvedViews, Views } from './types.js'

/** The views as they are where an app replaces none. */
export const defaultViews: Views = Object.freeze({ layout, list, record, edit, stale, error, form, field: renderField })

/** The app's views, and ours where it has none. */
export function resolveViews (given: Partial<Views>): ResolvedViews {
  const names = Object.keys(defaultViews) as Array<keyof Views>
  // What each view takes stands in `Views`; that it is called by its own name cannot be told to the compiler.
  return Object.fromEntries(names.map((name) => {
    const view = (given[name] ?? defaultViews[name]) as (...parameters: unknown[]) => Content
    return [name, (...parameters: unknown[]) => toMarkup(view(...parameters))]
  })) as unknown as ResolvedViews
}

function toMarkup (content: Content): Markup {
  return content instanceof Markup ? content : new Markup(render(content))
}

function layout (page: Page, content: Markup): Markup {
  const { lang, dir, crumbs, title, stylesheet, alternates, messages } = page
  return html`<!DOCTYPE html>
<html xmlns="http://www.w3.org/1999/xhtml" lang="${lang}" dir="${dir}">
<head>
<meta charset="utf-8"/>
<meta name="viewport" content="width=device-width, initial-scale=1"/>
<meta name="color-scheme" content="light dark"/>
<title>${titleOf(page)}</title>
<link rel="stylesheet" href="${stylesheet}"/>
${alternates.map(({ href, mediaType }) => html`<link rel="alternate" type="${mediaType}" href="${href}"/>\n`)}</head>
<body>
<a class="skip" href="#main">${messages.skip}</a>
${crumbs.length > 0 && html`<header><nav aria-label="${messages.breadcrumb}"><ol class="breadcrumb">${crumbs.map(({ label, href }) => html`<li><a href="${href}">${label}</a></li>`)}<li aria-current="page">${title}</li></ol></nav></header>\n`}<main id="main">
${content}</main>
${alternates.length > 0 && html`<footer><p>${messages.alsoAs} ${alternates.map(({ label, href, mediaType }, index) => html`${index > 0 && SEPARATOR}<a href="${href}" type="${mediaType}">${label}</a>`)}</p></footer>\n`}</body>
</html>
`
}

/** What is wrong is said first: it is what a screen reader says first. */
function titleOf (page: Page): Content {
  const isWrong = (page.kind === 'edit' || page.kind === 'stale') && page.form !== undefined && page.form.errors.length > 0
  const title = isWrong ? page.messages.problemTitle(page.title) : page.title
  return page.parent === undefined ? title : [title, DASH, page.parent.label]
}

// As references, since one character beyond Latin-1 makes a text of two bytes a character: all of the page is written and
// sent in less than half the time without one (`test/bench`).
const DASH = raw(' &#8211; ')
const SEPARATOR = raw(' &#183; ')

function list (page: ListPage, views: ResolvedViews): Markup {
  const { title, isEmpty, next, first, filter, actions, create, newLink } = page
  const isFiltered = filter?.clear !== undefined
  const add = create === undefined ? newLink : { label: create.heading, href: '#new' }
  return html`${renderTitle(title, actions, add)}${filter !== undefined && (!isEmpty || isFiltered || first !== undefined) && renderFilter(filter, page)}${isEmpty ? renderEmpty(page, isFiltered) : page.table}${(next ?? first) !== undefined && html`<nav class="pages">${first !== undefined && html`<a href="${first.href}">${first.label}</a>`}${next !== undefined && html`<a href="${next.href}" rel="next">${next.label}</a>`}</nav>\n`}${renderNew(create, page, views)}`
}

/** The heading, with what can be done beside it; `main` leads to what is done most. */
function renderTitle (title: string, actions: readonly PageAction[], main: Link | undefined): Markup {
  if (actions.length === 0 && main === undefined) return html`<h1>${title}</h1>\n`
  return html`<div class="title"><h1>${title}</h1><div class="tools">${actions.map(renderAction)}${main !== undefined && html`<a class="button" href="${main.href}">${main.label}</a>`}</div></div>\n`
}

function renderAction ({ method, label, href, hidden }: PageAction): Markup {
  if (method === 'GET') return html`<a class="button plain" href="${href}">${label}</a>`
  return html`<form method="post" action="${href}">${renderHidden(hidden)}<button type="submit">${label}</button></form>`
}

function renderNew (form: Form | undefined, page: Page, views: ResolvedViews): Markup | undefined {
  return form && html`<section id="new" class="card" aria-labelledby="new-heading">
<h2 id="new-heading">${form.heading}</h2>
${views.form(form, page, views)}</section>
`
}

function renderEmpty ({ resource, first, create, messages }: ListPage, isFiltered: boolean): Markup {
  const { plural, singular } = messages
  if (first !== undefined) return html`<div class="empty"><p><strong>${messages.noMore(plural)}</strong></p></div>\n`
  if (isFiltered) return html`<div class="empty"><p><strong>${messages.noMatch(plural)}</strong></p><p><a href="${resource.path}">${messages.all(plural)}</a></p></div>\n`
  return html`<div class="empty"><p><strong>${messages.empty(plural)}</strong></p>${create !== undefined && html`<p>${messages.emptyAdvice(singular)}</p>`}</div>\n`
}

function renderFilter ({ action, hidden, fields, clear }: FilterForm, { messages }: ListPage): Markup {
  return html`<details class="filter"${clear !== undefined && html` open="open"`}>
<summary>${messages.filter}</summary>
<form method="get" action="${action}">
${renderHidden(hidden)}<div class="fields">
${fields.map(renderFilterField)}</div>
<p class="actions"><button type="submit">${messages.applyFilter}</button>${clear !== undefined && html` <a href="${clear.href}">${clear.label}</a>`}</p>
</form>
</details>
`
}

function renderFilterField ({ id, name, label, value, options, inputMode }: FilterField): Markup {
  const control = options === undefined
    ? html`<input type="text" id="${id}" name="${name}" value="${value}"${inputMode !== undefined && html` inputmode="${inputMode}"`} dir="auto"/>`
    : html`<select id="${id}" name="${name}">${options.map(renderOption)}</select>`
  return html`<div class="field"><label for="${id}">${label}</label>${control}</div>\n`
}

/** The heading of a column, a link where the list can be sorted by it. */
export function renderColumn ({ label, numeric, sort, sorted }: Column): Markup {
  const attributes = html`${numeric && html` class="number"`}${sorted !== undefined && html` aria-sort="${sorted}"`}`
  return html`<th scope="col"${attributes}>${sort === undefined ? label : html`<a href="${sort.href}">${label}</a>`}</th>`
}

function record (page: RecordPage, views: ResolvedViews): Markup {
  const { title, id, resource, values, actions, children, edit, editLink, messages } = page
  return html`${renderTitle(title, actions, editLink)}${children.length > 0 && html`<ul class="children">${children.map(({ label, href }) => html`<li><a href="${href}">${label}</a></li>`)}</ul>\n`}<dl class="record">
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

function renderValues (values: readonly Value[]): Markup[] {
  return values.map(({ label, anchor, markup }) => html`<div><dt>${label}</dt><dd id="${anchor}" dir="auto">${markup}</dd></div>\n`)
}

function edit (page: EditPage, views: ResolvedViews): Markup {
  return html`<h1>${page.title}</h1>
${page.form !== undefined && views.form(page.form, page, views)}`
}

function error (page: ErrorPage, views: ResolvedViews): Markup {
  const { title, parent, texts, create } = page
  return html`<h1>${title}</h1>
<div class="problem" role="alert"><ul>
${texts.map((text) => html`<li>${text}</li>\n`)}</ul></div>
${parent !== undefined && html`<p><a href="${parent.href}">${parent.label}</a></p>\n`}${renderNew(create, page, views)}`
}

function stale (page: StalePage, views: ResolvedViews): Markup {
  const { title, href, current, conflicts, form, messages } = page
  const advice = html`<h1>${title}</h1>
<p class="lead" role="alert">${messages.staleAdvice}${conflicts.length > 0 && html` ${messages.staleChoose}`}</p>
${href !== undefined && html`<p><a href="${href}">${messages.leave}</a></p>\n`}`
  if (form === undefined || form.kind === 'delete') return html`${advice}<dl class="record">\n${renderValues(current)}</dl>\n${form !== undefined && views.form(form, page, views)}`
  return html`${advice}${form.errors.length > 0 && renderErrors(form.errors, page)}<form method="post" action="${form.action}" class="form">
${renderHidden(form.hidden)}${renderDefaultButton(form)}${conflicts.map(({ label, theirs, field, choice }) => html`<fieldset class="conflict">
<legend>${label}</legend>
<div class="sides">
<div class="side">${renderSide(choice, 'yours', messages.keepYours)}${views.field(field, page, views)}</div>
<div class="side">${renderSide(choice, 'theirs', messages.keepTheirs)}<div class="theirs"><p class="label">${messages.theirs}</p><div class="value" dir="auto">${theirs}</div></div></div>
</div>
</fieldset>
`)}${form.fields.length > 0 && html`<h2>${messages.same}</h2>\n`}${renderBody(form, page, views)}</form>
`
}

function renderSide ({ name, id, keep }: StalePage['conflicts'][number]['choice'], side: 'yours' | 'theirs', label: string): Markup {
  return html`<div class="choice"><input type="radio" id="${id}!${side}" name="${name}" value="${side}"${keep === side && html` checked="checked"`}/> <label for="${id}!${side}">${label}</label></div>\n`
}

function form (form: Form, page: Page, views: ResolvedViews): Markup {
  const { kind, action, hidden, errors } = form
  return html`${errors.length > 0 && renderErrors(errors, page)}<form method="post" action="${action}" class="${kind === 'delete' ? 'form danger' : 'form'}">
${renderHidden(hidden)}${renderDefaultButton(form)}${renderBody(form, page, views)}</form>
`
}

/** Enter presses the first submit button of a form (HTML §4.10.22.2), which must be none that adds or removes a row. */
function renderDefaultButton ({ hasRows, submit }: Form): Markup {
  return html`${hasRows && html`<button type="submit" class="default" tabindex="-1" aria-hidden="true">${submit}</button>\n`}`
}

function renderBody ({ fields, free, submit }: Form, page: Page, views: ResolvedViews): Markup {
  return html`${fields.map((field) => views.field(field, page, views))}${free !== undefined && renderFree(free, page)}<p class="actions"><button type="submit" class="primary">${submit}</button></p>
`
}

function renderFree ({ rows, add }: FreeRows, { messages, xhtml }: Page): Markup {
  const cell = ({ name, value }: HiddenField, label: string, index: number): Markup => html`<td data-label="${label}">${value.includes('\n')
    ? html`<textarea name="${name}" aria-label="${messages.item(label, index + 1)}" rows="2" cols="60" dir="auto">${!xhtml && value.startsWith('\n') && html`\n`}${value}</textarea>`
    : html`<input type="text" name="${name}" aria-label="${messages.item(label, index + 1)}" value="${value}" dir="auto"/>`}</td>`
  return html`<fieldset class="free">
<legend>${messages.furtherAttributes}</legend>
<table>
<thead><tr><th scope="col">${messages.attributeName}</th><th scope="col">${messages.attributeValue}</th></tr></thead>
<tbody>
${rows.map(({ name, value }, index) => html`<tr>${cell(name, messages.attributeName, index)}${cell(value, messages.attributeValue, index)}</tr>\n`)}</tbody>
</table>
<p><button type="submit" name="${add.name}" value="${add.value}" formnovalidate="formnovalidate">${add.label}</button></p>
</fieldset>
`
}

/** Focused when the page opens, so that it is read first. */
function renderErrors (errors: readonly FormError[], { messages }: Page): Markup {
  return html`<div class="problem" role="alert" tabindex="-1" autofocus="autofocus" aria-labelledby="problem-heading">
<h2 id="problem-heading">${messages.problem}</h2>
<ul>
${errors.map(({ text, href }) => html`<li>${href === undefined ? text : html`<a href="${href}">${text}</a>`}</li>\n`)}</ul>
</div>
`
}
