/** Checks the output of `npm pack --json`: the package holds only files its user needs, and README states its size. */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'

const [{ files, size, unpackedSize }] = JSON.parse(readFileSync(0, 'utf8'))
const sources = readdirSync('lib', { recursive: true }).filter((file) => file.endsWith('.ts')).map((file) => file.slice(0, -'.ts'.length))
const described = sources.map((name) => `dist/${name}.d.ts`)
// README links to the documentation, which fits the installed version only if it is installed with it.
const pages = readdirSync('docs', { recursive: true }).filter((file) => file.endsWith('.md')).map((file) => `docs/${file}`)
const wanted = ['CHANGELOG.md', 'LICENSE', 'README.md', 'package.json', ...pages, ...described]
const isBundle = ({ path }) => /^dist\/.*\.js$/.test(path)
assert.deepEqual(files.filter((file) => !isBundle(file)).map(({ path }) => path).sort(), wanted.sort())
// Importing hundreds of modules would take longer than loading Fastify.
const bundles = files.filter(isBundle)
assert.ok(bundles.length <= 60, `the bundle has ${bundles.length} files`)

const [, packed, unpacked] = /(\d+) kB to download, ([\d.]+) MB on the disk/.exec(readFileSync('README.md', 'utf8'))
for (const [told, is] of [[packed * 1e3, size], [unpacked * 1e6, unpackedSize]]) {
  assert.ok(Math.abs(told / is - 1) < 0.1, `README says that the package has ${told} bytes, but it has ${is}`)
}
console.log(`the package has ${files.length} files, ${size} bytes, ${unpackedSize} unpacked`)
