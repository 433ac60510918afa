import { existsSync, readdirSync } from 'node:fs'
import { ESLint } from 'eslint'
import t from 'tap'

const lib = new URL('../lib/', import.meta.url)
const test = new URL('./', import.meta.url)
const eslint = new ESLint({ cwd: new URL('..', import.meta.url).pathname })

/** The layers from the top: a folder may import those after it. Folders of one layer must not import each other. */
const LAYERS = [['index'], ['plugin'], ['openapi'], ['http'], ['routing'], ['actions', 'formats'], ['stores'], ['resource'], ['schema'], ['util'], ['errors']]
const FILES = ['index', 'errors']

/** Names an existing file of the folder, because the import resolver needs one. */
function fileIn (name: string): string {
  if (FILES.includes(name)) return `${name}.ts`
  const file = readdirSync(new URL(`${name}/`, lib)).find((file) => file.endsWith('.ts'))
  return `${name}/${file}`
}

/** Returns the names of the ESLint rules that this text breaks as the file of this name below `lib`. */
async function findBroken (file: string, text: string): Promise<string[]> {
  const [result] = await eslint.lintText(text, { filePath: new URL(file, lib).pathname })
  return (result?.messages ?? []).map(({ ruleId }) => String(ruleId))
}

t.test('each layer is a folder', async (t) => {
  t.strictSame(readdirSync(lib).map((name) => name.replace(/\.ts$/, '')).sort(), LAYERS.flat().sort(), 'each layer is a folder, and each folder a layer')
})

/** The folders of `test` that have no counterpart in `lib`. */
const BESIDE = ['bench', 'mutants', 'nu-validator', 'plugins', 'support', 'system', 'types', 'vectors']

t.test('each test is in the folder of what it tests, and helpers are in test/support', async (t) => {
  const folders = readdirSync(test, { withFileTypes: true }).filter((entry) => entry.isDirectory()).map(({ name }) => name)
  t.strictSame(folders.filter((name) => !BESIDE.includes(name)).sort(), LAYERS.flat().filter((name) => !FILES.includes(name)).sort(), 'each folder of lib has a folder in test')
  // test/openapi also holds a package of its own, which checks the descriptions with tools of others.
  const checked = folders.filter((name) => !['openapi', 'bench', 'mutants', 'nu-validator', 'plugins'].includes(name)).map((name) => new URL(`${name}/`, test))
  for (const folder of checked) {
    const name = folder.pathname.slice(test.pathname.length)
    const [top = ''] = name.split('/')
    const entries = readdirSync(folder, { withFileTypes: true })
    checked.push(...entries.filter((entry) => entry.isDirectory()).map((entry) => new URL(`${entry.name}/`, folder)))
    const tests = entries.filter((entry) => entry.name.endsWith('.test.ts'))
    if (!['support', 'types', 'vectors'].includes(top)) t.strictSame(entries.filter((entry) => entry.isFile() && !tests.includes(entry)), [], `${name} holds only tests`)
    else t.strictSame(tests, [], `${name} holds no tests`)
    if (!BESIDE.includes(top)) t.ok(existsSync(new URL(name, lib)), `${name} is also a folder of lib`)
  }
})

t.test('a folder imports only the layers below it', async (t) => {
  for (const [index, names] of LAYERS.entries()) {
    for (const name of names) {
      for (const [other, others] of LAYERS.entries()) {
        for (const target of others.filter((target) => target !== name)) {
          const prefix = FILES.includes(name) ? './' : '../'
          const broken = await findBroken(fileIn(name), `import type {} from '${prefix}${fileIn(target).replace(/\.ts$/, '.js')}'\n`)
          const isAllowed = other > index && !(name === 'formats' && target === 'stores' && !fileIn(target).endsWith('/store.ts'))
          t.equal(broken.includes('no-restricted-imports'), !isAllowed, `${name} ${isAllowed ? 'may import' : 'must not import'} ${target}`)
        }
      }
    }
  }
})

t.test('formats import the contract of stores, but no store', async (t) => {
  t.notOk((await findBroken('formats/format.ts', "import type {} from '../stores/store.js'\n")).includes('no-restricted-imports'))
  t.ok((await findBroken('formats/json/json.ts', "import type {} from '../../stores/memory/store.js'\n")).includes('no-restricted-imports'))
})

t.test('only some folders import Fastify or its types', async (t) => {
  const rule = '@typescript-eslint/no-restricted-imports'
  for (const name of LAYERS.flat()) {
    const code = await findBroken(fileIn(name), "import fastify from 'fastify'\n\nfastify()\n")
    t.equal(code.includes(rule), !['index', 'plugin', 'openapi', 'http'].includes(name), `code of ${name}`)
    const types = await findBroken(fileIn(name), "import type {} from 'fastify'\n")
    t.equal(types.includes(rule), ['stores', 'schema', 'util', 'errors'].includes(name), `types of ${name}`)
  }
})

t.test('files that import each other are reported, also if they import only types', async (t) => {
  t.ok((await findBroken('util/own-property.ts', "import type {} from '../schema/shape.js'\n")).includes('local/no-cycle'))
  t.notOk((await findBroken('util/own-property.ts', "import type {} from './functions.js'\n")).includes('local/no-cycle'))
})

const lines = (count: number): string => Array<string>(count).fill('void 0').join('\n')
const body = (count: number): string => `{\n${lines(count - 2)}\n}`
const parameters = (count: number): string => Array.from({ length: count }, (_, index) => `_${index}: number`).join(', ')
const long = 'x'.repeat(120)

/** Each rule with a text just beyond its limit and one just within it. */
const sizes: ReadonlyArray<readonly [rule: string, what: string, broken: string, sound: string]> = [
  ['@stylistic/max-len', 'a line of code', `export const a = ${'1 + '.repeat(25)}2345`, `export const a = ${'1 + '.repeat(25)}234`],
  ['@stylistic/max-len', 'a string', `export const a = '${long}'`, `export const a = '${long.slice(19)}'`],
  ['@stylistic/max-len', 'a template', `export const a = \`${long}\``, `export const a = /${long}/`],
  ['@stylistic/max-len', 'a comment', `// ${long}`, `// https://example.com/${long}`],
  ['@stylistic/max-len', 'a comment of a declaration', `/** ${long} */`, `/** ${long.slice(7)} */`],
  ['max-lines-per-function', 'a function', `export function f (): void ${body(61)}`, `export function f (): void ${body(60)}`],
  ['max-lines-per-function', 'an arrow function', `export const f = (): void => ${body(61)}`, `export const f = (): void => ${body(60)}`],
  ['max-lines-per-function', 'a method', `export class C { #m (): void ${body(61)} }`, `export class C { #m (): void ${body(60)} }`],
  ['max-params', 'a function', `export function f (${parameters(5)}): void {}`, `export function f (${parameters(4)}): void {}`],
  ['max-params', 'a constructor', `export class C { constructor (${parameters(5)}) {} }`, `export class C { constructor (${parameters(4)}) {} }`]
]

t.test('lines, functions and parameter lists have a maximum size', async (t) => {
  for (const [rule, what, broken, sound] of sizes) {
    t.ok((await findBroken('util/own-property.ts', `${broken}\n`)).includes(rule), `${rule}: ${what} beyond it`)
    t.notOk((await findBroken('util/own-property.ts', `${sound}\n`)).includes(rule), `${rule}: ${what} within it`)
  }
})
