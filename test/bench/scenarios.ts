import { makePost } from './posts.js'

export interface Request {
  readonly method: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

/** A request that each contender answers. */
export interface Scenario {
  readonly name: string
  readonly request: Request
  /** How many requests a round has. */
  readonly count: number
  /** The request that asks Feathers for the same. Undefined: it has no such answer. */
  readonly feathers?: Request
}

const json = 'application/json'
const xml = 'application/xml'
const html = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'

const get = (url: string, accept: string): Request => ({ method: 'GET', url, headers: { accept } })
const send = (method: string, url: string, type: string, body: string): Request =>
  ({ method, url, headers: { accept: type, 'content-type': type }, body })

const post = makePost(1003)
const change = { title: makePost(77).title, rating: 3 }
const xmlPost = `<post><title>${post.title}</title><body>${post.body}</body>` +
  `<published type="boolean">${post.published}</published><rating type="integer">${post.rating}</rating></post>`

/** What the routes by hand and in Express answer too. */
export const scenarios: readonly Scenario[] = [
  { name: 'show JSON', count: 4000, request: get('/posts/7', json), feathers: get('/posts/7', json) },
  { name: 'show XML', count: 4000, request: get('/posts/7', xml) },
  {
    name: 'list of 20 JSON',
    count: 2000,
    request: get('/posts?limit=20', json),
    feathers: get('/posts?$limit=20', json)
  },
  { name: 'list of 20 XML', count: 2000, request: get('/posts?limit=20', xml) },
  { name: 'list of 1,000 JSON', count: 100, request: get('/posts?limit=1000', json) },
  { name: 'list of 1,000 XML', count: 100, request: get('/posts?limit=1000', xml) },
  {
    name: 'create JSON',
    count: 2000,
    request: send('POST', '/posts', json, JSON.stringify({ post })),
    feathers: send('POST', '/posts', json, JSON.stringify(post))
  },
  {
    name: 'update JSON',
    count: 3000,
    request: send('PUT', '/posts', json, JSON.stringify({ id: 9, post: change })),
    feathers: send('PATCH', '/posts/9', json, JSON.stringify(change))
  }
]

/** What only a resource answers. */
export const resourceScenarios: readonly Scenario[] = [
  { name: 'create XML', count: 2000, request: send('POST', '/posts', xml, xmlPost) },
  { name: 'show HTML', count: 1000, request: get('/posts/7', html) },
  { name: 'list of 20 HTML', count: 400, request: get('/posts?limit=20', html) }
]
