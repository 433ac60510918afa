/** The process that reads lists and throws them away. */
import { connect } from 'node:net'
import { answerQuestions } from '../child.js'

export interface Drain {
  readonly port: number
  readonly url: string
  readonly accept: string
  /** How many read it at once. */
  readonly clients: number
}

export interface Drained {
  /** Of one answer, its head and the framing of its chunks included. */
  readonly bytes: number
  readonly milliseconds: number
}

const SIZE = 1_048_576
const STATUS = 'HTTP/1.1 200'

/** In bytes. The server is asked to close when it has done. */
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
