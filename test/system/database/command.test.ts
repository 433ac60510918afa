import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, get, type IncomingMessage } from 'node:http'
import { dirname } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import ts from 'typescript'
import { run, type Surroundings } from '../../../lib/database/command/run.js'
import { end, start } from '../../support/command.js'
import { Page } from '../../support/pages.js'
import { startProgram, until, writeProgram } from '../../support/program.js'
import { HELP } from '../../../lib/database/command/settings.js'
import { makeDatabase, MUSIC } from '../../support/stores/databases/music-database.js'

/** The page about the command. */
const page = new Page('docs/serve-a-database.md')

const root = new URL('../../../', import.meta.url).pathname

function makeFile (t: Test, sql = MUSIC): string {
  const path = `${t.testdir()}/music.sqlite`
  makeDatabase(sql, path).close()
  return path
}

const json = { accept: 'application/json', 'content-type': 'application/json' }

t.test('a file is served, and nothing in it changes', async (t) => {
  const path = makeFile(t)
  const before = readFileSync(path)
  const { url, printed, stop, complained } = await start(t, [path])
  t.equal(printed.replace(path, 'music.sqlite').replace(/:\d+\//, ':3000/'), `music.sqlite is at http://127.0.0.1:3000/
It is read-only; --write allows changes.

  /albums           Album
  /artists          Artist
  /employees        EMPLOYEES
  /invoice-lines    InvoiceLine
  /playlist-tracks  PlaylistTrack
  /logs             log
  /long-titles      long_titles (view)
  /orders           order
  /settings         settings

What is not served or cannot be written:
  broken is not served: SQLite cannot read "broken": no such table: main.missing_table.

Stop it with Ctrl-C.
`)
  t.match(
    await (await fetch(url, { headers: { accept: 'text/html' } })).text(),
    /<a href="\/invoice-lines">Invoice line<\/a>/
  )
  t.same(await (await fetch(`${url}artists`, { headers: json })).json(), {
    artists: [{ id: 1, Name: 'AC/DC' }, { id: 2, Name: 'Accept' }]
  })
  t.equal(await (await fetch(`${url}artists.csv`)).text(), 'id,Name\r\n1,AC/DC\r\n2,Accept\r\n')
  t.equal(
    (await fetch(`${url}artists`, { method: 'POST', headers: json, body: '{"artist":{"Name":"Queen"}}' })).status, 405
  )
  t.equal(await stop(), 0)
  t.equal(complained(), '')
  t.ok(before.equals(readFileSync(path)))
})

t.test('the command answers unknown paths and malformed ones in the format of the client', async (t) => {
  const { url } = await start(t, [makeFile(t)])
  const { host } = new URL(url)
  const accepts = [
    ['text/html', /^text\/html/, /<nav class="bar"[^]*<a href="\/">music<\/a>/],
    ['application/xml', /^application\/xml/, /<errors><error>/],
    ['application/json', /^application\/problem\+json/, /"type":"about:blank"/]
  ] as const
  for (const [path, status] of [
    ['nope', 404], ['artists/%', 400], ['%zz', 400], [`artists/${'1'.repeat(5000)}`, 414], ['?x=1', 400],
    ['artists/1/nope', 404]
  ] as const) {
    for (const [accept, type, body] of accepts) {
      const [line, answer] = await ask(host, `/${path}`, accept)
      t.strictSame(line, status, `${path.slice(0, 20)} ${accept}`)
      t.match(answer, { type, body })
    }
  }
})

/** Sends a request with a path as it is written. Returns the status and the answer. */
async function ask (
  host: string,
  path: string,
  accept: string,
  headers: Readonly<Record<string, string>> = {}
): Promise<[status: number | undefined, answer: { type: string, body: string, policy: string | undefined }]> {
  const [hostname, port] = host.split(':')
  const asked = get({ hostname, port, path, headers: { accept, ...headers } })
  const [response] = await once(asked, 'response') as [IncomingMessage]
  let body = ''
  for await (const chunk of response.setEncoding('utf8')) body += chunk
  const { 'content-type': type, 'cross-origin-resource-policy': policy } = response.headers
  return [response.statusCode, { type: String(type), body, policy: policy as string | undefined }]
}

t.test('the documentation shows what the command prints', async (t) => {
  const [, sql = ''] = /shop\.exec\(`([^`]*)`\)/.exec(page.text) ?? []
  const { printed } = await start(t, [makeFile(t, sql)])
  const shown = page.blocks.find(({ language }) => language === 'text')?.text
  t.equal(printed.replace(/^.* is at .*$/m, 'shop.sqlite is at http://127.0.0.1:3000/'), shown)
  const [table] = page.tables.filter(({ comment }) => comment === 'The flags of the command')
  const documented = table?.rows.flatMap(([cell = '']) => [...cell.matchAll(/--[a-z]+/g)].map(([name]) => name))
  t.strictSame(documented?.sort(), [...new Set(HELP.match(/--[a-z]+/g))].sort())
})

t.test('--write allows writes, and names what cannot be written', async (t) => {
  const path = makeFile(t)
  const {
    url, printed
  } = await start(t, [path, '--write', '--only', 'Artist,log,PlaylistTrack,Album', '--except', 'Album'])
  t.match(printed, `Clients can change the rows.

  /artists          Artist (create, update, delete)
  /playlist-tracks  PlaylistTrack (create, delete)
  /logs             log (create, update, delete)

What is not served or cannot be written:
  log: The table "log" has no complete primary key, so updates and deletions must name the version of their row`)
  t.equal(
    (await fetch(`${url}artists`, { method: 'POST', headers: json, body: '{"artist":{"Name":"Queen"}}' })).status, 201
  )
  const member = { method: 'PUT', headers: json, body: '{"artist":{"Name":"Muse"}}' }
  t.equal((await fetch(`${url}artists/1`, member)).status, 200, 'a row is written at its own path, too')
  const database = makeDatabase('', path)
  t.match(database.prepare('SELECT Name FROM Artist ORDER BY 1 DESC').all(), [{ Name: 'Queen' }, {}, {}])
  database.close()
})

t.test('an empty file is a database without tables', async (t) => {
  const path = `${t.testdir()}/empty.sqlite`
  writeFileSync(path, '')
  const { printed } = await start(t, [path])
  t.match(printed, /^No table is served\.\n\nStop it with Ctrl-C\.\n$/m)
})

/** Asks for a path by a host, and returns the answer. */
async function askHost (url: string, host: string): Promise<Awaited<ReturnType<typeof ask>>[1] & {
  status: number | undefined
}> {
  const { host: address, pathname } = new URL(url)
  const [status, answer] = await ask(address, pathname, 'application/json', { host })
  return { status, ...answer }
}

t.test('pages of other sites cannot read the database', async (t) => {
  const { url } = await start(t, [makeFile(t)])
  const { port } = new URL(url)
  const hosts = ['localhost', 'LOCALHOST', 'localhost.', 'LocalHost.', '127.0.0.1', '[::1]'].map(
    (host) => [host, 200] as const
  )
  const strangers = ['evil.example', 'localhost.evil.example', 'localhost..', '.localhost', '127.0.0.2'].map(
    (host) => [host, 421] as const
  )
  for (const [host, status] of [...hosts, ...strangers]) {
    t.equal((await askHost(url, `${host}:${port}`)).status, status, host)
    t.equal((await askHost(url, host)).status, status, `${host} without a port`)
  }
  t.match((await askHost(
    url, 'evil.example'
  )).body, 'there is no host \\"evil.example\\" here; use localhost, or start the command ' +
    'with --origin https://HOST, and with --prefix /PATH if a proxy serves it below a path')
})

t.test('--origin and --prefix serve browsers behind a proxy', async (t) => {
  const origin = 'https://tables.example.com'
  const { url, printed } = await start(t, [
    makeFile(t), '--write', '--origin', origin, '--origin', 'http://other:8080', '--prefix', '/my/tables'
  ])
  t.match(printed, / is at http:\/\/127\.0\.0\.1:\d+\/my\/tables\/\n[^]*\n {2}\/my\/tables\/artists /)
  const { port } = new URL(url)
  for (const [host, status] of [
    ['tables.example.com', 200], ['Other:8080', 200], [`localhost:${port}`, 200], ['example.com', 421]
  ] as const) {
    t.equal((await askHost(`${url}artists`, host)).status, status, host)
  }
  t.match(await (await fetch(url, { headers: { accept: 'text/html' } })).text(), /<a href="\/my\/tables\/artists">/)
  t.equal((await fetch(`http://localhost:${port}/artists`)).status, 404)
  t.match(
    await (await fetch(`${url}nope`, { headers: { accept: 'text/html' } })).text(), /<a href="\/my\/tables">music<\/a>/
  )
  const create = async (origin: string): Promise<number> =>
    (await fetch(`${url}artists`, {
      method: 'POST', headers: { ...json, origin }, body: '{"artist":{"Name":"Queen"}}'
    })).status
  t.strictSame([await create(origin), await create('https://evil.example')], [201, 403])
})

t.test('no answer of the command can be loaded by a page of another site', async (t) => {
  const { url } = await start(t, [makeFile(t), '--user', 'ann:secret'])
  const { host } = new URL(url)
  const authorization = `Basic ${Buffer.from('ann:secret').toString('base64')}`
  const [, stylesheet = ''] = /href="(\/home[^"]*css)"/.exec(
    (await ask(host, '/', 'text/html', { authorization }))[1].body
  ) ??
    []
  const cases: ReadonlyArray<readonly [path: string, status: number, headers?: Readonly<Record<string, string>>]> = [
    [
      '/', 200
    ], ['/artists', 200], ['/artists/1', 200], [stylesheet, 200], ['/artists/99', 404], ['/nope', 404], ['/%zz', 400],
    [
      `/artists/${'1'.repeat(5000)}`, 414
    ], ['/artists?x=1', 400], ['/artists', 421, { host: 'evil.example' }], ['/artists', 401, { authorization: '' }]
  ]
  for (const [path, status, headers] of cases) {
    for (const accept of ['text/html', 'application/json']) {
      const [answered, { policy }] = await ask(host, path, accept, { authorization, ...headers })
      t.strictSame([answered, policy], [status, 'same-origin'], `${path.slice(0, 20)} ${accept}`)
    }
  }
})

