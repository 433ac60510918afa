// No parameter of a list tells anything about values that the client must not know. Two apps differ in these values
// alone, and answer every request with the same bytes.
import type { FastifyInstance } from 'fastify'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import { type Attributes, memoryStore, type ResourceOptions } from '../../../lib/index.js'
import { build, draft } from '../../support/helper.js'

// FC_SEED=… makes other runs.
const seed = Number(process.env.FC_SEED ?? 20_261_123)

const attributes = {
  type: 'object',
  properties: {
    title: { type: 'string' },
    rating: { type: ['integer', 'null'] },
    at: { type: 'string', format: 'date' },
    password: { type: 'string', writeOnly: true },
    pin: { type: 'integer', writeOnly: true },
    author: { type: 'object', properties: { name: { type: 'string' }, key: { type: 'string', writeOnly: true } } },
    tenant: { type: 'string' },
    note: { type: 'string' },
    salary: { type: 'integer' }
  }
} as const

/** Values of hidden attributes, which the two apps have in opposite order. */
const TEXTS = ['green tea', 'Secret', '', 'a,b', '%']
const NUMBERS = [0, 5, -1, 7_000_000]

interface Variant { readonly text: (index: number) => string, readonly number: (index: number) => number }
const VARIANTS: readonly [Variant, Variant] = [
  { text: (index) => TEXTS[index % TEXTS.length] as string, number: (index) => NUMBERS[index % NUMBERS.length] as number },
  { text: (index) => TEXTS.at(-1 - index % TEXTS.length) as string, number: (index) => NUMBERS.at(-1 - index % NUMBERS.length) as number }
]

/** What an app hides, and the rows that differ between the two apps. */
interface Hiding {
  readonly options: Partial<ResourceOptions>
  row (variant: Variant, index: number): Attributes
  /** Whether answers show the hidden values, so that only the ids of lists and the rest of refusals are compared. */
  readonly isShown?: boolean
}

const known = (index: number): Attributes => ({ title: `tea ${index % 3}`, rating: index % 4 === 0 ? null : index % 6, at: `2026-01-0${index % 9 + 1}` })
const HIDINGS: Readonly<Record<string, Hiding>> = {
  'attributes that are writeOnly': {
    options: {},
    row: ({ text, number }, index) => ({ ...known(index), password: text(index), pin: number(index), author: { name: 'Ann', key: text(index) } })
  },
  'the rows of other scopes': {
    options: { scope: () => ({ tenant: 'mine' }) },
    row: ({ text, number }, index) => index % 2 === 0
      ? { ...known(index), tenant: 'mine' }
      : { title: text(index), rating: number(index), tenant: text(index), note: text(index), salary: number(index) }
  },
  'attributes that `filter` and `sort` leave out': {
    options: { filter: ['title', 'rating'], sort: ['title'] },
    row: ({ text, number }, index) => ({ ...known(index), note: text(index), salary: number(index) }),
    isShown: true
  },
  'attributes that `search` leaves out': {
    options: { filter: ['title'], sort: [], search: ['title'] },
    row: ({ text, number }, index) => ({ ...known(index), note: text(index), salary: number(index) }),
    isShown: true
  }
}

const names = fc.constantFrom(...Object.keys(attributes.properties), 'author.key', 'id', 'nothing')
const operators = fc.constantFrom('', '[gte]', '[gt]', '[lte]', '[lt]', '[not]', '[in]', '[null]', '[contains]', '[starts]', '[x]', '[in][0]')
const values = fc.constantFrom(...TEXTS, ...NUMBERS.map(String), 'true', 'false', 'tea', 'TEA', 'mine', 'other', '2026-01-03', 'tea 1,tea 2', 'g', 's')
const parameter = fc.oneof(
  { weight: 6, arbitrary: fc.tuple(names, operators, values).map(([name, operator, value]): [string, string] => [name + operator, value]) },
  fc.tuple(fc.constant('q'), values),
  fc.tuple(fc.constant('count'), fc.constantFrom('true', 'estimate')),
  fc.tuple(fc.constant('sort'), fc.tuple(fc.constantFrom('', '-'), names).map((parts) => parts.join(''))),
  fc.tuple(fc.constant('only'), names),
  fc.tuple(fc.constant('limit'), fc.constantFrom('1', '3', '20')),
  fc.tuple(fc.constant('blank'), fc.constant('any'))
)
/** A condition as the filter bar of a page sends it. */
const fromBar = fc.tuple(names, fc.oneof(operators, fc.constantFrom('[null]=true', '[null]=false')), values)
  .map(([name, operator, value]): Array<[string, string]> => [['filter[by]', name + operator], ['filter[value]', value]])
const query = fc.tuple(
  fc.uniqueArray(parameter, { maxLength: 4, selector: ([name]) => name }),
  fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, fromBar)
).map(([pairs, bar]) => new URLSearchParams([...pairs, ...bar]).toString())
const format = fc.constantFrom('json', 'xml', 'html')

