import type { FastifyInstance, LightMyRequestResponse } from 'fastify'
import t, { type Test } from 'tap'
import { type AttributesSchema, memoryStore, type MemoryStore, type ResourceOptions } from '../../../../lib/index.js'
import { build, types } from '../../../support/helper.js'
import { findForm, parseForms } from '../../../support/html/forms.js'
import { get, schemaOf } from '../../../support/html/page-tests.js'

const file = { type: ['string', 'null'], contentEncoding: 'base64' }
const attributes = {
  ...schemaOf({
    name: { type: 'string', minLength: 1 }, photo: { ...file, contentMediaType: 'image/png' }, scan: file
  }),
  required: ['name']
} as AttributesSchema

/** The first bytes of files, and how they are served. */
const FILES = {
  png: ['89504e470d0a1a0a0000', 'image/png', 'inline', 'png', 'PNG'],
  jpeg: ['ffd8ffe000104a464946', 'image/jpeg', 'inline', 'jpg', 'JPEG'],
  gif: ['474946383961', 'image/gif', 'inline', 'gif', 'GIF'],
  webp: ['524946460000000057454250', 'image/webp', 'inline', 'webp', 'WebP'],
  avif: ['0000002066747970617669660000', 'image/avif', 'inline', 'avif', 'AVIF'],
  pdf: ['255044462d312e37', 'application/pdf', 'attachment', 'pdf', 'PDF'],
  page: [Buffer.from('<script>alert(1)</script>').toString('hex'), 'application/octet-stream', 'attachment', 'bin',
    'File'],
  svg: [Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>').toString('hex'), 'application/octet-stream',
    'attachment', 'bin', 'File']
} as const

const bytesOf = (name: keyof typeof FILES): Buffer => Buffer.from(FILES[name][0], 'hex')
const base64Of = (name: keyof typeof FILES): string => bytesOf(name).toString('base64')

async function open (
  t: Test,
  options: Partial<ResourceOptions> = {}
): Promise<{ readonly app: FastifyInstance, readonly store: MemoryStore<any> }> {
  const store = memoryStore<any>()
  return { app: await build(t, { name: 'pets', attributes, store, ...options }), store }
}

/** Sends the form of a page as a browser does, with these fields instead of those that it has. */
async function submit (
  app: FastifyInstance,
  page: string,
  given: Readonly<Record<string, string | Buffer | undefined>>
): Promise<LightMyRequestResponse> {
  const method = page.includes('value="PUT"') ? 'PUT' : 'POST'
  t.match(page, /<form [^>]*enctype="multipart\/form-data"/)
  const body = new FormData()
  for (const { name, value, type } of findForm(page, method).controls) {
    const sent = given[name]
    if (type === 'file') {
      const [content, fileName] = Buffer.isBuffer(sent) ? [[new Uint8Array(sent)], 'a.b'] : [[], '']
      body.append(name, new Blob(content), fileName)
    } else if (type !== 'submit' && type !== 'checkbox') {
      body.append(name, type !== 'hidden' && typeof sent === 'string' ? sent : value)
    }
    if (type === 'checkbox' && sent === 'on') body.append(name, value)
  }
  return app.inject({ method: 'POST', url: '/pets', headers: { accept: types.html }, payload: body })
}

t.test('a file is chosen in a form, kept by one without a choice, replaced and removed', async (t) => {
  const { app, store } = await open(t)
  const { body } = await get(app, '/pets')
  const created = await submit(app, body, { 'pet[name]': 'Rex', 'pet[photo]': bytesOf('png') })
  t.match(created, { statusCode: 303, headers: { location: '/pets/1' } })
  t.same(store.get(1, {})?.attributes, { name: 'Rex', photo: base64Of('png') })
  const change = async (given: Parameters<typeof submit>[2]): Promise<unknown> => {
    const { statusCode } = await submit(app, (await get(app, '/pets/1')).body, given)
    t.equal(statusCode, 303)
    const { name, photo, scan } = store.get(1, {})?.attributes as Record<string, unknown>
    return [name, photo, scan ?? null]
  }
  t.same(await change({ 'pet[name]': 'Max' }), ['Max', base64Of('png'), null])
  t.same(await change({ 'pet[scan]': bytesOf('pdf') }), ['Max', base64Of('png'), base64Of('pdf')])
  t.same(await change({ 'pet[scan]': bytesOf('gif') }), ['Max', base64Of('png'), base64Of('gif')])
  t.same(await change({ 'pet[scan][?]': 'on' }), ['Max', base64Of('png'), null])
})

