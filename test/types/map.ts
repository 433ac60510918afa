import { type Static, Type } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'
import { defineResource, draw, memoryStore, type Paths, type Row } from '../../lib/index.js'
import { sqliteStore, type SqliteDatabase } from '../../lib/sql/sqlite/index.js'
import type { PathsOf } from '../../lib/core/routes/path-helpers.js'

// Shows what the compiler knows of a map. Each `@ts-expect-error` marks a use that must not compile.

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false

function expectTrue<T extends true> (): T | undefined { return undefined }

const post = {
  type: 'object',
  required: ['title'],
  properties: {
    title: { type: 'string' },
    rating: { type: ['integer', 'null'] },
    published: { type: 'boolean', default: false },
    views: { type: 'integer', readOnly: true }
  }
} as const

const comment = Type.Object({ body: Type.String(), stars: Type.Optional(Type.Integer()) })

declare const database: SqliteDatabase
declare const request: FastifyRequest

export const routes = draw((map) => map
  .resources('posts', {
    attributes: post,
    store: sqliteStore({ database, table: 'posts', attributes: post }),
    actions: {
      list ({ query, store }) {
        expectTrue<Equal<Awaited<ReturnType<typeof store.get>>, Row<{
          readonly title: string,
          readonly rating?: number | null,
          readonly published?: boolean,
          readonly views?: number
        }>
          | undefined>>()
        return query.limit === undefined ? [] : [{ id: 1, attributes: { title: 'T' } }]
      },
      create ({ attributes }) {
        const title: string = attributes.title
        const published: boolean = attributes.published
        // @ts-expect-error a readOnly attribute is not part of the input
        const views = attributes.views
        return { id: 1, version: '1', attributes: { title, published, views } }
      },
      update ({ attributes: { title } }) {
        expectTrue<Equal<typeof title, string | undefined>>()
      }
    },
    authorize: async (_request, { action, row }) =>
      action !== 'update' || (await row?.())?.attributes.published === false,
    html: { views: { list: ({ rows }) => rows.map(({ attributes }) => attributes.title.toUpperCase()).join() } }
  }, (posts) => posts
    .resources('comments', {
      attributes: comment,
      actions: {
        show: async ({ row }) => {
          const { attributes: { body } }: Row<Readonly<Static<typeof comment>>> = await row()
          return { id: 1, attributes: { body } }
        }
      }
    }, (comments) => comments
      .resources('likes'))
    .resource('logo')
    .collection.get('recent', () => [{ id: 1, attributes: { title: 'T' } }])
    .collection.get('streamed', function * () { yield [{ id: 1, attributes: { title: 'T' } }] })
    .collection.get('awaited', async function * () { yield [{ id: 1, attributes: { title: 'T' } }] })
    .member.post('publish', async ({ row }) => ({ ...await row(), attributes: { title: 'published' } }))
    .member.put('rate', {
      attributes: { type: 'object', required: ['stars'], properties: { stars: { type: 'integer' } } }
    }, ({ attributes: { stars } }) => {
      expectTrue<Equal<typeof stars, number>>()
    })
    .new.post('preview', ({ attributes: { title } }) => {
      expectTrue<Equal<typeof title, string | undefined>>()
    }))
  .resources(['sheep', 'blog_posts'])
  .resource('profile')
  .namespace('admin', (admin) => admin.resources('users', { only: ['list', 'show'] }))
  .scope({ path: ':tenant', as: 'tenant' }, (tenant) => tenant.resource('staff'))
  .resources('photos', { as: 'images' }))

declare const paths: PathsOf<typeof routes>

const named = {
  type: 'object',
  properties: {
    count: { type: 'integer' },
    limit: { type: 'string' },
    secret: { type: 'string', writeOnly: true },
    tags: { type: 'array', items: { type: 'string' } },
    mixed: { type: ['string', 'integer'] },
    plain: {}
  }
} as const
export const counters = draw((map) => map.resources('counters', { attributes: named }))
declare const counted: PathsOf<typeof counters>

