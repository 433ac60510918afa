import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { DATABASES, openDeletedWorld, readDeleted, requests } from '../support/deleted-worlds.js'
import { ask, compareWorlds, MOST } from '../support/role-worlds.js'

// FC_SEED=… makes other runs, FC_RUNS=… more of them.
const seed = Number(process.env.FC_SEED ?? 20_261_129)
const numRuns = Number(process.env.FC_RUNS ?? 1000)
/** The folder of the databases. */
const folder = mkdtempSync(join(tmpdir(), 'resources-deleted-'))
t.teardown(() => { rmSync(folder, { recursive: true }) })

const seen = new Map<string, number>()

const databases = Object.entries(DATABASES)

for (const [index, [where, make]] of databases.entries()) {
  t.test(`worlds in ${where} that differ only in deleted rows answer alike`, async (t) => {
    const fault = await compareWorlds({
      role: 'guest',
      open: async (isOther) => openDeletedWorld(make(folder), isOther),
      requests,
      readKept: readDeleted,
      mayVanish: false,
      note: (key) => { seen.set(key, (seen.get(key) ?? 0) + 1) }
    }, { seed: seed + index, numRuns: Math.ceil(numRuns / MOST / databases.length) })
    t.equal(String(fault), 'undefined')
  })
}

t.test('the requests reach all methods and statuses', async (t) => {
  for (const key of ['200', '201', '204', '400', '403', '404', '412', '422', 'replayed', 'GET', 'HEAD', 'POST', 'PUT',
    'PATCH', 'DELETE', 'QUERY']) t.ok((seen.get(key) ?? 0) > 0, `${key}: ${seen.get(key)} times`)
  t.ok((seen.get('200') ?? 0) > numRuns / 10)
})

t.test('the comparison finds what an admin sees', async (t) => {
  for (const [where, make] of databases) {
    const worlds = [await openDeletedWorld(make(folder), false), await openDeletedWorld(make(folder), true)] as const
    for (const url of ['/people/deleted.json', '/teams/deleted.json', '/people/1/notes/deleted.json']) {
      const asked = { options: { url }, condition: undefined }
      const [one, other] = [await ask(worlds[0], 'admin', asked, ''), await ask(worlds[1], 'admin', asked, '')]
      t.not(one.answer, other.answer, `${url} in ${where}`)
    }
    for (const { app } of worlds) await app.close()
  }
})
