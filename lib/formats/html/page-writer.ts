import type { Stored } from '../../stores/store.js'
import { escapeAttribute, isClean } from '../escape.js'
import type { PageView } from '../format.js'
import type { FieldBuilder } from './field-builder.js'
import { compileFieldWriter, type FieldWriter } from './field-writer.js'
import type { Forms } from './forms.js'
import type { List } from './list.js'
import { type Markup, raw } from './markup.js'
import type { PageMessages } from './messages.js'
import type { Alternate, Form, ListPage, Page, RecordPage } from './model.js'
import type { Plan } from './plan.js'
import type { Shown, ShownAttributes } from './shown.js'
import { makeSkeleton, type Mark, type Skeleton } from './skeleton.js'
import type { ResolvedViews } from './views.js'

/** What the two writers work with. */
export interface PageParts {
  readonly forms: Forms
  readonly shown: ShownAttributes
  readonly list: List
  readonly messages: PageMessages
  /** Those of them that are the app's own. */
  readonly given: Partial<PageMessages>
  readonly views: ResolvedViews
  render (page: Page, views: ResolvedViews): string
  alternatesOf (id: string): readonly Alternate[]
}

/** Fills in what varies with a row, in places of the skeleton's texts. */
type Step = (row: Stored, texts: string[]) => void

/** The same as the page's views make of the row's model, of which all but what varies is kept. */
export function compileRecordWriter ({ forms, shown, messages, given, views, render, alternatesOf }: PageParts, page: RecordPage): (row: Stored) => string {
  const { singular } = messages
  const { names, fill } = makeSkeleton((mark) => {
    const fields = new Map(page.edit.fields.map((field, index) => [field, raw(mark(`field ${index}`))]))
    return render(markRecord(page, mark), { ...views, field: (field) => fields.get(field) as Markup })
  })
  // One for each page: its fields share what a form may have of them.
  let builder: FieldBuilder | undefined
  const steps = [...makeSteps()]
  return (row) => {
    builder = undefined
    const texts = new Array<string>(names.length)
    for (const step of steps) step(row, texts)
    return fill(texts)
  }

  function * makeSteps (): Iterable<Step> {
    const texts: ReadonlyArray<readonly [string, (row: Stored) => string]> = [
      ['id', ({ id }) => typeof id === 'number' ? String(id) : escapeAttribute(id)],
      ['action', ({ id }) => escapeAttribute(forms.actionOf(id))],
      ['version', ({ version }) => escapeAttribute(version)],
      ['title', ({ id }) => escapeAttribute(messages.record(singular, id))],
      ['heading', ({ id }) => escapeAttribute(messages.edit(singular, id))],
      ['warning', ({ id }) => escapeAttribute(messages.deleteWarning(singular, id))],
      // Names and digits.
      ['was', ({ attributes }) => forms.digests(attributes)]
    ]
    for (const [name, write] of texts) {
      const place = names.indexOf(name)
      if (place !== -1) yield (row, texts) => { texts[place] = write(row) }
    }
    const fields = new Map(forms.plans.map((plan, index) => [plan.property.name, { plan, place: names.indexOf(`field ${index}`) }]))
    for (const [index, attribute] of shown.of([]).entries()) {
      yield compileAttribute(attribute, names.indexOf(`value ${index}`), fields.get(attribute.name))
      fields.delete(attribute.name)
    }
    for (const { plan, place } of fields.values()) yield compileField(plan, place)
  }

  function makeFieldWriter (plan: Plan): FieldWriter {
    return compileFieldWriter(plan, (value) => {
      builder ??= forms.open()
      return views.field(forms.field(builder, plan, value), page, views).toString()
    })
  }

  function compileField (plan: Plan, place: number): Step {
    const read = forms.reader(plan.property.name)
    const { write } = makeFieldWriter(plan)
    return ({ attributes }, texts) => { texts[place] = write(read(attributes)) }
  }

  /** As it is read, and as it is edited: a text that needs no escape is looked through once for both. */
  function compileAttribute ({ show, read }: Shown, place: number, field: { readonly plan: Plan, readonly place: number } | undefined): Step {
    if (field === undefined) return ({ attributes }, texts) => { texts[place] = show.whole(read(attributes)) }
    const { write, writeClean } = makeFieldWriter(field.plan)
    const readField = forms.reader(field.plan.property.name)
    return ({ attributes }, texts) => {
      const value = read(attributes)
      const edited = writeClean !== undefined && show.isPlain && typeof value === 'string' && isClean(value) ? writeClean(value) : undefined
      texts[place] = edited === undefined ? show.whole(value) : value as string
      texts[field.place] = edited ?? write(readField(attributes))
    }
  }

  /** Our own words only join the id, so that they are constant; what an app's make of it is not known. */
  function wordsWith (mark: Mark, name: 'record' | 'edit' | 'deleteWarning', place: string): string {
    return given[name] === undefined ? messages[name](singular, mark('id')) : mark(place)
  }

  function markRecord (page: RecordPage, mark: Mark): RecordPage {
    return {
      ...page,
      title: wordsWith(mark, 'record', 'title'),
      id: mark('id'),
      version: mark('version'),
      alternates: alternatesOf(mark('id')),
      values: page.values.map((value, index) => ({ ...value, markup: raw(mark(`value ${index}`)) })),
      edit: { ...markForm(page.edit, mark), heading: wordsWith(mark, 'edit', 'heading') },
      delete: { ...markForm(page.delete, mark), warning: wordsWith(mark, 'deleteWarning', 'warning') }
    }
  }

  function markForm (form: Form, mark: Mark): Form {
    const marks: Readonly<Record<string, string>> = { id: mark('id'), _version: mark('version'), [forms.was]: mark('was') }
    return {
      ...form,
      action: form.action === forms.actionOf(undefined) ? form.action : mark('action'),
      hidden: form.hidden.map(({ name, value }) => ({ name, value: marks[name] ?? value }))
    }
  }
}

