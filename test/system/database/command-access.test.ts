import t, { type Test } from 'tap'
import ts from 'typescript'
import { end, start } from '../../support/command.js'
import { startProgram, writeProgram } from '../../support/program.js'
import { makeDatabase } from '../../support/stores/databases/music-database.js'

const SQL = `
  CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT NOT NULL, phrase TEXT NOT NULL);
  CREATE TABLE orders (
    id INTEGER PRIMARY KEY,
    title TEXT NOT NULL,
    phrase TEXT NOT NULL DEFAULT 'xyzzy-0',
    price INTEGER,
    chief INTEGER REFERENCES people,
    updated_by TEXT NOT NULL,
    UNIQUE (title, phrase)
  );
  CREATE TABLE lines (
    "order" INTEGER NOT NULL, line INTEGER NOT NULL, "list price" INTEGER, PRIMARY KEY ("order", line)
  );
  CREATE VIEW titles AS SELECT title, phrase FROM orders;
  INSERT INTO people VALUES (1, 'Ann', 'xyzzy-1');
  INSERT INTO orders VALUES (1, 'Tea', 'xyzzy-2', 5, 1, 'eve'), (2, 'Milk', 'xyzzy-3', 6, 1, 'eve');`

function makeFile (t: Test): string {
  const path = `${t.testdir()}/shop.sqlite`
  makeDatabase(SQL, path).close()
  return path
}

const HIDE = ['--hide', 'orders.phrase,people.phrase,titles.phrase', '--hide', 'orders.chief']
const BY_ROLE = [
  '--user', 'ada:secret:clerk', '--user', 'bob:a:b:clerk', '--user', 'eve:pass', '--hide', 'clerk:orders.price'
]

interface Answer {
  readonly status: number
  readonly body: string
  readonly headers: Headers
}

/** Sends a request as a user. */
type Send = (path: string, options?: RequestInit & { readonly user?: string }) => Promise<Answer>

function sendTo (url: string): Send {
  return async (path, { user = 'eve:pass', headers, ...options } = {}) => {
    const authorization = `Basic ${Buffer.from(user).toString('base64')}`
    const own = { accept: 'application/json', 'content-type': 'application/json', authorization }
    const response = await fetch(`${url.replace(/\/$/, '')}${path}`, {
      redirect: 'manual', ...options, headers: { ...own, ...headers as Record<string, string> }
    })
    return { status: response.status, body: await response.text(), headers: response.headers }
  }
}

t.test('a hidden column is in no answer', async (t) => {
  const { url, printed } = await start(t, [makeFile(t), '--write', ...HIDE])
  const send = sendTo(url)
  t.match(printed, /^ {2}\/orders +orders \(create, update, delete\)$/m)
  const paths = [
    '', '/orders', '/orders/1', '/orders/new', '/orders/1/edit', '/orders/new?_from=1', '/people', '/people/1',
    '/titles', '/orders?count=true'
  ]
  for (const path of paths) {
    for (const accept of ['text/html', 'application/json', 'application/xml', 'text/csv']) {
      const { status, body } = await send(path, { headers: { accept } })
      // Forms are pages, and the home page and one row have no CSV.
      if (accept === 'text/html' || status !== 406) t.equal(status, 200, `${path} ${accept}`)
      t.notMatch(body, /phrase|xyzzy|chief/i, `${path} ${accept}`)
    }
  }
  t.match((await send('/orders/1')).body, '{"order":{"id":1,"title":"Tea","price":5,"updated_by":"eve"}}')
  t.match((await send('/orders?q=xyzzy')).body, '{"orders":[]}')
})

t.test('a request that names a hidden column is refused as one that names an unknown column', async (t) => {
  const path = makeFile(t)
  const { url } = await start(t, [path, '--write', ...HIDE])
  const send = sendTo(url)
  for (const query of [
    '?NAME=xyzzy-2', '?NAME[in]=xyzzy-2', '?sort=NAME', '?only=NAME', '?include=chief', '?NAME[null]=true'
  ]) {
    const ask = async (name: string): Promise<string> => {
      const { status, body } = await send(`/orders${query.replace('NAME', name)}`)
      // The nearest known name depends on what was sent.
      return `${status} ${body.replace(/; did you mean [^?]*\?/, '').replaceAll(name, 'NAME')}`
    }
    t.equal(await ask('phrase'), await ask('nothing'), query)
    t.match(await ask('phrase'), /^400 /)
  }
  for (const [method, body] of [
    ['PUT', { id: 1, order: { phrase: 'x' } }],
    ['POST', { order: { title: 'New', phrase: 'x', updated_by: 'eve' } }]
  ] as const) {
    const { status, body: answer } = await send('/orders', { method, body: JSON.stringify(body) })
    t.match({ status, answer: JSON.parse(answer) }, { status: 422, answer: { errors: { phrase: ['is unknown'] } } })
  }
  // The row keeps its values, and a new one gets the default of the database.
  const body = JSON.stringify({ id: 1, order: { title: 'Coffee' } })
  t.equal((await send('/orders', { method: 'PUT', body })).status, 200)
  const create = async (): Promise<Answer> =>
    send('/orders', { method: 'POST', body: '{"order":{"title":"New","updated_by":"eve"}}' })
  t.equal((await create()).status, 201)
  // The database finds the same title and phrase.
  t.match(await create(), { status: 409, body: /"errors":\{"order":\["is already taken"\]\}/ })
  const database = makeDatabase('', path)
  t.match(database.prepare('SELECT title, phrase FROM orders WHERE id <> 2').all(), [
    { title: 'Coffee', phrase: 'xyzzy-2' }, { title: 'New', phrase: 'xyzzy-0' }
  ])
  database.close()
})

