import t from 'tap'
import resources, { type Mapper } from '../../lib/index.js'
import { post } from '../support/helper.js'
import {
  both, checkReferences, describe, drawn, FORM, linesOf, one, type Operation, operationsOf, type Part, ref,
  type Register, schema, statusesOf, text
} from '../support/openapi.js'

const TYPES = {
  xml: ['application/xml', 'text/xml'], html: ['text/html', 'application/xhtml+xml'], json: ['application/json']
}

const nothing = () => undefined

const everything = (map: Mapper) => map
  .resources('posts', { attributes: post, writes: 'both', formPages: true }, (posts) => {
    posts.resources('comments', { shallow: true, only: ['list', 'create', 'show', 'update'] })
    posts.resource('cover', { only: ['show', 'create', 'delete'] })
    posts.collection.get('search', nothing).collection.post('search', nothing)
    posts.collection.get('list', nothing)
    posts.collection.get('drafts', { routeConstraints: { host: 'a.example' } }, nothing).collection.get('drafts',
      { routeConstraints: { host: 'b.example' }, path: 'drafts' }, nothing)
    posts.member.put('rate', { label: 'Give a rating' }, nothing).member.patch('rate', nothing).member.delete('rate',
      nothing)
    posts.member.post('mark_read', nothing).new.post('preview', nothing)
  })
  .resources('sheep', { only: ['list', 'show'] }, (sheep) => sheep.collection.get('count', nothing).member.get('count',
    nothing))
  .namespace('admin', (admin) => admin.resources('users', { only: ['list', 'update', 'delete'], writes: 'member' }))
  .scope({ path: ':tenant', as: 'tenant' }, (tenant) => tenant.resources('posts', { only: ['show'] }))

const LINES = [
  'get /posts listPosts', 'post /posts createPost', 'put /posts updatePost', 'delete /posts deletePost',
  'get /posts/{id} showPost', 'post /posts/{id} submitPostById', 'put /posts/{id} updatePostById',
  'patch /posts/{id} patchPostById', 'delete /posts/{id} deletePostById',
  'get /posts/new newPost', 'get /posts/{id}/edit editPost',
  'get /posts/search searchPosts', 'post /posts/search searchPostsByPost', 'get /posts/list listPosts2',
  'get /posts/drafts draftsPosts',
  'put /posts/{id}/rate ratePost', 'patch /posts/{id}/rate ratePostByPatch', 'delete /posts/{id}/rate ratePostByDelete',
  'post /posts/{id}/rate ratePostByForm',
  'post /posts/{id}/mark_read markReadPost', 'post /posts/new/preview previewNewPost',
  'get /posts/{postId}/comments listPostComments', 'post /posts/{postId}/comments createComment',
  'post /comments submitComment', 'put /comments updateComment', 'get /comments/{id} showComment',
  'get /posts/{postId}/cover showPostCover', 'post /posts/{postId}/cover createPostCover',
  'delete /posts/{postId}/cover deletePostCover',
  'get /sheep listSheepIndex', 'get /sheep/{id} showSheep', 'get /sheep/count countSheepIndex',
  'get /sheep/{id}/count countSheep',
  'get /admin/users listAdminUsers', 'post /admin/users submitAdminUser', 'post /admin/users/{id} submitAdminUserById',
  'put /admin/users/{id} updateAdminUserById', 'patch /admin/users/{id} patchAdminUserById',
  'delete /admin/users/{id} deleteAdminUserById',
  'get /{tenant}/posts/{id} showTenantPost'
]

