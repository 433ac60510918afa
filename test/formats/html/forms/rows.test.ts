import type { FastifyInstance, LightMyRequestResponse } from 'fastify'
import root, { type Test } from 'tap'
import { type Attributes, memoryStore, type ResourceOptions, type Store } from '../../../../lib/index.js'
import {
  type Browser, buttonsOf, defaultButton, entriesOf, fill, type Filled, findButton, findForm, type Form, hidden,
  parseForms, refused, send, shown, submit
} from '../../../support/html/forms.js'
import { build, post, types } from '../../../support/helper.js'
import { resettableStore } from '../../../support/stores/resettable-store.js'

const link = {
  type: 'object',
  properties: {
    label: { type: 'string' },
    at: { type: ['string', 'null'], format: 'date-time' },
    hot: { type: 'boolean', default: true },
    kinds: { type: 'array', uniqueItems: true, items: { enum: ['a', 'b'] } },
    parts: { type: 'array', items: { type: 'object', required: ['size'], properties: { size: { type: 'integer' } } } }
  }
} as const

const attributes = {
  type: 'object',
  required: ['title'],
  properties: {
    ...post.properties,
    state: { enum: ['draft', 'live'] },
    any: {},
    links: { type: 'array', items: link },
    notes: { type: ['array', 'null'], items: link },
    lines: { type: 'array', items: { type: ['string', 'null'] } },
    owner: { type: 'object', properties: { links: { type: 'array', items: link } } }
  }
} as const

type Method = 'POST' | 'PUT'
type WatchedStore = Store & { readonly writes: string[], reset: () => void }

/** The forms with rows, for each kind of writes and each parser. */
const FORMS: ReadonlyArray<readonly [method: Method, writes: 'collection'
  | 'member', accept: string, browser: Browser]> = [
    ['POST', 'collection', 'application/xhtml+xml', 'modern'],
    ['PUT', 'member', 'text/html', 'modern'],
    ['PUT', 'collection', 'text/html', 'old']
  ]

/** A person with an open form, of a new post or of one with these attributes. */
class Visitor {
  static readonly #shared = new Map<string, { app: FastifyInstance, store: WatchedStore }>()
  readonly #app: FastifyInstance
  readonly #store: Store & { readonly writes: string[] }
  readonly #t: Test
  readonly #method: Method
  readonly #accept: string
  readonly #browser: Browser
  form: Form

  private constructor (t: Test, app: FastifyInstance, store: Store & {
    readonly writes: string[]
  }, method: Method, accept: string, browser: Browser, page: LightMyRequestResponse) {
    this.#t = t
    this.#app = app
    this.#store = store
    this.#method = method
    this.#accept = accept
    this.#browser = browser
    this.form = findForm(page, method, browser)
  }

