import fastify, { type FastifyInstance, type InjectOptions, type LightMyRequestResponse } from 'fastify'
import fc from 'fast-check'
import assert from 'node:assert/strict'
import { SaxesParser } from 'saxes'
import t, { type Test } from 'tap'
import { create } from 'xmlbuilder2'
import type { XMLBuilder } from 'xmlbuilder2/lib/interfaces.js'
import resources, { memoryStore, type AttributesSchema, type Store } from '../../lib/index.js'
import { singularize } from '../../lib/core/resource/inflection.js'
import { Connection, Model } from '../support/xml/active-resource.js'
import {
  buttonsOf, type Control, defaultButton, entriesOf, fill, findButton, findForm, type Form, hidden, parseForms, refused,
  shown, submit, visible
} from '../support/html/forms.js'
import { xml as declaration } from '../support/helper.js'

// FC_SEED=… repeats the run of a reported failure. FC_RUNS=10 makes ten times as many runs.
const seed = Number(process.env.FC_SEED ?? 20_260_131)
const effort = Number(process.env.FC_RUNS ?? 0.1)
// Only a failure takes long, because fast-check shrinks its example.

type Json = null | boolean | number | string | Json[] | Members
interface Members { [name: string]: Json }
type Schema = Members
/** A schema of attributes, or none, and records that fit it. */
interface Sample { attributes: Attributes | undefined, records: Members[] }
interface Attributes extends AttributesSchema { readonly properties: { [name: string]: Schema } }

const form = 'application/x-www-form-urlencoded'

async function holds<Ts extends [unknown, ...unknown[]]> (
  t: Test, runs: number, property: fc.IAsyncPropertyWithHooks<Ts>, examples: Ts[] = []
): Promise<unknown> {
  const details = await fc.check(property, {
    seed, examples, numRuns: Math.ceil(runs * effort), interruptAfterTimeLimit: 240_000 * Math.max(1, effort)
  })
  if (!details.failed) return t.pass(`${details.numRuns} runs`)
  const { counterexample, errorInstance, seed: failed } = details
  t.fail('a counterexample', {
    counterexample: fc.stringify(counterexample),
    error: errorInstance instanceof Error ? errorInstance.message : 'interrupted',
    FC_SEED: failed,
    at: null,
    stack: ''
  })
}

// ---- Texts and names

/** The characters that stores can keep, as UTF-16: mostly those that XML 1.0 allows in a document (§2.2). */
const character = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...'aé€中😀 \t\n"\'<>&;#=[]/?%+-.,:\\') },
  {
    weight: 2,
    arbitrary: fc.constantFrom('\r', '\r\n', '\n\n', '\u0085', '\u00a0', '\u2028', '\ufeff', '\ufffd', '\u007f',
      '\u009f', '\ufdd0', '\u{1fffe}', '\u{10ffff}')
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      '&amp;', '&lt;', '&#13;', '&#x0;', '&nbsp;', ']]>', '<![CDATA[', '<!--', '-->', '<?', '</textarea>', '</thing>',
      '</select>',
      '%0D%0A', '\\u0000', '{}', '[]', '""', 'null', 'true', '1', '0'
    )
  },
  fc.constantFrom('\u0001', '\u001f', '\ufffe', '{"a":1}', '["'),
  fc
    .integer({ min: 0x20, max: 0x10ffff })
    .filter((code) => (code < 0xd800 || code > 0xdfff) && code !== 0xfffe && code !== 0xffff)
    .map((code) => String.fromCodePoint(code))
)
const text = fc.array(character, { maxLength: 8 }).map((characters) => characters.join(''))

/** Excludes what xmlbuilder2 writes differently on purpose or by mistake: CR, and text that looks like a reference. */
// eslint-disable-next-line no-control-regex
const ordinaryText = text.map((text) => text.replaceAll(/[\r\0-\u0008\u000e-\u001f\ufffe]/g, '').replaceAll('&', '& '))

const PLAIN_NAMES = ['title', 'tags', 'people', 'first_name', 'publishedAt', 'news', 'author', 'x']
const ODD_NAMES = [
  'first-name', 'a.b', 'x-y.z', '_', '__', 's', 'S', 'type', 'nil', 'name', 'length', 'xmlns', 'Xml', 'commit',
  '_method', '_version', 'thing', 'things', 'format', 'ID', 'é', '中文', '𐐀',
  'constructor', 'toString', 'valueOf', 'hasOwnProperty', '__defineGetter__', 'prototype', 'then', 'toJSON', 'default',
  'null'
]
const name = fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...PLAIN_NAMES) }, fc.constantFrom(...ODD_NAMES),
  fc.stringMatching(/^[a-zA-Z_é][\w.é-]{0,8}$/).filter((name) => name !== 'id' && name !== '__proto__'))
const innerName = fc.oneof({ weight: 9, arbitrary: name }, fc.constant('id'))
/** Names inside values that no schema declares. */
const freeName = fc.oneof({ weight: 4, arbitrary: innerName },
  fc.constantFrom('', ' ', 'a b', '2024', '$ref', '<&>', '"', 'é\ufffd', 'x:y', '\u0001', 'a[b]', '\n'))
/** Tells whether an attribute may have the name without a schema. */
const isOpenName = (name: string): boolean => !/[-𐐀]/u.test(name)

// ---- Schemas

/** Allows null in each way that schemas can express it. */
function orNull (schemas: fc.Arbitrary<Schema>): fc.Arbitrary<Schema> {
  return fc.tuple(schemas, fc.constantFrom('not', 'not', 'type', 'anyOf', 'anyOf first')).map(([schema, way]) => {
    if (way === 'type' && typeof schema.type === 'string') {
      return {
        ...schema, type: [schema.type, 'null'], ...(Array.isArray(schema.enum) && { enum: [...schema.enum, null] })
      }
    }
    if (way === 'anyOf' || way === 'type') return { anyOf: [schema, { type: 'null' }] }
    return way === 'anyOf first' ? { anyOf: [{ type: 'null' }, schema] } : schema
  })
}

function objectOf (
  schemas: fc.Arbitrary<Schema>, names: fc.Arbitrary<string>, size: { minLength: number, maxLength: number }
): fc.Arbitrary<Schema> {
  return fc
    .uniqueArray(fc.tuple(names, schemas, fc.boolean()), { ...size, selector: ([name]) => name })
    .map((members) => ({
      type: 'object',
      properties: Object.fromEntries(members.map(([name, schema]) => [name, schema])),
      required: members.filter(([, , required]) => required).map(([name]) => name),
      additionalProperties: false
    }))
}

function arrayOf (schemas: fc.Arbitrary<Schema>): fc.Arbitrary<Schema> {
  return schemas.map((items) => ({ type: 'array', items }))
}

/** Example matches of each pattern. HTML writes some of these patterns differently or not at all. */
const PATTERNS: { [pattern: string]: string[] } = {
  '^[a-z]+$': ['a', 'abc'],
  b: ['abc', 'b\nb', 'b'],
  '^a|b$': ['ab', 'ax', 'xb'],
  '^(a|b)$': ['a', 'b'],
  '^.{2}$': ['ab', '😀a', ' "'],
  '^[\\w-]*$': ['', 'a-b'],
  '^[^a&&b]+$': ['c', 'xyz'],
  '^a$|^b\\$$': ['a', 'b$'],
  '\\p{Lu}$': ['É', 'aB']
}

