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
