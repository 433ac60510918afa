import { validateHeaderName, validateHeaderValue } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest, onSendHookHandler } from 'fastify'
import { isOfParent } from '../actions/authorize/authorize.js'
import {
  type Outcome, OUTCOME_RESPONSES, type OutcomeResponse, type RowCounts,
  type RowsOutcome
} from '../actions/outcome.js'
import {
  describeError, InvalidAnswerError, PreconditionFailedError, type Problem, withoutFaultsOf
} from '../errors.js'
import { say } from '../messages.js'
import type {
  Input, JsonWriter, Prepared, PreparedProblem, RedirectedWrite, TextWriter, View
} from '../formats/format.js'
import { findFileType } from '../formats/files.js'
import { publish } from '../resource/visible.js'
import { wantsNoRows } from '../request/rows.js'
import type { Row } from '../resource/row.js'
import { BY_ID } from '../stores/order.js'
import { type CacheControl, isUnstored, PRIVATE } from '../options/cache-control.js'
import { isStructure } from '../util/own-property.js'
import type { Payload } from '../request/payload.js'
import { type EntityTag, isMatched, isNamed, parseEntityTag, taggedVersion } from '../request/preconditions.js'
import { type ActionState, type RequestState, STATE } from '../request/state.js'
import { logFailure, printFailure } from '../telemetry/action-log.js'
import { channel, publishRefusal } from '../telemetry/tracing.js'
import { type FormNode, markerOf, NEW_FORM } from '../formats/form/parse.js'
import { parseId } from '../resource/resource.js'
import { fitsPath, memberPath } from '../resource/path-pattern.js'
import { MOST_REPEATED } from '../util/words.js'
import { makeListBody, type WriteBody } from './list-response.js'
import { findParents, findWayBack, makeServices, prepareAnswer } from './services.js'

type RecordKind = 'found' | 'edit' | 'created' | 'updated' | 'stale'

/** Turns an outcome into an answer: sets its status, headers and body. */
export async function respond (outcome: Outcome, state: ActionState): Promise<FastifyReply> {
  const { reply, compiled, choice: { format, format: { writer } } } = state
  state.isAnswered = true
  const answer = OUTCOME_RESPONSES[outcome.kind][format.browser === true ? 'browser' : 'document']
  const row = 'row' in outcome ? outcome.row : undefined
  const given = 'etag' in outcome ? outcome.etag : undefined
  const tag = row !== undefined && answer.etag ? setTag(row, given, state) : undefined
  if (!isMatched(state.readConditions?.match, tag)) return refuseMismatch(outcome, state)
  if (outcome.kind === 'listed') {
    const body = await makeListBody(outcome, state)
    // The page shows the error of a condition that was refused.
    reply.code(state.openCondition?.error === undefined ? answer.status : 400)
    return sendText(body, state)
  }
  if (isRows(outcome)) return sendRows(outcome, answer, state)
  if (compiled.resourcePaths.isShallow) await findParents(outcome, state)
  const prepared = answer.body && outcome.kind !== 'file' && writer.prepare !== undefined
    ? await prepareAnswer(outcome, state)
    : undefined
  // The status comes last, because an error that is thrown before it has one of its own.
  reply.code(answer.status)
  if (outcome.kind === 'selected') return sendSelected(prepared, state)
  if (outcome.kind === 'revised') return sendRevised(outcome.row, prepared, state)
  if (outcome.kind === 'file') return sendFile(outcome, tag, state)
  if (outcome.kind === 'importing') return sendImport(outcome, prepared, state)
  if (outcome.kind === 'blank') return sendBlank(outcome.row, prepared, state)
  // The row is written, whatever happens now.
  const back = answer.notice && await findWayBack(row?.attributes, state).catch(() => undefined)
  setLocation(answer, row, state, back)
  if (!answer.body || outcome.kind === 'done' || outcome.kind === 'deleted') return reply.send()
  // After a write, a 304 would say that nothing was done. The ETag is that of the row alone (RFC 9110 §13.1.2).
  if ((outcome.kind === 'found' || outcome.kind === 'edit') && tag !== undefined &&
    prepared?.isVolatile !== true && prepared?.headers === undefined && isNamed(state.readConditions?.noneMatch, tag)) {
    return reply.code(304).send()
  }
  return sendRecord(outcome.row, outcome.kind, prepared, state)
}

