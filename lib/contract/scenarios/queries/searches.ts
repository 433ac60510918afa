import type { Row } from '../../../core/resource/row.js'
import type { Attributes } from '../../../core/schema/types.js'
import { existing } from '../../assertions.js'
import { type Checks, holds, type Subject } from '../../subject.js'
import { equalTo } from '../filters.js'
import { countsSelected, lists } from '../lists.js'

const WHERE = ['title', 'code', 'email']

/** The texts of rows. `select` is not searched by default. */
const ROWS: readonly Attributes[] = [
  { title: 'Green tea' }, { title: 'tea', code: 'green' }, { title: 'GREEN', code: 'x', email: 'TEA' },
  { title: 'green' }, { title: 'tea', email: null }, { title: 'greentea' }, { title: 'te', code: 'a green' },
  { title: '100% tea', code: 'green_' }, { title: 'a\\b', code: '[tea]', email: '*' }, { title: 'none', code: 'none' }
]

function seedTexts (subject: Subject): Promise<Row[]> {
  return subject.seed(ROWS.length, (shelf) => ({ ...ROWS[shelf], select: 'green tea', shelf }))
}

export const searchChecks: Checks = {
  'a search selects the rows that have each word in at least one of the attributes': async (subject) => {
    const rows = await seedTexts(subject)
    await finds(subject, rows, ['green', 'tea'], [0, 1, 2, 5, 7])
    await finds(subject, rows, ['tea', 'green'], [0, 1, 2, 5, 7])
    await finds(subject, rows, ['green'], [0, 1, 2, 3, 5, 6, 7])
    await finds(subject, rows, ['green tea'], [0])
    await finds(subject, rows, ['tea', 'tea', 'none'], [])
    await finds(subject, rows, ['NONE'], [9])
  },

  'a search looks only at the attributes that it names': async (subject) => {
    const rows = await seedTexts(subject)
    await finds(subject, rows, ['green', 'tea'], [0, 5], ['title'])
    await finds(subject, rows, ['tea'], [2], ['email'])
    await finds(subject, rows, ['green', 'tea'], [...rows.keys()], ['select'])
  },

  'a search takes each character of a word as it is': async (subject) => {
    const rows = await seedTexts(subject)
    const words: ReadonlyArray<readonly [string, number[]]> = [
      ['%', [7]], ['_', [7]], ['\\', [8]], ['*', [8]], ['[tea]', [8]], ['[', [8]], ['?', []],
      ['.', []], ['^', []], ["'", []]
    ]
    for (const [word, found] of words) await finds(subject, rows, [word], found)
  },

  'a search takes ten words': async (subject) => {
    const rows = await seedTexts(subject)
    await finds(subject, rows, ['g', 'r', 'e', 'n', 't', 'a', 'gr', 'ee', 'en', 'te'], [0, 1, 2, 5, 6, 7])
    await finds(subject, rows, ['g', 'r', 'e', 'n', 't', 'a', 'gr', 'ee', 'en', 'tea'], [0, 1, 2, 5, 7])
  },

  'limit and position count only the rows that the search finds': async (subject) => {
    const rows = await subject.seed(30, (index) => ({ title: index % 3 === 0 ? 'Tea' : 'Water' }))
    const search = { words: ['tea'], attributes: ['title'] }
    await countsSelected(subject, rows, { search }, ({ attributes }) => attributes.title === 'Tea')
  },

  'a search narrows a scope, and never widens it': async (subject) => {
    const [inside] = [await subject.create({ title: 'tea' }, { tenant: 'a' }), await subject.create({ title: 'tea' })]
    await subject.create({ title: 'water' }, { tenant: 'a' })
    await lists(subject, { scope: { tenant: 'a' }, search: { words: ['tea'], attributes: WHERE } }, [inside])
  }
}

export const searchFilterChecks: Checks = {
  'a search and a filter select the rows that match both': async (subject) => {
    const rows = await seedTexts(subject)
    const filter = equalTo({ shelf: 1 })
    const search = { words: ['green', 'tea'], attributes: WHERE }
    await holds(subject, rows.slice(1, 2), { search, filter })
    await holds(subject, [], { search: { ...search, words: ['none'] }, filter })
  }
}

/** Checks that a search finds the rows with these indexes. */
async function finds (
  subject: Subject,
  rows: readonly Row[],
  ...[words, found, attributes = WHERE]: [words: readonly string[], found: readonly number[], attributes?: string[]]
): Promise<void> {
  await holds(subject, found.map((index) => existing(rows[index])), { search: { words, attributes } })
}
