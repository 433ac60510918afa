import fastify, { type FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { database } from '../../../../lib/database/index.js'
import { memoryStore, type ResourceOptions } from '../../../../lib/index.js'
import { draft } from '../../../support/helper.js'
import { findForm, type Form, shown, submit } from '../../../support/html/forms.js'
import { get, isSound, schemaOf, seeded } from '../../../support/html/page-tests.js'
import { makeDatabase } from '../../../support/stores/databases/music-database.js'

const attributes = schemaOf({
  title: { type: 'string', maxLength: 50 },
  code: { type: ['string', 'null'], maxLength: 10 },
  secret: { type: 'string', writeOnly: true },
  total: { type: 'integer', readOnly: true },
  photo: { type: 'string', contentEncoding: 'base64' },
  body: { type: 'string' },
  tags: { type: 'array', items: { type: 'string' } },
  login: {
    type: 'object', properties: { name: { type: 'string' }, password: { type: 'string', writeOnly: true } }
  },
  owner: { type: 'string', maxLength: 10 },
  state: { type: 'string', maxLength: 10, default: 'new' }
}, ['title'])

const row = {
  title: 'First',
  code: 'A1',
  secret: 's3cret',
  total: 9,
  photo: 'AAAA',
  body: 'B\nC',
  tags: ['x', 'y'],
  login: { name: 'ann', password: 'pass' },
  owner: 'ann'
}
const long = { title: 'Long', body: 'x'.repeat(100_001), owner: 'bob', state: 'old' }

type Options = Partial<Omit<ResourceOptions, 'name' | 'store' | 'id'>>

async function open (t: Test, options: Options = {}): Promise<FastifyInstance> {
  const { app } = await seeded(t, [row, long], { attributes, unique: ['code'], formPages: true, ...options })
  return app
}

/** Returns the link to the form for a copy on a page, or `undefined` if there is none. */
async function linkOn (app: FastifyInstance, url = '/posts/1'): Promise<string | undefined> {
  const page = await get(app, url)
  isSound(t, page, 200)
  return /<a class="button plain" href="([^"]*)">Duplicate</.exec(page.body)?.[1]
}

const fieldsOf = (form: Form): Record<string, unknown> => Object.fromEntries(
  form.controls.filter(({ type, tag }) => type !== 'hidden' && tag !== 'button').map(({ name }) =>
    [name, shown(form, name)]))

