import helmet from '@fastify/helmet'
import t from 'tap'
import { accepts, build, CLIENTS, isServed } from './helper.js'

const OURS = "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

t.test('its headers are on every answer, and pages keep their own policies', async (t) => {
  const app = await build(t, 'before', (app) => app.register(helmet))
  for (const url of ['/posts', '/posts/9']) {
    for (const client of CLIENTS) {
      const { headers } = await app.inject({ url, headers: { accept: accepts[client] } })
      t.match(headers, {
        'strict-transport-security': /^max-age=/,
        'x-frame-options': 'SAMEORIGIN',
        'cross-origin-resource-policy': 'same-origin',
        'x-content-type-options': 'nosniff'
      })
      t.equal(headers['referrer-policy'], client === 'html' ? 'same-origin' : 'no-referrer')
      if (client === 'html') t.equal(headers['content-security-policy'], OURS)
      else t.match(headers['content-security-policy'], "script-src 'self'")
    }
  }
})

t.test('with contentSecurityPolicy: false pages keep their own policy', async (t) => {
  const app = await build(
    t, 'before',
    (app) => app.register(helmet, {
      contentSecurityPolicy: { directives: { 'img-src': ["'self'", 'https://img.example.com'] } }
    }),
    { options: { html: { contentSecurityPolicy: false } } }
  )
  await isServed(t, await build(t, 'before', (app) =>
    app.register(helmet), { options: { html: { contentSecurityPolicy: false } } }))
  for (const url of ['/posts.html', '/posts/9.html']) {
    const policy = String((await app.inject(url)).headers['content-security-policy'])
    t.match(policy, "img-src 'self' https://img.example.com")
    // Our pages need these directives.
    for (const directive of ["style-src 'self'", "form-action 'self'"]) t.match(policy, directive)
  }
})

t.test('the stylesheet is served', async (t) => {
  const app = await build(t, 'before', (app) => app.register(helmet))
  const [, path = ''] = /<link rel="stylesheet" href="([^"]+)"/.exec((await app.inject('/posts.html')).body) ?? []
  const { statusCode, headers } = await app.inject(path)
  t.strictSame(
    [statusCode, headers['content-type'], headers['x-frame-options']],
    [200, 'text/css; charset=utf-8', 'SAMEORIGIN']
  )
})
