import type { Chosen, ListOutcome, Outcome } from '../actions/outcome.js'
import type { Row } from '../resource/row.js'
import { isFunction } from '../util/check-option.js'
import type { ListedRows, ListWriter, PageWriter, Prepared, Services, View, Writer } from './format.js'

type Hide = (row: Row) => Row

/**
 * Returns a writer each of whose functions gets rows without their write-only values. They are found when they are
 * called, so that a function that a format adds later, or that only this writer has, is among them.
 */
export function hideWriteOnly (writer: Writer, hide: Hide): Writer {
  const changed = hideInMethods(writer, hide)
  // The writer may be frozen, or an instance of a class with private members, so the proxy is not one of itself.
  return new Proxy({} as Writer, {
    has: (_target, name) => name in writer,
    get (_target, name) {
      const member: unknown = Reflect.get(writer, name)
      if (member !== undefined && Object.hasOwn(changed, name)) return Reflect.get(changed, name)
      if (!isFunction<(...given: unknown[]) => unknown>(member)) return member
      return (...given: unknown[]) => member.call(writer, ...given.map((part) => hideIn(part, hide)))
    }
  })
}

type Frame = NonNullable<PageWriter['frame']>
type Prepare = NonNullable<Writer['prepare']>
type PrepareProblem = NonNullable<Writer['prepareProblem']>
type Redirected = NonNullable<Writer['redirected']>

/** Makes the members whose rows are not among their arguments. */
function hideInMethods (writer: Writer, hide: Hide): Readonly<Record<string, unknown>> {
  const { list } = writer
  return {
    // A request is no row, even if the app has given it attributes beside its id.
    redirected: (...given: Parameters<Redirected>) => (writer.redirected as Redirected).call(writer, ...given),
    ...(list !== undefined && { list: hideInList(list, hide) }),
    frame (...[first, view]: Parameters<Frame>): ListWriter {
      const frame = (writer.frame as Frame).call(writer, first.map(hide), hideIn(view, hide) as typeof view)
      return hideInList(frame, hide)
    },
    async prepare (...[outcome, services]: Parameters<Prepare>): Promise<Prepared | undefined> {
      // A writer in JavaScript may return nothing.
      const prepared: Prepared | undefined = await (writer.prepare as Prepare).call(
        writer, hideInOutcome(outcome, hide), hideInServices(services, hide)
      )
      const addRows = prepared?.addRows
      return addRows === undefined ? prepared : { ...prepared, addRows: async (rows) => addRows(rows.map(hide)) }
    },
    prepareProblem: async (...[problem, services]: Parameters<PrepareProblem>): ReturnType<PrepareProblem> =>
      (writer.prepareProblem as PrepareProblem).call(writer, problem, hideInServices(services, hide))
  }
}

function hideInList (list: ListWriter, hide: Hide): ListWriter {
  const { open, separator, close } = list
  return { open, row: (row) => list.row(hide(row)), separator, close }
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
  const { listed } = services
  const hidden: ListedRows | undefined = listed && {
    ...listed,
    async read (limit) {
      const batches = await listed.read(limit)
      return (async function * () { for await (const rows of batches) yield rows.map(hide) })()
    }
  }
  const changed = { formRow: { value: formRow }, chosen: { value: chosen }, listed: { value: hidden } }
  return Object.create(services, changed) as Services
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
