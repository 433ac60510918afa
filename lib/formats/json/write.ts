import type { Resource } from '../../resource/resource.js'
import type { Id, Row } from '../../resource/row.js'
import { compileRead, compileVisible, type HideWriteOnly } from '../../resource/visible.js'
import type { Shape } from '../../schema/shape.js'
import type { Attributes } from '../../schema/types.js'
import { compileRowTemplate, type Slot } from '../row-template.js'

/** Anything that JSON.stringify would change in a string. */
const ESCAPED = /["\\\u0000-\u001f\ud800-\udfff]/ // eslint-disable-line no-control-regex

/** Makes `{ id, …attributes }` of a row, without undeclared and `writeOnly` attributes; a singleton has no id. */
export type MakeRecord = (row: Row) => { readonly id?: Id, readonly [name: string]: unknown }

export function compileRecord (resource: Resource): MakeRecord {
  const begin: MakeRecord = resource.singleton ? () => ({}) : ({ id }) => ({ id })
  if (resource.open) return (row) => ({ ...begin(row), ...row.attributes })
  const parts = [...compileVisible(resource)].map(([name, see]) => ({ name, read: compileRead(name, see) }))
  return (row) => {
    const record: { id?: Id, [name: string]: unknown } = begin(row)
    for (const { name, read } of parts) {
      const value = read(row.attributes)
      if (value !== undefined) record[name] = value
    }
    return record
  }
}

/**
 * Writes a row as a JSON object: the id, then the attributes in the order of the schema. Values are never coerced.
 */
export function compileJsonRow (resource: Resource): (id: Id, attributes: Attributes) => string {
  if (resource.open) {
    return resource.singleton
      ? (_id, attributes) => JSON.stringify(attributes)
      : (id, attributes) => JSON.stringify({ id, ...attributes })
  }
  const shapes = resource.attributes
  const write = compileRowTemplate(
    [...compileVisible(resource)].map(([name, see]) => compileSlot(name, see, shapes.get(name)?.shape)),
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

function compileSlot (name: string, see: HideWriteOnly, shape: Shape | undefined): Slot {
  const key = `,${JSON.stringify(name)}:`
  const writeOther = (value: unknown): string => key + JSON.stringify(see(value))
  switch (shape?.only) {
    case 'string':
      return {
        name,
        open: `${key}"`,
        close: '"',
        write: (value) => (typeof value === 'string' && !ESCAPED.test(value) ? value : undefined),
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