t.test('each route is described once, under a unique name', async (t) => {
  const document = await describe(t, drawn(everything))
  t.strictSame(linesOf(document), LINES)
  const ids = operationsOf(document).map(({ operation: { operationId } }) => operationId)
  t.equal(new Set(ids).size, ids.length, 'no two operations have the same name')
  const tags = operationsOf(document).map(({ path, operation: { tags } }) => [
    path.split('/').filter((segment) => segment !== 'admin' && segment !== '{tenant}')[path.includes('{postId}')
      ? 3
      : 1],
    ...tags
  ])
  for (const [segment, ...named] of tags) t.strictSame(named, [segment], `${segment} is the tag of the operation`)
  t.strictSame(document.tags, [
    { name: 'posts', description: 'posts at /posts, as xml, html, json; posts at /{tenant}/posts, as xml, html, json' },
    { name: 'comments', description: 'comments at /posts/{postId}/comments, as xml, html, json' },
    { name: 'cover', description: 'cover at /posts/{postId}/cover, as xml, html, json' },
    { name: 'sheep', description: 'sheep at /sheep, as xml, html, json' },
    { name: 'users', description: 'users at /admin/users, as xml, html, json' }
  ])
  t.strictSame(Object.keys(document.components.schemas).sort(), [
    'AdminUser', 'AdminUserChanges', 'AdminUserPatch', 'Comment', 'CommentChanges', 'CommentSharedChanges', 'Errors',
    'NewComment', 'NewPost', 'NewPostCover', 'Post', 'PostChanges', 'PostCover', 'PostCoverChanges',
    'PostIncludedComments', 'PostIncludedCover', 'PostPatch', 'PostSharedChanges', 'Problem', 'Sheep', 'TenantPost'
  ])
  t.match(document.components.schemas.Post?.properties, {
    comments: {
      anyOf: [{ type: 'array', items: { $ref: '#/components/schemas/PostIncludedComments' } },
        { type: 'object', required: ['href'] }]
    }
  })
  checkReferences(t, document)
  t.equal(document.paths['/posts/{id}/rate']?.put?.summary, 'Give a rating')
  t.equal(document.paths['/posts/{id}/rate']?.patch?.summary, 'Rate post')
  t.equal(document.paths['/admin/users']?.post?.summary, 'Update or delete user by a form')
})

t.test('the names do not clash under other prefixes', async (t) => {
  const cases: ReadonlyArray<readonly [prefix: string, name: string]> = [
    ['', 'listPosts'], ['/blog', 'listBlogPosts'], ['/api/v1', 'listApiV1Posts'], ['/my-blog', 'listMyBlogPosts'],
    ['/a.b~c', 'listAbcPosts'], ['/r/:num', 'listRNumPosts'], ['/s/:num(^\\d+$)', 'listSNumPosts'],
    ['/t/:slug(^[a-z]+/x$)-:page', 'listTSlugPagePosts']
  ]
  const all = await describe(t,
    both(...cases.map(([prefix]): Register => (app) => app.register(resources, { name: 'posts', prefix }))))
  t.strictSame(
    cases.map(([prefix]) => all.paths[`${prefix.replaceAll(/:(\w+)(\([^()]*\))?/g, '{$1}')}/posts`]?.get?.operationId),
    cases.map(([, name]) => name)
  )
  checkReferences(t, all)
  const nested = await describe(t, (app) => app.register(
    (scope, _options, done) => { scope.register(resources, { name: 'posts', prefix: '/:tenant' }); done() },
    { prefix: '/blog' }
  ))
  t.strictSame(linesOf(nested).slice(0, 1), ['get /blog/{tenant}/posts listBlogTenantPosts'])

  const alike = await describe(t,
    both(one({ prefix: '/blog', only: ['list'] }), one({ name: 'blog-posts', only: ['list'] })))
  t.strictSame(linesOf(alike), ['get /blog/posts listBlogPosts', 'get /blog-posts listBlogPosts2'],
    'a taken name gets a number')
  t.strictSame(Object.keys(alike.components.schemas), ['BlogPost', 'Errors', 'Problem', 'BlogPostResource'])
})

t.test('an attribute with the name of another parameter is filtered by operators only', async (t) => {
  const attributes = { type: 'object', properties: { limit: { type: 'integer' } } } as const
  const { paths } = await describe(t, one({ attributes }))
  const names = (paths['/posts']?.get?.parameters ?? []).map(({ name }) => name)
  t.strictSame(names.filter((name) => name === 'limit'), ['limit'], 'the number of rows of a page')
  t.ok(names.includes('limit[not]'))
})

t.test('a new row that cannot be a copy takes no other one', async (t) => {
  const { paths } = await describe(t, drawn((map) => map
    .resources('posts', { attributes: post, formPages: true, except: 'show' })
    .resource('cover', { attributes: post, formPages: true })))
  for (const path of ['/posts/new', '/cover/new']) {
    const { parameters = [], ...operation } = paths[path]?.get ?? {} as Operation
    t.notOk(parameters.some(({ name }) => name === '_from'), path)
    t.equal(statusesOf(operation as Operation), '200 400 406 default', path)
  }
})

