import type { Id, Row } from '../../../../lib/core/resource/row.js'
import type { Scalar } from '../../../../lib/core/schema/types.js'
import { comparePositions, compareScalars, positionOf } from '../../../../lib/core/stores/order.js'
import type {
  Condition, CountQuery, Filter, Operator, Order, OrderBy, Position, Query, Store
} from '../../../../lib/core/stores/store.js'
import {
  type Has, hasLoosely, type MakeStore, type Mutant, over, readsUuid, rowsOf, takesText, withSteps
} from './altered-stores.js'
import { type Steps, steps, valueOf } from './reference-store.js'

const PAGES = 'each row is on exactly one page'
const STAYS_PAGED = 'a row that stays is on exactly one page, whatever is written in between'

/** Compares the position of a row with another one. */
const compareRow = (order: Order, row: Row, place: Position): number =>
  comparePositions(order, positionOf(row, order), place)

const compareIds = (order: Order, a: Position, b: Position): number =>
  comparePositions(order.slice(-1), a.slice(-1), b.slice(-1))

/** Begins each page after as many rows as there were up to its position. */
function countsPlaces (store: Store): Pick<Store, 'list'> {
  const places = new Map<string, number>()
  return {
    async * list (query, context) {
      const rows = await rowsOf(store, { ...query, after: undefined, limit: undefined }, context)
      const offset = query.after === undefined ? 0 : places.get(JSON.stringify(query.after)) ?? 0
      const page = rows.slice(offset, offset + (query.limit ?? Infinity))
      for (const [index, row] of page.entries()) {
        places.set(JSON.stringify(positionOf(row, query.order)), offset + index + 1)
      }
      yield page
    }
  }
}

const listMutants: readonly Mutant[] = [
  ['lists the last row first', { compare: (order, a, b) => -comparePositions(order, a, b) },
    'a list has every row once, in the order of the ids'],
  ['lists one row too many', { limit: (limit = Infinity) => limit + 1 },
    'a list has as many rows as the limit, or all of them if there are fewer', PAGES],
  ['begins with the row of the place', { isAfter: (...given) => compareRow(...given) >= 0 },
    'a list after a position has the rows that follow it', PAGES, 'each row of a scope is on exactly one page'],
  ['begins after another row of the place', {
    isAfter: (order, row, after) => compareIds(order, positionOf(row, order), after) > 0
  }, 'in every order, each row is on exactly one page', 'in every order, each row of a scope is on exactly one page',
  'a page may begin after a position that no row ever had'],
  ['needs a row at the place', withSteps(({ rows }) => ({
    isAfter: (order, row, after) => rows.has(after.at(-1) as Id) && compareRow(order, row, after) > 0
  })), 'a list may begin after a position without a row', STAYS_PAGED],
  ['counts places', over(countsPlaces), STAYS_PAGED,
    'in every order, a row that stays is on exactly one page, whatever is written in between'],
  ['limits before it looks at the scope', over((store) => ({
    async * list (query, context) {
      const rows = await rowsOf(store, { ...query, scope: {} }, context)
      yield rows.filter((row) => steps.isIn(row, query.scope, 'list'))
    }
  })), 'limit and position count only the rows of the scope'],
  ['has one batch', { batch: Infinity }, 'a long list comes in batches'],
  ['counts the rows of a batch and not their sizes', { batchSize: () => Infinity },
    'a batch holds no more than 4 MiB beyond its largest row',
    'in every order a batch holds no more than 4 MiB beyond its largest row'],
  ['counts rows that come and go', over((store) => ({
    async * list (query, context) {
      for (let offset = 0; ; offset += 100) {
        const rows = (await rowsOf(store, query, context)).slice(offset, offset + 100)
        if (rows.length === 0) return
        yield rows
      }
    }
  })), 'a row that stays is listed once, whatever is written meanwhile'],
  ['writes when lists have been read', over((store) => {
    let open = 0
    return {
      async * list (...given) {
        open++
        yield * store.list(...given)
        open--
      },
      update: async (...given) => open > 0 ? new Promise<never>(() => {}) : store.update(...given)
    }
  }), 'a list that is left before its end blocks nothing'],
  ['has one cursor', over((store) => {
    let current: AsyncIterator<readonly Row[]>
    return {
      async * list (...given) {
        current = (store.list(...given) as AsyncIterable<readonly Row[]>)[Symbol.asyncIterator]()
        for (;;) {
          const { done, value } = await current.next()
          if (done === true) return
          yield value
        }
      }
    }
  }), 'lists that are read at the same time do not affect each other']
]

const TIES = 'rows with the same first attribute are ordered by the second one, and then by id'
const INTEGERS = 'integers are ordered by size, with null first'

