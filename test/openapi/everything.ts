import swagger from '@fastify/swagger'
import fastify from 'fastify'
import type { Test } from 'tap'
import { draw } from '../../dist/index.js'
import { comment, post } from '../../example/schemas.js'

/** Attributes of every kind. */
const worst = {
  type: 'object',
  title: 'A specimen',
  description: 'Whatever a schema may say.',
  required: ['text'],
  properties: {
    text: { type: 'string', minLength: 1, pattern: '^[a-z]', title: 'Text', examples: ['abc'] },
    secret: { type: 'string', writeOnly: true },
    shown: { type: 'string', format: 'date-time', readOnly: true },
    fixed: { const: 'a' },
    choice: { type: ['string', 'null'], enum: ['a', 'b', null] },
    titled: { oneOf: [{ const: 1, title: 'One' }, { const: 2, title: 'Two' }] },
    above: { type: 'number', exclusiveMinimum: 0, exclusiveMaximum: 9 },
    either: { anyOf: [{ type: 'string' }, { type: 'null' }] },
    several: { type: ['string', 'integer', 'null'] },
    pair: { type: 'array', items: [{ type: 'string' }, { type: 'integer' }], additionalItems: false },
    named: { type: 'object', patternProperties: { '^x': { type: 'integer' } }, additionalProperties: false },
    free: { type: 'object', additionalProperties: { type: 'string' } },
    tree: { $ref: '#/definitions/node' },
    same: { $ref: '#/properties/text', description: 'The same once more.' },
    matrix: { type: 'array', items: { type: 'array', items: { type: 'number' } } },
    anything: {},
    dependent: {
      type: 'object', properties: { a: { type: 'string' }, b: { type: 'string' } }, dependencies: { a: ['b'] }
    },
    conditional: {
      type: 'object',
      properties: { kind: { type: 'string' } },
      if: { properties: { kind: { const: 'a' } } },
      then: { properties: { kind: { minLength: 1 } } }
    }
  },
  definitions: {
    node: {
      type: 'object',
      required: ['name'],
      properties: { name: { type: 'string' }, children: { type: 'array', items: { $ref: '#/definitions/node' } } }
    }
  }
} as const

/** Returns the description of resources of all kinds. */
export async function everything (t: Test, version: string): Promise<object> {
  const app = fastify()
  t.teardown(() => app.close())
  app.register(swagger, {
    openapi: {
      openapi: version,
      info: {
        title: 'Everything', version: '1.0.0', license: { name: 'MIT', url: 'https://opensource.org/license/mit' }
      },
      servers: [{ url: 'https://resources.test' }],
      security: [{ key: [] }],
      components: { securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'x-key' } } }
    }
  })
  app.register(draw((map) => {
    map.resources('posts', { attributes: post, writes: 'both', formPages: true, requireMatch: true }, (posts) => {
      posts.resources('comments', { attributes: comment, shallow: true })
      posts.collection.get(
        'recent', { query: { type: 'object', properties: { days: { type: 'integer', minimum: 1 } } } }, () => []
      )
      posts.member.post('publish', () => undefined)
      posts.member.put('mark', {
        attributes: { type: 'object', required: ['colour'], properties: { colour: { type: 'string' } } }
      }, () =>
        undefined)
      posts.member.delete('mark', () => undefined)
      posts.new.post('preview', () => undefined)
    })
    map.resource('profile', { formPages: true, authorize: () => true })
    map.resources('specimens', { attributes: worst, id: 'uuid', writes: 'member' })
    map.namespace('admin', (admin) => {
      admin.resources('users', {
        formats: ['json'],
        only: ['list', 'show'],
        openapi: { security: [{ key: [] }], responses: { 401: { description: 'Who are you?' } } }
      })
    })
    map.scope({ path: 'tenants/:tenant', as: 'tenant' }, (tenant) => { tenant.resources('sheep', {}) })
  }), { prefix: '/v1' })
  await app.ready()
  return app.swagger()
}
