import type { Stored } from '../../stores/store.js'
import { escapeAttribute } from '../escape.js'
import type { PageView } from '../format.js'
import { compileFieldWriter } from './field-writer.js'
import type { Forms } from './forms.js'
import type { List } from './list.js'
import { type Markup, raw } from './markup.js'
import type { PageMessages } from './messages.js'
import type { Alternate, Form, ListPage, Page, RecordPage } from './model.js'
import type { ShownAttributes } from './shown.js'
import { type Fill, makeSkeleton, type Mark } from './skeleton.js'
import type { ResolvedViews } from './views.js'

/** What the two writers work with. */
export interface PageParts {
  readonly forms: Forms
  readonly shown: ShownAttributes
  readonly list: List
  readonly messages: PageMessages
  readonly views: ResolvedViews
  render (page: Page, views: ResolvedViews): string
  alternatesOf (id: string): readonly Alternate[]
}

/** The same as the page's views make of the row's model, of which all but what varies is kept. */
export function compileRecordWriter ({ forms, shown, messages, views, render, alternatesOf }: PageParts, page: RecordPage): (row: Stored) => string {
  const { singular } = messages
  const fill = makeSkeleton((mark) => {
    const fields = new Map(page.edit.fields.map((field, index) => [field, raw(mark(`field ${index}`))]))
    return render(markRecord(page, mark), { ...views, field: (field) => fields.get(field) as Markup })
  })
  // One for each page: its fields share what a form may have of them.
  let builder = forms.open()
  const texts = new Map<string, (row: Stored) => string>([
    ['id', ({ id }) => escapeAttribute(String(id))],
    ['action', ({ id }) => escapeAttribute(forms.actionOf(id))],
    ['version', ({ version }) => escapeAttribute(version)],
    ['title', ({ id }) => escapeAttribute(messages.record(singular, id))],
    ['update heading', ({ id }) => escapeAttribute(messages.edit(singular, id))],
    ['delete heading', () => escapeAttribute(messages.delete(singular))],
    ['warning', ({ id }) => escapeAttribute(messages.deleteWarning(singular, id))],
    ['was', ({ attributes }) => escapeAttribute(forms.digests(attributes))]
  ])
  for (const [index, { show, read }] of shown.of([]).entries()) texts.set(`value ${index}`, ({ attributes }) => show.whole(read(attributes)))
  for (const [index, plan] of forms.plans.entries()) {
    const { name } = plan.property
    const write = compileFieldWriter(plan, (value) => views.field(forms.field(builder, plan, value), page, views).toString())
    texts.set(`field ${index}`, ({ attributes }) => write(forms.valueOf(name, attributes)))
  }
  return (row) => {
    builder = forms.open()
    return fill((place) => (texts.get(place) as (row: Stored) => string)(row))
  }

  function markRecord (page: RecordPage, mark: Mark): RecordPage {
    return {
      ...page,
      title: mark('title'),
      id: mark('id'),
      version: mark('version'),
      alternates: alternatesOf(mark('id')),
      values: page.values.map((value, index) => ({ ...value, markup: raw(mark(`value ${index}`)) })),
      edit: markForm(page.edit, mark),
      delete: markForm(page.delete, mark)
    }
  }

  function markForm (form: Form, mark: Mark): Form {
    const marks: Readonly<Record<string, string>> = { id: mark('id'), _version: mark('version'), [forms.was]: mark('was') }
    return {
      ...form,
      heading: mark(`${form.kind} heading`),
      warning: form.warning === undefined ? undefined : mark('warning'),
      action: mark('action'),
      hidden: form.hidden.map(({ name, value }) => ({ name, value: marks[name] ?? value }))
    }
  }
}

/** Queries come from clients, so what is kept of their pages is bounded. */
const KEPT = 20
const LONGEST = 512

/** The same as the page's views make of the list's model, of which all but the rows and the next place is kept. */
export function compileListWriter ({ list, views, render }: PageParts, make: (rows: readonly Stored[], view: PageView, writeRows: () => string) => ListPage): (rows: readonly Stored[], view: PageView) => string {
  const kept = new Map<string, Fill>()

  function compile (rows: readonly Stored[], view: PageView): Fill {
    return makeSkeleton((mark) => render(make(rows, { ...view, next: view.next === undefined ? undefined : mark('next') }, () => mark('rows')), views))
  }

  return (rows, view) => {
    const { mediaType, path, parameters, after, next } = view
    const key = JSON.stringify([mediaType, path, parameters.limit === undefined ? after !== undefined : after, next === undefined, rows.length === 0, parameters])
    let fill = kept.get(key)
    if (fill === undefined) {
      fill = compile(rows, view)
      if (kept.size >= KEPT) kept.clear()
      if (key.length <= LONGEST) kept.set(key, fill)
    }
    return fill((place) => place === 'rows' ? list.writeRows(rows) : escapeAttribute(next as string))
  }
}
