const UUID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/

/** Returns whether a value is a UUID in the spelling that RFC 9562 §4 requires of output: lower case, with hyphens. */
export function isUuid (value: unknown): boolean {
  return typeof value === 'string' && UUID.test(value)
}
