import { isDate } from '../../../schema/date-time.js'

/** Makes the format of dates in a language: `Jan 31, 2026`. */
export function makeDateFormat (lang: string): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat(lang, { dateStyle: 'medium', timeZone: 'UTC' })
}

/** The parts of a date and time: `2026-01-31`, `12:00`, `00`, `.5` or the empty text, `+02:00`. */
export interface DateTimeParts {
  readonly date: string
  readonly time: string
  readonly seconds: string
  readonly fraction: string
  readonly offset: string
}

const DATE_TIME = /^(\d{4}-\d\d-\d\d)[Tt ]((?:[01]\d|2[0-3]):[0-5]\d):([0-5]\d)(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/

/** A local date and time, or a local time, for a control of HTML. */
export interface LocalTime {
  readonly type: 'datetime-local' | 'time'
  /** The unit of the control in seconds, or `undefined` for whole minutes. */
  readonly step: 1 | 0.001 | undefined
}

// Matches the texts that a browser sends back unchanged, except that it drops seconds that are zero (HTML §2.3.5.3,
// §4.10.5.1.11). It would also drop zeros at the end of a fraction.
const LOCAL = /^(\d{4}-\d\d-\d\dT)?(?:[01]\d|2[0-3]):[0-5]\d:([0-5]\d)(\.\d{0,2}[1-9])?$/

/** Returns the control for a date and time, or a time, without an offset; `undefined` if no control can show it. */
export function findLocalTime (text: string): LocalTime | undefined {
  const [, date, seconds, fraction] = LOCAL.exec(text) ?? []
  if (seconds === undefined || (date !== undefined && !isDate(date.slice(0, -1)))) return undefined
  const step = fraction !== undefined ? 0.001 : seconds === '00' ? undefined : 1
  return { type: date === undefined ? 'time' : 'datetime-local', step }
}

/** Splits a date and time. Returns `undefined` if HTML cannot express it: a leap second, the year 0, February 30. */
export function splitDateTime (text: string): DateTimeParts | undefined {
  const [, date = '', time = '', seconds = '', fraction = '', offset = ''] = DATE_TIME.exec(text) ?? []
  return isDate(date) ? { date, time, seconds, fraction, offset } : undefined
}
