import type { Schema, TypeName } from '../../../core/schema/types.js'
import { quoteName } from '../../dialect.js'
import type { Candidate, Candidates } from './candidates.js'

/** A function that runs a query and returns its rows. */
export type RunSampleQuery = <R> (text: string, ...values: unknown[]) => R[]

/** The rows to look at, at each end of a table. */
const SAMPLE = 500
/** The most columns of one query. SQLite limits the depth of an expression to 1,000. */
const MOST_COLUMNS = 200

const TYPES: Readonly<Record<string, TypeName>> = { integer: 'integer', real: 'number', text: 'string', blob: 'string' }

/** The part of a table to look at. */
export interface SampledTable {
  readonly name: string
  /** The columns by which the first and the last rows can be found without sorting. None means only the first ones. */
  readonly order: readonly string[]
}

/** What a column contains. */
export interface Contents {
  readonly schema: Schema
  readonly isComparable: boolean
  /** Returns an SQL condition that a value of a quoted column, which is not null, fits the schema. */
  readonly fits?: Candidate['fits']
  /** The types of values if no candidate fits them all. */
  readonly mixed?: readonly string[]
  /** What an app should know about the column, as the end of a sentence that begins with its name. */
  readonly remark?: string
}

/** What a column may contain about which nothing is known. Lists can be neither sorted nor filtered by it. */
export const UNKNOWN: Contents = { schema: { type: ['string', 'number'] }, isComparable: false }

/**
 * Returns what the columns contain, of which `columns` has the candidates by name. It looks at the first and the last
 * 500 rows.
 */
export function sampleColumns (
  query: RunSampleQuery,
  table: SampledTable,
  columns: ReadonlyMap<string, Candidates>
): ReadonlyMap<string, Contents> {
  const names = [...columns.keys()]
  const found = new Map<string, Contents>()
  for (let from = 0; from < names.length; from += MOST_COLUMNS) {
    const part = names.slice(from, from + MOST_COLUMNS)
    const sampler = new Sampler(query, table, new Map(part.map((name) => [name, columns.get(name) as Candidates])))
    for (const [name, contents] of sampler.run()) found.set(name, contents)
  }
  return found
}

/** Finds the first candidate of each column that its values fit. */
class Sampler {
  readonly #query: RunSampleQuery
  readonly #table: SampledTable
  readonly #columns: ReadonlyMap<string, Candidates>
  /** How many candidates of each column do not fit. */
  readonly #refuted: Map<string, number>

  constructor (query: RunSampleQuery, table: SampledTable, columns: ReadonlyMap<string, Candidates>) {
    this.#query = query
    this.#table = table
    this.#columns = columns
    this.#refuted = new Map([...columns.keys()].map((name) => [name, 0]))
  }

  run (): Array<[string, Contents]> {
    for (const descending of this.#table.order.length === 0 ? [false] : [false, true]) {
      let isRefuted = true
      while (isRefuted) isRefuted = this.#refute(descending)
    }
    return [...this.#columns].map(([name, { candidates, whenEmpty }]) => {
      const refuted = this.#refuted.get(name) as number
      const isEmpty = refuted === 0 && whenEmpty !== undefined && this.#typesOf(name).length === 0
      return [name, isEmpty ? whenEmpty : candidates[refuted] ?? this.#mix(name)]
    })
  }

  /**
   * Finds a row with a value that does not fit its column's candidate, and proceeds to the next candidate of such
   * columns. Returns false if there is no such row.
   */
  #refute (descending: boolean): boolean {
    const tried = [...this.#refuted].flatMap(([name, refuted]) => {
      const candidate = this.#columns.get(name)?.candidates[refuted]
      return candidate === undefined ? [] : [{ name, refuted, fits: candidate.fits(quoteName(name)) }]
    })
    if (tried.length === 0) return false
    const fits = tried.map(({ name, fits }) => `${quoteName(name)} IS NULL OR ${fits}`)
    const all = tried.map((_, index) => `f${index}`).join(' AND ')
    const sample = this.#select(fits, descending)
    const [row] = this.#query<Record<string, number>>(`SELECT * FROM (${sample}) WHERE NOT (${all}) LIMIT 1`)
    for (const [index, { name, refuted }] of tried.entries()) {
      if (row?.[`f${index}`] === 0) this.#refuted.set(name, refuted + 1)
    }
    return row !== undefined
  }

  /** Writes the query that selects expressions as `f0`, `f1` … from the rows at one end. */
  #select (expressions: readonly string[], descending: boolean): string {
    const { name, order } = this.#table
    const selected = expressions.map((expression, index) => `(${expression}) AS f${index}`).join(', ')
    const criteria = order.map((column) => `${quoteName(column)}${descending ? ' DESC' : ''}`).join(', ')
    const orderBy = criteria === '' ? '' : ` ORDER BY ${criteria}`
    return `SELECT ${selected} FROM ${quoteName(name)}${orderBy} LIMIT ${SAMPLE}`
  }

  /** Describes a column that contains values of several types, or of other types than it declares. */
  #mix (column: string): Contents {
    const mixed = this.#typesOf(column)
    const types = new Set(mixed.map((type) => TYPES[type] as TypeName))
    if (types.has('number')) types.delete('integer')
    return { schema: { type: types.size === 1 ? [...types][0] : [...types] }, isComparable: false, mixed }
  }

  /** Returns the types of the values in a column, except null. */
  #typesOf (column: string): readonly string[] {
    const ends = this.#table.order.length === 0 ? [false] : [false, true]
    const rows = ends.flatMap((descending) => this.#query<{ type: string }>(
      `SELECT DISTINCT f0 AS type FROM (${this.#select([`typeof(${quoteName(column)})`], descending)}) ORDER BY 1`
    ))
    return [...new Set(rows.map(({ type }) => type))].filter((type) => type !== 'null').sort()
  }
}
