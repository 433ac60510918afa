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

export const comment = {
  type: 'object',
  required: ['author', 'body'],
  properties: {
    author: { type: 'string', minLength: 1, maxLength: 80 },
    body: { type: 'string', minLength: 1, maxLength: 2000 }
  }
} as const

/** The attributes of the page about the blog. */
export const about = {
  type: 'object',
  required: ['title', 'text'],
  properties: {
    title: { type: 'string', minLength: 1, maxLength: 120 },
    text: { type: 'string', minLength: 1 }
  }
} as const
