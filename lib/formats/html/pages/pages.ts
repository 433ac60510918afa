import type { Problem } from '../../../errors.js'
import type { ActionName, Resource } from '../../../resource/resource.js'
import type { Row } from '../../../resource/row.js'
import type { Input, TableView, View, WriterContext } from '../../format.js'
import { type FormTarget, hasVersion } from '../forms/form-values.js'
import { Forms, type RowContext } from '../forms/forms.js'
import { concat, readNow, type ReadContext, raw } from '../html-tag.js'
import type { PageMessages } from '../messages.js'
import { labelAttributes } from '../languages/labels.js'
import { compileTranslation, makeMessages } from '../languages/make-messages.js'
import type { Translate } from '../languages/phrases.js'
import type { PageOptions } from '../options.js'
import { makeShowCompiler } from '../values/render-value.js'
import { RowNames } from '../values/row-names.js'
import { compileShownAttributes, type ShownAttributes } from '../values/shown-attributes.js'
import type { RecordPage, Value } from '../views/model.js'
import { compileActions, type MakeActions, nameInWords, withoutRefused } from './action-buttons.js'
import { type ChoiceView, writeChoice } from './choose.js'
import { columnsOf } from './columns.js'
import { List } from './list.js'
import { type PageContext, PageFrames, type PageSource, type Write } from './page-frame.js'
import { compileRelated, type MakeRelated, RelatedTables } from './related.js'

interface RecordContext extends PageContext, RowContext {
  readonly title: string
  readonly member: string
  readonly values: readonly Value[]
}

// The links of a page share this function, so `compile` calls it once.
const memberOf = ({ member }: RecordContext): string => member

/** Writes the pages of a resource. Each page is a complete document that works without a script. */
export class Pages {
  readonly list: List
  readonly #resource: Resource
  readonly #context: WriterContext
  readonly #source: PageSource
  readonly #messages: PageMessages
  readonly #translate: Translate
  readonly #shown: ShownAttributes
  readonly #forms: Forms
  readonly #frames: PageFrames
  readonly #names: RowNames
  readonly #memberActions: MakeActions
  readonly #children: ReadonlyArray<{ readonly label: string, readonly segment: string }>
  readonly #makeRelated: MakeRelated
  readonly #tables: RelatedTables
  /** The compiled templates of the pages of rows. There are few, one for each combination of parts. */
  readonly #templates: Array<Write<RecordContext>> = []

  constructor (resource: Resource, context: WriterContext, options: PageOptions, stylesheet: string) {
    const { language, language: { tag: lang } } = options
    const messages = makeMessages(resource, language)
    const translate = compileTranslation(language, messages)
    const compileShow = makeShowCompiler(lang, messages, options.timeZone)
    const { selection, references } = context
    const titled = labelAttributes(resource, references, language.messages)
    const selected = selection && labelAttributes(selection.resource, references, language.messages)
    const shown = compileShownAttributes(selected ?? titled, compileShow, references)
    const all = selected === undefined ? shown : compileShownAttributes(titled, compileShow, references)
    const names = columnsOf(resource, options.columns, selection)
    const frames = new PageFrames({ resource, context, messages, translate }, options, stylesheet)
    const source = { resource: titled, context, messages, translate }
    const forms = new Forms(source, all)
    const listed = new RowNames(resource, shown, messages, options.title)
    this.list = new List({
      ...source,
      shown,
      frames,
      forms,
      lang,
      timeZone: options.timeZone,
      columns: names,
      filtered: options.columns,
      names: listed
    })
    this.#resource = resource
    this.#context = context
    this.#source = source
    this.#messages = messages
    this.#translate = translate
    this.#shown = shown
    this.#forms = forms
    this.#frames = frames
    this.#names = new RowNames(resource, all, messages, options.title)
    this.#memberActions = compileActions(context.memberActions, translate)
    this.#makeRelated = compileRelated(messages, translate, lang)
    const chosen = options.columns
    this.#tables = new RelatedTables({ resource, context, messages, shown: all, names: this.#names, chosen })
    this.#children = context.children.map(({ name, segment }) => ({ label: translate(nameInWords(name)), segment }))
  }

  /** Returns the name of a row, for links from other pages. */
  title (row: Row): string {
    return this.#names.of(row.id, row).alone
  }

