import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { relative } from 'node:path'
import t from 'tap'
import ts from 'typescript'
import * as everything from '../../lib/index.js'
import { allPages, namesIn } from '../support/pages.js'
import { startProgram, writeProgram } from '../support/program.js'
import { startPostgres } from '../support/stores/postgres.js'

const root = new URL('../..', import.meta.url).pathname
const file = `${root}hover.ts`

/** The options of the table in `docs/options.md`, which a test compares with the types. */
const options = allPages.flatMap(({ tables }) => tables).filter(({ comment }) =>
  comment?.startsWith('The members of ResourceOptions') === true).flatMap(({ rows }) =>
  rows.flatMap(([cell]) => namesIn(cell)))

/** The program in the editor. `/*…*\u002f` marks a position. */
const program = `import fastify from 'fastify'
import resources, { defineResource, draw } from 'fastify-resources'
import * as contract from 'fastify-resources/store-contract'

const app = fastify()
app.register(resources, { /*options*/name: 'posts' })
app.register(resources, { name: 'posts',${options.filter((name) => name !== 'name').map((name) =>
  ` ${name}: undefined as never,`).join('')} })
defineResource({ name: 'posts' })
const routes = draw((map) => map./*map*/resources('posts', { /*declared*/ }, (posts) =>
  posts./*resource*/resources('comments').member./*member*/post('publish', ({ /*context*/ }) => undefined)))
declare module 'fastify-resources' { interface Register { routes: typeof routes } }
app.paths.postComment(1, 2)
export { contract }
export type * from 'fastify-resources/html'
import 'fastify-resources/sqlite'
import 'fastify-resources/postgres'
import 'fastify-resources/database'
import 'fastify-resources/xsd'
`

const settings: ts.CompilerOptions = {
  module: ts.ModuleKind.NodeNext,
  target: ts.ScriptTarget.ES2023,
  strict: true,
  skipLibCheck: true,
  types: ['node'],
  noEmit: true
}

/** Returns the language service that an editor asks. */
function openEditor (): ts.LanguageService {
  const readFile = (name: string): string | undefined => name === file ? program : ts.sys.readFile(name)
  return ts.createLanguageService({
    getScriptFileNames: () => [file],
    getScriptVersion: () => '1',
    getScriptSnapshot (name) {
      const text = readFile(name)
      return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text)
    },
    getCurrentDirectory: () => root,
    getCompilationSettings: () => settings,
    getDefaultLibFileName: ts.getDefaultLibFilePath,
    fileExists: (name) => name === file || ts.sys.fileExists(name),
    readFile,
    directoryExists: ts.sys.directoryExists,
    getDirectories: ts.sys.getDirectories
  })
}

/** The compiler cannot show this option: Fastify takes options or a function, and a function has a name of its own. */
const UNSHOWN = ['name']
/** The longest type in characters, with its owner's name, that a person can read. */
const LONGEST = 600

t.test('every file and folder that CONTRIBUTING names exists', async (t) => {
  const { text = '' } = allPages.find(({ path }) => path === 'docs/CONTRIBUTING.md') ?? {}
  const parts = [
    'lib', 'test'
  ].flatMap((part) => readdirSync(`${root}${part}`, { recursive: true, withFileTypes: true })
    .filter(({ parentPath }) => !parentPath.includes('node_modules'))
    .map((entry) => `/${relative(root, entry.parentPath)}/${entry.name}${entry.isDirectory() ? '/' : ''}`))
  const names = [...text.matchAll(/`([\w./-]+(?:\.ts|\/))`/g)].map(([, name = '']) => name)
  t.ok(names.length > 40, `${names.length} names`)
  for (const name of names) t.ok(parts.some((path) => path.endsWith(`/${name}`)) || existsSync(root + name), name)
  for (const folder of readdirSync(`${root}lib`, { withFileTypes: true })) {
    if (folder.isDirectory()) t.ok(names.some((name) => name.startsWith(`lib/${folder.name}/`)), folder.name)
  }
})

t.test('require() returns the plugin with all other exports as its members', async (t) => {
  const { default: plugin, 'module.exports': required, ...named } = everything
  t.equal(required, plugin)
  t.ok(Object.keys(named).length > 15)
  for (const [name, value] of Object.entries(named)) {
    t.equal((required as unknown as Record<string, unknown>)[name], value, name)
  }
})

