import http, { type IncomingHttpHeaders } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { types } from './helper.js'

export type Kind = 'xml' | 'json' | 'html'
export const kinds: readonly Kind[] = ['xml', 'json', 'html']

/** An answer that takes longer than this counts as missing. */
const NEVER_MS = 600_000

export interface HandlerAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

interface Call {
  readonly method: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** What a row says. Each write has a new title, so that a title identifies its write. */
export interface Said {
  readonly id: number
  readonly title: string
  readonly body: string
}

/** A row that only this client writes. */
interface Row extends Said {
  readonly version: number
}

/** A write. A create has no row before it, a deletion none after it. */
interface Write {
  readonly before: Row | undefined
  /** The row after the write. The id of a row to be created is not known yet. */
  readonly after: Row | undefined
}

const NO_ID = 0
const accepts = { xml: 'application/xml', json: 'application/json', html: 'text/html' }
const bodies = { xml: 'application/xml', json: 'application/json', html: 'application/x-www-form-urlencoded' }
const problems: Readonly<Record<Kind, string>> = { xml: types.xml, json: types.problem, html: types.html }

/** Tells whether a refusal has the right status, the client's format, and a Retry-After if it is a 503. */
export function isRefusal ({ status, headers }: HandlerAnswer, expected: number, kind: Kind): boolean {
  return status === expected && headers['content-type'] === problems[kind] &&
    headers['retry-after'] === (expected === 503 ? '1' : undefined)
}

/**
 * A client of the blog that records what the server acknowledged, and which writes have an unknown outcome. It waits
 * for each answer before it sends the next request on the same connection.
 */
export class BlogClient {
  readonly kind: Kind
  /** The number of acknowledged writes. */
  acknowledged = 0
  /** The number of answers with 503. */
  refused = 0
  /** The number of answers with 504. */
  unknown = 0
  /** True once the server has been told to stop. Node.js itself may then refuse requests, in its own format. */
  isClosing = false
  onAcknowledged: () => void = () => {}
  readonly #name: string
  readonly #url: () => URL
  readonly #length: number
  readonly #agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
  /** The rows whose state is certain. */
  readonly #rows = new Map<number, Row>()
  /** The writes whose outcome is unknown. */
  readonly #doubts = new Set<Write>()
  /** The pending answer to a request that was sent completely. */
  #sent: Promise<HandlerAnswer> | undefined
  #count = 0

  /** @param length the approximate length of a body */
  constructor (name: string, kind: Kind, url: () => URL, length = 500) {
    this.#name = name
    this.kind = kind
    this.#url = url
    this.#length = length
  }

  /** The answer that the server owes, because it has received the whole request. */
  get owed (): Promise<HandlerAnswer> | undefined {
    return this.#sent
  }

  close (): void {
    this.#agent.destroy()
  }

  /** Writes and reads at random until the server is gone or `mayGoOn` returns false. */
  async work (mayGoOn: () => boolean = () => true): Promise<void> {
    while (mayGoOn()) {
      try {
        const { status } = await this.#step()
        // The client waits, as Retry-After tells it to.
        if (status === 503) await delay(10)
      } catch (error) {
        if (isGone(error)) return
        throw error
      }
    }
  }

  #step (): Promise<HandlerAnswer> {
    const dice = Math.random()
    const row = this.#anyRow()
    if (row === undefined || dice < 0.4) return this.create()
    if (dice < 0.5) return this.#read(row)
    if (dice < 0.8) return this.#update(row)
    return this.#delete(row)
  }

  #anyRow (): Row | undefined {
    return [...this.#rows.values()][Math.floor(Math.random() * this.#rows.size)]
  }

  /** Reads each certain row and returns those that differ from the last write. */
  async readAll (): Promise<string[]> {
    const wrong: string[] = []
    for (const row of this.#rows.values()) {
      const { status, text } = await this.#call(this.#show(row))
      if (status !== 200 || !text.includes(row.title)) wrong.push(`${row.title} ${status}`)
    }
    return wrong
  }

