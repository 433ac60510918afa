/** The parsers of values, in place of the app's. They return the text of the database, except for dates and times. */
export const TYPES = { getTypeParser: (oid: number): (text: string) => string => PARSERS.get(oid) ?? ((text) => text) }

/** The parsers of `date` and `timestamp with time zone`, by the numbers of these types, which never change. */
const PARSERS: ReadonlyMap<number, (text: string) => string> = new Map([
  [1082, (text) => checkStyle(text, DATE)],
  [1184, formatMoment]
])

const INFINITE = /^-?infinity$/
const DATE = /^(?:\d{4,}-\d\d-\d\d(?: BC)?|-?infinity)$/
const MOMENT = /^(\d{4,}-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d+)?[+-]\d\d)(:\d\d(?::\d\d)?)?( BC)?$/

/**
 * Writes a moment as RFC 3339 does: PostgreSQL's `2026-01-31 12:00:00.5+00` becomes `2026-01-31T12:00:00.5+00:00`. The
 * server's `to_jsonb` does the same, but depends on the time zone. Citus does not allow such functions in RETURNING.
 */
function formatMoment (text: string): string {
  const [, date, time, minutes = ':00', era = ''] = MOMENT.exec(text) ?? []
  return date === undefined ? checkStyle(text, INFINITE) : `${date}T${time}${minutes}${era}`
}

/** Returns the text. Throws `TypeError` if the app has changed the style of the connection's dates. */
function checkStyle (text: string, style: RegExp): string {
  if (style.test(text)) return text
  throw new TypeError(`the connection writes a date or time as "${text}"; its DateStyle must be ISO`)
}
