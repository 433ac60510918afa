import type { RedirectedWrite, View } from '../core/formats/format.js'
import type { PageMessages } from './messages.js'

/** The cookie by which a redirect tells the page at its path what was done: `created`, or `created.3` for 3 rows. */
const COOKIE = 'fastify-resources-notice'
const GIVEN = new RegExp(`(?:^|; *)${COOKIE}=(saved|created|added|deleted|done)(?:\\.(0|[1-9]\\d{0,8}))?(?:;|$)`)

/** How long the cookie lasts if no page shows it, in seconds. */
const MAX_AGE = 10

/** The most characters of a path for which browsers keep a cookie (RFC 6265bis §5.6). */
const LONGEST_PATH = 1024

/** What the write before a page has done. */
export type CountedNotice = Pick<RedirectedWrite, 'notice' | 'rows'>

/** Makes the headers of a redirect after a write. */
export function writeNotice (
  { notice, rows, location }: RedirectedWrite,
  request: View['request']
): Readonly<Record<string, string>> {
  const path = location.replace(/[?#].*/s, '')
  return writeCookie(rows === undefined ? notice : `${notice}.${rows}`, { path, maxAge: MAX_AGE }, request) ?? {}
}

/** Finds the notice of a page, and the headers of the page, by which it is shown once. */
export function findNotice (
  request: View['request']
): { readonly notice: CountedNotice, readonly headers: Readonly<Record<string, string>> } | undefined {
  const { method, originalUrl, headers: { cookie = '' } } = request
  const [, notice, rows] = GIVEN.exec(cookie) ?? []
  if (notice === undefined || method !== 'GET') return undefined
  const headers = writeCookie('', { path: originalUrl.replace(/\?.*/s, ''), maxAge: 0 }, request)
  return headers && {
    notice: { notice: notice as CountedNotice['notice'], rows: rows === undefined ? undefined : Number(rows) },
    headers: { ...headers, 'cache-control': 'private, no-store' }
  }
}

/** Makes the header that sets the cookie, or returns `undefined` if browsers keep none for the path. */
function writeCookie (
  value: string,
  { path, maxAge }: { readonly path: string, readonly maxAge: number },
  { protocol }: View['request']
): Readonly<Record<string, string>> | undefined {
  // Without its path, the cookie would be sent to other pages.
  if (path.length > LONGEST_PATH || path.includes(';')) return undefined
  const secure = protocol === 'https' ? '; Secure' : ''
  return { 'set-cookie': `${COOKIE}=${value}; Max-Age=${maxAge}; Path=${path}; HttpOnly; SameSite=Lax${secure}` }
}

/** Returns the text of a notice. */
export function sayNotice ({ notice, rows }: CountedNotice, messages: PageMessages, lang: string): string {
  const name = notice === 'added' ? 'created' : notice
  if (rows === undefined) return messages[name]
  if (name === 'saved' && rows === 0) return messages.savedNothing
  const { rowsOf, plural, singular } = messages
  return messages[`${name}Rows`](rowsOf(rows, new Intl.NumberFormat(lang).format(rows), plural, singular))
}