const refusals = (...names: readonly string[]): Part => Object.fromEntries(names.map((name) => [
  ({
    BadRequest: 400,
    Forbidden: 403,
    NotFound: 404,
    NotAcceptable: 406,
    Conflict: 409,
    PreconditionFailed: 412,
    PayloadTooLarge: 413,
    URITooLong: 414,
    UnsupportedMediaType: 415,
    UnprocessableEntity: 422,
    Failure: 'default'
  } as Record<string, unknown>)[name] as string,
  ref('responses', name)
]))
const page = { 'text/html': { schema: text }, 'application/xhtml+xml': { schema: text } }
const record = {
  'application/xml': { schema: schema('Post') },
  'text/xml': { schema: schema('Post') },
  ...page,
  'application/json': { schema: { type: 'object', required: ['post'], properties: { post: schema('Post') } } }
}
const xmlList = { type: 'array', items: schema('Post'), xml: { name: 'posts', wrapped: true } }
/** A row, or a list of several. */
const rows = {
  'application/xml': { schema: { anyOf: [schema('Post'), xmlList] } },
  'text/xml': { schema: { anyOf: [schema('Post'), xmlList] } },
  ...page,
  'application/json': {
    schema: {
      type: 'object',
      minProperties: 1,
      properties: { post: schema('Post'), posts: { type: 'array', items: schema('Post') } }
    }
  }
}
const cached = { 'Cache-Control': ref('headers', 'CacheControl') }
const etag = { ETag: ref('headers', 'ETag') }
const location = { ...cached, Location: ref('headers', 'Location') }
const format = {
  in: 'query',
  name: 'format',
  description: 'The format of the answer. It takes precedence over Accept.',
  schema: { type: 'string', enum: ['xml', 'html', 'json'] }
}
const ifMatch = {
  in: 'header',
  name: 'If-Match',
  schema: text,
  description: 'The ETag of the row that was read. If the row has changed since then, the write is refused (RFC ' +
    '9110 §13.1.1).',
  example: '"3.json"'
}
const ifNoneMatch = {
  in: 'header',
  name: 'If-None-Match',
  schema: text,
  description: 'The ETag of the client\'s copy. If the row is unchanged, the answer is a 304 (RFC 9110 §13.1.2).',
  example: '"3.json"'
}
const id = { type: 'integer' }
const ids = { type: 'array', items: id, maxItems: 1000 }
const xmlIds = { ...ids, items: { ...id, xml: { name: 'id' } }, xml: { wrapped: true } }
const idInQuery = { in: 'query', name: 'id', schema: id, description: 'The id, if it is not in the body.' }
const idsInQuery = {
  in: 'query',
  name: 'id[]',
  schema: ids,
  style: 'form',
  explode: true,
  description: 'Several ids, if they are not in the body.'
}
const version = {
  _version: {
    type: 'string',
    description: 'The version that was read. It has the effect of If-Match. In a form it is beside the group.'
  }
}
const encoding = { post: { style: 'deepObject', explode: true } }
const fields = {
  _version: { type: 'string', description: 'The version that the form shows. It has the effect of If-Match.' },
  commit: { type: 'string', description: 'The button of the form. It has no effect.' }
}
const manyFields = {
  'id[]': ids,
  '_version[]': { type: 'array', items: text, description: 'The versions of these rows, one each.' }
}
const listOf = (items: Part, more: Part = {}): Part => ({ type: 'array', items, maxItems: 1000, ...more })
const inPosts = (items: Part): Part => ({
  type: 'object', required: ['posts'], properties: { posts: listOf(items) }, additionalProperties: false
})
const named = { xml: { name: 'posts', wrapped: true } }
const method = (...methods: readonly string[]): Part => ({
  _method: { type: 'string', enum: methods, description: 'The method, because a form can only POST.' }
})
const stale = {
  description: 'A precondition failed, because somebody else has changed the row. The body is the current row, if ' +
    'the client may see it.',
  headers: etag,
  content: {
    ...page,
    ...Object.fromEntries(TYPES.xml.map((type) => [type, { schema: { anyOf: [schema('Post'), schema('Errors')] } }])),
    'application/json': record['application/json'],
    'application/problem+json': { schema: schema('Problem') }
  }
}
const seeOther = { description: 'Redirects a browser to the page that shows the result', headers: location }
const preferred = { 'Preference-Applied': ref('headers', 'Preference-Applied') }
const counted = { 'Row-Counts': ref('headers', 'Row-Counts') }
const changed = {
  description: 'The changed post, or a list of several',
  headers: { ...cached, ...counted, ...preferred, ...etag },
  content: rows
}
const dryRun = {
  in: 'query',
  name: 'dry_run',
  schema: { type: 'boolean' },
  description: 'Whether nothing is written, and the answer says what would be. It lacks ids and other generated values.'
}
const prefer = {
  in: 'header',
  name: 'Prefer',
  schema: text,
  description: 'With `return=minimal`, the answer to a request with many rows has no body (RFC 7240).',
  example: 'return=minimal'
}

