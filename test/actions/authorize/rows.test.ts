import fastify, { type FastifyInstance, type InjectOptions, type LightMyRequestResponse } from 'fastify'
import t, { type Test } from 'tap'
import { defaultViews } from '../../../lib/html/index.js'
import {
  type Authorize, draw, type HandlerAnswer, type MaybePromise, memoryStore, type ResourceOptions
} from '../../../lib/index.js'
import { drawn, everythingIn, MEDIA_TYPES, REFUSAL, SECRET } from '../../support/authorize.js'
import { build, types } from '../../support/helper.js'
import { type AnyContext, mapAction } from '../../support/map-action.js'
import { type RecordingStore, recordingStore } from '../../support/stores/recording-store.js'

const form = 'application/x-www-form-urlencoded'

const attributes = {
  type: 'object',
  required: ['title'],
  properties: { title: { type: 'string', minLength: 1 }, body: { type: 'string' }, owner: { type: 'string' } }
} as const

const FORMATS = ['xml', 'html', 'json'] as const

/**
 * Builds an app that allows owners alone. `meanwhile` runs right after the first read of a row, and again after
 * `reset`.
 */
async function owned (
  t: Test, meanwhile: (store: RecordingStore) => unknown, options: Partial<ResourceOptions> = {}
): Promise<{
  app: FastifyInstance,
  store: RecordingStore,
  asked: unknown[],
  reset: (meanwhile: (store: RecordingStore) => unknown) => void
}> {
  const store = recordingStore([{ title: 'T', owner: 'me' }])
  const asked: unknown[] = []
  const reset = (meanwhile: (store: RecordingStore) => unknown): void => {
    store.reset()
    asked.length = 0
    store.meanwhile = () => meanwhile(store)
  }
  reset(meanwhile)
  const authorize: Authorize = async (_request, { row }) => {
    const found = await row?.()
    asked.push(found?.attributes.owner)
    return found?.attributes.owner === 'me'
  }
  const app = await build(t, { name: 'posts', attributes, store, authorize, writes: 'both', ...options })
  return { app, store, asked, reset }
}

const given = { version: undefined, scope: {} }
const context = { signal: new AbortController().signal }
const giveAway = ({ inner }: RecordingStore): unknown =>
  inner.update(1, { owner: 'them', body: SECRET }, given, context)
const touch = ({ inner }: RecordingStore): unknown => inner.update(1, { body: 'touched' }, given, context)

const writesOfRow: Array<[name: string, request: InjectOptions]> = [
  ['PUT', { method: 'PUT', url: '/posts', payload: { id: 1, post: { title: 'mine' } } }],
  ['PATCH', { method: 'PATCH', url: '/posts/1', payload: { post: { title: 'mine' } } }],
  ['DELETE', { method: 'DELETE', url: '/posts/1' }],
  ['a form of PUT', {
    method: 'POST',
    url: '/posts',
    headers: { 'content-type': form, accept: 'text/html' },
    payload: '_method=PUT&id=1&post[title]=mine'
  }],
  ['a form of DELETE', {
    method: 'POST',
    url: '/posts',
    headers: { 'content-type': form, accept: 'text/html' },
    payload: '_method=DELETE&id=1'
  }]
]

/** The versions a client may send: none, any, the one authorize sees, the next one, several. */
const versions: Array<[name: string, tag: string | undefined]> = [
  ['no If-Match', undefined],
  ['If-Match: *', '*'],
  ['the version that was', '"1.json"'],
  ['the version that comes', '"2.json"'],
  ['both versions', '"1.json", "2.json"'],
  ['another version', '"9.json"']
]

t.test('authorize sees the row that is written', async t => {
  const { app, store, asked, reset } = await owned(t, giveAway)
  for (const [name, request] of writesOfRow) {
    for (const [version, tag] of versions) {
      const headers = { ...request.headers, ...(tag !== undefined && { 'if-match': tag }) }
      await t.test(`a row given away after row() is not written by ${name} with ${version}`, async t => {
        reset(giveAway)
        const res = await app.inject({ ...request, headers })
        t.equal(res.statusCode, 403)
        t.notMatch(everythingIn(res), SECRET)
        t.strictSame(asked, ['me', 'them'], 'authorize is asked again for the new row')
        t.match(store.inner.get(1, {}, context), { version: '2', attributes: { title: 'T', owner: 'them' } })
      })

      await t.test(`a row touched after row() is authorized again by ${name} with ${version}`, async t => {
        reset(touch)
        const res = await app.inject({ ...request, headers })
        const isStale = tag === '"1.json"' || tag === '"9.json"'
        t.equal(res.statusCode, isStale ? 412 : name.includes('form') ? 303 : name === 'DELETE' ? 204 : 200)
        t.strictSame(asked, isStale ? ['me', 'me', 'me', ...(name.includes('form') ? [undefined] : [])] : ['me', 'me'],
          'a 412 also asks whether the row may be shown, and its page whether the list may be')
        const row = store.inner.get(1, {}, context) as unknown
        if (isStale) t.match(row, { version: '2', attributes: { title: 'T' } })
        else {
          t.match(
            row, name.includes('DELETE') ? undefined : { version: '3', attributes: { title: 'mine', body: 'touched' } }
          )
        }
      })
    }
  }
})

