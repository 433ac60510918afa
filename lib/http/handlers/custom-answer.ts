import { setImmediate as nextTurn } from 'node:timers/promises'
import type { FastifyReply } from 'fastify'
import { collect, type Collected, iterate } from '../../actions/list.js'
import { OUTCOME_RESPONSES, type Listed, type Outcome, type Source } from '../../actions/outcome.js'
import { notFound } from '../../actions/target.js'
import { InvalidAnswerError } from '../../errors.js'
import { parseId } from '../../resource/resource.js'
import type { Row } from '../../resource/row.js'
import type { HandlerAnswer, HandlerRow } from '../../routing/handler.js'
import { BY_ID, comparePositions, positionOf } from '../../stores/order.js'
import { LARGEST_BATCH_SIZE } from '../../stores/row-size.js'
import type { Batches, Order, Position, Written } from '../../stores/store.js'
import { type MaybePromise, catchError, andThen } from '../../util/maybe-promise.js'
import { isOpaque } from '../request/preconditions.js'
import { type ActionState, isClientGone } from '../request/state.js'
import { toPlain } from './plain-values.js'

/**
 * What a handler of the app's own has answered, as an outcome; undefined: it has sent its answer itself.
 * @throws InvalidAnswerError, NotFoundError
 */
export function toOutcome (answer: HandlerAnswer, state: ActionState): MaybePromise<Outcome | undefined> {
  const { reply, action } = state
  if (answer === reply as FastifyReply || reply.sent) return undefined
  if (answer === undefined || answer === null) return fromNothing(state)
  // The rows of a store need no look.
  if (answer === state.proceeded) return state.proceeded
  if (typeof answer !== 'object') {
    throw new InvalidAnswerError(action, `has answered a ${typeof answer}, which is no row, rows or outcome`)
  }
  if (isOutcome(answer)) return checkOutcome(answer, state)
  if (isWritten(answer)) return fromWritten(answer, state)
  if (isRow(answer)) return fromRow(toRow(answer, state), state)
  if (Array.isArray(answer) && !answer.every(Array.isArray)) return fromRows(answer, state)
  if (Symbol.asyncIterator in answer || Symbol.iterator in answer) return fromBatches(answer as Batches, state)
  throw new InvalidAnswerError(
    action,
    'has answered an object that is no row: { id, attributes } is one, { id, version, attributes } is one with an ETag'
  )
}

/** Those that a handler may come to: forms are ours alone. */
const OUTCOMES: ReadonlySet<unknown> = new Set(
  Object.keys(OUTCOME_RESPONSES).filter((kind) => !['revised', 'blank', 'edit'].includes(kind))
)

type HandlersOutcome = Exclude<Outcome, { readonly kind: 'revised' | 'blank' }>

function isOutcome (answer: object): answer is HandlersOutcome {
  return OUTCOMES.has((answer as { kind?: unknown }).kind)
}

function isWritten (answer: object): answer is Written {
  return typeof (answer as Partial<Written>).ok === 'boolean'
}

function isRow (answer: unknown): answer is HandlerRow {
  if (typeof answer !== 'object' || answer === null) return false
  const { id, attributes } = answer as Partial<HandlerRow>
  return (
    (Number.isSafeInteger(id) || (typeof id === 'string' && id !== '')) &&
    typeof attributes === 'object' &&
    attributes !== null &&
    !Array.isArray(attributes)
  )
}

/** What a handler says of a row, which must be there. */
function toRow (row: unknown, state: ActionState): Row {
  if (!isRow(row)) {
    throw new InvalidAnswerError(
      state.action,
      'has answered something about a row, without the row: { id, attributes } is one'
    )
  }
  return toStored(row, state)
}

function checkOutcome (outcome: HandlersOutcome, state: ActionState): Outcome {
  switch (outcome.kind) {
    case 'listed':
      return fromListed(outcome, state)
    case 'deleted':
      return outcome.row === undefined ? outcome : { ...outcome, row: toRow(outcome.row, state) }
    case 'done':
      return outcome
    default:
      return { ...outcome, row: toRow(outcome.row, state) }
  }
}

