const UUID = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/

/** Whether the value is a UUID in the one spelling that RFC 9562 §4 has for output. */
export function isUuid (value: unknown): boolean {
  return typeof value === 'string' && UUID.test(value)
}
