import caching from '@fastify/caching'
import t from 'tap'
import { accepts, build, CLIENTS, createPost, ORDERS } from './helper.js'
import { plainTag } from '../support/plain-tag.js'

for (const order of ORDERS) {
  t.test(`registered ${order} the resources`, async (t) => {
    const add = (app: Parameters<Parameters<typeof build>[2]>[0]): unknown =>
      app.register(caching, { privacy: 'private', expiresIn: 300 })

    await t.test('registered first, it lets caches store successful answers, but no errors and redirects', async (
      t
    ) => {
      const [succeeded, other] = order === 'before'
        ? ['private, max-age=300', 'no-store']
        : ['private, no-cache', 'private, no-cache']
      const app = await build(t, order, add)
      for (const client of CLIENTS) {
        const created = await app.inject(createPost(client, 'Tea'))
        t.equal(created.headers['cache-control'], client === 'html' ? other : succeeded)
        for (const [url, control] of [
          ['/posts', succeeded], ['/posts/1', succeeded], ['/posts/9', other], ['/posts?x=1', other]
        ] as const) {
          const { headers } = await app.inject({ url, headers: { accept: accepts[client] } })
          t.strictSame([headers['cache-control'], headers.vary], [control, 'Accept'], `${client} ${url}`)
        }
        const same = await app.inject({ url: '/posts/1', headers: { accept: accepts[client], 'if-none-match': '*' } })
        t.strictSame([same.statusCode, plainTag(same.headers.etag), same.body], [304, `"1.${client}"`, ''])
      }
    })

    await t.test('the stylesheet may be cached forever', async (t) => {
      const app = await build(t, order, add)
      const [, path = ''] = /<link rel="stylesheet" href="([^"]+)"/.exec((await app.inject('/posts.html')).body) ?? []
      t.equal((await app.inject(path)).headers['cache-control'], 'public, max-age=31536000, immutable')
    })
  })
}
