import type { FastifyInstance, LightMyRequestResponse } from 'fastify'
import t, { type Test } from 'tap'
import {
  type AttributesSchema, InvalidError, memoryStore, type MemoryStore, type ResourceOptions, StoreFullError,
  UnavailableError
} from '../../../../lib/index.js'
import { build, post as keyedPost, types } from '../../../support/helper.js'
import {
  decode, fill, type Filled, findButton, findForm, hidden, send, shown, submit, visible
} from '../../../support/html/forms.js'
import { get, html, isSound, listed, post, schemaOf, seeded, strict } from '../../../support/html/page-tests.js'

/** The page of a resource with the attribute `it`, and what its form is sent with. */
class Posts {
  readonly #app: Awaited<ReturnType<typeof build>>
  readonly store: MemoryStore<any>
  body = ''

  private constructor (app: Awaited<ReturnType<typeof build>>, store: MemoryStore<any>) {
    this.#app = app
    this.store = store
  }

  static async open (
    t: Test,
    it: object,
    { required = true, row }: { readonly required?: boolean, readonly row?: Record<string, unknown> } = {}
  ): Promise<Posts> {
    const store = memoryStore<any>()
    const attributes = {
      type: 'object', properties: { it, other: { type: 'string' } }, ...(required && { required: ['it'] })
    } as AttributesSchema
    const app = await build(t, { name: 'posts', attributes, store, formats: ['html', 'json'], formPages: true })
    if (row !== undefined) store.create(row, {})
    const posts = new Posts(app, store)
    posts.body = (await app.inject({
      url: row === undefined ? '/posts/new' : '/posts/1/edit', headers: { accept: types.html }
    })).body
    return posts
  }

  get form () {
    return findForm(this.body, this.body.includes('value="PUT"') ? 'PUT' : 'POST')
  }

  /** Returns the control of the attribute as it is shown, and its hint. */
  get shown (): readonly [value: unknown, hint: string | undefined] {
    return [shown(this.form, 'post[it]'), /id="post:it!hint">([^<]*)/.exec(this.body)?.[1]]
  }

  /** The summary of errors. */
  get problems (): string[] {
    return [...this.body.matchAll(/<li><a href="#[^"]*">([^<]*)<\/a><\/li>/g)].map(([, text = '']) => text.replaceAll(
      '&quot;', '"'
    ))
  }

  async send (filled: Filled): Promise<number> {
    const { statusCode, body } = await this.#app.inject(submit(fill(this.form, filled)))
    this.body = body
    return statusCode
  }

  async reopen (): Promise<this> {
    this.body = (await this.#app.inject('/posts/1/edit.html')).body
    return this
  }

  get attributes (): Readonly<Record<string, unknown>> | undefined {
    return this.store.get(1, {})?.attributes as Readonly<Record<string, unknown>> | undefined
  }
}

const UNKNOWN = 'JSON or plain text.'
const JSON_TAKEN = 'JSON or plain text. This is JSON.'
const TEXT_TAKEN = 'JSON or plain text. This is plain text.'

t.test('a field of any value takes JSON or plain text, and says which', async (t) => {
  const cases: ReadonlyArray<readonly [typed: string, stored: unknown, hint: string, again?: string]> = [
    ['hello', 'hello', TEXT_TAKEN], ['two words, and more', 'two words, and more', TEXT_TAKEN],
    ['12 apples', '12 apples', TEXT_TAKEN], ['a line\nand another ', 'a line\nand another ', TEXT_TAKEN],
    [' tru', ' tru', TEXT_TAKEN], ['12.5', 12.5, JSON_TAKEN], ['true', true, JSON_TAKEN], ['null', null, JSON_TAKEN],
    ['"true"', 'true', JSON_TAKEN], ['"{"', '{', JSON_TAKEN], ['""', '', JSON_TAKEN], ['"  "', '  ', JSON_TAKEN],
    ['"a\\rb"', 'a\rb', JSON_TAKEN], ['"hello"', 'hello', TEXT_TAKEN, 'hello'],
    ['{"a":[1]}', { a: [1] }, JSON_TAKEN, '{\n  "a": [\n    1\n  ]\n}']
  ]
  for (const [typed, stored, hint, again = typed] of cases) {
    const posts = await Posts.open(t, {})
    t.strictSame(posts.shown, ['', UNKNOWN], 'a blank field says what it takes')
    t.equal(await posts.send({ 'post[it]': typed }), 303, typed)
    t.strictSame(posts.attributes, { it: stored })
    await posts.reopen()
    t.strictSame(posts.shown, [again, hint])
    t.equal(await posts.send({}), 303)
    t.strictSame(posts.attributes, { it: stored }, 'a form that nobody touches changes nothing')
  }
})

