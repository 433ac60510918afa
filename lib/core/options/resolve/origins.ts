import { InvalidOptionError } from '../../errors.js'
import { show } from '../../util/check-option.js'

/**
 * Checks the option `trustedOrigins`.
 * @throws InvalidOptionError
 */
export function checkOrigins (option: string, origins: unknown): readonly string[] {
  if (!Array.isArray(origins)) {
    throw new InvalidOptionError(option, "must be a list of origins such as ['https://app.example.com']")
  }
  const [other] = origins.filter((origin) => !isOrigin(origin)).map(show)
  if (other === undefined) return origins
  throw new InvalidOptionError(
    option,
    `has ${other}, which is not an origin such as 'https://app.example.com': scheme and host in small letters, no path`
  )
}

/** Returns whether a value is an origin in the spelling of browsers (RFC 6454 §6.1). */
export function isOrigin (value: unknown): value is string {
  return typeof value === 'string' && !value.includes('*') && URL.canParse(value) && new URL(value).origin === value
}
