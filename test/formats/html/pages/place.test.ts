import type { FastifyRequest } from 'fastify'
import t from 'tap'
import { NothingHereError } from '../../../../lib/core/errors.js'
import { assetPath } from '../../../../lib/core/resource/path-pattern.js'
import { html as htmlFormat, makeHtmlFormat } from '../../../../lib/html/html.js'
import { PathNames } from '../../../../lib/core/routes/path-helpers.js'
import type { PageMessages } from '../../../../lib/html/messages.js'
import type { ResolvedHtmlOptions } from '../../../../lib/html/options.js'
import {
  type AttributesSchema, csv, type Format, type Id, type Input, json, type Location,
  memoryStore, type Problem, type Resource, type Row, type TextWriter, type View, type WriterContext
} from '../../../../lib/index.js'
import { type ActionLink, defaultViews, type PageView, type PageWriter } from '../../../../lib/html/index.js'
import type { PageContent } from '../../../../lib/html/content.js'
import { type ActionName, type IdType, makeResource } from '../../../../lib/core/resource/resource.js'
import { elementsOf } from '../../../support/html/elements.js'
import { draft } from '../../../support/helper.js'
import { get, isSound, linksOf as hrefsOf, schemaOf, seeded } from '../../../support/html/page-tests.js'

const attributes = {
  type: 'object',
  required: ['title'],
  properties: { title: { type: 'string', maxLength: 50 }, body: { type: 'string' }, rating: { type: 'integer' } }
} as const satisfies AttributesSchema

const formats = ['html', 'xml', 'json'].map((name): Pick<Format, 'name' | 'mediaTypes'> => ({
  name, mediaTypes: [`application/${name}`]
}))
const plain: WriterContext = {
  formats,
  selection: undefined,
  sortable: ['title'],
  filterable: ['title'],
  conditions: [],
  searchable: [],
  hasLast: false,
  unique: new Set(),
  transitions: new Map(),
  softDelete: undefined,
  deletedSegment: undefined,
  hasKeys: false,
  manyActions: new Set(),
  importActions: new Set(),
  importMatches: [],
  collectionActions: [],
  memberActions: [],
  children: [],
  references: new Set(),
  newSegment: undefined,
  copySegment: undefined,
  editSegment: undefined,
  paths: new PathNames(() => undefined).paths,
  assetOwner: () => '/posts/:postId/comments',
  navigation: () => undefined
}
const ALL: readonly ActionName[] = ['list', 'show', 'create', 'update', 'delete']

type Options = Partial<Omit<Resource, 'actions'> & WriterContext & ResolvedHtmlOptions> & {
  readonly actions?: readonly ActionName[],
  readonly messages?: Partial<PageMessages>
}
type Pages = Required<Omit<TextWriter, 'document'>> & PageWriter

/** Returns the pages of comments, which are nested in posts by default. */
function makePages (
  { actions = ALL, idType = 'integer', schema = attributes, messages = {}, ...options }: Options = {}
): Pages {
  const resource = makeResource(
    {
      plural: 'comments',
      singular: 'comment',
      path: '/posts/:postId/comments',
      memberWrites: false,
      singleton: false,
      foreignKey: undefined,
      longestId: 100,
      key: [],
      actions: new Set(actions),
      ...options
    },
    idType as IdType,
    schema
  )
  const { compileWriter } = makeHtmlFormat(
    {
      languages: [{ tag: 'en', words: undefined, messages }],
      title: 'id',
      views: {},
      accent: '#1d5fd1',
      brand: {},
      timeZone: undefined,
      columns: undefined,
      badges: new Map(),
      import: undefined,
      contentSecurityPolicy: undefined,
      ...options
    },
    resource
  )
  return compileWriter?.(resource, { ...plain, ...options }) as unknown as Pages
}

/** Returns the same pages rendered by views, although the views are the default ones. */
function makeSlowPages (options: Options = {}): Pages {
  return makePages({ ...options, views: { layout: defaultViews.layout } })
}

function placeIn (postId: Id, members = `/posts/${postId}/comments`): Location {
  return {
    collection: `/posts/${postId}/comments`,
    members,
    parent: {
      resource: { plural: 'posts', singular: 'post', singleton: false },
      id: postId,
      path: `/posts/${postId}`,
      list: undefined,
      parent: undefined
    }
  }
}

const top = Object.freeze({ collection: '/comments', members: '/comments', parent: undefined })
const profile = { plural: 'profiles', singular: 'profile', path: '/profile', singleton: true }
const atProfile = Object.freeze({ collection: '/profile', members: '/profile', parent: undefined })

const NOTHING: ReadonlySet<string> = new Set()

function viewOf (location: Location, more: Partial<View & PageContent> = {}): View & PageContent {
  return {
    mediaType: 'text/html',
    input: undefined,
    action: 'delete',
    location,
    request: {} as FastifyRequest,
    refused: NOTHING,
    unlisted: undefined,
    related: [],
    links: new Map(),
    choices: new Map(),
    notice: undefined,
    figures: undefined,
    rowSearch: undefined,
    chosen: undefined,
    importing: undefined,
    back: undefined,
    parents: [],
    prefilled: {},
    content: undefined,
    ...more
  }
}

function pageViewOf (location: Location, more: Partial<PageView> = {}): PageView & PageContent {
  return {
    ...viewOf(location),
    prev: undefined,
    next: undefined,
    openCondition: undefined,
    total: undefined,
    range: undefined,
    before: undefined,
    path: location.collection,
    list: location.collection,
    own: undefined,
    parameters: {},
    order: [{ by: 'id', descending: false }],
    after: undefined,
    ...more
  }
}