/** Returns schemas with these texts in their enumerations, and with these schemas for further members. */
function schemasOf (text: fc.Arbitrary<string>, ...besides: Array<fc.Arbitrary<Schema>>): fc.Arbitrary<Schema> {
  const enumerated = fc.uniqueArray(text, { minLength: 1, maxLength: 4 })
  const scalar: fc.Arbitrary<Schema> = fc.oneof(
    { weight: 3, arbitrary: fc.constant({ type: 'string' }) },
    fc.nat({ max: 6 }).map((maxLength) => ({ type: 'string', maxLength })),
    fc.nat({ max: 3 }).map((minLength) => ({ type: 'string', minLength })),
    fc.constantFrom('date', 'date-time', 'date-time', 'email', 'uri', 'uuid').map((format) => ({
      type: 'string', format
    })),
    fc.constantFrom(...Object.keys(PATTERNS)).map((pattern) => ({ type: 'string', pattern })),
    enumerated.map((choices) => ({ type: 'string', enum: choices })),
    enumerated.map((choices) => ({ anyOf: choices.map((choice) => ({ const: choice, type: 'string' })) })),
    fc.uniqueArray(fc.integer(), { minLength: 1, maxLength: 3 }).map((choices) => ({ type: 'integer', enum: choices })),
    fc.subarray(['a', '1', '', 'true', 1, 2.5, true, null]).map((choices) => ({ enum: [...choices, 0, '0'] })),
    fc.constantFrom(
      { type: 'integer', multipleOf: 5 },
      { type: 'number', multipleOf: 0.25 },
      { type: 'integer', minimum: -3, exclusiveMaximum: 12, multipleOf: 3 }
    ),
    { weight: 2, arbitrary: fc.constantFrom('integer', 'number', 'boolean').map((type) => ({ type })) }
  )
  const choices = enumerated.map((choices) => ({
    type: 'array', items: { type: 'string', enum: choices }, uniqueItems: true
  }))
  const item = orNull(scalar)
  const flat = objectOf(fc.oneof({ weight: 2, arbitrary: item }, ...besides), innerName, { minLength: 1, maxLength: 3 })
  const record = fc.oneof(
    item.map((additionalProperties) => ({ type: 'object', additionalProperties })),
    // TypeBox writes a record like this.
    item.map((values) => ({ type: 'object', patternProperties: { '^(.*)$': values } }))
  )
  const mixed = fc.tuple(flat, item).map(([schema, additionalProperties]) => ({ ...schema, additionalProperties }))
  const group = objectOf(
    fc.oneof({ weight: 3, arbitrary: item }, orNull(flat), arrayOf(item), ...besides),
    innerName,
    { minLength: 1, maxLength: 3 }
  )
  return orNull(fc.oneof(
    { weight: 6, arbitrary: scalar },
    ...besides,
    { weight: 2, arbitrary: arrayOf(item) },
    choices,
    {
      weight: 2,
      arbitrary: arrayOf(objectOf(
        fc.oneof({ weight: 3, arbitrary: item }, choices, arrayOf(flat)), innerName, { minLength: 1, maxLength: 3 }
      ))
    },
    arrayOf(orNull(fc.oneof(flat, record, arrayOf(item)))),
    { weight: 2, arbitrary: group },
    record,
    mixed,
    fc.constantFrom({}, { type: 'object' }),
    { weight: 2, arbitrary: unionsOf(scalar, flat) }
  ))
}

/**
 * Returns alternatives of different types. Integers and numbers are never alternatives, since they cannot be
 * distinguished.
 */
function unionsOf (scalar: fc.Arbitrary<Schema>, flat: fc.Arbitrary<Schema>): fc.Arbitrary<Schema> {
  const listed = fc.uniqueArray(fc.constantFrom('string', 'integer', 'boolean'), { minLength: 2 }).map(
    (type) => ({ type })
  )
  const typed: fc.Arbitrary<Schema> = fc.oneof(
    fc.constantFrom('integer', 'number', 'boolean', 'string').map((type) => ({ type })), arrayOf(scalar), flat
  )
  const kind = ({ type }: Schema): Json => type === 'integer' ? 'number' : type as Json
  const anyOf = fc.uniqueArray(typed, { minLength: 2, maxLength: 3, selector: kind }).map((parts) => {
    return { anyOf: parts }
  })
  return fc.oneof(listed, anyOf, fc.tuple(flat, flat).map((anyOf) => ({ anyOf })))
}

// ---- Values that fit

const digits = (length: number, max: number, min = 0): fc.Arbitrary<string> => fc.integer({ min, max }).map(
  (value) => String(value).padStart(length, '0')
)
const date = fc.tuple(digits(4, 9999, 1), digits(2, 12, 1), digits(2, 28, 1)).map((parts) => parts.join('-'))
/** A date and time that both RFC 3339 and XML Schema allow. */
const dateTime = fc.tuple(
  date, fc.constant('T'), digits(2, 23), digits(2, 59), digits(2, 59), fc.constantFrom('', '.5', '.000', '.123456789'),
  fc.constantFrom('Z', '+00:00', '-00:00', '+05:30', '-08:00', '+14:00')
).map(([date, separator, hour, minute, second, fraction, zone]) =>
  `${date}${separator}${hour}:${minute}:${second}${fraction}${zone}`)

const integer = fc.oneof(fc.integer({ min: -9, max: 9 }), fc.maxSafeInteger())
const number = fc.oneof(
  integer,
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom(1e20, 1.2345678901234568e20, 1e21, 5e-324, 2 ** 53, 2 ** 60, 0.1)
).map((value) => value === 0 ? 0 : value)

function valueOf (schema: Schema, text: fc.Arbitrary<string>): fc.Arbitrary<Json> {
  if ('const' in schema) return fc.constant(schema.const as Json)
  if (Array.isArray(schema.enum)) return fc.constantFrom(...schema.enum)
  if (Array.isArray(schema.anyOf)) return fc.oneof(...schema.anyOf.map((part) => valueOf(part as Schema, text)))
  if (Array.isArray(schema.type)) return fc.oneof(...schema.type.map((type) => valueOf({ ...schema, type }, text)))
  switch (schema.type) {
    case 'string': return stringOf(schema, text)
    case 'integer':
    case 'number': return numberOf(schema)
    case 'boolean': return fc.boolean()
    case 'array': return schema.uniqueItems === true
      ? fc.shuffledSubarray((schema.items as Schema).enum as string[])
      : fc.array(valueOf(schema.items as Schema, text), { maxLength: 4 })
    case 'object': return membersOf(schema, text)
    case 'null': return fc.constant(null)
    default: return openValueOf(text)
  }
}

/** A text that occurs nowhere else. */
const SECRET = 'sEcReT-1'

const FORMATS: { [format: string]: fc.Arbitrary<string> } = {
  date,
  'date-time': dateTime,
  email: fc.constantFrom('a@b.example', "O'Hara+1@x-y.example", `a@${'b'.repeat(64)}.example`),
  uri: fc.constantFrom('https://a.example/b?c=d&e#f', 'urn:isbn:1', 'mailto:a@b.example', 'http://[::1]:80/', 'a:b',
    'http://a..b/%20', 'http://256.256.256.256/', 'https:a'),
  uuid: fc.uuid()
}

function numberOf ({ type, multipleOf, minimum = -1000, exclusiveMaximum = 1000 }: Schema): fc.Arbitrary<number> {
  if (typeof multipleOf !== 'number') return type === 'integer' ? integer : number
  return fc.integer({
    min: Math.ceil(minimum as number / multipleOf), max: Math.ceil(exclusiveMaximum as number / multipleOf) - 1
  }).map((times) => times * multipleOf + 0)
}

function stringOf (
  { format, pattern, minLength, maxLength, writeOnly }: Schema, text: fc.Arbitrary<string>
): fc.Arbitrary<string> {
  if (writeOnly === true) return fc.constant(SECRET)
  if (format !== undefined) return FORMATS[format as string] as fc.Arbitrary<string>
  if (pattern !== undefined) return fc.constantFrom(...PATTERNS[pattern as string] as string[])
  if (minLength !== undefined) {
    return text.map((text) => text.padEnd(text.length - [...text].length + (minLength as number), 'x'))
  }
  // JSON Schema counts characters, not UTF-16 units.
  return maxLength === undefined ? text : text.map((text) => [...text].slice(0, maxLength as number).join(''))
}

