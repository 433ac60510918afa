import fastify, { type FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { memoryStore } from '../../../lib/index.js'
import { database, type DatabaseOptions, describeDatabase, type TableReport } from '../../../lib/database/index.js'
import { makeDatabase, MUSIC } from '../../support/stores/databases/music-database.js'

type Options = Partial<DatabaseOptions> & { readonly sql?: string }

/** Serves a database in memory. */
async function serve (t: Test, {
  sql = MUSIC, ...options
}: Options = {}): Promise<{ app: FastifyInstance, reports: readonly TableReport[] }> {
  const opened = makeDatabase(sql)
  const app = fastify({ pluginTimeout: 0 })
  t.teardown(async () => {
    await app.close()
    opened.close()
  })
  let reports: readonly TableReport[] = []
  const source = Object.hasOwn(options, 'descriptions') || !['pool', 'file'].some((name) =>
    Object.hasOwn(options, name))
    ? { database: opened }
    : {}
  app.register(database, {
    report: (tables: readonly TableReport[]) => {
      reports = tables
    },
    ...source,
    ...options
  } as DatabaseOptions)
  await app.ready()
  return { app, reports }
}

const messageOf = async (t: Test, options: Options): Promise<string> =>
  serve(t, options).then(() => 'nothing was thrown', (error: Error) => error.message)

t.test('each table and view is served, read-only', async (t) => {
  const { app, reports } = await serve(t)
  t.strictSame(reports.map(({ table, name, path, actions }) =>
    `${table.name} ${name} ${path} ${actions.join(' ')}`.trim()).sort(), [
    'Album albums /albums list show', 'Artist artists /artists list show', 'EMPLOYEES employees /employees list show',
    'InvoiceLine invoiceLines /invoice-lines list show', 'PlaylistTrack playlistTracks /playlist-tracks list show',
    'broken undefined undefined', 'log logs /logs list show', 'long_titles longTitles /long-titles list show',
    'order orders /orders list show', 'settings settings /settings list show'
  ])
  t.match(reports.find(({ table }) =>
    table.name === 'broken')?.problems, [{ problem: /^SQLite cannot read "broken": / }])
  const cases: ReadonlyArray<readonly [url: string, answer: object]> = [
    ['/artists', { artists: [{ id: 1, Name: 'AC/DC' }, { id: 2, Name: 'Accept' }] }],
    ['/invoice-lines/1', { invoiceLine: { id: 1, UnitPrice: '0.99', Quantity: 1, SoldAt: '2009-01-01 00:00:00' } }],
    ['/playlist-tracks/1,5', { playlistTrack: { id: '1,5', PlaylistId: 1, TrackId: 5 } }],
    ['/settings/a%2Fb', { setting: { id: 'a/b', name: 'a/b', value: 'x' } }],
    ['/orders', { orders: [{ id: 1, from: 'me', group: 3, cover: 'AP8=' }] }],
    ['/long-titles', { longTitles: [{ Title: 'For Those About To Rock' }] }],
    ['/logs', { logs: [{ at: '2020', line: 'started' }] }]
  ]
  for (const [url, answer] of cases) {
    const response = await app.inject({ url, headers: { accept: 'application/json' } })
    t.match({ status: response.statusCode, body: response.json() }, { status: 200, body: answer }, url)
  }
  t.equal(
    (await app.inject({ method: 'POST', url: '/artists', payload: { artist: { Name: 'Queen' } } })).statusCode, 405
  )
  t.match((await app.inject('/employees.html')).body, />First name</)
})

t.test('foreign keys are references, and rows include what they refer to', async (t) => {
  const { app } = await serve(t)
  t.match((await app.inject('/albums/1.json?include=Artist')).json(), {
    album: { ArtistId: 1, Artist: { Name: 'AC/DC' } }
  })
  // Two attributes of a table refer to the same one.
  t.match((await app.inject('/employees/2.json?include=employee')).json(), {
    employee: { employee: { FIRST_NAME: 'Ann' } }
  })
})

t.test('several foreign keys lead to the same table, under names of their own', async (t) => {
  const { app } = await serve(t, {
    sql: `CREATE TABLE airports (code TEXT PRIMARY KEY NOT NULL, name TEXT NOT NULL);
      CREATE TABLE flights (
        id INTEGER PRIMARY KEY,
        origin TEXT REFERENCES airports,
        destination TEXT REFERENCES airports,
        last_stop TEXT REFERENCES airports,
        airline INTEGER REFERENCES airlines,
        PilotID INTEGER REFERENCES pilots,
        EYEID INTEGER REFERENCES eyes
      );
      CREATE TABLE pilots (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
      CREATE TABLE eyes (id INTEGER PRIMARY KEY);
      CREATE TABLE airlines (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
      INSERT INTO airports VALUES ('FRA', 'Frankfurt'), ('LIM', 'Lima');
      INSERT INTO airlines VALUES (1, 'Condor');
      INSERT INTO pilots VALUES (1, 'Ada');
      INSERT INTO flights VALUES (1, 'FRA', 'LIM', 'LIM', 1, 1, NULL);`
  })
  const {
    flight
  } = (await app.inject('/flights/1.json?include=airport,destinationRow,last_stop_row,airlineRow,Pilot,eye')).json()
  t.match(flight, {
    airport: { name: 'Frankfurt' },
    destinationRow: { name: 'Lima' },
    last_stop_row: { name: 'Lima' },
    airlineRow: { name: 'Condor' },
    Pilot: { name: 'Ada' },
    eye: null
  })
  t.match((await app.inject({ url: '/flights/1', headers: { accept: 'text/html' } })).body, /<dt>Pilot<\/dt>/)
  const linksOn = async (url: string): Promise<string[]> =>
    [
      ...(await app.inject({ url, headers: { accept: 'text/html' } })).body.matchAll(/<dd [^>]*><a href="([^"]*)">/g)
    ].map(([, path]) =>
      path as string)
  t.strictSame(await linksOn('/flights/1'), [
    '/airports/FRA', '/airports/LIM', '/airports/LIM', '/airlines/1', '/pilots/1'
  ])
  const page = (await app.inject({ url: '/airports/LIM', headers: { accept: 'text/html' } })).body
  // Empty lists come last.
  t.strictSame([...page.matchAll(/>(Flights: [^<]*)<\/a> <span class="total">(\d+)</g)].map(([, label, rows]) =>
    `${label} ${rows}`), ['Flights: destination 1', 'Flights: last stop 1', 'Flights: origin 0'])
})

