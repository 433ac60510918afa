import t, { type Test } from 'tap'
import { readFileSync } from 'node:fs'
import { memoryStore } from '../../../lib/index.js'
import { build, xml as declaration } from '../../support/helper.js'

type Json = null | boolean | number | string | Json[] | { [name: string]: Json }
type Members = { [name: string]: Json }

const read = <Row>(file: string): Row => JSON.parse(readFileSync(new URL(`../../vectors/${file}`, import.meta.url),
  'utf8')) as Row

// ---- Reading

interface XmlIn { name: string, xml: string, value?: Members, error?: string }

/** The result of reading a document: its value, or the status of the refusal. */
type Outcome = { value: Json } | { refused: number }

interface Difference<Ours> { ours: Ours, why: string }

const refused = (status: 400 | 422, why: string): Difference<Outcome> => ({ ours: { refused: status }, why })
const value = (value: Json, why: string): Difference<Outcome> => ({ ours: { value }, why })

const unconverted = 'text that does not convert is a 422, never 0, false or a guess'
const unknownType = 'unknown types are refused'
const textGroup = 'a group is an object: a root that holds text alone has no attributes'

/** Our deliberate differences from the software that made the vectors. */
const differencesIn: { [name: string]: Difference<Outcome> } = {
  'nil-with-content': refused(422, 'nil="true" with content contradicts itself'),
  'xsi-nil': value({ a: null }, 'nil is known under any prefix, and declarations of namespaces are no data'),
  'integer-word': refused(422, unconverted),
  'integer-underscore': refused(422, unconverted),
  'integer-hex': refused(422, unconverted),
  'integer-spaces-only': value({ a: null },
    'text that is not a string is trimmed first, and empty is null where null is allowed'),
  'float-word': refused(422, unconverted),
  'float-infinity': refused(422, unconverted),
  'boolean-TRUE': refused(422, unconverted),
  'date-words': refused(422, 'a date is RFC 3339'),
  'dateTime-offset-no-colon': refused(422, 'an offset is spelled as RFC 3339 and XML Schema have it'),
  'dateTime-no-zone': refused(422, 'a dateTime names its zone'),
  binary: refused(422, unknownType),
  'binary-bytes': refused(422, unknownType),
  file: refused(422, unknownType),
  'file-empty': refused(422, unknownType),
  'unknown-type': refused(422, unknownType),
  'unknown-type-empty': refused(422, unknownType),
  'array-mixed-names': refused(422, 'the items of an array all have one name: none is lost'),
  'array-nil': value({ a: null }, '<a nil="true"/> is null, whatever its type'),
  attributes: refused(422, 'data is in elements'),
  'attribute-and-child': refused(422, 'data is in elements'),
  repeated: refused(422, 'lists are told by schema and type="array", never guessed by count'),
  'mixed-content': refused(422, 'mixed content is refused: none is lost'),
  'root-text': refused(422, textGroup),
  'with-declaration': refused(422, textGroup),
  'root-array': refused(422, 'a write is about one resource'),
  'undefined-entity': refused(400, 'there are no entities but the five'),
  'internal-entity': refused(400, 'a DOCTYPE is refused'),
  'depth-90': refused(400, 'a document is at most 32 deep')
}

/** Returns the value of a vector as JSON, or undefined if JSON has none. */
function plain (value: Json): Json | undefined {
  if (Array.isArray(value)) return value.map(item => plain(item) ?? null)
  if (value === null || typeof value !== 'object') return value
  if ('$int' in value) return Number(value.$int)
  if ('$float' in value) return Number.isFinite(Number(value.$float)) ? Number(value.$float) : undefined
  if ('$decimal' in value) return Number(value.$decimal)
  if ('$bytes' in value || '$file' in value) return undefined
  return Object.fromEntries(Object.entries(value).flatMap(([name, member]) => {
    const kept = plain(member)
    return kept === undefined ? [] : [[name, kept]]
  }))
}

/** Keeps dates as they are spelled in the vector's document. */
const dates = (vector: XmlIn, value: Json): Json => {
  if (Array.isArray(value)) return value.map(item => dates(vector, item))
  if (value === null || typeof value !== 'object') return value
  const date = value.$date ?? value.$dateTime
  if (typeof date === 'string') return vector.xml.includes(date) ? date : { read: date }
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, dates(vector, member)]))
}