t.test('--user asks for a name and a password', async (t) => {
  const { url } = await start(t, [makeFile(t), '--user', 'ann:sécret:1'])
  const statusOf = async (authorization?: string): Promise<number> => (await fetch(url, {
    headers: authorization === undefined ? {} : { authorization }
  })).status
  const basic = (text: string): string => Buffer.from(text).toString('base64')
  const refused = await fetch(`${url}artists`, { headers: json })
  t.match(
    [refused.status, refused.headers.get('www-authenticate'), await refused.json()],
    [401, 'Basic realm="database", charset="UTF-8"', { detail: 'send the name and the password of the option --user' }]
  )
  t.equal(await statusOf(`Basic ${basic('ann:sécret:1')}`), 200)
  t.equal(await statusOf(`basic ${basic('ann:sécret:1')}`), 200)
  for (const wrong of ['ann:sécret:2', 'ann:', 'ann', '', 'ann:sécret:1 ', 'bob:sécret:1']) {
    t.equal(await statusOf(`Basic ${basic(wrong)}`), 401, wrong)
  }
  t.equal(await statusOf('Bearer x'), 401)
})

t.test('a warning comes before strangers do', async (t) => {
  const path = makeFile(t)
  const cases: ReadonlyArray<readonly [argv: readonly string[], warning: string]> = [
    [[], 'Warning: everybody who reaches 0.0.0.0 can read the data. Add --user NAME:PASSWORD.\n'],
    [['--write'], 'Warning: everybody who reaches 0.0.0.0 can change the data. Add --user NAME:PASSWORD.\n'],
    [['--write', '--user', 'a:b'], '']
  ]
  for (const [argv, warning] of cases) {
    const { complained, stop } = await start(t, [path, '--host', '0.0.0.0', ...argv])
    await stop()
    t.equal(complained(), warning, argv.join(' '))
  }
})