t.test('a text that begins like JSON must be JSON, and comes back as it was typed', async (t) => {
  for (const typed of ['{"a":', '[1,', '"open', ' {a: 1}']) {
    const posts = await Posts.open(t, {})
    t.equal(await posts.send({ 'post[it]': typed }), 422, typed)
    t.strictSame(posts.problems, ['It must be JSON'])
    t.strictSame(posts.shown, [typed, UNKNOWN])
  }
  const posts = await Posts.open(t, { type: 'object', additionalProperties: true })
  t.equal(await posts.send({ 'post[it]': 'hello' }), 422, 'a field that takes no texts takes JSON alone')
  t.strictSame(posts.problems, ['It must be JSON'])
  t.strictSame(posts.shown, ['hello', 'As JSON.'])
})

t.test('a required field that is blank says so, whatever its type', async (t) => {
  const cases: ReadonlyArray<readonly [schema: object, filled?: Filled]> = [
    [{ type: 'string', minLength: 1 }], [{ type: 'string', minLength: 3 }], [{ type: 'string', pattern: '^a+$' }],
    [{ type: 'string', format: 'email' }],
    [{ type: 'string', format: 'decimal', scale: 2 }],
    [{ type: 'string', minLength: 8, writeOnly: true }], [{ type: 'integer' }], [{ type: 'number', minimum: 1 }],
    [{ type: 'array', minItems: 1, uniqueItems: true, items: { enum: ['a', 'b'] } }],
    [{ type: 'object', additionalProperties: { type: 'integer' } }], [{ not: { type: 'null' } }]
  ]
  for (const [schema] of cases) {
    const posts = await Posts.open(t, schema)
    t.equal(await posts.send({}), 422, JSON.stringify(schema))
    t.strictSame(posts.problems, ['It must not be blank'], JSON.stringify(schema))
  }
})

t.test('a blank field inside another one says so too', async (t) => {
  const member = {
    type: 'object',
    required: ['name', 'age', 'isNew'],
    properties: { name: { type: 'string', minLength: 2 }, age: { type: 'integer' }, isNew: { type: 'boolean' } }
  }
  const typed: Filled = { name: 'Ann', age: '5', isNew: 'true' }
  const labels = { name: 'Name', age: 'Age', isNew: 'New' }
  // The check of an attribute stops at its first fault.
  for (const [blank, label] of Object.entries(labels)) {
    const filled = (at: string): Filled => Object.fromEntries(Object
      .entries(typed)
      .filter(([name]) => name !== blank)
      .map(([name, text]) => [`post[it]${at}[${name}]`, text]))
    const group = await Posts.open(t, member)
    t.equal(await group.send(filled('')), 422)
    t.strictSame(group.problems, [`It: ${label} must not be blank`])
    const rows = await Posts.open(t, { type: 'array', minItems: 2, items: member })
    t.equal(
      await rows.send({
        'post[it][0][name]': 'Ann', 'post[it][0][age]': '5', 'post[it][0][isNew]': 'true', ...filled('[1]')
      }),
      422
    )
    t.strictSame(rows.problems, [`It 2: ${label} must not be blank`])
  }
})

