import t, { type Test } from 'tap'
import {
  type AttributesSchema, memoryStore, type MemoryStore, type ResourceOptions, type Row, type Store
} from '../../../../lib/index.js'
import { build, types } from '../../../support/helper.js'
import { fill, type Filled, findForm, type Form, hidden, shown, submit, visible } from '../../../support/html/forms.js'

const html = { accept: types.html }
const absent = undefined

/** A form that was opened before somebody else changes or deletes its row. */
class Opened {
  readonly #app: Awaited<ReturnType<typeof build>>
  readonly store: MemoryStore<any>
  #form: Form
  body = ''

  private constructor (app: Awaited<ReturnType<typeof build>>, store: MemoryStore<any>, form: Form) {
    this.#app = app
    this.store = store
    this.#form = form
  }

  static async open (
    t: Test, row: Record<string, unknown>, options: Partial<ResourceOptions<any>> = {}
  ): Promise<Opened> {
    const store = (options.store ?? memoryStore<any>()) as MemoryStore<any>
    const app = await build(t, { name: 'posts', formats: ['html'], formPages: true, ...options, store })
    const { id } = await store.create(row, {})
    return new Opened(app, store,
      findForm(await app.inject({ url: `/posts/${encodeURIComponent(id)}/edit`, headers: html }), 'PUT'))
  }

  async change (changes: Record<string, unknown>, id: number | string = 1): Promise<void> {
    await this.store.update(id, changes, { version: undefined, scope: {} })
  }

  /** Sends the form, and takes that of the answer in its place. */
  async send (filled: Filled = {}, headers: Record<string, string> = html): Promise<number> {
    const { statusCode, body } = await this.#app.inject(submit(fill(this.#form, filled), undefined, headers))
    this.body = body
    if (statusCode !== 303) this.#form = findForm(body, body.includes('name="_method" value="PUT"') ? 'PUT' : 'POST')
    return statusCode
  }

  get form (): Form {
    return this.#form
  }

  /** The labels below each heading of the page. */
  get groups (): Record<string, string[]> {
    const [, ...parts] = this.body.slice(0, this.body.indexOf('class="actions"')).split('<h2>')
    return Object.fromEntries(parts.map((part) => [
      part.slice(0, part.indexOf('</h2>')),
      [
        ...part.matchAll(
          /<fieldset class="conflict">\n<legend>([^<]*)|\n<div class="field [^"]*">\n<label for=[^>]*>([^<]*?)(?: |<)/g
        )
      ].map(([, conflict, label = '']) => conflict ?? label).filter((label) => label !== 'Yours')
    ]))
  }

  get attributes (): Record<string, unknown> {
    return this.store.get(1, {})?.attributes as Record<string, unknown>
  }
}

const line = { type: 'string', maxLength: 40 } as const
const names = { type: 'object', properties: { a: line, b: line, c: line, d: line } } as const

t.test('the page of a conflict shows who has changed which attribute', async (t) => {
  const page = await Opened.open(t, { a: 'a', b: 'b', c: 'c', d: 'd' }, { attributes: names })
  await page.change({ a: 'theirs', b: 'new' })
  t.equal(await page.send({ 'post[a]': 'mine', 'post[c]': 'mine too' }), 412)
  t.strictSame(page.groups, {
    'Changed by both of you': ['A'], 'Changed by somebody else': ['B'], 'Not changed by anybody else': ['C', 'D']
  })
  t.strictSame(['a', 'b', 'c', 'd'].map((name) => shown(page.form, `post[${name}]`)), ['mine', 'b', 'mine too', 'd'],
    'what was typed is there, and the old value')
  t.strictSame(['a', 'b', 'c'].map((name) => shown(page.form, `post[${name}][?][keep]`)),
    ['yours', 'theirs', undefined])
  t.match(page.body, '>Keep the old value</label>')
  t.match(page.body, '>Take the new value</label>')
  t.match(page.body, /<p class="label">Theirs<\/p><div class="value" dir="auto">new<\/div>/)
  t.equal(await page.send(), 303)
  t.strictSame(page.attributes, { a: 'mine', b: 'new', c: 'mine too', d: 'd' }, 'their change is taken over by default')
})

