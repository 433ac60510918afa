import { readFileSync } from 'node:fs'
import fastifyStatic from '@fastify/static'
import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { build, isServed, ORDERS } from './helper.js'

const root = new URL('public', import.meta.url).pathname
const textOf = (file: string): string => readFileSync(`${root}/${file}`, 'utf8')

for (const order of ORDERS) {
  t.test(`registered ${order} the resources`, async (t) => {
    await t.test('its wildcard leaves our paths to us and serves the others', async (t) => {
      const app = await build(t, order, (app) => app.register(fastifyStatic, { root }))
      await isServed(t, app)
      for (const [url, file] of [
        ['/', 'index.html'], ['/site.css', 'site.css'], ['/posts/readme.txt/', undefined], ['/nothing.css', undefined]
      ] as const) {
        const { statusCode, body } = await app.inject(url)
        if (file === undefined) t.equal(statusCode, 404, url)
        else t.strictSame([statusCode, body], [200, textOf(file)], url)
      }
      t.match((await app.inject('/posts.html')).body, '<h1>Posts</h1>', 'our path is ours, whatever files exist')
      t.equal((await app.inject({ method: 'PATCH', url: '/posts' })).statusCode, 405)
      t.equal((await app.inject({ method: 'PATCH', url: '/site.css' })).statusCode, 404)
    })

    await t.test('all files are served under a prefix', async (t) => {
      const app = await build(t, order, (app) => app.register(fastifyStatic, { root, prefix: '/public/' }))
      await isServed(t, app)
      for (const file of ['site.css', 'posts/readme.txt', 'posts.html']) {
        t.equal((await app.inject(`/public/${file}`)).body, textOf(file))
      }
    })

    await t.test('without a wildcard, a file with the path of a resource stops the start if the plugin comes first, ' +
      'and hides the resource if it comes second', async (
      t
    ) => {
      const clashing = (app: FastifyInstance): unknown => app.register(fastifyStatic, { root, wildcard: false })
      if (order === 'before') {
        return await t.rejects(build(
          t, order, clashing
        ), { code: 'FST_ERR_DUPLICATED_ROUTE', message: /'\/posts\.html'/ })
      }
      const app = await build(t, order, clashing)
      t.equal((await app.inject('/posts.html')).body, textOf('posts.html'))
      t.equal((await app.inject('/posts/readme.txt')).body, textOf('posts/readme.txt'))
      t.equal((await app.inject('/posts.json')).body, '{"posts":[]}')
      t.match((await app.inject({ url: '/posts', headers: { accept: 'text/html' } })).body, '<h1>Posts</h1>')
    })

    await t.test('a handler of a resource can send a file', async (t) => {
      const app = await build(t, order, (app) =>
        app.register(fastifyStatic, { root, serve: false }), {
        options: {
          actions: {
            show: ({ reply }) =>
              reply.sendFile('site.css')
          }
        }
      })
      const { statusCode, headers, body } = await app.inject('/posts/1')
      t.strictSame([statusCode, headers['content-type'], body], [200, 'text/css; charset=utf-8', textOf('site.css')])
    })
  })
}
