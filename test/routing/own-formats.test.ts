import fastify, { type FastifyInstance, type InjectOptions } from 'fastify'
import t, { type Test } from 'tap'
import resources, {
  type Format, type Mapper, memoryStore, type Outcome, type Prepared, type Row, type Services,
  type View, type Writer
} from '../../lib/index.js'
import { build, draft, propertiesOf, send } from '../support/helper.js'
import { plainTag } from '../support/plain-tag.js'
import { resettableStore } from '../support/stores/resettable-store.js'

const form = 'application/x-www-form-urlencoded'
const name = 'posts'
const attributes = {
  type: 'object',
  required: ['title'],
  properties: { title: { type: 'string', minLength: 1 }, rating: { type: 'integer' } }
} as const

const ATTRIBUTES = 'FST_RESOURCES_INVALID_ATTRIBUTES'

t.test('a writeOnly value is never sent, at any depth', async t => {
  const secret = { type: 'string', writeOnly: true } as const
  const account = { type: 'object', properties: { name: { type: 'string' }, secret } } as const
  const value = { name: 'N', secret: 'swordfish' }
  const cases: [name: string, schema: object, value: unknown][] = [
    ['at the top', secret, 'swordfish'],
    ['in an object', account, value],
    ['in an object that may be null', { anyOf: [account, { type: 'null' }] }, value],
    ['in the items of an array', { type: 'array', items: account }, [value]],
    ['in two objects', { type: 'object', properties: { inner: account } }, { inner: value }],
    ['in a part of allOf', { allOf: [account, { type: 'object', properties: { more: { type: 'string' } } }] }, value],
    ['in one of several alternatives',
      { anyOf: [account, { type: 'object', properties: { other: { type: 'string' } }, required: ['other'] }] }, value],
    ['in an alternative to text', { anyOf: [account, { type: 'string' }] }, value],
    ['in what is not declared by name', { type: 'object', additionalProperties: account }, { key: value }],
    ['in what is declared by a pattern', { type: 'object', patternProperties: { '^k': account } }, { key: value }],
    ['in the first of a tuple', { type: 'array', items: [account] }, [value]],
    ['beside what is declared by a pattern',
      { type: 'object', patternProperties: { '^s_': { type: 'string' } }, additionalProperties: account },
      { key: value }],
    ['in lists beside what is declared by a pattern',
      {
        type: 'object',
        patternProperties: { '^s_': { type: 'string' } },
        additionalProperties: { type: 'array', items: account }
      }, { key: [value] }],
    ['in the items of another part of allOf',
      { allOf: [{ type: 'array', items: { type: 'object' } }, { items: account }] }, [value]],
    ['in the members of another part of allOf',
      { allOf: [{ additionalProperties: { type: 'object' } }, { additionalProperties: account }] }, { key: value }],
    ['in a part of allOf whose other has none',
      { allOf: [{ type: 'object', additionalProperties: account }, { additionalProperties: true }] }, { key: value }],
    ['in a part of allOf that has no more',
      { allOf: [{ ...account, additionalProperties: false }, { additionalProperties: { type: 'string' } }] }, value],
    ['in a part of allOf that has no more, after another',
      { allOf: [{ additionalProperties: { type: 'string' } }, { ...account, additionalProperties: false }] }, value],
    ['in an object or in anything', { anyOf: [{ type: 'object', additionalProperties: account }, {}] }, { key: value }],
    ['in one of two objects',
      {
        anyOf: [{ type: 'object', properties: { kind: { const: 'a' } }, additionalProperties: account },
          { type: 'object' }]
      }, { kind: 'a', key: value }]
  ]
  const store = resettableStore(memoryStore)
  const app = await build(t, {
    name, attributes: { type: 'object', properties: propertiesOf(cases.map(([, schema]) => schema)) }, store
  })
  for (const [index, [label, , supplied]] of cases.entries()) {
    for (const kind of ['xml', 'json', 'html'] as const) {
      await t.test(`${label}, ${kind}`, async t => {
        store.reset()
        const created = await app.inject(send('POST', `/posts.${kind}`, 'application/json',
          JSON.stringify({ post: { [`it${index}`]: supplied } })))
        t.ok([201, 303].includes(created.statusCode), created.body)
        for (const res of [created, await app.inject(`/posts/1.${kind}`), await app.inject(`/posts.${kind}`),
          await app.inject({
            method: 'PUT', url: `/posts.${kind}`, headers: { 'if-match': '"9"' }, payload: { id: 1, post: {} }
          })]) {
          t.notMatch(res.body, 'swordfish')
        }
      })
    }
  }
})