t.test('the groups stay the same if the page comes back, and after a second conflict', async (t) => {
  const page = await Opened.open(
    t,
    { a: 'a', b: 'b', c: 'c', d: 'd' },
    { attributes: { ...names, required: ['d'], properties: { ...names.properties, d: { ...line, minLength: 1 } } } }
  )
  await page.change({ a: 'theirs', b: 'new' })
  t.equal(await page.send({ 'post[a]': 'mine' }), 412)
  t.equal(await page.send({ 'post[d]': '', 'post[b][?][keep]': 'yours' }), 422)
  t.match(page.body, '<a href="#post:d">D must not be blank</a>')
  t.strictSame(page.groups, {
    'Changed by both of you': ['A'], 'Changed by somebody else': ['B'], 'Not changed by anybody else': ['C', 'D']
  })
  await page.change({ c: 'later' })
  t.equal(await page.send({ 'post[d]': 'x' }), 412)
  t.strictSame(page.groups, {
    'Changed by both of you': ['A'], 'Changed by somebody else': ['B', 'C'], 'Not changed by anybody else': ['D']
  })
  t.equal(await page.send(), 303)
  t.strictSame(page.attributes, { a: 'mine', b: 'b', c: 'later', d: 'x' })
})

t.test('a form without digests, which an app has made, cannot tell who has changed a value', async (t) => {
  const store = memoryStore<any>()
  const app = await build(t, { name: 'posts', formats: ['html'], attributes: names, store })
  store.create({ a: 'a', b: 'b' }, {})
  await store.update(1, { a: 'theirs' }, { version: undefined, scope: {} })
  const { statusCode, body } = await app.inject({
    method: 'POST',
    url: '/posts',
    headers: { ...html, 'content-type': 'application/x-www-form-urlencoded' },
    payload: '_method=PUT&id=1&_version=1&post[a]=a&post[b]=b&post[c]=&post[c][?]=absent'
  })
  t.equal(statusCode, 412)
  t.strictSame(['a', 'b', 'c'].map((name) => shown(findForm(body, 'PUT'), `post[${name}][?][keep]`)),
    ['yours', undefined, undefined])
  t.match(body, '<h2>Changed by both of you</h2>')
})

/** The schema of `it`, its value when the form is opened, and the one that somebody else saves. */
type Case = readonly [schema: object, old: unknown, theirs: unknown]

t.test('a value that only somebody else has changed can be taken, or changed back', async (t) => {
  const cases: readonly Case[] = [
    [line, 'old', 'new'], [line, 'old', ''], [line, '', 'new'], [line, absent, 'new'],
    [{ ...line, minLength: 1 }, absent, 'new'], [{ ...line, minLength: 1 }, 'old', absent],
    [{ type: ['string', 'null'] }, null, 'new'], [{ type: ['string', 'null'] }, absent, 'new'],
    [{ type: 'integer' }, 5, 6], [{ type: 'integer' }, absent, 6], [{ type: 'integer' }, 5, absent],
    [{ type: 'boolean' }, true, false], [{ type: 'boolean' }, absent, false], [{ enum: ['a', 'b'] }, 'a', 'b'],
    [{ enum: ['a', 'b'] }, absent, 'b'],
    [{ type: 'string', format: 'date-time' }, absent, '2026-01-31T12:00:00Z'],
    [{ type: 'array', items: { type: 'string' } }, ['a'], []],
    [{ type: 'array', items: { type: 'string' } }, absent, ['b']],
    [{}, 'text', { a: 1 }], [{ type: 'object', additionalProperties: true }, absent, { a: 1 }],
    [{ type: 'array', items: { type: 'object', properties: { n: line } } }, [{ n: 'x' }], [{ n: 'x' }, { n: 'y' }]]
  ]
  for (const [schema, old, theirs] of cases) {
    for (const keep of ['theirs', 'yours'] as const) {
      const label = `${JSON.stringify(schema)} ${JSON.stringify(old)} ${JSON.stringify(theirs)} ${keep}`
      const attributes = { type: 'object', properties: { it: schema, other: line } } as AttributesSchema
      const page = await Opened.open(t, { ...(old !== absent && { it: old }), other: 'o' }, { attributes })
      await page.change({ it: theirs })
      t.equal(await page.send({ 'post[other]': 'mine' }), 412, label)
      t.match(page.body, '<h2>Changed by somebody else</h2>', label)
      t.notMatch(page.body, '<h2>Changed by both of you</h2>', label)
      t.equal(shown(page.form, 'post[it][?][keep]'), 'theirs', label)
      t.equal(page.body.includes('<div class="value" dir="auto"><span class="none">none</span></div>'),
        ['', absent].includes(theirs as string) || (Array.isArray(theirs) && theirs.length === 0), label)
      t.equal(await page.send({ 'post[it][?][keep]': keep }), 303, label)
      const after = keep === 'theirs' ? theirs : old
      t.strictSame(page.attributes, { ...(after !== absent && { it: after }), other: 'mine' }, label)
    }
  }
})

