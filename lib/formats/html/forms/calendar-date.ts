const DATE = /^(?!0000)\d{4}-\d\d-\d\d$/

/** Whether a text is a date that there is, as HTML has it (§2.3.5.2): no year 0, no February the 30th. */
export function isInCalendar (date: string): boolean {
  if (!DATE.test(date)) return false
  const time = new Date(`${date}T00:00:00Z`)
  return !Number.isNaN(time.getTime()) && time.toISOString().startsWith(date)
}
