import { accessSync, constants, readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import fastify, { type FastifyInstance, type InjectOptions } from 'fastify'
import type axe from 'axe-core'
import { type Browser, chromium, type Locator, type Page } from 'playwright-core'
import pluralize from 'pluralize'
import type { Test } from 'tap'
import resources, {
  draw, memoryStore, type ResourceOptions, type Store, UnavailableError, UnknownOutcomeError
} from '../../../lib/index.js'
import { addSpecimens, specimens } from './schemas.js'

const NAMES = ['chromium', 'chromium-browser', 'google-chrome']

/** Returns the path of Chromium, or undefined if there is none. `CHROMIUM` overrides it. */
export function findChromium (): string | undefined {
  const { CHROMIUM, PATH = '' } = process.env
  const places = [...PATH.split(delimiter), '/usr/bin'].filter((folder) => folder !== '')
  const candidates = CHROMIUM === undefined
    ? NAMES.flatMap((name) =>
      places.map((folder) => join(folder, name)))
    : [CHROMIUM]
  return candidates.find(isExecutable)
}

function isExecutable (path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

/** Returns why the tests in a browser are skipped, in one line, or undefined if they run. */
export function reasonToSkip (): string | undefined {
  return findChromium() === undefined
    ? 'there is no Chromium: apt-get install chromium, or name one by the variable CHROMIUM'
    : undefined
}

/** Launches Chromium with a profile of its own, which is removed when Chromium ends. */
export async function launchChromium (t: Test): Promise<Browser> {
  const browser = await chromium.launch({
    executablePath: findChromium() as string,
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'],
    // Chromium already logs its standard error.
    env: { ...process.env as Record<string, string>, NODE_OPTIONS: '' }
  })
  t.teardown(() => browser.close())
  return browser
}

/** The attributes of a museum specimen: one for each kind of form control, and some that no control can edit. */
export const specimen = {
  type: 'object',
  required: ['title', 'status', 'origin', 'weight', 'body', 'secret'],
  properties: {
    title: { type: 'string', minLength: 1, maxLength: 120, description: 'As it is printed on the label.' },
    body: { type: 'string', minLength: 1, title: 'Description' },
    status: { type: 'string', enum: ['draft', 'review', 'live'] },
    origin: {
      type: 'string',
      enum: ['Africa', 'Antarctica', 'Asia', 'Australia', 'Europe', 'North America', 'South America', 'Sea', 'Space'],
      title: 'Place of origin'
    },
    certain: { type: ['boolean', 'null'], default: null },
    shown: { type: 'boolean', default: true },
    found: { type: 'string', format: 'date' },
    boughtAt: { type: ['string', 'null'], format: 'date-time', default: null },
    weight: { type: 'number', minimum: 0, multipleOf: 0.25, description: 'In grams, by quarters.' },
    amount: { type: ['integer', 'null'], maximum: 1_000_000 },
    mail: { type: 'string', format: 'email' },
    site: { type: ['string', 'null'], format: 'uri', title: 'Web site' },
    secret: { type: 'string', minLength: 8, writeOnly: true, title: 'Password' },
    note: { type: ['string', 'null'], maxLength: 4000 },
    keeper: {
      type: 'object',
      required: ['name'],
      properties: {
        name: { type: 'string', minLength: 1, maxLength: 80 },
        address: {
          type: 'object',
          properties: { street: { type: 'string', maxLength: 80 }, town: { type: 'string', maxLength: 80 } },
          additionalProperties: false
        }
      },
      additionalProperties: false
    },
    parts: {
      type: 'array',
      items: {
        type: 'object',
        required: ['label'],
        properties: {
          label: { type: 'string', minLength: 1, maxLength: 80 },
          grams: { type: ['number', 'null'] },
          broken: { type: 'boolean', default: false }
        },
        additionalProperties: false
      },
      default: []
    },
    marks: {
      type: 'array', items: { type: 'string', enum: ['stamp', 'seal', 'signature'] }, uniqueItems: true, default: []
    },
    tags: {
      type: 'array', items: { type: 'string', minLength: 1 }, uniqueItems: true, description: 'Words to find it by.'
    },
    extra: { type: ['object', 'array', 'null'] },
    any: {},
    code: { type: 'string', readOnly: true }
  }
} as const

/** The attributes that no form sets by itself. */
export const plainSpecimen = {
  title: 'Amber', body: 'An insect in amber.', status: 'live', origin: 'Europe', weight: 2.25, secret: 'open sesame'
}

const WORD = 'Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft'.repeat(3)
const SENTENCE = 'It was found in the sand of the beach after a storm, and kept in a drawer for a hundred years. '

const fullSpecimen = {
  ...plainSpecimen,
  title: 'Meteorite "Ensisheim" & <others>',
  body: `\n${SENTENCE.repeat(12)}\n\n${WORD}`,
  certain: true,
  found: '1492-11-07',
  boughtAt: '2026-01-31T12:30:15.250+02:00',
  amount: 127_000,
  mail: 'keeper@example.com',
  site: `https://example.com/${'meteorites/'.repeat(12)}`,
  note: 'Handle with care.',
  keeper: { name: 'Ada', address: { street: 'Rue du Musée 1', town: 'Ensisheim' } },
  parts: [{ label: 'The stone', grams: 53_831.5, broken: true }, { label: 'A splinter', grams: null, broken: false }],
  marks: ['stamp', 'signature'],
  tags: ['stone', 'iron', WORD],
  extra: { any: ['thing', 1, null, { deep: true }] },
  any: 'thing',
  code: 'M-0001'
}

const wide = {
  type: 'object',
  required: ['a', 'b'],
  properties: {
    a: { type: 'string', maxLength: 500, title: 'A heading of a column that is as long as a sentence' },
    b: { type: 'number', title: WORD },
    c: { type: 'integer' },
    d: { type: 'string', format: 'date-time' },
    e: { type: 'string', format: 'email' },
    f: { type: 'string', format: 'uri' },
    g: { type: 'array', items: { type: 'string' } },
    h: { type: 'boolean' },
    i: { type: 'string', description: 'The ninth has no column.' }
  }
} as const

const wideRow = {
  a: WORD,
  b: -1.234567890123456e-200,
  c: Number.MAX_SAFE_INTEGER,
  d: '2026-12-31T23:59:59.999-11:30',
  e: `${'mail.'.repeat(12)}box@${'sub.'.repeat(20)}example.com`,
  f: `https://example.com/${'x'.repeat(200)}?q=${'y'.repeat(80)}`,
  g: [WORD, SENTENCE.repeat(4)],
  h: false,
  i: WORD.repeat(4)
}

/** The attributes of the journal's resources, as their pages show them. */
const journal = {
  posts: {
    type: 'object',
    required: ['title'],
    properties: {
      title: { type: 'string', minLength: 1, maxLength: 120 },
      body: { type: 'string' },
      published: { type: 'boolean', default: false }
    }
  },
  comments: {
    type: 'object',
    required: ['author', 'body'],
    properties: {
      author: { type: 'string', minLength: 1, maxLength: 80 },
      body: { type: 'string', minLength: 1, maxLength: 2000 },
      stars: { type: ['integer', 'null'], default: null },
      tags: { type: 'array', items: { type: 'string', minLength: 1 }, uniqueItems: true, default: [] }
    }
  },
  covers: {
    type: 'object',
    required: ['caption'],
    properties: {
      caption: { type: 'string', minLength: 1, maxLength: 80 }, width: { type: ['integer', 'null'], default: null }
    }
  }
} as const

type Name = keyof typeof journal
export type JournalStores = Readonly<Record<Name, Store>>

/** @param open returns the store of a table with these attributes; nested resources have `postId` among them */
export function openJournal (open: (table: Name, attributes: typeof journal[Name]) => Store): JournalStores {
  const nested = (name: 'comments' | 'covers'): Store => {
    const { properties, required } = journal[name]
    return open(
      name,
      {
        ...journal[name], required: [...required, 'postId'], properties: { ...properties, postId: { type: 'integer' } }
      } as unknown as typeof journal[Name]
    )
  }
  return { posts: open('posts', journal.posts), comments: nested('comments'), covers: nested('covers') }
}

/** Each variant serves the same posts, nested resources and actions. */
const WAYS = [['', {}], ['/apart', { formPages: true }], ['/flat', { shallow: true }]] as const

const LATEST = [{ by: 'id', descending: true }] as const

export function addJournal (app: FastifyInstance, { posts, comments, covers }: JournalStores): void {
  const all = { order: LATEST, after: undefined, limit: 10, filter: [], search: undefined }
  for (const [prefix, { formPages = false, shallow = false }] of WAYS as ReadonlyArray<readonly [
    string, { formPages?: boolean, shallow?: boolean }
  ]>) {
    app.register(draw((map) => map.resources('posts', {
      attributes: journal.posts, store: posts, html: { title: 'id' }, formPages, shallow
    }, (post) => post
      .resources('comments', {
        attributes: journal.comments, store: comments, html: { title: 'id' }, formPages
      }, (comment) => comment
        .collection.get('latest', (context) => context.store.list({ ...all, scope: context.scope }, context)))
      .resource('cover', { attributes: journal.covers, store: covers, formPages }, (cover) =>
        cover.member.post('touch', (context) => context.row()))
      .collection.get(
        'drafts',
        (context) => context.store.list(
          { ...all, filter: [{ attribute: 'published', operator: 'eq', value: false }], scope: context.scope }, context
        )
      )
      .collection.post('publishAll', () => {})
      .member.post('publish', (context) =>
        context.store.update(context.id, { published: true }, context.guard, context))
      .member.delete('withdraw', { path: 'publish', label: 'Back to the drafts' }, (context) =>
        context.store.update(context.id, { published: false }, context.guard, context))
      .member.get('similar', { label: 'Posts like this one' }, (context) =>
        context.store.list({ ...all, scope: context.scope }, context)))), { prefix })
  }
}

const remark = { author: 'Ada', body: '\nTwo lines,\n the first of them blank.', stars: null, tags: ['b', 'a'] }

/** Creates two posts. The second has a comment and a cover. */
export async function seedJournal ({ posts, comments, covers }: JournalStores): Promise<void> {
  const context = { signal: new AbortController().signal }
  for (const title of ['A post', 'Another post']) {
    await posts.create({ title, body: 'What it says.', published: false }, {}, context)
  }
  await comments.create(remark, { postId: 2 }, context)
  await covers.create({ caption: 'A cover', width: 7 }, { postId: 2 }, context)
}

/** One page, as it was answered. */
export interface PageTaken {
  readonly name: string
  /** The base of the page's relative URLs. */
  readonly url: string
  readonly html: string
  /** The same page as `application/xhtml+xml`. */
  readonly xhtml: string
  readonly headers: Readonly<Record<string, string>>
}

type Fields = ReadonlyArray<readonly [name: string, value: string]>
type Ask = readonly [name: string, status: number, request: InjectOptions]

const FORM = 'application/x-www-form-urlencoded'

function post (url: string, fields: Fields): InjectOptions {
  return {
    method: 'POST',
    url,
    headers: { 'content-type': FORM },
    payload: new URLSearchParams(fields as Array<[string, string]>).toString()
  }
}

/** A form of a specimen in which every value is invalid. */
const wrong: Fields = [
  ['specimen[title]', 'x'.repeat(130)], [
    'specimen[body]', '\nKept'
  ], ['specimen[status]', 'lost'], ['specimen[origin]', 'Moon'], ['specimen[certain]', 'perhaps'],
  ['specimen[shown]', 'maybe'], [
    'specimen[found]', 'yesterday'
  ], ['specimen[boughtAt]', '2026-02-31T12:00'], ['specimen[boughtAt][?][offset]', 'CET'],
  ['specimen[weight]', '0.3'], [
    'specimen[amount]', 'many'
  ], ['specimen[mail]', 'nobody'], ['specimen[site]', 'nowhere'], ['specimen[secret]', 'short'],
  [
    'specimen[note]', 'n'.repeat(4001)
  ], ['specimen[keeper][name]', ''], ['specimen[keeper][address][town]', 't'.repeat(81)], ['specimen[parts]', ''],
  ['specimen[parts][0][label]', ''], [
    'specimen[parts][0][grams]', 'heavy'
  ], ['specimen[parts][1][label]', 'Whole'], ['specimen[marks][]', 'stamp'], ['specimen[marks][]', 'spot'],
  ['specimen[tags]', 'one\none'], ['specimen[extra]', '{'], ['specimen[extra][?]', 'json'], ['specimen[unknown]', 'x']
]

/** A form of a specimen that changes every value. */
const otherwise: Fields = [
  ['_method', 'PUT'], ['id', '1'], ['_version', 'old'], [
    'specimen[title]', WORD.slice(0, 120)
  ], ['specimen[body]', `\n${SENTENCE}`], ['specimen[status]', 'draft'], ['specimen[origin]', 'Space'],
  ['specimen[certain][?]', 'null'], ['specimen[certain]', ''], ['specimen[shown]', 'false'], [
    'specimen[found]', '1492-11-08'
  ], ['specimen[boughtAt]', '2026-02-01T12:30'], ['specimen[boughtAt][?][offset]', 'Z'],
  ['specimen[weight]', '2.5'], ['specimen[amount]', '1'], [
    'specimen[mail]', 'other@example.com'
  ], ['specimen[site]', 'https://example.org/'], ['specimen[secret]', 'not the same'],
  ['specimen[note][?]', 'null'], ['specimen[note]', ''], [
    'specimen[keeper][name]', 'Eve'
  ], ['specimen[keeper][address][town]', 'Basel'], ['specimen[parts]', ''], ['specimen[parts][0][label]', 'The stone'],
  ['specimen[parts][1][label]', WORD.slice(0, 80)], ['specimen[parts][1][grams]', '7'], [
    'specimen[marks][]', 'seal'
  ], ['specimen[tags]', `iron\n${WORD}`], ['specimen[extra]', '[1]'], ['specimen[extra][?]', 'json']
]

function requests (ids: { wide: string }): readonly Ask[] {
  const someOtherwise = otherwise.filter(([name]) => !/tags|extra|keeper|status/.test(name))
  return [
    ['a list', 200, { url: '/specimens' }],
    ['the first page of a list in some order', 200, { url: '/specimens?sort=-title&limit=1' }],
    ['a filtered list', 200, { url: '/specimens?status=live&limit=1' }],
    ['a filtered list without rows', 200, { url: '/specimens?title=Nothing' }],
    ['an empty list', 200, { url: '/empties' }],
    ['a record', 200, { url: '/specimens/1' }],
    ['a record without what may be left out', 200, { url: '/specimens/2' }],
    ['a new one with errors', 422, post('/specimens', wrong)],
    ['a new one with one error', 422, post('/specimens', [['specimen[title]', '']])],
    ['a changed one with errors', 422, post('/specimens', [['_method', 'PUT'], ['id', '1'], ...wrong])],
    [
      'a duplicate', 409,
      post('/specimens', Object.entries(plainSpecimen).map(([name, value]) => [`specimen[${name}]`, String(value)]))
    ],
    [
      'a form with a row more', 422,
      post('/specimens', [
        ['specimen[parts]', ''], ['specimen[parts][0][label]', 'One'], ['specimen[parts][?][add]', '1']
      ])
    ],
    ['a conflict in everything', 412, post('/specimens', otherwise)],
    ['a conflict in something', 412, post('/specimens', someOtherwise)],
    [
      'a conflict once more', 412,
      post('/specimens', [
        ...otherwise, ['specimen[title][?][keep]', 'theirs'], ['specimen[keeper][?][keep]', 'theirs'],
        ['specimen[boughtAt][?][keep]', 'theirs']
      ])
    ],
    [
      'a deletion of what has changed', 412,
      post('/specimens', [['_method', 'DELETE'], ['id', '1'], ['_version', 'old']])
    ],
    ['a list without a schema', 200, { url: '/things' }],
    ['an empty list without a schema', 200, { url: '/nothings' }],
    ['a record without a schema', 200, { url: '/things/1' }],
    [
      'a form without a schema, with errors', 422,
      post('/things', [['thing[?][0][name]', 'no name of XML'], ['thing[?][0][value]', 'x'], ['thing[title]', 'Kept']])
    ],
    [
      'a conflict without a schema', 412,
      post('/things', [
        ['_method', 'PUT'], ['id', '1'], ['_version', 'old'], ['thing[title]', 'Mine'], ['thing[?][0][name]', 'new'],
        ['thing[?][0][value]', WORD]
      ])
    ],
    ['a list of wide columns', 200, { url: '/wides' }],
    ['a wide list that is filtered', 200, { url: `/wides?c=${Number.MAX_SAFE_INTEGER}&sort=-b` }],
    ['a wide record', 200, { url: `/wides/${ids.wide}` }],
    ['a list from right to left', 200, { url: '/arabics?sort=a' }],
    ['a record from right to left', 200, { url: '/arabics/1' }],
    ['errors from right to left', 422, post('/arabics', [['arabic[b]', 'x']])],
    [
      'a conflict from right to left', 412,
      post('/arabics', [
        ['_method', 'PUT'], ['id', '1'], ['_version', 'old'], ['arabic[a]', 'Mine'], ['arabic[b]', '7']
      ])
    ],
    ['a bright list', 200, { url: '/brights' }],
    ['a bright record', 200, { url: '/brights/1' }],
    ['a list with what can be done with it', 200, { url: '/posts' }],
    ['a record with what is nested in it, and what can be done with it', 200, { url: '/posts/1' }],
    ['a list of an action of the app', 200, { url: '/posts/drafts' }],
    ['a list of an action that is about a row', 200, { url: '/posts/1/similar' }],
    ['a nested list', 200, { url: '/posts/2/comments' }],
    ['a nested record', 200, { url: '/posts/2/comments/1' }],
    ['a nested row of another parent', 404, { url: '/posts/1/comments/1' }],
    [
      'a nested conflict', 412,
      post('/posts/2/comments', [
        ['_method', 'PUT'], ['id', '1'], ['_version', 'old'], ['comment[author]', 'Grace'], ['comment[tags]', 'a']
      ])
    ],
    ['a list whose form has a page', 200, { url: '/apart/posts/1/comments' }],
    ['a record whose form has a page', 200, { url: '/apart/posts/2' }],
    ['a page for a new one', 200, { url: '/apart/posts/2/comments/new' }],
    [
      'a page for a new one, with errors', 422,
      post('/apart/posts/2/comments', [['comment[author]', ''], ['comment[tags]', 'a\na']])
    ],
    ['a page to edit one', 200, { url: '/apart/posts/2/comments/1/edit' }],
    ['a singleton', 200, { url: '/posts/2/cover' }],
    ['a singleton that is not there', 404, { url: '/posts/1/cover' }],
    ['a singleton whose form has a page', 200, { url: '/apart/posts/2/cover/edit' }],
    ['a shallow record', 200, { url: '/flat/comments/1' }],
    ['a shallow row that is not there', 404, { url: '/flat/comments/99' }],
    ['a list of rows that reference others', 200, { url: '/linked/albums' }],
    ['a record that references others', 200, { url: '/linked/albums/1' }],
    ['a record that others reference', 200, { url: '/linked/artists/1' }],
    ['a record that others and itself reference, and what is nested in it', 200, { url: '/linked/labels/1' }],
    ['a form that is no form', 400, post('/specimens', [['_method', 'PURGE']])],
    ['an unknown parameter', 400, { url: '/specimens?titel=x' }],
    [
      'a request from elsewhere', 403,
      { ...post('/specimens', []), headers: { 'content-type': FORM, 'sec-fetch-site': 'cross-site' } }
    ],
    ['what is not there', 404, { url: `/specimens/${WORD.slice(0, 80)}` }],
    ['a method that is not allowed', 405, { method: 'PATCH', url: '/specimens' }],
    ['a format that is not there', 406, { url: '/specimens?format=csv' }],
    ['a body that is too long', 413, { ...post('/specimens', []), payload: 'x'.repeat(70_000) }],
    [
      'a body of a type that is not read', 415,
      { method: 'POST', url: '/specimens', headers: { 'content-type': 'text/plain' }, payload: 'x' }
    ],
    ['a change that names no version', 428, post('/guardeds', [['_method', 'PUT'], ['id', '1'], ['guarded[a]', 'x']])],
    ['an error of the store', 500, { url: '/brokens/1' }],
    ['a store that is away', 503, { url: '/brokens' }],
    ['a store that does not answer', 504, post('/brokens', [['broken[a]', 'x'], ['broken[b]', '1']])]
  ]
}

/** Takes every kind of page. `app` also serves the resources themselves. */
export async function takePages (t: Test): Promise<{
  readonly app: FastifyInstance, readonly pages: readonly PageTaken[]
}> {
  const app = fastify({ bodyLimit: 65_536, forceCloseConnections: true })
  t.teardown(() => app.close())
  const { id } = register(
    app, { name: 'wides', attributes: wide, store: memoryStore({ id: 'uuid' }) }, [wideRow, wideRow, { a: '', b: 0 }]
  )
  register(
    app, { name: 'specimens', attributes: specimen, store: memoryStore({ unique: ['title'] }) },
    [fullSpecimen, plainSpecimen, { ...plainSpecimen, title: 'Beryl' }]
  )
  register(app, { name: 'empties', attributes: specimen })
  register(
    app, { name: 'things' },
    [{ title: 'A thing', size: 7, any: { deep: [true, null] }, long: SENTENCE.repeat(3) }, { other: WORD }]
  )
  register(app, { name: 'nothings' })
  const arabicRow = { ...wideRow, a: 'كتاب قديم' }
  register(app, { name: 'arabics', attributes: wide, html: { lang: 'ar' } }, [wideRow, arabicRow])
  register(app, { name: 'brights', attributes: wide, html: { accent: '#ffe600' } }, [wideRow])
  register(app, { name: 'guardeds', attributes: wide, requireMatch: true }, [wideRow])
  register(app, { name: 'brokens', attributes: wide, store: brokenStore() })
  const stores = openJournal(() => memoryStore())
  await seedJournal(stores)
  addJournal(app, stores)
  addLinked(app)
  await app.ready()
  return { app, pages: await takeAll(t, app, requests({ wide: String(id) })) }
}

async function takeAll (t: Test, app: FastifyInstance, asks: readonly Ask[]): Promise<PageTaken[]> {
  const pages: PageTaken[] = []
  for (const [name, status, request] of asks) {
    const [html, xhtml] = await Promise.all(['text/html', 'application/xhtml+xml'].map((accept) =>
      app.inject({ ...request, headers: { ...request.headers, accept } })))
    if (html === undefined || xhtml === undefined) continue
    t.strictSame(
      [html.statusCode, html.headers['content-type'], xhtml.statusCode, xhtml.headers['content-type']],
      [status, 'text/html; charset=utf-8', status, 'application/xhtml+xml; charset=utf-8'],
      `${name} has status ${status}`
    )
    const headers = Object.fromEntries(
      ['content-type', 'content-security-policy', 'x-content-type-options', 'referrer-policy'].map(
        (header) => [header, String(html.headers[header])]
      )
    )
    pages.push({ name, url: String(request.url), html: html.body, xhtml: xhtml.body, headers })
  }
  return pages
}

/** Takes the pages of each schema, from left to right and from right to left: list, record, both forms, and faults. */
export async function takeSpecimenPages (t: Test): Promise<{
  readonly app: FastifyInstance, readonly pages: readonly PageTaken[]
}> {
  const app = fastify({ forceCloseConnections: true })
  t.teardown(() => app.close())
  // A reference names a resource of its own scope.
  app.register(async (scope) => { addSpecimens(scope) })
  app.register(async (scope) => { addSpecimens(scope, { html: { lang: 'ar' } }) }, { prefix: '/ar' })
  await app.ready()
  const asks: Ask[] = []
  for (const { options: { name, attributes } } of specimens) {
    for (const [direction, url] of [['', `/${name}`], [', right to left', `/ar/${name}`]] as const) {
      const [row] = (await app.inject(`${url}.json`)).json<Record<string, Array<{ id: string }>>>()[name] ?? []
      const of = `of ${name}${direction}`
      asks.push(
        [`the list ${of}`, 200, { url }],
        [`a record ${of}`, 200, { url: `${url}/${row?.id}` }],
        // From right to left, the page of faults has the form.
        ...direction === '' || attributes === undefined
          ? [
              [`the form of a record ${of}`, 200, { url: `${url}/${row?.id}/edit` }],
              [`the form of a new one ${of}`, 200, { url: `${url}/new` }]
            ] as const
          : [],
        // Without a schema, nothing is a fault.
        ...attributes === undefined
          ? []
          : [
              [
              `faults ${of}`, 422,
              post(url, [
                ['_method', 'PUT'], ['id', String(row?.id)], [`${pluralize.singular(name)}[unknown]`, 'x'],
                ...Object.keys(attributes.properties ?? {}).map(
                  (attribute): [string, string] => [`${pluralize.singular(name)}[${attribute}]`, 'x']
                )
              ])
              ] as const
            ]
      )
    }
  }
  return { app, pages: await takeAll(t, app, asks) }
}

/** Serves each page as it was answered at `/pages/0` and so on, with its stylesheet. */
export async function showPages (t: Test, {
  app, pages
}: Awaited<ReturnType<typeof takePages>>): Promise<{ readonly url: string, readonly requests: readonly string[] }> {
  const site = fastify({ forceCloseConnections: true })
  const requests: string[] = []
  site.addHook('onRequest', async ({ url }) => { requests.push(url) })
  for (const [index, { headers, html }] of pages.entries()) {
    site.get(`/pages/${index}`, (_request, reply) => reply.headers(headers).send(html))
  }
  site.get('/*', async ({ url }, reply) => {
    const { statusCode, headers, body } = await app.inject(url)
    return reply.code(statusCode).type(String(headers['content-type'])).send(body)
  })
  t.teardown(() => site.close())
  return { url: await site.listen({ port: 0, host: '127.0.0.1' }), requests }
}

function register (app: FastifyInstance, {
  store = memoryStore(), ...options
}: ResourceOptions, rows: ReadonlyArray<Record<string, unknown>> = []): {
    id: unknown
  } {
  const context = { signal: new AbortController().signal }
  const created = rows.map((row) => store.create(row, {}, context))
  app.register(resources, { ...options, store })
  return { id: (created[0] as { id: unknown } | undefined)?.id }
}

/** Serves resources that reference each other, and themselves. */
function addLinked (app: FastifyInstance): void {
  const [artists, albums, labels] = [memoryStore(), memoryStore(), memoryStore()]
  const id = { type: ['integer', 'null'] } as const
  artists.create({ name: WORD, labelId: 1 }, {})
  albums.create({ title: 'An album', artistId: 1, labelId: 1, oldLabelId: 1 }, {})
  labels.create({ name: 'A label', ownerId: 1 }, {})
  app.register(draw((map) => map
    .resources('artists', {
      attributes: { type: 'object', properties: { name: { type: 'string' }, labelId: id } },
      store: artists,
      references: { labelId: 'labels' }
    })
    .resources('albums', {
      attributes: {
        type: 'object', properties: { title: { type: 'string' }, artistId: id, labelId: id, oldLabelId: id }
      },
      store: albums,
      references: { artistId: 'artists', labelId: 'labels', oldLabelId: 'labels' }
    })
    .resources('labels', {
      attributes: { type: 'object', properties: { name: { type: 'string' }, ownerId: id } },
      store: labels,
      references: { ownerId: 'labels' }
    }, (label) =>
      label.resources('offices'))), { prefix: '/linked' })
}

function brokenStore (): Store {
  return {
    ...memoryStore(),
    get () { throw new Error('a secret of the inside') },
    list () { throw new UnavailableError() },
    create () { throw new UnknownOutcomeError() }
  }
}

const AXE = readFileSync(new URL('../../../node_modules/axe-core/axe.min.js', import.meta.url), 'utf8')

/** Checks a page with axe. */
export async function findViolations (page: Page): Promise<string[]> {
  if (!await page.evaluate<boolean>('"axe" in globalThis')) await page.evaluate(AXE)
  const options = {
    resultTypes: ['violations'], rules: { 'target-size': { enabled: true } }
  } as const satisfies axe.RunOptions
  const { violations } = await page.evaluate(
    (options) => (globalThis as unknown as { axe: typeof axe }).axe.run(options as unknown as axe.RunOptions), options
  )
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, failureSummary }) => `${id}: ${String(target)} ${failureSummary}`))
}

