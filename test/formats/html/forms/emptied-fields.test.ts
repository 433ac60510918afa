import t from 'tap'
import { type AttributesSchema, memoryStore, type MemoryStore } from '../../../../lib/index.js'
import { form } from '../../../../lib/core/formats/form/read.js'
import { fill, type Filled, findForm, hidden, refused, shown, submit } from '../../../support/html/forms.js'
import { build, types } from '../../../support/helper.js'

const absent = Symbol('absent')
const REFUSED = Symbol('refused')

/** The schema of the attribute `it`, its value, what a user empties, and the value after that. */
type Case = readonly [name: string, schema: object, value: unknown, emptied: Filled, after: unknown]

const short = { type: 'string', minLength: 1, maxLength: 50 }
const group = {
  type: 'object', required: ['name'], properties: { name: short, age: { type: 'integer' }, kind: { enum: ['a', 'b'] } }
}
const IT: Filled = { 'post[it]': '' }
const NO_GROUP: Filled = { 'post[it][name]': '', 'post[it][age]': '', 'post[it][kind]': '' }

const cases: readonly Case[] = [
  ['a text', { type: 'string', maxLength: 50 }, 'x', IT, ''],
  ['a text with a minimum length', short, 'x', IT, absent],
  ['a text that is blank, which its schema refuses', short, '', {}, ''],
  ['a text or null', { ...short, type: ['string', 'null'] }, 'x', IT, null],
  ['a text of several lines with a minimum length', { type: 'string', minLength: 1 }, 'x', IT, absent],
  ['an e-mail address', { type: 'string', format: 'email' }, 'a@b.example', IT, absent],
  ['a date', { type: 'string', format: 'date' }, '2026-01-31', IT, absent],
  ['a date and time', { type: 'string', format: 'date-time' }, '2026-01-31T12:00:00Z', IT, absent],
  ['a decimal', { type: 'string', format: 'decimal', scale: 2 }, '1.50', IT, absent],
  ['an integer', { type: 'integer' }, 5, IT, absent],
  ['an integer with a default', { type: 'integer', default: 7 }, 5, IT, absent],
  ['an integer or null', { type: ['integer', 'null'] }, 5, IT, null],
  ['a number', { type: 'number' }, 0.5, IT, absent],
  ['a boolean', { type: 'boolean' }, true, IT, absent],
  ['a boolean with a default, which has a checkbox', { type: 'boolean', default: true }, true, { 'post[it]': false },
    false],
  ['one of a few', { enum: ['a', 'b'] }, 'a', IT, absent],
  ['one of many', { enum: ['a', 'b', 'c', 'd', 'e', 'f'] }, 'a', IT, absent],
  ['a list of texts', { type: 'array', items: { type: 'string' } }, ['a'], IT, []],
  ['a list of at least one text', { type: 'array', minItems: 1, items: { type: 'string' } }, ['a'], IT, absent],
  ['some of several, at least one', { type: 'array', minItems: 1, uniqueItems: true, items: { enum: ['a', 'b'] } },
    ['a'], { 'post[it][]': [] }, absent],
  ['an object', group, { name: 'N', age: 5, kind: 'a' }, NO_GROUP, absent],
  ['an object that keeps a member', group, { name: 'N', age: 5, kind: 'a' },
    { 'post[it][age]': '', 'post[it][kind]': '' }, { name: 'N' }],
  ['an object that keeps no required member', group, { name: 'N', age: 5 }, { 'post[it][name]': '' }, REFUSED],
  ['any object', { type: 'object', additionalProperties: { type: 'integer' } }, { a: 1 }, IT, absent],
  [
    'any object inside an object',
    { type: 'object', properties: { a: { type: 'object', additionalProperties: { type: 'integer' } }, b: short } },
    { a: { x: 1 }, b: 'x' },
    { 'post[it][a]': '' },
    { b: 'x' }
  ],
  ['anything', {}, [1], IT, null]
]

function schemaOf (it: object, required: readonly string[] = []): AttributesSchema {
  return { type: 'object', required, properties: { it, other: { type: 'string' } } }
}

function valueIn (store: MemoryStore): unknown {
  const attributes = store.get(1, {})?.attributes as Readonly<Record<string, unknown>>
  return Object.hasOwn(attributes, 'it') ? attributes.it : absent
}

