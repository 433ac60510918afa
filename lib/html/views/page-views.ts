import type { NavigationLink } from '../../core/formats/view.js'
import { MULTIPART } from '../../core/formats/files.js'
import { NEW_FORM } from '../../core/formats/form/parse.js'
import { abbreviate } from '../../core/util/words.js'
import { flatten } from '../../core/util/functions.js'
import { type Content, markup, type Markup, raw } from '../html-tag.js'
import { renderButton } from './controls-view.js'
import { renderFilter } from './filter-view.js'
import {
  classOfForm, renderBody, renderDefaultButton, renderEncoding, renderErrors, renderHidden
} from './form-view.js'
import type {
  Alternate, AttributeChange, Button, ChoosePage, ChosenPage, ChosenRowModel, Column, Conflict, EditPage, ErrorPage,
  Field, Form, Link, ListPage, Page, PageAction, PageFrame, RecordPage, RelatedRows, SelectionForm, StalePage, SumRow,
  Value
} from './model.js'
import type { ResolvedViews } from './types.js'

// The characters are written as references. A single character beyond Latin-1 makes V8 store the whole page with two
// bytes a character, which more than doubles the time to write and send it (`test/bench`).
const DASH = raw(' &#8211; ')
const RANGE = raw('&#8211;')
const SEPARATOR = raw(' &#183; ')

/** The maximum length of the title of a document, in characters. The name of a row may be longer. */
const LONGEST_TITLE = 50

export function layout (page: Page, content: Markup, views: ResolvedViews): Markup {
  const hasRows = page.kind === 'list' && !page.isEmpty && views.list === list
  return renderDocument(page, titleOf(page), content, hasRows)
}

/** Returns the title of the document. It begins with the problem, because screen readers read the title first. */
function titleOf (page: Page): Content {
  const isForm = page.kind === 'edit' || page.kind === 'stale' || page.kind === 'chosen'
  const isWrong = page.kind === 'import'
    ? page.errors.length > 0
    : isForm && page.form !== undefined && page.form.errors.length > 0
  const title = isWrong
    ? page.messages.problemTitle(abbreviate(page.title, LONGEST_TITLE))
    : abbreviate(page.title, LONGEST_TITLE)
  return page.parent === undefined ? title : [title, DASH, abbreviate(page.parent.label, LONGEST_TITLE)]
}

/** The members of a page that its document shows around the content. */
export type DocumentFrame =
  Pick<
    PageFrame,
    'title' | 'crumbs' | 'alternates' | 'stylesheet' | 'brand' | 'lang' | 'dir' | 'messages' | 'navigation'
  >

/** Renders a document with the links above and below its content. */
export function renderDocument (frame: DocumentFrame, title: Content, content: Markup, hasRows = false): Markup {
  return markup`${openDocument(frame, title, hasRows)}${content}${closeDocument(frame)}`
}

function openDocument (frame: DocumentFrame, title: Content, hasRows: boolean): Markup {
  const { lang, dir, stylesheet, brand, alternates, messages, navigation } = frame
  const hasBar = navigation !== undefined || brand.name !== undefined
  return markup`<!DOCTYPE html>
<html xmlns="http://www.w3.org/1999/xhtml" lang="${lang}" dir="${dir}">
<head>
<meta charset="utf-8"/>
<meta name="viewport" content="width=device-width, initial-scale=1"/>
<meta name="color-scheme" content="light dark"/>
<title>${title}${brand.name !== undefined && [DASH, brand.name]}</title>
<link rel="stylesheet" href="${stylesheet}"/>
${brand.stylesheet !== undefined && markup`<link rel="stylesheet" href="${brand.stylesheet}"/>\n`}${
  alternates.map(({ href, mediaType }) => markup`<link rel="alternate" type="${mediaType}" href="${href}"/>\n`)
}${isGiven(brand.head) && markup`${brand.head}\n`}</head>
<body>
<a class="skip" href="#main">${messages.skip}</a>
${
  hasRows && markup`<a class="skip" href="#rows">${messages.skipToRows}</a>\n`
}${hasBar && renderBar(frame)}${renderHeader(frame)}<main id="main">
`
}

function closeDocument (frame: DocumentFrame): Markup {
  return markup`</main>
${renderFooter(frame)}</body>
</html>
`
}

