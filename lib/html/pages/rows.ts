import { versionOf } from '../../core/resource/visible.js'
import { hasPage, type Resource } from '../../core/resource/resource.js'
import { memberPath, memberSegment } from '../../core/resource/path-pattern.js'
import type { Id, Row } from '../../core/resource/row.js'
import { escapeAttribute } from '../../core/formats/escape.js'
import { FILES } from '../../core/formats/files.js'
import { isLegalText } from '../../core/schema/legal-text.js'
import { flatten } from '../../core/util/functions.js'
import type { ChoicesView, LinkedRows, WriterContext } from '../../core/formats/format.js'
import type { HtmlView } from '../content.js'
import { markup, raw } from '../html-tag.js'
import type { PageMessages } from '../messages.js'
import { ELLIPSIS } from '../values/render-value.js'
import type { RowNames } from '../values/row-names.js'
import type { Show } from '../values/show.js'
import type { ShownAttribute, ShownAttributes } from '../values/shown-attributes.js'
import type { ListRow } from '../views/model.js'
import { CHOSEN } from '../views/page-views.js'
import type { ListColumns } from './columns.js'

/** What the rows of a page need of its request. */
type Shown = Pick<HtmlView, 'location' | 'links'>

/** The button or the box of each row, which chooses it. */
export type RowButton = Pick<ChoicesView, 'nameOf' | 'boxes' | 'valueOf'>

/** The dependencies of `RowWriter`. */
export interface RowSource {
  readonly shown: ShownAttributes
  readonly names: RowNames
  readonly messages: PageMessages
  readonly context: Pick<WriterContext, 'formats'>
  readonly resource: Pick<Resource, 'actions' | 'longestId' | 'publicVersion'>
}

/** The maximum length of an id beside the name of a row, in characters. Of a longer one, its end is shown. */
const LONGEST_ID = 12
const END_OF_ID = 6

/** Writes the rows of a list. The cells are compiled once if every page has the same columns. */
export class RowWriter {
  readonly #source: RowSource
  readonly #columns: ListColumns
  /** The names of all formats. */
  readonly #suffixes: readonly string[]
  /** The markup before the box or the name of a row. */
  readonly #start: string
  /** The markup before the path of a row. It is empty if rows have no pages. */
  readonly #link: string
  /** The markup after the name, which ends the head of the row. */
  readonly #named: string
  /** The markup before the id after the name, or `undefined` if the id is not shown there. */
  readonly #id: string | undefined
  readonly #fixed: readonly Cell[] | undefined
  readonly #hasFiles: boolean

  /** @param hasFiles whether the page may show files of the rows as pictures and links */
  constructor (source: RowSource, columns: ListColumns, hasFiles = false) {
    const { messages, names, resource, context: { formats } } = source
    const hasPages = resource.actions.has('show')
    this.#source = source
    this.#columns = columns
    this.#suffixes = formats.map(({ name }) => name)
    this.#start = `<tr><th scope="row"${(names.label ?? columns.head) === undefined ? '' : ' dir="auto"'}>`
    this.#link = hasPages ? '<a' : ''
    this.#named = hasPages ? '</a></th>' : '</th>'
    this.#id = columns.hasId ? flatten(`<td data-label="${escapeAttribute(messages.id)}" class="id"`) : undefined
    this.#hasFiles = hasFiles
    this.#fixed = columns.fixed?.map((column) => compileCell(column, names))
  }

