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
}${rows.length === 0 ? html`<div class="empty"><p><strong>${empty}</strong></p></div>\n` : renderRows(page)}${
  next !== undefined && html`<p class="pages">${renderButton(next)}</p>\n`
}<p class="actions">${none !== undefined && renderButton(none)}${renderButton(back)}</p>
</form>
`
}

/** Renders a table of the rows. The name of each is the button that chooses it. */
function renderRows ({ rows, messages: { attributeName, id: idLabel } }: ChoosePage): Markup {
  return html`<div class="scroll"><table class="list">
<thead><tr>${[attributeName, idLabel].map((label) => html`<th scope="col">${label}</th>`)}</tr></thead>
<tbody>
${rows.map(({ id, choose }) => html`<tr><td data-label="${attributeName}" dir="auto">${renderButton(choose)}</td>${
  html`<td data-label="${idLabel}" class="id">${id}</td></tr>\n`
}`)}</tbody>
</table></div>
`
}
