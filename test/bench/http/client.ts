/** The client process. */
import type { Call } from '../in-process.js'
import { answerQuestions } from '../child.js'
import { Connection, type Streamed } from './connection.js'
import { renderRequests } from './request.js'

/** A number of requests to one port. Each connection sends one after the other. */
export interface Run {
  readonly port: number
  readonly call: Call
  readonly status: number
  readonly count: number
  /** The id of the first row, for calls that name rows by id. */
  readonly firstId: number
}

const CONNECTIONS = 32

const pools = new Map<number, Connection[]>()
const lengths = new Map<string, Streamed>()

function connectionsTo (port: number): Connection[] {
  const pool = pools.get(port) ?? Array.from({ length: CONNECTIONS }, () => new Connection(port))
  pools.set(port, pool)
  return pool
}

function lengthOf (port: number, call: Call): Streamed {
  const key = `${port} ${JSON.stringify(call)}`
  const known = lengths.get(key) ?? {}
  lengths.set(key, known)
  return known
}

/** Sends the requests and returns the time in milliseconds. */
function run ({ port, call, status: expected, count, firstId }: Run): Promise<number> {
  const requests = renderRequests(call, count, firstId)
  const pool = connectionsTo(port)
  const streamed = lengthOf(port, call)
  return new Promise((resolve, reject) => {
    let sent = 0
    let answers = 0
    // The client never sleeps. The server would need CPU time to wake it, and a slow server would wake it more often.
    const stayAwake = (): void => { if (answers < count) setImmediate(stayAwake) }
    stayAwake()
    const answered = (status: number): Buffer | undefined => {
      if (status !== expected) reject(new Error(`${call.method} ${call.url} is answered with ${status}`))
      if (++answers === count) resolve(performance.now() - start)
      return requests[sent++]
    }
    const start = performance.now()
    for (const connection of pool.slice(0, count)) connection.start(requests[sent++] as Buffer, streamed, answered, reject)
  })
}

answerQuestions(run)
