import type { FastifyInstance } from 'fastify'
import type { IncomingMessage, ServerResponse } from 'node:http'

/** A request as a client sends it. */
export interface Call {
  readonly method: string
  readonly url: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

export interface HandlerAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: string
}

type Listener = (part?: Buffer) => void

/** The smallest part of Node's request that Fastify needs, so that neither a socket nor a parser is measured. */
class FakeRequest {
  readonly method: string
  readonly url: string
  readonly headers: Record<string, string>
  readonly socket = {}
  readonly httpVersionMajor = 1
  readonly #body: Buffer | undefined
  readonly #listeners: { data?: Listener, end?: Listener } = {}

  constructor ({ method, url, headers }: Call, body: Buffer | undefined) {
    this.method = method
    this.url = url
    this.headers = { host: 'localhost', ...headers, ...(body !== undefined && { 'content-length': String(body.length) }) }
    this.#body = body
  }

  on (event: 'data' | 'end', listener: Listener): void {
    this.#listeners[event] = listener
  }

  removeListener (): void {}

  resume (): void {
    this.#listeners.data?.(this.#body)
    this.#listeners.end?.()
  }
}

class FakeResponse {
  statusCode = 200
  headersSent = false
  writableEnded = false
  readonly destroyed = false
  headers: Record<string, unknown> = {}
  body = ''
  readonly #done: (answer: HandlerAnswer) => void

  constructor (done: (answer: HandlerAnswer) => void) {
    this.#done = done
  }

  writeHead (_status: number, headers: Record<string, unknown>): void {
    this.headers = headers
    this.headersSent = true
  }

  end (body: string | null): void {
    this.body = body ?? ''
    this.writableEnded = true
    this.#done({ status: this.statusCode, headers: this.headers, body: this.body })
  }

  getHeader (): undefined {}
  hasHeader (): boolean { return false }
  removeHeader (): void {}
  on (): void {}
  once (): void {}
}

/** Hands a call to an app as Node's server would. Synchronous answers have arrived when this returns. */
export function knock (app: FastifyInstance, call: Call, body: Buffer | undefined, done: (answer: HandlerAnswer) => void): void {
  app.routing(new FakeRequest(call, body) as unknown as IncomingMessage, new FakeResponse(done) as unknown as ServerResponse)
}
