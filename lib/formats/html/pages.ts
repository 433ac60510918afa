import { type Problem, sentences } from '../../errors.js'
import { ownMember } from '../../members.js'
import type { Resource } from '../../resource.js'
import type { Property } from '../../shape.js'
import { openShape } from '../../shape.js'
import { compileVisible, isPartial, type See } from '../../visible.js'
import type { Id, Stored } from '../../stores/store.js'
import { escapeAttribute } from '../escape.js'
import { MARK, membersOf } from '../form/read.js'
import type { FormNode } from '../form/tree.js'
import type { Input, PageView, View } from '../format.js'
import { type Current, type Field, fieldsOf, labelOf, renderField, type FieldView } from './field.js'
import { html, Markup } from './markup.js'

/** Rows in which an attribute without a schema is named and given a value. */
const FREE_ROWS = 3
const CLIPPED = 100
/** Rows that share no names would make a table as wide as it is long. */
const COLUMNS = 20

/** The pages of a resource, each a complete document that works without a script. */
export interface Pages {
  list (rows: readonly Stored[], view: PageView): string
  record (row: Stored, view: View): string
  stale (current: Stored, view: View): string
  problem (problem: Problem, view: View): string
}

export function compilePages (resource: Resource): Pages {
  const { plural, singular, path, memberWrites, attributes, open } = resource
  const plurals = labelOf({ name: plural, schema: {} })
  const words = labelOf({ name: singular, schema: {} }).toLowerCase()
  const visible = compileVisible(resource)
  const shown: Column[] = [...attributes.values()].flatMap(({ name, schema }) => {
    const see = visible.get(name)
    return see === undefined ? [] : [{ name, schema, see }]
  })
  // A form that has a part of a value would lose the rest.
  const whole = [...attributes.values()].filter(({ shape }) => !isPartial(shape))
  const partial = [...attributes.values()].filter(({ shape, readOnly }) => isPartial(shape) && !readOnly)

  function link (id: Id): string {
    return `${path}/${id}`
  }

  function renderList (rows: readonly Stored[], view: PageView): Markup {
    const columns = open ? openColumns(rows, COLUMNS) : shown
    const table = html`<table>
<thead><tr><th scope="col">Id</th>${columns.map((column) => html`<th scope="col">${labelOf(column)}</th>`)}</tr></thead>
<tbody>
${rows.map(({ id, attributes }) => html`<tr><td><a href="${link(id)}">${id}</a></td>${columns.map((column) => html`<td>${clip(readColumn(column, attributes))}</td>`)}</tr>\n`)}</tbody>
</table>
`
    return html`<h1>${plurals}</h1>
${rows.length > 0 ? table : html`<p>There are none.</p>\n`}${view.next !== undefined && html`<p><a href="${view.next}" rel="next">Next page</a></p>\n`}<h2>New ${words}</h2>
${createForm(undefined, view)}`
  }

  function renderRecord (row: Stored, view: View): Markup {
    const columns = open ? openColumns([row]) : shown
    return html`<h1>${singularTitle(words)} ${row.id}</h1>
<dl>
<dt>Id</dt><dd>${row.id}</dd>
${columns.map((column) => html`<dt>${labelOf(column)}</dt><dd>${withBreaks(readColumn(column, row.attributes))}</dd>\n`)}</dl>
<h2>Change it</h2>
${updateForm(row.id, row.version, row, undefined, view)}<h2>Delete it</h2>
${deleteForm(row.id, row.version)}`
  }

  function createForm (input: Input | undefined, view: View): Markup {
    const node = input?.node as FormNode | undefined
    const fields = open ? openFields({}, node) : fieldsOf(attributes.values(), { name: singular }, currentOf({}, node, true))
    return html`<form method="post" action="${path}">
${fields.map((field) => renderField(field, fieldView(input, view)))}${open && freeRows()}<p><button type="submit">Create</button></p>
</form>
`
  }

  function updateForm (id: Id, version: string | undefined, row: Stored | undefined, input: Input | undefined, view: View): Markup {
    const node = input?.node as FormNode | undefined
    const values = row?.attributes ?? {}
    const fields = open ? openFields(values, node) : fieldsOf(whole, { name: singular }, currentOf(values, node, false))
    return html`<form method="post" action="${memberWrites ? link(id) : path}">
${hidden('PUT', id, version)}${fields.map((field) => renderField(field, fieldView(input, view)))}${partial.map((property) => html`<p>${labelOf(property)}: stays as it is; this form cannot show all of it.</p>\n`)}${open && freeRows()}<p><button type="submit">Save</button></p>
</form>
`
  }

  function deleteForm (id: Id, version: string | undefined): Markup {
    return html`<form method="post" action="${memberWrites ? link(id) : path}">
${hidden('DELETE', id, version)}<p><button type="submit">Delete</button></p>
</form>
`
  }

  /** What the form sent where it did, else the value that there is, else the default of a new one. */
  function currentOf (values: Stored['attributes'], node: FormNode | undefined, isNew: boolean): (property: Property) => Current {
    return ({ name, schema, writeOnly }) => {
      return writeOnly ? { value: undefined } : currentIn(node?.children.get(name), isNew ? schema.default : ownMember(values, name))
    }
  }

  function openFields (values: Stored['attributes'], node: FormNode | undefined): Field[] {
    const typed = new Map(Object.entries(node === undefined ? {} : membersOf(node)))
    const names = new Set([...Object.keys(values), ...typed.keys()])
    return [...names].map((name) => ({
      name: `${singular}[${name}]`,
      path: name,
      label: name,
      description: undefined,
      shape: openShape,
      long: false,
      required: true,
      current: currentIn(typed.get(name), ownMember(values, name))
    }))
  }

  function freeRows (): Markup {
    return html`<table>
<thead><tr><th scope="col">Name</th><th scope="col">Value</th></tr></thead>
<tbody>
${Array.from({ length: FREE_ROWS }, (_, index) => html`<tr>${['name', 'value'].map((part) => html`<td><input type="text" name="${singular}[${MARK}][${index}][${part}]" aria-label="${part} of attribute ${index + 1}" value=""/></td>`)}</tr>\n`)}</tbody>
</table>
`
  }

  function renderStale (current: Stored, view: View): Markup {
    const { input } = view
    const yours = input?.node as FormNode | undefined
    const columns = open ? openColumns([current]) : shown
    return html`<h1>This ${words} has been changed by somebody else</h1>
<p>Nothing was written. Compare, then save or delete once more, or <a href="${link(current.id)}">leave it as it is</a>.</p>
<table>
<thead><tr><th scope="col">Attribute</th>${yours !== undefined && html`<th scope="col">Yours</th>`}<th scope="col">Theirs</th></tr></thead>
<tbody>
${columns.map((column) => html`<tr><th scope="row">${labelOf(column)}</th>${yours !== undefined && html`<td>${textOf(yours.children.get(column.name))}</td>`}<td>${readColumn(column, current.attributes)}</td></tr>\n`)}</tbody>
</table>
${yours === undefined ? deleteForm(current.id, current.version) : html`<h2>Save yours</h2>\n${updateForm(current.id, current.version, current, input, view)}`}`
  }

  function renderProblem (problem: Problem, view: View): Markup {
    const { input } = view
    const messages = problem.errors === undefined ? [problem.detail] : sentences(problem.errors)
    const form = input?.node === undefined
      ? html`<p><a href="${path}">${plurals}</a></p>\n`
      : input.id === undefined ? createForm(input, view) : updateForm(input.id, input.version, input.row, input, view)
    return html`<h1>${problem.title}</h1>
<ul role="alert">${messages.map((message) => html`<li>${message}</li>`)}</ul>
${form}`
  }

  return {
    list: (rows, view) => renderPage(plurals, undefined, renderList(rows, view)),
    record: (row, view) => renderPage(`${singularTitle(words)} ${row.id}`, { path, title: plurals }, renderRecord(row, view)),
    stale: (current, view) => renderPage(`Changed: ${words} ${current.id}`, { path, title: plurals }, renderStale(current, view)),
    problem: (problem, view) => renderPage(problem.title, { path, title: plurals }, renderProblem(problem, view))
  }
}

