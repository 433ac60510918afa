import { createHash } from 'node:crypto'
import { InvalidAnswerError, InvalidKeyError, KeyReusedError } from '../errors.js'
import { findRow, ofId } from '../modes.js'
import type { Idempotency } from '../options/idempotency.js'
import { unlessRefused } from '../relations/include/relation.js'
import { KeyedWrite, type KeptResult } from '../request/keyed-write.js'
import { LARGEST_TOGETHER, wantsNoRows } from '../request/rows.js'
import type { ActionState } from '../request/state.js'
import type { Id, Row } from '../resource/row.js'
import { respondWithoutRow } from '../response/responder.js'
import { BY_ID } from '../stores/order.js'
import { areLarger, type KeptRequests, type Store } from '../stores/store.js'
import { REPLAYED } from '../telemetry/action-log.js'
import { renderCanonicalJson } from '../util/own-property.js'
import type { PerformAction } from './default-actions.js'
import type { ListOutcome, Outcome, RowsOutcome } from './outcome.js'
import { ATTEMPTS, isDryRun } from './write-rows.js'

const PLAIN = /^[\w.:-]{1,255}$/
/** Matches a string of a structured header (RFC 9651 §3.3.3). */
const QUOTED = /^"((?:[ !#-[\]-~]|\\["\\]){1,255})"$/

/** Thrown when nothing was written, so that nothing is kept. */
class NothingWritten extends Error {
  readonly outcome: Outcome

  constructor (outcome: Outcome) {
    super()
    this.outcome = outcome
  }
}

/** Performs the action of a request with a key, which has one row or none, in one transaction. */
export async function performKept (
  keyed: KeyedWrite,
  state: ActionState,
  perform: PerformAction<Outcome | undefined>
): Promise<Outcome> {
  const { compiled: { options: { store, routing } }, attempt: access, id, action, isCustom } = state
  const runsHandler = isCustom || routing.handlers.has(action)
  const options = { attempts: runsHandler ? 1 : ATTEMPTS, returnsRefused: !runsHandler }
  try {
    return await (store as Required<Store>).transaction(async (context) => {
      await keyed.begin(context)
      state.join(context.openTransaction)
      state.attempt = { ...access }
      state.id = id
      const outcome = checkReplayable(await perform(state), action)
      await keyed.finish({ kind: outcome.kind, ids: idsOf(outcome) }, context)
      return outcome
    }, state, options)
  } catch (error) {
    if (error instanceof NothingWritten) return error.outcome
    throw error
  } finally {
    state.join(undefined)
  }
}

/** An outcome that is kept. */
type KeptOutcome =
  RowsOutcome | ListOutcome | (Outcome & { readonly kind: 'found' | 'created' | 'updated' | 'deleted' | 'done' })

/** @throws NothingWritten, or InvalidAnswerError if the answer could not be given again */
function checkReplayable (outcome: Outcome | undefined, action: string): KeptOutcome {
  if (outcome === undefined) {
    throw new InvalidAnswerError(action, 'has sent an answer to a request with a key; return the row instead')
  }
  if (outcome.kind === 'listed' && outcome.more !== undefined) {
    throw new InvalidAnswerError(action, 'has returned batches to a request with a key; return an array of rows')
  }
  if (outcome.kind === 'stale') throw new NothingWritten(outcome)
  return outcome as KeptOutcome
}

function idsOf (outcome: KeptOutcome): readonly Id[] {
  if ('rows' in outcome) return outcome.rows.map(({ id }) => id)
  return outcome.kind === 'deleted' || outcome.kind === 'done' ? [] : [outcome.row.id]
}

/**
 * Performs a write once for its key. If it was carried out before, answers it again, with the rows as they are now.
 * @throws InvalidKeyError, KeyReusedError, KeyInUseError
 */
export async function performOnce (
  state: ActionState,
  idempotency: Idempotency,
  act: () => Promise<Outcome | undefined>
): Promise<Outcome | undefined> {
  const { compiled: { options: { store } }, payload } = state
  // Nothing remains of a dry run that could be kept.
  if (payload === undefined || payload.isRevised || isDryRun(state)) return act()
  const key = readKey(idempotency, state)
  if (key === undefined) return act()
  const keyOfUser = digest(renderCanonicalJson([await findPrincipal(idempotency, state), key]))
  const { requests } = store as Required<Store>
  const keyed = new KeyedWrite(requests as KeptRequests, keyOfUser, digestOf(state), idempotency.keepMs)
  const kept = await keyed.find(state)
  if (kept !== undefined) return replay(kept, state)
  state.keyed = keyed
  try {
    return await act()
  } catch (error) {
    // The same request may have been carried out meanwhile, and be the reason of the error.
    const other = await keyed.find(state).catch((cause: unknown) => {
      if (cause instanceof KeyReusedError) throw cause
    })
    if (other === undefined) throw error
    return replay(other, state)
  }
}

