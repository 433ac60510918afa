import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { once } from 'node:events'
import fastify from 'fastify'
import t, { type Test } from 'tap'
import ts from 'typescript'
import resources, { type Format, memoryStore, type Store } from '../../lib/index.js'
import { type Block, isWhole, type Page, pages, type Program, root } from '../support/pages.js'
import { ALONE } from '../support/program.js'
import { freePort, startServer } from '../support/stores/postgres-server.js'

const programs = pages.flatMap((page) => page.programs)
const readme = pages.find(({ isReadme }) => isReadme)

/** Returns the program that has a text, with the page of it; undefined if its page is not selected. */
function findProgram (text: string): { readonly text: string, readonly page: Page } | undefined {
  const page = pages.find(({ programs }) => programs.some(({ block }) => block.text.includes(text)))
  const program = page?.programs.find(({ block }) => block.text.includes(text))
  return page === undefined || program === undefined ? undefined : { text: program.block.text, page }
}

/** Where programs find the package by its name, and where their files are left. */
const folder = new URL(`.programs/pages-${process.pid}/`, root)
t.teardown(() => { rmSync(folder, { recursive: true, force: true }) })

function writeProgram (name: string, text: string): URL {
  const file = new URL(name, folder)
  mkdirSync(new URL('.', file), { recursive: true })
  writeFileSync(file, text)
  return file
}

/** A module that a program loads first: it sends a message when a server of the program listens. */
const REPORTER = `data:text/javascript,${encodeURIComponent(`
import { Server } from 'node:net'
const { emit } = Server.prototype
Server.prototype.emit = function (name, ...values) {
  const result = emit.call(this, name, ...values)
  if (name === 'listening') process.send?.(name)
  return result
}`)}`

/** Where commands are run, and what they are sent to. */
interface Target {
  readonly directory: string
  readonly port: number
}

interface Started extends Target {
  readonly child: ChildProcess
}

/** Starts a program and waits until it listens. */
async function start (t: Test, program: Program, index: number): Promise<Started> {
  const port = await freePort()
  const { language, text } = program.block
  const source = language === 'ts'
    ? ts.transpileModule(text, {
      compilerOptions: { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 }
    }).outputText
    : text
  const file = writeProgram(`${index}/program.mjs`, source.replaceAll('3000', String(port)))
  const directory = new URL('.', file).pathname
  const environment = { ...process.env, ...await databaseOf(t, text) }
  const child = spawn(
    'sh', ['-c', `${ALONE}; exec "$0" "$@"`, process.execPath, `--import=${REPORTER}`, file.pathname],
    { cwd: directory, env: environment, stdio: ['ignore', 'inherit', 'inherit', 'ipc'], detached: true }
  )
  t.teardown(() => stop(child))
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`the program ended with ${code} before it listened`)
  })
  await Promise.race([once(child, 'message'), ended])
  ended.catch(() => {})
  return { directory, port, child }
}

/** Ends a process and those that it has started. A program may wait for its clients after SIGTERM. */
async function stop (child: ChildProcess, signal: 'SIGTERM' | 'SIGKILL' = 'SIGKILL'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return
  const ended = once(child, 'exit')
  process.kill(-child.pid, signal)
  await ended
}

/** What a program finds in its environment: a database of its own, if it asks for one. */
async function databaseOf (t: Test, program: string): Promise<Record<string, string>> {
  if (!program.includes('DATABASE_URL')) return {}
  const server = await startServer(['fsync=off'])
  t.teardown(() => server.stop())
  return { DATABASE_URL: server.url }
}

/** Runs a command and returns what it prints, without the headers that every server adds. */
function run (command: string, { port, directory }: Target): string {
  const line = command.replaceAll(/\bcurl /g, 'curl -s ').replaceAll(':3000', `:${port}`)
  const { stdout } = spawnSync('sh', ['-c', line], { encoding: 'utf8', cwd: directory })
  return stdout.replaceAll(`:${port}`, ':3000').replaceAll('\r', '').replaceAll(
    /^(?:date|connection|keep-alive|content-length|transfer-encoding): .*\n/gim, ''
  )
}