/** A row in a list of changes. */
const item = { required: ['id'], allOf: [schema('PostChanges')], xml: { name: 'post' } }
/** The parameters of the list have a test of their own. */
const OPERATIONS: Readonly<Record<string, Part>> = {
  'get /posts': {
    operationId: 'listPosts',
    tags: ['posts'],
    summary: 'List posts',
    description: 'Returns the whole list, or a page of it. The default order is by id.',
    responses: {
      200: {
        description: 'The posts',
        headers: {
          ...cached,
          Link: ref('headers', 'Link'),
          'Total-Count': ref('headers', 'Total-Count'),
          'Content-Range': ref('headers', 'Content-Range')
        },
        content: {
          'application/xml': { schema: xmlList },
          'text/xml': { schema: xmlList },
          ...page,
          'application/json': {
            schema: {
              type: 'object', required: ['posts'], properties: { posts: { type: 'array', items: schema('Post') } }
            }
          }
        }
      },
      ...refusals('BadRequest', 'NotAcceptable', 'URITooLong', 'Failure')
    }
  },
  'put /posts': {
    operationId: 'updatePost',
    tags: ['posts'],
    summary: 'Update post',
    description: 'Changes only the attributes that are sent. The id may be beside the group of attributes, inside ' +
      'it, or in the query. A list of rows gives each its own changes, and several ids get the same changes: all of ' +
      'them, or none.',
    parameters: [format, idInQuery, idsInQuery, dryRun, ifMatch, prefer],
    requestBody: {
      required: true,
      content: {
        'application/xml': {
          schema: { oneOf: [schema('PostChanges'), schema('PostSharedChanges'), listOf(item, named)] }
        },
        'text/xml': { schema: { oneOf: [schema('PostChanges'), schema('PostSharedChanges'), listOf(item, named)] } },
        'application/json': {
          schema: {
            oneOf: [
              {
                type: 'object',
                required: ['post'],
                properties: { id: { oneOf: [id, ids] }, post: schema('PostChanges') },
                additionalProperties: false
              },
              inPosts(item)
            ]
          }
        },
        [FORM]: {
          schema: {
            type: 'object',
            required: ['post'],
            properties: { ...fields, ...manyFields, id, post: schema('PostChanges') },
            additionalProperties: false
          },
          encoding
        }
      }
    },
    responses: {
      200: changed,
      204: { description: 'Changed, if Prefer asks for no body', headers: { ...cached, ...preferred, ...counted } },
      303: seeOther,
      412: stale,
      ...refusals('BadRequest', 'Forbidden', 'NotFound', 'NotAcceptable', 'Conflict', 'PayloadTooLarge',
        'UnsupportedMediaType', 'UnprocessableEntity', 'Failure')
    }
  },
}

/** Some parameters of the list, one of each kind. */
const PARAMETERS = [
  format,
  {
    name: 'limit',
    schema: { type: 'integer', minimum: 1, maximum: 1000 },
    description: 'The most rows to return. The default is all rows, and for HTML the size of a page.'
  },
  {
    name: 'sort',
    schema: text,
    description: 'Names separated by commas: title, body, published, rating, publishedAt, id. A minus before a name ' +
      'means descending order.',
    example: '-title'
  },
  {
    name: 'rating',
    schema: { anyOf: [{ type: 'integer' }, { type: 'string', enum: [''] }] },
    description: 'Lists only rows with this rating. An empty value lists the rows without one.'
  },
  { name: 'rating[gte]', schema: { type: 'integer' }, description: 'Lists only rows with a rating of at least this.' },
  {
    name: 'rating[in]',
    schema: { type: 'array', items: { type: 'integer' }, minItems: 1, maxItems: 1000 },
    style: 'form',
    explode: false,
    description: 'Lists only rows with a rating among these. In a value, write \\, for a comma and \\\\ for a ' +
      'backslash.'
  },
  {
    name: 'title[contains]',
    schema: { type: 'string', minLength: 1, maxLength: 200 },
    description: 'Lists only rows with a title that contains this text, in upper or lower case.'
  },
  { name: 'id[not]', schema: { type: 'integer' }, description: 'Lists only rows with an id other than this.' },
  {
    name: 'only',
    schema: {
      type: 'array',
      minItems: 1,
      uniqueItems: true,
      items: { type: 'string', enum: [...Object.keys(post.properties), 'id'] }
    },
    style: 'form',
    explode: false,
    description: 'The attributes of the answer, which has the id besides.'
  }
]