t.test('what cannot be served is said in one line', async (t) => {
  const path = makeFile(t)
  const folder = dirname(path)
  writeFileSync(`${folder}/text.txt`, 'no database')
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => { server.close() })
  const { port } = server.address() as { port: number }
  const refusingPool = class {
    on (): void {} async query (): Promise<void> {
      throw Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' })
    }

    async end (): Promise<void> {}
  }
  const cases: ReadonlyArray<readonly [
    argv: readonly string[], code: number, message: string | RegExp, surroundings?: Partial<Surroundings>
  ]> = [
    [['--nope'], 2, 'There is no option --nope; did you mean --open? See --help.\n'],
    [
      [`${folder}/nix.sqlite`], 1,
      `There is no file "${folder}/nix.sqlite". Check the path; a URL begins with postgres://\n`
    ],
    [[folder], 1, `"${folder}" is not a file. Name the file of an SQLite database.\n`],
    [
      [`${folder}/text.txt`], 1,
      `The file "${folder}/text.txt" is not an SQLite database. Name another file, or a postgres:// URL.\n`
    ],
    [[`${path}/x`], 1, /^The file ".*\/x" cannot be opened: ENOTDIR: .*\n$/],
    [
      [path, '--only', 'Artits'], 1,
      '--only names "Artits", which is not a table or view of the database; did you mean "Artist"?\n'
    ],
    [[path, '--port', String(port)], 1, `Port ${port} is in use. Choose another one: --port ${port + 1}\n`],
    [
      [path, '--host', '203.0.113.7'], 1,
      /^Cannot listen on 203\.0\.113\.7, port 3000: .*EADDRNOTAVAIL.*\. Choose another --host or --port\.\n$/
    ],
    [['postgres://localhost/x'], 1, 'PostgreSQL needs the package pg. Run: npm install pg\n', {
      load: () =>
        undefined
    }],
    [
      ['postgres://ann:secret@localhost/x?a=b'], 1,
      'Cannot connect to postgres://localhost/x: ECONNREFUSED. Check the URL, and that the server runs.\n',
      { load: () => ({ Pool: refusingPool }) }
    ],
    [
      [], 1, /^Cannot connect to postgres:\/\/127\.0\.0\.1:1\/x: connect ECONNREFUSED 127\.0\.0\.1:1\. Check/,
      { env: { DATABASE_URL: 'postgres://ann:secret@127.0.0.1:1/x' } }
    ]
  ]
  for (const [argv, code, message, surroundings] of cases) {
    const ended = await end(argv, surroundings)
    t.match(ended, { code, printed: '', complained: message }, argv.join(' '))
    t.equal(ended.complained.split('\n').length, 2)
  }
})

