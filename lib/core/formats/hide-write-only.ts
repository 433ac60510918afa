import type { Chosen, ListOutcome, Outcome } from '../actions/outcome.js'
import type { Row } from '../resource/row.js'
import { isFunction } from '../util/check-option.js'
import type { ListWriter, Prepared, PreparedProblem, Services, View, Writer } from './format.js'

type Hide = (row: Row) => Row

/**
 * Returns a writer each of whose functions gets rows without their write-only values. A function that a format adds
 * later, or that only this writer has, is among them.
 */
export function hideWriteOnly (writer: Writer, hide: Hide): Writer {
  const changed: Record<string, unknown> = {}
  for (const name of memberNames(writer)) {
    const write: unknown = Reflect.get(writer, name)
    if (!isFunction<(...given: unknown[]) => unknown>(write)) continue
    changed[name] = (...given: unknown[]) => write.call(writer, ...given.map((part) => hideIn(part, hide)))
  }
  const { list, frame, prepare, prepareProblem } = writer
  if (list !== undefined) changed.list = hideInList(list, hide)
  if (frame !== undefined) {
    changed.frame = (...[first, view]: Parameters<typeof frame>) =>
      hideInList(frame.call(writer, first.map(hide), hideIn(view, hide) as typeof view), hide)
  }
  if (prepare !== undefined) {
    changed.prepare = async (...[outcome, services]: Parameters<typeof prepare>): Promise<Prepared | undefined> => {
      // A writer in JavaScript may return nothing.
      const prepared: Prepared | undefined =
        await prepare.call(writer, hideInOutcome(outcome, hide), hideInServices(services, hide))
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

/** Returns the names of the members of an object, those of its classes included. */
function memberNames (object: object): ReadonlySet<string> {
  const names = new Set<string>()
  for (let owner = object; owner !== null && owner !== Object.prototype; owner = Object.getPrototypeOf(owner)) {
    for (const name of Object.getOwnPropertyNames(owner)) names.add(name)
  }
  names.delete('constructor')
  return names
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
  if (outcome.kind === 'importing' && outcome.preview !== undefined) {
    const { preview, preview: { rows } } = outcome
    return { ...outcome, preview: { ...preview, rows: rows.map(({ line, row }) => ({ line, row: hide(row) })) } }
  }
  if (outcome.kind === 'selected') return { ...outcome, chosen: hideInChosen(outcome.chosen, hide) }
  return 'row' in outcome && outcome.row !== undefined ? { ...outcome, row: hide(outcome.row) } as Outcome : outcome
}
