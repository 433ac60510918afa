import { type Content, markup, type Markup } from '../html-tag.js'
import { renderAction, renderValues } from './page-views.js'
import type { Link, RecordPage, RelatedRows, Value } from './model.js'
import type { ResolvedViews } from './types.js'

/** Renders the page of a row. The form beneath it takes its place once the link to it is followed. */
export function record (page: RecordPage, views: ResolvedViews): Markup {
  const { children, related, edit } = page
  return markup`${renderHeading(page, views)}${
    children.length > 0 && markup`<ul class="children">${children.map(renderLink)}</ul>\n`
  }${renderRow(page)}${related.map(renderRelated)}${
    edit !== undefined && markup`<section id="edit" class="card edit" aria-labelledby="edit-heading">
<h2 id="edit-heading">${edit.heading}</h2>
${views.form(edit, page, views)}</section>
`}`
}

/** Renders the heading, with the actions beside it. */
function renderHeading (page: RecordPage, views: ResolvedViews): Markup {
  const { title, actions, edit, editLink, messages } = page
  const main = edit === undefined ? editLink : { label: messages.editButton, href: '#edit' }
  if (actions.length === 0 && main === undefined && page.delete === undefined) return markup`<h1>${title}</h1>\n`
  return markup`<div class="title"><h1>${title}</h1><div class="tools">${actions.map(renderAction)}${
    main !== undefined && markup`<a class="button" href="${main.href}">${main.label}</a>`
  }${
    page.delete !== undefined && markup`<details class="danger">
<summary class="button plain">${page.delete.heading}</summary>
<div class="card"><p>${page.delete.warning}</p>
${views.form(page.delete, page, views)}</div></details>`
  }</div></div>
`
}

function renderLink ({ label, href }: Link): Markup {
  return markup`<li><a href="${href}">${label}</a></li>`
}

/** Renders the values of a row, and then its id. Blank values are folded away. */
function renderRow ({ id, values, resource, messages }: RecordPage): Markup {
  return markup`<dl class="record">
${renderValues(values.filter((value) => !isBlank(value)))}${
  !resource.singleton && markup`<div class="id"><dt>${messages.id}</dt><dd>${id}</dd></div>\n`
}</dl>
${renderBlank(values.filter(isBlank), messages)}`
}

function isBlank ({ markup }: Value): boolean {
  return markup.toString() === ''
}

function renderBlank (values: readonly Value[], { blank }: RecordPage['messages']): Content {
  return values.length > 0 && markup`<details class="blank">
<summary>${blank(values.length)}</summary>
<dl class="record">
${renderValues(values)}</dl>
</details>
`
}

function renderRelated ({ label, href, total, table, empty, all, newLink }: RelatedRows, index: number): Content {
  return markup`<section class="related" aria-labelledby="related-${index}">
<div class="title"><h2 id="related-${index}"><a href="${href}">${label}</a>${
  total !== undefined && markup` <span class="total">${total}</span>`
}</h2>${newLink !== undefined && markup`<a class="button plain" href="${newLink.href}">${newLink.label}</a>`}</div>
${table === undefined && total !== undefined && markup`<p class="none">${empty}</p>\n`}${table}${
  table !== undefined && markup`<p><a href="${all.href}">${all.label}</a></p>\n`
}</section>
`
}
