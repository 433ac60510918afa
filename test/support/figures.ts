/**
 * Prints how large the library is and how much of it a reader has to know: `npm run figures`. It measures the sources
 * of
 * this checkout, or those of another one that is built: `npm run figures -- ../other`.
 */
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import ts from 'typescript'
import { startServer } from './stores/postgres-server.js'

const root = resolve(process.argv[2] ?? '.')
const lib = join(root, 'lib')
const dist = join(root, 'dist')
const files = readdirSync(lib, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts')).sort()
const texts = new Map(files.map((file) => [file, readFileSync(join(lib, file), 'utf8')]))
const linesOf = (file: string): number => (texts.get(file) ?? '').split('\n').length - 1
const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0)
/** A program that prints the functions that were called while `run` was, as V8's precise coverage reports them. */
const measure = (setup: string, run: string): string => `
import { writeFileSync } from 'node:fs'
import { Session } from 'node:inspector/promises'
import fastify from 'fastify'
${setup}
const session = new Session()
session.connect()
await session.post('Profiler.enable')
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
${run}
const { result } = await session.post('Profiler.takePreciseCoverage')
await session.post('Profiler.stopPreciseCoverage')
const ours = result.filter(({ url }) => url.startsWith(${JSON.stringify(`file://${dist}/`)}))
writeFileSync(process.argv[2], JSON.stringify(ours))
process.exit()
`

const ATTRIBUTES =
  '{ type: \'object\', required: [\'title\'], properties: { title: { type: \'string\', minLength: 1 }, body: { type: ' +
    '\'string\' } } }'

const REGISTER = `
const app = fastify()
app.register(resources, { name: 'posts', attributes: ${ATTRIBUTES} })
await app.ready()`

const FIVE_REQUESTS = `
for (const type of ['application/xml', 'application/json']) {
  const headers = { accept: type, 'content-type': type }
  const write = (id, title) => type === 'application/xml'
    ? '<post>' + id + title + '</post>'
    : JSON.stringify({ ...id && { id: 1 }, ...title && { post: { title: 'A' } } })
  const answers = [
    await app.inject({ method: 'POST', url: '/posts', headers, payload: write('', '<title>A</title>') }),
    await app.inject({ url: '/posts', headers: { accept: type } }),
    await app.inject({ url: '/posts/1', headers: { accept: type } }),
    await app.inject({ method: 'PUT', url: '/posts', headers, payload: write('<id>1</id>', '<title>B</title>') }),
  ]
  const last = type === 'application/xml' ? '2' : '1'
  answers.push(await app.inject({ method: 'DELETE', url: '/posts?id=' + last, headers: { accept: type } }))
  const codes = answers.map(({ statusCode }) => statusCode).join()
  if (!/^201,200,200,200,(204|404)$/.test(codes)) throw new Error(type + ': ' + codes)
}`

const TABLES = `
import pg from 'pg'
import resources from 'fastify-resources'
import { postgresStores } from 'fastify-resources/postgres'
const pool = new pg.Pool(JSON.parse(process.argv[3]))
const stores = postgresStores({ pool })
const app = fastify()
app.register(resources, { name: 'posts', stores, attributes: ${ATTRIBUTES} })
app.register(resources, {
  name: 'comments', stores, references: { postId: 'posts' }, only: ['list', 'show'],
  attributes: { type: 'object', properties: { postId: { type: 'integer' }, text: { type: 'string' } } }
})
await app.ready()
await pool.query("INSERT INTO posts (title) VALUES ('One')")
await pool.query('INSERT INTO comments ("postId", text) VALUES (1, $1)', ['Yes'])
const readPage = async () => {
  const headers = { accept: 'text/html' }
  const { statusCode, body } = await app.inject({ url: '/comments?text[contains]=yes', headers })
  if (statusCode !== 200 || !body.includes('<a href="/posts/1">One</a>')) throw new Error(statusCode + ': ' + body)
}
// What only the first page makes is left out.
await readPage()`

interface Script {
  readonly url: string
  readonly functions: ReadonlyArray<{
    readonly ranges: ReadonlyArray<{ startOffset: number, endOffset: number, count: number }>
  }>
}

interface Entered {
  readonly files: number
  readonly linesOfFiles: number
  readonly linesOfFunctions: number
}

/** Runs a program on the sources, with a parameter, and returns what it entered. */
function enter (setup: string, run: string, parameter = ''): Entered {
  const program = join(root, 'test', 'support', '.figures.mjs')
  writeFileSync(program, measure(setup, run))
  execFileSync(process.execPath, [program, `${program}.json`, parameter], { cwd: root })
  const scripts = JSON.parse(readFileSync(`${program}.json`, 'utf8')) as Script[]
  for (const file of [program, `${program}.json`]) rmSync(file)
  const prefix = `file://${dist}/`
  const ours = scripts.filter(({ url }) => url.startsWith(prefix))
    .map(
      ({
        url, functions
      }) => ({ file: url.slice(prefix.length).replace(/js$/, 'ts'), lines: countLines(new URL(url), functions) })
    )
    .filter(({ lines }) => lines > 0)
  return {
    files: ours.length,
    linesOfFiles: sum(ours.map(({ file }) => linesOf(file))),
    linesOfFunctions: sum(ours.map(({ lines }) => lines))
  }
}

