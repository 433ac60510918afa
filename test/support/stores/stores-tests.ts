import fastify, { type FastifyInstance } from 'fastify'
import type { Test } from 'tap'
import resources, { draw, type Id, type Mapper, type Stores } from '../../../lib/index.js'
import { singularize } from '../../../lib/core/resource/inflection.js'
import { plainTag } from '../plain-tag.js'
import { thrownBy } from './sql-engines.js'

const text = { type: 'object', required: ['text'], properties: { text: { type: 'string' } } } as const
const formats = ['json', 'xml', 'html'] as const

interface Answer { readonly status: number, readonly body: string, readonly etag: unknown }

/** An app with a map whose resources have tables of `stores`. */
class Scene {
  readonly #app: FastifyInstance

  constructor (app: FastifyInstance) {
    this.#app = app
  }

  async send (method: 'GET' | 'POST' | 'PUT' | 'DELETE', url: string, attributes?: object): Promise<Answer> {
    const [, name = ''] = /(\w+)\.json$/.exec(url) ?? []
    const { statusCode: status, body, headers } = await this.#app.inject({
      method, url, ...(attributes !== undefined && { payload: { [singularize(name)]: attributes } })
    })
    return { status, body, etag: plainTag(headers.etag) }
  }

  async create (url: string, attributes: object = { text: 'T' }): Promise<Id> {
    const { status, body } = await this.send('POST', `${url}.json`, attributes)
    if (status !== 201) throw new Error(`${url}: ${status} ${body}`)
    const [row] = Object.values<{ id: Id }>(JSON.parse(body))
    return row?.id as Id
  }

  async statusOf (method: 'GET' | 'DELETE', url: string): Promise<number> {
    return (await this.send(method, url)).status
  }

  /** Returns the texts of a list. */
  async texts (url: string): Promise<string[]> {
    const { body } = await this.send('GET', `${url}.json`)
    return Object.values<Array<{ text: string }>>(JSON.parse(body)).flat().map(({ text }) => text)
  }
}

