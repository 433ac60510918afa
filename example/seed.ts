import { type AttributesOf, BY_ID, type Id } from 'fastify-resources'
import type { keptComment, post } from './schemas.js'
import type { Stores } from './stores.js'

const TOPICS = ['routes', 'forms', 'stores', 'streams', 'hooks', 'schemas', 'entity tags', 'media types']
const OPENINGS = ['What we learned about', 'A short guide to', 'Seven mistakes with', 'In praise of', 'How we test']

/**
 * Fills an empty store with `count` posts and their comments, the same on every run. A store that has posts is left
 * alone.
 */
export async function seed ({ posts, comments, about }: Stores, count: number): Promise<void> {
  const context = { signal: new AbortController().signal }
  for await (const batch of posts.list({ order: BY_ID, after: undefined, limit: 1, scope: {}, filter: {} }, context)) if (batch.length > 0) return
  for (let number = 1; number <= count; number++) {
    const { id } = await posts.create(makePost(number), {}, context)
    for (let nth = 0; nth < number % 3; nth++) await comments.create(makeComment(id, nth), {}, context)
  }
  if (count > 0) await about.create({ title: 'About this blog', text: 'It is one declaration: its posts, their comments and this page are there as HTML, XML and JSON.' }, {}, context)
}

function makeComment (postId: Id, nth: number): AttributesOf<typeof keptComment> {
  return { author: ['Ada', 'Grace'][nth] as string, body: ['So it is.', 'Is it <really> so?'][nth] as string, postId: postId as number }
}

function makePost (number: number): AttributesOf<typeof post> {
  const topic = TOPICS[number % TOPICS.length] as string
  const opening = OPENINGS[number % OPENINGS.length] as string
  const published = number % 3 !== 0
  return {
    title: `${opening} ${topic}`,
    body: `Post number ${number} is about ${topic}.\n\nIt says "what <works>" & what does not.`,
    published,
    rating: number % 4 === 0 ? null : number % 5 + 1,
    tags: [topic, ...(number % 2 === 0 ? ['web'] : [])],
    publishedAt: published ? new Date(Date.UTC(2026, 0, 1, 12) + number * 3_600_000).toISOString() : null
  }
}