t.test('a table and a column may have names that every object inherits', async (t) => {
  const { app, reports } = await serve(t, {
    sql: `CREATE TABLE "constructor" (
        id INTEGER PRIMARY KEY, "constructor" TEXT NOT NULL, "toString" INTEGER REFERENCES "constructor"
      );
      INSERT INTO "constructor" VALUES (1, 'McLaren', 1);`
  })
  t.match(reports, [{ name: 'constructors', path: '/constructors', problems: [] }])
  t.match((await app.inject('/constructors/1.json')).json(), {
    constructor: { id: 1, constructor: 'McLaren', toString: 1 }
  })
})

t.test('rows are written if the app allows it, without a lost update', async (t) => {
  const { app, reports } = await serve(t, { write: true })
  t.strictSame(reports.filter(({ actions }) => !actions.includes('create')).map(({ table }) =>
    table.name).sort(), ['broken', 'long_titles'])
  const created = await app.inject({
    method: 'POST', url: '/playlist-tracks.json', payload: { playlistTrack: { PlaylistId: 2, TrackId: 7 } }
  })
  t.match(created, { statusCode: 201, headers: { location: '/playlist-tracks/2,7' } })
  const { headers: { etag } } = await app.inject('/invoice-lines/1.json')
  const update = (price: string) => app.inject({
    method: 'PUT',
    url: '/invoice-lines.json',
    headers: { 'if-match': String(etag) },
    payload: { id: 1, invoiceLine: { UnitPrice: price } }
  })
  t.match((await update('1.50')).json(), { invoiceLine: { UnitPrice: '1.50' } })
  t.equal((await update('1.60')).statusCode, 412)
  t.match(
    (await app.inject({
      method: 'PUT', url: '/invoice-lines.json', payload: { id: 1, invoiceLine: { Quantity: 0, UnitPrice: '1.555' } }
    })).json().errors,
    { Quantity: [String], UnitPrice: [String] }
  )
})

