import fc from 'fast-check'
import fastify, { type FastifyInstance, type FastifyRequest, type InjectOptions } from 'fastify'
import {
  type Attributes, type AttributesSchema, BY_ID, type Context, draw, type MapPlugin, memoryStore,
  type MemoryStoreOptions, type Query, type Store, type Stores
} from '../../lib/index.js'

const reference = { type: ['integer', 'null'] } as const

/** The attributes of the resources. `hiddenOf` has those that a role does not see. */
export const SCHEMAS = {
  people: {
    type: 'object',
    required: ['name', 'grade'],
    properties: {
      name: { type: 'string' },
      city: { type: ['string', 'null'], enum: ['Ulm', 'Jena', null] },
      email: { type: 'string' },
      teamId: reference,
      grade: { type: 'integer', default: 3 },
      salary: { type: ['integer', 'null'] },
      memo: { type: ['string', 'null'] },
      bossId: reference,
      owner: { type: 'string' },
      extra: { type: 'object', properties: { a: { type: 'string' }, b: { type: 'array', items: { type: 'integer' } } } }
    }
  },
  teams: {
    type: 'object',
    properties: { title: { type: 'string' }, memo: { type: ['string', 'null'] }, salary: reference, bossId: reference }
  },
  notes: {
    type: 'object',
    properties: { text: { type: 'string' }, memo: { type: ['string', 'null'] }, bossId: reference, salary: reference }
  }
} as const satisfies Readonly<Record<string, AttributesSchema>>

export type Name = keyof typeof SCHEMAS
export const NO_CONTEXT: Context = { signal: new AbortController().signal }
export const ALL: Query =
  { order: BY_ID, after: undefined, limit: undefined, scope: {}, filter: [], search: undefined }

const NAMES = Object.keys(SCHEMAS) as readonly Name[]

const LACKS = {
  people: {
    admin: {},
    clerk: { hidden: ['salary', 'memo', 'bossId', 'grade', 'extra'], readOnly: ['owner'] },
    guest: { visible: ['name', 'city'] }
  },
  teams: { admin: {}, clerk: { hidden: ['salary', 'memo', 'bossId'] }, guest: { visible: ['title'] } },
  notes: {
    admin: {},
    clerk: { hidden: ['salary', 'memo', 'bossId'] },
    guest: {
      visible: ['text'],
      readOnly: ['text']
    }
  }
} as const

/** The roles of the requests that are compared. */
export const ROLES = ['clerk', 'guest', 'clerk,guest'] as const
export type Role = (typeof ROLES)[number]

export function hiddenOf (role: Role, name: Name): readonly string[] {
  const hidden: readonly string[] = LACKS[name].clerk.hidden
  if (role !== 'guest') return hidden
  const visible: readonly string[] = LACKS[name].guest.visible
  return Object.keys(SCHEMAS[name].properties).filter((attribute) => !visible.includes(attribute))
}

const TEXTS = ['green tea', 'Secret', '', 'a,b', '%']
const NUMBERS = [0, 5, -1, 7_000_000]

/** The hidden value of an attribute, in one world or the other. */
function hide (attribute: string, name: Name, index: number, isOther: boolean): unknown {
  const schemas: Readonly<Record<string, { readonly type: string | readonly string[] }>> = SCHEMAS[name].properties
  const types = [schemas[attribute]?.type ?? []].flat()
  const place = isOther ? index * 3 + 1 : index
  if (attribute === 'email') return `${isOther ? 'x' : 'y'}${index}`
  if (types.includes('object')) return isOther ? { a: 'other' } : { a: 'one', b: [index] }
  if (types.includes('null') && place % 4 === 0) return null
  return types.includes('integer') ? NUMBERS[place % NUMBERS.length] : TEXTS[place % TEXTS.length]
}

export function makeRow (name: Name, index: number, hidden: readonly string[], isOther: boolean): Attributes {
  const known: Attributes = {
    people: {
      name: `Ann ${index % 3}`,
      city: index % 2 === 0 ? 'Ulm' : null,
      email: `a${index}@b`,
      teamId: index % 4 + 1,
      grade: 1,
      salary: index,
      memo: 'm',
      bossId: index % 5 + 1,
      owner: 'ada',
      extra: { a: 'x', b: [1, 2] }
    },
    teams: { title: `Team ${index}`, memo: 'tea', salary: 2, bossId: index % 3 + 1 },
    notes: { text: `tea ${index}`, memo: 'x', personId: index % 4 + 1, bossId: index % 4 + 1, salary: 1 }
  }[name]
  return {
    ...known,
    ...Object.fromEntries(hidden.map((attribute, at) =>
      [attribute, hide(attribute, name, index + at, isOther)]))
  }
}