t.test('the _version of a form works like If-Match, and a row that was given away is not shown beside it', async t => {
  const { app, store, reset } = await owned(t, giveAway)
  for (const version of ['1', '2', '9']) {
    reset(giveAway)
    const res = await app.inject({
      method: 'POST',
      url: '/posts',
      headers: { 'content-type': form, accept: 'text/html' },
      payload: `_method=PUT&id=1&_version=${version}&post[title]=mine`
    })
    t.equal(res.statusCode, 403)
    t.notMatch(everythingIn(res), SECRET)
    t.match(store.inner.get(1, {}, context), { version: '2' })
  }
})

t.test('a row that changes on every attempt is given up with 503, and nothing is written', async t => {
  const store = recordingStore([{ title: 'T', owner: 'me' }])
  let times = 0
  const authorize: Authorize = async (_request, { row }) => {
    await row?.()
    store.inner.update(1, { body: String(++times) }, given, context)
    return true
  }
  const app = await build(t, { name: 'posts', attributes, store, authorize })
  const res = await app.inject({ method: 'PUT', url: '/posts', payload: { id: 1, post: { title: 'mine' } } })
  t.equal(res.statusCode, 503)
  t.ok(times > 1 && times < 500, `${times} attempts`)
  t.match(store.inner.get(1, {}, context), { attributes: { title: 'T' } })
})

t.test('a row that is deleted between row() and the write is not found', async t => {
  const { app } = await owned(t, ({ inner }) => inner.delete(1, given, context))
  t.equal((await app.inject({ method: 'PUT', url: '/posts', payload: { id: 1, post: { title: 'mine' } } })).statusCode,
    404)
})

t.test('the answer shows the row that authorize has seen', async t => {
  for (const url of ['/posts/1.json', '/posts/1.xml', '/posts/1.html', '/posts/1/edit.json', '/posts/1/edit.html',
    '/posts/1/peek.json', '/posts/1/peek.html']) {
    const store = recordingStore([{ title: 'T', owner: 'me' }])
    store.meanwhile = () => giveAway(store)
    const authorize: Authorize = async (_request, { row }) => (await row?.())?.attributes.owner === 'me'
    const app = await drawn(t, (map) => map.resources('posts', { attributes, store, authorize, formPages: true },
      (posts) => posts.member.get('peek', ({ row }) => row())))
    const res = await app.inject(url)
    t.notMatch(everythingIn(res), SECRET, url)
    t.equal((await app.inject(url)).statusCode, 403)
  }
})

t.test('a form with added rows comes back with the row that authorize has seen', async t => {
  const tags = {
    ...attributes, properties: { ...attributes.properties, tags: { type: 'array', items: { type: 'string' } } }
  } as const
  const { app } = await owned(t, giveAway, { attributes: tags })
  const send = (): Promise<LightMyRequestResponse> => app.inject({
    method: 'POST',
    url: '/posts',
    headers: { 'content-type': form, accept: 'text/html' },
    payload: '_method=PUT&id=1&post[title]=x&post[tags][?][add]=1'
  })
  const revised = await send()
  t.equal(revised.statusCode, 422)
  t.notMatch(revised.body, SECRET)
  t.equal((await send()).statusCode, 403)
})

t.test('a singleton that is replaced after authorize has seen it is neither shown nor written', async t => {
  for (const method of ['GET', 'PUT', 'DELETE'] as const) {
    const inner = memoryStore()
    inner.create({ title: 'T', owner: 'me' }, {})
    const authorize: Authorize = async (_request, { row }) => {
      const found = await row?.()
      inner.delete(1, given)
      inner.create({ title: SECRET, owner: 'them' }, {})
      return found?.attributes.owner === 'me'
    }
    const app = await drawn(t, (map) => map.resource('profile', { attributes, store: inner, authorize }))
    const res = await app.inject({
      method, url: '/profile.json', ...(method === 'PUT' && { payload: { profile: { title: 'mine' } } })
    })
    t.notMatch(res.body, SECRET)
    t.match(inner.get(2, {}), { version: '1', attributes: { title: SECRET } }, `${method} has not written the new row`)
  }
})

