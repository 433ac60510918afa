import { readSpelled } from '../../core/formats/form/parse.js'
import { FREE_MOMENT } from '../../core/schema/convert-text.js'
import { isDate } from '../../core/schema/date-time.js'
import { directionOf } from '../languages/language.js'
import { lazy } from '../../core/util/functions.js'

/** A date, or a date and time, as pages show it, and as machines read it (HTML §4.5.14). */
export interface ShownMoment {
  readonly shown: string
  readonly machine: string
}

/** Returns how a text is shown, or `undefined` if it is no date or time. */
export type ShowMoment = (text: string) => ShownMoment | undefined

/** Compiles how dates and times are shown, by the formats of attributes: `Jan 31, 2026`. */
export function compileMoments (lang: string, timeZone: string | undefined): ReadonlyMap<string, ShowMoment> {
  // After Arabic letters, `+02:00` would be shown as `02:00+`.
  const mark = directionOf(lang) === 'rtl' ? '\u200e' : ''
  const dates = lazy(() => new Intl.DateTimeFormat(lang, { dateStyle: 'medium', timeZone: 'UTC' }))
  const make = (timeZone: string): Intl.DateTimeFormat =>
    new Intl.DateTimeFormat(lang, { dateStyle: 'medium', timeStyle: 'short', timeZone })
  const moments = lazy(() => make('UTC'))
  const zoned = timeZone === undefined ? undefined : lazy(() => make(timeZone))
  return new Map<string, ShowMoment>([
    ['date', (text) => isDate(text) ? { shown: write(`${text}T00:00:00`, dates()), machine: text } : undefined],
    ['date-time', (text) => showMoment(text, { format: moments(), zoned: zoned?.(), mark })],
    ['date-time-local', (text) => showLocal(text, moments())],
    [FREE_MOMENT, (text) => showSpelled(text, dates, moments)]
  ])
}

const OFFSET = /^(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/

interface MomentFormats {
  readonly format: Intl.DateTimeFormat
  readonly zoned: Intl.DateTimeFormat | undefined
  /** The mark before an offset that says its direction. */
  readonly mark: string
}

/** Shows a date and time in the zone of the app, or else with its own offset, because no other zone is known. */
function showMoment (text: string, { format, zoned, mark }: MomentFormats): ShownMoment | undefined {
  const parts = splitDateTime(text)
  if (parts === undefined || !OFFSET.test(parts.offset)) return undefined
  const { date, time, seconds, fraction, offset } = parts
  const clock = `${date}T${time}:${seconds}`
  const machine = `${clock}${fraction.slice(0, 4)}${offset.toUpperCase()}`
  if (zoned !== undefined) return { shown: zoned.format(new Date(machine)), machine }
  return { shown: write(clock, format) + (/^(?:z|[+-]00:00)$/i.test(offset) ? ' UTC' : ` ${mark}${offset}`), machine }
}

/** Shows a date and time without an offset. */
function showLocal (text: string, format: Intl.DateTimeFormat): ShownMoment | undefined {
  const parts = splitDateTime(`${text}Z`)
  if (parts === undefined) return undefined
  const clock = `${parts.date}T${parts.time}:${parts.seconds}`
  return { shown: write(clock, format), machine: `${clock}${parts.fraction.slice(0, 4)}` }
}

/** Shows a date in another spelling, `1996-07-04 00:00:00.000`, without the time if that is midnight. */
function showSpelled (
  text: string,
  dates: () => Intl.DateTimeFormat,
  moments: () => Intl.DateTimeFormat
): ShownMoment | undefined {
  const read = readSpelled(text)
  if (read === undefined) return undefined
  const { type, value } = read
  return type === 'date'
    ? { shown: write(`${value}T00:00:00`, dates()), machine: value }
    : { shown: write(value, moments()), machine: value }
}

function write (clock: string, format: Intl.DateTimeFormat): string {
  return format.format(new Date(`${clock}Z`))
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
