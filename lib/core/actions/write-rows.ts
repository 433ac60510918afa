import {
  describeError, type FoundFault, InvalidAnswerError, InvalidError, PreconditionFailedError, RowsError,
  TooManyRowsError, UnavailableError, withoutFaultsOf
} from '../errors.js'
import { say } from '../messages.js'
import { findPreconditions } from '../request/preconditions.js'
import type { KeyedWrite } from '../request/keyed-write.js'
import type { Payload, RowPayload } from '../request/payload.js'
import { DRY_RUN, LARGEST_TOGETHER, wantsNoRows } from '../request/rows.js'
import { type ActionState, type Attempt, type RequestState, RowState } from '../request/state.js'
import type { Resource } from '../resource/resource.js'
import type { Id, Row } from '../resource/row.js'
import { type RunInTransaction, sizeOf, type Store, type TransactionContext } from '../stores/store.js'
import { TIMEOUT } from '../stores/transaction.js'
import { isSame } from '../util/own-property.js'
import { Slices } from '../util/slices.js'
import { hasChanged, namesVersion, type PerformAction, TRIES } from './default-actions.js'
import { matchRows } from './match-rows.js'
import type { Outcome, RowCounts, RowsOutcome } from './outcome.js'

/** The most rows that are written once more, to find each one that the database refuses. */
const MOST_RETRIED = 50

/** The most rows that are created together, so that other requests are served meanwhile. */
const MOST_TOGETHER = 200

/** The most rows that a page shows before an import. */
const MOST_PREVIEWED = 20

/** How often a transaction begins that conflicts with others, and runs no handler of the app. */
export const ATTEMPTS = 10

const KINDS = { create: 'createdMany', update: 'updatedMany', delete: 'deletedMany', custom: 'doneMany' } as const

/** How the rows of a request are written, each as if it came alone. */
export interface RowActions {
  /**
   * Checks what needs no row, and returns the check that follows the authorization.
   * @throws InvalidError
   */
  prepare (row: ActionState): PerformAction<Outcome | undefined>
  /** Writes an authorized row. */
  readonly perform: PerformAction<Outcome | undefined>
  /** Whether that runs a handler of the app, which never runs again for a row. */
  readonly runsHandler: boolean
}

/** A row of the request that could be read. */
interface PreparedRow {
  readonly given: RowPayload
  readonly state: ActionState & RowState
  readonly check: PerformAction<Outcome | undefined>
  /** What the last attempt has learned before the transaction. */
  access: Attempt
}

/** The rows of a request that could be read, and the faults of the others. */
interface PreparedRows {
  readonly rows: readonly PreparedRow[]
  readonly faults: Faults
  /** All rows of the request, as `match` has found them. */
  readonly found: readonly RowPayload[]
}

/** The rows of the answer, and what was done with all of them. */
type Written = Pick<RowsOutcome, 'rows' | 'counts'>

const NONE: RowCounts = { created: 0, changed: 0, unchanged: 0 }

/** Thrown when a row has changed after `authorize` was shown it, so that all begins again. */
class ChangedRow extends Error {
  readonly index: number
  /** The version that `authorize` was shown. */
  readonly version: string | undefined

  constructor (index: number, version: string | undefined) {
    super()
    this.index = index
    this.version = version
  }
}

/**
 * Writes the rows of a request in one transaction: all of them, or none. Each is validated and authorized as if it came
 * alone, before the transaction begins. The row that `authorize` was shown becomes the guard of its write. All faults
 * are named together. Those that only the database knows end the transaction, so that a second one finds them by
 * savepoints.
 * @throws RowsError, UnavailableError, UnknownOutcomeError
 */
export async function writeRows (state: ActionState, actions: RowActions): Promise<RowsOutcome> {
  const { request, request: { body } } = state
  try {
    return await writeAll(state, actions)
  } finally {
    request.body = body
  }
}

