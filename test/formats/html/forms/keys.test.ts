import type { FastifyInstance, LightMyRequestResponse } from 'fastify'
import t from 'tap'
import type { ResourceOptions } from '../../../../lib/index.js'
import { build, post } from '../../../support/helper.js'

const FORM = 'application/x-www-form-urlencoded'
const KEY = /<input type="hidden" name="_key" value="([^"]*)"\/>/

const open = (options: Partial<ResourceOptions> = {}): ResourceOptions =>
  ({ name: 'posts', attributes: post, idempotency: {}, ...options })

async function keyOf (app: FastifyInstance, url: string): Promise<string | undefined> {
  const { body } = await app.inject({ url, headers: { accept: 'text/html' } })
  return KEY.exec(body)?.[1]
}

const submit = async (app: FastifyInstance, payload: string): Promise<LightMyRequestResponse> =>
  app.inject({ method: 'POST', url: '/posts', payload, headers: { 'content-type': FORM, accept: 'text/html' } })

t.test('each form for a new row has a key of its own, if keys are kept', async (t) => {
  for (const [options, url] of [[{}, '/posts'], [{ formPages: true }, '/posts/new']] as const) {
    const app = await build(t, open(options))
    const keys = [await keyOf(app, url), await keyOf(app, url)]
    for (const key of keys) t.match(key, /^[\da-f-]{36}$/)
    t.not(keys[0], keys[1])
    const without = await build(t, { name: 'posts', attributes: post, ...options })
    t.equal(await keyOf(without, url), undefined)
  }
  const app = await build(t, open())
  await submit(app, 'post[title]=A')
  t.equal(await keyOf(app, '/posts/1'), undefined, 'the form of a row has its version')
})

t.test('a double click creates one row', async (t) => {
  const app = await build(t, open())
  const payload = `_key=${String(await keyOf(app, '/posts'))}&post[title]=A`
  const answers = await Promise.all([submit(app, payload), submit(app, payload)])
  t.strictSame(answers.map(({ statusCode, headers }) => [statusCode, headers.location]),
    [[303, '/posts/1'], [303, '/posts/1']])
  const again = await submit(app, `${payload}&commit=another`)
  t.equal(again.statusCode, 422, 'another button is another form')
  t.equal((await app.inject('/posts.json')).json().posts.length, 1)
})

t.test('a faulty form keeps its key, because it has written nothing', async (t) => {
  const app = await build(t, open())
  const faulty = await submit(app, '_key=k&post[title]=')
  t.strictSame([faulty.statusCode, KEY.exec(faulty.body)?.[1]], [422, 'k'])
  t.equal((await submit(app, '_key=k&post[title]=A')).statusCode, 303)
  const added = await submit(app, '_key=k2&post[title]=B&post[tags][%3F][add]=1')
  t.strictSame([added.statusCode, KEY.exec(added.body)?.[1]], [422, 'k2'])
  const twice = await submit(app, '_key=k&_key=k&post[title]=A')
  t.strictSame([twice.statusCode, /&quot;_key&quot; must have 1 to 255/.test(twice.body)], [400, true])
})

t.test('a form that was saved, and is sent with other values, offers to save another row', async (t) => {
  const app = await build(t, open())
  t.equal((await submit(app, '_key=k&post[title]=A')).statusCode, 303)
  const { statusCode, body } = await submit(app, '_key=k&post[title]=B')
  t.equal(statusCode, 422)
  t.match(body, '<li><a href="/posts/1">This was saved already</a></li>')
  t.match(body, '<button type="submit" class="primary">Save it as another one</button>')
  t.match(body, 'value="B"')
  t.notMatch(body, 'value="another"')
  const key = KEY.exec(body)?.[1]
  t.match(key, /^[\da-f-]{36}$/)
  const other = await submit(app, `_key=${String(key)}&post[title]=B`)
  t.strictSame([other.statusCode, other.headers.location], [303, '/posts/2'])
})

t.test('without a page of the row, there is no link to it', async (t) => {
  const app = await build(t, open({ only: ['list', 'create'] }))
  t.equal((await submit(app, '_key=k&post[title]=A')).statusCode, 303)
  t.match((await submit(app, '_key=k&post[title]=B')).body, '<li>This was saved already</li>')
  t.equal((await submit(app, '_key=d&_method=DELETE&id=1')).statusCode, 405)
})

t.test('other forms with a key that was used are told so', async (t) => {
  const app = await build(t, open({ html: { lang: 'de' } }))
  t.equal((await submit(app, '_key=k&post[title]=A')).statusCode, 303)
  t.equal((await submit(app, '_key=u&_method=PUT&id=1&post[title]=B')).statusCode, 303)
  const reused = await submit(app, '_key=u&post[title]=C')
  t.strictSame([reused.statusCode, /<li>Das wurde bereits gespeichert<\/li>/.test(reused.body)], [422, true])
  const deleted = await submit(app, '_key=k&_method=DELETE&id=1')
  t.equal(deleted.statusCode, 422)
  t.match(deleted.body, 'Dieses Formular wurde bereits mit anderen Angaben abgeschickt.')
})
