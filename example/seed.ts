import { BY_ID, type Store } from 'fastify-resources'

const TOPICS = ['routes', 'forms', 'stores', 'streams', 'hooks', 'schemas', 'entity tags', 'media types']
const OPENINGS = ['What we learned about', 'A short guide to', 'Seven mistakes with', 'In praise of', 'How we test']

/** Puts so many posts into an empty store, always the same ones; one that has posts already keeps what it has. */
export async function seed (store: Store, count: number): Promise<void> {
  const context = { signal: new AbortController().signal }
  for await (const batch of store.list({ order: BY_ID, after: undefined, limit: 1, scope: {}, filter: {} }, context)) if (batch.length > 0) return
  for (let number = 1; number <= count; number++) await store.create(makePost(number), {}, context)
}

function makePost (number: number): Record<string, unknown> {
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
