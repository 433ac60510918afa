import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { once } from 'node:events'
import fastify from 'fastify'
import t, { type Test } from 'tap'
import resources, { type Format, memoryStore, type Store } from '../../lib/index.js'
import * as errors from '../../lib/errors.js'
import { BRIEF } from '../support/helper.js'
import { freePort, startServer } from '../support/stores/postgres-server.js'
import { ALONE } from '../support/program.js'
import { renderReadmeTables } from '../bench/readme-table.js'
import type { Recorded } from '../bench/recorded.js'

const root = new URL('../..', import.meta.url)
const readme = readFileSync(new URL('README.md', root), 'utf8')

/** The fenced blocks of the README: a program, then the commands that are tried on it. */
interface Block {
  readonly language: string
  readonly text: string
}

const blocks: Block[] = [...readme.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, language = '', text = '']) => ({ language, text }))
const programs = blocks.flatMap(({ language, text }, index) => language === 'js' && text.includes('app.listen') ? [{ program: text, commands: commandsAfter(index) }] : [])

/** What is shown between a program and the next one. */
function commandsAfter (index: number): string[] {
  const following = blocks.slice(index + 1)
  const end = following.findIndex(({ language }) => language === 'js')
  return following.slice(0, end === -1 ? undefined : end).filter(({ language }) => language === 'console').map(({ text }) => text)
}

/** Where programs are put, so that they find the package by its name, and where their files are left. */
const folder = new URL('.example/readme/', root)

/** Starts a process and waits until it accepts connections. */
async function start (t: Test, port: number, command: string, parameters: readonly string[], more: Readonly<Record<string, string>> = {}): Promise<ChildProcess> {
  const child = spawn('sh', ['-c', `${ALONE}; exec "$0" "$@"`, command, ...parameters], { cwd: more.FOLDER ?? root, env: { ...process.env, PORT: String(port), SEED: '2', ...more }, stdio: ['ignore', 'pipe', 'inherit'], detached: true })
  t.teardown(() => { if (child.exitCode === null && child.signalCode === null && child.pid !== undefined) process.kill(-child.pid) })
  for (let tries = 0; tries < 600; tries++) {
    const answer = await fetch(`http://localhost:${port}/`).catch(() => undefined)
    if (answer !== undefined) return child
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error(`${command} ${parameters.join(' ')} did not start`)
}

function writeProgram (t: Test, name: string, text: string): URL {
  mkdirSync(folder, { recursive: true })
  const file = new URL(name, folder)
  writeFileSync(file, text)
  t.teardown(() => { rmSync(file) })
  return file
}

/** What a program finds in its environment: a database of its own, if it asks for one. */
async function databaseOf (t: Test, program: string): Promise<Record<string, string>> {
  if (!program.includes('DATABASE_URL')) return {}
  const server = await startServer(['fsync=off'])
  t.teardown(() => server.stop())
  return { DATABASE_URL: server.url }
}

const hasCurl = spawnSync('curl', ['--version']).status === 0

/** Runs a curl command and gives what it prints, without the headers that every server adds. */
function run (command: string, port: number): string {
  const printed = execFileSync('sh', ['-c', command.replace(/^curl/, 'curl -s').replaceAll(':3000', `:${port}`)], { encoding: 'utf8' })
  return printed.replaceAll('\r', '').replaceAll(/^(?:date|connection|keep-alive|content-length|transfer-encoding): .*\n/gim, '')
}

const brief = BRIEF ? 'what the README shows is run on one version of Node.js' : false
const skip = hasCurl ? brief : 'there is no curl on this machine'

rmSync(folder, { recursive: true, force: true })

t.test('each program runs, and each command shown answers what is shown', { skip }, async (t) => {
  t.ok(programs.length >= 15, 'there are programs')
  const startOne = async ({ program }: { readonly program: string }, index: number): Promise<{ readonly port: number, readonly child: ChildProcess }> => {
    const port = await freePort()
    const file = writeProgram(t, `program-${index}.mjs`, program.replaceAll('3000', String(port)))
    return { port, child: await start(t, port, process.execPath, [file.pathname], { FOLDER: folder.pathname, ...await databaseOf(t, program) }) }
  }
  // Each while the one before it is tried: most of the time goes by while they start.
  let next = startOne(programs[0] as { program: string }, 0)
  for (const [index, { commands }] of programs.entries()) {
    t.ok(commands.length > 0, 'a program is tried')
    const { port, child } = await next
    const following = programs[index + 1]
    if (following !== undefined) next = startOne(following, index + 1)
    for (const block of commands) {
      for (const [, command = '', answer] of block.matchAll(/^\$ (.*)\n((?:(?!\$ ).*\n)*)/gm)) {
        t.equal(run(command, port).trimEnd(), answer?.replaceAll('\r', '').trimEnd(), command)
      }
    }
    child.kill()
    await once(child, 'exit')
  }
})

t.test('the first line that is shown gives the routes that are shown', async (t) => {
  const [first] = blocks
  const app = fastify()
  t.teardown(() => app.close())
  // The line as it stands, with what it is said to have.
  new Function('app', 'resources', first?.text as string)(app, resources) // eslint-disable-line no-new-func
  await app.ready()
  const shown = [...readme.matchAll(/^\| (\w+) \| `(\w+) (\/posts\S*)` \|/gm)].map(([, action, verb, path]) => `${verb} ${path} posts#${action}`)
  t.strictSame(app.resourceRoutes.map(({ verb, path, action }) => `${verb} ${path} ${action}`).sort(), shown.sort())
})

t.test('what is declared in TypeScript types the program that is shown', { skip: brief }, async (t) => {
  const { program } = programs.find(({ program }) => program.includes('const routes = draw')) as { program: string }
  const { text } = blocks.find(({ language }) => language === 'ts') as Block
  const typed = program.replaceAll(/^const (post|comment|about) = (.*?\})$(?=\n\n|\nconst)/gms, 'const $1 = $2 as const')
  const file = writeProgram(t, 'typed.ts', `${typed}\n${text}\napp.paths.postComments(7)\n// @ts-expect-error: it has two parameters\napp.paths.postComment(7)\n`)
  const { stdout, status } = spawnSync(process.execPath, ['node_modules/typescript/bin/tsc', '--ignoreConfig', '--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--target', 'es2023', '--types', 'node', file.pathname], { encoding: 'utf8', cwd: root })
  t.strictSame([stdout, status], ['', 0])
})

