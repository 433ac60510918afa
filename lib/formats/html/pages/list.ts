import type { Resource } from '../../../resource/resource.js'
import type { Row } from '../../../resource/row.js'
import type { PageView, WriterContext } from '../../format.js'
import { html, type Markup, raw } from '../html-tag.js'
import type { PageMessages } from '../messages.js'
import type { ShownAttributes } from '../values/shown-attributes.js'
import type { Column, FilterForm, ListPage, ListRow } from '../views/model.js'
import { renderColumn } from '../views/list-view.js'
import { Columns, COLUMNS } from './columns.js'
import { compileFilter } from './filter.js'
import { linkTo } from './links.js'
import { RowWriter } from './rows.js'

/** More columns, the one of the ids included, have as little room as their words need. */
const ROOMY = COLUMNS + 1

type ListParts = Pick<ListPage, 'columns' | 'rows' | 'isEmpty' | 'table' | 'next' | 'first' | 'filter'>

/** What a list is made of. */
export interface ListSource {
  readonly resource: Resource
  readonly shown: ShownAttributes
  readonly context: WriterContext
  readonly messages: PageMessages
  /** The columns that the app has chosen. */
  readonly names: readonly string[] | undefined
}

/** What the page of a list is made of; columns, cells and the filter are worked out once. */
export class List {
  readonly #messages: PageMessages
  readonly #columns: Columns
  readonly #rows: RowWriter
  readonly #makeFilter: (view: PageView) => FilterForm | undefined

  constructor ({ resource, shown, context, messages, names }: ListSource) {
    const columns = new Columns(resource, shown, context, names)
    const suffixes = context.formats.map(({ name }) => name)
    this.#messages = messages
    this.#columns = columns
    this.#rows = new RowWriter({ columns, shown, messages, suffixes, hasPages: resource.actions.has('show') })
    this.#makeFilter = compileFilter(resource, context, messages, columns.fixed ?? [])
  }

  /** The rows of the table, as markup. */
  writeRows (rows: readonly Row[], members: string): string {
    return this.#rows.write(rows, members)
  }

  /**
   * @param members the path that the rows are under
   * @param write what gives the rows of the table, as markup
   */
  parts (
    rows: readonly Row[],
    view: PageView,
    members: string,
    write: () => string = () => this.#rows.write(rows, members)
  ): ListParts {
    const { id, next, first } = this.#messages
    const columns = [
      this.#columns.heading('id', id, false, view),
      ...this.#columns.of(rows).map(({ name, label, show }) => this.#columns.heading(name, label, show.numeric, view))
    ]
    const models = (): readonly ListRow[] => this.#rows.models(rows, members)
    return {
      columns,
      isEmpty: rows.length === 0,
      get rows (): readonly ListRow[] {
        return models()
      },
      get table (): Markup {
        return renderTable(columns, write())
      },
      next: view.next === undefined ? undefined : { label: next, href: view.next },
      first: view.after === undefined ? undefined : { label: first, href: linkTo(view, {}) },
      filter: view.own === undefined ? this.#makeFilter(view) : undefined
    }
  }
}

function renderTable (columns: readonly Column[], rows: string): Markup {
  return html`<table class="${columns.length > ROOMY ? 'list dense' : 'list'}">
<thead><tr>${columns.map(renderColumn)}</tr></thead>
<tbody>
${raw(rows)}</tbody>
</table>
`
}