const shown = {
  title: { type: 'string', minLength: 1, maxLength: 120 },
  body: text,
  published: { type: 'boolean' },
  rating: { type: ['integer', 'null'], minimum: 1, maximum: 5 },
  tags: { type: 'array', items: { type: 'string', xml: { name: 'tag' } }, xml: { wrapped: true } },
  publishedAt: { type: ['string', 'null'], format: 'date-time' }
}

const fault = {
  status: { type: 'integer' },
  detail: { type: 'string', description: 'What is wrong, in one sentence.' },
  errors: {
    type: 'object',
    additionalProperties: { type: 'array', items: text },
    description: 'The messages of each attribute.'
  }
}

t.test('an operation has everything that the contract says', async (t) => {
  const document = await describe(t, one({ attributes: post }))
  const { parameters = [], ...list } = document.paths['/posts']?.get ?? {}
  t.strictSame([list, document.paths['/posts']?.put], [OPERATIONS['get /posts'], OPERATIONS['put /posts']])
  const ranges = ['gte', 'gt', 'lte', 'lt', 'not', 'in', 'null']
  const operators = {
    title: ['not', 'in', 'null', 'contains', 'starts'],
    body: ['not', 'in', 'null', 'contains', 'starts'],
    published: ['not', 'in', 'null'],
    rating: ranges,
    publishedAt: ranges,
    id: ranges.slice(0, -1)
  }
  t.strictSame(parameters.map(({ name }) => name), [
    'format', 'limit', 'after', 'before', 'offset', 'count', 'sort', 'q',
    ...Object.entries(operators).flatMap(([name, all]) => [name, ...all.map((operator) => `${name}[${operator}]`)]),
    'only', 'blank'
  ])
  for (const parameter of PARAMETERS) {
    t.strictSame(parameters.find(({ name }) => name === parameter.name), { in: 'query', ...parameter })
  }
  const problems = {
    'application/xml': { schema: schema('Errors') },
    'text/xml': { schema: schema('Errors') },
    ...page,
    'application/problem+json': { schema: schema('Problem') }
  }
  const { schemas, responses, headers } = document.components
  t.strictSame(schemas, {
    Post: { type: 'object', required: ['id', 'title'], properties: { id, ...shown }, xml: { name: 'post' } },
    NewPost: {
      type: 'object',
      required: ['title'],
      properties: { ...shown, published: { type: 'boolean', default: false } },
      additionalProperties: false,
      xml: { name: 'post' }
    },
    PostChanges: {
      type: 'object', properties: { id, ...version, ...shown }, additionalProperties: false, xml: { name: 'post' }
    },
    PostSharedChanges: {
      type: 'object',
      required: ['id'],
      properties: { id: xmlIds, ...shown },
      additionalProperties: false,
      xml: { name: 'post' }
    },
    Problem: {
      type: 'object',
      required: ['type', 'title', 'status', 'detail'],
      properties: {
        type: { type: 'string', format: 'uri-reference' },
        title: { type: 'string', description: 'The status in words.' },
        ...fault,
        rows: {
          type: 'array',
          items: {
            type: 'object',
            required: ['index', 'status'],
            properties: {
              index: { type: 'integer', description: 'The place of the row in the request, from 0.' },
              id: { anyOf: [id, text] },
              line: { type: 'integer', description: 'The line of the CSV file, from 1.' },
              ...fault
            }
          },
          description: 'The rows at fault, if the request has many.'
        },
        truncated: { type: 'boolean', description: 'Whether more rows are at fault than `rows` has.' }
      }
    },
    Errors: {
      type: 'array',
      description: 'Each error is a sentence: `<errors><error attribute="title">Title must not be blank</error>' +
        '</errors>`. In a request with many rows, it names the place of its row, from 0.',
      items: {
        type: 'object',
        properties: {
          index: { type: 'integer', xml: { attribute: true } },
          id: { type: 'string', xml: { attribute: true } },
          line: { type: 'integer', xml: { attribute: true } },
          attribute: { type: 'string', xml: { attribute: true } }
        },
        xml: { name: 'error' }
      },
      xml: { name: 'errors', wrapped: true }
    }
  })
  t.strictSame(Object.keys(responses).sort(), [
    'BadRequest', 'Conflict', 'Failure', 'Forbidden', 'NotAcceptable', 'NotFound', 'PayloadTooLarge',
    'PreconditionFailed', 'URITooLong', 'UnprocessableEntity', 'UnsupportedMediaType'
  ])
  for (const [name, { description, content }] of Object.entries(responses)) {
    t.strictSame(content, problems, name)
    t.match(description, /^[A-Z]/, name)
  }
  t.strictSame(Object.keys(headers).sort(),
    ['CacheControl', 'Content-Range', 'ETag', 'Link', 'Location', 'Preference-Applied', 'Row-Counts', 'Total-Count'])
})