/** Returns whether a part of the brand is given. */
function isGiven (part: Content): boolean {
  return part !== undefined && part !== null && part !== false
}

function renderHeader ({ crumbs, title, messages, brand: { header } }: DocumentFrame): Content {
  const breadcrumb = crumbs.length > 0 && markup`<nav aria-label="${messages.breadcrumb}"><ol class="breadcrumb">${
    crumbs.map(({ label, href }) => markup`<li><a href="${href}">${label}</a></li>`)
  }<li aria-current="page">${title}</li></ol></nav>`
  return (crumbs.length > 0 || isGiven(header)) && markup`<header>${header}${breadcrumb}</header>\n`
}

function renderFooter ({ alternates, messages, brand: { footer } }: DocumentFrame): Content {
  const links = alternates.length > 0 && markup`<p>${messages.alsoAs} ${alternates.map(renderAlternate)}</p>`
  return (alternates.length > 0 || isGiven(footer)) && markup`<footer>${links}${footer}</footer>\n`
}

function renderAlternate ({ label, href, mediaType }: Alternate, index: number): Markup {
  return markup`${index > 0 && SEPARATOR}<a href="${href}" type="${mediaType}">${label}</a>`
}

/** Renders the bar: the brand, which leads to the home page, and the links of the app. */
function renderBar ({ navigation, crumbs, brand: { name, logo }, messages }: DocumentFrame): Content {
  const image = logo !== undefined && markup`<img src="${logo}" alt=""/>`
  if (navigation === undefined) {
    const brand = markup`<li class="brand"><span>${image}${name}</span></li>`
    return markup`<div class="bar"><ul>${brand}</ul></div>\n`
  }
  const { title, href, isCurrent, links, hasMore, hasTables } = navigation
  const all = hasTables ? messages.allTables : messages.allResources
  return markup`<nav class="bar" aria-label="${
    messages.navigation
  }"><ul>
<li class="brand"><a href="${href}"${isCurrent && markup` aria-current="page"`}>${image}${name ?? title}</a></li>
${links.map((link) => renderBarLink(link, crumbs.length === 0))}${
  hasMore && markup`<li class="all"><a href="${href}">${all}</a></li>\n`
}</ul></nav>
`
}

function renderBarLink ({ label, href, isCurrent }: NavigationLink, isOutermost: boolean): Markup {
  const current = isOutermost ? 'page' : 'true'
  return markup`<li><a href="${href}"${isCurrent && markup` aria-current="${current}"`}>${label}</a></li>\n`
}

/** Renders a notice. It gets the focus, so that a screen reader reads it. */
export function renderNotice (text: string | undefined): Content {
  return text !== undefined &&
    markup`<p class="notice" role="status" tabindex="-1" autofocus="autofocus">${text}</p>\n`
}

export function list (page: ListPage, views: ResolvedViews): Markup {
  return markup`${openList(page)}${page.isEmpty ? renderEmpty(page) : page.table}${closeList(page, views)}`
}

/** Renders the page of a list as two parts, between which its rows stand. */
export function splitList (
  page: ListPage,
  views: ResolvedViews
): { readonly open: Markup, readonly close: Markup } {
  const top = markup`${openDocument(page, titleOf(page), true)}${renderNotice(page.notice)}`
  const open = markup`${top}${openList(page)}${openRegion(page)}`
  const end = markup`${closeList(page, views)}${closeDocument(page)}`
  const close = markup`${closeRegion(page)}${renderSelection(page.selection)}${end}`
  return { open, close }
}

function openList (page: ListPage): Markup {
  const { title, total, isEmpty, first, filter, columnChoice, sumChoice, actions, create, newLink, messages } = page
  const isOffered = !isEmpty || isFiltered(page) || first !== undefined || (filter?.open ?? filter?.range) !== undefined
  const add = create === undefined ? newLink : { label: create.heading, href: `#${NEW_FORM}` }
  return markup`${renderTitle(title, actions, add, total)}${
    isOffered && renderFilter(filter, messages, [columnChoice, sumChoice].filter((choice) => choice !== undefined))
  }${page.sumNotes.map((note) => markup`<p>${note}</p>\n`)}`
}