  /** Writes rows as a table, for the page of a row that they belong to. */
  table (rows: readonly Row[], view: TableView): string {
    return this.#tables.write(rows, view)
  }

  record (row: Row, view: View): string {
    const own = this.#withoutId(row)
    const { id, version } = own
    const paths = this.#frames.pathsOf(view)
    const member = this.#frames.pathOf(paths, id)
    const name = this.#names.of(id, row)
    const target = { action: this.#frames.actionOf(paths, member), id, version, name }
    const values = this.#valuesOf({ row: own, view })
    const builder = this.#forms.open(view)
    const context = { view, paths, title: name.alone, row: own, member, values, target, builder }
    const key = this.#frames.keyOf(context, 'record') | (version === '' ? 8 : 0)
    return this.#frames.write(this.#templates, key, (of) => this.#recordPage(of, context), context)
  }

  stale (current: Row, view: View): string {
    return this.#writeStale(this.#withoutId(current), view)
  }

  /** Writes the form that was sent, after one of its rows was added or removed, or the rows that it can reference. */
  revised (view: View): string {
    const { rowSearch, input } = view
    return rowSearch === undefined
      ? this.#writeForm(input as Input, undefined, view)
      : writeChoice(this.#source, this.#frames, view as ChoiceView)
  }

  /** Writes the form for a new row. */
  blank (view: View): string {
    return this.#writeBlank(view)
  }

  edit (row: Row, view: View): string {
    const { id, version } = this.#withoutId(row)
    return this.#writeEdit({ id, version, name: this.#names.of(id, row) }, row, view)
  }

  problem (problem: Problem, view: View): string {
    const { input, location, refused } = view
    const canCreate = this.#can('create') && !refused.has('create') && location.isListed !== false
    if (input?.node !== undefined) {
      const isGone = problem.status === 404 && view.action === 'update' && !this.#resource.singleton
      return isGone && canCreate ? this.#writeGone(view) : this.#writeForm(input, problem, view)
    }
    const paths = this.#frames.pathsOf(view)
    return this.#frames.render({
      ...this.#frames.frame(readNow({ view, paths }), this.#translate(problem.title), { view, paths }),
      kind: 'error',
      problem,
      texts: this.#textsOf(problem),
      create: this.#resource.singleton && problem.status === 404 && canCreate
        ? this.#forms.create(readNow({ view }), paths.collection, view)
        : undefined
    }).toString()
  }

