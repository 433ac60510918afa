import t from 'tap'
import { memoryStore, type ResourceOptions, type Store } from '../../lib/index.js'
import { post } from '../support/helper.js'
import {
  both, checkReferences, compileIn, describe, documentOf, drawn, FORM, one, type Operation, type Part, start, V30, V31
} from '../support/openapi.js'

interface Listed {
  readonly maxItems?: number
  readonly properties?: Readonly<Record<string, Listed>>
}

/** Returns what an operation says of many rows: the most of them in a list, in each format, and the ids in a query. */
function findMany ({ requestBody, parameters }: Operation): Part {
  const { content = {} } = requestBody ?? {}
  const found = Object.entries(content).flatMap(([type, { schema = {} }]): ReadonlyArray<[string, unknown]> => {
    const forms = [schema.anyOf ?? schema].flat() as ReadonlyArray<{ readonly properties?: Part }>
    const lists = [schema.oneOf ?? []].flat() as readonly Listed[]
    const [most] = lists.flatMap(({ maxItems, properties = {} }) => [
      maxItems ?? Object.values(properties).at(-1)?.maxItems
    ]).filter((count) => count !== undefined)
    if (type === FORM) return forms.some(({ properties = {} }) => 'id[]' in properties) ? [['form', true]] : []
    return type === 'text/csv' ? [['csv', schema.type]] : most === undefined ? [] : [[type.split('/')[1] ?? '', most]]
  })
  return {
    ...Object.fromEntries(found.filter(([name]) => name !== 'xml' || content['application/xml'] !== undefined)),
    ...(parameters.some(({ name }) => name === 'id[]') && { query: true })
  }
}

t.test('many rows are described where a request may have them', async (t) => {
  const { transaction: _, ...rest } = memoryStore()
  const withoutTransactions = { ...rest } as Store
  const everywhere = { json: 1000, xml: 1000 }
  const cases: ReadonlyArray<readonly [
    name: string, options: Partial<ResourceOptions>, path: string, post: Part, put: Part, remove: Part
  ]> = [
    ['all formats', {}, '/posts', { ...everywhere, form: true }, { ...everywhere, form: true, query: true },
      { ...everywhere, form: true, query: true }],
    ['the option maxRows', { maxRows: 5, formats: ['json'] }, '/posts', { json: 5 }, { json: 5, query: true },
      { json: 5, query: true }],
    ['CSV', { formats: ['json', 'csv'] }, '/posts', { json: 1000, csv: 'string' },
      { json: 1000, csv: 'string', query: true }, { json: 1000, csv: 'string', query: true }],
    ['maxRows: 0', { maxRows: 0 }, '/posts', {}, {}, {}],
    ['a store without transactions', { store: withoutTransactions }, '/posts', {}, {}, {}],
    ['a handler of the app for one action', { formats: ['json'], actions: { update: () => undefined } }, '/posts',
      { json: 1000 }, {}, { json: 1000, query: true }],
    ['a handler of the app that takes part', {
      formats: ['json'], actions: { update: { many: true, handler: () => undefined } }
    }, '/posts', { json: 1000 }, { json: 1000, query: true }, { json: 1000, query: true }],
    ['a plural that is the singular', { name: 'sheep', formats: ['json'] }, '/sheep', { json: 1000 },
      { json: 1000, query: true }, { json: 1000, query: true }],
    ['paths of rows', { writes: 'both', formats: ['json'] }, '/posts/{id}', {}, {}, {}]
  ]
  const document = await describe(
    t,
    both(...cases.map(([, options], index) => one({ attributes: post, ...options, prefix: `/c${index}` })))
  )
  checkReferences(t, document)
  for (const [index, [name, , path, ...expected]] of cases.entries()) {
    const found = ['post', 'put', 'delete'].map((method) => {
      const operation = document.paths[`/c${index}${path}`]?.[method]
      return operation === undefined ? {} : findMany(operation)
    })
    t.strictSame(found, expected, name)
  }

  const singleton = await describe(t, drawn((map) => map.resource('profile', { attributes: post, formats: ['json'] })))
  for (const [method, operation] of Object.entries(singleton.paths['/profile'] ?? {})) {
    t.strictSame(findMany(operation), {}, `a singleton: ${method}`)
  }
})

