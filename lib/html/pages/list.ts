import type { Row } from '../../core/resource/row.js'
import type { Attributes } from '../../core/schema/types.js'
import { MOST_REPEATED } from '../../core/util/words.js'
import { LIST, STEP } from '../../core/formats/form/parse.js'
import type { ListedRows, ListWriter } from '../../core/formats/format.js'
import { filesOf } from '../../core/formats/files.js'
import { IMPORT } from '../../core/formats/importing.js'
import type { Figures, HtmlListView } from '../content.js'
import type { Forms } from '../forms/forms.js'
import { markup, type Markup, raw } from '../html-tag.js'
import type { PageMessages } from '../messages.js'
import type { RowNames } from '../values/row-names.js'
import type { ShownAttributes } from '../values/shown-attributes.js'
import type { Alternate, Button, ListPage, ListRow, PageAction } from '../views/model.js'
import { CHOSEN, renderRegion, renderSelection } from '../views/page-views.js'
import {
  compileActions, compileManyActions, linkTo, type MakeActions, mayRepeat, nameInWords, withoutRefused
} from './links.js'
import { ListColumns } from './columns.js'
import { type FilterChoiceView, writeFilterChoice } from './choose.js'
import { compileFilter, type ListFilter } from './filter.js'
import type { PageFrames, PageSource } from './page-frame.js'
import { RowWriter } from './rows.js'
import { ListSums, SUM } from './sums.js'

type ListParts =
  Pick<
    ListPage,
    | 'columns' | 'isEmpty' | 'total' | 'range' | 'previous' | 'next' | 'first' | 'last' | 'filter' | 'columnChoice'
    | 'sumChoice' | 'sums' | 'sumNotes'
  >

type ListTotal = NonNullable<HtmlListView['total']>

/** The dependencies of `List`. */
export interface ListSource extends PageSource {
  readonly shown: ShownAttributes
  /** The attributes that a request may choose. */
  readonly all: ShownAttributes
  readonly frames: PageFrames
  readonly forms: Forms
  /** The time zone of dates and times, if the app has chosen one. */
  readonly timeZone: string | undefined
  /** The columns that the app or the request has chosen. */
  readonly columns: readonly string[] | undefined
  /** The attributes that the filter offers besides the title, or `undefined` for all. */
  readonly filtered: readonly string[] | undefined
  readonly names: RowNames
}

/**
 * Returns the query of the links to other formats. With a limit, these show the same page. Without one, they show the
 * list from its beginning.
 */
function queryInOthers ({ parameters, after, before, offset }: HtmlListView): string {
  const position = parameters.limit === undefined ? {} : { after, before, offset }
  return linkTo({ path: '', parameters }, { format: undefined, [SUM]: undefined, ...position })
}

/** Writes the pages of a list. Columns, cells and the filter are compiled once. */
export class List {
  readonly #source: ListSource
  readonly #messages: PageMessages
  readonly #columns: ListColumns
  readonly #rows: RowWriter
  readonly #filter: ListFilter
  readonly #sums: ListSums
  readonly #numbers: Intl.NumberFormat
  readonly #actions: MakeActions
  readonly #manyActions: MakeActions

  constructor (source: ListSource) {
    const { context, messages, translate, lang, columns: chosen, filtered, names: { attribute: title } } = source
    this.#source = source
    this.#messages = messages
    this.#numbers = new Intl.NumberFormat(lang)
    this.#actions = compileActions(context.collectionActions, translate)
    this.#manyActions = compileManyActions(context, translate)
    this.#columns = new ListColumns({ ...source, chosen })
    this.#rows = new RowWriter(source, this.#columns, filesOf(source.resource).length > 0)
    const offered = filtered && new Set([...filtered, ...title === undefined ? [] : [title.name]])
    this.#filter = compileFilter({ ...source, offered })
    this.#sums = new ListSums(source, this.#columns.fixed)
  }

