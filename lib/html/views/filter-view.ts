import { type Content, markup, type Markup } from '../html-tag.js'
import type { PageMessages } from '../messages.js'
import { renderButton, renderOption } from './controls-view.js'
import { renderHidden } from './form-view.js'
import type {
  AddCondition, ColumnChoice, ConditionForm, FilterCondition, FilterForm, Link, RangeEnd, RangeForm, SearchField,
  ValueLinks
} from './model.js'

/** Renders the bar above a list: the search, the conditions of the query, and the fields of one more condition. */
export function renderFilter (
  form: FilterForm | undefined,
  { filter }: Pick<PageMessages, 'filter'>,
  columnChoices: readonly ColumnChoice[] = []
): Content {
  const choices = columnChoices.map(renderColumnChoice)
  if (form === undefined) return choices.length > 0 && markup`<div class="filter">${choices}</div>\n`
  const { action, hidden, opener, search, conditions, values, clear, add, open, range } = form
  const render = compileLink(opener)
  const asked = clear !== undefined && markup`<ul class="conditions">${
    conditions.map((condition) => renderCondition(condition, opener))
  }<li>${render(clear)}</li></ul>\n`
  const fields = open === undefined ? range && renderRange(range, render) : renderOpen(open, render)
  const more = fields ?? (add && renderAdd(add, filter))
  const all = markup`${asked}${more}${values.map((values) => renderValueLinks(values, opener))}${choices}`
  if (search === undefined && more === undefined) return markup`<div class="filter">${all}</div>\n`
  const content = markup`${renderHidden(hidden)}${search !== undefined && renderSearch(search)}${all}`
  return opener === undefined
    ? markup`<form method="get" action="${action}" class="filter" role="search">\n${content}</form>\n`
    : markup`${search === undefined && renderDefault(filter)}<div class="filter" role="search">\n${content}</div>\n`
}

/** Renders the links that show or hide a column, or its sum. */
function renderColumnChoice ({ label, isOpen, links }: ColumnChoice): Markup {
  return markup`<details${isOpen && markup` open="open"`}><summary class="chip">${label}</summary>
<ul class="conditions">${links.map(({ label, href, isShown, value = '' }) =>
  markup`<li><a class="chip" href="${href}">${
    isShown ? markup`${label}${value && ` ${value}`} <span>&#215;</span>` : markup`+ ${label}`
  }</a></li>`)}</ul></details>
`
}

/** Renders the button that Enter presses in a form that is kept: the first one of the others removes a condition. */
function renderDefault (label: string): Markup {
  return markup`<button type="submit" class="default" tabindex="-1" aria-hidden="true">${label}</button>\n`
}

type RenderLink = (link: Link) => Markup

/** Compiles the rendering of links. In a form that is kept, a button sends their query. */
function compileLink (opener: string | undefined): RenderLink {
  return (link) => opener === undefined
    ? markup`<a href="${link.href}">${link.label}</a>`
    : renderChip(link.href, link.label, opener)
}

/**
 * Renders a small link, or a small button in a form that is kept.
 * @param more further attributes of the element
 */
function renderChip (href: string, content: Content, opener: string | undefined, more?: Content): Markup {
  return opener === undefined
    ? markup`<a class="chip" href="${href}"${more}>${content}</a>`
    : markup`<button type="submit" class="chip" name="${opener}" value="${href}"${more}>${content}</button>`
}

/** Renders the field of a search, with its button. */
function renderSearch ({ id, name, label, placeholder, value, error, autofocus }: SearchField): Markup {
  return markup`<div class="search"><label for="${id}">${label}</label><input type="search" id="${id}" name="${name}"${
    markup` value="${value}" placeholder="${placeholder}" dir="auto"${renderRefusal(error)}`
  }${autofocus === true && markup` autofocus="autofocus"`}/><button type="submit">${label}</button></div>
${renderError(error)}`
}