export interface World {
  readonly app: FastifyInstance
  readonly stores: Readonly<Record<Name, Store>>
}

export type MakeStore = (name: Name, options: MemoryStoreOptions & { attributes: AttributesSchema }) => Store

/** The user of a request. */
export type User = Pick<FastifyRequest, 'headers'>

/** Lets clients send writes with keys. */
export const KEYED = { idempotency: { principal: ({ headers }: User) => String(headers['x-role']) } }

/** Draws the resources of a world. */
export function drawWorld (shared: object, own: (name: Name) => object, stores?: Stores): MapPlugin {
  return draw((map) => map.scope({
    formats: ['json', 'xml', 'html', 'csv'],
    writes: 'both',
    xsd: true,
    ...shared
  }, (scope) => {
    scope.resources('people', {
      attributes: SCHEMAS.people,
      references: { bossId: 'people', teamId: 'teams' },
      formPages: true,
      html: { columns: ['name', 'salary', 'memo'], import: true },
      sort: ['name', 'salary', 'grade'],
      ...own('people')
    }, (people) => {
      people.resources('notes', { attributes: SCHEMAS.notes, references: { bossId: 'people' }, ...own('notes') })
      people.member.get('peek', ({ row }) => row())
      people.member.post('touch', (context) =>
        context.store.update(context.id, context.attributes, context.guard, context))
      people.collection.get('top', (context) =>
        context.store.list({ ...ALL, limit: 3, scope: context.scope }, context))
    })
    scope.resources('teams', {
      attributes: SCHEMAS.teams, references: { bossId: 'people' }, html: { title: 'memo' }, ...own('teams')
    })
  }), stores === undefined ? {} : { stores })
}

/** Opens a world, whose rows have other values in the attributes that a role does not see than those of the other. */
export async function openWorld (seenBy: Role, isOther: boolean, make?: MakeStore): Promise<World> {
  const makeOne: MakeStore = make ?? ((_name, { unique }) => memoryStore({ unique: unique ?? [] }))
  const stores = Object.fromEntries(NAMES.map((name) => {
    const own = SCHEMAS[name]
    const attributes = name === 'notes' ? { ...own, properties: { ...own.properties, personId: reference } } : own
    return [name, makeOne(name, { attributes, unique: name === 'people' ? ['email'] : [] })]
  })) as World['stores']
  const app = fastify({ routerOptions: { maxParamLength: 300 } })
  const role = ({ headers }: User): readonly string[] => String(headers['x-role']).split(',')
  const shared = { role, ...(make === undefined && KEYED) }
  app.register(drawWorld(shared, (name) => ({ store: stores[name], roles: LACKS[name] })))
  await app.ready()
  // A store makes its table when the app gets ready.
  for (const name of NAMES) {
    for (let index = 0; index < 8; index++) {
      await stores[name].create(makeRow(name, index, hiddenOf(seenBy, name), isOther), {}, NO_CONTEXT)
    }
  }
  return { app, stores }
}

const words = fc.constantFrom('Ann', 'Ann 1', 'tea', 'Ulm', '', '5', '-1', 'true', 'Secret', '2', 'y3', 'a,b')
const values = fc.oneof(words, fc.constantFrom(0, 1, 2, 5, -1, 99, null, true), fc.constantFrom({ a: 'x' }, [1],
  { b: null }))
const attributes = fc.constantFrom(
  ...new Set(NAMES.flatMap((name) => Object.keys(SCHEMAS[name].properties))), 'id', 'sallary', 'personId',
  'nothing', '_version', 'deletedAt')