async function writeAll (state: ActionState, actions: RowActions): Promise<RowsOutcome> {
  const { compiled: { options: { store } } } = state
  const payload = state.payload as Payload
  const { rows = [{ index: 0, line: undefined, payload, fault: undefined }], action = 'custom', match } = payload
  const { perform, runsHandler } = actions
  const dryRun = isDryRun(state)
  const end: Omit<RowsOutcome, 'rows' | 'counts'> =
    { kind: KINDS[action], ...(dryRun && { dryRun: payload.rows === undefined ? 'one' : 'many' }) }
  if (rows.length === 0) {
    const { action, isCustom } = state
    await state.checkAccess?.({ action, id: undefined, isCustom, rows: 0 }, state)
    return { ...end, rows: [], counts: NONE }
  }
  const transact = store.transaction?.bind(store) as NonNullable<typeof store.transaction>
  const most = mostShown(action, state)
  // A page lists all faults of a file.
  const mostRetried = state.importing === undefined ? MOST_RETRIED : Infinity
  let prepared = await prepareRows(rows, state, actions)
  let changed: ChangedRow | undefined
  for (let tries = 0; tries <= TRIES; tries++) {
    const faults = prepared.faults.copy()
    const ready = await checkRows(prepared.rows, faults)
    const ids = ready.flatMap(({ state: { id } }) => id ?? [])
    const write = async (how: Pick<Writing, 'together' | 'savepoints'>): Promise<Written> => transact(
      writeEach(ready, perform, { faults, ...how, most, changed, keyed: state.keyed, kind: end.kind }),
      state,
      // A refused write of a handler throws, because the handler may not look at its outcome. Without a handler, many
      // rows may take longer than the transactions of the app, which wait for anything.
      runsHandler ? { ids, dryRun } : { attempts: ATTEMPTS, returnsRefused: true, timeout: TIMEOUT, ids, dryRun }
    )
    try {
      // A handler of the app may do more than write, and does so only for a request that can succeed.
      if (ready.length === 0 || (runsHandler && faults.size > 0)) throw faults.toError()
      const together = !runsHandler && ready.length > 1 && store.createMany !== undefined
      const savepoints = ready.length <= mostRetried
      const written = await write({ together, savepoints: false }).catch((error: unknown) => {
        if (!(error instanceof DoomedRows) || runsHandler || !(savepoints || together)) throw error
        return write({ together: false, savepoints })
      })
      return { ...end, ...written }
    } catch (error) {
      if (error instanceof ChangedRow) {
        changed = error
        continue
      }
      const refused = error instanceof DoomedRows ? error.faults.toError() : error
      if (match === undefined || runsHandler || !(refused instanceof RowsError)) throw refused
      // Another request may have created or deleted a row since it was looked up.
      const { found } = prepared
      prepared = await prepareRows(rows, state, actions)
      if (prepared.found.every((row, index) => row.found?.id === found[index]?.found?.id)) throw refused
    }
  }
  throw new UnavailableError()
}

/** Returns whether a write has `?dry_run=true`, or only says what an import would do. */
export function isDryRun ({ request: { query }, importing }: RequestState): boolean {
  return importing === undefined ? query[DRY_RUN] === 'true' : importing.step !== 'write'
}

/** Returns the most rows that the answer shows. */
function mostShown (action: string, state: RequestState): number {
  if (state.choice.format.browser === true) return state.importing === undefined ? 0 : MOST_PREVIEWED
  return action === 'delete' || wantsNoRows(state) ? 0 : Infinity
}

/** Finds the rows by `match`, if the request does, and returns them ready to be checked. */
async function prepareRows (
  given: readonly RowPayload[],
  state: ActionState,
  actions: RowActions
): Promise<PreparedRows> {
  const { rows: { length } = {}, match } = state.payload as Payload
  const faults = new Faults(length, state.compiled.resource)
  const found = match === undefined ? given : await matchRows(given, match, state)
  const rows: PreparedRow[] = []
  const slices = new Slices()
  for (const row of found) {
    rows.push(...prepareRow(row, state, actions, faults))
    if (slices.isOver) await slices.pause()
  }
  return { rows, faults, found }
}

/** Returns the row, ready to be checked, or notes its fault. */
function prepareRow (given: RowPayload, whole: ActionState, actions: RowActions, faults: Faults): PreparedRow[] {
  const { payload } = given
  try {
    if (payload === undefined) throw given.fault
    const { attempt: access, request: { headers }, payload: all, compiled: { representations } } = whole
    const options = { rows: all?.rows?.length, dryRun: isDryRun(whole) ? true as const : undefined }
    const state = new RowState(whole, payload, options) as ActionState & RowState
    // If-Match and If-None-Match are about the only row of a request.
    const own = all?.rows === undefined ? headers : {}
    state.preconditions = findPreconditions(own, payload.version, representations)
    return [{ given, state, check: actions.prepare(state), access }]
  } catch (error) {
    faults.add(given, error)
    return []
  }
}