/** Answers with the status of an outcome whose row cannot be shown. A browser is redirected to the list. */
export function respondWithoutRow (kind: Outcome['kind'], state: ActionState): undefined {
  const { reply, choice: { format } } = state
  const answer = OUTCOME_RESPONSES[kind][format.browser === true ? 'browser' : 'document']
  state.isAnswered = true
  if (answer.status === 303) setLocation(answer, undefined, state)
  reply.code(answer.status).send()
}

function isRows (outcome: Outcome): outcome is RowsOutcome {
  return /^(?:created|updated|deleted|done)Many$/.test(outcome.kind)
}

/** Sends the rows of a request with many rows as a collection, or redirects a browser to the list. */
async function sendRows (
  { kind, rows, counts, dryRun }: RowsOutcome,
  answer: OutcomeResponse,
  state: ActionState
): Promise<FastifyReply> {
  const { reply } = state
  reply.code(answer.status)
  // A handler that ran for each row may have set those of a row.
  reply.removeHeader('etag').removeHeader('location')
  const created = kind === 'createdMany' ? state.payload?.rows?.[0]?.payload?.attributes : undefined
  const back = answer.notice && await findWayBack(created, state).catch(() => undefined)
  setListLocation(answer, counts, state, back)
  if (kind === 'doneMany' && answer.body && rows.length === 0) return reply.code(204).send()
  if (!answer.body) return reply.send()
  if (kind === 'updatedMany') {
    // A dictionary (RFC 9651 §3.2).
    reply.header('row-counts', Object.entries(counts).map(([sort, count]) => `${sort}=${count}`).join(', '))
  }
  if (wantsNoRows(state)) {
    return reply.code(answer.status === 201 && dryRun === undefined ? 201 : 204)
      .header('preference-applied', 'return=minimal').send()
  }
  if (dryRun !== undefined) {
    reply.code(200)
    // A new row has no id that it would keep.
    const { format } = state.choice
    state.choice = { ...state.choice, format: { ...format, writer: format.blank() } }
    const [row] = rows
    if (dryRun === 'one' && row !== undefined) return sendRecord(row, 'found', undefined, state)
  }
  const listed = { kind: 'listed', rows, more: undefined, order: BY_ID, first: undefined, last: undefined } as const
  return sendText(await makeListBody(listed, state), state)
}

/**
 * Refuses a GET whose answer has another tag than `If-Match` names, or none as a list.
 * @throws PreconditionFailedError
 */
async function refuseMismatch (outcome: Outcome, { compiled: { resource } }: ActionState): Promise<never> {
  const isList = outcome.kind === 'listed'
  if (isList) await outcome.more?.return?.()
  throw new PreconditionFailedError(say('changedMeanwhile', { resource: isList ? 'list' : resource.singular }))
}

/** Compiles Fastify's error handler. `makeState` makes the state of a request that failed before it had one. */
export function compileErrorHandler (
  makeState: (request: FastifyRequest, reply: FastifyReply) => RequestState
): FastifyInstance['errorHandler'] {
  return (error, request, reply) => respondWithError(error, request[STATE] ?? makeState(request, reply))
}

/** Sends an error in the client's own format, whoever threw it. */
async function respondWithError (thrown: unknown, state: RequestState): Promise<FastifyReply> {
  const { request, reply, isTraced, compiled, compiled: { name, resource }, choice: { format: { writer } } } = state
  // As long as the request is read, its faults have the names that it has sent.
  const isRead = state.payload !== undefined || state.hasPassedHooks
  const shown = isRead ? withoutFaultsOf(resource, thrown) : thrown
  const problem = describeError(shown, reply.statusCode)
  const { action, id, outcome } = logFailure(thrown, problem, state)
  // An action that is traced has its own events.
  if (action !== undefined && !isTraced && channel.hasSubscribers) {
    publishRefusal({ request, resource: name, action, id, outcome, error: thrown })
  }
  const prepared = await prepareProblem(problem, state)
  setErrorHeaders(thrown, state)
  reply.code(problem.status)
  if (writer.document !== undefined) {
    // A hook may have thrown after a record was sent, which set the serializer of records.
    return reply.type(`${writer.problemType}; charset=utf-8`).serializer(JSON.stringify).send(problem)
  }
  const row = prepared?.row
  const view = { ...makeView(state, row, { row, prepared, errors: problem.errors }), thrown: shown }
  const seen = compiled.resourcePaths.parent !== undefined && isOfParent(thrown) ? hideParent(view) : view
  return sendText(() => writeProblem(writer, problem, seen, state), state, writer.problemType)
}

