import { connect, type Socket } from 'node:net'

/** The length of an answer without Content-Length. It is that of the first one, whose empty chunk marked its end. */
export interface Streamed {
  length?: number
}

const END_OF_HEAD = '\r\n\r\n'
const END_OF_CHUNKS = '0\r\n\r\n'
const SIZE = 262_144

/**
 * A connection that sends the next request when the last one is answered. It reads only the first bytes of an answer
 * and counts the others, so that the client never limits the server.
 */
export class Connection {
  readonly #socket: Socket
  #missing = 0
  #received = 0
  #status = 0
  #tail = ''
  #streamed: Streamed = {}
  #answered: (status: number) => Buffer | undefined = () => undefined
  #failed: (error: Error) => void = () => {}

  constructor (port: number) {
    const callback = (size: number, buffer: Uint8Array): boolean => {
      this.#read(size, buffer as Buffer)
      return true
    }
    this.#socket = connect({ port, host: '127.0.0.1', noDelay: true, onread: { buffer: Buffer.allocUnsafe(SIZE), callback } })
    this.#socket.on('error', (error) => { this.#failed(error) })
    this.#socket.on('close', () => { this.#failed(new Error('the server has closed a connection')) })
  }

  /** @param answered returns the next request, or undefined to stop */
  start (request: Buffer, streamed: Streamed, answered: (status: number) => Buffer | undefined, failed: (error: Error) => void): void {
    this.#streamed = streamed
    this.#answered = answered
    this.#failed = failed
    this.#socket.write(request)
  }

  close (): void {
    this.#failed = () => {}
    this.#socket.destroy()
  }

  #read (size: number, buffer: Buffer): void {
    if (this.#received === 0) this.#readHead(size, buffer)
    this.#received += size
    if (this.#missing === Infinity && this.#endsChunks(size, buffer)) this.#missing = this.#streamed.length = this.#received
    if (this.#received < this.#missing) return
    if (this.#received > this.#missing) return this.#failed(new Error('an answer is longer than it should be'))
    this.#received = 0
    const next = this.#answered(this.#status)
    if (next !== undefined) this.#socket.write(next)
  }

  #readHead (size: number, buffer: Buffer): void {
    const end = buffer.indexOf(END_OF_HEAD, 0, 'latin1')
    if (end === -1 || end >= size) return this.#failed(new Error('the head of an answer comes in parts'))
    const head = buffer.toString('latin1', 0, end + 2)
    this.#status = Number(head.slice(9, 12))
    this.#missing = end + END_OF_HEAD.length + this.#bodyLength(head)
  }

  #bodyLength (head: string): number {
    if (this.#status === 204 || this.#status === 304) return 0
    const length = /content-length: (\d+)\r/i.exec(head)
    return length === null ? (this.#streamed.length ?? Infinity) - head.length - 2 : Number(length[1])
  }

  /** Tells whether the chunks end here. The end may be split between two reads. */
  #endsChunks (size: number, buffer: Buffer): boolean {
    const { length } = END_OF_CHUNKS
    this.#tail = (this.#tail + buffer.toString('latin1', Math.max(0, size - length), size)).slice(-length)
    return this.#tail === END_OF_CHUNKS
  }
}
