import fastify, {
  type FastifyInstance, type FastifyServerOptions, type InjectOptions, type LightMyRequestResponse
} from 'fastify'
import { type Test } from 'tap'
import resources, { type ResourceOptions } from '../../lib/index.js'
import { types } from './helper.js'

export type Client = keyof typeof accepts

export const form = 'application/x-www-form-urlencoded'
export const accepts = { xml: 'application/xml', json: 'application/json', html: 'text/html' }
export const problems = { xml: types.xml, json: types.problem, html: types.html }
export const clients: Client[] = ['xml', 'json', 'html']

export const attributes = {
  type: 'object', required: ['title'], properties: { title: { type: 'string', minLength: 1 } }
} as const

export function send (
  method: 'POST' | 'PUT' | 'DELETE', url: string, type: string, payload: string
): InjectOptions & { headers: Record<string, string> } {
  return { method, url, headers: { 'content-type': type }, payload }
}

/** Returns the detail of a problem in any format. */
export function detailOf (client: Client, { body }: LightMyRequestResponse): string | undefined {
  if (client === 'json') return (JSON.parse(body) as { detail: string }).detail
  if (client === 'xml') return /<error>([^<]*)<\/error>/.exec(body)?.[1]
  // A short detail is the heading of its page.
  const [, heading = '', said = heading] =
    /<div class="(?:empty|problem)" role="alert">\n<h1>([^<]*)<\/h1>\n(?:(?:<ul>\n<li>|<p>)([^<]+)<)?/.exec(body) ?? []
  return said
}

/** Checks that one request is refused to every client in its own format. */
export async function isRefused (
  t: Test, app: FastifyInstance, request: InjectOptions, status: number, detail?: string
): Promise<void> {
  for (const client of clients) {
    const res = await app.inject({ ...request, headers: { ...request.headers, accept: accepts[client] } })
    t.strictSame([res.statusCode, res.headers['content-type']], [status, problems[client]],
      `${client}: ${String(request.method ?? 'GET')} ${String(request.url)}`)
    if (detail === undefined) continue
    // A page says a bare status in a sentence, and begins each sentence with a capital letter.
    const isPage = client === 'html'
    const said = isPage && detail === 'Not Found' ? 'This page does not exist' : detail
    const found = detailOf(client, res)
    t.equal(isPage ? found?.toLowerCase() : found, isPage ? said.toLowerCase() : said)
  }
}

export async function create (app: FastifyInstance, url: string, title: string): Promise<LightMyRequestResponse> {
  return await app.inject({ method: 'POST', url, headers: { accept: accepts.json }, payload: { post: { title } } })
}

export async function titles (app: FastifyInstance, url: string): Promise<string[]> {
  return (await app.inject({
    url, headers: { accept: accepts.json }
  })).json<{ posts: Array<{ title: string }> }>().posts.map(({ title }) => title)
}

export const money = {
  $id: 'money',
  $schema: 'http://json-schema.org/draft-07/schema#',
  type: 'object',
  required: ['amount'],
  properties: { amount: { $ref: '#/definitions/amount' }, currency: { $ref: 'currency#' }, fee: { $ref: '#' } },
  definitions: { amount: { type: 'integer', minimum: 0 } }
}
export const currency = { $id: 'currency', type: 'string', enum: ['EUR', 'USD'] }

export async function start (
  t: Test, options: ResourceOptions, server?: FastifyServerOptions, before?: (app: FastifyInstance) => unknown
): Promise<FastifyInstance> {
  const app = fastify(server)
  t.teardown(() => app.close())
  for (const schema of [money, currency]) app.addSchema(schema)
  await before?.(app)
  app.register(resources, options)
  await app.ready()
  return app
}