t.test('a database that takes longer than two seconds is named, and has no limit', async (t) => {
  const slowPool = class {
    on (): void {}
    async end (): Promise<void> {}
    async query (): Promise<void> {
      await delay(2200)
      throw new Error('too slow')
    }
  }
  let complained = ''
  const complain = (text: string): void => { complained += text }
  await end(['postgres://ann:secret@localhost/x'], { load: () => ({ Pool: slowPool }), complain })
  t.equal(complained, 'Waiting for postgres://localhost/x: its tables are being read. --only and --except select ' +
    'some.\n' +
    'Cannot connect to postgres://localhost/x: too slow. Check the URL, and that the server runs.\n')
  // Fastify's own limit for the start of a plugin.
  t.match((await end(['--print', 'x.sqlite'])).printed, /^ {2}pluginTimeout: 0,$/m)
})

t.test('--help and --version print and end', async (t) => {
  const { version } = JSON.parse(readFileSync(`${root}package.json`, 'utf8')) as { version: string }
  t.match(await end(['--help']), { code: 0, printed: /^Usage: fastify-resources FILE\|URL/, complained: '' })
  t.same(await end(['--version']), { code: 0, printed: `${version}\n`, complained: '' })
})

t.test('--open opens the home page in a browser', {
  skip: process.platform !== 'linux' && 'the browser is opened by another program'
}, async (t) => {
  const path = makeFile(t)
  const folder = dirname(path)
  writeFileSync(`${folder}/xdg-open`, `#!/bin/sh\necho "$1" > "${folder}/url"\n`)
  chmodSync(`${folder}/xdg-open`, 0o755)
  const { url } = await start(t, [path, '--open'], { env: { PATH: `${folder}:/bin:/usr/bin` } })
  await until('the browser is opened', () =>
    existsSync(`${folder}/url`) && readFileSync(`${folder}/url`, 'utf8') === `${url}\n`)
  const without = await start(t, [path, '--open'], { env: { PATH: '/nowhere' } })
  await until('the failure is told', () =>
    without.complained() === `Cannot open a browser: spawn xdg-open ENOENT. Open ${without.url} yourself.\n`)
})