t.test('the store of one\'s own keeps to the contract', async (t) => {
  const { program } = programs.find(({ program }) => program.includes('function mapStore')) as { program: string }
  const lines = program.slice(program.indexOf('function mapStore'), program.indexOf('\n}\n') + 3).split('\n').length
  t.ok(lines < 60, `in ${lines} lines`)
  const [suite] = blocks.filter(({ language, text }) => language === 'js' && text.includes('storeContract('))
  const file = writeProgram(t, 'contract.test.mjs', `${program.slice(0, program.indexOf('const app'))}\n${suite?.text}`)
  const { stdout, status } = spawnSync('sh', ['-c', `${ALONE}; exec "$0" --test-reporter=tap "$1"`, process.execPath, file.pathname], { encoding: 'utf8' })
  t.match(stdout, /^# fail 0$/m)
  t.ok(Number(/^# pass (\d+)$/m.exec(stdout)?.[1]) > 100)
  t.equal(status, 0)
})

t.test('the formats of one\'s own are short, and write a list as it comes', async (t) => {
  const { program } = programs.find(({ program }) => program.includes('const ndjson')) as { program: string }
  for (const name of ['csv', 'ndjson']) {
    const [text = ''] = program.match(new RegExp(`^const ${name} = .*?^}`, 'ms')) ?? []
    t.ok(text.split('\n').length < 40 && text !== '', name)
  }
  // In this process the package is its source.
  const source = program.slice(0, program.indexOf('const app')).replace("'fastify-resources'", `'${new URL('lib/index.ts', root).href}'`)
  const file = writeProgram(t, 'formats.mjs', `${source}\nexport { csv, ndjson }\n`)
  const { csv, ndjson } = await import(file.href) as { csv: Format, ndjson: Format }
  const [BATCHES, ROWS] = [200, 500]
  let pulled = 0
  const store: Store = {
    ...memoryStore(),
    * list () {
      for (pulled = 0; pulled < BATCHES; pulled++) yield Array.from({ length: ROWS }, (_, row) => ({ id: pulled * ROWS + row + 1, version: '1', attributes: { name: 'Ulm', people: row } }))
    }
  }
  const app = fastify()
  t.teardown(() => app.close())
  app.register(resources, { name: 'cities', attributes: { type: 'object', properties: { name: { type: 'string' }, people: { type: 'integer' } } }, store, formats: ['json', csv, ndjson] })
  const read: Record<string, (text: string) => string[]> = { csv: (text) => text.split('\r\n').slice(1, -1), ndjson: (text) => text.split('\n').slice(0, -1) }
  for (const [format, rows] of Object.entries(read)) {
    const stream = (await app.inject({ url: `/cities.${format}`, payloadAsStream: true })).stream()
    let text = ''
    for await (const chunk of stream) {
      if (text === '') t.ok(pulled < BATCHES / 2, `${pulled} batches have been read when the first bytes of ${format} come`)
      text += (chunk as Buffer).toString()
    }
    t.equal(rows(text).length, BATCHES * ROWS)
    t.match(rows(text).at(-1), String(BATCHES * ROWS))
  }
})

t.test('npm start starts the blog, which tells where it is and stops when it is asked to', { skip: brief }, async (t) => {
  t.match(readme, /^npm ci && npm start$/m)
  t.match(readme, /^npm cit$/m)
  const port = await freePort()
  let printed = ''
  const store = new URL(`blog-${process.pid}.sqlite`, folder).pathname
  t.teardown(() => { for (const end of ['', '-wal', '-shm']) rmSync(store + end, { force: true }) })
  const child = await start(t, port, 'npm', ['start'], { STORE: store })
  child.stdout?.on('data', (chunk: Buffer) => { printed += chunk.toString() })
  const page = await fetch(`http://localhost:${port}/posts`, { headers: { accept: 'text/html' } })
  t.match(await page.text(), /<h1>Posts<\/h1>/)
  const created = await fetch(`http://localhost:${port}/posts`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"post":{"title":"First","body":"Hello"}}' })
  t.equal(created.status, 201)
  while (!printed.includes('Ctrl-C')) await once(child.stdout as NodeJS.ReadableStream, 'data')
  t.equal(printed.match(/^ {2}curl /gm)?.length, 3)
  t.match(printed, `http://localhost:${port}/posts`)
  if (child.pid !== undefined) process.kill(-child.pid, 'SIGTERM')
  await once(child, 'exit')
})

t.test('the table of errors names every error there is, with its status', async (t) => {
  const documented = [...readme.matchAll(/^\| `(FST_RESOURCES_\w+)` \| (\d+|at registration) \|/gm)].map(([, code, status]) => `${code} ${status === 'at registration' ? 500 : status}`)
  const thrown = Object.values(errors).flatMap((value) => {
    if (!((value as { prototype?: unknown }).prototype instanceof Error)) return []
    const error = value === errors.InvalidError ? new errors.InvalidError({}) : new (value as new (...parameters: string[]) => Error & { code: string, statusCode: number })('a', 'b')
    return [`${error.code} ${error.statusCode}`]
  })
  t.strictSame(documented.sort(), thrown.sort())
})

t.test('the table of options names every option there is', async (t) => {
  const section = readme.slice(readme.indexOf('## Options'), readme.indexOf('### Attributes'))
  const documented = [...section.matchAll(/^\| (`[^|]*`) \|/gm)].flatMap(([, names = '']) => names.replaceAll('`', '').split(', '))
  const declared = ['lib/routing/options.ts', 'lib/routing/routing-options.ts'].flatMap((file) => {
    const source = readFileSync(new URL(file, root), 'utf8')
    return [...source.matchAll(/^export interface (?:ResourceOptions|DeclaredOptions|RoutingOptions)\b.*?^}/gms)].flatMap(([text]) => [...text.matchAll(/^ {2}readonly (\w+)\??:/gm)].map(([, name]) => name))
  })
  t.strictSame(documented.sort(), declared.sort())
})

/** What `package-lock.json` knows of the packages, by where they stand. */
type Lock = Readonly<Record<string, { readonly dependencies?: Readonly<Record<string, string>>, readonly hasInstallScript?: boolean }>>

/** All packages that one brings, each with those that it is brought by. */
function findBrought (lock: Lock, path: string, found = new Map<string, string[]>()): Map<string, string[]> {
  for (const name of Object.keys(lock[path]?.dependencies ?? {})) {
    const [own, shared] = [`${path}/node_modules/${name}`, `node_modules/${name}`]
    const by = found.get(name)
    found.set(name, [...new Set(by).add(path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length))].sort())
    if (by === undefined) findBrought(lock, own in lock ? own : shared, found)
  }
  return found
}

t.test('the tables of dependencies name every dependency, and whatever these bring', async (t) => {
  const { packages: lock } = JSON.parse(readFileSync(new URL('package-lock.json', root), 'utf8')) as { packages: Lock }
  const section = readme.slice(readme.indexOf('## Compatibility'))
  const namesIn = (cell = ''): string[] => cell.replaceAll('`', '').split(', ').sort()
  const direct = [...section.matchAll(/^\| (`[^|]*`) \| [^|]* \|$/gm)].flatMap(([, names]) => namesIn(names))
  const brought = [...section.matchAll(/^\| `([^|]*)` \| (`[^|]*`) \| [^|]* \|$/gm)].map(([, name = '', by]): [string, string[]] => [name, namesIn(by)])
  t.strictSame(direct.sort(), Object.keys(lock['']?.dependencies ?? {}).sort())
  const all = direct.reduce((found, name) => findBrought(lock, `node_modules/${name}`, found), new Map<string, string[]>())
  t.strictSame(brought.sort(), [...all].filter(([name]) => !direct.includes(name)).sort())
  t.strictSame([...direct, ...all.keys()].filter((name) => lock[`node_modules/${name}`]?.hasInstallScript === true), [], 'none runs a script when it is installed')
})

t.test('the tables of speed are what the benchmark has recorded', async (t) => {
  const recorded = JSON.parse(readFileSync(new URL('test/bench/recorded.json', root), 'utf8')) as Recorded
  t.match(readme, `<!-- What \`npm run bench -- --record\` has found -->\n\n${renderReadmeTables(recorded)}\n\n<!-- End -->`)
})