t.test('no rows are created where a new row needs a value of a hidden column', async (t) => {
  const { url, printed } = await start(t, [makeFile(t), '--write', ...HIDE])
  t.match(printed, /^ {2}\/people +people \(update, delete\)$/m)
  t.match(printed, '  people: Rows cannot be created: they need a value of "phrase", which is hidden.\n')
  const send = sendTo(url)
  t.equal((await send('/people', { method: 'POST', body: '{"person":{"name":"Bob"}}' })).status, 405)
  t.equal((await send('/people', { method: 'PUT', body: '{"id":1,"person":{"name":"Bob"}}' })).status, 200)
})

t.test('a column is hidden from a role, and other users see it', async (t) => {
  const { url } = await start(t, [makeFile(t), '--write', ...BY_ROLE])
  const send = sendTo(url)
  for (const user of ['ada:secret', 'bob:a:b']) {
    for (const accept of ['text/html', 'application/json', 'application/xml', 'text/csv']) {
      const { status, body } = await send('/orders', { user, headers: { accept } })
      t.equal(status, 200)
      t.notMatch(body, /price/i, `${user} ${accept}`)
    }
    t.equal((await send('/orders?price=5', { user })).status, 400)
    t.equal((await send('/orders', { user, method: 'PUT', body: '{"id":1,"order":{"price":1}}' })).status, 422)
    t.match((await send('/people/1', { user })).body, '"phrase":"xyzzy-1"')
  }
  t.match((await send('/orders/1')).body, '"price":5')
  for (const user of ['ada:secret:clerk', 'eve:pass:clerk', 'bob:a']) {
    t.equal((await send('/orders', { user })).status, 401)
  }
})

t.test('each write is stamped with the name of its user', async (t) => {
  const { url } = await start(t, [makeFile(t), '--write', '--stamp', 'updated_by', ...BY_ROLE])
  const send = sendTo(url)
  const stampOf = async (id: number): Promise<string> => JSON.parse((await send(`/orders/${id}`)).body).order.updated_by
  const put = { user: 'ada:secret', method: 'PUT', body: '{"id":1,"order":{"title":"Tea!","updated_by":"mallory"}}' }
  t.equal((await send('/orders', put)).status, 200)
  t.equal(await stampOf(1), 'ada')
  const created = await send('/orders', { user: 'bob:a:b', method: 'POST', body: '{"order":{"title":"Rice"}}' })
  t.match(created, { status: 201, body: '"updated_by":"bob"' })
  const many = JSON.stringify({ orders: [{ title: 'a', updated_by: 'mallory' }, { title: 'b' }] })
  t.equal((await send('/orders', { user: 'bob:a:b', method: 'POST', body: many })).status, 201)
  t.strictSame([await stampOf(4), await stampOf(5)], ['bob', 'bob'])
  const changed = '{"orders":[{"id":4,"title":"c"},{"id":5,"title":"d"}]}'
  t.equal((await send('/orders', { method: 'PUT', body: changed })).status, 200)
  t.strictSame([await stampOf(4), await stampOf(5)], ['eve', 'eve'])
  const csv = { headers: { 'content-type': 'text/csv' }, body: 'id,title,updated_by\r\n4,e,mallory\r\n' }
  t.equal((await send('/orders', { user: 'ada:secret', method: 'PUT', ...csv })).status, 200)
  t.equal(await stampOf(4), 'ada')
  t.match((await send('/orders/1/edit', { headers: { accept: 'text/html' } })).body, /^(?!.*order\[updated_by\])/s)
})

t.test('what changes nothing is not stamped', async (t) => {
  const { url } = await start(t, [makeFile(t), '--write', '--stamp', 'updated_by', '--user', 'bob:b'])
  const send = sendTo(url)
  const put = async (body: string, type: string): Promise<string> => {
    const headers = { 'content-type': type, accept: 'application/json' }
    return (await send('/orders', { user: 'bob:b', method: 'PUT', headers, body })).body
  }
  const xml = '<order><id>1</id><title>Tea</title></order>'
  t.match(await put(xml, 'application/xml'), '"updated_by":"eve"')
  t.match(await put('{"id":1,"order":{}}', 'application/json'), '"updated_by":"eve"')
  t.match(await put(xml.replace('Tea', 'Cup'), 'application/xml'), '"updated_by":"bob"')
})

