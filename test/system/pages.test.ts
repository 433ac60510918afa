import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { spawnSync } from 'node:child_process'
import { SaxesParser } from 'saxes'
import t from 'tap'
import ts from 'typescript'
import * as errors from '../../lib/core/errors.js'
import { ENGLISH_TEXTS } from '../../lib/core/messages.js'
import { makeMessages } from '../../lib/html/languages/make-messages.js'
import { allPages, isWhole, namesIn, type Page, pages, root, type Table } from '../support/pages.js'

const LONGEST_README = 220
const LONGEST_PAGE = 300
/** Pages for those who change the package, with a form of their own. */
const INTERNAL = ['docs/CONTRIBUTING.md', 'docs/architecture.md']
const whole = isWhole ? false : 'it needs all pages, so run it without PAGES'

const pageAt = (path: string): Page | undefined => allPages.find((page) => page.path === path)

t.test('every relative link leads to a file, and every anchor to a heading', async (t) => {
  for (const page of pages) {
    for (const target of page.links) {
      const { path, anchor } = page.resolveLink(target)
      t.ok(existsSync(new URL(path, root)), `${page.path}: ${target} leads to a file`)
      if (anchor !== undefined) {
        t.ok(pageAt(path)?.anchors.includes(anchor), `${page.path}: ${target} leads to a heading`)
      }
    }
  }
})

t.test('every page is found by links that begin in the README', { skip: whole }, async (t) => {
  const found = new Set(['README.md'])
  for (const path of found) {
    const page = pageAt(path)
    for (const target of page?.links ?? []) {
      const linked = page?.resolveLink(target).path
      if (linked !== undefined && pageAt(linked) !== undefined) found.add(linked)
    }
  }
  t.strictSame([...found].sort(), allPages.map(({ path }) => path).sort())
})

t.test('every page is short, begins with a sentence, and ends with links', async (t) => {
  for (const { path, text, isReadme } of pages) {
    const lines = text.trimEnd().split('\n')
    t.ok(lines.length <= (isReadme ? LONGEST_README : LONGEST_PAGE), `${path} has ${lines.length} lines`)
    if (isReadme || INTERNAL.includes(path)) continue
    t.match(text, /^# .+\n\n[A-Z`][^\n]+[.:]\n\n/, `${path} says for whom and what`)
    t.match(lines.at(-1), /^Related: \[.*\.$/, `${path} names related pages`)
  }
})

/** How a block of a language is checked, if it is not run: returns what is wrong with it. */
const CHECKS: Readonly<Record<string, (text: string) => string>> = {
  js: (text) => ts.transpileModule(text, {
    reportDiagnostics: true, fileName: 'block.js', compilerOptions: { allowJs: true, module: ts.ModuleKind.ESNext }
  }).diagnostics?.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' ')).join() ?? '',
  json (text) {
    try { JSON.parse(text) } catch (error) { return String(error) }
    return ''
  },
  xml (text) {
    try { new SaxesParser().write(text).close() } catch (error) { return String(error) }
    return ''
  },
  sh: (text) => spawnSync('sh', ['-n'], { input: text, encoding: 'utf8' }).stderr,
  // The programs of a page try these, and the compiler reads those, in test/system/readme.test.ts.
  console: () => '',
  ts: () => '',
  sql: () => '',
  text: () => ''
}

t.test('every block of code has a language, and can be read', async (t) => {
  for (const { path, blocks, opening, isReadme } of pages) {
    for (const { language, text } of blocks) {
      const check = CHECKS[language]
      if (check === undefined) t.fail(`${path}: "${language}" is none of ${Object.keys(CHECKS).join(', ')}`)
      else t.equal(check(text), '', `${path}: ${text.slice(0, 40)}`)
    }
    if (!isReadme) t.strictSame(opening, [], `${path}: commands stand behind a program that listens`)
  }
})

/** The declarations of interfaces in lib. A file may add members to an interface of another one. */
const interfaces = readdirSync(new URL('lib', root), { recursive: true, encoding: 'utf8' }).filter((file) =>
  file.endsWith(
    '.ts'
  )).flatMap((file) => {
  const source = ts.createSourceFile(file, readFileSync(new URL(`lib/${file}`, root), 'utf8'), ts.ScriptTarget.ES2023,
    true)
  const merged = source.statements.filter(ts.isModuleDeclaration).flatMap(({ body }) => body !== undefined &&
    ts.isModuleBlock(body)
    ? [...body.statements]
    : [])
  return [...source.statements, ...merged].filter(ts.isInterfaceDeclaration)
})

interface Member { readonly name: string, readonly isOptional: boolean }

