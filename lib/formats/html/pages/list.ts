import { randomUUID } from 'node:crypto'
import type { Row } from '../../../resource/row.js'
import type { ListWriter, PageView, WriterContext } from '../../format.js'
import { flatten } from '../../row-template.js'
import type { Forms } from '../forms/forms.js'
import { html, type Markup, readNow, type ReadContext, raw } from '../html-tag.js'
import type { PageMessages, Translate } from '../messages.js'
import type { ShownAttributes } from '../values/shown-attributes.js'
import type { Column, ListPage, ListRow } from '../views/model.js'
import { renderColumn } from '../views/page-views.js'
import { compileActions, type MakeActions, nameInWords, withoutRefused } from './action-buttons.js'
import { Columns, COLUMNS } from './columns.js'
import { compileFilter, type MakeFilter } from './filter.js'
import { linkTo } from './links.js'
import type { PageContext, PageFrames, PageSource, Write } from './page-frame.js'
import { RowWriter } from './rows.js'

/** The maximum number of columns in a roomy table, with the column of the ids. A table with more is dense. */
const ROOMY = COLUMNS + 1

type ListParts = Pick<ListPage, 'columns' | 'rows' | 'isEmpty' | 'table' | 'next' | 'first' | 'filter'>

/** The context that fills the page of a list. */
export interface ListContext extends PageContext {
  readonly view: PageView
  /** Returns the rows of the table as markup. */
  readonly writeRows: () => string
}

/** The dependencies of `List`. */
export interface ListSource extends PageSource {
  readonly shown: ShownAttributes
  readonly frames: PageFrames
  readonly forms: Forms
  /** The columns that the app has chosen. */
  readonly names: readonly string[] | undefined
}

/** Writes the pages of a list. Columns, cells and the filter are compiled once. */
export class List {
  readonly #messages: PageMessages
  readonly #columns: Columns
  readonly #rows: RowWriter
  readonly #makeFilter: MakeFilter
  readonly #translate: Translate
  readonly #context: WriterContext
  readonly #frames: PageFrames
  readonly #forms: Forms
  readonly #canCreate: boolean
  readonly #actions: MakeActions
  /** The compiled templates of the pages. There are few, one for each combination of parts. */
  readonly #templates: Array<Write<ListContext>> = []

  constructor ({ resource, shown, context, messages, translate, frames, forms, names }: ListSource) {
    const columns = new Columns(resource, shown, context, names)
    const suffixes = context.formats.map(({ name }) => name)
    this.#messages = messages
    this.#translate = translate
    this.#context = context
    this.#frames = frames
    this.#forms = forms
    this.#canCreate = resource.actions.has('create')
    this.#actions = compileActions(context.collectionActions, translate)
    this.#columns = columns
    this.#rows = new RowWriter({ columns, shown, messages, suffixes, hasPages: resource.actions.has('show') })
    this.#makeFilter = compileFilter(resource, context, messages, columns.fixed ?? [])
  }

  write (rows: readonly Row[], view: PageView): string {
    return this.#write(rows, view, () => this.#rows.write(rows, view.location.members))
  }

  /** Returns the list as a frame around its rows. */
  frame (first: readonly Row[], view: PageView): ListWriter {
    const mark = randomUUID()
    const [open = '', close = ''] = this.#write(first, view, () => mark).split(mark).map(flatten)
    return { open, row: (row) => this.#rows.write([row], view.location.members), separator: '', close }
  }

  #write (rows: readonly Row[], view: PageView, writeRows: () => string): string {
    const paths = this.#frames.pathsOf(view.location)
    const context = { view, paths, writeRows }
    const key = view.own === undefined && !this.#isFiltered(view)
      ? this.#frames.keyOf(context, 'list') | (rows.length === 0 ? 8 : 0) | (view.next === undefined ? 0 : 16) |
        (view.after === undefined ? 0 : 32) | (view.parameters.sort === undefined ? 0 : 64)
      : -1
    return this.#frames.write(this.#templates, key, (of) => this.#page(of, rows, context), context)
  }

  /** Returns whether the query filters the rows. */
  #isFiltered ({ parameters }: PageView): boolean {
    return this.#context.filterable.some((name) => Object.hasOwn(parameters, name))
  }

  #page (of: ReadContext<ListContext>, rows: readonly Row[], context: ListContext): ListPage {
    const { view, paths } = context
    const { own, refused } = view
    const { newSegment } = this.#context
    const isList = own === undefined
    const canCreate = isList && this.#canCreate && !refused.has('create')
    const alternates = this.#frames.alternatesOf((suffix) => of(({ view: { list, parameters, after } }) => {
      // With a limit, other formats show the same page. Without one, they show the list from its beginning.
      const start = parameters.limit === undefined ? undefined : after
      return linkTo({ path: `${list}${suffix}`, parameters }, { after: start, format: undefined })
    }))
    const title = isList ? this.#messages.plural : this.#actionTitle(own)
    const crumbs = isList ? this.#frames.outerCrumbs(of, paths) : this.#frames.crumbsOf(of, paths)
    const action = of(({ paths }) => paths.collection)
    const actions = isList
      ? this.#actions(of, { path: ({ paths }) => paths.collection, version: undefined })
      : []
    // Assigning to the parts keeps their getters, so unused members are never made.
    return Object.assign(
      this.#parts(of, rows, context),
      this.#frames.frame(of, title, context, { crumbs, alternates }),
      {
        kind: 'list' as const,
        actions: withoutRefused(actions, view),
        create: canCreate && newSegment === undefined ? this.#forms.create(action) : undefined,
        newLink: canCreate && newSegment !== undefined && !refused.has('new')
          ? {
              label: this.#messages.new(this.#messages.singular),
              href: of(({ paths }) => `${paths.collection}/${newSegment}`)
            }
          : undefined
      }
    )
  }

  /** Returns the title of a custom action. */
  #actionTitle (name: string): string {
    const { collectionActions, memberActions } = this.#context
    const link = [...collectionActions, ...memberActions].find((link) => link.name === name)
    return this.#translate(link?.label ?? nameInWords(name))
  }

  #parts (of: ReadContext<ListContext>, rows: readonly Row[], { view, paths: { members } }: ListContext): ListParts {
    const { id, next, first } = this.#messages
    const headings = [
      { name: 'id', label: id, numeric: false },
      ...this.#columns.of(rows).map(({ name, label, show }) => ({ name, label, numeric: show.numeric }))
    ]
    const isSorted = view.parameters.sort !== undefined
    const columns = headings.map((column) => isSorted
      ? of((context) => this.#columns.heading(readNow(context), column, context.view))
      : this.#columns.heading(of, column, view))
    const models = (): readonly ListRow[] => this.#rows.models(rows, members)
    return {
      columns,
      isEmpty: rows.length === 0,
      get rows (): readonly ListRow[] {
        return models()
      },
      get table (): Markup {
        return renderTable(columns, of(({ writeRows }) => raw(writeRows())))
      },
      next: view.next === undefined ? undefined : { label: next, href: of(({ view }) => String(view.next)) },
      first: view.after === undefined ? undefined : { label: first, href: of(({ view }) => linkTo(view, {})) },
      filter: view.own === undefined ? this.#makeFilter(of, view) : undefined
    }
  }
}

function renderTable (columns: readonly Column[], rows: Markup): Markup {
  return html`<table class="${columns.length > ROOMY ? 'list dense' : 'list'}">
<thead><tr>${columns.map(renderColumn)}</tr></thead>
<tbody>
${rows}</tbody>
</table>
`
}
