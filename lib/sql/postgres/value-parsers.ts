type Parse = (text: string) => string

/** The parsers of dates and times, by the names of their types. */
const PARSERS: ReadonlyMap<string, Parse> = new Map([
  ['date', (text) => checkStyle(text, DATE)],
  ['timestamp without time zone', (text) => formatMoment(text, LOCAL)],
  ['timestamp with time zone', (text) => formatMoment(text, MOMENT)]
])

/** The names of these types, by their numbers, which never change. */
const NAMES: ReadonlyMap<number, string> =
  new Map([[1082, 'date'], [1114, 'timestamp without time zone'], [1184, 'timestamp with time zone']])

const asItIs: Parse = (text) => text

/** Returns the parser of a type. It returns the text of the database, except for dates and times. */
export function parserOf (name: string): Parse {
  return PARSERS.get(name) ?? asItIs
}

/** The parsers of values, in place of the app's. */
export const TYPES = { getTypeParser: (oid: number): Parse => parserOf(NAMES.get(oid) ?? '') }

const INFINITE = /^-?infinity$/
const DATE = /^(?:\d{4,}-\d\d-\d\d(?: BC)?|-?infinity)$/
const MOMENT = /^(\d{4,}-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d+)?[+-]\d\d)(:\d\d(?::\d\d)?)?( BC)?$/
const LOCAL = /^(\d{4,}-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d+)?)()( BC)?$/

/**
 * Writes a moment as RFC 3339 does: PostgreSQL's `2026-01-31 12:00:00.5+00` becomes `2026-01-31T12:00:00.5+00:00`. The
 * server's `to_jsonb` does the same, but depends on the time zone. Citus does not allow such functions in RETURNING.
 */
function formatMoment (text: string, style: typeof MOMENT): string {
  const [, date, time, minutes = ':00', era = ''] = style.exec(text) ?? []
  return date === undefined ? checkStyle(text, INFINITE) : `${date}T${time}${minutes}${era}`
}

/** Returns the text. Throws `TypeError` if the app has changed the style of the connection's dates. */
function checkStyle (text: string, style: RegExp): string {
  if (style.test(text)) return text
  throw new TypeError(`the connection writes a date or time as "${text}"; its DateStyle must be ISO`)
}