t.test('a form that comes back carries the file until another one is chosen', async (t) => {
  const { app, store } = await open(t)
  const refused = await submit(app, (await get(app, '/pets')).body, { 'pet[name]': '', 'pet[scan]': bytesOf('pdf') })
  t.equal(refused.statusCode, 422)
  t.match(refused.body, 'A file is chosen. It is sent unless you choose another one.')
  const again = await submit(app, refused.body, { 'pet[name]': '' })
  t.equal((await submit(app, again.body, { 'pet[name]': 'Rex' })).statusCode, 303)
  t.equal(store.get(1, {})?.attributes.scan, base64Of('pdf'))
  t.equal((await submit(app, again.body, { 'pet[name]': 'Tom', 'pet[scan]': bytesOf('gif') })).statusCode, 303)
  t.equal(store.get(2, {})?.attributes.scan, base64Of('gif'))
})

t.test('a file of another type than its schema declares is refused, if both types are known', async (t) => {
  const { app, store } = await open(t)
  const cases = [['jpeg', 422], ['pdf', 422], ['png', 201], ['page', 201]] as const
  for (const [name, status] of cases) {
    const photo = base64Of(name)
    const json = await app.inject({
      method: 'POST', url: '/pets', headers: { accept: types.json }, payload: { pet: { name: 'A', photo } }
    })
    const xml = await app.inject({
      method: 'POST',
      url: '/pets',
      headers: { accept: types.xml, 'content-type': types.xml },
      payload: `<pet><name>A</name><photo>${photo}</photo></pet>`
    })
    t.same([json.statusCode, xml.statusCode], [status, status], name)
    if (status === 422) t.match(json.json(), { errors: { photo: ['must be a file of the type image/png'] } })
  }
  const page = await submit(app, (await get(app, '/pets')).body, { 'pet[name]': 'A', 'pet[photo]': bytesOf('gif') })
  t.match(page.body, 'Must be a file of the type image/png')
  t.notMatch(page.body, 'A file is chosen.')
  t.ok(store.get(1, {}))
})

t.test('the path of a file sends its bytes, and only known pictures are shown by browsers', async (t) => {
  const { app, store } = await open(t)
  for (const [index, name] of (Object.keys(FILES) as Array<keyof typeof FILES>).entries()) {
    store.create({ name, scan: base64Of(name) }, {})
    const [, type, disposition, extension, label] = FILES[name]
    const url = `/pets/${index + 1}/files/scan`
    const { rawPayload, headers } = await app.inject(url)
    t.same(rawPayload, bytesOf(name), name)
    t.match(headers, {
      'content-type': type,
      'content-disposition': `${disposition}; filename="pet-${index + 1}-scan.${extension}"`,
      'content-security-policy': "default-src 'none'; sandbox",
      'cross-origin-resource-policy': 'same-origin',
      'x-content-type-options': 'nosniff'
    })
    if (name === 'png') t.match((await get(app, '/pets/1')).body, 'PNG, 10 bytes')
    const [record, list] = [await get(app, `/pets/${index + 1}`), await get(app, '/pets')]
    const image = `<img src="${url}" loading="lazy"`
    const link = `<a href="${url}">${label}, `
    t.match(record.body, disposition === 'inline' ? `${image} alt="Scan"/></a> ${label}, ` : link)
    t.match(list.body, disposition === 'inline' ? `${image} alt="${label}, ` : link)
    t.match(list.headers['content-security-policy'], "img-src 'self'")
  }
  const { headers: { etag } } = await app.inject('/pets/1/files/scan')
  t.equal((await app.inject({ url: '/pets/1/files/scan', headers: { 'if-none-match': etag } })).statusCode, 304)
  const head = await app.inject({ method: 'HEAD', url: '/pets/1/files/scan' })
  t.same([head.statusCode, head.headers['content-length'], head.body], [200, '10', ''])
  t.equal((await app.inject({ method: 'PUT', url: '/pets/1/files/scan' })).statusCode, 405)
})

