/**
 * Measures the slowest known single requests of each kind: a body as long as Fastify reads, or a head as long as
 * Node.js reads. Each must be answered within `TARGET` and without a 500. It is run by hand:
 * `node --expose-gc --import=tsx --conditions=fastify-resources:source test/bench/worst-inputs.ts [NAMES]`
 */
import fastify, { type FastifyInstance, type InjectOptions } from 'fastify'
import resources from '../../lib/index.js'
import { worstAttributes } from './worst-attributes.js'
import {
  get, HTML_TYPE, JSON_TYPE, jsonArray, jsonItems, lines, postForm, postJson, postXml, putForm, repeat, repeatInHead,
  series, XML_TYPE, xmlArray
} from './worst-bodies.js'

interface Result {
  readonly name: string
  /** CPU time of this process; the best of three. */
  readonly milliseconds: number
  readonly status: number
  /** The size of the answer in bytes. */
  readonly answered: number
}

/** The most that a request may take, in milliseconds. */
const TARGET = 100
const REPETITIONS = 3

interface Input {
  /** Writes that create what the request needs. */
  readonly before?: readonly InjectOptions[]
  readonly request: InjectOptions
  /** True if the resource declares no attributes. */
  readonly open?: boolean
}

/** The name of an attribute that fills most of a body. */
const LONG_NAME = 'a'.repeat(1_046_000)
/** Some validators compare each item with each other. More items would take minutes. */
const DIFFERENT_OBJECTS = Array.from({ length: 10_000 }, (_, index) => `{"to":${index}}`).join(',')
const DEEP = '['.repeat(49_000) + ']'.repeat(49_000)
const SLOW_URL = `http://a.bc/${':'.repeat(1_018)}@${'a.'.repeat(505)}`
const WIDE_TREE = `"tree":{"children":${jsonItems('{}')}}`
const NO_TEXT = Buffer.from('[{"toString":1}]').toString('base64url')
const NESTED_PLACE = Buffer.from('['.repeat(5_500) + ']'.repeat(5_500)).toString('base64url')

const jsonInputs: Readonly<Record<string, Input>> = {
  'JSON: integers, answered as XML': { request: postJson(jsonArray('integers', '1'), XML_TYPE) },
  'JSON: a union of integers, answered as XML': { request: postJson(jsonArray('mixed', '1'), XML_TYPE) },
  'JSON: integers of no declared type, answered as XML': { request: postJson(jsonArray('anything', '1'), XML_TYPE) },
  'JSON: empty arrays of no declared type, answered as XML': {
    request: postJson(jsonArray('anything', '[]'), XML_TYPE)
  },
  'JSON: nested arrays without a schema, answered as XML': {
    open: true, request: postJson(jsonArray('x', '[[[[[[]]]]]]'), XML_TYPE)
  },
  'JSON: arrays of one integer, answered as XML': { request: postJson(jsonArray('grid', '[1]'), XML_TYPE) },
  'JSON: empty objects': { request: postJson(jsonArray('people', '{}')) },
  'JSON: empty objects that get a default': { request: postJson(jsonArray('drafts', '{}')) },
  'JSON: a wide tree': { request: postJson(WIDE_TREE) },
  'JSON: many names in one object': {
    request: postJson(`"translations":{${series((index) =>
    `"k${index.toString(36)}":""`, ',')}}`)
  },
  'JSON: integers, the last of them inexact': {
    request: postJson(`${jsonArray('integers', '1').slice(0, -1)},1152921504606846977]`)
  },
  'JSON: numbers that are exact, but written with other digits': {
    request: postJson(jsonArray('numbers', '1152921504606846976'))
  },
  'JSON: 10,000 different objects that must be unique': { request: postJson(`"links":[${DIFFERENT_OBJECTS}]`) },
  'JSON: URLs of colons': { request: postJson(jsonArray('urls', `"${SLOW_URL}"`)) },
  'JSON: regular expressions': {
    request: postJson(`"patterns":[${series((index) =>
    `"${index.toString(36)}"`, ',')}]`)
  },
  'JSON: a hundred faults below a long name': {
    open: true,
    request: postJson(`"x":{"${LONG_NAME}":[${Array.from({
    length: 120
  }, () =>
    '"\\u0001"').join(',')}]}`)
  },
  'JSON: deep arrays': { request: postJson(`"anything":${DEEP}`, HTML_TYPE) }
}

