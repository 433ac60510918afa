import fastify, { type FastifyInstance, type InjectOptions, type LightMyRequestResponse } from 'fastify'
import fc from 'fast-check'
import assert from 'node:assert/strict'
import type { Test } from 'tap'
import resources, { type AttributesSchema } from '../../lib/index.js'

// FC_SEED=… repeats the run of a reported failure. FC_RUNS=10 makes ten times as many runs.
export const seed = Number(process.env.FC_SEED ?? 20_260_131)
export const effort = Number(process.env.FC_RUNS ?? 0.1)
// Only a failure takes long, because fast-check shrinks its example.

export type Json = null | boolean | number | string | Json[] | Members
export interface Members { [name: string]: Json }
export type Schema = Members
/** A schema of attributes, or none, and records that fit it. */
export interface Sample { attributes: Attributes | undefined, records: Members[] }
export interface Attributes extends AttributesSchema { readonly properties: { [name: string]: Schema } }

export const form = 'application/x-www-form-urlencoded'

export async function holds<Ts extends [unknown, ...unknown[]]> (
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
export const character = fc.oneof(
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
export const text = fc.array(character, { maxLength: 8 }).map((characters) => characters.join(''))

/** Excludes what xmlbuilder2 writes differently on purpose or by mistake: CR, and text that looks like a reference. */
export const ordinaryText = text.map((text) =>
  // eslint-disable-next-line no-control-regex
  text.replaceAll(/[\r\0-\u0008\u000e-\u001f\ufffe]/g, '').replaceAll('&', '& '))

export const PLAIN_NAMES = ['title', 'tags', 'people', 'first_name', 'publishedAt', 'news', 'author', 'x']
export const ODD_NAMES = [
  'first-name', 'a.b', 'x-y.z', '_', '__', 's', 'S', 'type', 'nil', 'name', 'length', 'xmlns', 'Xml', 'commit',
  '_method', '_version', 'thing', 'things', 'format', 'ID', 'é', '中文', '𐐀',
  'constructor', 'toString', 'valueOf', 'hasOwnProperty', '__defineGetter__', 'prototype', 'then', 'toJSON', 'default',
  'null'
]
export const name = fc.oneof({ weight: 3, arbitrary: fc.constantFrom(...PLAIN_NAMES) }, fc.constantFrom(...ODD_NAMES),
  fc.stringMatching(/^[a-zA-Z_é][\w.é-]{0,8}$/).filter((name) => name !== 'id' && name !== '__proto__'))
export const innerName = fc.oneof({ weight: 9, arbitrary: name }, fc.constant('id'))
/** Names inside values that no schema declares. */
export const freeName = fc.oneof({ weight: 4, arbitrary: innerName },
  fc.constantFrom('', ' ', 'a b', '2024', '$ref', '<&>', '"', 'é\ufffd', 'x:y', '\u0001', 'a[b]', '\n'))
/** Tells whether an attribute may have the name without a schema. */
export const isOpenName = (name: string): boolean => !/[-𐐀]/u.test(name)

// ---- Schemas

/** Allows null in each way that schemas can express it. */
export function orNull (schemas: fc.Arbitrary<Schema>): fc.Arbitrary<Schema> {
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

export function objectOf (
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

export function arrayOf (schemas: fc.Arbitrary<Schema>): fc.Arbitrary<Schema> {
  return schemas.map((items) => ({ type: 'array', items }))
}

/** Example matches of each pattern. HTML writes some of these patterns differently or not at all. */
export const PATTERNS: { [pattern: string]: string[] } = {
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
export function schemasOf (text: fc.Arbitrary<string>, ...besides: Array<fc.Arbitrary<Schema>>): fc.Arbitrary<Schema> {
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
export function unionsOf (scalar: fc.Arbitrary<Schema>, flat: fc.Arbitrary<Schema>): fc.Arbitrary<Schema> {
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

export const digits = (length: number, max: number, min = 0): fc.Arbitrary<string> => fc.integer({ min, max }).map(
  (value) => String(value).padStart(length, '0')
)
export const date = fc.tuple(digits(4, 9999, 1), digits(2, 12, 1), digits(2, 28, 1)).map((parts) => parts.join('-'))
/** A date and time that both RFC 3339 and XML Schema allow. */
export const dateTime = fc.tuple(
  date, fc.constant('T'), digits(2, 23), digits(2, 59), digits(2, 59), fc.constantFrom('', '.5', '.000', '.123456789'),
  fc.constantFrom('Z', '+00:00', '-00:00', '+05:30', '-08:00', '+14:00')
).map(([date, separator, hour, minute, second, fraction, zone]) =>
  `${date}${separator}${hour}:${minute}:${second}${fraction}${zone}`)

export const integer = fc.oneof(fc.integer({ min: -9, max: 9 }), fc.maxSafeInteger())
export const number = fc.oneof(
  integer,
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom(1e20, 1.2345678901234568e20, 1e21, 5e-324, 2 ** 53, 2 ** 60, 0.1)
).map((value) => value === 0 ? 0 : value)

export function valueOf (schema: Schema, text: fc.Arbitrary<string>): fc.Arbitrary<Json> {
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
export const SECRET = 'sEcReT-1'

export const FORMATS: { [format: string]: fc.Arbitrary<string> } = {
  date,
  'date-time': dateTime,
  email: fc.constantFrom('a@b.example', "O'Hara+1@x-y.example", `a@${'b'.repeat(64)}.example`),
  uri: fc.constantFrom('https://a.example/b?c=d&e#f', 'urn:isbn:1', 'mailto:a@b.example', 'http://[::1]:80/', 'a:b',
    'http://a..b/%20', 'http://256.256.256.256/', 'https:a'),
  uuid: fc.uuid()
}

export function numberOf ({
  type, multipleOf, minimum = -1000, exclusiveMaximum = 1000
}: Schema): fc.Arbitrary<number> {
  if (typeof multipleOf !== 'number') return type === 'integer' ? integer : number
  return fc.integer({
    min: Math.ceil(minimum as number / multipleOf), max: Math.ceil(exclusiveMaximum as number / multipleOf) - 1
  }).map((times) => times * multipleOf + 0)
}

export function stringOf (
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
export function restOf ({ type, properties, patternProperties, additionalProperties }: Schema): Schema | undefined {
  if (patternProperties !== undefined) return Object.values(patternProperties as Members)[0] as Schema
  if (type === 'object' && properties === undefined && additionalProperties === undefined) return {}
  return typeof additionalProperties === 'object' ? additionalProperties as Schema : undefined
}

export function membersOf (schema: Schema, text: fc.Arbitrary<string>): fc.Arbitrary<Members> {
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
export function openValueOf (text: fc.Arbitrary<string>, names = freeName): fc.Arbitrary<Json> {
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
export const RECORDS = 3

export function samplesOf (text: fc.Arbitrary<string>, ...besides: Array<fc.Arbitrary<Schema>>): fc.Arbitrary<Sample> {
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
export async function withApps<T> (
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
export function stringify (value: Json): string {
  if (typeof value === 'number') {
    return Number.isInteger(value) && !Number.isSafeInteger(value) ? value.toExponential() : String(value)
  }
  if (Array.isArray(value)) return `[${value.map(stringify).join()}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  return `{${Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}:${stringify(member)}`).join()}}`
}

export async function answered (
  app: FastifyInstance, status: number, request: InjectOptions, what: string
): Promise<LightMyRequestResponse> {
  const res = await app.inject(request)
  const [told = res.body] = /<div class="problem".*?<\/ul>/s.exec(res.body) ?? []
  assert.equal(res.statusCode, status, `${what}: ${res.statusCode} ${told}\n${String(request.payload ?? '')}`)
  return res
}

export function get (app: FastifyInstance, url: string, accept: string): Promise<LightMyRequestResponse> {
  return answered(app, 200, { url, headers: { accept } }, `GET ${url}`)
}

export function write (
  app: FastifyInstance, method: 'POST' | 'PUT', type: string, payload: string, what: string, url = '/things'
): Promise<LightMyRequestResponse> {
  const [status, accept] = type === form ? [303, 'text/html'] as const : [method === 'POST' ? 201 : 200, type] as const
  return answered(app, status, { method, url, headers: { accept, 'content-type': type }, payload }, what)
}

export function idOf (res: LightMyRequestResponse): number {
  return Number(/^\/things\/(\d+)$/.exec(String(res.headers.location))?.[1])
}

export async function reads (app: FastifyInstance, id: number, record: Members, what: string): Promise<void> {
  const res = await get(app, `/things/${id}`, 'application/json')
  assert.deepEqual(JSON.parse(res.body), { thing: { ...record, id } }, what)
}

/** The schema of a value other than null, with its alternatives merged. */
export interface Described {
  /** Undefined if there are several types. */
  type: Json | undefined
  format: Json | undefined
  items: Schema
  properties: { [name: string]: Schema }
  rest: Schema | undefined
}

export function alternativesOf (schema: Schema): Schema[] {
  if (Array.isArray(schema.anyOf)) return schema.anyOf.flatMap((part) => alternativesOf(part as Schema))
  return [schema.type ?? []].flat().length < 2 ? [schema] : (schema.type as Json[]).map((type) => ({ ...schema, type }))
}

export function union (schemas: Schema[]): Schema {
  return schemas.length === 1 ? schemas[0] as Schema : { anyOf: schemas }
}

export function describe (schema: Schema): Described {
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

export const treeDefs = {
  $defs: {
    tree: {
      type: 'object',
      properties: { name: { type: ['string', 'null'] }, children: { type: 'array', items: { $ref: '#/$defs/tree' } } }
    }
  }
} as const