export const texts: string[] = [
  paths.posts(), paths.posts({ format: 'xml' }), paths.post(
    1
  ), paths.post({ id: 1 }, { query: { a: 1 } }), paths.newPost(), paths.editPost('a'),
  paths.postComments(
    7
  ), paths.postComment(
    7, 1
  ), paths.newPostComment(
    7
  ), paths.postCommentLikes(7, 1), paths.postCommentLike(7, 1, 2), paths.postLogo(7), paths.editPostLogo(7),
  paths.recentPosts(), paths.publishPost(7), paths.ratePost(7), paths.previewNewPost(),
  paths.sheepIndex(), paths.sheep(
    1
  ), paths.blogPosts(), paths.blogPost(1), paths.profile(), paths.adminUsers(), paths.adminUser(1),
  paths.tenantStaff('acme'),
  paths.posts({
    query: {
      rating: { gte: 3, lt: 5, in: [1, 2], not: 4, null: false },
      title: { contains: 'tea', starts: 'A', in: ['a'] },
      published: { not: true, null: true },
      views: { gte: 1 },
      limit: 20,
      sort: '-rating',
      q: 'green tea',
      count: 'estimate',
      before: undefined
    }
  }),
  paths.posts({
    query: { rating: 5, title: 'Tea', published: false, views: null }
  }), paths.posts({ query: { rating: null, title: undefined } }), paths.postComments(
    7, { query: { stars: { gte: 3 }, body: { contains: 'tea' } } }
  ),
  paths.posts({ query: { id: { in: [1, 2], gt: 3 } } }), paths.posts({ query: { id: 5 } }),
  // Without a schema, the compiler knows no attributes.
  paths.blogPosts({
    query: { anything: { gte: 3 }, other: { in: ['a', 1, true] }, more: 'x', null: null }
  }), paths.recentPosts(
    { query: { anything: 1 } }
  ), paths.adminUsers({ query: { name: { starts: 'a' } } }),
  counted.counters({ query: { count: { gte: 3 }, limit: { in: ['a'] }, q: 'tea' } }), counted.counters(
    { query: { count: true, limit: 5, plain: { gte: 1 } } }
  ),
  paths.images(), paths.image(3), paths.url(request, 'postComments', 7)
]

export const wrong = [
  // @ts-expect-error this operator does not exist
  paths.posts({ query: { rating: { gt3: 3 } } }),
  // @ts-expect-error an id is never null
  paths.posts({ query: { id: { null: true } } }),
  // @ts-expect-error a number has no texts
  paths.posts({ query: { rating: { contains: '3' } } }),
  // @ts-expect-error a boolean has no ranges
  paths.posts({ query: { published: { gte: true } } }),
  // @ts-expect-error the value has another type
  paths.posts({ query: { rating: { gte: '3' } } }),
  // @ts-expect-error the value has another type
  paths.posts({ query: { rating: '3' } }),
  // @ts-expect-error "in" takes a list
  paths.posts({ query: { title: { in: 'a' } } }),
  // @ts-expect-error this attribute does not exist
  paths.posts({ query: { raiting: 5 } }),
  // @ts-expect-error a limit is a number
  paths.posts({ query: { limit: 'x' } }),
  // @ts-expect-error the attribute takes only operators, because it has the name of a parameter
  counted.counters({ query: { count: 3 } }),
  // @ts-expect-error a writeOnly attribute has no filter
  counted.counters({ query: { secret: 'x' } }),
  // @ts-expect-error an array has no filter
  counted.counters({ query: { tags: { contains: 'x' } } }),
  // @ts-expect-error an attribute of two types has no filter
  counted.counters({ query: { mixed: 'x' } }),
  // @ts-expect-error this name does not exist
  paths.pots,
  // @ts-expect-error a parameter is missing
  paths.post(),
  // @ts-expect-error one of two parameters is missing
  paths.postComment(7),
  // @ts-expect-error there is one parameter too many
  paths.posts(1, 2),
  // @ts-expect-error this name does not exist
  paths.url(request, 'pots')
]

