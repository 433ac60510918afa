import { readdirSync, readFileSync } from 'node:fs'
import t from 'tap'

const here = new URL('.', import.meta.url)
const page = readFileSync(new URL('../../docs/fastify.md', here), 'utf8')
const [, section = ''] = /^## Beside other plugins\n(.*?)^##/ms.exec(page) ?? []
const files = readdirSync(here).filter((name) => name.endsWith('.test.ts') && name !== 'readme.test.ts')
const textOf = (name: string): string => readFileSync(new URL(name, here), 'utf8')

/** What a plugin needs, and the test that shows it. */
const rows = [
  ...section.matchAll(/^\| (`[^|]+`) \| [^|]+ \| \[([\w-]+)\]\(\.\.\/test\/plugins\/([\w.-]+)\): ([^|]+) \|$/gm)
].map(
  ([, names = '', label = '', file = '', title = '']) => ({
    names: names.match(/(?<=`)[@\w/-]+(?=`)/g) ?? [], label, file, title
  })
)

t.test('each row of the table names a test that exists', async (t) => {
  t.ok(rows.length > 5)
  t.equal(rows.length, section.match(/^\| `/gm)?.length, 'each row has been read')
  for (const { label, file, title } of rows) {
    t.equal(`${label}.test.ts`, file)
    // A long title is broken into two texts.
    t.ok(textOf(file).replaceAll(/' \+\n *'/g, '').includes(`'${title}'`), `${label}: ${title}`)
  }
})

t.test('every plugin is named, and has a test', async (t) => {
  const { dependencies } = JSON.parse(textOf('package.json')) as { dependencies: Record<string, string> }
  const plugins = Object.keys(dependencies).filter((name) => /^@fastify\/|^fastify-/.test(name))
  const named = new Set(section.match(/(?<=`)(?:@fastify\/|fastify-)[\w-]+(?=`)/g))
  t.strictSame([...named].sort(), plugins.sort())
  const tests = files.map(textOf).join('\n')
  for (const name of plugins) t.ok(tests.includes(`'${name}'`) || tests.includes(`node_modules/${name}/`), name)
  for (const { names } of rows) for (const name of names) t.ok(named.has(name), name)
})