/** Finds what the writer shows besides an error. If that fails, the error is answered alone. */
async function prepareProblem (problem: Problem, state: RequestState): Promise<PreparedProblem | undefined> {
  const { request: { log }, choice: { format: { writer } } } = state
  try {
    return await writer.prepareProblem?.(problem, makeServices(state, undefined))
  } catch (error) {
    // A refusal says only that nothing more is shown.
    if (describeError(error, 500).status < 500) return undefined
    log.error({ err: error })
    printFailure(log, 'what belongs to an error could not be found', error)
    return undefined
  }
}

/**
 * Sets the entity tag of an answer with a row: `"<version>.<format>-<shape>"`, with `<id>-` before it if the path does
 * not name the row. A handler of the app may set another one, or none.
 * @param given the tag in the handler's outcome; `false` for none
 * @returns the tag, or `undefined` if there is none
 * @throws InvalidAnswerError
 */
function setTag (row: Row, given: string | false | undefined, state: ActionState): EntityTag | undefined {
  const { action, request, reply, compiled, customAction, choice: { format }, id, call } = state
  // The version of a row does not change when the rows do that it includes.
  const set = state.included.length > 0 ? false : given ?? (call !== undefined ? reply.getHeader('etag') : undefined)
  if (set === false) {
    reply.removeHeader('etag')
    return undefined
  }
  if (set !== undefined) return setOwnTag(set, state)
  // A handler's row may have no version.
  if (row.version === '') return undefined
  // A handler may answer with another row than the path names.
  const isRowNamed =
    customAction === undefined ? row.id === id || action === 'create' : customAction.on === 'member' && row.id === id
  const known = publish(row, compiled.resource)
  const opaque = `${taggedVersion(compiled.resource, known, isRowNamed)}.${format.name}-${format.shape(request)}`
  reply.header('etag', `"${opaque}"`)
  return { weak: false, opaque }
}

function sendRecord (
  stored: Row,
  kind: RecordKind,
  prepared: Prepared | undefined,
  state: RequestState
): FastifyReply {
  const { compiled: { resource }, choice: { format: { writer } } } = state
  if (writer.document !== undefined) return sendDocument(writer, publish(stored, resource), state)
  const row = toFormRow(stored, state)
  const view = makeView(state, stored, { row: kind === 'stale' ? stored : undefined, prepared })
  const write = (): string => {
    if (kind === 'stale' && writer.stale !== undefined) return writer.stale(row, view)
    return kind === 'edit' && writer.edit !== undefined ? writer.edit(row, view) : writer.record(row, view)
  }
  return sendText(write, state)
}

/** Sends a record as an object, which the app's preSerialization hooks see. */
function sendDocument (writer: JsonWriter, row: Row, { reply, choice: { contentType } }: RequestState): FastifyReply {
  return reply.type(contentType).serializer((document: object) => writer.serialize(document)).send(writer.document(row))
}

function sendBlank (row: Row, prepared: Prepared | undefined, state: RequestState): FastifyReply {
  const { choice: { format: { writer, blank } } } = state
  const other = blank()
  if (other.document !== undefined) return sendDocument(other, row, state)
  const view = makeView(state, undefined, { prepared })
  if (writer.blank !== undefined) {
    const write = writer.blank.bind(writer)
    return sendText(() => write(view), state)
  }
  return sendText(() => other.record(row, view), state)
}

