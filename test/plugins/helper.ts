import fastify, {
  type FastifyInstance, type FastifyServerOptions, type InjectOptions, type LightMyRequestResponse
} from 'fastify'
import type { Test } from 'tap'
import resources, { memoryStore, type ResourceOptions, type Store } from '../../dist/index.js'
import { plainTag } from '../support/plain-tag.js'

export type Client = 'xml' | 'html' | 'json'

export const CLIENTS: readonly Client[] = ['xml', 'html', 'json']
export const accepts = { xml: 'application/xml', html: 'text/html', json: 'application/json' } as const
export const documents = {
  xml: 'application/xml; charset=utf-8', html: 'text/html; charset=utf-8', json: 'application/json; charset=utf-8'
} as const
export const problems = { ...documents, json: 'application/problem+json; charset=utf-8' } as const
export const xml = '<?xml version="1.0" encoding="UTF-8"?>\n'
export const FORM = 'application/x-www-form-urlencoded'

/** Whether the other plugin is registered before ours or after it. */
export type Order = 'before' | 'after'

export const ORDERS: readonly Order[] = ['before', 'after']

export const attributes = {
  type: 'object', required: ['title'], properties: { title: { type: 'string', minLength: 1, maxLength: 80 } }
} as const

/** Returns a store with one row, whose title is `Tea`, and the recorded calls. */
export function recordingStore (): { readonly store: Store, readonly calls: string[] } {
  const store = memoryStore()
  store.create({ title: 'Tea' }, {})
  const calls: string[] = []
  // The proxy needs a copy, because it may not return another value for a frozen property.
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
  /** The options of the resource, or a function if they need what `add` has added. */
  readonly options?: Options | ((app: FastifyInstance) => Options)
  readonly server?: FastifyServerOptions
}

/** Builds an app with posts, and calls `add` before or after our plugin. The app is closed when the test ends. */
export async function build (t: Test, order: Order, add: (app: FastifyInstance) => unknown, {
  options = {}, server
}: BuildOptions = {}): Promise<FastifyInstance> {
  const app = fastify(server)
  t.teardown(() => app.close())
  if (order === 'before') await add(app)
  await app.register(resources, {
    name: 'posts', attributes, ...typeof options === 'function' ? options(app) : options
  })
  if (order === 'after') await add(app)
  await app.ready()
  return app
}

/** Returns a request that creates a post in the client's format. */
export function createPost (client: Client, title: string): InjectOptions & { headers: Record<string, string> } {
  if (client === 'json') {
    return {
      method: 'POST',
      url: '/posts',
      headers: { 'content-type': 'application/json' },
      payload: JSON.stringify({ post: { title } })
    }
  }
  if (client === 'xml') {
    return {
      method: 'POST',
      url: '/posts',
      headers: { 'content-type': 'application/xml' },
      payload: `<post><title>${title}</title></post>`
    }
  }
  return {
    method: 'POST',
    url: '/posts',
    headers: { 'content-type': FORM, 'sec-fetch-site': 'same-origin' },
    payload: new URLSearchParams({ 'post[title]': title }).toString()
  }
}

const OURS = ['content-type', 'etag', 'location', 'allow', 'accept', 'link'] as const

/** Returns our part of an answer. Of Vary it tells only whether Accept is named, since others may add names. */
function ourPart ({ statusCode, headers, body }: LightMyRequestResponse, names: readonly string[]): unknown[] {
  // The schemas of the two may describe the same attributes in other words, which changes the shape in the tag.
  const own = names.map((name) => name === 'etag' ? plainTag(headers.etag) : headers[name])
  return [statusCode, own, /\bAccept\b(?!-)/.test(String(headers.vary)), body]
}

/** Checks that a new resource answers like one in an app of its own, to the byte and in each format. */
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
      {
        method: 'POST', url: '/posts', headers: { accept: accepts[client], 'content-type': 'text/csv' }, payload: 'a,b'
      },
      { method: 'PATCH', url: '/posts', headers: { accept: accepts[client] } }
    ]),
    { url: '/posts/1', headers: { accept: accepts.json, 'if-none-match': '*' } },
    { method: 'PUT', url: '/posts', headers: { 'if-match': '"1.json"' }, payload: { id: 1, post: { title: 'Cake' } } },
    { method: 'PUT', url: '/posts', headers: { 'if-match': '"1.json"' }, payload: { id: 1, post: { title: 'Late' } } },
    { method: 'POST', url: '/posts', headers: { 'content-type': FORM }, payload: '_method=DELETE&id=2' },
    { method: 'DELETE', url: '/posts?id=3' },
    { url: '/posts', headers: { accept: accepts.xml } },
    { url: '/posts', headers: { accept: 'image/png' } }
  ]
  const statuses = new Set<number>()
  for (const request of requests) {
    const [res, expected] = [
      await app.inject({ ...request, headers: { ...request.headers, ...headers } }), await alone.inject(request)
    ]
    statuses.add(expected.statusCode)
    const what = `${String(request.method ?? 'GET')} ${String(request.url)} ${JSON.stringify(request.headers)}`
    // Others may set headers that we do not set.
    const names = OURS.filter((name) => expected.headers[name] !== undefined)
    t.strictSame(ourPart(res, names), ourPart(expected, names), what)
  }
  t.strictSame(
    [...statuses].sort(), [200, 201, 204, 303, 304, 400, 404, 405, 406, 412, 415, 422], 'every status has occurred'
  )
}

/** Escapes a text as a page does. */
function escapeText (text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}

/** Checks that a request is refused to each client in its own format, with the same words. */
export async function isRefused (
  t: Test, app: FastifyInstance, request: InjectOptions, status: number, title: string, detail: string
): Promise<LightMyRequestResponse[]> {
  const answers: LightMyRequestResponse[] = []
  for (const client of CLIENTS) {
    const res = await app.inject({ ...request, headers: { ...request.headers, accept: accepts[client] } })
    t.strictSame(
      [res.statusCode, res.headers['content-type']], [status, problems[client]],
      `${client}: ${String(request.method ?? 'GET')} ${String(request.url)}`
    )
    if (client === 'json') t.strictSame(res.json(), { type: 'about:blank', title, status, detail })
    else if (client === 'xml') t.equal(res.body, `${xml}<errors><error>${detail}</error></errors>`)
    // A form comes back with its values and with the words above it.
    else {
      const [heading = ''] = /<h1>[^<]*<\/h1>/.exec(res.body) ?? []
      const isListed = heading === '<h1>New post</h1>' || heading === '<h1>There is a problem</h1>'
      const said = escapeText(detail)
      t.equal(heading, isListed ? heading : `<h1>${said.charAt(0).toUpperCase()}${said.slice(1)}</h1>`)
      t.ok(!isListed || res.body.includes(`<ul>\n<li>${said}</li>\n</ul>`), res.body)
    }
    answers.push(res)
  }
  return answers
}
