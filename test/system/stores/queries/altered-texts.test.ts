import Database from 'libsql'
import { get } from 'node:http'
import t, { type Test } from 'tap'
import { BY_ID, type Id, type Order, type Position, type Query, type Row, type SqliteDatabase, sqliteStore, type SqliteStore, type SqlStoreOptions } from '../../../../lib/index.js'
import { build } from '../../../support/helper.js'
import { context, readAll } from '../../../support/stores/sql-engines.js'
import { findDrivers } from '../../../support/stores/sqlite-drivers.js'

const any: Omit<Query, 'order'> = { after: undefined, limit: undefined, scope: {}, filter: [], search: undefined }
const REFUSAL = /^resources: a list of the table "rows" cannot continue after a row, because the driver does not return its text in the column "?\w+"?( or "\w+")* as the table holds it\. The text contains U\+0000, or bytes that are not UTF-8\. Repair it by the statements in docs\/existing-tables\.md, section "Texts that a driver changes"\./
const text = { type: 'string' } as const
const schema: SqlStoreOptions['attributes'] = { type: 'object', properties: { code: text, name: text } }

/** A driver that alters texts. */
interface Alteration {
  readonly name: string
  readonly database: () => SqliteDatabase
  /** Returns the SQL of a text that the driver alters. The texts of other digits differ, unless the driver replaces bytes. */
  readonly stored: (digits: string) => string
  /** What the driver returns for such a text. */
  readonly read: string
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
  { name: 'a driver that replaces texts by lesser ones', database: replacing, stored: (digits) => `'k' || char(128155) || ${digits}`, read: 'k\ufffd' },
  { name: 'a driver that replaces texts by greater ones', database: replacing, stored: (digits) => `'k' || char(57344) || ${digits}`, read: 'k\ufffd' }
]
for (const { name, open } of await findDrivers()) {
  // libsql ends the process at a text that is not UTF-8.
  if (name !== 'node:sqlite') continue
  for (const byte of ['80', 'fc']) alterations.push({ name: `${name} with the byte ${byte}`, database: () => open(':memory:'), stored: (digits) => `CAST(x'6b${byte}' AS TEXT) || iif(${digits} > '', '', '')`, read: 'k\ufffd' })
}

function openStore (database: SqliteDatabase, options: Partial<SqlStoreOptions> = {}): SqliteStore {
  const store = sqliteStore({ database, table: 'rows', attributes: schema, version: 'values', ...options })
  store.prepare()
  return store as SqliteStore
}

const orderOf = (sort: string): Order => [...sort.split(',').map((name) => ({ by: name.replace('-', ''), descending: name.startsWith('-') }))]
const placeOf = ({ id, attributes }: Row, order: Order): Position => order.map(({ by }) => (by === 'id' ? id : attributes[by] ?? null) as string)

/** Reads pages of a list until it ends or fails. Returns the names, and the error. */
async function readPages (store: SqliteStore, order: Order, limit: number): Promise<{ readonly names: unknown[], readonly error: unknown }> {
  const names: unknown[] = []
  let after: Position | undefined
  try {
    while (names.length < 50) {
      const rows = (await readAll(store.list({ ...any, order, after, limit: limit + 1 }, context))).slice(0, limit)
      names.push(...rows.map(({ attributes }) => attributes.number))
      const last = rows.at(-1)
      if (last === undefined || rows.length < limit) return { names, error: undefined }
      after = placeOf(last, order)
    }
  } catch (error) {
    return { names, error }
  }
  return { names, error: 'endless' }
}

/** Passes if rows are all those of a list, or an error was thrown after the first ones. Returns whether it was. */
function checkRead (t: Test, { names, error }: { readonly names: unknown[], readonly error: unknown }, count: number, what: string): void {
  t.equal(new Set(names).size, names.length, `${what}: no row is repeated`)
  if (error === undefined) t.equal(names.length, count, `${what}: no row is lost`)
  else t.match((error as Error).message, REFUSAL, what)
}

const numbered: SqlStoreOptions['attributes'] = { type: 'object', properties: { code: text, name: text, number: { type: 'integer' } } }
const TABLES: ReadonlyArray<readonly [table: string, options: Partial<SqlStoreOptions>]> = [
  ['id INTEGER PRIMARY KEY AUTOINCREMENT, code TEXT, name TEXT, number INTEGER', {}],
  ['code TEXT PRIMARY KEY NOT NULL, name TEXT, number INTEGER', { key: ['code'] }],
  ['code TEXT NOT NULL, name TEXT, number INTEGER NOT NULL, PRIMARY KEY (code, number)', { key: ['code', 'number'] }],
  ['code TEXT NOT NULL, name TEXT, number INTEGER NOT NULL, PRIMARY KEY (number, code)', { key: ['number', 'code'] }]
]

