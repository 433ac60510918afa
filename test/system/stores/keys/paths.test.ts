import t, { type Test } from 'tap'
import type { FastifyInstance, LightMyRequestResponse } from 'fastify'
import type { SqlStoreOptions } from '../../../../lib/sql/sqlite/index.js'
import { build, draft } from '../../../support/helper.js'
import { fill, findForm, submit } from '../../../support/html/forms.js'
import { plainTag } from '../../../support/plain-tag.js'
import { type Engine, openEngines } from '../../../support/stores/sql-engines.js'

function decodeHtml (text: string): string {
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"').replaceAll('&#39;', '\'')
    .replaceAll('&amp;', '&')
}

/** Returns the links of the rows in an HTML list. */
function linksIn (page: string): string[] {
  const links = page.matchAll(/<tr><th scope="row"[^>]*>(?:<label class="pick">.*?<\/label>)?<a href="([^"]*)">/g)
  return [...links].map(([, href]) => decodeHtml(String(href)))
}

const [engine] = await openEngines() as [Engine]

async function open (t: Test, options: SqlStoreOptions): Promise<FastifyInstance> {
  const store = engine.store({ ...options, migrate: true })
  return build(t, { name: options.table, store, writes: 'both' } as Parameters<typeof build>[1])
}

t.test('a composite key works from the list to the deletion', async (t) => {
  const attributes = {
    type: 'object',
    properties: { playlistId: { type: 'integer' }, trackId: { type: 'integer' }, note: { type: 'string' } }
  } as const
  const app = await open(t, { table: 'playlist-tracks', attributes, key: ['playlistId', 'trackId'] })
  const json = { accept: 'application/json' }
  const path = '/playlist-tracks/1,5'
  const made = await app.inject({
    method: 'POST',
    url: '/playlist-tracks',
    headers: json,
    payload: { 'playlist-track': { playlistId: 1, trackId: 5 } }
  })
  t.equal(made.headers.location, path, made.body)
  t.match(made.json(), { 'playlist-track': { id: '1,5', playlistId: 1, trackId: 5 } })
  t.strictSame(linksIn((await app.inject({ url: '/playlist-tracks.html' })).body), [path])
  for (const url of [path, '/playlist-tracks/1%2C5', `${path}.json`]) {
    t.match((await app.inject({ url, headers: json })).json(), { 'playlist-track': { id: '1,5' } }, url)
  }
  const changed = await app.inject({
    method: 'PUT', url: path, headers: json, payload: { 'playlist-track': { trackId: 6, note: 'n' } }
  })
  t.match(changed.json(), { status: 422, errors: { trackId: ['cannot be changed, because the id contains it'] } })
  t.match((await app.inject({ url: '/playlist-tracks/1', headers: json })).json(), { status: 404 })
  for (const trackId of [10, 9]) {
    await app.inject({
      method: 'POST',
      url: '/playlist-tracks',
      headers: json,
      payload: { 'playlist-track': { playlistId: 1, trackId } }
    })
  }
  const page = await app.inject({ url: '/playlist-tracks?limit=2', headers: json })
  t.strictSame(page.json()['playlist-tracks'].map(({ id }: { id: string }) => id), ['1,5', '1,9'])
  const [, next] = /<([^>]*)>; rel="next"/.exec(String(page.headers.link)) ?? []
  t.strictSame((await app.inject({ url: String(next), headers: json })).json()['playlist-tracks'].map(({
    id
  }: { id: string }) =>
    id), ['1,10'])
  t.equal((await app.inject({ method: 'DELETE', url: '/playlist-tracks', payload: { id: '1,5' } })).statusCode, 204)
  t.equal((await app.inject({ url: path })).statusCode, 404)
})

