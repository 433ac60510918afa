/** The client process: reads lists and discards them. */
import { connect } from 'node:net'
import { answerQuestions } from '../child.js'

export interface Drain {
  readonly port: number
  readonly url: string
  readonly accept: string
  /** The number of clients that read at once. */
  readonly clients: number
}

export interface Drained {
  /** The size of one answer, including its head and its chunk framing. */
  readonly bytes: number
  readonly milliseconds: number
}

const SIZE = 1_048_576
const STATUS = 'HTTP/1.1 200'

/** Reads one answer to its end and returns its size in bytes. The server closes the connection after it. */
function drainOne ({ port, url, accept }: Drain): Promise<number> {
  return new Promise((resolve, reject) => {
    let bytes = 0
    const callback = (size: number, buffer: Uint8Array): boolean => {
      if (bytes === 0 && Buffer.from(buffer.subarray(0, STATUS.length)).toString() !== STATUS) reject(new Error(`${url} is not answered with 200`))
      bytes += size
      return true
    }
    const socket = connect({ port, host: '127.0.0.1', onread: { buffer: Buffer.allocUnsafe(SIZE), callback } })
    socket.on('error', reject).on('close', () => { resolve(bytes) })
    socket.write(`GET ${url} HTTP/1.1\r\nhost: localhost\r\naccept: ${accept}\r\nconnection: close\r\n\r\n`)
  })
}

async function drain (question: Drain): Promise<Drained> {
  const start = performance.now()
  const [bytes = 0] = await Promise.all(Array.from({ length: question.clients }, () => drainOne(question)))
  return { bytes, milliseconds: performance.now() - start }
}

answerQuestions(drain)