  /**
   * Returns an app without rows. Forms of the same kind share an app, because registering one costs far more than a
   * request.
   */
  static async #serve (
    t: Test, writes: 'collection' | 'member', options: Partial<ResourceOptions>
  ): Promise<{ app: FastifyInstance, store: WatchedStore }> {
    const isShared = Object.keys(options).length === 0
    const served = isShared ? Visitor.#shared.get(writes) : undefined
    if (served !== undefined) {
      served.store.reset()
      return served
    }
    const store = watchedStore()
    const made = {
      app: await build(isShared ? root : t, { name: 'posts', attributes, store, writes, ...options }), store
    }
    if (isShared) Visitor.#shared.set(writes, made)
    return made
  }

  static async open (
    t: Test,
    [method, writes, accept, browser]: typeof FORMS[number],
    row: Attributes = {},
    options: Partial<ResourceOptions> = {}
  ): Promise<Visitor> {
    const { app, store } = await Visitor.#serve(t, writes, options)
    if (method === 'PUT') await store.create({ title: 'T', ...row }, {}, context)
    store.writes.length = 0
    const page = await app.inject({ url: method === 'PUT' ? '/posts/1' : '/posts', headers: { accept } })
    return new Visitor(t, app, store, method, accept, browser, page)
  }

  fill (filled: Filled): this {
    fill(this.form, filled)
    return this
  }

  /**
   * Presses a button that changes the form. It checks that a page comes back, nothing is written, and all fields except
   * the rows stay.
   */
  async press (name: string, value?: string): Promise<this> {
    const button = findButton(this.form, name, value)
    this.#t.strictSame(refused(this.form, button), [], `${name} can be pressed at any time`)
    const page = await this.#app.inject(submit(this.form, button, { accept: this.#accept }))
    this.#t.strictSame([page.statusCode, String(page.headers['content-type']).split(';')[0], this.#store.writes],
      [422, this.#accept, []], `${name} is pressed`)
    this.#t.equal(parseForms(page).length, 1)
    this.#t.notMatch(page.body, /aria-invalid|role="alert"/, 'nothing is wrong yet')
    const before = this.form
    this.form = findForm(page, this.#method, this.#browser)
    this.#t.strictSame(
      [this.form.action, ...['_method', 'id', '_version', 'post[?][was]'].map((name) => hidden(this.form, name))],
      [before.action, ...['_method', 'id', '_version', 'post[?][was]'].map((name) => hidden(before, name))],
      'it is still about the same version'
    )
    return this
  }

  async add (name: string, times: number): Promise<void> {
    for (let time = 0; time < times; time++) await this.press(`${name}[?][add]`)
  }

  /** Presses Enter and returns the stored attributes. */
  async save (): Promise<Attributes | undefined> {
    this.#t.strictSame(refused(this.form, defaultButton(this.form)), [], 'a browser lets it be sent')
    const page = await this.#app.inject(submit(this.form, defaultButton(this.form), { accept: this.#accept }))
    this.#t.strictSame([page.statusCode, page.headers.location],
      [303, '/posts/1'], page.body)
    return (await this.#store.get(1, {}, context))?.attributes
  }

  shown (...names: string[]): unknown[] {
    return names.map((name) => shown(this.form, name))
  }
}

const context = { signal: new AbortController().signal } as Parameters<Store['get']>[2]

function watchedStore (): WatchedStore {
  const store = resettableStore(() => memoryStore<Attributes>())
  const writes: string[] = []
  const watch = <K extends 'create' | 'update' | 'delete'>(name: K): Store[K] => ((...parameters: unknown[]) => {
    writes.push(name)
    return (store[name] as (...parameters: unknown[]) => unknown)(...parameters)
  }) as Store[K]
  return { ...store, create: watch('create'), update: watch('update'), delete: watch('delete'), writes }
}

async function eachForm (t: Test, test: (t: Test, form: typeof FORMS[number]) => Promise<void>): Promise<void> {
  for (const form of FORMS) {
    const [method, writes, accept, browser] = form
    const sender = browser === 'old' ? 'an old browser' : 'a browser'
    await t.test(`${method === 'POST' ? 'create' : 'update'}, writes: ${writes}, ${accept}, ${sender}`, async (t) => {
      await test(t, form)
    })
  }
}

root.test('a button adds rows, which are saved with the form', async (t) => {
  await eachForm(t, async (t, form) => {
    const visitor = await Visitor.open(t, form)
    visitor.fill({ 'post[title]': 'T' })
    await visitor.press('post[links][?][add]')
    visitor.fill({ 'post[links][0][label]': 'a', 'post[links][0][hot]': false })
    await visitor.press('post[links][?][add]')
    t.strictSame(
      visitor.shown('post[links][0][label]', 'post[links][0][hot]', 'post[links][1][label]', 'post[links][1][hot]',
        'post[links][2][label]'),
      ['a', false, '', true, undefined],
      'a row begins with its defaults'
    )
    visitor.fill({
      'post[links][1][label]': 'b',
      'post[links][1][at]': '2026-01-31T12:00',
      'post[links][1][at][?][offset]': '+02:00',
      'post[links][1][kinds][]': ['b']
    })
    t.match((await visitor.save())?.links,
      [{ label: 'a', hot: false }, { label: 'b', hot: true, at: '2026-01-31T12:00:00+02:00', kinds: ['b'] }])
  })
})