function sendRevised (row: Row | undefined, prepared: Prepared | undefined, state: RequestState): FastifyReply {
  // `checkRevisable` has verified that the writer has `revised`.
  const writer = state.choice.format.writer as Required<TextWriter>
  const view = makeView(state, row, { row, prepared })
  return sendText(() => writer.revised(view), state)
}

/** Sends the page of the next step. */
function sendSelected (prepared: Prepared | undefined, state: RequestState): FastifyReply {
  const writer = state.choice.format.writer as Required<TextWriter>
  const view = makeView(state, undefined, { prepared })
  return sendText(() => writer.selected(view), state)
}

/** Sends the page of an import, or its faulty rows as a file to download. */
function sendImport (
  { preview, faults }: Outcome & { readonly kind: 'importing' },
  prepared: Prepared | undefined,
  state: RequestState
): FastifyReply {
  const { reply, choice: { contentType, format } } = state
  // The negotiation has verified that the writer has the page.
  const writer = format.writer as Required<TextWriter>
  const view = makeView(state, undefined, { prepared })
  // A form that asks for another page is always answered so.
  if (preview !== undefined) reply.code(422)
  if (faults !== undefined) reply.header('content-disposition', 'attachment; filename="errors.csv"')
  return sendText(() => writer.imported(view), state, faults === undefined ? contentType : 'text/csv; charset=utf-8')
}

/**
 * Sends the bytes of an attribute. Browsers show a picture, and save any other file, whatever its bytes look like: no
 * file can run a script on the pages of the app.
 */
function sendFile (
  { row: { id, attributes }, attribute }: Outcome & { readonly kind: 'file' },
  tag: EntityTag | undefined,
  { reply, readConditions, compiled: { resource: { singleton, singular } } }: ActionState
): FastifyReply {
  if (tag !== undefined && isNamed(readConditions?.noneMatch, tag)) return reply.code(304).send()
  const base64 = attributes[attribute] as string
  const { mediaType, extension, isPicture } = findFileType(base64) ?? UNKNOWN
  const name = [singular, ...singleton ? [] : [id], attribute].join('-').replaceAll(/[^\w-]/g, '_')
  return reply.headers({
    'content-disposition': `${isPicture ? 'inline' : 'attachment'}; filename="${name}.${extension}"`,
    'content-security-policy': "default-src 'none'; sandbox",
    'cross-origin-resource-policy': 'same-origin'
  }).type(mediaType).send(Buffer.from(base64, 'base64'))
}

const UNKNOWN = { mediaType: 'application/octet-stream', extension: 'bin', isPicture: false } as const

/** @throws InvalidAnswerError if a handler has set a text that is not an entity tag */
function setOwnTag (set: unknown, { action, reply }: ActionState): EntityTag {
  const tag = parseEntityTag(String(set))
  if (tag === undefined) {
    throw new InvalidAnswerError(
      action,
      `has set the ETag ${JSON.stringify(set)}, which is not an entity tag; ` +
        'put it in double quotes, as in \'"ann-3"\' or \'W/"ann-3"\''
    )
  }
  reply.header('etag', String(set))
  return tag
}

/** Returns a row with the version that a form sends back as `_version`. Formats without forms do not write it. */
function toFormRow (row: Row, { compiled: { resource } }: RequestState): Row {
  const known = publish(row, resource)
  return { ...known, version: taggedVersion(resource, known) }
}

/** What a view has besides the row that is shown. */
interface ViewParts {
  /** The stored row of a form that is shown again. */
  readonly row?: Row | undefined
  readonly prepared: Prepared | undefined
  readonly errors?: Input['errors'] | undefined
}

/**
 * Makes the view of an answer with one row or without rows.
 * @param shown the row of the page
 */
function makeView (state: RequestState, shown: Row | undefined, { row, prepared, errors = {} }: ViewParts): View {
  const { choice: { mediaType }, action, request, payload } = state
  return {
    mediaType,
    input: payload === undefined ? undefined : makeInput(payload, row, errors, state),
    action,
    location: locateShown(shown, state),
    request,
    prefilled: state.prefilled,
    content: prepared?.content
  }
}