t.test('a date or a time names no row, and is edited in one line that keeps it', async (t) => {
  const sql = `CREATE TABLE stores (
      id INTEGER PRIMARY KEY,
      updated TIMESTAMP NOT NULL,
      opened DATE NOT NULL,
      opens TIME NOT NULL,
      city TEXT NOT NULL
    );
    CREATE TABLE copies (id INTEGER PRIMARY KEY, store_id INTEGER NOT NULL REFERENCES stores, title DATETIME NOT NULL);
    INSERT INTO stores VALUES (1, '2021-03-06 15:51:59', '6 March', '9 am', 'Ulm');
    INSERT INTO copies VALUES (1, 1, '2021-03-06 15:51:59'), (2, 1, '2021-03-06' || char(10) || '15:52');`
  const { app } = await serve(t, { sql, write: true, only: ['stores', 'copies'] })
  const pageOf = async (url: string): Promise<string> => (await app.inject({
    url, headers: { accept: 'text/html' }
  })).body
  t.match(await pageOf('/stores/1'), '<h1>Ulm</h1>')
  const page = await pageOf('/copies/1')
  t.match(page, '<h1>Copy 1</h1>')
  t.match(page, '>Ulm</a>')
  t.match(await pageOf('/copies/1/edit'),
    /<input type="datetime-local" id="[^"]*" name="copy\[title\]" step="1" value="2021-03-06T15:51:59"/)
  t.match(await pageOf('/copies/2/edit'), /<textarea [^>]*name="copy\[title\]"[^>]*>2021-03-06&#10;15:52<\/textarea>/)
  const headers = { 'content-type': 'application/x-www-form-urlencoded', accept: 'text/html' }
  const sent = await app.inject({
    method: 'POST', url: '/copies', headers, payload: '_method=PUT&id=2&copy[title]=2021-03-06%0D%0A15:52'
  })
  t.equal(sent.statusCode, 303)
  t.equal((await app.inject('/copies/2.json')).json().copy.title, '2021-03-06\n15:52')
})

t.test('a column that is not null with a default is required, and a form fills it in', async (t) => {
  const { app } = await serve(t, {
    sql: `CREATE TABLE films (
        id INTEGER PRIMARY KEY,
        state TEXT NOT NULL DEFAULT 'new',
        days INTEGER NOT NULL DEFAULT 3,
        rate DECIMAL(4,2) NOT NULL DEFAULT 4.5,
        seen BOOLEAN NOT NULL DEFAULT 1,
        name TEXT NOT NULL,
        updated TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP
      );
      INSERT INTO films (id, name) VALUES (1, 'Alien');`,
    write: true
  })
  const headers = { accept: 'text/html' }
  const page = (await app.inject({ url: '/films/1/edit', headers })).body
  t.match(page, '<label for="film:days">Days</label>\n<input type="number" id="film:days"')
  t.match(page, /id="film:days" name="film\[days\]" required="required" [^>]*value="3"/)
  t.match(page, /<input type="checkbox" id="film:seen" name="film\[seen\]" value="true" checked="checked"/)
  const update = await app.inject({
    method: 'POST',
    url: '/films',
    headers: { ...headers, 'content-type': 'application/x-www-form-urlencoded' },
    payload: '_method=PUT&id=1&film[days]='
  })
  t.match(update, { statusCode: 422, body: /Days must not be blank/ })
  const created = await app.inject({ method: 'POST', url: '/films.json', payload: { film: { name: 'Brazil' } } })
  t.match(created.json(), { film: { state: 'new', days: 3, rate: '4.50', seen: true, name: 'Brazil' } })
})

t.test('options select tables, and change single resources or all', async (t) => {
  const guarded = await serve(t, {
    only: ['Artist', 'Album', 'settings'],
    except: ['settings'],
    write: true,
    prefix: '/music/',
    home: 'Music',
    defaults: { formats: ['json'], except: 'delete', html: { messages: { save: 'Keep' } } },
    nameOf: ({ name }) => name === 'Album' ? 'records' : undefined,
    tables: {
      Artist: {
        name: 'bands', html: { columns: ['Name'], messages: { plural: 'All bands' } }, formats: ['html', 'json']
      }
    }
  })
  t.strictSame(guarded.reports.map(({ name, path, actions }) => `${name} ${path} ${actions.join(' ')}`), [
    'records /music/records list show create new update edit', 'bands /music/bands list show create new update edit'
  ])
  t.match((await guarded.app.inject('/music/bands.html')).body, /<h1>All bands<\/h1>/)
  t.match((await guarded.app.inject('/music/bands/1/edit.html')).body, />Keep</)
  t.equal((await guarded.app.inject('/music/records.html')).statusCode, 404)
  t.match(
    (await guarded.app.inject({ url: '/music', headers: { accept: 'text/html' } })).body,
    /<h1>Music<\/h1>[^]*<a href="\/music\/bands">All bands<\/a>/
  )
  const store = memoryStore()
  const { app } = await serve(t, {
    tables: { Artist: { store, attributes: { type: 'object', properties: { Name: { type: 'string' } } } } }
  })
  t.same((await app.inject('/artists.json')).json(), { artists: [] })
})

t.test('the app can change the descriptions of tables', async (t) => {
  const opened = makeDatabase(MUSIC)
  t.teardown(() => { opened.close() })
  const [artist, ...others] = await describeDatabase(opened, { only: ['Artist', 'Album'] })
  t.equal(artist?.name, 'Album')
  const changed = [...others, { ...artist, canUpdate: false }] as typeof others
  const { reports } = await serve(t, { descriptions: changed, write: true })
  t.strictSame(reports.map(({ name, actions }) => `${name} ${actions.join(' ')}`),
    ['artists list show create new update edit delete', 'albums list show create new delete'])
  const selected = await serve(t, { descriptions: changed, only: ['Artist'] })
  t.strictSame(selected.reports.map(({ name }) => name), ['artists'])
  // A reference leads to the table of the same schema, or else of any.
  const schemas = [['a', 'a', 'b'], ['a', 'b', 'b']]
  for (const [index, [album, ...artists]] of schemas.entries()) {
    const described = [changed[1], changed[0], changed[0]].map(
      (table, index) => ({ ...table, schema: [album, ...artists][index] })
    ) as typeof others
    const { app } = await serve(t, { descriptions: described.slice(0, index === 0 ? 3 : 2) })
    t.match((await app.inject('/albums/1.json?include=Artist')).json(), { album: { Artist: { Name: 'AC/DC' } } })
  }
  const wrong = changed.map((table) => ({ ...table, name: 'Artist', columns: { id: 'nothing' } }))
  t.match(
    await messageOf(t, { descriptions: wrong }),
    /^Option "table" of the plugin "database" is "Artist", which does not fit: there is no column "nothing" for the id/
  )
})

t.test('a table that does not fit its description is reported, and the others are served', async (t) => {
  const opened = makeDatabase(
    'CREATE TABLE good (id INTEGER PRIMARY KEY, a TEXT); CREATE TABLE bad (id INTEGER PRIMARY KEY, a TEXT)'
  )
  let isChanged = false
  // Another process changes the table after it was described.
  const changing: typeof opened = {
    exec: (sql) => opened.exec(sql),
    close: () => opened.close(),
    prepare (sql) {
      if (!isChanged && sql === 'PRAGMA journal_mode') {
        isChanged = true
        opened.exec('ALTER TABLE bad RENAME COLUMN a TO b')
      }
      return opened.prepare(sql)
    }
  }
  const { reports } = await serve(t, { database: changing } as Options)
  t.match(reports, [
    {
      table: { name: 'bad', isServed: false },
      path: undefined,
      problems: [{ problem: /which does not fit: there is no column "a"/ }]
    },
    { table: { name: 'good' }, path: '/goods', problems: [] }
  ])
  const broken: typeof opened = {
    ...changing,
    prepare (sql) {
      return opened.prepare(sql.includes('FROM pragma_table_list(?)') ? 'not SQL' : sql)
    }
  }
  await t.rejects(serve(t, { database: broken } as Options), { message: /syntax error/ }, 'other errors are not hidden')
})

/** Returns an app, and the lines that it logs. */
function logged (t: Test): { readonly app: FastifyInstance, readonly lines: readonly string[] } {
  const lines: string[] = []
  const stream = { write: (line: string) => { lines.push(line) } }
  // Without a timeout, the plugin would log a warning of its own.
  const app = fastify({ requestTimeout: 10_000, logger: { level: 'info', stream } })
  t.teardown(() => app.close())
  return { app, lines }
}

t.test('without a report, the tables are logged', async (t) => {
  const opened = makeDatabase(MUSIC)
  const { app, lines } = logged(t)
  app.register(database, { database: opened, only: ['log', 'broken'] })
  await app.ready()
  t.match(lines.map((line) => JSON.parse(line) as object), [
    { level: 40, msg: 'the table "broken" is not served', problems: [String] },
    { level: 30, msg: 'the table "log" is served at /logs', path: '/logs', actions: ['list', 'show'] }
  ])
})

t.test('a wrong option throws at registration', async (t) => {
  const cases: ReadonlyArray<readonly [options: object, message: string | RegExp]> = [
    [{ wirte: true }, 'There is no option "wirte" of the plugin "database"; did you mean "write"?'],
    [{ write: 'yes' }, 'Option "write" of the plugin "database" must be true or false, not \'yes\'.'],
    [
      { home: true },
      'Option "home" of the plugin "database" must be a title, the options of a home page, or false, not true.'
    ],
    [{ home: { titel: 'Music' } }, /"titel"/],
    [{ tables: [] }, 'Option "tables" of the plugin "database" must be an object of options by table, not .'],
    [
      { tables: { Artist: 5 } },
      'Option "tables" of the plugin "database" has "Artist", which must be an object, not 5.'
    ],
    [
      { tables: { Artits: {} } },
      /^Option "tables" of the plugin "database" has "Artits", which is not one of .*; did you mean "Artist"\?$/
    ],
    [{ tables: { Artist: { only: 'update' } } }, /"only" names 'update', which needs the option "write: true"/],
    [{ tables: { Artist: { html: { pageSize: 0 } } } }, /^Option "html.pageSize" of resource "artists" must be/],
    [{ only: ['Artits'] }, /^Option "only" of the plugin "database" names "Artits".*did you mean "Artist"\?$/],
    [{ except: 'Artist' }, /^Option "except" of the plugin "database" must be a list of tables/],
    [{ defaults: 1 }, /^Option "defaults" of the plugin "database" must be an object of options, not 1/],
    [{ nameOf: 'x' }, /^Option "nameOf" of the plugin "database" must be a function/],
    [{ report: 'x' }, /^Option "report" of the plugin "database" must be a function/],
    [{ descriptions: {} }, /^Option "descriptions" of the plugin "database" must be a list of descriptions/],
    [
      { prefix: '/:tenant' },
      /^Option "home" of the plugin "database" must be false, because the prefix '\/:tenant' has parameters/
    ],
    [{ schema: 'public' }, 'Option "schema" of the plugin "database" is for PostgreSQL only.'],
    [
      { file: 'x.sqlite', database: {} },
      'Option "file" of the plugin "database" must not be given together with "database".'
    ],
    [{ pool: {} }, 'Option "pool" of the plugin "database" must be a pool of pg.'],
    [{ pool: undefined }, /^Option "pool" of the plugin "database" is missing; give a pool of pg/]
  ]
  for (const [options, message] of cases) {
    t.match(await messageOf(t, options as Options), message, JSON.stringify(options))
  }
})

t.test('a prefix with parameters works without a home page', async (t) => {
  const { app, reports } = await serve(t, { only: ['Artist'], prefix: '/:tenant', home: false })
  t.match(reports, [{ path: '/:tenant/artists' }])
  t.equal((await app.inject('/a/artists')).statusCode, 200)
})

t.test('options of the log reach the resources', async (t) => {
  const opened = makeDatabase(MUSIC)
  const { app, lines } = logged(t)
  app.register(database, { database: opened, only: ['log'], logLevel: 'silent', logSerializers: {}, report: () => {} })
  await app.ready()
  await app.inject('/logs')
  t.strictSame(lines, [])
})

t.test('a page adds up the columns of a table exactly, and counts its categories', async (t) => {
  const { app } = await serve(t, {
    write: true,
    sql: `
      CREATE TABLE sales (id INTEGER PRIMARY KEY, status TEXT NOT NULL CHECK (status IN ('open', 'paid')), gift BOOLEAN,
        price NUMERIC(10,2), weight REAL, big BIGINT, day DATE);
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300)
        INSERT INTO sales SELECT i, iif(i % 3 = 0, 'paid', 'open'), i % 2, 0.1 + i, iif(i % 2 = 0, 0.1, 0.2),
          9007199254740993, '2026-01-01' FROM n;
      UPDATE sales SET price = NULL, gift = NULL WHERE id = 300`
  })
  const read = async (url: string): Promise<{ cells: string[], numbers: string[] }> => {
    const { statusCode, body } = await app.inject({ url, headers: { accept: 'text/html' } })
    t.equal(statusCode, 200, url)
    const [, foot = ''] = /<tfoot>(.*?)<\/tfoot>/.exec(body) ?? []
    return {
      cells: [...foot.matchAll(/>([^<]+)</g)].map(([, text = '']) => text),
      numbers: [...body.matchAll(/class="chip" href="[^"]*">(\w+) <span>(\d+)</g)].map(([, name, rows]) => `${name} ${rows}`)
    }
  }
  const all = await read('/sales?sum=price,weight,big')
  t.strictSame(all.cells, ['Sum (300 sales)', '44,879.90', '45', '2,702,159,776,422,297,900'])
  t.strictSame(all.numbers, ['open 200', 'paid 100', 'yes 150', 'no 149'])
  const paid = await read('/sales?sum=price&status=paid&sort=-price')
  t.strictSame([paid.cells, paid.numbers], [['Sum (100 sales)', '14,859.90'], ['open 200', 'yes 50', 'no 49']])
  t.strictSame((await read('/sales?sum=price&id[in]=1,300')).cells, ['Sum (2 sales)', '1.10'], 'null adds nothing')
  t.match((await app.inject({ url: '/sales?sum=day', headers: { accept: 'text/html' } })).statusCode, 400)
})