t.test('rows whose key no document can carry are in lists, and have no path', async (t) => {
  const json = { accept: 'application/json' }
  const codes = ['\u0001', 'a', 'b\u001bc', 'd\ufffe', 'z']
  for (const { name, store } of await openEngines()) {
    const schema = { type: 'object', properties: { code: { type: 'string' }, title: { type: 'string' } } } as const
    for (const key of [['code'], ['code', 'title']]) {
      const rows = store({ table: `rows_${key.length}`, attributes: schema, key, version: 'values', migrate: true })
      const app = await build(
        t,
        { name: 'rows', store: rows, writes: 'both', sort: ['code', 'title'], xsd: true } as Parameters<typeof build>[1]
      )
      for (const code of codes) await rows.create({ code, title: code }, {}, { signal: new AbortController().signal })
      const ids = codes.map((code) => /^[az]$/.test(code)
        ? key.map(() =>
          code).join()
        : `%${JSON.stringify(key.map(() => code)).replaceAll('\ufffe', '\\ufffe')}`)
      for (const sort of ['id', '-id', 'title', '-title', 'code', '-code']) {
        const wanted = sort.startsWith('-') ? [...ids].reverse() : ids
        for (const [relation, order] of [['next', wanted], ['prev', [...wanted].reverse()]] as const) {
          const listed: string[] = []
          let url: string | undefined = `/rows?sort=${sort}&limit=1${relation === 'prev' ? '&before=' : ''}`
          while (url !== undefined && listed.length < 9) {
            const page: LightMyRequestResponse = await app.inject({ url, headers: json })
            t.equal(page.statusCode, 200, url)
            listed.push(page.json().rows[0].id)
            url = new RegExp(`<([^>]*)>; rel="${relation}"`).exec(String(page.headers.link))?.[1]
          }
          t.strictSame(listed, order, `${name}: ${key.join()} by ${sort}, ${relation}`)
        }
      }
      const links = linksIn((await app.inject('/rows.html')).body)
      t.strictSame(links.map((link) =>
        decodeURIComponent(link.slice('/rows/'.length))), ids.filter((id) => !id.startsWith('%')), 'they have no links')
      for (const format of ['xml', 'html']) t.equal((await app.inject(`/rows.${format}`)).statusCode, 200, format)
      for (const id of ids.filter((id) => id.startsWith('%'))) {
        const url = `/rows/${encodeURIComponent(id)}`
        t.equal((await app.inject({ url, headers: json })).statusCode, 404, id)
        t.equal(
          (await app.inject({ method: 'PUT', url, headers: json, payload: { row: { title: 'T' } } })).statusCode, 404
        )
        const deleted = await app.inject({ method: 'DELETE', url: '/rows', headers: json, payload: { id } })
        t.ok([404, 422].includes(deleted.statusCode), deleted.body)
      }
      t.equal(
        (await app.inject({ url: '/rows', headers: json })).json().rows.length, codes.length, 'nothing was deleted'
      )
      await app.close()
    }
  }
})

t.test('a form deletes the row of its page, if the key has line breaks', async (t) => {
  const codes = ['a\n\nb', 'a\nb']
  for (const { name, store } of await openEngines()) {
    for (const code of codes) {
      const lines = store({
        table: 'broken_lines',
        attributes: { type: 'object', properties: { code: { type: 'string' } } },
        key: ['code'],
        version: 'values',
        migrate: true
      })
      const app = await build(t, { name: 'lines', store: lines })
      for (const code of codes) {
        await app.inject({
          method: 'POST', url: '/lines', headers: { accept: 'application/json' }, payload: { line: { code } }
        })
      }
      const read = async (): Promise<string[]> => (await app.inject('/lines.json')).json().lines.map(({
        code
      }: { code: string }) =>
        code)
      t.strictSame(await read(), codes)
      const link = linksIn((await app.inject('/lines.html')).body)[codes.indexOf(code)] as string
      const html = { accept: 'text/html' }
      const page = await app.inject({ url: link, headers: html })
      t.match(
        await app.inject(submit(findForm(page, 'DELETE'), undefined, html)), { statusCode: 303 },
        `${name}: ${JSON.stringify(code)}`
      )
      t.strictSame(await read(), codes.filter((other) => other !== code))
      await app.close()
    }
  }
})

