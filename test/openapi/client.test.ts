import { mkdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { exampleFile, startProgram } from '../support/program.js'
import { startBlog } from './blog.js'
import { visit } from './client/visit.js'
import { runTool } from './tool.js'

const TYPES = new URL('dist/blog.d.ts', import.meta.url)

t.test('a client that is generated from the description compiles and works', async (t) => {
  const { url } = await startBlog(t)
  mkdirSync(new URL('.', TYPES), { recursive: true })
  const generated = await runTool('test/openapi/node_modules/openapi-typescript/bin/cli.js', [
    `${url}/documentation/json`, '--default-non-nullable', 'false', '-o', fileURLToPath(TYPES)
  ])
  t.equal(generated.code, 0, generated.printed)
  const compiled = await runTool('node_modules/@typescript/native/lib/tsc.js', ['-p', 'test/openapi/client'])
  t.same(compiled, { code: 0, printed: '' })
  t.strictSame(await visit(url), [
    'Tea', 5, 412, ['drinks'], 2, ['Tea'], 200,
    422, { title: ['must not be blank'] },
    'Ann', 204, 404,
    [1, 2], [true, true], [{ index: 1, status: 422, errors: { title: ['must not be blank'] } }], 204
  ])
})

t.test('the types of the example client are those that its API describes', async (t) => {
  const { line } = await startProgram(t, exampleFile('json-api.ts'), { environment: { PORT: '0' } })
  const [url] = /http:\/\/[\w.]+:\d+/.exec(line) ?? []
  const file = `${t.testdir()}/paths.d.ts`
  const generated = await runTool('test/openapi/node_modules/openapi-typescript/bin/cli.js', [
    `${url}/documentation/json`, '--default-non-nullable', 'false', '-o', file
  ])
  t.equal(generated.code, 0, generated.printed)
  t.equal(readFileSync(file, 'utf8'), readFileSync(exampleFile('json-api-paths.d.ts'), 'utf8'))
})