async function open (t: Test, { options, row }: Hiding, variant: Variant): Promise<FastifyInstance> {
  const store = memoryStore()
  for (let index = 0; index < 24; index++) store.create(row(variant, index), {})
  return build(t, { name: 'posts', attributes, store, ...options })
}

// The page of a refused condition has the rows of the list without it. These cells may differ, and nothing else.
const SHOWN = /<td data-label="(?:Note|Salary)"[^>]*>[^<]*<\/td>/g

/** Returns the parts of an answer that must not depend on hidden values: all of it, or without the values it shows. */
async function ask (app: FastifyInstance, url: string, isShown: boolean): Promise<string> {
  const { statusCode, headers, body } = await app.inject(url)
  const ids = [...body.matchAll(/"id":(\d+)|<id type="integer">(\d+)|<td data-label="Id"><a href="\/posts\/(\d+)/g)].flat().join()
  const { link, 'total-count': total, 'content-range': range } = headers
  return JSON.stringify([statusCode, link, total, range, !isShown ? body : statusCode === 200 ? ids : body.replace(SHOWN, '')])
}

for (const [what, hiding] of Object.entries(HIDINGS)) {
  t.test(`no parameter of a list reveals ${what}`, async (t) => {
    const [one, other] = [await open(t, hiding, VARIANTS[0]), await open(t, hiding, VARIANTS[1])]
    const seen = { 200: 0, 400: 0 }
    const details = await fc.check(fc.asyncProperty(query, format, async (query, format) => {
      const url = `/posts.${format}?${query}`
      const [answer, same] = [await ask(one, url, hiding.isShown === true), await ask(other, url, hiding.isShown === true)]
      seen[JSON.parse(answer)[0] as 200 | 400]++
      return answer === same
    }), { seed, numRuns: 300 })
    t.notOk(details.failed, fc.stringify(details.counterexample))
    t.ok(seen[200] > 50 && seen[400] > 50, `${seen[200]} answers and ${seen[400]} refusals`)
  })
}

t.test('the comparison finds an attribute that is not hidden', async (t) => {
  const hiding = { ...HIDINGS['attributes that `search` leaves out'] as Hiding, options: { filter: ['title', 'note'] } }
  const [one, other] = [await open(t, hiding, VARIANTS[0]), await open(t, hiding, VARIANTS[1])]
  t.not(await ask(one, '/posts.json?q=green', true), await ask(other, '/posts.json?q=green', true))
})

/** Opens posts with authors and comments, of which half are those of another tenant. */
async function openRelated (t: Test, { text, number }: Variant): Promise<FastifyInstance> {
  const scope = (): { readonly tenant: string } => ({ tenant: 'mine' })
  const [posts, authors, comments] = [memoryStore(), memoryStore(), memoryStore()]
  for (let index = 0; index < 24; index++) {
    const isMine = index % 2 === 0
    const hidden = { password: text(index), pin: number(index), author: { name: 'Ann', key: text(index) } }
    posts.create({ ...known(index), parentId: index % 5 === 0 ? null : index % 7 + 1, ...hidden }, {})
    authors.create(isMine ? { ...known(index), tenant: 'mine', ...hidden } : { title: text(index), rating: number(index), tenant: text(index) }, {})
    comments.create({ ...known(index), postId: index % 6 + 1, ...isMine ? { tenant: 'mine', ...hidden } : { title: text(index), tenant: text(index) } }, {})
  }
  const { tenant: _, ...properties } = attributes.properties
  return draft(t, (map) => {
    map.resources('posts', { attributes: { type: 'object', properties: { ...properties, parentId: { type: ['integer', 'null'] } } }, store: posts, references: { parentId: 'authors' } }, (posts) =>
      posts.resources('comments', { attributes, store: comments, scope }))
    map.resources('authors', { attributes, store: authors, scope })
  })
}

t.test('`include` reveals neither rows of other scopes nor attributes that are writeOnly', async (t) => {
  const [one, other] = [await openRelated(t, VARIANTS[0]), await openRelated(t, VARIANTS[1])]
  const include = fc.constantFrom('parent', 'comments', 'parent,comments', 'comments,parent')
  const path = fc.constantFrom('/posts', '/posts/1', '/posts/2', '/posts/6', '/posts/24')
  const seen = { 200: 0, 400: 0, 404: 0 }
  const details = await fc.check(fc.asyncProperty(path, query, include, format, async (path, query, include, format) => {
    const url = `${path}.${format}?include=${include}&${path === '/posts' ? query : ''}`
    const [answer, same] = [await ask(one, url, false), await ask(other, url, false)]
    seen[JSON.parse(answer)[0] as 200 | 400]++
    return answer === same
  }), { seed, numRuns: 300 })
  t.notOk(details.failed, fc.stringify(details.counterexample))
  t.ok(seen[200] > 50 && seen[400] > 10, `${seen[200]} answers and ${seen[400]} refusals`)
  t.match((await one.inject('/posts/2.json?include=parent,comments')).json().post, { parent: null, comments: [] })
  const { parent, comments } = (await one.inject('/posts/3.json?include=parent,comments')).json().post
  t.match([parent.id, parent.tenant, comments.length], [3, 'mine', 4])
})
