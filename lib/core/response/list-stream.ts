import { Readable } from 'node:stream'
import type { ListOutcome, PulledBatch, Source } from '../actions/outcome.js'
import type { ListWriter } from '../formats/format.js'
import type { Row } from '../resource/row.js'
import { areLarger } from '../stores/store.js'
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
export function writeList (
  { rows, more: source, isSparse = false }: ListOutcome,
  writer: ListWriter
): string | Readable {
  if (source === undefined) return writeWhole(rows, writer)
  // A store hands out a single match alone because it may take long to find others.
  const isEarly = isSparse && rows.length === 1
  if (isEarly || areLarger(rows, SMALL_BATCH)) return new RowStream({ rows, source, isSparse }, undefined, writer)
  const second: PulledBatch | PromiseLike<PulledBatch> = source.next()
  return !isPromise(second) && second.done === true
    ? writeWhole(rows, writer)
    : new RowStream({ rows, source, isSparse }, second, writer)
}

function writeWhole (rows: readonly Row[], writer: ListWriter): string | Readable {
  const { open, row: write, separator, close } = writer
  let text = open
  let before = ''
  for (const row of rows) {
    text += before + write(row)
    before = separator
    if (text.length > LONGEST) return new RowStream({ rows, source: NOTHING, isSparse: false }, undefined, writer)
  }
  text += close
  // A character takes at most three bytes (RFC 3629 §3, counted in units of UTF-16).
  const isLong = text.length * 3 > LONGEST_IN_BYTES && Buffer.byteLength(text) > LONGEST_IN_BYTES
  return isLong ? new RowStream({ rows, source: NOTHING, isSparse: false }, undefined, writer) : text
}

/** Returns a position at which a text can be cut without splitting a surrogate pair. */
function findCut (text: string, position: number): number {
  const unit = text.charCodeAt(position - 1)
  return unit >= 0xd800 && unit <= 0xdbff ? position - 1 : position
}

/** The rows of a stream. */
interface StreamedRows {
  /** The first batch. */
  readonly rows: readonly Row[]
  /** The further batches. */
  readonly source: Source
  readonly isSparse: boolean
}

/** Keeps a promise that rejects before it is awaited from counting as unhandled. */
function ignoreRejection (pulled: PromiseLike<PulledBatch>): void {
  pulled.then(undefined, () => {})
}

class RowStream extends Readable {
  readonly #source: Source
  readonly #isSparse: boolean
  readonly #writer: ListWriter
  #rows: readonly Row[]
  #position = 0
  /** The batch that was pulled in advance. */
  #pulled: PulledBatch | PromiseLike<PulledBatch> | undefined
  #text: string
  #separator = ''
  /** Whether the first rows leave before the store looks for others. */
  #isEarly: boolean
  #ended = false
  /** The work since other requests last had a turn, in characters. */
  #work = 0

  constructor (
    { rows, source, isSparse }: StreamedRows,
    second: PulledBatch | PromiseLike<PulledBatch> | undefined,
    writer: ListWriter
  ) {
    super()
    this.#rows = rows
    this.#isSparse = isSparse
    this.#isEarly = isSparse && second === undefined
    this.#pulled = second
    this.#source = source
    this.#writer = writer
    this.#text = writer.open
    if (second !== undefined && isPromise(second)) ignoreRejection(second)
  }

  override _read (): void {
    // A store that answers at once and a client that reads as fast would leave no turn to other requests.
    if (this.#work >= TURN) this.#readOnLater()
    else this.#readOn()
  }

  #readOnLater (): void {
    this.#work = 0
    setImmediate(() => {
      if (!this.destroyed) this.#readOn()
    })
  }

  #readOn (): void {
    try {
      this.#fill()
    } catch (error) {
      this.destroy(error as Error)
    }
  }

  #fill (): void {
    for (;;) {
      this.#writeRows()
      if (this.#text.length >= CHUNK || this.#ended) return this.#flush()
      if (this.#isEarly) return this.#flushEarly()
      if (this.#work >= TURN) return this.#readOnLater()
      const pulled: PulledBatch | PromiseLike<PulledBatch> = this.#pulled ?? this.#source.next()
      this.#pulled = undefined
      this.#work += BATCH
      if (isPromise(pulled)) {
        if (this.#isSparse && this.#position > 0 && this.#text !== '') return this.#flushBefore(pulled)
        Promise.resolve(pulled)
          .then((result) => {
            this.#goOn(result)
          })
          .catch((error) => {
            this.destroy(error)
          })
        return
      }
      if (this.#take(pulled)) return this.#flush()
    }
  }

  /** Sends the text, and leaves a turn to the connection, because a synchronous store may look for long. */
  #flushEarly (): void {
    this.#isEarly = false
    this.#work = TURN
    this.#flush()
  }

  /** Sends the text while a batch is pulled. The next call of `_read` waits for the batch. */
  #flushBefore (pulled: PromiseLike<PulledBatch>): void {
    ignoreRejection(pulled)
    this.#pulled = pulled
    this.#flush()
  }

  #goOn (pulled: PulledBatch): void {
    // The client has left while this batch was pulled.
    if (this.destroyed) return
    if (this.#take(pulled)) this.#flush()
    else this.#readOn()
  }

  #writeRows (): void {
    const { row: write, separator } = this.#writer
    const rows = this.#rows
    let position = this.#position
    let text = this.#text
    while (position < rows.length && text.length < CHUNK) {
      text += this.#separator + write(rows[position++] as Row)
      this.#separator = separator
    }
    this.#text = text
    this.#position = position
    // The row of a large text is released before the text is sent.
    if (text.length > LARGEST_PIECE) {
      this.#rows = rows.slice(position)
      this.#position = 0
    }
  }

  /** Takes a batch, and returns whether the source has ended. */
  #take ({ done, value }: PulledBatch): boolean {
    if (done === true) {
      this.#ended = true
      this.#text += this.#writer.close
      return true
    }
    this.#rows = value
    this.#position = 0
    return false
  }

  /**
   * Sends the text, or one piece of a large text. The buffers of the stream and of the connection then hold only a few
   * pieces.
   */
  #flush (): void {
    const text = this.#text
    const end = text.length > LARGEST_PIECE ? findCut(text, CHUNK) : text.length
    this.#text = text.slice(end)
    this.#work += end
    this.push(text.slice(0, end))
    if (this.#ended && this.#text === '') this.push(null)
  }

  override _destroy (error: Error | null, done: (error?: Error | null) => void): void {
    if (this.#ended) return done(error)
    this.#ended = true
    Promise.resolve(this.#source.return?.()).then(() => {
      done(error)
    }, done)
  }
}