function closeList (page: ListPage, views: ResolvedViews): Markup {
  const { range, previous, next, first, last, create, added, isEmpty } = page
  return markup`${
    (next ?? previous ?? first) !== undefined && markup`<nav class="pages">${
      range !== undefined && markup`<p class="range">${renderRange(range)}</p>`
    }<div>${
      first !== undefined && markup`<a href="${first.href}">${first.label}</a>`
    }${
      previous !== undefined && markup`<a href="${previous.href}" rel="prev">${previous.label}</a>`
    }</div><div>${
      next !== undefined && markup`<a href="${next.href}" rel="next">${next.label}</a>`
    }${
      last !== undefined && markup`<a href="${last.href}">${last.label}</a>`
    }</div></nav>\n`
  }${
    create !== undefined &&
    renderNew(create, page, views, { isFolded: !isEmpty && added === undefined, notice: added })
  }`
}

function isFiltered ({ filter }: ListPage): boolean {
  return filter?.clear !== undefined
}

function renderRange (range: string): Markup {
  // The dash gives the range two bytes a character, which its parts would inherit.
  const [start, ...others] = range.split('\u2013').map(flatten)
  return markup`${start}${others.map((part) => markup`${RANGE}${part}`)}`
}

function renderEmpty (page: ListPage): Markup {
  const { resource, first, create, messages } = page
  const { plural, singular } = messages
  if (first !== undefined) return markup`<div class="empty"><p><strong>${messages.noMore(plural)}</strong></p></div>\n`
  if (isFiltered(page)) {
    const link = markup`<a href="${resource.path}">${messages.all(plural)}</a>`
    return markup`<div class="empty"><p><strong>${messages.noMatch(plural)}</strong></p><p>${link}</p></div>\n`
  }
  return markup`<div class="empty"><p><strong>${messages.empty(plural)}</strong></p>${
    create !== undefined && markup`<p>${messages.emptyAdvice(singular)}</p>`
  }</div>\n`
}

type PagedTable = Pick<ListPage, 'columns' | 'messages' | 'sums'>

/** Renders the table of a list in a region that scrolls by itself, and by the arrow keys if it has the focus. */
export function renderRegion (table: PagedTable, rows: Markup): Markup {
  return markup`${openRegion(table)}${rows}${closeRegion(table)}`
}

/** The id of the form of the rows that are chosen. */
export const CHOSEN = 'chosen'

/** Renders the form of the rows that are chosen, below them. The stylesheet counts the boxes that are ticked. */
export function renderSelection (form: SelectionForm | undefined): Content {
  return form !== undefined && markup`<form id="${form.id}" class="selection" method="post" action="${
    form.action
  }">${renderHidden(form.hidden)}<p>${form.label} </p>${form.buttons.map(renderButton)}</form>\n`
}

/** Renders the table up to its rows. A link that skips to them needs their id. */
function openRegion ({ columns, messages: { heading } }: PagedTable): Markup {
  return markup`<section class="scroll" aria-label="${heading}" tabindex="0">${
    openTable(heading, columns, markup` id="rows"`)
  }`
}

/** Renders a table. */
export function renderTable (name: string, columns: readonly Column[], rows: Markup): Markup {
  return markup`${openTable(name, columns)}${rows}${CLOSE_TABLE}`
}

function openTable (name: string, columns: readonly Column[], id?: Markup): Markup {
  return markup`<table class="list" aria-label="${name}">
<thead><tr>${columns.map(renderColumn)}</tr></thead>
<tbody${id}>
`
}

const CLOSE_TABLE = raw('</tbody>\n</table>')

function closeRegion ({ sums, columns }: Pick<PagedTable, 'sums' | 'columns'>): Markup {
  return markup`${sums === undefined ? CLOSE_TABLE : renderSums(sums, columns)}</section>\n`
}

/** Renders the foot of a table, up to the end of the table. */
function renderSums ({ label, values }: SumRow, [, ...columns]: readonly Column[]): Markup {
  const cells = columns.map(({ label }, index) => {
    const value = values[index + 1]
    return value === undefined ? markup`<td></td>` : markup`<td data-label="${label}" class="number">${value}</td>`
  })
  return markup`</tbody>
<tfoot><tr><th scope="row">${label}</th>${cells}</tr></tfoot>
</table>`
}