/** The timeout in milliseconds. */
const NEVER = 600_000

/** The tools of a test. */
export interface Scene {
  readonly url: string
  /** The errors and warnings of the browser. */
  readonly complaints: readonly string[]
  /** Opens a window. */
  open (path: string): Promise<Page>
  /** Reads a path from the server as JSON. */
  read (path: string): Promise<any>
  readonly store?: Store
}

/** Returns the tools of a test of the server at a URL. */
export function makeScene (t: Test, browser: Browser, url: string): Scene {
  const complaints: string[] = []
  const windows: Page[] = []
  t.teardown(async () => {
    for (const page of windows) await page.context().close()
  })
  return {
    url,
    complaints,
    async open (path) {
      // Each window has its own context, because the browser slows down background tabs.
      const page = await browser.newPage({
        javaScriptEnabled: false, viewport: { width: 1000, height: 800 }, reducedMotion: 'reduce'
      })
      windows.push(page)
      page.setDefaultTimeout(NEVER)
      watch(page, complaints)
      await page.goto(url + path)
      return page
    },
    async read (path) {
      const response = await fetch(url + path, { headers: { accept: 'application/json' } })
      return { status: response.status, etag: response.headers.get('etag'), ...await response.json() as object }
    }
  }
}

/** Collects the browser's complaints, except the status of a page, and requests other than pages and stylesheets. */
export function watch (page: Page, complaints: string[]): void {
  page.on('console', (message) => {
    const text = message.text()
    if (!/^(?:error|warning)$/.test(message.type())) return
    if (!/the server responded with a status of 4/.test(text)) complaints.push(text)
  })
  page.on('pageerror', (error) => { complaints.push(String(error)) })
  page.on('requestfailed', (request) => { complaints.push(`failed: ${request.url()}`) })
  page.on('response', (response) => {
    if (response.request().resourceType() !== 'stylesheet') return
    const isCss = response.headers()['content-type'] === 'text/css; charset=utf-8'
    if (response.status() !== 200 || !isCss) complaints.push(`no stylesheet: ${response.url()}`)
  })
  page.on('request', (request) => {
    if (!/^(?:document|stylesheet)$/.test(request.resourceType())) complaints.push(`asked for: ${request.url()}`)
  })
}

