import { html, type Markup } from '../html-tag.js'
import { renderHidden } from './field-view.js'
import type { Form, Link, Page, PageAction, Value } from './model.js'
import type { ResolvedViews } from './types.js'

/** The heading, with what can be done beside it; `main` leads to what is done most. */
export function renderTitle (title: string, actions: readonly PageAction[], main: Link | undefined): Markup {
  if (actions.length === 0 && main === undefined) return html`<h1>${title}</h1>\n`
  return html`<div class="title"><h1>${title}</h1><div class="tools">${actions.map(renderAction)}${
    main !== undefined && html`<a class="button" href="${main.href}">${main.label}</a>`
  }</div></div>\n`
}

function renderAction ({ method, label, href, hidden }: PageAction): Markup {
  if (method === 'GET') return html`<a class="button plain" href="${href}">${label}</a>`
  return html`<form method="post" action="${href}">${
    renderHidden(hidden)
  }<button type="submit">${label}</button></form>`
}

export function renderNew (form: Form | undefined, page: Page, views: ResolvedViews): Markup | undefined {
  return form && html`<section id="new" class="card" aria-labelledby="new-heading">
<h2 id="new-heading">${form.heading}</h2>
${views.form(form, page, views)}</section>
`
}

export function renderValues (values: readonly Value[]): Markup[] {
  return values.map(({ label, anchor, markup }) =>
    html`<div><dt>${label}</dt><dd id="${anchor}" dir="auto">${markup}</dd></div>\n`)
}
