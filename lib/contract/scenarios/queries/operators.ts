import assert from 'node:assert/strict'
import type { Id, Row } from '../../../core/resource/row.js'
import type { Scalar } from '../../../core/schema/types.js'
import { BY_ID, comparePositions } from '../../../core/stores/order.js'
import type { Condition } from '../../../core/stores/store.js'
import { idsOf, same, settle, valueOf } from '../../assertions.js'
import { ODD_NAMES } from '../../options.js'
import { type Checks, holds, type Subject, times } from '../../subject.js'
import { MISTYPED } from '../filters.js'
import { inOrder, lists, matchesNot } from '../lists.js'
import { seedTied } from '../orders.js'
import { INTEGERS, NUMBERS, TEXTS, TIMES, UUIDS } from '../values.js'

type ComparedValue = NonNullable<Scalar>
type ComparedRange = 'gt' | 'gte' | 'lt' | 'lte'

/** The values of each attribute that the operators compare. Each row has one of them, and some rows have none. */
const VALUES: Readonly<Record<string, readonly ComparedValue[]>> = {
  title: TEXTS,
  code: [
    '', ' ', 'A', 'B', 'Z', 'a', 'a ', 'á', 'a\u0301', 'aa', 'b', 'co-op', 'coop', 'e\u0301', 'é', 'ß', 'ss', '10', '9',
    '%', '_', '\\', "'", '\ud7ff', '\ue000', '\ufffd', '😀', '\u{10fffd}'
  ],
  count: INTEGERS,
  ratio: NUMBERS,
  done: [false, true],
  at: TIMES,
  owner: UUIDS
}

/** Texts that are alike but for the case of their letters (`CaseFolding.txt`, status C and S), one group in a line. */
const FOLDED: ReadonlyArray<readonly string[]> = [
  ['a', 'A'], ['k', 'K', '\u212a'], ['s', 'S', 'ſ'], ['å', 'Å', '\u212b'], ['σ', 'ς', 'Σ'], ['ß', 'ẞ'],
  ['ss', 'SS', 'Ss', 'ſs'], ['µ', 'μ', 'Μ'], ['\u0390', '\u1fd3'], ['\u03b0', '\u1fe3'], ['ﬅ', 'ﬆ'], ['st', 'ST'],
  ['i', 'I'], ['ı'], ['İ'], ['i\u0307', 'I\u0307'], ['ﬁ'], ['fi', 'FI'], ['é', 'É'], ['e\u0301', 'E\u0301'],
  ['я', 'Я'], ['ǆ', 'ǅ', 'Ǆ'], ['ŉ'], ['ᾳ', 'ᾼ'], ['ω', 'Ω', '\u2126'], ['ა', 'Ა'], ['ꭰ', 'Ꭰ'], ['ⓐ', 'Ⓐ'], ['ａ', 'Ａ'],
  ['𐐨', '𐐀'], ['中'], ['1']
]

/** Texts that are patterns in SQL, in regular expressions, or in file names. None of them has a letter. */
const PATTERNS: readonly string[] = [
  '%', '_', '\\', '\\%', '%%', '*', '?', '[', ']', '[]', '[^1]', '[1-3]', '[!1]', '^', '^1', '$', '1$', '-', '.', '.*',
  '(', ')', '(1)', '{', '{1}', '|', '1|2', '+', '1+', '/', '#', '***', '***=', '(?:)', '\\.', '\\1', "'", "''", '"',
  '`', ';', '--', ' ', '  ', '\t', '\n', '\r\n', '1\n2', '😀', '\u0301', '$1', ':1', '@1', '&', '<', '\u200d'
]

/** Attributes with values of another type that would be greater or less if they were converted. */
const GREATER_AND_LESS: typeof MISTYPED = [
  [{ count: 1 }, { count: '0' }], [{ count: 1 }, { count: '2' }], [{ title: '1' }, { title: 0 }],
  [{ title: '1' }, { title: 2 }], [{ done: true }, { done: '0' }], [{ done: false }, { done: 2 }]
]