t.test('a format of the app never gets a writeOnly value: in rows, outcomes, views, frames and forms', async t => {
  const attributes = {
    type: 'object',
    required: ['title'],
    properties: { title: { type: 'string', minLength: 1 }, secret: { type: 'string', writeOnly: true } }
  } as const
  const seen: string[] = []
  const see = (...given: readonly unknown[]): string => {
    seen.push(JSON.stringify(given, (name, value: unknown) => ['request', 'node'].includes(name) ? undefined : value))
    return 'text'
  }
  const note = (...given: readonly unknown[]): string =>
    see(...given.map((part) => Object(part).request === undefined ? part : { ...Object(part) }))
  const own: Format = {
    name: 'own',
    mediaTypes: ['text/html'],
    browser: true,
    compileWriter: () => ({
      prepare: async (outcome, services) => ({
        content: [note(outcome),
          await Promise.all(services.lists.map(async (find) =>
            find({ id: 1, version: '1', attributes: {} }, services)))]
      }),
      prepareProblem: async (problem, services) => {
        const row = await services.formRow()
        return { content: note(problem, row), row }
      },
      record: note,
      stale: note,
      revised: note,
      blank: note,
      edit: note,
      problem: note,
      title: note,
      table: note,
      page: note,
      frame: (first, view) => {
        note(first, view)
        return { open: '', row: (row) => note(row), separator: '', close: '' }
      }
    })
  }
  const store = memoryStore()
  for (let index = 0; index < 3; index++) store.create({ title: 'a'.repeat(700_000), secret: 'swordfish' }, {})
  const app = await build(t, { name: 'posts', attributes, store, formats: [own], formPages: true })
  const asForm = (payload: string): InjectOptions => ({
    method: 'POST', url: '/posts', headers: { 'content-type': 'application/x-www-form-urlencoded' }, payload
  })
  const requests: Array<InjectOptions | string> = ['/posts', '/posts/1', '/posts/1/edit', '/posts/new',
    asForm('_method=PUT&id=1&_version=9&post[title]=b'), asForm('_method=PUT&id=1&_version=1&post[title]='),
    asForm('_method=PUT&id=9&post[title]=b')]
  for (const request of requests) await app.inject(request)
  t.ok(seen.length >= 14, `${seen.length} calls`)
  t.ok(seen.some((text) => text.includes('"row":{')), 'a form has its row')
  t.strictSame(seen.filter((text) => text.includes('swordfish')), [])
})

