import type { AttributesSchema } from '../../lib/index.js'

const text = { type: 'string' } as const

/** Has one attribute of each kind that an app may declare. None has a limit that would keep a body small. */
export const worstAttributes = {
  type: 'object',
  properties: {
    title: { type: 'string', maxLength: 120 },
    body: text,
    rating: { type: ['integer', 'null'], minimum: 1, maximum: 5 },
    integers: { type: 'array', items: { type: 'integer' } },
    numbers: { type: 'array', items: { type: 'number' } },
    tags: { type: 'array', items: text },
    mixed: { type: 'array', items: { anyOf: [{ type: 'integer' }, text] } },
    links: {
      type: 'array',
      uniqueItems: true,
      items: { type: 'object', additionalProperties: false, properties: { to: { type: 'integer' } } }
    },
    people: {
      type: 'array',
      items: {
        type: 'object',
        additionalProperties: false,
        properties: { name: text, age: { type: 'integer' }, email: { type: 'string', format: 'email' } }
      }
    },
    drafts: {
      type: 'array',
      items: {
        type: 'object',
        additionalProperties: false,
        properties: { secret: { type: 'string', writeOnly: true }, count: { type: 'integer', default: 3 } }
      }
    },
    tree: { $ref: '#/definitions/node' },
    email: { type: 'string', format: 'email' },
    urls: { type: 'array', items: { type: 'string', format: 'url' } },
    patterns: { type: 'array', items: { type: 'string', format: 'regex' } },
    grid: { type: 'array', items: { type: 'array', items: { type: 'integer' } } },
    translations: { type: 'object', additionalProperties: text },
    anything: {}
  },
  definitions: {
    node: {
      type: 'object',
      additionalProperties: false,
      properties: { name: text, children: { type: 'array', items: { $ref: '#/definitions/node' } } }
    }
  }
} as const satisfies AttributesSchema & { readonly definitions: object }