/** Runs the commands of console blocks, and compares what they print with what the blocks show. */
function tryCommands (t: Test, consoles: readonly string[], target: Target): void {
  for (const block of consoles) {
    for (const [, command = '', answer] of block.matchAll(/^\$ (.*)\n((?:(?!\$ ).*\n)*)/gm)) {
      t.equal(run(command, target).trimEnd(), answer?.trimEnd(), command)
    }
  }
}

const hasCurl = spawnSync('curl', ['--version']).status === 0
const skip = !hasCurl && 'there is no curl: apt-get install curl'

t.test('each program runs, and each command shown answers what is shown', { skip }, async (t) => {
  if (isWhole) t.ok(programs.length >= 15, 'there are programs')
  const startAt = (index: number): Promise<Started> | undefined => {
    const program = programs[index]
    const started = program === undefined ? undefined : start(t, program, index)
    // The failure is reported when the turn of this program comes.
    started?.catch(() => {})
    return started
  }
  // Each starts while the one before it is tried.
  let next = startAt(0)
  for (let index = 0; next !== undefined; index++) {
    const current = next
    next = startAt(index + 1)
    const { page, consoles } = programs[index] as Program
    await t.test(`${page}: program ${index}`, async (t) => {
      const started = await current
      t.ok(consoles.length > 0, 'the program is tried')
      tryCommands(t, consoles, started)
      await stop(started.child)
    })
  }
})

const typed = pages.flatMap(({ path, blocks }) =>
  blocks.filter(({ language }) => language === 'ts').map((block) => ({ path, block })))

t.test('each block of TypeScript is a module that the strict compiler accepts', async (t) => {
  const files = typed.map(({ path, block }, index) =>
    writeProgram(`typed-${index}-${path.replaceAll('/', '-')}.ts`, `${block.text}\nexport {}\n`).pathname)
  t.ok(files.length > 0 || !isWhole, 'there are blocks')
  const { stdout, status } = spawnSync(
    process.execPath,
    [
      'node_modules/@typescript/native/lib/tsc.js',
      '--ignoreConfig', '--noEmit', '--strict', '--skipLibCheck', '--module',
      'nodenext', '--target', 'es2023', '--types', 'node', ...files
    ],
    { encoding: 'utf8', cwd: root }
  )
  t.strictSame([stdout, status], ['', 0])
})

t.test('the README\'s first declaration gives the routes that are shown', { skip: readme === undefined }, async (t) => {
  const [{ block } = { block: { text: '' } as Block }] = readme?.programs ?? []
  const [declaration = ''] = /^app\.register\(resources, .*?\)$/ms.exec(block.text) ?? []
  const app = fastify()
  t.teardown(() => app.close())
  new Function('app', 'resources', declaration)(app, resources) // eslint-disable-line no-new-func
  await app.ready()
  const shown = [
    ...readme?.text.matchAll(/^\| (\w+) \| `(\w+) (\/posts\S*)` \|/gm) ?? []
  ].map(([, action, verb, path]) =>
    `${verb} ${path} posts#${action}`)
  t.strictSame(app.resourceRoutes.map(({ verb, path, action }) => `${verb} ${path} ${action}`).sort(), shown.sort())
})

const ownStore = findProgram('function mapStore')