t.test('a format of the app gets no writeOnly value in choices, in an import and in members of its own', async (t) => {
  const seen: string[] = []
  const see = (name: string, ...given: readonly unknown[]): string => {
    const text = JSON.stringify(given, (key, value: unknown) => ['request', 'file'].includes(key) ? undefined : value)
    seen.push(`${name} ${text}`)
    return 'text'
  }
  class Own {
    async prepare (outcome: Outcome, services: Services): Promise<Prepared> {
      see('prepare', outcome, services.formRow === undefined ? undefined : await services.formRow())
      const [choices] = services.choices
      return { content: (await choices?.search({}, services))?.write((field) => field) }
    }

    record (...given: unknown[]): string { return see('record', this.mine(given[0] as Row)) }
    edit (...given: unknown[]): string { return see('edit', ...given) }
    blank (): string { return 'text' }
    imported (...given: unknown[]): string { return see('imported', ...given) }
    page (...given: unknown[]): string { return see('page', ...given) }
    problem (...given: unknown[]): string { return see('problem', ...given) }
    title ({ id }: Row): string { return String(id) }
    choices (...given: unknown[]): string { return see('choices', ...given) }
    mine (row: Row): Row { return row }
  }
  const importing: Format['importing'] = {
    rows: 9,
    bytes: 9999,
    bodyLimit: 9999,
    parse: async (content) =>
      ({ step: 'preview', content, isTyped: false, match: '', without: [], key: undefined })
  }
  const own: Format = {
    name: 'own', mediaTypes: ['text/html'], browser: true, importing, compileWriter: () => new Own()
  }
  const app = await draft(t, (map) => map.scope({ formats: [own, 'json'], formPages: true }, (map: Mapper) => {
    map.resources('authors', {
      store: memoryStore(),
      attributes: {
        type: 'object', properties: { name: { type: 'string' }, secret: { type: 'string', writeOnly: true } }
      }
    })
    map.resources('books', {
      references: { authorId: 'authors' }, attributes: { type: 'object', properties: { authorId: { type: 'integer' } } }
    })
  }))
  const author = { name: 'Ann', secret: 'swordfish' }
  await app.inject({ method: 'POST', url: '/authors.json', payload: { author } })
  for (const request of ['/authors/1', '/authors/1/edit', '/books/new', {
    method: 'POST' as const,
    url: '/authors/import',
    headers: { 'content-type': 'multipart/form-data; boundary=b', accept: 'text/html' },
    payload: 'name,secret\nBob,swordfish\n'
  }]) {
    t.ok((await app.inject(request)).statusCode < 500, JSON.stringify(request).slice(0, 50))
  }
  for (const name of ['record', 'edit', 'choices', 'imported', 'prepare [{"kind":"importing","preview"']) {
    t.ok(seen.some((text) => text.startsWith(name)), name)
  }
  t.strictSame(seen.filter((text) => text.includes('swordfish')), [])
})

t.test('a value is never sent if any part of the schema makes it writeOnly', async t => {
  const secret = { type: 'string', writeOnly: true } as const
  const cases: [name: string, schema: object, value: unknown][] = [
    ['a later part of allOf', {
      allOf: [{ type: 'object', properties: { secret: { type: 'string' } } },
        { type: 'object', properties: { secret: { writeOnly: true } } }]
    }, { secret: 'swordfish' }],
    ['an earlier part of allOf', {
      allOf: [{ type: 'object', properties: { secret: { writeOnly: true } } },
        { type: 'object', properties: { secret: { type: 'string' } } }]
    }, { secret: 'swordfish' }],
    ['one of several scalar alternatives', { anyOf: [secret, { type: 'integer' }] }, 'swordfish'],
    ['the member of one of several alternatives',
      {
        anyOf: [{ type: 'object', properties: { secret } },
          { type: 'object', properties: { secret: { type: 'integer' } } }]
      }, { secret: 'swordfish' }],
    ['an alternative to anything', { anyOf: [{ type: 'object', properties: { secret } }, true] },
      { secret: 'swordfish' }],
    ['the values of a record', { type: 'object', additionalProperties: secret }, { key: 'swordfish' }],
    ['the items of an array', { type: 'array', items: secret }, ['swordfish']],
    ['what follows a tuple',
      { type: 'array', items: [{ type: 'string' }], additionalItems: { type: 'object', properties: { secret } } },
      ['a', { secret: 'swordfish' }]],
    ['a condition', {
      type: 'object',
      properties: { kind: {} },
      additionalProperties: true,
      if: { required: ['kind'] },
      then: { properties: { secret } }
    }, { kind: 1, secret: 'swordfish' }]
  ]
  for (const [label, schema, supplied] of cases) {
    const app = fastify()
    t.teardown(() => app.close())
    app.register(resources, { name, attributes: { type: 'object', properties: { account: schema } } })
    try {
      await app.ready()
    } catch (error) {
      t.equal((error as { code?: string }).code, ATTRIBUTES, `${label}: the schema throws at registration`)
      continue
    }
    t.equal((await app.inject(send('POST', '/posts', 'application/json',
      JSON.stringify({ post: { account: supplied } })))).statusCode, 201)
    for (const kind of ['xml', 'json', 'html']) {
      t.notMatch((await app.inject(`/posts/1.${kind}`)).body, 'swordfish', `${label}, ${kind}`)
    }
  }
})