t.test('an editor shows the documentation', async (t) => {
  t.ok(existsSync(`${root}dist/index.d.ts`), 'the package is built')
  const editor = openEditor()
  const hover = (position: number): { type: string, text: string } => {
    const info = editor.getQuickInfoAtPosition(file, position)
    return { type: ts.displayPartsToString(info?.displayParts), text: ts.displayPartsToString(info?.documentation) }
  }
  const after = (mark: string, text = ''): number => program.indexOf(text, program.indexOf(mark) + mark.length)

  await t.test('each option is shown with its documentation', async (t) => {
    for (const name of options.filter((name) => !UNSHOWN.includes(name))) {
      const { type, text } = hover(after('posts\',', ` ${name}: `) + 1)
      t.match(type, new RegExp(`^\\(property\\) .*\\b${name}\\?: `, 's'), name)
      t.ok(type.length < LONGEST && !type.includes('...'), `${name}: the type is readable`)
      t.match(text, /^[A-Z].*[.:)]/s, name)
    }
    t.match(hover(after('defineResource({ ')), { type: /name: string$/, text: /^The plural name/ })
  })

  const places: ReadonlyArray<readonly [mark: string, names: readonly string[]]> = [
    ['options', options],
    ['declared', [...options.filter((name) => name !== 'name' && name !== 'prefix'), 'shallow']],
    ['map', ['resources', 'resource', 'namespace', 'scope', 'concern', 'concerns']],
    ['resource', ['collection', 'member', 'new', 'resources', 'resource', 'namespace', 'scope', 'concern', 'concerns']],
    ['member', ['get', 'post', 'put', 'patch', 'delete']],
    [
      'context',
      [
        'action', 'attributes', 'guard', 'guardFor', 'id', 'paths', 'proceed', 'query', 'reply', 'request', 'resource',
        'row', 'scope', 'signal', 'store'
      ]
    ]
  ]
  for (const [mark, names] of places) {
    await t.test(`each completion at ${mark} is documented`, async (t) => {
      const position = after(`/*${mark}*/`)
      const offered = editor.getCompletionsAtPosition(file, position, {})?.entries.map(({ name }) => name) ?? []
      t.strictSame(names.filter((name) => !offered.includes(name)), [], 'all are offered')
      for (const name of names) {
        const details = editor.getCompletionEntryDetails(file, position, name, {}, undefined, {}, undefined)
        t.not(ts.displayPartsToString(details?.documentation), '', name)
        t.ok(ts.displayPartsToString(details?.displayParts).length < LONGEST, `${name}: the type is readable`)
      }
    })
  }

  await t.test('path helpers are shown with their names and parameters', async (t) => {
    const all = hover(after('app.', 'paths'))
    t.match(all, { type: /UrlHelper<"post" \| "posts" \|/, text: /`app\.paths\.post\(7\)` is `\/posts\/7`/ })
    t.equal(
      hover(after('app.paths.')).type,
      '(property) postComment: (parameter: PathParameter, parameter_1: PathParameter, options?: ' +
        'PathOptions<Readonly<Record<string, Scalar | PathOperators<string | number | boolean> | undefined>>> | ' +
          'undefined) => string'
    )
  })

  await t.test('every export is documented, with all its members', async (t) => {
    const mistakes = editor.getSemanticDiagnostics(file).map(({ messageText }) =>
      ts.flattenDiagnosticMessageText(messageText, '\n'))
    t.strictSame(mistakes, [], 'the program compiles')
    const whole = editor.getProgram() as ts.Program
    const checker = whole.getTypeChecker()
    const exported = [
      'index', 'html/index', 'sql/sqlite/index', 'sql/postgres/index', 'database/index', 'xsd/index', 'contract/index'
    ].flatMap((name) => {
      const source = whole.getSourceFile(`${root}dist/${name}.d.ts`) as ts.SourceFile
      return checker.getExportsOfModule(checker.getSymbolAtLocation(source) as ts.Symbol)
    }).map((symbol) => (symbol.flags & ts.SymbolFlags.Alias) === 0 ? symbol : checker.getAliasedSymbol(symbol))
    t.ok(exported.length > 150, `${exported.length} symbols`)
    // `@default` documents a word of the pages.
    const isDocumented = (symbol: ts.Symbol): boolean =>
      symbol.getDocumentationComment(checker).length > 0 || symbol.getJsDocTags(checker).length > 0
    const isOurs = (member: ts.Symbol): boolean => member.declarations?.some((declaration) =>
      declaration.getSourceFile().fileName.startsWith(`${root}dist/`)) === true
    // The English text of a message stands beside its code.
    const isMessage = (member: ts.Symbol): boolean => member.declarations?.some((declaration) =>
      declaration.getSourceFile().fileName.endsWith('/core/messages.d.ts') && !ts.isClassElement(declaration)) === true
    // Excludes symbols and private members, which have no public name.
    const isNamed = ({ name }: ts.Symbol): boolean => !/^__|#/.test(name)
    // A member of the type `never` says which members of other types cannot be given.
    const canBeGiven = (member: ts.Symbol): boolean => (checker.getTypeOfSymbol(
      member
    ).flags & (ts.TypeFlags.Undefined | ts.TypeFlags.Never)) === 0
    const missing = exported.flatMap((symbol) => {
      const hasMembers = symbol.declarations?.some((declaration) =>
        ts.isInterfaceDeclaration(declaration) || ts.isClassDeclaration(declaration)) === true
      const members = hasMembers
        ? checker.getDeclaredTypeOfSymbol(symbol).getProperties().filter((member) =>
          isOurs(member) && isNamed(member) && canBeGiven(member))
        : []
      return [...isDocumented(symbol) ? [] : [symbol.name], ...members.filter((member) =>
        !isDocumented(member) && !isMessage(member)).map(({ name }) =>
        `${symbol.name}.${name}`)]
    })
    t.strictSame(missing, [])
  })
})

