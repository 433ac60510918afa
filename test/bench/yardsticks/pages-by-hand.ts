import { escapeAttribute as escape } from '../../../lib/formats/escape.js'
import { digest } from '../../../lib/formats/form/change-digest.js'
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
  [/7654321/, ({ rating }) => String(rating)],
  [/1234567/, ({ id }) => String(id)],
  [/7777777/, ({ version }) => String(version)]
]

/**
 * The plugin's pages put together as one does by hand: constant texts, with what varies between them.
 * @param marked the page of `MARKED`, published and not
 * @param list the page of a list that another follows after the row `MARKED`
 */
export function makePagesByHand (marked: readonly [yes: string, no: string], list: string): PagesByHand {
  const [writePublished, writeOther] = marked.map(compileRecord) as [Text, Text]
  const [head = '', , rest = ''] = list.split(/(<tbody>\n)/)
  const [beforeTotal = '', afterTotal = ''] = head.split(MARKED_TOTAL)
  const [tail = '', after = ''] = rest.slice(rest.indexOf('</tbody>')).split(cursorAfter(MARKED.id))
  const [beforeRange = '', before = ''] = tail.split(MARKED_RANGE)
  return {
    record: (row) => row.published ? writePublished(row) : writeOther(row),
    list (rows, next, total) {
      let text = `${beforeTotal}${integers.format(total)}${afterTotal}<tbody>\n`
      for (const { id, title, body, published, rating } of rows) {
        const shown = body.length > 100 ? `${escape(body.slice(0, 100))}&#8230;` : escape(body)
        text += `<tr><td data-label="Title" dir="auto"><a href="/posts/${id}">${escape(title)}</a></td><td data-label="Body" dir="auto">${shown}</td><td data-label="Published" dir="auto">${published ? 'yes' : 'no'}</td><td data-label="Rating" class="number">${rating}</td><td data-label="Id" class="id">${id}</td></tr>\n`
      }
      text += `${beforeRange}1&#8211;${rows.length} of ${integers.format(total)}${before}`
      return next === undefined ? text : text + cursorAfter(next) + after
    }
  }
}

function compileRecord (page: string): Text {
  const parts: Array<readonly [string, Text]> = []
  const places = new RegExp(PLACES.map(([pattern]) => `(${pattern.source})`).join('|'), 'g')
  let end = 0
  for (const match of page.matchAll(places)) {
    const place = match.slice(1).findIndex((group) => group !== undefined)
    parts.push([page.slice(end, match.index), (PLACES[place] as readonly [RegExp, Text])[1]])
    end = match.index + match[0].length
  }
  const last = page.slice(end)
  return (row) => {
    let text = ''
    for (const [constant, write] of parts) text += constant + write(row)
    return text + last
  }
}
