import type { AttributesSchema } from '../../lib/index.js'

/** The records of all contenders: a title of 24 characters, a body of 200. */
export interface Post {
  readonly title: string
  readonly body: string
  readonly published: boolean
  readonly rating: number
}

export const schema = {
  type: 'object',
  required: ['title', 'body'],
  properties: {
    title: { type: 'string', minLength: 1, maxLength: 120 },
    body: { type: 'string', maxLength: 10_000 },
    published: { type: 'boolean', default: false },
    rating: { type: 'integer', default: 0 }
  }
} as const satisfies AttributesSchema

const BODY = 'It is a truth universally acknowledged, that a single man in possession of a good fortune, must be ' +
  'in want of a wife. However little known the feelings or views of such a man may be on his first enter'

/** The number of rows that each contender has at the start. */
const ROWS = 1000

export function makePost (index: number): Post {
  // A parsed text is one piece of memory, like those from a body or a database. A joined one is slower to read.
  return JSON.parse(JSON.stringify({
    title: `Post number ${String(index).padStart(12, '0')}`, body: BODY, published: index % 2 === 0, rating: index % 6
  })) as Post
}

export const posts: readonly Post[] = Array.from({ length: ROWS }, (_, index) => makePost(index + 1))
