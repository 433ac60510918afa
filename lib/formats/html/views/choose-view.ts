import { html, type Markup } from '../html-tag.js'
import { renderButton } from './controls-view.js'
import { renderSearch } from './filter-view.js'
import { renderHidden } from './form-view.js'
import type { ChoosePage } from './model.js'

/** Renders the rows that an attribute can reference. Enter in the search presses its button, which is the first one. */
export function choose (page: ChoosePage): Markup {
  const { title, action, hidden, search, rows, empty, none, next, back } = page
  return html`<h1>${title}</h1>
<form method="post" action="${action}">
${renderHidden(hidden)}${
  search !== undefined && html`<div class="filter">${renderSearch(search)}</div>\n`
}${rows.length === 0 ? html`<div class="empty"><p><strong>${empty}</strong></p></div>\n` : renderRows(page)}<p${
  html` class="actions"`
}>${next !== undefined && renderButton(next)}${none !== undefined && renderButton(none)}${renderButton(back)}</p>
</form>
`
}

function renderRows ({ rows, messages: { attributeName, id: idLabel, chooseFilter } }: ChoosePage): Markup {
  return html`<table class="list">
<thead><tr>${
  [attributeName, idLabel, chooseFilter].map((label) => html`<th scope="col">${label}</th>`)
}</tr></thead>
<tbody>
${rows.map(({ name, id, choose }) => html`<tr><td data-label="${attributeName}" dir="auto">${name}</td>${
  html`<td data-label="${idLabel}" class="id">${id}</td><td>${renderButton(choose, 'chip')}</td></tr>\n`
}`)}</tbody>
</table>
`
}