/** Attributes of any names. */
const wild = fc.dictionary(attributes, values, { maxKeys: 4, noNullPrototype: true })
const text = fc.constantFrom('Ann', 'Ann 1', 'tea', 'Bea')
/** Attributes that many roles may send. */
const likely: Readonly<Record<string, fc.Arbitrary<Readonly<Record<string, unknown>>>>> = {
  person: fc.record({
    name: text,
    city: fc.constantFrom('Ulm', null),
    email: fc.constantFrom('y1', 'y3', 'new@b'),
    teamId: fc.constantFrom(1, 2)
  }, { requiredKeys: ['name'] }),
  team: fc.record({ title: text }),
  note: fc.record({ text }, { requiredKeys: [] })
}
/** The path of a list without its first slash, and the singular name of its rows. */
type Path = readonly [path: string, singular: string]
const PATHS: readonly Path[] = [
  ['people', 'person'], ['people', 'person'], ['teams', 'team'], ['people/1/notes', 'note'], ['people/2/notes', 'note']
]
const ids = fc.constantFrom('1', '1', '2', '2', '3', '4', '5', '6', '8', '9', '10', '99', 'x')
const formats = fc.constantFrom(...Array.from({ length: 12 }, () => ''), '.json', '.xml', '.html', '.csv', '.xsd')
const accepts = fc.constantFrom('application/json', 'application/xml', 'text/html', 'text/csv', '*/*')
const operators = fc.constantFrom('', '[gte]', '[lt]', '[not]', '[in]', '[null]', '[contains]', '[starts]', '[x]')

const parameter: fc.Arbitrary<[string, string]> = fc.oneof(
  fc.tuple(fc.tuple(attributes, operators).map((parts) => parts.join('')), words),
  fc.tuple(fc.constant('sort'), fc.tuple(fc.constantFrom('', '-'), attributes).map((parts) => parts.join(''))),
  fc.tuple(fc.constantFrom('only', 'match', 'filter[by]', 'blank', 'sum'), attributes),
  fc.tuple(fc.constant('include'), fc.constantFrom(
    'boss', 'team', 'notes', 'boss,notes', 'team,notes', 'deleted_notes', 'notes,deleted_notes')),
  fc.tuple(fc.constantFrom('q', 'filter[value]', 'after', 'before'), words),
  fc.tuple(fc.constantFrom('limit', 'offset', 'id', 'ids', '_from'), fc.constantFrom('1', '2', '3', '1,2')),
  fc.tuple(fc.constantFrom('count', 'dry_run', 'create'), fc.constant('true'))
)
function makeQueries (weight: number): fc.Arbitrary<string> {
  return fc.oneof(
    { weight, arbitrary: fc.constant<Array<[string, string]>>([]) },
    { weight: 2, arbitrary: fc.tuple(parameter) },
    { weight: 1, arbitrary: fc.uniqueArray(parameter, { maxLength: 3, selector: ([name]) => name }) }
  ).map((pairs) => pairs.length === 0 ? '' : `?${new URLSearchParams(pairs).toString()}`)
}

/** The queries of lists, and of other requests, which take few parameters. */
const queries = { list: makeQueries(2), other: makeQueries(8) }

const headers = fc.record({
  accept: accepts,
  ifMatch: fc.constantFrom(...Array.from({ length: 9 }, () => undefined), 'last', '*', '"1.json"'),
  isNone: fc.boolean(),
  key: fc.constantFrom(undefined, undefined, ...Array.from({ length: 40 }, (_, index) => `k${index}`)),
  isTwice: fc.constantFrom(false, false, true)
})

interface Body { readonly type: string, readonly payload: string }

function toXml (name: string, value: unknown): string {
  if (typeof value !== 'object' || value === null) {
    return `<${name}>${value === null ? '' : String(value).replaceAll('<', '&lt;')}</${name}>`
  }
  if (Array.isArray(value)) return `<${name} type="array">${value.map((one) => toXml('item', one)).join('')}</${name}>`
  return `<${name}>${Object.entries(value).map(([key, one]) => toXml(key, one)).join('')}</${name}>`
}

function toCsv (rows: ReadonlyArray<Readonly<Record<string, unknown>>>): string {
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))]
  const write = (value: unknown): string => `"${value == null ? '' : String(value).replaceAll('"', '""')}"`
  return [columns, ...rows.map((row) => columns.map((column) => row[column]))]
    .map((row) => row.map(write).join(',')).join('\r\n')
}