/** Sorts by another comparison of values than the contract's. */
const compares = (compare: (a: Scalar, b: Scalar) => number): Partial<Steps> => ({
  compare (order, a, b) {
    for (const [index, { descending }] of order.entries()) {
      const compared = compare(a[index] as Scalar, b[index] as Scalar)
      if (compared !== 0) return descending ? -compared : compared
    }
    return 0
  }
})

const comparesTexts = (compare: (a: string, b: string) => number): Partial<Steps> => compares((a, b) =>
  typeof a === 'string' && typeof b === 'string' ? compare(a, b) : compareScalars(a, b, undefined))

/** Sorts by other criteria than the given ones. */
const sortsBy = (change: (criterion: OrderBy, index: number) => OrderBy): Partial<Steps> => ({
  compare: (order, a, b) => comparePositions(order.map(change), a, b)
})

/** Compares texts by their UTF-16 code units. */
const compareUnits = (a: string, b: string): number => a === b ? 0 : a < b ? -1 : 1

const orderMutants: readonly Mutant[] = [
  ['declares an order and has none', { compare: compareIds }, TIES, 'rows can be ordered by three attributes',
    'in every order a scope and a limit apply', 'rows can be ordered by an attribute of any name'],
  ['has null last', compares((a, b) => a === null || b === null
    ? compareScalars(b, a, undefined)
    : compareScalars(a, b, undefined)), INTEGERS, TIES],
  ['puts numbers in order as text', compares((a, b) => a === null || b === null
    ? compareScalars(a, b, undefined)
    : compareUnits(String(a), String(b))), INTEGERS, 'numbers are ordered by size'],
  ['puts texts in order by UTF-16', comparesTexts(compareUnits), 'texts are ordered by their code points'],
  ['puts times in order by instants', comparesTexts((a, b) =>
    /^\d{4}-/.test(a) ? Date.parse(a) - Date.parse(b) : compareScalars(a, b, undefined)), 'times are ordered as texts'],
  ['puts UUIDs in order by their last bytes', comparesTexts((a, b) => compareUnits(a.slice(-12), b.slice(-12))),
    'UUIDs are ordered as texts'],
  ['has true first', compares((a, b) => typeof a === 'boolean' && typeof b === 'boolean'
    ? Number(b) - Number(a)
    : compareScalars(a, b, undefined)), 'false comes before true'],
  ['has one direction of ids', sortsBy(({ by, descending }) => ({ by, descending: by !== 'id' && descending })),
    'rows can be ordered by descending id']
]

const NARROWS = 'a filter narrows a scope, and never widens it'
const RANGES = ['gt', 'gte', 'lt', 'lte'] as const

const meetsAll = (row: Row, filter: Filter): boolean =>
  filter.every((condition) => steps.meets(valueOf(row, condition.attribute), condition))

/** Lists the rows of another query than the given one. */
const listsBy = (change: (query: Query) => Query): MakeStore => over((store) => ({
  list: (query, context) => store.list(change(query), context)
}))

/** Compares a filter of values as a scope is compared. */
const filtersLike = (has: Has): Partial<Steps> => ({
  matches: (row, filter) => has(row, Object.fromEntries(filter.map(({ attribute, operator, value }) =>
    [attribute, operator === 'null' ? null : value as Scalar])))
})

const filterMutants: readonly Mutant[] = [
  ['declares a filter and has none', { matches: () => true }, 'a filter selects the rows that have its value', NARROWS,
    'in every order, a filter, a scope, a position and a limit work together',
    'rows can be ordered by the attribute that a filter names'],
  ['looks at one attribute of a filter', { matches: (row, filter) => meetsAll(row, filter.slice(0, 1)) },
    'a filter of several attributes selects the rows that match all of them'],
  ['takes the id for an attribute', { matches: meetsAll }, 'a filter with an id selects its row, if the others match',
    'the operator in selects the rows with one of the ids', 'the operator not selects the rows with another id',
    ...RANGES.map((operator) => `the operator ${operator} compares ids in the order of lists`)],
  ['ignores an offset', listsBy(({ offset, ...query }) => query),
    'in every order, a list with an offset leaves out that many of its rows'],
  ['has no filter after a place', listsBy((query) =>
    query.after === undefined ? query : { ...query, filter: [], search: undefined }),
  'limit and position count only the rows that the filter selects'],
  ['has no scope where there is a filter', listsBy((query) =>
    query.filter.length === 0 ? query : { ...query, scope: {} }), NARROWS],
  ['reads other spellings of a UUID in a filter', filtersLike(readsUuid),
    'a filter with a text that is not a UUID in lower case selects no rows'],
  ['compares a filter loosely', filtersLike(hasLoosely), 'a filter does not match a value of another type']
]

const isMet = (value: Scalar, operator: Operator, wanted: Scalar): boolean =>
  steps.meets(value, { attribute: '', operator, value: wanted } as Condition)

