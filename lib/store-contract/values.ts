import assert from 'node:assert/strict'
import type { Attributes, Id } from '../stores/store.js'
import { carries, codeOf, existing, rowOf, same, settle } from './assertions.js'
import { ODD_NAMES } from './needs.js'
import type { Checks } from './scenario.js'
import { type Subject, holds } from './subject.js'

export const TEXTS: readonly string[] = [
  '', ' ', '  both ends  ', '\t', '\r', '\n', 'a\r\nb\rc\nd\te', '0', '1', '01', 'null', 'NULL', 'true', 'undefined', '[]', '{}', '"', '\'', '`', '\\', '\\\\', '\\n',
  '\'; DROP TABLE rows; --', '" OR ""="', '1; SELECT 1', '$1', '?', ':title', '@title', '%', '_', '%s', '%_%', '\\%', '*', '[a-z]', '/* */', '--',
  '\u0001\u001f\u007f', '\u0085\u00a0\u2028\u2029', '\ufeffmark', '\ufffd', '\ue000', '😀', '𝒳y', 'e\u0301', 'é', 'Ł', 'ß', 'ﬀ', 'İıI', '\u202eright to left', '日本語', '🇦🇶👩‍👩‍👧', '\u{10fffd}'
]

const INTEGERS = [0, 1, -1, 10, 2 ** 31 - 1, 2 ** 31, -(2 ** 31), 2 ** 32, 2 ** 53 - 1, -(2 ** 53 - 1), 2 ** 53 - 2, 1e15, null]
const NUMBERS = [0, 1, -1, 0.1, -0.1, 0.1 + 0.2, 1 / 3, 1e-7, 5e-324, -5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, -1.7976931348623157e308, 1e21, 2 ** 53, 123456789.12345679, 4.35, 2 ** 31 + 0.5]
const TIMES = [
  '2024-02-29T12:00:00Z', '2024-02-29T12:00:00.000Z', '2024-02-29T12:00:00.1Z', '2024-02-29T12:00:00.123456789Z', '2024-02-29T12:00:00+00:00', '2024-02-29T12:00:00-00:00',
  '2024-02-29T12:00:00+05:45', '2024-02-29T23:59:59.999999-08:00', '2016-12-31T23:59:60Z', '0001-01-01T00:00:00Z', '9999-12-31T23:59:59.9Z', '2024-02-29t12:00:00z', null
]
/** The order of their first characters is not the order of their last ones. */
export const UUIDS: readonly string[] = [
  '00000000-0000-0000-0000-000000000000', '0190a6f0-7c3a-7000-8000-00000000000f', '0190a6f0-7c3a-7000-8000-000000000010', '9b2d7f00-0000-4000-9000-0000000000ff', 'a0000000-0000-4000-8000-000000000001',
  'ab000000-0000-1000-8000-000000000000', 'ffffffff-ffff-7fff-bfff-fffffffffffe', 'ffffffff-ffff-ffff-ffff-ffffffffffff'
]
/** Texts that a database may read as the second of them, and others that it may refuse. */
export const NO_UUIDS: readonly string[] = ['0190A6F0-7C3A-7000-8000-00000000000F', '{0190a6f0-7c3a-7000-8000-00000000000f}', '0190a6f07c3a7000800000000000000f', ' 0190a6f0-7c3a-7000-8000-00000000000f', 'urn:uuid:0190a6f0-7c3a-7000-8000-00000000000f', '0190a6f0-7c3a-7000-8000', 'none', '1', '']
const LISTS = [[], [''], ['a', 'b'], ['b', 'a', 'b'], ['null', '1', 'true'], ['{a,b}', 'c"d', 'e\\f', 'g,h', ' ', '\'', 'NULL'], TEXTS]
const OBJECTS: readonly Attributes[] = [
  {}, { a: {} }, { a: [] }, { a: [[], [[]], {}] }, { a: null, b: [null, null] }, { deep: { er: { and: { deeper: [{ still: [1, '1', true, 'true', null, 'null'] }] } } } },
  { '': 1, ' ': 2, 'a.b': 3, 'a"b': 4, 'a\'b': 5, $ne: 6, 0: 7, naïve: 8, '😀': 9, 'a\nb': 10, 'a\\b': 11, id: 12, version: 13, title: 14 },
  { toString: 1, constructor: { prototype: { valueOf: 1 } }, hasOwnProperty: 'x', toJSON: 'x', length: 0 }, { numbers: [0.1, 1e21, 5e-324, 2 ** 53 - 1, -1e-7] }, { texts: TEXTS }
]
/** Which only those who look closely can tell from each other. */
const LOOKALIKES: readonly unknown[] = ['1', 1, '1.0', 'true', true, 'false', false, '0', 0, '', null, 'null', [], '[]', {}, '{}', [1], ['1'], '[1]', [null], { a: 1 }, { a: '1' }, '{"a":1}', ['a'], { 0: 'a' }, 0.5, '0.5', '"a"']

