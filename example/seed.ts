import type { FastifyInstance } from 'fastify'
import type { AttributesOf } from 'fastify-resources'
import type { about, comment, post } from './schemas.js'

const TOPICS = ['routes', 'forms', 'stores', 'streams', 'hooks', 'schemas', 'entity tags', 'media types']
const OPENINGS = ['What we learned about', 'A short guide to', 'Seven mistakes with', 'In praise of', 'How we test']

/**
 * Fills an empty blog with `count` posts and their comments, the same on every run. A blog that has posts is left alone.
 */
export async function seed (app: FastifyInstance, count: number): Promise<void> {
  await app.ready()
  const { posts } = (await app.inject(app.paths.posts({ format: 'json', query: { limit: 1 } }))).json<{ posts: unknown[] }>()
  if (posts.length > 0) return
  for (let number = 1; number <= count; number++) {
    const { post } = await create(app, app.paths.posts(), { post: makePost(number) })
    for (let nth = 0; nth < number % 3; nth++) await create(app, app.paths.postComments(post.id), { comment: makeComment(nth) })
  }
  const page: AttributesOf<typeof about> = { title: 'About this blog', text: 'It is one declaration: its posts, their comments and this page are there as HTML, XML and JSON.' }
  if (count > 0) await create(app, app.paths.about(), { about: page })
}

async function create (app: FastifyInstance, url: string, payload: object): Promise<{ post: { id: number } }> {
  const { statusCode, body } = await app.inject({ method: 'POST', url, payload })
  if (statusCode !== 201) throw new Error(`${url} answers ${statusCode}: ${body}`)
  return JSON.parse(body)
}

function makeComment (nth: number): AttributesOf<typeof comment> {
  return { author: ['Ada', 'Grace'][nth] as string, body: ['So it is.', 'Is it <really> so?'][nth] as string }
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
