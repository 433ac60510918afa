import type { LightMyRequestResponse } from 'fastify'
import t, { type Test } from 'tap'
import {
  type Attributes, type AttributesSchema, memoryStore, type MemoryStore, type ResourceOptions, type Store
} from '../../../../lib/index.js'
import { build } from '../../../support/helper.js'
import {
  fill, type Filled, findButton, findForm, type Form, hidden, shown, submit, visible
} from '../../../support/html/forms.js'
import {
  contested, contestedRow, get, html, isSound, post, schemaOf, seeded
} from '../../../support/html/page-tests.js'

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
    const [, ...parts] = this.body.slice(0, this.body.indexOf('class="actions"')).split(/<h2>|<summary>/)
    return Object.fromEntries(parts.map((part) => [
      part.slice(0, part.indexOf('</')),
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
    'Changed by both of you': ['A'],
    'Changed by somebody else': ['B'],
    'Changed by you': ['C'],
    'Not changed by anybody': ['D']
  })
  t.match(page.body, '<details>\n<summary>Not changed by anybody<', 'what nobody has changed is folded')
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

t.test('a secret is shown as changed if it was typed, or is to be removed', async (t) => {
  const properties = { a: line, secret: { type: ['string', 'null'], writeOnly: true } } as const
  for (const [filled, isChanged] of [
    [{}, false], [{ 'post[secret]': 'TYPED' }, true], [{ 'post[secret][?]': true }, true]
  ] as const) {
    const page = await Opened.open(t, { a: 'a', secret: 'SECRET' }, { attributes: { type: 'object', properties } })
    await page.change({ a: 'theirs' })
    t.equal(await page.send(filled), 412)
    t.equal(page.groups['Changed by you']?.includes('Secret') === true, isChanged, JSON.stringify(filled))
  }
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
    'Changed by both of you': ['A'],
    'Changed by somebody else': ['B'],
    'Changed by you': ['D'],
    'Not changed by anybody': ['C']
  })
  t.match(page.body, '<details open="open">\n<summary>', 'an error may be about anything')
  await page.change({ c: 'later' })
  t.equal(await page.send({ 'post[d]': 'x' }), 412)
  t.strictSame(page.groups, {
    'Changed by both of you': ['A'], 'Changed by somebody else': ['B', 'C'], 'Changed by you': ['D']
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
    [{ type: ['string', 'null'] }, null, 'new'],
    [{ type: 'integer' }, 5, absent], [{ type: 'boolean' }, true, false], [{ type: 'boolean' }, absent, false],
    [{ enum: ['a', 'b'] }, absent, 'b'],
    [{ type: 'array', uniqueItems: true, items: { enum: ['x', 'y'] } }, ['x'], ['x', 'y']],
    [
      { type: 'object', properties: { name: { type: 'string' }, age: { type: 'integer' } } }, { name: 'N', age: 5 },
      { name: 'N2' }
    ],
    [{ type: 'string', format: 'date-time' }, absent, '2026-01-31T12:00:00Z'],
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
  const store: Store = { ...memoryStore<any>(), key: ['a'] }
  const numbered = { type: 'object', properties: { a: { type: 'integer' }, b: line } } as const
  const keyed = await Opened.open(t, { a: 1, b: 'b' }, { attributes: numbered, store })
  await keyed.store.delete(1, { version: undefined, scope: {} })
  t.equal(await keyed.send({ 'post[b]': 'mine' }), 404)
  t.strictSame([shown(keyed.form, 'post[a]'), shown(keyed.form, 'post[b]')], ['1', 'mine'], 'its id is its key')
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

/** Returns the attributes that differ on the page of a conflict, with the selected side of each. */
function conflictsOf (page: LightMyRequestResponse): Record<string, string> {
  const { controls } = findForm(page, 'PUT')
  return Object.fromEntries(controls
    .filter(({ name, checked }) => name.endsWith('[?][keep]') && checked)
    .map(({ name, value }) => [name.slice('post['.length, -'][?][keep]'.length), value]))
}

function keep (name: string): string {
  return `post[${name}][?][keep]`
}

t.test('an attribute that keeps their value is left out of the update', async (t) => {
  let updated: Attributes | undefined
  const { app, store } = await seeded(t, [contestedRow], {
    attributes: contested,
    wrap: (store) => ({
      ...store, update (id, changes, guard) { updated = changes; return store.update(id, changes, guard) }
    })
  })
  const opened = fill(findForm(await get(app, '/posts/1'), 'PUT'), { 'post[title]': 'Mine' })
  store.update(1, { title: 'Theirs', body: 'Theirs' }, { version: undefined, scope: {} })
  const page = await app.inject(submit(opened, undefined, html))
  const chosen = fill(findForm(page, 'PUT'), { [keep('title')]: 'theirs', [keep('body')]: 'theirs', 'post[title]': '' })
  updated = undefined
  t.equal((await app.inject(submit(chosen, undefined, html))).statusCode, 303,
    'a value that is not kept need not be valid')
  t.equal(updated, undefined, 'nothing is written')
  t.match(store.get(1, {})?.attributes, { title: 'Theirs', body: 'Theirs' })
})

t.test('a conflict with invented entries is a page as well', async (t) => {
  for (const attributes of [contested, undefined]) {
    const { app, store } = await seeded(t, [contestedRow], attributes === undefined ? {} : { attributes })
    for (const payload of [
      'post[title]=', 'post=', 'post[title][]=a', 'post[author]=x', 'post[people][0]=x', 'post[people][0][name][0]=x',
      'post[tags][0][x]=1', 'post[tags][?]=absent', 'post[at][?][was]=x', 'post[at][?][offset]=x',
      'post[secret]=SECRET2', 'post[made]=x', 'post[title][?][keep]=theirs', 'post[title][?][keep]=x&post[title]=ok',
      'post[title][?][keep][0]=theirs&post[title]=ok', 'post[?]=x', 'post[?][was]=title', 'post[?][was][]=title',
      'post[?][was]=%25&post[title]=ok', 'post[__proto__]=x', 'post[toString][?][keep]=theirs',
      'post[json]=[[[]]]&post[json][?]=json', 'post[published]=false&post[published]=true&post[published]=x'
    ]) {
      for (const version of ['0', '1e0']) {
        const res = await post(app, `_method=PUT&id=1&_version=${version}&${payload}`)
        t.ok(res.statusCode < 500 && res.statusCode !== 303, `${payload} ${version}: ${res.statusCode}`)
        isSound(t, res, res.statusCode, payload)
        if (attributes !== undefined) t.notMatch(res.body, 'SECRET2')
      }
      t.strictSame(store.get(1, {})?.attributes, contestedRow, `${payload}: no other version is overwritten`)
    }
  }
})

t.test('a conflict survives the refusal of another field, and another row', async (t) => {
  const attributes = schemaOf({
    title: { type: 'string', maxLength: 20 },
    rating: { type: ['integer', 'null'], maximum: 5 },
    rows: { type: 'array', items: { type: 'object', properties: { a: { type: 'string' } } } }
  })
  const { app, store } = await seeded(t, [{ title: 'Old', rating: 1, rows: [] }], { attributes })
  const mine = findForm(await get(app, '/posts/1'), 'PUT')
  store.update(1, { title: 'Theirs', rating: 2 }, { version: undefined, scope: {} })
  let page = await app.inject(submit(fill(mine, { 'post[title]': 'MINE TYPED', 'post[rating]': '5' }), undefined, html))
  isSound(t, page, 412)
  for (const [
    status, filled, button
  ] of [[422, {}, 'post[rows][?][add]'], [422, { 'post[rating]': '9' }, undefined]] as const) {
    const form = fill(findForm(page, 'PUT'), { [keep('title')]: 'theirs', ...filled })
    page = await app.inject(submit(form, button === undefined ? undefined : findButton(form, button), html))
    isSound(t, page, status, button ?? JSON.stringify(filled))
    const again = findForm(page, 'PUT')
    t.strictSame([shown(again, 'post[title]'), shown(again, keep('title')), shown(again, keep('rating'))],
      ['MINE TYPED', 'theirs', 'yours'])
    if (button === undefined) t.match(page.body, /<a href="#post:rating">Rating must be at most 5/)
  }
  t.equal((await app.inject(submit(fill(findForm(page, 'PUT'), { 'post[rating]': '4' }), undefined, html))).statusCode,
    303)
  t.match(store.get(1, {})?.attributes, { title: 'Theirs', rating: 4 })
})

t.test('an unreadable value beside a choice comes back as it was typed', async (t) => {
  const deep = '['.repeat(40_000) + ']'.repeat(40_000)
  const cases: Array<[name: string, payload: string, typed: string, message: RegExp]> = [
    ['rating', 'post[rating]=x', 'x', /Rating must be an integer/],
    ['author', 'post[author][name]=N&post[author][age]=x', 'x', /Author: Age must be an integer/],
    ['json', `post[json][?]=json&post[json]={"k":${deep}}`, `{"k":${deep}}`, /K[.0]+ is nested deeper than 8 levels/],
  ]
  for (const [name, payload, typed, message] of cases) {
    const { app, store } = await seeded(t, [contestedRow], { attributes: contested })
    const res = await post(app, `_method=PUT&id=1&post[title]=Mine&${keep('title')}=yours&${payload}`)
    const label = `${name}: `
    t.equal(res.statusCode, 422, label)
    t.match(res.body, message)
    t.ok(findForm(res, 'PUT').controls.some(({ value }) => value === typed), `${label}the typed value`)
    t.strictSame(conflictsOf(res), { title: 'yours', [name]: 'yours' }, label)
    t.strictSame(store.get(1, {})?.attributes, contestedRow, label)
  }
})

t.test('a form with choices but without a version gets the current version', async (t) => {
  const { app, store } = await seeded(
    t,
    [{ title: 'Theirs', rating: 1 }],
    { attributes: schemaOf({ title: { type: 'string', minLength: 1, maxLength: 20 }, rating: { type: 'integer' } }) }
  )
  const page = await post(app, '_method=PUT&id=1&post[title]=&post[title][?][keep]=yours&post[rating]=2')
  isSound(t, page, 422)
  const form = findForm(page, 'PUT')
  t.strictSame([hidden(form, '_version'), shown(form, keep('title'))], ['1', 'yours'])
  t.equal((await app.inject(submit(fill(form, { [keep('title')]: 'theirs' }), undefined, html))).statusCode, 303)
  t.match(store.get(1, {})?.attributes, { title: 'Theirs', rating: 2 })
})
