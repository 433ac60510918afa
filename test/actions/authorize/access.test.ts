import t from 'tap'
import { memoryStore } from '../../../lib/index.js'
import {
  type Access, type AccessRequest, type CheckAccess, compileAccessCheck, findParameters, findParent, findShown,
  isOfParent
} from '../../../lib/core/actions/authorize/authorize.js'
import {
  type AccessContext, type Authorize, type AuthorizeContext, constrainParents, type FindScope, type GuardedResource,
  type ParentLink
} from '../../../lib/core/actions/authorize/level.js'
import { makeResource } from '../../../lib/core/resource/resource.js'
import type { Row, Scope } from '../../../lib/core/resource/row.js'

/** A resource of a path, with what it was asked. */
interface Level extends GuardedResource {
  readonly asked: AuthorizeContext[]
  /** The ids and the scopes of the calls of `get`. */
  readonly read: unknown[]
}

interface Parts extends Partial<Omit<GuardedResource, 'authorize' | 'scope' | 'target'>> {
  readonly answer?: (attempt: AuthorizeContext) => unknown
  readonly scopes?: readonly unknown[]
  readonly singleton?: boolean
  readonly key?: readonly string[]
  readonly rows?: readonly object[]
}

/** Makes a resource with these rows, whose ids are 1, 2 and so on. */
function makeLevel (
  plural: string, { answer, scopes = [], singleton = false, key = [], rows = [], ...parts }: Parts = {}
): Level {
  const [asked, read]: [AuthorizeContext[], unknown[]] = [[], []]
  const kept = memoryStore()
  for (const row of rows) kept.create({ ...row }, {})
  const store = Object.create(kept, {
    get: {
      value (id: number, scope: Scope) {
        read.push([id, scope])
        return kept.get(id, scope)
      }
    }
  })
  const place = {
    plural,
    singular: plural.slice(0, -1),
    path: `/${plural}`,
    memberWrites: false,
    singleton,
    foreignKey: undefined,
    longestId: 100,
    actions: new Set(['show'] as const),
    key
  }
  const authorize: Authorize = (_request, attempt) => {
    asked.push(attempt)
    return answer?.(attempt) as boolean
  }
  return {
    target: {
      resource: makeResource(place, 'integer', { type: 'object', properties: { code: { type: 'string' } } }),
      store,
      scope: {}
    },
    authorize: answer === undefined ? [] : [authorize],
    scope: scopes.map((found): FindScope => () => found as Scope),
    param: undefined,
    idChecks: [],
    parameterChecks: [],
    foreignKey: undefined,
    parentLink: undefined,
    ...parts,
    asked,
    read
  }
}

const link = (level: GuardedResource, parts: Partial<ParentLink> = {}): ParentLink =>
  ({ level, foreignKey: 'postId', param: 'postId', idChecks: [], ...parts })
const yes = (): boolean => true
const isEven = (text: string): boolean => typeof text === 'string' && Number(text) % 2 === 0

function contextOf (params: Readonly<Record<string, string>> = {}): AccessContext {
  return { request: { params } as unknown as AccessContext['request'], signal: new AbortController().signal }
}

const show = (id?: number): AccessRequest => ({ action: 'show', id, isCustom: false })

async function check (
  parents: readonly Level[],
  level: Level,
  access: AccessRequest = show(1),
  params: Readonly<Record<string, string>> = {}
): Promise<Access> {
  const compiled = compileAccessCheck(parents, level) as CheckAccess
  return compiled(access, contextOf(params))
}

async function errorOf (promise: Promise<unknown>): Promise<readonly [
  status: number, message: string, ofParent: boolean
]> {
  try {
    await promise
    return [200, '', false]
  } catch (error) {
    const { statusCode, message } = error as { statusCode: number, message: string }
    return [statusCode, message, isOfParent(error)]
  }
}

async function faultOf (...asked: Parameters<typeof check>): ReturnType<typeof errorOf> {
  return errorOf(check(...asked))
}

