import { spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { freePort } from '../support/stores/postgres-server.js'
import { startBlog } from './blog.js'
import { visit } from './client/visit.js'
import { type Document, readableByPrism } from './exchange.js'

/** Starts `prism proxy --errors` in front of a server. It is stopped when the test ends. */
async function startProxy (t: Test, file: string, upstream: string): Promise<string> {
  const port = await freePort()
  const cli = fileURLToPath(new URL('node_modules/@stoplight/prism-cli/dist/index.js', import.meta.url))
  const { NODE_OPTIONS: _, NODE_V8_COVERAGE: __, ...env } = process.env
  const child = spawn(
    process.execPath, [cli, 'proxy', file, upstream, '--errors', '--host', '127.0.0.1', '--port', String(port)],
    { env: { ...env, SCARF_ANALYTICS: 'false' } }
  )
  t.teardown(() => child.kill())
  let printed = ''
  await new Promise<void>((resolve, reject) => {
    const read = (chunk: Buffer): void => {
      printed += chunk.toString()
      if (printed.includes('Prism is listening')) resolve()
    }
    child.stdout.on('data', read)
    child.stderr.on('data', read)
    child.on('exit', () => { reject(new Error(printed)) })
  })
  return `http://127.0.0.1:${port}`
}

t.test('the requests of an API client, a desktop program and a browser pass through prism proxy', async (t) => {
  const { app, url } = await startBlog(t)
  const file = join(t.testdir({}), 'blog.json')
  writeFileSync(file, JSON.stringify(readableByPrism(app.swagger() as unknown as Document)))
  const proxy = await startProxy(t, file, url)
  const violations = async (path: string, init: RequestInit = {}): Promise<readonly [number, string | null]> => {
    const response = await fetch(proxy + path, init)
    await response.text()
    return [response.status, response.headers.get('sl-violations')]
  }

  const xml = { 'content-type': 'application/xml', accept: 'application/xml' }
  const html = { accept: 'text/html' }
  for (const [path, status, init] of [
    ['/posts', 200, {}],
    ['/posts?format=json&limit=2&sort=-title', 200, {}],
    ['/posts', 200, { headers: html }],
    ['/posts/1', 200, { headers: { accept: 'application/json' } }],
    ['/posts', 201, { method: 'POST', headers: xml, body: '<post><title>T</title><body>B</body></post>' }],
    ['/posts', 200,
      { method: 'PUT', headers: xml, body: '<post><id type="integer">1</id><rating type="integer">3</rating></post>' }],
    ['/posts/recent?format=json', 200, {}],
    ['/posts/1/publish', 200, { method: 'POST', headers: { accept: 'application/json' } }],
    ['/posts/1/comments', 200, { headers: { accept: 'application/json' } }],
    ['/about?format=json', 200, {}],
    ['/posts?id=1', 204, { method: 'DELETE', headers: { accept: 'application/json' } }]
  ] as const) t.strictSame(await violations(path, init), [status, null], `${path} ${JSON.stringify(init)}`)

  t.equal((await visit(proxy)).length, 16, 'the requests of a generated client pass as well')

  t.strictSame(
    await violations('/posts?limit=many'), [422, null],
    'a request that is not described does not reach the blog, which would answer with 400'
  )
})
