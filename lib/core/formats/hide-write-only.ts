import type { Chosen, ListOutcome, Outcome } from '../actions/outcome.js'
import type { Row } from '../resource/row.js'
import { isFunction } from '../util/check-option.js'
import type { ListWriter, Prepared, PreparedProblem, Services, View, Writer } from './format.js'

type Hide = (row: Row) => Row

/** The methods of a writer that are given rows or a view. */
const METHODS = [
  'document', 'record', 'stale', 'revised', 'selected', 'blank', 'edit', 'problem', 'title', 'label', 'table', 'page'
] as const

/** Returns a writer that passes each row through `hide` first, which leaves out the write-only values. */
export function hideWriteOnly (writer: Writer, hide: Hide): Writer {
  const methods: Partial<Record<typeof METHODS[number], unknown>> = writer
  const changed: Record<string, unknown> = {}
  for (const name of METHODS) {
    const write = methods[name]
    if (!isFunction<(...given: unknown[]) => unknown>(write)) continue
    changed[name] = (...given: unknown[]) => write.call(writer, ...given.map((part) => hideIn(part, hide)))
  }
  const { list, prepare, prepareProblem } = writer
  if (list !== undefined) changed.list = hideInList(list, hide)
  if (list === undefined && writer.frame !== undefined) {
    const { frame } = writer
    changed.frame = (...[first, view]: Parameters<typeof frame>) =>
      hideInList(frame.call(writer, first.map(hide), hideIn(view, hide) as typeof view), hide)
  }
  if (prepare !== undefined) {
    changed.prepare = async (...[outcome, services]: Parameters<typeof prepare>): Promise<Prepared | undefined> => {
      // A writer in JavaScript may return nothing.
      const prepared: Prepared | undefined = await prepare.call(writer, hideInOutcome(outcome, hide), services)
      const addRows = prepared?.addRows
      return addRows === undefined ? prepared : { ...prepared, addRows: async (rows) => addRows(rows.map(hide)) }
    }
  }
  if (prepareProblem !== undefined) {
    changed.prepareProblem = async (
      ...[problem, services]: Parameters<typeof prepareProblem>
    ): Promise<PreparedProblem> => prepareProblem.call(writer, problem, hideInServices(services, hide))
  }
  // The writer may be an instance of a class, or frozen, so it is neither copied nor changed.
  return Object.create(writer, Object.getOwnPropertyDescriptors(changed)) as Writer
}

function hideInList ({ open, row: write, separator, close }: ListWriter, hide: Hide): ListWriter {
  return { open, row: (row) => write(hide(row)), separator, close }
}

function hideInServices (services: Services, hide: Hide): Services {
  const formRow: Services['formRow'] = async () => {
    const row = await services.formRow()
    return row && hide(row)
  }
  const chosen: Services['chosen'] = async () => {
    const found = await services.chosen()
    return found && hideInChosen(found, hide)
  }
  return Object.create(services, { formRow: { value: formRow }, chosen: { value: chosen } }) as Services
}

function hideInChosen (chosen: Chosen, hide: Hide): Chosen {
  return { ...chosen, rows: chosen.rows.map(({ row, ...others }) => ({ ...others, row: row && hide(row) })) }
}

/** Returns rows or a view without the write-only values of its rows. Anything else stays as it is. */
function hideIn (given: unknown, hide: Hide): unknown {
  if (Array.isArray(given)) return given.map((part) => hideIn(part, hide))
  if (typeof given !== 'object' || given === null) return given
  if ('id' in given && 'attributes' in given) return hide(given as Row)
  const { input } = given as Partial<View>
  return input?.row === undefined ? given : { ...given, input: { ...input, row: hide(input.row) } }
}

function hideInOutcome (outcome: Outcome, hide: Hide): Outcome {
  if (outcome.kind === 'listed') {
    const { rows, first, last } = outcome
    const hidden: ListOutcome = { ...outcome, rows: rows.map(hide), more: undefined, last: last && hide(last) }
    return first === undefined || first === 'end' ? hidden : { ...hidden, first: hide(first) }
  }
  if (outcome.kind === 'selected') return { ...outcome, chosen: hideInChosen(outcome.chosen, hide) }
  return 'row' in outcome && outcome.row !== undefined ? { ...outcome, row: hide(outcome.row) } as Outcome : outcome
}