t.test('a record has a link to the form for a copy of it', async (t) => {
  const app = await open(t)
  t.equal(await linkOn(app), '/posts/new?_from=1')
  const page = await get(app, '/posts/new?_from=1')
  isSound(t, page, 200)
  t.notMatch(page.body, 's3cret')
  t.notMatch(page.body, '"pass"')
  const form = findForm(page, 'POST')
  t.strictSame(fieldsOf(form), {
    'post[title]': 'First',
    'post[code]': '',
    'post[secret]': '',
    'post[photo]': '',
    'post[body]': 'B\nC',
    'post[tags]': 'x\ny',
    'post[login][name]': '',
    'post[login][password]': '',
    'post[owner]': 'ann',
    'post[state]': 'new'
  }, 'without values that are unique, never shown, read-only or files')
  t.match((await app.inject(submit(form))).headers.location, /^\/posts\/3(?:#|$)/)
  const copy = (await app.inject('/posts/3.json')).json().post
  t.match(copy, { title: 'First', body: 'B\nC', tags: ['x', 'y'], owner: 'ann' })
  t.notOk(Object.hasOwn(copy, 'code'))
})

t.test('a copy leaves out what a form cannot send, and the query comes first', async (t) => {
  const app = await open(t)
  const form = findForm(await get(app, '/posts/new?_from=2&title=Other'), 'POST')
  t.match(fieldsOf(form), { 'post[title]': 'Other', 'post[body]': '', 'post[state]': 'old' })
  t.match((await app.inject('/posts/new.json?_from=1&state=x')).json().post, { title: 'First', state: 'x' })
})

t.test('only who may see a record gets its values', async (t) => {
  const statusOf = async (app: FastifyInstance, id: string): Promise<number> =>
    (await get(app, `/posts/new?_from=${id}`)).statusCode
  const app = await open(t)
  for (const id of ['9', 'x', '', '1.5']) t.equal(await statusOf(app, id), 404, `_from=${id}`)
  const missing = await get(app, '/posts/new?_from=9')
  isSound(t, missing, 404)
  t.match(missing.body, 'This post does not exist')
  const scoped = await open(t, { scope: () => ({ owner: 'ann' }) })
  t.equal(await statusOf(scoped, '1'), 200)
  t.equal(await statusOf(scoped, '2'), 404)
  t.match(fieldsOf(findForm(await get(scoped, '/posts/new?_from=1'), 'POST')), { 'post[owner]': '' })
  const hidden = await open(t, {
    authorize: async (_, { action, row }) => action !== 'show' || (await row?.())?.attributes.owner === 'ann' || 'hide'
  })
  t.equal(await statusOf(hidden, '1'), 200)
  t.equal(await statusOf(hidden, '2'), 404)
  const refused = await open(t, { authorize: (_, { action }) => action !== 'show' })
  t.equal(await statusOf(refused, '1'), 403)
})

t.test('only who may create a record gets the link', async (t) => {
  const app = async (refused: string): Promise<FastifyInstance> =>
    open(t, { authorize: (_, { action }) => action !== refused })
  t.equal(await linkOn(await app('update')), '/posts/new?_from=1')
  t.equal(await linkOn(await app('create')), undefined)
  t.equal(await linkOn(await app('new')), undefined)
})

const without: ReadonlyArray<readonly [about: string, options: Options]> = [
  ['form pages', { formPages: false }],
  ['creates', { except: ['create'] }],
  ['a page that every request passes', { actionHooks: { show: { preHandler: async () => {} } } }],
  ['a page of the package', { actions: { show: ({ proceed }: { proceed: () => unknown }) => proceed() } } as Options],
  ['a schema', { attributes: undefined } as unknown as Options]
]

t.test('other records have no copies', async (t) => {
  for (const [about, options] of without) {
    const app = await open(t, options)
    t.equal(await linkOn(app), undefined, `without ${about}`)
    if (about === 'form pages' || about === 'creates') continue
    t.equal((await get(app, '/posts/new?_from=1')).statusCode, 400, `without ${about}`)
  }
})

t.test('nested records are copied into the same list', async (t) => {
  const comment = schemaOf({ text: { type: 'string', maxLength: 50 } })
  const store = memoryStore()
  const comments = memoryStore()
  store.create({ text: 'P' }, {})
  comments.create({ text: 'C', postId: 1 }, {})
  for (const shallow of [false, true]) {
    const app = await draft(t, (map) => {
      map.resources('posts', { attributes: comment, store }, (posts) =>
        posts.resources('comments', { attributes: comment, store: comments, formPages: true, shallow }))
    })
    const page = shallow ? '/comments/1' : '/posts/1/comments/1'
    t.equal(await linkOn(app, page), '/posts/1/comments/new?_from=1')
    const form = findForm(await get(app, '/posts/1/comments/new?_from=1'), 'POST')
    t.strictSame(fieldsOf(form), { 'comment[text]': 'C' })
  }
})

t.test('the records of a served database are copied', async (t) => {
  const app = fastify()
  t.teardown(() => app.close())
  const opened = makeDatabase(`
    CREATE TABLE genre (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
    CREATE TABLE track (
      id INTEGER PRIMARY KEY, name TEXT NOT NULL, isrc TEXT UNIQUE, cover BLOB, genre_id INTEGER REFERENCES genre
    );
    CREATE TABLE setting (key TEXT PRIMARY KEY, value TEXT);
    INSERT INTO genre VALUES (1, 'Rock');
    INSERT INTO track VALUES (7, 'Hush', 'X1', x'00ff', 1);
    INSERT INTO setting VALUES ('a/b', 'v')`)
  app.register(database, { database: opened, write: true, report: () => {} })
  t.equal(await linkOn(app, '/tracks/7'), '/tracks/new?_from=7')
  const form = findForm(await get(app, '/tracks/new?_from=7'), 'POST')
  t.match(fieldsOf(form), { 'track[name]': 'Hush', 'track[isrc]': '', 'track[genre_id]': '1' })
  t.match((await app.inject(submit(form))).headers.location, /^\/tracks\/8(?:#|$)/)
  t.match((await app.inject('/tracks/8.json')).json().track, { name: 'Hush', isrc: null, cover: null, genre_id: 1 })
  const link = await linkOn(app, '/settings/a%2Fb')
  t.equal(link, '/settings/new?_from=a%2Fb')
  t.match(fieldsOf(findForm(await get(app, String(link)), 'POST')), { 'setting[key]': '', 'setting[value]': 'v' })
})
