import Database from 'libsql'
import root from 'tap'
import { type Context, postgresStore, sqliteStore, type SqlStore, type SqlStoreOptions, type Row } from '../../../lib/index.js'
import { type PostgresServer, startPostgres } from './postgres-server.js'

/** A database, and how to make a store in it. */
export interface Engine {
  readonly name: 'sqlite' | 'postgresql'
  store (options: SqlStoreOptions): SqlStore
  /** Runs statements of the test's own and gives the rows of the last one. */
  run (...statements: readonly string[]): Promise<unknown[]>
}

let server: Promise<PostgresServer> | undefined
let schemas = 0

/** Each engine there is, its database empty. */
export async function openEngines (): Promise<Engine[]> {
  const database = new Database(':memory:')
  // One server for all tests of a file, and a schema for each.
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
        // libsql leaves open what answers rows and is only run.
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

/** All rows of a list. */
export async function readAll (batches: Iterable<readonly Row[]> | AsyncIterable<readonly Row[]>): Promise<Row[]> {
  const rows: Row[] = []
  for await (const batch of batches) rows.push(...batch)
  return rows
}
