import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { memoryStore, type Mapper, type ResourceOptions } from '../../../../lib/index.js'
import { draft } from '../../../support/helper.js'
import { findForm, submit } from '../../../support/html/forms.js'

const attributes = {
  type: 'object', required: ['name'], properties: { name: { type: 'string', minLength: 1 } }
} as const

type Options = Omit<ResourceOptions, 'name' | 'as' | 'prefix'>

/** Draws shops with shelves, which have books. */
async function shop (
  t: Test,
  { shops = {}, shelves = {}, books = {}, shallow = false }: {
    readonly shops?: Options,
    readonly shelves?: Options,
    readonly books?: Options,
    readonly shallow?: boolean
  } = {}
): Promise<FastifyInstance> {
  const app = await draft(t, (map: Mapper) => {
    map.resources('shops', { attributes, ...(shops as object) }, (shop) => {
      shop.resources('shelves', { attributes, ...(shelves as object), shallow }, (shelf) => {
        shelf.resources('books', { attributes, ...(books as object), shallow })
        shelf.resource('label', { attributes })
      })
    })
  })
  const send = async (url: string, payload: object): Promise<void> => {
    t.equal((await app.inject({ method: 'POST', url, payload })).statusCode, 201)
  }
  await send('/shops', { shop: { name: 'Foyles & Co' } })
  await send('/shops/1/shelves', { shelf: { name: 'Poems' } })
  await send(shallow ? '/shelves/1/books' : '/shops/1/shelves/1/books', { book: { name: 'Duino' } })
  return app
}

/** Returns the breadcrumbs of a page, with the paths of the links. */
async function crumbsOn (
  app: FastifyInstance, url: string, method: 'GET' | 'POST' = 'GET', payload = ''
): Promise<string[]> {
  const { body } = await app.inject({
    method,
    url,
    headers: { accept: 'text/html', ...(method === 'POST' && { 'content-type': 'application/x-www-form-urlencoded' }) },
    payload
  })
  const [, crumbs = ''] = /<ol class="breadcrumb">(.*?)<\/ol>/.exec(body) ?? []
  return [...crumbs.matchAll(/<li[^>]*>(?:<a href="([^"]*)">)?([^<]*)/g)].map(([, href, label = '']) =>
    href === undefined
      ? label
      : `${label} ${href}`)
}

const above = ['Shops /shops', 'Foyles &amp; Co /shops/1', 'Shelves /shops/1/shelves', 'Poems /shops/1/shelves/1']

t.test('the breadcrumbs name every level', async (t) => {
  const app = await shop(t)
  t.strictSame(await crumbsOn(app, '/shops'), [])
  t.strictSame(await crumbsOn(app, '/shops/1'), ['Shops /shops', 'Foyles &amp; Co'])
  t.strictSame(await crumbsOn(app, '/shops/1/shelves'), [...above.slice(0, 2), 'Shelves'])
  t.strictSame(await crumbsOn(app, '/shops/1/shelves/1/books'), [...above, 'Books'])
  t.strictSame(await crumbsOn(app, '/shops/1/shelves/1/books/1'), [...above, 'Books /shops/1/shelves/1/books', 'Duino'])
  t.strictSame(await crumbsOn(app, '/shops/1/shelves/1/books/9'),
    [...above, 'Books /shops/1/shelves/1/books', 'Not Found'])
  t.strictSame(await crumbsOn(app, '/shops/1/shelves/1/label'), [...above, 'Not Found'])
  t.strictSame(await crumbsOn(app, '/shops/1/shelves/9/books'), [], 'a missing parent leads nowhere')
  t.strictSame(
    await crumbsOn(app, '/shops/1/shelves/1/books', 'POST', '_method=PUT&id=1&_version=old&book[name]=x'),
    [...above, 'Books /shops/1/shelves/1/books', 'Duino /shops/1/shelves/1/books/1',
      'This book has been changed meanwhile']
  )
})