function rowOf (id: Id, more: Partial<Row> = {}): Row {
  return { id, version: '1', attributes: { title: `T ${id}`, body: 'B', rating: 5 }, ...more }
}

const missing: Problem = {
  status: 404, title: 'Not Found', detail: 'there is no comment with the id 3', errors: undefined
} as unknown as Problem

/** Returns a form that was sent. */
function inputOf (more: Partial<Input> = {}): Input {
  return {
    id: undefined,
    version: undefined,
    node: { texts: [], children: new Map() },
    attributes: {},
    row: undefined,
    errors: {},
    ...more
  }
}

/** Returns the targets of a page's links and forms in their order. */
function targetsOf (page: string): string[] {
  return elementsOf(page).flatMap(({ name, attributes: { href, action } }) => name === 'a' && href !== undefined &&
    !href.startsWith('#')
    ? [href]
    : action === undefined ? [] : [action])
}

function linksOf (page: string): Array<[text: string, href: string]> {
  return elementsOf(page).flatMap(({ name, text, attributes: { href = '' } }): Array<[string, string]> =>
    name === 'a' && !href.startsWith(
      '#main'
    )
      ? [[text, href]]
      : [])
}

function crumbsOf (page: string): Array<[text: string, href: string]> {
  return linksOf(/<header>[^]*<\/header>/.exec(page)?.[0] ?? '<p/>')
}

/** Returns the forms of a page by their buttons: the target and the hidden fields. */
function formsOf (page: string): Record<string, [action: string, hidden: string]> {
  const forms = [...page.matchAll(/<form method="post" action="([^"]*)"[^>]*>([^]*?)<\/form>/g)]
  return Object.fromEntries(forms.map(([, action = '', body = '']) => {
    const hidden = [...body.matchAll(/<input type="hidden" name="(_?\w+)" value="([^"]*)"\/>/g)].map(
      ([, name, value]) => `${name}=${value}`
    )
    return [
      />([^<]*)<\/button>(?:<button [^>]*>[^<]*<\/button>)?(?:<a [^>]*>[^<]*<\/a>)?\s*(?:<\/p>\s*)?$/.exec(body)?.[1],
      [action, hidden.join()]
    ]
  }))
}

function headingsOf (page: string): string[] {
  return elementsOf(page).flatMap(({ name, text }) => /^h[12]$/.test(name) ? [text] : [])
}

const actions: readonly ActionLink[] = [
  { name: 'recent', label: undefined, method: 'GET', segment: 'recent' },
  { name: 'approveAll', label: undefined, method: 'POST', segment: 'approve-all' },
  { name: 'reset', label: 'Reset & go', method: 'PUT', segment: 'reset' },
  { name: 'archive', label: undefined, method: 'DELETE', segment: 'archive' }
]
const children = [{ name: 'likes', segment: 'likes' }, { name: 'coverImage', segment: 'cover' }]
const full: Options = { collectionActions: actions, memberActions: actions, children }
const apart: Options = { ...full, newSegment: 'new', editSegment: 'edit' }

t.test('the path of a file has no parameters', async (t) => {
  const cases: Array<[pattern: string, path: string]> = [
    ['/posts', '/posts/f.css'], ['/blog/posts', '/blog/posts/f.css'],
    ['/posts/:postId/comments', '/posts/comments.f.css'],
    ['/blog/posts/:postId/comments', '/blog/posts/comments.f.css'],
    ['/posts/:postId/comments/:commentId/likes', '/posts/comments.likes.f.css'], ['/:tenant/posts', '/posts.f.css'],
    ['/:tenant/:site/posts', '/posts.f.css'], ['/@:name/posts', '/posts.f.css'], ['/:everything', '/f.css']
  ]
  for (const [pattern, path] of cases) {
    t.equal(assetPath(pattern, 'f.css'), path, pattern)
    t.equal(assetPath(`/a${pattern}`, 'f.css'), `/a${path}`, 'the same below a prefix')
  }
  t.match(makePages().page([], pageViewOf(placeIn(7))),
    /<link rel="stylesheet" href="\/posts\/comments\.pages\.[\da-f]{16}\.css"\/>/)
})

t.test('nested pages link to paths with their parents', async (t) => {
  const pages = makePages()
  for (const id of [7, 8]) {
    const location = placeIn(id)
    const [post, list] = [`/posts/${id}`, `/posts/${id}/comments`]
    const [view, input] = [viewOf(location), inputOf()]
    t.strictSame(targetsOf(pages.page([rowOf(3)],
      pageViewOf(location, { next: `${list}?after=x&limit=1`, parameters: { limit: '1' }, after: 'y' }))), [
      post, list, `${list}?limit=1&sort=-id`, `${list}?limit=1&sort=title`, `${list}/3`, `${list}?limit=1`,
      `${list}?after=x&limit=1`, list, `${list}.xml?limit=1&after=y`, `${list}.json?limit=1&after=y`
    ])
    t.strictSame(
      targetsOf(pages.page([], pageViewOf(location, { path: `${list}.html`, parameters: { title: 'x' } }))),
      [post, `${list}.html`, `${list}.html`, `${list}.html`, list, list, `${list}.xml?title=x`,
        `${list}.json?title=x`]
    )
    t.strictSame(targetsOf(pages.record(rowOf(3), view)),
      [post, list, list, list, `${list}/3`, `${list}/3.xml`, `${list}/3.json`])
    t.strictSame(targetsOf(pages.stale(rowOf(3), view)), [post, list, `${list}/3`, `${list}/3`, list])
    t.strictSame(targetsOf(pages.stale(rowOf(3), { ...view, input })), [post, list, `${list}/3`, `${list}/3`, list])
    t.strictSame(targetsOf(pages.blank(view)), [post, list, list, list])
    t.strictSame(targetsOf(pages.edit(rowOf(3), view)), [post, list, list, `${list}/3`])
    t.strictSame(targetsOf(pages.revised({ ...view, input })), [post, list, list, list])
    t.strictSame(targetsOf(pages.problem(missing, view)), [post, list, list])
    t.strictSame(targetsOf(pages.problem(missing, { ...view, input })), [post, list, list, list])
  }
})