t.test('--print prints a program that serves the same', async (t) => {
  const path = makeFile(t)
  const { code, printed, complained } = await end([
    path, '--print', '--write', '--only', "Artist,long_titles,it's", '--port', '0', '--user', 'ann:secret', '--prefix',
    '/t'
  ])
  t.strictSame([code, complained], [0, ''])
  t.notMatch(printed, 'secret')
  t.match(printed, /^\/\/ Keep it as server\.mts\. Run it by `node server\.mts`/)
  const selected = "only: ['Artist', 'long_titles', 'it\\'s'],"
  t.match(printed, `file: '${path}',\n  readTimeout: 5000,\n  ${selected}\n  write: true,\n`)
  const {
    outputText
  } = ts.transpileModule(printed.replace(", 'it\\'s'", ''), { compilerOptions: { module: ts.ModuleKind.ESNext } })
  const file = writeProgram(t, 'printed', outputText)
  const program = await startProgram(t, file, { environment: { DATABASE_USER: 'ann:secret' } })
  const headers = { ...json, authorization: `Basic ${Buffer.from('ann:secret').toString('base64')}` }
  const refused = await fetch(`${program.line}/t/artists`)
  t.strictSame([refused.status, refused.headers.get('cross-origin-resource-policy')], [401, 'same-origin'])
  t.match(
    await (await fetch(`${program.line}/t/artists`, { headers: { ...headers, accept: 'text/csv' } })).text(),
    /^id,Name\r\n1,/
  )
  t.same(await (await fetch(`${program.line}/t/artists`, { headers })).json(), {
    artists: [{ id: 1, Name: 'AC/DC' }, { id: 2, Name: 'Accept' }]
  })
  t.equal(
    (await fetch(`${program.line}/t/artists`, { method: 'POST', headers, body: '{"artist":{"Name":"Queen"}}' })).status,
    201
  )
})

/** Writes programs of several kinds, and returns their paths and texts. */
async function printPrograms (t: Test): Promise<ReadonlyArray<{ readonly path: string, readonly printed: string }>> {
  const url = 'postgres://ann:secret@localhost/shop'
  const origins = ['--origin', 'https://tables.example.com', '--prefix', '/tables']
  const programs = [
    ['a.sqlite', ...origins], ['a.sqlite', '--user', 'a:b'], [url, '--schema', 'sales,hr', '--except', 'log'],
    [url, '--host', '0.0.0.0', '--user', 'a:b'],
    [
      'a.sqlite', '--write', '--user', 'a:b:clerk', '--user', 'c:d', '--hide', "orders.it's,clerk:orders.note",
      '--stamp', 'updated_by'
    ]
  ]
  const files = await Promise.all(programs.map(async (argv, index) => {
    const { printed } = await end([...argv, '--print'])
    t.notMatch(printed, 'secret')
    return { file: writeProgram(t, `printed-${index}`, printed), printed }
  }))
  return files.map(({ file, printed }) => {
    const path = file.replace('.mjs', '.ts')
    writeFileSync(path, printed)
    t.teardown(() => { rmSync(path) })
    return { path, printed }
  })
}

t.test('each printed program has what the command was given', async (t) => {
  const programs = await printPrograms(t)
  t.match(programs[2]?.printed, /\n {2}pool,\n {2}schema: \['sales', 'hr'\],\n {2}except: \['log'\],\n {2}write: false,\n/)
  t.notMatch(programs[3]?.printed, 'DNS rebinding')
  t.match(programs[0]?.printed, "const hosts = ['127.0.0.1', 'localhost', '::1', '[::1]', 'tables.example.com']\n")
  t.match(programs[0]?.printed, ", trustedOrigins: ['https://tables.example.com'] },\n  prefix: '/tables',\n")
  t.match(programs[0]?.printed, "  prefix: '/tables',\n  home: { notFound: true },\n")
  t.match(programs[4]?.printed, "const roles = new Map([['a', 'clerk']])\n")
  t.match(programs[4]?.printed, /^ {2}tables: \{ orders: \{ hide: \[ "it's" \], roles: \{ '': \{\}, clerk: \{ hidden: \[ 'note' \] \} \} \} \}$/m)
})

