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

// Matches a number with its fraction and exponent, or the quote that begins a string.
const JSON_TOKENS = /"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g

/**
 * Returns the index of the quote that ends the string which begins at `start`. A regular expression for a whole string
 * would keep a stack frame for each of its characters, and overflow with a string of 12 MB.
 */
function findEndOfString (json: string, start: number): number {
  let end = json.indexOf('"', start + 1)
  while (isEscaped(json, end)) end = json.indexOf('"', end + 1)
  return end
}

/** Returns whether an odd number of backslashes precedes this position. */
function isEscaped (json: string, index: number): boolean {
  let first = index
  while (json[first - 1] === '\\') first--
  return (index - first) % 2 === 1
}

// Matches sixteen digits or points in a row. They are written out, because V8 skips text that cannot match only if the
// expression has no counted repetition. That takes a sixth of the time.
const LONG = /[\d.][\d.][\d.][\d.][\d.][\d.][\d.][\d.][\d.][\d.][\d.][\d.][\d.][\d.][\d.][\d.]/
// Matches an exponent of three or more digits. In a string, such as a UUID, a quote or a letter usually follows it.
const FAR = /\d[eE][+-]?\d\d\d+(?:[\s,\]}]|$)/

/** A number of a JSON text, and its position there. */
export interface NumberToken {
  readonly text: string
  readonly index: number
}

/** Returns the first number of a JSON text that a double does not keep exactly, or `undefined` if there is none. */
export function findInexactNumber (json: string): NumberToken | undefined {
  if (!LONG.test(json) && !FAR.test(json)) return undefined
  // A copy, because a global expression keeps its position.
  const tokens = new RegExp(JSON_TOKENS)
  for (let found = tokens.exec(json); found !== null; found = tokens.exec(json)) {
    const { 0: text, index } = found
    if (text === '"') tokens.lastIndex = findEndOfString(json, index) + 1
    else if (!isExactNumber(text)) return { text, index }
  }
  return undefined
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

// Matches a decimal text in the one spelling that is kept: no plus sign, no exponent, and digits around the point.
const DECIMAL = /^-?\d+(?:\.\d+)?$/
// Matches what XML Schema (Part 2 §3.2.3) and browsers also accept: a plus sign, `.5` and `5.`.
const LOOSE = /^([+-]?)(?:(\d+)\.?|(\d*)\.(\d+))$/

/** Returns whether a value is a decimal text, such as `-12.50`. */
export function isDecimal (value: unknown): value is string {
  return typeof value === 'string' && DECIMAL.test(value)
}

/**
 * Reads a decimal text in any spelling without an exponent. Returns it with digits around the point and without a plus
 * sign: `0.5` for `+.5`. All digits stay. Returns `undefined` if the text is no decimal number.
 */
export function readDecimal (text: string): string | undefined {
  if (DECIMAL.test(text)) return text
  const [, sign, alone, whole = '', fraction] = LOOSE.exec(text) ?? []
  if (sign === undefined) return undefined
  const digits = alone ?? `${whole === '' ? '0' : whole}.${fraction as string}`
  return sign === '-' ? `-${digits}` : digits
}

/**
 * Counts the digits of a decimal text before its point and after it. Zeros at the beginning do not count, and zeros at
 * the end do.
 */
export function countDigits (text: string): { readonly whole: number, readonly fraction: number } {
  const { whole, fraction } = splitDecimal(text)
  return { whole: whole.length, fraction: fraction.length }
}

/** Returns the same text for decimal texts of the same number: `1.1` for `01.10`, and `0` for `-0.00`. */
export function normalizeDecimal (text: string): string {
  const { isNegative, whole, fraction } = splitDecimal(text)
  const end = lengthWithoutZeros(fraction)
  if (whole === '' && end === 0) return '0'
  return `${isNegative ? '-' : ''}${whole === '' ? '0' : whole}${end === 0 ? '' : `.${fraction.slice(0, end)}`}`
}

/** Compares the numbers of two decimal texts, exactly. Returns 0 for `1.1` and `1.10`. */
export function compareDecimals (a: string, b: string): number {
  const [one, other] = [normalizeDecimal(a), normalizeDecimal(b)]
  if (one === other) return 0
  const isNegative = one.startsWith('-')
  if (isNegative !== other.startsWith('-')) return isNegative ? -1 : 1
  // Numbers of one sign: more digits before the point are farther from zero. Digits at the same places sort like texts,
  // and the point sorts before them.
  const difference = lengthOfWhole(one) - lengthOfWhole(other)
  const isNearer = difference === 0 ? one < other : difference < 0
  return isNearer === isNegative ? 1 : -1
}

function splitDecimal (text: string): { isNegative: boolean, whole: string, fraction: string } {
  const isNegative = text.startsWith('-')
  const point = lengthOfWhole(text)
  let start = isNegative ? 1 : 0
  while (text[start] === '0') start++
  return { isNegative, whole: text.slice(start, point), fraction: text.slice(point + 1) }
}

/** Returns the number of characters before the point. */
function lengthOfWhole (text: string): number {
  const point = text.indexOf('.')
  return point === -1 ? text.length : point
}

function lengthWithoutZeros (digits: string): number {
  let end = digits.length
  while (digits[end - 1] === '0') end--
  return end
}

/** Matches the digits of an integer that a double may round. */
const DIGITS = /^-?[1-9]\d{15,18}$/

/**
 * Returns whether a value is the text of an integer of eight bytes beyond ±(2^53 − 1). Such an integer is a text
 * everywhere, because a double cannot tell it from its neighbours. It has no zeros in front and no plus sign.
 */
export function isLongInteger (value: unknown): value is string {
  return typeof value === 'string' && DIGITS.test(value) && !Number.isSafeInteger(Number(value)) &&
    BigInt.asIntN(64, BigInt(value)) === BigInt(value)
}

/** Returns the integer of eight bytes that a text spells as `String` does, or else `undefined`. */
export function readInteger (text: string): number | string | undefined {
  const value = Number(text)
  if (Number.isSafeInteger(value)) return String(value) === text ? value : undefined
  return isLongInteger(text) ? text : undefined
}
