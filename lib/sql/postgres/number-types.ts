import { compareDecimals, countDigits, normalizeDecimal } from '../../core/util/decimal.js'
import { identity } from '../../core/util/functions.js'
import type { Codec } from '../columns/codec.js'

/** A type without its parameters, such as `numeric`, and its parameters. */
export interface NumberColumnType {
  readonly name: string
  readonly parameters: readonly number[]
}

const INTEGERS: ReadonlyMap<string, readonly [least: bigint, most: bigint]> = new Map([
  ['smallint', [-(2n ** 15n), 2n ** 15n - 1n]],
  ['integer', [-(2n ** 31n), 2n ** 31n - 1n]],
  ['bigint', [-(2n ** 63n), 2n ** 63n - 1n]]
])

/** Finds how a column keeps integers. */
export function findIntegerCodec ({ name }: NumberColumnType): Codec | undefined {
  const range = INTEGERS.get(name)
  return range && {
    isLong: false,
    findFault: (value) => findRangeFault(String(value), range),
    decode: (raw) => Number.isSafeInteger(Number(raw)) ? Number(raw) : raw
  }
}

/** The length of the longest text of an integer of eight bytes, in characters. */
const LONGEST_INTEGER = 20

function findRangeFault (text: string, [least, most]: readonly [bigint, bigint]): string | undefined {
  const isInside = text.length <= LONGEST_INTEGER && BigInt(text) >= least && BigInt(text) <= most
  return isInside ? undefined : `must be an integer between ${least} and ${most}`
}

/** Finds how a column keeps decimals. */
export function findDecimalCodec ({ name, parameters }: NumberColumnType): Codec | undefined {
  const range = INTEGERS.get(name)
  if (range !== undefined) {
    return {
      isLong: false,
      decode: identity,
      findFault (value) {
        const number = normalizeDecimal(String(value))
        return number.includes('.') ? 'must be an integer' : findRangeFault(number, range)
      },
      encode: (value) => normalizeDecimal(String(value)),
      compare: identity
    }
  }
  if (name !== 'numeric') return undefined
  const [precision, scale = 0] = parameters
  const most = precision === undefined ? MOST_DIGITS : { whole: precision - scale, fraction: scale }
  const largest = most.whole < 0 && `0.${'0'.repeat(-most.whole)}${'9'.repeat(Number(precision))}`
  return {
    isLong: false,
    decode: identity,
    findFault (value) {
      const number = normalizeDecimal(String(value))
      if (largest === false) return findDigitsFault(number, most)
      const isKept = number.length <= largest.length + 1 && compareDecimals(number, largest) <= 0 &&
        compareDecimals(number, `-${largest}`) >= 0
      return isKept ? undefined : `must be between -${largest} and ${largest}`
    }
  }
}

/** The digits that a column of the type `numeric` has if it does not limit them (PostgreSQL §8.1.2). */
const MOST_DIGITS = { whole: 131_072, fraction: 16_383 }

/** Returns the message about a decimal with too many digits. A negative `fraction` asks for zeros before the point. */
function findDigitsFault (
  number: string,
  most: { readonly whole: number, readonly fraction: number }
): string | undefined {
  const { whole, fraction } = countDigits(number)
  const after = Math.max(0, most.fraction)
  if (whole > most.whole || fraction > after) {
    return `must have at most ${most.whole} digits before the point and ${after} after it`
  }
  const zeros = number.length - withoutEnd(number, '0').length
  const isRound = most.fraction >= 0 || number === '0' || zeros >= -most.fraction
  return isRound ? undefined : `must be a multiple of ${10 ** -most.fraction}`
}

export const NUMBER: Codec = { isLong: false, decode: decodeNumber }

/** PostgreSQL writes a number of four bytes by the fewest digits that tell it from others. */
export const REAL: Codec = {
  isLong: false,
  findFault (value) {
    const nearest = nearestReal(value as number)
    if (nearest === value) return undefined
    return Number.isFinite(nearest)
      ? `must be a number of at most 6 digits, or one that four bytes keep exactly; the nearest is ${nearest}`
      : 'must be a number between -3.4e38 and 3.4e38'
  },
  compare: (value) => Math.fround(value as number),
  decode: decodeNumber
}

/**
 * Returns the number that a column of four bytes returns for a number. PostgreSQL writes the shortest decimal between
 * the middles of the number and its neighbours, and of several the nearest one, or the even one.
 */
function nearestReal (value: number): number {
  const kept = Math.fround(value)
  if (kept === 0 || !Number.isFinite(kept)) return kept
  const [least, most] = middlesAround(kept)
  for (let digits = 1; ; digits++) {
    const [mantissa, exponent] = kept.toExponential(digits - 1).split('e') as [string, string]
    const rounded = Number(mantissa.replace('.', ''))
    const spelled = [rounded - 1, rounded, rounded + 1]
      .map((whole) => ({ whole, number: Number(`${whole}e${Number(exponent) - digits + 1}`) }))
      .filter(({ number }) => number > least && number < most)
      .map((spelling) => ({ ...spelling, distance: Math.abs(spelling.number - kept) }))
      .sort((a, b) => a.distance - b.distance || Math.abs(a.whole % 2) - Math.abs(b.whole % 2))
    if (spelled[0] !== undefined) return spelled[0].number
  }
}

/** Returns the numbers half way to the next smaller and the next greater number of four bytes. */
function middlesAround (kept: number): [least: number, most: number] {
  const numbers = Float32Array.of(Math.abs(kept))
  const bits = new Uint32Array(numbers.buffer)
  const neighbour = (by: 1 | -1): number => new Float32Array(bits.map((bit) => bit + by).buffer)[0] as number
  const size = Math.abs(kept)
  const below = (size + neighbour(-1)) / 2
  const next = neighbour(1)
  const above = Number.isFinite(next) ? (size + next) / 2 : size + (size - below)
  return kept > 0 ? [below, above] : [-above, -below]
}

/** Decodes a number. `NaN` and the infinities, which JSON does not have, stay texts. */
function decodeNumber (raw: unknown): unknown {
  const value = Number(raw)
  return Number.isFinite(value) ? value : raw
}

/** Returns a text without the given characters at its end. A regular expression would take quadratic time. */
export function withoutEnd (text: string, character: string): string {
  let end = text.length
  while (text[end - 1] === character) end--
  return text.slice(0, end)
}
