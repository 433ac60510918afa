import { markup, type Markup } from '../html-tag.js'
import { renderButton } from './controls-view.js'
import { renderSearch } from './filter-view.js'
import { renderHidden } from './form-view.js'
import type { ChoosePage } from './model.js'

/** Renders the rows that an attribute can reference. Enter in the search presses its button, which is the first one. */
export function choose (page: ChoosePage): Markup {
  const { title, action, hidden, search, rows, empty, none, next, back } = page
  return markup`<h1>${title}</h1>
<form method="post" action="${action}">
${renderHidden(hidden)}${
  search !== undefined && markup`<div class="filter">${renderSearch(search)}</div>\n`
}${rows.length === 0 ? markup`<div class="empty"><p><strong>${empty}</strong></p></div>\n` : renderRows(page)}${
  next !== undefined && markup`<p class="pages">${renderButton(next)}</p>\n`
}<p class="actions">${none !== undefined && renderButton(none)}${renderButton(back)}</p>
</form>
`
}

/** Renders a table of the rows. The name of each is the button that chooses it. */
function renderRows ({ rows, messages: { attributeName, id: idLabel } }: ChoosePage): Markup {
  return markup`<div class="scroll"><table class="list">
<thead><tr>${[attributeName, idLabel].map((label) => markup`<th scope="col">${label}</th>`)}</tr></thead>
<tbody>
${rows.map(({ id, choose }) => markup`<tr><td data-label="${attributeName}" dir="auto">${renderButton(choose)}</td>${
  markup`<td data-label="${idLabel}" class="id">${id}</td></tr>\n`
}`)}</tbody>
</table></div>
`
}