t.test('shallow rows are written at their own paths', async (t) => {
  for (const id of [7, 8]) {
    const location = placeIn(id, '/comments')
    const list = `/posts/${id}/comments`
    const pages = makePages()
    t.strictSame(targetsOf(pages.page([rowOf(3)], pageViewOf(location))).filter((target) => !target.includes('?')),
      [`/posts/${id}`, list, '/comments/3', list, `${list}.xml`, `${list}.json`])
    t.strictSame(targetsOf(pages.record(rowOf(3), viewOf(location))),
      [`/posts/${id}`, list, '/comments', '/comments', '/comments/3', '/comments/3.xml', '/comments/3.json'])
    t.match(formsOf(makePages({ memberWrites: true }).record(rowOf(3), viewOf(location))), {
      'Save changes': ['/comments/3'], 'Yes, delete it': ['/comments/3']
    })
    t.match(formsOf(makePages({ memberWrites: true }).edit(rowOf(3), viewOf(location))), {
      'Save changes': ['/comments/3', '_method=PUT,id=3,_version=1']
    })
  }
})

t.test('a page of cached parts equals that of its views to the byte under any parent', async (t) => {
  const messages: Options['messages'] = {
    record: (singular, id) => `<${singular}> ${id}`, edit: (name) => `${name} & more`
  }
  const kinds: Options[] = [
    {},
    { memberWrites: true },
    { path: '/comments' },
    full,
    apart,
    { messages },
    { ...apart, messages },
    { actions: ['list', 'show', 'update'] },
    { actions: ['list', 'delete'] },
    { ...profile, ...full },
    { ...profile, ...full, messages: { deleteWarning: () => 'gone' } }
  ]
  const places: Location[] = [
    placeIn(7),
    top,
    placeIn(8, '/comments'),
    {
      collection: '/a&b"/<c>',
      members: '/d\'&',
      parent: {
        resource: { plural: 'p', singular: '<i>', singleton: false },
        id: '<&"',
        path: '/x?"&',
        list: undefined,
        parent: undefined
      }
    },
    { ...placeIn(7), parent: undefined },
    placeIn(7)
  ]
  for (const options of kinds) {
    const [quick, slow] = [makePages(options), makeSlowPages(options)]
    for (const location of options.path === undefined ? places : [top, placeIn(7), top, placeIn('x'), top]) {
      const [path, next] = [`${location.collection}.html`, `${location.collection}?after=z&limit=2`]
      const rows = [rowOf(3), rowOf(4, { version: '' }), rowOf(5, { version: '<"' })]
      for (const mediaType of ['text/html', 'application/xhtml+xml']) {
        for (const row of rows) {
          t.equal(quick.record(row, viewOf(location, { mediaType })), slow.record(row, viewOf(location, { mediaType })))
        }
      }
      for (const more of [{}, { path }, { next }, { path, next, parameters: { title: 'q' }, after: 'x' },
        { next, parameters: { limit: '2' }, after: 'y' }]) {
        t.equal(quick.page(rows, pageViewOf(location, more)), slow.page(rows, pageViewOf(location, more)))
        t.equal(quick.page([], pageViewOf(location, more)), slow.page([], pageViewOf(location, more)))
      }
    }
  }
})

t.test('the pages of another parent are neither rendered nor cached anew', async (t) => {
  let made = 0
  const pages = makePages({
    messages: {
      new: (singular) => { made++; return `New ${singular}` },
      delete: (singular) => { made++; return `Delete ${singular}` }
    }
  })
  const visit = (id: number): void => {
    t.match(pages.page([rowOf(id)], pageViewOf(placeIn(id), { parameters: { title: 'x' } })),
      `<a href="/posts/${id}/comments/${id}">`)
    t.match(pages.record(rowOf(id), viewOf(placeIn(id))), `<a href="/posts/${id}/comments/${id}.xml"`)
  }
  visit(1)
  const once = made
  t.ok(once > 0)
  for (let id = 2; id < 100; id++) visit(id)
  t.equal(made, once)
})

t.test('a string id is encoded in links and escaped in text', async (t) => {
  const pages = makePages({
    idType: 'string', path: '/comments', ...apart, newSegment: undefined, collectionActions: []
  })
  for (const [
    id, path
  ] of [['a.xml', '/comments/a%252Exml'], ['<b> & "c"/é', '/comments/%3Cb%3E%20%26%20%22c%22%2F%C3%A9'],
      ['plain', '/comments/plain']] as const) {
    const list = pages.page([rowOf(id, { attributes: { title: 'x'.repeat(200) } })], pageViewOf(top))
    t.strictSame(linksOf(list).filter(([, href]) => href.startsWith('/comments/')), [[id, path]])
    const record = pages.record(rowOf(id), viewOf(top))
    t.equal(elementsOf(record).find(({ name }) => name === 'h1')?.text, `Comment ${id}`)
    t.equal(elementsOf(record).findLast(({ name }) => name === 'dd')?.text, id)
    t.strictSame(targetsOf(record), [
      '/comments', `${path}/recent`, `${path}/approve-all`, `${path}/reset`, `${path}/archive`, `${path}/edit`,
      '/comments', `${path}/likes`, `${path}/cover`, `${path}.xml`, `${path}.json`
    ])
    t.equal(elementsOf(record).find(({ attributes: { name } }) => name === 'id')?.attributes.value, id)
    t.strictSame(crumbsOf(pages.edit(rowOf(id), viewOf(top))), [['Comments', '/comments'], [`Comment ${id}`, path]])
  }
})

