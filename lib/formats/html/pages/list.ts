import { randomUUID } from 'node:crypto'
import type { Row } from '../../../resource/row.js'
import type { Attributes } from '../../../schema/types.js'
import { MOST_REPEATED } from '../../../util/truncate.js'
import type { ListWriter, PageView, WriterContext } from '../../format.js'
import { flatten } from '../../row-template.js'
import type { Forms } from '../forms/forms.js'
import { concat, html, type Markup, readNow, type ReadContext, raw } from '../html-tag.js'
import type { PageMessages } from '../messages.js'
import type { Translate } from '../languages/phrases.js'
import type { RowNames } from '../values/row-names.js'
import type { ShownAttributes } from '../values/shown-attributes.js'
import type { Column, ListPage, ListRow } from '../views/model.js'
import { renderColumn } from '../views/page-views.js'
import { compileActions, type MakeActions, nameInWords, withoutRefused } from './action-buttons.js'
import { Columns } from './columns.js'
import { compileFilter, type MakeFilter } from './filter.js'
import { linkTo, mayRepeat } from './links.js'
import { collectionOf, type PageContext, type PageFrames, type PageSource, type Write } from './page-frame.js'
import { RowWriter } from './rows.js'

type ListParts =
  Pick<
    ListPage,
    'columns' | 'rows' | 'isEmpty' | 'table' | 'total' | 'range' | 'previous' | 'next' | 'first' | 'filter'
  >

/** The context that fills the page of a list. */
export interface ListContext extends PageContext {
  readonly view: PageView
  /** Returns the rows of the table as markup. */
  readonly writeRows: () => string
  /** Whether the links of columns, conditions and formats may repeat the query. */
  readonly isRepeated: boolean
}

/** The dependencies of `List`. */
export interface ListSource extends PageSource {
  readonly shown: ShownAttributes
  readonly frames: PageFrames
  readonly forms: Forms
  /** The language of the pages. */
  readonly lang: string
  /** The time zone of dates and times, if the app has chosen one. */
  readonly timeZone: string | undefined
  /** The columns that the app or the request has chosen. */
  readonly columns: readonly string[] | undefined
  /** The attributes that the filter offers besides the title, or `undefined` for all. */
  readonly filtered: readonly string[] | undefined
  readonly names: RowNames
}

// The links to other formats share these functions, so `compile` calls each once.
const listOf = ({ view }: ListContext): string => view.list

/**
 * Returns the query of the links to other formats. With a limit, these show the same page. Without one, they show the
 * list from its beginning.
 */
function queryInOthers ({ view: { parameters, after, before, offset } }: ListContext): string {
  const changes = parameters.limit === undefined ? { format: undefined } : { format: undefined, after, before, offset }
  return linkTo({ path: '', parameters }, changes)
}

/** Returns the same query for a link that has a parameter already. */
const moreInOthers = (context: ListContext): string => queryInOthers(context).replace('?', '&')

/** Writes the pages of a list. Columns, cells and the filter are compiled once. */
export class List {
  readonly #messages: PageMessages
  readonly #columns: Columns
  readonly #names: RowNames
  readonly #rows: RowWriter
  readonly #makeFilter: MakeFilter
  readonly #translate: Translate
  readonly #context: WriterContext
  readonly #frames: PageFrames
  readonly #forms: Forms
  readonly #canCreate: boolean
  readonly #digits: (number: number) => string
  readonly #actions: MakeActions
  /** The parameters of a query that filter the rows. */
  readonly #conditions: ReadonlySet<string>
  /** The compiled templates of the pages. There are few, one for each combination of parts. */
  readonly #templates: Array<Write<ListContext>> = []

  constructor (source: ListSource) {
    const { resource, shown, context, messages, translate, frames, forms, lang, columns: chosen } = source
    const { filtered, names, timeZone } = source
    this.#digits = keepSmall(new Intl.NumberFormat(lang))
    const title = names.attribute
    const columns = new Columns({ resource, shown, context, chosen, title })
    const suffixes = context.formats.map(({ name }) => name)
    this.#messages = messages
    this.#translate = translate
    this.#context = context
    this.#frames = frames
    this.#forms = forms
    this.#canCreate = resource.actions.has('create')
    this.#actions = compileActions(context.collectionActions, translate)
    this.#conditions = new Set(['q', ...context.filterable, ...context.conditions.map(({ parameter }) => parameter)])
    this.#columns = columns
    this.#names = names
    this.#rows = new RowWriter({ columns, shown, names, messages, suffixes, resource })
    const offered = filtered && new Set([...filtered, ...title === undefined ? [] : [title.name]])
    this.#makeFilter = compileFilter({ resource, context, messages, translate, lang, timeZone, offered })
  }

