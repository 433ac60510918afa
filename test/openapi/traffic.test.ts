import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { type Document, type Exchange, findViolations, type Violation } from './exchange.js'

const folder = process.env.OPENAPI_TRAFFIC

type Exception = readonly [why: string, holds: (exchange: Exchange, violation: Violation) => boolean]

/** These tests deliberately let stores, hooks and options of the router do what is not declared. */
const CONTRARY = new Set([
  'hostile.test.ts', 'options.test.ts', 'input.test.ts', 'own-formats.test.ts', 'schemas.test.ts', 'manners.test.ts',
  'app-options.test.ts', 'hooks.test.ts', 'maps.test.ts', 'stores.test.ts'
])

/** These tests convert values of every schema. */
const CONVERSION = new Set(['conversion.test.ts', 'texts.test.ts', 'attributes.test.ts'])

const isOwn = ({ answer: { status, headers } }: Exchange): boolean =>
  status === 202 || headers['content-type']?.startsWith('text/plain') === true

const exceptions: readonly Exception[] = [
  [
    'the test is about stores, hooks or routers that do not keep to what is declared',
    ({ file }, { of, message }) => CONTRARY.has(file) &&
      (of === 'answer' || /has(?:n't| not) been found|path|Supported content types|property 'title'/.test(message))
  ],
  ['Prism takes what every object has by its prototype for a member', (_, { path }) =>
    /\b(?:constructor|hasOwnProperty|toString|valueOf|isPrototypeOf|__proto__)\b/.test(path)],
  ['Prism refuses what is readOnly, which is ignored here', (_, { of, message }) =>
    of === 'request' && message.includes('must NOT have additional properties')],
  ['a body that is neither that of one row nor that of many has a fault that is named besides', (_, { of, message }) =>
    of === 'request' &&
    /must have required property '(?:things|posts|notes|bookings)'|must match exactly one schema in oneOf/.test(message)],
  ['what is readOnly may have any value, which is ignored', ({ file }, { of, path }) => of === 'request' &&
    file === 'conversion.test.ts' && /^body\.thing\.(?:views|rank|one\.at|many\.0\.by\.id)$/.test(path)],
  ['a list of ids in the group of JSON is not described', ({ file }, { of, path }) =>
    file === 'ids.test.ts' && of === 'request' && path === 'body.post.id'],
  ['a replay whose row is gone, or hidden, has the status of the first answer without its body',
    ({ answer: { headers } }, { of }) => of === 'answer' && headers['idempotency-replayed'] !== undefined],
  ['a handler of the test sends its answer by the raw response', ({ file, answer: { body } }) =>
    file === 'transactions.test.ts' && body === 'sent'],
  ['Prism does not know `prefixItems`, and takes what may follow them for what is said of all items',
    ({ file }, { path }) => CONVERSION.has(file) && path === 'body.thing.it.0'],
  [
    'Prism does not know leap seconds, which RFC 3339 has: what has one is of no schema of several either',
    ({ file, body = '' }, { message }) => CONVERSION.has(file) && /\d(?::|%3A)60/i.test(body) &&
      /must match (?:format "(?:date-)?time"|a schema in anyOf)|must have required property 'things'/.test(message)
  ],
  ['Prism fails at a Content-Type that is none, which nobody asks for', ({ method }, { message }) =>
    method === 'GET' && message.startsWith('Could not parse MIME type')],
  ['a form asks by `_method` for what is described of PUT and DELETE, or for other rows in it',
    ({ method, body = '' }) => method === 'POST' && /_method=|(?:\[|%5B)(?:\?|%3F)(?:\]|%5D)/i.test(body)],
  ['a parameter that has no value, or says true as a form does, is described by what it means',
    (_, { of, path, message }) => of === 'request' && path.startsWith('query.') && message.includes('must be ')],
  ['an id that is null or empty is none', ({ body = '' }, { of, path }) =>
    of === 'request' && /(?:^|\.)id$/.test(path) && (body.includes('null') || body.includes('"id":""'))],
  [
    'a body is passed over where none is needed',
    ({ method, body }, { of, message }) => of === 'request' && body !== undefined &&
      ['GET', 'DELETE'].includes(method) && /^No supported content types|JSON at position/.test(message)
  ],
  ['a decimal number in a filter may start with a plus or with the point, as in XML', (_, { of, path, message }) =>
    of === 'request' && path.startsWith('query.') && message.includes('must match pattern "^-?[0-9]+')],
  ['the store of the test holds a text that is no decimal number', ({ file }, { of, path }) =>
    file === 'lists.test.ts' && of === 'answer' && path.endsWith('.ratio')],
  ['the store of the test holds a profile without its title', ({ file, url }, { of, message }) =>
    file === 'writes.test.ts' && url === '/profile' && of === 'answer' && message.includes("property 'title'")],
  [
    'the scope gives a required attribute, which no description can say',
    ({ file }, { of, message }) =>
      file === 'stores.test.ts' && of === 'request' && message.includes("required property 'tenant'")
  ],
  ['the store of the test holds a value that does not fit its schema',
    ({ file }, { of, path }) => file === 'writes.test.ts' && of === 'answer' && path.endsWith('.rating')],
  ['a format of the test has documents of its own', ({ file, url }) =>
    ['hidden.test.ts', 'roles.test.ts'].includes(file) && /\.(?:text|own)$/.test(url)],
  ['a view of the app makes an empty page', ({ file, answer }, { of }) =>
    file === 'views.test.ts' && of === 'answer' && answer.body === ''],
  ['a create has no body if `Prefer` asks for none', ({ headers, answer }, { of }) => of === 'answer' &&
    answer.body === '' && headers.prefer?.includes('return=minimal') === true],
  ['a handler answers by itself, or shows a row that is none yet', (exchange, { of }) =>
    of === 'answer' && (isOwn(exchange) || exchange.url.startsWith('/posts/new/'))]
]

t.test('the valid traffic of the test suite fits the descriptions', {
  skip: folder === undefined && 'nothing has been recorded: set OPENAPI_TRAFFIC, as .ci/run does'
}, async (t) => {
  const counts = { documents: 0, exchanges: 0 }
  const met = new Map<string, number>(exceptions.map(([why]) => [why, 0]))
  for (const name of readdirSync(folder as string)) {
    const [document, ...exchanges] = readFileSync(join(folder as string, name), 'utf8').trimEnd().split('\n')
    const different = [...new Set(exchanges)].filter((line) => line !== document).map((line) =>
      JSON.parse(line) as Exchange).filter(({ method }) =>
      !['HEAD', 'OPTIONS'].includes(method))
    counts.documents++
    counts.exchanges += different.length
    for (const [exchange, violation] of await findViolations(JSON.parse(document as string) as Document, different)) {
      const [why] = exceptions.find(([, holds]) => holds(exchange, violation)) ?? []
      if (why === undefined) {
        t.fail(
        `${exchange.file}: ${exchange.method} ${exchange.url}: ${violation.of} ${violation.path} ${violation.message}`,
        { exchange }
        )
      } else met.set(why, met.get(why) as number + 1)
    }
  }
  t.ok(
    counts.documents > 150 && counts.exchanges > 3_000,
    `${counts.exchanges} exchanges of ${counts.documents} descriptions`
  )
  for (const [why, count] of met) t.ok(count > 0, `${count} times: ${why}`)
})