  async #read (row: Row): Promise<HandlerAnswer> {
    const answer = await this.#call(this.#show(row))
    if (answer.status === 503) return this.#refuse(answer)
    if (answer.status !== 200 || !answer.text.includes(row.title)) throw unexpected('a read', answer)
    return answer
  }

  create (): Promise<HandlerAnswer> {
    const after = this.#say(NO_ID, 1)
    return this.#write({ before: undefined, after }, this.#send('POST', after, undefined))
  }

  #update (before: Row): Promise<HandlerAnswer> {
    const after = this.#say(before.id, before.version + 1)
    return this.#write({ before, after }, this.#send('PUT', after, before))
  }

  #delete (before: Row): Promise<HandlerAnswer> {
    return this.#write({ before, after: undefined }, this.#send('DELETE', undefined, before))
  }

  #say (id: number, version: number): Row {
    const title = `${this.#name} ${++this.#count}.`
    return {
      id, version, title, body: title.repeat(1 + Math.ceil(this.#length / title.length * (this.#count % 7) / 3))
    }
  }

  async #write (write: Write, call: Call): Promise<HandlerAnswer> {
    this.#doubts.add(write)
    if (write.before !== undefined) this.#rows.delete(write.before.id)
    const answer = await this.#call(call)
    const { status, headers } = answer
    if (status === 504) {
      if (!isRefusal(answer, 504, this.kind) || !/not known/.test(answer.text)) {
        throw unexpected('an unknown outcome', answer)
      }
      this.unknown++
      return answer
    }
    this.#doubts.delete(write)
    if (status === 503 || status === 507) {
      if (write.before !== undefined) this.#rows.set(write.before.id, write.before)
      return status === 503 ? this.#refuse(answer) : answer
    }
    if (status !== this.#success(write)) throw unexpected('a write', answer)
    const { after } = write
    const id = after?.id === NO_ID
      ? Number(/\/posts\/(\d+)$/.exec(headers.location ?? '')?.[1])
      : after?.id
    if (after !== undefined && id !== undefined) this.#rows.set(id, { ...after, id })
    this.acknowledged++
    this.onAcknowledged()
    return answer
  }

  #success ({ before, after }: Write): number {
    if (this.kind === 'html') return 303
    return before === undefined ? 201 : after === undefined ? 204 : 200
  }

  #refuse (answer: HandlerAnswer): HandlerAnswer {
    if (!isRefusal(answer, 503, this.kind) && !this.isClosing) throw unexpected('a refusal', answer)
    this.refused++
    return answer
  }

  #show ({ id }: Row): Call {
    return { method: 'GET', path: `/posts/${id}`, headers: { accept: accepts[this.kind] } }
  }

  #send (method: 'POST' | 'PUT' | 'DELETE', after: Row | undefined, before: Row | undefined): Call {
    const condition = before === undefined ? {} : { 'if-match': `"${before.version}.${this.kind}"` }
    const headers = { accept: accepts[this.kind], ...condition }
    if (this.kind === 'html') {
      const fields = new URLSearchParams(
        method === 'POST' ? {} : { _method: method, id: String(before?.id), _version: String(before?.version) }
      )
      if (after !== undefined) for (const name of ['title', 'body'] as const) fields.set(`post[${name}]`, after[name])
      return {
        method: 'POST',
        path: '/posts',
        headers: { accept: accepts.html, 'content-type': bodies.html },
        body: fields.toString()
      }
    }
    if (after === undefined) return { method, path: `/posts?id=${before?.id}`, headers }
    const { title, body } = after
    const text = this.kind === 'json'
      ? JSON.stringify({ ...(before !== undefined && { id: before.id }), post: { title, body } })
      : `<post>${before === undefined ? '' : `<id>${before.id}</id>`}<title>${title}</title><body>${body}</body></post>`
    return { method, path: '/posts', headers: { ...headers, 'content-type': bodies[this.kind] }, body: text }
  }

  /** Sends a request. Rejects if the connection breaks before the answer is complete. */
  #call ({ method, path, headers = {}, body }: Call): Promise<HandlerAnswer> {
    const url = this.#url()
    this.#sent = undefined
    const answered = new Promise<HandlerAnswer>((resolve, reject) => {
      const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
      const request = http.request({
        host: url.hostname,
        port: url.port,
        method,
        path,
        headers: { ...headers, ...length },
        agent: this.#agent,
        timeout: NEVER_MS
      }, (response) => {
        let text = ''
        response.setEncoding('utf8')
        response.on('data', (chunk: string) => { text += chunk })
        response.on('error', reject)
        response.on('end', () => {
          this.#sent = undefined
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text })
        })
      })
      request.on('finish', () => { this.#sent = answered })
      request.on('timeout', () => { request.destroy(new Error(`${method} ${path} is never answered`)) })
      request.on('error', reject)
      request.end(body)
    })
    return answered
  }

  /**
   * Compares with all existing rows, and settles the writes of unknown outcome.
   * @returns descriptions of what is wrong
   */
  check (all: readonly Said[]): string[] {
    const wrong: string[] = []
    const mine = new Map(all.filter(({ title }) => title.startsWith(`${this.#name} `)).map((row) => [row.title, row]))
    const take = (row: Row): boolean => {
      const found = mine.get(row.title)
      if (found === undefined) return false
      mine.delete(row.title)
      if (found.body !== row.body || (row.id !== NO_ID && found.id !== row.id)) {
        wrong.push(
          `row ${found.id} is not what was written: ${JSON.stringify(found)} instead of ${JSON.stringify(row)}`
        )
      }
      this.#rows.set(found.id, { ...row, id: found.id })
      return true
    }
    for (const row of [...this.#rows.values()]) {
      if (take(row)) continue
      this.#rows.delete(row.id)
      wrong.push(`row ${row.id}, "${row.title}", was acknowledged and is not there`)
    }
    for (const { before, after } of this.#doubts) {
      const isThere = [after, before].some((row) => row !== undefined && take(row))
      if (!isThere && before !== undefined && after !== undefined) {
        wrong.push(`row ${before.id} is neither "${before.title}" nor "${after.title}"`)
      }
    }
    this.#doubts.clear()
    for (const { id, title } of mine.values()) {
      wrong.push(`row ${id}, "${title}", was never acknowledged, or should have been replaced or deleted`)
    }
    return wrong
  }
}

function unexpected (what: string, { status, headers, text }: HandlerAnswer): Error {
  return new Error(`${what} is answered with ${status} ${JSON.stringify(headers)} ${text.slice(0, 500)}`)
}

function isGone (error: unknown): boolean {
  return /^(?:ECONN|EPIPE|ERR_STREAM|HPE_)/.test(String((error as NodeJS.ErrnoException).code))
}

/** Returns all rows of the blog's list. */
export async function listRows (url: URL): Promise<Said[]> {
  const response = await fetch(new URL('/posts.json', url))
  if (response.status !== 200) throw new Error(`the list is answered with ${response.status}`)
  const { posts } = await response.json() as { posts: Said[] }
  return posts
}

/** Returns descriptions of every deviation from what the clients know. */
export function checkClients (clients: readonly BlogClient[], rows: readonly Said[]): string[] {
  return clients.flatMap((client) => client.check(rows))
}

export function total (clients: readonly BlogClient[], what: 'acknowledged' | 'refused' | 'unknown'): number {
  return clients.reduce((sum, client) => sum + client[what], 0)
}
