import { memberPath, memberSegment } from '../../../resource/row-path.js'
import type { Row } from '../../../resource/row.js'
import { escapeAttribute } from '../../escape.js'
import { flatten } from '../../row-template.js'
import { raw } from '../html-tag.js'
import type { PageMessages } from '../messages.js'
import type { RenderClipped, Show } from '../values/render-value.js'
import type { ShownAttribute, ShownAttributes } from '../values/shown-attributes.js'
import type { ListRow } from '../views/model.js'
import type { Columns } from './columns.js'

/** The dependencies of `RowWriter`. */
export interface RowSource {
  readonly columns: Columns
  readonly shown: ShownAttributes
  readonly messages: PageMessages
  /** The names of all formats. */
  readonly suffixes: readonly string[]
  /** Whether rows have pages. */
  readonly hasPages: boolean
}

/** Writes the rows of a list. The cells are compiled once if every page has the same columns. */
export class RowWriter {
  readonly #source: RowSource
  readonly #start: string
  readonly #end: string
  readonly #fixed: readonly Cell[] | undefined

  constructor (source: RowSource) {
    const { columns, messages, hasPages } = source
    this.#source = source
    this.#start = flatten(`<tr><td data-label="${escapeAttribute(messages.id)}">${hasPages ? '<a href="' : ''}`)
    this.#end = hasPages ? '</a></td>' : '</td>'
    this.#fixed = columns.fixed && this.#compile(columns.fixed)
  }

  #compile (columns: readonly ShownAttribute[]): readonly Cell[] {
    const { messages, hasPages } = this.#source
    return columns.map((attribute, index) =>
      compileCell(attribute, messages, index === 0 ? this.#end : '</td>', hasPages))
  }

  #cellsOf (rows: readonly Row[]): readonly Cell[] {
    return this.#fixed ?? this.#compile(this.#source.columns.of(rows))
  }

  /**
   * Writes the rows of the table as markup. It only joins texts, because a page of a thousand rows has many thousand
   * cells.
   */
  write (rows: readonly Row[], members: string): string {
    const { hasPages, suffixes } = this.#source
    const start = this.#start
    const cells = this.#cellsOf(rows)
    const prefix = escapeAttribute(`${members}/`)
    const last = cells.length === 0 ? `${this.#end}</tr>\n` : '</td></tr>\n'
    let text = ''
    for (const row of rows) {
      const segment = memberSegment(row.id, suffixes)
      // The segment needs no escape, and neither does an id that equals it.
      const id = typeof row.id === 'number' || row.id === segment ? segment : escapeAttribute(row.id)
      const href = prefix + segment
      text += hasPages ? start + href + '">' + id : start + id
      for (const { open, read, show, link } of cells) text += open + show(read(row.attributes), link, href)
      text += last
    }
    return text
  }

  /** Returns the rows as models for the app's own view. */
  models (rows: readonly Row[], members: string): readonly ListRow[] {
    const { hasPages, shown, suffixes } = this.#source
    const cells = this.#cellsOf(rows)
    return rows.map((row) => {
      const { id, version, attributes } = row
      const href = memberPath(members, id, suffixes)
      return {
        id,
        version,
        href: hasPages ? href : undefined,
        attributes: Object.fromEntries(shown.of([row]).map(({ name, read }) => [name, read(attributes)])),
        cells: cells.map(({ read, show, link }) => raw(show(read(attributes), link, escapeAttribute(href))))
      }
    })
  }
}

/** The content of a column in a row. */
interface Cell {
  /** The tags that end the cell before and begin this one. */
  readonly open: string
  readonly read: ShownAttribute['read']
  readonly show: Show['cell']
  readonly link: RenderClipped
}

/** Compiles a cell. A clipped text has a link to the whole text, if rows have pages. */
function compileCell (
  { label, anchor, show, read }: ShownAttribute,
  { more, moreOf }: PageMessages,
  before: string,
  hasPages: boolean
): Cell {
  const fragment = escapeAttribute(encodeURI(anchor))
  const end = flatten(`#${fragment}" aria-label="${escapeAttribute(moreOf(label))}">${escapeAttribute(more)}</a>`)
  return {
    open: flatten(
      `${before}<td data-label="${escapeAttribute(label)}"${show.numeric ? ' class="number"' : ' dir="auto"'}>`
    ),
    read,
    show: show.cell,
    // The ellipsis is a reference, for the same reason as `DASH` in the views.
    link: hasPages
      ? (text, href) => `${escapeAttribute(text)}&#8230; <a class="more" href="${href}${end}`
      : (text) => `${escapeAttribute(text)}&#8230;`
  }
}
