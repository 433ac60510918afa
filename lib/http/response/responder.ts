import type { FastifyReply } from 'fastify'
import { isOfParent } from '../../actions/authorize/authorize.js'
import { type OutcomeResponse, OUTCOME_RESPONSES, type Outcome } from '../../actions/outcome.js'
import { InvalidAnswerError, type Problem } from '../../errors.js'
import type { TextWriter, View } from '../../formats/format.js'
import { parseId } from '../../resource/resource.js'
import { memberPath } from '../../resource/row-path.js'
import type { Row } from '../../resource/row.js'
import type { MaybePromise } from '../../util/maybe-promise.js'
import { noneMatches, parseEntityTag, qualifyVersion } from '../request/preconditions.js'
import type { ActionState, RequestState } from '../request/state.js'
import { printFailure } from '../telemetry/print-failure.js'
import { setErrorHeaders } from './headers.js'
import { sendList } from './list-response.js'
import { makeView, toFormRow } from './page-view.js'
import { sendText } from './send.js'

/** An error, and the row of the form that is shown again with it. */
export interface Failure {
  readonly thrown: unknown
  readonly problem: Problem
  readonly row?: Row | undefined
}

type RecordKind = 'found' | 'edit' | 'created' | 'updated' | 'stale'

/** Turns an outcome into an answer: sets its status, headers and body. */
export function respond (outcome: Outcome, state: ActionState): MaybePromise<FastifyReply> {
  const { reply, choice: { format } } = state
  state.isAnswered = true
  const answer = OUTCOME_RESPONSES[outcome.kind][format.browser === true ? 'browser' : 'document']
  reply.code(answer.status)
  if (outcome.kind === 'listed') return sendList(outcome, state)
  if (outcome.kind === 'revised') return sendRevised(outcome.row, state)
  if (outcome.kind === 'blank') return sendBlank(outcome.row, state)
  const row = outcome.kind === 'done' ? undefined : outcome.row
  const given = 'etag' in outcome ? outcome.etag : undefined
  const tag = row !== undefined && answer.etag ? setTag(row, given, state) : undefined
  if (answer.location !== undefined) reply.header('location', locate(answer.location, row, state))
  if (!answer.body || outcome.kind === 'done' || outcome.kind === 'deleted') return reply.send()
  if ((outcome.kind === 'found' || outcome.kind === 'edit') && tag !== undefined && isUnchanged(tag, state)) {
    return reply.code(304).send()
  }
  return sendRecord(outcome.row, outcome.kind, state)
}

/** Sends an error in the client's own format, whoever threw it. */
export function respondWithError ({ thrown, problem, row }: Failure, state: RequestState): FastifyReply {
  const { reply, choice: { format: { writer } } } = state
  setErrorHeaders(thrown, state)
  reply.code(problem.status)
  if (writer.document !== undefined) return reply.type(writer.problemType).send(problem)
  const view = makeView(state, row, row, problem.errors)
  return sendText(state, () => writeProblem(writer, problem, isOfParent(thrown) ? hideParent(view) : view, state))
}

/**
 * Sets the entity tag of an answer with a row: `"<version>.<format>"`, or `"<id>-<version>.<format>"` where the path
 * does not name the row. A handler of the app may set another one, or none.
 * @param given what the handler's outcome says of it
 * @returns the text between the quotes; undefined if there is no tag
 * @throws InvalidAnswerError
 */
function setTag (row: Row, given: string | false | undefined, state: ActionState): string | undefined {
  const { action, reply, compiled, customAction, choice: { format }, id, isHandled } = state
  const set = given ?? (isHandled ? reply.getHeader('etag') : undefined)
  if (set === false) {
    reply.removeHeader('etag')
    return undefined
  }
  if (set !== undefined) return setOwnTag(set, state)
  // A handler's row may have no version.
  if (row.version === '') return undefined
  // A handler may answer with another row than the path names.
  const isNamed =
    customAction === undefined ? row.id === id || action === 'create' : customAction.on === 'member' && row.id === id
  const tag = `${isNamed && !compiled.resource.singleton ? row.version : qualifyVersion(row)}.${format.name}`
  reply.header('etag', `"${tag}"`)
  return tag
}

