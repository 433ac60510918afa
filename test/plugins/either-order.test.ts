import caching from '@fastify/caching'
import compress from '@fastify/compress'
import cors from '@fastify/cors'
import etag from '@fastify/etag'
import helmet from '@fastify/helmet'
import { FastifyOtelInstrumentation } from '@fastify/otel'
import rateLimit from '@fastify/rate-limit'
import sensible from '@fastify/sensible'
import underPressure from '@fastify/under-pressure'
import view from '@fastify/view'
import websocket from '@fastify/websocket'
import { Eta } from 'eta'
import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { build, isServed, ORDERS } from './helper.js'

const PLUGINS: Readonly<Record<string, (app: FastifyInstance) => unknown>> = {
  caching: (app) => app.register(caching, { privacy: 'private', expiresIn: 300 }),
  compress: (app) => app.register(compress),
  cors: (app) => app.register(cors, { origin: ['https://app.example.com'] }),
  etag: (app) => app.register(etag),
  helmet: (app) => app.register(helmet),
  otel: (app) => app.register(new FastifyOtelInstrumentation().plugin()),
  'rate-limit': (app) => app.register(rateLimit, { max: 1000 }),
  sensible: (app) => app.register(sensible),
  'under-pressure': (app) =>
    app.register(underPressure, { healthCheck: async () => true, healthCheckInterval: 60_000 }),
  view: (app) => app.register(view, { engine: { eta: new Eta() } }),
  websocket: (app) => app.register(websocket)
}

for (const [name, add] of Object.entries(PLUGINS)) {
  for (const order of ORDERS) {
    t.test(`all requests are served beside ${name}, which is registered ${order} the resources`, async (t) => {
      await isServed(t, await build(t, order, add))
    })
  }
}
