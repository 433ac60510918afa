import swagger, { type FastifyDynamicSwaggerOptions } from '@fastify/swagger'
import { Type } from '@sinclair/typebox'
import { Ajv, type AnySchema } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import fastify, { type FastifyInstance, type InjectOptions } from 'fastify'
import t, { type Test } from 'tap'
import resources, {
  type AttributesSchema, draw, type Entries, type Format, type Mapper, memoryStore, type ResourceOptions
} from '../../lib/index.js'
import { post } from '../support/helper.js'

type Part = Readonly<Record<string, unknown>>

interface Operation {
  readonly operationId: string
  readonly tags: readonly string[]
  readonly summary: string
  readonly description?: string
  readonly parameters: ReadonlyArray<Part & {
    readonly name: string,
    readonly in: string,
    readonly required?: boolean,
    readonly schema: Part
  }>
  readonly requestBody?: {
    readonly required?: boolean,
    readonly content: Readonly<Record<string, { readonly schema?: Part, readonly encoding?: Part }>>
  }
  readonly responses: Readonly<Record<string, {
    readonly $ref?: string,
    readonly description: string,
    readonly headers?: Part,
    readonly content?: Readonly<Record<string, { readonly schema: Part }>>
  }>>
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: {
    readonly schemas: Readonly<Record<string, Part>>,
    readonly responses: Readonly<Record<string, Operation['responses'][string]>>,
    readonly headers: Part
  }
  readonly tags: unknown
}

const info = { title: 'Blog', version: '1.0.0' }
const V30 = '3.0.3'
const V31 = '3.1.0'
const TYPES = {
  xml: ['application/xml', 'text/xml'], html: ['text/html', 'application/xhtml+xml'], json: ['application/json']
}
const FORM = 'application/x-www-form-urlencoded'

type Register = (app: FastifyInstance) => unknown

async function start (
  t: Test, register: Register, openapi: FastifyDynamicSwaggerOptions['openapi'] = {}
): Promise<FastifyInstance> {
  const app = fastify()
  t.teardown(() => app.close())
  await app.register(swagger, { openapi: { openapi: V31, info, ...openapi } })
  await register(app)
  await app.ready()
  return app
}

const documentOf = (app: FastifyInstance): Document => app.swagger() as unknown as Document

async function describe (
  t: Test, register: Register, openapi?: FastifyDynamicSwaggerOptions['openapi']
): Promise<Document> {
  return documentOf(await start(t, register, openapi))
}

const one = (options: Partial<ResourceOptions>): Register => (app) => app.register(resources,
  { name: 'posts', ...options } as ResourceOptions)
const drawn = (declare: (map: Mapper) => unknown, prefix = ''): Register => (app) => app.register(
  draw(declare), { prefix }
)
const both = (...all: readonly Register[]): Register => (app) => { for (const register of all) register(app) }

const operationsOf = ({ paths }: Document) => Object.entries(paths).flatMap(([path, operations]) => Object.entries(
  operations
).map(([method, operation]) => ({ method, path, operation })))
/** Returns lines such as `get /posts listPosts`. */
const linesOf = (document: Document): string[] => operationsOf(document).map(({
  method, path, operation: { operationId }
}) => `${method} ${path} ${operationId}`)
const statusesOf = ({ responses }: Operation): string => Object.keys(responses).join(' ')

/** Checks that every reference has a target. */
function checkReferences (t: Test, document: Document): void {
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]*)"/g)].map(([, reference]) =>
    reference as string)
  const missing = references.filter((reference) => reference
    .slice(2)
    .split('/')
    .reduce<unknown>((part, step) => (part as Part | undefined)?.[step], document) === undefined)
  t.strictSame(missing, [], 'every reference has a target')
}

const nothing = () => undefined
const text = { type: 'string' } as const

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
    'AdminUser', 'AdminUserChanges', 'AdminUserPatch', 'Comment', 'CommentChanges', 'Errors', 'NewComment', 'NewPost',
    'NewPostCover', 'Post', 'PostChanges', 'PostCover', 'PostCoverChanges', 'PostIncludedComments', 'PostIncludedCover',
    'PostPatch', 'Problem', 'Sheep', 'TenantPost'
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

