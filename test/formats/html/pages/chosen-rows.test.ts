import type { FastifyInstance, LightMyRequestResponse } from 'fastify'
import t, { type Test } from 'tap'
import { memoryStore, type ResourceOptions } from '../../../../lib/index.js'
import { build } from '../../../support/helper.js'
import { entriesOf, fill, findButton, findForm, type Form, parseForms, submit } from '../../../support/html/forms.js'
import { get, isSound } from '../../../support/html/page-tests.js'

const attributes = {
  type: 'object',
  required: ['title'],
  properties: {
    title: { type: 'string', minLength: 1, maxLength: 20 },
    rating: { type: ['integer', 'null'], maximum: 5 },
    published: { type: 'boolean', default: false },
    note: { type: 'string', minLength: 2 },
    code: { type: 'string', readOnly: true }
  }
} as const

interface Posts {
  readonly app: FastifyInstance
  readonly store: ReturnType<typeof memoryStore>
}

const context = { signal: new AbortController().signal }

async function openPosts (
  t: Test,
  options: Partial<ResourceOptions> = {},
  titles = ['Tea', 'Coffee', 'Milk']
): Promise<Posts> {
  const store = memoryStore({ unique: ['title'] })
  for (const title of titles) await store.create({ title, rating: 3, published: false, note: 'none' }, {}, context)
  return { app: await build(t, { attributes, store, ...options, name: 'posts' } as ResourceOptions), store }
}

/** Returns the form of the rows that a list offers to choose, if it has one. */
function selectionOf (page: LightMyRequestResponse): Form | undefined {
  return parseForms(page).find(({ id }) => id === 'chosen')
}

/** Ticks the boxes of rows in the list, and presses a button. */
async function choose (
  app: FastifyInstance,
  ids: readonly number[],
  step: 'delete' | 'change'
): Promise<LightMyRequestResponse> {
  const form = selectionOf(await get(app, '/posts')) as Form
  fill(form, { 'id[]': ids.map(String) })
  return send(app, form, findButton(form, '_step', step))
}

async function send (
  app: FastifyInstance,
  form: Form,
  button?: Form['controls'][number]
): Promise<LightMyRequestResponse> {
  return app.inject(submit(form, button, { accept: 'text/html' }))
}

async function stored (app: FastifyInstance): Promise<string[]> {
  const { body } = await app.inject({ url: '/posts', headers: { accept: 'application/json' } })
  return JSON.parse(body).posts.map(({ title, rating, published, note = '-' }: Record<string, unknown>) =>
    [title, rating, published, note].join(' '))
}

const rowsOf = ({ body }: LightMyRequestResponse): string[] =>
  [.../<ul class="chosen">\n([^]*?)<\/ul>/.exec(body)?.[1]?.matchAll(/<li>(.*)<\/li>/g) ?? []].map(([, row = '']) =>
    row.replaceAll(/<p class="error">(.*?)<\/p>/g, ' ($1)').replaceAll(/<.*?>/g, ''))
const titleOf = ({ body }: LightMyRequestResponse): string | undefined => /<h1>(.*)<\/h1>/.exec(body)?.[1]
const UNCHANGED = ['Tea 3 false none', 'Coffee 3 false none', 'Milk 3 false none']

t.test('rows that are chosen in a list are deleted after a page that names them', async (t) => {
  const { app } = await openPosts(t)
  const list = await get(app, '/posts')
  isSound(t, list, 200)
  const boxes = selectionOf(list)?.controls.filter(({ type }) => type === 'checkbox')
  t.strictSame(boxes?.map(({ value, attributes }) => [value, attributes['aria-label']]),
    [['1', 'Choose: Tea'], ['2', 'Choose: Coffee'], ['3', 'Choose: Milk']])
  const page = await choose(app, [1, 3], 'delete')
  isSound(t, page, 200)
  t.strictSame([titleOf(page), rowsOf(page)], ['Delete 2 posts', ['Tea', 'Milk']])
  t.match(page.body, '<p>They will be deleted permanently.</p>')
  t.match(page.body, '<a class="button plain" href="/posts">Cancel</a>')
  t.strictSame(await stored(app), UNCHANGED, 'nothing is deleted yet')
  const form = findForm(page, 'DELETE')
  t.strictSame(entriesOf(form), [
    ['_method', 'DELETE'], ['id[]', '1'], ['id[]', '3'], ['_version[]', '1'], ['_version[]', '1']
  ])
  const done = await send(app, form)
  t.strictSame([done.statusCode, done.headers.location], [303, '/posts#deleted'])
  t.strictSame(await stored(app), ['Coffee 3 false none'])
})