/** Authorizes and checks the rows, and notes their faults. Returns the others. */
async function checkRows (prepared: readonly PreparedRow[], faults: Faults): Promise<PreparedRow[]> {
  const ready: PreparedRow[] = []
  const seen = new Set<unknown>()
  const slices = new Slices()
  for (const row of prepared) {
    if (slices.isOver) await slices.pause()
    const { given, state, state: { checkAccess }, check } = row
    try {
      if (seen.has(state.id)) throw new InvalidError({ id: ['is given more than once'] })
      if (state.id !== undefined) seen.add(state.id)
      state.join(undefined)
      showBody(state)
      state.attempt = checkAccess === undefined ? state.makeAttempt() : { ...await checkAccess(state, state) }
      if (given.found !== undefined) state.attempt.found = state.attempt.authorizedRow ?? given.found
      await check(state)
      row.access = { ...state.attempt }
      ready.push(row)
    } catch (error) {
      faults.add(given, error)
    }
  }
  return ready
}

/** Gives the request the body that it would have if this row came alone, for `authorize` and handlers of the app. */
function showBody ({ request, payload, compiled: { resource: { singular } } }: ActionState): void {
  const { id, attributes } = payload as Payload
  request.body = { ...(id !== undefined && { id }), [singular]: attributes }
}

interface Writing {
  /** The faults that are known before the transaction begins. */
  readonly faults: Faults
  /** Whether rows are created by one call of the store, which does not tell the faults of each. */
  readonly together: boolean
  /** Whether each row has a savepoint, so that the rows after one that the database refuses are tried too. */
  readonly savepoints: boolean
  /** The most rows that the answer shows. */
  readonly most: number
  /** The row that had changed in the attempt before; `undefined` if there was none. */
  readonly changed: ChangedRow | undefined
  /** The key of the request, with which its outcome is kept. */
  readonly keyed: KeyedWrite | undefined
  readonly kind: RowsOutcome['kind']
}

/** Makes the function that writes rows in a transaction, and throws the faults of all. */
function writeEach (
  rows: readonly PreparedRow[],
  perform: PerformAction<Outcome | undefined>,
  { faults: known, together, savepoints, most, changed, keyed, kind }: Writing
): RunInTransaction<Written> {
  return async (context) => {
    const { openTransaction: transaction } = context
    await keyed?.begin(context)
    const faults = known.copy()
    const ids: Id[] = []
    const written: Row[] = []
    const counts = { ...NONE }
    let size = 0
    const note = (outcome: Outcome): void => {
      counts[sortOf(outcome)]++
      if (!('row' in outcome) || outcome.row === undefined) return
      ids.push(outcome.row.id)
      if (written.length >= most) return
      written.push(outcome.row)
      size += sizeOf(outcome.row)
      if (size > LARGEST_TOGETHER) throw new TooManyRowsError(TOO_LARGE)
    }
    const slices = new Slices()
    for (const group of groupCreates(rows, together)) {
      if (slices.isOver) await slices.pause()
      const [{ given, state, access }] = group
      if (group.length > 1) {
        for (const row of await createTogether(group, context, faults)) note({ kind: 'created', row })
        continue
      }
      state.join(transaction)
      showBody(state)
      state.attempt = { ...access }
      try {
        const outcome = await (savepoints ? transaction.attempt(() => perform(state)) : perform(state))
        if (outcome === undefined) throw new InvalidAnswerError(state.action, 'has sent an answer for one of many rows')
        if (outcome.kind === 'listed') throw new InvalidAnswerError(state.action, 'has returned rows for one of many')
        if (hasChanged(outcome, state)) {
          const version = state.attempt.checked?.version
          // If `authorize` was shown the same version again, a row before it in the request has changed the row.
          if (changed?.index !== given.index || changed.version !== version) throw new ChangedRow(given.index, version)
        }
        if (outcome.kind === 'stale') {
          throw new PreconditionFailedError(say('changedMeanwhile', { resource: state.compiled.resource.singular }))
        }
        note(outcome)
      } catch (error) {
        if (error instanceof ChangedRow || error instanceof TooManyRowsError) throw error
        faults.add(given, error)
        if (transaction.isDoomed) throw new DoomedRows(faults)
      }
    }
    if (faults.size > 0) throw faults.toError()
    await keyed?.finish({ kind, ids: kind === 'deletedMany' ? [] : ids, counts }, context)
    return { rows: written, counts }
  }
}