/** Renders the heading of a column, as a link if the list can be sorted by it. */
function renderColumn ({ label, numeric, sort, sorted }: Column): Markup {
  return markup`<th scope="col"${numeric && markup` class="number"`}${
    sorted !== undefined && markup` aria-sort="${sorted}"`
  }>${sort === undefined ? label : markup`<a href="${sort.href}">${label}</a>`}</th>`
}

/** Renders the page of a row. The form beneath it takes its place once the link to it is followed. */
export function record (page: RecordPage, views: ResolvedViews): Markup {
  const { children, related, edit } = page
  return markup`${renderHeading(page, views)}${
    children.length > 0 && markup`<ul class="children">${children.map(renderLink)}</ul>\n`
  }${renderRow(page)}${related.map((rows) => renderRelated(rows, page, views))}${
    edit !== undefined && markup`<section id="edit" class="card edit" aria-labelledby="edit-heading">
<h2 id="edit-heading">${edit.heading}</h2>
${views.form(edit, page, views)}</section>
`}`
}

/** Renders the heading, with the actions beside it. */
function renderHeading (page: RecordPage, views: ResolvedViews): Markup {
  const { title, actions, edit, editLink, duplicateLink, messages } = page
  const main = edit === undefined ? editLink : { label: messages.editButton, href: '#edit' }
  const links = [main && { ...main, kind: 'button' }, duplicateLink && { ...duplicateLink, kind: 'button plain' }]
    .filter((link) => link !== undefined)
  if (actions.length === 0 && links.length === 0 && page.delete === undefined) return markup`<h1>${title}</h1>\n`
  return markup`<div class="title"><h1>${title}</h1><div class="tools">${actions.map(renderAction)}${
    links.map(({ label, href, kind }) => markup`<a class="${kind}" href="${href}">${label}</a>`)
  }${
    page.delete !== undefined && markup`<details class="danger">
<summary class="button plain">${page.delete.heading}</summary>
<div class="card">${
      page.delete.warning !== undefined && markup`<p>${page.delete.warning}</p>\n`
    }${
      page.delete.cascade !== undefined && markup`<p>${page.delete.cascade}</p>\n`
    }${views.form(page.delete, page, views)}</div></details>`
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

function renderRelated (
  { label, anchor, href, total, table, empty, all, create, newLink }: RelatedRows,
  page: RecordPage,
  views: ResolvedViews
): Content {
  const link = create === undefined && newLink
  return markup`<section class="related" aria-labelledby="${anchor}">
<div class="title"><h2 id="${anchor}"><a href="${href}">${label}</a>${
  total !== undefined && markup` <span class="total">${total}</span>`
}</h2>${link && markup`<a class="button plain" href="${link.href}">${link.label}</a>`}</div>
${table === undefined && total !== undefined && markup`<p class="none">${empty}</p>\n`}${table}${
  create !== undefined && views.form(create, page, views)
}${
  table !== undefined && markup`<p><a href="${all.href}">${all.label}</a></p>\n`
}</section>
`
}

export function edit (page: EditPage, views: ResolvedViews): Markup {
  return markup`<h1>${page.title}</h1>
${page.form !== undefined && views.form(page.form, page, views)}`
}

export function error (page: ErrorPage, views: ResolvedViews): Markup {
  const { title, parent, texts, referrers, create, problem, navigation } = page
  const way = parent ?? (navigation && { label: navigation.title, href: navigation.href })
  return markup`${renderProblem(problem.status, { title, texts, referrers, way })}${
    create !== undefined && renderNew(create, page, views, { isFolded: false, notice: undefined })
  }`
}

/** What a page says about an error. */
interface ProblemText {
  readonly title: string
  readonly texts: readonly string[]
  /** Links to what the error is about. @default none */
  readonly referrers?: readonly Link[]
  /** The link to another page. */
  readonly way: Link | undefined
}

/** Renders an error and the way on. What does not exist is shown as an empty state. */
export function renderProblem (status: number, { title, texts, referrers = [], way }: ProblemText): Markup {
  const link = way !== undefined && markup`<p><a href="${way.href}">${way.label}</a></p>\n`
  if (status === 404) {
    return markup`<div class="empty" role="alert">
<h1>${title}</h1>
${texts.map((text) => markup`<p>${text}</p>\n`)}${link}</div>
`
  }
  const items = [...texts.map((text) => markup`<li>${text}</li>`), ...referrers.map(renderLink)]
  return markup`<div class="problem" role="alert">
<h1>${title}</h1>
${items.length > 0 && markup`<ul>\n${items.map((item) => markup`${item}\n`)}</ul>\n`}</div>
${link}`
}

export function stale (page: StalePage, views: ResolvedViews): Markup {
  const { title, href, current, conflicts, form, unchanged, isFolded, messages } = page
  const isDeletion = form?.kind === 'delete'
  const advice = markup`<h1>${title}</h1>
<p class="lead" role="alert">${isDeletion ? messages.staleDeletion : messages.staleAdvice}</p>
${
  conflicts.length > 0 && markup`<p>${messages.staleChoose}</p>\n`
}${
    href !== undefined && markup`<p><a href="${href}">${isDeletion ? messages.leave : messages.discard}</a></p>\n`
  }`
  if (form === undefined || form.kind === 'delete') {
    return markup`${advice}<dl class="record">\n${renderValues(current)}</dl>\n${
      form !== undefined && views.form(form, page, views)
    }`
  }
  return markup`${advice}${
    form.errors.length > 0 && renderErrors(form.errors, page)
  }<form method="post" action="${form.action}" class="${classOfForm(form)}"${renderEncoding(form)}>
${renderHidden(form.hidden)}${renderDefaultButton(form)}${
  renderConflicts(messages.bothChanged, conflicts.filter(({ changedBy }) => changedBy === 'both'), page, views)
}${
  renderConflicts(messages.theyChanged, conflicts.filter(({ changedBy }) => changedBy === 'them'), page, views)
}${renderFields(messages.youChanged, form.fields.filter((field) => !unchanged.includes(field)), page, views)}${
  unchanged.length > 0 && markup`<details${!isFolded && markup` open="open"`}>
<summary>${messages.same}</summary>
${unchanged.map((field) => views.field(field, page, views))}</details>
`
}${renderBody({ ...form, fields: [] }, page, views)}</form>
`
}

function renderFields (heading: string, fields: readonly Field[], page: StalePage, views: ResolvedViews): Content {
  return fields.length > 0 &&
    markup`<h2>${heading}</h2>\n${fields.map((field) => views.field(field, page, views))}`
}

function renderConflicts (
  heading: string,
  conflicts: readonly Conflict[],
  page: StalePage,
  views: ResolvedViews
): Markup | false {
  return conflicts.length > 0 &&
    markup`<h2>${heading}</h2>\n${conflicts.map((conflict) => renderConflict(conflict, page, views))}`
}

function renderConflict (conflict: Conflict, page: StalePage, views: ResolvedViews): Markup {
  const { changedBy, label, theirs, field, choice } = conflict
  const { keepYours, keepTheirs, keepOld, takeNew, theirs: theirLabel } = page.messages
  const [first, second] = changedBy === 'both' ? [keepYours, keepTheirs] : [keepOld, takeNew]
  return markup`<fieldset class="conflict">
<legend>${label}</legend>
<div class="sides">
<div class="side">${renderSide(choice, 'yours', first)}${views.field(field, page, views)}</div>
<div class="side">${
  renderSide(choice, 'theirs', second)
}<div class="theirs"><p class="label">${theirLabel}</p><div class="value" dir="auto">${theirs}</div></div></div>
</div>
</fieldset>
`
}

function renderSide ({ name, id, keep }: Conflict['choice'], side: 'yours' | 'theirs', label: string): Markup {
  return markup`<div class="choice"><input type="radio" id="${id}!${side}" name="${name}" value="${side}"${
    keep === side && markup` checked="checked"`
  }/> <label for="${id}!${side}">${label}</label></div>\n`
}

/** Renders the heading, with the number of rows and the actions beside it. `main` is the link of the main action. */
function renderTitle (title: string, actions: readonly PageAction[], main: Link | undefined, total?: string): Markup {
  const hasTools = actions.length > 0 || main !== undefined
  if (!hasTools && total === undefined) return markup`<h1>${title}</h1>\n`
  return markup`<div class="title"><h1>${title}</h1>${total !== undefined && markup`<p class="total">${total}</p>`}${
    hasTools && markup`<div class="tools">${actions.map(renderAction)}${
      main !== undefined && markup`<a class="button" href="${main.href}">${main.label}</a>`
    }</div>`
  }</div>\n`
}

export function renderAction ({ method, label, href, hidden, spoken }: PageAction): Markup {
  if (method === 'GET') return markup`<a class="button plain" href="${href}">${label}</a>`
  return markup`<form method="post" action="${href}">${
    renderHidden(hidden)
  }<button type="submit"${spoken !== undefined && markup` aria-label="${spoken}"`}>${label}</button></form>`
}

/** Renders the form of a new row. A folded one is shown once a link to it, or to something in it, is followed. */
function renderNew (
  form: Form,
  page: Page,
  views: ResolvedViews,
  { isFolded, notice }: { readonly isFolded: boolean, readonly notice: string | undefined }
): Markup {
  return markup`<section id="${NEW_FORM}" class="card${isFolded && ' new'}" aria-labelledby="new-heading">
${renderNotice(notice)}<h2 id="new-heading">${form.heading}</h2>
${views.form(form, page, views)}</section>
`
}

/** Renders the values of a row. */
function renderValues (values: readonly Value[]): Markup[] {
  return values.map(({ label, anchor, markup: value }) =>
    markup`<div><dt>${label}</dt><dd id="${anchor}" dir="auto">${value}</dd></div>\n`)
}

/** Renders the rows that an attribute can reference. Enter in the search presses its button, which is the first one. */
export function choose (page: ChoosePage): Markup {
  const { title, method, action, hidden, hasFiles, choices, add, none, back } = page
  return markup`<h1>${title}</h1>
<form method="${method}" action="${action}"${hasFiles === true && markup` enctype="${MULTIPART}"`}>
${renderHidden(hidden)}${choices}<p class="actions">${
  add !== undefined && renderAdd(add)
}${
  none !== undefined && renderButton(none)
}${
  'href' in back ? markup`<a class="button" href="${back.href}">${back.label}</a>` : renderButton(back)
}</p>
</form>
`
}

function renderAdd ({ name, value, label }: Button): Markup {
  return markup`<button type="submit" class="primary" name="${name}" value="${value}">${label}</button>`
}

/** Renders the rows that were chosen in a list, and the form that deletes or changes them. */
export function chosen (page: ChosenPage, views: ResolvedViews): Markup {
  const { title, rows, more, missing, changes, form, chooseAll, back } = page
  return markup`<h1>${title}</h1>
${form !== undefined && form.errors.length > 0 && renderErrors(form.errors, page)}${
  missing !== undefined && form !== undefined && markup`<p class="lead">${missing}</p>\n`
}${
  chooseAll !== undefined && markup`<div class="tools">${renderAction(chooseAll)}</div>\n`
}${rows.length > 0 && markup`<ul class="chosen">
${rows.map(renderChosen)}${more !== undefined && markup`<li>${more}</li>\n`}</ul>
`}${
  form === undefined
    ? back !== undefined && markup`<p><a href="${back.href}">${back.label}</a></p>\n`
    : renderStep(form, changes, page, views)
}`
}

function renderChosen ({ name, href, errors }: ChosenRowModel): Markup {
  const title = href === undefined
    ? markup`<span dir="auto">${name}</span>`
    : markup`<a href="${href}" dir="auto">${name}</a>`
  return markup`<li>${title}${errors.map((error) => markup`<p class="error">${error}</p>`)}</li>\n`
}

function renderStep (
  form: Form,
  changes: readonly AttributeChange[],
  page: ChosenPage,
  views: ResolvedViews
): Markup {
  const texts = [form.warning, form.cascade].filter((text) => text !== undefined)
  return markup`${texts.map((text) => markup`<p>${text}</p>\n`)}<form method="post" action="${
    form.action
  }" class="${classOfForm(form)}"${changes.length > 0 && markup` novalidate="novalidate"`}>
${renderHidden(form.hidden)}${renderDefaultButton(form)}${
  changes.map((change) => renderChange(change, page, views))
}${renderBody(form, page, views)}</form>
`
}

function renderChange ({ label, field, choice }: AttributeChange, page: ChosenPage, views: ResolvedViews): Markup {
  const { leaveAttribute, changeButton } = page.messages
  return markup`<fieldset class="change">
<legend>${label}</legend>
<div class="inline">${renderSide(choice, 'theirs', leaveAttribute)}${
  renderSide(choice, 'yours', changeButton)
}</div>
${views.field(field, page, views)}</fieldset>
`
}
