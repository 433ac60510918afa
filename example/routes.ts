import { draw, type Order, type Stores } from 'fastify-resources'
import { about, comment, post } from './schemas.js'

const LATEST: Order = [{ by: 'publishedAt', descending: true }, { by: 'id', descending: true }]

/** Draws the map of the blog: posts, their comments, and the page about the blog. Each has a table in `stores`. */
export const drawBlog = (stores: Stores) => draw((map) => map
  .resources('posts', { attributes: post, html: { columns: ['title', 'published', 'publishedAt', 'rating', 'tags'], import: true } }, (post) => post
    .resources('comments', { attributes: comment, onDelete: 'cascade' })
    // GET /posts/recent lists the ten posts published last.
    .collection.get('recent', (context) => context.store.list({ order: LATEST, after: undefined, limit: 10, scope: context.scope, filter: [{ attribute: 'published', operator: 'eq', value: true }] }, context))
    // POST /posts/1/publish. The page of a post has a button for it.
    .member.post('publish', (context) => context.store.update(context.id, { published: true, publishedAt: new Date().toISOString() }, context.guard, context)))
  .resource('about', { attributes: about, html: { messages: { edit: () => 'Edit this page', delete: () => 'Delete this page', deleteWarning: () => 'This page will be deleted permanently.', deleteConfirm: 'Delete it' } } }), { stores })

// This declaration gives the names in `app.paths` to the compiler.
declare module 'fastify-resources' {
  interface Register { routes: ReturnType<typeof drawBlog> }
}