/** Tests the tables that stores open for the resources of a map. `open` returns the stores of an empty database. */
export function testStores (t: Test, open: () => Promise<Stores>): void {
  async function serve (
    t: Test, declare: (map: Mapper) => unknown, stores: Stores | Promise<Stores> = open()
  ): Promise<Scene> {
    const app = fastify()
    t.teardown(() => app.close())
    app.register(draw(declare, { stores: await stores }))
    await app.ready()
    return new Scene(app)
  }
  const x = { attributes: text, formats }

  for (const id of ['integer', 'uuid'] as const) {
    t.test(`what deleting a parent does to its rows, ids ${id}`, async (t) => {
      const scene = await serve(t, (map) => map.resources('posts', { ...x, id }, (posts) => posts
        .resources('comments', { ...x, shallow: true })
        .resources('likes', { ...x, id, onDelete: 'cascade', shallow: true })
        .resources('links', { ...x, onDelete: 'set null', shallow: true })))
      const post = await scene.create('/posts')
      const [comment, like, link] = [
        await scene.create(`/posts/${post}/comments`), await scene.create(`/posts/${post}/likes`),
        await scene.create(`/posts/${post}/links`)
      ]
      const other = await scene.create('/posts')
      const kept = await scene.create(`/posts/${other}/likes`)

      const refused = 'comments still refer to it; delete or change them first'
      t.match(await scene.send('DELETE', `/posts.json?id=${post}`), {
        status: 409, body: JSON.stringify({ type: 'about:blank', title: 'Conflict', status: 409, detail: refused })
      })
      t.match(await scene.send('DELETE', `/posts.xml?id=${post}`), {
        status: 409, body: `<errors><error>${refused}</error></errors>`
      })
      t.match(await scene.send('DELETE', `/posts.html?id=${post}`), {
        status: 409,
        body: new RegExp('<h1>T cannot be deleted: 1 comment refers to this record</h1>\n<ul>\n' +
          `<li><a href="/posts/${post}/comments">1 comment</a></li>\n</ul>`)
      })
      t.match(await scene.send('GET', `/posts/${post}.html`), {
        status: 200, body: '<p>1 like will be deleted too.</p>'
      })
      t.equal(await scene.statusOf('GET', `/likes/${like}.json`), 200, 'nothing was written')
      t.equal((await scene.send('GET', `/links/${link}.json`)).etag, '"1.json"')

      t.equal(await scene.statusOf('DELETE', `/comments.json?id=${comment}`), 204)
      t.equal(await scene.statusOf('DELETE', `/posts.json?id=${post}`), 204)
      t.equal(await scene.statusOf('GET', `/likes/${like}.json`), 404, 'cascade')
      t.match(
        await scene.send('GET', `/links/${link}.json`), { status: 200, etag: '"2.json"' }, 'set null is a new version'
      )
      t.equal(await scene.statusOf('GET', `/likes/${kept}.json`), 200, 'a row of another parent')
      t.equal(await scene.statusOf('DELETE', `/posts.json?id=${other}`), 204)
    })
  }

  t.test('a cascade goes on through all levels, and happens entirely or not at all', async (t) => {
    const scene = await serve(t, (map) => map.resources('posts', x, (posts) => posts
      .resources('comments', { ...x, onDelete: 'cascade' }, (comments) => comments
        .resources('answers', { ...x, onDelete: 'cascade' })
        .resources('reports', x))
      .resources('links', { ...x, onDelete: 'set null', shallow: true })))
    const post = await scene.create('/posts')
    const comment = await scene.create(`/posts/${post}/comments`)
    const answer = await scene.create(`/posts/${post}/comments/${comment}/answers`)
    const link = await scene.create(`/posts/${post}/links`)
    const report = await scene.create(`/posts/${post}/comments/${comment}/reports`)
    t.match(await scene.send('DELETE', `/posts.json?id=${post}`), { status: 409, body: 'still refer to it' })
    for (const path of ['', `/comments/${comment}`, `/comments/${comment}/answers/${answer}`]) {
      t.equal(await scene.statusOf('GET', `/posts/${post}${path}.json`), 200, path)
    }
    t.equal((await scene.send('GET', `/links/${link}.json`)).etag, '"1.json"')
    t.equal(await scene.statusOf('DELETE', `/posts/${post}/comments/${comment}/reports.json?id=${report}`), 204)
    t.equal(await scene.statusOf('DELETE', `/posts.json?id=${post}`), 204)
  })

  t.test('resources with the same table share its rows', async (t) => {
    const other = {
      ...text,
      required: [],
      properties: { ...text.properties, hidden: { type: 'boolean' }, text: { type: ['string', 'null'], maxLength: 9 } }
    } as const
    const stores = await open()
    const declare = (map: Mapper): unknown => map
      .resources('photos', x, (photos) => photos.resources('comments', { ...x, onDelete: 'cascade' }))
      .resources('posts', x, (posts) => posts.resources('comments', { ...x, onDelete: 'cascade' }))
      .namespace('admin', (admin) => admin.resources('comments', { ...x, attributes: other }))
      .resources('remarks', { ...x, table: 'comments' })
    const scene = await serve(t, declare, stores)
    const [post, photo] = [await scene.create('/posts'), await scene.create('/photos')]
    await scene.create(`/posts/${post}/comments`, { text: 'post' })
    await scene.create(`/photos/${photo}/comments`, { text: 'photo' })
    await scene.create('/admin/comments', { text: 'admin', hidden: true })
    t.strictSame(await scene.texts(`/posts/${post}/comments`), ['post'])
    t.strictSame(await scene.texts(`/photos/${photo}/comments`), ['photo'])
    t.strictSame(await scene.texts('/admin/comments'), ['post', 'photo', 'admin'])
    t.equal(await scene.statusOf('DELETE', `/posts.json?id=${post}`), 204)
    t.strictSame(await scene.texts('/remarks'), ['photo', 'admin'])

    const again = await serve(t, declare, stores)
    t.strictSame(await again.texts('/remarks'), ['photo', 'admin'], 'another app has the same tables')
  })

  t.test('the rows of a table may refer to each other', async (t) => {
    const categories = { ...x, table: 'categories' }
    const scene = await serve(t, (map) => map.resources('categories', categories, (inner) => inner
      .resources('parts', { ...categories, foreignKey: 'parent', onDelete: 'cascade' })))
    const root = await scene.create('/categories', { text: 'root' })
    const part = await scene.create(`/categories/${root}/parts`, { text: 'part' })
    await scene.create(`/categories/${part}/parts`, { text: 'part of a part' })
    t.strictSame(await scene.texts(`/categories/${root}/parts`), ['part'])
    t.strictSame(await scene.texts('/categories'), ['root', 'part', 'part of a part'])
    t.equal(await scene.statusOf('DELETE', `/categories.json?id=${root}`), 204)
    t.strictSame(await scene.texts('/categories'), [])
  })

  t.test('unique groups, attributes of scopes, and one record for each parent', async (t) => {
    const scene = await serve(t, (map) => map
      .scope({
        scope: ({ headers }) => ({ tenant: String(headers.host) }), scopeAttributes: { tenant: { type: 'string' } }
      }, (scope) => scope
        .resources('notes', { ...x, unique: [['tenant', 'text']] }, (notes) => notes.resource('cover', x)))
      .resources('tags', { ...x, unique: ['text'] }))
    const note = await scene.create('/notes')
    t.equal(
      (await scene.send('GET', `/notes/${note}.json`)).body, `{"note":{"id":${note},"text":"T"}}`,
      'clients do not see the tenant'
    )
    t.match(await scene.send('POST', '/notes.json', { text: 'T' }), { status: 409, body: 'text is already taken' })
    await scene.create('/tags')
    t.match(await scene.send('POST', '/tags.json', { text: 'T' }), { status: 409, body: 'text is already taken' })
    await scene.create(`/notes/${note}/cover`)
    t.equal((await scene.send('POST', `/notes/${note}/cover.json`, { text: 'T' })).status, 409)
  })

  t.test('a row refers only to a row that exists', async (t) => {
    const stores = await open()
    const parents = stores.open({ table: 'parents', attributes: text, id: 'integer', unique: [], references: {} })
    const attributes = { ...text, properties: { ...text.properties, parentId: { type: ['integer', 'null'] } } } as const
    const rows = stores.open({
      table: 'rows', attributes, id: 'integer', unique: [], references: { parentId: { table: 'parents' } }
    })
    for (const store of [parents, rows]) await store.prepare?.()
    const context = { signal: new AbortController().signal }
    const any = { version: undefined, scope: {} }
    const { id: parentId } = await parents.create({ text: 'T' }, {}, context)
    const missing = { statusCode: 422, errors: { parentId: ['refers to something that does not exist'] } }
    t.match(await thrownBy(() => rows.create({ text: 'T', parentId: 9 }, {}, context)), missing)
    t.match(await thrownBy(() =>
      rows.create({ text: 'T' }, { parentId: 9 }, context)), {
      statusCode: 422, message: /^it refers to something that does not exist/, errors: {}
    })
    const { id } = await rows.create({ text: 'T' }, {}, context)
    t.match(await thrownBy(() => rows.update(id, { parentId: 9 }, any, context)), missing)
    t.match(await rows.update(id, { parentId }, any, context), { ok: true, row: { version: '2' } })
    await t.rejects(async () =>
      parents.delete(parentId, any, context), {
      code: 'FST_RESOURCES_REFERENCED',
      statusCode: 409,
      message: 'rows still refer to it; delete or change them first'
    })
    t.match(await rows.update(id, { parentId: null }, any, context), { ok: true })
    t.match(await parents.delete(parentId, any, context), { ok: true })
  })

  t.test('references to resources of the same stores are foreign keys', async (t) => {
    const order = {
      type: 'object',
      required: ['customerId'],
      properties: {
        customerId: { type: 'integer' },
        productId: { type: ['integer', 'null'] },
        agentId: { type: ['integer', 'null'] },
        formerId: { type: ['integer', 'null'] },
        placeId: { type: ['string', 'null'], format: 'uuid' }
      }
    } as const
    const scene = await serve(t, (map) => map
      .resources('orders', {
        formats,
        attributes: order,
        references: {
          customerId: 'customers',
          productId: { to: 'products', onDelete: 'set null' },
          agentId: { to: 'agents', onDelete: 'cascade' },
          formerId: { to: 'customers', check: false },
          placeId: { to: 'places' }
        }
      })
      .resources('customers', x).resources('products', x).resources('agents', x)
      .resources('places', { ...x, id: 'uuid' }))
    const customerId = await scene.create('/customers')
    const [productId, agentId] = [await scene.create('/products'), await scene.create('/agents')]
    const placeId = await scene.create('/places')
    const whole = { customerId, productId, agentId, placeId }
    const missing = '00000000-0000-7000-8000-000000000000'
    for (const [name, value] of [['customerId', 9], ['productId', 9], ['agentId', 9], ['placeId', missing]] as const) {
      const answer = await scene.send('POST', '/orders.json', { ...whole, [name]: value })
      t.equal(answer.status, 422, name)
      t.strictSame(JSON.parse(answer.body).errors, { [name]: ['refers to something that does not exist'] })
    }
    const id = await scene.create('/orders', { ...whole, formerId: 99 })
    t.match(await scene.send('PUT', '/orders.json', { id, agentId: 8, productId }), {
      status: 422, body: '{"agentId":["refers to something that does not exist"]}'
    })
    t.equal(await scene.statusOf('DELETE', `/customers.json?id=${customerId}`), 409)
    t.equal(await scene.statusOf('DELETE', `/places.json?id=${placeId}`), 409)
    t.match(await scene.send('GET', `/agents/${agentId}.html`), { body: '<p>1 order will be deleted too.</p>' })
    t.equal(await scene.statusOf('DELETE', `/products.json?id=${productId}`), 204)
    t.match(await scene.send('GET', `/orders/${id}.json`), { body: '"productId":null', etag: '"2.json"' })
    t.equal(await scene.statusOf('DELETE', `/agents.json?id=${agentId}`), 204)
    t.equal(await scene.statusOf('GET', `/orders/${id}.json`), 404)
    t.equal(await scene.statusOf('DELETE', `/customers.json?id=${customerId}`), 204)
  })

  t.test('tables may refer to each other, and stores may be used again', async (t) => {
    const team = { type: 'object', properties: { ownerId: { type: ['integer', 'null'] } } } as const
    const user = { type: 'object', properties: { teamId: { type: 'integer' } } } as const
    const stores = await open()
    const declare = (map: Mapper): unknown => map
      .resources('teams', { attributes: team, formats, references: { ownerId: 'users' } })
      .resources('users', { attributes: user, formats, references: { teamId: { to: 'teams', onDelete: 'cascade' } } })
    for (const round of ['new', 'again']) {
      const scene = await serve(t, declare, stores)
      const missing = { status: 422, body: 'refers to something that does not exist' }
      t.match(await scene.send('POST', '/teams.json', { ownerId: 99 }), missing, round)
      const id = await scene.create('/teams', {})
      const ownerId = await scene.create('/users', { teamId: id })
      t.equal((await scene.send('PUT', '/teams.json', { id, ownerId })).status, 200)
      t.equal(await scene.statusOf('DELETE', `/users.json?id=${ownerId}`), 409)
      t.equal((await scene.send('PUT', '/teams.json', { id, ownerId: null })).status, 200)
      t.equal(await scene.statusOf('DELETE', `/teams.json?id=${id}`), 204)
      t.equal(await scene.statusOf('GET', `/users/${ownerId}.json`), 404)
    }
  })

  t.test('a reference names a resource that is registered earlier, or has the table of a nested one', async (t) => {
    const app = fastify()
    t.teardown(() => app.close())
    const stores = await open()
    const attributes = { type: 'object', properties: { bestId: { type: ['integer', 'null'] } } } as const
    app.register(resources, { ...x, name: 'tags', stores })
    app.register(draw((map) => map.resources('posts', { attributes, formats, references: { bestId: 'comments' } },
      (posts) => posts.resources('comments', {
        formats,
        attributes: { type: 'object', properties: { tagId: { type: 'integer' } } },
        references: { tagId: 'tags' },
        onDelete: 'cascade'
      })).resources('comments', { ...x, attributes: { type: 'object', properties: {} } }), { stores }))
    await app.ready()
    const scene = new Scene(app)
    const post = await scene.create('/posts', {})
    t.equal((await scene.send('POST', `/posts/${post}/comments.json`, { tagId: 9 })).status, 422)
    const tagId = await scene.create('/tags')
    const bestId = await scene.create(`/posts/${post}/comments`, { tagId })
    t.equal((await scene.send('PUT', '/posts.json', { id: post, bestId: 99 })).status, 422)
    t.equal((await scene.send('PUT', '/posts.json', { id: post, bestId })).status, 200)
    t.equal(await scene.statusOf('DELETE', `/comments.json?id=${bestId}`), 409)
    t.equal(await scene.statusOf('DELETE', `/tags.json?id=${tagId}`), 409)
  })

  t.test('rows that are deleted stay, and come back', async (t) => {
    const stores = await open()
    const scene = await serve(t, (map) => map.resources('notes', {
      ...x, unique: ['text'], softDelete: 'deletedAt', authorize: () => true
    }), stores)
    const id = await scene.create('/notes', { text: 'A' })
    const other = await scene.create('/notes', { text: 'B' })
    t.equal(await scene.statusOf('DELETE', `/notes.json?id=${id}`), 204)
    t.equal(await scene.statusOf('DELETE', `/notes.json?id=${id}`), 404, 'it is deleted once')
    t.equal(await scene.statusOf('GET', `/notes/${id}.json`), 404)
    t.strictSame(await scene.texts('/notes'), ['B'])
    t.strictSame(await scene.texts('/notes/deleted'), ['A'])
    t.equal(await scene.statusOf('DELETE', `/notes/deleted.json?id=${other}`), 404)
    t.equal((await scene.send('POST', `/notes/deleted/${other}/restore`)).status, 404)
    t.equal((await scene.send('POST', `/notes/deleted/${id}/restore`)).status, 204)
    t.strictSame(await scene.texts('/notes'), ['A', 'B'])
    t.equal(await scene.statusOf('DELETE', `/notes.json?id=${id}`), 204)
    t.equal(await scene.statusOf('DELETE', `/notes/deleted.json?id=${id}`), 204)
    t.strictSame(await scene.texts('/notes/deleted'), [])
    t.equal((await scene.send('POST', '/notes.json', { text: 'A' })).status, 201)
  })

  t.test('only rows that are not deleted have unique values', async (t) => {
    const scene = await serve(t, (map) => map.resources('notes', {
      ...x,
      attributes: { ...text, properties: { ...text.properties, kind: { type: 'string' } } },
      unique: ['text', ['text', 'kind']],
      softDelete: 'deletedAt',
      authorize: () => true
    }))
    const id = await scene.create('/notes', { text: 'A' })
    t.equal((await scene.send('POST', '/notes.json', { text: 'A' })).status, 409)
    for (let count = 1; count <= 2; count++) {
      const other = await scene.create('/notes', { text: `B${count}` })
      t.equal((await scene.send('PUT', '/notes.json', { id: other, text: 'A' })).status, 409)
      t.equal(await scene.statusOf('DELETE', `/notes.json?id=${other}`), 204)
    }
    t.equal(await scene.statusOf('DELETE', `/notes.json?id=${id}`), 204)
    const next = await scene.create('/notes', { text: 'A' })
    t.match(await scene.send('POST', `/notes/deleted/${id}/restore.json`), {
      status: 409, body: '"errors":{"text":["is already taken"]}'
    })
    t.equal((await scene.send('PUT', '/notes.json', { id: next, text: 'C' })).status, 200)
    t.equal((await scene.send('POST', `/notes/deleted/${id}/restore.json`)).status, 204)
    t.equal((await scene.send('POST', '/notes.json', { text: 'A' })).status, 409)
    t.strictSame(await scene.texts('/notes'), ['A', 'C'])
  })
}
