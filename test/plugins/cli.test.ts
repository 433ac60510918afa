import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import t, { type Test } from 'tap'
import { documents, xml } from './helper.js'
import { plainTag } from '../support/plain-tag.js'

/** Runs `fastify start`, and returns the URL from its log. */
async function start (t: Test, ...parameters: string[]): Promise<string> {
  const [cli, app] = ['node_modules/fastify-cli/cli.js', 'cli/app.js'].map((file) =>
    new URL(file, import.meta.url).pathname) as [string, string]
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) =>
    !/^(?:NODE_OPTIONS|FASTIFY_|TAP)/.test(name)))
  const child: ChildProcess = spawn(
    process.execPath,
    [cli, 'start', '--port', '0', '--address', '127.0.0.1', '--log-level', 'info', ...parameters, app],
    { stdio: ['ignore', 'pipe', 'inherit'], env }
  )
  t.teardown(async () => {
    child.kill()
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  })
  for await (const line of createInterface(child.stdout as Readable)) {
    const [address] = /http:\/\/127\.0\.0\.1:\d+/.exec(line) ?? []
    if (address !== undefined) return address
  }
  throw new Error('fastify start has ended')
}

t.test('fastify start serves a resource under its prefix', async (t) => {
  const address = await start(t, '--prefix', 'blog')
  const created = await fetch(`${address}/blog/posts`, {
    method: 'POST', headers: { 'content-type': 'application/xml' }, body: '<post><title>Tea</title></post>'
  })
  const record = `${xml}<post><id type="integer">1</id><title>Tea</title></post>`
  t.strictSame(
    [created.status, created.headers.get('location'), created.headers.get('content-type'), await created.text()],
    [201, '/blog/posts/1', documents.xml, record]
  )
  const shown = await fetch(`${address}/blog/posts/1`)
  t.strictSame([shown.status, plainTag(shown.headers.get('etag')), await shown.text()], [200, '"1.xml"', record])
  const page = await fetch(`${address}/blog/posts`, { headers: { accept: 'text/html' } })
  t.strictSame([page.status, page.headers.get('content-type')], [200, documents.html])
  t.match(await page.text(), /<h1>Posts<\/h1>/)
  t.equal((await fetch(`${address}/posts`)).status, 404)
})