/** Returns whether a condition selects a value, by its order in relation to the value of the condition. */
export const IS_MET: Readonly<Record<'eq' | 'not' | ComparedRange, (order: number) => boolean>> = {
  eq: (order) => order === 0,
  not: (order) => order !== 0,
  gt: (order) => order > 0,
  gte: (order) => order >= 0,
  lt: (order) => order < 0,
  lte: (order) => order <= 0
}

export const RANGES: readonly ComparedRange[] = ['gt', 'gte', 'lt', 'lte']

export function rangeChecks (operator: ComparedRange): Checks {
  return {
    [`the operator ${operator} compares values of each type, and selects no row without a value`]: (subject) =>
      comparesEach(subject, (attribute, value) => ({ attribute, operator, value }), (a, b) =>
        a !== null && IS_MET[operator](comparePositions([{ by: 'title', descending: false }], [a], [b]))),

    [`the operator ${operator} compares ids in the order of lists`]: (subject) =>
      comparesIds(subject, operator),

    [`the operator ${operator} does not select values of another type`]: (subject) =>
      selectsNoOtherType(subject, (attribute, value) => ({ attribute, operator, value }))
  }
}

export const eqChecks: Checks = {
  'a filter selects the rows that have its value': (subject) =>
    comparesEach(subject, (attribute, value) => ({ attribute, operator: 'eq', value }), (a, b) => a === b),

  'a filter may use an attribute of any name': (subject) =>
    anyName(subject, (attribute) => ({ attribute, operator: 'eq', value: 'a' }), (value) => value === 'a'),

  'a filter does not match a value of another type': (subject) =>
    selectsNoOtherType(subject, (attribute, value) => ({ attribute, operator: 'eq', value }))
}

export const notChecks: Checks = {
  'the operator not selects the rows with another value, and those without a value': (subject) =>
    comparesEach(subject, (attribute, value) => ({ attribute, operator: 'not', value }), (a, b) => a !== b),

  'the operator not selects the rows with another id': (subject) =>
    comparesIds(subject, 'not'),

  'the operator not with a value of another type selects all rows, unless it is refused': async (subject) => {
    for (const [attributes, given] of MISTYPED) {
      for (const [attribute, value] of Object.entries(given)) {
        const row = await subject.create(attributes)
        if (value === null) continue
        const listed = await settle(subject.rows({ filter: [{ attribute, operator: 'not', value }] }))
        const isSelected = !listed.answered || idsOf(listed.value).includes(row.id)
        assert.ok(isSelected, `${attribute} is not ${JSON.stringify(value)}, so that the row must be listed`)
      }
    }
  }
}

export const inChecks: Checks = {
  'the operator in selects the rows with one of the values': async (subject) => {
    const rows = await seedValues(subject)
    for (const [attribute, values] of Object.entries(VALUES)) {
      const lists = [values, values.slice(0, 1), values.slice(1, 4), [...values.slice(-2), ...values.slice(-2)]]
      for (const value of lists) {
        const expected = rows.filter((row) => value.includes(valueOf(row, attribute) as ComparedValue))
        await holds(subject, expected, { filter: [{ attribute, operator: 'in', value }] })
      }
    }
  },

  'the operator in selects the rows with one of the ids': async (subject) => {
    const rows = await subject.seed(6)
    const [first, , third] = idsOf(rows) as [Id, Id, Id]
    const value = [third, ...subject.unknownIds(), first, third]
    await holds(subject, rows.filter(({ id }) => id === first || id === third),
      { filter: [{ attribute: 'id', operator: 'in', value }] })
  },

  'the operator in takes 1,000 values': async (subject) => {
    const rows = await subject.seed(30, (index) => ({ count: index * 100, code: `code ${index * 100}` }))
    const expected = rows.slice(1, 11)
    const numbers = times(1_000, (index) => index + 100)
    await holds(subject, expected, { filter: [{ attribute: 'count', operator: 'in', value: numbers }] })
    const texts = numbers.map((number) => `code ${number}`)
    await holds(subject, expected, { filter: [{ attribute: 'code', operator: 'in', value: texts }] })
  },

  'the operator in may use an attribute of any name': (subject) =>
    anyName(subject, (attribute) => ({ attribute, operator: 'in', value: ['a', 'x'] }), (value) => value === 'a'),

  'the operator in does not select values of another type': (subject) =>
    selectsNoOtherType(subject, (attribute, value) => ({ attribute, operator: 'in', value: [value] })),

  'the operator in selects values of the right type beside those of another': async (subject) => {
    const row = await subject.create({ count: 1, owner: UUIDS[3] })
    await subject.create({ count: 2, owner: UUIDS[4] })
    const lists: ReadonlyArray<[string, readonly ComparedValue[]]> =
      [['count', ['1', 1, true]], ['owner', ['none', ...UUIDS.slice(3, 4), '']]]
    for (const [attribute, value] of lists) {
      const listed = await settle(subject.rows({ filter: [{ attribute, operator: 'in', value }] }))
      // A store may also refuse the values.
      if (listed.answered) same(idsOf(listed.value), [row.id], `the ids of the rows with one of ${String(value)}`)
    }
  }
}