t.test('the names do not depend on other resources, and do not clash under other prefixes', async (t) => {
  const beside = (map: Mapper) => map.resources('photos').namespace('admin', (admin) => admin.resources('posts'))
  t.strictSame(linesOf(await describe(t, drawn((map) => { beside(map); everything(map) }))).slice(-LINES.length), LINES,
    'with other resources before')
  t.strictSame(linesOf(await describe(t, drawn((map) => { everything(map); beside(map) }))).slice(0, LINES.length),
    LINES, 'with other resources after')

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

const ref = (kind: string, name: string): Part => ({ $ref: `#/components/${kind}/${name}` })
const schema = (name: string): Part => ref('schemas', name)
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
const nothingButId = { type: 'object', properties: { id }, xml: { name: 'post' } }
const idInQuery = { in: 'query', name: 'id', schema: id, description: 'The id, if it is not in the body.' }
const encoding = { post: { style: 'deepObject', explode: true } }
const fields = {
  _version: { type: 'string', description: 'The version that the form shows. It has the effect of If-Match.' },
  commit: { type: 'string', description: 'The button of the form. It has no effect.' }
}
const method = (...methods: readonly string[]): Part => ({
  _method: { type: 'string', enum: methods, description: 'The method, because a form can only POST.' }
})
const stale = {
  description: 'A precondition failed, because somebody else has changed the row. The body is the current row, if ' +
    'the client may see it.',
  headers: etag,
  content: record
}
const seeOther = { description: 'Redirects a browser to the page that shows the result', headers: location }
const changed = { description: 'The changed post', headers: { ...cached, ...etag }, content: record }
const filter = (name: string, schema: Part, more = ''): Part => ({
  in: 'query', name, schema, description: `Lists only rows with this ${name}.${more}`
})

const only = {
  in: 'query',
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
const few = { type: 'string', minLength: 1, maxLength: 200 }
/** The parameters of an attribute with operators in brackets. */
type Meaning = readonly [schema: Part, meaning: string, more?: Part]

const bracketed = (name: string, value: Part, ...operators: readonly string[]): readonly Part[] =>
  operators.map((operator) => {
    const [schema, meaning, more = {}] = ({
      gte: [value, 'of at least this'],
      gt: [value, 'greater than this'],
      lte: [value, 'of at most this'],
      lt: [value, 'less than this'],
      not: [value, `other than this${name === 'id' ? '' : ', or without one'}`],
      in: [{ type: 'array', items: value, minItems: 1, maxItems: 1000 },
        'among these. In a value, write \\, for a comma and \\\\ for a backslash', { style: 'form', explode: false }],
      null: [{ type: 'boolean' }, 'that is null (true) or is not null (false)'],
      contains: [few, 'that contains this text, in upper or lower case'],
      starts: [few, 'that begins with this text, in upper or lower case']
    } as Readonly<Record<string, Meaning>>)[operator] as Meaning
    return {
      in: 'query',
      name: `${name}[${operator}]`,
      schema,
      ...more,
      description: `Lists only rows with ${name === 'id' ? 'an' : 'a'} ${name} ${meaning}.`
    }
  })
const ranges = ['gte', 'gt', 'lte', 'lt', 'not', 'in', 'null']
const texts = ['not', 'in', 'null', 'contains', 'starts']
const dateTime = { type: 'string', format: 'date-time' }

const OPERATIONS: Readonly<Record<string, unknown>> = {
  'get /posts': {
    operationId: 'listPosts',
    tags: ['posts'],
    summary: 'List posts',
    description: 'Returns the whole list, or a page of it. The default order is by id.',
    parameters: [
      format,
      {
        in: 'query',
        name: 'limit',
        schema: { type: 'integer', minimum: 1, maximum: 1000 },
        description: 'The most rows to return. The default is all rows, and for HTML the size of a page.'
      },
      {
        in: 'query',
        name: 'after',
        schema: text,
        description: 'The position after which the page begins. Take it from the `Link` of another page.'
      },
      {
        in: 'query',
        name: 'before',
        schema: text,
        description: 'The position before which the page ends, from a `Link`. An empty value asks for the last page.'
      },
      {
        in: 'query',
        name: 'offset',
        schema: { type: 'integer', minimum: 0, maximum: 10_000 },
        description: 'The number of rows before the page, which needs `limit`. It excludes `after` and `before`.'
      },
      {
        in: 'query',
        name: 'count',
        schema: { type: 'string', enum: ['true', 'estimate'] },
        description: 'Adds the headers `Total-Count` and `Content-Range`. An estimate may be faster.'
      },
      {
        in: 'query',
        name: 'sort',
        schema: text,
        description: 'Names separated by commas: title, body, published, rating, publishedAt, id. A minus before a ' +
          'name means descending order.',
        example: '-title'
      },
      {
        in: 'query',
        name: 'q',
        schema: few,
        description: 'Lists only rows that have each word in title or body; at most 10 words.'
      },
      filter('title', text),
      ...bracketed('title', text, ...texts),
      filter('body', text),
      ...bracketed('body', text, ...texts),
      filter('published', { type: 'boolean' }),
      ...bracketed('published', { type: 'boolean' }, 'not', 'in', 'null'),
      filter('rating', { anyOf: [{ type: 'integer' }, { type: 'string', enum: [''] }] },
        ' An empty value lists the rows without one.'),
      ...bracketed('rating', { type: 'integer' }, ...ranges),
      filter('publishedAt', dateTime),
      ...bracketed('publishedAt', dateTime, ...ranges),
      filter('id', { type: 'integer' }),
      ...bracketed('id', { type: 'integer' }, 'gte', 'gt', 'lte', 'lt', 'not', 'in'),
      only,
      {
        in: 'query',
        name: 'blank',
        schema: { type: 'string', enum: ['any'] },
        description: 'Ignores parameters without a value.'
      }
    ],
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
          'application/xml': {
            schema: { type: 'array', items: schema('Post'), xml: { name: 'posts', wrapped: true } }
          },
          'text/xml': { schema: { type: 'array', items: schema('Post'), xml: { name: 'posts', wrapped: true } } },
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
  'get /posts/{id}': {
    operationId: 'showPost',
    tags: ['posts'],
    summary: 'Show post',
    parameters: [{ in: 'path', name: 'id', required: true, schema: id }, format, only, ifNoneMatch],
    responses: {
      200: { description: 'The post', headers: { ...cached, ...etag }, content: record },
      304: { description: 'The client\'s copy is up to date', headers: { ...cached, ...etag } },
      ...refusals('BadRequest', 'NotFound', 'NotAcceptable', 'Failure')
    }
  },
  'post /posts': {
    operationId: 'createPost',
    tags: ['posts'],
    summary: 'Create post',
    description: 'A form can also update or delete by its field `_method`. The answer is then that of the update or ' +
      'deletion.',
    parameters: [format],
    requestBody: {
      required: true,
      content: {
        'application/xml': { schema: schema('NewPost') },
        'text/xml': { schema: schema('NewPost') },
        'application/json': {
          schema: {
            type: 'object', required: ['post'], properties: { post: schema('NewPost') }, additionalProperties: false
          }
        },
        [FORM]: {
          schema: {
            anyOf: [
              {
                type: 'object',
                required: ['post'],
                properties: { ...fields, post: schema('NewPost') },
                additionalProperties: false
              },
              {
                type: 'object',
                required: ['_method'],
                properties: { ...method('PUT', 'DELETE'), ...fields, id, post: schema('PostChanges') },
                additionalProperties: false
              }
            ]
          },
          encoding
        }
      }
    },
    responses: {
      201: { description: 'The new post', headers: { ...location, ...etag }, content: record },
      303: seeOther,
      ...refusals('BadRequest', 'Forbidden', 'NotAcceptable', 'Conflict', 'PreconditionFailed', 'PayloadTooLarge',
        'UnsupportedMediaType', 'UnprocessableEntity', 'Failure')
    }
  },
  'put /posts': {
    operationId: 'updatePost',
    tags: ['posts'],
    summary: 'Update post',
    description: 'Changes only the attributes that are sent. The id may be beside the group of attributes, inside ' +
      'it, or in the query.',
    parameters: [format, idInQuery, ifMatch],
    requestBody: {
      required: true,
      content: {
        'application/xml': { schema: schema('PostChanges') },
        'text/xml': { schema: schema('PostChanges') },
        'application/json': {
          schema: {
            type: 'object',
            required: ['post'],
            properties: { id, post: schema('PostChanges') },
            additionalProperties: false
          }
        },
        [FORM]: {
          schema: {
            type: 'object',
            required: ['post'],
            properties: { ...fields, id, post: schema('PostChanges') },
            additionalProperties: false
          },
          encoding
        }
      }
    },
    responses: {
      200: changed,
      303: seeOther,
      412: stale,
      ...refusals('BadRequest', 'Forbidden', 'NotFound', 'NotAcceptable', 'Conflict', 'PayloadTooLarge',
        'UnsupportedMediaType', 'UnprocessableEntity', 'Failure')
    }
  },
  'delete /posts': {
    operationId: 'deletePost',
    tags: ['posts'],
    summary: 'Delete post',
    description: 'The id may be in the query or in the body.',
    parameters: [format, idInQuery, ifMatch],
    requestBody: {
      content: {
        'application/xml': { schema: nothingButId },
        'text/xml': { schema: nothingButId },
        'application/json': {
          schema: { type: 'object', properties: { id, post: nothingButId }, additionalProperties: false }
        },
        [FORM]: {
          schema: { type: 'object', properties: { ...fields, id, post: nothingButId }, additionalProperties: false },
          encoding
        }
      }
    },
    responses: {
      204: { description: 'Deleted', headers: cached },
      303: seeOther,
      412: stale,
      ...refusals('BadRequest', 'Forbidden', 'NotFound', 'NotAcceptable', 'Conflict', 'PayloadTooLarge',
        'UnsupportedMediaType', 'UnprocessableEntity', 'Failure')
    }
  }
}

const shown = {
  title: { type: 'string', minLength: 1, maxLength: 120 },
  body: text,
  published: { type: 'boolean' },
  rating: { type: ['integer', 'null'], minimum: 1, maximum: 5 },
  tags: { type: 'array', items: { type: 'string', xml: { name: 'tag' } }, xml: { wrapped: true } },
  publishedAt: { type: ['string', 'null'], format: 'date-time' }
}

t.test('an operation has everything that the contract says', async (t) => {
  const document = await describe(t, one({ attributes: post }))
  t.strictSame(
    Object.fromEntries(operationsOf(document).map(({ method, path, operation }) => [`${method} ${path}`, operation])),
    OPERATIONS
  )
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
    PostChanges: { type: 'object', properties: { id, ...shown }, additionalProperties: false, xml: { name: 'post' } },
    Problem: {
      type: 'object',
      required: ['type', 'title', 'status', 'detail'],
      properties: {
        type: { type: 'string', format: 'uri-reference' },
        title: { type: 'string', description: 'The status in words.' },
        status: { type: 'integer' },
        detail: { type: 'string', description: 'What is wrong, in one sentence.' },
        errors: {
          type: 'object',
          additionalProperties: { type: 'array', items: text },
          description: 'The messages of each attribute.'
        }
      }
    },
    Errors: {
      type: 'array',
      description: 'Each error is a sentence: `<errors><error attribute="title">Title must not be blank</error>' +
        '</errors>`',
      items: {
        type: 'object', properties: { attribute: { type: 'string', xml: { attribute: true } } }, xml: { name: 'error' }
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
    ['CacheControl', 'Content-Range', 'ETag', 'Link', 'Location', 'Total-Count'])
})

const csv: Format = {
  name: 'csv',
  mediaTypes: ['text/csv'],
  compileWriter: () => ({
    record: () => '', problem: () => '', list: { open: '', row: () => '', separator: '', close: '' }
  })
}
const hal: Format = {
  ...csv,
  name: 'hal',
  mediaTypes: ['application/hal+json'],
  compileReader: () => ({
    form: false,
    typed: true,
    parse: (body) => JSON.parse(String(body)) as Entries,
    entries: (node) => node as Entries,
    scalar: (node) => node,
    compile: () => (value) => value
  })
}

interface FormSchema {
  readonly required: unknown
  readonly properties: Readonly<Record<string, Part>>
  readonly anyOf?: readonly FormSchema[]
}

t.test('a merge patch removes optional attributes by null, and merges objects', async (t) => {
  const attributes = {
    type: 'object',
    required: ['title'],
    properties: {
      title: { type: 'string' },
      rating: { type: 'integer' },
      price: { type: ['number', 'null'] },
      author: { type: 'object' }
    }
  } as const
  const document = await describe(t, one({ attributes, writes: 'both' }))
  t.strictSame(document.paths['/posts/{id}']?.patch?.requestBody?.content['application/merge-patch+json']?.schema, {
    type: 'object',
    required: ['post'],
    properties: { id, post: ref('schemas', 'PostPatch') },
    additionalProperties: false
  })
  t.match(document.components.schemas.PostPatch, {
    additionalProperties: false,
    properties: {
      title: { type: 'string' },
      rating: { anyOf: [{ type: 'integer' }, { type: 'null' }] },
      price: { type: ['number', 'null'] },
      author: { description: 'An object is merged with the stored one (RFC 7396).' }
    }
  })
  t.strictSame(document.components.schemas.PostPatch?.required, undefined)
})

t.test('only the features of a resource are described', async (t) => {
  const anyone = { authorize: () => true }
  const cases: ReadonlyArray<readonly [name: string, options: Partial<ResourceOptions>, of: string, expected: Part]> = [
    [
      'JSON alone: a creation',
      { formats: ['json'] },
      'post /posts',
      {
        parameters: ['format'],
        statuses: '201 400 403 406 409 412 413 415 422 default',
        bodies: TYPES.json,
        answers: TYPES.json,
        problems: ['application/problem+json'],
        description: undefined
      }
    ],
    [
      'JSON alone: an update',
      { formats: ['json'] },
      'put /posts',
      {
        parameters: ['format', 'id', 'If-Match'],
        statuses: '200 400 403 404 406 409 412 413 415 422 default',
        bodies: TYPES.json,
        answers: TYPES.json
      }
    ],
    [
      'XML and JSON',
      { formats: ['json', 'xml'] },
      'put /posts',
      {
        statuses: '200 400 403 404 406 409 412 413 415 422 default',
        bodies: [...TYPES.json, ...TYPES.xml],
        answers: [...TYPES.json, ...TYPES.xml],
        problems: ['application/problem+json', ...TYPES.xml]
      }
    ],
    ['pages alone', { formats: ['html'] }, 'post /posts',
      { statuses: '201 303 400 403 406 409 412 413 415 422 default', bodies: [FORM], answers: TYPES.html }],
    [
      'a creation that has no other write beside it',
      { only: ['create'] },
      'post /posts',
      {
        parameters: ['format'],
        statuses: '201 303 400 403 406 409 412 413 415 422 default',
        description: undefined,
        forms: [{ required: ['post'], fields: ['_version', 'commit', 'post'] }]
      }
    ],
    [
      'a creation beside an update',
      { only: ['create', 'update'] },
      'post /posts',
      {
        statuses: '201 303 400 403 406 409 412 413 415 422 default',
        forms: [{ required: ['post'], fields: ['_version', 'commit', 'post'] },
          { required: ['_method'], methods: ['PUT'], fields: ['_method', '_version', 'commit', 'id', 'post'] }]
      }
    ],
    [
      'a creation beside a deletion',
      { only: ['create', 'delete'] },
      'post /posts',
      {
        forms: [{ required: ['post'], fields: ['_version', 'commit', 'post'] },
          { required: ['_method'], methods: ['DELETE'], fields: ['_method', '_version', 'commit', 'id', 'post'] }]
      }
    ],
    [
      'a form for an update alone',
      { only: ['update'] },
      'post /posts',
      {
        statuses: '200 303 400 403 404 406 409 412 413 415 422 default',
        bodies: [FORM],
        forms: [{ required: ['_method'], methods: ['PUT'], fields: ['_method', '_version', 'commit', 'id', 'post'] }],
        summary: 'Update post by a form'
      }
    ],
    [
      'a form for a deletion alone',
      { only: ['delete'] },
      'post /posts',
      {
        statuses: '204 303 400 403 404 406 409 412 413 415 422 default',
        forms: [{
          required: ['_method'], methods: ['DELETE'], fields: ['_method', '_version', 'commit', 'id', 'post']
        }],
        summary: 'Delete post by a form'
      }
    ],
    ['no form asks for anything where none is read', { only: ['update'], formats: ['json'] }, 'post /posts',
      { absent: true }],
    [
      'a format of the app is a text',
      { formats: ['json', csv] },
      'get /posts',
      {
        formats: ['json', 'csv'],
        answers: [...TYPES.json, 'text/csv'],
        problems: ['application/problem+json', 'text/csv'],
        schemas: { 'text/csv': text }
      }
    ],
    [
      'CSV is a text, and its errors are JSON',
      { formats: ['csv'] },
      'get /posts',
      { formats: ['csv'], answers: ['text/csv'], problems: ['application/problem+json'], schemas: { 'text/csv': text } }
    ],
    ['CSV is not read', { formats: ['json', 'csv'] }, 'post /posts',
      { bodies: TYPES.json, answers: [...TYPES.json, 'text/csv'], problems: ['application/problem+json'] }],
    ['a kind of JSON of the app is anything', { formats: [hal] }, 'put /posts',
      { bodies: ['application/hal+json'], answers: ['application/hal+json'], schemas: { 'application/hal+json': {} } }],
    ['requireMatch beside forms, which have a field', { requireMatch: true }, 'put /posts',
      { required: [], statuses: '200 303 400 403 404 406 409 412 413 415 422 428 default' }],
    ['requireMatch without forms', { requireMatch: true, formats: ['json'] }, 'delete /posts',
      { required: ['If-Match'], statuses: '204 400 403 404 406 409 412 413 415 422 428 default' }],
    ['requireMatch of a form', { requireMatch: true, only: ['update'] }, 'post /posts',
      { statuses: '200 303 400 403 404 406 409 412 413 415 422 428 default' }],
    ['requireMatch says nothing of a creation', { requireMatch: true, formats: ['json'] }, 'post /posts',
      { required: [], statuses: '201 400 403 406 409 412 413 415 422 default' }],
    ['guarded by authorize', anyone, 'get /posts', { statuses: '200 400 403 404 406 414 default' }],
    ['guarded by a scope', { scope: () => ({}) }, 'get /posts/{id}', { statuses: '200 304 400 403 404 406 default' }],
    ['guarded, a creation', { ...anyone, formats: ['json'] }, 'post /posts',
      { statuses: '201 400 403 404 406 409 412 413 415 422 default' }],
    [
      'a blank one',
      { formPages: true },
      'get /posts/new',
      { parameters: ['format', 'title', 'body', 'published', 'rating', 'publishedAt'], statuses: '200 400 406 default' }
    ],
    ['the form of one', { formPages: true }, 'get /posts/{id}/edit',
      { parameters: ['id', 'format', 'If-None-Match'], statuses: '200 304 400 404 406 default' }],
    [
      'at the path of a member',
      { writes: 'member' },
      'delete /posts/{id}',
      {
        parameters: ['id', 'format', 'If-Match'],
        statuses: '204 303 400 403 404 406 409 412 413 415 422 default',
        bodies: [],
        description: undefined
      }
    ],
    ['at the path of a member, a merge patch', { writes: 'member', formats: ['json'] }, 'patch /posts/{id}',
      { bodies: ['application/merge-patch+json', ...TYPES.json] }],
    ['at the path of a member, without JSON', { writes: 'member', formats: ['xml'] }, 'patch /posts/{id}',
      { bodies: TYPES.xml }],
    ['an id of its own name', { param: 'slug', id: 'uuid' }, 'get /posts/{slug}',
      { path: { slug: { type: 'string', format: 'uuid' } } }],
    ['an id that is bound', { constraints: { id: { maximum: 999 } } }, 'get /posts/{id}',
      { path: { id: { ...id, maximum: 999 } } }],
    [
      'parameters of the prefix',
      {
        prefix: '/:tenant/:year/:page',
        constraints: { tenant: { pattern: '^a' }, year: { exclusiveMinimum: 1990, type: 'integer' } }
      },
      'get /{tenant}/{year}/{page}/posts/{id}',
      {
        path: {
          tenant: { type: 'string', pattern: '^a' }, year: { type: 'integer', exclusiveMinimum: 1990 }, page: text, id
        }
      }
    ],
    [
      'a parameter of the prefix that is bound: a list',
      { prefix: '/:tenant', constraints: { tenant: { enum: ['acme'] } } },
      'get /{tenant}/posts',
      { statuses: '200 400 404 406 414 default' }
    ],
    [
      'a parameter of the prefix that is bound: a creation',
      { prefix: '/:tenant', constraints: { tenant: { enum: ['acme'] } }, formats: ['json'] },
      'post /{tenant}/posts',
      { statuses: '201 400 403 404 406 409 412 413 415 422 default' }
    ],
    [
      'a parameter of the prefix that is bound: a blank one',
      { prefix: '/:tenant', constraints: { tenant: { enum: ['acme'] } }, formPages: true },
      'get /{tenant}/posts/new',
      { statuses: '200 400 404 406 default' }
    ],
    ['an id that is bound says nothing of a list', { constraints: { id: { maximum: 999 } } }, 'get /posts',
      { statuses: '200 400 406 414 default' }],
    ['a store without capabilities', { store: { ...memoryStore(), capabilities: {} } }, 'get /posts',
      { parameters: ['format', 'limit', 'after', 'only'] }],
    [
      'an attribute that is called as a parameter',
      { attributes: { type: 'object', properties: { limit: { type: 'boolean' } } }, sort: [] },
      'get /posts',
      {
        parameters: [
          'format', 'limit', 'after', 'before', 'offset', 'count', 'limit[not]', 'limit[in]', 'limit[null]', 'id',
          'id[gte]', 'id[gt]', 'id[lte]', 'id[lt]', 'id[not]', 'id[in]', 'only', 'blank'
        ]
      }
    ],
    ['nothing to sort or to filter by', { sort: [], filter: [] }, 'get /posts',
      { parameters: ['format', 'limit', 'after', 'before', 'offset', 'count', 'only'] }],
    [
      'a choice to filter by',
      {
        attributes: {
          type: 'object',
          properties: {
            kind: { type: 'string', enum: ['a', 'b'] }, level: { type: ['integer', 'null'], enum: [1, 2, null] }
          }
        }
      },
      'get /posts',
      {
        queries: {
          kind: { type: 'string', enum: ['a', 'b'] },
          level: { anyOf: [{ type: 'integer', enum: [1, 2] }, { type: 'string', enum: [''] }] }
        }
      }
    ]
  ]
  const document = await describe(
    t,
    both(
      ...cases.map(([, options], index) => one({
        attributes: post, ...options, prefix: `/c${index}${options.prefix ?? ''}`
      }))
    )
  )
  checkReferences(t, document)
  for (const [index, [name, , of, expected]] of cases.entries()) {
    await t.test(name, async (t) => {
      const [method, path] = of.split(' ') as [string, string]
      const operation = document.paths[`/c${index}${path}`]?.[method]
      if (operation === undefined) return t.strictSame({ absent: true }, expected)
      const { parameters, requestBody, responses, summary, description } = operation
      const named = (place: string): Part => Object.fromEntries(parameters.filter((parameter) =>
        parameter.in === place).map(({ name, schema }) => [name, schema]))
      const success = Object.entries(responses).find(([status]) => status.startsWith('2'))?.[1].content ?? {}
      const form = requestBody?.content[FORM]?.schema as FormSchema | undefined
      const found: Part = {
        parameters: parameters.map(({ name }) => name),
        path: named('path'),
        queries: Object.fromEntries(Object.entries(named('query')).filter(([name]) => ['kind', 'level'].includes(
          name
        ))),
        formats: parameters.find(({ name }) => name === 'format')?.schema.enum,
        required: parameters
          .filter((parameter) => parameter.in === 'header' && parameter.required === true)
          .map(({ name }) => name),
        statuses: statusesOf(operation),
        bodies: Object.keys(requestBody?.content ?? {}),
        forms: (form?.anyOf ?? [form]).map((form) => ({
          required: form?.required,
          ...(form?.properties._method !== undefined && { methods: form.properties._method.enum }),
          fields: Object.keys(form?.properties ?? {})
        })),
        answers: Object.keys(success),
        schemas: Object.fromEntries(Object
          .entries(success)
          .filter(([mediaType]) => !mediaType.endsWith('/json'))
          .map(([mediaType, { schema }]) => [mediaType, schema])),
        problems: Object.keys(
          document.components.responses[(responses[406]?.$ref as string).split('/').at(-1) as string]?.content ?? {}
        ),
        summary,
        description
      }
      t.strictSame(Object.fromEntries(Object.keys(expected).map((part) => [part, found[part]])), expected)
    })
  }
})

t.test('nested resources and singletons are described', async (t) => {
  const document = await describe(t, drawn((map) => map.resources('posts', {
    id: 'uuid', formats: ['json']
  }, (posts) => {
    posts.resources('comments', {
      formats: ['json'],
      attributes: { type: 'object', properties: { postId: text, body: text } },
      constraints: { postId: { maxLength: 36 } }
    })
    posts.resource('cover', { formats: ['json'] })
  })))
  const { get, post: create } = document.paths['/posts/{postId}/comments'] as Record<string, Operation>
  t.equal(statusesOf(get as Operation), '200 400 404 406 414 default', 'the parent may be missing')
  t.equal(statusesOf(create as Operation), '201 400 403 404 406 409 412 413 415 422 default')
  t.strictSame(get?.parameters[0], {
    in: 'path', name: 'postId', required: true, schema: { type: 'string', format: 'uuid', maxLength: 36 }
  })
  t.strictSame(document.components.schemas.PostComment?.properties, {
    id, postId: { type: 'string', readOnly: true }, body: text
  })
  const cover = document.paths['/posts/{postId}/cover'] as Record<string, Operation>
  t.strictSame(cover.put?.parameters.map(({ name }) => name), ['postId', 'format', 'If-Match'])
  t.strictSame(cover.put?.requestBody?.content['application/json']?.schema, {
    type: 'object', required: ['cover'], properties: { cover: schema('PostCoverChanges') }, additionalProperties: false
  })
  t.notOk(cover.delete?.requestBody)
  t.strictSame(document.components.schemas.PostCover, { type: 'object', properties: {}, xml: { name: 'cover' } })
  t.strictSame(document.components.schemas.PostCoverChanges, {
    type: 'object', properties: {}, additionalProperties: true, xml: { name: 'cover' }
  })
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
  for (const [
    openapi, q, stars
  ] of [[V31, { type: ['string', 'null'] }, { type: 'integer', exclusiveMinimum: 0 }],
      [V30, { type: 'string', nullable: true }, { type: 'integer', minimum: 0, exclusiveMinimum: true }]] as const) {
    const document = await describe(t, drawn((map) => map.resources('posts', { attributes: post }, (posts) => {
      posts.collection.get('search', { query }, nothing)
      posts.member.put('rate', { attributes: rate }, nothing).member.delete('rate', nothing)
      posts.member.post('share', nothing).member.put('share', nothing)
      posts.member.patch('touch', nothing)
    })), { openapi })
    checkReferences(t, document)
    t.strictSame(document.paths['/posts/search']?.get?.parameters, [
      format,
      { in: 'query', name: 'q', schema: q, description: 'what to look for', required: true },
      { in: 'query', name: 'page', schema: { type: 'integer', default: 1 } },
      { in: 'query', name: 'by', schema: schema('PostSearchBy') },
      ifNoneMatch
    ])
    const either = {
      anyOf: [record['application/json'].schema,
        { type: 'object', required: ['posts'], properties: { posts: { type: 'array', items: schema('Post') } } }]
    }
    t.strictSame(
      document.paths['/posts/search']?.get?.responses[200]?.content?.['application/json'], { schema: either }
    )
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
      properties: { id, stars: schema('PostRateStars'), why: rate.properties.why, at: rate.properties.at },
      additionalProperties: false,
      xml: { name: 'post' }
    })
    t.strictSame(document.components.schemas.PostRateStars, stars)
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
    const shared = { ...fields, id, post: schema('PostChanges') }
    t.strictSame(document.paths['/posts/{id}/share']?.post?.requestBody?.content[FORM], {
      schema: {
        anyOf: [
          { type: 'object', properties: shared, additionalProperties: false },
          {
            type: 'object',
            required: ['_method'],
            properties: { ...method('PUT'), ...shared },
            additionalProperties: false
          }
        ]
      },
      encoding
    })
    t.strictSame(document.paths['/posts/{id}/touch']?.patch?.requestBody?.content[FORM], {
      schema: {
        type: 'object', properties: { ...fields, id, post: schema('PostChanges') }, additionalProperties: false
      },
      encoding
    })
    t.notOk(document.paths['/posts/{id}/touch']?.post, 'no form can send a PATCH')
  }
})

// ---- Schemas

interface Translated {
  /** The schema of the attribute, and the definitions beside it. */
  readonly schema: Part
  readonly definitions?: Part
  readonly v31: unknown
  readonly v30: unknown
  readonly accepted?: readonly unknown[]
  readonly refused?: readonly unknown[]
  /** Values that only the schema of OpenAPI 3.0 accepts. */
  readonly passed?: readonly unknown[]
}

const string = { type: 'string' }
const integer = { type: 'integer' }
const NULL = { type: 'object', nullable: true, enum: [null] }
const items = (schema: unknown, name = 'value'): Part => ({
  items: { ...schema as Part, xml: { name } }, xml: { wrapped: true }
})

const SCHEMAS: Readonly<Record<string, Translated>> = {
  'what is the same': {
    schema: {
      type: 'string',
      title: 'T',
      description: 'D',
      pattern: '^a',
      minLength: 2,
      maxLength: 4,
      format: 'textarea',
      deprecated: true,
      'x-any': { a: 1 },
      xml: { name: 'other' },
      $id: 'here',
      example: 'ab'
    },
    v31: {
      type: 'string',
      title: 'T',
      description: 'D',
      pattern: '^a',
      minLength: 2,
      maxLength: 4,
      format: 'textarea',
      deprecated: true,
      'x-any': { a: 1 },
      example: 'ab'
    },
    v30: {
      type: 'string',
      title: 'T',
      description: 'D',
      pattern: '^a',
      minLength: 2,
      maxLength: 4,
      format: 'textarea',
      deprecated: true,
      'x-any': { a: 1 },
      example: 'ab'
    },
    accepted: ['ab'],
    refused: ['a', 'ba', 'abcde', 1]
  },
  anything: { schema: {}, v31: {}, v30: {}, accepted: [1, null, 'a', {}] },
  'a type or null': {
    schema: { type: ['integer', 'null'], maximum: 3 },
    v31: { type: ['integer', 'null'], maximum: 3 },
    v30: { type: 'integer', nullable: true, maximum: 3 },
    accepted: [1, null],
    refused: [4, 'a', 1.5]
  },
  nullable: {
    schema: { type: 'integer', nullable: true },
    v31: { type: ['integer', 'null'] },
    v30: { type: 'integer', nullable: true },
    accepted: [1, null],
    refused: ['a']
  },
  'not nullable': {
    schema: { type: ['integer'], nullable: false },
    v31: { type: 'integer' },
    v30: { type: 'integer' },
    accepted: [1],
    refused: [null]
  },
  'null alone': {
    schema: { type: 'null', description: 'D' },
    v31: { type: 'null', description: 'D' },
    v30: { ...NULL, description: 'D' },
    accepted: [null],
    refused: ['', 0, {}]
  },
  'several types': {
    schema: { type: ['string', 'integer', 'null'] },
    v31: { type: ['string', 'integer', 'null'] },
    v30: { anyOf: [{ type: 'string', nullable: true }, { type: 'integer', nullable: true }] },
    accepted: ['a', 1, null],
    refused: [true, {}]
  },
  'several types and alternatives': {
    schema: {
      type: ['string', 'array'],
      anyOf: [{ type: 'string', minLength: 1 }, { type: 'array', items: {} }, { type: 'boolean' }]
    },
    v31: {
      type: ['string', 'array'],
      anyOf: [{ type: 'string', minLength: 1 }, { type: 'array', ...items({}) }, { type: 'boolean' }],
      xml: { wrapped: true }
    },
    v30: {
      anyOf: [{ type: 'string', minLength: 1 }, { type: 'array', ...items({}) }, { type: 'boolean' }],
      items: {},
      xml: { wrapped: true },
      allOf: [{ anyOf: [{ type: 'string' }, { type: 'array', items: {} }] }]
    },
    accepted: ['a', [1]],
    refused: ['', true]
  },
  'an enumeration': {
    schema: { type: 'string', enum: ['a', 'b'] },
    v31: { type: 'string', enum: ['a', 'b'] },
    v30: { type: 'string', enum: ['a', 'b'] },
    accepted: ['a'],
    refused: ['c', null]
  },
  'an enumeration with null': {
    schema: { type: ['string', 'null'], enum: ['a', null] },
    v31: { type: ['string', 'null'], enum: ['a', null] },
    v30: { type: 'string', nullable: true, enum: ['a', null] },
    accepted: ['a', null],
    refused: ['c']
  },
  'an enumeration without the null of its type': {
    schema: { type: ['string', 'null'], enum: ['a'] },
    v31: { type: ['string', 'null'], enum: ['a'] },
    v30: { type: 'string', nullable: true, enum: ['a'] },
    accepted: ['a'],
    refused: ['c', null]
  },
  'an enumeration or null': {
    schema: { anyOf: [{ type: 'string', enum: ['a', 'b'] }, { type: 'null' }], description: 'D' },
    v31: { anyOf: [{ type: 'string', enum: ['a', 'b'] }, { type: 'null' }], description: 'D' },
    v30: { type: 'string', enum: ['a', 'b', null], description: 'D', nullable: true },
    accepted: ['a', null],
    refused: ['c', 1]
  },
  'a string or null': {
    schema: { oneOf: [{ type: 'null' }, { type: 'string', description: 'inner' }], description: 'outer' },
    v31: { oneOf: [{ type: 'null' }, { type: 'string', description: 'inner' }], description: 'outer' },
    v30: { type: 'string', description: 'outer', nullable: true },
    accepted: ['a', null],
    refused: [1]
  },
  'a string or null, that clashes with what is around': {
    schema: { anyOf: [{ type: 'string', minLength: 2 }, { type: 'null' }], minLength: 3 },
    v31: { anyOf: [{ type: 'string', minLength: 2 }, { type: 'null' }], minLength: 3 },
    v30: { anyOf: [{ type: 'string', minLength: 2 }, NULL], minLength: 3 },
    accepted: ['abc', null],
    refused: ['ab']
  },
  'either of a string that may be null, or null': {
    schema: { anyOf: [{ type: ['string', 'null'] }, { const: null }] },
    v31: { anyOf: [{ type: ['string', 'null'] }, { const: null }] },
    v30: { anyOf: [{ type: 'string', nullable: true }, { enum: [null] }] },
    accepted: ['a', null],
    refused: [1]
  },
  'one of a string that may be null, or null': {
    schema: { oneOf: [{ type: ['string', 'null'] }, { const: null }] },
    v31: { oneOf: [{ type: ['string', 'null'] }, { const: null }] },
    v30: { oneOf: [{ type: 'string', nullable: true }, { enum: [null] }] },
    accepted: ['a'],
    refused: [null]
  },
  'null or null': {
    schema: { anyOf: [{ type: 'null' }, { const: null }] },
    v31: { anyOf: [{ type: 'null' }, { const: null }] },
    v30: { anyOf: [NULL, { enum: [null] }] },
    accepted: [null],
    refused: ['a']
  },
  'more than one alternative to null': {
    schema: { anyOf: [string, integer, { type: 'null' }] },
    v31: { anyOf: [string, integer, { type: 'null' }] },
    v30: { anyOf: [string, integer, NULL] },
    accepted: ['a', 1, null],
    refused: [true]
  },
  'what is referred to, or null': {
    schema: { anyOf: [{ $ref: '#/definitions/person' }, { type: 'null' }] },
    definitions: { person: { type: 'object', required: ['name'], properties: { name: string } } },
    v31: { anyOf: [schema('PostPerson'), { type: 'null' }] },
    v30: { anyOf: [schema('PostPerson'), NULL] },
    accepted: [{ name: 'a' }, null],
    refused: [{}, 1]
  },
  'a constant': { schema: { const: 'a' }, v31: { const: 'a' }, v30: { enum: ['a'] }, accepted: ['a'], refused: ['b'] },
  'exclusive bounds': {
    schema: { type: 'number', exclusiveMinimum: 1, exclusiveMaximum: 3 },
    v31: { type: 'number', exclusiveMinimum: 1, exclusiveMaximum: 3 },
    v30: { type: 'number', minimum: 1, exclusiveMinimum: true, maximum: 3, exclusiveMaximum: true },
    accepted: [2],
    refused: [1, 3]
  },
  'exclusive bounds beside looser ones': {
    schema: { type: 'number', minimum: 0, exclusiveMinimum: 1, exclusiveMaximum: 3, maximum: 4 },
    v31: { type: 'number', minimum: 0, exclusiveMinimum: 1, exclusiveMaximum: 3, maximum: 4 },
    v30: { type: 'number', minimum: 1, exclusiveMinimum: true, maximum: 3, exclusiveMaximum: true },
    accepted: [2],
    refused: [1, 3]
  },
  'exclusive bounds beside stricter ones': {
    schema: { type: 'number', minimum: 2, exclusiveMinimum: 1, exclusiveMaximum: 4, maximum: 3 },
    v31: { type: 'number', minimum: 2, exclusiveMinimum: 1, exclusiveMaximum: 4, maximum: 3 },
    v30: { type: 'number', minimum: 2, maximum: 3 },
    accepted: [2, 3],
    refused: [1.5, 3.5]
  },
  examples: {
    schema: {
      type: 'string', examples: ['a', 'b'], $comment: 'C', contentMediaType: 'text/markdown', contentEncoding: 'base64'
    },
    v31: {
      type: 'string', examples: ['a', 'b'], $comment: 'C', contentMediaType: 'text/markdown', contentEncoding: 'base64'
    },
    v30: { type: 'string', format: 'byte', example: 'a' }
  },
  'a decimal': {
    schema: { type: 'string', format: 'decimal' },
    v31: { type: 'string', format: 'decimal', pattern: '^-?[0-9]+(\\.[0-9]+)?$' },
    v30: { type: 'string', format: 'decimal', pattern: '^-?[0-9]+(\\.[0-9]+)?$' },
    accepted: ['0', '-12.50', '007'],
    refused: [1]
  },
  'a decimal with precision and scale': {
    schema: { type: ['string', 'null'], format: 'decimal', precision: 5, scale: 2 },
    v31: { type: ['string', 'null'], format: 'decimal', pattern: '^-?0*[0-9]{1,3}(\\.[0-9]{1,2})?$' },
    v30: { type: 'string', nullable: true, format: 'decimal', pattern: '^-?0*[0-9]{1,3}(\\.[0-9]{1,2})?$' },
    accepted: ['-123.45', '000123', '0.5', null],
    refused: [1]
  },
  'an integer of eight bytes': {
    schema: { type: ['integer', 'null'], format: 'int64' },
    v31: { type: ['integer', 'null', 'string'], format: 'int64', pattern: '^-?[1-9][0-9]{15,18}$' },
    v30: {
      anyOf: [{ type: 'integer', nullable: true }, { type: 'string', nullable: true }],
      format: 'int64',
      pattern: '^-?[1-9][0-9]{15,18}$'
    },
    accepted: [5, null],
    refused: ['5', 'x']
  },
  'a whole decimal': {
    schema: { type: 'string', format: 'decimal', precision: 19, scale: 0 },
    v31: { type: 'string', format: 'decimal', pattern: '^-?0*[0-9]{1,19}$' },
    v30: { type: 'string', format: 'decimal', pattern: '^-?0*[0-9]{1,19}$' },
    accepted: ['9223372036854775807', '-0'],
    refused: [0]
  },
  'a decimal between -1 and 1, with a limit of digits after the point': {
    schema: {
      anyOf: [{ type: 'string', format: 'decimal', precision: 2, scale: 2 },
        { type: 'string', format: 'decimal', scale: 1, pattern: '^7' }]
    },
    v31: {
      anyOf: [{ type: 'string', format: 'decimal', pattern: '^-?0+(\\.[0-9]{1,2})?$' },
        { type: 'string', format: 'decimal', pattern: '^7' }]
    },
    v30: {
      anyOf: [{ type: 'string', format: 'decimal', pattern: '^-?0+(\\.[0-9]{1,2})?$' },
        { type: 'string', format: 'decimal', pattern: '^7' }]
    },
    accepted: ['7.5'],
    refused: [7.5]
  },
  'an array': {
    schema: { type: 'array', items: { type: 'string', minLength: 1 }, minItems: 1, maxItems: 2, uniqueItems: true },
    v31: { type: 'array', minItems: 1, maxItems: 2, uniqueItems: true, ...items({ type: 'string', minLength: 1 }) },
    v30: { type: 'array', minItems: 1, maxItems: 2, uniqueItems: true, ...items({ type: 'string', minLength: 1 }) },
    accepted: [['a']],
    refused: [[], [''], ['a', 'a'], ['a', 'b', 'c']]
  },
  'an array of anything': {
    schema: { type: ['array', 'null'] },
    v31: { type: ['array', 'null'], xml: { wrapped: true } },
    v30: { type: 'array', nullable: true, items: {}, xml: { wrapped: true } },
    accepted: [[], [1], null],
    refused: [{}]
  },
  'an array of arrays': {
    schema: { type: 'array', items: { type: 'array', items: string } },
    v31: {
      type: 'array',
      ...items({ type: 'array', ...items(string) }),
      items: { type: 'array', items: { ...string, xml: { name: 'value' } }, xml: { name: 'value', wrapped: true } }
    },
    v30: {
      type: 'array',
      items: { type: 'array', items: { ...string, xml: { name: 'value' } }, xml: { name: 'value', wrapped: true } },
      xml: { wrapped: true }
    },
    accepted: [[['a']]],
    refused: [[1]]
  },
  'a tuple': {
    schema: { type: 'array', items: [string, integer] },
    v31: {
      type: 'array',
      prefixItems: [{ ...string, xml: { name: 'value' } }, { ...integer, xml: { name: 'value' } }],
      xml: { wrapped: true }
    },
    v30: { type: 'array', items: {}, xml: { wrapped: true } },
    accepted: [['a', 1], ['a', 1, true], []],
    refused: ['a'],
    passed: [[1]]
  },
  'a tuple of a length': {
    schema: { type: 'array', items: [string, integer], additionalItems: false },
    v31: {
      type: 'array',
      prefixItems: [{ ...string, xml: { name: 'value' } }, { ...integer, xml: { name: 'value' } }],
      items: false,
      xml: { wrapped: true }
    },
    v30: { type: 'array', items: {}, xml: { wrapped: true } },
    accepted: [['a', 1]],
    refused: ['a'],
    passed: [[1, 'a'], ['a', 1, 1], [true]]
  },
  'a tuple of one': {
    schema: { type: 'array', items: [string], additionalItems: false },
    v31: { type: 'array', prefixItems: [{ ...string, xml: { name: 'value' } }], items: false, xml: { wrapped: true } },
    v30: { type: 'array', items: {}, xml: { wrapped: true } },
    accepted: [['a'], []],
    refused: ['a'],
    passed: [['a', 'b'], [1]]
  },
  'a tuple and more': {
    schema: { type: 'array', items: [string], additionalItems: integer },
    v31: {
      type: 'array',
      prefixItems: [{ ...string, xml: { name: 'value' } }],
      items: { ...integer, xml: { name: 'value' } },
      xml: { wrapped: true }
    },
    v30: { type: 'array', items: {}, xml: { wrapped: true } },
    accepted: [['a', 1, 2]],
    refused: ['a'],
    passed: [['a', true], ['a', 'b']]
  },
  'a tuple and anything': {
    schema: { type: 'array', items: [string], additionalItems: true },
    v31: { type: 'array', prefixItems: [{ ...string, xml: { name: 'value' } }], items: true, xml: { wrapped: true } },
    v30: { type: 'array', items: {}, xml: { wrapped: true } },
    accepted: [['a', 1, true]],
    passed: [[1]]
  },
  'what must be among the items': {
    schema: { type: 'array', items: {}, contains: { const: 1 } },
    v31: { type: 'array', contains: { const: 1 }, ...items({}) },
    v30: { type: 'array', ...items({}) },
    accepted: [[0, 1]],
    refused: [1],
    passed: [[0]]
  },
  'an object': {
    schema: {
      type: 'object',
      required: ['a'],
      properties: { a: string, b: {} },
      additionalProperties: false,
      minProperties: 1,
      maxProperties: 2
    },
    v31: {
      type: 'object',
      required: ['a'],
      properties: { a: string, b: {} },
      additionalProperties: false,
      minProperties: 1,
      maxProperties: 2
    },
    v30: {
      type: 'object',
      required: ['a'],
      properties: { a: string, b: {} },
      additionalProperties: false,
      minProperties: 1,
      maxProperties: 2
    },
    accepted: [{ a: 'a' }],
    refused: [{}, { a: 1 }, { a: 'a', c: 1 }]
  },
  'an object that has others': {
    schema: {
      type: 'object',
      required: [],
      properties: { a: { type: 'string', nullable: true } },
      additionalProperties: { type: 'integer', exclusiveMinimum: 0 }
    },
    v31: {
      type: 'object',
      properties: { a: { type: ['string', 'null'] } },
      additionalProperties: { type: 'integer', exclusiveMinimum: 0 }
    },
    v30: {
      type: 'object',
      properties: { a: { type: 'string', nullable: true } },
      additionalProperties: { type: 'integer', minimum: 0, exclusiveMinimum: true }
    },
    accepted: [{ a: null, b: 1 }],
    refused: [{ b: 0 }]
  },
  'an object that has any others': {
    schema: { type: 'object', additionalProperties: true },
    v31: { type: 'object', additionalProperties: true },
    v30: { type: 'object' },
    accepted: [{ a: 1 }]
  },
  'names by a pattern': {
    schema: { type: 'object', patternProperties: { '^n': integer } },
    v31: { type: 'object', patternProperties: { '^n': integer } },
    v30: { type: 'object' },
    accepted: [{ n: 1, a: 'a' }],
    refused: [1],
    passed: [{ n: 'a' }]
  },
  'names by a pattern and no others': {
    schema: { type: 'object', patternProperties: { '^n': integer }, additionalProperties: false },
    v31: { type: 'object', patternProperties: { '^n': integer }, additionalProperties: false },
    v30: { type: 'object' },
    accepted: [{ n: 1 }],
    refused: [1],
    passed: [{ n: 'a' }, { a: 1 }]
  },
  'names by patterns and others': {
    schema: { type: 'object', patternProperties: { '^n': integer }, additionalProperties: string },
    v31: { type: 'object', patternProperties: { '^n': integer }, additionalProperties: string },
    v30: { type: 'object' },
    accepted: [{ n: 1, a: 'a' }],
    refused: [1],
    passed: [{ a: true }, { a: 1 }]
  },
  'names that are bound': {
    schema: { type: 'object', propertyNames: { maxLength: 1 } },
    v31: { type: 'object', propertyNames: { maxLength: 1 } },
    v30: { type: 'object' },
    accepted: [{ a: 1 }],
    passed: [{ ab: 1 }]
  },
  'what depends on another': {
    schema: { type: 'object', dependencies: { a: ['b'], c: { required: ['d'] }, e: true } },
    v31: { type: 'object', dependentRequired: { a: ['b'] }, dependentSchemas: { c: { required: ['d'] }, e: {} } },
    v30: { type: 'object' },
    accepted: [{ a: 1, b: 1 }, { e: 1 }],
    refused: [1],
    passed: [{ a: 1 }, { c: 1 }]
  },
  'what depends on a name': {
    schema: { type: 'object', dependencies: { a: ['b'] } },
    v31: { type: 'object', dependentRequired: { a: ['b'] } },
    v30: { type: 'object' },
    accepted: [{ b: 1 }],
    passed: [{ a: 1 }]
  },
  'a condition': {
    schema: { if: { type: 'string' }, then: { minLength: 2 }, else: { type: 'integer' } },
    v31: { if: { type: 'string' }, then: { minLength: 2 }, else: { type: 'integer' } },
    v30: {},
    accepted: ['ab', 1],
    passed: ['a', true]
  },
  'all of several': {
    schema: { allOf: [{ minLength: 1 }, { maxLength: 2 }], type: 'string' },
    v31: { allOf: [{ minLength: 1 }, { maxLength: 2 }], type: 'string' },
    v30: { type: 'string', allOf: [{ minLength: 1 }, { maxLength: 2 }] },
    accepted: ['a'],
    refused: ['', 'abc']
  },
  'something and nothing': {
    schema: { anyOf: [true, { type: 'string' }], not: false },
    v31: { anyOf: [{}, { type: 'string' }], not: { not: {} } },
    v30: { anyOf: [{}, { type: 'string' }], not: { not: {} } },
    accepted: ['a', 1]
  },
  nothing: {
    schema: { type: 'string', not: true },
    v31: { type: 'string', not: {} },
    v30: { type: 'string', not: {} },
    refused: ['a']
  },
  'what is not': {
    schema: { not: { type: ['string', 'null'], const: 'a' } },
    v31: { not: { type: ['string', 'null'], const: 'a' } },
    v30: { not: { type: 'string', nullable: true, enum: ['a'] } },
    accepted: ['b'],
    refused: ['a']
  },
  'what is not, and cannot be told': {
    schema: { not: { contains: { const: 1 } } },
    v31: { not: { contains: { const: 1 } } },
    v30: {},
    accepted: [[0]],
    passed: [[1]]
  },
  'one of what cannot be told apart': {
    schema: { oneOf: [{ type: 'array', items: [string] }, { type: 'array', items: [integer] }] },
    v31: {
      oneOf: [{ type: 'array', prefixItems: [{ ...string, xml: { name: 'value' } }], xml: { wrapped: true } },
        { type: 'array', prefixItems: [{ ...integer, xml: { name: 'value' } }], xml: { wrapped: true } }]
    },
    v30: {
      anyOf: [{ type: 'array', items: {}, xml: { wrapped: true } },
        { type: 'array', items: {}, xml: { wrapped: true } }]
    },
    accepted: [['a'], [1]],
    refused: ['a'],
    passed: [[true]]
  },
  'a reference and more': {
    schema: { $ref: '#/definitions/short', description: 'D', allOf: [{ minLength: 1 }] },
    definitions: { short: { type: 'string', maxLength: 2 } },
    v31: { ...schema('PostShort'), description: 'D', allOf: [{ minLength: 1 }] },
    v30: { description: 'D', allOf: [schema('PostShort'), { minLength: 1 }] },
    accepted: ['a'],
    refused: ['', 'abc']
  },
  'a reference of a name with signs': {
    schema: { $ref: '#/definitions/a~1b%20c' },
    definitions: { 'a/b c': string },
    v31: schema('PostA1b20c'),
    v30: schema('PostA1b20c'),
    accepted: ['a'],
    refused: [1]
  },
  'a reference to an id': {
    schema: { $ref: 'https://example.com/short#' },
    definitions: { short: { $id: 'https://example.com/short#', ...string } },
    v31: schema('PostShort'),
    v30: schema('PostShort'),
    accepted: ['a'],
    refused: [1]
  },
  'a reference to true': {
    schema: { $ref: '#/definitions/any' },
    definitions: { any: true },
    v31: schema('PostAny'),
    v30: schema('PostAny'),
    accepted: ['a', 1]
  },
  'what contains itself': {
    schema: { $ref: '#/definitions/node' },
    definitions: {
      node: {
        type: 'object',
        required: ['name'],
        properties: { name: string, nodes: { type: 'array', items: { $ref: '#/definitions/node' } } }
      }
    },
    v31: schema('PostNode'),
    v30: schema('PostNode'),
    accepted: [{ name: 'a', nodes: [{ name: 'b', nodes: [] }] }],
    refused: [{ name: 'a', nodes: [{}] }]
  },
  'two names that would be one': {
    schema: { $ref: '#/definitions/node' },
    definitions: { node: { type: 'object', properties: { inner: { $ref: '#/definitions/Node' } } }, Node: integer },
    v31: schema('PostNode'),
    v30: schema('PostNode'),
    accepted: [{ inner: 1 }],
    refused: [{ inner: {} }]
  },
  'an array elsewhere has the names of items that its attribute gives': {
    schema: { $ref: '#/definitions/words' },
    definitions: { words: { type: 'array', items: { $ref: '#/definitions/word' } }, word: string },
    v31: { type: 'array', items: { ...schema('PostWord'), xml: { name: 'value' } }, xml: { wrapped: true } },
    v30: { type: 'array', items: { allOf: [schema('PostWord')], xml: { name: 'value' } }, xml: { wrapped: true } },
    accepted: [['a']],
    refused: [[1]]
  },
  'an array that contains itself': {
    schema: { $ref: '#/definitions/list' },
    definitions: { list: { type: 'array', items: { $ref: '#/definitions/list' } } },
    v31: { type: 'array', items: { ...schema('PostList'), xml: { name: 'value' } }, xml: { wrapped: true } },
    v30: { type: 'array', items: { allOf: [schema('PostList')], xml: { name: 'value' } }, xml: { wrapped: true } },
    accepted: [[[]]],
    refused: [[1]]
  },
  'the whole schema': {
    schema: { type: 'array', items: { $ref: '#' } },
    v31: { type: 'array', items: { ...schema('PostAttributes'), xml: { name: 'value' } }, xml: { wrapped: true } },
    v30: {
      type: 'array', items: { allOf: [schema('PostAttributes')], xml: { name: 'value' } }, xml: { wrapped: true }
    },
    accepted: [[{ title: 'a', value: [] }]],
    refused: [[{}]]
  },
  'another attribute': {
    schema: { $ref: '#/properties/title' },
    v31: schema('PostTitle'),
    v30: schema('PostTitle'),
    accepted: ['a'],
    refused: [1]
  },
  'TypeBox, recursive': {
    schema: Type.Recursive((This) => Type.Object({ kids: Type.Array(This) }), { $id: 'Folder' }),
    v31: {
      type: 'object',
      required: ['kids'],
      properties: {
        kids: { type: 'array', items: { ...schema('PostValue'), xml: { name: 'kid' } }, xml: { wrapped: true } }
      }
    },
    v30: {
      type: 'object',
      required: ['kids'],
      properties: {
        kids: { type: 'array', items: { allOf: [schema('PostValue')], xml: { name: 'kid' } }, xml: { wrapped: true } }
      }
    },
    accepted: [{ kids: [{ kids: [] }] }],
    refused: [{}, { kids: [{}] }]
  },
  'TypeBox, literals and nothing': {
    schema: Type.Object({
      kind: Type.Union([Type.Literal('a'), Type.Literal(1)]),
      note: Type.Optional(Type.Union([Type.String(), Type.Null()]))
    }),
    v31: {
      type: 'object',
      required: ['kind'],
      properties: {
        kind: { anyOf: [{ const: 'a', type: 'string' }, { const: 1, type: 'number' }] },
        note: { anyOf: [string, { type: 'null' }] }
      }
    },
    v30: {
      type: 'object',
      required: ['kind'],
      properties: {
        kind: { anyOf: [{ type: 'string', enum: ['a'] }, { type: 'number', enum: [1] }] },
        note: { type: 'string', nullable: true }
      }
    },
    accepted: [{ kind: 1, note: null }, { kind: 'a' }],
    refused: [{ kind: 'b' }, { kind: 1, note: 1 }]
  }
}

/**
 * Converts a schema of OpenAPI 3.0 to JSON Schema, as its specification says: nullable counts only beside a type, and
 * siblings of $ref are ignored.
 */
function upgrade (part: unknown): unknown {
  if (Array.isArray(part)) return part.map(upgrade)
  if (typeof part !== 'object' || part === null) return part
  const {
    nullable, type, minimum, maximum, exclusiveMinimum, exclusiveMaximum, example, enum: choices, default: _, ...more
  } = part as Part
  if (typeof more.$ref === 'string') return { $ref: more.$ref }
  return {
    ...Object.fromEntries(Object.entries(more).map(([keyword, value]) => [keyword, upgrade(value)])),
    ...(choices !== undefined && { enum: choices }),
    ...(type !== undefined && { type: nullable === true ? [upgrade(type), 'null'] : upgrade(type) }),
    ...(minimum !== undefined && { [exclusiveMinimum === true ? 'exclusiveMinimum' : 'minimum']: minimum }),
    ...(maximum !== undefined && { [exclusiveMaximum === true ? 'exclusiveMaximum' : 'maximum']: maximum })
  }
}

const LAX = { strict: false, logger: false, validateFormats: false, validateSchema: false } as const

type Fits = (value: unknown) => boolean

/** Compiles a function that tells whether a value fits a schema of a document. */
function compileIn (document: unknown): (pointer: string) => Fits {
  const ajv = new Ajv2020(LAX)
  ajv.addSchema(document as AnySchema, 'document')
  return (pointer) => {
    const validate = ajv.compile({ $ref: `document#${pointer}` })
    return (value) => validate(value) as boolean
  }
}

t.test('a schema means the same in each version of OpenAPI, as far as possible', async (t) => {
  const cases = Object.entries(SCHEMAS).map(([name, { schema, definitions, ...more }]) => ({
    name,
    schema,
    ...more,
    attributes: {
      type: 'object',
      required: ['title'],
      properties: { title: string, value: schema },
      ...(definitions !== undefined && { definitions })
    } as const
  }))
  const app = await start(t, async (app) => {
    await app.register(swagger, { openapi: { openapi: V30, info }, decorator: 'swagger30' as 'swagger' })
    for (const [index, { attributes }] of cases.entries()) {
      app.register(resources, {
        name: 'posts', attributes, formats: ['json'], only: ['show', 'create'], prefix: `/c${index}`
      })
    }
  })
  const documents = [documentOf(app), (app as unknown as { swagger30 (): Document }).swagger30()] as const
  for (const document of documents) checkReferences(t, document)
  const ajv = new Ajv(LAX)
  const [in31, in30] = [compileIn(documents[0]), compileIn(upgrade(documents[1]))] as const
  for (const [
    index, { name, schema, attributes, v31, v30, accepted = [], refused = [], passed = [] }
  ] of cases.entries()) {
    await t.test(name, async (t) => {
      const [given31, given30] = documents.map(({ components: { schemas } }) => ['', 'New'].map((direction) => {
        const { value } = schemas[`${direction}C${index}Post`]?.properties as Part
        return JSON.parse(JSON.stringify(value).replaceAll(`/C${index}Post`, '/Post')) as unknown
      }))
      t.strictSame(given31, [v31, v31], 'in OpenAPI 3.1, for input and output')
      t.strictSame(given30, [v30, v30], 'in OpenAPI 3.0, for input and output')
      // A schema that refers to itself by its $id must keep the $id.
      const { $id, ...anonymous } = schema
      const before = ajv.compile({
        ...attributes, properties: { title: string, value: $id === 'Folder' ? schema : anonymous }
      })
      const [fits31, fits30] = [in31, in30].map((compile) => compile(
        `/components/schemas/NewC${index}Post/properties/value`
      )) as [Fits, Fits]
      const check = (values: readonly unknown[], ...expected: readonly boolean[]): void => {
        for (const value of values) {
          t.strictSame([before({ title: 'a', value }), fits31(value), fits30(value)], expected, JSON.stringify(value))
        }
      }
      check(accepted, true, true, true)
      check(refused, false, false, false)
      check(passed, false, false, true)
    })
  }
})

t.test('readOnly and writeOnly properties are described for one direction only, at any depth', async (t) => {
  const secret = { type: 'string', writeOnly: true } as const
  const stamp = { type: 'string', readOnly: true } as const
  const n = { type: 'integer', default: 4 } as const
  const alike = (schema: Part) => [schema, schema] as const
  const login = {
    type: 'object',
    properties: { secret, name: string, others: { type: 'array', items: { $ref: '#/definitions/login' } } }
  } as const
  const cases: ReadonlyArray<readonly [name: string, value: Part, out: unknown, inwards: unknown]> = [
    ['an attribute', secret, undefined, secret],
    ['an attribute that is only read', stamp, stamp, stamp],
    [
      'inside',
      { type: 'object', required: ['secret', 'stamp', 'name'], properties: { secret, stamp, name: string } },
      { type: 'object', required: ['name'], properties: { stamp, name: string } },
      { type: 'object', required: ['secret', 'name'], properties: { secret, stamp, name: string } }
    ],
    [
      'by a reference',
      {
        type: 'object',
        required: ['a', 'b'],
        properties: { a: { $ref: '#/definitions/secret' }, b: { allOf: [{ $ref: '#/definitions/stamp' }] } }
      },
      { type: 'object', properties: { b: { allOf: [schema('PostStamp')] } } },
      {
        type: 'object',
        required: ['a'],
        properties: { a: schema('NewPostSecret'), b: { allOf: [schema('NewPostStamp')] } }
      }
    ],
    [
      'in an alternative',
      { type: 'object', required: ['a'], properties: { a: { anyOf: [secret, { type: 'null' }] } } },
      { type: 'object', properties: {} },
      { type: 'object', required: ['a'], properties: { a: { anyOf: [secret, { type: 'null' }] } } }
    ],
    [
      'a default, which is for what is given',
      { type: 'object', properties: { name: { type: 'string', default: 'a' } } },
      { type: 'object', properties: { name: string } },
      { type: 'object', properties: { name: { type: 'string', default: 'a' } } }
    ],
    [
      'what is filled in where it is not given',
      {
        type: 'object',
        required: ['n', 'name'],
        properties: { n, name: string },
        anyOf: [{ required: ['n'] }],
        dependencies: { name: ['n'], n: { required: ['n'] } }
      },
      {
        type: 'object',
        required: ['n', 'name'],
        properties: { n: integer, name: string },
        anyOf: [{ required: ['n'] }],
        dependentRequired: { name: ['n'] },
        dependentSchemas: { n: { required: ['n'] } }
      },
      {
        type: 'object',
        required: ['name'],
        properties: { n, name: string },
        anyOf: [{}],
        dependentRequired: { name: [] },
        dependentSchemas: { n: {} }
      }
    ],
    [
      'what is filled in, in the items of an array',
      { type: 'array', items: { type: 'object', required: ['n'], properties: { n } } },
      { type: 'array', ...items({ type: 'object', required: ['n'], properties: { n: integer } }) },
      { type: 'array', ...items({ type: 'object', properties: { n } }) }
    ],
    [
      'how many members there are, of which some do not go out',
      { type: 'object', minProperties: 2, maxProperties: 2, properties: { secret, name: string } },
      { type: 'object', properties: { name: string } },
      { type: 'object', minProperties: 2, maxProperties: 2, properties: { secret, name: string } }
    ],
    [
      'how many members there are, of which some are passed over',
      { type: 'object', minProperties: 1, maxProperties: 1, properties: { stamp, name: string } },
      ...alike({ type: 'object', properties: { stamp, name: string } })
    ],
    ['how many members there are, of which some are filled in', { type: 'object', minProperties: 1, properties: { n } },
      { type: 'object', minProperties: 1, properties: { n: integer } }, { type: 'object', properties: { n } }],
    [
      'what sets items apart, and does not go out',
      {
        type: 'array',
        minItems: 1,
        uniqueItems: true,
        contains: { maxProperties: 2 },
        items: { $ref: '#/definitions/login' }
      },
      { type: 'array', minItems: 1, ...items(schema('PostLogin')) },
      { type: 'array', minItems: 1, ...items(schema('NewPostLogin')) }
    ],
    [
      'what sets items apart, and is passed over',
      {
        type: 'array',
        uniqueItems: true,
        contains: { maxProperties: 1 },
        items: { type: 'object', properties: { stamp, name: { type: 'string', enum: ['a'] } } }
      },
      { type: 'array', ...items({ type: 'object', properties: { stamp, name: { type: 'string', enum: ['a'] } } }) },
      { type: 'array', ...items({ type: 'object', properties: { stamp, name: { type: 'string', enum: ['a'] } } }) }
    ],
    [
      'anything',
      { type: 'object', required: ['secret', 'any'], properties: { secret, any: true } },
      { type: 'object', required: ['any'], properties: { any: {} } },
      { type: 'object', required: ['secret', 'any'], properties: { secret, any: {} } }
    ],
    [
      'where something beside it demands it',
      {
        type: 'object',
        properties: { secret, name: string },
        anyOf: [{ required: ['secret'] }, { required: ['name'] }],
        dependencies: { name: ['secret'] }
      },
      {
        type: 'object',
        properties: { name: string },
        anyOf: [{}, { required: ['name'] }],
        dependentRequired: { name: [] }
      },
      {
        type: 'object',
        properties: { secret, name: string },
        anyOf: [{ required: ['secret'] }, { required: ['name'] }],
        dependentRequired: { name: ['secret'] }
      }
    ],
    [
      'where a condition asks for it',
      {
        type: 'object',
        properties: { secret, name: string },
        oneOf: [{ required: ['secret'] }, { required: ['name'] }],
        if: { required: ['secret'] },
        then: { required: ['name'] }
      },
      { type: 'object', properties: { name: string }, anyOf: [{}, { required: ['name'] }] },
      {
        type: 'object',
        properties: { secret, name: string },
        oneOf: [{ required: ['secret'] }, { required: ['name'] }],
        if: { required: ['secret'] },
        then: { required: ['name'] }
      }
    ]
  ]
  const document = await describe(
    t,
    both(
      ...cases.map(([, value], index) => one({
        prefix: `/c${index}`,
        formats: ['json'],
        attributes: {
          type: 'object',
          required: ['value', 'title'],
          properties: { value, title: { type: 'string', default: '' } },
          definitions: { secret, stamp, login }
        } as AttributesSchema
      }))
    )
  )
  checkReferences(t, document)
  for (const [index, [name, value, out, inwards]] of cases.entries()) {
    const [shown, given] = ['', 'New'].map((direction) => JSON.parse(JSON.stringify(
      document.components.schemas[`${direction}C${index}Post`]
    ).replaceAll(`C${index}Post`, 'Post')) as {
      readonly properties: Part,
      readonly required?: readonly string[]
    })
    t.strictSame([shown?.properties.value, given?.properties.value], [out, inwards], name)
    t.strictSame([shown?.properties.title, given?.properties.title], [string, { type: 'string', default: '' }],
      `${name}: the default of the title`)
    t.strictSame(
      shown?.required,
      ['id', ...value.writeOnly === true || value.readOnly === true ? [] : ['value'], 'title'],
      `${name}: the required properties of an answer`
    )
    t.strictSame(given?.required, value.readOnly === true ? undefined : ['value'],
      `${name}: the required properties of the input, without those that have a default`)
  }
  const plain = await describe(
    t,
    one({
      attributes: {
        type: 'object', properties: { a: { $ref: '#/definitions/a' } }, definitions: { a: string }
      } as AttributesSchema,
      formats: ['json']
    })
  )
  t.strictSame(Object.keys(plain.components.schemas), ['PostA', 'Post', 'Problem', 'NewPost', 'PostChanges'],
    'a schema that is the same in both directions has one name')
})

t.test('a resource is described without attributes, and with the description of its attributes', async (t) => {
  const open = await describe(t, one({ formats: ['json'] }))
  t.strictSame(open.components.schemas.Post, {
    type: 'object', required: ['id'], properties: { id }, xml: { name: 'post' }
  })
  t.strictSame(open.components.schemas.NewPost, {
    type: 'object', properties: {}, additionalProperties: true, xml: { name: 'post' }
  })
  const described = await describe(
    t,
    one({
      attributes: {
        type: 'object', title: 'Title', description: 'What is written here.', properties: {}
      } as AttributesSchema,
      formats: ['json']
    })
  )
  t.strictSame(described.components.schemas.Post, {
    type: 'object', description: 'What is written here.', required: ['id'], properties: { id }, xml: { name: 'post' }
  })
})

// ---- Requests and answers

/** Returns the operation that a request reaches, and its JSON pointer in the document. */
function findOperation (
  { paths }: Document, method: string, url: string
): { readonly operation: Operation, readonly pointer: string } {
  const asked = new URL(url, 'http://localhost').pathname.split('/')
  const fits = (path: string): boolean => {
    const steps = path.split('/')
    return steps.length === asked.length && steps.every((step, index) => step.startsWith('{') || step === asked[index])
  }
  const path = Object
    .keys(paths)
    .filter((path) => fits(path) && paths[path]?.[method] !== undefined)
    .sort((a, b) => a.split('{').length - b.split('{').length)[0] as string
  const escape = (step: string): string => encodeURIComponent(step.replaceAll('~', '~0').replaceAll('/', '~1'))
  return { operation: paths[path]?.[method] as Operation, pointer: `/paths/${escape(path)}/${method}` }
}

const DESCRIBED = ['etag', 'location', 'link', 'total-count', 'content-range']

t.test('an answer is described with the Cache-Control of its action', async (t) => {
  const document = await describe(t, one({ cacheControl: { list: 'public, max-age=60' } }))
  const valueOf = (path: string, method: string, status: number): unknown => {
    const { operation } = operationsOf(document).find((found) => found.path === path && found.method === method) as {
      operation: Operation
    }
    const [, name = ''] = /^#\/components\/headers\/(.*)$/.exec(
      (operation.responses[status]?.headers?.['Cache-Control'] as { $ref: string }).$ref
    ) ?? []
    return (document.components.headers[name] as { example: unknown }).example
  }
  t.strictSame([valueOf('/posts', 'get', 200), valueOf('/posts/{id}', 'get', 304), valueOf('/posts', 'post', 201)],
    ['public, max-age=60', 'private, no-cache', 'private, no-cache'])
})

t.test('real requests and answers fit their description', async (t) => {
  const attributes = {
    type: 'object',
    required: ['title', 'published'],
    properties: {
      ...post.properties,
      secret: { type: 'string', writeOnly: true },
      madeAt: { type: 'string', readOnly: true },
      author: {
        type: 'object',
        required: ['name', 'password', 'since', 'level'],
        properties: {
          name: string,
          password: { type: 'string', writeOnly: true },
          since: { type: 'string', readOnly: true },
          level: { type: 'integer', default: 4 }
        },
        additionalProperties: { type: 'integer' }
      },
      answers: { type: 'array', items: { $ref: '#/definitions/answer' } },
      parent: { anyOf: [{ $ref: '#' }, { type: 'null' }] }
    },
    definitions: {
      answer: {
        type: 'object', properties: { text, answers: { type: 'array', items: { $ref: '#/definitions/answer' } } }
      }
    }
  } as AttributesSchema
  const store = memoryStore({ unique: ['title'] })
  const app = await start(t, drawn((map) => map
    .resources('posts', {
      attributes,
      store,
      writes: 'both',
      formPages: true,
      authorize: ({ headers }, { action }) => headers['x-no'] === undefined
        ? headers['x-blind'] === undefined || action !== 'show'
        : action === 'list' ? 'hide' : false
    }, (posts) => {
      posts.resources('comments', {})
      posts.resource('cover', { attributes: { type: 'object', properties: { url: text } } })
      posts.collection.get(
        'recent',
        { query: { type: 'object', properties: { n: { type: 'integer' } } } },
        () => [{ id: 1, attributes: { title: 'a', published: true } }]
      )
      posts.collection.get('first', ({ signal }) => store.get(1, {}, { signal }))
      posts.member.post('publish', ({ id, guard }) => store.update(id, { published: true }, guard))
      posts.member.put(
        'rate',
        { attributes: { type: 'object', required: ['stars'], properties: { stars: { type: 'integer' } } } },
        () => undefined
      )
      posts.collection.post('import', ({ attributes }) => ({
        kind: 'created', row: store.create({ published: true, ...attributes }, {})
      }))
    })
    .resources('strict', { singular: 'one', requireMatch: true, formats: ['json'] })))
  const document = documentOf(app)
  const compile = compileIn(document)
  const full = {
    title: 'a',
    body: '',
    published: true,
    rating: null,
    tags: ['x'],
    secret: 's',
    author: { name: 'n', password: 'p', age: 3 },
    answers: [{ text: 'b', answers: [{ answers: [] }] }],
    parent: { title: 'p', published: true, parent: null }
  }
  const own = { 'if-match': '"1.json"' }
  const form = { 'content-type': FORM }
  const requests: ReadonlyArray<readonly [status: number, method: 'GET'
    | 'POST'
    | 'PUT'
    | 'PATCH'
    | 'DELETE', url: string, payload?: Part
    | string
    | undefined, headers?: Readonly<Record<string, string>>]> = [
      [200, 'GET', '/posts'],
      [201, 'POST', '/posts', { post: full }],
      [201, 'POST', '/posts', { post: { title: 'b' } }],
      [409, 'POST', '/posts', { post: { title: 'b' } }], [412, 'POST', '/posts', { post: { title: 'c' } }, own],
      [412, 'POST', '/posts', { post: { title: 'c' } }, { ...own, accept: 'text/xml' }],
      [422, 'POST', '/posts', { post: { title: '' } }],
      [200, 'GET', '/posts'], [200, 'GET', '/posts?rating=&sort=-title&limit=1'],
      [200, 'GET', '/posts?published=true&blank=any&body='],
      [200, 'GET', '/posts', undefined, { accept: 'application/xhtml+xml' }],
      [400, 'GET', '/posts?limit=0'], [406, 'GET', '/posts', undefined, { accept: 'text/csv' }],
      [404, 'GET', '/posts', undefined, { 'x-no': '1' }], [403, 'GET', '/posts/1', undefined, { 'x-no': '1' }],
      [200, 'GET', '/posts/1'], [200, 'GET', '/posts/1', undefined, { accept: 'text/xml' }],
      [304, 'GET', '/posts/1', undefined, { 'if-none-match': '*' }], [404, 'GET', '/posts/9'], [404, 'GET', '/posts/a'],
      [200, 'GET', '/posts/new'], [200, 'GET', '/posts/1/edit'],
      [200, 'GET', '/posts/recent?n=1'], [200, 'GET', '/posts/first'],
      [200, 'PUT', '/posts', { id: 1, post: { rating: 3 } }, own],
      [412, 'PUT', '/posts', { post: { id: 1, rating: 4 } }, own],
      [412, 'PUT', '/posts', { post: { id: 1, rating: 4 } }, { ...own, 'x-blind': '1' }],
      [412, 'PUT', '/posts', { post: { id: 1, rating: 4 } }, { ...own, 'x-blind': '1', accept: 'text/xml' }],
      [404, 'PUT', '/posts?id=9', { post: { rating: 4 } }],
      [422, 'PUT', '/posts', { id: 1, post: { rating: 9 } }],
      [200, 'PUT', '/posts/1', { post: { ...full, id: 1, title: 'c' } }],
      [200, 'PATCH', '/posts/1', { post: { madeAt: 'ignored' } }], [409, 'PATCH', '/posts/1', { post: { title: 'b' } }],
      [415, 'POST', '/posts', 'a', { 'content-type': 'text/plain' }],
      [303, 'POST', '/posts', 'post[title]=d', { ...form, accept: 'text/html' }],
      [200, 'POST', '/posts/1', '_method=PUT&post[body]=y', form],
      [200, 'POST', '/posts/1/publish'], [204, 'PUT', '/posts/1/rate', { post: { stars: 3 } }],
      [422, 'PUT', '/posts/1/rate', { post: {} }], [201, 'POST', '/posts/import', { post: { title: 'e' } }],
      [201, 'POST', '/posts/1/comments', { comment: { any: [1, { a: null }] } }], [200, 'GET', '/posts/1/comments'],
      [404, 'GET', '/posts/9/comments'],
      [404, 'GET', '/posts/1/cover'], [201, 'POST', '/posts/1/cover', { cover: { url: '/x' } }],
      [409, 'POST', '/posts/1/cover', { cover: {} }], [200, 'GET', '/posts/1/cover'],
      [200, 'PUT', '/posts/1/cover', { cover: { url: '/y' } }], [204, 'DELETE', '/posts/1/cover'],
      [201, 'POST', '/strict', { one: {} }], [428, 'PUT', '/strict', { id: 1, one: {} }],
      [204, 'DELETE', '/strict?id=1', undefined, { 'if-match': '"1.json"' }],
      [403, 'DELETE', '/posts', { id: 1 }, { 'sec-fetch-site': 'cross-site' }], [204, 'DELETE', '/posts', { id: 1 }],
      [404, 'DELETE', '/posts/1']
    ]
  for (const [status, method, url, payload, headers = {}] of requests) {
    const answer = await app.inject(
      {
        method, url, headers: { accept: 'application/json', ...headers }, ...(payload !== undefined && { payload })
      } as InjectOptions
    )
    const { operation, pointer } = findOperation(document, method.toLowerCase(), url)
    const label = `${method} ${url} ${status}`
    t.equal(answer.statusCode, status, label)
    const known = operation.parameters.map(({ name }) => name)
    t.strictSame([...new URL(url, 'http://localhost').searchParams.keys()].filter((name) => !known.includes(name)), [],
      `${label}: the query`)
    if (typeof payload === 'object' && ![400, 422].includes(status)) {
      t.ok(compile(`${pointer}/requestBody/content/application~1json/schema`)(payload), `${label}: the body`)
    }

    const { $ref } = operation.responses[status] ?? { description: '' }
    const at = $ref === undefined ? `${pointer}/responses/${status}` : $ref.slice(1)
    const described = $ref === undefined
      ? operation.responses[status]
      : document.components.responses[$ref.split('/').at(-1) as string]
    t.ok(described, `${label}: the status`)
    const mediaType = String(answer.headers['content-type']).split(';')[0] as string
    if (answer.body !== '') t.ok(described?.content?.[mediaType], `${label}: ${mediaType}`)
    if (mediaType.endsWith('json')) {
      t.ok(compile(`${at}/content/${mediaType.replace('/', '~1').replace('+', '%2B')}/schema`)(answer.json()),
        `${label}: the answer`)
    }
    const unknown = DESCRIBED.filter((name) => answer.headers[name] !== undefined &&
      !Object.keys(described?.headers ?? {}).some((header) => header.toLowerCase() === name))
    t.strictSame(unknown, [], `${label}: the headers`)
  }
  const fits = compile('/components/schemas/NewPost')
  for (const wrong of [{}, { title: '' }, { title: 'a', id: 1 }, { title: 'a', author: { name: 'n' } },
    { title: 'a', author: { name: 'n', password: 'p', age: 'x' } }, { title: 'a', parent: {} }]) {
    t.notOk(fits(wrong), JSON.stringify(wrong))
  }
})

// ---- In an app

function freeze<T> (value: T): T {
  if (typeof value === 'object' && value !== null) for (const part of Object.values(Object.freeze(value))) freeze(part)
  return value
}

t.test('the app\'s own parts of the document are kept', async (t) => {
  const own = { description: 'ours' }
  const recursive = {
    type: 'object',
    required: ['title'],
    properties: { title: string, replies: { type: 'array', items: { $ref: '#/definitions/reply' } } },
    definitions: {
      reply: {
        type: 'object',
        properties: { post: { $ref: '#' }, replies: { type: 'array', items: { $ref: '#/definitions/reply' } } }
      }
    }
  } as const
  const openapi = freeze({
    components: {
      schemas: { Post: { type: 'string' }, PostReply: { type: 'integer' }, Problem: { type: 'boolean' } },
      responses: { NotFoundJson: own },
      headers: { ETag: own },
      examples: { a: { value: 1 } }
    },
    tags: [{ name: 'posts', description: 'ours' }],
    paths: {
      '/posts': { get: { operationId: 'listPosts', responses: { 200: own } } },
      '/other': { get: { operationId: 'createPost', responses: { 200: own } } }
    }
  })
  const document = await describe(t, one({ attributes: recursive, formats: ['json'] }),
    openapi as unknown as FastifyDynamicSwaggerOptions['openapi'])
  checkReferences(t, document)
  const { schemas, responses, headers, examples } = document.components as Document['components'] & {
    readonly examples?: unknown
  }
  t.match(schemas, openapi.components.schemas)
  t.strictSame([responses.NotFoundJson, headers.ETag, examples], [own, own, openapi.components.examples])
  t.strictSame(document.tags, openapi.tags)
  t.strictSame(linesOf(document), ['get /posts listPosts', 'post /posts createPost2', 'put /posts updatePost',
    'delete /posts deletePost', 'get /other createPost', 'get /posts/{id} showPost'])
  t.strictSame(document.paths['/posts']?.get, openapi.paths['/posts'].get)
  t.strictSame(document.paths['/posts']?.put?.responses[404], ref('responses', 'NotFoundJsonResource'))
  t.strictSame((schemas.PostResource?.properties as Part).replies, {
    type: 'array', items: { ...schema('PostReplyResource'), xml: { name: 'reply' } }, xml: { wrapped: true }
  })
  t.strictSame(
    schemas.PostReplyResource?.properties,
    {
      post: schema('PostAttributes'),
      replies: {
        type: 'array', items: { ...schema('PostReplyResource'), xml: { name: 'reply' } }, xml: { wrapped: true }
      }
    },
    'a schema that refers to itself uses its own name'
  )
  t.match(JSON.stringify(responses), '#/components/schemas/ProblemResource')
})

t.test('paths omit the path at the end of the servers\' URLs', async (t) => {
  const cases: ReadonlyArray<readonly [servers: {
    url: string,
    variables?: Record<string, { default: string }>
  }[], prefix: string, path: string]> = [
    [[{ url: '/' }], '/api', '/api/posts'],
    [[{ url: '/api' }], '/api', '/posts'],
    [[{ url: 'https://example.com/api/' }], '/api', '/posts'],
    [[{ url: 'https://example.com/api' }], '/apis', '/apis/posts'],
    [[{ url: 'https://example.com' }, { url: 'https://example.com/api/v1' }], '/api/v1', '/posts'],
    [[{ url: 'https://{host}/{base}', variables: { host: { default: 'example.com' }, base: { default: 'api' } } }],
      '/api', '/posts'],
    [[{ url: 'https://example.com/posts' }], '', '/posts']
  ]
  for (const [servers, prefix, path] of cases) {
    const document = await describe(t, one({ prefix, only: ['list'], formats: ['json'] }), { servers })
    t.strictSame(Object.keys(document.paths), [path], `${servers.map(({ url }) => url).join(' ')} and ${prefix}`)
  }
})

t.test('a document is the same each time, for each plugin, and in YAML', async (t) => {
  const app = await start(t, async (app) => {
    await app.register(swagger, { openapi: { openapi: V30, info }, decorator: 'other' as 'swagger' })
    one({ attributes: post, formats: ['json'] })(app)
  })
  const [first, second] = [documentOf(app), (app as unknown as { other (): Document }).other()]
  t.strictSame(linesOf(second), linesOf(first))
  t.strictSame(second.components.schemas.Post?.required, first.components.schemas.Post?.required)
  t.equal((second.components.schemas.Post?.properties as Record<string, Part>).rating?.nullable, true,
    'each has its own version')
  t.strictSame((first.components.schemas.Post?.properties as Record<string, Part>).rating?.type, ['integer', 'null'])
  const { openapi: _, ...latest } = await describe(
    t, one({ attributes: post, formats: ['json'] }), { openapi: '3.2.0' as '3.1.0' }
  ) as Document & {
    readonly openapi: string
  }
  t.match(first, latest, 'OpenAPI 3.2 is described like 3.1')
  const yaml = app.swagger({ yaml: true })
  for (const { operationId } of operationsOf(first).map(({ operation }) => operation)) {
    t.match(yaml, `operationId: ${operationId}\n`)
  }
  t.notMatch(yaml, /[:-] [&*]\w+$/m, 'without aliases')
})

t.test('a Swagger 2 document has the tags and summaries of the routes', async (t) => {
  const app = fastify()
  t.teardown(() => app.close())
  await app.register(swagger, { swagger: { info } })
  app.register(resources, { name: 'posts', only: ['list', 'update'], formats: ['json'] })
  app.register(resources, { name: 'notes', only: ['show'], openapi: { tags: ['mine'] } })
  await app.ready()
  const { paths } = app.swagger() as unknown as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, Part>>>>
  }
  t.strictSame(Object.entries(paths).map(([path, operations]) => [path,
    ...Object.entries(operations).map(([method, { tags, summary }]) => [method, tags, summary])]), [
    ['/posts', ['get', ['posts'], 'list'], ['head', ['posts'], 'list'], ['put', ['posts'], 'update']],
    ['/notes/{id}', ['get', ['mine'], 'show'], ['head', ['mine'], 'show']]
  ])
})

t.test('the app\'s own members of an operation extend or replace ours', async (t) => {
  const who = { description: 'Who are you?' }
  const tenant = { in: 'header', name: 'X-Tenant', schema: text }
  const demanded = { ...tenant, name: 'if-match', required: true }
  const openapi = freeze({
    tags: ['mine'],
    security: [{ bearer: [] }],
    parameters: [tenant, demanded],
    responses: { 401: who, 404: who },
    servers: [{ url: '/v2' }],
    externalDocs: { url: 'https://example.com' },
    deprecated: true
  })
  const document = await describe(t, one({ attributes: post, formats: ['json'], only: ['update'], openapi }))
  const { put } = document.paths['/posts'] as Record<string, Operation>
  const { operationId, summary, description, requestBody, parameters, responses, ...more } = put as Operation & Part
  t.strictSame(more, {
    tags: ['mine'],
    security: openapi.security,
    servers: openapi.servers,
    externalDocs: openapi.externalDocs,
    deprecated: true
  })
  t.strictSame(parameters, [{ ...format, schema: { type: 'string', enum: ['json'] } }, idInQuery, tenant, demanded])
  t.strictSame([responses[401], responses[404], responses[400]], [who, who, ref('responses', 'BadRequestJson')])
  t.equal(document.tags, undefined, 'an unused tag is not described')
  t.equal(operationId, 'updatePost')
})

t.test('the option suffixes describes the paths with a suffix', async (t) => {
  const document = await describe(t, one({ openapi: { suffixes: true }, only: ['list', 'show'], formPages: true }))
  t.strictSame(linesOf(document), [
    'get /posts listPosts', 'get /posts.{format} listPostsAs', 'get /posts/{id} showPost',
    'get /posts/{id}.{format} showPostAs'
  ])
  const formats = { type: 'string', enum: ['xml', 'html', 'json'] }
  t.strictSame(document.paths['/posts/{id}.{format}']?.get?.parameters.slice(0, 2), [
    { in: 'path', name: 'id', required: true, schema: id },
    { in: 'path', required: true, name: 'format', schema: formats }
  ])
  const app = await start(t, (app) => {
    app.put('/posts.csv', { schema: { hide: true } }, () => '')
    one({ openapi: { suffixes: true }, only: ['list'], formats: ['json', csv] })(app)
  })
  t.strictSame(linesOf(documentOf(app)), ['get /posts listPosts', 'get /posts.{format} listPostsAs'],
    'except if the app serves a suffix itself')
})

t.test('nothing is described with openapi: false, or without the plugin', async (t) => {
  const document = await describe(t, one({ openapi: false, formPages: true }))
  t.strictSame([document.paths, document.tags, document.components], [{}, undefined, { schemas: {} }])

  const app = fastify()
  t.teardown(() => app.close())
  const schemas: unknown[] = []
  app.addHook('onRoute', ({ url, schema, config }) => {
    const { body, ...described } = schema ?? {}
    // When traffic is recorded, each app has the plugin (test/openapi/record.mjs).
    const isDescribed = config !== undefined && 'swaggerTransform' in config && !app.hasPlugin('@fastify/swagger')
    if (Object.keys(described).length > 0 || isDescribed) schemas.push([url, described])
  })
  app.register(resources, { name: 'posts', attributes: post, formats: ['xml'] })
  await app.ready()
  t.strictSame(schemas, [])
  t.notOk(app.hasDecorator('swagger'))
})