t.test('a hidden column may have a stamp, and satisfies the database', async (t) => {
  const path = makeFile(t)
  const argv = ['--write', '--stamp', 'updated_by', '--hide', 'orders.updated_by', '--user', 'eve:pass']
  const send = sendTo((await start(t, [path, ...argv])).url)
  const { status, body } = await send('/orders', { method: 'POST', body: '{"order":{"title":"Rice"}}' })
  t.equal(status, 201)
  t.notMatch(body, 'updated_by')
  const database = makeDatabase('', path)
  t.match(database.prepare('SELECT updated_by FROM orders WHERE id = 3').all(), [{ updated_by: 'eve' }])
  database.close()
})

t.test('mistakes in these options end the command at its start', async (t) => {
  const path = makeFile(t)
  const clerk = ['--user', 'ada:secret:clerk']
  const hide = (text: string, ...more: readonly string[]): readonly string[] => ['--hide', text, ...more]
  const form = (text: string): string =>
    `--hide must name columns with their tables, as in --hide orders.note or --hide clerk:orders.note, not "${text}"`
  const cases: ReadonlyArray<readonly [argv: readonly string[], code: number, message: string]> = [
    [hide('orders'), 2, form('orders')],
    [hide('orders.'), 2, form('orders.')],
    [hide(':orders.price'), 2, form(':orders.price')],
    [hide('orders.price,'), 2, form('')],
    [
      hide('order.price'), 1,
      '--hide or --search has "order", which is not one of lines, orders, people, titles; did you mean "orders"?'
    ],
    [
      hide('orders.prise'), 1,
      '--hide names "prise" of the table "orders", which is not among its attributes; did you mean "price"?'
    ],
    [
      hide('lines.list price'), 1,
      '--hide names "list price" of the table "lines", which is not among its attributes; did you mean "list_price"?'
    ],
    ...[['lines.line', 'line'], ['orders.id', 'id']].map(([text = '', name]) => [
      hide(text), 1, `--hide names "${name}" of the table "${text.replace(/\..*/, '')}", which cannot be hidden, ` +
        'because the paths of its rows have its value.'
    ] as const),
    [
      hide('clerk:orders.prise', ...clerk), 1, '--hide: resource "orders" has "clerk", which names "prise", which is ' +
        'not among the attributes declared; did you mean "price"?'
    ],
    [
      hide('clerk:orders.title', '--write', ...clerk), 1, '--hide: resource "orders" has "clerk", which may create, ' +
        'but cannot give "title", which is required; give its column a default, or hide it from everybody.'
    ],
    [
      hide('clerk:orders.price'), 2,
      '--hide names the role "clerk", which no --user has, as in --user ann:secret:clerk'
    ],
    [
      hide('clerk:orders.price', ...clerk, '--user', 'bob:secret:word'), 2,
      '--user "bob" has a colon in its password, or a role that no --hide names: clerk'
    ],
    [
      hide('clerk:orders.price', ...clerk, '--user', 'bob::clerk'), 2,
      '--user must be a name and a password, as in --user ann:secret'
    ],
    [['--user', 'ann'], 2, '--user must be a name and a password, as in --user ann:secret'],
    [['--user', 'ann:a', '--user', 'ann:b'], 2, '--user names "ann" twice. Give each user one password.'],
    [
      ['--stamp', 'updated_by', '--write'], 2,
      '--stamp needs --user NAME:PASSWORD, because it sets columns to the name of the user.'
    ],
    [
      ['--stamp', 'updated_by', '--user', 'ann:a'], 2, '--stamp needs --write, because without it nothing is written.'
    ],
    [
      ['--stamp', 'updatedby', '--user', 'ann:a', '--write'], 1,
      '--stamp names "updatedby", which no table has; did you mean "updated_by"?'
    ],
    [
      ['--stamp', 'price', '--user', 'ann:a', '--write'], 1,
      '--stamp names "price" of the table "orders", where it is not a text that can be written.'
    ]
  ]
  for (const [argv, code, message] of cases) {
    t.same(await end([path, ...argv]), { code, printed: '', complained: `${message}\n` }, argv.join(' '))
  }
})

t.test('--print prints a program that hides and stamps the same', async (t) => {
  const path = makeFile(t)
  const argv = ['--write', '--stamp', 'updated_by', '--port', '0', ...HIDE, ...BY_ROLE]
  const { printed } = await end([path, '--print', ...argv])
  t.notMatch(printed, /secret|a:b|pass'/)
  const { outputText } = ts.transpileModule(printed, { compilerOptions: { module: ts.ModuleKind.ESNext } })
  const file = writeProgram(t, 'printed-access', outputText)
  const program = await startProgram(t, file, {
    environment: { DATABASE_USER: 'ada:secret\nbob:a:b\neve:pass\n' }
  })
  const send = sendTo(program.line)
  const put = { user: 'bob:a:b', method: 'PUT', body: '{"id":1,"order":{"title":"Cup"}}' }
  t.equal((await send('/orders', put)).body, '{"order":{"id":1,"title":"Cup","updated_by":"bob"}}')
  t.equal((await send('/orders/2')).body, '{"order":{"id":2,"title":"Milk","price":6,"updated_by":"eve"}}')
  for (const user of ['ada:pass', '']) t.equal((await send('/orders/2', { user })).status, 401, user)
})