  #can (action: ActionName): boolean {
    return this.#resource.actions.has(action)
  }

  /** Returns the row, with an empty id for a singleton. The store may have an id for it, but its pages show none. */
  #withoutId (row: Row): Row {
    return this.#resource.singleton ? { ...row, id: '' } : row
  }

  #textsOf ({ detail, errors }: Problem): string[] {
    if (errors === undefined) return [this.#translate(detail)]
    return Object.entries(errors).flatMap(([path, messages]) =>
      messages.map((message) => this.#messages.fieldError(path, this.#translate(message))))
  }

  #recordPage (of: ReadContext<RecordContext>, context: RecordContext): RecordPage {
    const { view, target: { version } } = context
    const { refused } = view
    const { editSegment } = this.#context
    const { editButton } = this.#messages
    const alternates = this.#frames.alternatesOf((suffix) => concat(of(memberOf), suffix))
    const actions = this.#memberActions(of, {
      path: memberOf,
      version: hasVersion(version) ? ({ row }) => row.version : undefined
    })
    const canUpdate = this.#can('update') && !refused.has('update')
    return {
      ...this.#frames.frame(of, of(({ title }) => title), context, { alternates }),
      kind: 'record',
      id: of(({ target }) => target.id),
      version: of(({ row }) => row.version),
      values: of(({ values }) => values),
      actions: withoutRefused(actions, view),
      children: this.#children.map(({ label, segment }) =>
        ({ label, href: concat(of(memberOf), `/${segment}`) })),
      related: of(({ view }) => this.#makeRelated(view)),
      edit: canUpdate && editSegment === undefined
        ? this.#frames.withCancel(this.#forms.edit(of, context), of(memberOf))
        : undefined,
      editLink: canUpdate && editSegment !== undefined && !refused.has('edit')
        ? { label: editButton, href: concat(of(memberOf), `/${editSegment}`) }
        : undefined,
      delete: this.#can('delete') && !refused.has('delete') ? this.#forms.delete(of, context.target) : undefined
    }
  }

  #valuesOf ({ row, view }: Pick<RecordContext, 'row' | 'view'>): readonly Value[] {
    return this.#shown.of([row]).map(({ name, label, anchor, show, read }) => {
      const value = read(row.attributes)
      return { name, label, anchor, value, markup: raw(show.whole(value, view.links)) }
    })
  }

  #writeStale (current: Row, view: View, problem?: Problem): string {
    const { input } = view
    const { id, version } = current
    const paths = this.#frames.pathsOf(view)
    const member = this.#frames.pathOf(paths, id)
    const name = this.#names.of(id, current)
    const target = { action: this.#frames.actionOf(paths, member), id, version, name }
    const of = readNow({ view, paths })
    const href = this.#can('show') ? member : undefined
    const crumbs = this.#frames.crumbsOf(of, paths, href === undefined ? undefined : { label: name.alone, href })
    const forms = input?.node !== undefined
      ? this.#forms.resolve(target, current, { ...view, input }, problem)
      : { conflicts: [], form: view.action === 'delete' ? this.#forms.delete(readNow({ target }), target) : undefined }
    return this.#frames.render({
      ...this.#frames.frame(of, this.#messages.stale(this.#messages.singular), { view, paths }, { crumbs }),
      kind: 'stale',
      id,
      href,
      current: this.#valuesOf({ row: current, view }),
      ...forms
    }).toString()
  }

  /** Writes the submitted form again. */
  #writeForm (input: Input, problem: Problem | undefined, view: View): string {
    const { version } = input
    const row = input.row && this.#withoutId(input.row)
    // `version` comes from the form, or from the row if the form had none.
    if (row !== undefined && this.#forms.hasChoices(input)) {
      return this.#writeStale({ ...row, version: version as string }, view, problem)
    }
    // A form of a singleton edits it if the row or a version is known. Otherwise it creates the singleton.
    const id = this.#resource.singleton && (row !== undefined || version !== undefined) ? '' : input.id
    return id === undefined
      ? this.#writeBlank(view, problem)
      : this.#writeEdit({ id, version, name: this.#names.of(id, row) }, row, view, problem)
  }

  /** Writes the form of a row that exists no more. It creates the row again. */
  #writeGone (view: View): string {
    const paths = this.#frames.pathsOf(view)
    const { gone, singular } = this.#messages
    const frame = this.#frames.frame(readNow({ view, paths }), gone(singular), { view, paths })
    const form = this.#forms.createAgain(paths.collection, view)
    return this.#frames.render({
      ...frame,
      kind: 'edit',
      form: this.#frames.withCancel(form, frame.parent?.href)
    }).toString()
  }

  #writeBlank (view: View, problem?: Problem): string {
    const paths = this.#frames.pathsOf(view)
    const frame =
      this.#frames.frame(readNow({ view, paths }), this.#messages.new(this.#messages.singular), { view, paths })
    const form = this.#can('create')
      ? this.#forms.create(readNow({ view }), paths.collection, view, problem)
      : undefined
    return this.#frames.render({
      ...frame,
      kind: 'edit',
      form: form && this.#frames.withCancel(form, frame.parent?.href)
    }).toString()
  }

  #writeEdit (
    { id, version, name }: Omit<FormTarget, 'action'>,
    row: Row | undefined,
    view: View,
    problem?: Problem
  ): string {
    const links = this.#frames
    const paths = links.pathsOf(view)
    const member = links.pathOf(paths, id)
    const target = { action: links.actionOf(paths, member), id, version, name }
    const of = readNow({ view, paths })
    // A form with a page of its own is below the page of the row.
    const canShow = this.#can('show')
    const isBelow = canShow && this.#context.editSegment !== undefined
    const crumbs = links.crumbsOf(of, paths, isBelow ? { label: name.alone, href: member } : undefined)
    const frame = links.frame(of, this.#messages.edit(name.within), { view, paths }, { crumbs })
    const form = this.#can('update') ? this.#forms.update(target, row, view, problem) : undefined
    return links.render({
      ...frame,
      kind: 'edit',
      form: form && links.withCancel(form, canShow ? member : frame.parent?.href)
    }).toString()
  }
}
