import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import websocket from '@fastify/websocket'
import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { WebSocket } from 'ws'
import { build, createPost, ORDERS } from './helper.js'

async function add (app: FastifyInstance): Promise<void> {
  await app.register(websocket)
  await app.register(async (scope) => {
    scope.get('/echo', { websocket: true }, (socket) => {
      socket.on('message', (message) => { socket.send(`echo ${String(message)}`) })
    })
  })
}

for (const order of ORDERS) {
  t.test(`registered ${order} the resources`, async (t) => {
    await t.test('the app serves sockets, and a socket that is opened on the path of a resource is closed', async (
      t
    ) => {
      const app = await build(t, order, add)
      await app.listen({ port: 0, host: '127.0.0.1' })
      const { port } = app.server.address() as AddressInfo
      const socket = new WebSocket(`ws://127.0.0.1:${port}/echo`)
      await once(socket, 'open')
      socket.send('tea')
      const [message] = await once(socket, 'message')
      t.equal(String(message), 'echo tea')
      for (const path of ['/posts', '/posts/1']) {
        const other = new WebSocket(`ws://127.0.0.1:${port}${path}`)
        const seen: string[] = []
        other.on('open', () => { seen.push('open') })
        other.on('error', ({ message }) => { seen.push(message) })
        await new Promise((resolve) => { other.on('close', resolve) })
        // Registered after ours, it does not see our routes, which answer as usual.
        t.strictSame(seen, [
          order === 'before' ? 'open' : `Unexpected server response: ${path === '/posts' ? 200 : 404}`
        ])
      }
      const { headers, payload } = createPost('json', 'Tea')
      const created = await fetch(`http://127.0.0.1:${port}/posts`, { method: 'POST', headers, body: String(payload) })
      t.strictSame([created.status, await created.text()], [201, '{"post":{"id":1,"title":"Tea"}}'])
      socket.close()
      await once(socket, 'close')
    })
  })
}