/** Returns the schema of undeclared members, or undefined if there are none. */
function restOf ({ type, properties, patternProperties, additionalProperties }: Schema): Schema | undefined {
  if (patternProperties !== undefined) return Object.values(patternProperties as Members)[0] as Schema
  if (type === 'object' && properties === undefined && additionalProperties === undefined) return {}
  return typeof additionalProperties === 'object' ? additionalProperties as Schema : undefined
}

function membersOf (schema: Schema, text: fc.Arbitrary<string>): fc.Arbitrary<Members> {
  const { properties = {}, required = [] } = schema
  const declared = properties as { [name: string]: Schema }
  const rest = restOf(schema)
  const members = fc.record(
    Object.fromEntries(Object.entries(declared).map(([name, schema]) => [name, valueOf(schema, text)])),
    { requiredKeys: required as string[], noNullPrototype: true }
  )
  if (rest === undefined) return members
  const other = freeName.filter((name) => !Object.hasOwn(declared, name))
  const others = fc.dictionary(other, valueOf(rest, text), { maxKeys: 3, noNullPrototype: true })
  return fc.tuple(members, others).map(([members, others]) => ({ ...members, ...others }))
}

/** Returns any value of an undeclared attribute. */
function openValueOf (text: fc.Arbitrary<string>, names = freeName): fc.Arbitrary<Json> {
  const { value } = fc.letrec<{ value: Json }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 3, depthIdentifier: 'open' },
      fc.oneof(text, number, fc.boolean(), fc.constant(null), date),
      fc.array(tie('value'), { maxLength: 3, depthIdentifier: 'open' }),
      fc.dictionary(names, tie('value'), { maxKeys: 3, noNullPrototype: true, depthIdentifier: 'open' })
    )
  }))
  return value
}

/** The most records that are tried with one schema. */
const RECORDS = 3

function samplesOf (text: fc.Arbitrary<string>, ...besides: Array<fc.Arbitrary<Schema>>): fc.Arbitrary<Sample> {
  // Each attribute comes with its values, so that shrinking can drop irrelevant attributes.
  const attribute = fc.tuple(name, schemasOf(text, ...besides), fc.boolean()).chain(([name, schema, required]) => {
    const value = valueOf(schema, text)
    const values = fc.array(required ? value : fc.option(value, { nil: undefined, freq: 3 }), {
      minLength: RECORDS, maxLength: RECORDS
    })
    return fc.record({ name: fc.constant(name), schema: fc.constant(schema), required: fc.constant(required), values })
  })
  const declared = fc.tuple(fc.uniqueArray(attribute, { minLength: 1, maxLength: 6, selector: ({ name }) => name }),
    fc.integer({ min: 1, max: RECORDS })).map(([list, count]) => ({
    attributes: {
      type: 'object',
      properties: Object.fromEntries(list.map(({ name, schema }) => [name, schema])),
      required: list.filter(({ required }) => required).map(({ name }) => name)
    } as const,
    records: Array.from({ length: count }, (_, index) => Object.fromEntries(list.flatMap(({ name, values }) =>
      values[index] === undefined
        ? []
        : [[name, values[index]]])))
  }))
  const open = fc.array(
    fc.dictionary(name.filter(isOpenName), openValueOf(text), { maxKeys: 6, noNullPrototype: true }),
    { minLength: 1, maxLength: RECORDS }
  )
    .map((records) => ({ attributes: undefined, records }))
  return fc.oneof({ weight: 5, arbitrary: declared }, open)
}

// ---- Apps

/** Runs a check with two apps that differ only in the paths of their writes. */
async function withApps<T> (
  attributes: Attributes | undefined, use: (app: FastifyInstance, twin: FastifyInstance) => Promise<T>
): Promise<T> {
  const apps = [fastify(), fastify()] as const
  const options = { name: 'things', ...(attributes !== undefined && { attributes }) } as const
  try {
    await apps[0].register(resources, options)
    await apps[1].register(resources, { ...options, writes: 'member' })
    return await use(...apps)
  } finally {
    for (const app of apps) await app.close()
  }
}

