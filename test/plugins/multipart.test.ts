import multipart from '@fastify/multipart'
import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { build, isRefused, isServed, ORDERS } from './helper.js'

const type = 'multipart/form-data; boundary=X'
const payload =
  '--X\r\nContent-Disposition: form-data; name="post[title]"\r\n\r\nTea\r\n--X\r\nContent-Disposition: form-data; ' +
    'name="file"; filename="a.txt"\r\nContent-Type: text/plain\r\n\r\nhello\r\n--X--\r\n'

for (const order of ORDERS) {
  for (const attachFieldsToBody of [false, true]) {
    t.test(`registered ${order} the resources, ${attachFieldsToBody
      ? 'with'
      : 'without'} the fields in the body`, async (t) => {
      const app = await build(t, order, async (app: FastifyInstance) => {
        await app.register(multipart, { attachFieldsToBody })
        app.post('/upload', async (request) => {
          const file = attachFieldsToBody
            ? (request.body as { file: { toBuffer: () => Promise<Buffer>, filename: string } }).file
            : await request.file()
          return { name: file?.filename, text: String(await file?.toBuffer()) }
        })
      })

      await t.test('all requests are served', async (t) => {
        await isServed(t, app)
      })

      await t.test('routes of the app read its bodies, and resources never do', async (t) => {
        const uploaded = await app.inject({
          method: 'POST', url: '/upload', headers: { 'content-type': type }, payload
        })
        t.strictSame(uploaded.json(), { name: 'a.txt', text: 'hello' })
        const readable = 'application/xml, text/xml, application/json, application/x-www-form-urlencoded'
        const answers = await isRefused(
          t, app, { method: 'POST', url: '/posts', headers: { 'content-type': type }, payload }, 415,
          'Unsupported Media Type',
          `multipart/form-data cannot be read here; send ${readable}; set the header Content-Type to the type of the ` +
            'body'
        )
        for (const { headers } of answers) t.equal(headers.accept, readable)
      })
    })
  }
}