t.test('custom actions are described', async (t) => {
  const rate = {
    type: 'object',
    required: ['stars', 'why', 'at'],
    properties: {
      stars: { $ref: '#/definitions/stars' },
      why: { type: 'string', default: 'liked' },
      at: { type: 'string', readOnly: true }
    },
    definitions: { stars: { type: 'integer', exclusiveMinimum: 0 } }
  } as const
  const query = {
    type: 'object',
    required: ['q', 'page'],
    properties: {
      q: { type: ['string', 'null'], description: 'what to look for' },
      page: { type: 'integer', default: 1 },
      by: { $ref: '#/definitions/by' }
    },
    definitions: { by: { type: 'string', enum: ['a', 'b'] } }
  } as const
  const document = await describe(t, drawn((map) => map.resources('posts', { attributes: post }, (posts) => {
    posts.collection.get('search', { query }, nothing)
    posts.member.put('rate', { attributes: rate }, nothing).member.delete('rate', nothing)
    posts.member.post('share', nothing).member.put('share', nothing)
    posts.member.patch('touch', nothing)
  })))
  checkReferences(t, document)
  t.strictSame(document.paths['/posts/search']?.get?.parameters, [
    format,
    { in: 'query', name: 'q', schema: { type: ['string', 'null'] }, description: 'what to look for', required: true },
    { in: 'query', name: 'page', schema: { type: 'integer', default: 1 } },
    { in: 'query', name: 'by', schema: schema('PostSearchBy') },
    ifNoneMatch
  ])
  t.strictSame(document.paths['/posts/search']?.get?.responses[200]?.content, rows)
  const { put, delete: remove, post: form } = document.paths['/posts/{id}/rate'] as Record<string, Operation>
  t.equal(statusesOf(put as Operation), '200 201 204 303 400 403 404 406 409 412 413 415 422 default')
  t.equal(put?.requestBody?.required, true, 'the body is required')
  t.strictSame(put?.requestBody?.content['application/json'], {
    schema: {
      type: 'object', required: ['post'], properties: { id, post: schema('PostRate') }, additionalProperties: false
    }
  })
  t.strictSame(put?.requestBody?.content[FORM], {
    schema: {
      type: 'object',
      required: ['post'],
      properties: { ...fields, id, post: schema('PostRate') },
      additionalProperties: false
    },
    encoding
  })
  t.strictSame(document.components.schemas.PostRate, {
    type: 'object',
    required: ['stars'],
    properties: { id, ...version, stars: schema('PostRateStars'), why: rate.properties.why, at: rate.properties.at },
    additionalProperties: false,
    xml: { name: 'post' }
  })
  t.strictSame(document.components.schemas.PostRateStars, rate.definitions.stars)
  t.strictSame(remove?.requestBody?.required, undefined)
  t.strictSame(remove?.requestBody?.content['application/xml'], { schema: schema('PostChanges') })
  t.strictSame(form?.requestBody, {
    required: true,
    content: {
      [FORM]: {
        schema: {
          type: 'object',
          required: ['_method'],
          properties: {
            ...method('PUT', 'DELETE'), ...fields, id, post: { anyOf: [schema('PostRate'), schema('PostChanges')] }
          },
          additionalProperties: false
        },
        encoding
      }
    }
  })
})
