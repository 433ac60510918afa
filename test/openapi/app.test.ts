import swagger, { type FastifyDynamicSwaggerOptions } from '@fastify/swagger'
import fastify from 'fastify'
import t from 'tap'
import resources, { type Entries, type Format, memoryStore, type ResourceOptions, type Store } from '../../lib/index.js'
import { post } from '../support/helper.js'
import {
  both, checkReferences, compileIn, describe, type Document, documentOf, drawn, FORM, info, linesOf, one,
  type Operation, operationsOf, type Part, ref, schema, start, statusesOf, text, V30
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
  t.strictSame(document.paths['/posts/{postId}/cover']?.put?.parameters.map(({ name }) => name),
    ['postId', 'format', 'dry_run', 'If-Match'], 'a singleton has no id')
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

t.test('many rows are described where a request may have them', async (t) => {
  const { transaction: _, ...rest } = memoryStore()
  const cases: ReadonlyArray<readonly [name: string, options: Partial<ResourceOptions>, most: Part]> = [
    ['each write', {}, { post: 1000, put: 1000, delete: 1000 }],
    ['the option maxRows', { maxRows: 5 }, { post: 5, put: 5, delete: 5 }],
    ['maxRows: 0', { maxRows: 0 }, {}],
    ['a store without transactions', { store: rest as Store }, {}],
    ['a handler of the app for one action', { actions: { update: () => undefined } }, { post: 1000, delete: 1000 }],
    ['a handler of the app that takes part', { actions: { update: { many: true, handler: () => undefined } } },
      { post: 1000, put: 1000, delete: 1000 }]
  ]
  const document = await describe(
    t,
    both(...cases.map(([, options], index) => one({
      attributes: post, formats: ['json'], ...options, prefix: `/c${index}`
    })))
  )
  checkReferences(t, document)
  for (const [index, [name, , expected]] of cases.entries()) {
    const found = ['post', 'put', 'delete'].map((method) => {
      const body = JSON.stringify(document.paths[`/c${index}/posts`]?.[method]?.requestBody)
      return [method, /"posts":\{"type":"array",.*"maxItems":(\d+)/.exec(body)?.[1]] as const
    })
    t.strictSame(Object.fromEntries(found.flatMap(([method, most]) => most === undefined ? [] : [[method, +most]])),
      expected, name)
  }
})

t.test('an update that finds rows by unique values is described where it may', async (t) => {
  const store = memoryStore({ unique: ['title', ['body', 'rating']] }) as Store
  const cases: ReadonlyArray<readonly [name: string, options: Partial<ResourceOptions>, parameters: string[]]> = [
    ['a unique attribute, and a group', { store }, ['match', 'create']],
    ['no unique attribute', {}, []],
    ['no create of ours', { store, actions: { create: () => undefined } }, ['match']],
    ['maxRows: 0', { store, maxRows: 0 }, []]
  ]
  for (const [name, options, expected] of cases) {
    const document = await describe(t, one({ attributes: post, ...options }))
    const parameters = document.paths['/posts']?.put?.parameters.filter(({ name }) => /^(?:match|create)$/.test(name))
    t.strictSame(parameters?.map(({ name }) => name), expected, name)
    if (expected.length > 0) t.strictSame(parameters?.[0]?.schema.examples, ['title', 'body,rating'])
  }
})

t.test('an action of the app that takes several rows is described apart from that of one row', async (t) => {
  const stock = { type: 'object', properties: { stock: { type: 'integer' } }, required: ['stock'] } as const
  const document = await describe(t, drawn((map) => map.resources('posts', {
    attributes: post, maxRows: 3
  }, (posts) => {
    posts.member.post('publish', { many: true }, () => undefined)
    posts.member.post('count', { many: true, attributes: stock }, () => undefined)
  })))
  checkReferences(t, document)
  const operation = (path: string): Operation => document.paths[path]?.post as Operation
  t.strictSame(['/posts/{id}/publish', '/posts/publish'].map((path) => operation(path).operationId),
    ['publishPost', 'publishPosts'])
  t.strictSame(operation('/posts/publish').parameters.map(({ name }) => name), ['format', 'dry_run', 'Prefer'])
  t.strictSame(Object.keys(operation('/posts/publish').responses).filter((status) => status < '400').sort(),
    ['200', '204', '303'])
  const compile = compileIn(document)
  const cases: ReadonlyArray<readonly [path: string, fits: readonly unknown[], others: readonly unknown[]]> = [
    ['publish', [{ id: [1, 2] }, { id: [], post: { rating: 1 } }, { posts: [{ id: 1 }] }],
      [{ id: 1 }, { id: [1, 2, 3, 4] }, { posts: [{}] }]],
    ['count', [{ id: [1], post: { stock: 1 } }, { posts: [{ id: 1, stock: 2 }] }],
      [{ id: [1], post: {} }, { posts: [{ id: 1, stock: 'many' }] }]]
  ]
  for (const [path, fits, others] of cases) {
    const isValid = compile(`/paths/~1posts~1${path}/post/requestBody/content/application~1json/schema`)
    for (const body of fits) t.ok(isValid(body), `${path} ${JSON.stringify(body)}`)
    for (const body of others) t.notOk(isValid(body), `${path} not ${JSON.stringify(body)}`)
  }
})

t.test('a body has one row or many of them, and not both', async (t) => {
  const cases: ReadonlyArray<readonly [method: string, fits: readonly unknown[], others: readonly unknown[]]> = [
    ['post',
      [{ post: { title: 'A' } }, { posts: [] }, { posts: [{ title: 'A' }, { title: 'B' }] }],
      [{}, { posts: {} }, { post: [] }, { post: { title: 'A' }, posts: [] }, { posts: [{}] }, { posts: [{ id: 1 }] },
        { posts: [{ title: 'A' }, { title: 'B' }, { title: 'C' }, { title: 'D' }] }]],
    ['put',
      [{ id: 1, post: {} }, { post: { id: 1, _version: '7', title: 'A' } }, { id: [1, 2], post: { title: 'A' } },
        { posts: [{ id: 1, title: 'A' }, { id: 2, _version: '7' }] }],
      [{ id: [1] }, { id: ['a'], post: {} }, { id: [1, 2, 3, 4], post: {} }, { posts: [{ title: 'A' }] },
        { id: [1], posts: [] }, { posts: [{ id: 1, _version: 7 }] }]],
    ['delete',
      [{ id: 1 }, { id: [1, 2] }, { posts: [{ id: 1 }, { id: 2, _version: '7' }] }, { posts: [{ id: 1, title: 'A' }] }],
      [{ id: ['a'] }, { posts: [{}] }, { id: 1, posts: [] }]]
  ]
  const compile = compileIn(await describe(t, one({ attributes: post, maxRows: 3, formats: ['json'] })))
  for (const [method, fits, others] of cases) {
    const isValid = compile(`/paths/~1posts/${method}/requestBody/content/application~1json/schema`)
    for (const body of fits) t.ok(isValid(body), `${method} ${JSON.stringify(body)}`)
    for (const body of others) t.notOk(isValid(body), `${method} not ${JSON.stringify(body)}`)
  }
})

const KEY = 'Idempotency-Key'

t.test('each write of a resource with the option has the header and the field, and no other operation', async (t) => {
  const cases: ReadonlyArray<readonly [options: Partial<ResourceOptions>, required: boolean | undefined]> = [
    [{}, undefined],
    [{ idempotency: {} }, false],
    [{ idempotency: { required: true } }, false],
    [{ idempotency: { required: true }, formats: ['json'] }, true]
  ]
  for (const [options, required] of cases) {
    const document = await describe(t, drawn((map) => map.resources('posts', {
      attributes: post, writes: 'both', ...options
    }, (posts) => posts.member.post('publish', () => undefined).collection.get('recent', () => []))))
    checkReferences(t, document)
    const operations = operationsOf(document)
    t.ok(operations.length > 8)
    for (const { operation } of operations) {
      const { operationId, parameters, responses, requestBody } = operation as typeof operation & Part
      const key = parameters.find(({ name }) => name === KEY)
      const isWrite = !/^(?:list|show|recent|query|new|edit)/.test(operationId)
      t.equal(key?.required ?? (key === undefined ? undefined : false), isWrite ? required : undefined, operationId)
      const success = Object.entries(responses as Record<string, Part>).filter(([status]) => status < '300')
      for (const [status, { headers }] of success) {
        t.equal('Idempotency-Replayed' in Object(headers), key !== undefined, `${operationId} ${status}`)
      }
      const form = (requestBody?.content as Record<string, { readonly schema: unknown }> | undefined)?.[FORM]
      if (form !== undefined) t.equal(JSON.stringify(form.schema).includes('_key'), key !== undefined, operationId)
    }
  }
})

const TYPES = {
  xml: ['application/xml', 'text/xml'], html: ['text/html', 'application/xhtml+xml'], json: ['application/json']
}

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

const UPDATE_FIELDS = ['_method', '_version', 'commit', 'id[]', '_version[]', 'id', 'post']

t.test('only the features of a resource are described', async (t) => {
  const anyone = { authorize: () => true }
  const cases: ReadonlyArray<readonly [name: string, options: Partial<ResourceOptions>, of: string, expected: Part]> = [
    ['JSON alone: a creation', { formats: ['json'] }, 'post /posts',
      {
        parameters: ['format', 'dry_run', 'Prefer'],
        statuses: '200 201 400 403 406 409 412 413 415 422 default',
        bodies: TYPES.json,
        answers: TYPES.json,
        problems: ['application/problem+json'],
        description: 'The body may have a list of rows: all of them are created, or none.'
      }],
    ['a creation that has no other write beside it', { only: ['create'] }, 'post /posts',
      {
        parameters: ['format', 'dry_run', 'Prefer'],
        statuses: '200 201 303 400 403 406 409 412 413 415 422 default',
        description: 'The body may have a list of rows: all of them are created, or none.',
        forms: [{ required: ['post'], fields: ['_version', 'commit', 'post'] }]
      }],
    ['a creation beside an update', { only: ['create', 'update'] }, 'post /posts',
      {
        statuses: '200 201 303 400 403 406 409 412 413 415 422 default',
        forms: [
          { required: ['post'], fields: ['_version', 'commit', 'post'] },
          { required: ['_method'], methods: ['PUT'], fields: UPDATE_FIELDS }
        ]
      }],
    ['no form asks for anything where none is read', { only: ['update'], formats: ['json'] }, 'post /posts',
      { absent: true }],
    ['a kind of JSON of the app is anything', { formats: [hal] }, 'put /posts',
      { bodies: ['application/hal+json'], answers: ['application/hal+json'], schemas: { 'application/hal+json': {} } }],
    ['requireMatch without a body', { requireMatch: true, formats: ['json'], writes: 'member' }, 'delete /posts/{id}',
      { required: ['If-Match'] }],
    ['guarded by authorize', anyone, 'get /posts', { statuses: '200 400 403 404 406 414 default' }],
    ['a blank one', { formPages: true }, 'get /posts/new',
      {
        parameters: ['format', 'title', 'body', 'published', 'rating', 'publishedAt', '_from'],
        statuses: '200 400 404 406 default'
      }],
    ['an id of its own name', { param: 'slug', id: 'uuid' }, 'get /posts/{slug}',
      { path: { slug: { type: 'string', format: 'uuid' } } }],
    ['parameters of the prefix',
      {
        prefix: '/:tenant/:year/:page',
        constraints: { tenant: { pattern: '^a' }, year: { exclusiveMinimum: 1990, type: 'integer' } }
      },
      'get /{tenant}/{year}/{page}/posts/{id}',
      {
        path: {
          tenant: { type: 'string', pattern: '^a' }, year: { type: 'integer', exclusiveMinimum: 1990 }, page: text, id
        }
      }],
    ['a store without capabilities', { store: { ...memoryStore(), capabilities: {} } }, 'get /posts',
      { parameters: ['format', 'limit', 'after', 'only'] }],
    ['a choice to filter by',
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
      }]
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
    const [method, path] = of.split(' ') as [string, string]
    const operation = document.paths[`/c${index}${path}`]?.[method]
    if (operation === undefined) {
      t.strictSame({ absent: true }, expected, name)
      continue
    }
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
    t.strictSame(Object.fromEntries(Object.keys(expected).map((part) => [part, found[part]])), expected, name)
  }
})
