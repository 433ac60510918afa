import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { everything } from './everything.js'
import { runTool } from './tool.js'

for (const version of ['3.0.3', '3.1.0', '3.2.0']) {
  t.test(`Redocly finds no error in an OpenAPI ${version} description of all kinds of resources`, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'resources-openapi-'))
    t.teardown(() => { rmSync(folder, { recursive: true }) })
    const file = join(folder, 'description.json')
    writeFileSync(file, JSON.stringify(await everything(t, version)))
    const { code, printed } = await runTool('test/openapi/node_modules/@redocly/cli/bin/cli.js', ['lint', file])
    t.equal(code, 0, printed)
    t.match(printed, 'Your API description is valid')
  })
}