export const valueChecks: Checks = {
  'texts are kept to the letter': (subject) => keeps(subject, 'title', TEXTS),
  'integers are kept up to 2^53 - 1': (subject) => keeps(subject, 'count', INTEGERS),
  'numbers are kept to the last bit': (subject) => keeps(subject, 'ratio', NUMBERS),
  'true is kept as true, false as false': (subject) => keeps(subject, 'done', [true, false]),
  'times are kept as the text that they were given as': (subject) => keeps(subject, 'at', TIMES),
  'UUIDs are kept as they were given': (subject) => keeps(subject, 'owner', [...UUIDS, null]),
  'arrays are kept in their order, empty ones too': (subject) => keeps(subject, 'tags', LISTS),
  'objects are kept to the last of their members': (subject) => keeps(subject, 'details', OBJECTS),
  'values of different types are kept apart': (subject) => keeps(subject, 'anything', LOOKALIKES),

  'attributes may be called anything': async (subject) => {
    for (const name of ODD_NAMES) await keeps(subject, name, ['', 'text', name, '"', '\''])
    const whole = Object.fromEntries(ODD_NAMES.map((name) => [name, `of ${name}`]))
    const row = await subject.create(whole)
    carries(existing(await subject.get(row.id)), { title: 'T', ...whole }, 'the row with all of them')
  },

  'a text of a million characters is kept': async (subject) => {
    const long = 'This line has é, 😀 and "quotes".\r\n'.repeat(30_000)
    const { id } = await subject.create({ title: long, details: { long } })
    const rows = [existing(await subject.get(id)), ...await subject.rows(), rowOf(await subject.update(id, { count: 1 }))]
    for (const { attributes } of rows) {
      const { long: inner } = attributes.details as Attributes
      // Compared here, since to show how two of them differ takes minutes.
      assert.ok(attributes.title === long && inner === long, `a text of ${long.length} characters came back as one of ${String(attributes.title).length}, or inside an object of ${String(inner).length}`)
    }
  },

  'a text that a store cannot keep is refused as invalid, and nothing is written': async (subject) => {
    const row = await subject.create({ title: 'Before' })
    for (const title of ['a\0b', '\0', 'half \ud800', '\udc00 half']) {
      const created = await settle(subject.create({ title }))
      if (created.answered) {
        carries(existing(await subject.get(created.value.id)), { title }, 'a row with a text that is no proper one')
        rowOf(await subject.delete(created.value.id))
        continue
      }
      isInvalid(created.error, title)
      const updated = await settle(subject.update(row.id, { title }))
      isInvalid(updated.answered ? undefined : updated.error, title)
      await holds(subject, [row], `the rows after ${JSON.stringify(title)} was refused`)
    }
  }
}

function isInvalid (error: unknown, title: string): void {
  same(codeOf(error), 'FST_RESOURCES_INVALID', `an InvalidError must be thrown for ${JSON.stringify(title)}, not ${String(error)}`)
}

/** Each value comes back as it is, whether it was there from the beginning or came by an update. */
async function keeps (subject: Subject, name: string, values: readonly unknown[]): Promise<void> {
  const given = new Map<Id, Attributes>()
  for (const value of values) {
    const attributes = { title: 'T', [name]: value }
    const created = await subject.create(attributes)
    const bare = await subject.create({ code: 'bare' })
    const updated = rowOf(await subject.update(bare.id, { [name]: value }))
    given.set(created.id, attributes).set(updated.id, { code: 'bare', ...attributes })
    carries(created, attributes, `${name} was created with ${JSON.stringify(value)}`)
    carries(updated, { code: 'bare', ...attributes }, `${name} was updated to ${JSON.stringify(value)}`)
  }
  const listed = new Map((await subject.rows()).map((row) => [row.id, row]))
  for (const [id, attributes] of given) {
    carries(existing(await subject.get(id)), attributes, `what get answers of ${name}`)
    carries(existing(listed.get(id)), attributes, `what list answers of ${name}`)
  }
}
