import t from 'tap'
import { type Condition, type Id, memoryStore, type Store } from '../../../../lib/index.js'
import { build } from '../../../support/helper.js'
import { context, every, openEngines, readAll, thrownBy } from '../../../support/stores/sql-engines.js'

const attributes = { type: 'object', properties: { title: { type: 'string' }, shelf: { type: 'integer' } } } as const

/** Returns the ids of a list in any of the formats, as texts. */
const listed = {
  json: (body: string) => (JSON.parse(body) as { rows: Array<{ id: Id }> }).rows.map(({ id }) => String(id)),
  html: (body: string) => [...body.matchAll(/<th[^>]*>(?:<label.*?<\/label>)?<a href="\/rows\/([^"#]+)">/g)].map(([, id = '']) => id)
} as const

for (const id of ['integer', 'uuid'] as const) {
  t.test(`a list is filtered by ${id} ids as by any attribute`, async (t) => {
    const app = await build(t, { name: 'rows', attributes, store: memoryStore({ id }), formats: ['json', 'html'] })
    const ids: string[] = []
    for (let index = 0; index < 5; index++) {
      const payload = { row: { title: 't', shelf: index % 2 } }
      const { body } = await app.inject({ method: 'POST', url: '/rows.json', payload })
      ids.push(String((JSON.parse(body) as { row: { id: Id } }).row.id))
    }
    const [first, second, third, fourth, last] = ids as [string, string, string, string, string]
    const unknown = id === 'integer' ? '4711' : '00000000-0000-7000-8000-000000000000'
    const cases: ReadonlyArray<readonly [query: string, found: readonly string[]]> = [
      [`id=${third}`, [third]], [`id=${unknown}`, []], [`id[in]=${last},${second},${second}`, [second, last]],
      [`id[not]=${third}`, [first, second, fourth, last]], [`id[in]=${first},${second}&shelf=1`, [second]],
      [`id[in]=${first},${second}&sort=-shelf`, [second, first]], [`id[in]=${ids}&limit=2`, [first, second]],
      [`filter[by]=id&filter[value]=${third}`, [third]],
      ...id === 'uuid'
        ? []
        : [
            [`id[gt]=${third}`, [fourth, last]], [`id[gte]=${fourth}&id[lt]=${last}`, [fourth]],
            [`id[lte]=${second}`, [first, second]], [`id[gt]=${first}&sort=-id`, [last, fourth, third, second]]
          ] as const
    ]
    for (const [query, found] of cases) {
      for (const format of ['json', 'html'] as const) {
        const { statusCode, body } = await app.inject(`/rows.${format}?${query}`)
        t.strictSame([statusCode, listed[format](body)], [200, found], `${format}: ${query}`)
      }
      const headers = { 'content-type': 'application/x-www-form-urlencoded' }
      const { body } = await app.inject({ method: 'QUERY' as 'POST', url: '/rows.json', headers, payload: query })
      t.strictSame(listed.json(body), found, `QUERY ${query}`)
    }
    const payload = { id: { in: [last, id === 'integer' ? Number(second) : second] } }
    const asked = await app.inject({ method: 'QUERY' as 'POST', url: '/rows.json', payload })
    t.strictSame(listed.json(asked.body), [second, last], 'QUERY with JSON')

    const wanted = id === 'integer' ? 'must be an integer' : 'must be a UUID in lower case'
    const wrong = id === 'integer' ? ['x', '', '1.5', '01', '+1', '1e0', ' 1'] : ['x', '', '1', first.toUpperCase()]
    for (const text of wrong) {
      for (const parameter of ['id', 'id[not]', 'id[in]']) {
        const query = { [parameter]: text }
        const { statusCode, body } = await app.inject({ url: '/rows.json', query })
        t.equal(statusCode, 400, `${parameter}=${text}`)
        t.match(JSON.parse(body), { detail: `"${parameter}" ${wanted}` })
      }
    }
    for (const parameter of ['id[null]', 'id[contains]', 'id[starts]']) {
      const { statusCode, body } = await app.inject(`/rows.json?${parameter}=1`)
      const operators = id === 'integer' ? 'gte, gt, lte, lt, not, in' : 'not, in'
      t.equal(statusCode, 400)
      t.match(JSON.parse(body), { detail: new RegExp(`"id" takes one of these .* in brackets: ${operators}$`) })
    }
    const page = await app.inject(`/rows.html?id[in]=${first},${second}`)
    t.match(page.body, `aria-label="Remove: Id is one of ${first}, ${second}"`, 'the page says so')
    t.notMatch((await app.inject('/rows.html')).body, '<option value="id">', 'but does not offer it')
  })
}

t.test('a list is filtered by ids that consist of attributes', async (t) => {
  const properties = { shelf: { type: 'integer' }, place: { type: 'string' } } as const
  const schema = { type: 'object', required: ['shelf', 'place'], properties } as const
  for (const engine of await openEngines()) {
    const pair = engine.store({ table: 'pairs', key: ['shelf', 'place'], attributes: schema, migrate: true })
    const single = engine.store({ table: 'singles', key: ['shelf'], attributes: schema, migrate: true })
    const text = engine.store({ table: 'texts', key: ['place'], attributes: schema, migrate: true })
    const cases: ReadonlyArray<readonly [store: Store, query: string, found: readonly Id[] | string]> = [
      [pair, 'id=9,a', ['9,a']], [pair, 'id[in]=9\\,a,10\\,b', ['9,a', '10,b']], [pair, 'id=9', []],
      [pair, 'id[not]=9,a', ['9,b', '10,a', '10,b']], [pair, 'id[not]=9', ['9,a', '9,b', '10,a', '10,b']],
      [pair, `id[in]=${Array.from({ length: 120 }, (_, index) => `${index}\\,a`)}`, ['9,a', '10,a']],
      [pair, 'id=', '"id" must be a string'],
      [single, 'id=10', [10]], [single, 'id[gt]=9', [10]], [single, 'id=x', '"id" must be an integer'],
      [text, 'id=a', ['a']], [text, 'id[in]=a,c', ['a']], [text, 'id[not]=a', ['b']]
    ]
    for (const store of [pair, single, text]) await store.prepare()
    for (const [shelf, place] of [[9, 'a'], [9, 'b'], [10, 'a'], [10, 'b']] as const) {
      await pair.create({ shelf, place }, {}, context)
      if ((shelf === 9) === (place === 'a')) {
        for (const store of [single, text]) await store.create({ shelf, place }, {}, context)
      }
    }
    const ask = async (condition: Omit<Condition, 'attribute'>): Promise<number> =>
      (await readAll(pair.list({ ...every, filter: [{ attribute: 'id', ...condition } as Condition] }, context))).length
    t.strictSame([await ask({ operator: 'null', value: true }), await ask({ operator: 'null', value: false })], [0, 4])
    t.match(await thrownBy(() => ask({ operator: 'starts', value: '1' })), { message: /cannot be searched; search the/ })
    for (const [store, query, found] of cases) {
      const app = await build(t, { name: 'rows', store })
      const { statusCode, body } = await app.inject(`/rows.json?${query}`)
      const wanted = typeof found === 'string' ? [400, { detail: found }] : [200, { rows: found.map((id) => ({ id })) }]
      t.match([statusCode, JSON.parse(body)], wanted, `${engine.name}: ${query}`)
      if (Array.isArray(found)) t.equal((JSON.parse(body) as { rows: unknown[] }).rows.length, found.length, query)
    }
  }
})

t.test('the id is among the filters wherever the store and the app have filters', async (t) => {
  const { capabilities, ...plain } = memoryStore()
  type Case = readonly [store: Store, filter: readonly string[] | undefined, query: string, status: number]
  const cases: readonly Case[] = [
    [
      memoryStore(), ['title'], 'id=1', 200
    ], [memoryStore(), ['title'], 'id[in]=1', 200], [memoryStore(), [], 'id=1', 400],
    [plain, undefined, 'id=1', 400], [{ ...plain, capabilities: { filter: ['in'] } }, undefined, 'id[in]=1,2', 200],
    [{ ...plain, capabilities: { filter: ['in'] } }, undefined, 'id=1', 200],
    [{ ...plain, capabilities: { filter: ['in'] } }, undefined, 'id[gt]=1', 400]
  ]
  for (const [store, filter, query, status] of cases) {
    const app = await build(t, { name: 'rows', attributes, store, ...filter && { filter } })
    t.equal((await app.inject(`/rows.json?${query}`)).statusCode, status, `${JSON.stringify(filter)} ${query}`)
  }
  const open = await build(t, { name: 'rows' })
  await open.inject({ method: 'POST', url: '/rows', payload: { row: { a: 1 } } })
  t.match((await open.inject('/rows.json?id[in]=1,2')).json(), { rows: [{ id: 1, a: 1 }] }, 'without a schema')
})

t.test('a list is filtered by integer ids beyond 2^53 - 1, in the order of numbers', async (t) => {
  const big = '1119360021460566017'
  for (const engine of await openEngines()) {
    const type = engine.name === 'sqlite' ? 'INTEGER' : 'bigint GENERATED BY DEFAULT AS IDENTITY'
    await engine.run(
      `CREATE TABLE tweets (id ${type} PRIMARY KEY, title text, shelf bigint, version bigint NOT NULL DEFAULT 1)`,
      `INSERT INTO tweets (id) VALUES (3), (20), (${big}), (1119360021460566018)`
    )
    const app = await build(t, { name: 'rows', store: engine.store({ table: 'tweets', attributes }), attributes })
    const cases: ReadonlyArray<readonly [query: string, found: readonly string[]]> = [
      [`id=${big}`, [big]], [`id[in]=20,${big}`, ['20', big]], ['id[gt]=20', [big, '1119360021460566018']],
      [`id[lt]=${big}`, ['3', '20']], [`id[gte]=${big}&sort=-id`, ['1119360021460566018', big]],
      [`id[not]=${big}`, ['3', '20', '1119360021460566018']], ['limit=2&offset=2', [big, '1119360021460566018']],
      ['sort=-id&limit=1&offset=1', [big]]
    ]
    for (const [query, found] of cases) {
      const { statusCode, body } = await app.inject(`/rows.json?${query}`)
      t.strictSame([statusCode, statusCode === 200 && listed.json(body)], [200, found], `${engine.name}: ${query}`)
    }
    t.equal((await app.inject('/rows.json?id=0020')).statusCode, 400, engine.name)
  }
})