/** Queries come from clients, so what is kept of their pages is bounded. */
const KEPT = 20
const LONGEST = 512

interface Kept {
  readonly isEmpty: boolean
  readonly view: PageView
  readonly skeleton: Skeleton
}

/** The same as the page's views make of the list's model, of which all but the rows and the next place is kept. */
export function compileListWriter ({ list, views, render }: PageParts, make: (rows: readonly Stored[], view: PageView, writeRows: () => string) => ListPage): (rows: readonly Stored[], view: PageView) => string {
  const kept: Kept[] = []

  function compile (rows: readonly Stored[], view: PageView): Skeleton {
    return makeSkeleton((mark) => render(make(rows, { ...view, next: view.next === undefined ? undefined : mark('next') }, () => mark('rows')), views))
  }

  return (rows, view) => {
    const isEmpty = rows.length === 0
    const known = kept.find((other) => other.isEmpty === isEmpty && isAlike(other.view, view))
    const skeleton = known?.skeleton ?? compile(rows, view)
    if (known === undefined && isShort(view)) {
      if (kept.length >= KEPT) kept.length = 0
      // A copy: the request's own query is the app's to change.
      kept.push({ isEmpty, view: { ...view, parameters: { ...view.parameters } }, skeleton })
    }
    const { names, fill } = skeleton
    return fill(names.map((name) => name === 'rows' ? list.writeRows(rows) : escapeAttribute(view.next as string)))
  }
}

/** Whether two pages differ in nothing but their rows and the link to the next. */
function isAlike (one: PageView, other: PageView): boolean {
  return one.mediaType === other.mediaType && one.path === other.path && placeOf(one) === placeOf(other) &&
    (one.next === undefined) === (other.next === undefined) && haveSame(one.parameters, other.parameters)
}

/** Of a page without a limit no more is said than whether it is the first. */
function placeOf ({ after, parameters }: PageView): string | boolean | undefined {
  return parameters.limit === undefined ? after !== undefined : after
}

function haveSame (one: PageView['parameters'], other: PageView['parameters']): boolean {
  for (const name in one) if (one[name] !== other[name]) return false
  for (const name in other) if (one[name] === undefined) return false
  return true
}

function isShort ({ after = '', parameters }: PageView): boolean {
  let length = after.length
  for (const name in parameters) length += name.length + (parameters[name] as string).length
  return length <= LONGEST
}