/** Returns the control of this name. A value selects one of several. */
export function control (scope: Page | Locator, name: string, value?: string): Locator {
  return scope.locator(`[name="${name}"]:not([type="hidden"])${value === undefined ? '' : `[value="${value}"]`}`)
}

/** Presses a button and waits for the next page. */
export async function press (page: Page, name: string): Promise<void> {
  await arrive(page, () => page.getByRole('button', { name, exact: true }).click())
}

/** Waits for the next page, to which an act leads. */
export async function arrive (page: Page, act: () => Promise<void>): Promise<void> {
  const arrived = page.waitForEvent('load')
  await act()
  await arrived
}

/** Returns the fields that the form of a page would send. */
export function fieldsOf (form: Locator): Promise<Array<[string, string]>> {
  return form.evaluate((form) => {
    const fields = Reflect.construct(FormData, [form]) as FormData
    const pairs = [...fields].map(([name, value]): [string, string] => [name, String(value)])
    return pairs.filter(([name]) => !name.endsWith('[was]'))
  })
}

/** Returns the form of a page that writes. */
export function formOf (page: Page): Locator {
  return page.locator('form.form').filter({ has: page.locator('.primary', { hasText: /Create|Save/ }) })
}

export function textsOf (locator: Locator): Promise<string[]> {
  return locator.allInnerTexts()
}

/** Describes the focused element. */
export function focusOf (page: Page): Promise<string> {
  return page.evaluate('document.activeElement.id')
}

/** Returns the side that each attribute of a conflict keeps. */
export async function choices (page: Page): Promise<Record<string, string>> {
  const sent = await fieldsOf(formOf(page))
  return Object.fromEntries(sent.flatMap(([field, side]) => {
    const name = /^\w+\[(\w+)\]\[\?\]\[keep\]$/.exec(field)?.[1]
    return name === undefined ? [] : [[name, side]]
  }))
}