t.test('a nested resource below a composite key has paths with commas', async (t) => {
  const lines = engine.store({
    table: 'lines',
    attributes: { type: 'object', properties: { order: { type: 'integer' }, place: { type: 'string' } } },
    key: ['order', 'place'],
    migrate: true
  })
  const notes = engine.store({
    table: 'notes',
    attributes: { type: 'object', properties: { lineId: { type: 'string' }, text: { type: 'string' } } },
    migrate: true
  })
  const app = await draft(t, (map) => {
    map.resources('lines', { store: lines as never }, (line) => { line.resources('notes', { store: notes as never }) })
  })
  const json = { accept: 'application/json' }
  await app.inject({ method: 'POST', url: '/lines', headers: json, payload: { line: { order: 1, place: 'a/b,c' } } })
  const note = await app.inject({
    method: 'POST', url: '/lines/1,a%2Fb%252Cc/notes', headers: json, payload: { note: { text: 'T' } }
  })
  t.equal(note.headers.location, '/lines/1,a%2Fb%252Cc/notes/1', note.body)
  t.match(note.json(), { note: { lineId: '1,a/b%2Cc' } })
  t.match((await app.inject({ url: '/lines/1,a%2Fb%252Cc?include=notes', headers: json })).json(), {
    line: { notes: [{ text: 'T' }] }
  })
})

t.test('a long id has a page if the router accepts it', async (t) => {
  const attributes = { type: 'object', properties: { code: { type: 'string' }, title: { type: 'string' } } } as const
  const codes = engine.store({ table: 'codes', attributes, key: ['code'], version: 'values', migrate: true })
  const json = { accept: 'application/json' }
  const servers: ReadonlyArray<readonly [longest: number, server: object | undefined]> =
    [[100, undefined], [150, { routerOptions: { maxParamLength: 150 } }], [50, { maxParamLength: 50 }]]
  for (const [longest, server] of servers) {
    const app = await build(t, { name: 'codes', html: { title: 'id' }, store: codes }, server && { server })
    const ids = ['b'.repeat(longest), `c${'<'.repeat(longest)}`]
    const locations = ids.map((id, index) => index === 0 ? `/codes/${id}` : '/codes')
    for (const [index, code] of ids.entries()) {
      const made = await app.inject({
        method: 'POST', url: '/codes', headers: json, payload: { code: { code, title: 'x' } }
      })
      t.match(made, { statusCode: 201, headers: { location: locations[index] } })
    }
    const list = (await app.inject({ url: '/codes.html' })).body
    t.strictSame(linksIn(list), locations.slice(0, 1))
    t.match(list, `><a>c${'&lt;'.repeat(longest)}</a></th>`, 'the other id is not a link')
    t.equal((await app.inject({ url: `/codes/${ids[0]}`, headers: json })).statusCode, 200)
    t.equal(
      (await app.inject({ url: `/codes/${encodeURIComponent(ids[1] as string)}`, headers: json })).statusCode, 414
    )
    const pages = [
      (await app.inject({ url: '/codes?limit=1', headers: json })),
      (await app.inject({ url: '/codes?limit=1&sort=-code', headers: json }))
    ]
    for (const page of pages) {
      const [, next = ''] = /<([^>]*)>; rel="next"/.exec(String(page.headers.link)) ?? []
      t.equal(
        (await app.inject({ url: next, headers: json })).json().codes.length, 1, 'a list continues after each id'
      )
    }
    for (const id of ids) {
      t.match(
        (await app.inject({
          method: 'PUT', url: '/codes', headers: json, payload: { id, code: { title: 'y' } }
        })).json(),
        { code: { title: 'y' } }
      )
      t.match(
        await app.inject({ method: 'DELETE', url: '/codes', headers: json, payload: { id } }), { statusCode: 204 }
      )
    }
  }
})