type Group = readonly [PreparedRow, ...PreparedRow[]]

/** Returns the rows in groups: consecutive rows that the store can create together, and each other row alone. */
function groupCreates (rows: readonly PreparedRow[], together: boolean): readonly Group[] {
  const groups: Array<[PreparedRow, ...PreparedRow[]]> = []
  for (const row of rows) {
    const group = groups.at(-1)
    if (together && group !== undefined && group.length < MOST_TOGETHER && canJoin(row, group[0])) group.push(row)
    else groups.push([row])
  }
  return groups
}

function canJoin (row: PreparedRow, first: PreparedRow): boolean {
  const [a, b] = [row.access.target, first.access.target]
  return isPlainCreate(row) && isPlainCreate(first) && a.store === b.store && isSame(a.scope, b.scope)
}

/** Returns whether a row is one to create that names no version, and whose store can create several. */
function isPlainCreate ({ state: { payload, preconditions }, access: { target } }: PreparedRow): boolean {
  const { store, resource } = target
  return payload?.action === 'create' && store.createMany !== undefined && !resource.singleton &&
    !namesVersion(preconditions)
}

/** @throws DoomedRows if the store refuses one of the rows */
async function createTogether (group: Group, context: TransactionContext, faults: Faults): Promise<readonly Row[]> {
  const { access: { target: { store, scope } }, state: { request } } = group[0]
  const rows = group.map(({ state }) => state.attributes)
  try {
    return await (store as Required<Store>).createMany(rows, scope, { ...context, request })
  } catch (error) {
    if (describeError(error, 500).status >= 500) throw error
    throw new DoomedRows(faults)
  }
}

function sortOf (outcome: Outcome): keyof RowCounts {
  if (outcome.kind === 'created') return 'created'
  return outcome.kind === 'updated' && outcome.isUnchanged === true ? 'unchanged' : 'changed'
}

const TOO_LARGE =
  'the rows of the answer are too large together; send fewer in each request, or the header Prefer: return=minimal'

/** Thrown when the database has refused a row, after which it accepts no others in the same transaction. */
class DoomedRows extends Error {
  readonly faults: Faults

  constructor (faults: Faults) {
    super()
    this.faults = faults
  }
}

/** The faults of the rows of a request, by the places of the rows. */
class Faults {
  readonly #count: number | undefined
  readonly #resource: Resource
  readonly #faults: Map<number, FoundFault>

  /**
   * @param count the number of rows; `undefined` for a request with one row, whose fault is that of the request
   * @param resource the resource as the request sees it
   */
  constructor (
    count: number | undefined,
    resource: Resource,
    faults: Iterable<readonly [number, FoundFault]> = []
  ) {
    this.#count = count
    this.#resource = resource
    this.#faults = new Map(faults)
  }

  get size (): number {
    return this.#faults.size
  }

  copy (): Faults {
    return new Faults(this.#count, this.#resource, this.#faults)
  }

  /** Notes the fault of a row. Throws the error itself if it is a failure, or about the whole request. */
  add ({ index, line, payload, found }: RowPayload, thrown: unknown): void {
    // The faults of a row that cannot be read have the names that the client has sent.
    const error = payload === undefined ? thrown : withoutFaultsOf(this.#resource, thrown)
    const { status, detail, errors } = describeError(error, 500)
    if (status >= 500 || status === 401 || this.#count === undefined) throw error
    const what = errors === undefined ? { detail } : { errors }
    // A request that finds a row by `match` does not know its id, and may not be allowed to.
    const id = found === undefined ? payload?.id : undefined
    const place = { index, ...(id !== undefined && { id }), ...(line !== undefined && { line }) }
    this.#faults.set(index, { fault: { ...place, status, ...what }, error })
  }

  toError (): RowsError {
    const sorted = [...this.#faults.values()].sort((a, b) => a.fault.index - b.fault.index)
    return new RowsError(sorted, this.#count as number)
  }
}
