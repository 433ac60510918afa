import assert from 'node:assert/strict'
import type { Id } from '../../core/resource/row.js'
import type { Attributes } from '../../core/schema/types.js'
import { findMember } from '../../core/util/own-property.js'
import { carries, codeOf, existing, rowOf, same, settle } from '../assertions.js'
import { ODD_NAMES } from '../options.js'
import { type Checks, holds, type Subject } from '../subject.js'

export const TEXTS: readonly string[] = [
  '', ' ', '  both ends  ', '\t', '\r', '\n', 'a\r\nb\rc\nd\te', '0', '1', '01', 'null', 'NULL', 'true', 'undefined',
  '[]', '{}', '"', "'", '`', '\\', '\\\\', '\\n', "'; DROP TABLE rows; --", '" OR ""="', '1; SELECT 1', '$1', '?',
  ':title', '@title', '%', '_', '%s', '%_%', '\\%', '*', '[a-z]', '/* */', '--', '\u0001\u001f\u007f',
  '\u0085\u00a0\u2028\u2029', '\ufeffmark', '\ufffd', '\ue000', '😀', '𝒳y', 'e\u0301', 'é', 'Ł', 'ß', 'ﬀ', 'İıI',
  '\u202eright to left', '日本語', '🇦🇶👩‍👩‍👧', '\u{10fffd}'
]

export const INTEGERS: readonly number[] = [
  0, 1, -1, 2, 9, 10, 11, 100, -9, -10, 2 ** 31 - 1, 2 ** 31, -(2 ** 31), -(2 ** 31) - 1, 2 ** 32, 1e15, 2 ** 53 - 1,
  2 ** 53 - 2, -(2 ** 53 - 1), -(2 ** 53 - 2)
]
export const NUMBERS: readonly number[] = [
  0, 1, -1, 2, 9, 10, 0.5, -0.5, 0.1, -0.1, 0.1 + 0.2, 0.3, 1 / 3, 1e-7, 5e-324, -5e-324, 2.2250738585072014e-308,
  1.7976931348623157e308, -1.7976931348623157e308, 1e20, 1e21, -1e21, 2 ** 53, 2 ** 53 + 2, 123456789.12345679, 4.35,
  2 ** 31 + 0.5
]
export const TIMES: readonly string[] = [
  '2024-01-01T00:00:00Z', '2024-01-01T00:00:00+02:00', '2024-01-01T00:00:00.5Z', '2023-12-31T23:59:59-08:00',
  '0999-01-01T00:00:00Z', '2024-01-01T00:00:00.0Z', '2024-01-01T01:00:00+01:00', '2024-02-29T12:00:00.123456789Z',
  '2024-02-29T12:00:00+00:00', '2024-02-29T12:00:00-00:00', '2024-02-29T12:00:00+05:45',
  '2024-02-29T23:59:59.999999-08:00', '2016-12-31T23:59:60Z', '0001-01-01T00:00:00Z', '9999-12-31T23:59:59.9Z',
  '2024-02-29t12:00:00z'
]
/** UUIDs whose first characters have another order than their last ones. */
export const UUIDS: readonly string[] = [
  '00000000-0000-0000-0000-000000000000', '0190a6f0-7c3a-7000-8000-00000000000f',
  '0190a6f0-7c3a-7000-8000-000000000010', '9b2d7f00-0000-4000-9000-0000000000ff',
  'a0000000-0000-4000-8000-000000000001', 'ab000000-0000-1000-8000-000000000000',
  'ffffffff-ffff-7fff-bfff-fffffffffffe', 'ffffffff-ffff-ffff-ffff-ffffffffffff'
]
/** Invalid UUIDs. A database may read some of them as the second UUID, and may refuse others. */
export const NO_UUIDS: readonly string[] = [
  '0190A6F0-7C3A-7000-8000-00000000000F', '{0190a6f0-7c3a-7000-8000-00000000000f}',
  '0190a6f07c3a7000800000000000000f', ' 0190a6f0-7c3a-7000-8000-00000000000f',
  'urn:uuid:0190a6f0-7c3a-7000-8000-00000000000f', '0190a6f0-7c3a-7000-8000', 'none', '1', ''
]
const LISTS = [
  [], [''], ['a', 'b'], ['b', 'a', 'b'], ['null', '1', 'true'], ['{a,b}', 'c"d', 'e\\f', 'g,h', ' ', "'", 'NULL'],
  TEXTS
]
const OBJECTS: readonly Attributes[] = [
  {},
  { a: {} },
  { a: [] },
  { a: [[], [[]], {}] },
  { a: null, b: [null, null] },
  { deep: { er: { and: { deeper: [{ still: [1, '1', true, 'true', null, 'null'] }] } } } },
  {
    '': 1,
    ' ': 2,
    'a.b': 3,
    'a"b': 4,
    "a'b": 5,
    $ne: 6,
    0: 7,
    naïve: 8,
    '😀': 9,
    'a\nb': 10,
    'a\\b': 11,
    id: 12,
    version: 13,
    title: 14
  },
  { toString: 1, constructor: { prototype: { valueOf: 1 } }, hasOwnProperty: 'x', toJSON: 'x', length: 0 },
  { numbers: [0.1, 1e21, 5e-324, 2 ** 53 - 1, -1e-7] },
  { texts: TEXTS }
]
/** Values that a store may confuse with each other. */
const LOOKALIKES: readonly unknown[] = [
  '1', 1, '1.0', 'true', true, 'false', false, '0', 0, '', null, 'null', [], '[]', {}, '{}', [1], ['1'], '[1]',
  [null], { a: 1 }, { a: '1' }, '{"a":1}', ['a'], { 0: 'a' }, 0.5, '0.5', '"a"'
]

