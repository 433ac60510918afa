import { Readable } from 'node:stream'
import type { Listed, Pulled, Source } from '../../actions/outcome.js'
import type { ListWriter } from '../../formats/format.js'
import type { Row } from '../../resource/row.js'
import { areLarger } from '../../stores/row-size.js'
import { isPromise } from '../../util/maybe-promise.js'

/** In characters. Measured: 32 to 64 KiB beat both one big string and a chunk for each row. */
const CHUNK = 49_152

/** In characters. A chunk with the text of a large row is longer than this, and is sent in pieces. */
const LARGEST_PIECE = 2 * CHUNK

/** In characters: about a millisecond's work. Chunks are not counted, because one of them may be a single large row. */
const TURN = 393_216

/** The work of pulling a batch, in characters: its rows may be large although little of them is written. */
const BATCH = 24_576

/** In characters. A longer text is streamed, because all of it would be held for a client that does not read. */
const LONGEST = 2_097_152

/** The same in bytes, for a text whose characters take several. */
const LONGEST_IN_BYTES = 4_194_304

/** In characters. A larger first batch is written before the second one is pulled. */
const SMALL_BATCH = 262_144

/** A source without batches. */
const NOTHING: Source = { next: () => ({ done: true, value: undefined }) }

/**
 * A list as a text where all of it is at hand, else as a stream that pulls from the store as the client reads. For a
 * client that stops reading, the stream holds one batch, the text of one row and a few chunks. A store that fails
 * midway, or a client that leaves, ends the stream and frees the store.
 */
export function writeList ({ rows: first, more: rest }: Listed, writer: ListWriter): string | Readable {
  if (rest === undefined) return writeWhole(first, writer)
  if (areLarger(first, SMALL_BATCH)) return new RowStream(first, undefined, rest, writer)
  const second: Pulled | PromiseLike<Pulled> = rest.next()
  return !isPromise(second) && second.done === true
    ? writeWhole(first, writer)
    : new RowStream(first, second, rest, writer)
}

function writeWhole (rows: readonly Row[], writer: ListWriter): string | Readable {
  const { open, row: write, separator, close } = writer
  let text = open
  let before = ''
  for (const row of rows) {
    text += before + write(row)
    before = separator
    if (text.length > LONGEST) return new RowStream(rows, undefined, NOTHING, writer)
  }
  text += close
  // A character takes at most three bytes (RFC 3629 §3, counted in units of UTF-16).
  const isLong = text.length * 3 > LONGEST_IN_BYTES && Buffer.byteLength(text) > LONGEST_IN_BYTES
  return isLong ? new RowStream(rows, undefined, NOTHING, writer) : text
}

/** Returns a position at which a text may be cut: not between the halves of a character. */
function findCut (text: string, position: number): number {
  const unit = text.charCodeAt(position - 1)
  return unit >= 0xd800 && unit <= 0xdbff ? position - 1 : position
}

class RowStream extends Readable {
  readonly #source: Source
  readonly #writer: ListWriter
  #rows: readonly Row[]
  #position = 0
  /** The batch that is pulled in advance. */
  #pulled: Pulled | PromiseLike<Pulled> | undefined
  #text: string
  #separator = ''
  #ended = false
  /** The work since others last had a turn, in characters. */
  #work = 0

  constructor (
    first: readonly Row[],
    second: Pulled | PromiseLike<Pulled> | undefined,
    source: Source,
    writer: ListWriter
  ) {
    super()
    this.#rows = first
    this.#pulled = second
    this.#source = source
    this.#writer = writer
    this.#text = writer.open
    // A rejection before the batch is awaited must not be unhandled.
    if (second !== undefined && isPromise(second)) second.then(undefined, () => {})
  }

  override _read (): void {
    // A store that answers at once, and a client that reads as fast, would leave nobody else a turn.
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
      if (this.#work >= TURN) return this.#readOnLater()
      const pulled: Pulled | PromiseLike<Pulled> = this.#pulled ?? this.#source.next()
      this.#pulled = undefined
      this.#work += BATCH
      if (isPromise(pulled)) {
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

  #goOn (pulled: Pulled): void {
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
    // While the text of a large row is sent, the row itself is not held.
    if (text.length > LARGEST_PIECE) {
      this.#rows = rows.slice(position)
      this.#position = 0
    }
  }

  /** Returns whether the source has ended. */
  #take ({ done, value }: Pulled): boolean {
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
   * Sends the text, or, of the text of a large row, a piece: the buffers of the stream and of the connection then hold
   * no more than a few pieces.
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