t.test('a field keeps the message about its value if it is not blank, may be, or was not shown', async (t) => {
  const cases: ReadonlyArray<readonly [payload: string, problems: readonly string[]]> = [
    ['post[it]=x', ['It must be an integer']],
    ['post[it]=', ['It must not be blank']],
    ['post[it]=&post[it]=', ['It is given more than once']],
    ['post[it]=&post[it][?]=nope', ['It has the unknown marker "nope"']],
    ['post[other]=x', ['It must not be blank']],
    ['post[it][a]=x', ['It must be an integer']],
    ['post[it]=1&post[list][5][n]=1&post[list][7][n]=', ['List 2: N must not be blank']],
    ['post[it]=1&post[list][2][n]=1&post[list][3][n]=x', ['List 2: N must be an integer']],
    ['post[it]=1&post[any][x.y]=', ['X.y must be an integer']],
    ['post[it]=1&post[any][__proto__]=x', ['__proto__ is not a valid name']],
    ['post[it]=1&post[text]=', ['Text must be funny', 'Text is rude']]
  ]
  const app = await build(t, {
    name: 'posts',
    formats: ['json', 'html'],
    attributes: {
      type: 'object',
      required: ['it'],
      properties: {
        it: { type: 'integer' },
        list: { type: 'array', items: { type: 'object', required: ['n'], properties: { n: { type: 'integer' } } } },
        any: { type: 'object', additionalProperties: { type: 'integer' } },
        text: { type: 'string' },
        other: { type: 'string' }
      }
    },
    actions: { create: () => { throw new InvalidError({ text: ['must be funny', 'is rude'] }) } }
  })
  for (const [payload, problems] of cases) {
    const post = (accept: string) => app.inject({
      method: 'POST',
      url: '/posts',
      headers: { accept, 'content-type': 'application/x-www-form-urlencoded' },
      payload: encodeURI(payload)
    })
    const { body } = await post(types.html)
    t.strictSame(
      [...body.matchAll(/<li><a href="#[^"]*">([^<]*)<\/a><\/li>/g)].map(([, text = '']) => text.replaceAll('&quot;',
        '"')),
      problems,
      payload
    )
    t.notMatch((await post(types.json)).body, 'must not be blank', 'programs get the fault of the value')
  }
})

t.test('an error of the store about a field whose group was not sent keeps its words', async (t) => {
  const author = schemaOf({ home: schemaOf({ name: { type: 'string' } }) })
  const attributes = schemaOf({ n: { type: 'integer' }, author })
  const create = (): never => { throw new InvalidError({ 'author.home.name': ['must be known'] }) }
  const app = await build(t, { name: 'posts', attributes, store: { ...memoryStore<any>(), create }, formats: ['html'] })
  for (const sent of ['post[n]=1', 'post[author][home][name]=Ann']) {
    t.match(await post(app, sent), { statusCode: 422, body: /must be known/ }, sent)
  }
})

t.test('a failed pattern is described by the description of the attribute', async (t) => {
  const description = 'Two letters, a hyphen and four digits, such as AB-1234.'
  const pattern = '^[A-Z]{2}-\\d{4}$'
  const cases: ReadonlyArray<readonly [schema: object, typed: string, problem: string, beside: string]> = [
    [{ type: 'string', pattern, description }, 'x', `It: ${description}`, description],
    [{ anyOf: [{ type: 'string', pattern, description }, { type: 'null' }] }, 'x', `It: ${description}`, description],
    [{ type: 'string', pattern }, 'x', `It must match ${pattern}`, `Must match ${pattern}`],
    [{ type: 'string', pattern, maxLength: 3, description }, 'AB-1234', 'It must have at most 3 characters',
      'Must have at most 3 characters'],
    [{ type: 'string', allOf: [{ pattern }], description }, 'x', `It must match ${pattern}`, `Must match ${pattern}`]
  ]
  for (const [schema, typed, problem, beside] of cases) {
    const posts = await Posts.open(t, schema)
    t.equal(await posts.send({ 'post[it]': typed }), 422)
    t.strictSame(posts.problems, [problem])
    t.match(posts.body, `<p class="error" id="post:it!error">${beside}</p>`)
    t.equal(posts.body.includes('id="post:it!description"'), 'description' in schema && beside !== description,
      'a description is not shown twice')
  }
})