/** Returns the other software's result in our terms: parser errors are our 400, refused values our 422. */
function theirs (vector: XmlIn, root: string): Outcome {
  if (vector.error !== undefined) return { refused: vector.error.includes('ParseException') ? 400 : 422 }
  const value = plain(dates(vector, vector.value ?? {})) as Members
  return { value: value[root] ?? null }
}

async function ours (t: Test, vector: XmlIn, root: string): Promise<Outcome> {
  const app = await build(t, { name: `${root}s`, singular: root })
  const res = await app.inject({
    method: 'POST',
    url: `/${root}s`,
    headers: { accept: 'application/json', 'content-type': 'application/xml' },
    payload: vector.xml
  })
  if (res.statusCode !== 201) return { refused: res.statusCode }
  const read = await app.inject({ url: `/${root}s/1.json` })
  const { id, ...attributes } = read.json<{ [root: string]: Members }>()[root] ?? {}
  t.equal(id, 1)
  return { value: attributes }
}

t.test('XML is read like the convention\'s own software reads it, except for the listed differences', async t => {
  const vectors = read<XmlIn[]>('xml-in.json')
  t.ok(vectors.length > 60)
  for (const vector of vectors) {
    const difference = differencesIn[vector.name]
    t.test(`${vector.name}${difference ? `, a deliberate difference: ${difference.why}` : ''}`, async t => {
      const root = /^\s*(?:<[?!][^>]*(?:\[[^\]]*\]>|>)\s*)*<a\b/.test(vector.xml) ? 'a' : 'p'
      const [we, they] = [await ours(t, vector, root), theirs(vector, root)]
      if (!difference) return t.strictSame(we, they)
      t.strictSame(we, difference.ours)
      t.strictNotSame(we, they, 'the results really differ')
    })
  }
  t.strictSame(Object.keys(differencesIn).filter(name => !vectors.some(vector => vector.name === name)), [],
    'every difference belongs to a vector')
})

// ---- Writing

interface XmlOut { name: string, value: Members | Members[], options: { root?: string, indent?: number }, xml: string }

interface Resource { name: string, singular: string, attributes?: object }

/** The resource name of each vector's root, and a schema where the types need one. */
const numbers = {
  type: 'object',
  properties: Object.fromEntries(['a', 'b', 'c', 'd', 'e', 'zero'].map(name => [name, { type: 'number' }]))
}
const resources: { [root: string]: Resource } = {
  post: { name: 'posts', singular: 'post' },
  posts: { name: 'posts', singular: 'post' },
  person: { name: 'people', singular: 'person' },
  people: { name: 'people', singular: 'person' },
  p: { name: 'ps', singular: 'p' },
  blog_post: { name: 'blog_posts', singular: 'blog_post' },
  blog_posts: { name: 'blog_posts', singular: 'blog_post' }
}

const differencesOut: { [name: string]: Difference<string | number> } = {
  'float-forms': {
    ours: '<post><a type="float">1e20</a><b type="float">1e15</b><c type="float">1e16</c><d type="float">1e-4</d><e ' +
      'type="float">1e-5</e><zero type="float">0</zero></post>',
    why: 'JSON carries neither NaN nor Infinity'
  },
  symbol: { ours: '<person><resident>yes</resident></person>', why: 'JSON has no symbols: it is a string' },
  'control-characters': { ours: 422, why: 'U+0000 cannot be stored, and is refused on the way in' },
  camelize: { ours: '<blog_post><first_name>x</first_name></blog_post>', why: 'names are written as declared' },
  'skip-types': {
    ours: '<post><id type="integer">1</id><tags type="array"><tag>a</tag></tags><none nil="true"/></post>',
    why: 'types are always written'
  }
}

/** Returns the JSON text of a value. Floats keep their spelling, so that they stay floats. */
function jsonText (value: Json): string {
  if (Array.isArray(value)) return `[${value.map(jsonText).join()}]`
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  if (typeof value.$int === 'string') return value.$int
  if (typeof value.$float === 'string') return value.$float
  if (typeof value.$symbol === 'string') return JSON.stringify(value.$symbol)
  const given = Object.entries(value).filter(([, member]) => plain(member) !== undefined)
  return `{${given.map(([name, member]) => `${JSON.stringify(name)}:${jsonText(member)}`).join()}}`
}