t.test('the page of a shallow row names its parent, if the request may see it', async (t) => {
  const app = await shop(t, { shallow: true })
  t.strictSame(await crumbsOn(app, '/shelves/1'), [...above.slice(0, 2), 'Shelves /shops/1/shelves', 'Poems'])
  t.strictSame(await crumbsOn(app, '/shelves/1/books'), ['Poems /shelves/1', 'Books'])
  t.strictSame(await crumbsOn(app, '/books/1'), ['Shops /shops', 'Shop 1 /shops/1', 'Shelves /shops/1/shelves',
    'Poems /shelves/1', 'Books /shelves/1/books', 'Duino'])
})

t.test('a parent that has no pages or no list is called by its id, or is left out', async (t) => {
  const documents = await shop(t, { shelves: { formats: ['json'] } })
  t.strictSame(await crumbsOn(documents, '/shops/1/shelves/1/books'),
    ['Shops /shops', 'Shop 1 /shops/1', 'Shelves /shops/1/shelves', 'Shelf 1 /shops/1/shelves/1', 'Books'])
  const unlisted = await shop(t, { shelves: { except: ['list'] } })
  t.strictSame(await crumbsOn(unlisted, '/shops/1/shelves/1/books'), [...above.slice(0, 2), above[3], 'Books'])
})

t.test('the name of a parent may change, so the page of a nested row is never a 304', async (t) => {
  const app = await shop(t)
  for (const [
    url, status
  ] of [['/shops/1/shelves/1.html', 200], ['/shops/1/shelves/1/books/1.html', 200],
      ['/shops/1/shelves/1/books/1.json', 304]] as const) {
    const { headers: { etag } } = await app.inject(url)
    t.equal((await app.inject({ url, headers: { 'if-none-match': String(etag) } })).statusCode, status, url)
  }
})

t.test('a shallow row without its parent, or whose parent is hidden, is as before', async (t) => {
  const store = memoryStore()
  const app = await draft(t, (map) => {
    map.resources('shops', { attributes }, (shop) => shop.resources('shelves', { attributes, store, shallow: true }))
  })
  store.create({ name: 'lost' }, {})
  store.create({ name: 'of no shop', shopId: 99 }, {})
  t.strictSame(await crumbsOn(app, '/shelves/1'), [])
  t.strictSame(await crumbsOn(app, '/shelves/2'),
    ['Shops /shops', 'Shop 99 /shops/99', 'Shelves /shops/99/shelves', 'of no shop'])
})

t.test('a parent that `authorize` hides is called by its id on the page of a shallow row', async (t) => {
  const store = memoryStore()
  const app = await draft(t, (map) => {
    map.resources(
      'shops',
      { attributes, authorize: (_request, { action }) => action === 'show' ? 'hide' : true },
      (shop) => shop.resources('shelves', { attributes, store, shallow: true })
    )
  })
  store.create({ name: 'of a hidden shop', shopId: 1 }, {})
  t.strictSame(await crumbsOn(app, '/shelves/1'), [])
})

t.test('a browser that creates a shallow row is led to its page, and one that deletes it to its list', async (t) => {
  for (const writes of ['collection', 'member'] as const) {
    const app = await shop(t, { shallow: true, shelves: { writes }, books: { writes } })
    const created = await app.inject({
      method: 'POST',
      url: '/shelves/1/books',
      headers: { accept: 'text/html', 'content-type': 'application/x-www-form-urlencoded' },
      payload: 'book[name]=Elegies'
    })
    t.strictSame([created.statusCode, created.headers.location], [303, '/books/2#created'])
    const page = await app.inject({ url: '/books/1', headers: { accept: 'text/html' } })
    const { statusCode, headers } = await app.inject(submit(findForm(page, 'DELETE'), undefined, {
      accept: 'text/html'
    }))
    t.strictSame([statusCode, headers.location], [303, '/shelves/1/books#deleted'], writes)
  }
})