/**
 * A blank version is none.
 * @throws InvalidAnswerError
 */
function toStored (row: HandlerRow, state: ActionState): Row {
  const { action, target: { resource } } = state
  const { id, attributes } = row
  // Of a handler that no compiler has looked at it may be null, or a number.
  const version = String(row.version ?? '')
  if (hasPath(state) && parseId(resource.idType, String(id)) !== id) {
    throw new InvalidAnswerError(
      action,
      `has answered a row with the id ${JSON.stringify(id)}, which is none of the kind "${resource.idType}" (option "id")`
    )
  }
  if (!isOpaque(version)) {
    throw new InvalidAnswerError(
      action,
      'has answered a row with a version that no ETag can have: letters, digits, "-" and "_" it can'
    )
  }
  const plain = toPlain(attributes, resource, action)
  return version === row.version && plain === attributes ? row as Row : { id, version, attributes: plain }
}

/** Whether a row has a path by its id: not that of a singleton, nor one that is not there yet. */
function hasPath ({ target: { resource }, customAction }: ActionState): boolean {
  return !resource.singleton && customAction?.on !== 'new'
}

function isRead ({ request: { method } }: ActionState): boolean {
  return method === 'GET' || method === 'HEAD'
}

/** What is asked for by the convention; an action of the app's own may be called so, too, and means something else. */
function defaultActionOf ({ action, isCustom }: ActionState): string | undefined {
  return isCustom ? undefined : action
}

function fromNothing (state: ActionState): Outcome {
  const { action, id, target: { resource } } = state
  const usual = defaultActionOf(state)
  if (usual === 'delete') return { kind: 'deleted' }
  if (usual === 'list') throw new InvalidAnswerError(action, 'has answered nothing; of no rows it is an empty list')
  if (!isRead(state) && usual !== 'update') return { kind: 'done' }
  throw notFound(resource, id)
}

function fromWritten (written: Written, state: ActionState): Outcome {
  if (written.ok) return fromRow(toRow(written.row, state), state)
  if (written.why === 'stale') return { kind: 'stale', row: toRow(written.current, state) }
  if (written.why !== 'missing') {
    throw new InvalidAnswerError(
      state.action,
      'has answered that nothing was written, and neither that the row is "missing" nor that it is "stale"'
    )
  }
  throw notFound(state.target.resource, state.id)
}

function fromRow (row: Row, state: ActionState): Outcome {
  const usual = defaultActionOf(state)
  if (usual === 'create') return { kind: 'created', row }
  if (usual === 'delete') return { kind: 'deleted', row }
  return { kind: isRead(state) ? 'found' : 'updated', row }
}

function toRows (rows: unknown, state: ActionState): readonly Row[] {
  if (!Array.isArray(rows) || !rows.every(isRow)) {
    throw new InvalidAnswerError(state.action, 'has answered a list with something in it that is no row')
  }
  return rows.map((row) => toStored(row, state))
}

/** An outcome that is made of another one, such as that of `proceed()`, may have more rows to come. */
function fromListed ({ rows: first, more: rest, order, last }: Extract<HandlersOutcome, Listed>, state: ActionState): Listed {
  if (rest === undefined) {
    return last === undefined ? fromRows(first, state, order) : fromPage(toRows(first, state), toRow(last, state), state)
  }
  const more = readBatches(rest, state)
  if (last === undefined) return { kind: 'listed', rows: toRows(first, state), more, order: order ?? BY_ID, last }
  return { ...fromPage(toRows(first, state), toRow(last, state), state), more }
}

/** A page of which the handler says itself where the next one begins. */
function fromPage (first: readonly Row[], last: Row, { listQuery, action }: ActionState): Listed {
  if (listQuery === undefined) {
    throw new InvalidAnswerError(
      action,
      'has answered with "last", but only the action "list" can be paged by the query'
    )
  }
  return { kind: 'listed', rows: first, more: undefined, order: listQuery.order, last }
}

/**
 * Cuts the rows of a list to the page that the query asks for; where rows are left, the page has a link to the next one.
 * A handler that gives all rows each time is paged by the row after which the page begins.
 */
