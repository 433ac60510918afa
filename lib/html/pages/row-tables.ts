import type { Resource } from '../../core/resource/resource.js'
import type { Row } from '../../core/resource/row.js'
import type { ChoicesView, TableView, WriterContext } from '../../core/formats/format.js'
import { lazy } from '../../core/util/functions.js'
import { MARKER } from '../../core/formats/form/parse.js'
import { memberPath } from '../../core/resource/path-pattern.js'
import { versionOf } from '../../core/resource/visible.js'
import { makeHidden } from '../forms/form-values.js'
import { type Content, markup, type Markup, raw } from '../html-tag.js'
import type { RowNames } from '../values/row-names.js'
import type { ShownAttribute, ShownAttributes } from '../values/shown-attributes.js'
import { renderButton } from '../views/controls-view.js'
import { renderFilter } from '../views/filter-view.js'
import { renderAction, renderTable } from '../views/page-views.js'
import type { Column } from '../views/model.js'
import { ListColumns } from './columns.js'
import { compileFilter, type ListFilter, type FilterSource } from './filter.js'
import { mayRepeat } from './links.js'
import { canSendId, type RowButton, RowWriter } from './rows.js'

/** The maximum number of columns of a table on the page of another row, besides the name and the id. */
const COLUMNS = 4

/** The dependencies of `RowTables`. */
export interface RowTableSource extends Omit<FilterSource, 'resource' | 'context'> {
  readonly resource: Resource
  readonly context: WriterContext
  readonly shown: ShownAttributes
  readonly names: RowNames
  /** The columns that the app has chosen. */
  readonly chosen: readonly string[] | undefined
}

interface RowTable {
  readonly columns: ListColumns
  readonly rows: RowWriter
}

/** Writes rows as tables for the pages of others: of the rows that they belong to, and of forms that reference them. */
export class RowTables {
  readonly #source: RowTableSource
  /** The tables by the attribute that they leave out. */
  readonly #tables = new Map<string | undefined, RowTable>()
  readonly #filter: () => ListFilter

  constructor (source: RowTableSource) {
    this.#source = source
    this.#filter = lazy(() => compileFilter(source))
  }

  /** A page may have several tables, and each is in a section of its own. So a table is no landmark, and has no id. */
  write (rows: readonly Row[], view: TableView): string {
    return view.joined === undefined
      ? this.#write(rows, view, view.without)
      : this.#writeJoined(rows, view, view.joined)
  }

  /** Writes the rows of a join table by the rows that they reference, each with a button that removes it. */
  #writeJoined (
    rows: readonly Row[],
    { location: { members }, links, without }: TableView,
    { attribute, canRemove }: NonNullable<TableView['joined']>
  ): string {
    const { resource, resource: { singular, memberWrites }, context: { formats }, shown, messages } = this.#source
    const { label, show, read } = shown.find(attribute) as ShownAttribute
    const suffixes = formats.map(({ name }) => name)
    const renderRemove = (row: Row, value: unknown): Content => {
      const { id } = row
      const name = links.get(attribute)?.get(value)?.name ?? String(value)
      return renderAction({
        name: 'delete',
        method: 'DELETE',
        label: messages.removeItem,
        spoken: messages.removeCondition(name),
        href: memberWrites ? memberPath(members, id, suffixes) : members,
        hidden: [
          ...makeHidden(resource, 'DELETE', { id, version: versionOf(row, resource) }, undefined),
          { name: `${singular}[${MARKER}][back]`, value: without }
        ]
      })
    }
    const written = rows.map((row) => {
      const value = read(row.attributes)
      return markup`<tr><th scope="row" dir="auto">${raw(show.cell(value, links))}${
        canRemove && canSendId(row) && renderRemove(row, value)
      }</th></tr>\n`
    })
    const column = { name: attribute, label, numeric: false, sort: undefined, sorted: undefined }
    return this.#frame([column], markup`${written}`)
  }

  #frame (columns: readonly Column[], rows: Markup): string {
    const { messages: { heading } } = this.#source
    return markup`<div class="scroll" role="group" aria-label="${heading}" tabindex="0">${
      renderTable(heading, columns, rows)
    }</div>\n`.toString()
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
    return markup`${renderFilter(filter, messages)}${
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
    return this.#frame(columns, raw(table.rows.write(rows, view, false, button)))
  }

  #make (without: string | undefined): RowTable {
    const { resource, shown, names: { parts }, chosen } = this.#source
    const all = chosen ?? shown.of([]).map(({ name }) => name)
    const own = all.filter((name) => name !== without && !parts.includes(name)).slice(0, COLUMNS)
    const columns = new ListColumns({ ...this.#source, chosen: resource.open ? undefined : own })
    return { columns, rows: new RowWriter(this.#source, columns) }
  }
}