/** Returns a path without suffix or query: of the row, or of the list if no page shows the row. */
function locate (to: NonNullable<OutcomeResponse['location']>, row: Row | undefined, state: RequestState): string {
  const { compiled: { findLocation, representations, resource }, choice: { format }, member, parameters } = state
  const { idType, singleton, actions } = resource
  const { collection, members, parent } =
    row === undefined ? state.location : findLocation(parameters, row.attributes)
  const isPage = format.browser === true
  if (singleton) return to === 'collection' ? (parent?.path ?? collection) : collection
  if (to === 'collection' || (isPage && !actions.has('show'))) {
    // Without a list the page of the parent follows.
    return isPage && !actions.has('list') ? (parent?.path ?? collection) : collection
  }
  const id = row?.id ?? (member === undefined ? undefined : parseId(idType, member))
  if (id === undefined) return collection
  return memberPath(members, id, representations.map(({ name }) => name))
}

function sendRecord (stored: Row, kind: RecordKind, state: RequestState): FastifyReply {
  const { reply, choice: { contentType, format: { writer } } } = state
  if (writer.document !== undefined) return reply.type(contentType).send(writer.document(stored))
  const row = toFormRow(stored, state)
  const view = makeView(state, stored, kind === 'stale' ? stored : undefined)
  return sendText(state, () => {
    if (kind === 'stale' && writer.stale !== undefined) return writer.stale(row, view)
    return kind === 'edit' && writer.edit !== undefined ? writer.edit(row, view) : writer.record(row, view)
  })
}

function sendBlank (row: Row, state: RequestState): FastifyReply {
  const { reply, choice: { contentType, format: { writer, blank } } } = state
  const view = makeView(state, undefined, undefined)
  if (writer.document === undefined && writer.blank !== undefined) {
    const write = writer.blank
    return sendText(state, () => write(view))
  }
  const other = blank()
  if (other.document !== undefined) return reply.type(contentType).send(other.document(row))
  return sendText(state, () => other.record(row, view))
}

function sendRevised (row: Row | undefined, state: RequestState): FastifyReply {
  // The payload hook has checked that the writer has `revised`.
  const { revised } = state.choice.format.writer as Required<TextWriter>
  const view = makeView(state, row, row)
  return sendText(state, () => revised(view))
}

/** Returns whether the client has the current answer already (RFC 9110 §13.1.2). */
function isUnchanged (tag: string, state: RequestState): boolean {
  const { payload, refused, choice: { format: { writer } } } = state
  // After a write, a 304 would say that nothing was done. Refused actions may differ between the users of one browser.
  if (payload !== undefined || refused !== undefined || (writer.list === undefined && writer.volatile === true)) {
    return false
  }
  const tags = state.parseNoneMatch()
  return tags !== undefined && noneMatches(tags, tag)
}

/** @throws InvalidAnswerError if a handler has set a text that is no entity tag */
function setOwnTag (set: unknown, { action, reply }: ActionState): string {
  const tag = parseEntityTag(String(set))
  if (tag === undefined) {
    throw new InvalidAnswerError(
      action,
      `has set the ETag ${JSON.stringify(set)}, which is no entity tag: ` +
        'it stands in quotes, as in \'"ann-3"\' or \'W/"ann-3"\''
    )
  }
  reply.header('etag', String(set))
  return tag.opaque
}

/** Leaves out the links to a parent that does not exist, or is hidden. */
function hideParent (view: View): View {
  return { ...view, location: { ...view.location, isListed: false, parent: undefined } }
}

/** Writes an error. If its writer fails, Fastify would show what was thrown. */
function writeProblem (writer: TextWriter, problem: Problem, view: View, { request, reply }: RequestState): string {
  const { log } = request
  try {
    return writer.problem(problem, view)
  } catch (error) {
    log.error({ err: error })
    printFailure(log, 'an error could not be written', error)
    reply.code(500).type('text/plain; charset=utf-8')
    return 'Internal Server Error'
  }
}