  #cellsOf (rows: readonly Row[]): readonly Cell[] {
    return this.#fixed ?? this.#columns.of(rows).map((column) => compileCell(column, this.#source.names))
  }

  /**
   * Writes the rows of the table as markup. It only joins texts, because a page of a thousand rows has many thousand
   * cells.
   * @param hasBoxes whether each row has a box that chooses it
   * @param button the button of each row, in place of the link to its page
   */
  write (
    rows: readonly Row[],
    { location: { members }, links }: Shown,
    hasBoxes = false,
    button?: RowButton
  ): string {
    const { resource, shown } = this.#source
    const start = this.#start
    const cells = this.#cellsOf(rows)
    const href = ` href="${escapeAttribute(`${members}/`)}`
    // An `a` without `href` stands for a link that there is not.
    const unlinked = resource.actions.has('show') ? '>' : ''
    let text = ''
    for (const row of rows) {
      const segment = memberSegment(row.id, this.#suffixes)
      // The segment needs no escape, and neither does an id that equals it.
      const id = typeof row.id === 'number' || row.id === segment ? segment : escapeAttribute(row.id)
      const link = hasPage(resource, row.id) ? href + segment + '">' : unlinked
      text += start
      if (hasBoxes) text += this.#boxOf(row, id, links)
      text += button === undefined
        ? this.#link + link + this.#nameOf(row, id, links) + this.#named
        : this.#buttonOf(row, id, links, button)
      text += this.#idOf(row.id, id)
      const files = this.#hasFiles && hasPage(resource, row.id) ? `${members}/${segment}/${FILES}/` : undefined
      const own = shown.linksOf?.(row, links) ?? links
      for (const { open, openNumber, read, show } of cells) {
        const value = read(row.attributes)
        text += `${typeof value === 'number' ? openNumber : open}${show(value, own, files)}</td>`
      }
      text += '</tr>\n'
    }
    return text
  }

  /** Returns the name of a row as markup: its title, or else the value of the column in place of its id, or the id. */
  #nameOf (row: Row, id: string, links: LinkedRows): string {
    const { names } = this.#source
    const { head } = this.#columns
    if (names.label !== undefined) return escapeAttribute(names.of(row.id, row, links).alone)
    return (head && head.show.cell(head.read(row.attributes))) || id
  }

  /** Returns the box that chooses a row. A form cannot send every id of a database. */
  #boxOf (row: Row, escaped: string, links: LinkedRows): string {
    const { names, messages } = this.#source
    if (!canSendId(row)) return ''
    const label = escapeAttribute(messages.chooseOne(names.of(row.id, row, links).alone))
    return `<label class="pick"><input type="checkbox" form="${CHOSEN}" name="id[]" value="${escaped}" aria-label="${
      label
    }"/></label>`
  }

  /** Returns the button that chooses a row for a form, with the name of the row, or the box beside that name. */
  #buttonOf (row: Row, escaped: string, links: LinkedRows, { nameOf, boxes, valueOf }: RowButton): string {
    const { names, messages } = this.#source
    const label = escapeAttribute(messages.chooseOne(names.of(row.id, row, links).alone))
    const text = String(valueOf(row))
    const [name, value] = [boxes?.name ?? nameOf('chosen'), text].map(escapeAttribute)
    if (boxes !== undefined) {
      const checked = boxes.chosen.delete(text) ? ' checked="checked"' : ''
      const input = `<input type="checkbox" name="${name}" value="${value}" aria-label="${label}"${checked}/>`
      return `<label class="pick">${input}</label>${this.#nameOf(row, escaped, links)}</th>`
    }
    const attributes = `name="${name}" value="${value}" formnovalidate="formnovalidate" aria-label="${label}"`
    return `<button type="submit" ${attributes}>${this.#nameOf(row, escaped, links)}</button></th>`
  }

  /** Returns the id of a row, which stands after its title, if it has one. */
  #idOf (id: Id, escaped: string): string {
    if (this.#id === undefined) return ''
    if (typeof id === 'number' || id.length <= LONGEST_ID) return `${this.#id}>${escaped}</td>`
    return `${this.#id} title="${escaped}">${ELLIPSIS}${escapeAttribute(id.slice(-END_OF_ID))}</td>`
  }

  /** Returns the rows as models for the app's own view. */
  models (rows: readonly Row[], { location: { members }, links }: Shown): readonly ListRow[] {
    const { resource, shown, names } = this.#source
    const cells = this.#cellsOf(rows)
    return rows.map((row) => {
      const { id, attributes } = row
      const title = names.of(id, row, links).alone
      const href = hasPage(resource, id) ? memberPath(members, id, this.#suffixes) : undefined
      const name = raw(this.#nameOf(row, escapeAttribute(String(id)), links))
      const files = href !== undefined && this.#hasFiles ? `${href}/${FILES}/` : undefined
      const own = shown.linksOf?.(row, links) ?? links
      const others = cells.map(({ read, show }) => raw(show(read(attributes), own, files)))
      return {
        id,
        version: versionOf(row, resource),
        title,
        href,
        attributes: Object.fromEntries(shown.of([row]).map(({ name, read }) => [name, read(attributes)])),
        cells: [
          href === undefined ? markup`${name}` : markup`<a href="${href}">${name}</a>`,
          ...(this.#id === undefined ? [] : [markup`${String(id)}`]),
          ...others
        ]
      }
    })
  }
}

/** Returns whether a form can send the id of a row. */
export function canSendId ({ id }: Pick<Row, 'id'>): boolean {
  return typeof id === 'number' || (!id.includes('\r') && isLegalText(id))
}

/** The content of a column in a row. */
interface Cell {
  /** The tag that begins the cell. */
  readonly open: string
  readonly openNumber: string
  readonly read: ShownAttribute['read']
  readonly show: Show['cell']
}

function compileCell ({ name, label, show, read }: ShownAttribute, { parts }: RowNames): Cell {
  // A narrow screen leaves out what the name of the row has said.
  const start = `<td data-label="${escapeAttribute(label)}"${parts.includes(name) ? ' class="part"' : ''}`
  const numbers = flatten(`${start} class="number">`)
  const others = flatten(`${start} dir="auto">`)
  return {
    open: show.numeric === true ? numbers : others,
    openNumber: show.numeric === false ? others : numbers,
    read,
    show: show.cell
  }
}
