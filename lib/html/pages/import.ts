import { randomUUID } from 'node:crypto'
import { RowsError, type SaidProblem } from '../../core/errors.js'
import { type CsvFile, FAULTS, MARK } from '../../core/formats/csv/parse.js'
import { writeCsvLine } from '../../core/formats/csv/write.js'
import { KEY } from '../../core/formats/form/parse.js'
import { IMPORT, type ImportedFile, type ImportPreview, type ImportState } from '../../core/formats/importing.js'
import { capitalize } from '../../core/util/words.js'
import type { HtmlView } from '../content.js'
import { markup, type Markup, raw } from '../html-tag.js'
import { labelOf } from '../names.js'
import type { ShownAttributes } from '../values/shown-attributes.js'
import type { HiddenField, ImportPage } from '../views/model.js'
import { renderTable } from '../views/page-views.js'
import type { PageFrames, PageSource } from './page-frame.js'

/** The most columns of the table of rows. */
const COLUMNS = 8

/** The longest text that the page shows again in the field for it, in bytes. */
const LONGEST_TEXT = 100_000

/** The dependencies of the page. */
export interface ImportSource extends PageSource {
  readonly frames: PageFrames
  readonly shown: ShownAttributes
}

/** The view of a page that imports rows. */
export type ImportView = HtmlView & { readonly importing: ImportState }

/** What an import would do, or why it is refused. */
type ImportContent = Pick<ImportPage, 'notes' | 'table' | 'more' | 'hidden' | 'buttons'>

const NOTHING: ImportContent = { notes: [], table: undefined, more: undefined, hidden: [], buttons: [] }

/**
 * Writes the page that imports rows.
 * @param said the error, if the file or some of its rows are refused
 */
export function writeImport (source: ImportSource, view: ImportView, said?: SaidProblem, texts: string[] = []): string {
  const { messages, frames, context: { importActions, importMatches }, resource } = source
  const { importing: { file, preview }, thrown } = view
  const paths = frames.pathsOf(view)
  const frame = frames.frame(messages.importRows(messages.plural), { view, paths })
  const isTyped = file?.isTyped === true && file.content.length <= LONGEST_TEXT
  const labels = new Map([...resource.attributes.values()].map((property) => [property.name, labelOf(property)]))
  const writable = [...resource.attributes.values()].flatMap(({ name, readOnly }) => readOnly ? [] : [name])
  return frames.render({
    ...frame,
    kind: 'import',
    action: `${paths.collection}/${IMPORT}`,
    errors: texts.map((text) => ({ text, href: undefined })),
    ...(file !== undefined && preview !== undefined
      ? describePreview(source, view, file, preview)
      : file?.csv !== undefined && thrown instanceof RowsError ? describeFaults(source, file, thrown) : NOTHING),
    upload: {
      isFirst: file === undefined || said !== undefined,
      columns: [...(importActions.has('update') ? ['id'] : []), ...(resource.open ? ['attributes'] : writable)],
      matches: [...new Set(['', ...importMatches.map((names) => names.join())])].map((value) => ({
        value,
        label: value === '' ? messages.id : value.split(',').map((name) => labels.get(name) ?? name).join(', '),
        selected: value === file?.match
      })),
      text: isTyped ? file.content.toString().replaceAll('\r\n', '\n') : ''
    },
    cancel: frame.parent && { label: messages.cancel, href: frame.parent.href }
  })
}

function describePreview (
  { messages, shown, lang, context, resource: { open } }: ImportSource,
  { links }: HtmlView,
  file: ImportedFile,
  { rows, counts: { created, changed, unchanged } }: ImportPreview
): ImportContent {
  const numbers = new Intl.NumberFormat(lang)
  const write = (number: number): string => numbers.format(number)
  const count = (number: number): string | undefined => number === 0 ? undefined : write(number)
  const does = created + changed === 0 ? undefined : messages.importDoes(count(created), count(changed))
  const others = created + changed + unchanged - rows.length
  const isOfFile = (name: string): boolean => file.csv?.columns.includes(name) === true
  const columns = shown.of(rows.map(({ row }) => row)).filter(({ name }) => open || isOfFile(name)).slice(0, COLUMNS)
  const before = isOfFile('id') ? [{ label: messages.id, numeric: false }] : []
  const labels = columns.map(({ label, show: { numeric = false } }) => ({ label, numeric }))
  const cells = rows.map(({ line, row: { id, attributes } }) => [
    String(line),
    ...before.map(() => String(id)),
    ...columns.map(({ read, show }) => raw(show.cell(read(attributes), links)))
  ])
  return {
    notes: [
      does ?? messages.importNothing,
      ...(unchanged > 0 ? [messages.importUnchanged(write(unchanged))] : []),
      ...(file.without.length > 0 ? [messages.importLeftOut(write(file.without.length))] : [])
    ],
    table: tableOf(messages, [{ label: messages.importLine, numeric: true }, ...before, ...labels], cells),
    more: others > 0 ? messages.moreRows(write(others)) : undefined,
    hidden: [...hiddenOf(file, []), ...(context.hasKeys ? [{ name: KEY, value: randomUUID() }] : [])],
    buttons: does === undefined ? [] : [{ name: 'step', value: 'write', label: does }]
  }
}

