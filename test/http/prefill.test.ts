import t from 'tap'
import { memoryStore, type ResourceOptions, type Store, type View } from '../../lib/index.js'
import { draft } from '../support/helper.js'
import { fill, type Filled, findButton, findForm, submit } from '../support/html/forms.js'
import { recordingStore } from '../support/stores/recording-store.js'

const person = { type: 'object', properties: { name: { type: 'string' } } } as const
const task = {
  type: 'object',
  required: ['title'],
  properties: {
    title: { type: 'string', maxLength: 9 },
    personId: { type: ['integer', 'null'], minimum: 1 },
    bossId: { type: 'integer', readOnly: true },
    hours: { type: 'number', default: 1.5 },
    cost: { type: 'string', format: 'decimal', precision: 6, scale: 2 },
    due: { type: 'string', format: 'date' },
    open: { type: 'boolean', default: true },
    level: { enum: ['low', 'high'], type: 'string' },
    code: { type: 'string', writeOnly: true },
    made: { type: 'string', readOnly: true },
    tags: { type: 'array', items: { type: 'string' } },
    format: { type: 'string' }
  }
} as const

type Options = Omit<ResourceOptions, 'name' | 'as' | 'prefix'>
type App = Awaited<ReturnType<typeof draft>>

const NEW = { formPages: true } as const

async function start (t: Parameters<typeof draft>[0], options: Options = NEW, store: Store = recordingStore([{ title: 'T', personId: 1, bossId: 1, tenant: 'a' }])): Promise<App> {
  return draft(t, (map) => {
    map.resources('people', { attributes: person, store: recordingStore([{ name: 'Ann' }]) })
    map.resources('tasks', { attributes: task, store, references: { personId: 'people', bossId: 'people' }, ...(options as object) })
  })
}