t.test('a custom format that fails to write an error reveals nothing of it', async t => {
  const log: string[] = []
  const fail = (): never => { throw new Error('secret') }
  const broken: Format = {
    name: 'csv',
    mediaTypes: ['text/csv'],
    compileWriter: () => ({ record: fail, problem: fail, list: { open: '', row: fail, separator: '', close: '' } })
  }
  const store = memoryStore()
  store.create({ title: 'T' }, {})
  const app = await build(t, { name, attributes, store, formats: ['json', broken] },
    {
      server: {
        logger: {
          level: 'error',
          stream: {
            write: (line: string) => {
              log.push(line)
            }
          }
        }
      }
    })
  for (const url of ['/posts/1.csv', '/posts.csv', '/posts/2.csv', '/posts.csv?x=1']) {
    log.length = 0
    const res = await app.inject(url)
    t.equal(res.statusCode, 500, url)
    t.notMatch(res.body, 'secret')
    t.ok(log.some((line) => line.includes('secret')), 'the failure is logged')
  }
  t.equal((await app.inject('/posts/1')).statusCode, 200)
})

function escapeCsv (value: unknown): string {
  return `"${String(value ?? '').replaceAll('"', '""')}"`
}

t.test('a custom format may write lists', async t => {
  const format: Format = {
    name: 'csv',
    mediaTypes: ['text/csv', 'application/csv'],
    compileWriter ({ attributes }): Writer {
      const names = [...attributes.keys()]
      const row = ({ id, attributes }: Row): string =>
        `${[id, ...names.map((name) => escapeCsv(attributes[name]))].join(',')}\n`
      const head = `id,${names.join(',')}\n`
      return {
        record: (stored, { mediaType }) => `${mediaType}\n${head}${row(stored)}`,
        problem: ({ status, detail }, { mediaType }) => `${mediaType}\nstatus,detail\n${status},${escapeCsv(detail)}\n`,
        list: { open: head, row, separator: '--\n', close: 'end\n' }
      }
    },
    compileReader ({ singular }) {
      return {
        form: false,
        typed: false,
        parse (body) {
          const [names = '', values = ''] = body.toString().split('\n')
          const cells = values.split(',')
          return { [singular]: Object.fromEntries(names.split(',').map((name, index) => [name, cells[index] ?? ''])) }
        },
        entries: (node: Record<string, string>) => node,
        scalar: (node: string) => node,
        compile: ({ types }) => (node: string, path, issues) => {
          if (!types.has('integer')) return node
          if (/^\d+$/.test(node)) return Number(node)
          issues.add(path, 'must be digits')
          return undefined
        }
      }
    }
  }
  const csv = 'text/csv; charset=utf-8'

  await t.test('it reads and writes', async t => {
    const app = await build(t, { name, attributes, formats: ['json', format], writes: 'both' })
    const created = await app.inject(send('POST', '/posts', 'text/csv', 'title,rating\nT,5'))
    t.strictSame([created.statusCode, created.headers['content-type'], created.headers.location,
      plainTag(created.headers.etag)], [201, csv, '/posts/1', '"1.csv"'])
    t.equal(created.body, 'text/csv\nid,title,rating\n1,"T","5"\n')
    t.strictSame((await app.inject('/posts/1')).json(), { post: { id: 1, title: 'T', rating: 5 } },
      'a client without Accept gets the first format')
    const updated = await app.inject(send('PUT', '/posts/1', 'application/csv', 'id,title\n1,a "b"'))
    t.strictSame([updated.statusCode, updated.headers['content-type'], updated.body],
      [200, csv, 'text/csv\nid,title,rating\n1,"a ""b""","5"\n'])
    for (const request of [{ url: '/posts/1.csv' }, { url: '/posts/1?format=csv' },
      { url: '/posts/1', headers: { accept: 'text/csv' } }]) {
      t.strictSame(((res) => [res.statusCode, res.headers['content-type'], res.body])(await app.inject(request)),
        [200, csv, 'text/csv\nid,title,rating\n1,"a ""b""","5"\n'])
    }
    const asked = await app.inject({ url: '/posts/1', headers: { accept: 'application/csv' } })
    t.strictSame([asked.headers['content-type'], asked.body.split('\n')[0]],
      ['application/csv; charset=utf-8', 'application/csv'])
    t.equal((await app.inject({ url: '/posts/1.csv', headers: { 'if-none-match': '*' } })).statusCode, 304)
    t.equal((await app.inject({ method: 'DELETE', url: '/posts/1.csv' })).statusCode, 204)
  })

  await t.test('it lists, in pages and in streams', async t => {
    const store = memoryStore()
    for (let id = 1; id <= 3000; id++) store.create({ title: `T${id}` }, {})
    const app = await build(t, { name, attributes, store, formats: [format] })
    const page = await app.inject('/posts?limit=2')
    t.strictSame([page.statusCode, page.headers['content-type'], page.body],
      [200, csv, 'id,title,rating\n1,"T1",""\n--\n2,"T2",""\nend\n'])
    t.match(page.headers.link, /<\/posts\?limit=2&after=\w+>; rel="next"/)
    const whole = await app.inject('/posts.csv')
    t.equal(whole.body, `id,title,rating\n${Array.from({ length: 3000 }, (_, index) =>
      `${index + 1},"T${index + 1}",""\n`).join('--\n')}end\n`)
    const none = await build(t, { name, attributes, formats: [format] })
    t.equal((await none.inject('/posts')).body, 'id,title,rating\nend\n')
  })

  await t.test('it writes errors', async t => {
    const app = await build(t, { name, attributes, formats: [format, 'json'] })
    const cases: [request: InjectOptions, status: number, detail: string][] = [
      [{ url: '/posts/9' }, 404, 'there is no post with the id 9'],
      [send('POST', '/posts', 'text/csv', 'title,rating\n,five'), 422,
        'rating must be digits; title must not be blank'],
      [send('POST', '/posts', 'text/csv', 'titel\nT'), 422,
        'titel is unknown; did you mean ""title""?; title must be given'],
      [{ url: '/posts?x=1' }, 400, 'the parameter ""x"" is unknown'],
      [{ url: '/posts', headers: { accept: 'text/html' } }, 406,
        'none of the types in Accept is available here; choose one of text/csv, application/csv (csv); ' +
          'application/json (json)']
    ]
    for (const [request, status, detail] of cases) {
      const res = await app.inject(request)
      t.strictSame([res.statusCode, res.headers['content-type'], res.body],
        [status, csv, `text/csv\nstatus,detail\n${status},"${detail}"\n`])
    }
    const stale = await app.inject({ method: 'POST', url: '/posts', payload: { post: { title: 'T' } } })
    t.equal(stale.statusCode, 201)
    const res = await app.inject({
      method: 'PUT', url: '/posts.csv', headers: { 'if-match': '"7"' }, payload: { id: 1, post: { title: 'U' } }
    })
    t.strictSame([res.statusCode, res.headers['content-type'], res.body],
      [412, csv, 'text/csv\nid,title,rating\n1,"T",""\n'],
      'a stale write is answered with the record unless the format writes it otherwise')
  })

  await t.test('a format that cannot read gives a 415', async t => {
    const { compileReader, ...written } = format
    t.type(compileReader, 'function')
    const app = await build(t, { name, attributes, formats: ['json', written] })
    const res = await app.inject(send('POST', '/posts', 'text/csv', 'title\nT'))
    t.strictSame([res.statusCode, res.headers.accept], [415, 'application/json'])
    t.equal((await app.inject('/posts.csv')).headers['content-type'], csv)
  })
})

