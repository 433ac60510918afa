import fastify, { type FastifyInstance, type FastifyServerOptions, type InjectOptions } from 'fastify'
import type { Test } from 'tap'
import resources, { draw, type Mapper, type ResourceOptions } from '../../lib/index.js'
import { watchXmlAnswers } from './xml/xml-answers.js'

/** The attributes of the blog post that most tests use. */
export const post = {
  type: 'object',
  required: ['title'],
  properties: {
    title: { type: 'string', minLength: 1, maxLength: 120 },
    body: { type: 'string' },
    published: { type: 'boolean', default: false },
    rating: { type: ['integer', 'null'], minimum: 1, maximum: 5 },
    tags: { type: 'array', items: { type: 'string' } },
    publishedAt: { type: ['string', 'null'], format: 'date-time' }
  }
} as const

watchXmlAnswers()

export interface BuildOptions {
  /** Prepares the app before the resource is registered, with hooks, parsers or decorators. */
  before?: (app: FastifyInstance) => void | Promise<void>
  server?: FastifyServerOptions
}

/** Builds an app with one resource. It is closed when the test ends. */
export async function build (t: Test, options: ResourceOptions, {
  before, server
}: BuildOptions = {}): Promise<FastifyInstance> {
  const app = fastify(server)
  t.teardown(() => app.close())
  await before?.(app)
  app.register(resources, options)
  await app.ready()
  return app
}

/** Builds an app with a map. It is closed when the test ends. */
export async function draft (t: Test, declare: (map: Mapper) => unknown, prefix = ''): Promise<FastifyInstance> {
  const app = fastify()
  t.teardown(() => app.close())
  app.register(draw(declare), { prefix })
  await app.ready()
  return app
}

/** Returns attributes `it0`, `it1` and so on of these schemas, so that one resource serves many cases. */
export function propertiesOf (schemas: readonly unknown[]): Record<string, object> {
  return Object.fromEntries(schemas.map((schema, index) => [`it${index}`, schema as object]))
}

export const xml = '<?xml version="1.0" encoding="UTF-8"?>\n'
export const types = {
  xml: 'application/xml; charset=utf-8',
  html: 'text/html; charset=utf-8',
  json: 'application/json; charset=utf-8',
  problem: 'application/problem+json; charset=utf-8'
}

/** Returns a write with a payload of a media type. */
export function send (method: 'POST' | 'PUT' | 'DELETE', url: string, type: string, payload: string): InjectOptions {
  return { method, url, headers: { 'content-type': type }, payload }
}