t.test('a box empties a value that is never shown', async (t) => {
  const secret = { type: 'string', minLength: 3, writeOnly: true }
  const cases: ReadonlyArray<readonly [schema: object, value: unknown, typed: string, stored: unknown]> = [
    [secret, 'abcdef', 'ghijkl', 'ghijkl'],
    [{ type: 'integer', writeOnly: true }, 5, '6', 6],
    [{ type: 'object', writeOnly: true }, { a: 1 }, '{"a":2}', { a: 2 }]
  ]
  const box = 'post[it][?]'
  for (const [schema, value, typed, stored] of cases) {
    const posts = await Posts.open(t, schema, { required: false, row: { it: value, other: 'o' } })
    t.match(posts.body, />Remove it<\/label>/)
    t.equal(posts.shown[1],
      `${'minLength' in schema || typed === '6' ? '' : 'As JSON. '}Leave it blank to keep it as it is.`)
    t.equal(shown(posts.form, box), false)
    t.equal(await posts.send({}), 303)
    t.strictSame(posts.attributes, { it: value, other: 'o' }, 'a box that nobody ticks leaves the value')
    await posts.reopen()
    t.equal(await posts.send({ 'post[it]': typed, [box]: true }), 303)
    t.strictSame(posts.attributes, { it: stored, other: 'o' }, 'what is typed replaces the value')
    await posts.reopen()
    t.equal(await posts.send({ [box]: true }), 303)
    t.strictSame(posts.attributes, { other: 'o' }, 'the value is gone')
  }
  const nullable = await Posts.open(t, { ...secret, type: ['string', 'null'] }, { row: { it: 'abcdef', other: 'o' } })
  t.equal(await nullable.send({ [box]: true }), 303)
  t.strictSame(nullable.attributes, { it: null, other: 'o' }, 'a required value that may be null becomes null')
})

t.test('the box stays ticked in a form that comes back, and there is none without need', async (t) => {
  const attributes = {
    type: 'object',
    required: ['n'],
    properties: { n: { type: 'integer' }, it: { type: 'string', minLength: 3, writeOnly: true } }
  } as const
  const store = memoryStore<any>()
  store.create({ n: 1, it: 'abcdef' }, {})
  const app = await build(t, { name: 'posts', attributes, store, formats: ['html'] })
  const refused = await app.inject(submit(fill(findForm(await app.inject('/posts/1'), 'PUT'), {
    'post[n]': '', 'post[it][?]': true
  })))
  t.equal(refused.statusCode, 422)
  const again = findForm(refused, 'PUT')
  t.equal(shown(again, 'post[it][?]'), true)
  t.equal((await app.inject(submit(fill(again, { 'post[n]': '2' })))).statusCode, 303)
  t.strictSame(store.get(1, {})?.attributes, { n: 2 })
})

