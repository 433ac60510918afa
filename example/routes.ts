import { draw, type Order } from 'fastify-resources'
import { about, comment, post } from './schemas.js'
import type { Stores } from './stores.js'

const LATEST: Order = [{ by: 'publishedAt', descending: true }, { by: 'id', descending: true }]

/** Draws the map of the blog: posts, their comments, and the page about the blog. */
export const drawBlog = ({ posts, comments, about: page }: Stores) => draw((map) => map
  .resources('posts', { attributes: post, store: posts, columns: ['title', 'published', 'publishedAt', 'rating', 'tags'] }, (post) => post
    .resources('comments', { attributes: comment, store: comments })
    // GET /posts/recent lists the ten posts published last.
    .collection.get('recent', (context) => posts.list({ order: LATEST, after: undefined, limit: 10, scope: context.scope, filter: { published: true } }, context))
    // POST /posts/1/publish. The page of a post has a button for it.
    .member.post('publish', (context) => posts.update(context.id, { published: true, publishedAt: new Date().toISOString() }, context.guard, context)))
  .resource('about', { attributes: about, store: page, messages: { edit: () => 'Edit this page', delete: () => 'Delete this page', deleteWarning: () => 'This page will be deleted permanently.', deleteConfirm: 'Delete it' } }))

// This declaration gives the names in `app.paths` to the compiler.
declare module 'fastify-resources' {
  interface Register { routes: ReturnType<typeof drawBlog> }
}