/** Returns bodies with these attributes: in each format, of one row and of several. */
function bodiesOf ([plural, singular]: readonly [string, string], id: string, method: string): fc.Arbitrary<Body> {
  const many = plural.split('/').at(-1) as string
  const own = Number(id) || id
  const group = fc.oneof({ weight: 1, arbitrary: wild }, { weight: 2, arbitrary: likely[singular] ?? wild })
  if (method === 'DELETE') {
    return fc.constantFrom(
      { type: 'application/json', payload: JSON.stringify({ id: own }) },
      { type: 'application/json', payload: JSON.stringify({ id: [own, 4] }) },
      { type: 'application/xml', payload: toXml('id', own) },
      { type: 'application/x-www-form-urlencoded', payload: `id=${id}` }
    )
  }
  return fc.oneof(
    group.map((attributes) => ({
      type: 'application/json',
      payload: JSON.stringify({
        ...(method !== 'POST' && { id: own }),
        [singular]: attributes
      })
    })),
    group.map((attributes) => ({
      type: 'application/merge-patch+json',
      payload: JSON.stringify({ [singular]: attributes })
    })),
    fc.array(group, { maxLength: 3 }).map((rows) => ({
      type: 'application/json',
      payload: JSON.stringify({ [many]: rows.map((row, index) => method === 'POST' ? row : { id: index + 1, ...row }) })
    })),
    group.map((attributes) => ({
      type: 'application/xml', payload: toXml(singular, method === 'POST' ? attributes : { id: own, ...attributes })
    })),
    fc.array(group, { minLength: 1, maxLength: 3 }).map((rows) => ({
      type: 'text/csv', payload: toCsv(method === 'POST' ? rows : rows.map((row, index) => ({ id: index + 1, ...row })))
    })),
    fc.tuple(group, fc.constantFrom('', 'PUT', 'DELETE'), fc.constantFrom('', '_step=change', '_step=delete-all',
      'commit=x'))
      .map(([attributes, verb, more]) => ({
        type: 'application/x-www-form-urlencoded',
        payload: [
          new URLSearchParams({
            ...(verb !== '' && { _method: verb, id }),
            ...Object.fromEntries(Object.entries(attributes).map(([name, value]) =>
              [`${singular}[${name}]`, value == null ? '' : String(value)]))
          }).toString(), more
        ].filter((part) => part !== '').join('&')
      }))
  )
}

const FORM = 'XX'
const importing = fc.tuple(fc.array(fc.oneof(wild, likely.person as typeof wild), { minLength: 1, maxLength: 3 }),
  fc.constantFrom('', '', 'email', 'salary'),
  fc.constantFrom('preview', 'write')).map(([rows, match, step]): InjectOptions => ({
  method: 'POST',
  url: '/people/import',
  headers: { 'content-type': `multipart/form-data; boundary=${FORM}`, accept: 'text/html' },
  payload: [
    ['match', match], ['step', step], ['file"; filename="a.csv', toCsv(rows)]
  ].map(([name, value]) =>
    `--${FORM}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`).join('') + `--${FORM}--\r\n`
}))

/** A request, whose precondition may be the tag of the answer before it. */
export interface Asked {
  readonly options: InjectOptions
  readonly condition: readonly [name: string, value: string] | undefined
  /** Whether the request is sent again at once. */
  readonly isTwice: boolean
}

function conditionOf ({ ifMatch, isNone }: { ifMatch: string | undefined, isNone: boolean }): Asked['condition'] {
  return ifMatch === undefined ? undefined : [isNone ? 'if-none-match' : 'if-match', ifMatch]
}

const readKinds = fc.oneof(
  { weight: 4, arbitrary: fc.constant('list') },
  { weight: 3, arbitrary: fc.constant('show') },
  { weight: 2, arbitrary: fc.constantFrom('new', 'edit', 'import', 'peek', 'top') }
)
const readMethods = fc.constantFrom('GET', 'GET', 'GET', 'HEAD')

function makeReads (paths: fc.Arbitrary<Path>): fc.Arbitrary<Asked> {
  return readKinds.chain((kind) =>
    fc.tuple(paths, ids, formats, kind === 'list' ? queries.list : queries.other, headers, readMethods)
      .map(([[list], id, format, query, { accept, isTwice, ...more }, method]): Asked => {
        const path = kind === 'list' ? '' : ['show', 'peek', 'edit'].includes(kind) ? `/${id}` : `/${kind}`
        const rest = kind === 'peek' || kind === 'edit' ? `/${kind}` : ''
        return {
          options: { method: method as 'GET', url: `/${list}${path}${rest}${format}${query}`, headers: { accept } },
          condition: conditionOf(more),
          isTwice
        }
      }))
}

const writeMethods = fc.constantFrom('POST', 'POST', 'POST', 'PUT', 'PUT', 'PATCH', 'DELETE', 'QUERY')

