import type { Problem } from '../../errors.js'
import type { Resource } from '../../resource.js'
import type { Stored } from '../../stores/store.js'
import type { Input, PageView, Surroundings, View } from '../format.js'
import { Forms } from './forms.js'
import { linkTo } from './links.js'
import { compileList } from './list.js'
import type { Markup } from './markup.js'
import { makeMessages } from './messages.js'
import type { Alternate, Link, ListPage, Page, PageFrame, RecordPage, StalePage } from './model.js'
import type { PageOptions } from './page-options.js'
import { compileListWriter, compileRecordWriter, type PageParts } from './page-writer.js'
import { compilePhrases } from './phrases.js'
import { compileShown, type ShownAttributes, valueOf } from './shown.js'
import { makeShowCompiler } from './value.js'
import { type ResolvedViews, resolveViews, type Views } from './views.js'

/** The pages of a resource, each a complete document that works without a script. */
export interface Pages {
  list (rows: readonly Stored[], view: PageView): string
  record (row: Stored, view: View): string
  stale (current: Stored, view: View): string
  revised (view: View): string
  problem (problem: Problem, view: View): string
}

/** Scripts that are written from right to left (ISO 15924). */
const RIGHT_TO_LEFT: ReadonlySet<string | undefined> = new Set(['Adlm', 'Arab', 'Hebr', 'Mand', 'Nkoo', 'Rohg', 'Samr', 'Syrc', 'Thaa'])

/** Made once, at registration, for one resource. */
export function compilePages (resource: Resource, surroundings: Surroundings, options: PageOptions, stylesheet: string): Pages {
  const { plural, singular, path } = resource
  const { lang } = options
  const messages = makeMessages(resource, options.messages)
  const translate = compilePhrases(messages.phrases)
  const shown: ShownAttributes = compileShown(resource, makeShowCompiler(lang, messages))
  const list = compileList(resource, shown, surroundings, messages, options.columns)
  const forms = new Forms(resource, shown, messages, translate)
  const views = resolveViews(options.views)
  const collection: Link = { label: messages.plural, href: path }
  const others = surroundings.formats.filter(({ name }) => name !== 'html')
  const frame: Omit<PageFrame, 'title' | 'xhtml'> = {
    parent: collection,
    resource: { plural, singular, path },
    alternates: [],
    stylesheet,
    lang,
    dir: RIGHT_TO_LEFT.has(new Intl.Locale(lang).maximize().script) ? 'rtl' : 'ltr',
    messages,
    translate
  }

  /** The same at other paths. */
  function alternatesOf (link: (suffix: string) => string): Alternate[] {
    return others.map(({ name, mediaTypes }) => ({ label: name.toUpperCase(), href: link(`.${name}`), mediaType: mediaTypes[0] as string }))
  }

  function memberAlternates (id: string): Alternate[] {
    return alternatesOf((suffix) => `${path}/${id}${suffix}`)
  }

  function render (page: Page, resolved: ResolvedViews = views): string {
    // Which of the views takes which page is told by their names alone.
    const view = resolved[page.kind] as (page: Page, resolved: ResolvedViews) => Markup
    return resolved.layout(page, view(page, resolved), resolved).toString()
  }

  function frameOf (title: string, { mediaType }: View): typeof frame & Pick<PageFrame, 'title' | 'xhtml'> {
    return { ...frame, title, xhtml: mediaType === 'application/xhtml+xml' }
  }

  function renderStale (current: Stored, view: View, problem?: Problem): string {
    const { input } = view
    const page: Omit<StalePage, 'conflicts' | 'form'> = { ...frameOf(messages.stale(messages.singular), view), kind: 'stale', id: current.id, href: `${path}/${current.id}`, current: shown.of([current]).map((attribute) => valueOf(attribute, current)) }
    if (input?.node === undefined) return render({ ...page, conflicts: [], form: forms.delete(current.id, current.version) })
    return render({ ...page, ...forms.resolve(current, input, problem) })
  }

  function textsOf ({ detail, errors }: Problem): string[] {
    if (errors === undefined) return [translate(detail)]
    return Object.entries(errors).flatMap(([path, messages]) => messages.map((message) => `${path} ${translate(message)}`))
  }

  /** The form that was sent, once more. */
  function renderForm (input: Input, problem: Problem | undefined, view: View): string {
    const { id, version, row } = input
    // With the version that the form had, which is the row's own where it had none.
    if (row !== undefined && forms.hasChoices(input)) return renderStale({ ...row, version: version as string }, view, problem)
    const title = id === undefined ? messages.new(messages.singular) : messages.edit(messages.singular, id)
    const form = id === undefined ? forms.create(input, problem) : forms.update(id, version, row, input, problem)
    return render({ ...frameOf(title, view), kind: 'edit', form })
  }

  function makeList (rows: readonly Stored[], view: PageView, writeRows?: () => string): ListPage {
    // A page with a limit is that page; without one the list goes on in the other formats.
    const after = view.parameters.limit === undefined ? undefined : view.after
    const alternates = alternatesOf((suffix) => linkTo({ path: `${path}${suffix}`, parameters: view.parameters }, { format: undefined, after }))
    // Onto the parts themselves, so that those that nobody reads are not made.
    return Object.assign(list.parts(rows, view, writeRows), { ...frameOf(messages.plural, view), kind: 'list' as const, parent: undefined, alternates, create: forms.create() })
  }

  function makeRecord (row: Stored, view: View): RecordPage {
    const { id, version } = row
    return {
      ...frameOf(messages.record(messages.singular, id), view),
      kind: 'record',
      alternates: memberAlternates(String(id)),
      id,
      version,
      values: shown.of([row]).map((attribute) => valueOf(attribute, row)),
      edit: forms.update(id, version, row),
      delete: forms.delete(id, version)
    }
  }

  const parts: PageParts = { forms, shown, list, messages, given: options.messages, views, render, alternatesOf: memberAlternates }
  const isOurs = (...names: ReadonlyArray<keyof Views>): boolean => !resource.open && names.every((name) => options.views[name] === undefined)
  const writeList = isOurs('layout', 'list', 'form', 'field') ? compileListWriter(parts, makeList) : undefined
  const writeRecords = isOurs('layout', 'record', 'form', 'field') ? new Map<string, (row: Stored) => string>() : undefined

  function writeRecord (row: Stored, view: View, writers: Map<string, (row: Stored) => string>): string {
    let write = writers.get(view.mediaType)
    if (write === undefined) writers.set(view.mediaType, write = compileRecordWriter(parts, makeRecord(row, view)))
    return write(row)
  }

  return {
    list: writeList ?? ((rows, view) => render(makeList(rows, view))),
    record: (row, view) => writeRecords === undefined ? render(makeRecord(row, view)) : writeRecord(row, view, writeRecords),
    stale: (current, view) => renderStale(current, view),
    revised: (view) => renderForm(view.input as Input, undefined, view),
    problem (problem, view) {
      const { input } = view
      if (input?.node !== undefined) return renderForm(input, problem, view)
      return render({ ...frameOf(translate(problem.title), view), kind: 'error', problem, texts: textsOf(problem) })
    }
  }
}
