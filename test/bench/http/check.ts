import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { buffer } from 'node:stream/consumers'
import type { Call } from '../in-process.js'
import type { ConstantAnswer } from '../yardsticks/limit.js'
import type { Contender } from './cells.js'
import { ID } from './request.js'

/** The id of the first row that a contender's store creates. */
export const FIRST_ID = 1001

/** Returns a contender's answer to its call. `checkAnswer` compares it with the first contender's. */
export async function tryOut (port: number, { call, fill }: Contender): Promise<ConstantAnswer> {
  if (fill !== undefined) await fetchAnswer(port, fill)
  return fetchAnswer(port, call)
}

async function fetchAnswer (port: number, { method, url, headers, body }: Call): Promise<ConstantAnswer> {
  const [path, content] = [url, body].map((text) => text?.replace(ID, String(FIRST_ID)))
  const asked = request({ port, host: '127.0.0.1', agent: false, method, path, headers: { connection: 'keep-alive', ...headers, ...(content !== undefined && { 'content-length': Buffer.byteLength(content) }) } })
  asked.end(content)
  const [answer] = await once(asked, 'response') as [IncomingMessage]
  const { date, connection, 'keep-alive': _, 'transfer-encoding': chunked, ...others } = answer.headers
  const bytes = await buffer(answer)
  asked.destroy()
  return { status: answer.statusCode as number, headers: chunked === undefined ? others : { ...others, 'content-length': String(bytes.length) }, body: bytes }
}

/**
 * Throws if the same call has another answer. Feathers' own format must hold the same values, and plain routes must have
 * the same body. The rest must equal to the byte.
 */
export function checkAnswer (contender: Contender, answer: ConstantAnswer, first: Contender, reference: ConstantAnswer): void {
  const said = `${contender.name}: ${contender.call.method} ${contender.call.url}`
  if (contender.server === 'feathers') {
    assert.equal(answer.status, reference.status, said)
    if (answer.body.length > 0) assert.deepEqual(valuesOf(answer), Object.values(valuesOf(reference))[0], said)
  } else if (first.server.startsWith('plain')) {
    assert.equal(answer.status, reference.status, said)
    assert.equal(answer.body.toString(), reference.body.toString(), said)
  } else if (contender.call === first.call) {
    assert.equal(answer.body.toString(), reference.body.toString(), said)
    assert.deepEqual({ ...answer.headers, status: answer.status }, { ...reference.headers, status: reference.status }, said)
  }
}

function valuesOf ({ body }: ConstantAnswer): object {
  return JSON.parse(body.toString()) as object
}
