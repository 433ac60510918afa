import { setImmediate as nextTurn } from 'node:timers/promises'
import type { FastifyReply } from 'fastify'
import { closeQuietly, collect, type CollectedRows, iterate, type ListQuery, pullFirst } from '../list.js'
import {
  type ListOutcome, type Outcome, OUTCOME_RESPONSES, type PulledBatch, type RowsOutcome, type Source
} from '../outcome.js'
import { notFound } from '../../modes.js'
import { InvalidAnswerError, InvalidQueryError } from '../../errors.js'
import { parseId, type Resource } from '../../resource/resource.js'
import type { Row } from '../../resource/row.js'
import type { HandlerAnswer, HandlerRow } from '../../options/handler.js'
import { BY_ID, comparePositions, positionOf } from '../../stores/order.js'
import { type Batches, LARGEST_BATCH_SIZE, type Order, type Position, type WriteOutcome } from '../../stores/store.js'
import { isOpaque } from '../../request/preconditions.js'
import { type ActionState, isClientGone } from '../../request/state.js'
import { openShape, type Shape } from '../../schema/shape.js'
import type { Attributes } from '../../schema/types.js'
import { isObject, readMember } from '../../util/own-property.js'

/**
 * Converts the answer of a handler to an outcome. Returns `undefined` if the handler has sent its answer itself.
 * @throws InvalidAnswerError, NotFoundError
 */
export async function toOutcome (answer: HandlerAnswer, state: ActionState): Promise<Outcome | undefined> {
  const { reply, action, call } = state
  if (answer === reply as FastifyReply || reply.sent) return undefined
  if (answer === undefined || answer === null) return fromNothing(state)
  // The rows of a store are not checked.
  if (answer === call?.proceeded) return call?.proceeded
  if (typeof answer !== 'object') {
    throw new InvalidAnswerError(action, `has returned a ${typeof answer}; return a row, a list of rows, or an outcome`)
  }
  if (isOutcome(answer)) return checkOutcome(answer, state)
  if (isWritten(answer)) return fromWritten(answer, state)
  if (isRow(answer)) return fromRow(toRow(answer, state), state)
  if (Array.isArray(answer) && !answer.every(Array.isArray)) return fromRows(answer, state)
  if (Symbol.asyncIterator in answer || Symbol.iterator in answer) return fromBatches(answer as Batches, state)
  throw new InvalidAnswerError(
    action,
    'has returned an object that is not a row; return { id, attributes }, or { id, version, attributes } for an ETag'
  )
}

/** The outcomes that a handler may return. Those of forms and of many rows are reserved. */
const RESERVED = /^(?:revised|selected|importing|blank|edit|file|\w+Many)$/
const OUTCOMES: ReadonlySet<unknown> = new Set(Object.keys(OUTCOME_RESPONSES).filter((kind) => !RESERVED.test(kind)))

type ReservedKind = 'revised' | 'selected' | 'importing' | 'blank' | 'file'
type HandlersOutcome = Exclude<Outcome, { readonly kind: ReservedKind } | RowsOutcome>

function isOutcome (answer: object): answer is HandlersOutcome {
  return 'kind' in answer && OUTCOMES.has(answer.kind)
}

function isWritten (answer: object): answer is WriteOutcome {
  return 'ok' in answer && typeof answer.ok === 'boolean'
}

function isRow (answer: unknown): answer is HandlerRow {
  if (typeof answer !== 'object' || answer === null || !('id' in answer) || !('attributes' in answer)) return false
  const { id, attributes } = answer
  return (
    (Number.isSafeInteger(id) || (typeof id === 'string' && id !== '')) &&
    typeof attributes === 'object' &&
    attributes !== null &&
    !Array.isArray(attributes)
  )
}

