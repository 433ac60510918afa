// Loaded before a test file (`node --import`): records the requests and answers of its apps, with their OpenAPI
// descriptions.
import swagger from '@fastify/swagger'
import { createHash } from 'node:crypto'
import { subscribe } from 'node:diagnostics_channel'
import { appendFileSync, mkdirSync } from 'node:fs'
import { basename, join } from 'node:path'

const folder = process.env.OPENAPI_TRAFFIC
/** In characters. Longer bodies are the subject of other tests. */
const LONGEST = 100_000
const DESCRIBED = Symbol('described')

/** Returns the part of a message that a client and a server see. */
function note ({ raw, statusCode, headers, rawPayload }) {
  const { req } = raw ?? {}
  const { payload } = req?._lightMyRequest ?? {}
  const file = basename(process.argv[1])
  // The validator of the comparison would never end with the schemas of the one. The other's handlers answer alone.
  if (file === 'hostile.test.ts' || file === 'authorize.test.ts') return undefined
  // The schemas describe whole records. A selection and a dry run lack attributes that they require.
  if (/[?&](?:only|dry_run)=/.test(req?.url ?? '')) return undefined
  if (req?.[DESCRIBED] !== true || statusCode >= 400) return undefined
  if (Math.max(rawPayload.length, payload?.length ?? 0, req.url.length) > LONGEST) return undefined
  const isRead = payload === undefined || payload === null || typeof payload === 'string' || Buffer.isBuffer(payload)
  if (!isRead) return undefined
  const answer = { status: statusCode, headers, body: rawPayload.toString() }
  return { file, method: req.method, url: req.url, headers: req.headers, body: payload?.toString(), answer }
}

if (folder !== undefined) {
  mkdirSync(folder, { recursive: true })
  subscribe('fastify.initialization', ({ fastify: app }) => {
    const exchanges = []
    const inject = app.inject
    const info = { title: 'Traffic', version: '1.0.0' }
    app.register(swagger, { decorator: 'describeTraffic', openapi: { openapi: '3.1.0', info } })
    app.addHook('onResponse', (request, _reply, done) => {
      const { config } = request.routeOptions
      const transform = config?.swaggerTransform
      request.raw[DESCRIBED] = transform !== undefined && transform({}).schema.hide !== true
      done()
    })
    app.inject = function (options, callback) {
      const answered = inject.call(this, options, callback)
      if (options === undefined || callback !== undefined) return answered
      return Promise.resolve(answered).then((response) => {
        const exchange = note(response)
        if (exchange !== undefined) exchanges.push(exchange)
        return response
      })
    }
    app.addHook('onClose', (_app, done) => {
      if (exchanges.length > 0) {
        const document = JSON.stringify(app.describeTraffic())
        const name = createHash('sha256').update(document).digest('hex')
        const lines = [document, ...new Set(exchanges.map((exchange) => JSON.stringify(exchange)))]
        appendFileSync(join(folder, `${name}.jsonl`), `${lines.join('\n')}\n`)
      }
      done()
    })
  })
}
