import fastify, { type FastifyInstance, type LightMyRequestResponse as Response } from 'fastify'
import t, { type Test } from 'tap'
import { database } from '../../../lib/index.js'
import { makeDatabase } from '../../support/stores/databases/music-database.js'

const json = { accept: 'application/json' }

/** Serves an SQLite database, which programs may write by its lists and by the paths of rows. */
async function serve (t: Test, sql: string): Promise<FastifyInstance> {
  const opened = makeDatabase(sql)
  const app = fastify()
  t.teardown(async () => {
    await app.close()
    opened.close()
  })
  app.register(database, { database: opened, write: true, defaults: { writes: 'both' } })
  await app.ready()
  return app
}

async function rowsOf (app: FastifyInstance, url: string, name: string): Promise<Array<Record<string, unknown>>> {
  return (await app.inject({ url, headers: json })).json()[name]
}

/** Normalizes a path as RFC 3986 §6.2.2 has it, with all that a program may do: letters and dots are decoded. */
function normalize (path: string): string {
  const decoded = path.replace(/%[\da-f]{2}/gi, (code) => {
    const character = decodeURIComponent(/%[89a-f]/i.test(code) ? '%20' : code)
    return /[\w.~-]/.test(character) ? character : code.toUpperCase()
  })
  const { pathname, search } = new URL(decoded, 'http://localhost')
  return pathname + search
}

const NAMES = [
  'data', 'data.xml', 'data.json', 'data.xml.json', 'data%2Exml', 'data%252Exml', 'data%2exml', '.', '..',
  '.csv', '.html', 'data.pdf', 'ü.html', 'a b.xml', '%.xml', '%25.xml'
]

t.test('no normalization of a URL changes which row it names', async (t) => {
  const values = NAMES.map((name) => `('${name}', 'file ${name}')`).join(', ')
  const sql = `CREATE TABLE files (name TEXT PRIMARY KEY NOT NULL, note TEXT);
    CREATE TABLE uses (id INTEGER PRIMARY KEY, file TEXT NOT NULL REFERENCES files);
    INSERT INTO files VALUES ${values}; INSERT INTO uses (file) SELECT name FROM files`
  const app = await serve(t, sql)
  const names = async (): Promise<unknown[]> => (await rowsOf(app, '/files', 'files')).map(({ name }) => name)
  const shown = async (path: string): Promise<unknown> =>
    (await app.inject({ url: normalize(path), headers: json })).json().file?.name
  const pathsIn = (page: string): string[] =>
    [...page.matchAll(/<a href="(\/files\/[^"#]+)"/g)].map(([, path]) => path as string)

  await t.test('in the links of pages', async (t) => {
    for (const url of ['/files', '/uses']) {
      const { body } = await app.inject({ url, headers: { accept: 'text/html' } })
      const paths = [...new Set(pathsIn(body))].filter((path) => !path.includes('?'))
      t.strictSame((await Promise.all(paths.map(shown))).sort(), [...NAMES].sort(), url)
      for (const path of paths) {
        const page = await app.inject({ url: normalize(path), headers: { accept: 'text/html' } })
        const [other] = pathsIn(page.body).filter((href) => href.endsWith('.json'))
        t.equal(await shown(other as string), await shown(path), `the page at ${path} links to its own row`)
      }
    }
  })

  await t.test('in cursors', async (t) => {
    const found: unknown[] = []
    for (let next: string | undefined = '/files?limit=1'; next !== undefined;) {
      const page: Response = await app.inject({ url: normalize(next), headers: json })
      found.push(...page.json().files.map(({ name }: { name: string }) => name))
      next = /<([^>]*)>; rel="next"/.exec(String(page.headers.link))?.[1]
    }
    t.strictSame(found, await names())
  })

  await t.test('in Location, by which the row is changed and deleted', async (t) => {
    for (const { id } of await rowsOf(app, '/uses', 'uses')) {
      await app.inject({ method: 'DELETE', url: `/uses/${String(id)}` })
    }
    for (const { id } of await rowsOf(app, '/files', 'files')) {
      const deleted = await app.inject({ method: 'DELETE', url: '/files', payload: { id } })
      t.equal(deleted.statusCode, 204, String(id))
    }
    const locations = new Map<string, string>()
    for (const name of NAMES) {
      const created = await app.inject({ method: 'POST', url: '/files', headers: json, payload: { file: { name } } })
      locations.set(name, String(created.headers.location))
    }
    for (const [name, location] of locations) {
      const url = normalize(location)
      const changed = await app.inject({ method: 'PUT', url, headers: json, payload: { file: { note: 'changed' } } })
      t.match(changed.json(), { file: { name, note: 'changed' } }, location)
      const before = await names()
      t.equal((await app.inject({ method: 'DELETE', url })).statusCode, 204, location)
      t.strictSame(await names(), before.filter((other) => other !== name))
    }
  })
})