/** Returns the members of an interface, also those that it extends. */
function membersOf (name: string): Member[] {
  return interfaces.filter((node) => node.name.text === name).flatMap((node) => {
    const inherited = node.heritageClauses?.flatMap(({ types }) => types.flatMap(({ expression }) => membersOf(
      expression.getText()
    ))) ?? []
    return [
      ...inherited,
      ...node.members.map((member) => ({
        name: member.name?.getText() ?? '', isOptional: member.questionToken !== undefined
      }))
    ]
  })
}

/** A comment above a table, `The members of A, B`: each of its rows begins with the names of some. */
const MEMBERS = /^The (required )?members of ([\w, ]+)$/
/** Tables that begin with such a cell list members. */
const HEADS = ['option', 'context', 'view']
/** What the pages must list somewhere. */
const LISTED = [
  'The members of ResourceOptions, DeclaredOptions, RoutingOptions', 'The members of HtmlOptions',
  'The members of ActionContext', 'The members of SqlStoreOptions', 'The members of Views',
  'The members of PageMessages', 'The members of PageFrame', 'The required members of Store'
]

t.test('tables of options, contexts, views and methods name every member, and no other', async (t) => {
  const tables = pages.flatMap((page) => page.tables.map((table): [Page, Table] => [page, table]))
  for (const [{ path }, { comment = '', head, rows }] of tables) {
    const [, required, names] = MEMBERS.exec(comment) ?? []
    if (names === undefined) {
      if (HEADS.includes(head[0] ?? '')) {
        t.fail(`${path}: a comment above the table of "${head[0]}" must say what it lists: <!-- The members of … -->`)
      }
      continue
    }
    const declared = names
      .split(', ')
      .flatMap(membersOf)
      .filter(({ isOptional }) => required === undefined || !isOptional)
      .map(({ name }) => name)
    t.strictSame(rows.flatMap(([cell]) => namesIn(cell)).sort(), [...new Set(declared)].sort(), `${path}: ${names}`)
  }
  if (isWhole) {
    t.strictSame(LISTED.filter((wanted) => !tables.some(([, { comment }]) => comment === wanted)), [],
      'nothing is left out')
  }
})

/** The arguments with which the table of words shows its defaults. */
const SAMPLE: Readonly<Record<string, string | number | boolean>> = {
  isTime: false,
  plural: 'Posts',
  singular: 'post',
  id: 1,
  label: 'Tags',
  error: 'must not be blank',
  number: 1,
  characters: 120,
  items: 2,
  taken: 'text',
  title: 'New post',
  rows: 1234,
  counted: '1,234 posts',
  digits: '1,234',
  created: '1,190',
  changed: '14',
  operator: 'gte',
  value: '3',
  values: '1, 2',
  condition: 'Tags at least 3',
  relation: 'author',
  referrers: '9 comments',
  name: 'First post',
  first: 1,
  last: 50,
  total: '1,234'
}

