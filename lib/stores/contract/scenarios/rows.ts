import assert from 'node:assert/strict'
import type { Id } from '../../resource/row.js'
import type { Attributes } from '../../schema/types.js'
import { carries, codeOf, distinct, existing, idsOf, isMissing, rowOf, same, settle } from './assertions.js'
import { ODD_NAMES } from './options.js'
import { type Checks, holds, type Subject, times } from './subject.js'

export const rowChecks: Checks = {
  'a created row is answered with what it was given, and is there': async (subject) => {
    const given = { title: 'First', count: 3, done: false, shelf: null }
    const row = await subject.create(given)
    carries(row, given, 'the row that create answers')
    same(await subject.get(row.id), row, 'the row that get answers')
    same(await subject.rows(), [row], 'the rows of the list')
  },

  'attributes that were not given are absent, or null where their schema allows null': async (subject) => {
    const row = await subject.create({ title: 'Bare' })
    carries(row, { title: 'Bare' }, 'the row that create answers')
    carries(existing(await subject.get(row.id)), { title: 'Bare' }, 'the row that get answers')
    carries(
      rowOf(await subject.update(row.id, { count: 1 })),
      { title: 'Bare', count: 1 },
      'the row that update answers'
    )
  },

  'a store without rows has an empty list and no row': async (subject) => {
    same(await subject.rows(), [], 'the rows of the list')
    for (const id of subject.unknownIds()) same(await subject.get(id), undefined, `the row of the unknown id ${id}`)
  },

  'a row that is not there is neither found nor written': async (subject) => {
    const row = await subject.create()
    for (const id of subject.unknownIds()) {
      same(await subject.get(id), undefined, `the row of the unknown id ${id}`)
      isMissing(await subject.update(id, { title: 'Written' }), `an update of the unknown id ${id}`)
      isMissing(
        await subject.update(id, { title: 'Written' }, { version: row.version }),
        `an update of the unknown id ${id} with a version`
      )
      isMissing(await subject.delete(id), `a deletion of the unknown id ${id}`)
      isMissing(await subject.delete(id, { version: row.version }), `a deletion of the unknown id ${id} with a version`)
    }
    await holds(subject, [row], 'the rows after writes to unknown ids')
  },

  'an update changes the attributes named and no other': async (subject) => {
    const given = {
      title: 'Before',
      email: 'a@example.com',
      count: 1,
      ratio: 0.5,
      done: true,
      tags: ['a'],
      details: { a: { b: 1 } }
    }
    const other = await subject.create({ title: 'Other' })
    const row = await subject.create(given)
    const changes = { title: 'After', tags: [], details: { c: 2 } }
    const updated = rowOf(await subject.update(row.id, changes))
    same(updated.id, row.id, 'the id of the row that update answers')
    carries(updated, { ...given, ...changes }, 'the row that update answers')
    await holds(subject, [other, updated], 'the rows after the update')
  },

  'an update with null is not one that leaves the attribute out': async (subject) => {
    const row = await subject.create({ email: 'a@example.com', count: 0, shelf: 1, at: '2024-01-01T00:00:00Z' })
    const changes = { email: null, count: null, at: null }
    const updated = rowOf(await subject.update(row.id, changes))
    carries(updated, { title: 'T', shelf: 1, ...changes }, 'the row after null was written')
    same(await subject.get(row.id), updated, 'the row that get answers')
    const again = rowOf(await subject.update(row.id, { count: 0 }))
    carries(again, { title: 'T', shelf: 1, ...changes, count: 0 }, 'the row after one of them was written again')
  },

  'an update gives an attribute to a row that had none': async (subject) => {
    const { id } = await subject.create()
    const changes = Object.fromEntries(ODD_NAMES.map((name) => [name, name]))
    carries(rowOf(await subject.update(id, changes)), { title: 'T', ...changes }, 'the row that update answers')
    carries(existing(await subject.get(id)), { title: 'T', ...changes }, 'the row that get answers')
  },

  'a deletion answers the row as it was, and it is gone': async (subject) => {
    const [row, other] = [await subject.create({ title: 'Gone', count: 1 }), await subject.create({ title: 'Here' })]
    same(rowOf(await subject.delete(row.id)), row, 'the row that delete answers')
    same(await subject.get(row.id), undefined, 'the row that was deleted')
    isMissing(await subject.delete(row.id), 'a second deletion')
    isMissing(await subject.update(row.id, { title: 'Back' }), 'an update of a row that was deleted')
    await holds(subject, [other], 'the rows after the deletion')
  },

  'the version changes with each write, also with one that changes nothing, and never comes back': async (subject) => {
    const row = await subject.create({ count: 1 })
    const versions = [row.version]
    for (const changes of [{}, { count: 1 }, { count: 2 }, { count: 1 }, ...times(20, () => ({}))]) {
      const updated = rowOf(await subject.update(row.id, changes))
      versions.push(updated.version)
      same(await subject.get(row.id), updated, 'the row that get answers')
    }
    distinct(versions, 'versions that a row had twice')
  },

  'reads change no version': async (subject) => {
    const row = await subject.create()
    await subject.rows()
    await subject.get(row.id)
    await subject.create()
    same(await subject.get(row.id), row, 'the row after it was read')
  },

  'no two rows have the same id, nor one that another had before': async (subject) => {
    const rows = await subject.seed(20)
    const last = await subject.create()
    rowOf(await subject.delete(last.id))
    const next = await subject.create()
    for (const { id } of [...rows, next]) rowOf(await subject.delete(id))
    const again = await subject.seed(5)
    distinct(idsOf([...rows, last, next, ...again]), 'ids that were given twice')
  },

  'the version of a deleted row fits no row that was created later': async (subject) => {
    for (const title of ['one', 'two', 'three']) {
      const { id, version } = await subject.create({ title })
      rowOf(await subject.delete(id, { version }))
      const later = await subject.create({ title })
      isMissing(await subject.update(id, { title: 'written' }, { version }), 'an update of the row that was deleted')
      isMissing(await subject.delete(id, { version }), 'a deletion of the row that was deleted')
      same(await subject.get(later.id), later, 'the row that was created later')
      rowOf(await subject.delete(later.id))
    }
  },

  'a hundred rows that are created at a time are a hundred rows': async (subject) => {
    const rows = await subject.seed(100, (count) => ({ count }))
    distinct(idsOf(rows), 'ids that were given twice')
    same(rows.map(({ attributes }) => attributes.count), times(100, (index) => index), 'what was given to each')
    await holds(subject, rows, 'the rows of the list')
  },

  'the kind of ids is the one that the store declares': async (subject) => {
    const { id = subject.id } = subject.store
    same(id, subject.id, 'the kind of ids that the store declares, as against the one that was asked of it')
    await subject.create()
  }
}

