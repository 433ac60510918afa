import { html, type Markup } from '../html-tag.js'
import { renderHidden, renderOption } from './field-view.js'
import { keepMarkup } from './kept-markup.js'
import type { Column, FilterField, FilterForm, ListPage } from './model.js'
import { renderNew, renderTitle } from './parts.js'
import type { ResolvedViews } from './types.js'

export function list (page: ListPage, views: ResolvedViews): Markup {
  const { title, isEmpty, next, first, filter, actions, create, newLink } = page
  const isFiltered = filter?.clear !== undefined
  const add = create === undefined ? newLink : { label: create.heading, href: '#new' }
  return html`${renderTitle(title, actions, add)}${
    filter !== undefined && (!isEmpty || isFiltered || first !== undefined) && renderFilter(filter, page)
  }${isEmpty ? renderEmpty(page, isFiltered) : page.table}${
    (next ?? first) !== undefined && html`<nav class="pages">${
      first !== undefined && html`<a href="${first.href}">${first.label}</a>`
    }${
      next !== undefined && html`<a href="${next.href}" rel="next">${next.label}</a>`
    }</nav>\n`
  }${renderNew(create, page, views)}`
}

function renderEmpty ({ resource, first, create, messages }: ListPage, isFiltered: boolean): Markup {
  const { plural, singular } = messages
  if (first !== undefined) return html`<div class="empty"><p><strong>${messages.noMore(plural)}</strong></p></div>\n`
  if (isFiltered) {
    const link = html`<a href="${resource.path}">${messages.all(plural)}</a>`
    return html`<div class="empty"><p><strong>${messages.noMatch(plural)}</strong></p><p>${link}</p></div>\n`
  }
  return html`<div class="empty"><p><strong>${messages.empty(plural)}</strong></p>${
    create !== undefined && html`<p>${messages.emptyAdvice(singular)}</p>`
  }</div>\n`
}

function renderFilter ({ action, hidden, fields, clear }: FilterForm, { messages }: ListPage): Markup {
  return html`<details class="filter"${clear !== undefined && html` open="open"`}>
<summary>${messages.filter}</summary>
<form method="get" action="${action}">
${renderHidden(hidden)}<div class="fields">
${fields.map(renderFilterField)}</div>
<p class="actions"><button type="submit">${messages.applyFilter}</button>${
  clear !== undefined && html` <a href="${clear.href}">${clear.label}</a>`
}</p>
</form>
</details>
`
}

const renderFilterField = keepMarkup(({ id, name, label, value, options, inputMode }: FilterField): Markup => {
  const control = options === undefined
    ? html`<input type="text" id="${id}" name="${name}" value="${value}"${
      inputMode !== undefined && html` inputmode="${inputMode}"`
    } dir="auto"/>`
    : html`<select id="${id}" name="${name}">${options.map(renderOption)}</select>`
  return html`<div class="field"><label for="${id}">${label}</label>${control}</div>\n`
})

/** The heading of a column, a link where the list can be sorted by it. */
export function renderColumn ({ label, numeric, sort, sorted }: Column): Markup {
  return html`<th scope="col"${numeric && html` class="number"`}${
    sorted !== undefined && html` aria-sort="${sorted}"`
  }>${sort === undefined ? label : html`<a href="${sort.href}">${label}</a>`}</th>`
}