t.test('an update that finds rows by unique values is described where it may', async (t) => {
  const unique = ['title', ['body', 'rating']] as const
  const store = memoryStore({ unique }) as Store
  const examples = ['title', 'body,rating']
  const cases: ReadonlyArray<readonly [name: string, options: Partial<ResourceOptions>, parameters: Part]> = [
    ['a unique attribute, and a group', { store }, { match: examples, create: undefined }],
    ['no unique attribute', {}, {}],
    ['no create', { store, only: ['list', 'update'] }, { match: examples }],
    ['a create of the app', { store, actions: { create: () => undefined } }, { match: examples }],
    ['maxRows: 0', { store, maxRows: 0 }, {}]
  ]
  const document = await describe(
    t,
    both(...cases.map(([, options], index) => one({ attributes: post, ...options, prefix: `/c${index}` })))
  )
  for (const [index, [name, , expected]] of cases.entries()) {
    const { parameters, requestBody } = document.paths[`/c${index}/posts`]?.put as Operation
    const found = parameters.filter(({ name }) => name === 'match' || name === 'create')
      .map(({ name, schema }) => [name, Object(schema).examples] as const)
    t.strictSame(Object.fromEntries(found), expected, name)
    const isListed = index !== 4
    const isValid = compileIn(document)(
      `/paths/~1c${index}~1posts/put/requestBody/content/application~1json/schema`
    )({ posts: [{ title: 'A' }] })
    t.equal(isValid, isListed && 'match' in expected, `${name}: a row without an id`)
    t.ok(requestBody)
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
  t.strictSame(findMany(operation('/posts/publish')), { json: 3, xml: 3, form: true })
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
  for (const openapi of [V30, V31]) {
    const document = await describe(t, one({ attributes: post, maxRows: 3, formats: ['json'] }), { openapi })
    const compile = compileIn(document)
    for (const [method, fits, others] of cases) {
      const isValid = compile(`/paths/~1posts/${method}/requestBody/content/application~1json/schema`)
      for (const body of fits) t.ok(isValid(body), `${openapi} ${method} ${JSON.stringify(body)}`)
      for (const body of others) t.notOk(isValid(body), `${openapi} ${method} not ${JSON.stringify(body)}`)
    }
  }
})

t.test('requests with many rows, and their answers, are those that are described', async (t) => {
  const app = await start(t, one({ attributes: post, maxRows: 3, formats: ['json'], requireMatch: true }))
  const document = documentOf(app)
  const compile = compileIn(document)
  const cases: ReadonlyArray<readonly [method: 'POST' | 'PUT' | 'DELETE', body: object, status: number]> = [
    ['POST', { post: { title: 'A' } }, 201],
    ['POST', { posts: [{ title: 'B' }, { title: 'C' }] }, 201],
    ['POST', { posts: [] }, 201],
    ['POST', { posts: [{ title: 'D' }, { title: '' }] }, 422],
    ['POST', { posts: [1, 2, 3, 4].map(() => ({ title: 'A' })) }, 413],
    ['PUT', { post: { id: 1, _version: '1', title: 'AA' } }, 200],
    ['PUT', { id: 1, post: { _version: '2', rating: 2 } }, 200],
    ['PUT', { posts: [{ id: 1, _version: '3', rating: 3 }] }, 200],
    ['PUT', { posts: [{ id: 1, _version: '1', rating: 3 }] }, 412],
    ['PUT', { id: [1, 2], post: { rating: 3 } }, 428],
    ['DELETE', { id: [1, 2] }, 428],
    ['DELETE', { posts: [{ id: 9, _version: '1' }] }, 404],
    ['DELETE', { id: 1, post: { _version: '4' } }, 204],
    ['DELETE', { posts: [{ id: 2, _version: '1' }] }, 204]
  ]
  for (const [method, payload, status] of cases) {
    const name = `${method} ${JSON.stringify(payload)}`
    const answer = await app.inject({ method, url: '/posts', payload })
    t.equal(answer.statusCode, status, name)
    const pointer = `/paths/~1posts/${method.toLowerCase()}`
    const { responses } = document.paths['/posts']?.[method.toLowerCase()] as Operation
    if (status < 400) {
      t.ok(compile(`${pointer}/requestBody/content/application~1json/schema`)(payload), `${name} is described`)
    }
    if (status === 204) {
      t.strictSame([answer.body, responses[204]?.content], ['', undefined], `${name} has no body`)
      continue
    }
    const response = responses[status]?.$ref?.slice(1) ?? `${pointer}/responses/${status}`
    const type = status < 400 ? 'application~1json' : 'application~1problem+json'
    t.ok(compile(`${response}/content/${type}/schema`)(answer.json()), `${name} is answered as described`)
    if (status >= 400 && status !== 413) t.ok(Array.isArray(answer.json().rows), `${name} names the rows at fault`)
  }
})