/** Returns the paths for the row of a page. The row of a shallow resource names its parent. */
function locateShown (shown: Row | undefined, state: RequestState): View['location'] {
  const { compiled, route, parameters } = state
  return shown === undefined || !compiled.resourcePaths.isShallow || !route.isMember
    ? state.location
    : compiled.findLocation(parameters, shown.attributes)
}

function makeInput (
  { version, id, node, attributes }: Payload,
  row: Row | undefined,
  errors: Input['errors'],
  state: RequestState
): Input {
  // The version that the form had comes first, because its user has not seen later changes.
  const shown = row && toFormRow(row, state)
  const key = typeof state.formKey === 'string' ? state.formKey : undefined
  return { id, version: version ?? shown?.version, key, node, attributes, row: shown, errors }
}

/** Returns the view without the links to a parent, which does not exist or is hidden. */
function hideParent (view: View): View {
  return { ...view, location: { ...view.location, isListed: false, parent: undefined } }
}

/** Writes an error, or a plain text if its writer fails, because Fastify would show the thrown error. */
function writeProblem (writer: TextWriter, problem: Problem, view: View, { request, reply }: RequestState): string {
  const { log } = request
  try {
    return writer.problem(problem, view)
  } catch (error) {
    log.error({ err: error })
    printFailure(log, 'the answer to an error could not be written', error)
    reply.code(500).type('text/plain; charset=utf-8')
    return 'Internal Server Error'
  }
}

/** The headers of successful answers only. */
const OF_SUCCESS = [
  'idempotency-replayed', 'etag', 'location', 'next-after', 'prev-before', 'total-count', 'content-range', 'row-counts'
]

/** Replaces the headers of a successful answer with those of an error. */
function setErrorHeaders (thrown: unknown, { reply, linksBefore }: RequestState): void {
  for (const name of OF_SUCCESS) reply.removeHeader(name)
  if (linksBefore !== undefined) {
    reply.removeHeader('link')
    if (linksBefore.length > 0) reply.header('link', linksBefore.join(', '))
  }
  // A Cache-Control for a success does not apply to an error, unless it forbids storing.
  const cacheControl = reply.getHeader('cache-control')
  if (cacheControl !== undefined && !isUnstored(String(cacheControl))) reply.removeHeader('cache-control')
  if (isStructure(thrown) && 'headers' in thrown) addHeaders(reply, thrown.headers)
}

/** Adds the headers of an error, such as Retry-After. A malformed header is only logged. */
export function addHeaders (reply: FastifyReply, headers: unknown): void {
  if (!isStructure(headers)) return
  for (const [name, value] of Object.entries(headers)) {
    try {
      validateHeaderName(name)
      validateHeaderValue(name, value)
      reply.header(name, value)
    } catch (err) {
      reply.log.warn({ err })
    }
  }
}

/** A body that the onSend hook writes, as text or as a stream. */
class PendingBody {
  readonly write: WriteBody

  constructor (write: WriteBody) {
    this.write = write
  }
}

/** Sends a body that the onSend hook writes. JSON is written at once, because Fastify would serialize an object. */
function sendText (write: WriteBody, { choice, reply }: RequestState, type = choice.contentType): FastifyReply {
  for (const [name, value] of choice.format.headers) reply.header(name, value)
  reply.type(type)
  return reply.send(type.includes('json') ? write() : new PendingBody(write))
}

/**
 * Makes the hook that completes the headers of every answer on our routes, whoever sends it, and writes the bodies of
 * `sendText`.
 */
export function makeOnSend ({ answers, errors }: CacheControl): onSendHookHandler<unknown> {
  return (request, reply, payload, done) => {
    if (reply.getHeader('cache-control') === undefined) {
      const state = request[STATE]
      // A hook's answer to one user, such as a redirect to the login, counts as an error: others must not get it.
      const isError = state?.isAnswered !== true || reply.statusCode >= 400
      reply.header('cache-control', (isError ? errors : answers).get(state?.action) ?? PRIVATE)
    }
    // A browser must not guess that an answer is a page or a script (Fetch §3.6).
    reply.header('x-content-type-options', 'nosniff')
    if (!(payload instanceof PendingBody)) return done(null, payload)
    let written: ReturnType<WriteBody>
    try {
      written = payload.write()
    } catch (error) {
      // The status that was set belongs to the answer that could not be written.
      reply.code(500)
      return done(error as Error)
    }
    done(null, written)
  }
}