/** Compares by another rule where a condition has this operator. */
const meetsBy = (
  operator: Operator, rule: (value: Scalar, wanted: never, right: boolean) => boolean
): Partial<Steps> => ({
  meets (value, condition) {
    const right = steps.meets(value, condition)
    return condition.operator === operator ? rule(value, condition.value as never, right) : right
  }
})

const matchesBy = (operator: Operator, matches: (text: string, wanted: string) => boolean): Partial<Steps> =>
  meetsBy(operator, (value, wanted: string) => typeof value === 'string' && matches(value, wanted))

/** Matches as LIKE does: `%` and `_` stand for other characters. */
function like (text: string, pattern: string): boolean {
  const source = pattern.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&').replaceAll('%', '.*').replaceAll('_', '.')
  return new RegExp(`^${source}$`, 'ius').test(text)
}

type TextOperator = 'contains' | 'starts'

const bothWays = (
  what: string, matches: (text: string, wanted: string, operator: TextOperator) => boolean, scenario: string
): Mutant[] => (['contains', 'starts'] as const).map((operator) => [
  `${what} (${operator})`, matchesBy(operator, (text, wanted) => matches(text, wanted, operator)),
  `the operator ${operator} ${scenario}`
])

function rangeMutants (operator: typeof RANGES[number]): readonly Mutant[] {
  const compared = `the operator ${operator} compares values of each type, and selects no row without a value`
  return [
    [`has ${operator} with the other end`, meetsBy(operator, (value, wanted, right) =>
      value === wanted ? !right : right), compared],
    [`converts the values of ${operator}`, meetsBy(operator, (value, wanted: Scalar, right) =>
      value === null || typeof value === typeof wanted ? right : isMet(Number(value), operator, Number(wanted))),
    `the operator ${operator} does not select values of another type`]
  ]
}

const operatorMutants: readonly Mutant[] = [
  ...RANGES.flatMap(rangeMutants),
  ['has a not like that of SQL', meetsBy('not', (value, _wanted, right) => value !== null && right),
    'the operator not selects the rows with another value, and those without a value',
    'a filter, a search, a scope, an order, a position and a limit work together'],
  ['compares loosely by not', meetsBy('not', (value, wanted) => String(value) !== String(wanted)),
    'the operator not with a value of another type selects all rows, unless it is refused'],
  ['knows the first value of in', meetsBy('in', (value, wanted: readonly Scalar[]) => value === wanted[0]),
    'the operator in selects the rows with one of the values', 'the operator in takes 1,000 values'],
  ['compares loosely by in', meetsBy('in', (value, wanted: readonly Scalar[]) =>
    wanted.map(String).includes(String(value))), 'the operator in does not select values of another type'],
  ['selects none where a value of in is of another type', meetsBy('in', (value, wanted: readonly Scalar[], right) =>
    right && wanted.every((one) => typeof one === typeof value && one !== '')),
  'the operator in selects values of the right type beside those of another'],
  ['never finds null', meetsBy('null', (value, wanted: boolean) => value !== null && !wanted),
    'the operator null selects the rows without a value, or those with one'],
  ...(['eq', 'in', 'null', 'contains', 'starts'] as const).map((operator): Mutant => [
    `finds by ${operator} what every object has`, {
      matches: ({ attributes }, filter) => filter.every((condition) => {
        const { [condition.attribute]: value = null } = attributes
        if (condition.operator === operator && typeof value === 'function') {
          return condition.operator !== 'null' || !condition.value
        }
        return steps.meets(value as Scalar, condition)
      })
    }, `${operator === 'eq' ? 'a filter' : `the operator ${operator}`} may use an attribute of any name`
  ]),
  ['takes parts for patterns of LIKE', matchesBy('contains', (text, part) => like(text, `%${part}%`)),
    'the operator contains selects the rows whose text contains the value'],
  ['takes beginnings for patterns of LIKE', matchesBy('starts', (text, part) => like(text, `${part}%`)),
    'the operator starts selects the rows whose text begins with the value'],
  ...bothWays('lowers letters', (text, part, operator) => operator === 'contains'
    ? text.toLowerCase().includes(part.toLowerCase())
    : text.toLowerCase().startsWith(part.toLowerCase()), 'ignores the case of letters by simple case folding'),
  ...bothWays('looks at 100 characters', (text, part, operator) => isMet(text, operator, part.slice(0, 100)),
    'takes 200 characters'),
  ['knows one condition of an attribute', {
    matches: (row, filter) => meetsAll(row, [
      ...new Map(filter.map((condition) => [condition.attribute, condition])).values()
    ])
  }, 'several conditions on one attribute select the rows that meet all of them']
]

