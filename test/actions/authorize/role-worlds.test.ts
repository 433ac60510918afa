import Database from 'libsql'
import t from 'tap'
import { sqliteStore } from '../../../lib/sql/sqlite/index.js'
import {
  ask, compareWorlds, type MakeStore, makeRequests, MOST, openWorld, readHidden, type Role, ROLES, type World
} from '../../support/role-worlds.js'

// FC_SEED=… makes other runs, FC_RUNS=… more of them.
const seed = Number(process.env.FC_SEED ?? 20_261_128)
const numRuns = Number(process.env.FC_RUNS ?? 1000)
const requests = makeRequests()
const seen = new Map<string, number>()

/** Returns a function that makes stores whose versions are digests of all values. */
function makeSqliteStores (): MakeStore {
  const database = new Database(':memory:')
  return (table, { attributes, unique = [] }) =>
    sqliteStore({ database, table, attributes, unique, version: 'values', migrate: true }) as ReturnType<MakeStore>
}

const RUNS: ReadonlyArray<readonly [role: Role, where: string, open: (isOther: boolean) => Promise<World>]> = [
  ...ROLES.map((role) => [role, 'in memory', (isOther: boolean) => openWorld(role, isOther)] as const),
  ['clerk', 'in SQLite', (isOther) => openWorld('clerk', isOther, makeSqliteStores())]
]

for (const [role, where, open] of RUNS) {
  t.test(`worlds ${where} that differ only in what a ${role} does not see answer it alike`, async (t) => {
    const note = (key: string): void => { seen.set(key, (seen.get(key) ?? 0) + 1) }
    const readKept = async (world: World): Promise<ReadonlyMap<string, string>> => readHidden(world, role)
    const runs = Math.ceil(numRuns / MOST / RUNS.length)
    const fault = await compareWorlds(
      { role, open, requests, readKept, mayVanish: true, note }, { seed, numRuns: runs }
    )
    t.equal(String(fault), 'undefined')
  })
}

t.test('the requests reach all methods, and most of them are not refused as a whole', async (t) => {
  for (const key of ['200', '201', '400', '404', '412', '422', 'replayed', 'GET', 'HEAD', 'POST', 'PUT',
    'PATCH', 'DELETE', 'QUERY']) {
    t.ok((seen.get(key) ?? 0) > 0, `${key}: ${seen.get(key)} times`)
  }
  t.ok((seen.get('200') ?? 0) > numRuns / 10)
})

t.test('the comparison finds what a role sees', async (t) => {
  const worlds = [await openWorld('guest', false), await openWorld('guest', true)] as const
  const asked = { options: { url: '/people.json' }, condition: undefined }
  const [one, other] = [await ask(worlds[0], 'clerk', asked, ''), await ask(worlds[1], 'clerk', asked, '')]
  t.not(one.answer, other.answer)
  for (const { app } of worlds) await app.close()
})