  write (rows: readonly Row[], view: HtmlListView): string {
    return view.rowSearch === undefined
      ? this.#source.frames.render(this.#page(rows, view))
      : writeFilterChoice(this.#source, this.#source.frames, view as FilterChoiceView)
  }

  /**
   * Finds the numbers about all rows of a list.
   * @throws InvalidQueryError
   */
  async findFigures (listed: ListedRows): Promise<Figures> {
    return { sums: await this.#sums.find(listed), counts: await this.#filter.count(listed) }
  }

  /** Returns the list as a frame around its rows. */
  frame (first: readonly Row[], view: HtmlListView): ListWriter {
    if (view.rowSearch !== undefined) return { open: this.write(first, view), row: () => '', separator: '', close: '' }
    const { open, close } = this.#source.frames.split(this.#page(first, view))
    const hasBoxes = this.#stepsOf(view, '').length > 0
    return { open, row: (row) => this.#rows.write([row], view, hasBoxes), separator: '', close }
  }

  /** Returns the number of links that repeat the query, besides those to the pages around. */
  #countLinks (rows: readonly Row[], { parameters }: HtmlListView): number {
    const columns = this.#columns.of(rows).length + this.#columns.choices + this.#sums.choices
    // A page has each link to another format twice.
    return columns + 2 + 2 * this.#source.context.formats.length + this.#filter.links + Object.keys(parameters).length
  }

  #page (rows: readonly Row[], view: HtmlListView): ListPage {
    const { own, refused, prefilled, list } = view
    const { context: { newSegment }, resource, frames, forms } = this.#source
    const paths = frames.pathsOf(view)
    const isRepeated = mayRepeat(view, this.#countLinks(rows, view))
    const isList = own === undefined
    const canCreate = isList && resource.actions.has('create') && !refused.has('create')
    const query = queryInOthers(view)
    // A suffix with the parameter `format` has its `?` already.
    const linkBy = (suffix: string): string =>
      list + suffix + (suffix.startsWith('?') ? query.replace('?', '&') : query)
    const alternates = isRepeated ? frames.alternatesOf(linkBy) : []
    const title = isList ? this.#messages.heading : this.#actionTitle(own)
    const crumbs = isList ? paths.parents : frames.crumbsOf(paths)
    const actions = isList
      ? [
          ...withoutRefused(this.#actions(paths.collection, undefined), view),
          ...this.#otherLinks(paths.collection, alternates, view)
        ]
      : []
    const parts = this.#parts(rows, view, isRepeated)
    const { columns, sums } = parts
    const messages = this.#messages
    const writer = this.#rows
    const steps = rows.length === 0 ? [] : this.#stepsOf(view, paths.members)
    const selection = steps.length === 0
      ? undefined
      : {
          id: CHOSEN,
          hidden: isRepeated ? [{ name: LIST, value: linkTo({ ...view, path: '' }, {}).slice(1) }] : [],
          action: paths.members,
          label: messages.chosenRows,
          buttons: steps
        }
    const create = canCreate && newSegment === undefined ? forms.create(paths.collection, view) : undefined
    const frame = frames.frame(title, { view, paths }, { crumbs, alternates })
    const isAdded = create !== undefined && view.notice?.notice === 'added'
    return {
      kind: 'list',
      ...frame,
      ...parts,
      get rows (): readonly ListRow[] {
        return writer.models(rows, view)
      },
      get table (): Markup {
        const table = renderRegion({ columns, messages, sums }, raw(writer.write(rows, view, selection !== undefined)))
        return markup`${table}${renderSelection(selection)}`
      },
      selection,
      actions,
      create,
      ...isAdded && { notice: undefined, added: frame.notice },
      newLink: canCreate && newSegment !== undefined && !refused.has('new')
        ? {
            label: this.#messages.new(this.#messages.singular),
            href: `${paths.collection}/${newSegment}${queryOf(prefilled)}`
          }
        : undefined
    }
  }

  /** Returns the links to deleted rows, to the import of rows, as far as the request may do that, and to CSV. */
  #otherLinks (collection: string, alternates: readonly Alternate[], { refused }: HtmlListView): readonly PageAction[] {
    const { showDeleted, importButton, download } = this.#messages
    const { context: { deletedSegment, importActions } } = this.#source
    const linkTo = (name: string, label: string, href: string): PageAction =>
      ({ name, label, method: 'GET', href, hidden: [] })
    const csv = alternates.find(({ mediaType }) => mediaType === 'text/csv')
    return [
      ...(deletedSegment !== undefined && !refused.has('deleted')
        ? [linkTo('deleted', showDeleted, `${collection}/${deletedSegment}`)]
        : []),
      ...([...importActions].some((action) => !refused.has(action))
        ? [linkTo(IMPORT, importButton, `${collection}/${IMPORT}`)]
        : []),
      ...(csv === undefined ? [] : [linkTo('download', download, csv.href)])
    ]
  }

  /**
   * Returns the buttons for several rows, as far as the request may do that: those that ask for the next step, and the
   * actions of the app.
   */
  #stepsOf (view: HtmlListView, members: string): readonly Button[] {
    const { own, refused } = view
    const { deleteButton, changeButton } = this.#messages
    const { context: { manyActions }, resource: { open } } = this.#source
    const can = (action: 'update' | 'delete'): boolean =>
      own === undefined && manyActions.has(action) && !refused.has(action)
    const actions = own === undefined ? withoutRefused(this.#manyActions(members, undefined), view) : []
    return [
      ...(can('update') && !open ? [{ name: STEP, value: 'change', label: changeButton }] : []),
      // The name of the button says no more than its path, but a form asks for PUT and DELETE by it.
      ...actions.map(({ label, href, hidden: [{ name, value } = { name: 'commit', value: label }] }) =>
        ({ name, value, label, action: href })),
      ...(can('delete') ? [{ name: STEP, value: 'delete', label: deleteButton }] : [])
    ]
  }

  /** Returns the number of all rows in words. */
  #totalOf ({ rows, isEstimate, most = Infinity }: ListTotal): string {
    const { total: exactly, moreThan, about, plural, singular } = this.#messages
    if (rows >= most) return moreThan(this.#numbers.format(most - 1), plural)
    const digits = this.#numbers.format(rows)
    return isEstimate ? about(digits, plural) : exactly(rows, digits, plural, singular)
  }

  /** Returns the place of the page in words. A page with a place has a total. */
  #rangeOf ([first, last]: NonNullable<HtmlListView['range']>, { rows, most = Infinity }: ListTotal): string {
    const write = (number: number): string => this.#numbers.format(number)
    const all = rows >= most ? this.#messages.moreRelated(write(most - 1)) : write(rows)
    return this.#messages.range(write(first), write(last), all)
  }

  /** Returns the title of a custom action. */
  #actionTitle (name: string): string {
    const { context: { collectionActions, memberActions }, translate } = this.#source
    const link = [...collectionActions, ...memberActions].find((link) => link.name === name)
    return translate(link?.label ?? nameInWords(name))
  }

