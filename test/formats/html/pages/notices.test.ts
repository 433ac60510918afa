import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { memoryStore, type ResourceOptions } from '../../../../lib/index.js'
import { elementsOf } from '../../../support/html/elements.js'
import { buttonsOf, fill, findButton, findForm, submit } from '../../../support/html/forms.js'
import { build, draft } from '../../../support/helper.js'

const attributes = {
  type: 'object',
  required: ['title'],
  properties: {
    title: { type: 'string', minLength: 1, maxLength: 20 },
    tags: { type: 'array', items: { type: 'object', properties: { name: { type: 'string' } } } }
  }
} as const
const html = { accept: 'text/html' }
const form = { 'content-type': 'application/x-www-form-urlencoded' }

const serve = (t: Test, options: Partial<ResourceOptions> = {}): Promise<FastifyInstance> => build(
  t, { name: 'posts', attributes, store: memoryStore(), ...options }
)
const pageOf = async (app: FastifyInstance, url: string): Promise<string> => (await app.inject({
  url: url.replace(/#.*/, ''), headers: html
})).body
const noticesOf = (page: string): Array<readonly [id: string | undefined, text: string]> => elementsOf(page).filter(
  ({ attributes }) => attributes.class === 'notice'
).map(({ attributes: { id }, text }) => [id, text])
const cancelOf = (page: string): string | undefined => /<a class="button plain" href="([^"]*)">Cancel<\/a>/.exec(
  page
)?.[1]

async function post (app: FastifyInstance, url: string, payload: string): Promise<string> {
  const { statusCode, headers: { location } } = await app.inject({ method: 'POST', url, headers: form, payload })
  t.equal(statusCode, 303)
  return String(location)
}

