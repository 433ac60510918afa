import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import type { FastifyInstance } from 'fastify'
import { memoryStores, type Stores } from 'fastify-resources'
import { postgresStores } from 'fastify-resources/postgres'
import { sqliteStores } from 'fastify-resources/sqlite'
import pg from 'pg'

/** Opens the database of an app. `name` is `memory`, a `postgres://` URL, or the path of a database file. */
export function openStores (app: FastifyInstance, name: string): Stores {
  if (name === 'memory') return memoryStores()
  if (/^postgres(?:ql)?:\/\//.test(name)) {
    const pool = new pg.Pool({ connectionString: name, connectionTimeoutMillis: 5_000 })
    app.addHook('onClose', () => pool.end())
    return postgresStores({ pool })
  }
  mkdirSync(dirname(name), { recursive: true })
  return sqliteStores({ file: name })
}
