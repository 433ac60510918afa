import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import Database from 'libsql'
import root from 'tap'
import { startProgram, writeProgram } from '../support/program.js'

// KILLS=… makes more of them.
const KILLS = Number(process.env.KILLS ?? 5)
/** The number of clients. Each has rows of its own. */
const CLIENTS = 4
/** The least number of acknowledged writes before each kill. */
const LOAD = 20

const SERVER = `
import fastify from 'fastify'
import resources from 'fastify-resources'
import { sqliteStores } from 'fastify-resources/sqlite'

process.once('disconnect', () => process.exit())
const app = fastify()
app.register(resources, {
  name: 'notes',
  formats: ['json'],
  stores: sqliteStores({ file: process.argv[2] }),
  attributes: { type: 'object', properties: { title: { type: 'string' }, body: { type: 'string' } } },
  softDelete: 'deletedAt',
  authorize: () => true
})
console.log(await app.listen({ port: 0, host: '127.0.0.1' }))
`

type State = 'live' | 'deleted' | 'purged'

/** What a client knows of a row. A write that was not answered leaves two states possible. */
interface Known {
  readonly title: string
  readonly states: readonly State[]
}

const BODY = 'x'.repeat(2000)
const STEPS: Readonly<Record<State, ReadonlyArray<readonly [method: string, path: string, next: State]>>> = {
  live: [['DELETE', '/notes', 'deleted']],
  deleted: [
    ['POST', '/notes/deleted/restore', 'live'], ['POST', '/notes/deleted/restore', 'live'],
    ['DELETE', '/notes/deleted', 'purged']
  ],
  purged: []
}

/** Creates, deletes, restores and purges rows, one or two at a time, and notes what was acknowledged. */
class Client {
  readonly rows = new Map<number, Known>()
  acknowledged = 0
  unknown = 0

  async work (base: string, onAcknowledged: () => void): Promise<void> {
    while (await this.#step(base)) {
      this.acknowledged++
      onAcknowledged()
    }
  }

  /** Sends one write. Returns whether it was answered. */
  async #step (base: string): Promise<boolean> {
    const usable = [...this.rows].filter(([, { states }]) => states[0] !== 'purged')
    const [first, second] = usable.toSorted(() => Math.random() - 0.5)
    if (first === undefined || usable.length < 6) return this.#create(base)
    const [[id, { states: [state = 'live'] }]] = [first]
    const steps = STEPS[state]
    const [method, path, next] = steps[Math.floor(Math.random() * steps.length)] as (typeof steps)[number]
    const isPair = second !== undefined && second[1].states[0] === state && Math.random() < 0.5
    const ids = isPair ? [id, second[0]] : [id]
    this.#note(ids, [state, next])
    const answer = await send(base + path, method, { id: ids })
    if (answer === undefined) return false
    if (answer.status !== 204) throw new Error(`${method} ${path} ${ids.join()}: ${answer.status} ${answer.text}`)
    this.#note(ids, [next])
    return true
  }

  async #create (base: string): Promise<boolean> {
    const title = `note ${Math.random()}`
    const answer = await send(`${base}/notes`, 'POST', { note: { title, body: BODY } })
    if (answer === undefined) return false
    this.rows.set((JSON.parse(answer.text) as { note: { id: number } }).note.id, { title, states: ['live'] })
    return true
  }

  #note (ids: readonly number[], states: readonly State[]): void {
    for (const id of ids) this.rows.set(id, { ...this.rows.get(id) as Known, states })
  }

  /** Returns what is wrong with the stored rows, and takes them for what is known from now on. */
  check (stored: ReadonlyMap<number, Stored>): string[] {
    return [...this.rows].flatMap(([id, { title, states }]) => {
      const row = stored.get(id)
      const state = row === undefined ? 'purged' : row.deletedAt === null ? 'live' : 'deleted'
      if (states.length > 1) this.unknown++
      this.rows.set(id, { title, states: [state] })
      const isWhole = row === undefined || (row.title === title && row.body === BODY)
      const isTime = row?.deletedAt == null || !Number.isNaN(Date.parse(row.deletedAt))
      return states.includes(state) && isWhole && isTime ? [] : [`row ${id} is ${state}, not ${states.join(' or ')}`]
    })
  }
}

interface Stored {
  readonly id: number
  readonly title: string
  readonly body: string
  readonly deletedAt: string | null
}

async function send (
  url: string,
  method: string,
  payload: object
): Promise<{ readonly status: number, readonly text: string } | undefined> {
  try {
    const answer = await fetch(url, {
      method, headers: { 'content-type': 'application/json', accept: 'application/json' }, body: JSON.stringify(payload)
    })
    return { status: answer.status, text: await answer.text() }
  } catch {
    return undefined
  }
}

/** Reads the rows on a connection of its own, which sees only committed rows. */
function readRows (path: string): ReadonlyMap<number, Stored> {
  const database = new Database(path)
  try {
    const rows = database.prepare('SELECT id, title, body, "deletedAt" FROM notes').all() as Stored[]
    return new Map(rows.map((row) => [row.id, row]))
  } finally {
    database.close()
  }
}

root.test('a row that is deleted, restored or purged while the process is killed is never in between', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'resources-soft-deletion-'))
  t.teardown(() => { rmSync(folder, { recursive: true }) })
  const path = join(folder, 'notes.sqlite')
  const program = writeProgram(t, 'soft-deletion', SERVER)
  const clients = Array.from({ length: CLIENTS }, () => new Client())
  for (let kill = 0; kill < KILLS; kill++) {
    const { process: child, line, ended } = await startProgram(t, program, { parameters: [path] })
    let left = LOAD + Math.floor(Math.random() * LOAD)
    let enough = (): void => {}
    const loaded = new Promise<void>((resolve) => { enough = resolve })
    const work = Promise.all(clients.map((client) => client.work(line, () => { if (--left <= 0) enough() })))
    await Promise.race([loaded, work.then(() => { throw new Error('the server has gone') })])
    await delay(Math.random() * 10)
    child.kill('SIGKILL')
    t.equal(await ended, 'SIGKILL')
    await work
    const stored = readRows(path)
    t.strictSame(clients.flatMap((client) => client.check(stored)), [], `after ${kill + 1} kills`)
  }
  const total = (key: 'acknowledged' | 'unknown'): number => clients.reduce((sum, client) => sum + client[key], 0)
  t.ok(total('acknowledged') >= LOAD * KILLS, `${total('acknowledged')} writes were acknowledged`)
  const states = clients.flatMap(({ rows }) => [...rows.values()].flatMap(({ states }) => states))
  for (const state of Object.keys(STEPS)) t.ok(states.includes(state as State), `some rows are ${state}`)
  const figures = `${total('acknowledged')} acknowledged writes, ${total('unknown')} rows in writes without answer`
  t.comment(`${KILLS} kills, ${figures}`)
})