/** Returns the links of the error summary, each with its text. */
function summaryOf (page: string): Array<[href: string | undefined, text: string]> {
  const [, summary = ''] = /<div class="problem"[^>]*>[^]*?<ul>([^]*?)<\/ul>/.exec(page) ?? []
  return [...summary.matchAll(/<li>(?:<a href="([^"]*)">)?([^<]*)/g)].map(([, href, text = '']) => [href, decode(text)])
}

t.test('an invalid form comes back with all typed values, and shows each error beside its field', async (t) => {
  const sent = [
    ['post[title]', 'x'], ['post[rating]', '9 '], ['post[rating][?]', 'null'], ['post[state]', 'zzz'],
    ['post[many]', 'g'], ['post[boxes][]', ''], ['post[boxes][]', 'x'], ['post[boxes][]', 'y'],
    ['post[lines]', '1\r\ntwo'],
    ['post[at]', '2026-02-31T12:00'], ['post[at][?][offset]', '+02:00'], ['post[mail]', 'no address'],
    ['post[agreed]', 'false'], ['post[author][name]', 'N'], ['post[author][age]', 'old'],
    ['post[people]', ''], ['post[people][0][name]', 'Ann'], ['post[people][1][name]', 'B'], ['post[json]', '{"a":"b"}'],
    ['post[json][?]', 'json'], ['post[secret]', 'SECR'], ['post[note]', '\r\n kept <b> ']
  ] as const
  for (const [
    method, title, heading
  ] of [['POST', 'Problem: New post – Posts', 'New post'],
      ['PUT', 'Problem: Edit post 1 – Posts', 'Edit post 1']] as const) {
    await t.test(method, async (t) => {
      const { app } = await seeded(t, [{ title: 'Old' }], { attributes: strict })
      const res = await app.inject(send({ action: '/posts', method: 'post', controls: [] },
        method === 'PUT' ? [['_method', 'PUT'], ['id', '1'], ['_version', '1'], ...sent] : sent, html))
      const elements = isSound(t, res, 422)
      t.equal(elements.find(({ name }) => name === 'title')?.text, title)
      t.equal(elements.find(({ name }) => name === 'h1')?.text, heading)
      t.notMatch(res.body, 'SECR')
      const again = findForm(res, method)
      for (const [
        name, value
      ] of Object.entries({
          'post[title]': 'x',
          'post[lines]': '1\ntwo',
          'post[at]': '',
          'post[mail]': 'no address',
          'post[author][name]': 'N',
          'post[author][age]': '',
          'post[people][0][name]': 'Ann',
          'post[people][1][name]': 'B',
          'post[json]': '{"a":"b"}',
          'post[note]': '\n kept <b> '
        })) {
        const [control] = visible(again, name)
        // A control that takes only valid text would empty itself, so invalid text needs a control that takes any.
        t.equal(control?.attributes.value ?? control?.value,
          name === 'post[at]' ? '2026-02-31T12:00' : name === 'post[author][age]' ? 'old' : value, name)
      }
      t.equal(shown(again, 'post[rating]'), '9 ')
      t.equal(shown(again, 'post[state]'), 'zzz', 'an invalid option is offered once more, as it was sent')
      t.equal(shown(again, 'post[many]'), 'g')
      t.strictSame(shown(again, 'post[boxes][]'), ['x', 'y'])
      t.equal(visible(again, 'post[secret]')[0]?.attributes.value, '')
      t.match(res.body, 'Type it again: it is never shown.')
      const summary = summaryOf(res.body)
      t.strictSame(
        summary.map(([href]) => href),
        [
          '#post:title', '#post:rating', '#post:state', '#post:many', '#post:boxes', '#post:lines', '#post:at',
          '#post:mail', '#post:agreed', '#post:author:name', '#post:author:age', '#post:people', '#post:people:1:name',
          '#post:json', '#post:secret'
        ].filter((href) => summary.some(([other]) => other === href))
      )
      t.match(new Map(summary.map(([href, text]) => [href, text])), new Map([
        ['#post:title', 'The title must have at least 2 characters'],
        ['#post:rating', 'Rating must be at most 5'],
        ['#post:lines', 'Line 2 must be an integer'],
        ['#post:author:age', 'Author: Age must be an integer'],
        ['#post:secret', 'Secret must have at least 5 characters']
      ]))
      // The summary is the first element of the content, so that nobody overlooks it.
      t.match(
        res.body,
        new RegExp('<main id="main">\\s*<h1>[^<]*</h1>\\s*<div class="problem" ' +
          'role="alert" tabindex="-1" autofocus="autofocus" aria-labelledby="problem-heading">')
      )
      for (const [href = ''] of summary) {
        const target = elements.find(({ attributes }) => attributes.id === decodeURIComponent(href.slice(1)))
        t.ok(target !== undefined && ['input', 'select', 'textarea', 'fieldset'].includes(target.name), href)
        const message = elements.find(({ attributes }) => attributes.id === `${href.slice(1)}!error`)
        t.equal(message?.name, 'p', `${href} has its message`)
        t.ok(
          elements.some(({ attributes }) => (attributes['aria-describedby'] ?? '').split(' ').includes(
            `${href.slice(1)}!error`
          )),
          `the message describes ${href}`
        )
        if (target?.name !== 'fieldset' &&
          !['radio', 'checkbox', 'datetime-local'].includes(target?.attributes.type ?? '')) {
          t.equal(target?.attributes['aria-invalid'], 'true', href)
        }
      }
      t.strictSame(
        elements.filter(({ attributes }) => attributes['aria-invalid'] !== undefined).filter(({ attributes }) =>
          !summary.some(
            ([href]) => href === `#${String(attributes.id)}`
          )),
        [],
        'no other field has an error'
      )
    })
  }
})

t.test('an error without a field is shown as well', async (t) => {
  const { app } = await seeded(t, [{ title: 'Old' }], { attributes: strict })
  const cases: Array<[payload: string, says: string[], kept: string | undefined]> = [
    ['post[title]=ok&post[titel]=x', ['titel is unknown; did you mean "title"?'], 'ok'],
    ['post[title]=ok&post[<b>]=x', ['<b> is unknown'], 'ok'],
    ['post[title]=ok&post[author][name]=Ann&post[author][nope]=x', ['author.nope is unknown; did you mean "name"?'],
      'ok'],
    ['post[title]=ok&post[people][0][name]=Ann&post[people][0][nope]=x',
      ['people.0.nope is unknown; did you mean "name"?'], 'ok'],
    ['post[title]=ok&post[lines][]=1&post[lines][]=x', ['Line 2 must be an integer'], 'ok']
  ]
  for (const [payload, says, kept] of cases) {
    const res = await post(app, payload.replaceAll('<', '%3C').replaceAll('>', '%3E'))
    isSound(t, res, 422, payload)
    for (const text of says) {
      t.ok(summaryOf(res.body).some(([, found]) => found === text),
        `${payload}: ${JSON.stringify(summaryOf(res.body))}`)
    }
    t.equal(shown(findForm(res, 'POST'), 'post[title]'), kept)
  }
  const page = await post(app, 'post[title]=ok&psot[title]=x')
  isSound(t, page, 422)
  t.match(page.body, '<h1>Psot is unknown beside &quot;post&quot;; did you mean &quot;post&quot;?')
})

t.test('a taken value is reported beside its field, and no typed value is lost', async (t) => {
  const attributes = schemaOf({ title: { type: 'string', maxLength: 9 }, body: { type: 'string' } })
  const { app } = await seeded(
    t, [{ title: 'A', body: '' }, { title: 'B', body: 'b' }], { attributes, unique: ['title'] }
  )
  for (const [method, at] of [['POST', '/posts'], ['PUT', '/posts/2']] as const) {
    const before = findForm(await get(app, at), method)
    const res = await app.inject(submit(fill(before, { 'post[title]': 'A', 'post[body]': '\n typed' }), undefined,
      html))
    const elements = isSound(t, res, 409)
    t.match(elements.find(({ name }) => name === 'title')?.text, /^Problem: /)
    t.strictSame(summaryOf(res.body), [['#post:title', 'Title is already taken']])
    t.equal(elements.find(({ attributes }) => attributes.id === 'post:title!error')?.text, 'Is already taken')
    const again = findForm(res, method)
    t.strictSame([shown(again, 'post[title]'), shown(again, 'post[body]')], ['A', '\n typed'])
    t.equal((await app.inject(submit(fill(again, { 'post[title]': method }), undefined, html))).statusCode, 303)
  }
  t.match((await app.inject('/posts.json')).json(), {
    posts: [{ title: 'A' }, { title: 'PUT', body: '\n typed' }, { title: 'POST', body: '\n typed' }]
  })
})

t.test('a form that comes back keeps its version, so that no concurrent change is lost', async (t) => {
  const { app, store } = await seeded(
    t, [{ title: 'Old', note: 'n' }, { title: 'Taken' }], { attributes: strict, unique: ['title'] }
  )
  const change = (note: string): unknown => store.update(1, { note }, { version: undefined, scope: {} })
  for (const [title, status] of [['x', 422], ['Taken', 409]] as const) {
    const version = store.get(1, {})?.version
    const opened = findForm(await get(app, '/posts/1'), 'PUT')
    if (status === 422) change('theirs 422')
    const res = await app.inject(submit(fill(opened, { 'post[title]': title }), undefined, html))
    isSound(t, res, status)
    change(`theirs ${status}`)
    const again = findForm(res, 'PUT')
    t.equal(hidden(again, '_version'), version)
    t.equal(hidden(again, 'post[?][was]'), hidden(opened, 'post[?][was]'))
    t.equal(shown(again, 'post[note]'), shown(opened, 'post[note]'), 'the page shows the typed value')
    isSound(t, await app.inject(submit(fill(again, { 'post[title]': 'Better' }), undefined, html)), 412)
    t.equal(store.get(1, {})?.attributes.note, `theirs ${status}`)
  }
})

t.test('an attribute that a form left out or kept as theirs is not blank when the form comes back', async (t) => {
  for (const payload of ['post[title]=typed&post[body]=mine&post[body][?][keep]=theirs', 'post[title]=typed']) {
    let isDown = true
    const { app, store } = await seeded(t, [{ title: 'T', body: 'precious' }], {
      attributes: schemaOf({ title: { type: 'string' }, body: { type: 'string' } }, ['title', 'body']),
      wrap: (store) => ({
        ...store,
        update (id, changes, guard) {
          if (isDown) throw new UnavailableError()
          return store.update(id, changes, guard)
        }
      })
    })
    const res = await post(app, `_method=PUT&id=1&_version=1&${payload}`)
    isSound(t, res, 503, payload)
    const form = findForm(res, 'PUT')
    t.equal(shown(form, 'post[title]'), 'typed')
    isDown = false
    await app.inject(submit(form, undefined, html))
    t.match(store.get(1, {})?.attributes, { title: 'typed', body: 'precious' })
  }
})

t.test('a form comes back with the typed values if the store is unavailable', async (t) => {
  for (const [status, ErrorClass] of [[503, UnavailableError], [507, StoreFullError], [500, Error]] as const) {
    const { app } = await seeded(t, [{ title: 'T' }], {
      attributes: listed, wrap: (store) => ({ ...store, create () { throw new ErrorClass() } })
    })
    const res = await post(app, { 'post[title]': '<typed>' })
    isSound(t, res, status)
    t.equal(shown(findForm(res, 'POST'), 'post[title]'), '<typed>')
  }
})

t.test('a form that could not be sent with another row has no button for one', async (t) => {
  const members = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`m${index}`, { type: 'string' }]))
  const { app } = await seeded(t, [], {
    attributes: schemaOf({ rows: { type: 'array', items: { type: 'object', properties: members } } })
  })
  let page = await get(app, '/posts')
  let presses = 0
  for (;;) {
    const form = findForm(page, 'POST')
    if (!form.controls.some(({ name }) => name === 'post[rows][?][add]')) break
    page = await app.inject(submit(form, findButton(form, 'post[rows][?][add]'), html))
    isSound(t, page, 422)
    presses++
  }
  t.ok(presses > 5, String(presses))
  t.equal((await app.inject(submit(findForm(page, 'POST'), undefined, html))).statusCode, 303)
})

