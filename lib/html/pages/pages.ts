import { KeyReusedError, type Problem, RowsError, type SaidProblem, withCodes } from '../../core/errors.js'
import type { ActionName, Resource } from '../../core/resource/resource.js'
import type { Id, Row } from '../../core/resource/row.js'
import { FILES } from '../../core/formats/files.js'
import type { AddView, ChoicesView, Input, TableView, WriterContext } from '../../core/formats/format.js'
import { type HtmlView, listChoices } from '../content.js'
import { type FormTarget, hasVersion } from '../forms/form-values.js'
import { Forms } from '../forms/forms.js'
import { raw } from '../html-tag.js'
import type { PageMessages } from '../messages.js'
import { labelAttributes } from '../languages/labels.js'
import { compileTranslation, makeMessages } from '../languages/make-messages.js'
import type { PageOptions } from '../options.js'
import { makeShowCompiler } from '../values/render-value.js'
import { findTitleAttributes, RowNames } from '../values/row-names.js'
import { compileShownAttributes, type ShownAttributes } from '../values/shown-attributes.js'
import type { Form, PageFrame, StalePage, Value } from '../views/model.js'
import { compileActions, compileManyActions, type MakeActions, nameInWords, withoutRefused } from './links.js'
import { type ChoiceView, writeChoice } from './choose.js'
import { type ChosenSource, type ChosenView, textsOfNew, writeChosen } from './chosen-rows.js'
import { columnsOf, withTime } from './columns.js'
import { type ImportSource, type ImportView, writeFaulty, writeImport } from './import.js'
import { List } from './list.js'
import { PageFrames, type PagePaths, type PageSource } from './page-frame.js'
import { describeProblem, isReferenced, textsOf } from './problem.js'
import {
  compileReferrers, compileRelated, type CountReferrers, isDeleted, isRestricting, type MakeRelated
} from './related.js'
import { RowTables } from './row-tables.js'

/** The paths of a row, and the target of its forms. */
interface RowPaths {
  readonly paths: PagePaths
  /** The path of the row. */
  readonly member: string
  readonly target: FormTarget
}

/** The view of a form that was sent. */
type SentPage = HtmlView & { readonly input: Input }

/** The most lists that a heading names. */
const MOST_NAMED = 3

/** Writes the pages of a resource. Each page is a complete document that works without a script. */
export class Pages {
  readonly list: List
  readonly #resource: Resource
  readonly #source: PageSource
  readonly #messages: PageMessages
  readonly #shown: ShownAttributes
  readonly #forms: Forms
  readonly #frames: PageFrames
  readonly #names: RowNames
  readonly #chosenSource: ChosenSource
  readonly #importSource: ImportSource
  readonly #memberActions: MakeActions
  readonly #makeRelated: MakeRelated
  readonly #countReferrers: CountReferrers
  readonly #tables: RowTables