t.test('the store of one\'s own keeps to the contract', { skip: ownStore === undefined }, async (t) => {
  const { text, page } = ownStore as NonNullable<typeof ownStore>
  const lines = text.slice(text.indexOf('function mapStore'), text.indexOf('\n}\n') + 3).split('\n').length
  t.ok(lines < 60, `in ${lines} lines`)
  const suite = page.blocks.find(({ language, text }) => language === 'js' && text.includes('storeContract('))
  const file = writeProgram('contract.test.mjs', `${text.slice(0, text.indexOf('const app'))}\n${suite?.text}`)
  const { stdout, status } = spawnSync(
    'sh', ['-c', `${ALONE}; exec "$0" --test-reporter=tap "$1"`, process.execPath, file.pathname], { encoding: 'utf8' }
  )
  t.match(stdout, /^# fail 0$/m)
  t.ok(Number(/^# pass (\d+)$/m.exec(stdout)?.[1]) > 100)
  t.equal(status, 0)
})

const ownFormats = findProgram('const ndjson')

t.test('the formats of one\'s own are short, and write a list as it comes', {
  skip: ownFormats === undefined
}, async (t) => {
  const { text } = ownFormats as NonNullable<typeof ownFormats>
  const [declaration = ''] = text.match(/^const ndjson = .*?^}/ms) ?? []
  t.ok(declaration.split('\n').length < 40 && declaration !== '')
  // In this process the package is its source.
  const source = text.slice(0, text.indexOf('const app')).replace(
    "'fastify-resources'", `'${new URL('lib/index.ts', root).href}'`
  )
  const file = writeProgram('formats.mjs', `${source}\nexport { ndjson }\n`)
  const { ndjson } = await import(file.href) as { ndjson: Format }
  const [BATCHES, ROWS] = [200, 500]
  let pulled = 0
  const store: Store = {
    ...memoryStore(),
    * list () {
      for (pulled = 0; pulled < BATCHES; pulled++) {
        yield Array.from(
          { length: ROWS },
          (_, row) => ({ id: pulled * ROWS + row + 1, version: '1', attributes: { name: 'Ulm', people: row } })
        )
      }
    }
  }
  const app = fastify()
  t.teardown(() => app.close())
  app.register(resources, {
    name: 'cities',
    attributes: { type: 'object', properties: { name: { type: 'string' }, people: { type: 'integer' } } },
    store,
    formats: ['json', 'csv', ndjson]
  })
  const read: Record<string, (text: string) => string[]> = {
    csv: (text) =>
      text.split('\r\n').slice(1, -1),
    ndjson: (text) => text.split('\n').slice(0, -1)
  }
  for (const [format, rows] of Object.entries(read)) {
    const stream = (await app.inject({ url: `/cities.${format}`, payloadAsStream: true })).stream()
    let text = ''
    for await (const chunk of stream) {
      if (text === '') {
        t.ok(pulled < BATCHES / 2, `${pulled} batches have been read when the first bytes of ${format} come`)
      }
      text += (chunk as Buffer).toString()
    }
    t.equal(rows(text).length, BATCHES * ROWS)
    t.match(rows(text).at(-1), String(BATCHES * ROWS))
  }
})

t.test('npm start starts the blog, which tells where it is and stops when it is asked to', {
  skip: readme === undefined
}, async (t) => {
  t.match(readme?.text, /^npm ci && npm start$/m)
  t.match(readme?.text, /^[^\n]* `npm cit` runs the tests\.$/m)
  t.match(readme?.text, /^Save as `server\.mjs`, and run `node server\.mjs`:\n\n```js\n/m)
  const {
    scripts
  } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8')) as { scripts: Record<string, string> }
  for (const [, name = ''] of pages.flatMap(({ text }) => [...text.matchAll(/\bnpm run (?:--silent )?([\w-]+)/g)])) {
    t.ok(scripts[name], `npm run ${name}`)
  }
  const port = await freePort()
  mkdirSync(folder, { recursive: true })
  const store = new URL('blog.sqlite', folder).pathname
  const child = spawn(
    'sh', ['-c', `${ALONE}; exec npm start`],
    {
      cwd: root,
      env: { ...process.env, PORT: String(port), SEED: '3', STORE: store },
      stdio: ['ignore', 'pipe', 'inherit'],
      detached: true
    }
  )
  t.teardown(() => stop(child))
  let printed = ''
  for await (const chunk of child.stdout) {
    printed += (chunk as Buffer).toString()
    if (printed.includes('Ctrl-C')) break
  }
  t.equal(printed.match(/^ {2}curl /gm)?.length, 3)
  t.match(printed, `http://localhost:${port}/posts`)
  const page = await fetch(`http://localhost:${port}/posts`, { headers: { accept: 'text/html' } })
  t.match(await page.text(), /<h1>Posts<\/h1>/)
  tryCommands(t, readme?.opening ?? [], { port, directory: folder.pathname })
  const created = await fetch(`http://localhost:${port}/posts`, {
    method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"post":{"title":"First","body":"Hello"}}'
  })
  t.equal(created.status, 201)
  await stop(child, 'SIGTERM')
})