root.test('rows inside rows can be added and removed', async (t) => {
  await eachForm(t, async (t, form) => {
    const visitor = await Visitor.open(t, form)
    visitor.fill({ 'post[title]': 'T' })
    await visitor.add('post[links]', 2)
    await visitor.add('post[links][1][parts]', 3)
    visitor.fill({
      'post[links][1][parts][0][size]': '10',
      'post[links][1][parts][1][size]': '11',
      'post[links][1][parts][2][size]': '12'
    })
    await visitor.add('post[links][0][parts]', 1)
    visitor.fill({ 'post[links][0][parts][0][size]': '1', 'post[links][0][label]': 'first' })
    await visitor.press('post[links][1][parts][?][remove]', '1')
    t.strictSame(
      visitor.shown('post[links][0][parts][0][size]', 'post[links][1][parts][0][size]',
        'post[links][1][parts][1][size]', 'post[links][1][parts][2][size]'),
      ['1', '10', '12', undefined]
    )
    await visitor.press('post[links][?][remove]', '0')
    t.match((await visitor.save())?.links, [{ parts: [{ size: 10 }, { size: 12 }] }])
  })
})

root.test('a row may be a single value', async (t) => {
  await eachForm(t, async (t, form) => {
    const visitor = await Visitor.open(t, form, { lines: [] })
    visitor.fill({ 'post[title]': 'T' })
    await visitor.add('post[lines]', 3)
    visitor.fill({ 'post[lines][0]': 'a', 'post[lines][2]': 'c' })
    await visitor.press('post[lines][?][add]')
    t.strictSame(visitor.shown('post[lines][0]', 'post[lines][1]', 'post[lines][2]', 'post[lines][3]'),
      ['a', '', 'c', ''])
    await visitor.press('post[lines][?][remove]', '3')
    t.strictSame((await visitor.save())?.lines, ['a', null, 'c'], 'a blank row is null if null is allowed')
  })
})

root.test('any row can be removed', async (t) => {
  const labels = ['a', 'b', 'c']
  const cases: ReadonlyArray<readonly [removed: string, left: string[]]> = [['0', ['b', 'c']], ['1', ['a', 'c']],
    ['2', ['a', 'b']]]
  for (const [removed, left] of cases) {
    await t.test(`row ${removed} of three`, async (t) => {
      await eachForm(t, async (t, form) => {
        const visitor = await Visitor.open(t, form, { links: labels.map((label) => ({ label })) })
        if (form[0] === 'POST') await visitor.add('post[links]', 3)
        visitor.fill({
          'post[title]': 'T',
          ...(form[0] === 'POST' &&
            Object.fromEntries(labels.map((label, index) => [`post[links][${index}][label]`, label])))
        })
        await visitor.press('post[links][?][remove]', removed)
        t.strictSame(visitor.shown('post[links][0][label]', 'post[links][1][label]', 'post[links][2][label]'),
          [...left, undefined])
        await visitor.press('post[links][?][add]')
        visitor.fill({ 'post[links][2][label]': 'd' })
        t.match((await visitor.save())?.links, [...left, 'd'].map((label) => ({ label })))
      })
    })
  }
})

root.test('an array without its last row is empty, or null if that is allowed', async (t) => {
  const cases: ReadonlyArray<readonly [name: string, rows: unknown[], left: unknown]> = [
    ['links', [{ label: 'a' }], []], ['lines', ['a\nb'], []], ['notes', [{ label: 'a' }], null]
  ]
  for (const [name, rows, left] of cases) {
    await t.test(name, async (t) => {
      for (const form of FORMS.filter(([method]) => method === 'PUT')) {
        const visitor = await Visitor.open(t, form, { [name]: rows })
        await visitor.press(`post[${name}][?][remove]`, '0')
        t.strictSame(buttonsOf(visitor.form).filter((button) => button.name.endsWith('[remove]')), [])
        t.strictSame((await visitor.save())?.[name], left)
      }
    })
  }
})

root.test('a row that is added and left blank counts as a row', async (t) => {
  const cases: ReadonlyArray<readonly [name: string, value: unknown, kept: unknown]> = [
    ['links', undefined, [{ hot: true }]],
    ['notes', null, [{ hot: true }]],
    ['notes', undefined, [{ hot: true }]],
    ['lines', undefined, [null]],
    ['lines', [], [null]]
  ]
  for (const [name, value, kept] of cases) {
    await t.test(`${name}: ${JSON.stringify(value)}`, async (t) => {
      await eachForm(t, async (t, form) => {
        const visitor = await Visitor.open(t, form, value === undefined ? {} : { [name]: value })
        visitor.fill({ 'post[title]': 'T' })
        await visitor.press(`post[${name}][?][add]`)
        t.strictSame((await visitor.save())?.[name], kept)
      })
    })
  }
})

