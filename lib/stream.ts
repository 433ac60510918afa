import { Readable } from 'node:stream'
import type { ListWriter } from './formats/format.js'
import type { Listed, Source } from './outcome.js'
import { isPromise } from './settle.js'
import type { Stored } from './stores/store.js'

/** In characters. Measured: 32 to 64 KiB beat both one big string and a chunk for each row. */
const CHUNK = 49_152

/** About a millisecond's work. */
const CHUNKS_PER_TURN = 8
/** In characters. A page of many long rows makes no string at all. */
const LONGEST = 4_194_304

type Pulled = IteratorResult<readonly Stored[]>

const NOTHING: Source = { next: () => ({ done: true, value: undefined }) }

/**
 * A list as a text where all of it is at hand, else as a stream that pulls from the store as the client reads: memory
 * does not grow with the list. A store that fails midway, or a client that leaves, ends the stream and frees the store.
 */
export function writeList ({ first, rest }: Listed, writer: ListWriter): string | Readable {
  if (rest === undefined) return writeWhole(first, writer)
  const second: Pulled | PromiseLike<Pulled> = rest.next()
  return !isPromise(second) && second.done === true ? writeWhole(first, writer) : new RowStream(first, second, rest, writer)
}

function writeWhole (rows: readonly Stored[], writer: ListWriter): string | Readable {
  const { open, row: write, separator, close } = writer
  let text = open
  let before = ''
  for (const row of rows) {
    text += before + write(row)
    before = separator
    if (text.length > LONGEST) return new RowStream(rows, NOTHING.next() as Pulled, NOTHING, writer)
  }
  return text + close
}

class RowStream extends Readable {
  readonly #source: Source
  readonly #writer: ListWriter
  #rows: readonly Stored[]
  #position = 0
  /** What has been pulled and not been looked at. */
  #pulled: Pulled | PromiseLike<Pulled> | undefined
  #text: string
  #separator = ''
  #ended = false
  #chunks = 0

  constructor (first: readonly Stored[], second: Pulled | PromiseLike<Pulled>, source: Source, writer: ListWriter) {
    super()
    this.#rows = first
    this.#pulled = second
    this.#source = source
    this.#writer = writer
    this.#text = writer.open
    // Refused before it is looked at, it would be an unhandled rejection.
    if (isPromise(second)) second.then(undefined, () => {})
  }

  override _read (): void {
    // A store that answers at once, and a client that reads as fast, would leave nobody else a turn.
    if (++this.#chunks % CHUNKS_PER_TURN === 0) setImmediate(() => { if (!this.destroyed) this.#readOn() })
    else this.#readOn()
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
      if (this.#text.length >= CHUNK) return this.#flush()
      const pulled: Pulled | PromiseLike<Pulled> = this.#pulled ?? this.#source.next()
      this.#pulled = undefined
      if (isPromise(pulled)) {
        Promise.resolve(pulled).then((result) => { this.#goOn(result) }).catch((error) => { this.destroy(error) })
        return
      }
      if (this.#take(pulled)) return this.#flush()
    }
  }

  #goOn (pulled: Pulled): void {
    // Whoever read has gone while this was pulled.
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
      text += this.#separator + write(rows[position++] as Stored)
      this.#separator = separator
    }
    this.#text = text
    this.#position = position
  }

  /** Whether that was the end. */
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

  #flush (): void {
    this.push(this.#text)
    this.#text = ''
    if (this.#ended) this.push(null)
  }

  override _destroy (error: Error | null, done: (error?: Error | null) => void): void {
    if (this.#ended) return done(error)
    this.#ended = true
    Promise.resolve(this.#source.return?.()).then(() => { done(error) }, done)
  }
}