function renderPage (title: string, parent: { path: string, title: string } | undefined, content: Markup): string {
  return html`<!DOCTYPE html>
<html xmlns="http://www.w3.org/1999/xhtml" lang="en">
<head>
<meta charset="utf-8"/>
<meta name="viewport" content="width=device-width, initial-scale=1"/>
<meta name="color-scheme" content="light dark"/>
<title>${title}</title>
</head>
<body>
${parent !== undefined && html`<nav><a href="${parent.path}">${parent.title}</a></nav>\n`}<main>
${content}</main>
</body>
</html>
`.toString()
}

function hidden (method: string, id: Id, version: string | undefined): Markup {
  return html`<input type="hidden" name="_method" value="${method}"/><input type="hidden" name="id" value="${id}"/>${version !== undefined && html`<input type="hidden" name="_version" value="${version}"/>`}
`
}

function fieldView (input: Input | undefined, { mediaType }: View): FieldView {
  return { errors: input?.errors ?? {}, xhtml: mediaType === 'application/xhtml+xml' }
}

/** An attribute as a page shows it. */
interface Column extends Pick<Property, 'name' | 'schema'> {
  readonly see: See
}

function readColumn ({ name, see }: Column, attributes: Stored['attributes']): string {
  return readable(see(ownMember(attributes, name)))
}

/** The names that the rows of a page have, in the order in which they come. */
function openColumns (rows: readonly Stored[], most = Infinity): Column[] {
  return [...new Set(rows.flatMap(({ attributes }) => Object.keys(attributes)))].slice(0, most).map((name) => ({ name, schema: { title: name }, see: (value) => value }))
}

function singularTitle (words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** What was sent for a field, else the value there is. */
function currentIn (node: FormNode | undefined, value: unknown): Current {
  return node === undefined ? { value } : { node }
}

/** A value as people read it. */
function readable (value: unknown): string {
  if (value === undefined || value === null) return ''
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (Array.isArray(value) && value.every((item) => typeof item !== 'object')) return value.join(', ')
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

function withBreaks (text: string): Markup {
  return new Markup(escapeAttribute(text).replaceAll('&#10;', '<br/>'))
}

function clip (text: string): string {
  return text.length > CLIPPED ? `${text.slice(0, CLIPPED).toWellFormed()}…` : text
}

/** What a form had in a field, for reading. */
function textOf (node: FormNode | undefined): string {
  if (node === undefined) return ''
  const parts = [...node.children].filter(([step]) => step !== MARK).map(([step, child]) => step === '' || /^\d+$/.test(step) ? textOf(child) : `${step}: ${textOf(child)}`)
  return [...node.texts, ...parts].filter((text) => text !== '').join(', ')
}