export const TEXTS: readonly string[] = [
  '',
  ' ',
  '  both ends  ',
  '\t',
  '\r',
  '\n',
  'a\r\nb\rc\nd\te',
  '0',
  '1',
  '01',
  'null',
  'NULL',
  'true',
  'undefined',
  '[]',
  '{}',
  '"',
  "'",
  '`',
  '\\',
  '\\\\',
  '\\n',
  "'; DROP TABLE rows; --",
  '" OR ""="',
  '1; SELECT 1',
  '$1',
  '?',
  ':title',
  '@title',
  '%',
  '_',
  '%s',
  '%_%',
  '\\%',
  '*',
  '[a-z]',
  '/* */',
  '--',
  '\u0001\u001f\u007f',
  '\u0085\u00a0\u2028\u2029',
  '\ufeffmark',
  '\ufffd',
  '\ue000',
  '😀',
  '𝒳y',
  'e\u0301',
  'é',
  'Ł',
  'ß',
  'ﬀ',
  'İıI',
  '\u202eright to left',
  '日本語',
  '🇦🇶👩‍👩‍👧',
  '\u{10fffd}'
]

const INTEGERS = [
  0,
  1,
  -1,
  10,
  2 ** 31 - 1,
  2 ** 31,
  -(2 ** 31),
  2 ** 32,
  2 ** 53 - 1,
  -(2 ** 53 - 1),
  2 ** 53 - 2,
  1e15,
  null
]
const NUMBERS = [
  0,
  1,
  -1,
  0.1,
  -0.1,
  0.1 + 0.2,
  1 / 3,
  1e-7,
  5e-324,
  -5e-324,
  2.2250738585072014e-308,
  1.7976931348623157e308,
  -1.7976931348623157e308,
  1e21,
  2 ** 53,
  123456789.12345679,
  4.35,
  2 ** 31 + 0.5
]
const TIMES = [
  '2024-02-29T12:00:00Z',
  '2024-02-29T12:00:00.000Z',
  '2024-02-29T12:00:00.1Z',
  '2024-02-29T12:00:00.123456789Z',
  '2024-02-29T12:00:00+00:00',
  '2024-02-29T12:00:00-00:00',
  '2024-02-29T12:00:00+05:45',
  '2024-02-29T23:59:59.999999-08:00',
  '2016-12-31T23:59:60Z',
  '0001-01-01T00:00:00Z',
  '9999-12-31T23:59:59.9Z',
  '2024-02-29t12:00:00z',
  null
]
/** The order of their first characters is not the order of their last ones. */
export const UUIDS: readonly string[] = [
  '00000000-0000-0000-0000-000000000000',
  '0190a6f0-7c3a-7000-8000-00000000000f',
  '0190a6f0-7c3a-7000-8000-000000000010',
  '9b2d7f00-0000-4000-9000-0000000000ff',
  'a0000000-0000-4000-8000-000000000001',
  'ab000000-0000-1000-8000-000000000000',
  'ffffffff-ffff-7fff-bfff-fffffffffffe',
  'ffffffff-ffff-ffff-ffff-ffffffffffff'
]
/** Texts that a database may read as the second of them, and others that it may refuse. */
export const NO_UUIDS: readonly string[] = [
  '0190A6F0-7C3A-7000-8000-00000000000F',
  '{0190a6f0-7c3a-7000-8000-00000000000f}',
  '0190a6f07c3a7000800000000000000f',
  ' 0190a6f0-7c3a-7000-8000-00000000000f',
  'urn:uuid:0190a6f0-7c3a-7000-8000-00000000000f',
  '0190a6f0-7c3a-7000-8000',
  'none',
  '1',
  ''
]
const LISTS = [
  [],
  [''],
  ['a', 'b'],
  ['b', 'a', 'b'],
  ['null', '1', 'true'],
  ['{a,b}', 'c"d', 'e\\f', 'g,h', ' ', "'", 'NULL'],
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
/** Which only those who look closely can tell from each other. */
const LOOKALIKES: readonly unknown[] = [
  '1',
  1,
  '1.0',
  'true',
  true,
  'false',
  false,
  '0',
  0,
  '',
  null,
  'null',
  [],
  '[]',
  {},
  '{}',
  [1],
  ['1'],
  '[1]',
  [null],
  { a: 1 },
  { a: '1' },
  '{"a":1}',
  ['a'],
  { 0: 'a' },
  0.5,
  '0.5',
  '"a"'
]

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
    const rows = [
      existing(await subject.get(id)),
      ...(await subject.rows()),
      rowOf(await subject.update(id, { count: 1 }))
    ]
    for (const { attributes } of rows) {
      const { long: inner } = attributes.details as Attributes
      // Compared here, since to show how two of them differ takes minutes.
      assert.ok(
        attributes.title === long && inner === long,
        `a text of ${long.length} characters came back as one of ${String(attributes.title).length}, or inside an object of ${String(inner).length}`
      )
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
  same(
    codeOf(error),
    'FST_RESOURCES_INVALID',
    `an InvalidError must be thrown for ${JSON.stringify(title)}, not ${String(error)}`
  )
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