/** Counts the compiled lines of the functions that were called, without those of inner functions that were not. */
function countLines (file: URL, functions: Script['functions']): number {
  const text = readFileSync(file, 'utf8')
  const marks = new Uint8Array(text.length + 1)
  const spans = functions.flatMap(({ ranges: [range] }) => range ?? [])
    .sort((a, b) => (b.endOffset - b.startOffset) - (a.endOffset - a.startOffset))
  for (const { startOffset, endOffset, count } of spans) {
    // The code of a module itself runs when it is loaded.
    const isModule = startOffset === 0 && endOffset >= text.length - 1
    marks.fill(count > 0 && !isModule ? 1 : 0, startOffset, endOffset)
  }
  const called = new Set<number>()
  let line = 0
  for (let at = 0; at < text.length; at++) {
    if (marks[at] === 1 && text[at] !== ' ' && text[at] !== '\n') called.add(line)
    if (text[at] === '\n') line++
  }
  return called.size
}

/** Returns the names that the main entry exports, types included. */
function findExports (): readonly string[] {
  const entry = join(lib, 'index.ts')
  const program = ts.createProgram(
    [entry], { module: ts.ModuleKind.NodeNext, target: ts.ScriptTarget.ES2023, noEmit: true, skipLibCheck: true }
  )
  const checker = program.getTypeChecker()
  const source = program.getSourceFile(entry)
  const symbol = source && checker.getSymbolAtLocation(source)
  return symbol === undefined ? [] : checker.getExportsOfModule(symbol).map(({ name }) => name)
}

const IMPORT = "import resources from 'fastify-resources'"
const print = (name: string, value: number | string): void => console.log(`${name.padEnd(72)} ${value}`)
const printEntered = (name: string, { files, linesOfFiles, linesOfFunctions }: Entered): void =>
  print(name, `${files} files of ${linesOfFiles} lines; ${linesOfFunctions} lines of functions`)

print('lines of lib', sum(files.map(linesOf)))
print('lines of lib/core', sum(files.filter((file) => file.startsWith('core/')).map(linesOf)))
printEntered('entered by the registration of one resource in memory', enter(IMPORT, REGISTER))
printEntered('entered by five requests in XML and in JSON', enter(IMPORT + REGISTER, FIVE_REQUESTS))
printEntered('entered by both', enter(IMPORT, REGISTER + FIVE_REQUESTS))
const { host, port, stop } = await startServer()
const page = enter(
  TABLES, 'await readPage()', JSON.stringify({ host, port, user: 'postgres', password: 'secret', database: 'postgres' })
)
await stop()
printEntered('entered by a list as a page with a filter and a reference, PostgreSQL', page)
print('exports of the main entry', findExports().length)
