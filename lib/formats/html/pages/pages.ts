import type { Problem } from '../../../errors.js'
import type { Location } from '../../../resource/location.js'
import type { ActionName, Resource } from '../../../resource/resource.js'
import { memberPath } from '../../../resource/row-path.js'
import type { Id, Row } from '../../../resource/row.js'
import type { Input, ListWriter, PageView, WriterContext, View } from '../../format.js'
import { Forms } from '../forms/forms.js'
import type { Markup } from '../html-tag.js'
import { capitalize, makeMessages, wordsOf } from '../messages.js'
import type { PageOptions } from '../options.js'
import { compilePhrases } from '../translate.js'
import { makeShowCompiler } from '../values/render-value.js'
import { compileShownAttributes, type ShownAttributes, valueOf } from '../values/shown-attributes.js'
import type { Alternate, Link, ListPage, Page, PageAction, PageFrame, RecordPage, StalePage } from '../views/model.js'
import type { ResolvedViews, Views } from '../views/types.js'
import { resolveViews } from '../views/views.js'
import { compileActions, nameInWords } from './action-buttons.js'
import { linkTo, type PagePaths } from './links.js'
import { compileList } from './list.js'
import { compileFrame, compileListWriter, compileRecordWriter, type PageParts } from './precompiled.js'

/** The pages of a resource, each a complete document that works without a script. */
export interface Pages {
  list (rows: readonly Row[], view: PageView): string
  /** The list as a frame around its rows; undefined where the app has views of its own, or no schema says what columns there are. */
  readonly frame: ((first: readonly Row[], view: PageView) => ListWriter) | undefined
  record (row: Row, view: View): string
  stale (current: Row, view: View): string
  revised (view: View): string
  blank (view: View): string
  edit (row: Row, view: View): string
  problem (problem: Problem, view: View): string
}

/** Scripts that are written from right to left (ISO 15924). */
const RIGHT_TO_LEFT: ReadonlySet<string | undefined> = new Set([
  'Adlm',
  'Arab',
  'Hebr',
  'Mand',
  'Nkoo',
  'Rohg',
  'Samr',
  'Syrc',
  'Thaa'
])

