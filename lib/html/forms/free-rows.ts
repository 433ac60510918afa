import { MARKER } from '../../core/formats/form/parse.js'
import type { PageMessages } from '../messages.js'
import type { FreeRows } from '../views/model.js'
import { NOTHING, type SentForm } from './controls.js'

/** The number of blank rows for further attributes, which have no schema. */
const FREE_ROWS = 3

/** Makes the rows for attributes without a schema. Those that were sent with an unusable name come first. */
export function makeFreeRows (
  singular: string,
  { addAttribute }: PageMessages,
  { rows: given, isRowAdded }: SentForm = NOTHING
): FreeRows {
  const prefix = `${singular}[${MARKER}]`
  const rows = [...given, ...Array.from({ length: FREE_ROWS }, () => ({ name: '', value: '' }))]
  return {
    rows: rows.map(({ name, value }, index) => ({
      name: { name: `${prefix}[${index}][name]`, value: name },
      value: { name: `${prefix}[${index}][value]`, value }
    })),
    focus: isRowAdded ? given.length : undefined,
    add: { name: `${prefix}[${MARKER}][add]`, value: '1', label: addAttribute }
  }
}