export const nullChecks: Checks = {
  'the operator null selects the rows without a value, or those with one': async (subject) => {
    const none = [{ shelf: null }, {}, { email: null, at: null }]
    const some = [{ shelf: 0 }, { code: '', ratio: 0, done: false, at: null }, { owner: UUIDS[0] }, { email: 'null' }]
    const rows = await Promise.all([...none, ...some].map((attributes) => subject.create(attributes)))
    for (const attribute of ['shelf', 'email', 'code', 'ratio', 'done', 'at', 'owner']) {
      for (const value of [true, false]) {
        const expected = rows.filter((row) => (valueOf(row, attribute) === null) === value)
        await holds(subject, expected, { filter: [{ attribute, operator: 'null', value }] })
      }
    }
  },

  'the operator null may use an attribute of any name': async (subject) => {
    await anyName(subject, (attribute) => ({ attribute, operator: 'null', value: true }), (value) => value === null)
    await anyName(subject, (attribute) => ({ attribute, operator: 'null', value: false }), (value) => value !== null)
  }
}

export const containsChecks: Checks = {
  'the operator contains selects the rows whose text contains the value': (subject) =>
    matchesTexts(subject, 'contains', (text, part) => text.includes(part)),
  ...textChecks('contains', 'before ')
}

export const startsChecks: Checks = {
  'the operator starts selects the rows whose text begins with the value': (subject) =>
    matchesTexts(subject, 'starts', (text, part) => text.startsWith(part)),
  ...textChecks('starts', '')
}

/** @param before a text that may be before the one that the operator finds */
function textChecks (operator: 'contains' | 'starts', before: string): Checks {
  return {
    [`the operator ${operator} takes 200 characters`]: async (subject) => {
      const long = 'sS%_*[\\éÉ-'.repeat(20)
      const texts = [`${before}${long} after`, `${before}${long.toLowerCase()}`, `${before}${long.slice(30)}`, 'none']
      const rows = await subject.seed(texts.length, (index) => ({ code: texts[index] }))
      const value = long.slice(0, 200)
      await holds(subject, rows.slice(0, 2), { filter: [{ attribute: 'code', operator, value }] })
    },

    [`the operator ${operator} ignores the case of letters by simple case folding`]: async (subject) => {
      const texts = FOLDED.flatMap((group, index) => group.map((text) => ({ text, index })))
      const rows = await subject.seed(texts.length, (index) => ({ code: `${before}<${texts[index]?.text}>` }))
      for (const { text, index } of texts) {
        const expected = rows.filter((_, position) => texts[position]?.index === index)
        await holds(subject, expected, { filter: [{ attribute: 'code', operator, value: `<${text}>` }] })
      }
    },

    [`the operator ${operator} may use an attribute of any name`]: (subject) =>
      anyName(subject, (attribute) => ({ attribute, operator, value: 'A' }), (value) => value === 'a')
  }
}

