import { randomUUID } from 'node:crypto'
import type { Problem } from '../../../errors.js'
import type { ActionName, Resource } from '../../../resource/resource.js'
import type { Row } from '../../../resource/row.js'
import type { Input, ListWriter, PageView, View, WriterContext } from '../../format.js'
import { flatten } from '../../row-template.js'
import { Forms, type FormTarget } from '../forms/forms.js'
import type { Markup } from '../html-tag.js'
import { makeMessages, type PageMessages } from '../messages.js'
import type { PageOptions } from '../options.js'
import { compilePhrases, type Translate } from '../translate.js'
import { makeShowCompiler } from '../values/render-value.js'
import { compileShownAttributes, type ShownAttributes, valueOf } from '../values/shown-attributes.js'
import type { Alternate, Link, ListPage, Page, PageAction, PageFrame, RecordPage } from '../views/model.js'
import type { ResolvedViews, Views } from '../views/types.js'
import { resolveViews } from '../views/views.js'
import { compileActions, type MakeActions, nameInWords } from './action-buttons.js'
import { linkTo, PageLinks, type PagePaths } from './links.js'
import { List } from './list.js'

/** Scripts that are written from right to left (ISO 15924). */
const RIGHT_TO_LEFT: ReadonlySet<string | undefined> =
  new Set(['Adlm', 'Arab', 'Hebr', 'Mand', 'Nkoo', 'Rohg', 'Samr', 'Syrc', 'Thaa'])

/** What leads from a page to others. */
interface OtherPages {
  readonly crumbs: readonly Link[]
  readonly alternates?: readonly Alternate[]
}

/** The pages of a resource, each a complete document that works without a script. Made once, at registration. */
export class Pages {
  readonly #resource: Resource
  readonly #context: WriterContext
  readonly #messages: PageMessages
  readonly #translate: Translate
  readonly #views: ResolvedViews
  readonly #shown: ShownAttributes
  readonly #list: List
  readonly #forms: Forms
  readonly #links: PageLinks
  readonly #collectionActions: MakeActions
  readonly #memberActions: MakeActions
  readonly #children: ReadonlyArray<{ readonly label: string, readonly segment: string }>
  readonly #document: Pick<PageFrame, 'stylesheet' | 'lang' | 'dir'>

  /** Undefined where the app has views of its own, or no schema says what columns there are. */
  readonly frame: ((first: readonly Row[], view: PageView) => ListWriter) | undefined

  constructor (resource: Resource, context: WriterContext, options: PageOptions, stylesheet: string) {
    const { lang, views } = options
    const messages = makeMessages(resource, options.messages)
    const translate = compilePhrases(messages.phrases)
    const shown = compileShownAttributes(resource, makeShowCompiler(lang, messages))
    this.#resource = resource
    this.#context = context
    this.#messages = messages
    this.#translate = translate
    this.#views = resolveViews(views)
    this.#shown = shown
    this.#list = new List({ resource, shown, context, messages, names: options.columns })
    this.#forms = new Forms(resource, shown, messages, translate)
    this.#links = new PageLinks(resource, context, messages, translate)
    this.#collectionActions = compileActions(context.collectionActions, translate)
    this.#memberActions = compileActions(context.memberActions, translate)
    this.#children = context.children.map(({ name, segment }) => ({ label: translate(nameInWords(name)), segment }))
    const isRightToLeft = RIGHT_TO_LEFT.has(new Intl.Locale(lang).maximize().script)
    this.#document = { stylesheet, lang, dir: isRightToLeft ? 'rtl' : 'ltr' }
    const parts: ReadonlyArray<keyof Views> = ['layout', 'list', 'form', 'field']
    const isOurs = !resource.open && parts.every((name) => views[name] === undefined)
    this.frame = isOurs ? (first, view) => this.#makeListWriter(first, view) : undefined
  }

  list (rows: readonly Row[], view: PageView): string {
    return this.#render(this.#listPage(rows, view))
  }

  /** The list as a frame around its rows. */
  #makeListWriter (first: readonly Row[], view: PageView): ListWriter {
    const mark = randomUUID()
    const [open = '', close = ''] = this.#render(this.#listPage(first, view, () => mark)).split(mark).map(flatten)
    return { open, row: (row) => this.#list.writeRows([row], view.location.members), separator: '', close }
  }