/** @throws InvalidAnswerError if an answer about a row lacks the row */
function toRow (row: unknown, state: ActionState): Row {
  if (!isRow(row)) {
    throw new InvalidAnswerError(
      state.action,
      'has returned an outcome without its row; a row is { id, attributes }'
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
 * Checks a row and converts its values. A row without a version gets an empty one.
 * @throws InvalidAnswerError
 */
function toStored (row: HandlerRow, state: ActionState): Row {
  const { action, customAction, attempt: { target: { resource } } } = state
  const { id, attributes } = row
  // A handler without types may return null or a number.
  const version = String(row.version ?? '')
  // The row of a singleton and a new row have no path by their ids.
  const hasPath = !resource.singleton && customAction?.on !== 'new'
  if (hasPath && parseId(resource.idType, String(id)) !== id) {
    throw new InvalidAnswerError(
      action,
      `has returned a row with the id ${JSON.stringify(id)}, but ids of the resource have the type ` +
        `'${resource.idType}' (option "id")`
    )
  }
  if (!isOpaque(version)) {
    throw new InvalidAnswerError(
      action,
      'has returned a row whose version cannot be in an ETag; use letters, digits, "-" and "_" only'
    )
  }
  const plain = toPlain(attributes, resource, action)
  return version === row.version && plain === attributes ? row as Row : { id, version, attributes: plain }
}

function isRead ({ request: { method } }: ActionState): boolean {
  return method === 'GET' || method === 'HEAD' || method === 'QUERY'
}

/** Returns the default action that a request asks for. A custom action of the same name is none. */
function defaultActionOf ({ action, isCustom }: ActionState): string | undefined {
  return isCustom ? undefined : action
}

function fromNothing (state: ActionState): Outcome {
  const { action, id, attempt: { target: { resource } } } = state
  const usual = defaultActionOf(state)
  if (usual === 'delete') return { kind: 'deleted' }
  if (usual === 'list') throw new InvalidAnswerError(action, 'has returned nothing; without rows, return an empty list')
  if (!isRead(state) && usual !== 'update') return { kind: 'done' }
  throw notFound(resource, id)
}

function fromWritten (written: WriteOutcome, state: ActionState): Outcome {
  if (written.ok) return fromRow(toRow(written.row, state), state)
  if (written.why === 'stale') return { kind: 'stale', row: toRow(written.current, state) }
  if (written.why !== 'missing') {
    throw new InvalidAnswerError(
      state.action,
      'has returned { ok: false } with an unknown reason; "why" must be "missing" or "stale"'
    )
  }
  throw notFound(state.attempt.target.resource, state.id)
}

function fromRow (row: Row, state: ActionState): Outcome {
  const usual = defaultActionOf(state)
  if (usual === 'create') return { kind: 'created', row }
  if (usual === 'delete') return { kind: 'deleted', row }
  return { kind: isRead(state) ? 'found' : 'updated', row }
}

function toRows (rows: unknown, state: ActionState): readonly Row[] {
  if (!Array.isArray(rows) || !rows.every(isRow)) {
    throw new InvalidAnswerError(state.action, 'has returned a list with an item that is not a row')
  }
  return rows.map((row) => toStored(row, state))
}

/** Converts a list. A changed copy of another outcome, such as that of `proceed()`, may have more batches. */
function fromListed (listed: ListOutcome, state: ActionState): ListOutcome {
  const { rows, more: rest, order, first, last, total } = listed
  if (first === undefined && last === undefined && rest === undefined) {
    return { ...fromRows(rows, state, order), total }
  }
  const more = rest === undefined ? undefined : readBatches(rest, state)
  return first === undefined && last === undefined
    ? { kind: 'listed', rows: toRows(rows, state), more, order: order ?? BY_ID, first, last, total }
    : { ...fromPage(toRows(rows, state), listed, state), more, total }
}

/** Makes a page. The next page begins after the row `last`, and the previous one ends before `first`. */
function fromPage (
  rows: readonly Row[],
  { first, last }: Partial<Pick<ListOutcome, 'first' | 'last'>>,
  state: ActionState
): ListOutcome {
  const { call: { listQuery } = {}, action } = state
  if (listQuery === undefined) {
    throw new InvalidAnswerError(
      action,
      'has returned "first" or "last", but only the action "list" has pages; leave it out'
    )
  }
  return {
    kind: 'listed',
    rows,
    more: undefined,
    order: listQuery.order,
    first: first === undefined || first === 'end' ? first : toRow(first, state),
    last: last && toRow(last, state)
  }
}

/**
 * Cuts the rows of a list to the page that the query asks for; if rows are left, the page has a link to the next one,
 * and to the previous one. A handler that returns all rows each time is paged by the row where the page begins or ends.
 */
function fromRows (
  given: readonly unknown[],
  state: ActionState,
  order = state.call?.listQuery?.order ?? BY_ID
): ListOutcome {
  const all = toRows(given, state)
  const { begin, end } = findPage(all, state.call?.listQuery ?? {})
  const rows = all.slice(begin, end)
  const page: ListOutcome = { kind: 'listed', rows, more: undefined, order, first: undefined, last: undefined }
  if (state.call?.listQuery?.limit === undefined) return page
  return { ...page, first: begin > 0 ? rows[0] ?? 'end' : undefined, last: all.length > end ? rows.at(-1) : undefined }
}

/** Makes a list. It pulls the first batch, so that a failure precedes the first byte; a page pulls all batches. */
async function fromBatches (batches: Batches, state: ActionState): Promise<ListOutcome> {
  const source = readBatches(iterate(batches), state)
  const { limit, before } = state.call?.listQuery ?? {}
  if (before !== undefined) {
    await source.return?.()
    // Batches are read from their beginning, and so have no link to a previous page.
    throw new InvalidQueryError('this list has no previous pages; start again without "before"')
  }
  if (limit !== undefined) return fromPagedBatches(await collect(source, limit + 1, LARGEST_BATCH_SIZE), state)
  if (state.choice.format.pageSize === undefined) return pullFirst(source, BY_ID)
  const { rows } = await collect(source, Infinity)
  return { kind: 'listed', rows, more: undefined, order: BY_ID, first: undefined, last: undefined }
}

/**
 * Makes a page of batches. Only the rows of the page are pulled, so the handler must begin with its first row. A page
 * of rows that are too large to be held together ends early, and has a link to the next one.
 */
async function fromPagedBatches ({ rows, rest }: CollectedRows, state: ActionState): Promise<ListOutcome> {
  const { order, after } = state.call?.listQuery as ListQuery
  if (after !== undefined && findPosition(rows, order, after).after > 0) {
    throw new InvalidAnswerError(
      state.action,
      'has returned batches that contain the last row of the page before; begin after "query.after"'
    )
  }
  if (rest === undefined) return fromRows(rows, state)
  await rest.return?.()
  return fromPage(rows, { last: rows.at(-1) }, state)
}

const BATCHES_PER_TURN = 16

/** Reads the batches of a handler until the client leaves: a list without an end would go on for nobody. */
function readBatches (source: Source, state: ActionState): Source {
  let isOpen = true
  let pulls = 0
  const leave = async (): Promise<PulledBatch> => {
    if (isOpen) await source.return?.()
    return { done: true, value: undefined }
  }
  return {
    async next () {
      // An endless generator that answers at once would leave no turn to others, not even to the client that leaves.
      if (++pulls % BATCHES_PER_TURN === 0) await nextTurn()
      if (isClientGone(state.reply)) return leave()
      const pulled = await source.next()
      if (pulled.done === true) return pulled
      try {
        return { done: false, value: toRows(pulled.value, state) }
      } catch (error) {
        isOpen = false
        await closeQuietly(source)
        throw error
      }
    },
    return: leave
  }
}

/** The deepest nesting of a value, in levels. The limit ends a value that contains itself. */
const DEPTH = 1000

/** The declared members of an object, and the shape of others if they may be written too. */
type PlainMembers = Pick<Shape, 'properties' | 'rest'>

/** The attribute that a value belongs to, and how deep in it the value is. */
interface Owner {
  readonly action: string
  readonly name: string
  readonly depth: number
}

/**
 * Converts the attributes of a handler's row to values that every format can write. A value with `toJSON`, such as a
 * date, becomes its result, and undefined members are left out. Returns the same object if nothing changes.
 * @throws InvalidAnswerError
 */
function toPlain (
  attributes: Attributes,
  { open, attributes: properties }: Resource,
  action: string
): Attributes {
  return plainMembers(attributes, open ? openShape : { properties, rest: undefined }, (value, name, shape) =>
    plain(value, name, shape, { action, name, depth: 1 })
  )
}

function refuse ({ action, name }: Owner, what: string): never {
  throw new InvalidAnswerError(action, `has returned a row whose "${name}" ${what}`)
}

function plain (value: unknown, key: string, shape: Shape, owner: Owner): unknown {
  if (typeof value === 'string') return value
  const given = hasSpelling(value) ? value.toJSON(key) : value
  switch (typeof given) {
    case 'string':
    case 'boolean':
    case 'undefined':
      return given
    case 'number':
      return Number.isFinite(given) ? given : refuse(owner, `contains ${given}, which is not a number in JSON`)
    case 'object': {
      const inner = { ...owner, depth: owner.depth + 1 }
      if (owner.depth > DEPTH) return refuse(owner, `is nested deeper than ${DEPTH} levels`)
      if (Array.isArray(given)) {
        return plainItems(given, (item, index) => plain(item, String(index), shape.items, inner))
      }
      // An object that is declared as something else is written with all its members.
      return isObject(given)
        ? plainMembers(given, shape.types.has('object') ? shape : openShape, (member, name, shape) =>
          plain(member, name, shape, inner)
        )
        : null
    }
    default:
      return refuse(owner, `contains a ${typeof given}, which no format can write`)
  }
}

function hasSpelling (value: unknown): value is { toJSON (key: string): unknown } {
  return typeof (value as { toJSON?: unknown } | null | undefined)?.toJSON === 'function'
}

function plainMembers (
  members: Attributes,
  { properties, rest }: PlainMembers,
  plain: (value: unknown, name: string, shape: Shape) => unknown
): Attributes {
  const values = new Map<string, unknown>()
  let isSame = true
  for (const name of rest === undefined ? properties.keys() : Object.keys(members)) {
    const property = properties.get(name)
    if (property?.writeOnly === true) continue
    const value = readMember(members, name)
    const plainValue = plain(value, name, property?.shape ?? (rest as Shape))
    values.set(name, plainValue)
    isSame &&= plainValue === value && (value !== undefined || !Object.hasOwn(members, name))
  }
  return isSame
    ? members
    : Object.fromEntries(
      [...Object.entries(members).filter(([name]) => !values.has(name)), ...values].filter(
        ([, value]) => value !== undefined
      )
    )
}

/** Converts items. An undefined item becomes null, so that the others keep their positions. */
function plainItems (items: readonly unknown[], plain: (item: unknown, index: number) => unknown): readonly unknown[] {
  // `map` would skip the holes that JSON fills with null.
  const values = Array.from(items, (item, index) => plain(item, index) ?? null)
  return values.every((value, index) => value === items[index]) ? items : values
}

/** Finds the page among all rows: the index of its first row, and the index after its last row. */
function findPage (
  all: readonly Row[],
  { order = BY_ID, after, before, limit = all.length }: Partial<ListQuery>
): { readonly begin: number, readonly end: number } {
  if (before === undefined) {
    const begin = after === undefined ? 0 : findPosition(all, order, after).after
    return { begin, end: begin + limit }
  }
  const end = before === 'end' ? all.length : findPosition(all, order, before).before
  return { begin: Math.max(0, end - limit), end }
}

/**
 * Returns the number of the rows before a position, and of those that are not after it. Both are 0 if a row at the
 * position is missing, and the rows are not in the order.
 */
function findPosition (
  rows: readonly Row[],
  order: Order,
  place: Position
): { readonly before: number, readonly after: number } {
  const positions = rows.map((row) => positionOf(row, order))
  const sides = positions.map((position) => comparePositions(order, position, place))
  const found = sides.indexOf(0)
  const isInOrder = (position: Position, index: number): boolean =>
    index === 0 || comparePositions(order, positions[index - 1] as Position, position) < 0
  if (found !== -1) return { before: found, after: found + 1 }
  // The row is gone: the page begins with the first row after its position, or ends with the last row before it.
  const before = positions.every(isInOrder) ? sides.findLastIndex((side) => side < 0) + 1 : 0
  return { before, after: before }
}