root.test('a row that is added and removed again changes nothing', async (t) => {
  for (const value of [undefined, null, []]) {
    await t.test(JSON.stringify(value) ?? 'undefined', async (t) => {
      await eachForm(t, async (t, form) => {
        const visitor = await Visitor.open(t, form, value === undefined ? {} : { notes: value })
        visitor.fill({ 'post[title]': 'T' })
        await visitor.press('post[notes][?][add]')
        await visitor.press('post[notes][?][remove]', '0')
        const kept = await visitor.save()
        t.strictSame(kept?.notes, form[0] === 'POST' ? undefined : value)
        t.equal(Object.hasOwn(kept ?? {}, 'notes'), form[0] === 'PUT' && value !== undefined)
      })
    })
  }
})

root.test('a row that sends no field of its own counts as a row', async (t) => {
  const items: ReadonlyArray<readonly [item: object, name: string, chosen: string, value: unknown]> = [
    [{ type: 'object', required: ['on'], properties: { on: { type: 'boolean' } } }, '[on]', 'false', { on: false }],
  ]
  for (const [item, name, chosen, value] of items) {
    await t.test(JSON.stringify(item), async (t) => {
      await eachForm(t, async (t, form) => {
        const visitor = await Visitor.open(t, form, {}, {
          attributes: {
            type: 'object', properties: { title: { type: 'string' }, rows: { type: 'array', items: item } }
          }
        })
        await visitor.add('post[rows]', 2)
        t.equal(buttonsOf(visitor.form).filter((button) => button.name === 'post[rows][?][remove]').length, 2)
        for (const index of [0, 1]) visitor.fill({ [`post[rows][${index}]${name}`]: chosen })
        t.strictSame((await visitor.save())?.rows, [value, value])
      })
    })
  }
})

/** Values that a person can type although they are refused or unfinished. */
const UNFINISHED: Filled = {
  'post[title]': '',
  'post[body]': '\nline "1"\n<line 2> ',
  'post[published]': true,
  'post[rating]': '9',
  'post[tags]': 'a\n\nb',
  'post[publishedAt]': '2026-01-31T12:00',
  'post[publishedAt][?][offset]': '+2',
  'post[state]': 'live',
  'post[any]': '{"a":',
  'post[links][0][label]': 'x',
  'post[links][0][at]': '2026-02-01T00:00',
  'post[links][0][hot]': false,
  'post[links][0][kinds][]': ['a', 'b']
}

root.test('values typed elsewhere stay, also if they are unfinished or wrong', async (t) => {
  await eachForm(t, async (t, form) => {
    const visitor = await Visitor.open(t, form, { any: { a: 1 } })
    await visitor.press('post[links][?][add]')
    const filled = form[0] === 'POST'
      ? Object.fromEntries(Object.entries(UNFINISHED).filter(([name]) => name !== 'post[any]'))
      : UNFINISHED
    visitor.fill(filled)
    const typed = new Map(visitor.form.controls.filter(({ name }) => name in filled).map(({ name }) => [name,
      shown(visitor.form, name)]))
    for (const [
      name, value
    ] of [['post[notes][?][add]', '1'], ['post[lines][?][add]', '1'], ['post[links][?][add]', '1'],
        ['post[links][?][remove]', '1'], ['post[notes][?][remove]', '0']] as const) {
      await visitor.press(name, value)
      for (const [control, value] of typed) {
        t.strictSame(shown(visitor.form, control), value, `${control} after ${name}`)
      }
    }
  })

  await t.test('values that a browser could not have typed stay', async (t) => {
    await eachForm(t, async (t, [method, writes, accept]) => {
      const app = await build(t, { name: 'posts', attributes, writes })
      await app.inject({ method: 'POST', url: '/posts', payload: { post: { title: 'T' } } })
      const form = findForm(await app.inject({ url: method === 'PUT' ? '/posts/1' : '/posts', headers: { accept } }),
        method)
      const odd = {
        'post[rating]': 'five', 'post[state]': 'gone', 'post[publishedAt]': 'tomorrow', 'post[published]': 'maybe'
      }
      const entries = [...entriesOf(form, findButton(form, 'post[links][?][add]')).filter(([name]) => !(name in odd)),
        ...Object.entries(odd)]
      const next = findForm(await app.inject(send(form, entries, { accept })), method)
      for (const [name, value] of Object.entries(odd)) t.equal(shown(next, name), value, name)
    })
  })
})