t.test('access is checked if anything restricts it: a parameter, a parent, an authorize or a scope', async (t) => {
  const open = makeLevel('posts')
  const cases: ReadonlyArray<readonly [parents: readonly Level[], level: Level, isChecked: boolean]> = [
    [[], open, false],
    [[], makeLevel('comments', { parentLink: link(open) }), false],
    [[open], makeLevel('comments'), true],
    [[], makeLevel('posts', { answer: yes }), true],
    [[], makeLevel('posts', { scopes: [{}] }), true],
    [[], makeLevel('posts', { parameterChecks: [['year', yes]] }), true],
    [[], makeLevel('comments', { parentLink: link(open, { idChecks: [yes] }) }), true],
    [[], makeLevel('comments', { parentLink: link(makeLevel('posts', { answer: yes })) }), true],
    [
      [],
      makeLevel(
        'replies',
        { parentLink: link(makeLevel('comments', { parentLink: link(makeLevel('posts', { scopes: [{}] })) })) }
      ),
      true
    ]
  ]
  for (const [index, [parents, level, isChecked]] of cases.entries()) {
    t.equal(compileAccessCheck(parents, level) !== undefined, isChecked, String(index))
  }
})

t.test('a parameter that does not fit its constraint is a 404 before anything is asked', async (t) => {
  const level = makeLevel('posts', { answer: yes, parameterChecks: [['year', isEven]], rows: [{}] })
  const parent = makeLevel('blogs', { parameterChecks: [['month', isEven]], param: 'blogId', rows: [{}] })
  t.strictSame(await faultOf([], level, show(1), { year: '3' }), [404, 'there is no post here', false])
  t.strictSame(level.asked, [])
  t.equal((await faultOf([], level, show(1), { year: '4' }))[0], 200)
  t.match(await faultOf([parent], level, show(1), { year: '4', month: '3', blogId: '1' }), [404, /no post here/])
})

t.test('authorize learns the action, its row and the number of rows, that of a parent just a show', async (t) => {
  const parent = makeLevel('blogs', { answer: yes, param: 'blogId', rows: [{}] })
  const level = makeLevel('posts', { answer: yes, rows: [{}, {}] })
  await check([parent], level, { action: 'update', id: 2, isCustom: false, rows: 3, dryRun: true }, { blogId: '1' })
  const { row, ...own } = level.asked[0] as AuthorizeContext
  t.strictSame(own, { action: 'update', resource: 'posts', id: 2, rows: 3, dryRun: true })
  t.equal(typeof row, 'function')
  const { row: parentRow, ...above } = parent.asked[0] as AuthorizeContext
  t.strictSame(above, { action: 'show', resource: 'blogs', id: 1 })
  t.equal(typeof parentRow, 'function')
  await check([], level, { action: 'list', id: undefined, isCustom: false })
  t.strictSame(level.asked[1], { action: 'list', resource: 'posts' })
  const singleton = makeLevel('profiles', { answer: yes, singleton: true, rows: [{}] })
  for (const action of ['show', 'create', 'new', 'update']) {
    await check([], singleton, { action, id: undefined, isCustom: false })
  }
  t.strictSame(singleton.asked.map(({ resource, ...asked }) => [resource, 'row' in asked, 'id' in asked]),
    [['profile', true, false], ['profile', false, false], ['profile', false, false], ['profile', true, false]])
})

t.test('any answer but true refuses, and names the action to which a form leads', async (t) => {
  const cases: ReadonlyArray<readonly [
    answer: unknown, access: Partial<AccessRequest>, status: number, message: RegExp
  ]> = [
    [true, {}, 200, /^$/],
    [false, {}, 403, /show/],
    ['yes', {}, 403, /show/],
    [1, {}, 403, /show/],
    [undefined, {}, 403, /show/],
    ['hide', {}, 404, /no post with the id 1/],
    ['hide', { id: undefined, action: 'list' }, 404, /no post here/],
    [false, { action: 'new', id: undefined }, 403, /create/],
    [false, { action: 'edit' }, 403, /update/],
    [false, { action: 'edit', isCustom: true }, 403, /edit/],
    [false, { action: 'delete' }, 403, /delete/]
  ]
  for (const [answer, access, status, message] of cases) {
    const level = makeLevel('posts', { answer: async () => answer, rows: [{}] })
    const found = await faultOf([], level, { ...show(1), ...access })
    t.match(found, [status, message, false], JSON.stringify([answer, access]))
  }
})