t.test('a user who empties an optional field removes its attribute', async (t) => {
  for (const [name, schema, value, emptied, after] of cases) {
    await t.test(name, async (t) => {
      const store = memoryStore<any>()
      const app = await build(t, { name: 'posts', attributes: schemaOf(schema), store, formats: ['html'] })
      store.create({ it: value, other: 'o' }, {})
      const shown = findForm(await app.inject('/posts/1.html'), 'PUT')
      const untouched = await app.inject(submit(shown))
      t.equal(untouched.statusCode, 303, untouched.body)
      t.strictSame(valueIn(store), value, 'a form that nobody touches changes nothing')
      const form = fill(findForm(await app.inject('/posts/1.html'), 'PUT'), emptied)
      if (after !== REFUSED) t.strictSame(refused(form), [], 'the browser sends the form')
      const saved = await app.inject(submit(form))
      t.equal(saved.statusCode, after === REFUSED ? 422 : 303)
      t.strictSame(valueIn(store), after === REFUSED ? value : after)
      const again = findForm(await app.inject('/posts/1.html'), 'PUT')
      t.equal((await app.inject(submit(again))).statusCode, 303)
      t.strictSame(valueIn(store), after === REFUSED ? value : after, 'the attribute stays as it is')
    })
  }
})

t.test('a form cannot remove what is required, and a create knows no attributes to remove', async (t) => {
  const store = memoryStore<any>()
  const app = await build(t, {
    name: 'posts', attributes: schemaOf({ type: 'integer' }, ['it']), store, formats: ['html']
  })
  store.create({ it: 5 }, {})
  const send = (payload: string) => app.inject({
    method: 'POST', url: '/posts', headers: { accept: types.html, 'content-type': form.mediaTypes[0] }, payload
  })
  const removed = await send('_method=PUT&id=1&post[it]=&post[it][?]=removed')
  t.equal(removed.statusCode, 422)
  t.match(removed.body, 'It must not be blank')
  t.equal(valueIn(store), 5)
  const created = await send('post[it]=6&post[other]=&post[other][?]=removed')
  t.equal(created.statusCode, 303)
  t.strictSame(store.get(2, {})?.attributes, { it: 6 })
})

t.test('JSON that another client sends without a mark comes back as JSON', async (t) => {
  const store = memoryStore<any>()
  const app = await build(t, {
    name: 'posts', attributes: schemaOf({ type: 'object', additionalProperties: true }), store, formats: ['html']
  })
  store.create({ it: { a: 1 } }, {})
  const refused = await app.inject({
    method: 'POST',
    url: '/posts',
    headers: { 'content-type': form.mediaTypes[0] },
    payload: '_method=PUT&id=1&post[it]=x'
  })
  t.equal(refused.statusCode, 422)
  const shown = findForm(refused, 'PUT')
  t.equal(hidden(shown, 'post[it][?]'), 'json-null')
  t.equal((await app.inject(submit(fill(shown, { 'post[it]': '{"b":2}' })))).statusCode, 303)
  t.strictSame(valueIn(store), { b: 2 })
})

t.test('a field that a user empties, and that somebody else has changed, is a conflict', async (t) => {
  const store = memoryStore<any>()
  const app = await build(t, { name: 'posts', attributes: schemaOf({ type: 'integer' }), store, formats: ['html'] })
  store.create({ it: 5, other: 'o' }, {})
  const form = fill(findForm(await app.inject('/posts/1.html'), 'PUT'), IT)
  store.update(1, { it: 6 }, { version: undefined, scope: {} })
  const conflict = await app.inject(submit(form))
  t.equal(conflict.statusCode, 412)
  const choice = findForm(conflict, 'PUT')
  const theirs = await app.inject(submit(fill(choice, { 'post[it][?][keep]': 'theirs' })))
  t.equal(theirs.statusCode, 303)
  t.equal(valueIn(store), 6)
  store.update(1, { it: 7 }, { version: undefined, scope: {} })
  const again = findForm(await app.inject(submit(form)), 'PUT')
  t.equal((await app.inject(submit(fill(again, { 'post[it][?][keep]': 'yours' })))).statusCode, 303)
  t.equal(valueIn(store), absent)
})

t.test('an empty text among numbers is edited as JSON, also after the form was refused', async (t) => {
  const attributes = {
    type: 'object',
    required: ['title'],
    properties: {
      title: { type: 'string', minLength: 1, maxLength: 9 }, count: { type: 'integer' }, done: { type: 'boolean' }
    }
  } as const
  const store = memoryStore()
  store.create({ title: 'T', count: '', done: '' }, {})
  const app = await build(t, { name: 'posts', store, attributes })
  const page = await app.inject({ url: '/posts/1', headers: { accept: 'text/html' } })
  const again = await app.inject(submit(
    fill(findForm(page, 'PUT'), { 'post[title]': '' }), undefined, { accept: 'text/html' }
  ))
  t.equal(again.statusCode, 422)
  for (const answer of [page, again]) {
    const names = ['post[count]', 'post[done]']
    t.strictSame(names.map((name) => shown(findForm(answer, 'PUT'), name)), ['""', '""'])
  }
  const saved = await app.inject(submit(fill(findForm(again, 'PUT'), { 'post[title]': 'U', 'post[count]': '5' })))
  t.equal(saved.statusCode, 303)
  t.match(store.get(1, {}), { attributes: { title: 'U', count: 5, done: '' } })
})