root.test('an untouched date and time stays exactly the same while rows are added and removed', async (t) => {
  const moments = ['2026-01-31T12:00:00.000Z', '2026-01-31T12:00:00Z', '2026-01-31T12:00:05.120+05:30',
    '1990-12-31T23:59:60Z', '2026-01-31T12:00:00.123456Z', null]
  for (const form of FORMS.filter(([method]) => method === 'PUT')) {
    const links = moments.map((at) => ({ at, hot: false, kinds: ['b', 'a'] }))
    const visitor = await Visitor.open(t, form, { publishedAt: moments[0], links })
    await visitor.press('post[notes][?][add]')
    await visitor.press('post[links][?][add]')
    await visitor.press('post[links][?][remove]', '0')
    await visitor.press('post[links][?][remove]', '5')
    const kept = await visitor.save()
    t.strictSame([kept?.publishedAt, kept?.links], [moments[0], links.slice(1)])
  }
})

root.test('Enter never presses a button that changes the form', async (t) => {
  await eachForm(t, async (t, form) => {
    const visitor = await Visitor.open(t, form, { links: [{ label: 'a', parts: [{ size: 1 }] }] })
    const isDefault = (): void => {
      const first = defaultButton(visitor.form)
      t.strictSame([first.name, first.attributes.tabindex, first.attributes['aria-hidden']], ['', '-1', 'true'])
      t.strictSame(buttonsOf(visitor.form).filter(({ name }) => name === '').map(({ label }) => label),
        [first.label, first.label], 'the hidden first button has the label of the submit button')
    }
    isDefault()
    await visitor.press('post[links][?][add]')
    isDefault()
    await visitor.press('post[owner][links][?][add]')
    isDefault()
    visitor.fill({ 'post[title]': 'U' })
    t.equal((await visitor.save())?.title, 'U')
  })
})

root.test('a form of a record with many rows can be sent', async (t) => {
  const members = Object.fromEntries([...'abcdefghij'].map((name) => [name, { type: 'string' }]))
  const cases: ReadonlyArray<readonly [label: string, items: object, row: object, count: number]> = [
    ['rows with many members', { type: 'object', properties: members }, {}, 50],
    ['more rows than are shown', { type: 'object', properties: { a: { type: 'string' } } }, { a: 'x' }, 60]
  ]
  for (const [label, items, row, count] of cases) {
    const store = watchedStore()
    const rows = Array.from({ length: count }, () => row)
    await store.create({ rows }, {}, context)
    const app = await build(t, {
      name: 'posts', store, attributes: { type: 'object', properties: { rows: { type: 'array', items } } }
    })
    const form = findForm(await app.inject({ url: '/posts/1', headers: { accept: 'text/html' } }), 'PUT')
    const saved = await app.inject(submit(form))
    t.strictSame([saved.statusCode, (await store.get(1, {}, context))?.attributes.rows], [303, rows], label)
  }
})

root.test('only a page can show a form again', async (t) => {
  const store = watchedStore()
  const app = await build(t, { name: 'posts', attributes, store, writes: 'both' })
  await store.create({ title: 'T', links: [{ label: 'a' }] }, {}, context)
  store.writes.length = 0
  const bodies = ['post[title]=U&post[links][?][add]=1',
    '_method=PUT&id=1&post[title]=U&post[links][0][label]=b&post[links][?][remove]=0']
  for (const body of bodies) {
    for (const [accept, type] of [['application/json', types.problem], ['application/xml', types.xml]] as const) {
      const res = await app.inject({
        method: 'POST',
        url: '/posts',
        headers: { 'content-type': 'application/x-www-form-urlencoded', accept },
        payload: body
      })
      t.strictSame([res.statusCode, res.headers['content-type'], store.writes], [400, type, []], `${body} as ${accept}`)
    }
  }
  for (const payload of [{ post: { title: 'U', links: { '?': { add: '1' } } } }, { post: { 'links[?][add]': '1' } },
    { post: { '?': { add: 1 } } }]) {
    const res = await app.inject({ method: 'POST', url: '/posts', headers: { accept: 'text/html' }, payload })
    t.strictSame([res.statusCode, store.writes], [422, []], 'JSON has no buttons')
  }
})