const xmlInputs: Readonly<Record<string, Input>> = {
  'XML: empty elements as texts': { request: postXml(xmlArray('tags', '<a/>')) },
  'XML: empty elements as objects': { request: postXml(xmlArray('people', '<a/>')) },
  'XML: empty elements as arrays, answered as XML': { request: postXml(xmlArray('grid', '<a/>'), XML_TYPE) },
  'XML: empty elements as integers': { request: postXml(xmlArray('integers', '<a/>')) },
  'XML: many names in one object': {
    request: postXml(`<post><translations>${series((index) =>
    `<a${index.toString(36)}/>`)}</translations></post>`)
  },
  'XML: many unknown elements': { request: postXml(`<post>${series((index) => `<a${index.toString(36)}/>`)}</post>`) },
  'XML: many attributes': { request: postXml(`<post ${series((index) => `a${index.toString(36)}=""`, ' ')}/>`) },
  'XML: the same element again and again': { request: postXml(`<post>${repeat('<title/>', '', undefined, 1)}</post>`) },
  'XML: a text of references': { request: postXml(`<post><body>${repeat('&amp;')}</body></post>`, XML_TYPE) },
  'XML: a text of carriage returns': { request: postXml(`<post><body>${repeat('\r')}</body></post>`) },
  'XML: an attribute of line breaks': { request: postXml(`<post body="${repeat('\n')}"/>`) },
  'XML: processing instructions': { request: postXml(`<post><body>${repeat('<?a?>')}</body></post>`) }
}

const formInputs: Readonly<Record<string, Input>> = {
  'form: lines of integers, answered as XML': { request: postForm(`post[integers]=${lines('1')}`, XML_TYPE) },
  'form: lines of letters for integers': { request: postForm(`post[integers]=${lines('a')}`) },
  'form: lines that no format can carry': { request: postForm(`post[tags]=${lines('\u0001')}`) },
  'form: markup that comes back': { request: postForm(`post[rating]=x&post[body]=${repeat('<"')}`) },
  'form: spaces': { request: postForm(`post[title]=${repeat('+')}`) },
  'form: a thousand fields of markup': {
    request: postForm(Array.from({ length: 990 }, (_, index) =>
    `post[people][${index}][age]=${'"'.repeat(1_000)}`).join('&'))
  },
  'form: JSON, answered as XML': {
    request: postForm(`post[anything][?]=json&post[anything]=${jsonItems('[]')}`, XML_TYPE)
  },
  'form: deep JSON beside a choice': {
    before: [postJson('"title":"x"')],
    request: putForm(`post[title][?][keep]=yours&post[anything][?]=json&post[anything]=${DEEP}`)
  }
}