t.test('after a write, the fragment of the path names a notice of the page', async (t) => {
  const app = await serve(t)
  for (const [payload, location, text] of [
    ['post[title]=a', '/posts/1#created', 'Created.'],
    ['_method=PUT&id=1&post[title]=b', '/posts/1#saved', 'Saved.'],
    ['post[title]=c&commit=another', '/posts#added', 'Created.'],
    ['_method=DELETE&id=1', '/posts#deleted', 'Deleted.']
  ] as const) {
    t.equal(await post(app, '/posts', payload), location)
    t.strictSame(noticesOf(await pageOf(app, location)).filter(([id]) => location.endsWith(`#${id}`)),
      [[location.replace(/.*#/, ''), text]], location)
  }
})

t.test('a notice changes neither the page nor its ETag', async (t) => {
  const app = await serve(t)
  await post(app, '/posts', 'post[title]=a')
  const [before, after] = [await app.inject({ url: '/posts/1', headers: html }),
    await app.inject({ url: '/posts/1#created', headers: html })]
  t.strictSame([after.body, after.headers.etag], [before.body, before.headers.etag])
  const hidden = elementsOf(before.body).filter(({ attributes }) => attributes.class === 'notice')
  t.strictSame(hidden.map(({ attributes: { hidden, role, tabindex } }) => [hidden, role, tabindex]),
    Array.from({ length: 4 }, () => ['hidden', 'status', '-1']))
})

t.test('documents are sent to no fragment', async (t) => {
  const app = await serve(t)
  const { headers } = await app.inject({
    method: 'POST', url: '/posts', headers: { accept: 'application/json' }, payload: { post: { title: 'a' } }
  })
  t.equal(headers.location, '/posts/1')
  const xml = await app.inject({
    method: 'POST',
    url: '/posts',
    headers: { ...form, accept: 'application/xml' },
    payload: 'post[title]=a&commit=another'
  })
  t.strictSame([xml.statusCode, xml.headers.location], [201, '/posts/2'])
})

type Other = readonly [what: string, options: Partial<ResourceOptions>, page: string, location: string]
const another: readonly Other[] =
  [
    ['beneath the list', {}, '/posts', '/posts#added'],
    ['on a page of its own', { formPages: true }, '/posts/new', '/posts/new#created'],
    ['on a page with another path', { formPages: true, pathNames: { new: 'neü' } }, '/posts/ne%C3%BC',
      '/posts/ne%C3%BC#created']
  ]

for (const [what, options, url, location] of another) {
  t.test(`"Save and add another" leads back to the form ${what}`, async (t) => {
    const app = await serve(t, options)
    const blank = findForm(await app.inject({ url, headers: html }), 'POST')
    t.strictSame(buttonsOf(blank).map(({ name, value }) => [name, value]).at(-1), ['commit', 'another'])
    const created = await app.inject(submit(fill(blank, { 'post[title]': 'a' }), findButton(blank, 'commit'), html))
    t.strictSame([created.statusCode, created.headers.location], [303, location])
    const refused = findForm(
      await app.inject(submit(fill(blank, { 'post[title]': '' }), findButton(blank, 'commit'), html)), 'POST'
    )
    t.ok(findButton(refused, 'commit'), 'a refused form offers it again')
  })
}

t.test('without a page of the blank form, "Save and add another" is not offered and shows the row', async (t) => {
  const app = await serve(t, { only: ['show', 'create'] })
  const refused = await app.inject({
    method: 'POST', url: '/posts', headers: { ...html, ...form }, payload: 'post[title]='
  })
  t.notMatch(refused.body, 'another')
  t.equal(await post(app, '/posts', 'post[title]=a&commit=another'), '/posts/1#created')
})

t.test('any other button of a client\'s own form only creates', async (t) => {
  const app = await serve(t)
  t.equal(await post(app, '/posts', 'post[title]=a&commit=Create'), '/posts/1#created')
  t.equal(await post(app, '/posts', 'post[title]=a&commit=another&commit=another'), '/posts/2#created')
  t.equal(await post(app, '/posts', '_method=PUT&id=1&post[title]=b&commit=another'), '/posts/1#saved')
  const parts = await app.inject({
    method: 'POST', url: '/posts', headers: form, payload: 'post[title]=a&commit[x]=another'
  })
  t.strictSame([parts.statusCode, parts.body.includes('&quot;commit&quot; must be single fields')], [400, true])
})

t.test('a singleton has no second row to add', async (t) => {
  const app = await draft(t, (map) => map.resource('profile', { attributes, store: memoryStore(), formPages: true }))
  const page = await pageOf(app, '/profile/new')
  t.notMatch(page, 'another')
  t.equal(await post(app, '/profile', 'profile[title]=a&commit=another'), '/profile#created')
})

t.test('"Cancel" leaves a page that only has a form', async (t) => {
  const apart = await serve(t, { formPages: true })
  await post(apart, '/posts', 'post[title]=a')
  for (const [
    url, target
  ] of [['/posts/new', '/posts'], ['/posts/1/edit', '/posts/1'], ['/posts', undefined],
      ['/posts/1', undefined]] as const) {
    t.equal(cancelOf(await pageOf(apart, url)), target, url)
  }
  const plain = await serve(t)
  await post(plain, '/posts', 'post[title]=a')
  t.strictSame([cancelOf(await pageOf(plain, '/posts')), cancelOf(await pageOf(plain, '/posts/1'))],
    [undefined, '/posts/1'])
  const refuse = async (app: FastifyInstance, payload: string, url = '/posts'): Promise<string> => (await app.inject(
    { method: 'POST', url, headers: { ...html, ...form }, payload }
  )).body
  t.equal(cancelOf(await refuse(plain, 'post[title]=')), '/posts')
  t.equal(cancelOf(await refuse(plain, '_method=PUT&id=1&post[title]=')), '/posts/1')
  const unshown = await serve(t, { only: ['list', 'create', 'update'] })
  await post(unshown, '/posts', 'post[title]=a')
  t.equal(cancelOf(await refuse(unshown, '_method=PUT&id=1&post[title]=')), '/posts')
  const alone = await draft(t, (map) => map.resource('profile', { attributes, store: memoryStore() }))
  t.equal(cancelOf(await refuse(alone, 'profile[title]=', '/profile')), undefined, 'nothing is above it')
})
