import type { Writer } from './format.js'

/** The byte order mark (Unicode §23.8). Without it, Excel takes UTF-8 for an encoding of one byte a character. */
const MARK = '\uFEFF'

/** Returns the name in `?format=` of a format whose texts begin with a byte order mark. */
export function nameMarked (name: string): string {
  return `${name}-bom`
}

/** Returns a writer whose texts begin with a byte order mark. */
export function addMark (writer: Writer): Writer {
  if (writer.list === undefined || writer.document !== undefined) return writer
  const { list, record } = writer
  return { ...writer, list: { ...list, open: MARK + list.open }, record: (row, view) => MARK + record(row, view) }
}
