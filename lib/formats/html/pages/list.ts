import type { Resource } from '../../../resource/resource.js'
import { memberPath, memberSegment } from '../../../resource/row-path.js'
import type { Row } from '../../../resource/row.js'
import { escapeAttribute } from '../../escape.js'
import type { PageView, WriterContext } from '../../format.js'
import { flatten } from '../../row-template.js'
import { html, type Markup, raw } from '../html-tag.js'
import type { PageMessages } from '../messages.js'
import type { Clipped, Show } from '../values/render-value.js'
import type { Shown, ShownAttributes } from '../values/shown-attributes.js'
import type { Column, ListPage, ListRow } from '../views/model.js'
import { renderColumn } from '../views/list-view.js'
import { compileFilter } from './filter.js'
import { linkTo } from './links.js'

/** So many columns a list has where the app chooses none: a table of all that there may be would be too wide to read. */
const COLUMNS = 8
const OPEN_COLUMNS = 20
/** More columns, the one of the ids included, have as little room as their words need. */
const ROOMY = COLUMNS + 1

type ListParts = Pick<ListPage, 'columns' | 'rows' | 'isEmpty' | 'table' | 'next' | 'first' | 'filter'>

/** The parts of a list's page. */
export interface List {
  /**
   * @param members the path that the rows are under
   * @param write what gives the rows of the table, as markup; default: `writeRows`
   */
  parts (rows: readonly Row[], view: PageView, members: string, write?: () => string): ListParts
  /** The rows of the table, as markup. */
  writeRows (rows: readonly Row[], members: string): string
}

/** What the page of a list is made of; columns, cells and the filter are worked out once. */
export function compileList (
  resource: Resource,
  shown: ShownAttributes,
  surroundings: WriterContext,
  messages: PageMessages,
  named: readonly string[] | undefined
): List {
  const chosen = named === undefined ? undefined : [...new Set(named)].map((name) => shown.find(name) as Shown)
  const sortable = new Set([...surroundings.sortable, ...(surroundings.sortable.length > 0 ? ['id'] : [])])
  const makeFilter = compileFilter(resource, surroundings, messages, chosen ?? shown.of([]).slice(0, COLUMNS))

  function columnsOf (rows: readonly Row[]): readonly Shown[] {
    return chosen ?? shown.of(rows).slice(0, resource.open ? OPEN_COLUMNS : COLUMNS)
  }

  function column (name: string, label: string, numeric: boolean, view: PageView): Column {
    const [first] = view.order
    const sorted =
      first?.by !== name || (name === 'id' && view.parameters.sort === undefined)
        ? undefined
        : first.descending
          ? 'descending'
          : 'ascending'
    const sort =
      sorted === 'ascending' || (name === 'id' && sorted === undefined && first?.by === 'id') ? `-${name}` : name
    return {
      name,
      label,
      numeric,
      sorted,
      sort:
        sortable.has(name) && view.own === undefined
          ? { label, href: linkTo(view, { sort: sort === 'id' ? undefined : sort }) }
          : undefined
    }
  }

  const hasPages = resource.actions.has('show')
  const suffixes = surroundings.formats.map(({ name }) => name)
  const start = flatten(`<tr><td data-label="${escapeAttribute(messages.id)}">${hasPages ? '<a href="' : ''}`)
  const end = hasPages ? '</a></td>' : '</td>'
  const compileCells = (rows: readonly Row[]): readonly Cell[] =>
    columnsOf(rows).map((attribute, index) => compileCell(attribute, messages, index === 0 ? end : '</td>', hasPages))
  const fixed = resource.open && chosen === undefined ? undefined : compileCells([])

  /** Text by text: a page of a thousand rows has many thousand cells. */
  function writeRows (rows: readonly Row[], members: string): string {
    const cells = fixed ?? compileCells(rows)
    const prefix = escapeAttribute(`${members}/`)
    const last = cells.length === 0 ? `${end}</tr>\n` : '</td></tr>\n'
    let text = ''
    for (const row of rows) {
      const segment = memberSegment(row.id, suffixes)
      // Which has nothing to escape; it is the id's own text, unless that has.
      const id = typeof row.id === 'number' || row.id === segment ? segment : escapeAttribute(row.id)
      const href = prefix + segment
      text += hasPages ? start + href + '">' + id : start + id
      for (const { open, read, show, link } of cells) text += open + show(read(row.attributes), link, href)
      text += last
    }
    return text
  }

  function parts (
    rows: readonly Row[],
    view: PageView,
    members: string,
    write = () => writeRows(rows, members)
  ): ListParts {
    const columns = [
      column('id', messages.id, false, view),
      ...columnsOf(rows).map(({ name, label, show }) => column(name, label, show.numeric, view))
    ]
    return {
      columns,
      isEmpty: rows.length === 0,
      get rows (): readonly ListRow[] {
        const cells = fixed ?? compileCells(rows)
        return rows.map((row) => {
          const href = memberPath(members, row.id, suffixes)
          return {
            id: row.id,
            version: row.version,
            href: hasPages ? href : undefined,
            attributes: Object.fromEntries(shown.of([row]).map(({ name, read }) => [name, read(row.attributes)])),
            cells: cells.map(({ read, show, link }) => raw(show(read(row.attributes), link, escapeAttribute(href))))
          }
        })
      },
      get table (): Markup {
        return renderTable(columns, write())
      },
      next: view.next === undefined ? undefined : { label: messages.next, href: view.next },
      first: view.after === undefined ? undefined : { label: messages.first, href: linkTo(view, {}) },
      filter: view.own === undefined ? makeFilter(view) : undefined
    }
  }

  return { parts, writeRows }
}

/** What stands in a column of a row. */
interface Cell {
  /** The tags that end what stands before it, and the one that begins it. */
  readonly open: string
  readonly read: Shown['read']
  readonly show: Show['cell']
  readonly link: Clipped
}

/** Of a text that is clipped the whole is one click away, where rows have pages. */
function compileCell (
  { label, anchor, show, read }: Shown,
  { more, moreOf }: PageMessages,
  before: string,
  hasPages: boolean
): Cell {
  const end = flatten(
    `#${escapeAttribute(encodeURI(anchor))}" aria-label="${escapeAttribute(moreOf(label))}">${escapeAttribute(more)}</a>`
  )
  return {
    open: flatten(
      `${before}<td data-label="${escapeAttribute(label)}"${show.numeric ? ' class="number"' : ' dir="auto"'}>`
    ),
    read,
    show: show.cell,
    // As a reference: see the views.
    link: hasPages
      ? (text, href) => `${escapeAttribute(text)}&#8230; <a class="more" href="${href}${end}`
      : (text) => `${escapeAttribute(text)}&#8230;`
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
