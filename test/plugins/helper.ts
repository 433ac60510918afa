import fastify, { type FastifyInstance, type FastifyServerOptions, type InjectOptions, type LightMyRequestResponse } from 'fastify'
import type { Test } from 'tap'
import resources, { memoryStore, type ResourceOptions, type Store } from '../../dist/index.js'

export type Client = 'xml' | 'html' | 'json'

export const CLIENTS: readonly Client[] = ['xml', 'html', 'json']
export const accepts = { xml: 'application/xml', html: 'text/html', json: 'application/json' } as const
export const documents = { xml: 'application/xml; charset=utf-8', html: 'text/html; charset=utf-8', json: 'application/json; charset=utf-8' } as const
export const problems = { ...documents, json: 'application/problem+json; charset=utf-8' } as const
export const xml = '<?xml version="1.0" encoding="UTF-8"?>\n'
export const FORM = 'application/x-www-form-urlencoded'

/** Where a plugin stands that is registered in the same app as ours. */
export type Order = 'before' | 'after'

export const ORDERS: readonly Order[] = ['before', 'after']

export const attributes = { type: 'object', required: ['title'], properties: { title: { type: 'string', minLength: 1, maxLength: 80 } } } as const

/** A store with one row, the title `Tea`, which notes what it is asked. */
export function recordingStore (): { readonly store: Store, readonly calls: string[] } {
  const store = memoryStore()
  store.create({ title: 'Tea' }, {})
  const calls: string[] = []
  // Of a copy: what is frozen may not be told otherwise by a proxy.
  const noting = new Proxy({ ...store }, {
    get (target, name: keyof Store) {
      const member = target[name]
      if (typeof member !== 'function') return member
      return (...parameters: unknown[]) => {
        calls.push(name)
        return Reflect.apply(member, target, parameters) as unknown
      }
    }
  })
  return { store: noting, calls }
}

type Options = Omit<ResourceOptions, 'name'>

export interface BuildOptions {
  /** Of the resource; a function, where they need what has been added before. */
  readonly options?: Options | ((app: FastifyInstance) => Options)
  readonly server?: FastifyServerOptions
}

/** An app with posts, and with what is added before our plugin or after it; closed when the test ends. */
export async function build (t: Test, order: Order, add: (app: FastifyInstance) => unknown, { options = {}, server }: BuildOptions = {}): Promise<FastifyInstance> {
  const app = fastify(server)
  t.teardown(() => app.close())
  if (order === 'before') await add(app)
  await app.register(resources, { name: 'posts', attributes, ...typeof options === 'function' ? options(app) : options })
  if (order === 'after') await add(app)
  await app.ready()
  return app
}

/** How a client creates a post: each in its own format. */
export function createPost (client: Client, title: string): InjectOptions & { headers: Record<string, string> } {
  if (client === 'json') return { method: 'POST', url: '/posts', headers: { 'content-type': 'application/json' }, payload: JSON.stringify({ post: { title } }) }
  if (client === 'xml') return { method: 'POST', url: '/posts', headers: { 'content-type': 'application/xml' }, payload: `<post><title>${title}</title></post>` }
  return { method: 'POST', url: '/posts', headers: { 'content-type': FORM, 'sec-fetch-site': 'same-origin' }, payload: new URLSearchParams({ 'post[title]': title }).toString() }
}

const OURS = ['content-type', 'etag', 'location', 'allow', 'accept', 'link'] as const

/** What is ours of an answer; whether it varies, beside what else it varies by. */
function ourPart ({ statusCode, headers, body }: LightMyRequestResponse, names: readonly string[]): unknown[] {
  return [statusCode, names.map((name) => headers[name]), /\bAccept\b(?!-)/.test(String(headers.vary)), body]
}

/** A new resource does to the byte what it does alone: it creates, shows, lists, updates, deletes and refuses, in each format. */
export async function isServed (t: Test, app: FastifyInstance, headers: Record<string, string> = {}): Promise<void> {
  const alone = await build(t, 'before', () => {})
  const requests: InjectOptions[] = [
    ...CLIENTS.map((client) => createPost(client, 'Tea')),
    ...CLIENTS.flatMap((client): InjectOptions[] => [
      { url: '/posts/1', headers: { accept: accepts[client] } },
      { url: `/posts/2.${client}` },
      { url: '/posts', headers: { accept: accepts[client] } },
      { url: '/posts?limit=2', headers: { accept: accepts[client] } },
      { url: '/posts/9', headers: { accept: accepts[client] } },
      createPost(client, ''),
      { ...createPost(client, 'Tea'), payload: '{"post":<' },
      { method: 'POST', url: '/posts', headers: { accept: accepts[client], 'content-type': 'text/csv' }, payload: 'a,b' },
      { method: 'PATCH', url: '/posts', headers: { accept: accepts[client] } }
    ]),
    { url: '/posts/1', headers: { accept: accepts.json, 'if-none-match': '"1.json"' } },
    { method: 'PUT', url: '/posts', headers: { 'if-match': '"1.json"' }, payload: { id: 1, post: { title: 'Cake' } } },
    { method: 'PUT', url: '/posts', headers: { 'if-match': '"1.json"' }, payload: { id: 1, post: { title: 'Late' } } },
    { method: 'POST', url: '/posts', headers: { 'content-type': FORM }, payload: '_method=DELETE&id=2' },
    { method: 'DELETE', url: '/posts?id=3' },
    { url: '/posts', headers: { accept: accepts.xml } },
    { url: '/posts', headers: { accept: 'image/png' } }
  ]
  const statuses = new Set<number>()
  for (const request of requests) {
    const [res, expected] = [await app.inject({ ...request, headers: { ...request.headers, ...headers } }), await alone.inject(request)]
    statuses.add(expected.statusCode)
    const what = `${String(request.method ?? 'GET')} ${String(request.url)} ${JSON.stringify(request.headers)}`
    // Where we say nothing of a name, others may.
    const names = OURS.filter((name) => expected.headers[name] !== undefined)
    t.strictSame(ourPart(res, names), ourPart(expected, names), what)
  }
  t.strictSame([...statuses].sort(), [200, 201, 204, 303, 304, 400, 404, 405, 406, 412, 415, 422], 'all that there is has been asked for')
}

/** Of a page. */
function escapeText (text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}

/** A request is refused to each client in its own format, with the same words. */
export async function isRefused (t: Test, app: FastifyInstance, request: InjectOptions, status: number, title: string, detail: string): Promise<LightMyRequestResponse[]> {
  const answers: LightMyRequestResponse[] = []
  for (const client of CLIENTS) {
    const res = await app.inject({ ...request, headers: { ...request.headers, accept: accepts[client] } })
    t.strictSame([res.statusCode, res.headers['content-type']], [status, problems[client]], `${client}: ${String(request.method ?? 'GET')} ${String(request.url)}`)
    if (client === 'json') t.strictSame(res.json(), { type: 'about:blank', title, status, detail })
    else if (client === 'xml') t.equal(res.body, `${xml}<errors><error>${detail}</error></errors>`)
    // A form comes back as it was filled in, with the words above it.
    else {
      t.match(res.body, new RegExp(`<h1>(?:${title}|New post)</h1>`))
      t.ok(res.body.includes(`<ul>\n<li>${escapeText(detail)}</li>\n</ul>`), res.body)
    }
    answers.push(res)
  }
  return answers
}
