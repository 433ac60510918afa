import fastify, { type FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { type AttributesSchema, draw, type Format, json, type Mapper, memoryStore } from '../../lib/index.js'

/** The options of the format of this test. */
interface LineOptions { readonly begin?: string, readonly end?: string }

declare module '../../lib/core/options/options.js' {
  // eslint-disable-next-line @typescript-eslint/no-unused-vars -- a merged interface has the same parameters
  interface FormatOptions<S extends AttributesSchema | undefined> { readonly lines?: LineOptions }
}

/** A format that writes each title between two texts, and refuses other options than these. */
function lines (given: LineOptions = {}): Format {
  const { begin = '<', end = '>' } = given
  const show = ({ attributes }: { readonly attributes: Readonly<Record<string, unknown>> }): string =>
    `${begin}${String(attributes.title)}${end}`
  return {
    name: 'lines',
    mediaTypes: ['text/plain'],
    settings: given,
    async configure (own, { plural }) {
      if ('middle' in own) throw new TypeError(`${plural} have no middle`)
      return lines({ ...given, ...own })
    },
    compileWriter: () => ({
      list: { open: '', row: show, separator: ' ', close: '' }, record: show, problem: ({ title }) => title
    })
  }
}

async function serve (t: Test, declare: (map: Mapper) => unknown, format: Format = lines()): Promise<FastifyInstance> {
  const app = fastify()
  t.teardown(() => app.close())
  app.register(draw(declare, { formats: [format, json()], lines: { end: '.' } }))
  await app.ready()
  return app
}

t.test('a format of the app has the options of the call, the map, the scope and the resource', async (t) => {
  const store = memoryStore()
  store.create({ title: 'Tea' }, {})
  const app = await serve(t, (map) => map
    .resources('posts', { store })
    .scope({ lines: { begin: '(' } }, (map) => map
      .resources('notes', { store })
      .resources('cards', { store, lines: { begin: '[', end: ']' } })), lines({ begin: '{' }))
  const answers = await Promise.all(['/posts', '/notes/1', '/cards'].map((url) => app.inject(url)))
  t.strictSame(answers.map(({ body }) => body), ['{Tea.', '(Tea.', '[Tea]'])
  const tags = await Promise.all(['/posts/1', '/notes/1', '/cards/1'].map(async (url) => (await app.inject(
    url
  )).headers.etag))
  t.equal(new Set(tags).size, 3, 'the options are a part of what an answer shows')
})

t.test('what a format throws about its options stops the start', async (t) => {
  await t.rejects(serve(t, (map) => map.resources('posts', { lines: { middle: '' } as object })), {
    message: 'posts have no middle'
  })
  await t.rejects(serve(t, (map) => map.resources('posts', { lines: 'x' as LineOptions })), {
    message: 'Option "lines" of resource "posts" must be an object with the options of the format "lines", not \'x\'.'
  })
})