t.test('a picture is in a list up to 100 kB, and a file that is larger than a page is a link', async (t) => {
  const { app, store } = await open(t)
  const large = (size: number): string => Buffer.concat([bytesOf('png'), Buffer.alloc(size)]).toString('base64')
  store.create({ name: 'A', photo: large(99_000), scan: large(120_000) }, {})
  const { body } = await get(app, '/pets')
  t.match(body, 'files/photo" loading="lazy"')
  t.match(body, '<a href="/pets/1/files/scan">PNG, 120 kB</a>')
  t.match((await get(app, '/pets/1')).body, 'alt="Scan"/></a> PNG, 120 kB<')
})

t.test('a file is not there for who may not see it, if there is none, or if it is never shown', async (t) => {
  const secret = { ...attributes, properties: { ...attributes.properties, key: { ...file, writeOnly: true } } }
  const { app, store } = await open(t, {
    attributes: secret as AttributesSchema,
    authorize: async (_: unknown, { id, row }: { id?: unknown, row: () => Promise<any> }) =>
      id === undefined || (await row())?.attributes.name !== 'Hidden',
    roles: { all: {}, guest: { hidden: ['scan'] } },
    role: ({ headers }: { headers: Readonly<Record<string, unknown>> }) => String(headers['x-role'])
  } as unknown as Partial<ResourceOptions>)
  store.create({ name: 'Hidden', scan: base64Of('png'), key: base64Of('png') }, {})
  store.create({ name: 'Shown', scan: base64Of('png'), photo: 'no base64', key: base64Of('png') }, {})
  const cases: ReadonlyArray<readonly [url: string, role: string, status: number]> = [
    ['/pets/2/files/scan', 'all', 200],
    ['/pets/2/files/scan', 'guest', 404],
    ['/pets/1/files/scan', 'all', 403],
    ['/pets/2/files/photo', 'all', 404],
    ['/pets/2/files/key', 'all', 404],
    ['/pets/2/files/name', 'all', 404],
    ['/pets/3/files/scan', 'all', 404],
    ['/pets/x/files/scan', 'all', 404],
    ['/pets/2/files/scan?a=1', 'all', 400]
  ]
  for (const [url, role, status] of cases) {
    const { statusCode, body } = await app.inject({ url, headers: { 'x-role': role } })
    t.equal(statusCode, status, `${role} ${url} ${body}`)
  }
  const guest = await app.inject({ url: '/pets/2', headers: { accept: types.html, 'x-role': 'guest' } })
  t.notMatch(guest.body, 'scan')
})

t.test('a conflict about a file says what both are, and keeps the one that is chosen', async (t) => {
  const { app, store } = await open(t)
  store.create({ name: 'Rex', scan: base64Of('png') }, {})
  const { body } = await get(app, '/pets/1')
  store.update(1, { scan: base64Of('pdf') }, { version: undefined, scope: {} })
  const stale = await submit(app, body, { 'pet[scan]': bytesOf('gif') })
  t.equal(stale.statusCode, 412)
  t.match(stale.body, 'PDF, 8 bytes')
  t.match(stale.body, 'A file is chosen.')
  t.equal((await submit(app, stale.body, {})).statusCode, 303)
  t.ok([base64Of('gif'), base64Of('pdf')].includes(store.get(1, {})?.attributes.scan))
})