/** Writes JSON. Large integers get an exponent, because their trailing digits are not exact. */
function stringify (value: Json): string {
  if (typeof value === 'number') {
    return Number.isInteger(value) && !Number.isSafeInteger(value) ? value.toExponential() : String(value)
  }
  if (Array.isArray(value)) return `[${value.map(stringify).join()}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  return `{${Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}:${stringify(member)}`).join()}}`
}

async function answered (
  app: FastifyInstance, status: number, request: InjectOptions, what: string
): Promise<LightMyRequestResponse> {
  const res = await app.inject(request)
  const [told = res.body] = /<div class="problem".*?<\/ul>/s.exec(res.body) ?? []
  assert.equal(res.statusCode, status, `${what}: ${res.statusCode} ${told}\n${String(request.payload ?? '')}`)
  return res
}

function get (app: FastifyInstance, url: string, accept: string): Promise<LightMyRequestResponse> {
  return answered(app, 200, { url, headers: { accept } }, `GET ${url}`)
}

function write (
  app: FastifyInstance, method: 'POST' | 'PUT', type: string, payload: string, what: string, url = '/things'
): Promise<LightMyRequestResponse> {
  const [status, accept] = type === form ? [303, 'text/html'] as const : [method === 'POST' ? 201 : 200, type] as const
  return answered(app, status, { method, url, headers: { accept, 'content-type': type }, payload }, what)
}

function idOf (res: LightMyRequestResponse): number {
  return Number(/^\/things\/(\d+)(?:#created)?$/.exec(String(res.headers.location))?.[1])
}

async function reads (app: FastifyInstance, id: number, record: Members, what: string): Promise<void> {
  const res = await get(app, `/things/${id}`, 'application/json')
  assert.deepEqual(JSON.parse(res.body), { thing: { ...record, id } }, what)
}

// ---- A browser

/** Returns a page's form for this method. The HTML and XHTML pages must have the same forms. */
async function openForm (app: FastifyInstance, url: string, method: 'POST' | 'PUT'): Promise<Form> {
  const [html, xhtml] = [await get(app, url, 'text/html'), await get(app, url, 'application/xhtml+xml')]
  assert.deepEqual(parseForms(xhtml), parseForms(html), `the forms of ${url} are the same in HTML and XHTML`)
  return findForm(html, method)
}

function send (app: FastifyInstance, form: Form, what: string): Promise<LightMyRequestResponse> {
  // maxlength counts UTF-16 units, and a character may have two.
  assert.deepEqual(refused(form).filter((why) => !/ is too long .*[\ud800-\udfff]/s.test(why)), [],
    `a browser can send the form: ${what}`)
  return answered(app, 303, submit(form, defaultButton(form), { accept: 'text/html' }), what)
}

/** The schema of a value other than null, with its alternatives merged. */
interface Described {
  /** Undefined if there are several types. */
  type: Json | undefined
  format: Json | undefined
  items: Schema
  properties: { [name: string]: Schema }
  rest: Schema | undefined
}

function alternativesOf (schema: Schema): Schema[] {
  if (Array.isArray(schema.anyOf)) return schema.anyOf.flatMap((part) => alternativesOf(part as Schema))
  return [schema.type ?? []].flat().length < 2 ? [schema] : (schema.type as Json[]).map((type) => ({ ...schema, type }))
}

function union (schemas: Schema[]): Schema {
  return schemas.length === 1 ? schemas[0] as Schema : { anyOf: schemas }
}

function describe (schema: Schema): Described {
  const all = alternativesOf(schema)
  // Integers and numbers together are numbers.
  const parts = all.filter(({ type }) => type !== 'null' &&
    !(type === 'integer' && all.some(({ type }) => type === 'number')))
  const one = (values: Json[]): Json | undefined => new Set(values).size === 1 ? values[0] : undefined
  const [arrays, objects] = ['array', 'object'].map((type) => parts.filter((part) =>
    part.type === type)) as [Schema[], Schema[]]
  const members = objects.flatMap(({ properties }) => Object.entries(properties ?? {}) as Array<[string, Schema]>)
  const rests = objects.map(restOf).filter((rest) => rest !== undefined)
  return {
    type: one(parts.map(({ type }) => type ?? null)) ?? undefined,
    format: one(parts.map(({ format }) => format ?? null)) ?? undefined,
    items: union(arrays.map(({ items }) => items as Schema)),
    properties: Object.fromEntries(members.map(([name]) => [name,
      union(members.filter(([other]) => other === name).map(([, schema]) => schema))])),
    rest: rests.length === 0 ? undefined : union(rests)
  }
}

/**
 * Types a value into a form's fields like a person, with the buttons that add rows. Returns the resulting form, or
 * undefined if the value cannot be typed or would mean something else.
 */
async function type (
  app: FastifyInstance, form: Form, name: string, value: Json, schema: Schema
): Promise<Form | undefined> {
  const { type: only, items, properties } = describe(schema)
  const mark = hidden(form, `${name}[?]`)
  if (visible(form, `${name}[]`).length > 0) return tick(form, `${name}[]`, value, mark)
  if (visible(form, name).length > 0) return typeText(form, name, value, only === undefined, mark)
  const values = Object.entries(value ?? {}) as Array<[member: string, value: Json]>
  let typed: Form | undefined = form
  if (buttonsOf(form).some((button) => button.name === `${name}[?][add]`)) {
    if (value === null && mark !== 'null') return undefined
    for (let count = 0; count < values.length; count++) typed = await addRow(app, typed, name)
    for (const [index, item] of values) typed &&= await type(app, typed, `${name}[${index}]`, item, items)
    return typed !== undefined && isMeant(value, values.length === 0, mark) ? typed : undefined
  }
  for (const [member, inner] of values) {
    typed &&= await type(app, typed, `${name}[${member}]`, inner, properties[member] as Schema)
  }
  const isBlank = entriesOf(typed ?? form).every(([entry, text]) => !entry.startsWith(`${name}[`) ||
    entry.includes('[?]') || text === '')
  return typed !== undefined && isMeant(value, isBlank, mark) ? typed : undefined
}

async function addRow (app: FastifyInstance, form: Form, name: string): Promise<Form> {
  const page = await answered(app, 200, submit(form, findButton(form, `${name}[?][add]`), { accept: 'text/html' }),
    `a row is added to ${name}`)
  const next = findForm(page, 'POST')
  const rowsOf = (form: Form): number => buttonsOf(form).filter((button) => button.name === `${name}[?][remove]`).length
  const kept = entriesOf(form)
  assert.equal(rowsOf(next), rowsOf(form) + 1, `${name} has one more row`)
  assert.deepEqual(entriesOf(next).filter(([entry]) => kept.some(([other]) => other === entry)), kept,
    'the typed values stay')
  return next
}

function tick (form: Form, name: string, value: Json, mark: string | undefined): Form | undefined {
  const boxes = visible(form, name).map(({ value }) => value)
  const wanted = (value as Json[] | null ?? []).map(String)
  const isInOrder = boxes.filter((box) => wanted.includes(box)).join('\n') === wanted.join('\n')
  return isInOrder && isMeant(value, wanted.length === 0, mark) ? fill(form, { [name]: wanted }) : undefined
}

function typeText (
  form: Form, name: string, value: Json, isUnion: boolean, mark: string | undefined
): Form | undefined {
  const [control] = visible(form, name) as [Control, ...Control[]]
  const text = typedText(value, mark === 'json', isUnion)
  if (text === undefined || text.includes('\r') || !isMeant(value, text === '', mark)) return undefined
  if (control.type === 'checkbox') return fill(form, { [name]: value === true })
  if (control.type === 'datetime-local') return typeMoment(form, name, text)
  const choices = control.type === 'radio'
    ? visible(form, name).map(({ value }) => value)
    : control.tag === 'select' ? control.options.map(({ value }) => value) : undefined
  if (choices?.includes(text) === false) return undefined
  if (control.tag === 'input' && control.type === 'text' && /[\r\n]/.test(text)) return undefined
  const written = fill(form, { [name]: text })
  assert.equal(shown(written, name), text, `a control of the type ${control.type} takes every value of the schema`)
  // HTML accepts fewer addresses than JSON Schema: no label of more than 63 letters, no host 256.256.256.256.
  if ((control.type === 'email' || control.type === 'url') &&
    refused(written).some((what) => what.startsWith(`${name} is no `))) {
    return undefined
  }
  return written
}

/** Types a clock and an offset. Returns undefined unless they give exactly the same date and time. */
function typeMoment (form: Form, name: string, text: string): Form | undefined {
  if (text === '') return fill(form, { [name]: '' })
  const [, local = '', offset = ''] = /^(.{19}(?:\.\d{1,3})?)(Z|[+-]\d\d:\d\d)$/.exec(text) ?? []
  const clock = String(shown(fill(form, { [name]: local, [`${name}[?][offset]`]: offset }), name))
  return refused(form).length === 0 && `${clock}${clock.length === 16 ? ':00' : ''}${offset}` === text
    ? form
    : undefined
}

/** Tells whether a blank field means this value, by the field's mark. */
function isMeant (value: Json, isBlank: boolean, mark: string | undefined): boolean {
  return !isBlank || mark === undefined || (mark === 'null' && value === null)
}

function typedText (value: Json, asJson: boolean, isUnion: boolean): string | undefined {
  if (asJson) return stringify(value)
  if (isUnion && typeof value !== 'string') return undefined
  if (!Array.isArray(value)) return value === null ? '' : typeof value === 'string' ? value : stringify(value)
  const lines = value.map((item) => typeof item === 'string' ? item : stringify(item))
  return lines.some((line) => line === '' || /[\r\n]/.test(line)) ? undefined : lines.join('\n')
}

t.test('a record reads back the same, whichever format wrote it', async (t) => {
  await holds(t, 90, fc.asyncProperty(samplesOf(text), async ({ attributes, records }) => {
    await withApps(attributes, async (app, twin) => {
      for (const record of records) {
        const made = await write(app, 'POST', 'application/json', `{"thing":${stringify(record)}}`,
          'the record is taken as JSON')
        await comesBack(app, twin, made, record)
      }
    })
  }))
})

// ---- Values that nearly fit

const wildText = fc.oneof(
  text,
  fc.array(
    fc.oneof(character, fc.constantFrom('\0', '\b', '\f', '\u001f', '\ud800', '\udc00', '\ufffe', '\uffff')),
    { maxLength: 4 }
  ).map((characters) => characters.join(''))
)
const wildNumber = fc.oneof(number.map(stringify), fc.constantFrom(
  '1e400', '-1e400', '1e-400', '1E5', '1.0', '-1.50', '100000000000000000000', '123456789012345680000',
  '9007199254740993', '9007199254740993.0', '9007199254740992', '0.1e1', '1e15', '1e16'
))
const wildDate = fc.oneof(
  date,
  fc.constantFrom('2026-02-30', '2026-2-3', ' 2026-01-31', '2026-01-31\n', '02026-01-31', '٢٠٢٦-01-31', '0000-01-01',
    '')
)
const ODD_PARTS = [
  ['2026-02-30', '26-01-31', '0000-01-01'],
  [' ', '\t', '\n', '\u00a0', '_', ''],
  ['23:59:60', '12:00:60', '24:00:00', '12:00', '1:2:3', '12:00:00.', '12:00:00,5'],
  ['', '+05', '+0530', '+24:00', '-00:00', ' Z', 'Z ', 'Z\n', 'z']
]
/** A date and time with one odd part. */
const wildDateTime = fc.oneof(
  dateTime,
  ...ODD_PARTS.map((odd, index) => fc.constantFrom(...odd).map((part) => ['2026-12-31', 'T', '23:59:59', 'Z'].with(
    index, part
  ).join('')))
)
const anything = fc.oneof(
  openValueOf(wildText).map(stringify),
  fc.constantFrom('{}', '[]', '[{}]', '{"":1}', '{"a b":1}', '{"a:b":1}', '{"__proto__":1}', '[[[[[[[[[1]]]]]]]]]',
    'null', '""', '" "')
)

const treeDefs = {
  $defs: {
    tree: {
      type: 'object',
      properties: { name: { type: ['string', 'null'] }, children: { type: 'array', items: { $ref: '#/$defs/tree' } } }
    }
  }
} as const
const { tree } = fc.letrec<{ tree: Json }>((tie) => ({
  tree: fc.record(
    {
      name: fc.oneof(wildText, fc.constant(null)),
      children: fc.array(tie('tree'), { maxLength: 2, depthIdentifier: 'tree' })
    },
    { requiredKeys: [], noNullPrototype: true }
  )
}))

/** One attribute of each kind, with JSON texts that fit, nearly fit or do not fit. */
const KINDS: { [name: string]: { schema: Schema, json: fc.Arbitrary<string> } } = {
  text: { schema: { type: 'string' }, json: wildText.map((text) => JSON.stringify(text)) },
  day: { schema: { type: 'string', format: 'date' }, json: wildDate.map((text) => JSON.stringify(text)) },
  moment: { schema: { type: 'string', format: 'date-time' }, json: wildDateTime.map((text) => JSON.stringify(text)) },
  until: {
    schema: { type: ['string', 'null'], format: 'date-time' }, json: wildDateTime.map((text) => JSON.stringify(text))
  },
  ratio: { schema: { type: 'number' }, json: wildNumber },
  count: { schema: { type: 'integer' }, json: wildNumber },
  either: { schema: { type: ['string', 'integer'] }, json: wildNumber },
  list: {
    schema: { type: 'array', items: { type: 'number' } },
    json: fc.array(wildNumber, { maxLength: 3 }).map((items) => `[${items.join()}]`)
  },
  group: {
    schema: { type: ['object', 'null'], properties: { a: { type: 'string' }, b: { type: ['number', 'null'] } } },
    json: fc.constantFrom('{}', '{"a":""}', '{"b":null}', '{"a":"","b":null}', '{"c":1}', 'null')
  },
  shape: {
    schema: {
      anyOf: [{ type: 'array', items: { type: 'string' } }, { type: 'object', properties: { a: { type: 'string' } } }]
    },
    json: fc.constantFrom('{}', '[]', '[""]', '{"a":""}')
  },
  both: {
    schema: {
      allOf: [{ type: 'object', properties: { a: { type: 'string' } }, required: ['a'] },
        { type: 'object', properties: { b: { type: ['number', 'null'] } } }]
    },
    json: fc.record({ a: wildText, b: number }, { requiredKeys: ['a'], noNullPrototype: true }).map(stringify)
  },
  tree: { schema: { $ref: '#/$defs/tree' }, json: tree.map(stringify) },
  any: { schema: {}, json: anything }
}
const nearly: Attributes = {
  type: 'object',
  ...treeDefs,
  properties: Object.fromEntries(Object.entries(KINDS).map(([name, { schema }]) => [name, schema]))
}
const nearlyFitting = fc.constantFrom(...Object.entries(KINDS)).chain(([name, { json }]) => fc.tuple(fc.constant(name),
  fc.oneof({ weight: 9, arbitrary: json }, anything)))

t.test('each accepted JSON value comes back in every format', async (t) => {
  await withApps(nearly, (app, twin) => holds(t, 500, fc.asyncProperty(nearlyFitting, async ([name, json]) => {
    const payload = `{"thing":{"${name}":${json}}}`
    const res = await app.inject({
      method: 'POST',
      url: '/things',
      headers: { accept: 'application/json', 'content-type': 'application/json' },
      payload
    })
    const { thing } = JSON.parse(payload, (_, value: Json) => value === 0 ? 0 : value) as { thing: Members }
    if (res.statusCode === 422) return
    assert.equal(res.statusCode, 201, res.body)
    await comesBack(app, twin, res, thing)
  })))
})

/**
 * Checks that a client which reads and writes like ActiveResource changes nothing. It cannot read or send
 * arrays of simple values, nor send names that begin with an underscore, and it sends no CR.
 */
async function comesBackByActiveResource (app: FastifyInstance, id: number, record: Members): Promise<void> {
  const Thing = new Model(new Connection(app), { element: 'thing' })
  for (const name of Object.keys(record)) {
    if (JSON.stringify(record[name]).includes('\\r')) continue
    try {
      const found = await Thing.find(id)
      for (const other of Object.keys(found.attributes)) {
        if (other !== name && other !== 'id') delete found.attributes[other]
      }
      assert.ok(await found.save(), `ActiveResource saves ${name}: ${JSON.stringify(found.errors)}\n${found.toXml()}`)
    } catch (error) {
      assert.match(String(error), /^TypeError|^BadRequest/)
    }
    await reads(app, id, record, `ActiveResource changes nothing: ${name}`)
  }
}

/** Checks that a created record survives each format. */
async function comesBack (
  app: FastifyInstance, twin: FastifyInstance, made: LightMyRequestResponse, record: Members
): Promise<void> {
  const id = idOf(made)
  const url = `/things/${id}`
  await reads(app, id, record, 'JSON gives back what JSON took')

  const document = (await get(app, url, 'application/xml')).body
  const copy = await write(twin, 'POST', 'application/xml', document.replace(/<id.*?<\/id>/, ''),
    'the XML document makes another of the kind')
  await reads(twin, idOf(copy), record, 'XML gives back what JSON took')

  await comesBackByActiveResource(twin, idOf(copy), record)
  const { headers: { etag } } = await get(app, url, 'application/json')
  for (const type of ['application/xml', 'application/json']) {
    await write(app, 'PUT', type, (await get(app, url, type)).body,
      `what was read as ${type} is an update that changes nothing`)
    await reads(app, id, record, `an update by what was read as ${type} changes nothing`)
    if (type === 'application/xml') {
      assert.equal((await get(app, url, 'application/json')).headers.etag, etag, 'XML as it was read writes nothing')
    }
  }

  for (const [where, id] of [[app, idOf(made)], [twin, idOf(copy)]] as const) {
    const url = `/things/${id}`
    const before = (await get(where, url, 'application/json')).headers.etag
    await send(where, await openForm(where, url, 'PUT'), 'the edit form is taken as it stands')
    await reads(where, id, record, 'the edit form changes nothing')
    assert.equal((await get(where, url, 'application/json')).headers.etag, before, 'an unchanged form writes nothing')
  }
}

t.test('a create form with only the required values makes a record of just those', async (t) => {
  await holds(t, 50, fc.asyncProperty(samplesOf(text), async ({ attributes, records }) => {
    if (attributes === undefined) return
    await withApps(attributes, async (app) => {
      for (const whole of records) {
        const record = Object.fromEntries((attributes.required ?? []).map((name) => [name, whole[name] as Json]))
        let form: Form | undefined = await openForm(app, '/things', 'POST')
        for (const [name, value] of Object.entries(record)) {
          form &&= await type(app, form, `thing[${name}]`, value, attributes.properties[name] as Schema)
        }
        if (form === undefined) continue
        await reads(app, idOf(await send(app, form, 'the create form is taken')), record,
          'the record holds what was typed')
      }
    })
  }))
})

const secret = fc.constantFrom<Schema[]>(
  { type: 'string', writeOnly: true }, { type: ['string', 'null'], writeOnly: true }
)

/** A property that two alternatives share and that one or both declare writeOnly. */
const SECRET_IN_BOTH: Array<[Sample]> = [{ type: 'string' }, { type: 'string', writeOnly: true }].map((other) => {
  const alternatives = [{ type: 'string', writeOnly: true }, other].map((key, index) => ({
    type: 'object',
    properties: { key, [`is${index}`]: { type: 'boolean' } },
    required: [`is${index}`],
    additionalProperties: false
  }))
  return [{
    attributes: { type: 'object', properties: { login: { anyOf: alternatives } } },
    records: [{ login: { is0: true, key: SECRET } }]
  }]
})

t.test('a writeOnly value is never sent', async (t) => {
  await holds(t, 30, fc.asyncProperty(samplesOf(text, secret), async ({ attributes, records }) => {
    await withApps(attributes, async (app) => {
      const hides = async (request: InjectOptions): Promise<LightMyRequestResponse> => {
        const res = await app.inject(request)
        assert.ok(
          !res.body.includes(SECRET),
          `${request.method ?? 'GET'} ${String(request.url)} reveals ` +
            `it: ${res.body.split('\n').filter((line) => line.includes(SECRET)).join('\n')}`
        )
        return res
      }
      for (const record of records) {
        const res = await hides({
          method: 'POST',
          url: '/things.json',
          headers: { 'content-type': 'application/json' },
          payload: `{"thing":${stringify(record)}}`
        })
        const id = idOf(res)
        for (const format of ['json', 'xml', 'html']) {
          for (const url of [`/things.${format}`, `/things/${id}.${format}`]) await hides({ url })
          await hides({ method: 'DELETE', url: `/things.${format}?id=${id}`, headers: { 'if-match': '"0"' } })
        }
      }
    })
  }), SECRET_IN_BOTH)
})

// ---- The document, by another writer

/** Returns the type attribute of an element (contract §2): from the schema if it has a type, else from the value. */
function typeOf (value: Json, { type, format }: Described): string | undefined {
  if (typeof value === 'string') {
    return format === 'date' ? 'date' : format === 'date-time' && /^.{19}Z$/.test(value) ? 'dateTime' : undefined
  }
  if (typeof value === 'number') {
    return type === 'integer' || (type === undefined && Number.isSafeInteger(value)) ? 'integer' : 'float'
  }
  return Array.isArray(value) ? 'array' : typeof value === 'boolean' ? 'boolean' : undefined
}

/** Tells whether an element can carry a value, apart from its parts. */
function isCarried (value: Json, schema: Schema, isOpen: boolean): boolean {
  if (typeof value === 'string') {
    const hasStructures = alternativesOf(schema).some(({ type, ...others }) => type === 'object' || type === 'array' ||
      (type === undefined && !('enum' in others || 'const' in others)))
    return isOpen || !hasStructures || !/^\s*[{["]/.test(value) || !isJson(value)
  }
  if (Array.isArray(value) || typeof value !== 'object' || value === null) return true
  const { properties } = describe(schema)
  const names = Object.keys(value)
  return names.length > 0 &&
    names.every((name) => Object.hasOwn(properties, name) ||
      (/^[A-Za-z_é中][\w.é中文-]*$/.test(name) && !(isOpen ? /-/ : /[-_]/).test(name)))
}

/** Tells whether elements carry a value with all its parts. */
function isCarriedWhole (value: Json): boolean {
  return isCarried(value, {}, true) &&
    (typeof value !== 'object' || value === null || Object.values(value).every(isCarriedWhole))
}

function isJson (text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

function addElement (parent: XMLBuilder, name: string, value: Json, schema: Schema | undefined): void {
  if (value === null) {
    parent.ele(name, { nil: 'true' })
    return
  }
  const described = describe(schema ?? {})
  if (!isCarried(value, schema ?? {}, schema === undefined)) {
    parent.ele(name, { type: 'json' }).txt(JSON.stringify(value))
    return
  }
  const type = value === '' ? 'string' : typeOf(value, described)
  const element = parent.ele(name, type === undefined ? {} : { type })
  if (Array.isArray(value)) {
    for (const item of value) {
      addElement(element, singularize(name), item, schema && described.items)
    }
  } else if (typeof value === 'object') addMembers(element, value, described, schema && (described.rest ?? {}))
  else element.txt(String(value))
}

/** Adds declared members in the order of the schema, then the others in their own. */
function addMembers (
  parent: XMLBuilder, members: Members, { properties }: Pick<Described, 'properties'>, rest: Schema | undefined
): void {
  const declared = Object.keys(properties).filter((name) => Object.hasOwn(members, name))
  const others = Object.keys(members).filter((name) => !Object.hasOwn(properties, name))
  for (const name of declared) addElement(parent, name, members[name] as Json, properties[name] as Schema)
  for (const name of others) addElement(parent, name, members[name] as Json, rest)
}

function addRecord (parent: XMLBuilder, id: number, record: Members, attributes: Attributes | undefined): void {
  const element = parent.ele('thing')
  element.ele('id', { type: 'integer' }).txt(String(id))
  if (attributes !== undefined) return addMembers(element, record, attributes, undefined)
  // Without a schema, a whole attribute is JSON text or is not.
  for (const [name, value] of Object.entries(record)) {
    if (isCarriedWhole(value)) addElement(element, name, value, undefined)
    else element.ele(name, { type: 'json' }).txt(JSON.stringify(value))
  }
}

function written (root: XMLBuilder): string {
  const document = root.end({ headless: true, allowEmptyTags: true })
  // An empty text and null have one tag (contract §2).
  return declaration + document.replaceAll(/( nil="true"| type="string")><\/[^>]*>/g, '$1/>')
}

t.test('a document equals the output of xmlbuilder2 to the byte', async (t) => {
  await holds(t, 50, fc.asyncProperty(samplesOf(ordinaryText), async ({ attributes, records }) => {
    await withApps(attributes, async (app) => {
      const collection = create().ele('things', { type: 'array' })
      for (const record of records) {
        const id = idOf(await write(app, 'POST', 'application/json', `{"thing":${stringify(record)}}`,
          'the record is taken'))
        const document = create()
        addRecord(document, id, record, attributes)
        addRecord(collection, id, record, attributes)
        assert.equal((await get(app, `/things/${id}`, 'application/xml')).body, written(document.root()))
      }
      assert.equal((await get(app, '/things', 'application/xml')).body, written(collection.root()))
    })
  }))
})

// ---- Whatever comes in

/** A body. Deeply nested ones are described by their parts, since their text may be too large to print. */
type Body = string
  | { bytes: string }
  | { before: string, open: string, times: number, inner: string, close: string, after: string }
interface Call { method: string, url: string, headers: { [name: string]: string }, body?: Body | undefined }

function payloadOf (body: Body): Buffer {
  if (typeof body === 'string') return Buffer.from(body)
  if ('bytes' in body) return Buffer.from(body.bytes, 'latin1')
  const { before, open, times, inner, close, after } = body
  return Buffer.from(before + open.repeat(times) + inner + close.repeat(times) + after)
}

const thing = {
  type: 'object',
  required: ['title'],
  properties: {
    title: { type: 'string', minLength: 1, maxLength: 20 },
    count: { type: ['integer', 'null'] },
    ratio: { type: 'number', default: 0.5 },
    flag: { type: 'boolean' },
    kind: { enum: ['a', 'b', null] },
    kinds: { type: 'array', items: { enum: ['a', 'b'] }, uniqueItems: true },
    links: {
      type: ['array', 'null'],
      items: {
        type: 'object',
        required: ['url'],
        properties: {
          url: { type: 'string', format: 'uri' },
          at: { type: 'string', format: 'date-time' },
          tags: { type: 'array', items: { type: ['string', 'null'] } }
        }
      }
    },
    day: { type: 'string', format: 'date' },
    moment: { type: ['string', 'null'], format: 'date-time' },
    tags: { type: 'array', items: { type: 'string' } },
    grid: { type: 'array', items: { type: 'array', items: { type: ['integer', 'null'] } } },
    author: {
      type: 'object',
      required: ['name'],
      properties: { name: { type: 'string' }, age: { type: 'integer' }, secret: { type: 'string', writeOnly: true } },
      additionalProperties: false
    },
    tree: { $ref: '#/$defs/tree' },
    either: {
      anyOf: [{ type: 'boolean' }, { type: 'integer' }, { type: 'object', properties: { a: { type: 'string' } } },
        { type: 'array', items: { type: 'string' } }]
    },
    counts: { type: 'object', additionalProperties: { type: 'integer' } },
    any: {},
    seal: { type: 'string', readOnly: true },
    hasOwnProperty: { type: 'string' }
  },
  ...treeDefs
} as const

const NOUNS = ['thing', 'note'] as const

const documentsOf = (noun: string): { [type: string]: string[] } => ({
  'application/json': [
    `{"${noun}":{"title":"T","count":1,"ratio":2.5,"flag":true,"day":"2026-01-31","tags":["a","b"],` +
      '"author":{"name":"A","age":3},"any":{"a":[null]}}}',
    `{"${noun}":{"title":"U","grid":[[1,null],[]],"tree":{"name":"a","children":[{"name":"b","children":[]}]},` +
      '"either":{"a":"x"},"counts":{"x":1}}}',
    `{"id":1,"${noun}":{"title":"\\u0054","count":null,"moment":"2026-01-31T12:00:00Z"}}`,
    `{"${noun}":{"id":2,"title":"T"}}`,
    '{"id":1}'
  ],
  'application/xml': [
    `${declaration}<${noun}><title>T</title><count type="integer">1</count><ratio type="float">2.5</ratio><flag ` +
      'type="boolean">true</flag><day type="date">2026-01-31</day><tags type="array"><tag>a</tag><tag/></tags>' +
      `</${noun}>`,
    `<${noun}><title><![CDATA[U]]>&amp;&#65;</title><grid type="array"><grid type="array"><grid nil="true"/></grid>` +
      `</grid><author name="A"><age>3</age></author><either>true</either><counts><x>1</x></counts></${noun}>`,
    `<${noun}><id type="integer">1</id><title/><count nil="true"/><moment type="dateTime">` +
      `2026-01-31T12:00:00Z</moment></${noun}>`,
    '<id type="integer">1</id>'
  ],
  [form]: [
    `${noun}%5Btitle%5D=T&${noun}[count]=1&${noun}[flag]=0&${noun}[flag]=on&${noun}[tags][]=a&${noun}[author][name]=A` +
      `&${noun}[counts]={"x":1}&${noun}[counts][?]=json&commit=Go`,
    `_method=PUT&id=1&_version=1&${noun}[title]=U&${noun}[count]=&${noun}[count][?]=null` +
      `&${noun}[tags]=a%0D%0Ab&${noun}[author][?]=absent` +
      `&${noun}[?][0][name]=any&${noun}[?][0][value]=1`,
    `${noun}[title]=T&${noun}[flag]=false&${noun}[flag]=true&${noun}[kinds][]=&${noun}[kinds][]=a` +
      `&${noun}[moment]=2026-01-31T12:00&${noun}[moment][?][offset]=Z&${noun}[moment][?][was]=2026-01-31t12:00:00Z` +
      `&${noun}[moment][?][keep]=yours`,
    `_method=PUT&id=1&${noun}[?][was]=title+0&${noun}[links]=&${noun}[links][0][url]=a:b` +
      `&${noun}[links][0][tags][1][?]=null&${noun}[links][0][tags][?][add]=1`,
    `${noun}[links][?]=null&${noun}[links][0][at]=2026-01-31T12:00&${noun}[links][0][at][?][offset]=z` +
      `&${noun}[links][1][url]=a:b&${noun}[links][?][remove]=0`,
    '_method=delete&id=2'
  ]
})

const FRAGMENTS = [
  '', '\0', '\ud800', '\ufffe', '\ufffd', '\r\n', ' ', '<', '</', '>', '/>', '&', ';', '=', '%', '%ff', '%00', '+',
  '[', ']', '[]', '[0]', '[?]', '{', '}', '"', '\\', '\\ud800', ',', ':', '-', '.', '1e999', '9007199254740993', '-0',
  '__proto__', 'constructor', 'toString', 'hasOwnProperty', 'prototype', 'null', 'true', 'id', 'id=3&',
  'type="integer"', 'type="array"', 'type="yaml"', 'nil="true"', 'x:', 'xmlns="a"', '<!DOCTYPE a>', '<!--', '-->',
  '<![CDATA[', ']]>', '<?a?>', '&#0;', '&a;',
  '"id":1,', '"thing":', '{"thing":{}}', '[?]=json', '[?][offset]=Z&', '[?][was]=1&', '[?][keep]=theirs&', '[?][add]=1',
  '[?][add]=1&', '[?][remove]=0&', '[?][?]', '_method=PUT&', '_version=9&', 'a'.repeat(70)
]

/** Removes, inserts or repeats parts of a text. */
function mutated (texts: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const mutation = fc.record({
    at: fc.nat({ max: 400 }),
    removed: fc.nat({ max: 12 }),
    repeated: fc.nat({ max: 3 }),
    inserted: fc.oneof(fc.constantFrom(...FRAGMENTS), fc.string({ unit: 'binary', maxLength: 3 }))
  })
  return fc
    .tuple(texts, fc.oneof(fc.constant([]), fc.array(mutation, { minLength: 1, maxLength: 3 })))
    .map(([text, mutations]) => mutations.reduce((before, { at, removed, repeated, inserted }) => {
      const start = at % (before.length + 1)
      return before.slice(0, start) + before.slice(start, start + removed).repeat(repeated) + inserted +
      before.slice(start + removed)
    }, text))
}

function nestedOf (noun: string): fc.Arbitrary<Body> {
  const nest = (before: string, open: string, inner: string, close: string, after: string): Body => ({
    before, open, times: 1, inner, close, after
  })
  const nests = ['any', 'grid', 'tree', 'either', 'title', 'unknown'].flatMap((name) => [
    ...['1', '9007199254740993', ''].map((inner) => nest(`{"${noun}":{"${name}":`, '[', inner, ']', '}}')),
    nest(`{"${noun}":{"${name}":`, '{"a":', '9007199254740993', '}', '}}'),
    nest(`{"${noun}":{"${name}":`, '{"children":[', '{}', ']}', '}}'),
    nest(`<${noun}><${name}>`, '<a>', '', '</a>', `</${name}></${noun}>`),
    nest(`<${noun}><${name} type="array">`, '<a type="array">', '', '</a>', `</${name}></${noun}>`),
    nest(`${noun}[${name}]`, '[a]', '=1', '', ''),
    nest(`${noun}[${name}][?]=json&${noun}[${name}]=`, '[', '9007199254740993', ']', '')
  ])
  const flat = [
    ...['[', '<a>', '<a b="a" '].map((open) => nest('', open, '', '', '')),
    nest('', `${noun}[title]=1&`, '', '', ''),
    nest(`{"${noun}":{"any":[`, '{},', '1', '', ']}}'),
    nest(`{"${noun}":{`, '"a":1,', '"title":"T"', '', '}}')
  ]
  return fc
    .tuple(fc.constantFrom(...nests, ...flat), fc.constantFrom(2, 7, 8, 9, 31, 33, 200, 1001, 20_000))
    .map(([body, times]) => ({ ...body as object, times }) as Body)
}

/** Returns the usual value in most cases, and each odd one in a few. */
function mostly<T> (usual: fc.Arbitrary<T>, ...odd: Array<fc.Arbitrary<T>>): fc.Arbitrary<T> {
  return fc.oneof({ weight: 6 * odd.length, arbitrary: usual }, ...odd)
}

/** Text that a header may have, as Node.js reads it. */
const garbage = fc.string({
  unit: fc
    .integer({ min: 0x20, max: 0xff })
    .filter((code) => code < 0x7f || code > 0xa0)
    .map((code) => String.fromCharCode(code)),
  maxLength: 12
})

const ODD_TYPES = ['application/json; charset=utf-8', 'Text/XML;charset="utf-8"', 'application/json;charset=latin1',
  'text/plain', 'multipart/form-data', 'application/problem+json', '']
const ODD_MEMBERS = [
  '/3', '/01', '/-1', '/', '/1/2', '/%31', '/%zz', '/%00', '/__proto__', '/9007199254740993', '/1.0', '.', '.xmlx'
]
const ODD_QUERIES = [
  '?', '?format=xml', '?format=html', '?format=json', '?format=', '?format=a&format=b', '?limit=1',
  '?limit=1&after=WzFd', '?after=WzFd', '?after=x', '?limit=0',
  '?id=1', '?id=2&id=1', '?__proto__=1', '?a[b]=c', '?%ff=%'
]

const none = fc.constant(undefined)
const headers = fc.record<{ [name: string]: string | undefined }>({
  accept: fc.oneof(
    none,
    mostly(
      fc.constantFrom('*/*', 'application/xml', 'text/html', 'application/xhtml+xml', 'application/json',
        'application/json;q=0', 'text/*;q=0.5, application/json;q=0.1', ''),
      garbage
    )
  ),
  'if-match': mostly(none, fc.constantFrom('*', '"1"', '"1.xml"', '"2.json"', 'W/"1"', '"1", "2"', '"'), garbage),
  'if-none-match': mostly(none, fc.constantFrom('*', '"1.xml"', 'W/"1.json"', '"1.html", '), garbage),
  origin: mostly(none, fc.constantFrom('http://localhost:80', 'http://evil.example', 'null'), garbage),
  'sec-fetch-site': mostly(none, fc.constantFrom('same-origin', 'none', 'cross-site'), garbage),
  'content-encoding': mostly(none, fc.constantFrom('identity', 'gzip'), garbage)
})

function bodyOf (noun: string): fc.Arbitrary<[type: string, body: Body]> {
  const documents = documentsOf(noun)
  const types = Object.keys(documents)
  const type = fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...types, 'text/xml') }, fc.constantFrom(...ODD_TYPES),
    garbage)
  const json = fc.oneof(fc.json(), fc.json().map((json) => `{"${noun}":${json}}`),
    fc.json().map((json) => `{"${noun}":{"title":"T","any":${json}}}`))
  const bytes = fc.string({ unit: fc.nat({ max: 0xff }).map((byte) => String.fromCharCode(byte)) }).map(
    (bytes) => ({ bytes })
  )
  return fc.oneof<Array<fc.MaybeWeightedArbitrary<[string, Body]>>>(
    {
      weight: 6,
      arbitrary: fc.constantFrom(...types).chain((type) => fc.tuple(fc.constant(type),
        mutated(fc.constantFrom(...documents[type] as string[]))))
    },
    fc.tuple(type, mutated(fc.constantFrom(...Object.values(documents).flat()))),
    fc.tuple(type, bytes),
    fc.tuple(fc.constant('application/json'), json),
    {
      weight: 2,
      arbitrary: nestedOf(noun).chain((body) => fc.tuple(mostly(fc.constant(typeNested(body)), type),
        fc.constant(body)))
    }
  )
}

function callOf (noun: string): fc.Arbitrary<Call> {
  const path = fc.tuple(
    mostly(fc.constantFrom('', '', '', '', '/1', '/2'), fc.constantFrom(...ODD_MEMBERS),
      garbage.map((text) => `/${encodeURIComponent(text)}`)),
    mostly(fc.constant(''), fc.constantFrom('.xml', '.json', '.html', '.csv', '.xml.json')),
    mostly(fc.constant(''), fc.constantFrom(...ODD_QUERIES), garbage.map((text) => `?${text.replaceAll('#', '')}`))
  )
  return fc.record({
    method: fc.oneof({ weight: 3, arbitrary: fc.constantFrom('POST', 'PUT', 'POST') },
      fc.constantFrom('GET', 'HEAD', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE')),
    url: path.map((parts) => `/${noun}s${parts.join('')}`),
    headers,
    body: mostly<[type?: string, body?: Body]>(bodyOf(noun), fc.constant([]))
  }).map(({ method, url, headers, body: [type, body] }) => ({
    method,
    url,
    headers: Object.fromEntries(Object
      .entries({ ...headers, 'content-type': type })
      .filter((entry): entry is [string, string] => entry[1] !== undefined)),
    body
  }))
}

function typeNested (body: Body): string {
  const { before, open } = body as { before: string, open: string }
  return /^[[{]/.test(before + open) ? 'application/json' : /^</.test(before + open) ? 'application/xml' : form
}

/** Checks that a body is valid in its own media type. */
function isWellFormed ({ body, headers, statusCode }: LightMyRequestResponse, method: string): void {
  if (method === 'HEAD' || [204, 303, 304].includes(statusCode)) {
    return assert.equal(body, '', `${method} ${statusCode} has no body`)
  }
  const type = String(headers['content-type'])
  if (/^application\/(problem\+)?json(;|$)/.test(type)) JSON.parse(body)
  else if (/^text\/html;/.test(type)) {
    assert.match(body,
      /^<!DOCTYPE html>\n<html .*<main id="main">.+<\/main>\n(?:<footer>.+<\/footer>\n)?<\/body>\n<\/html>\n$/s)
  } else {
    assert.match(type, /^(application|text)\/xml;|^application\/xhtml\+xml;/)
    const parser = new SaxesParser({ xmlns: true })
    parser.on('error', (error) => { throw error })
    parser.write(body).close()
  }
}

/** Returns a store that can be cleared, so that one app serves all runs. */
function makeStore (): Store & { clear: () => void } {
  let store = memoryStore({ unique: ['day'] })
  return {
    clear: () => { store = memoryStore({ unique: ['day'] }) },
    list: (query) => store.list(query),
    get: (id, scope) => store.get(id, scope),
    create: (attributes, scope) => store.create(attributes, scope),
    update: (id, changes, guard) => store.update(id, changes, guard),
    delete: (id, guard) => store.delete(id, guard)
  }
}

t.test('any request gets a well-formed answer without a server error, and a refusal changes nothing', async (t) => {
  const app = fastify()
  t.teardown(() => app.close())
  const stores = [makeStore(), makeStore()] as const
  await app.register(resources, { name: 'things', attributes: thing, store: stores[0], writes: 'both' })
  await app.register(resources, { name: 'notes', store: stores[1], writes: 'both' })
  const state = async (): Promise<string[]> => Promise.all(NOUNS.map(async (noun) => (await get(app, `/${noun}s`,
    'application/json')).body))

  const calls = fc.array(fc.oneof(...NOUNS.map(callOf)), { minLength: 1, maxLength: 8 })
  await holds(t, 250, fc.asyncProperty(calls, async (calls) => {
    for (const store of stores) store.clear()
    for (const noun of NOUNS) {
      for (const document of documentsOf(noun)['application/json']?.slice(0, 2) ?? []) {
        await write(app, 'POST', 'application/json', document, 'a row', `/${noun}s`)
      }
    }
    for (const { method, url, headers, body } of calls) {
      const before = await state()
      const res = await app.inject({
        method: method as 'GET', url, headers, ...(body !== undefined && { payload: payloadOf(body) })
      })
      const what = `${method} ${url}: ${res.statusCode}`
      assert.ok(res.statusCode < 500, what)
      isWellFormed(res, method)
      const isPage = res.statusCode === 200 && /html/.test(String(res.headers['content-type']))
      if (res.statusCode >= 400 || isPage || !['POST', 'PUT', 'PATCH', 'DELETE'].includes(method)) {
        assert.deepEqual(await state(), before, `${what} changes nothing`)
      }
    }
    await canBeRead(app)
  }))
})

/** Checks that each stored record can be read in each format. */
async function canBeRead (app: FastifyInstance): Promise<void> {
  for (const noun of NOUNS) {
    const rows = (await get(app, `/${noun}s`,
      'application/json')).json<{ [plural: string]: Array<{ id: number }> }>()[`${noun}s`] ?? []
    for (const url of [`/${noun}s`, ...rows.map(({ id }) => `/${noun}s/${id}`)]) {
      for (const type of ['application/json', 'application/xml', 'text/html', 'application/xhtml+xml']) {
        isWellFormed(await get(app, url, type), 'GET')
      }
    }
  }
}
