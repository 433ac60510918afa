import { isDecimalShape } from '../../core/schema/convert-text.js'
import type { Shape } from '../../core/schema/shape.js'
import { countDigits, isDecimal } from '../../core/util/decimal.js'
import { keywordsOf } from '../forms/constraints.js'

/** Writes a number as people read it: `1,234.50`. */
export type WriteNumber = (value: unknown) => string

/** The most digits after the point that `Intl.NumberFormat` writes in every version of Node.js. */
const MOST_DIGITS = 20
/** The most digits after the point that are filled up with zeros. More are no amount of money. */
const MOST_ZEROS = 4
/** The largest integer that has no groups of digits in any language. */
const LARGEST_UNGROUPED = 999

/** Makes a function that compiles the notation of numbers. It returns `undefined` for a shape of other values. */
export function makeNumberCompiler (lang: string): (shape: Shape) => WriteNumber | undefined {
  const formats = new Map<number, Intl.NumberFormat>()

  /** @param isYear whether four digits have no groups, because they may be a year */
  function formatOf (digits: number, isYear: boolean): Intl.NumberFormat {
    const key = isYear ? -1 : digits
    let format = formats.get(key)
    if (format === undefined) {
      const fraction = { minimumFractionDigits: digits, maximumFractionDigits: digits }
      format = new Intl.NumberFormat(lang, { ...fraction, useGrouping: isYear ? 'min2' : 'auto' })
      formats.set(key, format)
    }
    return format
  }

  /**
   * Writes all digits of a number, and zeros up to the places after the point that its schema says.
   * @param isWhole whether the schema allows no fractions. Otherwise, all numbers of a column are grouped alike.
   */
  function write (text: string, places: number, isWhole: boolean): string {
    const digits = Math.max(places > MOST_ZEROS ? 0 : places, countDigits(text).fraction)
    // The type of the text says that it spells a number.
    const format = digits > MOST_DIGITS ? undefined : formatOf(digits, isWhole && digits === 0)
    return format?.format(text as Intl.StringNumericLiteral) ?? text
  }

  return (shape) => {
    const { only } = shape
    if (isDecimalShape(shape)) {
      const { scale = 0 } = shape
      return (value) => isDecimal(value) ? write(value, scale, shape.scale === 0) : String(value)
    }
    if (only !== 'integer' && only !== 'number') return undefined
    const places = digitsOf(keywordsOf(shape.schema).multipleOf)
    const hasLatinDigits = formatOf(0, false).resolvedOptions().numberingSystem === 'latn'
    return (value) => {
      const text = String(value)
      // Fast path: such integers are written as they are.
      if (places === 0 && hasLatinDigits && isSmall(value)) return text
      return isDecimal(text) ? write(text, places, only === 'integer') : text
    }
  }
}

/** Returns the number of digits after the point that the steps of a number have: 2 for `0.01`. */
function digitsOf (step: unknown): number {
  const text = String(step)
  return isDecimal(text) ? countDigits(text).fraction : 0
}

function isSmall (value: unknown): boolean {
  return Number.isInteger(value) && Number(value) >= 0 && Number(value) <= LARGEST_UNGROUPED
}
