import swagger, { type FastifyDynamicSwaggerOptions } from '@fastify/swagger'
import fastify from 'fastify'
import t from 'tap'
import resources from '../../lib/index.js'
import { post } from '../support/helper.js'
import {
  checkReferences, describe, type Document, documentOf, drawn, info, linesOf, one, type Operation, operationsOf,
  type Part, ref, schema, start, statusesOf, text, V30
} from '../support/openapi.js'

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

const id = { type: 'integer' }

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
  t.equal(statusesOf(create as Operation), '200 201 400 403 404 406 409 412 413 415 422 default')
  t.strictSame(get?.parameters[0], {
    in: 'path', name: 'postId', required: true, schema: { type: 'string', format: 'uuid', maxLength: 36 }
  })
  t.strictSame(document.components.schemas.PostComment?.properties, {
    id, postId: { type: 'string', readOnly: true }, body: text
  })
  const cover = document.paths['/posts/{postId}/cover'] as Record<string, Operation>
  t.strictSame(cover.put?.parameters.map(({ name }) => name), ['postId', 'format', 'dry_run', 'If-Match'])
  t.strictSame(cover.put?.requestBody?.content['application/json']?.schema, {
    type: 'object', required: ['cover'], properties: { cover: schema('PostCoverChanges') }, additionalProperties: false
  })
  t.notOk(cover.delete?.requestBody)
  t.strictSame(document.components.schemas.PostCover, { type: 'object', properties: {}, xml: { name: 'cover' } })
  t.strictSame(document.components.schemas.PostCoverChanges, {
    type: 'object',
    properties: {
      _version: {
        type: 'string',
        description: 'The version that was read. It has the effect of If-Match. In a form it is beside the group.'
      }
    },
    additionalProperties: true,
    xml: { name: 'cover' }
  })
})

function freeze<T> (value: T): T {
  if (typeof value === 'object' && value !== null) for (const part of Object.values(Object.freeze(value))) freeze(part)
  return value
}

t.test('the app\'s own parts of the document are kept', async (t) => {
  const own = { description: 'ours' }
  const recursive = {
    type: 'object',
    required: ['title'],
    properties: { title: text, replies: { type: 'array', items: { $ref: '#/definitions/reply' } } },
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
  t.strictSame(parameters.map(({ name }) => name),
    ['format', 'id', 'id[]', 'dry_run', 'Prefer', 'X-Tenant', 'if-match'])
  t.strictSame(parameters.slice(-2), [tenant, demanded])
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
    one({ openapi: { suffixes: true }, only: ['list'], formats: ['json', 'csv'] })(app)
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