  constructor (resource: Resource, context: WriterContext, options: PageOptions, stylesheet: string) {
    const { language, language: { tag: lang }, names, timeZone, badges } = options
    const columns = withTime(options.columns, names, resource)
    const naming = { title: options.title ?? findTitleAttributes(resource, context), references: context.references }
    const messages = makeMessages(names, language)
    const compileShow = makeShowCompiler(lang, messages, timeZone)
    const { selection, references } = context
    const titled = labelAttributes(resource, references, language.messages)
    const translate = compileTranslation(language, messages, titled.attributes)
    const selected = selection && labelAttributes(selection.resource, references, language.messages)
    const showing = { compileShow, references, badges }
    const all = compileShownAttributes(titled, showing)
    const shown = selected === undefined ? all : compileShownAttributes(selected, showing)
    const source = { resource: titled, context, messages, translate, lang }
    this.#resource = resource
    this.#source = source
    this.#messages = messages
    this.#shown = shown
    this.#forms = new Forms(source, all)
    this.#frames = new PageFrames({ ...source, resource }, options, stylesheet)
    this.#names = new RowNames(resource, all, messages, naming)
    const manyActions = compileManyActions(context, translate)
    const [frames, forms, countReferrers] = [this.#frames, this.#forms, compileReferrers(messages, translate, lang)]
    this.#chosenSource = { ...source, frames, forms, names: this.#names, manyActions, countReferrers }
    this.#importSource = { ...source, frames: this.#frames, shown: all }
    this.#memberActions = compileActions(context.memberActions, translate)
    this.#makeRelated = compileRelated(resource, messages, translate, lang)
    this.#countReferrers = countReferrers
    this.#tables = new RowTables({
      ...source,
      shown: all,
      names: this.#names,
      lang,
      timeZone,
      chosen: columns,
      offered: undefined
    })
    this.list = new List({
      ...source,
      shown,
      all,
      frames: this.#frames,
      forms: this.#forms,
      timeZone,
      columns: columnsOf(resource, columns, selection),
      filtered: columns,
      names: new RowNames(resource, shown, messages, naming)
    })
  }

  /** Returns the name of a row, for links from other pages. */
  title (row: Row): string {
    return this.#names.of(row.id, row).alone
  }

  /** Writes rows as a table, for the page of a row that they belong to. */
  table (rows: readonly Row[], view: TableView): string {
    return this.#tables.write(rows, view)
  }

  /** Makes the form that adds a row below such a table, unless it would be too large. */
  async add (view: AddView): Promise<Form | undefined> {
    const { by, location: { collection }, prefilled } = view
    if (!this.#forms.isSmall(by)) return undefined
    const choices = await listChoices(view.choices, undefined, new Map(), view)
    return this.#forms.add(collection, { input: undefined, prefilled, choices }, by)
  }

  /** Writes rows with a button each, below their search and their filter. */
  choices (rows: readonly Row[], view: ChoicesView): string {
    return this.#tables.choices(rows, view)
  }

  record (stored: Row, view: HtmlView): string {
    const row = this.#withoutId(stored)
    const { id, version } = row
    const { refused, links } = view
    const { context: { children, editSegment, copySegment }, translate } = this.#source
    const name = this.#names.of(id, row, links)
    const { paths, member, target } = this.#locate({ id, version, name }, view)
    const alternates = this.#frames.alternatesOf((suffix) => member + suffix)
    const canUpdate = this.#can('update') && !refused.has('update')
    return this.#frames.render({
      ...this.#frames.frame(name.alone, { view, paths }, { alternates }),
      kind: 'record',
      id,
      version,
      values: this.#valuesOf(row, view, this.#can('show') ? `${member}/${FILES}/` : undefined),
      actions: withoutRefused(this.#memberActions(member, hasVersion(version) ? version : undefined), view),
      children: children.map(({ name, segment }) =>
        ({ label: translate(nameInWords(name)), href: `${member}/${segment}` })),
      related: this.#makeRelated(view),
      edit: canUpdate && editSegment === undefined
        ? this.#frames.withCancel(this.#forms.edit(target, row, view), member)
        : undefined,
      editLink: canUpdate && editSegment !== undefined && !refused.has('edit')
        ? { label: this.#messages.editButton, href: `${member}/${editSegment}` }
        : undefined,
      duplicateLink: copySegment !== undefined && view.location.isListed !== false &&
        !refused.has('create') && !refused.has('new')
        ? { label: this.#messages.duplicate, href: `${paths.collection}/${copySegment}${encodeURIComponent(id)}` }
        : undefined,
      delete: this.#can('delete') && !refused.has('delete')
        ? this.#forms.delete(target, this.#describeCascade(view))
        : undefined
    })
  }

  stale (current: Row, view: HtmlView): string {
    return this.#writeStale(this.#withoutId(current), view, { isFolded: true })
  }

  /** Writes the form that was sent, after one of its rows was added or removed, or the rows that it can reference. */
  revised (view: HtmlView): string {
    const { rowSearch, input } = view
    return rowSearch === undefined
      ? this.#writeForm(input as Input, undefined, view)
      : writeChoice(this.#source, this.#frames, view as ChoiceView)
  }

  /** Writes the next step for the rows that a form has chosen: their deletion, or their changes. */
  chosen (view: HtmlView): string {
    return writeChosen(this.#chosenSource, view as ChosenView)
  }

  /** Writes the page that imports rows, or the rows of a file that are at fault. */
  import (view: HtmlView): string {
    const { importing } = view as ImportView
    return (importing.faults === undefined ? writeImport : writeFaulty)(this.#importSource, view as ImportView)
  }

  /** Writes the form for a new row. */
  blank (view: HtmlView): string {
    return this.#writeBlank(view)
  }

  edit (row: Row, view: HtmlView): string {
    const { id, version } = this.#withoutId(row)
    return this.#writeEdit({ id, version, name: this.#names.of(id, row, view.links) }, row, view)
  }

  problem (problem: Problem, view: HtmlView): string {
    const { input, location, refused, thrown } = view
    const said = withCodes(problem, thrown)
    if (view.chosen !== undefined && thrown instanceof RowsError) {
      return writeChosen(this.#chosenSource, view as ChosenView, { said, faults: thrown.said() })
    }
    if (view.importing !== undefined) {
      return writeImport(this.#importSource, view as ImportView, said, textsOf(said, this.#source))
    }
    const canCreate = this.#can('create') && !refused.has('create') && location.isListed !== false
    if (input?.node !== undefined) {
      if (thrown instanceof KeyReusedError) return this.#writeAnother({ ...view, input }, thrown.id)
      const isGone = problem.status === 404 && view.action === 'update' && !this.#resource.singleton
      return isGone && canCreate ? this.#writeGone(view) : this.#writeForm(input, said, view)
    }
    if (isReferenced(said) && view.action === 'delete' && input !== undefined) {
      return this.#writeUndeletable(problem, { ...view, input })
    }
    const paths = this.#frames.pathsOf(view)
    const { title, texts } = describeProblem(said, this.#source, thrown)
    const faults = thrown instanceof RowsError && view.action === 'create' ? textsOfNew(this.#source, thrown, view) : []
    const frame = this.#frames.frame(title, { view, paths })
    return this.#frames.render({
      ...frame,
      parent: view.back === undefined ? frame.parent : { label: this.#messages.back, href: view.back },
      kind: 'error',
      problem,
      texts: [...texts, ...faults],
      referrers: [],
      create: this.#resource.singleton && problem.status === 404 && canCreate
        ? this.#forms.create(paths.collection, view)
        : undefined
    })
  }

  /** Returns the text about the rows that refer to the row of a page, or that are deleted together with it. */
  #describeCascade ({ related }: HtmlView): string | undefined {
    if (this.#source.context.softDelete === 'live') {
      const referrers = this.#countReferrers(related)
      return referrers && this.#messages.deleteReferred(referrers.text, referrers.rows)
    }
    const cascade = this.#countReferrers(related.filter(isDeleted))
    return cascade && this.#messages.deleteCascade(cascade.text)
  }

  /** Writes the page of a deletion that other rows refuse, because they refer to the row. */
  #writeUndeletable (problem: Problem, view: SentPage): string {
    const { input: { id = '', row: stored }, related } = view
    const row = stored && this.#withoutId(stored)
    const name = this.#names.of(id, row)
    const { paths, member } = this.#locate({ id, version: undefined, name }, view)
    const isShown = row !== undefined && this.#can('show')
    const crumbs = this.#frames.crumbsOf(paths, isShown ? { label: name.alone, href: member } : undefined)
    const referrers = this.#countReferrers(related.filter(isRestricting))
    const { text, rows = 0, links = [] } = referrers ?? {}
    const title = this.#messages.undeletable(name.alone, links.length > MOST_NAMED ? undefined : text, rows)
    return this.#frames.render({
      ...this.#frames.frame(title, { view, paths }, { crumbs }),
      kind: 'error',
      problem,
      texts: [],
      referrers: links,
      create: undefined
    })
  }

  #can (action: ActionName): boolean {
    return this.#resource.actions.has(action)
  }

  /** Returns the row, with an empty id for a singleton. The store may have an id for it, but its pages show none. */
  #withoutId (row: Row): Row {
    return this.#resource.singleton ? { ...row, id: '' } : row
  }

  /** @param files the path before the names of the row's files. @default the page has no links to them */
  #valuesOf (row: Row, { links }: HtmlView, files?: string): readonly Value[] {
    const own = this.#shown.linksOf?.(row, links) ?? links
    return this.#shown.of([row]).map(({ name, label, anchor, show, read }) => {
      const value = read(row.attributes)
      return { name, label, anchor, value, markup: raw(show.whole(value, own, files)) }
    })
  }

  #locate (row: Omit<FormTarget, 'action'>, view: HtmlView): RowPaths {
    const paths = this.#frames.pathsOf(view)
    const member = this.#frames.pathOf(paths, row.id)
    return { paths, member, target: { ...row, action: this.#frames.actionOf(paths, member) } }
  }

  #writeStale (
    current: Row,
    view: HtmlView,
    { isFolded, problem }: Pick<StalePage, 'isFolded'> & { readonly problem?: SaidProblem | undefined }
  ): string {
    const { input } = view
    const { id, version } = current
    const name = this.#names.of(id, current)
    const { paths, member, target } = this.#locate({ id, version, name }, view)
    const href = this.#can('show') ? member : undefined
    const crumbs = this.#frames.crumbsOf(paths, href === undefined ? undefined : { label: name.alone, href })
    const forms = input?.node !== undefined
      ? this.#forms.resolve(target, current, { ...view, input }, problem)
      : { conflicts: [], unchanged: [], form: view.action === 'delete' ? this.#forms.delete(target) : undefined }
    return this.#frames.render({
      ...this.#frames.frame(this.#messages.stale(this.#messages.singular), { view, paths }, { crumbs }),
      kind: 'stale',
      id,
      href,
      current: this.#valuesOf(current, view),
      isFolded,
      ...forms
    })
  }

  /** Writes the submitted form again. */
  #writeForm (input: Input, problem: SaidProblem | undefined, view: HtmlView): string {
    const { version } = input
    const row = input.row && this.#withoutId(input.row)
    // `version` comes from the form, or from the row if the form had none.
    if (row !== undefined && this.#forms.hasChoices(input)) {
      return this.#writeStale({ ...row, version: version as string }, view, { isFolded: false, problem })
    }
    // A form of a singleton edits it if the row or a version is known. Otherwise it creates the singleton.
    const id = this.#resource.singleton && (row !== undefined || version !== undefined) ? '' : input.id
    return id === undefined
      ? this.#writeBlank(view, problem)
      : this.#writeEdit({ id, version, name: this.#names.of(id, row) }, row, view, problem)
  }

  /** Writes the form of a row that exists no more. It creates the row again. */
  #writeGone (view: HtmlView): string {
    const paths = this.#frames.pathsOf(view)
    const { gone, singular } = this.#messages
    const frame = this.#frames.frame(gone(singular), { view, paths })
    return this.#writeFormPage(frame, this.#forms.createAgain(paths.collection, view), frame.parent?.href)
  }

  /** Writes a form that has created a row already, and creates another one now. */
  #writeAnother (view: SentPage, id: Id | undefined): string {
    const paths = this.#frames.pathsOf(view)
    const frame = this.#frames.frame(this.#messages.new(this.#messages.singular), { view, paths })
    const href = id !== undefined && this.#can('show') ? this.#frames.pathOf(paths, id) : undefined
    const form = this.#forms.createAnother(paths.collection, view, href)
    return this.#writeFormPage(frame, form, view.back ?? frame.parent?.href)
  }

  #writeBlank (view: HtmlView, problem?: SaidProblem): string {
    const paths = this.#frames.pathsOf(view)
    const frame = this.#frames.frame(this.#messages.new(this.#messages.singular), { view, paths })
    const form = this.#can('create') ? this.#forms.create(paths.collection, view, problem) : undefined
    return this.#writeFormPage(frame, form, view.back ?? frame.parent?.href)
  }

  #writeEdit (
    row: Omit<FormTarget, 'action'>,
    stored: Row | undefined,
    view: HtmlView,
    problem?: SaidProblem
  ): string {
    const { paths, member, target } = this.#locate(row, view)
    const { alone, within } = row.name
    // A form with a page of its own is below the page of the row.
    const canShow = this.#can('show')
    const isBelow = canShow && this.#source.context.editSegment !== undefined
    const crumbs = this.#frames.crumbsOf(paths, isBelow ? { label: alone, href: member } : undefined)
    const frame = this.#frames.frame(this.#messages.edit(within), { view, paths }, { crumbs })
    const form = this.#can('update') ? this.#forms.update(target, stored, view, problem) : undefined
    return this.#writeFormPage(frame, form, canShow ? member : frame.parent?.href)
  }

  /**
   * Writes a page that only has a form.
   * @param cancel the path of the link that leaves the form, or `undefined` if there is none
   */
  #writeFormPage (frame: PageFrame, form: Form | undefined, cancel: string | undefined): string {
    return this.#frames.render({ ...frame, kind: 'edit', form: form && this.#frames.withCancel(form, cancel) })
  }
}
