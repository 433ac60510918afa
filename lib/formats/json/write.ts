import type { Resource } from '../../resource/resource.js'
import type { Id, Row } from '../../resource/row.js'
import { compileVisible, type HideWriteOnly } from '../../resource/visible.js'
import type { Shape } from '../../schema/shape.js'
import type { Attributes } from '../../schema/types.js'
import { lazy } from '../../util/functions.js'
import { compileCopy } from '../../util/generated-code.js'
import { isObject } from '../../util/own-property.js'
import type { Writer, WriterContext } from '../format.js'
import { compileRowTemplate, type Slot } from '../row-template.js'

/**
 * Matches a string of which JSON.stringify escapes no character. A search for a character to escape takes twice as
 * long.
 */
const CLEAN = /^[ !#-[\]-\ud7ff\ue000-\uffff]*$/

/** The document of a row. A preSerialization hook of the app may replace it with another object. */
class RecordDocument {
  [singular: string]: unknown
  readonly #writeRow: WriteJsonRow

  /** @param writeRow the writer of the selection that the record has */
  constructor (singular: string, record: unknown, writeRow: WriteJsonRow) {
    this[singular] = record
    this.#writeRow = writeRow
  }

  static writerOf (document: RecordDocument): WriteJsonRow {
    return document.#writeRow
  }
}

type WriteJsonRow = (id: Id, attributes: Attributes) => string

/** Compiles the JSON writer of a resource. */
export function compileJsonWriter (whole: Resource, { selection }: Pick<WriterContext, 'selection'>): Writer {
  const resource = selection?.resource ?? whole
  const { plural, singular } = resource
  const recordMaker = lazy(() => compileRecord(resource))
  const rowWriter = lazy(() => compileJsonRow(resource))
  return {
    document: (row) => new RecordDocument(singular, recordMaker()(row), rowWriter()),
    serialize (document) {
      const record = document instanceof RecordDocument ? document[singular] : undefined
      if (!(document instanceof RecordDocument) || !isObject(record)) return JSON.stringify(document)
      return `{"${singular}":${RecordDocument.writerOf(document)(record.id as Id, record)}}`
    },
    list: {
      open: `{"${plural}":[`,
      get row () {
        const writeRow = rowWriter()
        return ({ id, attributes }: Row) => writeRow(id, attributes)
      },
      separator: ',',
      close: ']}'
    },
    problemType: 'application/problem+json'
  }
}

/** Makes `{ id, …attributes }` of a row, without undeclared and `writeOnly` attributes; a singleton has no id. */
type MakeRecord = (row: Row) => { readonly id?: Id, readonly [name: string]: unknown }

function compileRecord (resource: Resource): MakeRecord {
  const { open, singleton } = resource
  if (open) return singleton ? ({ attributes }) => ({ ...attributes }) : ({ id, attributes }) => ({ id, ...attributes })
  const visible = [...compileVisible(resource)].map(([name, convert]) => ({ from: name, to: name, convert }))
  const copy = compileCopy(visible, singleton ? undefined : 'id')
  return ({ id, attributes }) => copy(attributes, id)
}

/**
 * Compiles a function that writes a row as a JSON object: the id, then the attributes in the order of the schema. It
 * never coerces a value.
 */
function compileJsonRow (resource: Resource): WriteJsonRow {
  if (resource.open) {
    return resource.singleton
      ? (_id, attributes) => JSON.stringify(attributes)
      : (id, attributes) => JSON.stringify({ id, ...attributes })
  }
  const shapes = resource.attributes
  const write = compileRowTemplate(
    [...compileVisible(resource)].map(([name, hide]) => compileSlot(name, hide, shapes.get(name)?.shape)),
    '',
    '}'
  )
  if (resource.singleton) {
    return (_id, attributes) => {
      const text = write('', attributes)
      return text.startsWith(',') ? `{${text.slice(1)}` : '{}'
    }
  }
  return (id, attributes) => write(typeof id === 'number' ? `{"id":${id}` : `{"id":${JSON.stringify(id)}`, attributes)
}

function compileSlot (name: string, hide: HideWriteOnly, shape: Shape | undefined): Slot {
  const key = `,${JSON.stringify(name)}:`
  const writeOther = (value: unknown): string => key + JSON.stringify(hide(value))
  switch (shape?.only) {
    case 'string':
      return {
        name,
        open: `${key}"`,
        close: '"',
        write: (value) => (typeof value === 'string' && CLEAN.test(value) ? value : undefined),
        writeOther
      }
    case 'integer':
    case 'number':
      return {
        name,
        open: key,
        close: '',
        write: (value) => (Number.isFinite(value) ? String(value) : undefined),
        writeOther
      }
    case 'boolean':
      return { name, open: key, close: '', write: writeBoolean, writeOther }
    default:
      return { name, open: key, close: '', write: () => undefined, writeOther }
  }
}

function writeBoolean (value: unknown): string | undefined {
  if (value === true) return 'true'
  return value === false ? 'false' : undefined
}
