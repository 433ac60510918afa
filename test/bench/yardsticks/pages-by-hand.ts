import { escapeAttribute as escape } from '../../../lib/core/formats/escape.js'
import { digest } from '../../../lib/core/formats/form/read.js'
import { cursorAfter, type PagesByHand, type Row } from './hand.js'

/** The row whose values are found again in its pages. */
export const MARKED: Omit<Row, 'published'> = { id: 1_234_567, version: 7_777_777, title: '@title@', body: '@body@', rating: 7_654_321 }

/** Writes an integer as the pages do. */
export const integers: Intl.NumberFormat = new Intl.NumberFormat('en')
/** The number of all rows of the marked list. */
export const MARKED_ROWS = 7_321
export const MARKED_TOTAL: string = integers.format(MARKED_ROWS)
/** The place of the first page among them. */
export const MARKED_RANGE: RegExp = new RegExp(`1&#8211;[\\d,]+ of ${MARKED_TOTAL}`)

type Text = (row: Row) => string

/** The places of the values, in the order in which a regular expression finds them. */
const PLACES: ReadonlyArray<readonly [RegExp, Text]> = [
  [/name="post\[\?\]\[was\]" value="[^"]*/, ({ title, body, published, rating }) => `name="post[?][was]" value="title ${digest(title)} body ${digest(body)} published ${digest(published)} rating ${digest(rating)}`],
  [/@title@/, ({ title }) => escape(title)],
  [/(?<=<dd[^>]*>)@body@/, ({ body }) => escape(body).replaceAll('&#10;', '<br/>')],
  [/@body@/, ({ body }) => escape(body)],
  [/7,654,321/, ({ rating }) => integers.format(rating)],
  [/7654321/, ({ rating }) => String(rating)],
  [/1234567/, ({ id }) => String(id)],
  [/7777777/, ({ version }) => String(version)]
]

/** The places in the line of a list, which shortens long texts. */
const PLACES_OF_LINE: typeof PLACES = [
  [/@body@/, ({ body }) => body.length > 100 ? `${escape(body.slice(0, 100))}&#8230;` : escape(body)],
  ...PLACES
]

/** The page of a list whose rows are all `MARKED`: the texts around its lines, and a line. */
export interface MarkedList {
  readonly head: string
  readonly line: string
  readonly tail: string
}

export function splitList (page: string): MarkedList {
  const begin = page.indexOf('<tr><td')
  return {
    head: page.slice(0, begin),
    line: page.slice(begin, page.indexOf('<tr><td', begin + 1)),
    tail: page.slice(page.indexOf('</tbody>'))
  }
}

/** The plugin's pages of `MARKED`, published and not, and of lists that another page follows after this row. */
export interface MarkedPages {
  readonly records: readonly [yes: string, no: string]
  readonly lists: readonly [yes: string, no: string]
}

/** The plugin's pages put together as one does by hand: constant texts, with what varies between them. */
export function makePagesByHand ({ records, lists }: MarkedPages): PagesByHand {
  const [writePublished, writeOther] = records.map((page) => compile(page, PLACES)) as [Text, Text]
  const [published, other] = lists.map(splitList) as [MarkedList, MarkedList]
  const [writePublishedLine, writeOtherLine] = [published, other].map(({ line }) => compile(line, PLACES_OF_LINE)) as [Text, Text]
  const [beforeTotal = '', afterTotal = ''] = published.head.split(MARKED_TOTAL)
  const [tail = '', after = ''] = published.tail.split(cursorAfter(MARKED.id))
  const [beforeRange = '', before = ''] = tail.split(MARKED_RANGE)
  return {
    record: (row) => row.published ? writePublished(row) : writeOther(row),
    list (rows, next, total) {
      let text = `${beforeTotal}${integers.format(total)}${afterTotal}`
      for (const row of rows) text += row.published ? writePublishedLine(row) : writeOtherLine(row)
      text += `${beforeRange}1&#8211;${rows.length} of ${integers.format(total)}${before}`
      return next === undefined ? text : text + cursorAfter(next) + after
    }
  }
}

function compile (page: string, known: typeof PLACES): Text {
  const parts: Array<readonly [string, Text]> = []
  const places = new RegExp(known.map(([pattern]) => `(${pattern.source})`).join('|'), 'g')
  let end = 0
  for (const match of page.matchAll(places)) {
    const place = match.slice(1).findIndex((group) => group !== undefined)
    parts.push([page.slice(end, match.index), (known[place] as readonly [RegExp, Text])[1]])
    end = match.index + match[0].length
  }
  const last = page.slice(end)
  return (row) => {
    let text = ''
    for (const [constant, write] of parts) text += constant + write(row)
    return text + last
  }
}
