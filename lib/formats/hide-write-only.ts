import type { Row } from '../resource/row.js'
import type { Writer } from './format.js'

/** Returns a writer that passes each row through `see` first, which leaves out the write-only values. */
export function hideWriteOnly (writer: Writer, see: (row: Row) => Row): Writer {
  const changed: Partial<Record<'document' | 'record' | 'stale' | 'edit' | 'list' | 'page', unknown>> = {}
  if (writer.document !== undefined) {
    changed.document = (row: Row) => writer.document(see(row))
  } else {
    const { stale, edit } = writer
    changed.record = (...[row, view]: Parameters<typeof writer.record>) => writer.record(see(row), view)
    if (stale !== undefined) changed.stale = (...[row, view]: Parameters<typeof stale>) => stale(see(row), view)
    if (edit !== undefined) changed.edit = (...[row, view]: Parameters<typeof edit>) => edit(see(row), view)
  }
  const { list } = writer
  if (list === undefined) {
    changed.page = (...[rows, view]: Parameters<typeof writer.page>) => writer.page(rows.map(see), view)
  } else {
    changed.list = {
      open: list.open,
      row: (row: Row) => list.row(see(row)),
      separator: list.separator,
      close: list.close
    }
  }
  // The writer may be an instance of a class, or frozen, so it is neither copied nor changed.
  return Object.create(writer, Object.getOwnPropertyDescriptors(changed)) as Writer
}
