import fastify, { type FastifyInstance, type FastifyServerOptions } from 'fastify'
import resources, { type Store } from 'fastify-resources'

/** The attributes of a post. */
export const post = {
  type: 'object',
  required: ['title', 'body'],
  properties: {
    title: { type: 'string', minLength: 1, maxLength: 120 },
    body: { type: 'string', minLength: 1, description: 'What the post says, in plain text.' },
    published: { type: 'boolean', default: false },
    publishedAt: { type: ['string', 'null'], format: 'date-time', default: null },
    rating: { type: ['integer', 'null'], minimum: 1, maximum: 5, default: null, description: 'From 1 to 5.' },
    tags: { type: 'array', items: { type: 'string', minLength: 1 }, uniqueItems: true, default: [] },
    author: {
      type: 'object',
      required: ['name'],
      properties: {
        name: { type: 'string', minLength: 1, maxLength: 80 },
        email: { type: 'string', format: 'email' }
      },
      additionalProperties: false
    },
    links: {
      type: 'array',
      items: {
        type: 'object',
        required: ['label', 'url'],
        properties: { label: { type: 'string', minLength: 1, maxLength: 80 }, url: { type: 'string', format: 'uri', title: 'URL' } },
        additionalProperties: false
      },
      default: []
    }
  }
} as const

/** The blog: one declaration, and it is there for browsers, XML clients and JSON clients. */
export function buildBlog (store: Store, options: FastifyServerOptions = {}): FastifyInstance {
  const app = fastify({
    // A client that stalls is given up: after 6 s of headers, after 11 s of a body. A plugin cannot set these.
    requestTimeout: 10_000,
    http: { headersTimeout: 5_000, connectionsCheckingInterval: 1_000 },
    ...options
  })
  app.register(resources, { name: 'posts', attributes: post, store, columns: ['title', 'published', 'publishedAt', 'rating', 'tags'] })
  app.get('/', (_request, reply) => reply.redirect('/posts'))
  return app
}
