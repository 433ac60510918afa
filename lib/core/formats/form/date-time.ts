import { isDateTime } from '../../schema/date-time.js'

// Matches a local date and time (HTML §2.3.5.3). A browser leaves out the seconds if they are zero.
const LOCAL = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(?:\.\d{1,9})?)?$/
const WITHOUT_SECONDS = /^(?:\d{4}-\d\d-\d\dT)?\d\d:\d\d$/
/** The length of the longest text that such a control can show, in characters. */
const LONGEST = 40

/**
 * Reads a date and time from the control of a browser, which has no offset from UTC and drops zeros. Returns the text
 * that the form had if that is legal and means the same time. Other texts are not changed.
 */
export function readMoment (text: string, offset: string | undefined, was: string | undefined): string {
  const [whole, seconds] = LOCAL.exec(text) ?? []
  if (whole === undefined || offset === undefined) return text
  const moment = `${seconds === undefined ? `${text}:00` : text}${offset.trim().toUpperCase()}`
  if (moment.length > LONGEST || was === undefined || was.length > LONGEST) return moment
  return isDateTime(was) && normalize(was) === normalize(moment) ? was : moment
}

/**
 * Completes a date and time, or a time, from a control of a browser, which drops the seconds if they are zero. Other
 * texts are not changed.
 */
export function completeSeconds (text: string): string {
  return WITHOUT_SECONDS.test(text) ? `${text}:00` : text
}

/**
 * Returns whether a date and time that was read from a control is a stored one, which may be spelled as no client may
 * send it: `2026-01-31 12:00:00z`.
 */
export function isSameSpelling (was: string, moment: unknown): boolean {
  if (typeof moment !== 'string' || Math.max(was.length, moment.length) > LONGEST) return false
  return normalize(was.replace(' ', 'T').toUpperCase()) === normalize(moment)
}

/** Returns the same text for the same clock and offset: `12:00:00.5Z` for `12:00:00.500Z`. */
function normalize (moment: string): string {
  const [offset = ''] = /(?:Z|[+-]\d\d:\d\d)$/.exec(moment) ?? []
  const clock = moment.slice(0, moment.length - offset.length)
  return `${clock.replace(/\.0*$|(\.\d*?)0+$/, '$1')}${offset}`
}