function makeWrites (paths: fc.Arbitrary<Path>): fc.Arbitrary<Asked> {
  const actions = fc.constantFrom(undefined, undefined, 'touch', 'restore')
  return fc.tuple(paths, ids, formats, queries.other, headers, writeMethods, actions)
    .chain(([pair, id, format, query, { accept, key, isTwice, ...more }, method, action]) =>
      bodiesOf(pair, id, method).map(({ type, payload }): Asked => {
        const member = action === undefined ? '' : `/${id}${method === 'POST' ? `/${action}` : ''}`
        return {
          options: {
            method: method as 'POST',
            url: `/${pair[0]}${member}${format}${query}`,
            headers: { accept, 'content-type': type, ...(key !== undefined && { 'idempotency-key': key }) },
            payload
          },
          condition: conditionOf(more),
          isTwice
        }
      }))
}

/**
 * Makes requests over all paths, formats and methods, of which each part may name what the user does not see.
 * @param others paths of lists that not all worlds have
 */
export function makeRequests (...others: readonly Path[]): fc.Arbitrary<Asked> {
  const paths = fc.constantFrom(...PATHS, ...others)
  return fc.oneof(
    { weight: 5, arbitrary: makeReads(paths) },
    { weight: 4, arbitrary: makeWrites(paths) },
    { weight: 1, arbitrary: importing.map((options) => ({ options, condition: undefined, isTwice: false })) }
  )
}

/** Sends a request, and returns the whole answer as a text, and its tag. */
export async function ask (
  { app }: Pick<World, 'app'>,
  role: string,
  { options, condition }: Pick<Asked, 'options' | 'condition'>,
  tag: string
): Promise<{ readonly answer: string, readonly status: number, readonly tag: string }> {
  const own = condition === undefined ? {} : { [condition[0]]: condition[1] === 'last' ? tag : condition[1] }
  const { statusCode, headers: { date: _, ...headers }, body } =
    await app.inject({ ...options, headers: { ...options.headers, ...own, 'x-role': role } })
  // The key of a form is random.
  const compared = body.replace(/(?<=name="_key" value=")[^"]*/g, 'key')
  return {
    answer: JSON.stringify([statusCode, headers, compared]), status: statusCode, tag: String(headers.etag ?? tag)
  }
}

/** Returns the values that a role does not see, by resource and id. */
export async function readHidden ({ stores }: World, role: Role): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>()
  for (const name of NAMES) {
    for await (const rows of stores[name].list(ALL, NO_CONTEXT)) {
      for (const { id, attributes } of rows) {
        found.set(`${name} ${id}`, JSON.stringify(hiddenOf(role, name).map((attribute) => attributes[attribute])))
      }
    }
  }
  return found
}

/** A pair of worlds whose answers are compared. */
export interface Comparison<W extends Pick<World, 'app'>> {
  readonly role: string
  readonly open: (isOther: boolean) => Promise<W>
  readonly requests: fc.Arbitrary<Asked>
  /** Returns what no request may change, by row. */
  readonly readKept: (world: W) => Promise<ReadonlyMap<string, string>>
  /** Whether requests may delete these rows. */
  readonly mayVanish: boolean
  /** Is called with the status and the method of each request. */
  readonly note: (key: string) => void
}

/** The requests that one pair of worlds gets one after the other. */
export const MOST = 120

/** Returns the error of the first request that the worlds answer differently; `undefined` if there is none. */
export async function compareWorlds<W extends Pick<World, 'app'>> (
  { role, open, requests, readKept, mayVanish, note }: Comparison<W>,
  parameters: { readonly seed: number, readonly numRuns: number }
): Promise<unknown> {
  const sequences = fc.array(requests, { minLength: MOST, maxLength: MOST })
  const details = await fc.check(fc.asyncProperty(sequences, async (all) => {
    const worlds = [await open(false), await open(true)] as const
    try {
      const before = await readKept(worlds[1])
      let tag = '"1.json"'
      for (const asked of all.flatMap((asked) => asked.isTwice ? [asked, asked] : [asked])) {
        const [one, other] = [await ask(worlds[0], role, asked, tag), await ask(worlds[1], role, asked, tag)]
        if (one.answer !== other.answer || one.status >= 500) {
          throw new Error([JSON.stringify(asked), one.answer, other.answer].join('\n'))
        }
        tag = one.tag
        note(String(one.status))
        note(String(asked.options.method))
        if (one.answer.includes('"idempotency-replayed"')) note('replayed')
      }
      const after = await readKept(worlds[1])
      for (const [row, kept] of before) {
        const found = after.get(row) ?? (mayVanish ? kept : undefined)
        if (found !== kept) throw new Error(`${row}: ${kept} became ${found}`)
      }
    } finally {
      for (const { app } of worlds) await app.close()
    }
  }), { ...parameters, endOnFailure: true })
  return details.failed ? details.errorInstance ?? 'failed' : undefined
}
