import { once } from 'node:events'
import http, { type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { FastifyInstance, FastifyServerOptions } from 'fastify'
import type { Test } from 'tap'
import { memoryStore, type ResourceOptions, type Row, type Store } from '../../lib/index.js'
import { build, types, xml } from './helper.js'

export type Post = Row<{ title: string }>
export type List = Store['list']
export type Kind = 'xml' | 'json'
export const attributes = { type: 'object', properties: { title: { type: 'string' } } } as const
export const accept = { xml: 'application/xml', json: 'application/json', html: 'text/html' }
export const problems = { xml: types.xml, json: types.problem, html: types.html }
export const kinds: Kind[] = ['xml', 'json']

export function makeRows (count: number, title: (id: number) => string = (id) => `Row ${id}`): Post[] {
  return Array.from({ length: count },
    (_, index) => ({ id: index + 1, version: '1', attributes: { title: title(index + 1) } }))
}

export function batchesOf<T> (items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size))
}

/** Writes the whole text of a list in another way. */
export function textOf (kind: Kind, rows: readonly Post[]): string {
  if (kind === 'json') return JSON.stringify({ posts: rows.map(({ id, attributes }) => ({ id, ...attributes })) })
  return `${xml}<posts type="array">${rows.map(({ id, attributes: { title } }) =>
    `<post><id type="integer">${id}</id>${title === '' ? '<title type="string"/>' : `<title>${title}</title>`}</post>`)
      .join(
      ''
    )}</posts>`
}

/** Returns a store that only lists. */
export function listing (list: List): NonNullable<ResourceOptions['store']> {
  return { ...memoryStore(), list }
}

export function deferred<T = void> (): { promise: Promise<T>, resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => {}
  const promise = new Promise<T>((_resolve) => { resolve = _resolve })
  return { promise, resolve }
}

export interface Listening {
  app: FastifyInstance
  port: number
  /** Resolves when the connection of the first answer has closed. */
  gone: Promise<void>
}

export async function listen (
  t: Test, list: List, server?: FastifyServerOptions, before: (app: FastifyInstance) => void = () => {},
  options: Partial<ResourceOptions> = {}
): Promise<Listening> {
  const gone = deferred()
  const app = await build(t, { name: 'posts', attributes, store: listing(list), ...options }, {
    ...(server !== undefined && { server }),
    before (app) {
      app.addHook('onRequest', (_request, reply, done) => {
        reply.raw.once('close', () => { gone.resolve() })
        done()
      })
      before(app)
    }
  })
  await app.listen({ port: 0, host: '127.0.0.1' })
  return { app, port: (app.server.address() as AddressInfo).port, gone: gone.promise }
}

/** Resolves with the head of an answer. Its body is not read yet. */
export async function request (port: number, method: string, path: string): Promise<IncomingMessage> {
  const sent = http.request({ port, method, path, host: '127.0.0.1', agent: false })
  sent.end()
  const [res] = await once(sent, 'response') as [IncomingMessage]
  sent.on('error', () => {})
  return res
}

/** Reads a body, and returns what arrived and the error that cut it off. */
export async function read (res: IncomingMessage): Promise<{ text: string, error: NodeJS.ErrnoException | undefined }> {
  const chunks: Buffer[] = []
  try {
    for await (const chunk of res) chunks.push(chunk as Buffer)
  } catch (error) {
    return { text: Buffer.concat(chunks).toString(), error: error as NodeJS.ErrnoException }
  }
  return { text: Buffer.concat(chunks).toString(), error: undefined }
}