t.test('a custom format may write pages', async t => {
  const show = ({ id, attributes }: Row): string => `${id}: ${String(attributes.title)}\n`
  const seen: View[] = []
  const format = (browser: boolean): Format => ({
    name: 'txt',
    mediaTypes: ['text/plain'],
    browser,
    compileWriter: ({ plural }) => ({
      record: show,
      stale: (current) => `theirs is ${show(current)}`,
      prepareProblem: async (_problem, services) => ({ content: undefined, row: await services.formRow() }),
      problem (problem, view) {
        seen.push(view)
        return `${problem.status} ${problem.title}\n`
      },
      page: (rows, { next, mediaType, input }) => `${plural} as ${mediaType}${input === undefined
        ? ''
        : ' of a form'}\n${rows.map(show).join('')}next: ${String(next)}\n`
    })
  })
  const text = 'text/plain; charset=utf-8'

  async function seeded (t: Test, browser: boolean): Promise<FastifyInstance> {
    const store = memoryStore({ unique: ['title'] })
    for (const title of ['a', 'b', 'c']) store.create({ title }, {})
    return await build(t, { name, attributes, store, formats: [{ ...format(browser), pageSize: 2 }, 'json'] })
  }

  await t.test('pages of documents', async t => {
    const app = await seeded(t, false)
    const first = await app.inject('/posts')
    const next = /<([^>]+)>; rel="next"/.exec(String(first.headers.link))?.[1] ?? ''
    t.strictSame([first.statusCode, first.headers['content-type'], first.body],
      [200, text, `posts as text/plain\n1: a\n2: b\nnext: ${next}\n`])
    t.equal((await app.inject(next)).body, 'posts as text/plain\n3: c\nnext: undefined\n')
    t.equal((await app.inject('/posts/1')).body, '1: a\n')
    const created = await app.inject({ method: 'POST', url: '/posts.txt', payload: { post: { title: 'd' } } })
    t.strictSame([created.statusCode, created.headers.location, created.body], [201, '/posts/4', '4: d\n'])
    const stale = await app.inject({
      method: 'PUT', url: '/posts.txt', headers: { 'if-match': '"7"' }, payload: { id: 1, post: { title: 'x' } }
    })
    t.strictSame([stale.statusCode, stale.body], [412, 'theirs is 1: a\n'])
    const refused = await app.inject(send('POST', '/posts', form, 'post[title]=x'))
    t.strictSame([refused.statusCode, refused.headers.accept], [415, 'application/json'],
      'no form is read if no format is for browsers')
  })

  await t.test('pages for browsers', async t => {
    const app = await seeded(t, true)
    const created = await app.inject(send('POST', '/posts', form, 'post[title]=d'))
    t.strictSame([created.statusCode, created.headers.location, created.body], [303, '/posts/4', ''])
    seen.length = 0
    const taken = await app.inject(send('POST', '/posts', form, '_method=PUT&id=1&_version=1&post[title]=b'))
    t.strictSame([taken.statusCode, taken.headers['content-type'], taken.body], [409, text, '409 Conflict\n'])
    t.match(seen, [{
      mediaType: 'text/plain',
      input: {
        id: 1,
        version: '1',
        row: { id: 1, version: '1', attributes: { title: 'a' } },
        errors: { title: ['is already taken'] }
      }
    }], 'a form comes back with all its values')
    const deleted = await app.inject(send('POST', '/posts', form, '_method=DELETE&id=4'))
    t.strictSame([deleted.statusCode, deleted.headers.location], [303, '/posts'])
  })
})