/** Returns every name in a value. */
const names = (value: Json): string[] => value === null || typeof value !== 'object'
  ? []
  : Array.isArray(value)
    ? value.flatMap(names)
    : Object.entries(value).flatMap(([name, member]) => [name, ...names(member)])

/**
 * Applies the contract's general differences: a newline after the declaration, no indentation, names as declared, and
 * floats as JavaScript writes them.
 */
function normalise (text: string, declared: readonly string[], indented: boolean): string {
  let result = text.replace(/^<\?xml version="1\.0" encoding="UTF-8"\?>\n?/, '')
  if (indented) result = result.replace(/>\n */g, '>')
  for (const name of declared) {
    result = result.replace(new RegExp(`(?<=</?)${name.replace(/(?<=.)_(?=.)/g, '-')}(?=[ />])`, 'g'), name)
  }
  return withFloats(result)
}

const withFloats = (text: string): string =>
  text.replace(/(?<= type="float">)[^<]*/g, number => String(Number(number) + 0)).replace(/<(\w+) type="array"><\/\1>/g,
    '<$1 type="array"/>')

/** Removes the server's id if the vector has none. */
const withoutId = (text: string): string => text.replace(/^(<\w+>)<id type="integer">1<\/id>/, '$1')

async function written (t: Test, { value, options, name }: XmlOut): Promise<string | number> {
  const resource = resources[options.root ?? ''] ?? { name: 'objects', singular: 'object' }
  const app = await build(
    t,
    {
      name: resource.name, singular: resource.singular, ...(name === 'float-forms' && { attributes: numbers })
    } as Parameters<typeof build>[1]
  )
  for (const [index, record] of [value].flat().entries()) {
    const { id, ...attributes } = record
    if (id !== undefined) t.strictSame(plain(id), index + 1, 'the ids of the vector equal the server\'s')
    const res = await app.inject({
      method: 'POST',
      url: `/${resource.name}`,
      headers: { accept: 'application/xml', 'content-type': 'application/json' },
      payload: `{"${resource.singular}":${jsonText(attributes)}}`
    })
    if (res.statusCode !== 201) return res.statusCode
  }
  const { body } = await app.inject({ url: `/${resource.name}${Array.isArray(value) ? '' : '/1'}.xml` })
  t.ok(body.startsWith(declaration), 'the declaration and a newline come first')
  const text = withFloats(body.slice(declaration.length).trimEnd())
  return Array.isArray(value) || 'id' in value ? text : withoutId(text)
}

t.test('XML is written like the convention\'s own software writes it, except for the listed differences', async t => {
  const vectors = read<XmlOut[]>('xml-out.json')
  t.ok(vectors.length > 12)
  for (const vector of vectors) {
    const difference = differencesOut[vector.name]
    t.test(`${vector.name}${difference ? `, a deliberate difference: ${difference.why}` : ''}`, async t => {
      const { root } = vector.options
      const declared = [...names(vector.value),
        ...(root === undefined ? [] : [root, resources[root]?.singular ?? root])]
      const theirs = normalise(vector.xml, declared, vector.options.indent !== 0).trimEnd()
      const we = await written(t, vector)
      if (!difference) return t.equal(we, theirs)
      t.equal(we, typeof difference.ours === 'string' ? withFloats(difference.ours) : difference.ours)
      t.not(we, theirs, 'the results really differ')
    })
  }
  t.strictSame(Object.keys(differencesOut).filter(name => !vectors.some(vector => vector.name === name)), [],
    'every difference belongs to a vector')
})

t.test('a stored text that XML cannot carry is written as JSON', async t => {
  const vector = read<XmlOut[]>('xml-out.json').find(({ name }) => name === 'control-characters')
  const store = memoryStore()
  store.create(vector?.value as Members, {})
  const app = await build(t, { name: 'ps', singular: 'p', store })
  const { body } = await app.inject({ url: '/ps/1.xml' })
  t.equal(withoutId(body.slice(declaration.length).trimEnd()),
    '<p><a type="json">"x\\u0000y\\u0001z\\u000b\\ttab"</a></p>')
})
