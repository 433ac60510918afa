import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import { closeQuietly } from '../actions/list.js'
import type { ListOutcome, Source, Total } from '../actions/outcome.js'
import type { ListWriter, PageView, Prepared } from '../formats/format.js'
import { LARGEST_BATCH_SIZE, sizeOf } from '../stores/store.js'
import { MOST_REPEATED } from '../util/words.js'
import { writeCursor } from '../request/list-query.js'
import { isClientGone, type RequestState, type ResourceRequest } from '../request/state.js'
import { printFailure } from '../telemetry/action-log.js'
import { writeList } from './list-stream.js'
import { prefilledOf, prepareAnswer } from './services.js'

/** Writes the body of an answer, as text or as a stream. */
export type WriteBody = () => string | Readable

/** Makes the body of a list, in chunks or as a page, and adds the links of a page. If it fails, closes the list. */
export async function makeListBody (listed: ListOutcome, state: RequestState): Promise<WriteBody> {
  try {
    return await makeBody(listed, state)
  } catch (error) {
    await closeQuietly(listed.more)
    throw error
  }
}

async function makeBody (listed: ListOutcome, state: RequestState): Promise<WriteBody> {
  const { writer } = state.choice.format
  const { rows, more } = listed
  if ((writer.list ?? writer.frame) === undefined && more !== undefined) {
    return makeBody(await gather(listed, more, state.customAction !== undefined), state)
  }
  const links = isPage(state) ? findLinks(listed, state) : NO_LINKS
  if (links !== NO_LINKS && (!state.route.hasQueryBody || findEquivalent(state) !== undefined)) addLinks(links, state)
  if (listed.total !== undefined && state.request.query.count !== undefined) setTotal(listed, listed.total, state)
  if (state.route.hasQueryBody) setCursors(listed, state)
  if (writer.list !== undefined) return await makeRowsBody(listed, writer.list, state)
  const prepared = await prepareAnswer(listed, state)
  const view = makePageView(listed, links, prepared?.content, state)
  return more === undefined || writer.frame === undefined
    ? () => writer.page(rows, view)
    : makeRowsBody({ ...listed, more: prepareBatches(more, prepared) }, writer.frame(rows, view), state)
}

/** Returns a source whose rows are prepared before they are written. */
function prepareBatches (more: Source, prepared: Prepared | undefined): Source {
  if (prepared?.addRows === undefined) return more
  return {
    async next () {
      const pulled = await more.next()
      if (pulled.done !== true) await prepared.addRows?.(pulled.value)
      return pulled
    },
    return: () => more.return?.()
  }
}

/** Names the cursors that the next QUERY sends in its body as `after` or `before`. */
function setCursors ({ first, last, order }: ListOutcome, { reply, compiled: { resource } }: RequestState): void {
  if (first !== undefined) reply.header('prev-before', first === 'end' ? '' : writeCursor(first, order, resource))
  if (last !== undefined) reply.header('next-after', writeCursor(last, order, resource))
}

async function makeRowsBody (
  listed: ListOutcome,
  writer: ListWriter,
  { request, reply }: RequestState
): Promise<WriteBody> {
  const body = await writeList(listed, writer)
  if (typeof body !== 'string') releaseWith(reply, body)
  return () => bodyFor(request, body)
}

/**
 * Gathers the rows of a page that is written whole. If they are too large to be held together, the page ends early and
 * the next one begins there; only the action "list" has a next page.
 */
async function gather (listed: ListOutcome, more: Source, isCustom: boolean): Promise<ListOutcome> {
  const rows = [...listed.rows]
  let size = rows.reduce((sum, row) => sum + sizeOf(row), 0)
  for (;;) {
    const pulled = await more.next()
    if (pulled.done === true) return { ...listed, rows, more: undefined }
    for (const row of pulled.value) {
      size += sizeOf(row)
      if (!isCustom && size > LARGEST_BATCH_SIZE) {
        await more.return?.()
        return { ...listed, rows, more: undefined, last: rows.at(-1) }
      }
      rows.push(row)
    }
  }
}

/** Returns whether a list is a page, which has links to others. Only the action "list" has pages. */
function isPage ({ action, isCustom, request: { query }, choice: { format } }: RequestState): boolean {
  return action === 'list' && !isCustom && (query.limit ?? format.pageSize) !== undefined
}

/** The paths and queries of a page and its neighbours, by their relation to it (RFC 8288, IANA Link Relations). */
interface PageLinks {
  readonly self?: string | undefined
  readonly first?: string | undefined
  readonly prev?: string | undefined
  readonly next?: string | undefined
}

const NO_LINKS: PageLinks = {}

/** The most characters of the links in a header. Node.js reads 16 KiB of headers. */
const LONGEST_HEADER = 8000

/**
 * Adds the links to those that the app has set (RFC 8288 §3). The state keeps these, in case the answer fails. If they
 * are too long for a header, only those to the pages before and after are added.
 */
function addLinks (all: PageLinks, state: RequestState): void {
  const { reply } = state
  const before = reply.getHeader('link')
  state.linksBefore = before === undefined ? [] : [before].flat()
  let header = state.linksBefore.join(', ')
  const { prev, next } = all
  const links = Object.values(all).join('').length > LONGEST_HEADER ? { prev, next } : all
  for (const relation in links) {
    const link = links[relation as keyof PageLinks]
    if (link !== undefined) header += `${header === '' ? '' : ', '}<${link}>; rel="${relation}"`
  }
  if (header !== '') reply.header('link', header)
}