t.test('a custom format gets only the values that may be sent', async t => {
  const write = (row: Row): string => `${JSON.stringify(row)}\n`
  const kinds: Record<string, Writer> = {
    lines: { record: write, problem: () => '', list: { open: '', row: write, separator: '', close: '' } },
    pages: { record: write, stale: write, edit: write, problem: () => '', page: (rows) => rows.map(write).join('') },
    documents: {
      document: (row) => row,
      serialize: (document) => JSON.stringify(document),
      problemType: 'application/json',
      list: { open: '', row: write, separator: '', close: '' }
    }
  }
  const hidden = {
    type: 'object', properties: { user: { type: 'string' }, password: { type: 'string', writeOnly: true } }
  } as const
  for (const [kind, writer] of Object.entries(kinds)) {
    for (const declared of [
      {
        type: 'object',
        properties: { title: { type: 'string' }, login: hidden, pin: { type: 'string', writeOnly: true } }
      },
      undefined
    ] as const) {
      const store = memoryStore()
      store.create({ login: { user: 'ann', password: 'swordfish' }, pin: '1234', more: true }, {})
      const app = await build(t, {
        name,
        ...(declared && { attributes: declared }),
        store,
        formats: [{ name: 'own', mediaTypes: ['application/x-own+json'], compileWriter: () => Object.freeze(writer) },
          'json'],
        writes: 'member',
        formPages: true
      })
      const seen = JSON.stringify({
        id: 1,
        version: '1',
        attributes: declared
          ? { login: { user: 'ann' } }
          : { login: { user: 'ann', password: 'swordfish' }, pin: '1234', more: true }
      })
      for (const url of ['/posts.own', '/posts/1.own', '/posts/1/edit.own']) {
        t.equal((await app.inject(url)).body.trim(), seen, `${url} as ${kind}`)
      }
      const stale = await app.inject({
        method: 'PUT', url: '/posts/1.own', headers: { 'if-match': '"9"' }, payload: { post: {} }
      })
      t.strictSame([stale.statusCode, stale.body.trim()], [412, seen], `a conflict as ${kind}`)
    }
  }
})