export const chosen = draw((map) => map
  .resources('posts', { only: ['list'] })
  .resources('tags', { only: 'show' }, (tags) => tags.resources('uses', { singular: 'use', only: ['list', 'new'] }))
  .resources('users', { except: ['show', 'update', 'delete', 'new'] })
  .resources('notes', { only: [] }, (notes) => notes.collection.get('recent', () => []))
  .resource('profile', { only: ['show', 'edit'] })
  .resources('things', { only: ['list', 'show'] as Array<'list' | 'show'> }))
declare const chosenPaths: PathsOf<typeof chosen>
export const chosenTexts: string[] = [
  chosenPaths.posts(), chosenPaths.tag(
    1
  ), chosenPaths.tagUses(
    1
  ), chosenPaths.newTagUse(
    1
  ), chosenPaths.users(), chosenPaths.editUser(
    1
  ), chosenPaths.recentNotes(), chosenPaths.profile(), chosenPaths.editProfile(), chosenPaths.things(),
  chosenPaths.thing(
    1
  )
]
export const unchosen = [
  // @ts-expect-error the resource has no show
  chosenPaths.post,
  // @ts-expect-error the resource has no forms
  chosenPaths.newPost,
  // @ts-expect-error the resource has no forms
  chosenPaths.editPost,
  // @ts-expect-error the resource has no list
  chosenPaths.tags,
  // @ts-expect-error the resource has no show
  chosenPaths.tagUse,
  // @ts-expect-error the option except excludes it
  chosenPaths.user,
  // @ts-expect-error the option except excludes it
  chosenPaths.newUser,
  // @ts-expect-error the resource has only a custom action
  chosenPaths.notes,
  // @ts-expect-error the resource has no such form
  chosenPaths.newProfile
]

// Statements tell the compiler no names, so that any name compiles.
export const loose = draw((map) => { map.resources('posts') })
declare const loosePaths: PathsOf<typeof loose>
export const anything: string | undefined = loosePaths.anything?.(1, 2)

declare const unregistered: Paths
export const any: string | undefined = unregistered.anything?.(1)

export const options = defineResource({
  name: 'posts',
  attributes: post,
  store: memoryStore(),
  actions: { create: ({ attributes }) => ({ id: 1, attributes: { title: attributes.title } }) }
})

const textRatings = sqliteStore({
  database,
  table: 'posts',
  attributes: { ...post, properties: { ...post.properties, rating: { type: 'string' } } }
})
// @ts-expect-error the store has another type of rating
defineResource({ name: 'posts', attributes: post, store: textRatings })

// @ts-expect-error this option does not exist
defineResource({ name: 'posts', atributes: post })

draw((map) => map.resources('posts', { attributes: post }, (posts) =>
  // @ts-expect-error the handler returns something else than a row of posts
  posts.collection.get('wrong', () => [{ id: 1, attributes: { name: 'T' } }])))

draw((map) =>
  // @ts-expect-error the title of the row is missing
  map.resources('posts', { attributes: post, actions: { show: () => ({ id: 1, attributes: { rating: 5 } }) } }))

// @ts-expect-error this action does not exist
draw((map) => map.resources('posts', { only: ['index'] }))

// A custom list tells where the next page begins.
defineResource({
  name: 'posts',
  attributes: post,
  actions: {
    list: ({
      query: { limit = 10 }
    }) => ({
      kind: 'listed', rows: [{ id: limit, attributes: { title: 'T' } }], last: { id: limit, attributes: { title: 'T' } }
    })
  }
})
// @ts-expect-error `last` must be a row
defineResource({ name: 'posts', attributes: post, actions: { list: () => ({ kind: 'listed', rows: [], last: 5 }) } })

// A custom list respects the wanted attributes by passing them to the store.
defineResource({
  name: 'posts',
  attributes: {
    type: 'object', properties: { title: { type: 'string' } }
  },
  actions: {
    list: ({ store, query, scope, signal }) =>
      store.list({ ...query, scope }, { signal })
  }
})
draw((map) => map.resources('posts', {
  actions: {
    list: ({ store, query, scope, signal }) =>
      store.list({ ...query, scope }, { signal })
  }
}))