// The programs import the package, which `npm run test:system` builds.
t.test('each printed program is accepted by the strict compiler', async (t) => {
  const sources = (await printPrograms(t)).map(({ path }) => path)
  const { stdout, status } = spawnSync(
    process.execPath,
    [
      'node_modules/@typescript/native/lib/tsc.js',
      '--ignoreConfig', '--noEmit', '--strict', '--skipLibCheck', '--module',
      'nodenext', '--target', 'es2023', '--types', 'node', ...sources
    ],
    { encoding: 'utf8', cwd: root }
  )
  t.strictSame([stdout, status], ['', 0])
})

t.test('the program of the package serves a file until it is asked to stop', async (t) => {
  const path = makeFile(t)
  const parameters = [`${root}dist/database/command/bin.js`]
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    const child = spawn(
      process.execPath, [...parameters, path, '--port', '0'],
      { env: { ...process.env, NODE_OPTIONS: '' }, stdio: ['ignore', 'pipe', 'inherit'] }
    )
    t.teardown(() => child.kill('SIGKILL'))
    const ended = once(child, 'exit')
    const [printed] = await once(child.stdout, 'data') as [Buffer]
    const [, url = ''] = / is at (\S+)$/m.exec(printed.toString()) ?? []
    t.equal((await fetch(url)).status, 200)
    child.kill(signal)
    t.strictSame(await ended, [0, null], signal)
  }
  const { status, stderr } = spawnSync(process.execPath, [...parameters, '--nope'], { encoding: 'utf8' })
  t.strictSame([status, stderr], [2, 'There is no option --nope; did you mean --open? See --help.\n'])
})

const bin = new URL('../../../dist/database/command/bin.js', import.meta.url).pathname
const library = new URL('../../../lib/index.ts', import.meta.url).href

/** Runs the command, which ends at once. */
async function endDiff (...argv: readonly string[]): Promise<{ code: number, printed: string, complained: string }> {
  let printed = ''
  let complained = ''
  const code = await run(argv, {
    env: {},
    print: (text) => {
      printed += text
    },
    complain: (text) => { complained += text },
    signal: AbortSignal.abort()
  })
  return { code, printed, complained }
}

/** Writes a module with the app of a blog, which exports it. */
function writeApp (t: Test, name: string, file: string, {
  exported = 'export default app', from = library, more = ''
} = {}): string {
  return writeProgram(t, name, `
    import fastify from 'fastify'
    import resources, { draw, memoryStore } from '${from}'
    import { sqliteStore, sqliteStores } from '${from === library
      ? from.replace('index', 'sql/sqlite/index')
      : `${from}/sqlite`}'
    const text = { type: 'object', properties: { text: { type: 'string' } } }
    const file = ${JSON.stringify(file)}
    const app = fastify({ pluginTimeout: 0 })
    app.register(draw((map) => map.resources('posts', { attributes: text, unique: ['text'] }, (posts) => posts
      .resources('comments', { attributes: text })), { stores: sqliteStores({ file }) }))
    ${more}
    ${exported}`)
}

const OLD = 'CREATE TABLE posts (id INTEGER PRIMARY KEY AUTOINCREMENT, version INTEGER NOT NULL DEFAULT 1)'

t.test('diff prints a script, and changes nothing', async (t) => {
  const file = `${t.testdir()}/blog.sqlite`
  makeDatabase(OLD, file).close()
  const before = readFileSync(file)
  const app = writeApp(t, 'diff', file)
  const { code, printed, complained } = await endDiff('diff', app)
  t.strictSame([code, complained], [1, ''])
  const columns = '"id" INTEGER PRIMARY KEY AUTOINCREMENT, "version" INTEGER NOT NULL DEFAULT 1, "text" TEXT, ' +
    '"postId" INTEGER NOT NULL, FOREIGN KEY ("postId") REFERENCES "posts" ON DELETE RESTRICT'
  t.equal(printed, `-- The table "posts":
ALTER TABLE "posts" ADD COLUMN "text" TEXT;
CREATE UNIQUE INDEX IF NOT EXISTS "posts_text_key" ON "posts" ("text");
-- The table "comments":
CREATE TABLE IF NOT EXISTS "comments" (${columns}) STRICT;
CREATE INDEX IF NOT EXISTS "comments_postId_id_idx" ON "comments" ("postId", "id");
`)
  t.ok(before.equals(readFileSync(file)))

  const database = makeDatabase(printed, file)
  database.close()
  const again = await endDiff('diff', writeApp(t, 'diff-again', file))
  t.same(again, { code: 0, printed: '-- The table "posts" fits.\n-- The table "comments" fits.\n', complained: '' })
})

