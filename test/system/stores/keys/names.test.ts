import t from 'tap'
import { BY_ID, type Query } from '../../../../lib/index.js'
import { postgresStore } from '../../../../lib/sql/postgres/index.js'
import { type SqlStore } from '../../../../lib/sql/sqlite/index.js'
import { context, openEngines, readAll } from '../../../support/stores/sql-engines.js'
import { startPostgres } from '../../../support/stores/postgres.js'

const query: Query = { order: BY_ID, after: undefined, limit: undefined, scope: {}, filter: [], search: undefined }
const NAMES = ['order', 'select', 'Mixed Case', 'UPPER', 'quo"te', "apos'trophe", '💛', 'naïve', 'a.b', 'a, b', 'a;b', '$1', '?', ':x', '%', 'back\\slash', '-- x', '/* x */', '[x]', '`x`', '1', ' ', 'user', 'table', 'count(*)', 'values']
const quote = (name: string): string => `"${name.replaceAll('"', '""')}"`

async function thrownBy (act: () => unknown): Promise<Record<string, unknown>> {
  try {
    await act()
  } catch (error) {
    return error as Record<string, unknown>
  }
  throw new Error('nothing was thrown')
}

t.test('tables and columns may have any name', async (t) => {
  for (const engine of await openEngines()) {
    for (const [index, name] of NAMES.entries()) {
      const other = NAMES[(index + 1) % NAMES.length] as string
      const [table, key, column] = [name, `${name}1`, `${other}2`]
      await engine.run(`CREATE TABLE ${quote(table)} (${quote(key)} integer NOT NULL, ${quote(name)} text NOT NULL, ${quote(column)} text NOT NULL, PRIMARY KEY (${quote(key)}, ${quote(name)}), UNIQUE (${quote(column)}, ${quote(name)}))`)
      for (const version of engine.name === 'sqlite' ? ['values'] : ['values', 'xmin']) {
        const store: SqlStore = engine.store({
          table,
          version,
          key: ['a', 'b'],
          columns: { a: key, b: name, c: column },
          unique: [['c', 'b']],
          attributes: { type: 'object', required: ['c'], properties: { a: { type: 'integer' }, b: { type: 'string' }, c: { type: 'string' } } }
        })
        await store.prepare()
        const row = await store.create({ a: 1, b: 'b', c: 'c' }, {}, context)
        t.match(row, { id: '1,b', attributes: { a: 1, b: 'b', c: 'c' } }, `${engine.name} ${name}`)
        await store.create({ a: 2, b: 'b', c: 'd' }, {}, context)
        t.match(await thrownBy(() => store.create({ a: 1, b: 'b', c: 'e' }, {}, context)), { code: 'FST_RESOURCES_DUPLICATE', errors: { a: ['is already taken'] } }, `${engine.name} ${name}`)
        t.match(await thrownBy(() => store.create({ a: 3, b: 'b', c: 'd' }, {}, context)), { code: 'FST_RESOURCES_DUPLICATE' }, `${engine.name} ${name}`)
        t.match(await thrownBy(() => store.create({ a: 3, b: 'x' }, {}, context)), { code: 'FST_RESOURCES_INVALID', errors: { c: ['must be given'] } }, `${engine.name} ${name}`)
        t.match(await store.update('1,b', { c: 'f' }, { version: row.version, scope: { b: 'b' } }, context), { ok: true, row: { attributes: { c: 'f' } } })
        t.match(await store.update('1,b', { c: 'g' }, { version: row.version, scope: {} }, context), { ok: false, why: 'stale' })
        const rows = await readAll(store.list({ ...query, order: [{ by: 'c', descending: true }, ...BY_ID], filter: [{ attribute: 'c', operator: 'contains', value: 'F' }], search: { words: ['f'], attributes: ['c'] } }, context))
        t.strictSame(rows.map(({ id }) => id), ['1,b'])
        t.equal((await store.count({ ...query, most: undefined, estimate: false }, context)).rows, 2)
        for (const id of ['1,b', '2,b']) t.match(await store.delete(id, { version: undefined, scope: {} }, context), { ok: true })
      }
      await engine.run(`DROP TABLE ${quote(table)}`)
    }
  }
})

t.test('the first table in search_path is served, unless the option "schema" names another', async (t) => {
  const { pool: makePool } = await startPostgres(t)
  const admin = makePool()
  for (const schema of ['first', 'Second "💛"', 'third']) {
    await admin.query(`CREATE SCHEMA ${quote(schema)}; CREATE TABLE ${quote(schema)}."Towns" (code text PRIMARY KEY, place text)`)
    await admin.query(`INSERT INTO ${quote(schema)}."Towns" VALUES ('a', '${schema}')`)
  }
  const attributes = { type: 'object', properties: { code: { type: 'string' }, place: { type: ['string', 'null'] } } } as const
  const options = { table: 'Towns', attributes, key: ['code'], version: 'xmin' }
  const pool = makePool({ options: '-c search_path=missing,"Second\\ \\"\\"💛\\"\\"",first' })
  for (const [schema, found] of [[undefined, 'Second "💛"'], ['third', 'third'], ['first', 'first'], ['Second "💛"', 'Second "💛"']] as const) {
    const store = postgresStore({ pool, ...options, ...(schema !== undefined && { schema }) })
    await store.prepare()
    const row = await store.get('a', {}, context)
    t.equal(row?.attributes.place, found)
    t.match(await store.update('a', { place: found }, { version: row?.version, scope: {} }, context), { ok: true })
    t.match(await thrownBy(() => store.create({ code: 'a' }, {}, context)), { code: 'FST_RESOURCES_DUPLICATE', errors: { code: ['is already taken'] } })
  }
  const lower = await thrownBy(() => postgresStore({ pool, ...options, table: 'towns' }).prepare())
  t.match(lower.message, /Option "table" is "towns", which is not in the database; .* did you mean "Towns"\?/)
})