  record (row: Row, view: View): string {
    return this.#render(this.#recordPage(this.#withoutId(row), view))
  }

  stale (current: Row, view: View): string {
    return this.#renderStale(this.#withoutId(current), view)
  }

  /** The form that was sent, once more. */
  revised (view: View): string {
    return this.#renderForm(view.input as Input, undefined, view)
  }

  blank (view: View): string {
    return this.#renderBlank(view)
  }

  edit (row: Row, view: View): string {
    const { id, version } = this.#withoutId(row)
    return this.#renderEdit({ id, version }, row, view)
  }

  problem (problem: Problem, view: View): string {
    const { input, location, refused } = view
    if (input?.node !== undefined) return this.#renderForm(input, problem, view)
    const paths = this.#links.pathsOf(location)
    const canCreate = this.#can('create') && !refused.has('create') && location.isListed !== false
    return this.#render({
      kind: 'error',
      problem,
      texts: this.#textsOf(problem),
      create: this.#resource.singleton && problem.status === 404 && canCreate
        ? this.#forms.create(paths.collection)
        : undefined,
      ...this.#frame(this.#translate(problem.title), view, paths, { crumbs: this.#links.crumbsOf(paths) })
    })
  }

  #render (page: Page): string {
    const views = this.#views
    // The compiler does not know that the view of each name takes the page of that kind.
    const view = views[page.kind] as (page: Page, views: ResolvedViews) => Markup
    return views.layout(page, view(page, views), views).toString()
  }

  #can (action: ActionName): boolean {
    return this.#resource.actions.has(action)
  }

  /** What every page has. It is spread last: V8 takes long to add members to the copy of a large object. */
  #frame (title: string, view: View, { collection }: PagePaths, links: OtherPages): PageFrame {
    const { mediaType, request } = view
    const { crumbs, alternates = [] } = links
    const { plural, singular, singleton } = this.#resource
    const { stylesheet, lang, dir } = this.#document
    return {
      title,
      parent: crumbs.at(-1),
      crumbs,
      resource: { plural, singular, path: collection, singleton },
      alternates,
      stylesheet,
      lang,
      dir,
      messages: this.#messages,
      translate: this.#translate,
      paths: this.#context.paths,
      xhtml: mediaType === 'application/xhtml+xml',
      request
    }
  }

  /** A singleton's row may have an id in its store; its pages have none. */
  #withoutId (row: Row): Row {
    return this.#resource.singleton ? { ...row, id: '' } : row
  }

  /** What an action of the app's own is called. */
  #actionTitle (name: string): string {
    const { collectionActions, memberActions } = this.#context
    const link = [...collectionActions, ...memberActions].find((link) => link.name === name)
    return this.#translate(link?.label ?? nameInWords(name))
  }

  #textsOf ({ detail, errors }: Problem): string[] {
    if (errors === undefined) return [this.#translate(detail)]
    return Object.entries(errors).flatMap(([path, messages]) =>
      messages.map((message) => `${path} ${this.#translate(message)}`))
  }

  #listPage (rows: readonly Row[], view: PageView, writeRows?: () => string): ListPage {
    const paths = this.#links.pathsOf(view.location)
    const { own, refused, parameters } = view
    const { newSegment } = this.#context
    const isList = own === undefined
    const canCreate = isList && this.#can('create') && !refused.has('create')
    // A page with a limit is that page; without one the list goes on in the other formats.
    const after = parameters.limit === undefined ? undefined : view.after
    const alternates = this.#links.alternatesOf((suffix) =>
      linkTo({ path: `${view.list}${suffix}`, parameters }, { format: undefined, after }))
    const title = isList ? this.#messages.plural : this.#actionTitle(own)
    const crumbs = isList ? this.#links.outerCrumbs(paths) : this.#links.crumbsOf(paths)
    const frame = this.#frame(title, view, paths, { crumbs, alternates })
    // Onto the parts themselves, so that those that nobody reads are not made.
    return Object.assign(this.#list.parts(rows, view, paths.members, writeRows), frame, {
      kind: 'list' as const,
      actions: isList ? withoutRefused(this.#collectionActions(paths.collection), view) : [],
      create: canCreate && newSegment === undefined ? this.#forms.create(paths.collection) : undefined,
      newLink: canCreate && newSegment !== undefined && !refused.has('new')
        ? { label: this.#messages.new(this.#messages.singular), href: `${paths.collection}/${newSegment}` }
        : undefined
    })
  }

  #recordPage (row: Row, view: View): RecordPage {
    const { id, version } = row
    const { refused } = view
    const { editSegment } = this.#context
    const links = this.#links
    const paths = links.pathsOf(view.location)
    const member = links.pathOf(paths, id)
    const target: FormTarget = { action: links.actionOf(paths, member), id, version }
    const canUpdate = this.#can('update') && !refused.has('update')
    const alternates = links.alternatesOf((suffix) => `${member}${suffix}`)
    return {
      kind: 'record',
      id,
      version,
      values: this.#shown.of([row]).map((attribute) => valueOf(attribute, row)),
      actions: withoutRefused(this.#memberActions(member, version), view),
      children: this.#children.map(({ label, segment }) => ({ label, href: `${member}/${segment}` })),
      edit: canUpdate && editSegment === undefined ? this.#forms.update(target, row) : undefined,
      editLink: canUpdate && editSegment !== undefined && !refused.has('edit')
        ? { label: this.#messages.edit(this.#messages.singular, id), href: `${member}/${editSegment}` }
        : undefined,
      delete: this.#can('delete') && !refused.has('delete') ? this.#forms.delete(target) : undefined,
      ...this.#frame(links.titleOf(id), view, paths, { crumbs: links.crumbsOf(paths), alternates })
    }
  }

  #renderStale (current: Row, view: View, problem?: Problem): string {
    const { input, location } = view
    const { id, version } = current
    const paths = this.#links.pathsOf(location)
    const member = this.#links.pathOf(paths, id)
    const action = this.#links.actionOf(paths, member)
    const title = this.#messages.stale(this.#messages.singular)
    const frame = this.#frame(title, view, paths, { crumbs: this.#links.crumbsOf(paths) })
    const forms = input?.node !== undefined
      ? this.#forms.resolve(action, current, input, problem)
      : { conflicts: [], form: view.action === 'delete' ? this.#forms.delete({ action, id, version }) : undefined }
    return this.#render({
      kind: 'stale',
      id,
      href: this.#can('show') ? member : undefined,
      current: this.#shown.of([current]).map((attribute) => valueOf(attribute, current)),
      ...forms,
      ...frame
    })
  }

  /** The form that was sent, once more. */
  #renderForm (input: Input, problem: Problem | undefined, view: View): string {
    const { version } = input
    const row = input.row && this.#withoutId(input.row)
    // With the version that the form had, which is the row's own where it had none.
    if (row !== undefined && this.#forms.hasChoices(input)) {
      return this.#renderStale({ ...row, version: version as string }, view, problem)
    }
    // A singleton's row is told by what the form came with.
    const id = this.#resource.singleton && (row !== undefined || version !== undefined) ? '' : input.id
    return id === undefined
      ? this.#renderBlank(view, problem)
      : this.#renderEdit({ id, version }, row, view, problem)
  }

  #renderBlank (view: View, problem?: Problem): string {
    const paths = this.#links.pathsOf(view.location)
    const title = this.#messages.new(this.#messages.singular)
    return this.#render({
      kind: 'edit',
      form: this.#can('create') ? this.#forms.create(paths.collection, view.input, problem) : undefined,
      ...this.#frame(title, view, paths, { crumbs: this.#links.crumbsOf(paths) })
    })
  }

  #renderEdit (
    { id, version }: Omit<FormTarget, 'action'>,
    row: Row | undefined,
    view: View,
    problem?: Problem
  ): string {
    const links = this.#links
    const paths = links.pathsOf(view.location)
    const member = links.pathOf(paths, id)
    const target = { action: links.actionOf(paths, member), id, version }
    // Where the form has a page of its own, that of the row is in front of it.
    const hasRecord = this.#context.editSegment !== undefined && this.#can('show')
    const outer = links.crumbsOf(paths)
    const crumbs = hasRecord ? [...outer, { label: links.titleOf(id), href: member }] : outer
    return this.#render({
      kind: 'edit',
      form: this.#can('update') ? this.#forms.update(target, row, view.input, problem) : undefined,
      ...this.#frame(this.#messages.edit(this.#messages.singular, id), view, paths, { crumbs })
    })
  }
}

function withoutRefused (actions: readonly PageAction[], { refused }: View): readonly PageAction[] {
  return refused.size === 0 ? actions : actions.filter(({ name }) => !refused.has(name))
}
