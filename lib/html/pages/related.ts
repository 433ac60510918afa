import type { Resource } from '../../core/resource/resource.js'
import type { Row } from '../../core/resource/row.js'
import type { ChoicesView, RelatedList, TableView, WriterContext } from '../../core/formats/format.js'
import { lazy } from '../../core/util/functions.js'
import type { HtmlView } from '../content.js'
import { type Content, markup, raw } from '../html-tag.js'
import type { PageMessages, Translate } from '../messages.js'
import { wordsOf } from '../../core/util/words.js'
import type { RowNames } from '../values/row-names.js'
import type { ShownAttributes } from '../values/shown-attributes.js'
import type { Link, RelatedRows } from '../views/model.js'
import { renderButton } from '../views/controls-view.js'
import { renderFilter } from '../views/filter-view.js'
import { renderTable } from '../views/page-views.js'
import { compileFilter, type Filter, type FilterSource } from './filter.js'
import { mayRepeat } from './links.js'
import { ListColumns } from './columns.js'
import { type RowButton, RowWriter } from './rows.js'

/** Makes the lists of the rows that belong to a row. */
export type MakeRelated = (view: HtmlView) => readonly RelatedRows[]

/** Compiles the lists. If rows of one resource reference the row by several attributes, the labels tell them apart. */
export function compileRelated (messages: PageMessages, translate: Translate, lang: string): MakeRelated {
  const { relatedBy, moreRelated, empty, new: newOf, all } = messages
  const numbers = new Intl.NumberFormat(lang)
  return ({ related }) => related.map(({ name, words, relation, href, newHref, total, table }) => {
    const { heading, plural, singular } = words(lang)
    const title = translate(heading)
    const rest = translate(plural)
    const isAlone = relation === undefined || related.filter((other) => other.name === name).length === 1
    const { rows = 0, most = Infinity } = total ?? {}
    return {
      label: isAlone ? title : relatedBy(title, translate(wordsOf(relation))),
      href,
      total: total && (rows < most ? numbers.format(rows) : moreRelated(numbers.format(most - 1))),
      table: table === undefined ? undefined : raw(table),
      empty: empty(rest),
      all: { label: all(rest), href },
      newLink: newHref === undefined ? undefined : { label: newOf(translate(singular)), href: newHref }
    }
  })
}

/** Rows of other resources that a deletion is about, as far as the request may list them. */
export interface Referrers {
  /** The number of rows of each list: `9 orders, 1 invoice`. */
  readonly text: string
  /** The number of all rows. */
  readonly rows: number
  /** The links to the lists. */
  readonly links: readonly Link[]
}

/** Counts the rows of lists. Returns `undefined` if there are none, or if they were not counted. */
export type CountReferrers = (lists: readonly RelatedList[]) => Referrers | undefined

/** Compiles the text with the numbers of rows. */
export function compileReferrers (messages: PageMessages, translate: Translate, lang: string): CountReferrers {
  const { rowsOf, relatedBy, moreRelated, listed, labelled, genericPlural, genericSingular } = messages
  const numbers = new Intl.NumberFormat(lang)
  return (lists) => {
    const counted = lists.flatMap(({ total, ...list }) =>
      total === undefined || total.rows === 0 ? [] : { ...list, total })
    if (counted.length === 0) return undefined
    const links = counted.map(({ name, words, relation, total: { rows, most = Infinity }, href }) => {
      const number = rows < most ? numbers.format(rows) : moreRelated(numbers.format(most - 1))
      const { heading, plural, singular } = words(lang)
      const isNamed = plural !== genericPlural && (rows !== 1 || singular !== genericSingular)
      const label = isNamed
        ? rowsOf(rows, number, translate(plural), translate(singular))
        : labelled(translate(heading), number)
      const isAlone = relation === undefined || counted.filter((other) => other.name === name).length === 1
      return { label: isAlone ? label : relatedBy(label, translate(wordsOf(relation))), href }
    })
    return {
      text: links.map(({ label }) => label).reduce(listed),
      rows: counted.reduce((sum, { total }) => sum + total.rows, 0),
      links
    }
  }
}

/** The maximum number of columns of a table on the page of another row, besides the name and the id. */
const COLUMNS = 4

/** The dependencies of `RelatedTables`. */
export interface RelatedTableSource extends Omit<FilterSource, 'resource' | 'context'> {
  readonly resource: Resource
  readonly context: WriterContext
  readonly shown: ShownAttributes
  readonly names: RowNames
  /** The columns that the app has chosen. */
  readonly chosen: readonly string[] | undefined
}

interface RelatedTable {
  readonly columns: ListColumns
  readonly rows: RowWriter
}

/** Writes rows as tables for the pages of others: of the rows that they belong to, and of forms that reference them. */
export class RelatedTables {
  readonly #source: RelatedTableSource
  /** The tables by the attribute that they leave out. */
  readonly #tables = new Map<string | undefined, RelatedTable>()
  readonly #filter: () => Filter

  constructor (source: RelatedTableSource) {
    this.#source = source
    this.#filter = lazy(() => compileFilter(source))
  }

  /** A page may have several tables, and each is in a section of its own. So a table is no landmark, and has no id. */
  write (rows: readonly Row[], view: TableView): string {
    return this.#write(rows, view, view.without)
  }

  /** Writes the search, the filter and the rows of a page on which a user chooses one of them. */
  choices (rows: readonly Row[], view: ChoicesView): string {
    const { messages } = this.#source
    const { parameters, nameOf, prev, next } = view
    const { length: conditions } = Object.keys(parameters)
    const isFiltered = conditions > 0
    const compiled = this.#filter()
    const filter = compiled.make({ ...view, path: '' }, mayRepeat(view, compiled.links + conditions))
    const empty = isFiltered ? messages.noMatch(messages.plural) : messages.empty(messages.plural)
    const turn = (query: string | undefined, label: string): Content =>
      query !== undefined && renderButton({ name: nameOf('open'), value: query, label })
    return markup`${filter !== undefined && renderFilter(filter, messages)}${
      rows.length === 0
        ? markup`<div class="empty"><p><strong>${empty}</strong></p></div>\n`
        : raw(this.#write(rows, view, undefined, view))
    }${(prev ?? next) !== undefined && markup`<p class="pages">${turn(prev, messages.previous)}${
      turn(next, messages.next)
    }</p>\n`}`.toString()
  }

  #write (
    rows: readonly Row[],
    view: Pick<TableView, 'location' | 'links'>,
    without: string | undefined,
    button?: RowButton
  ): string {
    const { messages, names } = this.#source
    const table = this.#tables.get(without) ?? this.#make(without)
    this.#tables.set(without, table)
    const columns = table.columns.headings(rows, names, messages.id).map((column) =>
      ({ ...column, sort: undefined, sorted: undefined }))
    const written = renderTable(columns, raw(table.rows.write(rows, view, false, button)))
    return markup`<div class="scroll" role="group" aria-label="${messages.heading}" tabindex="0">${written}</div>
`.toString()
  }

  #make (without: string | undefined): RelatedTable {
    const { resource, shown, names: { attribute: title, parts }, chosen } = this.#source
    const all = chosen ?? shown.of([]).map(({ name }) => name)
    const own = all.filter((name) => name !== without && !parts.includes(name)).slice(0, COLUMNS)
    const columns = new ListColumns({ ...this.#source, chosen: resource.open ? undefined : own, title })
    return { columns, rows: new RowWriter(this.#source, columns) }
  }
}