t.test('a singleton that changes between row() and the write is authorized again, without an id', async t => {
  const inner = memoryStore()
  inner.create({ title: 'T', owner: 'me' }, {})
  const asked: unknown[] = []
  const authorize: Authorize = async (_request, { row, ...attempt }) => {
    const found = await row?.()
    if (asked.push({ ...attempt, version: found?.version }) === 1) inner.update(1, { body: 'touched' }, given)
    return found?.attributes.owner === 'me'
  }
  const app = await drawn(t, (map) => map.resource('profile', { attributes, store: inner, authorize }))
  const res = await app.inject({ method: 'PUT', url: '/profile.json', payload: { profile: { title: 'mine' } } })
  t.match(res, { statusCode: 200, headers: { etag: /^"1-3\.json-/ } })
  t.strictSame(asked, ['1', '2'].map((version) => ({ action: 'update', resource: 'profile', version })))
})

t.test('the app\'s own handler is called once, and a row that changed meanwhile gives a 412', async t => {
  const calls: unknown[] = []
  const update = (context: AnyContext): MaybePromise<HandlerAnswer> => {
    const { store, id, attributes, guard } = context
    calls.push(guard.version)
    return store.update(id, attributes, guard, context)
  }
  const { app, store, asked } = await owned(t, touch, { actions: { update } })
  const res = await app.inject({ method: 'PUT', url: '/posts', payload: { id: 1, post: { title: 'mine' } } })
  t.match(res, { statusCode: 412, headers: { 'content-type': types.json, etag: /^"2\.json-/ } })
  t.strictSame(res.json(), { post: { id: 1, title: 'T', owner: 'me', body: 'touched' } })
  t.strictSame(calls, ['1'])
  t.strictSame(asked, ['me', 'me'], 'the second call asks whether the row may be shown')
  t.match(store.inner.get(1, {}, context), { version: '2', attributes: { title: 'T', body: 'touched' } })
})

/** Handlers that write their row more than once, with the status and the final version. */
const writesTwice: Array<[name: string, update: (context: AnyContext) => Promise<HandlerAnswer>, status: number,
  version: string]> = [
    ['twice under the guard it received', async ({ store, id, attributes, guard, signal }) => {
      await store.update(id, { body: 'first' }, guard, { signal })
      return await store.update(id, attributes, guard, { signal })
    }, 412, '2'],
    ['twice, the second time under the version that its first write has given',
      async ({ store, id, attributes, guard, signal }) => {
        const first = await store.update(id, { body: 'first' }, guard, { signal })
        if (!first.ok) return first
        return await store.update(id, attributes, { ...guard, version: first.row.version }, { signal })
      }, 200, '3'],
    ['and then calls proceed()', async ({ store, id, guard, proceed, signal }) => {
      await store.update(id, { body: 'first' }, guard, { signal })
      return await proceed()
    }, 412, '2'],
    ['after proceed(), under the guard it received', async ({ store, id, attributes, guard, proceed, signal }) => {
      await proceed()
      return await store.update(id, attributes, guard, { signal })
    }, 200, '3'],
    ['by proceed() twice', async ({ proceed }) => {
      await proceed()
      return await proceed()
    }, 200, '3']
  ]

for (const [name, update, status, version] of writesTwice) {
  t.test(`a handler that writes ${name} runs once, even if authorize has read the row`, async t => {
    let calls = 0
    const { app, store, reset } = await owned(t, () => {}, {
      actions: {
        update: (context: AnyContext) => {
          calls++
          return update(context)
        }
      }
    })
    for (const tag of [undefined, '"1.json"']) {
      reset(() => {})
      calls = 0
      const res = await app.inject({
        method: 'PUT',
        url: '/posts',
        headers: tag === undefined ? {} : { 'if-match': tag },
        payload: { id: 1, post: { title: 'mine' } }
      })
      t.match(res, {
        statusCode: status, headers: { 'content-type': types.json, etag: new RegExp(`^"${version}\\.json-`) }
      }, String(tag))
      t.equal(calls, 1)
      t.match(store.inner.get(1, {}, context), { version })
    }
  })
}

t.test('an action of the app\'s own on a row also runs once', async t => {
  let calls = 0
  const store = recordingStore([{ title: 'T', owner: 'me' }])
  const authorize: Authorize = async (_request, { row }) => (await row?.())?.attributes.owner === 'me'
  const app = await drawn(t,
    (map) => map.resources('posts', { attributes, store, authorize },
      (posts) => posts.member.post('stamp', async ({ store, id, guard, signal }) => {
        calls++
        await store.update(id, { body: 'first' }, guard, { signal })
        return await store.update(id, { body: 'second' }, guard, { signal })
      })))
  const res = await app.inject({ method: 'POST', url: '/posts/1/stamp', headers: { accept: 'application/json' } })
  t.strictSame([res.statusCode, calls], [412, 1])
  t.match(store.inner.get(1, {}, context), { version: '2', attributes: { body: 'first' } })
})

t.test('a handler that reports a stale row without its version is called once', async t => {
  let calls = 0
  let version: unknown
  const update = ({ id }: AnyContext): HandlerAnswer => {
    calls++
    return { kind: 'stale', row: { id, version, attributes: { title: 'theirs' } } } as HandlerAnswer
  }
  const { app } = await owned(t, () => {}, { actions: { update } })
  for (version of [undefined, null, '']) {
    calls = 0
    const res = await app.inject({ method: 'PUT', url: '/posts', payload: { id: 1, post: { title: 'mine' } } })
    t.strictSame([res.statusCode, res.headers.etag, calls], [412, undefined, 1], String(version))
    t.match(res.body, 'theirs')
  }
})

/** Policies that let a client write a row but not see it. */
const blind: Array<[name: string, authorize: Authorize]> = [
  ['false', (_request, { action }) => action !== 'show'],
  ['a promise of \'hide\'', async (_request, { action }) => action !== 'show' || 'hide'],
  ['false by the row',
    async (_request, { action, row }) => (await row?.())?.attributes.owner === 'them' && action !== 'show'],
  ['an error', (_request, { action }) => { if (action === 'show') throw new Error(SECRET); return true }]
]

const blindRow = { title: SECRET, body: SECRET, owner: 'them', tags: [SECRET], postId: 1 }

/** Builds an app with a row at each kind of path. `authorize` may show none of them; the parents have none. */
async function blinded (t: Test, authorize: Authorize, options: {
  readonly requireMatch?: boolean
} = {}): Promise<{ app: FastifyInstance, stores: RecordingStore[] }> {
  const tagged = {
    ...attributes, properties: { ...attributes.properties, tags: { type: 'array', items: { type: 'string' } } }
  } as const
  const stores = ['posts', 'comments', 'notes', 'profile'].map(() =>
    recordingStore([blindRow, { title: 'taken', owner: 'them', postId: 1 }], { unique: ['title'] }))
  const optionsOf = (index: number): {
    attributes: typeof tagged, store: RecordingStore, authorize: Authorize, writes: 'both', requireMatch?: boolean
  } => ({ attributes: tagged, store: stores[index] as RecordingStore, authorize, writes: 'both', ...options })
  const app = await drawn(t, (map) => {
    const touch = ({ store, id, guard, signal }: AnyContext): MaybePromise<HandlerAnswer> =>
      store.update(id, {}, guard, { signal })
    map.resources('posts', optionsOf(0), (map) => { mapAction(map, 'member', 'post', 'touch', {}, touch) })
    map.resources('blogs', { store: recordingStore([{ title: 'blog' }]) }, (blogs) => {
      blogs.resources('comments', { ...optionsOf(1), foreignKey: 'postId' })
      blogs.resources('notes', { ...optionsOf(2), foreignKey: 'postId', shallow: true })
    })
    map.resource('profile', optionsOf(3))
  })
  return { app, stores }
}

const STALE = '"9.json"'

const blindWrites: Array<[name: string, singular: string, url: string, method: 'PUT' | 'PATCH' | 'DELETE' | 'POST',
  id?: number]> = [
    ['an update', 'post', '/posts', 'PUT', 1],
    ['an update of a member', 'post', '/posts/1', 'PATCH'],
    ['a deletion', 'post', '/posts/1', 'DELETE'],
    ['an action of the app\'s own', 'post', '/posts/1/touch', 'POST'],
    ['an update of a nested row', 'comment', '/blogs/1/comments', 'PUT', 1],
    ['a deletion of a shallow row', 'note', '/notes/1', 'DELETE'],
    ['an update of a shallow row', 'note', '/notes', 'PUT', 1],
    ['an update of a singleton', 'profile', '/profile', 'PUT'],
    ['a deletion of a singleton', 'profile', '/profile', 'DELETE']
  ]

for (const [how, authorize] of blind) {
  t.test(`a stale write shows nothing of a row if authorize refuses to show it by ${how}`, async t => {
    const { app, stores } = await blinded(t, authorize)
    for (const [name, singular, url, method, id] of blindWrites) {
      for (const format of FORMATS) {
        const payload = method === 'DELETE' || method === 'POST'
          ? undefined
          : { ...(id !== undefined && { id }), [singular]: { body: 'mine' } }
        const res = await app.inject({
          method,
          url,
          headers: { accept: MEDIA_TYPES[format], 'if-match': STALE },
          ...(payload !== undefined && { payload })
        })
        const what = `${name} as ${format}`
        t.match(res, {
          statusCode: 412, headers: { 'content-type': REFUSAL[format], etag: undefined, location: undefined }
        }, what)
        t.notMatch(everythingIn(res), SECRET, what)
        t.match(res.body, `the ${singular} does not meet the If-Match`, what)
        if (format === 'json') t.match(res.json(), { title: 'Precondition Failed', status: 412 })
        if (format === 'html' && singular === 'note') {
          t.notMatch(res.body, '/blogs/1', `${what}: the parent stays hidden too`)
        }
      }
    }
    for (const { inner } of stores) {
      t.match(inner.get(1, {}, context), { version: '1', attributes: blindRow }, 'nothing is written')
    }
  })

  t.test(`a form comes back with what was sent, without a row that authorize refuses to show by ${how}`, async t => {
    for (const requireMatch of [false, true]) {
      const { app } = await blinded(t, authorize, { requireMatch })
      const version = requireMatch ? '' : '_version=1&'
      const forms: Array<[payload: string, status: number]> = [
        ['_version=9&post[title]=&post[body]=mine', 422],
        ['_version=9&post[body]=mine', 412],
        ...(requireMatch ? [['post[body]=mine', 428] as [string, number]] : []),
        [`${version}post[body]=mine&post[tags][?][add]=1`, 422],
        ...(requireMatch ? [] : [['_version=1&post[title]=taken&post[body]=mine', 409] as [string, number]])
      ]
      for (const [resource, url, id] of [['post', '/posts', 'id=1&'], ['post', '/posts/1', ''],
        ['comment', '/blogs/1/comments', 'id=1&'], ['note', '/notes', 'id=1&'], ['profile', '/profile', '']] as const) {
        for (const [payload, status] of forms) {
          // The version of a singleton includes the id of its row.
          const sent = `_method=PUT&${id}${payload.replaceAll('post[', `${resource}[`).replace('_version=1',
            resource === 'profile' ? '_version=1-1' : '_version=1')}`
          const res = await app.inject({
            method: 'POST', url, headers: { 'content-type': form, accept: 'text/html' }, payload: sent
          })
          t.match(res, { statusCode: status, headers: { 'content-type': types.html } }, `${url} ${sent}`)
          t.notMatch(everythingIn(res), SECRET, `${url} ${sent}`)
          t.match(res.body, />mine</, `${url} ${sent}`)
        }
      }
    }
  })
}

t.test('a stale write shows the row that authorize has seen, if it may be shown', async t => {
  const authorize: Authorize = async (_request, { row }) => (await row?.())?.attributes.owner === 'them'
  for (const [isLooking, how] of [[true, authorize], [false, () => true]] as const) {
    const { app } = await blinded(t, how)
    for (const [name, singular, url, method, id] of blindWrites) {
      const payload = method === 'DELETE' || method === 'POST'
        ? undefined
        : { ...(id !== undefined && { id }), [singular]: { body: 'mine' } }
      const res = await app.inject({
        method,
        url,
        headers: { accept: 'application/json', 'if-match': STALE },
        ...(payload !== undefined && { payload })
      })
      t.match(res, { statusCode: 412, headers: { 'content-type': types.json } },
        `${name}, reading the row: ${String(isLooking)}`)
      t.match(res.json(), { [singular]: { body: SECRET } })
    }
  }
})

t.test('a stale row is not shown if it is deleted or given away before authorize decides about showing it', async t => {
  for (const meanwhile of [giveAway, ({ inner }: RecordingStore) => inner.delete(1, given, context)]) {
    const store = recordingStore([{ title: SECRET, owner: 'me' }])
    const authorize: Authorize = async (_request, { action, row }) => {
      if (action !== 'show') return true
      meanwhile(store)
      return (await row?.())?.attributes.owner !== 'them'
    }
    const app = await build(t, { name: 'posts', attributes, store, authorize })
    const res = await app.inject({
      method: 'DELETE', url: '/posts?id=1', headers: { accept: 'application/json', 'if-match': STALE }
    })
    t.match(res, { statusCode: 412, headers: { 'content-type': types.problem } })
    t.notMatch(everythingIn(res), SECRET)
  }
})

t.test('a stale row that changes once more is shown as authorize has seen it', async t => {
  const store = recordingStore([{ title: 'T', owner: 'me' }])
  const authorize: Authorize = async (_request, { action, row }) => {
    if (action === 'show') touch(store)
    return action !== 'show' || (await row?.())?.attributes.owner === 'me'
  }
  const app = await build(t, { name: 'posts', attributes, store, authorize })
  const res = await app.inject({
    method: 'DELETE', url: '/posts?id=1', headers: { accept: 'application/json', 'if-match': STALE }
  })
  t.match(res, { statusCode: 412, headers: { 'content-type': types.json, etag: /^"2\.json-/ } })
  t.strictSame(res.json(), { post: { id: 1, title: 'T', owner: 'me', body: 'touched' } })
})

t.test('a row that a handler reports as stale is shown only if authorize allows to show it', async t => {
  const seen: unknown[] = []
  const authorize: Authorize = (_request, { action, id }) => {
    seen.push([action, id])
    return action !== 'show' || id === 2
  }
  const app = await drawn(t, (map) => map.resources('posts', { attributes, authorize },
    (posts) => posts.collection.post('claim',
      ({ request }) => ({
        kind: 'stale', row: { id: Number(request.headers['x-row']), version: '3', attributes: { title: SECRET } }
      }))))
  const claim = (row: string): Promise<LightMyRequestResponse> =>
    app.inject({ method: 'POST', url: '/posts/claim', headers: { accept: 'application/json', 'x-row': row } })
  const hidden = await claim('1')
  t.match(hidden, { statusCode: 412, headers: { 'content-type': types.problem } })
  t.notMatch(everythingIn(hidden), SECRET)
  t.match(await claim('2'), { statusCode: 412, headers: { 'content-type': types.json }, body: SECRET })
  t.strictSame(seen, [['claim', undefined], ['show', 1], ['claim', undefined], ['show', 2]])
})

/** Forms that usually come back, e.g. with an invalid attribute, a taken unique value or an old version. */
const formsAgain: Array<[name: string, payload: string]> = [
  ['an invalid attribute', '_method=PUT&id=1&post[title]='],
  ['an unknown attribute', '_method=PUT&id=1&post[titel]=x'],
  ['a taken title', '_method=PUT&id=1&post[title]=taken'],
  ['an old version', '_method=PUT&id=1&_version=7&post[title]=x'],
  ['an old version of a deletion', '_method=DELETE&id=1&_version=7'],
  ['both', '_method=PUT&id=1&_version=7&post[title]='],
  ['nothing amiss', '_method=PUT&id=1&post[title]=x'],
  ['rows that are added', '_method=PUT&id=1&post[tags][?][add]=1']
]

for (const hook of ['none', 'passing', 'async', 'of the action'] as const) {
  t.test(`the page that answers a form shows nothing of a refused row, with a preHandler hook: ${hook}`, async t => {
    const store = recordingStore([{ title: SECRET, body: SECRET, tags: [SECRET] }, { title: 'taken' }],
      { unique: ['title'] })
    const pass = async (): Promise<void> => {}
    let answer: false | 'hide' = false
    const app = await build(t, {
      name: 'posts',
      attributes: {
        ...attributes, properties: { ...attributes.properties, tags: { type: 'array', items: { type: 'string' } } }
      },
      store,
      writes: 'both',
      authorize: () => answer,
      ...(hook === 'passing' && { hooks: { preHandler: (_request, _reply, done) => { done() } } }),
      ...(hook === 'async' && { hooks: { preHandler: [pass, pass] } }),
      ...(hook === 'of the action' && { actionHooks: { update: { preHandler: pass }, delete: { preHandler: pass } } })
    } satisfies ResourceOptions)
    for (const [name, payload] of formsAgain) {
      for (answer of [false, 'hide'] as const) {
        for (const url of ['/posts', '/posts/1']) {
          store.reset()
          const what = `${name} at ${url}, answered by ${answer}`
          const res = await app.inject({
            method: 'POST', url, headers: { 'content-type': form, accept: 'text/html' }, payload
          })
          t.ok([403, 404, 422].includes(res.statusCode), `${what}: ${res.statusCode}`)
          t.equal(res.headers['content-type'], types.html, what)
          t.notMatch(everythingIn(res), SECRET, what)
          t.strictSame(store.calls, [], what)
        }
      }
    }
  })
}

t.test('a hook that refuses a form answers with nothing of the row', async t => {
  const refuse = async (): Promise<never> => { throw Object.assign(new Error('log in first'), { statusCode: 401 }) }
  const options: Array<[string, Partial<ResourceOptions>]> = [
    ['preHandler of the resource', { hooks: { preHandler: refuse } }],
    ['preHandler of the action', { actionHooks: { update: { preHandler: refuse }, delete: { preHandler: refuse } } }],
    ['preValidation of the resource', { hooks: { preValidation: refuse } }],
    ['preValidation of the action',
      { actionHooks: { update: { preValidation: refuse }, delete: { preValidation: refuse } } }],
    ['onRequest of the action', { actionHooks: { update: { onRequest: refuse }, delete: { onRequest: refuse } } }]
  ]
  for (const [name, option] of options) {
    const store = recordingStore([{ title: SECRET, body: SECRET }])
    const app = await build(t, { name: 'posts', attributes, store, ...option })
    for (const payload of ['_method=PUT&id=1&post[title]=x', '_method=DELETE&id=1']) {
      store.reset()
      const res = await app.inject({
        method: 'POST', url: '/posts', headers: { 'content-type': form, accept: 'text/html' }, payload
      })
      t.match(res, { statusCode: 401, headers: { 'content-type': types.html } }, name)
      t.notMatch(res.body, SECRET, name)
      t.strictSame(store.calls, [], name)
    }
  }
})

/** Returns the forms and links that a page offers, each by its target. */
function offersOf (page: string): string[] {
  const form = /<form method="post" action="([^"]*)"[^>]*>\s*(?:<input type="hidden" name="_method" value="(\w+)")?/
  const link = /<a class="button[^"]*" href="([^"]*)"/
  return [...page.matchAll(new RegExp(`${form.source}|${link.source}`, 'g'))].map(([, action, method, href]) =>
    href ?? `${method ?? 'POST'} ${action}`)
}

for (const [kind, formPages] of [['forms of their own', true], ['forms within', false]] as const) {
  for (const views of [{}, { form: defaultViews.form }]) {
    const given = Object.keys(views).length === 0 ? 'our views' : 'views of the app'
    t.test(`pages with ${kind} and ${given} offer what authorize allows`, async t => {
      let isAllowed: Authorize = () => true
      const app = await drawn(t, (map) => map.resources('posts',
        {
          attributes,
          formPages,
          html: { views },
          store: recordingStore([{ title: 'T' }]),
          authorize: (request, attempt) => isAllowed(request, attempt)
        }, (posts) => posts.collection.post('purge', () => {}).collection.get('recent', () => []).member.post('publish',
          () => {}).member.delete('hide', () => {})))
      const get = async (url: string): Promise<string[]> =>
        offersOf((await app.inject({ url, headers: { accept: 'text/html' } })).body)
      const list = ['POST /posts/purge', '/posts/recent', ...(formPages ? ['/posts/new'] : ['#new', 'POST /posts'])]
      const record = await get('/posts/1')
      t.strictSame(await get('/posts'), list)
      t.ok(record.length >= 4)
      const copy = formPages ? ['/posts/new?_from=1'] : []
      const withoutCopy = record.filter((offer) => !copy.includes(offer))
      const refuse = (...refused: string[]): void => { isAllowed = (_request, { action }) => !refused.includes(action) }

      refuse('create', 'purge')
      t.strictSame(await get('/posts'), ['/posts/recent'])
      t.strictSame(await get('/posts/1'), withoutCopy)
      refuse('new')
      t.strictSame(await get('/posts'), formPages ? list.slice(0, 2) : list)
      t.strictSame(await get('/posts/1'), withoutCopy)
      refuse('update', 'delete', 'publish', 'hide')
      t.strictSame(await get('/posts/1'), copy)
      t.strictSame(await get('/posts'), list)
      refuse('edit', 'delete', 'publish')
      t.strictSame(await get('/posts/1'),
        ['DELETE /posts/1/hide', ...(formPages ? copy : ['#edit', 'PUT /posts', '/posts/1'])],
        'a form within needs `update` alone')
      isAllowed = async (_request, { action }) => action === 'show'
      t.strictSame(await get('/posts/1'), [], 'promises work as well')
      isAllowed = (_request, { action }) => action === 'show' || 'hide'
      t.strictSame(await get('/posts/1'), [])
      for (const [title, offered] of [['T', withoutCopy], ['U', []]] as const) {
        isAllowed = async (_request, { action, row }) =>
          action === 'show' || (await row?.())?.attributes.title === title
        t.strictSame(await get('/posts/1'), offered, 'authorize is given the row of the page')
      }
      isAllowed = (_request, { action }) => { if (action === 'show') return true; throw new Error('no') }
      t.strictSame(await get('/posts/1'), record, 'an error does not remove an offer')
      isAllowed = (_request, { action }) => action === 'show'
      t.equal((await app.inject({
        url: '/posts/1', headers: { accept: 'text/html', 'if-none-match': '*' }
      })).statusCode, 200, 'another user\'s page is not answered with 304')
      const asked: string[] = []
      isAllowed = (_request, { action }) => asked.push(action) > 0
      for (const format of ['xml', 'json']) {
        for (const path of ['posts', 'posts/1']) await app.inject(`/${path}.${format}`)
      }
      t.strictSame(asked, ['list', 'show', 'list', 'show'], 'XML and JSON ask for nothing else')
    })
  }
}

t.test('a page whose row is not the stored one offers what authorize cannot decide without the row', async (t) => {
  let isAllowed: Authorize = () => true
  const app = await drawn(t, (map) => map.resources('posts', {
    attributes,
    store: recordingStore([{ title: 'T' }]),
    authorize: (request, attempt) => isAllowed(request, attempt),
    actions: { show: async ({ proceed }) => proceed() }
  }))
  const get = async (): Promise<string[]> =>
    offersOf((await app.inject({ url: '/posts/1', headers: { accept: 'text/html' } })).body)
  const record = await get()
  t.ok(record.length >= 3)
  isAllowed = async (_request, { action, row }) => action === 'show' || (await row?.())?.attributes.title === 'T'
  t.strictSame(await get(), record)
  isAllowed = async (_request, { action, row }) => action === 'show' || (await row?.())?.attributes.title === 'U'
  t.strictSame(await get(), record)
  isAllowed = async (_request, { action, row }) =>
    action === 'show' || await Promise.resolve().then(() => row?.()).then(() => false, () => false)
  t.strictSame(await get(), record, 'the same if authorize catches the error')
  const loadUser = async (): Promise<never> => { await new Promise(setImmediate); throw new Error('no user') }
  isAllowed = async (_request, { action, row }) =>
    action === 'show' || (await Promise.all([loadUser(), row?.()])).length > 0
  t.strictSame(await get(), record, 'the same beside a later error, which does not end the process')
  isAllowed = (_request, { action, row }) => action === 'show' || row?.() === undefined
  t.strictSame(await get(), record, 'the same if nobody awaits row()')
})

t.test('the page of a missing singleton offers to create it if authorize allows it', async t => {
  let allowed: boolean | 'hide' = true
  const app = await drawn(t, (map) =>
    map.resource('profile', { attributes, authorize: (_request, { action }) => action === 'show' || allowed }))
  const get = async (): Promise<string[]> =>
    offersOf((await app.inject({ url: '/profile', headers: { accept: 'text/html' } })).body)
  t.strictSame(await get(), ['POST /profile'])
  allowed = false
  t.strictSame(await get(), [])
})

t.test('pages of many combinations of refused actions are right, also if not all of them are cached', async t => {
  const names = Array.from({ length: 8 }, (_, index) => `act${index}`)
  let refused: readonly string[] = []
  const app = await drawn(t,
    (map) => map.resources('posts',
      {
        attributes,
        only: ['list', 'show'],
        store: recordingStore([{ title: 'T' }]),
        authorize: (_request, { action }) => !refused.includes(action)
      }, (posts) => {
        for (const name of names) posts.member.post(name, () => {})
      }))
  for (let bits = 0; bits < 80; bits++) {
    refused = names.filter((_, index) => (bits >> index) % 2 === 1)
    const { body } = await app.inject({ url: '/posts/1', headers: { accept: 'text/html' } })
    t.strictSame(offersOf(body), names.filter((name) => !refused.includes(name)).map((name) => `POST /posts/1/${name}`))
  }
})

t.test('the page of a singleton offers what authorize allows', async (t) => {
  const store = memoryStore()
  store.create({ line: 'about' }, {})
  const app = fastify()
  t.teardown(() => app.close())
  app.register(draw((map) => map.resource('profile', {
    store,
    attributes: { type: 'object', properties: { line: { type: 'string' } } },
    authorize: (_request, { action, id }) => action === 'show' && id === undefined
  })))
  const { body, statusCode } = await app.inject('/profile.html')
  t.equal(statusCode, 200)
  t.match(body, 'about')
  t.notMatch(body, '<form')
})
