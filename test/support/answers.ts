import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from 'fastify'
import type { Test } from 'tap'
import { STATUS_CODES } from 'node:http'
import { humanize } from '../../lib/core/resource/inflection.js'
import { type Attributes, memoryStore, type MemoryStore, type ResourceOptions } from '../../lib/index.js'
import { build, post, types } from './helper.js'
import { resettableStore } from './stores/resettable-store.js'

export interface Row { id: number, title: string, body?: string, published: boolean }
interface Problem { type: string, title: string, status: number, detail: string, errors?: Record<string, string[]> }
export const form = 'application/x-www-form-urlencoded'
export const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8'
export const accepts = { json: 'application/json', xml: 'application/xml', html: browser }
export const first: Row = { id: 1, title: 'T', body: 'B', published: false }
export const second: Row = { id: 2, title: 'Taken', published: false }

export function json (body: unknown, type = 'application/json'): InjectOptions {
  return {
    headers: { 'content-type': type },
    payload: typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body)
  }
}

export function withHeaders (request: InjectOptions, headers: Record<string, string>): InjectOptions {
  return { ...request, headers: { ...request.headers, ...headers } }
}

/** Returns a store with the rows 1 (T) and 2 (Taken), where titles are unique. */
export function twoRows (): MemoryStore {
  const store = memoryStore<Attributes>({ unique: ['title'] })
  for (const { id, ...row } of [first, second]) store.create(row, {})
  return store
}

export async function rows (app: FastifyInstance): Promise<unknown> {
  return (await app.inject('/posts.json')).json()
}

export function isPage (t: Test, res: LightMyRequestResponse, status: number): void {
  t.strictSame([res.statusCode, res.headers['content-type']], [status, types.html])
  t.match(res.body, /^<!doctype html\b[^]*<\/html>\s*$/i, 'a complete page')
}

/** Checks that the answer is this one error as a complete JSON problem. */
export function isProblem (t: Test, res: LightMyRequestResponse, status: number): Problem {
  t.strictSame([res.statusCode, res.headers['content-type']], [status, types.problem])
  const problem = res.json<Problem>()
  const { detail, errors, ...rest } = problem
  t.strictSame(rest, { type: 'about:blank', title: STATUS_CODES[status], status })
  t.match(detail, /\S/, 'the detail is not empty')
  if (status !== 422 && status !== 409) t.equal(errors, undefined)
  return problem
}

const entities: Record<string, string> = {
  '&lt;': '<', '&gt;': '>', '&amp;': '&', '&quot;': '"', '&apos;': "'", '&#39;': "'"
}

function unescape (text: string): string {
  return text.replace(/&[#\w]+;/g, entity => entities[entity] ?? entity)
}

/** Checks that the answer is the same error as an XML document. */
export function isXmlOf (t: Test, res: LightMyRequestResponse, problem: Problem): void {
  t.strictSame([res.statusCode, res.headers['content-type']], [problem.status, types.xml])
  t.match(
    res.body,
    /^<\?xml version="1\.0" encoding="UTF-8"\?>\n<errors>(<error( attribute="[^"<&]+")?>[^<]+<\/error>)+<\/errors>$/
  )
  const found = [...res.body.matchAll(/<error(?: attribute="([^"]+)")?>([^<]+)</g)].map(
    ([, attribute, text]) => [attribute, unescape(text ?? '')]
  )
  const expected = Object.entries(problem.errors ?? {}).flatMap(([attribute, messages]) =>
    messages.map(message => [attribute, `${humanize(attribute)} ${message}`]))
  t.strictSame(found, expected.length > 0 ? expected : [[undefined, problem.detail]])
}

/** Checks that one request is refused in each of the three formats, and changes nothing. */
export async function isRefused (t: Test, app: FastifyInstance, request: InjectOptions, status: number): Promise<[
  problem: Problem, headers: LightMyRequestResponse['headers'], page: string
]> {
  const before = await rows(app)
  const res = await app.inject(withHeaders(request, { accept: accepts.json }))
  const problem = isProblem(t, res, status)
  isXmlOf(t, await app.inject(withHeaders(request, { accept: accepts.xml })), problem)
  const page = await app.inject(withHeaders(request, { accept: accepts.html }))
  isPage(t, page, status)
  t.strictSame(await rows(app), before, 'nothing was changed')
  return [problem, res.headers, page.body]
}

export function xmlRow ({ id, title, body, published }: Row): string {
  const text = body === undefined ? '' : `<body>${body}</body>`
  return `<post><id type="integer">${id}</id><title>${title}</title>${text}<published ` +
    `type="boolean">${published}</published></post>`
}

/** Builds an app with the rows 1 (T) and 2 (Taken), where titles are unique. */
export async function seeded (
  t: Test, options: Omit<ResourceOptions, 'name'> = {}, before: (app: FastifyInstance) => void = () => {}
): Promise<FastifyInstance> {
  return build(t, { name: 'posts', attributes: post, store: twoRows(), ...options }, { before })
}

/** Builds an app with these rows, and a function that puts them back. */
export async function seededAgain (
  t: Test, options: Omit<ResourceOptions, 'name'> = {}
): Promise<[app: FastifyInstance, reset: () => void]> {
  const store = resettableStore(twoRows)
  return [await seeded(t, { store, ...options }), store.reset]
}