function fromRows (given: readonly unknown[], state: ActionState, order = state.listQuery?.order ?? BY_ID): Listed {
  const rows = toRows(given, state)
  const { limit = rows.length } = state.listQuery ?? {}
  const begin = findPlace(rows, state) + 1
  const first = rows.slice(begin, begin + limit)
  if (rows.length > begin + limit) return fromPage(first, first.at(-1) as Row, state)
  return { kind: 'listed', rows: first, more: undefined, order, last: undefined }
}

/** Where the row stands after which the page begins; -1: it is none of these. */
function findPlace (rows: readonly Row[], { listQuery }: ActionState): number {
  if (listQuery?.after === undefined) return -1
  const { order, after } = listQuery
  const places = rows.map((row) => comparePositions(order, positionOf(row, order), after))
  const found = places.indexOf(0)
  if (found !== -1 || !areInOrder(rows, order)) return found
  // That row is gone: the page begins with the first row behind its place.
  return places.findLastIndex((place) => place < 0)
}

function areInOrder (rows: readonly Row[], order: Order): boolean {
  const positions = rows.map((row) => positionOf(row, order))
  return positions.every(
    (position, index) => index === 0 || comparePositions(order, positions[index - 1] as Position, position) < 0
  )
}

/** The first batch at once, so that a failure comes before the first byte; for a page that people read all of them. */
function fromBatches (batches: Batches, state: ActionState): MaybePromise<Listed> {
  const source = readBatches(iterate(batches), state)
  const { limit } = state.listQuery ?? {}
  if (limit !== undefined) {
    return andThen(collect(source, limit + 1, LARGEST_BATCH_SIZE), (collected) => fromPagedBatches(collected, state))
  }
  if (state.choice.format.writer.list === undefined) {
    return andThen(collect(source, Infinity), ({ rows }) => ({
      kind: 'listed',
      rows,
      more: undefined,
      order: BY_ID,
      last: undefined
    }))
  }
  return andThen(source.next() as MaybePromise<IteratorResult<readonly Row[]>>, ({ done, value }) => ({
    kind: 'listed',
    rows: done === true ? [] : value,
    more: done === true ? undefined : source,
    order: BY_ID,
    last: undefined
  }))
}

/**
 * Of batches no more is read than the page has, so the handler must begin with its first row. A page of rows that are too
 * large to be held together ends early, and has a link to the next one.
 */
function fromPagedBatches ({ rows, rest }: Collected, state: ActionState): MaybePromise<Listed> {
  if (findPlace(rows, state) !== -1) {
    throw new InvalidAnswerError(
      state.action,
      'has answered with batches that have the row after which the page begins; begin after "query.after"'
    )
  }
  return rest === undefined
    ? fromRows(rows, state)
    : andThen(rest.return?.(), () => fromPage(rows, rows.at(-1) as Row, state))
}

const BATCHES_PER_TURN = 16

type Pulled = IteratorResult<readonly Row[]>

/** The rows of a handler's batches, for as long as the client is there: a list without an end would go on for nobody. */
function readBatches (source: Source, state: ActionState): Source {
  const end = { done: true as const, value: undefined }
  let isOpen = true
  let pulls = 0
  const pull = (): MaybePromise<Pulled> =>
    isClientGone(state.reply)
      ? andThen(source.return?.(), () => end)
      : andThen(source.next() as MaybePromise<Pulled>, check)
  function check (pulled: Pulled): MaybePromise<Pulled> {
    if (pulled.done === true) return pulled
    try {
      return { done: false, value: toRows(pulled.value, state) }
    } catch (error) {
      // That is told, whatever comes of leaving.
      isOpen = false
      return andThen(catchError<unknown>(() => source.return?.(), () => undefined), () => { throw error })
    }
  }
  return {
    // A generator that answers at once, and never ends, would leave nobody else a turn, not even the client to go.
    next: () => ++pulls % BATCHES_PER_TURN === 0 ? nextTurn().then(pull) : pull(),
    return: () => isOpen ? andThen(source.return?.(), () => end) : end
  } as Source
}