export const valueChecks: Checks = {
  'texts are kept exactly': (subject) => keeps(subject, 'title', TEXTS),
  'integers are kept up to 2^53 - 1': (subject) => keeps(subject, 'count', [...INTEGERS, null]),
  'numbers are kept to the last bit': (subject) => keeps(subject, 'ratio', NUMBERS),
  'true is kept as true, false as false': (subject) => keeps(subject, 'done', [true, false]),
  'times are kept as the text that was given': (subject) => keeps(subject, 'at', [...TIMES, null]),
  'UUIDs are kept as they were given': (subject) => keeps(subject, 'owner', [...UUIDS, null]),
  'arrays are kept in their order, empty ones too': (subject) => keeps(subject, 'tags', LISTS),
  'objects are kept with all their members': (subject) => keeps(subject, 'details', OBJECTS),
  'values of different types are kept apart': (subject) => keeps(subject, 'anything', LOOKALIKES),

  'attributes may have any name': async (subject) => {
    for (const name of ODD_NAMES) await keeps(subject, name, ['', 'text', name, '"', '\''])
    const whole = Object.fromEntries(ODD_NAMES.map((name) => [name, `of ${name}`]))
    const row = await subject.create(whole)
    carries(existing(await subject.get(row.id)), { title: 'T', ...whole })
  },

  'a text of a million characters is kept': async (subject) => {
    const long = 'This line has é, 😀 and "quotes".\r\n'.repeat(30_000)
    const { id } = await subject.create({ title: long, details: { long } })
    const read = [existing(await subject.get(id)), ...(await subject.rows())]
    for (const { attributes } of [...read, rowOf(await subject.update(id, { count: 1 }))]) {
      const inner = findMember(attributes.details, 'long')
      const lengths = [attributes.title, inner].map((text) => String(text).length).join(' and ')
      // `same` would take minutes to show how such texts differ.
      assert.ok(attributes.title === long && inner === long, `texts of ${long.length} characters became ${lengths}`)
    }
  },

  'a text that a store cannot keep is refused as invalid, and nothing is written': async (subject) => {
    const row = await subject.create({ title: 'Before' })
    for (const title of ['a\0b', '\0', 'half \ud800', '\udc00 half']) {
      const created = await settle(subject.create({ title }))
      if (created.answered) {
        carries(existing(await subject.get(created.value.id)), { title })
        rowOf(await subject.delete(created.value.id))
        continue
      }
      isInvalid(created.error, title)
      const updated = await settle(subject.update(row.id, { title }))
      isInvalid(updated.answered ? undefined : updated.error, title)
      await holds(subject, [row])
    }
  }
}

function isInvalid (error: unknown, title: string): void {
  const what = `an InvalidError must be thrown for ${JSON.stringify(title)}, not ${String(error)}`
  same(codeOf(error), 'FST_RESOURCES_INVALID', what)
}

/** Checks that each value comes back as it was given to a create or an update. */
async function keeps (subject: Subject, name: string, values: readonly unknown[]): Promise<void> {
  const given = new Map<Id, Attributes>()
  for (const value of values) {
    const attributes = { title: 'T', [name]: value }
    const created = await subject.create(attributes)
    const bare = await subject.create({ code: 'bare' })
    const updated = rowOf(await subject.update(bare.id, { [name]: value }))
    given.set(created.id, attributes).set(updated.id, { code: 'bare', ...attributes })
    carries(created, attributes)
    carries(updated, { code: 'bare', ...attributes })
  }
  const listed = new Map((await subject.rows()).map((row) => [row.id, row]))
  for (const [id, attributes] of given) {
    carries(existing(await subject.get(id)), attributes)
    carries(existing(listed.get(id)), attributes)
  }
}