t.test('a custom format may have a JSON media type', async t => {
  const format: Format = {
    name: 'hal',
    mediaTypes: ['application/hal+json'],
    compileWriter ({ path }): Writer {
      const record = ({ id, attributes }: Row): string =>
        JSON.stringify({ _links: { self: { href: `${path}/${id}` } }, ...attributes })
      return {
        record,
        problem: ({ status }) => JSON.stringify({ status }),
        list: { open: '[', row: record, separator: ',', close: ']' }
      }
    }
  }
  const hal = 'application/hal+json; charset=utf-8'
  const record = '{"_links":{"self":{"href":"/posts/1"}},"title":"T"}'
  for (const formats of [[format], [format, 'json'], ['json', format]] as const) {
    const store = memoryStore()
    store.create({ title: 'T' }, {})
    const app = await build(t, { name, attributes, store, formats })
    for (const [url, status, body] of [['/posts/1.hal', 200, record], ['/posts.hal', 200, `[${record}]`],
      ['/posts.hal?limit=1', 200, `[${record}]`], ['/posts/9.hal', 404, '{"status":404}']] as const) {
      const res = await app.inject(url)
      t.strictSame([res.statusCode, res.headers['content-type'], res.body], [status, hal, body],
        `${url} of ${formats.length}`)
    }
    if (formats.length === 2) t.strictSame((await app.inject('/posts/1.json')).json(), { post: { id: 1, title: 'T' } })
  }
})