t.test('integers of 0 and below are ids', async (t) => {
  const attributes = { type: 'object', properties: { title: { type: 'string' } } } as const
  const titles = engine.store({ table: 'titles', attributes, migrate: true })
  const numbers = engine.store({
    table: 'numbers',
    attributes: { type: 'object', properties: { number: { type: 'integer' }, titleId: { type: 'integer' } } },
    key: ['number'],
    migrate: true
  })
  const app = await draft(t, (map) => {
    map.resources('titles', { store: titles, xsd: true })
    map.resources('numbers', { store: numbers, writes: 'both', references: { titleId: 'titles' } })
  })
  await engine.run("INSERT INTO titles (id, title) VALUES (-7, 'a')", "INSERT INTO titles (id, title) VALUES (0, 'b')")
  const json = { accept: 'application/json' }
  t.strictSame(linksIn((await app.inject('/titles.html')).body), ['/titles/-7', '/titles/0'])
  for (const id of [-7, 0]) {
    const shown = await app.inject({ url: `/titles/${id}`, headers: json })
    t.match(shown.json(), { title: { id } })
    t.equal((await app.inject(`/titles/${id}.xml`)).statusCode, 200)
    const etag = String(
      (await app.inject({
        method: 'PUT',
        url: '/titles',
        headers: { ...json, 'if-match': String(shown.headers.etag) },
        payload: { id, title: { title: 'c' } }
      })).headers.etag
    )
    t.equal(plainTag(etag), '"2.json"')
    t.match(
      await app.inject({
        method: 'POST', url: '/numbers', headers: json, payload: { number: { number: id, titleId: id } }
      }),
      { statusCode: 201, headers: { location: `/numbers/${id}` } }
    )
    t.match((await app.inject(`/numbers/${id}.html`)).body, `<a href="/titles/${id}">`, 'a reference is a link')
    t.match(await app.inject({ method: 'DELETE', url: `/numbers/${id}`, headers: json }), { statusCode: 204 })
  }
  for (const id of ['-0', '00', '-07', '+7', '-', '1.0', '-9007199254740992']) {
    t.equal((await app.inject({ url: `/titles/${id}`, headers: json })).statusCode, 404, id)
  }
})

t.test('the form of a row shows its key as text', async (t) => {
  const attributes = {
    type: 'object',
    properties: {
      day: { type: 'string', format: 'date' },
      isOpen: { type: 'boolean' },
      seat: { type: 'integer' },
      note: { type: 'string' }
    }
  } as const
  const store = engine.store({
    table: 'seats', attributes, key: ['day', 'isOpen', 'seat'], version: 'values', migrate: true
  })
  const app = await build(t, { name: 'seats', store })
  const json = { accept: 'application/json' }
  const blank = findForm(await app.inject('/seats.html'), 'POST')
  t.ok(['seat[day]', 'seat[isOpen]', 'seat[seat]'].every((field) =>
    blank.controls.some(({ name }) => name === field)), 'the form of a new row has controls for them')
  const id = '2026-01-31,true,4'
  t.equal(
    (await app.inject({
      method: 'POST',
      url: '/seats',
      headers: json,
      payload: { seat: { day: '2026-01-31', isOpen: true, seat: 4, note: 'a' } }
    })).json().seat.id,
    id
  )
  const shown = await app.inject(`/seats/${id}.html`)
  const form = findForm(shown, 'PUT')
  t.strictSame(form.controls.map(({ name }) => name).filter((field) =>
    /^seat\[\w+\]$/.test(String(field))), ['seat[note]'])
  const texts = (body: string): unknown[] => [
    ...body.matchAll(
      /<strong>([^<]*)<\/strong> cannot be changed, because the id contains it\.<\/p>\n<blockquote[^>]*>([^<]*)</g
    )
  ].map(
    ([, label, text]) => [label, text]
  )
  const key = [['Day', '2026-01-31'], ['Open', 'true'], ['Seat', '4']]
  t.strictSame(texts(shown.body), key)
  t.equal((await app.inject(submit(fill(form, { 'seat[note]': 'b' })))).statusCode, 303)
  const stale = await app.inject(submit(fill(form, { 'seat[note]': 'c' })))
  t.equal(stale.statusCode, 412)
  t.strictSame(texts(stale.body), key, 'a conflict offers no choice of the key')
  const sent = { _method: 'PUT', id, 'seat[seat]': '5', 'seat[note]': 'd' }
  const refused = await app.inject({
    method: 'POST',
    url: '/seats',
    headers: { accept: 'text/html', 'content-type': 'application/x-www-form-urlencoded' },
    payload: new URLSearchParams(sent).toString()
  })
  t.match(refused, { statusCode: 422, body: /<li>Seat cannot be changed, because the id contains it/ })
  t.strictSame(texts(refused.body), key)
  const same = { day: '2026-01-31', isOpen: true, seat: 4, note: 'e' }
  t.match(
    (await app.inject({ method: 'PUT', url: '/seats', headers: json, payload: { id, seat: same } })).json(),
    { seat: same }, 'the same values may be sent'
  )
})