/** Orders rows as if decimals were of another type. */
const ordersDecimals = (compare: (a: string, b: string) => number): Partial<Steps> => ({
  compare (order, a, b) {
    const [first, ...others] = order as [OrderBy, ...Order]
    if (first.type === undefined || a[0] === null || b[0] === null) return comparePositions(order, a, b)
    return compare(a[0] as string, b[0] as string) * (first.descending ? -1 : 1) ||
      comparePositions(others, a.slice(1), b.slice(1))
  }
})

const decimalMutants: readonly Mutant[] = [
  ['keeps decimals as doubles', takesText((text) => /^-?\d+(?:\.\d+)?$/.test(text) ? String(Number(text)) : text),
    'decimals keep all their digits'],
  ['orders decimals as doubles', ordersDecimals((a, b) => Number(a) - Number(b)),
    'decimals are ordered as numbers, with null first'],
  ...(['eq', 'not', ...RANGES] as const).flatMap((operator): readonly Mutant[] => [
    [`compares decimals as doubles by ${operator}`, meetsBy(operator, (value, wanted, right) =>
      value === null ? right : isMet(Number(value), operator, Number(wanted))),
    `the operator ${operator} compares decimals as numbers`]
  ]),
  ['compares decimals as texts by in', meetsBy('in', (value, wanted: readonly Scalar[]) => wanted.includes(value)),
    'the operator in selects decimals as numbers']
]

const WORDS = 'a search selects the rows that have each word in at least one of the attributes'
const COUNT_OF_SEARCH = 'a count respects the search'

/** Finds words in the texts of a row by another rule. */
const findsBy = (hasWord: (text: string, word: string) => boolean): Partial<Steps> => ({
  finds: (row, { words, attributes }) =>
    words.every((word) => attributes.some((name) => hasWord(String(valueOf(row, name)), word)))
})

const searchMutants: readonly Mutant[] = [
  ['declares a search and has none', { finds: () => true }, WORDS,
    'a search narrows a scope, and never widens it',
    'limit and position count only the rows that the search finds',
    'a search and a filter select the rows that match both',
    COUNT_OF_SEARCH],
  ['looks for one of the words', {
    finds: (row, search) => search.words.some((word) => steps.finds(row, { ...search, words: [word] }))
  }, WORDS, 'a search takes ten words'],
  ['looks at all texts', {
    finds: (row, search) => steps.finds(row, { ...search, attributes: Object.keys(row.attributes) })
  }, 'a search looks only at the attributes that it names'],
  ['takes words for patterns', findsBy((text, word) => like(text, `%${word}%`)),
    'a search takes each character of a word as it is']
]

/** Counts another query than the given one. */
const countsBy = (change: (query: CountQuery) => CountQuery): MakeStore => over((store) => ({
  count: (query, context) => store.count(change(query), context)
}))

const countMutants: readonly Mutant[] = [
  ['counts the rows that it ever had', over((store, table) => ({
    count: async (query, context) => Object.keys(query.scope).length > 0
      ? store.count(query, context)
      : { rows: table.lastId, isEstimate: false }
  })), 'a count is the number of the rows',
  'a count is between the numbers of the rows before and after concurrent writes'],
  ['counts without the scope', countsBy((query) => ({ ...query, scope: {} })), 'a count respects the scope'],
  ['counts without the filter', countsBy((query) => ({ ...query, filter: [] })), 'a count respects the filter'],
  ['counts without the search', countsBy((query) => ({ ...query, search: undefined })), COUNT_OF_SEARCH],
  ['counts from the beginning', countsBy((query) => ({ ...query, after: undefined })),
    'a count after a position is the number of the rows that follow it',
    'in every order, a count after a position is the number of the rows that follow it'],
  ['answers the end of a count', { total: (rows, most = rows) => ({ rows: most, isEstimate: false }) },
    'a count with an end is exact below it, and reaches it otherwise'],
  ['hides that it estimates', over((store) => ({
    count: async (query, context) => query.estimate ? { rows: 1000, isEstimate: false } : store.count(query, context)
  })), 'a count that may be an estimate says whether it is one']
]

const isReversed = (order: Order): boolean => order.at(-1)?.descending === true

const wayBackMutants: readonly Mutant[] = [
  ['turns only the first criterion round', sortsBy(({ by, descending }, index) =>
    ({ by, descending: index === 0 && descending })),
  'in the reversed order, a list after a position has the rows before it'],
  ['needs a row at the place to walk back', withSteps(({ rows }) => ({
    isAfter: (order, row, after) =>
      (!isReversed(order) || rows.has(after.at(-1) as Id)) && compareRow(order, row, after) > 0
  })), 'a row that stays is on a page of the way back, whatever is written in between']
]

/** Stores that list, filter, search or count rows wrongly. */
export const mutantsOfLists: readonly Mutant[] = [
  ...listMutants, ...orderMutants, ...filterMutants, ...operatorMutants, ...decimalMutants, ...searchMutants,
  ...countMutants, ...wayBackMutants
]
