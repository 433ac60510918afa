import { isDateTime } from '../../schema/date-time.js'

// HTML §2.3.5.3, as a browser sends it: without seconds where there are none.
const LOCAL = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(?:\.\d{1,9})?)?$/
/** In characters: no text that such a control can show is longer. */
const LONGEST = 40

/**
 * Reads a date and time from the control of a browser, which knows no offset from UTC and drops zeros. If it is the
 * time that the form had, it keeps that spelling if the spelling is legal. Other texts stay as they are.
 */
export function readMoment (text: string, offset: string | undefined, was: string | undefined): string {
  const [whole, seconds] = LOCAL.exec(text) ?? []
  if (whole === undefined || offset === undefined) return text
  const moment = `${seconds === undefined ? `${text}:00` : text}${offset.trim().toUpperCase()}`
  if (moment.length > LONGEST || was === undefined || was.length > LONGEST) return moment
  return isDateTime(was) && normalize(was) === normalize(moment) ? was : moment
}

/** Returns the same text for the same clock and offset: `12:00:00.5Z` for `12:00:00.500Z`. */
function normalize (moment: string): string {
  const [offset = ''] = /(?:Z|[+-]\d\d:\d\d)$/.exec(moment) ?? []
  const clock = moment.slice(0, moment.length - offset.length)
  return `${clock.replace(/\.0*$|(\.\d*?)0+$/, '$1')}${offset}`
}
