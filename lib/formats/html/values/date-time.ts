import { isDate } from '../../../schema/date-time.js'

/** The parts of a date and time: `2026-01-31`, `12:00`, `00`, `.5` or the empty text, `+02:00`. */
export interface DateTimeParts {
  readonly date: string
  readonly time: string
  readonly seconds: string
  readonly fraction: string
  readonly offset: string
}

const DATE_TIME = /^(\d{4}-\d\d-\d\d)[Tt ]((?:[01]\d|2[0-3]):[0-5]\d):([0-5]\d)(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/

/** Splits a date and time. Returns `undefined` if HTML cannot express it: a leap second, the year 0, February 30. */
export function splitDateTime (text: string): DateTimeParts | undefined {
  const [, date = '', time = '', seconds = '', fraction = '', offset = ''] = DATE_TIME.exec(text) ?? []
  return isDate(date) ? { date, time, seconds, fraction, offset } : undefined
}
