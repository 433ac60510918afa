import type { Row } from '../resource/row.js'
import type { JsonWriter, TextWriter, Writer } from './format.js'

/** Returns a writer that passes each row through `hide` first, which leaves out the write-only values. */
export function hideWriteOnly (writer: Writer, hide: (row: Row) => Row): Writer {
  const changed: Partial<Record<keyof JsonWriter | keyof TextWriter | 'list' | 'page', unknown>> = {}
  if (writer.document !== undefined) {
    changed.document = (row: Row) => writer.document(hide(row))
  } else {
    const { stale, edit, title, table } = writer
    changed.record = (...[row, view]: Parameters<typeof writer.record>) => writer.record(hide(row), view)
    if (stale !== undefined) changed.stale = (...[row, view]: Parameters<typeof stale>) => stale(hide(row), view)
    if (edit !== undefined) changed.edit = (...[row, view]: Parameters<typeof edit>) => edit(hide(row), view)
    if (title !== undefined) changed.title = (...[row, page]: Parameters<typeof title>) => title(hide(row), page)
    if (table !== undefined) changed.table = (...[rows, view]: Parameters<typeof table>) => table(rows.map(hide), view)
  }
  const { list } = writer
  if (list === undefined) {
    changed.page = (...[rows, view]: Parameters<typeof writer.page>) => writer.page(rows.map(hide), view)
  } else {
    changed.list = {
      open: list.open,
      row: (row: Row) => list.row(hide(row)),
      separator: list.separator,
      close: list.close
    }
  }
  // The writer may be an instance of a class, or frozen, so it is neither copied nor changed.
  return Object.create(writer, Object.getOwnPropertyDescriptors(changed)) as Writer
}
