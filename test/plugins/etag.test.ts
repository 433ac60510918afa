import { createHash } from 'node:crypto'
import etag from '@fastify/etag'
import t from 'tap'
import { memoryStore } from '../../dist/index.js'
import { accepts, build, CLIENTS, createPost, ORDERS } from './helper.js'
import { plainTag } from '../support/plain-tag.js'

const LONG = 5000
const hash = (body: string): string => `"${createHash('sha1').update(body).digest('base64')}"`

for (const order of ORDERS) {
  t.test(`registered ${order} the resources`, async (t) => {
    await t.test('records keep the tag of the resource, and a list has a tag of the plugin if it is written before ' +
      'the plugin reads it', async (
      t
    ) => {
      const app = await build(t, order, (app) => app.register(etag))
      for (const client of CLIENTS) await app.inject(createPost(client, 'Tea'))
      for (const client of CLIENTS) {
        const headers = { accept: accepts[client] }
        const { headers: { etag: own } } = await app.inject({ url: '/posts/1', headers })
        t.equal(plainTag(own), `"1.${client}"`, 'a record has our tag')
        const list = await app.inject({ url: '/posts', headers })
        // Our onSend hook writes XML and HTML. It runs after the hooks that the app added before.
        const tag = client === 'json' || order === 'after' ? hash(list.body) : undefined
        t.equal(list.headers.etag, tag, 'a list has the plugin\'s tag')
        const tags = [['/posts/1', String(own)], ...tag === undefined ? [] : [['/posts', tag]]] as const
        for (const [url, tag] of tags) {
          const { statusCode, body } = await app.inject({ url, headers: { ...headers, 'if-none-match': tag } })
          t.strictSame([statusCode, body], [304, ''])
          t.equal((await app.inject({ url, headers: { ...headers, 'if-none-match': '"0"' } })).statusCode, 200)
        }
      }
      await app.inject({ method: 'PUT', url: '/posts', payload: { id: 1, post: { title: 'Cake' } } })
      for (const client of CLIENTS) {
        t.equal(
          plainTag(
            (await app.inject({
              url: '/posts/1', headers: { accept: accepts[client], 'if-none-match': `"1.${client}"` }
            })).headers.etag
          ),
          `"2.${client}"`
        )
      }
    })

    await t.test('a streamed list has no tag', async (t) => {
      const store = memoryStore()
      for (let id = 1; id <= LONG; id++) store.create({ title: 'Tea' }, {})
      const app = await build(t, order, (app) => app.register(etag), { options: { store } })
      for (const client of ['xml', 'json'] as const) {
        const { statusCode, headers, body } = await app.inject(`/posts.${client}`)
        t.strictSame([statusCode, headers.etag], [200, undefined])
        t.equal(body.match(/Tea/g)?.length, LONG)
      }
    })
  })
}
