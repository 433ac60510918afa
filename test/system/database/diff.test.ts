import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { run } from '../../../lib/database/command/run.js'
import { startProgram, writeProgram } from '../../support/program.js'
import { startPostgres } from '../../support/stores/postgres.js'
import { makeDatabase } from '../../support/stores/databases/music-database.js'

const bin = new URL('../../../dist/database/command/bin.js', import.meta.url).pathname
const library = new URL('../../../lib/index.ts', import.meta.url).href

/** Runs the command, which ends at once. */
async function end (...argv: readonly string[]): Promise<{ code: number, printed: string, complained: string }> {
  let printed = ''
  let complained = ''
  const code = await run(argv, { env: {}, print: (text) => { printed += text }, complain: (text) => { complained += text }, signal: AbortSignal.abort() })
  return { code, printed, complained }
}

/** Writes a module with the app of a blog, which exports it. */
function writeApp (t: Test, name: string, file: string, { exported = 'export default app', from = library, more = '' } = {}): string {
  return writeProgram(t, name, `
    import fastify from 'fastify'
    import resources, { draw, memoryStore } from '${from}'
    import { sqliteStore, sqliteStores } from '${from === library ? from.replace('index', 'sql/sqlite/index') : `${from}/sqlite`}'
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
  const { code, printed, complained } = await end('diff', app)
  t.strictSame([code, complained], [1, ''])
  t.equal(printed, `-- The table "posts":
ALTER TABLE "posts" ADD COLUMN "text" TEXT;
CREATE UNIQUE INDEX IF NOT EXISTS "posts_text_key" ON "posts" ("text");
-- The table "comments":
CREATE TABLE IF NOT EXISTS "comments" ("id" INTEGER PRIMARY KEY AUTOINCREMENT, "version" INTEGER NOT NULL DEFAULT 1, "text" TEXT, "postId" INTEGER NOT NULL, FOREIGN KEY ("postId") REFERENCES "posts" ON DELETE RESTRICT) STRICT;
CREATE INDEX IF NOT EXISTS "comments_postId_id_idx" ON "comments" ("postId", "id");
`)
  t.ok(before.equals(readFileSync(file)))

  const database = makeDatabase(printed, file)
  database.close()
  const again = await end('diff', writeApp(t, 'diff-again', file))
  t.same(again, { code: 0, printed: '-- The table "posts" fits.\n-- The table "comments" fits.\n', complained: '' })
})

t.test('a table that an app must change itself is a comment', async (t) => {
  const file = `${t.testdir()}/blog.sqlite`
  makeDatabase('CREATE TABLE "the\nnotes" (id INTEGER PRIMARY KEY AUTOINCREMENT, version INTEGER NOT NULL, size TEXT)', file).close()
  const more = `app.register(resources, { name: 'notes', store: sqliteStore({ file, table: 'the\\nnotes', attributes: { type: 'object', required: ['title'], properties: { size: { type: 'integer' }, title: { type: 'string' } } } }) })
    app.register(resources, { name: 'rows', store: memoryStore() })
    app.register(resources, { name: 'things', store: sqliteStore({ file, table: 'the\\nnotes' }) })`
  const { code, printed } = await end('diff', writeApp(t, 'diff-problems', file, { more }))
  t.equal(code, 1)
  t.match(printed, `-- The table "the notes":
-- The column "size" is of type TEXT, which does not keep "size" (integer) as it is; INTEGER does.
-- There is no column "title" for "title" (such as TEXT). The rows that exist would have no "title", which is required. Run this, and fill the column: ALTER TABLE "the notes" ADD COLUMN "title" TEXT.
`)
})

t.test('the app may be exported in several ways, and have a copy of the package of its own', async (t) => {
  const ways = ['export default () => app', 'export { app }', 'export default Promise.resolve(app)', 'export default async () => { await app.ready(); return app }', 'await app.ready()\nexport default app']
  for (const [index, exported] of ways.entries()) {
    const file = `${t.testdir()}/blog-${index}.sqlite`
    const { printed, complained } = await end('diff', writeApp(t, `diff-${index}`, file, { exported, ...(index === 0 && { from: 'fastify-resources' }) }))
    t.equal(complained, '')
    t.match(printed, '-- The table "posts":\nCREATE TABLE', exported)
    t.notOk(existsSync(file))
  }
  const without = writeProgram(t, 'diff-without', "import fastify from 'fastify'\nexport default fastify()")
  t.same(await end('diff', without), { code: 0, printed: '-- No resource of the app has a table.\n', complained: '' })
})

t.test('what cannot be compared is said in one line', async (t) => {
  const empty = writeProgram(t, 'diff-empty', 'export const one = 1')
  const broken = writeProgram(t, 'diff-broken', "import fastify from 'fastify'\nconst app = fastify()\napp.register(async () => { throw new Error('it fails') })\nexport default app")
  const cases: ReadonlyArray<readonly [argv: readonly string[], code: number, message: string]> = [
    [[], 2, 'Name one module and nothing else: fastify-resources diff app.js\n'],
    [['a.js', 'b.js'], 2, 'Name one module and nothing else: fastify-resources diff app.js\n'],
    [['a.js', '--write'], 2, 'Name one module and nothing else: fastify-resources diff app.js\n'],
    [['nix.js'], 1, 'There is no file "nix.js". Name the module that exports your app: diff app.js\n'],
    [[empty], 1, `"${empty}" exports no Fastify app. Export it, or a function that makes it: export default app\n`],
    [[broken], 1, 'it fails.\n']
  ]
  for (const [argv, code, complained] of cases) t.same(await end('diff', ...argv), { code, printed: '', complained })
})

t.test('the program of the package ends, even if the module keeps its process alive', (t) => {
  const listening = writeProgram(t, 'diff-listening', "import { createServer } from 'node:http'\ncreateServer().listen(0)")
  const parameters = [bin, 'diff', listening]
  const { status, stderr } = spawnSync(process.execPath, parameters, { encoding: 'utf8', timeout: 60_000 })
  t.strictSame([status, stderr], [1, `"${listening}" exports no Fastify app. Export it, or a function that makes it: export default app\n`])
  t.end()
})

t.test('the program of the package compares the tables of PostgreSQL', async (t) => {
  const server = await startPostgres(t)
  const pool = server.pool()
  await pool.query('CREATE TABLE notes (id bigserial PRIMARY KEY, version bigint NOT NULL)')
  const app = writeProgram(t, 'diff-postgres', `
    import fastify from 'fastify'
    import pg from 'pg'
    import resources from 'fastify-resources'
    import { postgresStore } from 'fastify-resources/postgres'
    const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL })
    const app = fastify({ pluginTimeout: 0 })
    app.addHook('onClose', () => pool.end())
    app.register(resources, { name: 'notes', store: postgresStore({ pool, table: 'notes', migrate: true, attributes: { type: 'object', properties: { title: { type: 'string' } } } }) })
    export default app`)
  const program = await startProgram(t, bin, { parameters: ['diff', app], environment: { DATABASE_URL: server.url } })
  t.equal(program.line, '-- The table "notes":')
  t.equal(await program.ended, 1)
  const { fields } = await pool.query('SELECT * FROM notes')
  t.strictSame(fields.map(({ name }) => name), ['id', 'version'])
})
