// A JSON API with an OpenAPI description, a page to try it, and a typed client that is generated from the description.
//
//   npm run example example/json-api.ts         then open http://localhost:3000/documentation
//   npm run example example/json-client.ts      in another shell: a client with generated types
import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import fastify from 'fastify'
import { draw } from 'fastify-resources'

const book = {
  type: 'object',
  required: ['title', 'author'],
  properties: {
    title: { type: 'string', minLength: 1, maxLength: 200 },
    author: { type: 'string', minLength: 1, maxLength: 120 },
    year: { type: ['integer', 'null'], minimum: 0, maximum: 9999, default: null },
    status: { type: 'string', enum: ['on the shelf', 'lent', 'lost'], default: 'on the shelf' }
  }
} as const

const loan = {
  type: 'object',
  required: ['reader', 'dueOn'],
  properties: {
    reader: { type: 'string', minLength: 1, maxLength: 120 },
    dueOn: { type: 'string', format: 'date' }
  }
} as const

const app = fastify({
  logger: { level: 'warn' },
  // Clients that stall are disconnected after 6 s of headers or 11 s of a body.
  requestTimeout: 10_000,
  http: { headersTimeout: 5_000, connectionsCheckingInterval: 1_000 }
})
// The plugin is registered before the resources, which describe themselves to it.
app.register(swagger, { openapi: { openapi: '3.1.0', info: { title: 'A library', version: '1.0.0' }, servers: [{ url: '/' }] } })
app.register(swaggerUi)

app.register(draw((map) => map
  .resources('books', { attributes: book, formats: ['json'], sort: ['title', 'year'], filter: ['status'] }, (books) => books
    .resources('loans', { attributes: loan, formats: ['json'] })
    // POST /books/1/return
    .member.post('return', ({ store, id, guard, signal }) => store.update(id, { status: 'on the shelf' }, guard, { signal })))))

const url = await app.listen({ port: Number(process.env.PORT ?? 3000) })
console.log(`The API is at ${url}/books, its documentation at ${url}/documentation. Stop it with Ctrl-C.`)