t.test('each authorize must allow, the first refusal counts, and parents are asked first', async (t) => {
  const calls: string[] = []
  const note = (name: string, answer: unknown) => (): unknown => {
    calls.push(name)
    return answer
  }
  const params = { blogId: '1' }
  const level = makeLevel('posts', { answer: note('post', true), rows: [{}] })
  const hidden = makeLevel('blogs', { answer: note('blog', 'hide'), param: 'blogId', rows: [{}] })
  t.match(await faultOf([hidden], level, show(1), params), [404, /no blog with the id 1/, true])
  t.match(
    await faultOf([makeLevel('blogs', { answer: note('blog', false), param: 'blogId' })], level, show(1), params),
    [403, /show/, false]
  )
  t.match(
    await faultOf(
      [makeLevel('blogs', { answer: note('blog', true), param: 'blogId', rows: [{}] })], level, show(1), params
    ),
    [200]
  )
  t.strictSame(calls, ['blog', 'blog', 'blog', 'post'])
  const two = { ...level, authorize: [...level.authorize, () => false] }
  t.match(await faultOf([], two), [403])
})

t.test('a row is read once within the scope, and is the one that the write must find', async (t) => {
  const level = makeLevel('posts', {
    rows: [{ owner: 'ann' }],
    scopes: [{ owner: 'ann' }],
    answer: async ({ row }) => new Set([await row?.(), await row?.()]).size === 1
  })
  const found = await check([], level)
  t.match(found, { hasLooked: true, authorizedRow: { id: 1 }, target: { scope: { owner: 'ann' } }, parents: [] })
  t.equal(found.target.store, level.target.store)
  t.strictSame(level.read, [[1, { owner: 'ann' }]])
  const missing = await check(
    [], makeLevel('posts', { answer: async ({ row }) => (await row?.()) === undefined }), show(9)
  )
  t.match(missing, { hasLooked: true, authorizedRow: undefined })
  const unasked = await check([], makeLevel('posts', { answer: yes, rows: [{}] }))
  t.match(unasked, { hasLooked: false, authorizedRow: undefined })
})

t.test('a row of authorize may be forgotten, even if the store fails', async (t) => {
  const level = makeLevel('posts', { answer: ({ row }) => { row?.(); return true } })
  const failing = {
    ...level,
    target: { ...level.target, store: { ...level.target.store, get: async () => { throw new Error('broken') } } }
  }
  t.match(await faultOf([], failing as unknown as Level), [200])
  await new Promise((resolve) => { setImmediate(resolve) })
})

t.test('the parents of a path must exist, and the row must reference them', async (t) => {
  const blogs = makeLevel('blogs', { param: 'blogId', rows: [{}, {}], idChecks: [(text) => text !== '9'] })
  const posts = makeLevel('posts', { foreignKey: 'blogId', param: 'postId', rows: [{ blogId: 1 }, { blogId: 2 }] })
  const comments = makeLevel('comments', { foreignKey: 'postId' })
  const cases: ReadonlyArray<readonly [blogId: string, postId: string, status: number, message: RegExp]> = [
    ['1', '1', 200, /^$/],
    ['2', '2', 200, /^$/],
    ['1', '2', 404, /no post with the id 2/],
    ['3', '1', 404, /no blog with the id 3/],
    ['1', '5', 404, /no post with the id 5/],
    ['x', '1', 404, /no blog with the id "x"/],
    ['01', '1', 404, /no blog with the id "01"/],
    ['9', '1', 404, /no blog with the id 9/]
  ]
  for (const [blogId, postId, status, message] of cases) {
    t.match(
      await faultOf([blogs, posts], comments, show(1), { blogId, postId }), [status, message, status === 404],
      `${blogId} ${postId}`
    )
  }
  const found = await check([blogs, posts], comments, show(undefined), { blogId: '2', postId: '2' })
  t.match(found, { target: { scope: { postId: 2 } }, hasLooked: false })
  t.strictSame(found.parents.map(({ id }) => id), [2, 2])
  const free = await check([blogs], makeLevel('posts'), show(1), { blogId: '1' })
  t.strictSame(free.target.scope, {}, 'a resource without a foreign key is not restricted by its parent')
  t.strictSame((await check([], makeLevel('posts', { foreignKey: 'blogId', answer: yes }))).target.scope, {})
})

