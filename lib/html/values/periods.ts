/** A period of dates, as conditions by their operators. */
export interface Period {
  /** The message that names it. */
  readonly period: 'today' | 'lastDays' | 'thisMonth'
  readonly conditions: Readonly<Record<string, string>>
}

/** A day in milliseconds. */
const DAY = 86_400_000
/** The number of days of the period that ends today. */
const LAST_DAYS = 7

/**
 * Returns the periods that end now, for attributes of a format; none for times of a day.
 * @param timeZone the time zone in which days begin. @default UTC
 */
export function findPeriods (format: string, timeZone = 'UTC', now: Date = new Date()): readonly Period[] {
  if (format !== 'date' && format !== 'date-time' && format !== 'date-time-local') return []
  // Sweden writes dates as ISO 8601 does.
  const today = new Intl.DateTimeFormat('sv', { dateStyle: 'short', timeZone }).format(now)
  const [year = 0, month = 0] = today.split('-').map(Number)
  const make = (period: Period['period'], first: string, last: string): Period => ({
    period,
    conditions: format === 'date'
      ? { gte: first, lte: last }
      : { gte: beginOf(first, format, timeZone), lt: beginOf(addDays(last, 1), format, timeZone) }
  })
  return [
    make('today', today, today),
    make('lastDays', addDays(today, 1 - LAST_DAYS), today),
    make('thisMonth', `${today.slice(0, -2)}01`, addDays(toDate(Date.UTC(year, month, 1)), -1))
  ]
}

function addDays (date: string, days: number): string {
  return toDate(Date.parse(date) + days * DAY)
}

function toDate (time: number): string {
  return new Date(time).toISOString().slice(0, 10)
}

/** Returns the beginning of a day in a time zone. */
function beginOf (date: string, format: string, timeZone: string): string {
  const clock = `${date}T00:00:00`
  if (format === 'date-time-local') return clock
  // Most zones change their offset at night, after midnight, so that of UTC's midnight may be another one.
  const guess = offsetAt(new Date(`${clock}Z`), timeZone)
  const offset = offsetAt(new Date(`${clock}${guess}`), timeZone)
  return clock + offset
}

/** Returns the offset of a time zone from UTC: `+02:00`, or `Z`. */
function offsetAt (moment: Date, timeZone: string): string {
  const parts = new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' }).formatToParts(moment)
  const { value } = parts.find(({ type }) => type === 'timeZoneName') as Intl.DateTimeFormatPart
  // Versions of ICU name UTC differently: `GMT`, or `GMT+00:00`. Offsets before 1900 have seconds, too.
  return value.replace(/^[^+-]*([+-]\d\d:\d\d)?.*/, '$1').replace(/^(?:\+00:00)?$/, 'Z')
}
