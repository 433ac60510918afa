import { Readable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ListOutcome, PulledBatch, Source } from '../actions/outcome.js'
import type { ListWriter } from '../formats/format.js'
import type { Row } from '../resource/row.js'
import { areLarger, sizeOf } from '../stores/store.js'
import { isPromise } from '../util/maybe-promise.js'

/** The length of a chunk, in characters. Measured: 32 to 64 KiB beat both one big string and a chunk for each row. */
const CHUNK = 49_152

/** In characters. A chunk with the text of a large row is longer than this, and is sent in pieces. */
const LARGEST_PIECE = 2 * CHUNK

/** In characters: about a millisecond's work. Chunks are not counted, because a single large row may be one. */
const TURN = 393_216

/** The work of pulling a batch, in characters. Its rows may be large although little of them is written. */
const BATCH = 24_576

/** In characters. A longer text is streamed, because memory would hold all of it for a client that does not read. */
const LONGEST = 2_097_152

/** The same limit in bytes, for a text whose characters take several bytes. */
const LONGEST_IN_BYTES = 4_194_304

/** In characters. A larger first batch is written before the second one is pulled. */
const SMALL_BATCH = 262_144

/** A source without batches. */
const NOTHING: Source = { next: () => ({ done: true, value: undefined }) }

/**
 * Writes a list as a text if all its rows are read and the text is short, else as a stream. The stream pulls from the
 * store as the client reads. For a client that stops reading, it holds one batch, the text of one row and a few chunks.
 * A store that fails midway, or a client that leaves, ends the stream and frees the store. If the list is sparse, the
 * stream sends the rows that it has before it waits for others.
 */
export async function writeList (
  { rows, more: source, isSparse = false }: ListOutcome,
  writer: ListWriter
): Promise<string | Readable> {
  if (source === undefined) return writeWhole(rows, writer)
  // A store hands out a single match alone because it may take long to find others.
  const isEarly = isSparse && rows.length === 1
  if (isEarly || areLarger(rows, SMALL_BATCH)) return makeStream({ rows, source, isSparse }, writer)
  const next = source.next()
  const pulling = Promise.resolve(next)
  // A batch that is already here is not waited for.
  const isOver = isPromise(next) ? !await isPending(pulling) && (await pulling).done === true : next.done === true
  return isOver ? writeWhole(rows, writer) : makeStream({ rows, source, isSparse, pulling }, writer)
}

function writeWhole (rows: readonly Row[], writer: ListWriter): string | Readable {
  const parts = { rows, source: NOTHING, isSparse: false }
  let text = writer.open
  let before = ''
  for (const part of renderRows(parts, writer)) {
    text += before + part
    before = writer.separator
    if (text.length > LONGEST) return makeStream({ ...parts, rows }, writer)
  }
  text += writer.close
  // A character takes at most three bytes (RFC 3629 §3, counted in units of UTF-16).
  const isLong = text.length * 3 > LONGEST_IN_BYTES && Buffer.byteLength(text) > LONGEST_IN_BYTES
  return isLong ? makeStream({ ...parts, rows }, writer) : text
}

/** Writes rows in parts of about one chunk, and takes them from `streamed`, so that they can be released. */
function * renderRows (streamed: Pick<StreamedRows, 'rows'>, writer: ListWriter): Generator<string, void, undefined> {
  while (streamed.rows.length > 0) {
    let size = 0
    const end = streamed.rows.findIndex((row) => (size += sizeOf(row)) >= CHUNK) + 1
    const rows = end === 0 ? streamed.rows : streamed.rows.slice(0, end)
    streamed.rows = end === 0 ? [] : streamed.rows.slice(end)
    yield writer.rows?.(rows) ?? rows.map((row) => writer.row(row)).join(writer.separator)
  }
}

/** The rows of a stream. */
interface StreamedRows {
  /** The rows that are written next. They are replaced, so that those that were sent can be released. */
  rows: readonly Row[]
  /** The further batches. */
  readonly source: Source
  readonly isSparse: boolean
  /** The batch that was pulled in advance. */
  pulling?: Promise<PulledBatch> | undefined
  /** Whether the source has ended or was closed. */
  isOver?: boolean
}

function makeStream (streamed: StreamedRows, writer: ListWriter): Readable {
  const { source } = streamed
  const chunks = writeChunks(streamed, writer)
  const iterator: AsyncIterator<string> = {
    next: async () => chunks.next(),
    // It frees the store at once, also if no chunk was read.
    async return () {
      if (!streamed.isOver) await source.return?.()
      streamed.isOver = true
      return { done: true, value: undefined }
    }
  }
  return Readable.from({ [Symbol.asyncIterator]: () => iterator }, { objectMode: false })
}

async function * writeChunks (streamed: StreamedRows, writer: ListWriter): AsyncGenerator<string, void, undefined> {
  const { source, isSparse } = streamed
  let text = writer.open
  let before = ''
  let work = 0
  let isFirst = true
  for (;;) {
    for (const part of renderRows(streamed, writer)) {
      text += before + part
      before = writer.separator
      if (text.length < CHUNK) continue
      work += text.length
      yield * cut(text)
      text = ''
      if (work >= TURN) work = await giveTurn()
    }
    if (isSparse && isFirst) {
      // The first rows leave before a synchronous store looks for others.
      yield * cut(text)
      text = ''
      work = await giveTurn()
    }
    isFirst = false
    work += BATCH
    // A store that answers at once and a client that reads as fast would leave no turn to other requests.
    if (work >= TURN) work = await giveTurn()
    const pulling = streamed.pulling ?? Promise.resolve(source.next())
    streamed.pulling = undefined
    if (isSparse && text !== '' && await isPending(pulling)) {
      yield text
      text = ''
    }
    const pulled = await pulling
    // The client may have left meanwhile.
    if (streamed.isOver === true) return
    if (pulled.done === true) break
    streamed.rows = pulled.value
  }
  streamed.isOver = true
  yield * cut(text + writer.close)
}

/** Leaves a turn to other requests. Returns the work since then. */
async function giveTurn (): Promise<0> {
  await nextTurn()
  return 0
}

/** Returns whether a promise is still pending after a turn. Its rejection is left to those who wait for it. */
async function isPending (promise: Promise<unknown>): Promise<boolean> {
  const settled = promise.then(() => false, () => false)
  return Promise.race([settled, nextTurn(true)])
}

/** Cuts a large text, so that the buffers of the stream and of the connection hold only a few pieces. */
function * cut (text: string): Generator<string, void, undefined> {
  let start = 0
  while (text.length - start > LARGEST_PIECE) {
    const end = findCut(text, start + CHUNK)
    yield text.slice(start, end)
    start = end
  }
  yield start === 0 ? text : text.slice(start)
}

/** Returns a position at which a text can be cut without splitting a surrogate pair. */
function findCut (text: string, position: number): number {
  const unit = text.charCodeAt(position - 1)
  return unit >= 0xd800 && unit <= 0xdbff ? position - 1 : position
}
