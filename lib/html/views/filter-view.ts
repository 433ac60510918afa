import { type Content, markup, type Markup } from '../html-tag.js'
import { renderOption } from './controls-view.js'
import { renderHidden } from './form-view.js'
import type { AddCondition, ConditionForm, FilterCondition, FilterForm, SearchField } from './model.js'

/** Renders the bar above a list: the search, the conditions of the query, and the fields of one more condition. */
export function renderFilter (
  { action, hidden, search, conditions, clear, add, open }: FilterForm,
  { filter }: { readonly filter: string }
): Markup {
  const asked = clear !== undefined && markup`<ul class="conditions">${
    conditions.map(renderCondition)
  }<li><a href="${clear.href}">${clear.label}</a></li></ul>\n`
  const more = open === undefined ? add && renderAdd(add, filter) : renderOpen(open)
  if (search === undefined && more === undefined) return markup`<div class="filter">${asked}</div>\n`
  return markup`<form method="get" action="${action}" class="filter" role="search">
${renderHidden(hidden)}${search !== undefined && renderSearch(search)}${asked}${more}</form>
`
}

/** Renders the field of a search, with its button. */
export function renderSearch ({ id, name, label, value, error, autofocus }: SearchField): Markup {
  return markup`<div class="search"><label for="${id}">${label}</label><input type="search" id="${id}" name="${name}"${
    markup` value="${value}" dir="auto"${renderRefusal(error)}${autofocus === true && markup` autofocus="autofocus"`}`
  }/><button type="submit">${label}</button></div>
${renderError(error)}`
}

function renderCondition ({ text, remove: { label, href } }: FilterCondition): Markup {
  return markup`<li><a class="chip" href="${href}" aria-label="${label}">${text} <span>&#215;</span></a></li>`
}

function renderAdd ({ id, name, label, options, submit }: AddCondition, summary: string): Markup {
  return markup`<details>
<summary class="chip">+ ${summary}</summary>
<div class="condition"><select id="${id}" name="${name}" aria-label="${label}">${
  options.map(renderOption)
}</select><button type="submit">${submit}</button></div>
</details>
`
}

/** Renders the fields of a condition. The name of the value's control is that of the attribute and the operator. */
function renderOpen ({ label, operator, value, error, submit, cancel }: ConditionForm): Markup {
  const { id, name, type, options } = value
  const common = markup`id="${id}" name="${name}" aria-labelledby="filter!label ${operator.id}"${
    markup` autofocus="autofocus"${renderRefusal(error)}`
  }`
  const control = options === undefined
    ? markup`<input type="${type}" ${common} value="${value.value}"${
      type === 'text' ? markup` dir="auto"` : type !== 'date' && markup` step="any"`
    }/>`
    : markup`<select ${common}>${options.map(renderOption)}</select>`
  return markup`<div class="condition"><label id="filter!label" for="${operator.id}">${label}</label>${
    markup`<select id="${operator.id}" name="${operator.name}">${operator.options.map(renderOption)}</select>`
  }${control}<button type="submit" class="primary">${submit}</button><a href="${cancel.href}">${cancel.label}</a></div>
${renderError(error)}`
}

/** Renders the attributes of a control that was refused. */
function renderRefusal (error: string | undefined): Markup | false {
  return error !== undefined && markup` aria-invalid="true" aria-describedby="filter!error"`
}

function renderError (error: string | undefined): Content {
  return error !== undefined && markup`<p class="error" id="filter!error">${error}</p>\n`
}
