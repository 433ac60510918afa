import cors from '@fastify/cors'
import t from 'tap'
import { accepts, build, CLIENTS, createPost, isRefused } from './helper.js'

const FRIEND = 'https://app.example.com'
const OTHER = 'https://other.example.com'
const opened = {
  origin: [FRIEND], methods: ['GET', 'HEAD', 'POST', 'PUT', 'DELETE'], exposedHeaders: ['ETag', 'Location', 'Link']
}

const open = await build(t, 'before', (app) => app.register(cors, opened), { options: { trustedOrigins: [FRIEND] } })

t.test('the plugin answers preflights on all our paths, and we answer other OPTIONS requests', async (t) => {
  for (const url of ['/posts', '/posts/1', '/posts.json']) {
    const asked = await open.inject({
      method: 'OPTIONS',
      url,
      headers: {
        origin: FRIEND, 'access-control-request-method': 'PUT', 'access-control-request-headers': 'if-match'
      }
    })
    t.strictSame([asked.statusCode, asked.body, asked.headers.allow], [204, '', undefined])
    t.match(asked.headers, {
      'access-control-allow-origin': FRIEND,
      'access-control-allow-methods': 'GET, HEAD, POST, PUT, DELETE',
      'access-control-allow-headers': 'if-match'
    })
    const foreign = await open.inject({
      method: 'OPTIONS', url, headers: { origin: OTHER, 'access-control-request-method': 'PUT' }
    })
    t.equal(foreign.headers['access-control-allow-origin'], undefined)
  }
  const strict = await open.inject({ method: 'OPTIONS', url: '/posts' })
  t.strictSame(
    [strict.statusCode, strict.body], [400, 'Invalid Preflight Request'],
    'cors takes this request for a preflight too'
  )
  const lenient = await build(t, 'before', (app) => app.register(cors, { origin: [FRIEND], preflight: false }))
  const plain = await lenient.inject({ method: 'OPTIONS', url: '/posts' })
  t.strictSame([plain.statusCode, plain.headers.allow], [204, 'GET, HEAD, QUERY, POST, PUT, DELETE, OPTIONS'])
})

t.test('a browser of a trusted origin reads and writes', async (t) => {
  for (const client of CLIENTS) {
    const request = createPost(client, 'Tea')
    const res = await open.inject({
      ...request, headers: { ...request.headers, origin: FRIEND, 'sec-fetch-site': 'cross-site' }
    })
    t.equal(res.statusCode, client === 'html' ? 303 : 201)
    t.match(res.headers, {
      'access-control-allow-origin': FRIEND,
      'access-control-expose-headers': 'ETag, Location, Link',
      location: /^\/posts\/\d$/
    })
    t.strictSame(String(res.headers.vary).split(/, */).sort(), ['Accept', 'Origin'])
  }
  const { headers, body } = await open.inject({
    url: '/posts/1', headers: { accept: accepts.json, origin: FRIEND, 'sec-fetch-site': 'cross-site' }
  })
  t.strictSame([headers['access-control-allow-origin'], body], [FRIEND, '{"post":{"id":1,"title":"Tea"}}'])
})

t.test('another origin is refused, even one that only cors allows', async (t) => {
  for (const origin of [OTHER, 'null']) {
    const named = origin === 'null' ? 'its origin' : `"${origin}"`
    await isRefused(
      t, open,
      {
        method: 'POST',
        url: '/posts',
        headers: { origin, 'sec-fetch-site': 'cross-site' },
        payload: { post: { title: 'Forged' } }
      },
      403, 'Forbidden',
      'the request comes from another site: Sec-Fetch-Site is cross-site; if its pages may write here, ' +
        `add ${named} to the option trustedOrigins`
    )
  }
  const half = await build(t, 'before', (app) => app.register(cors, { origin: [FRIEND] }))
  const res = await half.inject({
    method: 'POST',
    url: '/posts',
    headers: { accept: accepts.json, origin: FRIEND, 'sec-fetch-site': 'cross-site' },
    payload: { post: { title: 'Forged' } }
  })
  t.strictSame(
    [res.statusCode, res.headers['access-control-allow-origin']], [403, FRIEND], 'the browser may read the reason'
  )
  t.equal((await half.inject('/posts.json')).body, '{"posts":[]}')
})