root.test('an invented button gives a page and writes nothing', async (t) => {
  const bodies: ReadonlyArray<readonly [body: string, status: number]> = [
    ['post[?][?][add]=1', 422], ['post[?][remove]=title', 422], ['post[title]=T&post[?][remove]=constructor', 422],
    ['post[links][?][remove]=99', 422], ['post[links][?][remove]=', 422], ['post[links][?][remove]=__proto__', 422],
    ['post[links][?][add]=1&post[links][?][remove]=0', 422], ['post[links][?][?][add]=1', 422],
    [`post[links][${'9'.repeat(400)}][label]=a&post[links][?][add]=1`, 422],
    ['post[links][01][label]=a&post[links][1][label]=b&post[links][?][add]=1', 422], ['post[title][?][add]=1', 422],
    ['post[tags][?][add]=1', 422], ['post[any][?][add]=1', 422], ['post[owner][?][add]=1', 422],
    ['post[__proto__][?][add]=1', 422], ['post[unknown][?][add]=1', 422], ['post[links][][?][add]=1', 422],
    ['post[links]=text&post[links][0]=x&post[links][?][add]=1', 422],
    ['post[links][?]=json&post[links]=%5B&post[links][?][add]=1', 422],
    ['post[?][was]=nonsense&post[links][?][add]=1', 422], ['post[title][?][keep]=nonsense&post[links][?][add]=1', 422],
    ['[?][add]=1', 400], ['?[add]=1', 422], ['post=[?][add]', 422], [`post${'[links][0]'.repeat(5)}[?][add]=1`, 400]
  ]
  for (const options of [{ attributes }, {}]) {
    const store = watchedStore()
    const app = await build(t, { name: 'posts', store, ...options })
    await store.create({ title: 'T', links: [{ label: 'a' }] }, {}, context)
    store.writes.length = 0
    for (const [body, status] of bodies) {
      for (const before of ['', '_method=PUT&id=1&', '_method=PUT&id=1&_version=0&']) {
        const res = await app.inject({
          method: 'POST',
          url: '/posts',
          headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'text/html' },
          payload: before + body
        })
        t.strictSame([res.statusCode, res.headers['content-type'], store.writes], [status, types.html, []],
          `${before}${body.slice(0, 100)}, ${'attributes' in options ? 'with' : 'without'} a schema`)
        if (status === 422 && body.startsWith('post[')) t.equal(parseForms(res).length, 1, 'the form comes back')
      }
    }
  }
})

root.test('a button is refused like a write', async (t) => {
  const app = await build(t, { name: 'posts', attributes })
  await app.inject({ method: 'POST', url: '/posts', payload: { post: { title: 'T' } } })
  const cases: ReadonlyArray<readonly [what: string, url: string, body: string, headers: object, status: number]> = [
    ['of another site', '/posts', 'post[links][?][add]=1', { 'sec-fetch-site': 'cross-site' }, 403],
    ['of a record that there is not', '/posts', '_method=PUT&id=9&post[links][?][add]=1', {}, 404],
    ['of a record that cannot be', '/posts', '_method=PUT&id=x&post[links][?][add]=1', {}, 404],
    ['without an id', '/posts', '_method=PUT&post[links][?][add]=1', {}, 422],
    ['of a new one with an id', '/posts', 'id=1&post[links][?][add]=1', {}, 422],
    ['by no such method', '/posts', '_method=PATCH&id=1&post[links][?][add]=1', {}, 400],
    ['beside what is unknown', '/posts', 'nonsense=1&post[links][?][add]=1', {}, 422]
  ]
  for (const [what, url, payload, headers, status] of cases) {
    const res = await app.inject({
      method: 'POST',
      url,
      headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'text/html', ...headers },
      payload
    })
    t.strictSame([res.statusCode, res.headers['content-type']], [status, types.html], what)
  }
})
