import type { Post } from '../posts.js'

export interface Row extends Post {
  readonly id: number
  readonly version: number
}

/** The headers of every answer. */
export const HEADERS = {
  vary: 'Accept', 'cache-control': 'private, no-cache', 'x-content-type-options': 'nosniff'
} as const
/** The header Accept-Query of lists. */
export const QUERIES = '"application/x-www-form-urlencoded", "application/json"'

const DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>\n'
const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }

/** A row may hold any text. */
function escape (text: string): string {
  return /[&<>]/.test(text) ? text.replace(/[&<>]/g, (character) => ENTITIES[character] as string) : text
}

function writeRow ({ id, title, body, published, rating }: Row): string {
  return `<post><id type="integer">${id}</id><title>${escape(title)}</title><body>${escape(body)}</body>` +
    `<published type="boolean">${published}</published><rating type="integer">${rating}</rating></post>`
}

export function writeXmlRow (row: Row): string {
  return DECLARATION + writeRow(row)
}

export function writeXmlList (rows: readonly Row[]): string {
  let text = `${DECLARATION}<posts type="array">`
  for (const row of rows) text += writeRow(row)
  return `${text}</posts>`
}

/** Returns the header Link of the first page of a list, which has a next page. */
export function linksOf (limit: number, last: number): string {
  const next = Buffer.from(`[${last}]`).toString('base64url')
  return `</posts?limit=${limit}>; rel="self", </posts?limit=${limit}>; rel="first", ` +
    `</posts?limit=${limit}&after=${next}>; rel="next"`
}