t.test('a page does not offer excluded actions', async (t) => {
  const without = (name: ActionName): Pages => makePages({
    actions: ALL.filter((other) => other !== name), path: '/comments'
  })
  const long = rowOf(3, { attributes: { title: 'x'.repeat(200) } })
  const noCreate = without('create')
  t.strictSame(formsOf(noCreate.page([long], pageViewOf(top))), {})
  t.notMatch(noCreate.page([long], pageViewOf(top)), /New comment|#new/)
  t.match(noCreate.page([], pageViewOf(top)), '<p><strong>There are no comments yet</strong></p></div>')
  const noShow = without('show')
  t.strictSame(linksOf(noShow.page([long], pageViewOf(top))).filter(([, href]) => /\/3/.test(href)), [])
  t.match(noShow.page([long], pageViewOf(top)),
    `<tr><th scope="row">3</th><td data-label="Title" dir="auto">${'x'.repeat(100)}&#8230;</td>`)
  t.strictSame(linksOf(noShow.stale(rowOf(3), viewOf(top))), [['Comments', '/comments']],
    'there is no side to choose either')
  const noUpdate = without('update').record(rowOf(3), viewOf(top))
  t.strictSame(formsOf(noUpdate), { 'Yes, delete it': ['/comments', '_method=DELETE,id=3,_version=1'] })
  t.strictSame(headingsOf(noUpdate), ['Comment 3'])
  const noDelete = without('delete').record(rowOf(3), viewOf(top))
  t.strictSame(Object.keys(formsOf(noDelete)), ['Save changes'])
  t.notMatch(noDelete, /details|Delete /)
  const noList = without('list')
  for (const page of [noList.record(rowOf(3), viewOf(top)), noList.problem(missing, viewOf(top))]) {
    t.notMatch(page, /<header>|href="\/comments"/)
  }
  t.strictSame(crumbsOf(noList.stale(rowOf(3), viewOf(top))), [['Comment 3', '/comments/3']])
  t.strictSame(crumbsOf(noList.record(rowOf(3), viewOf(placeIn(7)))), [['Post 7', '/posts/7']])
  const alone = makePages({
    actions: ['list'], schema: { type: 'object', properties: {} }, sortable: [], filterable: [], path: '/comments'
  }).page([rowOf(3)], pageViewOf(top))
  t.match(alone, '<tr><th scope="row">3</th></tr>')
})

t.test('a form on its own page is linked to, and is not part of another page', async (t) => {
  const pages = makePages({ newSegment: 'neu', editSegment: 'bearbeiten' })
  const location = placeIn(7)
  const list = pages.page([rowOf(3)], pageViewOf(location))
  t.strictSame(linksOf(list).filter(([text]) => text === 'New comment'), [['New comment', '/posts/7/comments/neu']])
  t.strictSame(formsOf(list), {})
  t.match(pages.page([], pageViewOf(location)), '<p><strong>There are no comments yet</strong></p></div>')
  const record = pages.record(rowOf(3), viewOf(location))
  t.strictSame(linksOf(record).filter(([text]) => text === 'Edit'), [['Edit', '/posts/7/comments/3/bearbeiten']])
  t.strictSame(Object.keys(formsOf(record)), ['Yes, delete it'])
  const blank = pages.blank(viewOf(location))
  t.strictSame(formsOf(blank), { 'Create comment': ['/posts/7/comments', ''] })
  t.strictSame(headingsOf(blank), ['New comment'])
  const edit = pages.edit(rowOf(3), viewOf(location))
  t.strictSame(formsOf(edit), { 'Save changes': ['/posts/7/comments', '_method=PUT,id=3,_version=1'] })
  t.match(edit, 'value="T 3"')
  t.match(edit, 'name="comment[?][was]"')
  t.strictSame(headingsOf(edit), ['Edit comment 3'])
  const way = [['Post 7', '/posts/7'], ['Comments', '/posts/7/comments'], ['Comment 3', '/posts/7/comments/3']]
  t.strictSame(crumbsOf(edit), way)
  t.strictSame(crumbsOf(pages.problem(missing, viewOf(location, { input: inputOf({ id: 3 }) }))), way,
    'a refused form has the same breadcrumbs')
  const idle = makePages({ newSegment: 'new', editSegment: 'edit', actions: ['list', 'show'] })
  for (const page of [idle.page([rowOf(3)], pageViewOf(location)), idle.record(rowOf(3), viewOf(location))]) {
    t.notMatch(page, /\/(?:new|edit)"/, 'a form without an action is not linked to')
  }
  for (const page of [idle.blank(viewOf(location)), idle.edit(rowOf(3), viewOf(location))]) {
    t.strictSame(formsOf(page), {}, 'a form without an action is not shown')
  }
  t.strictSame(crumbsOf(
    makePages({ editSegment: 'edit', actions: ['list', 'update'] }).edit(rowOf(3), viewOf(location))
  ),
  way.slice(0, 2), 'a row without a page is not among the breadcrumbs')
})

t.test('a custom action is a link or a button', async (t) => {
  const pages = makePages(full)
  const list = pages.page([rowOf(3)], pageViewOf(placeIn(7)))
  t.strictSame(linksOf(list).filter(([, href]) => /recent|#new/.test(href)),
    [['Recent', '/posts/7/comments/recent'], ['New comment', '#new']])
  t.strictSame(formsOf(list), {
    'Approve all': ['/posts/7/comments/approve-all', ''],
    'Reset &amp; go': ['/posts/7/comments/reset', '_method=PUT'],
    Archive: ['/posts/7/comments/archive', '_method=DELETE'],
    'Create comment': ['/posts/7/comments', '']
  })
  for (const [version, field] of [['5', '_version=5'], ['6', '_version=6'], ['', ''], ['5', '_version=5']] as const) {
    const record = pages.record(rowOf(3, { version }), viewOf(placeIn(7)))
    const with_ = (...fields: string[]): string => [...fields, field].filter((text) => text !== '').join()
    t.strictSame(linksOf(record).filter(([, href]) => href.startsWith('/posts/7/comments/3/')), [
      ['Recent', '/posts/7/comments/3/recent'], ['Likes', '/posts/7/comments/3/likes'],
      ['Cover image', '/posts/7/comments/3/cover']
    ])
    t.strictSame(formsOf(record), {
      'Approve all': ['/posts/7/comments/3/approve-all', with_()],
      'Reset &amp; go': ['/posts/7/comments/3/reset', with_('_method=PUT')],
      Archive: ['/posts/7/comments/3/archive', with_('_method=DELETE')],
      'Save changes': ['/posts/7/comments', with_('_method=PUT', 'id=3')],
      'Yes, delete it': ['/posts/7/comments', with_('_method=DELETE', 'id=3')]
    })
  }
  const german = makePages({
    ...full, messages: { phrases: { 'Approve all': 'Alle freigeben', 'Cover image': 'Titelbild' } }
  }).record(rowOf(3), viewOf(placeIn(7)))
  t.match(german, '>Alle freigeben</button>')
  t.match(german, '>Titelbild</a>')
})

t.test('a row without a version has none in any form', async (t) => {
  const [pages, row] = [makePages(), rowOf(3, { version: '' })]
  for (const page of [pages.record(row, viewOf(top)), pages.edit(row, viewOf(top)), pages.stale(row, viewOf(top)),
    pages.stale(row, viewOf(top, { input: inputOf() }))]) {
    t.match(page, 'name="_method"')
    t.notMatch(page, '_version')
  }
  t.match(pages.record(rowOf(3), viewOf(top)), 'name="_version" value="1"', 'another row has a version')
})

t.test('a singleton has a page without an id', async (t) => {
  const pages = makePages({ ...profile, ...full })
  for (const id of [1, '', 'secret']) {
    const record = pages.record(rowOf(id), viewOf(atProfile))
    t.strictSame(headingsOf(record), ['Profile', 'Edit profile'])
    t.equal(elementsOf(record).find(({ name }) => name === 'title')?.text, 'Profile')
    t.match(record, '<p>Profile will be deleted permanently.</p>')
    t.notMatch(record, /<dt>Id<|name="id"|secret.*<\/dd>.*Id/)
    t.strictSame(formsOf(record), {
      'Approve all': ['/profile/approve-all', '_version=1'],
      'Reset &amp; go': ['/profile/reset', '_method=PUT,_version=1'],
      Archive: ['/profile/archive', '_method=DELETE,_version=1'],
      'Save changes': ['/profile', '_method=PUT,_version=1'],
      'Yes, delete it': ['/profile', '_method=DELETE,_version=1']
    })
    t.strictSame(linksOf(record), [['Recent', '/profile/recent'], ['Edit', '#edit'], ['Likes', '/profile/likes'],
      ['Cover image', '/profile/cover'], ['Cancel', '/profile'], ['XML', '/profile.xml'], ['JSON', '/profile.json']])
  }
  const cover: Location = {
    collection: '/posts/7/profile',
    members: '/posts/7/profile',
    parent: {
      resource: { plural: 'posts', singular: 'post', singleton: false },
      id: 7,
      path: '/posts/7',
      list: undefined,
      parent: undefined
    }
  }
  const nested = makePages({ ...profile, path: '/posts/:postId/profile' })
  t.strictSame(crumbsOf(nested.record(rowOf(1), viewOf(cover))), [['Post 7', '/posts/7']])
  t.strictSame(targetsOf(nested.record(rowOf(1), viewOf(cover))), ['/posts/7', '/posts/7/profile', '/posts/7/profile',
    '/posts/7/profile', '/posts/7/profile.xml', '/posts/7/profile.json'])
  const edit = makePages({ ...profile, editSegment: 'edit', messages: { singular: 'account' } }).edit(rowOf(1),
    viewOf(cover))
  t.strictSame(headingsOf(edit), ['Edit account'])
  t.strictSame(crumbsOf(edit), [['Post 7', '/posts/7'], ['Account', '/posts/7/profile']])
  t.strictSame(formsOf(edit), { 'Save changes': ['/posts/7/profile', '_method=PUT,_version=1'] })
  t.strictSame(formsOf(makePages({ ...profile, memberWrites: true }).stale(rowOf(1), viewOf(cover))), {
    'Yes, delete it': ['/posts/7/profile', '_method=DELETE,_version=1']
  })
})

t.test('the page of a missing singleton has the form to create it', async (t) => {
  const pages = makePages(profile)
  const thrown = new NothingHereError('profile')
  const none = pages.problem({ ...missing, detail: thrown.message }, viewOf(atProfile, { thrown }))
  t.strictSame(headingsOf(none), ['This profile does not exist', 'New profile'])
  t.strictSame(formsOf(none), { 'Create profile': ['/profile', ''] })
  t.strictSame(formsOf(pages.problem({ ...missing, status: 503 }, viewOf(atProfile))), {})
  t.strictSame(formsOf(makePages({ ...profile, actions: ['show', 'update'] }).problem(missing, viewOf(atProfile))), {})
  t.strictSame(formsOf(makePages().problem(missing, viewOf(top))), {}, 'a 404 of a list offers no form')
})

t.test('a refused form of a singleton comes back as create or update', async (t) => {
  const pages = makePages(profile)
  const invalid = {
    status: 422, title: 'Unprocessable Entity', detail: 'title must be given', errors: { title: ['must be given'] }
  } as unknown as Problem
  const cases: Array<[input: Partial<Input>, heading: string, hidden: string]> = [
    [{}, 'New profile', ''],
    [{ version: '2' }, 'Edit profile', '_method=PUT,_version=2'],
    [{ row: rowOf(1) }, 'Edit profile', '_method=PUT'],
    [{ version: '2', row: rowOf(1) }, 'Edit profile', '_method=PUT,_version=2']
  ]
  for (const [input, heading, hidden] of cases) {
    const page = pages.problem(invalid, viewOf(atProfile, { input: inputOf(input) }))
    t.equal(headingsOf(page)[0], heading, JSON.stringify(input))
    t.strictSame(Object.values(formsOf(page)), [['/profile', hidden]])
    t.notMatch(page, 'name="id"')
  }
})

t.test('links show and hide the columns of a list with more than eight attributes', async (t) => {
  const text = { type: 'string' }
  const [people, books] = [memoryStore(), memoryStore()]
  people.create({ name: 'Ann' }, {})
  books.create({ personId: 1, a: 'A' }, {})
  const attributes = schemaOf({
    ...Object.fromEntries(['firstName', 'lastName', 'a', 'b', 'c', 'd', 'e', 'f'].map((name) => [name, text])),
    secret: { ...text, writeOnly: true }
  })
  const { app: few } = await seeded(t, [{ a: 'A' }], { attributes, html: {} })
  t.notMatch((await get(few, '/posts')).body, 'Columns', 'eight attributes all have columns')
  const more = { ...attributes, properties: { ...attributes.properties, g: text } }
  const { app } = await seeded(t, [{ firstName: 'Ann', lastName: 'Lee', a: 'A' }], {
    attributes: more, sort: ['lastName'], html: {}
  })
  const name = 'firstName%2ClastName'
  const cases: ReadonlyArray<readonly [url: string, heads: string[], links: Record<string, string>]> = [
    ['/posts', ['Post', 'Id', 'A', 'B', 'C', 'D', 'E', 'F'], {
      'A \u00d7': `${name}%2Cb%2Cc%2Cd%2Ce%2Cf`, '+ G': `${name}%2Ca%2Cb%2Cc%2Cd%2Ce%2Cf%2Cg`
    }],
    [`/posts?only=${name}%2Ca%2Cg`, ['Post', 'Id', 'A', 'G'], {
      'G \u00d7': `${name}%2Ca`, '+ B': `${name}%2Ca%2Cb%2Cg`
    }],
    // The last column stays.
    [`/posts?only=${name}%2Cg`, ['Post', 'Id', 'G'], { '+ A': `${name}%2Ca%2Cg` }],
    ['/posts?only=a', ['Id', 'A'], { '+ B': 'a%2Cb' }]
  ]
  for (const [url, heads, links] of cases) {
    const elements = isSound(t, await get(app, url), 200)
    const found = elements.filter(({ name, attributes }) => name === 'th' && attributes.scope === 'col')
    t.strictSame(found.map(({ text }) => text), heads, url)
    for (const [label, only] of Object.entries(links)) {
      t.strictSame(hrefsOf(elements, label), [`/posts?only=${only}`], `${url}: ${label}`)
    }
    t.equal(elements.filter(({ text }) => text === 'G \u00d7').length > 0, links['G \u00d7'] !== undefined, url)
    t.equal(elements.some(({ name, attributes }) => name === 'details' && attributes.open === 'open'), url !== '/posts')
  }
  const included = await draft(t, (map) => map
    .resources('people', { attributes: schemaOf({ name: text }), store: people })
    .resources('books', {
      attributes: schemaOf({
        personId: { type: 'integer' }, ...Object.fromEntries('abcdefgh'.split('').map((name) => [name, text]))
      }),
      store: books,
      references: { personId: 'people' },
      html: { title: 'id' }
    }))
  const elements = isSound(t, await get(included, '/books?include=person&only=a'), 200)
  t.strictSame(hrefsOf(elements, 'A \u00d7'), [], 'an included row is no column to choose')
  t.strictSame(hrefsOf(elements, '+ B'), ['/books?include=person&only=a%2Cb'])
  t.strictSame(hrefsOf(isSound(t, await get(app, '/posts'), 200), 'Post'), ['/posts?sort=lastName'],
    'the name of a person is sorted by its last part')
  for (const length of [5, 900]) {
    const { body } = await get(app, `/posts?a=${'a'.repeat(length)}`)
    t.equal(body.includes('Columns</summary>'), length === 5, 'a long query is not repeated')
  }
})

/** Returns the foot of a table: its heading, and its sums by the columns. */
function sumsOf (body: string): [label?: string, sums?: Record<string, string>] {
  const [, label, cells = ''] = /<tfoot><tr><th scope="row">(.*?)<\/th>(.*?)<\/tr>/.exec(body) ?? []
  const sums = [...cells.matchAll(/data-label="(.*?)" class="number">(.*?)</g)].map(([, name, sum]) => [name, sum])
  return label === undefined ? [] : [label, Object.fromEntries(sums)]
}

t.test('a sum of a column is exact', async (t) => {
  const decimal = { type: ['string', 'null'], format: 'decimal' }
  const cases: ReadonlyArray<readonly [schema: object, values: unknown[], sum: string | undefined, lang?: string]> = [
    [{ ...decimal, precision: 10, scale: 2 }, ['0.10', '0.20', null, '1234.5'], '1,234.80'],
    [{ ...decimal, precision: 10, scale: 2 }, ['1234.5'], '1.234,50', 'de'],
    [{ ...decimal, precision: 10, scale: 2 }, [null], '0.00'],
    [decimal, ['1.10', '0.005', '-3'], '-1.895'],
    [decimal, ['-0.05', '0.01'], '-0.04'],
    [decimal, ['99999999999999999999.99', '0.01'], '100,000,000,000,000,000,000.00'],
    [{ type: 'number' }, [0.1, 0.2], '0.3'],
    [{ type: 'number' }, [0.1 + 0.2, 12.5, 0.2], '13'],
    [{ type: 'number' }, [1e21, 1, 1.5e-7], '1,000,000,000,000,000,000,001.00000015'],
    [{ type: 'number', multipleOf: 0.01 }, [19.9, 0.1], '20.00'],
    [{ type: ['integer', 'null'] }, [null, 9007199254740991, 9007199254740991, -0], '18,014,398,509,481,982'],
    [{ type: 'integer', format: 'int64' }, ['9007199254740993', 9, '-9007199254740995'], '7'],
    [{ type: 'integer', enum: [1, 2, 3] }, [3, 3, 1], '7'],
    [{ type: 'number' }, [1, Infinity], undefined],
    [{ type: 'number' }, [1, 'x'], undefined],
    [decimal, ['1', `${'9'.repeat(401)}`], undefined]
  ]
  for (const [schema, values, sum, lang = 'en'] of cases) {
    const rows = values.map((total) => ({ total })) as unknown as Array<Record<string, string>>
    const { app } = await seeded(t, rows, { attributes: schemaOf({ total: schema }), html: { lang } })
    const { body } = await get(app, '/posts?sum=total&limit=1')
    const label = lang === 'de' ? 'Summe (1 Post)' : `Sum (${values.length} post${values.length === 1 ? '' : 's'})`
    t.strictSame(sumsOf(body), [label, sum === undefined ? {} : { Total: sum }], JSON.stringify([schema, values]))
    t.equal(body.includes('<p>Total has no sum, because some of its values are not numbers.</p>'), sum === undefined)
  }
})

const order = schemaOf({
  title: { type: 'string' },
  status: { enum: ['open', 'paid'] },
  gift: { type: 'boolean' },
  tenant: { type: 'string' },
  total: { type: 'integer' },
  tax: { type: 'integer' },
  sum: { type: 'integer' },
  secret: { type: 'integer', writeOnly: true },
  level: { oneOf: [{ const: 1, title: 'Low' }, { const: 2, title: 'High' }] },
  authorId: { type: 'integer' }
})
const orders = Array.from({ length: 120 }, (_, index) => ({
  ...{ title: `${index % 3 === 0 ? 'tea' : 'ink'} ${index}`, total: index, tax: 1, sum: 2, secret: 7 },
  ...{ status: index % 4 === 0 ? 'paid' : 'open', gift: index % 2 === 0, tenant: index % 5 === 0 ? 'a' : 'b' },
  ...{ level: 1, authorId: 1 }
}))

t.test('sums and numbers of categories are those of the rows that the request may list', async (t) => {
  const { app, store } = await seeded(t, orders, {
    attributes: order,
    scope: ({ headers }) => headers['x-all'] === undefined ? { tenant: 'b' } : {},
    roles: { all: {}, clerk: { hidden: ['total', 'gift'] } },
    role: ({ headers }) => headers['x-role'] === 'clerk' ? 'clerk' : 'all'
  })
  const ask = async (url: string, more = {}): Promise<string> => {
    const res = await app.inject({ url, headers: { accept: 'text/html', ...more } })
    t.equal(res.headers.etag, undefined, 'a list has no tag')
    isSound(t, res, 200, url)
    return res.body
  }
  const numbersOf = (body: string): string[] =>
    [...body.matchAll(/<a class="chip" href="[^"]*"( aria-current="true")?>(\w+) <span>(\d+)<\/span>/g)]
      .map(([, current = '', value, rows]) => `${value} ${rows}${current && ' chosen'}`)
  type Post = { readonly status: string, readonly gift: boolean, readonly total: number }
  const queries = ['', 'q=tea', 'status=paid', 'total[gte]=50&sort=-total', 'q=tea&status=open&gift=true', 'q=none']
  for (const query of queries) {
    for (const more of [{}, { 'x-all': '1' }]) {
      const list = async (query: string): Promise<readonly Post[]> =>
        (await app.inject({ url: `/posts.json?${query}`, headers: more })).json<{ posts: readonly Post[] }>().posts
      const posts = await list(query)
      const count = async (name: string, value: string): Promise<string> => {
        const others = await list(query.split('&').filter((part) => !part.startsWith(name)).join('&'))
        const { length } = others.filter((post) => String(post[name as keyof Post]) === value)
        return `${length}${query.includes(`${name}=${value}`) ? ' chosen' : ''}`
      }
      const body = await ask(`/posts?${query}&sum=total,sum&limit=7`.replace('?&', '?'), more)
      const total = String(posts.reduce((sum, post) => sum + post.total, 0))
      t.strictSame(sumsOf(body.replace(/(\d),(\d)/, '$1$2')), posts.length === 0
        ? []
        : [`Sum (${posts.length} posts)`, { Total: total, Sum: String(2 * posts.length) }], query)
      t.strictSame(numbersOf(body), [
        ...[`open ${await count('status', 'open')}`, `paid ${await count('status', 'paid')}`],
        ...[`yes ${await count('gift', 'true')}`, `no ${await count('gift', 'false')}`],
        ...[`Low ${posts.length}`, 'High 0']
      ], query)
    }
  }
  const paid = elementsOf(await ask('/posts?gift=1&status=paid'))
  t.strictSame([hrefsOf(paid, 'paid 24 \u00d7'), hrefsOf(paid, 'open 24'), hrefsOf(paid, 'yes 24 \u00d7')],
    [['/posts?gift=1'], ['/posts?gift=1&status=open'], ['/posts?status=paid']], 'the chosen value is taken off')
  for (const query of ['status[not]=paid', 'status=paid&status[null]=false', 'status=']) {
    t.notMatch(await ask(`/posts?${query}`), 'aria-label="Status"', query)
  }
  const clerk = { 'x-role': 'clerk' }
  t.strictSame(numbersOf(await ask('/posts', clerk)), ['open 72', 'paid 24', 'Low 96', 'High 0'])
  const refused = await app.inject({ url: '/posts?sum=total', headers: { accept: 'text/html', ...clerk } })
  t.match(refused, { statusCode: 400, body: 'names &quot;total&quot;, which is not a column of numbers' })
  const before = sumsOf(await ask('/posts?sum=total'))
  store.update(120, { total: 1119 }, { version: undefined, scope: {} })
  t.strictSame([before, sumsOf(await ask('/posts?sum=total', { 'if-none-match': '*' }))],
    [['Sum (96 posts)', { Total: '5760' }], ['Sum (96 posts)', { Total: '6760' }]], 'a row of another page has changed')
})

t.test('a sum of anything but a column of numbers is refused, and only pages have sums', async (t) => {
  const references = { authorId: { to: 'posts', check: false } }
  const { app } = await seeded(t, orders, { attributes: order, references })
  for (const name of 'title gift level authorId secret id missing Total __proto__ total,title'.split(' ')) {
    const res = await get(app, `/posts?sum=${name}`)
    t.match(res, { statusCode: 400, body: 'which is not a column of numbers on this page' }, name)
  }
  t.match(await get(app, '/posts?only=title&sum=total'), { statusCode: 400, body: 'names &quot;total&quot;, which' })
  t.match(await get(app, '/posts?sum='), { statusCode: 400, body: 'by commas, such as &quot;total,tax&quot;' })
  t.match(await get(app, '/posts?sum=tax,tax'), { statusCode: 400, body: 'names &quot;tax&quot; twice' })
  t.match(await get(app, '/posts?sum=tax&sum=total'), { statusCode: 400, body: 'sum' })
  t.match(await get(app, '/posts/1?sum=tax'), { statusCode: 400, body: '&quot;sum&quot; is unknown' })
  for (const format of ['json', 'xml']) {
    t.match(await app.inject(`/posts.${format}?sum=total`), {
      statusCode: 400, body: /sum.* is not a parameter of \w+; leave it out, or ask for text\/html/
    })
  }
  t.match((await app.inject('/posts.json?sum[in]=2&limit=1')).json(), { posts: [{ id: 1 }] }, 'an attribute')
  const attributes = schemaOf({ total: { type: 'integer' }, status: { enum: ['open', 'paid'] } })
  const { app: own } = await seeded(t, orders, { attributes, actions: { list: ({ proceed }) => proceed() } })
  t.match(await get(own, '/posts?sum=total'), { statusCode: 400, body: '&quot;sum&quot; is unknown' })
  t.notMatch((await get(own, '/posts')).body, />Sum<|<span>\d/, 'a handler lists rows of its own')
  const { app: open } = await seeded(t, [{ total: 1 }])
  t.match(await get(open, '/posts?sum=total'), { statusCode: 400, body: 'which is not a column of numbers' })
})

t.test('links keep the sums of the columns that stay, and a page of large rows has them too', async (t) => {
  const { app } = await seeded(t, orders.slice(0, 3).map((row) => ({ ...row, title: 'x'.repeat(3_000_000) })), {
    attributes: order, formats: [htmlFormat(), csv(), json()]
  })
  const { body } = await get(app, '/posts?sum=tax,total&only=title,tax,total&limit=2')
  t.strictSame(sumsOf(body), ['Sum (3 posts)', { Total: '3', Tax: '3' }])
  const elements = elementsOf(body)
  const kept = 'only=title%2Ctax%2Ctotal&limit=2'
  for (const [label, href] of [
    ['Title', `/posts?sum=tax%2Ctotal&${kept}&sort=title`],
    ['Tax \u00d7', '/posts?sum=total&only=title%2Ctotal&limit=2'],
    ['+ Level', '/posts?sum=tax%2Ctotal&only=title%2Ctotal%2Ctax%2Clevel&limit=2'],
    ['open 2', `/posts?sum=tax%2Ctotal&${kept}&status=open`]
  ] as const) t.ok(hrefsOf(elements, label).includes(href), `${label}: ${hrefsOf(elements, label).join(' ')}`)
  t.ok(hrefsOf(elements, 'Total \u00d7').includes(`/posts?sum=tax&${kept}`), 'the sum alone is hidden')
  t.match(hrefsOf(elements, 'Next page'), [/^\/posts\?sum=tax%2Ctotal&.*after=/])
  for (const label of ['JSON', 'CSV']) t.notMatch(hrefsOf(elements, label).join(), 'sum', 'other formats have no sums')
})