function renderCondition ({ text, remove }: FilterCondition, opener: string | undefined): Markup {
  return markup`<li>${
    renderChip(remove.href, markup`${text} <span>&#215;</span>`, opener, markup` aria-label="${remove.label}"`)
  }</li>`
}

function renderValueLinks ({ label, links }: ValueLinks, opener: string | undefined): Markup {
  return markup`<div class="conditions" role="group" aria-label="${label}"><strong>${label}</strong>${
    links.map(({ label, href, count, isChosen }) => {
      const rows = count !== undefined && markup` <span>${count}</span>`
      const content = markup`${label}${rows}${isChosen && markup` <span>&#215;</span>`}`
      return renderChip(href, content, opener, isChosen && markup` aria-current="true"`)
    })
  }</div>
`
}

/** The most attributes that are offered at once. */
const MOST_OFFERED = 6

function renderAdd ({ id, name, label, options, submit }: AddCondition, summary: string): Markup {
  const [, ...attributes] = options
  if (attributes.length <= MOST_OFFERED) {
    return markup`<div class="conditions" role="group" aria-label="${label}">${attributes.map(({ value, label }) =>
      markup`<button type="submit" class="chip" name="${name}" value="${value}">+ ${label}</button>`)}</div>
`
  }
  return markup`<details>
<summary class="chip">+ ${summary}</summary>
<div class="condition"><select id="${id}" name="${name}" aria-label="${label}">${
  options.map(renderOption)
}</select><button type="submit">${submit}</button></div>
</details>
`
}

/** Renders the fields of a condition. The name of the value's control is that of the attribute and the operator. */
function renderOpen (
  { label, operator, value, error, submit, cancel }: ConditionForm,
  render: RenderLink
): Markup {
  const { id, name, type, options, choose } = value
  const common = markup`id="${id}" name="${name}" aria-labelledby="filter!label ${operator.id}"${
    markup` autofocus="autofocus"${renderRefusal(error)}`
  }`
  const control = choose !== undefined
    ? renderButton(choose)
    : options === undefined
      ? markup`<input type="${type}" ${common} value="${value.value}"${renderStep(type)}/>`
      : markup`<select ${common}>${options.map(renderOption)}</select>`
  return markup`<div class="condition"><label id="filter!label" for="${operator.id}">${label}</label>${
    markup`<select id="${operator.id}" name="${operator.name}">${operator.options.map(renderOption)}</select>`
  }${control}<button type="submit" class="primary">${submit}</button>${render(cancel)}</div>
${renderError(error)}`
}

function renderStep (type: string): Content {
  return type === 'text' ? markup` dir="auto"` : type !== 'date' && markup` step="any"`
}

/** Renders the fields of a range. The first one has the focus, unless the other one was refused. */
function renderRange ({ label, by, from, to, links, error, submit, cancel }: RangeForm, render: RenderLink): Markup {
  const renderEnd = ({ label, control: { id, name, type, value }, isRefused }: RangeEnd, hasFocus: boolean): Markup =>
    markup`<label id="${id}!label" for="${id}">${label}</label><input type="${type}" id="${id}" name="${name}"${
      markup` aria-labelledby="filter!label ${id}!label" value="${value}"${renderStep(type)}`
    }${hasFocus && markup` autofocus="autofocus"`}${renderRefusal(isRefused ? error : undefined)}/>`
  return markup`<div class="condition">${renderHidden([by])}<strong id="filter!label">${label}</strong>${
    renderEnd(from, !to.isRefused)
  }${renderEnd(to, to.isRefused)}<button type="submit" class="primary">${submit}</button>${links.map(render)}${
    render(cancel)
  }</div>
${renderError(error)}`
}

/** Renders the attributes of a control that was refused. */
function renderRefusal (error: string | undefined): Markup | false {
  return error !== undefined && markup` aria-invalid="true" aria-describedby="filter!error"`
}

function renderError (error: string | undefined): Content {
  return error !== undefined && markup`<p class="error" id="filter!error">${error}</p>\n`
}
