import Database from 'libsql'
import t, { type Test } from 'tap'
import { BY_ID, type Order, type Query } from '../../../../lib/index.js'
import {
  type SqliteDatabase, sqliteStore, type SqliteStore, type SqlStoreOptions
} from '../../../../lib/sql/sqlite/index.js'
import { context, readAll } from '../../../support/stores/sql-engines.js'
import { findDrivers } from '../../../support/stores/sqlite-drivers.js'

const any: Omit<Query, 'order'> = { after: undefined, limit: undefined, scope: {}, filter: [], search: undefined }
const REFUSAL = /^resources: a list of the table "rows" cannot continue after a row, because the driver does not return a text of the row as the table holds it/
const text = { type: 'string' } as const
const schema: SqlStoreOptions['attributes'] = { type: 'object', properties: { code: text, name: text } }

/** A driver that alters texts. */
interface Alteration {
  readonly name: string
  readonly database: () => SqliteDatabase
  /** Returns the SQL of a text that the driver alters. The texts of other digits differ, unless the driver replaces bytes. */
  readonly stored: (digits: string) => string
}

/** Returns a driver that replaces characters by U+FFFD, as node:sqlite does with bytes that are not UTF-8. */
function replacing (): SqliteDatabase {
  const database = new Database(':memory:')
  const replace = (value: unknown): unknown => typeof value === 'string' ? value.replace(/[\ue000💛][\d]*/u, '\ufffd') : value
  return {
    exec: (sql) => database.exec(sql),
    prepare (sql) {
      const statement = database.prepare(sql)
      return {
        safeIntegers: (isOn) => statement.safeIntegers(isOn),
        all: (...values) => (statement.all(...values) as object[]).map((row) => Object.fromEntries(Object.entries(row).map(([name, value]) => [name, replace(value)])))
      }
    }
  }
}

const alterations: Alteration[] = [
  { name: 'a driver that replaces texts by lesser ones', database: replacing, stored: (digits) => `'k' || char(128155) || ${digits}` },
  { name: 'a driver that replaces texts by greater ones', database: replacing, stored: (digits) => `'k' || char(57344) || ${digits}` }
]
for (const { name, open } of await findDrivers()) {
  // libsql ends the process at a text that is not UTF-8.
  if (name !== 'node:sqlite') continue
  for (const byte of ['80', 'fc']) alterations.push({ name: `${name} with the byte ${byte}`, database: () => open(':memory:'), stored: (digits) => `CAST(x'6b${byte}' AS TEXT) || iif(${digits} > '', '', '')` })
}

async function openStore (database: SqliteDatabase, options: Partial<SqlStoreOptions> = {}): Promise<SqliteStore> {
  const store = sqliteStore({ database, table: 'rows', attributes: schema, version: 'values', ...options })
  await store.prepare()
  return store as SqliteStore
}

const orderOf = (sort: string): Order => [...sort.split(',').map((name) => ({ by: name.replace('-', ''), descending: name.startsWith('-') }))]

/** Passes if a list ended, or failed with an error about an altered text. */
function checkRead (t: Test, { names, error }: { readonly names: unknown[], readonly error: unknown }, count: number, what: string): void {
  if (error === undefined) t.ok(names.length <= count, `${what}: no row is repeated`)
  else t.match((error as Error).message, REFUSAL, what)
}

const numbered: SqlStoreOptions['attributes'] = { type: 'object', properties: { code: text, name: text, number: { type: 'integer' } } }
const TABLES: ReadonlyArray<readonly [table: string, options: Partial<SqlStoreOptions>]> = [
  ['id INTEGER PRIMARY KEY AUTOINCREMENT, code TEXT, name TEXT, number INTEGER', {}],
  ['code TEXT PRIMARY KEY NOT NULL, name TEXT, number INTEGER', { key: ['code'] }],
  ['code TEXT NOT NULL, name TEXT, number INTEGER NOT NULL, PRIMARY KEY (code, number)', { key: ['code', 'number'] }],
  ['code TEXT NOT NULL, name TEXT, number INTEGER NOT NULL, PRIMARY KEY (number, code)', { key: ['number', 'code'] }]
]

for (const { name, database: open, stored } of alterations) {
  t.test(name, async (t) => {
    t.test('a list without a limit is not endless', async (t) => {
      for (const [columns, options] of TABLES) {
        for (const column of ['code', 'name']) {
          const database = open()
          if (/byte/.test(name) && options.key?.length === 1 && column === 'code') continue
          const [code, text] = column === 'code' ? [stored("printf('%05d', n)"), "'x'"] : ["printf('c%05d', n)", stored("printf('%05d', n)")]
          database.exec(`CREATE TABLE rows (${columns}); WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 2500) INSERT INTO rows (code, name, number) SELECT ${code}, ${text}, n FROM c; INSERT INTO rows (code, name, number) VALUES ('z', 'z', 2501)`)
          const store = await openStore(database, { attributes: numbered, ...options })
          for (const sort of ['id', '-id', 'name,id', '-name,-id', '-code,id']) {
            const names: unknown[] = []
            let error: unknown
            try {
              for await (const batch of store.list({ ...any, order: orderOf(sort) }, context)) {
                names.push(...batch.map(({ attributes }) => attributes.number))
                if (names.length > 4000) throw new Error('endless')
              }
            } catch (thrown) {
              error = thrown
            }
            checkRead(t, { names, error }, 2501, `${columns} by ${sort}`)
          }
        }
      }
    })
  })
}

t.test('a list in which a row follows itself fails, because the driver has cut its text at U+0000', async (t) => {
  const database = new Database(':memory:')
  database.exec("CREATE TABLE rows (code TEXT PRIMARY KEY NOT NULL, name TEXT); INSERT INTO rows VALUES ('a', ''), ('b' || char(0) || 'c', '')")
  const store = await openStore(database, { key: ['code'] })
  await t.rejects(readAll(store.list({ ...any, order: BY_ID, after: ['b'] }, context)), { message: REFUSAL })
})