/** Sets the total, and the place of the page in the list (RFC 9110 §14.4). An estimate is marked (RFC 9651 §3.3). */
function setTotal ({ rows, more }: ListOutcome, total: Total, { reply, compiled: { resource } }: RequestState): void {
  const { offset, isEstimate } = total
  const size = sizeOfPage(rows, more, total)
  const all = isEstimate ? '*' : total.rows
  const unit = encodeURI(resource.plural)
  reply.header('total-count', isEstimate ? `${total.rows};estimate` : String(total.rows))
  if (size === 0) {
    if (!isEstimate) reply.header('content-range', `${unit} */${all}`)
  } else if (offset !== undefined && size !== undefined) {
    reply.header('content-range', `${unit} ${offset}-${offset + size - 1}/${all}`)
  }
}

/** Makes the view of a page of a list. */
function makePageView (
  listed: ListOutcome,
  { prev, next }: PageLinks,
  content: unknown,
  state: RequestState
): PageView {
  const { order, total } = listed
  const { choice, location, action, route, request, customAction, openCondition } = state
  const { after, before, offset, ...parameters } = request.query
  return {
    mediaType: choice.mediaType,
    input: undefined,
    action,
    location,
    prev,
    next,
    path: pathOf(state),
    list: route.path.fill(state.parameters),
    own: customAction?.name,
    parameters,
    openCondition,
    order,
    total,
    range: findRange(listed),
    after,
    before,
    offset,
    request,
    prefilled: prefilledOf(state),
    content
  }
}

/** The parameters that say where a page begins or ends. The links to other pages have cursors only. */
const POSITIONS: readonly string[] = ['after', 'before', 'offset']

/** Finds the place of a page in its list. An estimate of the total may be less than the numbers of the rows. */
function findRange ({ rows, more, total }: ListOutcome): PageView['range'] {
  if (total?.offset === undefined || total.isEstimate) return undefined
  const { offset } = total
  const size = sizeOfPage(rows, more, total)
  return size === undefined || size === 0 ? undefined : [offset + 1, offset + size]
}

/** Returns the number of rows on a page. A page that ends early has fewer rows than planned. */
function sizeOfPage (rows: ListOutcome['rows'], more: ListOutcome['more'], { size }: Total): number | undefined {
  return more === undefined ? rows.length : size
}

/** Returns the path of a list, with the suffix of the request. */
function pathOf ({ route, parameters, negotiated: { isSuffixed }, choice: { format } }: RequestState): string {
  const path = route.path.fill(parameters)
  return isSuffixed ? `${path}.${format.name}` : path
}

/**
 * Finds the links of a page: the same list at other places, with the other parameters as they were given. A link that
 * would be too long is left out.
 */
function findLinks ({ order, first, last }: ListOutcome, state: RequestState): PageLinks {
  const { request: { query: parameters }, compiled: { resource } } = state
  const position = POSITIONS.find((name) => parameters[name] !== undefined)
  const path = pathOf(state)
  let query = ''
  for (const name in parameters) {
    if (POSITIONS.includes(name)) continue
    query += `${query === '' ? '?' : '&'}${writeParameter(name, parameters[name] as string)}`
  }
  const begin = path + query
  const within = (link: string): string | undefined => link.length > MOST_REPEATED ? undefined : link
  const at = (parameter: string, cursor: string): string | undefined =>
    within(`${begin}${query === '' ? '?' : '&'}${writeParameter(parameter, cursor)}`)
  return {
    self: position === undefined ? within(begin) : at(position, parameters[position] as string),
    first: within(begin),
    prev: first && at('before', first === 'end' ? '' : writeCursor(first, order, resource)),
    next: last && at('after', writeCursor(last, order, resource))
  }
}

/** Names the URL of the equivalent GET in `Location` (RFC 10008), unless its query is private or too long for a URL. */
export function nameEquivalent (state: RequestState): void {
  const url = findEquivalent(state)
  if (url !== undefined) state.reply.header('location', url)
}

/** Returns the URL of the equivalent GET of a QUERY, or `undefined` if the headers of the answer must not name it. */
function findEquivalent (state: RequestState): string | undefined {
  const { request: { query }, compiled: { options: { privateQueries } } } = state
  const parameters = Object.entries(query).map(([name, value]) => writeParameter(name, value)).join('&')
  const url = parameters === '' ? pathOf(state) : `${pathOf(state)}?${parameters}`
  return privateQueries || url.length > MOST_REPEATED ? undefined : url
}

/** Writes a parameter as URLSearchParams does, but faster if nothing must be encoded (WHATWG URL §5.2). */
function writeParameter (name: string, value: string): string {
  return CLEAN.test(name) && CLEAN.test(value) ? `${name}=${value}` : new URLSearchParams([[name, value]]).toString()
}

const CLEAN = /^[\w*.-]*$/

/** Frees what a stream holds when the answer is over, whether the stream was sent or not. */
function releaseWith (reply: FastifyReply, stream: Readable): void {
  // Fastify logs the error of a stream that it sends. The error of a stream that is not sent must not end the process.
  stream.on('error', (error) => { if (!isClientGone(reply)) printFailure(reply.log, 'a list was cut off', error) })
  if (isClientGone(reply)) stream.destroy()
  else reply.raw.once('close', () => { stream.destroy() })
}

/** Returns the body of a GET, or an empty body for a HEAD, which reads nothing from a stream. */
function bodyFor ({ method, log }: ResourceRequest, body: string | Readable): string | Readable {
  if (method !== 'HEAD' || typeof body === 'string') return body
  body.on('error', (error) => { log.error({ err: error }) })
  body.destroy()
  return Readable.from([])
}
