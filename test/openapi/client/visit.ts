import createClient from 'openapi-fetch'
import type { paths } from '../dist/blog.js'

type Json = 'application/json' | 'application/problem+json'

/** Uses the blog through a client that was generated from its description. The compiler knows every name. */
export async function visit (baseUrl: string): Promise<readonly unknown[]> {
  const client = createClient<paths, Json>({ baseUrl, headers: { accept: 'application/json' } })

  const created = await client.POST('/posts', {
    body: { post: { title: 'Tea', body: 'With milk', tags: ['drinks'], publishedAt: null } }
  })
  if (created.data?.post === undefined) throw new Error(created.error?.detail)
  const { id, title } = created.data.post
  const version = created.response.headers.get('etag') ?? ''

  const updated = await client.PUT('/posts', {
    params: { header: { 'If-Match': version } }, body: { id, post: { rating: 5 } }
  })
  const late = await client.PUT('/posts', {
    params: { header: { 'If-Match': version } }, body: { id, post: { rating: 1 } }
  })
  const shown = await client.GET('/posts/{id}', { params: { path: { id } } })
  const page = await client.GET('/posts', { params: { query: { limit: 2, sort: '-title', published: true } } })
  const query = {
    q: 'milk tea', 'rating[gte]': 3, 'title[starts]': 't', 'published[in]': [true, false], 'publishedAt[null]': true
  }
  const found = await client.GET('/posts', {
    params: { query }, querySerializer: { array: { style: 'form', explode: false } }
  })
  const published = await client.POST('/posts/{id}/publish', { params: { path: { id } } })
  const refused = await client.POST('/posts', { body: { post: { title: '', body: 'B' } } })
  const comment = await client.POST('/posts/{postId}/comments', {
    params: { path: { postId: id } }, body: { comment: { author: 'Ann', body: 'Yes' } }
  })
  const gone = await client.DELETE('/posts', { params: { query: { id } } })
  const several = await client.POST('/posts', {
    body: { posts: [{ title: 'Milk', body: 'White' }, { title: 'Rum', body: 'Brown' }] }
  })
  const ids = several.data?.posts?.map(({ id }) => id) ?? []
  const own = await client.PUT('/posts', { body: { posts: ids.map((id, index) => ({ id, rating: index + 1 })) } })
  const same = await client.PUT('/posts', { body: { id: ids, post: { published: true } } })
  const faulty = await client.POST('/posts', {
    body: { posts: [{ title: 'Ale', body: 'Bitter' }, { title: '', body: 'B' }] }
  })
  const goneMany = await client.DELETE('/posts', { body: { id: ids } })
  const missing = await client.GET('/posts/{id}', { params: { path: { id } } })

  return [
    title, updated.data?.post?.rating, late.response.status, shown.data?.post.tags, page.data?.posts.length,
    found.data?.posts.map(({
      title
    }) =>
      title), published.response.status,
    refused.error?.status, refused.error !== undefined && 'errors' in refused.error ? refused.error.errors : undefined,
    comment.data?.comment?.author, gone.response.status, missing.error?.status,
    own.data?.posts?.map(({ rating }) => rating), same.data?.posts?.map(({ published }) => published),
    faulty.error !== undefined && 'rows' in faulty.error ? faulty.error.rows : undefined, goneMany.response.status
  ]
}

/** Requests that the description does not allow must not compile. */
export async function mistake (baseUrl: string): Promise<void> {
  const client = createClient<paths, Json>({ baseUrl })
  // @ts-expect-error: this path does not exist
  await client.GET('/pots')
  // @ts-expect-error: a title must be a string
  await client.POST('/posts', { body: { post: { title: 1, body: 'B' } } })
  // @ts-expect-error: the body is required
  await client.POST('/posts', { body: { post: { title: 'T' } } })
  // @ts-expect-error: each row needs what one row needs
  await client.POST('/posts', { body: { posts: [{ title: 'T' }] } })
  // @ts-expect-error: a bound must be a number
  await client.GET('/posts', { params: { query: { 'rating[gte]': 'a' } } })
  // @ts-expect-error: a text has no bounds
  await client.GET('/posts', { params: { query: { 'title[gte]': 'a' } } })
  // @ts-expect-error: an id must be a number
  await client.GET('/posts/{id}', { params: { path: { id: 'a' } } })
}
