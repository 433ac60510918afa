import { type Message, say } from '../messages.js'

/** A format of strings. */
export interface TextFormat {
  /** Returns whether a text has the format. */
  readonly isValid: (text: string) => boolean
  /** The message about a text that has not. */
  readonly wants: Message
}

const YEAR_0 = '0000'
const DATE = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])$/
// XML Schema Part 2 §3.2.7.3 limits the offset to 14 hours.
const TIME = /^(?:[01]\d|2[0-3]):[0-5]\d:(?:[0-5]\d|60)(?:\.\d+)?(?:Z|[+-](?:(?:0\d|1[0-3]):[0-5]\d|14:00))$/
// Without an offset, nobody can tell whether a second 60 is a leap second, so it is invalid.
const LOCAL_TIME = /^(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?$/
const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
/** The length of `2026-01-31`. */
const DATE_LENGTH = 10
/** The position of the seconds in a time: the length of `12:00:`. */
const SECONDS_AT = 6

function isLeapYear (year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
}

/** Returns whether a text is a `full-date` of RFC 3339 §5.6 that exists. Year 0 is invalid, as in XML Schema 1.0. */
export function isDate (text: string): boolean {
  if (!DATE.test(text) || text.startsWith(YEAR_0)) return false
  const [year, month, day] = [Number(text.slice(0, 4)), Number(text.slice(5, 7)), Number(text.slice(8))]
  return day <= (month === 2 && isLeapYear(year) ? 29 : DAYS[month - 1] as number)
}

/** Returns whether a text is a `full-time` of RFC 3339 §5.6 in the spelling of XML Schema: with `Z` or `±hh:mm`. */
function isTime (text: string): boolean {
  return hasTime('2026-01-31', text, isMidnight)
}

/**
 * Returns whether a text is a `date-time` of RFC 3339 §5.6 in the spelling of XML Schema. The seconds may be 60 only
 * where RFC 3339 §5.7 has a leap second.
 */
export function isDateTime (text: string): boolean {
  const date = text.slice(0, DATE_LENGTH)
  return text[DATE_LENGTH] === 'T' && isDate(date) && hasTime(date, text.slice(DATE_LENGTH + 1), isMonth)
}

/** Returns a date and time to the second before it. */
export function withoutFraction (text: string): string {
  return text.replace(/\.\d+/, '')
}

/** Returns whether a text is the same moment as a date and time, with another offset from UTC or more zeros. */
export function isSameMoment (text: string, moment: string): boolean {
  if (!isDateTime(moment)) return false
  const fraction = (text: string): string => /\.\d*[1-9]/.exec(text)?.[0] ?? ''
  return fraction(text) === fraction(moment) &&
    Date.parse(withoutFraction(text)) === Date.parse(withoutFraction(moment))
}

/** Returns whether a text is a `partial-time` of RFC 3339 §5.6, without a leap second. */
export function isLocalTime (text: string): boolean {
  return LOCAL_TIME.test(text)
}

/** Returns whether a text is a `date-time` of RFC 3339 §5.6 without its offset from UTC, and without a leap second. */
export function isLocalDateTime (text: string): boolean {
  const [date = '', time = '', ...more] = text.split('T', 3)
  return more.length === 0 && isDate(date) && isLocalTime(time)
}

/** Returns whether a time is valid on a date. `mayFollow` returns whether the moment may follow a leap second. */
function hasTime (date: string, time: string, mayFollow: (moment: Date) => boolean): boolean {
  if (!TIME.test(time)) return false
  if (!time.startsWith('60', SECONDS_AT)) return true
  const moment = new Date(`${date}T${time.slice(0, SECONDS_AT)}59${time.replace(/^[^Z+-]*/, '')}`)
  moment.setUTCSeconds(60)
  return mayFollow(moment)
}

function isMidnight (moment: Date): boolean {
  return moment.getUTCHours() === 0 && moment.getUTCMinutes() === 0
}

/** Returns whether a month begins at the moment, in UTC. RFC 3339 §5.7 has leap seconds only at the end of a month. */
function isMonth (moment: Date): boolean {
  return isMidnight(moment) && moment.getUTCDate() === 1
}

/**
 * The formats for dates and times, by name: those of JSON Schema, and `date-time-local` and `time-local` of the OpenAPI
 * Format Registry, which have no offset from UTC.
 */
export const MOMENT_FORMATS: ReadonlyMap<string, TextFormat> = new Map([
  ['date', { isValid: isDate, wants: say('mustBeDate') }],
  ['time', { isValid: isTime, wants: say('mustBeTime') }],
  ['date-time', { isValid: isDateTime, wants: say('mustBeDateTime') }],
  ['time-local', { isValid: isLocalTime, wants: say('mustBeLocalTime') }],
  ['date-time-local', { isValid: isLocalDateTime, wants: say('mustBeLocalDateTime') }]
])

/** The formats without an offset from UTC. */
export const LOCAL_FORMATS: ReadonlySet<string> = new Set(['date-time-local', 'time-local'])