for (const { name, database: open, stored, read } of alterations) {
  t.test(name, async (t) => {
    t.test('a list repeats and loses no row silently', async (t) => {
      for (const [columns, options] of TABLES) {
        const database = open()
        database.exec(`CREATE TABLE rows (${columns})`)
        const store = openStore(database, { attributes: numbered, ...options })
        // Bytes that are not UTF-8 have no digits, so that they would be the same key.
        const isUnique = options.key?.length === 1 && /byte/.test(name)
        const altered = isUnique ? [2] : [2, 4, 6]
        for (const texts of [altered, []]) {
          for (let number = 1; number <= 8; number++) {
            const code = texts.includes(number) ? stored(`'${number}'`) : `'${number < 4 ? 'a' : number === 8 ? 'z' : 'k'}${options.key?.length === 1 ? number : ''}'`
            database.exec(`INSERT INTO rows (code, name, number) VALUES (${code}, ${code}, ${number})`)
          }
          for (const sort of ['id', '-id', 'name,id', '-name,-id', 'name,-id', 'code,id', '-code,-id']) {
            for (const limit of [1, 2, 3]) {
              const pages = await readPages(store, orderOf(sort), limit)
              checkRead(t, pages, 8, `${columns} by ${sort}, ${limit} rows`)
              if (texts.length === 0) t.equal(pages.error, undefined)
            }
          }
          database.exec('DELETE FROM rows')
        }
      }
    })

    t.test('a list without a limit is not endless', async (t) => {
      for (const [columns, options] of TABLES) {
        for (const column of ['code', 'name']) {
          const database = open()
          if (/byte/.test(name) && options.key?.length === 1 && column === 'code') continue
          const [code, text] = column === 'code' ? [stored("printf('%05d', n)"), "'x'"] : ["printf('c%05d', n)", stored("printf('%05d', n)")]
          database.exec(`CREATE TABLE rows (${columns}); WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 2500) INSERT INTO rows (code, name, number) SELECT ${code}, ${text}, n FROM c; INSERT INTO rows (code, name, number) VALUES ('z', 'z', 2501)`)
          const store = openStore(database, { attributes: numbered, ...options })
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

    t.test('a place of a deleted or changed row is a place', async (t) => {
      const database = open()
      database.exec(`CREATE TABLE rows (id INTEGER PRIMARY KEY AUTOINCREMENT, code TEXT, name TEXT); INSERT INTO rows (id, code, name) VALUES (1, 'a', 'k'), (2, 'b', '${read}x'), (3, 'c', 'z'), (4, 'd', 'a')`)
      const store = openStore(database)
      const ids = async (order: string, after: Position): Promise<Id[]> => (await readAll(store.list({ ...any, order: orderOf(order), after }, context))).map(({ id }) => id)
      for (const change of ['SELECT 1', "UPDATE rows SET name = 'zz' WHERE id = 2", 'DELETE FROM rows WHERE id = 2']) {
        database.exec(change)
        t.strictSame((await ids('name,id', [`${read}x`, 2])).slice(0, 1), [3], change)
        t.strictSame(await ids('-name,-id', [`${read}x`, 2]), [1, 4])
      }
      database.exec("CREATE TABLE codes (code TEXT PRIMARY KEY NOT NULL, name TEXT); INSERT INTO codes VALUES ('a', 'n'), ('c', 'n')")
      const codes = openStore(database, { table: 'codes', key: ['code'] })
      t.strictSame((await readAll(codes.list({ ...any, order: BY_ID, after: ['b'] }, context))).map(({ id }) => id), ['c'])
      t.strictSame((await readAll(codes.list({ ...any, order: orderOf('name,-id'), after: ['n', 'b'] }, context))).map(({ id }) => id), ['a'])
    })
  })
}

t.test('a list in which a row follows itself fails, because the driver has cut its text at U+0000', async (t) => {
  const database = new Database(':memory:')
  database.exec("CREATE TABLE rows (code TEXT PRIMARY KEY NOT NULL, name TEXT); INSERT INTO rows VALUES ('a', ''), ('b' || char(0) || 'c', '')")
  const store = openStore(database, { key: ['code'] })
  await t.rejects(readAll(store.list({ ...any, order: BY_ID, after: ['b'] }, context)), { message: REFUSAL })
})

t.test('each batch continues after a text that is exact', async (t) => {
  const database = replacing()
  database.exec("CREATE TABLE rows (code TEXT PRIMARY KEY NOT NULL, name TEXT); WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 2500) INSERT INTO rows SELECT printf('c%05d', n), 'x' FROM c; INSERT INTO rows SELECT 'b' || char(128155) || code, 'x' FROM rows")
  await t.rejects(readAll(openStore(database, { key: ['code'] }).list({ ...any, order: orderOf('-id') }, context)), { message: REFUSAL })
})

t.test('a block of a sorted list has no bound that the driver has altered', async (t) => {
  // The text of the row before lies between the altered text and what the driver returns for it.
  for (const number of [612, 613, 614]) {
    const database = replacing()
    database.exec(`CREATE TABLE rows (id INTEGER PRIMARY KEY AUTOINCREMENT, code TEXT, name TEXT, number INTEGER); WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 2500)
      INSERT INTO rows SELECT 5000 - n, 'c', CASE n WHEN ${number} THEN printf('n%05d', n - 1) || char(128155) WHEN ${number - 1} THEN printf('n%05d', n) || char(65534) ELSE printf('n%05d', n) END, n FROM c`)
    const names: unknown[] = []
    let error: unknown
    try {
      for await (const batch of openStore(database, { attributes: numbered }).list({ ...any, order: orderOf('name,id') }, context)) names.push(...batch.map(({ attributes }) => attributes.number))
    } catch (thrown) {
      error = thrown
    }
    checkRead(t, { names, error }, 2500, `row ${number}`)
  }
})

t.test('a place has a statement of its own only if its text may be another one', async (t) => {
  for (const [read, most] of [['k', 0], ['k\ufffd', 1]] as const) {
    const database = new Database(':memory:')
    database.exec(`CREATE TABLE rows (id INTEGER PRIMARY KEY AUTOINCREMENT, code TEXT, name TEXT); INSERT INTO rows VALUES (1, 'a', '${read}'), (2, 'b', 'z')`)
    const statements: string[] = []
    const store = openStore({
      exec: (sql) => database.exec(sql),
      prepare (sql) {
        const statement = database.prepare(sql)
        return {
          safeIntegers: (isOn) => statement.safeIntegers(isOn),
          all (...values) {
            if (/^SELECT/.test(sql) && !sql.includes('pragma')) statements.push(sql)
            return statement.all(...values)
          }
        }
      }
    })
    const order = orderOf('name,id')
    await readAll(store.list({ ...any, order, after: [read, 1], limit: 2 }, context))
    statements.length = 0
    t.strictSame((await readAll(store.list({ ...any, order, after: [read, 1], limit: 2 }, context))).map(({ id }) => id), [2])
    t.equal(statements.filter((sql) => sql.includes('count(*)')).length, most)
    statements.length = 0
    await readAll(store.list({ ...any, order: BY_ID, after: [1], limit: 2 }, context))
    t.equal(statements.length, 1, 'a list by generated ids has one statement')
  }
})

t.test('a request of such a list fails, and a list that has begun breaks off', async (t) => {
  const database = replacing()
  database.exec("CREATE TABLE rows (code TEXT PRIMARY KEY NOT NULL, name TEXT); WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 2500) INSERT INTO rows SELECT printf('c%05d', n), 'x' FROM c; INSERT INTO rows SELECT 'd' || char(128155) || code, 'x' FROM rows")
  const messages: string[] = []
  const app = await build(t, { name: 'rows', store: openStore(database, { key: ['code'] }) } as unknown as Parameters<typeof build>[1], {
    server: { logger: { level: 'warn', stream: { write (line: string) { messages.push(JSON.parse(line).err?.message) } } } }
  } as Parameters<typeof build>[2])
  const after = Buffer.from('["d\ufffd"]').toString('base64url')
  const refused = await app.inject({ url: `/rows?limit=5&after=${after}`, headers: { accept: 'application/json' } })
  t.equal(refused.statusCode, 500)
  t.notMatch(refused.body, 'rows"')
  t.ok(messages.splice(0).some((message) => REFUSAL.test(message)), 'the log has the message')
  const address = new URL(await app.listen({ port: 0 }))
  await new Promise<void>((resolve) => {
    get(new URL('/rows.json', address), (res) => {
      t.equal(res.statusCode, 200)
      res.resume().on('error', () => {}).on('close', () => {
        t.notOk(res.complete)
        setTimeout(resolve, 50)
      })
    })
  })
  t.ok(messages.some((message) => REFUSAL.test(message)), 'the log has the message')
})
