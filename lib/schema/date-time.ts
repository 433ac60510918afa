/** A format of date or time: how a text of it is recognised, and what a message says that is wanted. */
export interface MomentFormat {
  readonly isValid: (text: string) => boolean
  readonly wants: string
}

const YEAR_0 = '0000'
const DATE = /^(\d{4})-(\d\d)-(\d\d)$/
// XML Schema Part 2 §3.2.7.3: no offset is greater than 14 hours.
const TIME = /^([01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(?:\.\d+)?(?:Z|[+-](?:(?:0\d|1[0-3]):[0-5]\d|14:00))$/
const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
/** In characters, of `2026-01-31`. */
const DATE_LENGTH = 10
/** In characters, of `12:00:`. */
const SECONDS_AT = 6

function isLeapYear (year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
}

/** Whether a text is a `full-date` of RFC 3339 §5.6 that exists. XML Schema 1.0 has no year 0. */
export function isDate (text: string): boolean {
  const [, year, month, day] = DATE.exec(text) ?? []
  if (year === undefined || year === YEAR_0) return false
  const days = month === '02' && isLeapYear(Number(year)) ? 29 : DAYS[Number(month) - 1] ?? 0
  return Number(day) >= 1 && Number(day) <= days
}

/** Whether a text is a `full-time` of RFC 3339 §5.6 as XML Schema spells it: with `Z` or `±hh:mm`. */
export function isTime (text: string): boolean {
  return hasTime('2026-01-31', text, isMidnight)
}

/** Whether a text is a date and time that RFC 3339 and XML Schema both have; seconds are 60 where RFC 3339 has it. */
export function isDateTime (text: string): boolean {
  const date = text.slice(0, DATE_LENGTH)
  return text[DATE_LENGTH] === 'T' && isDate(date) && hasTime(date, text.slice(DATE_LENGTH + 1), isMonth)
}

/** Whether a date that exists has such a time. `mayFollow` says whether a leap second may end at a moment. */
function hasTime (date: string, time: string, mayFollow: (moment: Date) => boolean): boolean {
  const [, , seconds] = TIME.exec(time) ?? []
  if (seconds !== '60') return seconds !== undefined
  const [offset] = /[Z+-].*$/.exec(time) as RegExpExecArray
  const moment = new Date(`${date}T${time.slice(0, SECONDS_AT)}59${offset}`)
  moment.setUTCSeconds(60)
  return mayFollow(moment)
}

function isMidnight (moment: Date): boolean {
  return moment.getUTCHours() === 0 && moment.getUTCMinutes() === 0
}

/** Whether a month begins, in UTC: RFC 3339 §5.7 has a leap second at the end of one. */
function isMonth (moment: Date): boolean {
  return isMidnight(moment) && moment.getUTCDate() === 1
}

/** The formats of JSON Schema that are dates and times, by their names. */
export const MOMENT_FORMATS: ReadonlyMap<string, MomentFormat> = new Map([
  ['date', { isValid: isDate, wants: 'must be a date such as 2026-01-31' }],
  ['time', { isValid: isTime, wants: 'must be a time such as 12:00:00Z' }],
  ['date-time', { isValid: isDateTime, wants: 'must be a date and time such as 2026-01-31T12:00:00Z' }]
])