  #parts (rows: readonly Row[], view: HtmlListView, isRepeated: boolean): ListParts {
    const { prev, next, total, range, figures } = view
    const messages = this.#messages
    const columns = this.#columns.headings(rows, this.#source.names, messages.id)
      .map((column) => this.#columns.heading(column, view))
      .map((column) => isRepeated ? column : { ...column, sort: undefined })
    const choices = isRepeated && view.own === undefined ? this.#columns.choose(view) : []
    const hasFirst = !isFirst(view) && (isRepeated || linkTo(view, {}).length <= MOST_REPEATED)
    const hasLast = next !== undefined && isRepeated && view.own === undefined && this.#source.context.hasLast
    return {
      columns,
      isEmpty: rows.length === 0,
      total: rows.length === 0 || total === undefined ? undefined : this.#totalOf(total),
      range: range === undefined || total === undefined || isWhole(view) ? undefined : this.#rangeOf(range, total),
      previous: prev === undefined ? undefined : { label: messages.previous, href: prev },
      next: next === undefined ? undefined : { label: messages.next, href: next },
      first: hasFirst ? { label: messages.first, href: linkTo(view, {}) } : undefined,
      last: hasLast ? { label: messages.last, href: linkTo(view, { before: '' }) } : undefined,
      filter: view.own === undefined ? this.#filter.make(view, isRepeated) : undefined,
      columnChoice: choices.length === 0
        ? undefined
        : { label: messages.columns, isOpen: view.parameters.only !== undefined, links: choices },
      sumChoice: isRepeated && figures !== undefined ? this.#sums.choose(view) : undefined,
      ...figures?.sums === undefined ? { sums: undefined, sumNotes: [] } : this.#sums.show(figures.sums, columns)
    }
  }
}

/** Returns the query that gives a form these values, or the empty text without any. */
function queryOf (prefilled: Attributes): string {
  const parameters = new URLSearchParams()
  for (const name in prefilled) parameters.set(name, String(prefilled[name] ?? ''))
  return parameters.size === 0 ? '' : `?${parameters.toString()}`
}

/** Returns whether a page begins where the list does. */
function isFirst ({ after, before, offset }: HtmlListView): boolean {
  return after === undefined && before === undefined && offset === undefined
}

/** Returns whether a page is the whole list. */
function isWhole (view: HtmlListView): boolean {
  return isFirst(view) && view.next === undefined
}
