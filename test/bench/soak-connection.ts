import { connect, type Socket } from 'node:net'

/** A request as it is written to the socket. */
export interface Call {
  readonly method: string
  readonly target: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

export interface HandlerAnswer {
  readonly status: number
  readonly head: string
  readonly body: Buffer
}

interface Waiting {
  readonly method: string
  readonly resolve: (answer: HandlerAnswer) => void
  readonly reject: (error: Error) => void
}

/**
 * A series of connections, each kept alive as long as the server allows, with one request at a time. It speaks only as
 * much HTTP as our server's answers need, which makes it faster than the server.
 */
export class Connection {
  readonly #port: number
  #socket: Socket | undefined
  #waiting: Waiting | undefined
  #parts: Buffer[] = []

  constructor (port: number) {
    this.#port = port
  }

  ask (call: Call): Promise<HandlerAnswer> {
    return new Promise((resolve, reject) => {
      this.#waiting = { method: call.method, resolve, reject }
      this.#open().write(writeCall(call))
    })
  }

  /** Sends half of the body, then destroys the connection. */
  async leaveInBody (call: Call): Promise<void> {
    const text = writeCall(call)
    const socket = this.#open()
    await new Promise<void>((resolve) => { socket.write(text.slice(0, text.length - (call.body ?? '').length / 2), () => { setTimeout(resolve, 2) }) })
    this.close()
  }

  /** Reads the first part of the answer, then destroys the connection. */
  async leaveInAnswer (call: Call): Promise<void> {
    const socket = this.#open()
    await new Promise((resolve) => {
      socket.removeAllListeners('data').once('data', resolve)
      socket.write(writeCall(call))
    })
    this.close()
  }

  close (): void {
    this.#socket?.destroy()
    this.#socket = undefined
    this.#parts = []
  }

  #open (): Socket {
    if (this.#socket !== undefined) return this.#socket
    const socket = connect({ port: this.#port, host: '127.0.0.1', noDelay: true })
    this.#socket = socket
    const end = (error?: Error): void => {
      if (this.#socket !== socket) return
      this.close()
      this.#waiting?.reject(error ?? new Error('the server has closed the connection'))
    }
    socket.on('data', (part) => { this.#take(part) })
    socket.on('error', end)
    socket.on('close', () => { end() })
    return socket
  }

  #take (part: Buffer): void {
    this.#parts.push(part)
    const { method, resolve } = this.#waiting as Waiting
    const answer = parseAnswer(this.#parts, method)
    if (answer === undefined) return
    this.#parts = []
    this.#waiting = undefined
    if (/^connection: close/im.test(answer.head)) this.close()
    resolve(answer)
  }
}

function writeCall ({ method, target, headers = {}, body }: Call): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`).join('')
  const length = body === undefined || headers['content-length'] !== undefined ? '' : `content-length: ${Buffer.byteLength(body)}\r\n`
  return `${method} ${target} HTTP/1.1\r\nhost: localhost\r\n${lines}${length}\r\n${body ?? ''}`
}

/** The end of the last chunk. No body of ours has a line `0`. */
const LAST_CHUNK = Buffer.from('\r\n0\r\n\r\n')

/** Parses an answer. Returns undefined while it is incomplete. */
function parseAnswer (parts: Buffer[], method: string): HandlerAnswer | undefined {
  const [first] = parts as [Buffer]
  const end = first.indexOf('\r\n\r\n')
  if (end === -1) {
    parts.splice(0, parts.length, Buffer.concat(parts))
    return undefined
  }
  const head = first.toString('latin1', 0, end)
  const status = Number(head.slice(9, 12))
  const isEmpty = method === 'HEAD' || status === 204 || status === 304
  const length = isEmpty ? 0 : Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? NaN)
  const whole = Number.isNaN(length) ? endsWith(parts, LAST_CHUNK) : parts.reduce((sum, part) => sum + part.length, 0) >= end + 4 + length
  return whole ? { status, head, body: (parts.length === 1 ? first : Buffer.concat(parts)).subarray(end + 4) } : undefined
}

function endsWith (parts: readonly Buffer[], end: Buffer): boolean {
  const last = parts.at(-1) as Buffer
  const tail = last.length < end.length ? Buffer.concat(parts) : last
  return tail.subarray(-end.length).equals(end)
}