t.test('a stored value that breaks its schema is a conflict only if somebody changes it', async (t) => {
  const attributes = { type: 'object', properties: { it: { type: 'integer', maximum: 5 }, other: line } } as const
  for (const [theirs, group] of [[{ other: 'new' }, ['Other']], [{ it: 3 }, ['It']]] as const) {
    const page = await Opened.open(t, { it: 9, other: 'o' }, { attributes })
    await page.change(theirs)
    t.equal(await page.send(), 412)
    t.strictSame(page.groups['Changed by somebody else'], group)
    t.equal(await page.send(), 303)
    t.strictSame(page.attributes, { it: 9, other: 'o', ...theirs })
  }
})

t.test('without a schema, an attribute that only I have added is no conflict', async (t) => {
  const page = await Opened.open(t, { a: 'a' })
  await page.change({ a: 'theirs' })
  t.equal(await page.send({ 'post[?][0][name]': 'b', 'post[?][0][value]': 'mine' }), 412)
  t.strictSame(page.groups, { 'Changed by somebody else': ['a'], 'Not changed by anybody else': ['b'] })
  t.equal(await page.send(), 303)
  t.strictSame(page.attributes, { a: 'theirs', b: 'mine' })
})

t.test('saving a record that was deleted offers to create it again with what was typed', async (t) => {
  const secret = {
    ...names,
    required: ['a'],
    properties: {
      ...names.properties,
      a: { ...line, minLength: 1 },
      secret: { type: 'string', writeOnly: true },
      n: { type: 'integer' }
    }
  } as const
  const page = await Opened.open(t, { a: 'a', b: 'b', n: 5, secret: 'SECRET' }, { attributes: secret })
  await page.store.delete(1, { version: undefined, scope: {} })
  t.equal(await page.send({ 'post[a]': 'mine', 'post[n]': '', 'post[secret]': 'TYPED' }), 404)
  t.match(page.body, '<h1>This post does not exist any more</h1>')
  t.match(page.body, 'Somebody has deleted it since you opened it.')
  t.match(page.body, '<button type="submit" class="primary">Create it again</button>')
  t.notMatch(page.body, /another|SECRET|TYPED|Remove secret/)
  t.match(page.body, 'Type it again: it is never shown.')
  t.strictSame([page.form.action, hidden(page.form, 'id'), hidden(page.form, '_version'), hidden(page.form, '_method')],
    ['/posts', undefined, undefined, undefined], 'the store assigns another id')
  t.strictSame([shown(page.form, 'post[a]'), shown(page.form, 'post[b]'), shown(page.form, 'post[n]')],
    ['mine', 'b', ''])
  t.equal(await page.send({ 'post[secret]': 'TYPED' }), 303)
  t.strictSame(page.store.get(2, {})?.attributes, { a: 'mine', b: 'b', secret: 'TYPED' })
})

t.test('a key that is typed comes back with the form, unless its text differs from the id', async (t) => {
  const cases: ReadonlyArray<readonly [key: readonly string[], id: string, typed: Record<string, unknown>]> = [
    [['a'], 'ann', { a: 'ann', b: '' }],
    [['a'], '%2E', { a: '', b: '' }],
    [['a', 'b'], 'ann,1', { a: '', b: '' }]
  ]
  for (const [key, id, typed] of cases) {
    let row: Row<any> | undefined
    const store: Store<any> = {
      id: 'string',
      key,
      list: () => [],
      get: (asked) => asked === id ? row : undefined,
      create (attributes) {
        row = { id, version: '1', attributes }
        return row
      },
      update: () => ({ ok: false, why: 'missing' }),
      delete: () => ({ ok: false, why: 'missing' })
    }
    const page = await Opened.open(
      t, { a: 'ann', b: '1', c: 'Old' }, { attributes: { ...names, required: ['a', 'b'] }, store }
    )
    row = undefined
    t.equal(await page.send({ 'post[c]': 'mine' }), 404)
    t.strictSame(Object.fromEntries(['a', 'b', 'c'].map((name) => [name, shown(page.form, `post[${name}]`)])),
      { ...typed, ...(!key.includes('b') && { b: '1' }), c: 'mine' }, id)
  }
})

t.test('a deleted record is not offered again where nobody may create one', async (t) => {
  const cases: ReadonlyArray<readonly [options: Partial<ResourceOptions<any>>, offered: boolean]> = [
    [{}, true],
    [{ except: ['create'] }, false],
    [{ authorize: (_: unknown, { action }: { readonly action: string }) => action !== 'create' }, false],
    [{ authorize: () => true }, true]
  ]
  for (const [options, offered] of cases) {
    const page = await Opened.open(t, { a: 'a' }, { attributes: names, ...options })
    await page.store.delete(1, { version: undefined, scope: {} })
    t.equal(await page.send({ 'post[a]': 'mine' }), 404)
    t.equal(page.body.includes('Create it again'), offered)
    t.equal(shown(page.form, 'post[a]'), 'mine', 'what was typed is not lost')
    t.equal(visible(page.form, 'post[b]').length, 1)
  }
})