  write (rows: readonly Row[], view: PageView): string {
    return this.#write(rows, view, () => this.#rows.write(rows, view))
  }

  /** Returns the list as a frame around its rows. */
  frame (first: readonly Row[], view: PageView): ListWriter {
    const mark = randomUUID()
    const [open = '', close = ''] = this.#write(first, view, () => mark).split(mark).map(flatten)
    return { open, row: (row) => this.#rows.write([row], view), separator: '', close }
  }

  #write (rows: readonly Row[], view: PageView, writeRows: () => string): string {
    const paths = this.#frames.pathsOf(view)
    const isRepeated = mayRepeat(view, this.#countLinks(rows, view))
    const context = { view, paths, writeRows, isRepeated }
    const key = view.own === undefined && isRepeated && !this.#isFiltered(view)
      ? this.#frames.keyOf(context, 'list') | (rows.length === 0 ? 8 : 0) | (view.next === undefined ? 0 : 16) |
        (isFirst(view) ? 0 : 32) | (view.parameters.sort === undefined ? 0 : 64) |
        (view.prev === undefined ? 0 : 128) | (view.total === undefined ? 0 : 256) |
        (view.range === undefined ? 0 : 512)
      : -1
    return this.#frames.write(this.#templates, key, (of) => this.#page(of, rows, context), context)
  }

  /** Returns the number of links that repeat the query, besides those to the pages around. */
  #countLinks (rows: readonly Row[], { parameters }: PageView): number {
    const { length } = this.#columns.of(rows)
    // A page has each link to another format twice.
    return length + 2 + 2 * this.#context.formats.length + Object.keys(parameters).length
  }

  /** Returns whether the query filters the rows, or asks for the fields of a condition. */
  #isFiltered ({ parameters, openCondition }: PageView): boolean {
    for (const name in parameters) if (this.#conditions.has(name)) return true
    return openCondition !== undefined
  }