const FORM = 'application/x-www-form-urlencoded'
const KEY = /<input type="hidden" name="_key" value="([^"]*)"\/>/

const open = (options: Partial<ResourceOptions> = {}): ResourceOptions =>
  ({ name: 'posts', attributes: keyedPost, idempotency: {}, ...options })

async function keyOf (app: FastifyInstance, url: string): Promise<string | undefined> {
  const { body } = await app.inject({ url, headers: { accept: 'text/html' } })
  return KEY.exec(body)?.[1]
}

const submitWithKey = async (app: FastifyInstance, payload: string): Promise<LightMyRequestResponse> =>
  app.inject({ method: 'POST', url: '/posts', payload, headers: { 'content-type': FORM, accept: 'text/html' } })

t.test('each form for a new row has a key of its own, if keys are kept', async (t) => {
  for (const [options, url] of [[{}, '/posts'], [{ formPages: true }, '/posts/new']] as const) {
    const app = await build(t, open(options))
    const keys = [await keyOf(app, url), await keyOf(app, url)]
    for (const key of keys) t.match(key, /^[\da-f-]{36}$/)
    t.not(keys[0], keys[1])
    const without = await build(t, { name: 'posts', attributes: keyedPost, ...options })
    t.equal(await keyOf(without, url), undefined)
  }
  const app = await build(t, open())
  await submitWithKey(app, 'post[title]=A')
  t.equal(await keyOf(app, '/posts/1'), undefined, 'the form of a row has its version')
})

