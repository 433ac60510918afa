import Database from 'libsql'
import root from 'tap'
import { type Context, postgresStore, sqliteStore, type SqlStore, type SqlStoreOptions, type Row } from '../../../lib/index.js'
import { type PostgresServer, startPostgres } from './postgres-server.js'

/** A database, and a function that makes a store in it. */
export interface Engine {
  readonly name: 'sqlite' | 'postgresql'
  store (options: SqlStoreOptions): SqlStore
  /** Runs the test's own statements and returns the rows of the last one. */
  run (...statements: readonly string[]): Promise<unknown[]>
}

let server: Promise<PostgresServer> | undefined
let schemas = 0

/** Opens each engine with an empty database. */
export async function openEngines (): Promise<Engine[]> {
  const database = new Database(':memory:')
  // All tests of a file share one server. Each test has its own schema.
  const { pool: makePool } = await (server ??= startPostgres(root, ['fsync=off']))
  const schema = `test${++schemas}`
  const pool = makePool({ options: `-c search_path=${schema}` })
  await pool.query(`CREATE SCHEMA ${schema}`)
  return [
    {
      name: 'sqlite',
      store: (options) => sqliteStore({ database, ...options }),
      run: async (...statements) => statements.map((text) => {
        const statement = database.prepare(text)
        // libsql leaves a statement open if it returns rows but is only run.
        return statement.columns().length > 0 ? statement.all() : [statement.run()]
      }).at(-1) ?? []
    },
    {
      name: 'postgresql',
      store: (options) => postgresStore({ pool, ...options }),
      async run (...statements) {
        let rows: unknown[] = []
        for (const text of statements) rows = (await pool.query<Record<string, unknown>>(text)).rows
        return rows
      }
    }
  ]
}

export const context: Context = { signal: new AbortController().signal }

/** Returns all rows of a list. */
export async function readAll (batches: Iterable<readonly Row[]> | AsyncIterable<readonly Row[]>): Promise<Row[]> {
  const rows: Row[] = []
  for await (const batch of batches) rows.push(...batch)
  return rows
}