t.test('the tables of words have the defaults of lib, and those of messages every code', {
  skip: pageAt('docs/words.md') === undefined
}, async (t) => {
  const tables = pageAt('docs/words.md')?.tables ?? []
  const messages = new Map(
    Object.entries(makeMessages(
      { plural: 'posts', singular: 'post' }, { words: undefined, messages: {} }
    )) as Array<[string, unknown]>
  )
  for (const [
    cell = '', shown
  ] of tables.find(({ comment }) => comment === 'The members of PageMessages')?.rows ?? []) {
    const [, name = '', parameters = ''] = /^`(\w+)(?:\((.*)\))?`$/.exec(cell) ?? []
    const word = messages.get(name)
    const text = typeof word === 'function'
      ? word(...parameters.split(', ').map((parameter) => SAMPLE[parameter]))
      : word
    t.equal(shown, typeof text === 'string' ? text : '`{}`', name)
  }
  const rows = pageAt('docs/languages.md')?.tables
    .filter(({ head }) => head[0]?.startsWith('code of '))
    .flatMap(({ rows }) => rows) ?? []
  t.strictSame(rows.map(([cell = '']) => /^`(\w+)/.exec(cell)?.[1]), Object.keys(ENGLISH_TEXTS))
  for (const [cell = '', shown] of rows) {
    const text = messages.get(cell.slice(1, -1))
    if (text !== undefined) t.equal(shown, text)
  }
})

t.test('tables of errors name every error with its status, and every code in a page is one of theirs', async (t) => {
  const made = new Map<unknown, Error & { readonly code: string, readonly statusCode?: number | undefined }>([
    [errors.InvalidError, new errors.InvalidError({})],
    [errors.RowsError, new errors.RowsError([], 1)],
    [errors.UnwrittenError, new errors.UnwrittenError(false)]
  ])
  const thrown = new Map(Object.values(errors).flatMap((value) => {
    if (!((value as { prototype?: unknown }).prototype instanceof Error)) return []
    const error = made.get(value) ??
      new (value as new (...parameters: string[]) => Error & { code: string, statusCode: number })('a', 'b')
    return [[error.code, error.statusCode] as const]
  }))
  const documented: string[] = []
  for (const { path, text, tables } of pages) {
    for (const [code] of text.matchAll(/FST_RESOURCES_\w+/g)) t.ok(thrown.has(code), `${path}: ${code}`)
    for (const { rows } of tables.filter(({ head }) => head[0] === 'code' && head[1] === 'status')) {
      for (const [cell, status] of rows) {
        const [code = ''] = namesIn(cell)
        t.equal(status === 'at registration' ? 500 : Number(status), thrown.get(code), `${path}: ${code}`)
        documented.push(code)
      }
    }
  }
  if (isWhole) t.strictSame(documented.sort(), [...thrown.keys()].sort())
})

/** Figures of the README: where each is written, and the constant of a test that asserts it. */
const FIGURES: ReadonlyArray<readonly [figure: RegExp, file: string, constant: RegExp]> = [
  [/killed (\S+) times under load/, 'test/system/durability.test.ts', /^const CYCLES = (\S+)$/m],
  [/try (\S+) updates each/, 'test/system/two-processes.test.ts', /^const WRITES = (\S+)$/m],
  [/A list of (\S+) rows/, 'test/system/lists/long-lists.test.ts', /^const ROWS = (\S+)$/m],
  [/at most (\S+) MiB in the server/, 'test/system/lists/long-lists.test.ts',
    /^const MOST_HELD = (\S+) \* 2 \*\* 20$/m],
  [/licence-(\w+)-/, 'package.json', /"license": "(\w+)"/],
  [/^Fastify (\S+) and later/m, 'package.json', /"fastify": "\^([\d.]+)"\n {2}\},\n {2}"dependencies"/],
  [/; Node\.js (\S+) and later/, 'package.json', /"node": "\^([\d.]+)\.0 \|\|/],
  [/later, (\S+) and later; TypeScript/, 'package.json', /"node": ".* >=([\d.]+)\.0"/]
]

t.test('the guarantees of the README name tests that there are, with their figures', async (t) => {
  const textOf = (file: string): string => readFileSync(new URL(file, root), 'utf8')
  const readme = pageAt('README.md')
  const [rows = []] = readme?.tables.filter(({ head }) => head[0] === 'guarantee').map(({ rows }) => rows) ?? []
  t.ok(rows.length > 5)
  for (const [, shown = ''] of rows) {
    const [, file = '', title = ''] = /^\[[\w-]+\]\((test\/[\w/.-]+)\): (.+)$/.exec(shown) ?? []
    t.ok(title !== '' && textOf(file).split('\n').some((line) => /\btest\(/.test(line) && line.includes(title)), shown)
  }
  for (const [figure, file, constant] of FIGURES) {
    t.equal(figure.exec(readme?.text ?? '')?.[1]?.replaceAll(',', ''),
      constant.exec(textOf(file))?.[1]?.replaceAll('_', ''), `${file}: ${String(figure)}`)
  }
})

/** What `package-lock.json` knows of the packages, by where they stand. */
type Lock = Readonly<Record<string, {
  readonly dependencies?: Readonly<Record<string, string>>,
  readonly hasInstallScript?: boolean
}>>

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

t.test('the tables of dependencies name every dependency, and whatever these bring', { skip: whole }, async (t) => {
  const { packages: lock } = JSON.parse(readFileSync(new URL('package-lock.json', root), 'utf8')) as { packages: Lock }
  const tables = allPages.flatMap((page) => page.tables)
  const packagesIn = (cell = ''): string[] => cell.replaceAll('`', '').split(', ').sort()
  const direct = tables.filter(({ head }) => head.join() === 'package,for').flatMap(({ rows }) => rows.flatMap(
    ([names]) => packagesIn(names)
  ))
  const brought = tables.filter(({ head }) => head.join() === 'package,brought by,for').flatMap(({ rows }) => rows.map(
    ([name = '', by]): [string, string[]] => [name.replaceAll('`', ''), packagesIn(by)]
  ))
  t.strictSame(direct.sort(), Object.keys(lock['']?.dependencies ?? {}).sort())
  const all = direct.reduce((found, name) => findBrought(lock, `node_modules/${name}`, found),
    new Map<string, string[]>())
  t.strictSame(brought.sort(), [...all].filter(([name]) => !direct.includes(name)).sort())
  t.strictSame([...direct, ...all.keys()].filter((name) => lock[`node_modules/${name}`]?.hasInstallScript === true), [],
    'none runs a script when it is installed')
})
