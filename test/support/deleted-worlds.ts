import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import fastify from 'fastify'
import { type Attributes, type Authorize, memoryStore, memoryStores, type Store, type Stores } from '../../lib/index.js'
import { sqliteStores } from '../../lib/sql/sqlite/index.js'
import {
  ALL, drawWorld, KEYED, makeRequests, makeRow, type Name, NO_CONTEXT, SCHEMAS, type World
} from './role-worlds.js'

/** A user who may do everything. */
const ADMIN = { 'x-role': 'admin', accept: 'application/json' }

/** The ids of deleted rows: of those of both worlds, which have other values in each, and of those of one world. */
interface Deleted {
  readonly both: readonly number[]
  readonly one: number
  readonly other: number
}

const DELETED: Readonly<Record<Name, Deleted>> = {
  people: { both: [3], one: 8, other: 9 },
  teams: { both: [3], one: 8, other: 9 },
  notes: { both: [2, 5], one: 3, other: 8 }
}

/** The people of the notes, in the order of their ids. The third one is deleted. */
const PEOPLE_OF_NOTES = [1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 4]

/** Requests that also ask for the deleted rows. */
export const requests = makeRequests(
  ['people/deleted', 'deleted_person'], ['teams/deleted', 'deleted_team'], ['people/1/notes/deleted', 'deleted_note'],
  ['people/3/notes', 'note'])

/** The stores of a world. */
interface Database {
  readonly stores: Stores
  /** Whether references are foreign keys. */
  readonly isChecked: boolean
}

/** The databases of a world. With several of them, references are no foreign keys. */
export const DATABASES: Readonly<Record<string, (folder: string) => Database>> = {
  'several databases in memory': () => {
    const open: Stores['open'] = ({ unique, softDelete }) =>
      memoryStore({ unique, ...(softDelete !== undefined && { softDelete }) }) as Store
    return { stores: { open }, isChecked: false }
  },
  'a database in memory': () => ({ stores: memoryStores(), isChecked: true }),
  SQLite: (folder) => ({ stores: sqliteStores({ file: join(folder, `${randomUUID()}.sqlite`) }), isChecked: true })
}

/** Refuses to show and to change what is deleted, and rows that another value of a deleted row would protect. */
const authorize: Authorize = async ({ headers }, { action, row }) => {
  if (headers['x-role'] === 'admin') return true
  if (['deleted', 'restore', 'purge'].includes(action)) return false
  return !['update', 'touch'].includes(action) || (await row?.())?.attributes.owner !== 'Secret'
}

function ownOptions (name: Name): object {
  const { properties, ...others } = SCHEMAS[name]
  const deletedAt = { type: ['string', 'null'], format: 'date-time', readOnly: true }
  return {
    softDelete: 'deletedAt',
    authorize,
    ...(name === 'people' && {
      unique: ['email'],
      attributes: { ...others, properties: { ...properties, deletedAt } },
      sort: ['name', 'salary', 'deletedAt'],
      html: { columns: ['name', 'salary', 'deletedAt'], import: true }
    })
  }
}

/** Opens a world, which differs from the other one only in its deleted rows. */
export async function openDeletedWorld ({ stores, isChecked }: Database, isOther: boolean): Promise<World> {
  const app = fastify({ routerOptions: { maxParamLength: 300 } })
  const opened: Record<string, Store> = {}
  const open: Stores['open'] = (request) => (opened[request.table] = stores.open(request))
  app.register(drawWorld(KEYED, ownOptions, { ...stores, open }))
  await app.ready()
  const send = async (method: 'POST' | 'PUT' | 'DELETE', url: string, payload: object): Promise<void> => {
    const { statusCode, body } = await app.inject({ method, url, payload, headers: ADMIN })
    if (statusCode >= 400) throw new Error(`${method} ${url}: ${statusCode} ${body}`)
  }
  const rows = Array.from({ length: 10 }, (_, index) => index + 1)
  const valuesOf = (name: Name, id: number): Attributes => makeValues(name, id, { isOther, isChecked })
  // The references are known when all rows exist.
  const blank = (name: Name, id: number): Attributes => ({ ...valuesOf(name, id), bossId: null, teamId: undefined })
  await send('POST', '/teams', { teams: rows.map((id) => blank('teams', id)) })
  await send('POST', '/people', { people: rows.map((id) => blank('people', id)) })
  for (const [index, person] of PEOPLE_OF_NOTES.entries()) {
    await send('POST', `/people/${person}/notes`, { note: valuesOf('notes', index + 1) })
  }
  for (const name of ['people', 'teams'] as const) {
    const referring = rows.map((id) => {
      const { bossId, teamId } = valuesOf(name, id)
      return { id, bossId, ...(name === 'people' && { teamId }) }
    })
    await send('PUT', `/${name}`, { [name]: referring })
  }
  for (const [list, { both, one, other }] of [
    ['/teams', DELETED.teams],
    ['/people/1/notes', { ...DELETED.notes, both: [2], other: undefined }],
    ['/people/2/notes', { ...DELETED.notes, both: [5], one: undefined }],
    ['/people', DELETED.people]
  ] as const) {
    const gone = [one, other].filter((id) => id !== undefined)
    const purged = gone.filter((id) => id === (isOther ? one : other))
    await send('DELETE', list, { id: [...both, ...gone] })
    if (purged.length > 0) await send('DELETE', `${list}/deleted`, { id: purged })
  }
  return { app, stores: opened as World['stores'] }
}

/** Returns the values of a row. Those of a deleted row are others in each world. */
function makeValues (
  name: Name,
  id: number,
  { isOther, isChecked }: { readonly isOther: boolean, readonly isChecked: boolean }
): Attributes {
  const { both, one, other } = DELETED[name]
  const isBelow = name === 'notes' && PEOPLE_OF_NOTES[id - 1] === 3
  const isDeleted = isBelow || [...both, one, other].includes(id)
  const names = Object.keys(SCHEMAS[name].properties)
  const changed = isDeleted ? names.filter((attribute) => !['city', 'teamId', 'bossId'].includes(attribute)) : []
  const { personId: _, ...values } = makeRow(name, id, changed, isOther)
  // A foreign key cannot hold the id of a row that does not exist.
  const boss = [1, 2, 3, 3, ...isChecked ? [4] : [one, other]]
  return {
    ...values,
    bossId: isDeleted ? (isOther ? 1 : 2) : boss[id % boss.length],
    ...(name === 'people' && {
      city: isDeleted ? (isOther ? 'Jena' : 'Ulm') : values.city,
      teamId: isDeleted ? (isOther ? 1 : 5) : boss[(id + 2) % boss.length]
    })
  }
}

/** Returns the deleted rows, by their resources and ids. */
export async function readDeleted ({ stores }: World): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>()
  for (const [name, store] of Object.entries(stores)) {
    for await (const rows of store.list(ALL, NO_CONTEXT)) {
      for (const row of rows) if (row.attributes.deletedAt != null) found.set(`${name} ${row.id}`, JSON.stringify(row))
    }
  }
  return found
}
