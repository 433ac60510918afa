import { InvalidOptionError } from '../errors.js'
import { checkBoolean, checkObject, checkOptionNames, checkThat, isFunction } from '../util/check-option.js'
import type { IdempotencyOptions } from './options.js'

/** The checked option `idempotency`. */
export interface Idempotency {
  /** How long a request is kept, in milliseconds. */
  readonly keepMs: number
  readonly required: boolean
  readonly principal: NonNullable<IdempotencyOptions['principal']> | undefined
}

const OPTION = 'idempotency'
const UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }
/** The longest time that a request is kept: 400 days, in milliseconds. */
const LONGEST = 34_560_000_000

/** @throws InvalidOptionError, UnknownOptionError */
export function checkIdempotency (given: unknown): Idempotency | undefined {
  if (given === undefined) return undefined
  const options: IdempotencyOptions = checkObject(OPTION, given, "an object such as { keep: '24h' }")
  checkOptionNames(options, ['keep', 'required', 'principal'], `"${OPTION}"`)
  const { keep = '24h', required = false, principal } = options
  return {
    keepMs: checkKeep(keep),
    required: checkBoolean(`${OPTION}.required`, required),
    principal: principal && checkThat(`${OPTION}.principal`, principal, isFunction<typeof principal>, 'a function')
  }
}

function checkKeep (keep: unknown): number {
  const [, number, unit = ''] = /^(\d+)([smhd])$/.exec(String(keep)) ?? []
  const time = typeof keep === 'number' ? keep : Number(number) * Number(UNITS[unit])
  if (time >= 1 && time <= LONGEST) return time
  throw new InvalidOptionError(
    `${OPTION}.keep`,
    "must be a number of milliseconds, or a text such as '30m', '24h' or '7d', of at most 400 days"
  )
}