/** Requests for pages. The rows came in bodies of the same limit. */
const pageInputs: Readonly<Record<string, Input>> = {
  'page: a record of empty objects': { before: [postJson(jsonArray('people', '{}'))], request: get('/posts/1') },
  'page: a record of integers': { before: [postJson(jsonArray('integers', '1'))], request: get('/posts/1') },
  'page: a record with a wide tree': { before: [postJson(WIDE_TREE)], request: get('/posts/1') },
  'page: a record of markup': { before: [postJson(`"body":"${repeat('<\\"')}"`)], request: get('/posts/1') },
  'page: a record with a long address': {
    before: [postJson(`"email":"${repeat('&')}@b.c"`)], request: get('/posts/1')
  },
  'page: a record of nested arrays without a schema': {
    open: true, before: [postJson(jsonArray('x', '[[[[[[]]]]]]'))], request: get('/posts/1')
  },
  'page: ten records of integers': {
    before: Array.from({ length: 10 }, () =>
      postJson(jsonArray('integers', '1'))),
    request: get('/posts')
  },
  'page: a conflict of lines': {
    before: [postJson(jsonArray('tags', '"a"'))], request: putForm(`_version=7&post[tags]=${lines('b')}`)
  },
  'page: a conflict of wide trees': {
    before: [postJson(WIDE_TREE)],
    request: putForm(
      `_version=7&post[tree][?]=json&post[tree]={"children":${jsonItems('{}').slice(0, -1)},{"name":"x"}]}`
    )
  },
  'page: a conflict of markup': {
    before: [postJson(`"body":"${repeat('<\\"')}"`)], request: putForm(`_version=7&post[body]=${repeat('<')}`)
  },
  'page: a form refused beside a choice': {
    before: [postJson(jsonArray('people', '{}'))],
    request: putForm(`post[rating]=x&post[title][?][keep]=yours&post[people][?]=json&post[people]=${jsonItems('{}')}`)
  }
}

const headInputs: Readonly<Record<string, Input>> = {
  'head: many media ranges': { request: get('/posts', repeatInHead('*/*;q=0.1', ',')) },
  'head: a media range of quotes': { request: get('/posts', repeatInHead('a;b="', ',')) },
  'head: many entity tags': {
    before: [postJson('"title":"x"')], request: get('/posts/1', JSON_TYPE, { 'if-none-match': repeatInHead('""', ',') })
  },
  'head: many parameters': { request: get(`/posts?${repeatInHead('title=', '&')}`) },
  'head: a place of nested arrays': { request: get(`/posts?after=${NESTED_PLACE}`) },
  'head: a place that is no text': { request: get(`/posts?after=${NO_TEXT}`) }
}

const INPUTS: Readonly<Record<string, Input>> = {
  ...jsonInputs, ...xmlInputs, ...formInputs, ...pageInputs, ...headInputs
}

async function measure ({ before = [], request, open = false }: Input): Promise<Omit<Result, 'name'>> {
  const app = fastify()
  app.register(resources, { name: 'posts', writes: 'both', ...(!open && { attributes: worstAttributes }) })
  await app.ready()
  for (const write of before) await checkWritten(app, write)
  let best = await time(app, request)
  for (let count = 1; count < REPETITIONS; count++) {
    const next = await time(app, request)
    if (next.milliseconds < best.milliseconds) best = next
  }
  await app.close()
  return best
}

async function checkWritten (app: FastifyInstance, write: InjectOptions): Promise<void> {
  const { statusCode, payload } = await app.inject(write)
  if (statusCode >= 400) {
    throw new Error(`a request that prepares the data was answered with ${statusCode}: ${payload.slice(0, 200)}`)
  }
}

async function time (app: FastifyInstance, request: InjectOptions): Promise<Omit<Result, 'name'>> {
  // Collects the garbage of earlier inputs, so that this input does not pay for it.
  globalThis.gc?.()
  const start = process.cpuUsage()
  const { statusCode, rawPayload } = await app.inject(request)
  const { user, system } = process.cpuUsage(start)
  return { milliseconds: (user + system) / 1_000, status: statusCode, answered: rawPayload.length }
}

const names = new RegExp(process.argv[2] ?? '')
const results: Result[] = []
for (const [name, input] of Object.entries(INPUTS)) {
  if (names.test(name)) results.push({ name, ...await measure(input) })
}
for (const { name, milliseconds, status, answered } of results.toSorted((a, b) => b.milliseconds - a.milliseconds)) {
  console.log(`${milliseconds.toFixed(0).padStart(6)} ms  ${status}  ${String(answered).padStart(9)} bytes  ${name}`)
}
const missed = results.filter(({ milliseconds, status }) => milliseconds > TARGET || status >= 500)
console.log(`${missed.length} of ${results.length} take more than ${TARGET} ms or fail`)
process.exitCode = missed.length > 0 ? 1 : 0