t.test('a scope that has another parent than the path hides the parent', async (t) => {
  const blogs = makeLevel('blogs', { param: 'blogId', rows: [{}] })
  const posts = (blogId: unknown): Level => makeLevel(
    'posts', { foreignKey: 'blogId', scopes: [{ blogId, lang: 'en' }] }
  )
  t.match(await faultOf([blogs], posts(2), show(1), { blogId: '1' }), [404, /no blog with the id 1/, true])
  const { target: { scope } } = await check([blogs], posts(1), show(1), { blogId: '1' })
  t.strictSame(scope, { blogId: 1, lang: 'en' })
})

t.test('a row references the key of its parent, or the row of a singleton', async (t) => {
  const keyed = makeLevel('blogs', { param: 'blogId', key: ['code'], rows: [{ code: 'b' }] })
  const posts = makeLevel('posts', { foreignKey: 'blogCode' })
  t.strictSame((await check([keyed], posts, show(1), { blogId: '1' })).target.scope, { blogCode: 'b' })
  t.match(await faultOf([keyed], posts, show(1), { blogId: '5' }), [404, /no blog with the id 5/, true])
  const profile = makeLevel('profiles', { singleton: true, rows: [{}] })
  const notes = makeLevel('notes', { foreignKey: 'profileId' })
  t.strictSame((await check([profile], notes)).target.scope, { profileId: 1 })
  const none = makeLevel('profiles', { singleton: true, answer: yes })
  t.match(await faultOf([none], notes), [404, /no profile here/, true])
  const looking = async ({ row }: AuthorizeContext): Promise<boolean> => (await row?.()) !== undefined
  const missing = makeLevel('blogs', { param: 'blogId', key: ['code'], answer: async (asked) => !await looking(asked) })
  const child = makeLevel('posts', { foreignKey: 'blogCode', answer: looking, rows: [{}] })
  t.match(await faultOf([missing], child, show(1), { blogId: '5' }), [404, /no blog with the id 5/, true])
})

t.test('a shallow row is hidden with its parents, whether the path begins with it or ends there', async (t) => {
  const guarded = (answer: unknown): Level => makeLevel('posts', { answer: () => answer, rows: [{}, {}] })
  const scoped = (owner: string): Level => makeLevel('posts', { scopes: [{ owner: 'ann' }], rows: [{ owner }] })
  const inBlog = (answer: unknown): Level => makeLevel('posts', {
    rows: [{ blogId: 1 }],
    parentLink: link(makeLevel('blogs', { answer: () => answer, rows: [{}] }), { foreignKey: 'blogId' })
  })
  const rows = [{ postId: 1 }, { postId: null }, { postId: 7 }, { postId: true }]
  const comments = (parent: ParentLink, parts: Parts = {}): Level =>
    makeLevel('comments', { rows, parentLink: parent, ...parts })
  const cases: ReadonlyArray<readonly [level: Level, id: number, status: number]> = [
    [comments(link(guarded(true))), 1, 200],
    [comments(link(guarded('hide'))), 1, 404],
    [comments(link(guarded(false))), 1, 403],
    [comments(link(guarded(true))), 2, 404],
    [comments(link(guarded(true))), 3, 404],
    [comments(link(guarded(true))), 4, 404],
    [comments(link(guarded(true))), 9, 404],
    [comments(link(makeLevel('posts'), { idChecks: [(text) => text === '1'] })), 1, 200],
    [comments(link(makeLevel('posts'), { idChecks: [yes, (text) => text !== '1'] })), 1, 404],
    [comments(link(makeLevel('posts')), { answer: yes }), 2, 200],
    [comments(link(inBlog('hide'))), 1, 404],
    [comments(link(inBlog(true))), 1, 200],
    [comments(link(scoped('bob'))), 1, 404],
    [comments(link(scoped('ann'))), 1, 200]
  ]
  for (const [index, [level, id, status]] of cases.entries()) {
    const [found, message, ofParent] = await faultOf([], level, show(id))
    t.strictSame([found, ofParent], [status, false], String(index))
    if (status === 404) t.match(message, `no comment with the id ${id}`)
    const replies = makeLevel('replies', { foreignKey: 'commentId' })
    const [above, , isAbove] = await faultOf(
      [{ ...level, param: 'commentId' }], replies, show(1), { commentId: String(id) }
    )
    t.strictSame([above, isAbove], [id === 9 ? 404 : status, id === 9 || status === 404], `${index}, as a parent`)
  }
})

