import { markup, type Markup, raw } from '../html-tag.js'
import type {
  Button, CheckboxesField, FreeRows, HiddenField, MomentField, Option, Page, RadiosField, ReferenceField, RowColumn,
  RowsField
} from './model.js'
import type { ResolvedViews } from './types.js'

// An HTML parser drops a newline right after the tag of a textarea.
const NEWLINE = raw('\n')
const AUTOFOCUS = raw(' autofocus="autofocus"')

/** Renders a choice of a drop-down list. */
export function renderOption ({ value, label, selected }: Option): Markup {
  const parts = label.split('\u2026')
  return markup`<option value="${value}"${selected && markup` selected="selected"`}>${
    parts.map((part, index) => index === 0 ? part : [ELLIPSIS, part])
  }</option>`
}

// A reference, for the same reason as `DASH` in the views of pages.
const ELLIPSIS = raw('&#8230;')

/** Renders radio buttons or checkboxes. The first one has the id of the field, which links lead to. */
export function renderChoices (field: RadiosField | CheckboxesField, type: 'radio' | 'checkbox', name: string): Markup {
  const choices = field.options.map(({ value, label, selected }, index) => {
    const id = index === 0 ? field.id : `${field.id}!${index}`
    return markup`<div class="choice"><input type="${type}" id="${id}" name="${name}" value="${value}"${
      selected && markup` checked="checked"`
    }${
      type === 'radio' && field.required && markup` required="required"`
    }${index === 0 && field.autofocus && AUTOFOCUS}/> <label for="${id}">${label}</label></div>`
  })
  return markup`<div class="${areShort(field.options) ? 'choices inline' : 'choices'}">${choices}</div>
`
}

/** The most choices in one line, and the most characters of each. */
const MOST_INLINE = { choices: 4, characters: 12 }

function areShort (options: readonly Option[]): boolean {
  const { choices, characters } = MOST_INLINE
  return options.length <= choices && options.every(({ label }) => label.length <= characters)
}

/** Renders a date and time. Its offset is folded away, because few users change it. */
export function renderMoment ({ label, value, step, offset, errors }: MomentField, common: Markup, page: Page): Markup {
  const { offset: name, offsetHint, labelled } = page.messages
  const hint = `${offset.id}!hint`
  const zone = markup`id="${offset.id}" name="${offset.name}" value="${offset.value}" aria-describedby="${hint}"`
  const steps = step !== undefined && markup` step="${step}"`
  return markup`<input type="datetime-local" ${common}${steps} value="${value}"/>
<details class="offset"${errors.length > 0 && markup` open="open"`}><summary>${labelled(name, offset.value)}</summary>
<p class="explanation" id="${hint}">${offsetHint}</p>
<input type="text" ${zone} size="7" aria-label="${labelled(label, name)}"/></details>`
}

export function renderRows ({ columns = [], rows, add }: RowsField, page: Page, views: ResolvedViews): Markup {
  return markup`${columns.length > 0 && rows.length > 0 && renderHeads(columns, page)}${
    rows.map(({ field, remove }) => markup`<div class="row">
${views.field(field, page, views)}${renderButton(remove)}
</div>
`)}${add !== undefined && markup`<p>${renderButton(add)}</p>\n`}`
}

/** Renders the heads of columns. Screen readers read the label of each control instead. */
function renderHeads (columns: readonly RowColumn[], { messages: { optional, removeItem } }: Page): Markup {
  return markup`<div class="row heads" aria-hidden="true"><div class="field line">${
    columns.map(({ label, description, optional: isOptional, control, width, numeric }) => markup`<div class="${
      `field ${control}${width === undefined ? '' : ` w${width}`}${numeric ? ' number' : ''}`
    }">${label}${isOptional && markup` <span class="optional">${optional}</span>`}${
      description !== undefined && markup`<br/><small>${description}</small>`
    }</div>`)
  }</div><span class="button">${removeItem}</span></div>
`
}

/** Renders a button that changes the form and saves nothing. */
export function renderButton ({ name, value, label, spoken, autofocus, action }: Button): Markup {
  return markup`<button type="submit" name="${name}" value="${value}" formnovalidate="formnovalidate"${
    spoken !== undefined && markup` aria-label="${spoken}"`
  }${action !== undefined && markup` formaction="${action}"`}${autofocus && AUTOFOCUS}>${label}</button>`
}

/** Renders the name of the row that an attribute references, and the button that leads to the others. */
export function renderReference ({ text, choose }: ReferenceField, common: Markup): Markup {
  return markup`<div class="search"><input type="text" ${common} value="${text}" readonly="readonly" dir="auto"/>${
    renderButton(choose)
  }</div>`
}

export function renderFree ({ rows, focus, add }: FreeRows, page: Page): Markup {
  const { attributeName, attributeValue, furtherAttributes } = page.messages
  return markup`<fieldset class="free">
<legend>${furtherAttributes}</legend>
<table aria-label="${furtherAttributes}">
<thead><tr><th scope="col">${attributeName}</th><th scope="col">${attributeValue}</th></tr></thead>
<tbody>
${rows.map(({ name, value }, index) =>
  markup`<tr>${renderCell(name, { label: attributeName, index, hasFocus: index === focus }, page)}${
    renderCell(value, { label: attributeValue, index, hasFocus: false }, page)
  }</tr>\n`
)}</tbody>
</table>
<p>${renderButton(add)}</p>
</fieldset>
`
}

function renderCell (
  { name, value }: HiddenField,
  { label, index, hasFocus }: { readonly label: string, readonly index: number, readonly hasFocus: boolean },
  { messages, xhtml }: Page
): Markup {
  const attributes = markup`name="${name}" aria-label="${messages.item(label, index + 1)}"${hasFocus && AUTOFOCUS}`
  const start = !xhtml && value.startsWith('\n') && NEWLINE
  const control = value.includes('\n')
    ? markup`<textarea ${attributes} rows="2" cols="60" dir="auto">${start}${value}</textarea>`
    : markup`<input type="text" ${attributes} value="${value}" dir="auto"/>`
  return markup`<td data-label="${label}">${control}</td>`
}
