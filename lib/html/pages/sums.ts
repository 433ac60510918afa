import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ListedRows } from '../../core/formats/format.js'
import { parseNames } from '../../core/request/selection.js'
import { isDecimalShape } from '../../core/schema/convert-text.js'
import type { Property } from '../../core/schema/shape.js'
import { normalizeDecimal } from '../../core/util/decimal.js'
import type { HtmlListView, Sums } from '../content.js'
import { makeNumberCompiler, type WriteNumber } from '../values/numbers.js'
import type { ShownAttribute } from '../values/shown-attributes.js'
import type { Column, ColumnChoice, ListPage } from '../views/model.js'
import { linkTo } from './links.js'
import type { PageSource } from './page-frame.js'

/** The query parameter that names the attributes whose sums a list shows. */
export const SUM = 'sum'

/** The most rows that are added up, and the most rows of a list whose categories are counted. */
export const MOST_FIGURED = 10_000

const TOO_MANY: Sums = { rows: undefined, values: new Map() }

/** A column whose values can be added up. */
type NumberColumn = Pick<ShownAttribute, 'label' | 'read'> & { readonly write: WriteNumber }

/** The sums of the columns with numbers. */
export class ListSums {
  readonly #messages: PageSource['messages']
  readonly #columns: ReadonlyMap<string, NumberColumn>
  readonly #digits: Intl.NumberFormat

  /** @param columns the columns. None of them has a sum if they depend on the rows */
  constructor ({ lang, messages, resource }: PageSource, columns: readonly ShownAttribute[] = []) {
    const compileNumber = makeNumberCompiler(lang)
    this.#messages = messages
    this.#digits = new Intl.NumberFormat(lang)
    this.#columns = new Map(columns.filter(({ show }) => show.numeric).map(({ name, label, read }) => {
      const { shape } = resource.attributes.get(name) as Property
      const write = compileNumber(shape) as WriteNumber
      return [name, { label, read, write: isDecimalShape(shape) ? write : (sum) => write(normalizeDecimal(`${sum}`)) }]
    }))
  }

  /** The number of links that show or hide a sum. */
  get choices (): number {
    return this.#columns.size
  }

  /**
   * Finds the sums that a query asks for, over all rows of its list.
   * @throws InvalidQueryError
   */
  async find ({ parameters, count: countRows, read }: ListedRows): Promise<Sums | undefined> {
    const asked = parameters[SUM]
    if (asked === undefined) return undefined
    const names = parseNames(SUM, asked, new Set(this.#columns.keys()), 'a column of numbers on this page')
    if ((await countRows(parameters) ?? 0) > MOST_FIGURED) return TOO_MANY
    const sums = new Map<string, Sum | undefined>([...names].map((name) => [name, ZERO]))
    let count = 0
    for await (const rows of await read(MOST_FIGURED + 1)) {
      count += rows.length
      if (count > MOST_FIGURED) return TOO_MANY
      for (const { attributes } of rows) {
        for (const [name, sum] of sums) sums.set(name, sum && add(sum, this.#columns.get(name)?.read(attributes)))
      }
      await nextTurn()
    }
    return { rows: count, values: new Map([...sums].map(([name, sum]) => [name, sum && write(sum)])) }
  }

  /** Makes the links that show or hide a sum, or returns `undefined` without any. */
  choose (view: HtmlListView): ColumnChoice | undefined {
    const shown = namesIn(view)
    const links = [...this.#columns].map(([name, { label, write }]) => {
      const isShown = shown.includes(name)
      const sum = view.figures?.sums?.values.get(name)
      return { label, isShown, value: sum && write(sum), href: linkTo(view, changeSum(view, name, !isShown)) }
    })
    return links.length === 0 ? undefined : { label: this.#messages.sum, isOpen: shown.length > 0, links }
  }

  /** Makes the foot of a table with these columns, and the sentences that say why sums are missing. */
  show ({ rows, values }: Sums, columns: ReadonlyArray<Pick<Column, 'name'>>): Pick<ListPage, 'sums' | 'sumNotes'> {
    const { sum, total, plural, singular, noSumOfMany, noSumOf } = this.#messages
    const write = (number: number): string => this.#digits.format(number)
    if (rows === undefined) return { sums: undefined, sumNotes: [noSumOfMany(write(MOST_FIGURED), plural)] }
    const missing = [...this.#columns].filter(([name]) => values.has(name) && values.get(name) === undefined)
    return {
      sums: {
        label: `${sum} (${total(rows, write(rows), plural, singular)})`,
        values: columns.map(({ name }) => {
          const value = values.get(name)
          return value === undefined ? undefined : this.#columns.get(name)?.write(value)
        })
      },
      sumNotes: missing.map(([, { label }]) => noSumOf(label))
    }
  }
}

/** Returns the names of the attributes whose sums a page shows. */
function namesIn ({ parameters }: Pick<HtmlListView, 'parameters'>): readonly string[] {
  return parameters[SUM]?.split(',') ?? []
}

/** Returns the change of a query that shows the sum of an attribute, or hides it. */
export function changeSum (
  view: Pick<HtmlListView, 'parameters'>,
  name: string,
  isShown: boolean
): Readonly<Record<string, string | undefined>> {
  const names = [...namesIn(view).filter((other) => other !== name), ...isShown ? [name] : []]
  return { [SUM]: names.length === 0 ? undefined : names.join() }
}

/** A sum: an integer, and how many of its digits follow the point. */
interface Sum {
  readonly digits: bigint
  readonly scale: number
}

const ZERO: Sum = { digits: 0n, scale: 0 }
/** The digits of a decimal number that a double keeps. The others of a fraction are those of a binary number. */
const EXACT_DIGITS = 15
/** Matches a number as JSON or a decimal spells it. A longer one would take too long to add. */
const NUMBER = /^(-?\d{1,400})(?:\.(\d{1,400}))?(?:e([+-]\d{1,3}))?$/

/**
 * Adds a value, exactly: a number counts as the decimal number that it is written as. Null adds nothing. Returns
 * `undefined` if the value is no number.
 */
function add (sum: Sum, value: unknown): Sum | undefined {
  if (value === undefined || value === null) return sum
  const isFloat = typeof value === 'number' && !Number.isInteger(value)
  const text = isFloat ? String(Number(value.toPrecision(EXACT_DIGITS))) : String(value)
  const [, whole, fraction = '', exponent = '0'] = NUMBER.exec(text) ?? []
  if (whole === undefined) return undefined
  const places = fraction.length - Number(exponent)
  const scale = Math.max(sum.scale, places)
  const shift = (digits: bigint, from: number): bigint => digits * 10n ** BigInt(scale - from)
  return { digits: shift(sum.digits, sum.scale) + shift(BigInt(whole + fraction), places), scale }
}

/** Writes a sum with as many places as the value that has the most. */
function write ({ digits, scale }: Sum): string {
  const text = String(digits).replace('-', '').padStart(scale + 1, '0')
  const end = text.length - scale
  return `${digits < 0n ? '-' : ''}${text.slice(0, end)}${scale === 0 ? '' : `.${text.slice(end)}`}`
}