export const combinedChecks: Checks = {
  'several conditions on one attribute select the rows that meet all of them': async (subject) => {
    const rows = await seedTied(subject)
    const between = rows.filter((row) => valueOf(row, 'shelf') === 1)
    await holds(subject, between, {
      filter: [
        { attribute: 'shelf', operator: 'gte', value: 1 }, { attribute: 'shelf', operator: 'lt', value: 10 },
        { attribute: 'shelf', operator: 'not', value: 2 }
      ]
    })
    const texts = ['green tea', 'Green Tea', 'tea', 'green', 'great teapot', 'a green tea']
    const drinks = await subject.seed(texts.length, (index) => ({ code: texts[index] }))
    await holds(subject, [0, 1, 4].map((index) => drinks[index] as Row), {
      filter: [
        { attribute: 'code', operator: 'starts', value: 'gre' },
        { attribute: 'code', operator: 'contains', value: 'tea' }
      ]
    })
  }
}

/** Creates rows, the first of which have a value of each attribute, and the last ones none. */
async function seedValues (subject: Subject): Promise<Row[]> {
  const most = Math.max(...Object.values(VALUES).map(({ length }) => length))
  return subject.seed(most + 2, (index) => {
    const given = Object.entries(VALUES).map(([name, values]) => [name, values[index]] as const)
    return Object.fromEntries(given.filter(([, value]) => value !== undefined))
  })
}

/** Checks an operator for each value of each attribute. */
async function comparesEach (
  subject: Subject,
  makeCondition: (attribute: string, value: ComparedValue) => Condition,
  isMet: (value: Scalar, wanted: ComparedValue) => boolean
): Promise<void> {
  const rows = await seedValues(subject)
  for (const [attribute, values] of Object.entries(VALUES)) {
    for (const value of values) {
      const expected = rows.filter((row) => isMet(valueOf(row, attribute) as Scalar, value))
      await holds(subject, expected, { filter: [makeCondition(attribute, value)] })
    }
  }
  await anyName(subject, (attribute) => makeCondition(attribute, 'a'), (value) => isMet(value, 'a'))
}

async function comparesIds (subject: Subject, operator: 'not' | ComparedRange): Promise<void> {
  const rows = inOrder(await subject.seed(6))
  for (const { id: value } of rows) {
    const expected = rows.filter(({ id }) => IS_MET[operator](comparePositions(BY_ID, [id], [value])))
    await lists(subject, { filter: [{ attribute: 'id', operator, value }] }, expected)
  }
}

/** Checks an operator for attributes of all names. The attribute of a row is `a`, `b`, or absent. */
async function anyName (
  subject: Subject,
  makeCondition: (attribute: string) => Condition,
  isMet: (value: Scalar) => boolean
): Promise<void> {
  await subject.seed(ODD_NAMES.length * 2, (index) =>
    ({ [ODD_NAMES[index >> 1] as string]: index % 2 === 0 ? 'a' : 'b' }))
  const rows = await subject.rows()
  for (const name of ODD_NAMES) {
    const expected = rows.filter((row) => isMet(valueOf(row, name) as Scalar))
    await holds(subject, expected, { filter: [makeCondition(name)] })
  }
}

/** Checks that conditions do not select a value of another type. A store may also refuse the value. */
async function selectsNoOtherType (
  subject: Subject,
  makeCondition: (attribute: string, value: ComparedValue) => Condition
): Promise<void> {
  for (const [attributes, given] of [...MISTYPED, ...GREATER_AND_LESS]) {
    for (const [attribute, value] of Object.entries(given)) {
      const { id } = await subject.create(attributes)
      if (value !== null) await matchesNot(subject, id, { filter: [makeCondition(attribute, value)] })
    }
  }
}

async function matchesTexts (
  subject: Subject,
  operator: 'contains' | 'starts',
  isMet: (text: string, part: string) => boolean
): Promise<void> {
  const texts = [...TEXTS, ...PATTERNS.map((pattern) => `1${pattern}2`), '1', '12', '%12', '1\n12\n']
  const rows = [...await subject.seed(texts.length, (index) => ({ code: texts[index] })), await subject.create()]
  const others = ['1', '12', '1%', '1_', '1\\', '1[', '日', '', '\u{10fffd}']
  for (const value of [...PATTERNS, ...others]) {
    const expected = rows.filter((row) => {
      const text = valueOf(row, 'code')
      return typeof text === 'string' && isMet(text, value)
    })
    await holds(subject, expected, { filter: [{ attribute: 'code', operator, value }] })
  }
}