t.test('a table that an app must change itself is a comment', async (t) => {
  const file = `${t.testdir()}/blog.sqlite`
  makeDatabase(
    'CREATE TABLE "the\nnotes" (id INTEGER PRIMARY KEY AUTOINCREMENT, version INTEGER NOT NULL, size TEXT)', file
  )
    .close()
  const more = `
    const attributes = {
      type: 'object', required: ['title'], properties: { size: { type: 'integer' }, title: { type: 'string' } }
    }
    app.register(resources, { name: 'notes', store: sqliteStore({ file, table: 'the\\nnotes', attributes }) })
    app.register(resources, { name: 'rows', store: memoryStore() })
    app.register(resources, { name: 'things', store: sqliteStore({ file, table: 'the\\nnotes' }) })`
  const { code, printed } = await endDiff('diff', writeApp(t, 'diff-problems', file, { more }))
  t.equal(code, 1)
  const missing = 'There is no column "title" for "title" (such as TEXT). The rows that exist would have no "title", ' +
    'which is required. Run this, and fill the column: ALTER TABLE "the notes" ADD COLUMN "title" TEXT.'
  t.match(printed, `-- The table "the notes":
-- The column "size" is of type TEXT, which does not keep "size" (integer) as it is; INTEGER does.
-- ${missing}
`)
})

t.test('the app may be exported in several ways, and have a copy of the package of its own', async (t) => {
  const ways = [
    'export default () => app', 'export { app }', 'export default Promise.resolve(app)',
    'export default async () => { await app.ready(); return app }', 'await app.ready()\nexport default app'
  ]
  for (const [index, exported] of ways.entries()) {
    const file = `${t.testdir()}/blog-${index}.sqlite`
    const { printed, complained } = await endDiff(
      'diff', writeApp(t, `diff-${index}`, file, { exported, ...(index === 0 && { from: 'fastify-resources' }) })
    )
    t.equal(complained, '')
    t.match(printed, '-- The table "posts":\nCREATE TABLE', exported)
    t.notOk(existsSync(file))
  }
  const without = writeProgram(t, 'diff-without', "import fastify from 'fastify'\nexport default fastify()")
  t.same(await endDiff('diff', without), {
    code: 0, printed: '-- No resource of the app has a table.\n', complained: ''
  })
})

t.test('what cannot be compared is said in one line', async (t) => {
  const empty = writeProgram(t, 'diff-empty', 'export const one = 1')
  const broken = writeProgram(
    t, 'diff-broken',
    "import fastify from 'fastify'\nconst app = fastify()\napp.register(async () => { throw new Error('it fails') " +
      '})\nexport default app'
  )
  const cases: ReadonlyArray<readonly [argv: readonly string[], code: number, message: string]> = [
    [[], 2, 'Name one module and nothing else: fastify-resources diff app.js\n'],
    [['a.js', 'b.js'], 2, 'Name one module and nothing else: fastify-resources diff app.js\n'],
    [['a.js', '--write'], 2, 'Name one module and nothing else: fastify-resources diff app.js\n'],
    [['nix.js'], 1, 'There is no file "nix.js". Name the module that exports your app: diff app.js\n'],
    [[empty], 1, `"${empty}" exports no Fastify app. Export it, or a function that makes it: export default app\n`],
    [[broken], 1, 'it fails.\n']
  ]
  for (const [argv, code, complained] of cases) {
    t.same(await endDiff('diff', ...argv), { code, printed: '', complained })
  }
})

t.test('the program of the package ends, even if the module keeps its process alive', (t) => {
  const listening = writeProgram(
    t, 'diff-listening', "import { createServer } from 'node:http'\ncreateServer().listen(0)"
  )
  const parameters = [bin, 'diff', listening]
  const { status, stderr } = spawnSync(process.execPath, parameters, { encoding: 'utf8' })
  t.strictSame(
    [status, stderr],
    [1, `"${listening}" exports no Fastify app. Export it, or a function that makes it: export default app\n`]
  )
  t.end()
})