/**
 * Sets the `Location` of an answer, if it has one: a path without suffix or query. Only the way back to a blank form
 * has a query: the references with which it begins.
 * @param back the path to which the form leads back
 */
function setLocation (answer: OutcomeResponse, row: Row | undefined, state: RequestState, back?: string): void {
  const { notice } = answer
  if (answer.location === undefined) return
  const blank = notice && findBlankForm(row, state)
  // What was created or deleted is not the row of that page.
  const other = back === undefined
    ? { notice, location: findPath(answer, row, state) }
    : { notice: 'saved', location: back } as const
  redirect({ rows: undefined, ...other, ...blank }, state)
}

/**
 * Sets the `Location` after a write of many rows: the list in which they were chosen, as it was.
 * @param back the path to which the form leads back
 */
function setListLocation (
  answer: OutcomeResponse,
  { created, changed }: RowCounts,
  state: RequestState,
  back: string | undefined
): void {
  const { notice } = answer
  if (answer.location === undefined) return
  if (back !== undefined) return redirect({ notice: 'saved', rows: undefined, location: back }, state)
  const query = new URLSearchParams(state.payload?.list).toString()
  const isRepeated = query !== '' && query.length <= MOST_REPEATED
  const location = `${findPath(answer, undefined, state)}${isRepeated ? `?${query}` : ''}`
  redirect({ notice, rows: created + changed, location }, state)
}

type Redirect = Pick<RedirectedWrite, 'rows' | 'location'> & {
  /** What was done, or `undefined` for an answer that is no redirect. */
  readonly notice: RedirectedWrite['notice'] | undefined
}

/** Sets the `Location`, and what the writer adds to a redirect after a write. */
function redirect (
  { notice, rows, location }: Redirect,
  { request, reply, choice: { format: { writer } } }: RequestState
): void {
  reply.header('location', location)
  if (notice !== undefined) reply.headers(writer.redirected?.({ notice, rows, location }, request) ?? {})
}

/** Finds the way back to the blank form if the form that was sent asks for it. References that it had stay. */
function findBlankForm (
  row: Row | undefined,
  state: RequestState
): Pick<RedirectedWrite, 'notice' | 'location'> | undefined {
  const { payload, compiled: { resource: { actions, singleton }, options: { routing }, prefill }, location } = state
  if (payload?.isAnother !== true || singleton) return undefined
  const { collection } = location
  const isList = !actions.has('new')
  if (isList && !actions.has('list')) return undefined
  const names = markerOf(payload.node as FormNode, 'again')?.split(' ') ?? []
  const whole = prefill.write(names, row?.attributes ?? {}, isList)
  const query = whole.length > MOST_REPEATED ? '' : whole
  return isList
    ? { notice: 'added', location: `${collection}${query}#${NEW_FORM}` }
    : { notice: 'created', location: `${collection}/${encodeURI(routing.pathNames.new)}${query}` }
}

/** Returns the path of the row, or of the list if no page shows the row. */
function findPath ({ location: to, notice }: OutcomeResponse, row: Row | undefined, state: RequestState): string {
  const { compiled: { findLocation, representations, resource }, parameters } = state
  const { member } = state.negotiated
  const { idType, longestId, singleton, actions } = resource
  const { collection, members, parent } =
    row === undefined ? state.location : findLocation(parameters, row.attributes)
  const isPage = notice !== undefined
  if (singleton) return to === 'collection' ? (parent?.path ?? collection) : collection
  if (to === 'collection' || (isPage && !actions.has('show'))) {
    // Without a list, a browser goes to the page of the parent.
    return isPage && !actions.has('list') ? (parent?.path ?? collection) : collection
  }
  const id = row?.id ?? (member === undefined ? undefined : parseId(idType, member))
  if (id === undefined || !fitsPath(id, longestId)) return collection
  const path = memberPath(members, id, representations.map(({ name }) => name))
  return path.length > MOST_REPEATED ? collection : path
}
