import type { Call } from '../in-process.js'
import { makePost } from '../posts.js'
import { ID } from './request.js'

export type ServerName = 'ours' | 'hand' | 'ours on SQLite' | 'hand on SQLite' | 'plain' | 'plain on SQLite' | 'limit' | 'xmlbuilder2' | 'fast-xml-parser' | 'express' | 'feathers'

/** One way to answer one call. */
export interface Contender {
  readonly name: string
  readonly server: ServerName
  readonly call: Call
  /** Creates the rows that the call deletes. It is not measured. */
  readonly fill?: Call | undefined
  /** The least ratio to the first contender of the cell. */
  readonly target?: number | undefined
}

/** Contenders that are compared with the first one. */
export interface Cell {
  readonly name: string
  readonly contenders: readonly [Contender, ...Contender[]]
}

/** The least ratios by cell and contender, e.g. `show JSON: ours`. */
export const TARGETS: Readonly<Record<string, number>> = {
  'show JSON: ours': 0.97,
  'show XML: ours': 0.97,
  'show HTML: ours': 0.97,
  'list of 20 JSON: ours': 0.97,
  'list of 20 XML: ours': 0.97,
  'list of 20 HTML: ours': 0.97,
  'list of 1,000 JSON: ours': 0.95,
  'list of 1,000 XML: ours': 0.95,
  'create JSON: ours': 0.93,
  'update JSON: ours': 0.93,
  'delete JSON: ours': 0.93,
  'create XML: ours': 0.8,
  'create XML beside libraries: ours': 1.5,
  '304: ours': 1,
  '412: ours': 1
}

/** The least ratio of a store in SQLite to handwritten routes that do the same work. */
const SQLITE_TARGET = 0.9

const json = 'application/json'
const xml = 'application/xml'
const html = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8'

const show = (accept: string, headers = {}): Call => ({ method: 'GET', url: '/posts/7', headers: { accept, ...headers } })
const list = (accept: string, query = '?limit=20'): Call => ({ method: 'GET', url: `/posts${query}`, headers: { accept } })
const send = (method: string, body: string, type = json, headers = {}): Call => ({ method, url: '/posts', headers: { accept: type, 'content-type': type, ...headers }, body })

const { title, body, published, rating } = makePost(1003)
const change = { title: makePost(77).title, rating: 3 }
const create = send('POST', JSON.stringify({ post: { title, body, published, rating } }))
const createXml = send('POST', `<post><title>${title}</title><body>${body}</body><published type="boolean">${published}</published><rating type="integer">${rating}</rating></post>`, xml)
const update = send('PUT', JSON.stringify({ id: 9, post: change }))
const remove = send('DELETE', `{"id":${ID}}`)
const stale = send('PUT', JSON.stringify({ id: 8, post: change }), json, { 'if-match': '"77.json"' })

/** The body that Feathers expects, without a group around it. */
const featherCreate = { ...create, body: JSON.stringify({ title, body, published, rating }) }
const featherUpdate = { ...update, method: 'PATCH', url: '/posts/9', body: JSON.stringify(change) }
const featherRemove: Call = { method: 'DELETE', url: `/posts/${ID}`, headers: { accept: json } }

function named (name: string, contenders: readonly Contender[]): Cell {
  const aimed = contenders.map((contender) => ({ ...contender, target: TARGETS[`${name}: ${contender.name}`] }))
  return { name, contenders: aimed as readonly Contender[] as Cell['contenders'] }
}

const withCall = (call: Call, servers: readonly ServerName[], fill?: Call): Contender[] => servers.map((server) => ({ name: server, server, call, fill: server === 'limit' ? undefined : fill }))
const feathers = (call: Call, fill?: Call): Contender => ({ name: 'feathers', server: 'feathers', call, fill })
const ejs = (call: Call): Contender => ({ name: 'ejs', server: 'fast-xml-parser', call })

const ALL: readonly ServerName[] = ['hand', 'ours', 'limit', 'express']
const XML: readonly ServerName[] = [...ALL, 'xmlbuilder2', 'fast-xml-parser']
const PAGES: readonly ServerName[] = ['hand', 'ours', 'limit']
const LONG: readonly ServerName[] = ['hand', 'ours', 'limit']

