import { countDigits, normalizeDecimal } from '../../core/util/decimal.js'
import { identity } from '../../core/util/functions.js'
import type { Codec } from '../columns/codec.js'
import type { Values } from '../columns/kinds.js'

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

/** The digits that a column of the type `numeric` has if it does not limit them (PostgreSQL §8.1.2). */
const MOST_DIGITS = [131_072, 16_383] as const

/** Finds how a column keeps decimals. A column with a negative scale, or one beyond the precision, is only read. */
export function findDecimalCodec ({ name, parameters }: NumberColumnType, { readOnly }: Values): Codec | undefined {
  const range = INTEGERS.get(name)
  if (range !== undefined) {
    return {
      decode: identity,
      findFault (value) {
        const number = normalizeDecimal(String(value))
        return number.includes('.') ? 'must be an integer' : findRangeFault(number, range)
      },
      encode: (value) => normalizeDecimal(String(value)),
      compare: identity
    }
  }
  const [precision, scale = 0] = parameters
  const isOdd = precision !== undefined && (scale < 0 || scale > precision)
  if (name !== 'numeric' || (isOdd && !readOnly)) return undefined
  const [most, places] = precision === undefined ? MOST_DIGITS : [precision - scale, scale]
  return {
    decode: identity,
    findFault (value) {
      const { whole, fraction } = countDigits(normalizeDecimal(String(value)))
      const isKept = whole <= most && fraction <= places
      return isKept ? undefined : `must have at most ${most} digits before the point and ${places} after it`
    }
  }
}

export const NUMBER: Codec = { decode: decodeNumber }

/** PostgreSQL writes a number of four bytes by the fewest digits that tell it from others. */
export const REAL: Codec = {
  findFault (value) {
    const spelled = spellReal(value as number)
    const [nearest] = spelled
    if (spelled.includes(value as number)) return undefined
    return Number.isFinite(nearest)
      ? `must be a number of at most 6 digits, or one that four bytes keep exactly; the nearest is ${nearest}`
      : 'must be a number between -3.4e38 and 3.4e38'
  },
  compare: (value) => Math.fround(value as number),
  decode: decodeNumber
}

/** Returns the number that a column of four bytes returns, or both if two with as many digits are equally near. */
function spellReal (value: number): readonly [number, ...number[]] {
  const kept = Math.fround(value)
  for (let digits = 1; digits < 9; digits++) {
    const [first, ...others] = [kept, kept * (1 - 1e-12)].map((number) => Number(number.toPrecision(digits)))
      .filter((number) => Math.fround(number) === kept)
    if (first !== undefined) return [first, ...others]
  }
  return [Number(kept.toPrecision(9))]
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
