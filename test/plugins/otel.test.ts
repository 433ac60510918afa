import { FastifyOtelInstrumentation } from '@fastify/otel'
import {
  BasicTracerProvider, InMemorySpanExporter, type ReadableSpan, SimpleSpanProcessor
} from '@opentelemetry/sdk-trace-base'
import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { accepts, build, CLIENTS, createPost, ORDERS } from './helper.js'

/** Returns the plugin, and a function that returns the spans that have ended since its last call. */
function instrument (): { add: (app: FastifyInstance) => unknown, spans: () => ReadableSpan[] } {
  const exporter = new InMemorySpanExporter()
  const instrumentation = new FastifyOtelInstrumentation()
  instrumentation.setTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }))
  return {
    add: (app) => app.register(instrumentation.plugin()),
    spans () {
      const spans = exporter.getFinishedSpans()
      exporter.reset()
      return spans
    }
  }
}

for (const order of ORDERS) {
  t.test(`registered ${order} the resources`, async (t) => {
    await t.test('each request has a span with the URL pattern of its route and its status', async (t) => {
      const { add, spans } = instrument()
      const app = await build(t, order, add)
      const cases = [
        ...CLIENTS.map((client) => [createPost(client, 'Tea'), '/posts', client === 'html' ? 303 : 201] as const),
        ...CLIENTS.flatMap((client) => {
          const headers = { accept: accepts[client] }
          return [
            [{ url: '/posts', headers }, '/posts', 200],
            [{ url: '/posts/1', headers }, '/posts/:id', 200],
            [{ url: `/posts/1.${client}` }, '/posts/:id', 200],
            [{ url: `/posts.${client}` }, '/posts.:__suffix(^(?:xml|html|json)$)', 200],
            [{ url: '/posts/9', headers }, '/posts/:id', 404],
            [createPost(client, ''), '/posts', 422]
          ] as const
        })
      ] as const
      for (const [request, route, status] of cases) {
        await app.inject(request)
        // If the plugin does not see our routes, the span ends with the response.
        await new Promise((resolve) => setImmediate(resolve))
        const found = spans()
        const roots = found.filter(({ attributes }) => attributes['fastify.root'] === '@fastify/otel')
        t.strictSame(
          roots.map(
            ({ name, attributes }) => [name, attributes['http.route'], attributes['http.response.status_code']]
          ),
          [['request', route, status]], `${String(request.url)}`
        )
        const [root] = roots
        const handlers = found.filter(({ name }) => name.startsWith('handler'))
        if (order === 'before') {
          t.ok(found.every((span) =>
            span === root || span.parentSpanContext?.spanId === root?.spanContext().spanId), 'inner spans have it as ' +
              'their parent')
        }
        t.equal(handlers.length > 0, order === 'before', 'registered before ours, it adds a span for the handler')
      }
    })

    await t.test('an error is recorded in its span', async (t) => {
      const { add, spans } = instrument()
      const app = await build(t, order, add, {
        options: {
          actions: {
            show: () => {
              throw new Error('the disk is gone')
            }
          }
        }
      })
      t.equal((await app.inject('/posts/1')).statusCode, 500)
      await new Promise((resolve) => setImmediate(resolve))
      const [root] = spans().filter(({ attributes }) => attributes['fastify.root'] === '@fastify/otel')
      t.equal(root?.attributes['http.response.status_code'], 500)
      if (order === 'before') t.match(root?.status, { code: 2, message: 'the disk is gone' })
    })
  })
}