/** Made once, at registration, for one resource. */
export function compilePages (
  resource: Resource,
  surroundings: WriterContext,
  options: PageOptions,
  stylesheet: string
): Pages {
  const { plural, singular, singleton, memberWrites } = resource
  const { newSegment, editSegment } = surroundings
  const { lang } = options
  const messages = makeMessages(resource, options.messages)
  const translate = compilePhrases(messages.phrases)
  const shown: ShownAttributes = compileShownAttributes(resource, makeShowCompiler(lang, messages))
  const list = compileList(resource, shown, surroundings, messages, options.columns)
  const forms = new Forms(resource, shown, messages, translate)
  const views = resolveViews(options.views)
  const suffixes = surroundings.formats.map(({ name }) => name)
  const others = surroundings.formats.filter(({ name }) => name !== 'html')
  const makeCollectionActions = compileActions(surroundings.collectionActions, translate)
  const makeMemberActions = compileActions(surroundings.memberActions, translate)
  const children = surroundings.children.map(({ name, segment }) => ({ label: translate(nameInWords(name)), segment }))
  const common: Pick<PageFrame, 'alternates' | 'stylesheet' | 'lang' | 'dir' | 'messages' | 'translate' | 'paths'> = {
    alternates: [],
    stylesheet,
    lang,
    dir: RIGHT_TO_LEFT.has(new Intl.Locale(lang).maximize().script) ? 'rtl' : 'ltr',
    messages,
    translate,
    paths: surroundings.paths
  }

  function can (action: ActionName): boolean {
    return resource.actions.has(action)
  }

  function pathsOf ({ collection, isListed = true, members, parent }: Location): PagePaths {
    return {
      collection,
      isListed: isListed && !singleton && can('list'),
      members,
      parent: parent && { label: parentTitle(parent), href: parent.path }
    }
  }

  function parentTitle ({ resource: { singular, singleton }, id }: NonNullable<Location['parent']>): string {
    const words = translate(wordsOf(singular))
    return singleton ? capitalize(words) : messages.record(words, id)
  }

  /** Where a row is. */
  function pathOf ({ collection, members }: PagePaths, id: Id): string {
    return singleton ? collection : memberPath(members, id, suffixes)
  }

  /** Where the forms of a row are sent. */
  function actionOf ({ members }: PagePaths, member: string): string {
    return singleton || memberWrites ? member : members
  }

  /** What a row is called. */
  function titleOf (id: Id): string {
    return singleton ? capitalize(messages.singular) : messages.record(messages.singular, id)
  }

  /** What an action of the app's own is called. */
  function ownTitle (name: string): string {
    const link = [...surroundings.collectionActions, ...surroundings.memberActions].find((link) => link.name === name)
    return translate(link?.label ?? nameInWords(name))
  }

  /** What is in front of the list, or of a singleton. */
  function outerCrumbs ({ parent }: PagePaths): Link[] {
    return parent === undefined ? [] : [parent]
  }

  /** What is in front of a row. */
  function crumbsOf (paths: PagePaths): Link[] {
    return paths.isListed
      ? [...outerCrumbs(paths), { label: messages.plural, href: paths.collection }]
      : outerCrumbs(paths)
  }

  /** What is in front of the form of a row: where that has a page of its own, the row. */
  function formCrumbs (paths: PagePaths, id: Id): Link[] {
    return editSegment === undefined || !can('show')
      ? crumbsOf(paths)
      : [...crumbsOf(paths), { label: titleOf(id), href: pathOf(paths, id) }]
  }

  /** The same at other paths. */
  function alternatesOf (link: (suffix: string) => string): Alternate[] {
    return others.map(({ name, mediaTypes }) => ({
      label: name.toUpperCase(),
      href: link(`.${name}`),
      mediaType: mediaTypes[0] as string
    }))
  }

  function render (page: Page, resolved: ResolvedViews = views): string {
    // Which of the views takes which page is told by their names alone.
    const view = resolved[page.kind] as (page: Page, resolved: ResolvedViews) => Markup
    return resolved.layout(page, view(page, resolved), resolved).toString()
  }

  function frameOf (
    title: string,
    { mediaType, request }: View,
    { collection }: PagePaths,
    crumbs: readonly Link[]
  ): PageFrame {
    return {
      ...common,
      title,
      parent: crumbs.at(-1),
      crumbs,
      resource: { plural, singular, path: collection, singleton },
      xhtml: mediaType === 'application/xhtml+xml',
      request
    }
  }

  function withoutRefused (actions: readonly PageAction[], { refused }: View): readonly PageAction[] {
    return actions.filter(({ name }) => !refused.has(name))
  }

  /** A singleton's row may have an id in its store; its pages have none. */
  function withoutId (row: Row): Row {
    return singleton ? { ...row, id: '' } : row
  }

  function renderStale (current: Row, view: View, problem?: Problem): string {
    const { input, location } = view
    const { id, version } = current
    const paths = pathsOf(location)
    const member = pathOf(paths, id)
    const action = actionOf(paths, member)
    const page: Omit<StalePage, 'conflicts' | 'form'> = {
      ...frameOf(messages.stale(messages.singular), view, paths, crumbsOf(paths)),
      kind: 'stale',
      id,
      href: can('show') ? member : undefined,
      current: shown.of([current]).map((attribute) => valueOf(attribute, current))
    }
    if (input?.node === undefined) {
      return render({
        ...page,
        conflicts: [],
        form: view.action === 'delete' ? forms.delete(action, id, version) : undefined
      })
    }
    return render({ ...page, ...forms.resolve(action, current, input, problem) })
  }

  function textsOf ({ detail, errors }: Problem): string[] {
    if (errors === undefined) return [translate(detail)]
    return Object.entries(errors).flatMap(([path, messages]) =>
      messages.map((message) => `${path} ${translate(message)}`)
    )
  }

  function renderBlank (view: View, input?: Input, problem?: Problem): string {
    const paths = pathsOf(view.location)
    const form = can('create') ? forms.create(paths.collection, input, problem) : undefined
    return render({ ...frameOf(messages.new(messages.singular), view, paths, crumbsOf(paths)), kind: 'edit', form })
  }

  function renderEdit (
    id: Id,
    version: string | undefined,
    row: Row | undefined,
    view: View,
    problem?: Problem
  ): string {
    const paths = pathsOf(view.location)
    const form = can('update')
      ? forms.update(actionOf(paths, pathOf(paths, id)), id, version, row, view.input, problem)
      : undefined
    return render({
      ...frameOf(messages.edit(messages.singular, id), view, paths, formCrumbs(paths, id)),
      kind: 'edit',
      form
    })
  }

  /** The id of the row that a form is about; undefined: it is for a new one. A singleton's is told by what it came with. */
  function idIn ({ id, version, row }: Input): Id | undefined {
    return singleton && (row !== undefined || version !== undefined) ? '' : id
  }

  /** The form that was sent, once more. */
  function renderForm (input: Input, problem: Problem | undefined, view: View): string {
    const { version } = input
    const row = input.row && withoutId(input.row)
    // With the version that the form had, which is the row's own where it had none.
    if (row !== undefined && forms.hasChoices(input)) {
      return renderStale({ ...row, version: version as string }, view, problem)
    }
    const id = idIn(input)
    return id === undefined ? renderBlank(view, input, problem) : renderEdit(id, version, row, view, problem)
  }

  function makeList (rows: readonly Row[], view: PageView, paths: PagePaths, writeRows?: () => string): ListPage {
    const { collection } = paths
    const { own, refused } = view
    const canCreate = can('create') && !refused.has('create')
    // A page with a limit is that page; without one the list goes on in the other formats.
    const after = view.parameters.limit === undefined ? undefined : view.after
    const alternates = alternatesOf((suffix) =>
      linkTo({ path: `${view.list}${suffix}`, parameters: view.parameters }, { format: undefined, after })
    )
    // Onto the parts themselves, so that those that nobody reads are not made.
    return Object.assign(list.parts(rows, view, paths.members, writeRows), {
      ...(own === undefined
        ? frameOf(messages.plural, view, paths, outerCrumbs(paths))
        : frameOf(ownTitle(own), view, paths, crumbsOf(paths))),
      kind: 'list' as const,
      alternates,
      actions: own === undefined ? withoutRefused(makeCollectionActions(collection), view) : [],
      create: own === undefined && canCreate && newSegment === undefined ? forms.create(collection) : undefined,
      newLink:
        own !== undefined || !canCreate || refused.has('new') || newSegment === undefined
          ? undefined
          : { label: messages.new(messages.singular), href: `${collection}/${newSegment}` }
    })
  }

  /** @param member the path of the row */
  function makeRecord (row: Row, view: View, paths: PagePaths, member: string): RecordPage {
    const { id, version } = row
    const { refused } = view
    const action = actionOf(paths, member)
    const canUpdate = can('update') && !refused.has('update')
    return {
      ...frameOf(titleOf(id), view, paths, crumbsOf(paths)),
      kind: 'record',
      alternates: alternatesOf((suffix) => `${member}${suffix}`),
      id,
      version,
      values: shown.of([row]).map((attribute) => valueOf(attribute, row)),
      actions: withoutRefused(makeMemberActions(member, version), view),
      children: children.map(({ label, segment }) => ({ label, href: `${member}/${segment}` })),
      edit: canUpdate && editSegment === undefined ? forms.update(action, id, version, row) : undefined,
      editLink:
        !canUpdate || refused.has('edit') || editSegment === undefined
          ? undefined
          : { label: messages.edit(messages.singular, id), href: `${member}/${editSegment}` },
      delete: can('delete') && !refused.has('delete') ? forms.delete(action, id, version) : undefined
    }
  }

  const parts: PageParts = {
    resource,
    forms,
    shown,
    list,
    messages,
    given: options.messages,
    views,
    suffixes,
    render,
    pathsOf
  }
  const isOurs = (...names: ReadonlyArray<keyof Views>): boolean =>
    !resource.open && names.every((name) => options.views[name] === undefined)
  const writeList = isOurs('layout', 'list', 'form', 'field') ? compileListWriter(parts, makeList) : undefined
  const writeRecord = isOurs('layout', 'record', 'form', 'field') ? compileRecordWriter(parts, makeRecord) : undefined

  function renderRecord (row: Row, view: View): string {
    const paths = pathsOf(view.location)
    return render(makeRecord(row, view, paths, pathOf(paths, row.id)))
  }

  return {
    frame: writeList && compileFrame(parts, writeList),
    list: writeList ?? ((rows, view) => render(makeList(rows, view, pathsOf(view.location)))),
    record: (row, view) => (writeRecord ?? renderRecord)(withoutId(row), view),
    stale: (current, view) => renderStale(withoutId(current), view),
    revised: (view) => renderForm(view.input as Input, undefined, view),
    blank: (view) => renderBlank(view),
    edit (row, view) {
      const { id, version } = withoutId(row)
      return renderEdit(id, version, row, view)
    },
    problem (problem, view) {
      const { input } = view
      if (input?.node !== undefined) return renderForm(input, problem, view)
      const paths = pathsOf(view.location)
      return render({
        ...frameOf(translate(problem.title), view, paths, crumbsOf(paths)),
        kind: 'error',
        problem,
        texts: textsOf(problem),
        create:
          singleton &&
          problem.status === 404 &&
          can('create') &&
          !view.refused.has('create') &&
          view.location.isListed !== false
            ? forms.create(paths.collection)
            : undefined
      })
    }
  }
}