t.test('a shallow row whose parent was checked is the one that the write must find', async (t) => {
  const posts = makeLevel('posts', { answer: async ({ row }) => (await row?.())?.id === 1, rows: [{}] })
  const comments = makeLevel('comments', { parentLink: link(posts), rows: [{ postId: 1 }] })
  t.match(await check([], comments), { hasLooked: true, authorizedRow: { id: 1 } })
  t.match(posts.asked, [{ action: 'show', resource: 'posts', id: 1 }])
  t.equal(posts.read.length, 1)
  const profile = makeLevel('profiles', { singleton: true, answer: yes, rows: [{}] })
  await check([], makeLevel('notes', { parentLink: link(profile), rows: [{ postId: 1 }] }))
  t.strictSame(profile.asked.map((asked) => 'id' in asked), [false])
})

t.test('a lookup asks the parents alone, because the row is asked for when its id is known', async (t) => {
  const lookup = { ...show(undefined), action: 'update', isLookup: true }
  const blogs = makeLevel('blogs', { answer: yes, param: 'blogId', rows: [{}] })
  const posts = makeLevel('posts', { answer: () => false, foreignKey: 'blogId', scopes: [{ lang: 'en' }] })
  t.strictSame((await check([blogs], posts, lookup, { blogId: '1' })).target.scope, { lang: 'en', blogId: 1 })
  t.strictSame([blogs.asked.length, posts.asked.length], [1, 0])
  const shallow = makeLevel('posts', { parentLink: link(makeLevel('blogs', { answer: () => false })) })
  t.equal((await faultOf([], shallow, lookup))[0], 200)
  const above = makeLevel(
    'posts',
    { rows: [{ postId: 1 }], param: 'id', parentLink: link(makeLevel('blogs', { answer: () => false, rows: [{}] })) }
  )
  t.equal((await faultOf([above], makeLevel('comments', { foreignKey: 'x' }), lookup, { id: '1' }))[0], 403)
})

t.test('a scope is an object of simple values, and two scopes never contradict each other', async (t) => {
  const cases: ReadonlyArray<readonly [scopes: readonly unknown[], found: Scope | RegExp]> = [
    [[{ a: 1, b: 'x', c: true, d: null }], { a: 1, b: 'x', c: true, d: null }],
    [[{ a: 1 }, { b: 2 }, { a: 1 }], { a: 1, b: 2 }],
    [[Object.assign(Object.create(null), { a: 1 })], { a: 1 }],
    [[{ a: 1 }, { a: 2 }], /of posts returns another value of "a" than the scope around it/],
    [[{ a: null }, { a: 1 }], /another value of "a"/],
    [[undefined], /of posts must return an object of attribute values, not undefined/],
    [[[1]], /must return an object/], [['a'], /must return an object/], [[new Map()], /must return an object/],
    [[{ id: 1 }], /returns "id", which is not an attribute/],
    [[{ 'a b': 1 }], /returns "a b", which is not a valid name of an attribute/],
    ...[undefined, NaN, Infinity, {}, [1], () => 1, 1n].map((value) =>
      [[{ a: value }], /returns "a", which must be a text, a number, true, false or null/] as const)
  ]
  for (const [scopes, expected] of cases) {
    const level = makeLevel('posts', { scopes })
    if (expected instanceof RegExp) {
      const [status, message] = await faultOf([], level)
      t.equal(status, 500)
      t.match(message, expected)
    } else t.strictSame((await check([], level)).target.scope, expected)
  }
})