/** Compares stores in SQLite with handwritten routes on better-sqlite3. */
const onSqlite = (name: string, call: Call): Cell => ({
  name: `SQLite: ${name}`,
  contenders: [{ name: 'hand', server: 'hand on SQLite', call }, { name: 'ours', server: 'ours on SQLite', call, target: SQLITE_TARGET }]
})

/** Compares one call of ours with another one. */
const beside = (name: string, call: Call, base: string, baseCall: Call): Cell =>
  named(name, [{ name: base, server: 'ours', call: baseCall }, { name: 'ours', server: 'ours', call }])

/** The cells whose rows are in memory. */
export const memoryCells: readonly Cell[] = [
  named('show JSON', [...withCall(show(json), ALL), feathers(show(json))]),
  named('show XML', withCall(show(xml), XML)),
  named('show HTML', [...withCall(show(html), PAGES), ejs(show(html))]),
  named('list of 20 JSON', [...withCall(list(json), ALL), feathers(list(json, '?$limit=20'))]),
  named('list of 20 XML', withCall(list(xml), XML)),
  named('list of 20 HTML', [...withCall(list(html), PAGES), ejs(list(html))]),
  named('list of 1,000 JSON', withCall(list(json, ''), LONG)),
  named('list of 1,000 XML', withCall(list(xml, ''), [...LONG, 'fast-xml-parser'])),
  named('create JSON', [...withCall(create, ALL), feathers(featherCreate)]),
  named('update JSON', [...withCall(update, ALL), feathers(featherUpdate)]),
  named('delete JSON', [...withCall(remove, ALL, create), feathers(featherRemove, featherCreate)]),
  beside('create XML', createXml, 'our create JSON', create),
  named('create XML beside libraries', withCall(createXml, ['fast-xml-parser', 'xmlbuilder2', 'ours'])),
  beside('304', show(json, { 'if-none-match': '*' }), 'our show JSON', show(json)),
  beside('412', stale, 'our show JSON', show(json))
]

/** The cells whose rows are in a file of SQLite. */
export const sqliteCells: readonly Cell[] = [
  onSqlite('show JSON', show(json)),
  onSqlite('show XML', show(xml)),
  onSqlite('list of 20 JSON', list(json)),
  onSqlite('list of 20 XML', list(xml)),
  onSqlite('list of 1,000 JSON', list(json, '')),
  onSqlite('list of 1,000 XML', list(xml, '')),
  onSqlite('create JSON', create),
  onSqlite('update JSON', update)
]

/** The least ratios to plain routes, by the work. */
const PLAIN_TARGETS = { show: 0.97, list: 0.95, write: 0.9, sqlite: 0.9 } as const

/** Compares the plugin with the routes that a Fastify user would write instead, which answer less. */
function besidePlain (work: string, kind: keyof typeof PLAIN_TARGETS, own: Call, plain: Call = own): Cell[] {
  return ['', ' on SQLite'].map((place) => ({
    name: `${place === '' ? '' : 'SQLite: '}${work} beside plain`,
    contenders: [
      { name: 'plain', server: `plain${place}` as ServerName, call: plain },
      { name: 'ours', server: `ours${place}` as ServerName, call: own, target: PLAIN_TARGETS[place === '' ? kind : 'sqlite'] }
    ]
  }))
}

const asXml = (call: Call): Call => ({ ...call, url: `/xml${call.url}` })

export const plainCells: readonly Cell[] = [
  ...besidePlain('show JSON', 'show', show(json)),
  ...besidePlain('show XML', 'show', show(xml), asXml(show(xml))),
  ...besidePlain('list of 20 JSON', 'list', list(json)),
  ...besidePlain('list of 20 XML', 'list', list(xml), asXml(list(xml))),
  ...besidePlain('list of 1,000 JSON', 'list', list(json, '')),
  ...besidePlain('list of 1,000 XML', 'list', list(xml, ''), asXml(list(xml, ''))),
  ...besidePlain('create JSON', 'write', create),
  ...besidePlain('update JSON', 'write', update)
]

export const cells: readonly Cell[] = [...memoryCells, ...sqliteCells, ...plainCells]