t.test('a malformed form with files is refused with a reason, and nothing is stored', async (t) => {
  const { app, store } = await open(t)
  const send = async (type: string, payload: string | Buffer): Promise<[number, string]> => {
    const { statusCode, body } = await app.inject({
      method: 'POST', url: '/pets', headers: { accept: types.json, 'content-type': type }, payload
    })
    return [statusCode, body]
  }
  const part = (head: string, content = ''): string =>
    `--x\r\nContent-Disposition: form-data; ${head}\r\n\r\n${content}\r\n`
  const type = 'multipart/form-data; boundary=x'
  const cases: ReadonlyArray<readonly [string, string, number, RegExp]> = [
    ['multipart/form-data', 'a', 400, /Boundary/],
    [type, 'a', 400, /multipart/],
    [type, `${part('name="pet[scan]"; filename="empty.png"')}--x--`, 400, /the file \\"empty.png\\" is empty/],
    [type, `${part('name="a"').repeat(1001)}--x--`, 413, /more than 1000 fields/],
    [type, `${part(`name="${'a'.repeat(1001)}"`)}--x--`, 413, /more than 1000 bytes/],
    [type, `${part('name="pet[a]b"')}--x--`, 400, /malformed/],
    [type, `${part('name="pet[name]"', 'A')}${part('name="pet[scan]"', 'no base64!')}--x--`, 422, /base64/]
  ]
  for (const [type, body, status, reason] of cases) {
    const [found, text] = await send(type, body)
    t.equal(found, status, text)
    t.match(text, reason)
  }
  const [status] = await send(type, Buffer.from(`${part('name="pet[name]"', '\xff')}--x--`, 'latin1'))
  t.equal(status, 400)
  t.equal(store.get(1, {}), undefined)
  const foreign = await app.inject({
    method: 'POST', url: '/pets', headers: { 'sec-fetch-site': 'cross-site', 'content-type': type }, payload: '--x--'
  })
  t.equal(foreign.statusCode, 403)
})

t.test('the largest body of a write follows the largest files', async (t) => {
  const { app } = await open(t)
  const post = async (name: string, length: number): Promise<number> => (await app.inject({
    method: 'POST', url: '/pets', payload: { pet: { name, scan: 'A'.repeat(length) } }
  })).statusCode
  t.equal(await post('five megabytes', 6_990_508), 201)
  t.equal(await post('more', 20_000_000), 413)
  const small = await open(t, {
    attributes: schemaOf({ scan: { ...file, maxLength: 1000 } })
  })
  const refused = await small.app.inject({ method: 'POST', url: '/pets', payload: { pet: { scan: 'A'.repeat(1004) } } })
  t.equal(refused.statusCode, 422)
})

t.test('files have no field where many rows are changed, in an object, or without pages', async (t) => {
  const { app, store } = await open(t, { formPages: true })
  store.create({ name: 'Rex', scan: base64Of('png') }, {})
  const chosen = await app.inject({
    method: 'POST',
    url: '/pets',
    headers: { accept: types.html, 'content-type': 'application/x-www-form-urlencoded' },
    payload: new URLSearchParams({ 'id[]': '1', _step: 'change' }).toString()
  })
  t.match(chosen.body, 'pet[name]')
  t.notMatch(chosen.body, 'pet[scan]')
  const inside = await build(t, {
    name: 'pets',
    attributes: schemaOf({ it: { type: 'object', properties: { scan: file }, additionalProperties: false } })
  })
  const [form] = parseForms((await get(inside, '/pets')).body).filter(({ method }) => method === 'post')
  t.notOk(form?.controls.some(({ type }) => type === 'file'))
  const plain = await open(t, { formats: ['json'] })
  plain.store.create({ name: 'Rex', scan: base64Of('png') }, {})
  t.equal((await plain.app.inject('/pets/1/files/scan')).statusCode, 404)
})