t.test('a row may be shown beside a refusal if its show is allowed, as authorize has seen it', async (t) => {
  const find = async (): Promise<Row> => ({ id: 5, version: '1', attributes: {} })
  const shownBy = async (level: Level): Promise<unknown> =>
    (await findShown(compileAccessCheck([], level) as CheckAccess, 1, contextOf(), find))?.id
  const looking = makeLevel('posts', { answer: async ({ row }) => { await row?.(); return true }, rows: [{}] })
  const blind = makeLevel('posts', { answer: yes, rows: [{}] })
  t.strictSame([await shownBy(looking), await shownBy(blind)], [1, 5])
  t.match(blind.asked, [{ action: 'show', id: 1 }])
  t.equal(await shownBy(makeLevel('posts', { answer: () => false, rows: [{}] })), undefined)
  t.equal(
    await shownBy(makeLevel('posts', { answer: async ({ row }) => { await row?.(); return true } })), undefined,
    'a missing row is not looked for again'
  )
})

t.test('the parent of a shallow row is found if it may be shown, and the parameters that rows name', async (t) => {
  const blogs = makeLevel('blogs', { rows: [{}, {}] })
  const posts = makeLevel(
    'posts',
    {
      answer: () => true,
      rows: [{ blogId: 2 }, {}],
      parentLink: link(blogs, { foreignKey: 'blogId', param: 'blogId' })
    }
  )
  const row = (postId: unknown): Row => ({ id: 1, version: '1', attributes: { postId } })
  const parent = link(posts)
  t.match(await findParent(row(1), parent, contextOf()), { id: 1 })
  t.equal(await findParent(row(9), parent, contextOf()), undefined)
  t.equal(await findParent(row(null), parent, contextOf()), undefined)
  const refusing = (answer: unknown): ParentLink => link(makeLevel('posts', { answer: () => answer, rows: [{}] }))
  t.match(await errorOf(findParent(row(1), refusing(false), contextOf())), [403])
  t.match(await errorOf(findParent(row(1), refusing('hide'), contextOf())), [404, /no post with the id 1/])
  const known = { locale: 'en' }
  t.strictSame(await findParameters(row(1), parent, known, contextOf()), { locale: 'en', postId: '1', blogId: '2' })
  t.strictSame(
    await findParameters(row(2), parent, known, contextOf()), { locale: 'en', postId: '2' }, 'the row names no blog'
  )
  t.strictSame(await findParameters(row(9), parent, known, contextOf()), { locale: 'en', postId: '9' })
  t.strictSame(await findParameters(row(null), parent, known, contextOf()), known)
  t.strictSame(
    await findParameters(row(1), link(posts, { param: undefined }), known, contextOf()), { locale: 'en', blogId: '2' }
  )
  const top = makeLevel('posts', { rows: [{}] })
  t.strictSame(await findParameters(row(1), link(top), known, contextOf()), { locale: 'en', postId: '1' })
  t.strictSame(top.read, [], 'a parent without parents is not read')
})

t.test('constraints of a path apply to the parents that it does not name', async (t) => {
  const blogs = makeLevel('blogs')
  const posts = makeLevel('posts', { parentLink: link(blogs, { foreignKey: 'blogId', param: 'blogId' }) })
  const comments = makeLevel('comments', { parentLink: link(posts, { idChecks: [yes] }) })
  const constrained = constrainParents(comments, [['postId', isEven], ['blogId', isEven], ['other', isEven]])
  t.strictSame(constrained.parentLink?.idChecks, [yes, isEven])
  t.strictSame(constrained.parentLink?.level.parentLink?.idChecks, [isEven])
  t.strictSame(
    [constrained.parentLink?.param, constrained.parentLink?.foreignKey, constrained.target],
    ['postId', 'postId', comments.target]
  )
  t.equal(constrainParents(blogs, [['x', yes]]), blogs)
})