function describeFaults (
  { messages, translate, lang }: ImportSource,
  file: ImportedFile,
  error: RowsError
): ImportContent {
  const numbers = new Intl.NumberFormat(lang)
  const faults = error.said()
  const { lines } = error
  const labels = [
    { label: messages.importLine, numeric: true },
    { label: messages.importColumn, numeric: false },
    { label: messages.importFault, numeric: false }
  ]
  const cells = faults.flatMap(({ line, detail, errors }) => Object.entries(errors ?? { '': [detail] })
    .flatMap(([column, all]) => all.map((said) => [String(line), column, capitalize(translate(said))])))
  const remaining = (file.csv as NonNullable<typeof file.csv>).rows.length - file.without.length - lines.length
  return {
    notes: [],
    table: tableOf(messages, labels, cells),
    more: lines.length > faults.length ? messages.moreRows(numbers.format(lines.length - faults.length)) : undefined,
    hidden: hiddenOf(file, lines),
    buttons: [
      ...(remaining > 0 ? [{ name: 'step', value: 'rest', label: messages.importRest }] : []),
      { name: 'step', value: 'faulty', label: messages.importFaulty }
    ]
  }
}

/** Renders a table whose first column has the numbers of lines, which name the rows. */
function tableOf (
  { importRows, plural }: ImportSource['messages'],
  columns: ReadonlyArray<{ readonly label: string, readonly numeric: boolean }>,
  rows: ReadonlyArray<ReadonlyArray<string | Markup>>
): Markup {
  const heads = columns.map((column) => ({ ...column, name: '', sort: undefined, sorted: undefined }))
  return renderTable(importRows(plural), heads, markup`${rows.map((cells) => markup`<tr>${cells.map((cell, index) => {
    const { label, numeric } = columns[index] as typeof columns[number]
    const attributes = markup`data-label="${label}"${numeric ? markup` class="number"` : markup` dir="auto"`}`
    return index === 0
      ? markup`<th scope="row" ${attributes}>${cell}</th>`
      : markup`<td ${attributes}>${cell}</td>`
  })}</tr>\n`)}`)
}

/** Returns the hidden fields that carry the file. The server does not keep it. */
function hiddenOf ({ content, match, without, isTyped }: ImportedFile, faulty: readonly number[]): HiddenField[] {
  return [
    { name: 'data', value: content.toString('base64') },
    { name: 'match', value: match },
    { name: 'without', value: without.join() },
    { name: 'faulty', value: faulty.join() },
    ...(isTyped ? [{ name: 'typed', value: '1' }] : [])
  ]
}

/** Writes the rows at fault as the file has them, with their faults in one more column. */
export function writeFaulty ({ messages, translate }: ImportSource, { importing }: ImportView): string {
  const { file, faults } = importing
  const { columns, rows, separator } = file?.csv as CsvFile
  const tell = ({ detail, errors }: SaidProblem): string => errors === undefined
    ? capitalize(translate(detail))
    : Object.entries(errors).flatMap(([column, all]) =>
      all.map((said) => messages.fieldError(column, translate(said)))).join('; ')
  const texts = new Map(faults?.said(Infinity).map((fault) => [fault.line, tell(fault)]))
  const lines = rows.flatMap(({ fields, line }) => texts.has(line) ? [[...fields, texts.get(line) as string]] : [])
  return MARK + [[...columns, FAULTS], ...lines].map((fields) => writeCsvLine(fields, separator)).join('')
}
