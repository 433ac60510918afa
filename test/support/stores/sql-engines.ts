import Database from 'libsql'
import root, { type Test } from 'tap'
import { BY_ID, type Context, type Query, type Row, type Stores } from '../../../lib/index.js'
import {
  type PostgresClient, type PostgresPool, type PostgresQuery, postgresStore, postgresStores
} from '../../../lib/sql/postgres/index.js'
import {
  type SqliteDatabase, sqliteStore, sqliteStores, type SqlStore, type SqlStoreOptions
} from '../../../lib/sql/sqlite/index.js'
import { type PostgresServer, startPostgres } from './postgres.js'

/** A database, and a function that makes a store in it. */
export interface Engine {
  readonly name: 'sqlite' | 'postgresql'
  store (options: SqlStoreOptions): SqlStore
  /** The statements that the stores have run. */
  readonly statements: string[]
  /** Statements that match it fail; `undefined` for none. */
  failing: RegExp | undefined
  readonly stores: Stores
  /** Stores that create no tables. */
  readonly unmigrated: Stores
  /** Runs the test's own statements and returns the rows of the last one. */
  run (...statements: readonly string[]): Promise<unknown[]>
}

let server: Promise<PostgresServer> | undefined
let schemas = 0

/** Opens each engine with an empty database. */
export async function openEngines (): Promise<Engine[]> {
  const database = new Database(':memory:')
  // All tests of a file share one server. Each test has its own schema.
  const { pool: makePool } = await (server ??= startPostgres(root))
  const schema = `test${++schemas}`
  const pool = makePool({ options: `-c search_path=${schema}` })
  await pool.query(`CREATE SCHEMA ${schema}`)
  const sqlite: Engine = {
    name: 'sqlite',
    statements: [],
    failing: undefined,
    store: (options) => sqliteStore({ database: recorded, ...options }),
    stores: sqliteStores({ database }),
    unmigrated: sqliteStores({ database, migrate: false }),
    run: async (...statements) => statements.map((text) => {
      const statement = database.prepare(text)
      // libsql leaves a statement open if it returns rows but is only run.
      return statement.columns().length > 0 ? statement.all() : [statement.run()]
    }).at(-1) ?? []
  }
  const recorded: SqliteDatabase = {
    exec: (text) => database.exec(text),
    prepare (text) {
      const statement = database.prepare(text)
      return {
        safeIntegers: (isOn) => statement.safeIntegers(isOn),
        all (...values) {
          record(sqlite, text)
          return statement.all(...values)
        }
      }
    }
  }
  const postgresql: Engine = {
    name: 'postgresql',
    statements: [],
    failing: undefined,
    store: (options) => postgresStore({ pool: recordedPool, ...options }),
    stores: postgresStores({ pool }),
    unmigrated: postgresStores({ pool, migrate: false }),
    async run (...statements) {
      let rows: unknown[] = []
      for (const text of statements) rows = (await pool.query<Record<string, unknown>>(text)).rows
      return rows
    }
  }
  const recordedPool: PostgresPool = Object.create(pool, {
    connect: {
      async value () {
        const client = await pool.connect()
        const query = async (query: PostgresQuery): Promise<{ readonly rows: readonly unknown[] }> => {
          record(postgresql, query.text)
          return (client as PostgresClient).query(query)
        }
        return Object.create(client, { query: { value: query } })
      }
    }
  })
  return [sqlite, postgresql]
}

/** Runs the same test on each engine. */
export function each (name: string, body: (t: Test, engine: Engine) => Promise<void>): void {
  root.test(name, async (t) => {
    for (const engine of await openEngines()) await t.test(engine.name, (t) => body(t, engine))
  })
}

/** Makes a store with a table for it. */
export async function openMigrated ({ store }: Engine, options: SqlStoreOptions): Promise<SqlStore> {
  const opened = store(options)
  await opened.migrate()
  return opened
}

/** Returns the error that is thrown or rejected. */
export async function thrownBy (act: () => unknown): Promise<Record<string, unknown>> {
  try {
    await act()
  } catch (error) {
    return error as Record<string, unknown>
  }
  throw new Error('nothing was thrown')
}

/** Returns the message of the error that is thrown or rejected. */
export async function messageOf (act: () => unknown): Promise<string> {
  return String((await thrownBy(act)).message)
}

function record (engine: Engine, text: string): void {
  engine.statements.push(text)
  if (engine.failing?.test(text) === true) throw new Error('the statement fails on purpose')
}

export const context: Context = { signal: new AbortController().signal }

/** The query of a list of all rows. */
export const every: Query = {
  order: BY_ID, after: undefined, limit: undefined, scope: {}, filter: [], search: undefined
}

/** The attributes of a row with a value of each kind. */
export const everything = {
  type: 'object',
  required: ['title'],
  properties: {
    title: { type: 'string' },
    email: { type: ['string', 'null'] },
    rating: { type: ['integer', 'null'] },
    price: { type: 'number' },
    published: { type: 'boolean' },
    publishedAt: { type: ['string', 'null'], format: 'date-time' },
    day: { type: 'string', format: 'date' },
    tags: { type: 'array', items: { type: 'string' } },
    author: { type: 'object' },
    mixed: { type: ['string', 'integer', 'null'] },
    anything: {}
  }
} as const

/** Returns all rows of a list. */
export async function readAll (batches: Iterable<readonly Row[]> | AsyncIterable<readonly Row[]>): Promise<Row[]> {
  const rows: Row[] = []
  for await (const batch of batches) rows.push(...batch)
  return rows
}