  #page (of: ReadContext<ListContext>, rows: readonly Row[], context: ListContext): ListPage {
    const { view, paths, isRepeated } = context
    const { own, refused } = view
    const { newSegment } = this.#context
    const isList = own === undefined
    const canCreate = isList && this.#canCreate && !refused.has('create')
    const alternates = isRepeated
      ? this.#frames.alternatesOf((suffix) =>
        concat(of(listOf), suffix, of(suffix.startsWith('?') ? moreInOthers : queryInOthers)))
      : []
    const title = isList ? this.#messages.plural : this.#actionTitle(own)
    const crumbs = isList ? this.#frames.outerCrumbs(of, paths) : this.#frames.crumbsOf(of, paths)
    const action = of(collectionOf)
    const actions = isList
      ? this.#actions(of, { path: collectionOf, version: undefined })
      : []
    // Assigning to the parts keeps their getters, so unused members are never made.
    return Object.assign(
      this.#parts(of, rows, context),
      this.#frames.frame(of, title, context, { crumbs, alternates }),
      {
        kind: 'list' as const,
        actions: withoutRefused(actions, view),
        create: canCreate && newSegment === undefined ? this.#forms.create(of, action, view) : undefined,
        newLink: canCreate && newSegment !== undefined && !refused.has('new')
          ? {
              label: this.#messages.new(this.#messages.singular),
              href: of(({ paths, view: { prefilled } }) => `${paths.collection}/${newSegment}${queryOf(prefilled)}`)
            }
          : undefined
      }
    )
  }

  /** Returns the number of all rows in words. */
  #totalOf ({ total }: PageView): string {
    const { rows, isEstimate, most = Infinity } = total as NonNullable<PageView['total']>
    const { total: exactly, moreThan, about, plural, singular } = this.#messages
    if (rows >= most) return moreThan(this.#digits(most - 1), plural)
    const digits = this.#digits(rows)
    return isEstimate ? about(digits, plural) : exactly(rows, digits, plural, singular)
  }

  /** Returns the place of the page in words. A page with a place has a total. */
  #rangeOf ({ range, total }: PageView): string {
    const { rows, most = Infinity } = total as NonNullable<PageView['total']>
    const [first, last] = range as NonNullable<PageView['range']>
    const write = this.#digits
    const all = rows >= most ? this.#messages.moreRelated(write(most - 1)) : write(rows)
    return this.#messages.range(write(first), write(last), all)
  }

  /** Returns the title of a custom action. */
  #actionTitle (name: string): string {
    const { collectionActions, memberActions } = this.#context
    const link = [...collectionActions, ...memberActions].find((link) => link.name === name)
    return this.#translate(link?.label ?? nameInWords(name))
  }

  #parts (of: ReadContext<ListContext>, rows: readonly Row[], { view, isRepeated }: ListContext): ListParts {
    const { id: label, plural, previous, next, first } = this.#messages
    const headings = this.#columns.headings(rows, this.#names, label)
    const isSorted = view.parameters.sort !== undefined
    const sortable = headings.map((column) => isSorted
      ? of((context) => this.#columns.heading(readNow(context), column, context.view))
      : this.#columns.heading(of, column, view))
    const columns = isRepeated ? sortable : sortable.map((column) => ({ ...column, sort: undefined }))
    const hasFirst = !isFirst(view) && (isRepeated || linkTo(view, {}).length <= MOST_REPEATED)
    const models = (): readonly ListRow[] => this.#rows.models(rows, view)
    return {
      columns,
      isEmpty: rows.length === 0,
      get rows (): readonly ListRow[] {
        return models()
      },
      get table (): Markup {
        return renderRegion(plural, columns, of(({ writeRows }) => raw(writeRows())))
      },
      total: rows.length === 0 || view.total === undefined ? undefined : of(({ view }) => this.#totalOf(view)),
      range: view.range === undefined || isWhole(view) ? undefined : of(({ view }) => this.#rangeOf(view)),
      previous: view.prev === undefined
        ? undefined
        : { label: previous, href: of(({ view }) => String(view.prev)) },
      next: view.next === undefined ? undefined : { label: next, href: of(({ view }) => String(view.next)) },
      first: hasFirst ? { label: first, href: of(({ view }) => linkTo(view, {})) } : undefined,
      filter: view.own === undefined ? this.#makeFilter(of, view, isRepeated) : undefined
    }
  }
}

/** The largest number whose text is kept. */
const LARGEST_KEPT = 1000

/** Returns a function that formats numbers, and keeps the texts of small ones, because each takes a microsecond. */
function keepSmall (format: Intl.NumberFormat): (number: number) => string {
  const kept: string[] = []
  return (number) => {
    const text = kept[number] ?? format.format(number)
    if (number <= LARGEST_KEPT) kept[number] = text
    return text
  }
}

/** Returns the query that gives a form these values, or the empty text without any. */
function queryOf (prefilled: Attributes): string {
  const parameters = new URLSearchParams()
  for (const name in prefilled) parameters.set(name, String(prefilled[name] ?? ''))
  return parameters.size === 0 ? '' : `?${parameters.toString()}`
}

/** Returns whether a page begins where the list does. */
function isFirst ({ after, before, offset }: PageView): boolean {
  return after === undefined && before === undefined && offset === undefined
}

/** Returns whether a page is the whole list. */
function isWhole (view: PageView): boolean {
  return isFirst(view) && view.next === undefined
}

/** Renders the table in a region that scrolls by itself, and by the arrow keys if it has the focus. */
function renderRegion (label: string, columns: readonly Column[], rows: Markup): Markup {
  return html`<section class="scroll" aria-label="${label}" tabindex="0">${renderTable(columns, rows, 'rows')}</section>
`
}

/** Renders the table. A link that skips to its rows needs their id. */
export function renderTable (columns: readonly Column[], rows: Markup, id?: string): Markup {
  return html`<table class="list">
<thead><tr>${columns.map(renderColumn)}</tr></thead>
<tbody${id !== undefined && html` id="${id}"`}>
${rows}</tbody>
</table>`
}