/** @throws InvalidKeyError */
function readKey ({ required }: Idempotency, state: ActionState): string | undefined {
  const { request: { headers }, formKey, payload, negotiated: { body } } = state
  const given = headers['idempotency-key'] ?? formKey
  if (given !== undefined) {
    const text = String(given)
    if (PLAIN.test(text)) return text
    const [, quoted] = QUOTED.exec(text) ?? []
    if (quoted !== undefined) return quoted.replaceAll(/\\(.)/g, '$1')
    throw new InvalidKeyError(
      `${formKey === given ? '"_key"' : 'Idempotency-Key'} must have 1 to 255 letters, digits, "-", "_", "." or ` +
        '":", or be a text in double quotes'
    )
  }
  const isOfForm = body?.reader.form === true && payload?.action !== 'create'
  if (!required || isOfForm) return undefined
  throw new InvalidKeyError('send the header Idempotency-Key with a new key for each write, such as a UUID')
}

/** @throws InvalidAnswerError */
async function findPrincipal ({ principal }: Idempotency, { request }: ActionState): Promise<string> {
  const found: unknown = principal === undefined ? '' : await principal(request)
  if (typeof found === 'string') return found
  throw new InvalidAnswerError('principal', `has returned a ${typeof found}; return a text`)
}

function digest (text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}

/**
 * Returns the digest by which a request is recognized, whatever format it asks for. A request of another role is
 * another request, because a replay would tell that role which values were sent that it does not see.
 */
function digestOf (state: ActionState): string {
  const { request: { method, url, query }, negotiated: { isSuffixed, contentType }, bodyDigest, compiled } = state
  const { attributes, hiddenFromSome } = compiled.resource
  const all = hiddenFromSome.size === 0 ? [] : [...attributes.values()]
  const seen = all.map(({ name, readOnly }) => [name, readOnly])
  const path = url.replace(/\?.*$/s, '').replace(/\/+$/, '')
  const { format: _, ...others } = query
  return digest(renderCanonicalJson([
    method, isSuffixed ? path.slice(0, path.lastIndexOf('.')) : path, others, contentType?.mediaType, bodyDigest,
    ...seen
  ]))
}

/** Answers a request again. If a row is gone or hidden, the answer has the status alone. */
async function replay ({ kind, ids, counts }: KeptResult, state: ActionState): Promise<Outcome | undefined> {
  const { reply, choice: { format } } = state
  reply.header(REPLAYED, 'true')
  if (kind === 'deleted' || kind === 'done') return { kind }
  const needsRows = counts === undefined ||
    !(kind === 'deletedMany' || format.browser === true || wantsNoRows(state))
  const rows: Row[] = []
  for (const id of needsRows ? ids : []) {
    const row = await findRowNow(id, state)
    if (row === undefined) return respondWithoutRow(kind, state)
    rows.push(row)
  }
  if (rows.length > 1 && areLarger(rows, LARGEST_TOGETHER)) return respondWithoutRow(kind, state)
  if (counts !== undefined) return { kind: kind as RowsOutcome['kind'], rows, counts }
  if (kind === 'listed') return { kind, rows, more: undefined, order: BY_ID, first: undefined, last: undefined }
  return { kind: kind as 'created', row: rows[0] as Row }
}

/** Returns a row as the request may see it now, or `undefined` if it may not. */
async function findRowNow (id: Id, state: ActionState): Promise<Row | undefined> {
  const { checkAccess, compiled: { resource, target } } = state
  if (checkAccess === undefined) return findRow(target, id, state)
  const access = await unlessRefused(async () =>
    checkAccess({ action: 'show', id: ofId(resource, id), isCustom: false }, state))
  if (access === undefined) return undefined
  state.attempt = { ...access }
  return access.hasLooked ? access.authorizedRow : findRow(access.target, id, state)
}