t.test('a double click creates one row', async (t) => {
  const app = await build(t, open())
  const payload = `_key=${String(await keyOf(app, '/posts'))}&post[title]=A`
  const answers = await Promise.all([submitWithKey(app, payload), submitWithKey(app, payload)])
  t.strictSame(answers.map(({ statusCode, headers }) => [statusCode, headers.location]),
    [[303, '/posts/1'], [303, '/posts/1']])
  const again = await submitWithKey(app, `${payload}&commit=another`)
  t.equal(again.statusCode, 422, 'another button is another form')
  t.equal((await app.inject('/posts.json')).json().posts.length, 1)
})

t.test('a faulty form keeps its key, because it has written nothing', async (t) => {
  const app = await build(t, open())
  const faulty = await submitWithKey(app, '_key=k&post[title]=')
  t.strictSame([faulty.statusCode, KEY.exec(faulty.body)?.[1]], [422, 'k'])
  t.equal((await submitWithKey(app, '_key=k&post[title]=A')).statusCode, 303)
  const added = await submitWithKey(app, '_key=k2&post[title]=B&post[tags][%3F][add]=1')
  t.strictSame([added.statusCode, KEY.exec(added.body)?.[1]], [422, 'k2'])
  const twice = await submitWithKey(app, '_key=k&_key=k&post[title]=A')
  t.strictSame([twice.statusCode, /&quot;_key&quot; must have 1 to 255/.test(twice.body)], [400, true])
})

t.test('a form that was saved, and is sent with other values, offers to save another row', async (t) => {
  const app = await build(t, open())
  t.equal((await submitWithKey(app, '_key=k&post[title]=A')).statusCode, 303)
  const { statusCode, body } = await submitWithKey(app, '_key=k&post[title]=B')
  t.equal(statusCode, 422)
  t.match(body, '<li><a href="/posts/1">This was saved already</a></li>')
  t.match(body, '<button type="submit" class="primary">Save it as another one</button>')
  t.match(body, 'value="B"')
  t.notMatch(body, 'value="another"')
  const key = KEY.exec(body)?.[1]
  t.match(key, /^[\da-f-]{36}$/)
  const unshown = await build(t, open({ except: ['show'] }))
  await submitWithKey(unshown, '_key=k&post[title]=A')
  t.match((await submitWithKey(unshown, '_key=k&post[title]=B')).body, '<li>This was saved already</li>')
  const other = await submitWithKey(app, `_key=${String(key)}&post[title]=B`)
  t.strictSame([other.statusCode, other.headers.location], [303, '/posts/2'])
})