const dist = new URL('../../dist/', import.meta.url).href

/** Makes four requests, each a second time, and prints the files of the package in which a function was called then. */
const PROGRAM = `
import { Session } from 'node:inspector/promises'
const { default: fastify } = await import('fastify')
const { default: pg } = await import('pg')
const { default: resources, memoryStore } = await import('fastify-resources')
const { postgresStores } = await import('fastify-resources/postgres')

const attributes = {
  type: 'object',
  required: ['title'],
  properties: { title: { type: 'string', minLength: 1 }, body: { type: 'string' } }
}
const store = memoryStore()
await store.create({ title: 'One' }, {}, { signal: new AbortController().signal })
const posts = fastify()
posts.register(resources, { name: 'posts', store, attributes })

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL })
const tables = fastify()
tables.register(async (app) => {
  const stores = postgresStores({ pool })
  const comment = { type: 'object', properties: { postId: { type: 'integer' }, text: { type: 'string' } } }
  app.register(resources, { name: 'posts', stores, attributes })
  const references = { postId: 'posts' }
  app.register(resources, { name: 'comments', stores, attributes: comment, references, only: ['list', 'show'] })
})
await tables.ready()
await pool.query("INSERT INTO posts (title) VALUES ('One')")
await pool.query('INSERT INTO comments ("postId", text) VALUES (1, $1)', ['Yes'])

const json = { accept: 'application/json', 'content-type': 'application/json' }
const match = { ...json, 'if-match': '"1.json"' }
const form = { accept: 'text/html', 'content-type': 'application/x-www-form-urlencoded' }
const requests = [
  { url: '/posts/1', headers: { accept: 'application/xml' } },
  { method: 'PUT', url: '/posts', headers: match, payload: '{"id":1,"post":{"title":"New"}}' },
  { method: 'POST', url: '/posts', headers: form, payload: 'post[title]=&post[body]=x' },
  { url: '/comments?text[contains]=yes', headers: { accept: 'text/html' } }
]
const session = new Session()
session.connect()
await session.post('Profiler.enable')
const entered = []
for (const request of requests) {
  const app = request.url.startsWith('/comments') ? tables : posts
  // What is made by a first request of its kind is no part of the way.
  const other = { ...request, headers: { ...request.headers, 'if-match': '"none.json"' } }
  await app.inject(request.method === 'PUT' ? other : request)
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  const { statusCode } = await app.inject(request)
  const { result } = await session.post('Profiler.takePreciseCoverage')
  await session.post('Profiler.stopPreciseCoverage')
  const called = result.filter(({ functions }) => functions.some(({ functionName, ranges: [{ count }] }) => count > 0))
  entered.push({ statusCode, files: called.map(({ url }) => url) })
}
await pool.end()
console.log(JSON.stringify(entered))
`

interface Entered {
  readonly statusCode: number
  readonly files: readonly string[]
}

/** The most files that each request may enter. */
const LIMITS = [16, 24, 40, 64]

t.test('docs/architecture.md names exactly the files that four requests enter', async (t) => {
  const page = readFileSync(new URL('../../docs/architecture.md', import.meta.url), 'utf8')
  const sections = page.split(/^## /m).slice(1)
  const { url } = await startPostgres(t)
  const environment = { DATABASE_URL: url }
  const { line } = await startProgram(t, writeProgram(t, 'architecture', PROGRAM), { environment })
  const entered = JSON.parse(line) as readonly Entered[]
  t.strictSame(entered.map(({ statusCode }) => statusCode), [200, 200, 422, 200])
  t.equal(sections.length, entered.length)
  for (const [index, { files }] of entered.entries()) {
    const section = sections[index] as string
    const heading = section.slice(0, section.indexOf('\n'))
    const named = new Set([...section.matchAll(/`([\w/-]+)\.ts`/g)].map(([, name]) => name))
    const ours = files.filter((url) => url.startsWith(dist) && !url.startsWith(`${dist}core/util/`))
    const real = new Set(ours.map((url) => url.slice(dist.length).replace(/\.js$/, '')))
    t.strictSame([...named].sort(), [...real].sort(), heading)
    t.ok(real.size <= (LIMITS[index] ?? 0), `${heading}: ${real.size} files`)
  }
})