/** Returns the values with which the fields of the form for a new row begin. */
async function fieldsOn (app: App, url: string, headers: Record<string, string> = {}): Promise<Record<string, string>> {
  const { body, statusCode } = await app.inject({ url, headers: { accept: 'text/html', ...headers } })
  const form = /<form [^>]*action="\/tasks"(?:(?!<\/form>)[^])*name="task\[(?:(?!<\/form>)[^])*/.exec(body)?.[0] ?? ''
  const inputs = [...form.matchAll(/<input (?=[^>]*name="task\[([a-zA-Z]+)\]")(?=[^>]*\bvalue="([^"]*)")(?![^>]*type="(?:hidden|radio|checkbox)")[^>]*>/g)]
  const checked = [...form.matchAll(/<input (?=[^>]*name="task\[([a-zA-Z]+)\]")(?=[^>]*\bvalue="([^"]*)")(?=[^>]*checked)[^>]*>/g)]
  const texts = [...form.matchAll(/<textarea [^>]*name="task\[([a-zA-Z]+)\]"[^>]*>([^<]*)</g)]
  const selected = [...form.matchAll(/<select [^>]*name="task\[([a-zA-Z]+)\]"(?:(?!<\/select>)[^])*<option value="([^"]*)" selected/g)]
  return { ...(statusCode !== 200 && { status: String(statusCode) }), ...Object.fromEntries([...inputs, ...checked, ...texts, ...selected].map(([, name = '', value = '']) => [name, value.trim()]).filter(([, value]) => value !== '')) }
}

const QUERY = 'title=Tea%20%3C&personId=7&hours=2&cost=9.50&due=2024-02-29&open=false&level=high'

t.test('the query fills in the form for a new row, and its record in XML and JSON', async (t) => {
  const app = await start(t)
  t.strictSame((await app.inject(`/tasks/new.json?${QUERY}`)).json(), { task: { title: 'Tea <', personId: 7, hours: 2, cost: '9.50', due: '2024-02-29', open: false, level: 'high' } })
  t.strictSame((await app.inject(`/tasks/new?${QUERY}&format=json`)).json().task.personId, 7)
  t.match((await app.inject(`/tasks/new.xml?${QUERY}`)).body, '<title>Tea &lt;</title><personId type="integer">7</personId>')
  t.strictSame(await fieldsOn(app, `/tasks/new?${QUERY}`), { title: 'Tea &lt;', personId: '7', hours: '2', cost: '9.50', due: '2024-02-29', level: 'high' }, 'the box is not ticked')
  t.strictSame(await fieldsOn(app, '/tasks/new'), { hours: '1.5', open: 'true' }, 'the next form has the defaults')
  t.strictSame((await app.inject('/tasks/new.json')).json(), { task: { hours: 1.5, open: true } })
  t.strictSame(await fieldsOn(app, '/tasks/new?personId='), { hours: '1.5', open: 'true' }, 'a blank text is null, where the schema allows it')
  t.strictSame((await app.inject('/tasks/new.json?personId=')).json().task.personId, null)
})

t.test('a refused value is a 400 that names the parameter, in the format of the client', async (t) => {
  const app = await start(t)
  const cases: ReadonlyArray<readonly [string, string]> = [
    ['personId=x', '"personId" must be an integer or null'],
    ['personId=0', 'PersonId must be at least 1'],
    ['title=much%20too%20long', 'Title must have at most 9 characters'],
    ['title=%00', '"title" must not contain U+0000, U+FFFF or unpaired surrogates, which cannot be stored'],
    ['hours=', '"hours" must be a number'],
    ['cost=1.234', 'Cost must'],
    ['due=2023-02-29', 'Due must'],
    ['level=middle', 'Level must'],
    ['title=a&title=b', 'the parameter "title" must be given once'],
    ...['bossId', 'made', 'code', 'tags', 'id', 'nothing', 'title[not]'].map((name) => [`${name}=1`, `the parameter "${name}" is unknown`] as const),
    ['format=nothing', 'there is no format "nothing"']
  ]
  for (const [query, reason] of cases) {
    const { statusCode, body } = await app.inject({ url: `/tasks/new?${query}`, headers: { accept: 'application/json' } })
    t.equal(statusCode, query === 'format=nothing' ? 406 : 400, query)
    t.match(JSON.parse(body).detail.toLowerCase().replaceAll('"', ''), reason.toLowerCase().replaceAll('"', ''), query)
  }
  t.match((await app.inject({ url: '/tasks/new?personId=x', headers: { accept: 'application/xml' } })).body, 'must be an integer or null')
  const page = await app.inject({ url: '/tasks/new?personId=x', headers: { accept: 'text/html' } })
  t.equal(page.statusCode, 400)
  t.match(page.body, 'must be an integer or null')
})

t.test('links to a new row lead to a form with the reference', async (t) => {
  const apart = await start(t)
  const linkOn = async (app: App, url: string): Promise<string | undefined> =>
    />New task<\/a>/.test((await app.inject({ url, headers: { accept: 'text/html' } })).body)
      ? [...(await app.inject({ url, headers: { accept: 'text/html' } })).body.matchAll(/href="([^"]*)"[^>]*>New task<\/a>/g)].map(([, href]) => href).join(' ')
      : undefined
  t.equal(await linkOn(apart, '/people/1'), '/tasks/new?personId=1 /tasks/new', 'a query has no attribute that is readOnly')
  t.equal((await fieldsOn(apart, '/tasks/new?personId=1')).personId, '1')
  t.equal(await linkOn(apart, '/tasks?personId=1'), '/tasks/new?personId=1')
  t.equal(await linkOn(apart, '/tasks?personId='), '/tasks/new?personId=')
  for (const query of ['', '?title=T', '?personId[gte]=1', '?bossId=1', '?personId=x']) t.equal(await linkOn(apart, `/tasks${query}`), '/tasks/new', query)
  const within = await start(t, {})
  t.equal(await linkOn(within, '/people/1'), '/tasks?personId=1#new /tasks?bossId=1#new')
  t.equal((await fieldsOn(within, '/tasks?personId=1')).personId, '1')
  t.equal((await fieldsOn(within, '/tasks?title=T&personId=1&limit=1')).personId, '1', 'beside other parameters')
  for (const query of ['', '?title=T', '?personId[in]=1', '?bossId=1']) t.strictSame(await fieldsOn(within, `/tasks${query}`), { hours: '1.5', open: 'true' }, query)
  t.equal((await fieldsOn(within, '/tasks?personId=x')).personId, undefined, 'a refused condition')
})

t.test('the scope of the request decides about its attributes', async (t) => {
  const scope = (): { personId: number } => ({ personId: 3 })
  const apart = await start(t, { ...NEW, scope })
  t.strictSame((await apart.inject('/tasks/new.json?personId=4&title=T')).json(), { task: { title: 'T', hours: 1.5, open: true } })
  t.strictSame(await fieldsOn(apart, '/tasks/new?personId=4'), { hours: '1.5', open: 'true' })
  const within = await start(t, { scope })
  t.strictSame(await fieldsOn(within, '/tasks?personId=3'), { hours: '1.5', open: 'true' })
  const refused = await start(t, { ...NEW, authorize: (_request, { action }) => action !== 'new' })
  t.equal((await refused.inject('/tasks/new.json?personId=x')).statusCode, 403, 'before the query is read')
})

t.test('a form that is opened so changes nothing before it is sent, and keeps what was typed', async (t) => {
  const store = recordingStore([{ title: 'T', personId: 1 }])
  const app = await start(t, NEW, store)
  for (const url of [`/tasks/new.html?${QUERY}`, `/tasks/new.json?${QUERY}`]) await app.inject(url)
  t.strictSame(store.calls, [])
  const send = async (payload: string): Promise<{ readonly statusCode: number, readonly body: string }> =>
    app.inject({ method: 'POST', url: '/tasks', headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'text/html' }, payload })
  const refused = await send('task[title]=much too long&task[personId]=5')
  t.equal(refused.statusCode, 422)
  t.match(refused.body, /<select [^>]*name="task\[personId\]"[^]*?<option value="5" selected="selected">/)
  t.equal((await send('task[title]=Tea&task[personId]=5')).statusCode, 303)
  t.match((await app.inject('/tasks/2.json')).json(), { task: { title: 'Tea', personId: 5 } })
})

t.test('lists of custom actions fill in no form, and formats of the app get the values', async (t) => {
  const seen: Array<View['prefilled']> = []
  const txt = { name: 'txt', mediaTypes: ['text/plain'], compileWriter: () => ({ page: (_rows: unknown, { prefilled }: View) => { seen.push(prefilled); return 'list' }, record: (_row: unknown, { prefilled }: View) => { seen.push(prefilled); return 'row' }, problem: () => '' }) }
  const app = await draft(t, (map) => {
    map.resources('people', { attributes: person })
    map.resources('tasks', { attributes: task, store: memoryStore(), references: { personId: 'people' }, formPages: true, formats: ['html', txt] as never }, (tasks) =>
      tasks.collection.get('late', { query: { type: 'object', properties: { personId: { type: 'string' } } } }, () => ({ kind: 'listed', rows: [] })))
  })
  for (const url of ['/tasks.txt?personId=2', '/tasks/late.txt?personId=me', '/tasks/new.txt?title=T']) t.equal((await app.inject(url)).statusCode, 200, url)
  t.strictSame(seen, [{ personId: 2 }, {}, { title: 'T' }])
})

t.test('without a schema, there is nothing to fill in', async (t) => {
  const app = await draft(t, (map) => map.resources('tasks', { formPages: true, store: memoryStore() }))
  t.equal((await app.inject('/tasks/new.json?title=T')).statusCode, 400)
  t.equal((await app.inject('/tasks/new.json')).statusCode, 200)
})

t.test('"Save and add another" keeps the references with which the form began', async (t) => {
  const cases: ReadonlyArray<readonly [options: Options, opened: string, filled: Filled, location: string]> = [
    [NEW, '/tasks/new?personId=7', {}, '/tasks/new?personId=7#created'],
    [NEW, '/tasks/new?personId=7', { 'task[personId]': '1' }, '/tasks/new?personId=1#created'],
    [NEW, '/tasks/new?personId=7', { 'task[personId]': '' }, '/tasks/new#created'],
    [NEW, '/tasks/new?title=T&hours=2', {}, '/tasks/new#created'],
    [NEW, '/tasks/new', { 'task[personId]': '1' }, '/tasks/new#created'],
    [{}, '/tasks?personId=7', {}, '/tasks?personId=7#added'],
    [{ filter: [] }, '/tasks', { 'task[personId]': '1' }, '/tasks#added'],
    [{}, '/tasks', {}, '/tasks#added']
  ]
  for (const [options, opened, filled, location] of cases) {
    const app = await start(t, options, memoryStore())
    const page = findForm(await app.inject({ url: opened, headers: { accept: 'text/html' } }), 'POST')
    // The form comes back once, because its title is too long.
    const refused = await app.inject(submit(fill(page, { ...filled, 'task[title]': 'far too long' }), undefined, { accept: 'text/html' }))
    t.equal(refused.statusCode, 422)
    const form = fill(findForm(refused, 'POST'), { 'task[title]': 'Tea' })
    const { statusCode, headers } = await app.inject(submit(form, findButton(form, 'commit'), { accept: 'text/html' }))
    t.strictSame([statusCode, headers.location], [303, location], opened)
    t.equal((await app.inject({ url: location.replace(/#.*/, ''), headers: { accept: 'text/html' } })).statusCode, 200)
  }
  for (const [options, again, location] of [[NEW, 'title personId made nope', '/tasks/new?personId=7#created'], [{ filter: [] }, 'personId', '/tasks#added']] as const) {
    const app = await start(t, options, memoryStore())
    const { headers } = await app.inject({ method: 'POST', url: '/tasks', headers: { accept: 'text/html', 'content-type': 'application/x-www-form-urlencoded' }, payload: `task[title]=T&task[personId]=7&commit=another&task[?][again]=${again.replaceAll(' ', '+')}` })
    t.equal(headers.location, location, 'invented names are left out')
  }
})

t.test('"Save and add another" leads on where no blank form is, and needs no row', async (t) => {
  const cases: ReadonlyArray<readonly [options: Options, location: string]> = [
    [{ only: ['create', 'show'] }, '/tasks/1#created'],
    [{ actions: { create: () => undefined } }, '/tasks#added'],
    [{ ...NEW, actions: { create: () => undefined } }, '/tasks/new#created']
  ]
  for (const [options, location] of cases) {
    const app = await start(t, options, memoryStore())
    const { statusCode, headers } = await app.inject({ method: 'POST', url: '/tasks', headers: { accept: 'text/html', 'content-type': 'application/x-www-form-urlencoded' }, payload: 'task[title]=T&task[personId]=7&commit=another&task[?][again]=personId' })
    t.strictSame([statusCode, headers.location], [303, location], JSON.stringify(options))
  }
})
